//! `tenfold cells fit`.

use super::reading::{ReadArgs, read_cells, read_counts};
use crate::checkpoint::CheckpointArgs;
use crate::common::{Session, parse_amount, parse_components, parse_count};
use crate::memory::{MemoryArgs, Taken};
use crate::{exit, files};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use tenfold::cells::{Density, Edges, Features, Model, Params, Solver};
use tenfold::components::Components;
use tenfold::engine::progress::Progress;

/// Find cell types in the cells of many images, each of which shows one gene
#[derive(Args)]
#[command(after_help = "\
Cells are counted in a joint histogram of their size, aspect, orientation and intensity, for every gene. \
Every bin mixes cell types, and a type expresses genes by its profile: both are found by expectation \
maximisation, from the tensor of third moments, from pure bins and from random starts.

Bins are a number (bins with equally many cells) or edges: --sizes 4,6,9 makes four bins. Density is left \
out by default: neighbours in an image of one gene say more of the gene than of the type.

Examples:
  tenfold cells fit cells.parquet -k 8 -o m.tenfold
  tenfold cells fit cells.parquet -k auto --density relative -o m.tenfold
  tenfold cells fit spots.tsv --counts -k 10 -o m.tenfold
  tenfold report m.tenfold --images *.png -o types.html")]
pub struct Fit {
    /// Cells, as `tenfold cells detect` or another program writes them (.csv, .tsv, .parquet); with --counts a table of counts
    #[arg(value_name = "CELLS")]
    input: PathBuf,
    /// Number of cell types, or `auto`: the number that predicts one half of the cells from the other best
    #[arg(short = 'k', long, value_name = "N|auto", value_parser = parse_components)]
    types: Components,
    /// Where the model goes; .tenfold is the usual extension
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// The input is a table of counts, genes × bins, voxels or single cells, and not a table of cells
    #[arg(long)]
    counts: bool,
    /// How profiles are estimated
    #[arg(long, value_name = "NAME", default_value = "em")]
    solver: SolverName,
    /// Random starts beside that of the tensor and that of pure bins
    #[arg(long, value_name = "N", default_value_t = 4)]
    restarts: usize,
    /// Cells that are added to every gene of every type
    #[arg(long, value_name = "X", default_value_t = 0.01, value_parser = parse_amount)]
    smoothing: f64,
    /// Sum of the Dirichlet prior of a bin's types: small for bins that hold few types
    #[arg(long, value_name = "X", default_value_t = 0.01, value_parser = parse_amount)]
    alpha: f64,
    /// Most types that `-k auto` looks at
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = parse_count)]
    max_types: usize,
    /// Steps of the solver, at most
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = parse_count)]
    max_iterations: usize,
    /// Exit with code 4 when the solver had not come to rest
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    #[command(flatten)]
    bins: BinArgs,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// What to do where a fit does not fit.
const REMEDY: &str = "ask for fewer types, or give fewer cells";

/// What the histogram is made of.
#[derive(Args)]
#[command(next_help_heading = "Bins")]
struct BinArgs {
    /// Bins of the mean radius, in pixels [default: 6]
    #[arg(long, value_name = "N|A,B,…", value_parser = parse_edges)]
    sizes: Option<Edges>,
    /// Bins of the aspect of cells that are not round [default: 2]
    #[arg(long, value_name = "N|A,B,…", value_parser = parse_edges)]
    aspects: Option<Edges>,
    /// Equal bins of the orientation of cells that are not round [default: 4]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    orientations: Option<usize>,
    /// Bins of the intensity [default: 6]
    #[arg(long, value_name = "N|A,B,…", value_parser = parse_edges)]
    intensities: Option<Edges>,
    /// The aspect below which a cell is round [default: 1.25]
    #[arg(long, value_name = "X", value_parser = parse_amount)]
    round: Option<f64>,
    /// How the number of neighbours is used [default: none]
    #[arg(long, value_name = "NAME")]
    density: Option<DensityName>,
}

#[derive(Clone, Copy, ValueEnum)]
enum SolverName {
    /// Expectation maximisation
    Em,
    /// The thesis's least squares on the simplex, to compare
    Nmf,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum DensityName {
    /// Not at all
    None,
    /// Neighbours over their mean in the image
    Relative,
    /// Neighbours as counted, the thesis's way, which breaks the mixture
    Raw,
}

impl Fit {
    pub fn run(self, session: &Session) -> Result<()> {
        files::check_output(&self.output, &[&self.input])?;
        if self.counts && (self.bins.given() || self.read.given()) {
            return Err(exit::usage(
                "choices of bins and of the cells' table mean nothing with --counts; leave them out",
            ));
        }
        let kept = self.checkpoint.open(session)?;
        let begin = Instant::now();
        let params = self.params(session.seed);
        // A table is read row by row; what its rows become is about as large as they are.
        self.memory.admit(&self.input, 1.0)?;
        let taken;
        let model = match self.counts {
            true => {
                let counts = read_counts(&self.input, &[], session)?.counts;
                taken = self.memory.announce(params.needs_counts(&counts), REMEDY, session)?;
                kept.during(session, |progress| params.fit_counts_with(&counts, progress))?
            }
            false => {
                let tissue = read_cells(&self.input, &self.read, session)?;
                taken = self.memory.announce(params.needs(&tissue), REMEDY, session)?;
                kept.during(session, |progress| params.fit_with(&tissue, progress))?
            }
        };
        session.watch.check()?;
        model.save(&self.output)?;
        kept.finish(session);
        self.tell(&model, (begin.elapsed().as_secs_f64(), &taken), session)
    }

    fn tell(&self, model: &Model, (seconds, taken): (f64, &Taken), session: &Session) -> Result<()> {
        let mut text = model.summary();
        text += &format!("model written to {} in {seconds:.1} s\n", self.output.display());
        let mut value = model.to_json();
        value["seconds"] = json!(seconds);
        value["memory"] = taken.to_json();
        value["model"] = json!(self.output.to_string_lossy());
        session.answer(&text, &value)?;
        if !model.diagnostics().converged {
            session
                .note("the likelihood was still rising when the steps ended; --max-iterations gives it more");
            if self.strict {
                return Err(exit::not_converged());
            }
        }
        Ok(())
    }

    fn params(&self, seed: u64) -> Params {
        Params {
            solver: match self.solver {
                SolverName::Em => Solver::Em,
                SolverName::Nmf => Solver::Nmf,
            },
            restarts: self.restarts,
            smoothing: self.smoothing,
            alpha: self.alpha,
            most: self.max_types,
            max_iterations: self.max_iterations,
            features: self.bins.features(),
            seed,
            ..Params::new(self.types)
        }
    }
}

impl BinArgs {
    fn given(&self) -> bool {
        self.sizes.is_some()
            || self.aspects.is_some()
            || self.orientations.is_some()
            || self.intensities.is_some()
            || self.round.is_some()
            || self.density.is_some()
    }

    fn features(&self) -> Features {
        let usual = Features::default();
        let density = match self.density {
            None | Some(DensityName::None) => Density::None,
            Some(DensityName::Relative) => Density::named("relative").unwrap_or(Density::None),
            Some(DensityName::Raw) => Density::named("raw").unwrap_or(Density::None),
        };
        Features {
            size: self.sizes.clone().unwrap_or(usual.size),
            aspect: self.aspects.clone().unwrap_or(usual.aspect),
            orientations: self.orientations.unwrap_or(usual.orientations),
            intensity: self.intensities.clone().unwrap_or(usual.intensity),
            round: self.round.unwrap_or(usual.round),
            density,
        }
    }
}

/// A number of bins, or the edges between them.
fn parse_edges(text: &str) -> Result<Edges, String> {
    if let Ok(bins) = text.parse::<usize>() {
        return if bins == 0 { Err("at least 1 bin is needed".into()) } else { Ok(Edges::Quantiles(bins)) };
    }
    let edges: Result<Vec<f64>, _> = text.split(',').map(|edge| edge.trim().parse::<f64>()).collect();
    match edges {
        Ok(edges) if edges.iter().all(|x| x.is_finite()) => Ok(Edges::Fixed(edges)),
        _ => Err("a number of bins such as 6 is needed, or edges such as 4,6.5,9".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_a_number_or_edges() {
        assert_eq!(parse_edges("6"), Ok(Edges::Quantiles(6)));
        assert_eq!(parse_edges("4, 6.5,9"), Ok(Edges::Fixed(vec![4.0, 6.5, 9.0])));
        assert!(parse_edges("0").is_err() && parse_edges("a,b").is_err() && parse_edges("1,inf").is_err());
    }
}
