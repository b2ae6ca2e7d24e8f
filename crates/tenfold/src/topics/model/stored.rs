//! The model as a file and as JSON.

use super::super::fit::{Params, Polish};
use super::super::moments::{Damping, Projected};
use super::{Diagnostics, Model, Moments, Representative};
use crate::admixture::LARGEST_PRIOR;
use crate::components::Components;
use crate::error::{Error, Result};
use crate::model_file::{ModelFile, count};
use crate::verdict::Verdict;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use tenfold_engine::tensor::Tensor3;

/// Words of each topic in the JSON.
const LISTED: usize = 20;

impl Model {
    /// All but the matrices as JSON: parameters, every topic with its share, α, coherence, stability, top words and typical
    /// documents, diagnostics, and the verdict.
    pub fn to_json(&self) -> Value {
        let mut value = self.facts();
        value["k"] = json!(self.k());
        value["words"] = json!(self.words());
        value["sound"] = json!(self.verdict.is_sound());
        value["kept"] =
            self.kept().map_or(Value::Null, |(m, bytes)| json!({ "directions": m, "bytes": bytes }));
        value["diagnostics"]["spectrum"] = json!(self.diagnostics.spectrum);
        let seconds = self.diagnostics.seconds.iter().map(|(s, t)| (s.clone(), json!(t)));
        value["diagnostics"]["seconds"] = Value::Object(seconds.collect());
        value["topics"] = (0..self.k())
            .map(|t| {
                let words = self.top_words(t, LISTED, 1.0);
                json!({
                    "topic": t,
                    "share": self.shares[t],
                    "alpha": self.alpha[t],
                    "coherence": self.coherence[t],
                    "stability": self.diagnostics.stability.get(t),
                    "words": words.iter().map(|w| json!({
                        "word": self.vocabulary[w.word], "probability": w.probability,
                    })).collect::<Value>(),
                })
            })
            .collect();
        value
    }

    /// What a model file says beside its arrays.
    fn facts(&self) -> Value {
        let d = &self.diagnostics;
        let document = |r: &Representative| json!([r.document, r.share, r.name]);
        json!({
            "parameters": self.params,
            "recipe": self.recipe,
            "documents": self.documents,
            "tokens": self.tokens,
            "representatives": self.representatives.iter()
                .map(|list| list.iter().map(document).collect()).collect::<Vec<Value>>(),
            "diagnostics": {
                "interval": d.interval,
                "tried": d.tried,
                "weights": d.weights,
                "condition": d.condition,
                "eigengap": d.eigengap,
                "negative": d.negative,
                "alpha_sum": d.alpha_sum,
                "alpha0": d.alpha0,
                "stability": d.stability,
                "carriers": d.carriers,
                "looked_at": d.looked_at,
                "curve": d.curve,
                "chosen": d.chosen,
                "iterations": d.iterations,
                "converged": d.converged,
                "residual": d.residual,
                "fit": d.fit,
                "agreement": d.agreement,
            },
            "moments": self.moments.as_ref().map(|m| json!({
                "weight": m.projected.weight, "documents": m.projected.documents, "cap": m.cap, "alpha0": m.alpha0,
                "outside": m.outside, "damped": m.damping == Damping::Root,
            })),
            "verdict": self.verdict.to_json(),
        })
    }

    /// Writes the model to one file, atomically: `topics` (k × words), `alpha`, `vocabulary` (UTF-8, one word a line),
    /// `spectrum`, `unigram`, `shares`, `correlations`, `coherence`, and, when the model keeps its moments, `moments.basis`
    /// and `moments.regression` (words × m, single precision), `moments.third`, `moments.second`, `moments.mean`, `moments.first` and `moments.scale`.
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
        let mut file = ModelFile::new("topics", self.facts());
        file.insert_matrix("topics", &self.topics);
        file.insert_matrix("correlations", &self.correlations);
        file.insert_lines("vocabulary", &self.vocabulary);
        for (name, vector) in [
            ("alpha", &self.alpha),
            ("spectrum", &self.diagnostics.spectrum),
            ("unigram", &self.unigram),
            ("shares", &self.shares),
            ("coherence", &self.coherence),
        ] {
            file.insert_vector(name, vector);
        }
        if let Some(Moments { projected, scale, .. }) = &self.moments {
            file.insert_single("moments.basis", &projected.basis);
            file.insert_single("moments.regression", &projected.regression);
            file.insert_vector("moments.first", &projected.first);
            file.insert_vector("moments.mean", &projected.mean);
            file.insert_matrix("moments.second", &projected.second);
            let third = projected.third.as_ref().map_or(&[][..], Tensor3::as_slice);
            file.insert_vector("moments.third", third);
            file.insert_vector("moments.scale", scale);
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
        file.expect_kind("topics")?;
        let facts = &file.metadata;
        let topics = file.matrix("topics")?;
        let (k, words) = (topics.rows(), topics.cols());
        let mut diagnostics = diagnostics(&facts["diagnostics"]);
        diagnostics.spectrum = file.vector("spectrum")?;
        let documents = count(&facts["documents"]).unwrap_or(0) as usize;
        let representatives = representatives(&facts["representatives"], k, documents).map_err(|number| {
            damaged(path, format!("its typical documents have the number {number} of {documents}"))
        })?;
        let model = Self {
            alpha: file.vector("alpha")?,
            vocabulary: file.lines("vocabulary")?,
            unigram: file.vector("unigram")?,
            shares: file.vector("shares")?,
            correlations: file.matrix("correlations")?,
            coherence: file.vector("coherence")?,
            representatives,
            documents,
            tokens: count(&facts["tokens"]).unwrap_or(0),
            recipe: facts["recipe"].clone(),
            params: facts["parameters"].clone(),
            verdict: Verdict::from_json(&facts["verdict"]),
            moments: moments(file, words, path)?,
            diagnostics,
            topics,
        };
        let fits = model.alpha.len() == k
            && [model.shares.len(), model.coherence.len(), model.correlations.rows()] == [k; 3]
            && model.correlations.cols() == k
            && [model.vocabulary.len(), model.unigram.len()] == [words; 2]
            && k > 0;
        if !fits {
            return Err(misfit(path));
        }
        check_numbers(file)?;
        let mut known = HashSet::with_capacity(words);
        match model.vocabulary.iter().find(|word| !known.insert(word.as_str())) {
            Some(word) => Err(damaged(path, format!("its vocabulary holds the word {word:?} twice"))),
            None => Ok(model),
        }
    }
}

/// Topics, words and documents are told by shares, and α by what single precision can add up.
fn check_numbers(file: &ModelFile) -> Result<()> {
    ["topics", "shares", "unigram"].iter().try_for_each(|name| file.check_shares(name))?;
    ["correlations", "coherence"].iter().try_for_each(|name| file.check_within(name, -1.0..=1.0))?;
    ["moments.first", "moments.scale"].iter().try_for_each(|name| file.check_sizes(name))?;
    file.check_sizes("alpha")?;
    let sum: f64 = file.vector("alpha")?.iter().sum();
    if sum <= LARGEST_PRIOR {
        return Ok(());
    }
    Err(file.unsound(
        "alpha",
        &format!("adds up to {sum:e}, more than the {LARGEST_PRIOR:e} that a prior can be"),
    ))
}

fn misfit(path: &Path) -> Error {
    damaged(path, "its tensors do not fit together".into())
}

fn damaged(path: &Path, problem: String) -> Error {
    Error::Model { path: path.into(), problem, remedy: "fit the model again".into() }
}

fn moments(file: &ModelFile, words: usize, path: &Path) -> Result<Option<Moments>> {
    let about = &file.metadata["moments"];
    if about.is_null() {
        return Ok(None);
    }
    let (basis, regression) = (file.matrix("moments.basis")?, file.matrix("moments.regression")?);
    let (first, third) = (file.vector("moments.first")?, file.vector("moments.third")?);
    let scale = file.vector("moments.scale")?;
    let (mean, second) = (file.vector("moments.mean")?, file.matrix("moments.second")?);
    let m = basis.cols();
    let inner = (mean.len(), second.rows(), second.cols()) == (m, m, m);
    let shapes = (basis.rows(), regression.rows(), regression.cols(), first.len(), scale.len());
    let triples = Tensor3::from_packed(m, third);
    let (Some(triples), true) = (triples, inner && shapes == (words, words, m, words, words)) else {
        return Err(misfit(path));
    };
    let number = |name: &str| about[name].as_f64().unwrap_or(0.0);
    let damping = if about["damped"] == false { Damping::None } else { Damping::Root };
    let projected = Projected {
        basis,
        weight: number("weight"),
        documents: count(&about["documents"]).unwrap_or(0),
        first,
        mean,
        second,
        regression,
        third: Some(triples),
        shards: Vec::new(),
    };
    Ok(Some(Moments {
        projected,
        cap: number("cap"),
        damping,
        scale,
        alpha0: number("alpha0"),
        outside: about["outside"].as_f64(),
    }))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn diagnostics(d: &Value) -> Diagnostics {
    let pairs = |v: &Value| -> Vec<(f64, f64)> {
        let pair = |p: &Value| Some((p[0].as_f64()?, p[1].as_f64()?));
        v.as_array().into_iter().flatten().filter_map(pair).collect()
    };
    let whole = |name: &str| count(&d[name]).unwrap_or(0) as usize;
    let number = |name: &str| d[name].as_f64().unwrap_or(f64::NAN);
    Diagnostics {
        spectrum: Vec::new(),
        interval: count(&d["interval"][0])
            .zip(count(&d["interval"][1]))
            .map(|(a, b)| (a as usize, b as usize)),
        tried: pairs(&d["tried"]).into_iter().map(|(k, p)| (k as usize, p)).collect(),
        weights: numbers(&d["weights"]),
        condition: number("condition"),
        eigengap: d["eigengap"].as_f64().unwrap_or(f64::INFINITY),
        negative: numbers(&d["negative"]),
        alpha_sum: number("alpha_sum"),
        alpha0: number("alpha0"),
        stability: numbers(&d["stability"]),
        carriers: numbers(&d["carriers"]),
        looked_at: whole("looked_at"),
        curve: pairs(&d["curve"]),
        chosen: whole("chosen"),
        iterations: whole("iterations"),
        converged: d["converged"].as_bool().unwrap_or(false),
        residual: number("residual"),
        fit: d["fit"].as_f64(),
        agreement: d["agreement"].as_f64(),
        seconds: Vec::new(),
    }
}

/// The typical documents of every topic; the number of one that is none of these documents.
fn representatives(
    value: &Value,
    k: usize,
    documents: usize,
) -> std::result::Result<Vec<Vec<Representative>>, Value> {
    let one = |r: &Value| {
        let share = r[1].as_f64()?;
        let document = count(&r[0]).map(|number| number as usize).filter(|number| *number < documents);
        let found = |document| Representative { document, name: r[2].as_str().map(str::to_owned), share };
        Some(document.map(found).ok_or_else(|| r[0].clone()))
    };
    let list = |t: usize| value[t].as_array().into_iter().flatten().filter_map(one).collect();
    (0..k).map(list).collect()
}

pub(super) fn params_json(params: &Params) -> Value {
    json!({
        "k": match params.k { Components::Auto => json!("auto"), Components::Exactly(k) => json!(k) },
        "alpha0": params.alpha0,
        "polish": match params.polish {
            Polish::Predict => "predict",
            Polish::Faithful => "faithful",
            Polish::None => "none",
        },
        "damp": params.damp,
        "epochs": params.epochs,
        "solver": params.solver.name(),
        "seed": params.seed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics::Synth;

    /// The error of a file that holds this in place of what a fit wrote.
    fn error_of(spoil: impl Fn(&mut Model)) -> String {
        let drawn = Synth { documents: 300, words: 60, k: 3, ..Synth::default() }.draw().unwrap();
        let mut model = Params::new(3).fit(&drawn.corpus).unwrap();
        spoil(&mut model);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.tenfold");
        model.save(&path).unwrap();
        Model::load(&path).unwrap_err().to_string()
    }

    #[test]
    fn moments_that_do_not_fit_are_damage() {
        let error = error_of(|m| m.moments.as_mut().unwrap().scale.truncate(7));
        assert!(error.contains("do not fit together"), "{error}");
        let error = error_of(|m| m.moments.as_mut().unwrap().projected.mean.push(0.0));
        assert!(error.contains("do not fit together"), "{error}");
    }

    #[test]
    fn a_word_twice_is_damage() {
        let error = error_of(|m| m.vocabulary[9] = m.vocabulary[2].clone());
        assert!(error.contains("\"w00002\" twice"), "{error}");
    }
}
