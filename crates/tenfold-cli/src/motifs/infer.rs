//! `tenfold motifs infer`.

use super::{DecodeArgs, ReadArgs, events};
use crate::common::Session;
use crate::files;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tenfold::engine::progress::Progress;
use tenfold::motifs::{Extent, Model, Signals, files_read};
use tenfold::output;

/// Where the motifs of a model fire in signals
#[derive(Args)]
#[command(after_help = "\
Events are a table `time,motif,amplitude`: a motif of unit norm times its amplitude begins at that \
time, in seconds where the samples a second are known and in samples otherwise. Sparse decoding \
finds few firings that explain the signal; least squares is the thesis's linear filter bank.

Examples:
  tenfold motifs infer m.tenfold 100.hea -o events.csv
  tenfold motifs infer m.tenfold X.npy -o events.csv --residual E.npy")]
pub struct Infer {
    /// A model that `tenfold motifs fit` made
    model: PathBuf,
    /// Signals with the channels of the fit
    #[arg(value_name = "X", required = true)]
    inputs: Vec<PathBuf>,
    /// Where the events go: .csv
    #[arg(short, long, value_name = "OUT.csv")]
    output: PathBuf,
    /// Also write what the firings add up to: .npy
    #[arg(long, value_name = "OUT.npy")]
    reconstruction: Option<PathBuf>,
    /// Also write what they leave: .npy
    #[arg(long, value_name = "OUT.npy")]
    residual: Option<PathBuf>,
    #[command(flatten)]
    decode: DecodeArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl Infer {
    pub fn run(self, session: &Session) -> Result<()> {
        let read = files_read(&self.inputs);
        let mut inputs: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
        inputs.push(&self.model);
        events::check(&self.output, &inputs)?;
        for path in [&self.reconstruction, &self.residual].into_iter().flatten() {
            super::check_npy(path, &inputs)?;
        }
        let results = [Some(&self.output), self.reconstruction.as_ref(), self.residual.as_ref()];
        files::check_apart(&results.into_iter().flatten().map(PathBuf::as_path).collect::<Vec<_>>())?;
        let begin = Instant::now();
        let model = Model::load(&self.model)?;
        let decoding = self.decode.decoding(&model);
        let signals = self.read.open(&self.inputs, session)?;
        let (mut rebuilt, mut left) = (Vec::new(), Vec::new());
        let mut found = Vec::new();
        let decoded = session.watch.during(|watch| {
            model.infer_each(&signals, &decoding, watch, &mut |stretch, part| {
                found.extend(part.events);
                if self.residual.is_some() {
                    left.extend(stretch.values.iter().zip(&part.reconstruction).map(|(x, y)| x - y));
                }
                if self.reconstruction.is_some() {
                    rebuilt.extend(part.reconstruction);
                }
                Ok(())
            })
        })?;
        let mut bundle = files::Bundle::new(files::folder_of(&self.output))?;
        events::write(&bundle.place(&self.output)?, &model, &signals, &found, &session.watch)?;
        let mut text = String::new();
        for (path, values, what) in
            [(&self.reconstruction, &rebuilt, "reconstruction"), (&self.residual, &left, "residual")]
        {
            if let Some(path) = path {
                output::write_array(&bundle.place(path)?, &shape(&signals), values)?;
                text += &format!("{what} written to {}\n", path.display());
            }
        }
        session.watch.check()?;
        bundle.finish()?;
        let seconds = begin.elapsed().as_secs_f64();
        let counts: Vec<usize> =
            (0..model.count()).map(|l| found.iter().filter(|event| event.motif == l).count()).collect();
        let list =
            counts.iter().enumerate().map(|(l, n)| format!("motif {l}: {n}")).collect::<Vec<_>>().join(", ");
        text = format!(
            "{} events written to {} in {seconds:.1} s ({list})\n{:.1} % of the variance explained; noise {:.4}, \
             least amplitude {:.4}\n{text}",
            found.len(),
            self.output.display(),
            100.0 * decoded.explained,
            decoded.noise,
            decoded.threshold,
        );
        let value = json!({
            "events": found.len(), "per_motif": counts, "explained": decoded.explained, "noise": decoded.noise,
            "residual_sd": decoded.residual_sd, "lambda": decoded.lambda, "threshold": decoded.threshold,
            "converged": decoded.converged, "output": self.output.to_string_lossy(), "seconds": seconds,
        });
        session.answer(&text, &value)?;
        if !decoded.converged {
            session
                .warn("some pieces of the signals were not decoded to the tolerance: raise --max-iterations");
        }
        Ok(())
    }
}

/// Stretches of one size become one array of the shape that was read; others stand one after the other.
fn shape(signals: &Signals) -> Vec<usize> {
    let (stretches, channels) = (signals.stretches(), signals.channels().len());
    let Extent { rows, columns } = stretches.first().map_or(Extent::line(0), |stretch| stretch.extent);
    if stretches.iter().any(|stretch| stretch.extent != Extent { rows, columns }) {
        return vec![stretches.iter().map(|stretch| stretch.values.len()).sum()];
    }
    let mut shape = vec![stretches.len()];
    shape.extend(
        [(channels, channels > 1), (rows, rows > 1), (columns, true)].iter().filter(|d| d.1).map(|d| d.0),
    );
    shape
}
