//! Graphs as large as those of the thesis: from an edge list on disk to memberships on disk.
//!
//! Each fit has a process of its own, so that its peak memory is its own.

use crate::report::Page;
use crate::{Outcome, Request};
use protocol::peak_memory_mb;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;
use tenfold::communities::read::{ReadOptions, read};
use tenfold::communities::{Drawn, Edges, Graph, Kind, Params, Synth};
use tenfold::engine::progress::Progress;
use tenfold::evaluate::Recovery;

/// A graph of the thesis's table of data sets, with its published runs.
struct Shape {
    name: &'static str,
    kind: Kind,
    nodes: usize,
    others: usize,
    /// Edges that are drawn; equal ones are merged afterwards.
    edges: f64,
    communities: usize,
    /// k, seconds, and errors with recovery ratios, as printed.
    published: &'static [(usize, &'static str, &'static str)],
}

/// Share of the edges that belong to no community.
const BACKGROUND: f64 = 0.2;

/// Memberships below are set to nothing, as the thesis does, before memberships are compared.
const THRESHOLDS: [f64; 5] = [0.0, 0.05, 0.1, 0.2, 0.3];

const SHAPES: [Shape; 4] = [
    Shape {
        name: "facebook",
        kind: Kind::Undirected,
        nodes: 18_163,
        others: 18_163,
        // Of these about 767,000 are left when equal ones are merged.
        edges: 990_000.0,
        communities: 360,
        published: &[
            (10, "35", ".063 at 13 %"),
            (100, "190–309, variational 10,795", ".019 at 100 %, variational .070"),
        ],
    },
    Shape {
        name: "yelp",
        kind: Kind::Bipartite,
        nodes: 10_010,
        others: 28_588,
        edges: 672_515.0,
        communities: 159,
        published: &[(10, "10", ".271 at 43 %"), (100, "287–1,127", ".046 at 86 %")],
    },
    Shape {
        name: "dblp-sub",
        kind: Kind::Undirected,
        nodes: 116_317,
        others: 116_317,
        edges: 5_066_510.0,
        communities: 250,
        published: &[(100, "7,664, variational 69,156", ".260 at 80 %, variational 7.453 at 99 %")],
    },
    Shape {
        name: "dblp",
        kind: Kind::Undirected,
        nodes: 1_054_066,
        others: 1_054_066,
        edges: 16_221_000.0,
        communities: 250,
        published: &[(10, "4,716", ".103 at 73 %"), (100, "5,407", ".105 at 95 %")],
    },
];

/// One graph and k when both are asked for, printed as JSON; otherwise all of them and the page `communities-shapes.md`.
pub fn run(request: &Request) -> Outcome<()> {
    match (&request.graph, request.k) {
        (Some(name), Some(k)) => {
            let shape = SHAPES.iter().find(|s| s.name == name).ok_or(format!("no graph is called {name}"))?;
            println!("{}", measure(request, shape, k)?);
            Ok(())
        }
        _ => all(request),
    }
}

impl Shape {
    fn draw(&self, seed: u64) -> Outcome<Drawn> {
        let half = if self.kind == Kind::Undirected { 2.0 } else { 1.0 };
        let edges = Edges::Poisson { degree: half * self.edges / self.nodes as f64, background: BACKGROUND };
        let (nodes, others, k, kind) = (self.nodes, self.others, self.communities, self.kind);
        Ok(Synth { nodes, others, k, alpha0: 0.5, edges, kind, seed, ..Synth::default() }.draw()?)
    }

    fn file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.txt", self.name))
    }
}

/// One line an edge, as the collections of graphs on the web have it.
fn write_edges(graph: &Graph, path: &Path) -> Outcome<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let mut out = BufWriter::new(std::fs::File::create(path)?);
    writeln!(out, "# FromNodeId\tToNodeId")?;
    for u in 0..graph.nodes() {
        for &v in graph.adjacency().row(u).0 {
            if graph.kind() != Kind::Undirected || v as usize > u {
                writeln!(out, "{u}\t{v}")?;
            }
        }
    }
    Ok(out.flush()?)
}

/// When every stage began.
#[derive(Default)]
struct Clock(Mutex<Vec<(String, Instant)>>);

impl Progress for Clock {
    fn stage(&self, name: &str, _steps: u64) {
        self.0.lock().expect("nobody panics while counting").push((name.to_owned(), Instant::now()));
    }
    fn advance(&self, _by: u64) {}
    fn stopped(&self) -> bool {
        false
    }
}

impl Clock {
    /// Seconds from the first stage whose name begins so to the next one.
    fn seconds(&self, stage: &str) -> Option<f64> {
        let stages = self.0.lock().expect("nobody panics while counting");
        let at = stages.iter().position(|s| s.0.starts_with(stage))?;
        Some((stages.get(at + 1)?.1 - stages[at].1).as_secs_f64())
    }
}

fn measure(request: &Request, shape: &Shape, k: usize) -> Outcome<Value> {
    let path = shape.file(&request.data);
    let bytes = std::fs::metadata(&path)?.len() as f64;
    let begin = Instant::now();
    let options = ReadOptions { kind: Some(shape.kind), ..ReadOptions::default() };
    let clock = Clock::default();
    let graph = read(&path, &options, &clock)?;
    let reading = begin.elapsed().as_secs_f64();
    let model = Params { seed: request.seed, ..Params::new(k) }.fit(&graph)?;
    let fitted = begin.elapsed().as_secs_f64();
    model.save(&request.data.join(format!("{}-k{k}.tenfold", shape.name)))?;
    let seconds = begin.elapsed().as_secs_f64();
    let peak = peak_memory_mb();
    let mut stages = vec![("reading".to_string(), reading)];
    stages.extend(model.diagnostics().seconds.iter().cloned());
    stages.push(("saving".into(), seconds - fitted));
    // The drawn graph has nodes without edges that the file does not name: those found by name are compared.
    let truth = shape.draw(request.seed)?.memberships;
    let rows: Vec<usize> = (0..model.nodes()).map(|u| model.ids().get(u).parse().unwrap_or(0)).collect();
    let at = |x: &tenfold::engine::linalg::Tall, rows: &dyn Fn(usize) -> usize| {
        tenfold::engine::linalg::Mat::from_fn(model.nodes(), x.width(), |i, j| f64::from(x.row(rows(i))[j]))
    };
    let truth = at(&truth, &|i| rows[i]);
    let found = at(model.memberships(), &|i| i);
    let curve: Vec<Value> = Recovery::trade_off(&truth, &found, &THRESHOLDS)
        .iter()
        .zip(THRESHOLDS)
        .map(|(r, t)| {
            json!([t, r.ratio(), r.error(), r.pairs().len(), r.mean_absolute_error(), r.empty_error()])
        })
        .collect();
    Ok(json!({
        "graph": shape.name, "k": k, "seconds": seconds, "stages": stages, "peak_mb": peak, "edges": graph.edges(),
        "read_mb_per_second": bytes / reading / 1e6,
        "parse_mb_per_second": clock.seconds("reading").map(|s| bytes / s / 1e6 / rayon::current_num_threads() as f64),
        "curve": curve, "iterations": model.diagnostics().iterations,
    }))
}

fn all(request: &Request) -> Outcome<()> {
    let mut page = Page::new("Graphs as large as those of the thesis");
    page.say(&format!(
        "Drawn graphs with the nodes, edges and numbers of communities of the thesis's Facebook, Yelp and DBLP: memberships from a \
         Dirichlet law with α0 = 0.5, a fifth of the edges background; from the edge list on disk to a model on disk, {} threads, one \
         process a fit. The published figures are of the real graphs, so that seconds compare and errors do not.",
        rayon::current_num_threads()
    ));
    for shape in SHAPES.iter().filter(|s| request.graph.as_ref().is_none_or(|g| g == s.name)) {
        let path = shape.file(&request.data);
        if !path.exists() {
            write_edges(&shape.draw(request.seed)?.graph, &path)?;
        }
        let mut results = Vec::new();
        for (k, ..) in shape.published {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["communities-shapes", "--graph", shape.name, "--k", &k.to_string()]);
            command.args(["--seed", &request.seed.to_string(), "--data"]).arg(&request.data);
            command.arg("--out").arg(&request.out);
            let output = command.stderr(Stdio::inherit()).output()?;
            if !output.status.success() {
                return Err(format!("{} with k = {k} failed: {}", shape.name, output.status).into());
            }
            results.push(serde_json::from_slice::<Value>(&output.stdout)?);
        }
        section(&mut page, shape, &results);
    }
    Ok(page.finish(&request.out, "communities-shapes")?)
}

fn section(page: &mut Page, shape: &Shape, results: &[Value]) {
    let sides = if shape.kind == Kind::Bipartite { format!(" + {}", shape.others) } else { String::new() };
    page.section(&format!(
        "{}: {}{sides} nodes, {} edges, {} communities",
        shape.name, shape.nodes, results[0]["edges"], shape.communities
    ));
    let mut stages = String::new();
    let mut rows = Vec::new();
    for (result, (k, seconds, errors)) in results.iter().zip(shape.published) {
        let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
        let curve = result["curve"].as_array().cloned().unwrap_or_default();
        for point in &curve {
            let [t, ratio, error, pairs, mae, empty] = [0, 1, 2, 3, 4, 5].map(|i| number(&point[i]));
            rows.push(vec![
                k.to_string(),
                format!("{:.1}", number(&result["seconds"])),
                (*seconds).into(),
                format!("{:.0}", number(&result["peak_mb"])),
                format!("{t}"),
                format!("{:.0} %", 100.0 * ratio),
                format!("{error:.4}"),
                format!("{pairs:.0}"),
                format!("{mae:.4} ({empty:.4})"),
                (*errors).into(),
            ]);
        }
        let parts: Vec<String> = result["stages"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|s| format!("{} {:.1}", s[0].as_str().unwrap_or_default(), number(&s[1])))
            .collect();
        let _ = write!(
            stages,
            "k = {k}: {} s; lines parsed at {:.0} MB/s a core, the whole read at {:.0} MB/s; {} iterations of the polish. ",
            parts.join(", "),
            number(&result["parse_mb_per_second"]),
            number(&result["read_mb_per_second"]),
            result["iterations"]
        );
    }
    let headings = [
        "k",
        "seconds",
        "published",
        "peak MB",
        "threshold",
        "R",
        "E",
        "pairs",
        "MAE (all empty)",
        "published error",
    ];
    page.table(&headings, &rows);
    page.say(stages.trim_end());
}
