//! The thesis's figures and tables remade: `experiments list | NAME [--seed S] [--out DIR] [--data DIR]`.
//!
//! Each experiment prints what it measured beside what was published, as Markdown, and writes the same page and
//! its figures to DIR. The same seed gives the same numbers, except seconds.

mod figure;
mod report;
mod saddle;
mod solvers;
mod topics;

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
}

struct Experiment {
    name: &'static str,
    about: &'static str,
    run: fn(&Request) -> Outcome<()>,
}

const EXPERIMENTS: [Experiment; 3] = [
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
        name: "newspaper-data",
        about: "draws the corpus in the shape of the New York Times collection (860 MB) into --data",
        run: topics::newspaper::run,
    },
];

const USAGE: &str = "usage: experiments list | NAME [--seed S] [--out DIR] [--data DIR]";

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or(USAGE)?;
    let mut request = Request {
        seed: 1,
        out: PathBuf::from("experiments/results"),
        data: PathBuf::from("target/experiments-data"),
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--seed" => request.seed = value()?.parse()?,
            "--out" => request.out = PathBuf::from(value()?),
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
