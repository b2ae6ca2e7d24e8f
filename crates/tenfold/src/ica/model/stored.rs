//! The model as a file and as JSON.

use super::super::{Components, Contrast, Params, Polish};
use super::{Diagnostics, Model};
use crate::error::{Error, Result};
use crate::model_file::{ModelFile, count};
use crate::verdict::Verdict;
use serde_json::{Value, json};
use std::path::Path;
use tenfold_engine::decompose::{Objective, Rate, Solver, Update};

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
        self.to_file().save(path)
    }

    /// The very bytes of the file that [`Model::save`] writes.
    ///
    /// # Errors
    /// [`Error::Model`] for a model with entries that are not finite.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.to_file().to_bytes()
    }

    fn to_file(&self) -> ModelFile {
        let mut file = ModelFile::new("ica", self.facts());
        file.insert_matrix("unmixing", &self.unmixing);
        file.insert_matrix("mixing", &self.mixing);
        file.insert_vector("mean", &self.mean);
        file.insert_vector("kurtosis", &self.kurtosis);
        file.insert_vector("skewness", &self.skewness);
        file.insert_vector("spectrum", &self.diagnostics.spectrum);
        if let Some(names) = &self.columns {
            file.insert_lines("columns", names);
        }
        file
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// [`Error::Model`] when the file is damaged, foreign or of another kind.
    pub fn load(path: &Path) -> Result<Self> {
        Self::from_file(&ModelFile::load(path)?)
    }

    /// From [`Model::to_bytes`], or from the bytes of a model file.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_file(&ModelFile::from_bytes(bytes)?)
    }

    fn from_file(file: &ModelFile) -> Result<Self> {
        let path = file.path();
        file.expect_kind("ica")?;
        let (unmixing, mixing) = (file.matrix("unmixing")?, file.matrix("mixing")?);
        let [mean, kurtosis, skewness] =
            [file.vector("mean")?, file.vector("kurtosis")?, file.vector("skewness")?];
        let columns = match file.tensors.contains_key("columns") {
            true => Some(file.lines("columns")?),
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
        // ‖a_j‖² is the variance that a source makes.
        file.check_squares("mixing")?;
        let d = &file.metadata["diagnostics"];
        let count = |name: &str| count(&d[name]).unwrap_or(0) as usize;
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
    let mut add = |name: &str, entry: Value| value[name] = entry;
    let (max_iterations, tolerance, restarts) = match &params.solver {
        Solver::Polar(s) => (Some(s.max_iterations), s.tolerance, Some(s.restarts)),
        Solver::Power(s) => (Some(s.max_iterations), s.tolerance, Some(s.restarts)),
        Solver::Als(s) => (Some(s.max_iterations), s.tolerance, Some(s.restarts)),
        Solver::Simultaneous(s) => {
            // How many slices are taken when none are given is the solver's own rule.
            s.slices.into_iter().for_each(|slices| add("slices", json!(slices)));
            (Some(s.max_iterations), s.tolerance, None)
        }
        Solver::Online(s) => {
            add("batch", json!(params.batch));
            add("epochs", json!(params.epochs));
            add("rate", json!(rate_text(s.rate)));
            add("noise", json!(s.noise));
            add("update", json!(update_name(s.update)));
            match s.update {
                Update::Retraction => {}
                Update::Sphere(objective) => add("objective", json!(objective_name(objective))),
                Update::Stgd { theta } => add("theta", json!(theta)),
            }
            (None, s.tolerance, None)
        }
    };
    add("tolerance", json!(tolerance));
    max_iterations.into_iter().for_each(|n| add("max_iterations", json!(n)));
    restarts.into_iter().for_each(|n| add("restarts", json!(n)));
    value
}

/// As the command line takes it.
fn rate_text(rate: Rate) -> String {
    match rate {
        Rate::Constant(rate) => rate.to_string(),
        Rate::Decreasing { first, decay } => format!("{first}/(1+{decay}t)"),
    }
}

fn update_name(update: Update) -> &'static str {
    match update {
        Update::Retraction => "retraction",
        Update::Sphere(_) => "sphere",
        Update::Stgd { .. } => "stgd",
    }
}

fn objective_name(objective: Objective) -> &'static str {
    match objective {
        Objective::OneComponent => "one",
        Objective::Reconstruction => "reconstruction",
        Objective::Decorrelation => "decorrelation",
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Synth;
    use super::*;
    use tenfold_engine::decompose::{Als, Online, Polar, Power, Simultaneous};

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
        assert_eq!(model.to_bytes().unwrap(), std::fs::read(&path).unwrap(), "the bytes of the file");
        assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
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
    fn parameters_tell_all_that_repeats_a_fit() {
        let with = |solver: Solver| params_json(&Params { solver, ..Params::new(3) });
        let polar = with(Solver::Polar(Polar {
            max_iterations: 7,
            tolerance: 1e-3,
            restarts: 5,
            ..Polar::default()
        }));
        let power = with(Solver::Power(Power { max_iterations: 7, tolerance: 1e-3, restarts: 5 }));
        let als = with(Solver::Als(Als { max_iterations: 7, tolerance: 1e-3, restarts: 5 }));
        let joint = Simultaneous { max_iterations: 7, tolerance: 1e-3, slices: Some(4) };
        let joint = with(Solver::Simultaneous(joint));
        for value in [&polar, &power, &als, &joint] {
            assert_eq!((&value["max_iterations"], &value["tolerance"]), (&json!(7), &json!(1e-3)), "{value}");
            assert!(value.get("rate").is_none() && value.get("update").is_none(), "{value}");
        }
        assert!([&polar, &power, &als].iter().all(|value| value["restarts"] == 5));
        assert_eq!((joint.get("restarts"), &joint["slices"]), (None, &json!(4)));
        let online = |update| {
            with(Solver::Online(Online {
                update,
                noise: 0.25,
                rate: Rate::Constant(0.1),
                ..Online::default()
            }))
        };
        let value = online(Update::Retraction);
        assert_eq!((&value["update"], &value["noise"]), (&json!("retraction"), &json!(0.25)));
        assert_eq!((&value["rate"], &value["tolerance"]), (&json!("0.1"), &json!(0.05)));
        assert!(value.get("max_iterations").is_none() && value.get("restarts").is_none(), "{value}");
        let value = online(Update::Sphere(Objective::Decorrelation));
        assert_eq!((&value["update"], &value["objective"]), (&json!("sphere"), &json!("decorrelation")));
        let value = online(Update::Stgd { theta: 2.0 });
        assert_eq!((&value["update"], &value["theta"]), (&json!("stgd"), &json!(2.0)));
        assert_eq!(with(Solver::Online(Online::default()))["rate"], "1/(1+0.3t)");
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
