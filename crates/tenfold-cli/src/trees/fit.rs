//! `tenfold trees fit`.

use super::reading::ReadArgs;
use crate::checkpoint::CheckpointArgs;
use crate::common::{Session, parse_components};
use crate::{exit, files};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use tenfold::components::Components;
use tenfold::engine::progress::Progress;
use tenfold::trees::read::Format;
use tenfold::trees::structure::Method;
use tenfold::trees::{Contraction, Params};

/// Learn a tree of hidden variables above those that were observed
#[derive(Args)]
#[command(after_help = "\
Rows are samples, columns are variables: categories, yes or no, numbers, or vectors of them. An event \
table has a sample and a code in every line; with --groups its codes become one variable a group. In an \
alignment every taxon is a variable and every site a sample.

Distances between variables come from their canonical correlations; the tree is the one whose paths add \
up to them. Hidden nodes then get states, tables along the edges and emissions, by moments and a few \
sweeps of expectation maximisation.

Examples:
  tenfold trees fit survey.csv -o m.tenfold
  tenfold trees fit visits.csv --events --groups phemap.csv -o m.tenfold
  tenfold trees fit primates.fasta -o m.tenfold
  tenfold report m.tenfold -o tree.html")]
pub struct Fit {
    /// A table (.csv, .tsv, .parquet, .arrow), an event table, or aligned sequences (.fasta, .phy)
    #[arg(value_name = "DATA")]
    input: PathBuf,
    /// States of a hidden node, or `auto`: the rank that the pairs of variables support, plus one
    #[arg(short = 'k', long, value_name = "N|auto", default_value = "auto", value_parser = parse_components)]
    states: Components,
    /// Where the model goes; .tenfold is the usual extension
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// How the structure is found
    #[arg(long, value_name = "NAME", default_value = "auto")]
    method: MethodName,
    /// Which short edges between hidden nodes are contracted [default: likelihood; none in alignments]
    #[arg(long, value_name = "NAME")]
    contract: Option<ContractName>,
    /// Sweeps of expectation maximisation, at most
    #[arg(long, value_name = "N", default_value_t = 10)]
    sweeps: usize,
    /// Resampled tables that say how sure every split is; 0 for none
    #[arg(long, value_name = "N", default_value_t = 20)]
    bootstrap: usize,
    /// Share of the samples to hold out, for a comparison with trees without hidden nodes
    #[arg(long, value_name = "X", default_value_t = 0.1)]
    held_out: f64,
    /// Exit with code 4 when the likelihood had not settled
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum MethodName {
    /// By the data: minimum evolution for alignments, otherwise what fits the distances best
    Auto,
    /// Variables inserted one by one along the spanning tree
    Insertion,
    /// Neighbour joining
    Joining,
    /// Recursive grouping around the spanning tree
    Grouping,
    /// Balanced minimum evolution
    Evolution,
}

#[derive(Clone, Copy, ValueEnum)]
enum ContractName {
    /// Those that the likelihood does not pay for
    Likelihood,
    /// Those shorter than three of their errors
    Jackknife,
    /// None
    None,
}

impl Fit {
    pub fn run(self, session: &Session) -> Result<()> {
        files::check_output(&self.output, &self.read.inputs(&self.input))?;
        let kept = self.checkpoint.open(session)?;
        let begin = Instant::now();
        // Events are held with the names of their samples, and once more while they are sorted.
        self.read.memory.admit(&self.input, 2.0)?;
        let data = self.read.open(&self.input, session)?;
        let aligned = matches!(data.format, Format::Fasta | Format::Phylip);
        let params = self.params(aligned, session.seed);
        let remedy = "give --bootstrap 0, or fewer samples";
        let taken = self.read.memory.announce(params.needs(&data.table), remedy, session)?;
        let model = kept.during(session, |progress| params.fit_with(&data.table, progress))?;
        session.watch.check()?;
        model.save(&self.output)?;
        kept.finish(session);
        let seconds = begin.elapsed().as_secs_f64();
        let mut text = model.summary();
        text += &format!("model written to {} in {seconds:.1} s\n", self.output.display());
        let mut value = model.to_json();
        value["seconds"] = json!(seconds);
        value["memory"] = taken.to_json();
        value["model"] = json!(self.output.to_string_lossy());
        session.answer(&text, &value)?;
        if !model.diagnostics().converged {
            session.note("the likelihood was still rising when the sweeps ended; --sweeps gives it more");
            if self.strict {
                return Err(exit::not_converged());
            }
        }
        Ok(())
    }

    fn params(&self, aligned: bool, seed: u64) -> Params {
        Params {
            method: match self.method {
                MethodName::Auto if aligned => Method::Evolution,
                MethodName::Auto => Method::Auto,
                MethodName::Insertion => Method::Insertion,
                MethodName::Joining => Method::Joining,
                MethodName::Grouping => Method::Grouping,
                MethodName::Evolution => Method::Evolution,
            },
            contraction: match self.contract {
                None if aligned => Contraction::None,
                None | Some(ContractName::Likelihood) => Contraction::Likelihood,
                Some(ContractName::Jackknife) => Contraction::Jackknife,
                Some(ContractName::None) => Contraction::None,
            },
            sweeps: self.sweeps,
            bootstrap: self.bootstrap,
            held_out: self.held_out,
            seed,
            ..Params::new(self.states)
        }
    }
}
