//! Communities of public graphs beside Leiden, label propagation and Infomap: average F1 and overlapping mutual information
//! with the known communities, by one program for all methods.

use crate::{Request, say};
use protocol::shared_data;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tenfold::communities::read::{ReadOptions, read};
use tenfold::communities::truth::{self, Truth};
use tenfold::communities::{Comparison, Graph, Kind, Measures, Members, Params, Threshold};
use tenfold::components::Components;
use tenfold::engine::linalg::{Mat, Tall};
use tenfold::engine::progress::Silent;
use tenfold::input;

const PEERS: [&str; 3] = ["leiden", "labels", "infomap"];

/// Seeds of every method; means are reported, and the worst of ours.
const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];

/// One comparison on a public graph.
struct Public {
    what: &'static str,
    name: &'static str,
    file: &'static str,
    truth: &'static str,
    attribute: Option<&'static str>,
    k: Components,
    /// Near 0 where the known communities are a partition.
    alpha0: f64,
    /// The main community alone where the known communities are a partition, as the peers' are.
    threshold: Threshold,
}

const MAIN: Threshold = Threshold::Relative(1.0);

const PUBLIC: [Public; 5] = [
    Public {
        what: "football k=12",
        name: "football",
        file: "football.gml",
        truth: "football.gml",
        attribute: Some("value"),
        k: Components::Exactly(12),
        alpha0: 0.1,
        threshold: MAIN,
    },
    Public {
        what: "polblogs k=2",
        name: "polblogs",
        file: "polblogs.gml.gz",
        truth: "polblogs.gml.gz",
        attribute: Some("value"),
        k: Components::Exactly(2),
        alpha0: 0.1,
        threshold: MAIN,
    },
    Public {
        what: "e-mail k=42",
        name: "email",
        file: "email-Eu-core.txt",
        truth: "email-Eu-core-department-labels.txt",
        attribute: None,
        k: Components::Exactly(42),
        alpha0: 0.1,
        threshold: MAIN,
    },
    Public {
        what: "e-mail k=auto",
        name: "email",
        file: "email-Eu-core.txt",
        truth: "email-Eu-core-department-labels.txt",
        attribute: None,
        k: Components::Auto,
        alpha0: 0.1,
        threshold: MAIN,
    },
    Public {
        what: "LFR k=28",
        name: "lfr",
        file: "lfr-n1000-k28.txt.gz",
        truth: "lfr-n1000-k28.truth.txt",
        attribute: None,
        k: Components::Exactly(28),
        alpha0: 1.0,
        threshold: Threshold::HALF,
    },
];

/// Fits and scores; the peers have left their labels in the data folder before.
pub fn run(request: &Request) -> Result<(), String> {
    let shared = match shared_data() {
        Ok(shared) => shared.join("graphs"),
        Err(remedy) => {
            eprintln!("the public graphs are left out: {remedy}");
            return Ok(());
        }
    };
    if request.write_data {
        return write(request, &shared);
    }
    PUBLIC.iter().try_for_each(|public| compare(request, public, &shared))
}

/// Edges without their direction, as the peers take them.
fn graph(public: &Public, shared: &Path) -> Result<Graph, String> {
    let options = ReadOptions { kind: Some(Kind::Undirected), ..ReadOptions::default() };
    say(read(&shared.join(public.file), &options, &Silent))
}

fn write(request: &Request, shared: &Path) -> Result<(), String> {
    let mut runs = Vec::new();
    for public in &PUBLIC {
        let graph = graph(public, shared)?;
        let pairs = (0..graph.nodes()).flat_map(|u| {
            let later = graph.adjacency().row(u).0.iter().filter(move |v| **v as usize > u);
            later.map(move |&v| [u as f64, f64::from(v)]).collect::<Vec<_>>()
        });
        let flat: Vec<f64> = pairs.flatten().collect();
        say(request.files.write_text("params.json", "{}"))?;
        say(request.files.write_mat(public.name, &Mat::from_vec(flat.len() / 2, 2, flat)))?;
        for peer in PEERS {
            runs.push(json!({
                "what": public.what, "graph": public.name, "nodes": graph.nodes(), "peer": peer, "seeds": SEEDS
            }));
        }
    }
    say(request.files.write_text("params.json", &json!({ "runs": runs }).to_string()))
}

fn compare(request: &Request, public: &Public, shared: &Path) -> Result<(), String> {
    let graph = graph(public, shared)?;
    let attributes = public.attribute.iter().map(|a| (*a).to_owned()).collect();
    let options = truth::Options { attributes, ..truth::Options::default() };
    let truth = say(truth::read(&shared.join(public.truth), graph.ids(), &options, &Silent))?;
    let (mut ours, mut seconds, mut found) = (Vec::new(), Vec::new(), 0);
    for seed in SEEDS {
        let params = Params { alpha0: public.alpha0, seed, ..Params::new(public.k) };
        let begin = Instant::now();
        let model = say(params.fit(&graph))?;
        seconds.push(begin.elapsed().as_secs_f64());
        found = model.k();
        ours.push(Comparison::new(&say(Members::of(&model, None))?, &truth).measures(public.threshold));
    }
    for peer in PEERS {
        let theirs: Vec<Measures> = SEEDS
            .iter()
            .filter_map(|seed| labels(request, public.name, peer, *seed))
            .map(|labels| score(&graph, &truth, &labels))
            .collect();
        let (f1, lfk, max) =
            (|m: &Measures| m.average_f1, |m: &Measures| m.onmi_lfk, |m: &Measures| m.onmi_max);
        let mut more = json!({ "communities": found });
        for (name, of) in [("f1", f1 as fn(&Measures) -> f64), ("onmi_lfk", lfk), ("onmi_max", max)] {
            more[name] = round(mean(&ours, of));
            more[format!("worst_{name}")] = round(ours.iter().map(of).fold(f64::INFINITY, f64::min));
            if !theirs.is_empty() {
                more[format!("peer_{name}")] = round(mean(&theirs, of));
                more[format!("{name}_over_peer")] = round(mean(&ours, of) - mean(&theirs, of));
            }
        }
        if public.name == "lfr" {
            more["lfr_onmi_lfk"] = more["worst_onmi_lfk"].clone();
        }
        let spent = seconds.iter().sum::<f64>() / seconds.len() as f64;
        request.report(&format!("{}, {peer}", public.what), spent, more);
    }
    Ok(())
}

/// The communities that a peer gave the nodes, −1 for none.
fn labels(request: &Request, graph: &str, peer: &str, seed: u64) -> Option<Vec<f64>> {
    let path: PathBuf = request.files.folder().join("labels").join(format!("{graph}-{peer}-{seed}.npy"));
    input::read_array(&path).ok().map(|array| array.data)
}

fn score(graph: &Graph, truth: &Truth, labels: &[f64]) -> Measures {
    let k = labels.iter().fold(0.0f64, |k, l| k.max(l + 1.0)) as usize;
    let mut whole = Tall::zeros(graph.nodes(), k);
    for (row, label) in
        whole.as_mut_slice().chunks_exact_mut(k.max(1)).zip(labels).filter(|(_, l)| **l >= 0.0)
    {
        row[*label as usize] = 1.0;
    }
    Comparison::new(&Members::new(graph.ids(), &whole), truth).measures(MAIN)
}

fn mean(measures: &[Measures], of: impl Fn(&Measures) -> f64) -> f64 {
    measures.iter().map(of).sum::<f64>() / measures.len() as f64
}

fn round(x: f64) -> Value {
    json!((x * 1e4).round() / 1e4)
}
