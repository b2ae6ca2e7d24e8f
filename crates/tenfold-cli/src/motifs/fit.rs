//! `tenfold motifs fit`.

use super::{ReadArgs, events, parse_length};
use crate::checkpoint::CheckpointArgs;
use crate::common::{Session, USUAL, parse_components, parse_count};
use crate::{exit, files};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tenfold::components::Components;
use tenfold::engine::progress::Progress;
use tenfold::motifs::{Length, Orders, Params, Solver, files_read};

/// Learn motifs that repeat anywhere in signals
#[derive(Args)]
#[command(after_help = "\
The model is x = sum of motifs, each fired at independent times, + Gaussian noise. One pass gathers \
the third and fourth cumulants of the signals; what follows does not depend on their length. Give \
--length when you know about how long a motif is, in samples: it makes everything faster and surer.

Examples:
  tenfold motifs fit 100.hea -L 1 --length 36 -o m.tenfold --events beats.csv
  tenfold motifs fit X.npy -L auto --length 16 -o m.tenfold
  tenfold motifs fit spikes.mat -L 3 --length 32 --sparse -o m.tenfold
  tenfold motifs fit images.npy --layout images -L 6 --length 6x6 -o m.tenfold")]
pub struct Fit {
    /// Signals: .npy, .csv, .tsv, .parquet, .wav, .mat, .edf, .hea or .dat; several files are trials
    #[arg(value_name = "X", required = true)]
    inputs: Vec<PathBuf>,
    /// Number of motifs, or `auto` to take what repeats between halves of the signals
    #[arg(short = 'L', long, value_name = "N|auto", default_value = "auto", value_parser = parse_components)]
    motifs: Components,
    /// Samples of a motif, ROWSxCOLUMNS for images, or `auto`: where the autocovariance ends
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = parse_length)]
    length: Length,
    /// Where the model goes; .tenfold is the usual extension
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Also write where motifs fire in X: .csv
    #[arg(long, value_name = "OUT.csv")]
    events: Option<PathBuf>,
    /// Which cumulants: both, one of them, or those that stand out from their noise
    #[arg(long, value_name = "NAME", default_value = "auto")]
    orders: OrdersName,
    /// How motifs are found; all but `subspace` are the thesis's ways and others, kept to compare
    #[arg(long, value_name = "NAME", default_value = "subspace")]
    solver: SolverName,
    /// Refine the motifs on the signals themselves: sharper where motifs fire now and then
    #[arg(long)]
    sparse: bool,
    /// Random starts for every motif
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = parse_count)]
    starts: usize,
    /// Exit with code 4 when the fit did not settle
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum OrdersName {
    Auto,
    #[value(name = "3")]
    Third,
    #[value(name = "4")]
    Fourth,
    Both,
}

#[derive(Clone, Copy, ValueEnum)]
enum SolverName {
    /// Subspace power method on the fourth cumulant, then a joint fit of both orders
    Subspace,
    /// Alternating least squares on the third cumulant, all motifs together
    Als,
    /// The same, one motif after the other
    Deflation,
    /// The same, with the average of normalised columns
    Average,
    /// Motifs and activations in turn over all samples
    Alternating,
}

impl Fit {
    pub fn run(self, session: &Session) -> Result<()> {
        let read = files_read(&self.inputs);
        let inputs: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
        files::check_output(&self.output, &inputs)?;
        if let Some(path) = &self.events {
            let mut inputs = inputs.clone();
            inputs.push(&self.output);
            events::check(path, &inputs)?;
        }
        let kept = self.checkpoint.open(session)?;
        let begin = Instant::now();
        // No format has numbers that take less in memory than in their file, and half of the bound is for them.
        self.inputs.iter().try_for_each(|path| self.read.memory.admit(path, 2.0))?;
        let signals = self.read.open(&self.inputs, session)?;
        let params = self.params(session.seed);
        let remedy = "give a shorter --length or choose fewer channels";
        let taken = self.read.memory.announce(params.needs(&signals), remedy, session)?;
        let fitted = kept.during(session, |progress| params.fit_with(&signals, progress));
        let model = match &self.inputs[..] {
            [one] => fitted.map_err(exit::about(one))?,
            _ => fitted?,
        };
        let mut bundle = files::Bundle::new(files::folder_of(&self.output))?;
        let mut written = None;
        if let Some(path) = &self.events {
            let place = bundle.place(path)?;
            let decoded = session.watch.during(|watch| model.infer(&signals, &model.decoding(), watch))?;
            events::write(&place, &model, &signals, &decoded.events, &session.watch)?;
            written = Some((path, decoded.events.len()));
        }
        model.save(&bundle.place(&self.output)?)?;
        session.watch.check()?;
        bundle.finish()?;
        kept.finish(session);
        let seconds = begin.elapsed().as_secs_f64();
        let mut text = model.summary();
        text += &format!("model written to {} in {seconds:.1} s\n", self.output.display());
        let mut value = model.to_json();
        value["seconds"] = json!(seconds);
        value["memory"] = taken.to_json();
        value["model"] = json!(self.output.to_string_lossy());
        if let Some((path, count)) = written {
            text += &format!("{count} events written to {}\n", path.display());
            value["events"] = json!({ "output": path.to_string_lossy(), "count": count });
        }
        session.answer(&text, &value)?;
        if !model.diagnostics().converged {
            session.warn("the joint fit was still moving when it was ended");
            if self.strict {
                return Err(exit::not_converged());
            }
        }
        Ok(())
    }

    fn params(&self, seed: u64) -> Params {
        Params {
            length: self.length,
            orders: match self.orders {
                OrdersName::Auto => Orders::Auto,
                OrdersName::Third => Orders::Third,
                OrdersName::Fourth => Orders::Fourth,
                OrdersName::Both => Orders::Both,
            },
            solver: match self.solver {
                SolverName::Subspace => Solver::Subspace,
                SolverName::Als => Solver::Als,
                SolverName::Deflation => Solver::Deflation,
                SolverName::Average => Solver::Average,
                SolverName::Alternating => Solver::Alternating,
            },
            sparse: self.sparse,
            starts: self.starts,
            memory: self.read.memory.for_data(USUAL),
            seed,
            ..Params::new(self.motifs)
        }
    }
}
