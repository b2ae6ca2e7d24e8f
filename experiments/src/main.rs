//! The thesis's figures and tables remade: `experiments list | NAME [--seed S] [--out DIR] [--data DIR] [--k K] [--graph G]`.
//!
//! Each experiment prints what it measured beside what was published, as Markdown, and writes the same page and
//! its figures to DIR. The same seed gives the same numbers, except seconds.

#![forbid(unsafe_code)]

mod cells;
mod communities;
#[cfg(feature = "gpu")]
mod device;
mod figure;
mod motifs;
mod report;
mod saddle;
mod solvers;
mod topics;
mod trees;

use std::error::Error;
use std::path::PathBuf;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What an experiment is asked for.
pub struct Request {
    /// Runs of one experiment take seeds from here on.
    pub seed: u64,
    /// Where the page and the figures go.
    pub out: PathBuf,
    /// Where drawn corpora lie.
    pub data: PathBuf,
    /// One number of components instead of all.
    pub k: Option<usize>,
    /// One graph instead of all.
    pub graph: Option<String>,
}

struct Experiment {
    name: &'static str,
    about: &'static str,
    run: fn(&Request) -> Outcome<()>,
}

const EXPERIMENTS: &[Experiment] = &[
    #[cfg(feature = "gpu")]
    Experiment {
        name: "gpu",
        about: "thesis figure of time for 100 iterations against k, on the processor and on a graphics card",
        run: device::run,
    },
    Experiment {
        name: "cells-types",
        about: "cell types drawn and found again beside scikit-learn, single cells, averages (public data by TENFOLD_DATA)",
        run: cells::types,
    },
    Experiment {
        name: "cells-time",
        about: "seconds for counts as large as the thesis's: 10,010 bins × 1,743 genes",
        run: cells::time,
    },
    Experiment {
        name: "communities-drawn",
        about: "thesis table of drawn graphs (n = 100 to 10,000), and sparse graphs against a start at the truth",
        run: communities::drawn,
    },
    Experiment {
        name: "communities-shapes",
        about: "graphs as large as the thesis's Facebook, Yelp and DBLP, from edge list to memberships (--graph G --k K for one)",
        run: communities::shapes,
    },
    Experiment {
        name: "communities-attributes",
        about: "two college networks against what their members say of themselves (public data by TENFOLD_DATA)",
        run: communities::attributes,
    },
    Experiment {
        name: "motifs-recovery",
        about: "motifs drawn and found again: taps, lengths, rates, noise, channels, images (five seeds each)",
        run: motifs::recovery,
    },
    Experiment {
        name: "motifs-time",
        about: "thesis figure of time against samples: one pass and motifs, beside alternating minimisation",
        run: motifs::time,
    },
    Experiment {
        name: "trees-recovery",
        about: "trees drawn and found again: sizes, kinds, chains, stars, observed inner nodes, forests (five seeds each)",
        run: trees::recovery,
    },
    Experiment {
        name: "trees-parameters",
        about: "emissions and held-out likelihood on the true tree, beside EM from ten random starts",
        run: trees::parameters,
    },
    Experiment {
        name: "trees-time",
        about: "thesis figures of time against samples, variables and threads, on drawn trees",
        run: trees::time,
    },
    Experiment {
        name: "saddle",
        about: "thesis chapter 2: two objectives from single samples, and online ICA (4 figures)",
        run: saddle::run,
    },
    Experiment {
        name: "solvers",
        about: "every solver on the same whitened topic tensors, k = 10, 50, 100",
        run: solvers::run,
    },
    Experiment {
        name: "topic-words",
        about: "thesis tables of top words and bridging words, on the Daily KOS blog",
        run: topics::words,
    },
    Experiment {
        name: "alpha0",
        about: "how much the assumed mixing of documents matters, on KOS and on a drawn corpus",
        run: topics::alpha0,
    },
    Experiment {
        name: "polish",
        about: "moments only, with 2 and 5 epochs, and faithful: perplexity, seconds, distance to the truth",
        run: topics::polish,
    },
    Experiment {
        name: "cost",
        about: "seconds over documents (x1, x4, x16) and over k = 10 to 300, with a figure",
        run: topics::cost,
    },
    Experiment {
        name: "newspaper-data",
        about: "draws a collection as large as the New York Times one (1 GB) into --data",
        run: topics::draw,
    },
    Experiment {
        name: "newspaper",
        about: "that collection from file to model, k = 10, 100, 300 (or --k K alone)",
        run: topics::collection,
    },
];

const USAGE: &str = "usage: experiments list | NAME [--seed S] [--out DIR] [--data DIR] [--k K] [--graph G]";

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or(USAGE)?;
    let mut request = Request {
        seed: 1,
        out: PathBuf::from("experiments/results"),
        data: PathBuf::from("target/experiments-data"),
        k: None,
        graph: None,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--seed" => request.seed = value()?.parse()?,
            "--out" => request.out = PathBuf::from(value()?),
            "--k" => request.k = Some(value()?.parse()?),
            "--graph" => request.graph = Some(value()?),
            "--data" => request.data = PathBuf::from(value()?),
            other => return Err(format!("unknown argument {other}; {USAGE}").into()),
        }
    }
    if name == "list" {
        EXPERIMENTS.iter().for_each(|e| println!("{:<10} {}", e.name, e.about));
        return Ok(());
    }
    let chosen = EXPERIMENTS.iter().find(|e| e.name == name);
    let chosen = chosen.ok_or(format!("no experiment is called {name}; `experiments list` names them"))?;
    std::fs::create_dir_all(&request.out)?;
    (chosen.run)(&request)
}
