//! `tenfold ica fit`.

use crate::checkpoint::CheckpointArgs;
use crate::common::{
    Session, TableArgs, USUAL, numbered, parse_components, parse_count, parse_count_to, refuse,
};
use crate::device::DeviceArgs;
use crate::solver::{Name, SolverArgs};
use crate::{device, exit, files};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use tenfold::engine::linalg::Rows;
use tenfold::engine::progress::Progress;
use tenfold::ica::{Components, Contrast, Params, Polish};

/// Learn sources from their mixtures
#[derive(Args)]
#[command(after_help = "\
The model is x = A s + mean with independent sources s. Rows of X are samples, columns are what \
was recorded. Sources may be peaked, flat or skewed; at most one may be Gaussian. Data larger than \
--memory stay on disk and are read once for every pass. The default solver, polar, finds its start \
on a part of the samples and then needs a few passes over all; --solver online goes over the data \
in batches and keeps memory smallest.

Examples:
  tenfold ica fit X.npy -k 8 -o model.tenfold
  tenfold ica fit X.csv --columns left,right -o model.tenfold --sources S.csv
  tenfold ica fit big.npy -k 16 --solver online --memory 256MB -o model.tenfold")]
pub struct Fit {
    /// Samples: .npy, .csv, .tsv (also .gz, .zst of these), .parquet or .wav
    #[arg(value_name = "X")]
    input: PathBuf,
    /// Number of sources, or `auto` to choose by the spectrum of the covariance
    #[arg(short, value_name = "N|auto", default_value = "auto", value_parser = parse_components)]
    k: Components,
    /// Where the model goes; .tenfold is the usual extension
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Also write the sources of X: .npy, .csv, .tsv or .parquet
    #[arg(long, value_name = "OUT")]
    sources: Option<PathBuf>,
    /// What tells sources apart: the fourth cumulant, or the third (skewed sources only)
    #[arg(long, value_name = "NAME", default_value = "kurtosis")]
    contrast: ContrastName,
    /// What follows the cumulants: Newton steps on the likelihood, or nothing
    #[arg(long, value_name = "NAME", default_value = "likelihood")]
    polish: PolishName,
    /// Divide every column by its standard deviation first: for columns in different units
    #[arg(long)]
    standardise: bool,
    /// Exit with code 4 when the model did not converge: its polish or, without one, the decomposition
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    #[command(flatten)]
    solver: SolverArgs,
    #[command(flatten)]
    device: DeviceArgs,
    /// Rows in a batch of --solver online [default: 1024]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Solver")]
    batch: Option<usize>,
    /// Passes over the data of --solver online [default: 3]
    #[arg(long, value_name = "N", value_parser = parse_count_to::<1_000_000>, help_heading = "Solver")]
    epochs: Option<usize>,
    #[command(flatten)]
    table: TableArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum ContrastName {
    Kurtosis,
    Skewness,
}

#[derive(Clone, Copy, ValueEnum)]
enum PolishName {
    Likelihood,
    None,
}

impl Fit {
    pub fn run(self, session: &Session) -> Result<()> {
        let mut params = self.params(session.seed)?;
        files::check_output(&self.output, &[&self.input])?;
        if let Some(sources) = &self.sources {
            files::check_table(sources, &[&self.input, &self.output])?;
        }
        let kept = self.checkpoint.open(session)?;
        let begin = Instant::now();
        let table = self.table.open(&self.input, session)?;
        // The bound is for all that is held: the table and the work first, and whitened data in what is left.
        let held = table.held_bytes();
        let needs = |params: &Params| params.needs(table.rows(), table.cols(), held);
        params.memory = 0;
        params.memory = self.table.memory.left(held + needs(&params).work(), USUAL.saturating_sub(held));
        let taken = self.table.memory.announce(needs(&params), "ask for fewer sources", session)?;
        params.device = self.device.open(session)?;
        let fitted = kept.during(session, |progress| params.fit_with(&table, progress));
        let mut model = fitted.map_err(exit::about(&self.input))?;
        device::tell(&params.device, session);
        if table.is_named() {
            model.set_columns(table.names().to_vec());
        }
        let mut bundle = files::Bundle::new(files::folder_of(&self.output))?;
        if let Some(path) = &self.sources {
            let (path, names) = (bundle.place(path)?, numbered("s", model.k()));
            files::write_table(&path, &names, &model.sources(&table)?, &session.watch)?;
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
        if let Some(path) = &self.sources {
            text += &format!("sources written to {}\n", path.display());
            value["sources"] = json!(path.to_string_lossy());
        }
        session.answer(&text, &value)?;
        let d = model.diagnostics();
        // The polish has the last word: it settles a decomposition that was still moving.
        let (settled, after) = match d.polish_converged {
            Some(settled) => (settled, format!("{} steps of the polish", d.polish_steps)),
            None => (d.converged, format!("{} iterations", d.iterations)),
        };
        if !settled {
            session.warn(&format!("not converged after {after}"));
            if self.strict {
                return Err(exit::not_converged());
            }
        }
        Ok(())
    }

    fn params(&self, seed: u64) -> Result<Params> {
        if self.solver.solver != Name::Online {
            let given = [("--batch", self.batch.is_some()), ("--epochs", self.epochs.is_some())];
            refuse(&given, "a solver other than online")?;
        }
        let defaults = Params::new(self.k);
        Ok(Params {
            contrast: match self.contrast {
                ContrastName::Kurtosis => Contrast::Kurtosis,
                ContrastName::Skewness => Contrast::Skewness,
            },
            solver: self.solver.solver()?,
            batch: self.batch.unwrap_or(defaults.batch),
            epochs: self.epochs.unwrap_or(defaults.epochs),
            polish: match self.polish {
                PolishName::Likelihood => Polish::Likelihood,
                PolishName::None => Polish::None,
            },
            standardise: self.standardise,
            seed,
            ..defaults
        })
    }
}
