//! Properties of the applications that count: topics, communities, cells, sentences.

use super::draw;
use super::same::{Bound, Property, hold_all};
use rand::RngExt;
use tenfold::Result;
use tenfold::cells::{self, Cell, Section, Tissue};
use tenfold::communities::{self, Edges, Graph, GraphBuilder, Kind};
use tenfold::engine::linalg::Mat;
use tenfold::engine::linalg::random::{permutation, rng};
use tenfold::evaluate::{Match, Recovery};
use tenfold::sentences::{self, Cooccurrence, Cutting, Features, Text, Words};
use tenfold::topics::{self, Builder, Corpus, Documents};

fn exact(same: bool) -> f64 {
    f64::from(u8::from(!same))
}

// ---- topics ----------------------------------------------------------------------------------------------

type Bag = Vec<(u32, u32)>;

fn documents(seed: u64) -> Vec<Bag> {
    let drawn = topics::Synth { documents: 1500, words: 200, k: 4, length: 60.0, seed, ..Default::default() };
    let mut all = Vec::new();
    let corpus = drawn.draw().expect("documents can be drawn").corpus;
    corpus
        .for_each_window(|rows| {
            all.extend(rows.into_iter().map(|(_, words)| words));
            Ok(())
        })
        .expect("documents can be read");
    all
}

fn corpus(documents: &[Bag], name: impl Fn(usize) -> String, words: usize) -> Corpus {
    let mut batch = Documents { ends: Vec::new(), words: Vec::new(), counts: Vec::new() };
    for words in documents {
        batch.words.extend(words.iter().map(|w| w.0));
        batch.counts.extend(words.iter().map(|w| w.1));
        batch.ends.push(batch.words.len() as u32);
    }
    let mut builder = Builder::new(1 << 30);
    builder.push(batch).expect("a batch");
    builder.finish((0..words).map(name).collect()).expect("a corpus")
}

fn plain(documents: &[Bag]) -> Corpus {
    corpus(documents, |w| format!("w{w}"), 200)
}

fn topics_of(corpus: &Corpus, seed: u64) -> Result<topics::Model> {
    topics::Params { polish: topics::Polish::None, seed, ..topics::Params::new(4) }.fit(corpus)
}

/// The directions are found to a thousandth of their size, and topics are read off them.
const DIRECTIONS: f64 = 1e-3;

const TOPICS: &[Property] = &[
    Property {
        application: "topics",
        what: "documents in another order",
        bound: Bound::Rounding(DIRECTIONS),
        distance: |seed| {
            let all = documents(seed);
            let order = permutation(all.len(), &mut rng(seed, 1));
            let other: Vec<Bag> = order.iter().map(|&i| all[i].clone()).collect();
            let (a, b) = (topics_of(&plain(&all), seed)?, topics_of(&plain(&other), seed)?);
            Ok(Match::new(a.topics(), b.topics()).mean())
        },
    },
    Property {
        application: "topics",
        what: "other names of words",
        bound: Bound::Exact,
        distance: |seed| {
            let all = documents(seed);
            let other = corpus(&all, |w| format!("<script>{w}\u{202e}\""), 200);
            Ok(exact(topics_of(&plain(&all), seed)?.topics() == topics_of(&other, seed)?.topics()))
        },
    },
    Property {
        application: "topics",
        what: "words in another order",
        bound: Bound::Rounding(DIRECTIONS),
        distance: |seed| {
            let (all, order) = (documents(seed), permutation(200, &mut rng(seed, 2)));
            let renumbered = |words: &Bag| {
                let mut out: Bag = words.iter().map(|(w, c)| (order[*w as usize] as u32, *c)).collect();
                out.sort_unstable();
                out
            };
            let other: Vec<Bag> = all.iter().map(renumbered).collect();
            let (a, b) = (topics_of(&plain(&all), seed)?, topics_of(&plain(&other), seed)?);
            let back = Mat::from_fn(4, 200, |t, w| b.topics()[(t, order[w])]);
            Ok(Match::new(a.topics(), &back).mean())
        },
    },
    Property {
        application: "topics",
        what: "every document twice",
        bound: Bound::Rounding(DIRECTIONS),
        distance: |seed| {
            let all = documents(seed);
            let twice: Vec<Bag> = all.iter().chain(&all).cloned().collect();
            let (a, b) = (topics_of(&plain(&all), seed)?, topics_of(&plain(&twice), seed)?);
            Ok(Match::new(a.topics(), b.topics()).mean())
        },
    },
    Property {
        application: "topics",
        what: "an empty document beside",
        bound: Bound::Rounding(DIRECTIONS),
        distance: |seed| {
            let mut all = documents(seed);
            let a = topics_of(&plain(&all), seed)?;
            all.push(Vec::new());
            Ok(Match::new(a.topics(), topics_of(&plain(&all), seed)?.topics()).mean())
        },
    },
    Property {
        application: "topics",
        what: "a word of noise beside: the others keep their shares",
        // A quarter of the documents have it; what it takes away is put back before comparing. A topic of 1500 / 4 documents of 60
        // words is known to about √(200 / 22,500) in total variation; two fits of nearly the same data differ by less than that.
        bound: Bound::Chance(0.09),
        distance: |seed| {
            let (all, mut chance) = (documents(seed), rng(seed, 3));
            let with = |words: &Bag| {
                let mut out = words.clone();
                let count = (0..6).filter(|_| chance.random::<f64>() < 0.05).count() as u32;
                out.extend((count > 0).then_some((200, count)));
                out
            };
            let other = corpus(&all.iter().map(with).collect::<Vec<_>>(), |w| format!("w{w}"), 201);
            let (a, b) = (topics_of(&plain(&all), seed)?, topics_of(&other, seed)?);
            let back = Mat::from_fn(4, 200, |t, w| b.topics()[(t, w)] / (1.0 - b.topics()[(t, 200)]));
            Ok(Match::new(a.topics(), &back).mean())
        },
    },
];

#[test]
fn topics_change_as_their_documents_do() {
    hold_all(TOPICS);
}

// ---- communities -----------------------------------------------------------------------------------------

fn drawn_graph(seed: u64) -> Graph {
    let edges = Edges::Bernoulli { within: 0.15, between: 0.01 };
    let synth = communities::Synth { nodes: 300, k: 3, alpha0: 0.0, edges, seed, ..Default::default() };
    synth.draw().expect("a graph can be drawn").graph
}

fn edge_list(graph: &Graph) -> Vec<(usize, usize)> {
    let after =
        |u: usize| graph.adjacency().row(u).0.iter().map(move |v| (u, *v as usize)).filter(|(u, v)| u < v);
    (0..graph.nodes()).flat_map(after).collect()
}

/// Nodes are declared first, so that they stand in the order of their numbers.
fn graph(
    nodes: usize,
    edges: &[(usize, usize)],
    name: impl Fn(usize) -> String,
    weight: Option<f64>,
) -> Graph {
    let mut builder = GraphBuilder::new(Some(Kind::Undirected));
    for u in 0..nodes {
        builder.node(&name(u));
    }
    for &(u, v) in edges {
        match weight {
            Some(weight) => builder.weighted_edge(&name(u), &name(v), weight),
            None => builder.edge(&name(u), &name(v)),
        };
    }
    builder.finish().expect("a graph")
}

fn members(graph: &Graph, seed: u64) -> Result<Mat> {
    let params = communities::Params { alpha0: 0.1, seed, ..communities::Params::new(3) };
    Ok(params.fit(graph)?.memberships().to_mat())
}

fn number(u: usize) -> String {
    format!("n{u}")
}

/// The polish ends when no membership moves by more than a thousandth.
const SETTLED: f64 = 5e-3;

const COMMUNITIES: &[Property] = &[
    Property {
        application: "communities",
        what: "other names of nodes",
        bound: Bound::Exact,
        distance: |seed| {
            let edges = edge_list(&drawn_graph(seed));
            let a = members(&graph(300, &edges, number, None), seed)?;
            Ok(exact(a == members(&graph(300, &edges, |u| format!("\"{u}\"\n<b>"), None), seed)?))
        },
    },
    Property {
        application: "communities",
        what: "edges in another order, some of them twice",
        bound: Bound::Exact,
        distance: |seed| {
            let edges = edge_list(&drawn_graph(seed));
            let a = members(&graph(300, &edges, number, None), seed)?;
            let order = permutation(edges.len(), &mut rng(seed, 1));
            let other: Vec<(usize, usize)> = order.iter().chain(&order[..50]).map(|&e| edges[e]).collect();
            Ok(exact(a == members(&graph(300, &other, number, None), seed)?))
        },
    },
    Property {
        application: "communities",
        what: "nodes in another order",
        bound: Bound::Rounding(SETTLED),
        distance: |seed| {
            let edges = edge_list(&drawn_graph(seed));
            let a = members(&graph(300, &edges, number, None), seed)?;
            let order = permutation(300, &mut rng(seed, 2));
            let moved: Vec<(usize, usize)> = edges.iter().map(|&(u, v)| (order[u], order[v])).collect();
            let b = members(&graph(300, &moved, number, None), seed)?;
            let back = Mat::from_fn(300, 3, |u, c| b[(order[u], c)]);
            Ok(Recovery::new(&a, &back).mean_absolute_error())
        },
    },
    Property {
        application: "communities",
        what: "weights in another unit (times 8)",
        bound: Bound::Rounding(SETTLED),
        distance: |seed| {
            let edges = edge_list(&drawn_graph(seed));
            let [a, b] = [0.5, 4.0].map(|w| members(&graph(300, &edges, number, Some(w)), seed));
            Ok(Recovery::new(&a?, &b?).mean_absolute_error())
        },
    },
    Property {
        application: "communities",
        what: "a node without edges beside",
        bound: Bound::Rounding(SETTLED),
        distance: |seed| {
            let edges = edge_list(&drawn_graph(seed));
            let a = members(&graph(300, &edges, number, None), seed)?;
            let b = members(&graph(301, &edges, number, None), seed)?;
            let back = Mat::from_fn(300, 3, |u, c| b[(u, c)]);
            Ok(Recovery::new(&a, &back).mean_absolute_error())
        },
    },
    Property {
        application: "communities",
        what: "a node with edges by chance beside",
        // Twenty edges more at twenty nodes of about eighteen each: their own memberships move by a share of 1/18, the others' hardly.
        bound: Bound::Chance(0.01),
        distance: |seed| {
            let edges = edge_list(&drawn_graph(seed));
            let a = members(&graph(300, &edges, number, None), seed)?;
            let chosen = permutation(300, &mut rng(seed, 3));
            let more: Vec<(usize, usize)> =
                edges.iter().copied().chain(chosen[..20].iter().map(|&u| (u, 300))).collect();
            let b = members(&graph(301, &more, number, None), seed)?;
            let back = Mat::from_fn(300, 3, |u, c| b[(u, c)]);
            Ok(Recovery::new(&a, &back).mean_absolute_error())
        },
    },
];

#[test]
fn communities_change_as_their_graphs_do() {
    hold_all(COMMUNITIES);
}

// ---- cells -----------------------------------------------------------------------------------------------

fn tissue(seed: u64) -> Tissue {
    let synth = cells::Synth { types: 3, genes: 40, cells: 12_000, seed, ..Default::default() };
    synth.draw().expect("tissue can be drawn").tissue
}

fn types(tissue: &Tissue, seed: u64) -> Result<Mat> {
    Ok(cells::Params { seed, ..cells::Params::new(3) }.fit(tissue)?.profiles().clone())
}

const CELLS: &[Property] = &[
    Property {
        application: "cells",
        what: "cells in another order",
        bound: Bound::Exact,
        distance: |seed| {
            let plain = tissue(seed);
            let shuffled = |section: &Section| {
                let order = permutation(section.cells.len(), &mut rng(seed, 1));
                Section { cells: order.iter().map(|&i| section.cells[i]).collect(), ..section.clone() }
            };
            let other = Tissue { sections: plain.sections.iter().map(shuffled).collect() };
            Ok(exact(types(&plain, seed)? == types(&other, seed)?))
        },
    },
    Property {
        application: "cells",
        what: "other names of genes and images",
        bound: Bound::Exact,
        distance: |seed| {
            let plain = tissue(seed);
            let named = |(g, section): (usize, &Section)| Section {
                image: format!("<img {g}>"),
                gene: format!("=cmd|{g}"),
                ..section.clone()
            };
            let other = Tissue { sections: plain.sections.iter().enumerate().map(named).collect() };
            Ok(exact(types(&plain, seed)? == types(&other, seed)?))
        },
    },
    Property {
        application: "cells",
        what: "places and sizes in another unit (times 4)",
        bound: Bound::Exact,
        distance: |seed| {
            let plain = tissue(seed);
            let larger = |c: &Cell| Cell { x: 4.0 * c.x, y: 4.0 * c.y, r1: 4.0 * c.r1, r2: 4.0 * c.r2, ..*c };
            let scaled = |s: &Section| Section { cells: s.cells.iter().map(larger).collect(), ..s.clone() };
            let other = Tissue { sections: plain.sections.iter().map(scaled).collect() };
            Ok(exact(types(&plain, seed)? == types(&other, seed)?))
        },
    },
    Property {
        application: "cells",
        what: "an image without cells beside",
        bound: Bound::Exact,
        distance: |seed| {
            let plain = tissue(seed);
            let mut other = plain.clone();
            // Another image of a gene that is there: a new gene would be a column more.
            let gene = other.sections[0].gene.clone();
            other.sections.push(Section { image: "empty".into(), gene, cells: Vec::new() });
            Ok(exact(types(&plain, seed)? == types(&other, seed)?))
        },
    },
    Property {
        application: "cells",
        what: "every image twice",
        // The same shares of counts. The prior and the smoothing weigh half as much against twice the cells: about k + G pseudo-counts
        // among 12,000 cells.
        bound: Bound::Chance(0.05),
        distance: |seed| {
            let plain = tissue(seed);
            let other = Tissue { sections: plain.sections.iter().chain(&plain.sections).cloned().collect() };
            Ok(Match::new(&types(&plain, seed)?, &types(&other, seed)?).mean())
        },
    },
    Property {
        application: "cells",
        what: "a gene of noise beside: the others keep their shares",
        // Profiles of 12,000 / 3 cells over 40 genes are known to about √(40 / 4,000) in total variation.
        bound: Bound::Chance(0.1),
        distance: |seed| {
            let plain = tissue(seed);
            let mut other = plain.clone();
            let all: Vec<Cell> = plain.sections.iter().flat_map(|s| s.cells.iter().copied()).collect();
            let chosen = permutation(all.len(), &mut rng(seed, 2));
            let cells = chosen[..300].iter().map(|&i| all[i]).collect();
            other.sections.push(Section { image: "noise".into(), gene: "noise".into(), cells });
            let (a, b) = (types(&plain, seed)?, types(&other, seed)?);
            let noise = b.cols() - 1;
            let back = Mat::from_fn(3, noise, |t, g| b[(t, g)] / (1.0 - b[(t, noise)]));
            Ok(Match::new(&a, &back).mean())
        },
    },
];

#[test]
fn types_change_as_their_tissue_does() {
    hold_all(CELLS);
}

// ---- sentences -------------------------------------------------------------------------------------------

fn similarities(lines: &[String], asked: &[String], seed: u64) -> Result<Mat> {
    let params = sentences::Params {
        features: Features::Sif,
        words: Words::Learned(Cooccurrence { dimensions: 10, ..Cooccurrence::default() }),
        seed,
        ..sentences::Params::default()
    };
    let encoded = params.fit(&Text::new(lines, &Cutting::default(), 1)?)?.encode(asked)?;
    // Axes may turn; angles between sentences may not.
    let dot = |a: usize, b: usize| encoded.row(a).iter().zip(encoded.row(b)).map(|(x, y)| x * y).sum::<f64>();
    Ok(Mat::from_fn(asked.len(), asked.len(), |a, b| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(1e-300)))
}

fn farthest(a: &Mat, b: &Mat) -> f64 {
    a.as_slice().iter().zip(b.as_slice()).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
}

/// Ten directions of a spectrum that falls slowly, to a thousandth.
const VECTORS: f64 = 1e-2;

const SENTENCES: &[Property] = &[
    Property {
        application: "sentences",
        what: "sentences in another order",
        bound: Bound::Rounding(1e-9),
        distance: |seed| {
            let lines = draw::patterned_sentences(600, seed);
            let order = permutation(600, &mut rng(seed, 1));
            let other: Vec<String> = order.iter().map(|&i| lines[i].clone()).collect();
            Ok(farthest(
                &similarities(&lines, &lines[..30], seed)?,
                &similarities(&other, &lines[..30], seed)?,
            ))
        },
    },
    Property {
        application: "sentences",
        what: "other words in their places",
        bound: Bound::Exact,
        distance: |seed| {
            let lines = draw::patterned_sentences(600, seed);
            // The same letters before every word keep the order of words of one frequency.
            let renamed =
                |line: &String| line.split(' ').map(|w| format!("zz{w}")).collect::<Vec<_>>().join(" ");
            let other: Vec<String> = lines.iter().map(renamed).collect();
            let (a, b) =
                (similarities(&lines, &lines[..30], seed)?, similarities(&other, &other[..30], seed)?);
            Ok(exact(a == b))
        },
    },
    Property {
        application: "sentences",
        what: "every sentence twice",
        bound: Bound::Rounding(VECTORS),
        distance: |seed| {
            let lines = draw::patterned_sentences(600, seed);
            let twice: Vec<String> = lines.iter().chain(&lines).cloned().collect();
            Ok(farthest(
                &similarities(&lines, &lines[..30], seed)?,
                &similarities(&twice, &lines[..30], seed)?,
            ))
        },
    },
    Property {
        application: "sentences",
        what: "an empty sentence beside",
        bound: Bound::Exact,
        distance: |seed| {
            let lines = draw::patterned_sentences(600, seed);
            let mut more = lines.clone();
            more.push(String::new());
            Ok(exact(similarities(&lines, &lines[..30], seed)? == similarities(&more, &lines[..30], seed)?))
        },
    },
];

#[test]
fn sentences_change_as_their_text_does() {
    hold_all(SENTENCES);
}
