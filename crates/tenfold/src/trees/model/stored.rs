//! The model as a file and as JSON.

use super::{Diagnostics, Model};
use crate::components::Components;
use crate::error::{Error, Result};
use crate::model_file::{ModelFile, count, index};
use crate::trees::choices::Params;
use crate::trees::data::{Kind, Variable};
use crate::trees::network::{Emission, Network, Node};
use crate::trees::picture::HeldOut;
use crate::trees::tree::Tree;
use crate::verdict::Verdict;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tenfold_engine::linalg::Mat;

impl Model {
    /// All but the tables as JSON: parameters, sizes, diagnostics and verdict.
    pub fn to_json(&self) -> Value {
        let mut value = self.facts();
        value["variables"] = json!(self.variables.len());
        value["hidden"] = json!(self.tree.hidden().count());
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
                "states": d.states,
                "method": d.method,
                "contracted": d.contracted,
                "sweeps": d.sweeps,
                "converged": d.converged,
                "log_likelihood": d.log_likelihood,
                "held_out": d.held_out.map(|h| json!({
                    "tree": h.tree, "chow_liu": h.chow_liu, "independence": h.independence, "samples": h.samples,
                })),
                "bootstrap": d.bootstrap,
            },
            "verdict": self.verdict.to_json(),
        })
    }

    /// Writes the model to one file, atomically. Tensors: `edges` (end, end, length, error, support; the last two −1 where
    /// unknown), `nodes` (place, parent or −1, states), `tables` (those of all nodes, row by row), `hangs` (the node of every
    /// variable), `means` and `variances` (of all variables, row by row), `clusters`; texts: `names`, `kinds`, `labels`.
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
        let mut file = ModelFile::new("trees", self.facts());
        let known = |map: &BTreeMap<(usize, usize), f64>, a, b| map.get(&(a, b)).copied().unwrap_or(-1.0);
        let edges: Vec<f64> = self
            .tree
            .edges()
            .iter()
            .flat_map(|&(a, b, w)| {
                [a as f64, b as f64, w, known(&self.errors, a, b), known(&self.support, a, b)]
            })
            .collect();
        file.insert_matrix("edges", &Mat::from_vec(edges.len() / 5, 5, edges));
        let nodes: Vec<f64> = self
            .network
            .nodes
            .iter()
            .flat_map(|n| [n.place as f64, n.parent.map_or(-1.0, |p| p as f64), n.states() as f64])
            .collect();
        file.insert_matrix("nodes", &Mat::from_vec(nodes.len() / 3, 3, nodes));
        let all = |parts: Vec<&[f64]>| parts.concat();
        file.insert_vector("tables", &all(self.network.nodes.iter().map(|n| n.table.as_slice()).collect()));
        let emissions = &self.network.emissions;
        file.insert_vector("hangs", &emissions.iter().map(|e| e.node as f64).collect::<Vec<_>>());
        file.insert_vector("means", &all(emissions.iter().map(|e| e.mean.as_slice()).collect()));
        file.insert_vector("variances", &all(emissions.iter().map(|e| &e.variance[..]).collect()));
        file.insert_vector("clusters", &self.clusters.iter().map(|c| *c as f64).collect::<Vec<_>>());
        file.insert_vector("seen", &self.diagnostics.seen.iter().map(|n| *n as f64).collect::<Vec<_>>());
        // Names may hold anything, line breaks too: JSON keeps them apart.
        let variables: Vec<Value> =
            self.variables.iter().map(|v| json!([v.name, v.kind.name(), v.labels])).collect();
        file.insert_text("variables", &Value::from(variables).to_string());
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
        file.expect_kind("trees")?;
        let damaged = || Error::Model {
            path: file.path().into(),
            problem: "its tensors do not fit together".into(),
            remedy: "fit the model again".into(),
        };
        let variables = variables(&file.text("variables")?).ok_or_else(damaged)?;
        let (tree, errors, support) = edges(&file.matrix("edges")?, variables.len()).ok_or_else(damaged)?;
        let network = network(file, &variables)?.ok_or_else(damaged)?;
        network.check(&variables).map_err(|_| damaged())?;
        if let Some(problem) = unlikely(&network, &variables) {
            return Err(file.unsound(problem.0, &problem.1));
        }
        let whole = |name: &str, most: usize| -> Result<Vec<usize>> {
            let vector = file.vector(name)?;
            vector.iter().map(|&x| index(x, most)).collect::<Option<_>>().ok_or_else(damaged)
        };
        let clusters = whole("clusters", variables.len())?;
        let seen = whole("seen", usize::MAX)?;
        let fits = clusters.len() == variables.len() && (seen.is_empty() || seen.len() == variables.len());
        if !fits || network.nodes.iter().any(|n| n.place >= tree.capacity()) {
            return Err(damaged());
        }
        Ok(Self {
            variables,
            tree,
            network,
            support,
            errors,
            clusters,
            params: file.metadata["parameters"].clone(),
            diagnostics: diagnostics(&file.metadata["diagnostics"], seen),
            verdict: Verdict::from_json(&file.metadata["verdict"]),
        })
    }
}

fn variables(text: &str) -> Option<Vec<Variable>> {
    let list: Value = serde_json::from_str(text).ok()?;
    let string = |v: &Value| v.as_str().map(str::to_owned);
    list.as_array()?
        .iter()
        .map(|v| {
            Some(Variable {
                name: string(&v[0])?,
                kind: Kind::named(v[1].as_str()?)?,
                labels: v[2].as_array()?.iter().map(string).collect::<Option<_>>()?,
            })
        })
        .collect()
}

type Edges = (Tree, BTreeMap<(usize, usize), f64>, BTreeMap<(usize, usize), f64>);

/// A forest has fewer edges than nodes and no circle; so many hidden nodes there can be at most.
fn edges(matrix: &Mat, observed: usize) -> Option<Edges> {
    let limit = 2 * observed + 1;
    if observed == 0 || (matrix.rows() > 0 && matrix.cols() != 5) || matrix.rows() >= limit {
        return None;
    }
    let (mut list, mut errors, mut support) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for row in 0..matrix.rows() {
        let row = matrix.row(row);
        let (a, b) = (index(row[0], limit)?, index(row[1], limit)?);
        if a >= b {
            return None;
        }
        list.push((a, b, row[2]));
        if row[3] >= 0.0 {
            errors.insert((a, b), row[3]);
        }
        if row[4] >= 0.0 {
            support.insert((a, b), row[4]);
        }
    }
    let mut root: Vec<usize> = (0..limit).collect();
    for &(a, b, _) in &list {
        let [x, y] = [a, b].map(|mut node| {
            while root[node] != node {
                node = root[node];
            }
            node
        });
        if x == y {
            return None;
        }
        root[x] = y;
    }
    Some((Tree::from_edges(observed, &list), errors, support))
}

/// The network; none where its parts do not fit together.
fn network(file: &ModelFile, variables: &[Variable]) -> Result<Option<Network>> {
    let nodes = file.matrix("nodes")?;
    let (tables, hangs) = (file.vector("tables")?, file.vector("hangs")?);
    let (means, variances) = (file.vector("means")?, file.vector("variances")?);
    Ok(assemble(&nodes, &tables, &hangs, (&means, &variances), variables))
}

fn assemble(
    nodes: &Mat,
    mut tables: &[f64],
    hangs: &[f64],
    (mut means, mut variances): (&[f64], &[f64]),
    variables: &[Variable],
) -> Option<Network> {
    let limit = 2 * variables.len() + 1;
    let mut found: Vec<Node> = Vec::new();
    for row in 0..nodes.rows() {
        let [place, parent, states] = *nodes.row(row) else { return None };
        let parent = if parent == -1.0 { None } else { Some(index(parent, row)?) };
        let above = parent.map_or(1, |p| found[p].states());
        let states = index(states, tables.len() + 1).filter(|s| *s > 0)?;
        let size = states.checked_mul(above).filter(|size| *size <= tables.len())?;
        let (own, rest) = tables.split_at(size);
        tables = rest;
        found.push(Node {
            place: index(place, limit)?,
            parent,
            table: Mat::from_vec(states, above, own.to_vec()),
        });
    }
    let mut emissions = Vec::new();
    for (v, variable) in variables.iter().enumerate() {
        let node = index(*hangs.get(v)?, found.len())?;
        let (width, states) = (variable.width(), found[node].states());
        let size = width.checked_mul(states).filter(|size| *size <= means.len())?;
        let (own, rest) = means.split_at(size);
        means = rest;
        let spread = if variable.kind == Kind::Real { width } else { 0 };
        let (variance, rest) = variances.split_at_checked(spread)?;
        variances = rest;
        let mean = Mat::from_vec(width, states, own.to_vec());
        emissions.push(Emission { node, mean, variance: variance.to_vec() });
    }
    (tables.is_empty() && means.is_empty() && variances.is_empty() && hangs.len() == variables.len())
        .then_some(Network { nodes: found, emissions })
}

/// Rounding of the probabilities of a table, which are hundreds at most.
const ROUNDING: f64 = 1e-6;

/// What is no probability, rate or variance where one must be: the array, and what is wrong with it.
fn unlikely(network: &Network, variables: &[Variable]) -> Option<(&'static str, String)> {
    let share = |x: f64| (-ROUNDING..=1.0 + ROUNDING).contains(&x);
    for node in &network.nodes {
        for above in 0..node.table.cols() {
            let column = node.table.col(above);
            let sum: f64 = column.iter().sum();
            if column.iter().any(|x| !share(*x)) || !share(sum) || sum < 1.0 - ROUNDING {
                let problem =
                    format!("holds {column:?} as the probabilities of states, which do not add up to 1");
                return Some(("tables", problem));
            }
        }
    }
    for (emission, variable) in network.emissions.iter().zip(variables) {
        let mean = emission.mean.as_slice();
        let columns = || (0..emission.mean.cols()).map(|state| emission.mean.col(state).iter().sum::<f64>());
        let fits = match variable.kind {
            Kind::Category => mean.iter().all(|x| share(*x)) && columns().all(share),
            Kind::Flags => mean.iter().all(|x| share(*x)),
            Kind::Counts => mean.iter().all(|x| *x >= 0.0),
            Kind::Real => true,
        };
        if !fits {
            let what = if variable.kind == Kind::Counts { "rates" } else { "probabilities" };
            return Some(("means", format!("holds no {what} for the variable {:?}", variable.name)));
        }
        if let Some(x) = emission.variance.iter().find(|x| **x < 0.0) {
            return Some(("variances", format!("holds {x} for the variable {:?}", variable.name)));
        }
    }
    None
}

fn diagnostics(d: &Value, seen: Vec<usize>) -> Diagnostics {
    let whole = |value: &Value| count(value).unwrap_or(0) as usize;
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let held = &d["held_out"];
    Diagnostics {
        samples: whole(&d["samples"]),
        seen,
        states: whole(&d["states"]),
        method: d["method"].as_str().unwrap_or("unknown").to_owned(),
        contracted: whole(&d["contracted"]),
        sweeps: whole(&d["sweeps"]),
        converged: d["converged"].as_bool().unwrap_or(false),
        log_likelihood: number(&d["log_likelihood"]),
        held_out: held.is_object().then(|| HeldOut {
            tree: number(&held["tree"]),
            chow_liu: number(&held["chow_liu"]),
            independence: number(&held["independence"]),
            samples: whole(&held["samples"]),
        }),
        bootstrap: whole(&d["bootstrap"]),
    }
}

pub(in crate::trees) fn params_json(params: &Params) -> Value {
    json!({
        "states": match params.states { Components::Auto => json!("auto"), Components::Exactly(k) => json!(k) },
        "method": params.method.name(),
        "contraction": params.contraction.name(),
        "sweeps": params.sweeps,
        "bootstrap": params.bootstrap,
        "held_out": params.held_out,
        "seed": params.seed,
    })
}
