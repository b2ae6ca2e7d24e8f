//! The model as a file and as JSON.

use super::{Diagnostics, Feature, Model, StartOutcome, Trait};
use crate::cells::CurvePoint;
use crate::cells::choices::Params;
use crate::cells::features::{Bins, Crowding, Density, Edges, MOST_ALONG};
use crate::cells::picture::Picture;
use crate::components::Components;
use crate::error::{Error, Result};
use crate::model_file::{ModelFile, count, index};
use crate::verdict::Verdict;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use tenfold_engine::linalg::Mat;

impl Model {
    /// All but the arrays as JSON: parameters, sizes, weights, bins, diagnostics and verdict.
    pub fn to_json(&self) -> Value {
        let mut value = self.facts();
        value["types"] = json!(self.k());
        value["genes"] = json!(self.genes.len());
        value["weights"] = json!(self.weights);
        value["sound"] = json!(self.verdict.is_sound());
        let markers = |t| {
            self.markers(t, 10).into_iter().map(|m| {
                json!({
                    "gene": self.genes[m.gene], "share": m.share, "lift": m.lift,
                })
            })
        };
        value["markers"] = (0..self.k()).map(|t| Value::from_iter(markers(t))).collect();
        let told = |t: &Trait| {
            json!({
                "feature": t.feature.name(), "low": t.low, "median": t.median, "high": t.high, "histogram": t.histogram,
            })
        };
        value["traits"] = self.traits.iter().map(|list| Value::from_iter(list.iter().map(told))).collect();
        value
    }

    /// What a model file says beside its arrays.
    fn facts(&self) -> Value {
        let d = &self.diagnostics;
        let start = |s: &StartOutcome| {
            json!({
                "name": s.name, "log_likelihood": s.log_likelihood, "distance": s.distance,
            })
        };
        json!({
            "parameters": self.params,
            "bins": self.bins.as_ref().map(|b| json!({
                "size": b.size,
                // Where no aspect is known there is none from which cells are not round.
                "round": if b.round.is_finite() { json!(b.round) } else { Value::Null },
                "aspect": b.aspect,
                "orientations": b.orientations,
                "intensity": b.intensity,
                "density": crowding_name(b.density),
                "neighbours": b.neighbours,
            })),
            "diagnostics": {
                "cells": d.cells,
                "missing": d.missing,
                "rows": d.rows,
                "filled": d.filled,
                "solver": d.solver,
                "density": d.density,
                "steps": d.steps,
                "converged": d.converged,
                "log_likelihood": d.log_likelihood,
                "differ": d.differ,
                "half": d.half,
                "starts": d.starts.iter().map(start).collect::<Vec<_>>(),
                "curve": d.curve.iter().map(|p| json!([p.k, p.log_likelihood])).collect::<Vec<_>>(),
            },
            "verdict": self.verdict.to_json(),
        })
    }

    /// Writes the model to one file, atomically. Tensors: `profiles` (types × genes), `memberships` (bins × types), `weights`,
    /// `totals`, `frequencies`, `percentiles` (type, feature, 5 %, 50 %, 95 %), `drawn` (cells of a few images, for the page); text: `genes` and
    /// `images`, as JSON.
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
        let mut file = ModelFile::new("cells", self.facts());
        file.insert_matrix("profiles", &self.profiles);
        file.insert_matrix("memberships", &self.memberships);
        file.insert_vector("weights", &self.weights);
        file.insert_vector("totals", &self.totals);
        file.insert_vector("frequencies", &self.frequencies);
        let rows: Vec<f64> = (self.traits.iter().enumerate())
            .flat_map(|(t, list)| list.iter().map(move |own| (t, own)))
            .flat_map(|(t, own)| {
                let feature = Feature::ALL.iter().position(|f| *f == own.feature).unwrap_or(0);
                [t as f64, feature as f64, own.low, own.median, own.high]
            })
            .collect();
        file.insert_matrix("percentiles", &Mat::from_vec(rows.len() / 5, 5, rows));
        // Names may hold anything, line breaks too: JSON keeps them apart.
        file.insert_text("genes", &json!(self.genes).to_string());
        let (images, drawn) = self.picture.to_store();
        file.insert_text("images", &images);
        file.insert_single("drawn", &drawn);
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
        file.expect_kind("cells")?;
        let damaged = || Error::Model {
            path: file.path().into(),
            problem: "its tensors do not fit together".into(),
            remedy: "fit the model again".into(),
        };
        let genes: Vec<String> = serde_json::from_str(&file.text("genes")?).map_err(|_| damaged())?;
        let bins = match &file.metadata["bins"] {
            Value::Null => None,
            value => Some(bins(value).ok_or_else(damaged)?),
        };
        let mut model = Self {
            profiles: file.matrix("profiles")?,
            memberships: file.matrix("memberships")?,
            weights: file.vector("weights")?,
            totals: file.vector("totals")?,
            frequencies: file.vector("frequencies")?,
            genes,
            bins,
            traits: Vec::new(),
            picture: Picture::default(),
            params: file.metadata["parameters"].clone(),
            diagnostics: diagnostics(&file.metadata["diagnostics"]),
            verdict: Verdict::from_json(&file.metadata["verdict"]),
        };
        if !model.fits() {
            return Err(damaged());
        }
        ["profiles", "memberships", "weights", "frequencies"]
            .iter()
            .try_for_each(|name| file.check_shares(name))?;
        file.check_sizes("totals")?;
        model.diagnostics.k = model.k();
        model.traits = model.read_traits(&file.matrix("percentiles")?).ok_or_else(damaged)?;
        let drawn = (file.text("images")?, file.matrix("drawn")?);
        model.picture = Picture::stored(&drawn.0, &drawn.1, model.k()).ok_or_else(damaged)?;
        Ok(model)
    }

    /// Whether shapes agree.
    fn fits(&self) -> bool {
        let (k, genes, rows) = (self.profiles.rows(), self.profiles.cols(), self.memberships.rows());
        let mut seen = HashSet::new();
        k > 0
            && self.genes.len() == genes
            && self.genes.iter().all(|g| seen.insert(g))
            && self.frequencies.len() == genes
            && self.memberships.cols() == k
            && self.weights.len() == k
            && self.totals.len() == rows
            && self.bins.as_ref().is_none_or(|b| b.checked_len() == Some(rows))
    }

    fn read_traits(&self, rows: &Mat) -> Option<Vec<Vec<Trait>>> {
        if rows.rows() == 0 {
            return Some(Vec::new());
        }
        let mut all: Vec<Vec<Trait>> = vec![Vec::new(); self.k()];
        if rows.cols() != 5 || self.bins.is_none() || rows.rows() > self.k() * Feature::ALL.len() {
            return None;
        }
        for i in 0..rows.rows() {
            let [t, feature, low, median, high] = *rows.row(i) else { return None };
            let (t, feature) = (index(t, self.k())?, Feature::ALL[index(feature, Feature::ALL.len())?]);
            all[t].push(Trait { feature, low, median, high, histogram: self.histogram(t, feature) });
        }
        Some(all)
    }
}

fn crowding_name(crowding: Crowding) -> &'static str {
    match crowding {
        Crowding::Ignored => "none",
        Crowding::Relative => "relative",
        Crowding::Raw => "raw",
    }
}

fn bins(value: &Value) -> Option<Bins> {
    let edges = |name: &str| {
        let list: Vec<f64> = value[name].as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
        (list.len() < MOST_ALONG && list.windows(2).all(|w| w[0] < w[1])).then_some(list)
    };
    let round = match &value["round"] {
        Value::Null => f64::INFINITY,
        round => round.as_f64().filter(|r| *r >= 1.0)?,
    };
    Some(Bins {
        size: edges("size")?,
        round,
        aspect: edges("aspect")?,
        orientations: value["orientations"]
            .as_u64()
            .and_then(|n| usize::try_from(n).ok())
            .filter(|n| (1..=MOST_ALONG).contains(n))?,
        intensity: edges("intensity")?,
        density: match value["density"].as_str()? {
            "none" => Crowding::Ignored,
            "relative" => Crowding::Relative,
            "raw" => Crowding::Raw,
            _ => return None,
        },
        neighbours: edges("neighbours")?,
    })
}

fn diagnostics(d: &Value) -> Diagnostics {
    let whole = |value: &Value| count(value).unwrap_or(0) as usize;
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let text = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    Diagnostics {
        cells: number(&d["cells"]),
        missing: whole(&d["missing"]),
        k: 0,
        rows: whole(&d["rows"]),
        filled: whole(&d["filled"]),
        solver: text(&d["solver"]),
        density: text(&d["density"]),
        steps: whole(&d["steps"]),
        converged: d["converged"].as_bool().unwrap_or(false),
        log_likelihood: number(&d["log_likelihood"]),
        differ: d["differ"].as_f64(),
        half: count(&d["half"][0]).map(|k| k as usize).zip(d["half"][1].as_f64()),
        starts: list(&d["starts"])
            .iter()
            .map(|s| StartOutcome {
                name: text(&s["name"]),
                log_likelihood: number(&s["log_likelihood"]),
                distance: number(&s["distance"]),
            })
            .collect(),
        curve: list(&d["curve"])
            .iter()
            .map(|p| CurvePoint { k: whole(&p[0]), log_likelihood: number(&p[1]) })
            .collect(),
    }
}

pub(in crate::cells) fn params_json(params: &Params) -> Value {
    let edges = |edges: &Edges| match edges {
        Edges::Quantiles(n) => json!(n),
        Edges::Fixed(list) => json!(list),
    };
    let f = &params.features;
    json!({
        "k": match params.k { Components::Auto => json!("auto"), Components::Exactly(k) => json!(k) },
        "solver": params.solver.name(),
        "smoothing": params.smoothing,
        "alpha": params.alpha,
        "features": {
            "size": edges(&f.size),
            "round": f.round,
            "aspect": edges(&f.aspect),
            "orientations": f.orientations,
            "intensity": edges(&f.intensity),
            "density": f.density.name(),
            "neighbours": match &f.density {
                Density::None => Value::Null,
                Density::Relative(cut) | Density::Raw(cut) => edges(cut),
            },
        },
        "restarts": params.restarts,
        "max_iterations": params.max_iterations,
        "most": params.most,
        "seed": params.seed,
    })
}
