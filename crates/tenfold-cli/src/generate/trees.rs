//! `tenfold generate trees`.

use super::{check_entries, folder, stem};
use crate::common::{Session, parse_count};
use crate::exit;
use crate::files::{Bundle, check_output};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;
use tenfold::engine::progress::Progress;
use tenfold::trees::{
    Emits, Events, Shape, Synth, Table, Tree, write_events, write_groups, write_samples, write_tree,
};

/// Samples of variables that hang on a known tree of hidden ones, with the tree beside them
#[derive(Args)]
#[command(after_help = "\
Examples:
  tenfold generate trees -o X.csv
  tenfold generate trees --variables 100 -k 3 --width 6 --shape binary -o X.csv
  tenfold generate trees --shape chain --emits real --width 3 -o X.csv
  tenfold generate trees --events --samples 100000 --variables 168 -o V.csv

The first writes X.csv and the true tree X.nwk; the last also V.groups.csv, the groups of codes.")]
pub struct Trees {
    /// Observed variables of every block
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = parse_count)]
    variables: usize,
    /// Samples
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = parse_count)]
    samples: usize,
    /// States of a hidden node
    #[arg(short = 'k', long, value_name = "N", default_value_t = 2, value_parser = parse_count)]
    states: usize,
    /// Levels of a category, or numbers of a vector
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = parse_count)]
    width: usize,
    /// What the tree looks like
    #[arg(long, value_name = "NAME", default_value = "mixed")]
    shape: ShapeName,
    /// What the variables are
    #[arg(long, value_name = "NAME", default_value = "category")]
    emits: EmitsName,
    /// Independent trees beside each other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_count)]
    blocks: usize,
    /// How strongly the ends of an edge hang together, from and to, between 0 and 1
    #[arg(long, value_name = "A,B", default_value = "0.55,0.85", value_parser = parse_range)]
    strength: (f64, f64),
    /// Draw claims instead: patients (--samples) with codes of groups (--variables), an event a line
    #[arg(long, conflicts_with_all = ["width", "shape", "emits", "blocks", "strength"])]
    events: bool,
    /// The .csv file of the samples, with the tree beside it
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum ShapeName {
    /// Hidden nodes with three to five neighbours
    Mixed,
    /// Hidden nodes with three neighbours
    Binary,
    /// One hidden node above all
    Star,
    /// A hidden Markov chain
    Chain,
    /// Some inner nodes are observed
    Observed,
}

#[derive(Clone, Copy, ValueEnum)]
enum EmitsName {
    /// Categories
    Category,
    /// Gaussian vectors around a mean of their state
    Real,
    /// Flags
    Flags,
    /// Categories and Gaussian vectors
    Mixed,
}

impl Trees {
    pub fn run(self, session: &Session) -> Result<()> {
        let columns = self.variables as f64 * self.blocks as f64 * self.width as f64;
        check_entries(self.samples as f64 * columns * 1.5)?;
        if !self.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv")) {
            let shown = self.output.display();
            return Err(exit::usage(format!("{shown} is no .csv file; samples are written as .csv")));
        }
        let truth = folder(&self.output).join(stem(&self.output) + ".nwk");
        for path in [&self.output, &truth] {
            check_output(path, &[])?;
        }
        let (table, tree) = self.drawn(session.seed)?;
        session.watch.check()?;
        let mut bundle = Bundle::new(folder(&self.output))?;
        if self.events {
            let groups = folder(&self.output).join(stem(&self.output) + ".groups.csv");
            check_output(&groups, &[])?;
            write_events(&bundle.place(&self.output)?, &table)?;
            write_groups(&bundle.place(&groups)?, &table)?;
        } else {
            write_samples(&bundle.place(&self.output)?, &table)?;
        }
        write_tree(&bundle.place(&truth)?, &tree, &table)?;
        session.watch.check()?;
        bundle.finish()?;
        let hidden = tree.hidden().count();
        let text = format!(
            "{} samples of {} variables written to {}, their tree with {hidden} hidden nodes to {}\n",
            table.samples(),
            tree.observed(),
            self.output.display(),
            truth.display()
        );
        let value = json!({
            "samples": table.samples(), "variables": tree.observed(), "hidden": hidden,
            "output": self.output.to_string_lossy(), "tree": truth.to_string_lossy(),
        });
        session.answer(&text, &value)
    }

    fn drawn(&self, seed: u64) -> Result<(Table, Tree)> {
        if self.events {
            let Self { samples: patients, variables: groups, states, .. } = *self;
            let drawn = Events { patients, groups, states, seed, ..Events::default() }.draw()?;
            return Ok((drawn.table, drawn.tree));
        }
        let drawn = self.synth(seed).draw()?;
        Ok((drawn.table, drawn.tree))
    }

    fn synth(&self, seed: u64) -> Synth {
        Synth {
            variables: self.variables,
            samples: self.samples,
            states: self.states,
            width: self.width,
            shape: match self.shape {
                ShapeName::Mixed => Shape::Mixed,
                ShapeName::Binary => Shape::Binary,
                ShapeName::Star => Shape::Star,
                ShapeName::Chain => Shape::Chain,
                ShapeName::Observed => Shape::Observed,
            },
            emits: match self.emits {
                EmitsName::Category => Emits::Category,
                EmitsName::Real => Emits::Real,
                EmitsName::Flags => Emits::Flags,
                EmitsName::Mixed => Emits::Mixed,
            },
            blocks: self.blocks,
            strength: self.strength.0..self.strength.1,
            seed,
        }
    }
}

fn parse_range(text: &str) -> Result<(f64, f64), String> {
    let wrong = || "two numbers between 0 and 1 such as 0.55,0.85 are needed, the smaller first".to_owned();
    let (a, b) = text.split_once(',').ok_or_else(wrong)?;
    let number =
        |text: &str| text.trim().parse::<f64>().ok().filter(|x| (0.0..=1.0).contains(x)).ok_or_else(wrong);
    let (a, b) = (number(a)?, number(b)?);
    if a < b { Ok((a, b)) } else { Err(wrong()) }
}
