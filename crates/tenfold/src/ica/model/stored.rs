//! The model as a file and as JSON.

use super::super::{Components, Contrast, Params, Polish};
use super::{Diagnostics, Model};
use crate::error::{Error, Result};
use crate::model_file::ModelFile;
use crate::verdict::Verdict;
use serde_json::{Value, json};
use std::path::Path;
use tenfold_engine::decompose::Solver;

impl Model {
    /// All but the matrices as JSON: parameters, k, names of the columns, every source's kurtosis, skewness and share
    /// of the variance, diagnostics with the spectrum, and the verdict. JSON has no infinity: an eigengap with
    /// nothing behind it is null.
    ///
    /// # Example
    /// ```
    /// use tenfold::ica;
    /// let drawn = ica::Synth { samples: 2000, columns: 3, sources: 3, ..Default::default() }.draw();
    /// let json = ica::Params::new(3).fit(&drawn.samples)?.to_json();
    /// assert_eq!(json["parameters"]["solver"], "polar");
    /// assert_eq!(json["diagnostics"]["spectrum"].as_array().map(Vec::len), Some(3));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn to_json(&self) -> Value {
        let mut value = self.facts();
        value["k"] = json!(self.k());
        value["columns"] = json!(self.mean.len());
        value["column_names"] = json!(self.columns);
        value["kurtosis"] = json!(self.kurtosis);
        value["skewness"] = json!(self.skewness);
        value["shares"] = json!(self.shares());
        value["diagnostics"]["spectrum"] = json!(self.diagnostics.spectrum);
        value["sound"] = json!(self.verdict.is_sound());
        value
    }

    /// What a model file says beside its arrays.
    fn facts(&self) -> Value {
        let d = &self.diagnostics;
        json!({
            "parameters": self.params,
            "diagnostics": {
                "samples": d.samples,
                "condition": d.condition,
                "eigengap": d.eigengap,
                "residual": d.residual,
                "iterations": d.iterations,
                "converged": d.converged,
                "agreement": d.agreement,
                "start_samples": d.start_samples,
                "polish_steps": d.polish_steps,
                "polish_converged": d.polish_converged,
            },
            "verdict": self.verdict.to_json(),
        })
    }

    /// Writes the model to one file, atomically. Names of columns are the text `columns`, one a line; a newline in a
    /// name is written as `\n` and a backslash as `\\`.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut file = ModelFile::new("ica", self.facts());
        file.insert_matrix("unmixing", &self.unmixing);
        file.insert_matrix("mixing", &self.mixing);
        file.insert_vector("mean", &self.mean);
        file.insert_vector("kurtosis", &self.kurtosis);
        file.insert_vector("skewness", &self.skewness);
        file.insert_vector("spectrum", &self.diagnostics.spectrum);
        if let Some(names) = &self.columns {
            file.insert_text("columns", &to_lines(names));
        }
        file.save(path)
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// [`Error::Model`] when the file is damaged, foreign or of another kind.
    pub fn load(path: &Path) -> Result<Self> {
        let file = ModelFile::load(path)?;
        file.expect_kind("ica")?;
        let (unmixing, mixing) = (file.matrix("unmixing")?, file.matrix("mixing")?);
        let [mean, kurtosis, skewness] =
            [file.vector("mean")?, file.vector("kurtosis")?, file.vector("skewness")?];
        let columns = match file.tensors.contains_key("columns") {
            true => Some(from_lines(&file.text("columns")?)),
            false => None,
        };
        let (k, width) = (unmixing.rows(), unmixing.cols());
        let fits = k > 0
            && width > 0
            && (mixing.rows(), mixing.cols()) == (width, k)
            && mean.len() == width
            && columns.as_ref().is_none_or(|names| names.len() == width)
            && kurtosis.len() == k
            && skewness.len() == k;
        if !fits {
            return Err(Error::Model {
                path: path.into(),
                problem: "its tensors do not fit together".into(),
                remedy: "fit the model again".into(),
            });
        }
        let d = &file.metadata["diagnostics"];
        let count = |name: &str| d[name].as_u64().unwrap_or(0) as usize;
        let diagnostics = Diagnostics {
            samples: count("samples"),
            spectrum: file.vector("spectrum")?,
            condition: d["condition"].as_f64().unwrap_or(f64::NAN),
            eigengap: d["eigengap"].as_f64().unwrap_or(f64::INFINITY),
            residual: d["residual"].as_f64().unwrap_or(f64::NAN),
            start_samples: count("start_samples"),
            iterations: count("iterations"),
            converged: d["converged"].as_bool().unwrap_or(false),
            agreement: d["agreement"].as_f64(),
            polish_steps: count("polish_steps"),
            polish_converged: d["polish_converged"].as_bool(),
        };
        let params = file.metadata["parameters"].clone();
        let verdict = Verdict::from_json(&file.metadata["verdict"]);
        Ok(Self { unmixing, mixing, mean, columns, kurtosis, skewness, params, diagnostics, verdict })
    }
}

pub(super) fn params_json(params: &Params) -> Value {
    let mut value = json!({
        "k": match params.k { Components::Auto => json!("auto"), Components::Exactly(k) => json!(k) },
        "contrast": match params.contrast { Contrast::Kurtosis => "kurtosis", Contrast::Skewness => "skewness" },
        "solver": params.solver.name(),
        "polish": match params.polish { Polish::Likelihood => "likelihood", Polish::None => "none" },
        "standardise": params.standardise,
        "seed": params.seed,
    });
    if let Solver::Online(_) = params.solver {
        value["batch"] = json!(params.batch);
        value["epochs"] = json!(params.epochs);
    }
    value
}

/// One name a line.
fn to_lines(names: &[String]) -> String {
    let escaped: Vec<String> =
        names.iter().map(|name| name.replace('\\', "\\\\").replace('\n', "\\n")).collect();
    escaped.join("\n")
}

fn from_lines(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let mut out = String::with_capacity(line.len());
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            out.push(match letter {
                '\\' => match letters.next() {
                    Some('n') => '\n',
                    other => other.unwrap_or('\\'),
                },
                plain => plain,
            });
        }
        out
    };
    text.split('\n').map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::Synth;
    use super::*;
    use tenfold_engine::decompose::Online;

    #[test]
    fn names_come_back_whatever_is_in_them() {
        for names in
            [&["left", "right"][..], &[""], &["", ""], &["a\nb", "C:\\new", "\\", "n\\\n", "é ,\"\r"]]
        {
            let names: Vec<String> = names.iter().map(|&n| n.into()).collect();
            assert_eq!(from_lines(&to_lines(&names)), names);
        }
        assert_eq!(to_lines(&["a\nb".into(), "c\\".into()]), "a\\nb\nc\\\\");
        assert_eq!(from_lines("end\\"), ["end\\"]);
    }

    #[test]
    fn a_model_comes_back_with_and_without_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.tenfold");
        let drawn = Synth { samples: 500, columns: 3, sources: 3, ..Synth::default() }.draw();
        let mut model = Params::new(2).fit(&drawn.samples).unwrap();
        model.save(&path).unwrap();
        let back = Model::load(&path).unwrap();
        assert_eq!((back.columns(), &back), (None, &model));
        model.set_columns(vec!["x".into(), "two\nlines".into(), "z\\".into()]);
        model.save(&path).unwrap();
        let back = Model::load(&path).unwrap();
        assert_eq!(back, model);
        assert_eq!(back.columns().unwrap()[1], "two\nlines");
        assert_eq!(back.to_json(), model.to_json());
        // Names for another number of columns.
        let mut file = ModelFile::load(&path).unwrap();
        file.insert_text("columns", "x\ny");
        file.save(&path).unwrap();
        assert!(Model::load(&path).unwrap_err().to_string().contains("do not fit together"));
    }

    #[test]
    fn json_holds_every_figure_once() {
        let drawn = Synth { samples: 500, columns: 3, sources: 3, ..Synth::default() }.draw();
        let model = Params::new(3).fit(&drawn.samples).unwrap();
        let value = model.to_json();
        assert_eq!(value["diagnostics"]["spectrum"], json!(model.diagnostics().spectrum));
        assert_eq!(value["diagnostics"]["eigengap"], Value::Null, "nothing is left: {value}");
        assert_eq!(value["column_names"], Value::Null);
        assert_eq!(value["shares"], json!(model.shares()));
        let facts = model.facts();
        assert!(
            facts["diagnostics"]["spectrum"].is_null() && facts["kurtosis"].is_null(),
            "stored as arrays"
        );
        assert_eq!(facts["verdict"], value["verdict"]);
        assert!(value["parameters"].get("batch").is_none() && value["parameters"].get("epochs").is_none());
        let params = Params { solver: Solver::Online(Online::default()), ..Params::new(3) };
        let online = params_json(&params);
        assert_eq!((&online["batch"], &online["epochs"]), (&json!(1024), &json!(3)));
    }

    #[test]
    fn data_of_the_wrong_width_are_told() {
        let drawn = Synth { samples: 500, columns: 3, sources: 3, ..Synth::default() }.draw();
        let model = Params::new(2).fit(&drawn.samples).unwrap();
        let error = model.infer(&drawn.samples.select_cols(&[0, 1])).unwrap_err();
        assert!(matches!(error, Error::WrongShape { what: "columns", found: 2, expected: 3 }), "{error}");
        let error = model.mixtures(&drawn.sources).err().unwrap();
        assert_eq!(error.to_string(), "3 sources where 2 were expected; give the sources of the fit");
    }
}
