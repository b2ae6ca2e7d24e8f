//! The model as a file and as JSON.

use super::super::coordinates;
use super::super::data::{Cutting, index};
use super::super::features::{Features, Sif, Sizes};
use super::super::fit::{Params, Words};
use super::super::templates::{Decode, Templates};
use super::{Diagnostics, Model, Phrase};
use crate::error::{Error, Result};
use crate::model_file::ModelFile;
use crate::topics::read::Recipe;
use crate::verdict::Verdict;
use serde_json::{Value, json};
use std::path::Path;
use tenfold_engine::linalg::Mat;

impl Model {
    /// All but the arrays as JSON: parameters, recipe, features, diagnostics, the templates' phrases and the verdict.
    pub fn to_json(&self) -> Value {
        let mut value = self.facts();
        value["words"] = json!(self.vocabulary.len());
        value["dimensions"] = json!(self.vectors.cols());
        value["width"] = json!(self.encoder().width(self.features));
        value["diagnostics"]["spectrum"] = json!(self.diagnostics.spectrum);
        value["diagnostics"]["kurtosis"] = json!(self.diagnostics.kurtosis());
        value["diagnostics"]["skewness"] = json!(self.diagnostics.skewness());
        value["sound"] = json!(self.verdict.is_sound());
        value
    }

    /// What a model file says beside its arrays.
    fn facts(&self) -> Value {
        let phrase = |p: &Phrase| json!([p.text, p.activation]);
        let phrases =
            self.phrases.iter().map(|some| some.iter().map(phrase).collect::<Value>()).collect::<Value>();
        json!({
            "parameters": self.params,
            "recipe": self.cutting.recipe.to_json(),
            "punctuation": self.cutting.punctuation,
            "features": self.features.name(),
            "templates": self.templates.as_ref().map(|t| json!({ "length": t.length, "pool": t.pool })),
            "sizes": { "mean": self.sizes.mean, "templates": self.sizes.templates },
            "phrases": phrases,
            "diagnostics": self.diagnostics.to_json(),
            "verdict": self.verdict.to_json(),
        })
    }

    /// Writes the model to one file, atomically.
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
        let mut file = ModelFile::new("sentences", self.facts());
        file.insert_lines("vocabulary", &self.vocabulary);
        file.insert_matrix("vectors", &self.vectors);
        file.insert_vector("frequencies", &self.frequencies);
        file.insert_vector("sif_weights", &self.sif.weights);
        file.insert_vector("common", &self.sif.common);
        file.insert_vector("spectrum", &self.diagnostics.spectrum);
        if let Some(templates) = &self.templates {
            if let Decode::Patches(decode) = &templates.decode {
                file.insert_matrix("decode", decode);
            }
            file.insert_matrix("templates", &templates.shapes);
            file.insert_vector("patch_mean", &templates.mean);
            file.insert_vector("centre", &self.sizes.centre);
            file.insert_vector("skewness", self.diagnostics.skewness());
            file.insert_vector("kurtosis", self.diagnostics.kurtosis());
        }
        file
    }

    /// Reads a model that [`Model::save`] wrote.
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
        file.expect_kind("sentences")?;
        let facts = &file.metadata;
        let fail = |problem: &str| Error::Model {
            path: file.path().into(),
            problem: problem.into(),
            remedy: "fit the model again".into(),
        };
        let (vocabulary, vectors) = (file.lines("vocabulary")?, file.matrix("vectors")?);
        let (frequencies, weights) = (file.vector("frequencies")?, file.vector("sif_weights")?);
        let common = file.vector("common")?;
        let words = vocabulary.len();
        let index = index(&vocabulary);
        let fits = vectors.rows() == words
            && vectors.cols() > 0
            && index.len() == words
            && frequencies.len() == words
            && weights.len() == words
            && common.len() == vectors.cols();
        if !fits {
            return Err(fail("its tensors do not fit together"));
        }
        ["frequencies", "sif_weights"].iter().try_for_each(|name| file.check_within(name, 0.0..=1.0))?;
        file.check_unit_rows("common")?;
        let features = facts["features"].as_str().and_then(Features::named);
        let features = features.ok_or_else(|| fail("says nothing that is known about its features"))?;
        let templates =
            file.tensors.contains_key("templates").then(|| templates(file, &vectors)).transpose()?;
        if features.has_templates() && templates.is_none() {
            return Err(fail("has no templates, which its features need"));
        }
        let number = |name: &str| facts["sizes"][name].as_f64().filter(|x| x.is_finite()).unwrap_or(1.0);
        let centre = if templates.is_some() { file.vector("centre")? } else { Vec::new() };
        let phrases = phrases(&facts["phrases"]);
        if let Some(t) = &templates
            && (centre.len() != t.width() || phrases.len() != t.count())
        {
            return Err(fail("its tensors do not fit together"));
        }
        let moments = match &templates {
            Some(_) => Some((file.vector("skewness")?, file.vector("kurtosis")?)),
            None => None,
        };
        let count = templates.as_ref().map_or(0, Templates::count);
        if moments.as_ref().is_some_and(|(s, k)| s.len() != count || k.len() != count) {
            return Err(fail("its tensors do not fit together"));
        }
        let punctuation =
            facts["punctuation"].as_bool().ok_or_else(|| fail("does not say how its text was cut"))?;
        let cutting = Cutting { recipe: Recipe::from_json(&facts["recipe"])?, punctuation };
        cutting.check()?;
        let sizes = Sizes { centre, templates: number("templates"), mean: number("mean") };
        let share = facts["diagnostics"]["common"].as_f64().unwrap_or(0.0);
        Ok(Self {
            vocabulary,
            index,
            vectors,
            frequencies,
            sif: Sif { weights, common, share },
            templates,
            sizes,
            phrases,
            features,
            cutting,
            params: facts["parameters"].clone(),
            diagnostics: Diagnostics::from_json(&facts["diagnostics"], file.vector("spectrum")?, moments),
            verdict: Verdict::from_json(&facts["verdict"]),
        })
    }
}

fn templates(file: &ModelFile, vectors: &Mat) -> Result<Templates> {
    let (shapes, mean) = (file.matrix("templates")?, file.vector("patch_mean")?);
    let stored = &file.metadata["templates"];
    let whole = |name: &str| stored[name].as_u64().filter(|n| (1..=16).contains(n)).map(|n| n as usize);
    let fits = |length: &usize| {
        shapes.cols() > 0
            && shapes.rows() % length == 0
            && (1..=vectors.cols()).contains(&(shapes.rows() / length))
            && mean.len() == shapes.rows()
    };
    let length = whole("length").filter(fits);
    let decode = match file.tensors.contains_key("decode") {
        true => Some(file.matrix("decode")?)
            .filter(|decode| (decode.cols(), decode.rows()) == (shapes.rows(), shapes.cols()))
            .map(Decode::Patches),
        false => {
            length.and_then(|length| coordinates::of_shapes(&shapes, &mean, length)).map(Decode::Coordinates)
        }
    };
    match (length, whole("pool"), decode) {
        (Some(length), Some(pool), Some(decode)) => Ok(Templates { decode, shapes, mean, length, pool }),
        _ => Err(Error::Model {
            path: file.path().into(),
            problem: "its templates do not fit together".into(),
            remedy: "fit the model again".into(),
        }),
    }
}

fn phrases(value: &Value) -> Vec<Vec<Phrase>> {
    let phrase = |p: &Value| Some(Phrase { text: p[0].as_str()?.to_owned(), activation: p[1].as_f64()? });
    let of = |some: &Value| some.as_array().into_iter().flatten().filter_map(phrase).collect();
    value.as_array().into_iter().flatten().map(of).collect()
}

pub(super) fn params_json(params: &Params) -> Value {
    let mut value = json!({
        "features": params.features.name(),
        "unit": params.unit,
        "sif": params.sif,
        "seed": params.seed,
    });
    match &params.words {
        Words::Learned(c) => {
            value["vectors"] = json!({
                "learned": true, "dimensions": c.dimensions, "window": c.window, "smoothing": c.smoothing,
                "shift": c.shift, "power": c.power,
            });
        }
        Words::Given(given) => {
            value["vectors"] = json!({ "learned": false, "dimensions": given.vectors().cols(), "words": given.words().len() });
        }
    }
    if params.features.has_templates() {
        let t = &params.templates;
        value["templates"] = json!({
            "count": t.count, "length": t.length, "channels": t.channels, "learner": t.learner.name(), "pool": t.pool,
        });
    }
    value
}

#[cfg(test)]
mod tests {
    use super::super::super::{Cooccurrence, Cutting, Learner, Search, Text};
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;

    fn text() -> Text {
        let lines: Vec<String> = (0..400)
            .map(|i| format!("the ship{} sails to a{} and b{} again c{}", i % 5, i % 7, i % 11, i * i % 13))
            .collect();
        Text::new(&lines, &Cutting::default(), 1).unwrap()
    }

    fn params(features: Features) -> Params {
        let words = Words::Learned(Cooccurrence { dimensions: 12, ..Cooccurrence::default() });
        let templates = Search { count: 6, pool: 2, ..Search::default() };
        Params { features, words, templates, ..Params::default() }
    }

    #[test]
    fn a_model_comes_back_and_gives_the_same_numbers() {
        for features in Features::ALL {
            let model = params(features).fit(&text()).unwrap();
            let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            assert_eq!(back, model);
            assert_eq!(back.to_json(), model.to_json());
            let lines = ["the ship1 sails", "", "a2 b3 c1 again the", "nothing known"];
            let rows = model.encode(&lines).unwrap();
            assert_eq!(back.encode(&lines).unwrap(), rows);
            assert_eq!(rows.cols(), model.columns(features).len());
            assert!(rows.row(1).iter().chain(rows.row(3)).all(|x| *x == 0.0));
            assert!(rows.as_slice().iter().all(|x| x.is_finite()));
            let alike = model.similarity("the ship1 sails", "the ship1 sails").unwrap();
            assert!((alike - 1.0).abs() < 1e-12, "{alike}");
            assert_eq!(model.similarity("", "the ship1").unwrap(), 0.0);
        }
    }

    #[test]
    fn motifs_of_coordinates_come_back_and_give_the_same_numbers() {
        let model = motifs().fit(&text()).unwrap();
        assert_eq!(model.templates().map(|t| (t.rows(), t.cols())), Some((12, 6)));
        let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(back, model);
        let lines = ["the ship1 sails", "", "a2", "a2 b3 c1 again the ship2 sails to"];
        let rows = model.encode(&lines).unwrap();
        assert_eq!(back.encode(&lines).unwrap(), rows);
        assert!(rows.row(1).iter().all(|x| *x == 0.0) && rows.as_slice().iter().all(|x| x.is_finite()));
        assert!(model.phrases().iter().all(|some| !some.is_empty()));
        let mut file = model.to_file();
        file.insert_matrix("templates", &Mat::from_fn(12, 6, |_, _| 1.0));
        let error = Model::from_bytes(&file.to_bytes().unwrap()).unwrap_err().to_string();
        assert!(error.contains("templates do not fit"), "{error}");
    }

    fn motifs() -> Params {
        let mut params = params(Features::TemplatesMean);
        (params.templates.learner, params.templates.length) = (Learner::Motifs, 4);
        params
    }

    #[test]
    fn the_same_bytes_on_any_number_of_threads() {
        let text = text();
        for params in [params(Features::TemplatesMean), motifs()] {
            let fitted = |threads| with_threads(threads, || params.fit(&text).unwrap().to_bytes().unwrap());
            let one = fitted(1);
            assert!(one == fitted(2) && one == fitted(3) && one == fitted(8));
        }
    }

    #[test]
    fn damaged_models_are_refused() {
        let model = params(Features::TemplatesMean).fit(&text()).unwrap();
        let with = |change: &dyn Fn(&mut ModelFile)| {
            let mut file = model.to_file();
            change(&mut file);
            Model::from_bytes(&file.to_bytes().unwrap()).unwrap_err().to_string()
        };
        assert!(with(&|f| f.metadata["features"] = json!("magic")).contains("features"));
        assert!(with(&|f| f.metadata["templates"]["length"] = json!(7)).contains("templates"));
        assert!(with(&|f| f.metadata["templates"]["pool"] = json!(0)).contains("templates"));
        assert!(with(&|f| f.insert_vector("common", &[1.0])).contains("fit together"));
        assert!(with(&|f| f.insert_vector("centre", &[1.0])).contains("fit together"));
        assert!(with(&|f| f.insert_vector("kurtosis", &[1.0])).contains("fit together"));
        assert!(with(&|f| f.insert_text("vocabulary", "one\ntwo")).contains("fit together"));
        assert!(with(&|f| f.kind = "ica".into()).contains("kind"));
        let mean = params(Features::Mean).fit(&text()).unwrap();
        let error = mean.encode_with(&["x"], Features::Templates, &tenfold_engine::progress::Silent);
        assert!(error.unwrap_err().to_string().contains("no templates"));
    }

    #[test]
    fn small_and_strange_texts_are_told() {
        let told = |lines: &[&str]| {
            let text = Text::new(lines, &Cutting::default(), 1).unwrap();
            params(Features::TemplatesMean).fit(&text).unwrap_err().to_string()
        };
        for lines in [&[""][..], &[], &["word"], &["one", "two"], &["same same same"]] {
            assert!(told(lines).contains("too small"), "{lines:?}: {}", told(lines));
        }
        let bad = |change: &dyn Fn(&mut Params)| {
            let mut params = params(Features::TemplatesMean);
            change(&mut params);
            params.fit(&text()).unwrap_err().to_string()
        };
        assert!(bad(&|p| p.sif = 0.0).contains("sif"));
        assert!(bad(&|p| p.templates.count = 0).contains("templates"));
        assert!(bad(&|p| p.templates.length = 99).contains("length"));
        assert!(
            bad(&|p| p.words = Words::Learned(Cooccurrence { window: 0, ..Default::default() }))
                .contains("window")
        );
        assert!(
            bad(&|p| p.words = Words::Learned(Cooccurrence { power: f64::NAN, ..Default::default() }))
                .contains("power")
        );
    }
}
