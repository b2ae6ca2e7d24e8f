//! The model as a file and as JSON.

use super::super::choices::{Length, Params};
use super::super::extent::Extent;
use super::super::filters::Filters;
use super::super::picture::Picture;
use super::firing::Habits;
use super::{Diagnostics, Model};
use crate::components::Components;
use crate::error::{Error, Result};
use crate::model_file::{self, ModelFile};
use crate::verdict::Verdict;
use serde_json::{Value, json};
use std::path::Path;
use tenfold_engine::linalg::Mat;

impl Model {
    /// All but the motifs as JSON: parameters, sizes, every motif's weight and cumulants, diagnostics and verdict.
    pub fn to_json(&self) -> Value {
        let mut value = self.facts();
        value["motifs"] = json!(self.count());
        value["weights"] = json!(self.weights);
        value["third"] = json!(self.third);
        value["fourth"] = json!(self.fourth);
        value["firings_per_sample"] = json!(self.picture.firings(self.count()));
        value["sound"] = json!(self.verdict.is_sound());
        value
    }

    /// What a model file says beside its arrays.
    fn facts(&self) -> Value {
        let d = &self.diagnostics;
        json!({
            "parameters": self.params,
            "channels": self.channels,
            "rate": self.rate,
            "signed": self.signed,
            "cyclic": self.cyclic,
            "refractory": self.habits.refractory,
            "rows": self.filters.extent.rows,
            "columns": self.filters.extent.columns,
            "diagnostics": {
                "samples": d.samples,
                "stretches": d.stretches,
                "strengths": d.strengths,
                "orders": d.orders,
                "misfit": d.misfit,
                "agreement": d.agreement,
                "certificates": d.certificates,
                "converged": d.converged,
                "repeats": d.repeats,
                "likeness": d.likeness,
                "explained": d.explained,
                "noise": d.noise,
                "refined": d.refined,
            },
            "verdict": self.verdict.to_json(),
        })
    }

    /// Writes the model to one file, atomically: `filters`, motifs × (channels · samples), and `weights`.
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
        let mut file = ModelFile::new("motifs", self.facts());
        let matrix = Mat::from_vec(self.count(), self.filters.size(), self.filters.values.clone());
        file.insert_matrix("filters", &matrix);
        file.insert_vector("weights", &self.weights);
        file.insert_vector("third", &self.third);
        file.insert_vector("fourth", &self.fourth);
        file.insert_vector("centres", &self.centres);
        file.insert_vector("floors", &self.habits.floors);
        self.picture.store(&mut file);
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
        file.expect_kind("motifs")?;
        let damaged = || Error::Model {
            path: file.path().into(),
            problem: "its tensors do not fit together".into(),
            remedy: "fit the model again".into(),
        };
        let facts = &file.metadata;
        let size =
            |name: &str| model_file::count(&facts[name]).map(|size| size as usize).filter(|&size| size > 0);
        let (rows, columns) = (size("rows").ok_or_else(damaged)?, size("columns").ok_or_else(damaged)?);
        let extent = Extent { rows, columns };
        let names = facts["channels"].as_array().ok_or_else(damaged)?;
        let channels: Vec<String> = names
            .iter()
            .map(|name| name.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(damaged)?;
        let matrix = file.matrix("filters")?;
        let [weights, third, fourth] =
            [file.vector("weights")?, file.vector("third")?, file.vector("fourth")?];
        let [centres, floors] = [file.vector("centres")?, file.vector("floors")?];
        let count = matrix.rows();
        let width = rows.checked_mul(columns).and_then(|one| one.checked_mul(channels.len()));
        if count == 0
            || channels.is_empty()
            || width != Some(matrix.cols())
            || centres.len() != channels.len()
            || floors.len() != count
            || [&weights, &third, &fourth].iter().any(|vector| vector.len() != count)
        {
            return Err(damaged());
        }
        // Motifs have the norm 1; one that nothing was found of is zero.
        file.check_unit_rows("filters")?;
        ["weights", "floors"].iter().try_for_each(|name| file.check_sizes(name))?;
        let refractory = model_file::count(&facts["refractory"]).unwrap_or(0) as usize;
        Ok(Self {
            filters: Filters::new(matrix.into_vec(), channels.len(), extent),
            weights,
            third,
            fourth,
            centres,
            habits: Habits { floors, refractory },
            picture: Picture::restore(file, channels.len(), count)?,
            channels,
            rate: facts["rate"].as_f64().filter(|rate| rate.is_finite() && *rate > 0.0),
            signed: facts["signed"].as_bool().unwrap_or(false),
            cyclic: facts["cyclic"].as_bool().unwrap_or(false),
            params: facts["parameters"].clone(),
            diagnostics: diagnostics(&facts["diagnostics"], count),
            verdict: Verdict::from_json(&facts["verdict"]),
        })
    }
}

fn diagnostics(d: &Value, count: usize) -> Diagnostics {
    let whole = |name: &str| model_file::count(&d[name]).unwrap_or(0) as usize;
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let numbers =
        |name: &str| d[name].as_array().map_or(Vec::new(), |list| list.iter().map(number).collect());
    let flag = |value: &Value| value.as_bool().unwrap_or(false);
    let motif = |value: &Value| model_file::count(value).map(|l| l as usize).filter(|&l| l < count);
    let likeness = &d["likeness"];
    Diagnostics {
        samples: whole("samples"),
        stretches: whole("stretches"),
        strengths: [0, 1].map(|order| number(&d["strengths"][order])),
        orders: [0, 1].map(|order| flag(&d["orders"][order])),
        misfit: number(&d["misfit"]),
        agreement: number(&d["agreement"]),
        certificates: numbers("certificates"),
        converged: flag(&d["converged"]),
        repeats: numbers("repeats"),
        likeness: motif(&likeness[0]).zip(motif(&likeness[1])).map(|(a, b)| (a, b, number(&likeness[2]))),
        explained: d["explained"].as_f64(),
        noise: d["noise"].as_f64(),
        refined: model_file::count(&d["refined"][0]).map(|steps| (steps as usize, flag(&d["refined"][1]))),
    }
}

pub(super) fn params_json(params: &Params) -> Value {
    json!({
        "motifs": match params.motifs { Components::Auto => json!("auto"), Components::Exactly(l) => json!(l) },
        "length": match params.length {
            Length::Auto => json!("auto"),
            Length::Known(extent) if extent.is_plane() => json!([extent.rows, extent.columns]),
            Length::Known(extent) => json!(extent.columns),
        },
        "orders": params.orders.name(),
        "solver": params.solver.name(),
        "sparse": params.sparse,
        "starts": params.starts,
        "seed": params.seed,
    })
}
