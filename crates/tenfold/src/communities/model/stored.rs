//! The model as a file and as JSON.

use super::super::choices::{Polish, Treatment, Views};
use super::super::data::{Ids, Kind};
use super::super::fit::Params;
use super::super::picture::Picture;
use super::{Diagnostics, Model};
use crate::components::Components;
use crate::error::{Error, Result};
use crate::model_file::{ModelFile, Tensor, TensorData, count};
use crate::verdict::Verdict;
use serde_json::{Value, json};
use std::path::Path;
use tenfold_engine::linalg::Tall;

/// Members of each community in the JSON.
const LISTED: usize = 10;

impl Model {
    /// All but the matrices as JSON: parameters, every community with its share, α and largest members, the bridging
    /// nodes, diagnostics, and the verdict.
    pub fn to_json(&self) -> Value {
        let mut value = self.facts();
        value["k"] = json!(self.k());
        value["nodes"] = json!(self.nodes());
        value["sound"] = json!(self.verdict.is_sound());
        let seconds = self.diagnostics.seconds.iter().map(|(s, t)| (s.clone(), json!(t)));
        value["diagnostics"]["seconds"] = Value::Object(seconds.collect());
        value["communities"] = (self.leading(LISTED).into_iter().enumerate())
            .map(|(c, members)| {
                json!({
                    "community": c,
                    "share": self.shares[c],
                    "alpha": self.alpha[c],
                    "within": self.connectivity[(c, c)],
                    "members": members.iter().map(|(u, share)| json!({ "id": self.ids.get(*u), "share": share })).collect::<Value>(),
                })
            })
            .collect();
        let bridges = self.bridges(LISTED);
        value["bridges"] = bridges
            .iter()
            .map(|b| json!({ "id": self.ids.get(b.node), "bridgeness": b.bridgeness, "corrected": b.corrected }))
            .collect();
        value
    }

    fn facts(&self) -> Value {
        let d = &self.diagnostics;
        json!({
            "kind": kind_name(self.kind),
            "weighted": self.weighted,
            "edges": self.edges,
            "background": self.background,
            "parameters": self.params,
            "diagnostics": {
                "residual": d.residual,
                "directions_converged": d.directions_converged,
                "second": d.second,
                "interval": d.interval,
                "bethe_hessian": d.bethe_hessian,
                "kept": d.kept,
                "confirmed": d.confirmed,
                "share_sum": d.share_sum,
                "decomposition_residual": d.decomposition_residual,
                "converged": d.converged,
                "fit": d.fit,
                "agreement": d.agreement,
                "dense": d.dense,
                "density": d.density,
                "trials": d.trials,
                "chosen": d.chosen,
                "log_likelihood": d.log_likelihood,
                "iterations": d.iterations,
                "settled": d.settled,
                "isolated": d.isolated,
            },
            "verdict": self.verdict.to_json(),
        })
    }

    /// Writes the model to one file, atomically: `memberships` (nodes × k, single precision), `memberships.other` where edges
    /// have a direction, `connectivity` (k × k), `alpha`, `shares`, `spectrum`, `confidence`, `strengths`, `explained` and their
    /// other side, and `ids` (UTF-8, one a line) with `ids.other` for a bipartite graph.
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
        let mut file = ModelFile::new("communities", self.facts());
        insert_tall(&mut file, "memberships", &self.memberships);
        if let Some(others) = &self.others {
            insert_tall(&mut file, "memberships.other", others);
            file.insert_vector("strengths.other", &self.other_strengths);
            file.insert_vector("explained.other", &self.other_explained);
        }
        file.insert_matrix("connectivity", &self.connectivity);
        for (name, vector) in [
            ("alpha", &self.alpha),
            ("shares", &self.shares),
            ("spectrum", &self.diagnostics.spectrum),
            ("confidence", &self.confidence),
            ("strengths", &self.strengths),
            ("explained", &self.explained),
        ] {
            file.insert_vector(name, vector);
        }
        let names = |ids: &Ids| (0..ids.len()).map(|i| ids.get(i).into_owned()).collect::<Vec<String>>();
        file.insert_lines("ids", &names(&self.ids));
        if let Some(ids) = &self.other_ids {
            file.insert_lines("ids.other", &names(ids));
        }
        if let Some(picture) = &self.picture {
            picture.save(&mut file);
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
        file.expect_kind("communities")?;
        let facts = &file.metadata;
        let Some(kind) = kind_of(&facts["kind"]) else { return Err(misfit(path)) };
        let directed = kind != Kind::Undirected;
        let optional = |name: &str| if directed { file.vector(name) } else { Ok(Vec::new()) };
        let mut diagnostics = diagnostics(&facts["diagnostics"]);
        diagnostics.spectrum = file.vector("spectrum")?;
        let other_ids = (kind == Kind::Bipartite).then(|| file.lines("ids.other")).transpose()?;
        let mut model = Self {
            kind,
            weighted: facts["weighted"].as_bool().unwrap_or(false),
            ids: Ids::from_names(file.lines("ids")?)?,
            other_ids: other_ids.map(Ids::from_names).transpose()?,
            edges: count(&facts["edges"]).unwrap_or(0),
            memberships: tall(file, "memberships", path)?,
            others: directed.then(|| tall(file, "memberships.other", path)).transpose()?,
            connectivity: file.matrix("connectivity")?,
            alpha: file.vector("alpha")?,
            shares: file.vector("shares")?,
            strengths: file.vector("strengths")?,
            explained: file.vector("explained")?,
            other_strengths: optional("strengths.other")?,
            other_explained: optional("explained.other")?,
            confidence: file.vector("confidence")?,
            background: facts["background"].as_f64().filter(|share| (0.0..=1.0).contains(share)),
            params: facts["parameters"].clone(),
            verdict: Verdict::from_json(&facts["verdict"]),
            diagnostics,
            picture: None,
        };
        if !model.fits() {
            return Err(misfit(path));
        }
        check_numbers(file)?;
        model.picture = Picture::load(file, &model.all_nodes())?;
        Ok(model)
    }

    fn fits(&self) -> bool {
        let (n, k) = (self.nodes(), self.k());
        let others = self.others.as_ref().map_or(0, Tall::rows);
        let widths = self.others.as_ref().is_none_or(|o| o.width() == k);
        let names = self.other_ids.as_ref().map_or(n, Ids::len);
        let pairs = self.kind == Kind::Bipartite || self.others.is_none() || others == n;
        k > 0
            && widths
            && pairs
            && (self.kind != Kind::Bipartite || names == others)
            && [self.connectivity.rows(), self.connectivity.cols(), self.alpha.len(), self.shares.len()]
                == [k; 4]
            && [self.ids.len(), self.strengths.len(), self.explained.len(), self.confidence.len()] == [n; 4]
            && [self.other_strengths.len(), self.other_explained.len()] == [others; 2]
    }
}

/// Memberships are shares, and all else that is kept of nodes and communities is a size.
fn check_numbers(file: &ModelFile) -> Result<()> {
    ["memberships", "memberships.other", "shares"].iter().try_for_each(|name| file.check_shares(name))?;
    let sizes = ["alpha", "connectivity", "strengths", "explained", "strengths.other", "explained.other"];
    sizes.iter().try_for_each(|name| file.check_sizes(name))?;
    file.check_within("confidence", 0.0..=1.0)
}

fn insert_tall(file: &mut ModelFile, name: &str, x: &Tall) {
    let data = TensorData::F32(x.as_slice().to_vec());
    file.tensors.insert(name.to_owned(), Tensor { shape: vec![x.rows(), x.width()], data });
}

fn tall(file: &ModelFile, name: &str, path: &Path) -> Result<Tall> {
    match file.tensors.get(name) {
        Some(Tensor { shape, data: TensorData::F32(data) }) if shape.len() == 2 => {
            Tall::from_vec(shape[0], shape[1], data.clone()).ok_or_else(|| misfit(path))
        }
        _ => Ok(Tall::from_mat(&file.matrix(name)?)),
    }
}

fn misfit(path: &Path) -> Error {
    Error::Model {
        path: path.into(),
        problem: "its tensors do not fit together".into(),
        remedy: "fit the model again".into(),
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Undirected => "undirected",
        Kind::Directed => "directed",
        Kind::Bipartite => "bipartite",
    }
}

fn kind_of(value: &Value) -> Option<Kind> {
    [Kind::Undirected, Kind::Directed, Kind::Bipartite].into_iter().find(|k| value == kind_name(*k))
}

fn diagnostics(d: &Value) -> Diagnostics {
    let numbers = |name: &str| -> Vec<f64> {
        d[name].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let whole = |name: &str| count(&d[name]).map(|x| x as usize);
    let number = |name: &str| d[name].as_f64().unwrap_or(f64::NAN);
    let is = |name: &str| d[name].as_bool().unwrap_or(false);
    Diagnostics {
        spectrum: Vec::new(),
        residual: number("residual"),
        directions_converged: is("directions_converged"),
        second: numbers("second"),
        interval: count(&d["interval"][0])
            .zip(count(&d["interval"][1]))
            .map(|(a, b)| (a as usize, b as usize)),
        bethe_hessian: whole("bethe_hessian"),
        kept: whole("kept"),
        confirmed: d["confirmed"].as_f64(),
        share_sum: number("share_sum"),
        decomposition_residual: number("decomposition_residual"),
        converged: is("converged"),
        fit: d["fit"].as_f64(),
        agreement: d["agreement"].as_f64(),
        dense: is("dense"),
        density: number("density"),
        trials: numbers("trials"),
        chosen: whole("chosen").unwrap_or(0),
        log_likelihood: d["log_likelihood"].as_f64(),
        iterations: whole("iterations").unwrap_or(0),
        settled: is("settled"),
        isolated: whole("isolated").unwrap_or(0),
        seconds: Vec::new(),
    }
}

pub(super) fn params_json(params: &Params) -> Value {
    json!({
        "k": match params.k { Components::Auto => json!("auto"), Components::Exactly(k) => json!(k) },
        "alpha0": params.alpha0,
        "views": match params.views { Views::All => json!("all"), Views::Partition(rounds) => json!({ "partition": rounds }) },
        "treatment": match params.treatment {
            Treatment::Auto => "auto",
            Treatment::Dense => "dense",
            Treatment::Sparse => "sparse",
        },
        "polish": match params.polish { Polish::Likelihood => "likelihood", Polish::None => "none" },
        "iterations": params.iterations,
        "solver": params.solver.name(),
        "seed": params.seed,
    })
}
