//! `tenfold tensor decompose`.

use super::read::Tensor;
use crate::common::{Session, parse_amount, parse_count, refuse};
use crate::solver::{Name, SolverArgs};
use crate::{exit, files};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tenfold::engine::decompose::{Objective, Rate, Solver, Trace, Update};
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Progress;
use tenfold::model_file::ModelFile;

/// Find the components of a tensor, T = Σ λ_i v_i⊗…⊗v_i
#[derive(Args)]
#[command(after_help = "\
T.npy holds a symmetric tensor of order 3 or 4, or of order 5 or 7, which is turned to order 4 \
first. Every solver finds orthogonal components; --solver als also finds others. A tensor of three \
unequal sides, or any with --asymmetric, is decomposed as Σ λ_i a_i⊗b_i⊗c_i by als.

Solvers:
  polar         all components together, orthonormal: right nearly always
  power         one component after the other, with deflation
  als           alternating least squares: components need not be orthogonal
  simultaneous  Jacobi rotations that diagonalise several slices at once
  online        gradient steps (--rate, --steps, --update, --objective)

Examples:
  tenfold tensor decompose T.npy
  tenfold tensor decompose T.npy -k 5 --solver als -o components.tenfold
  tenfold tensor decompose T.npy --solver online --rate 0.05 --steps 5000")]
pub struct Decompose {
    /// The tensor, a .npy file
    #[arg(value_name = "T.npy")]
    input: PathBuf,
    /// Number of components; the side of the tensor when not given
    #[arg(short, value_name = "N", value_parser = parse_count)]
    k: Option<usize>,
    /// Where the components go: a model file with the tensors `weights` and `factors`
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Take a tensor of three sides as without symmetry
    #[arg(long)]
    asymmetric: bool,
    /// How far from symmetric a tensor may be, relative to its largest entry
    #[arg(long, value_name = "X", default_value = "1e-8", value_parser = parse_amount)]
    symmetry_tolerance: f64,
    /// Exit with code 4 when the solver did not converge
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    solver: SolverArgs,
    /// What a step of online does: all columns kept orthonormal, each on the sphere, or the thesis's free update
    #[arg(long, value_name = "NAME", help_heading = "Solver")]
    update: Option<UpdateName>,
    /// What online minimises on the sphere; decorrelation is for order 4 and positive weights
    #[arg(long, value_name = "NAME", help_heading = "Solver")]
    objective: Option<ObjectiveName>,
    /// Steps of online [default: 1000]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Solver")]
    steps: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UpdateName {
    Retraction,
    Sphere,
    Stgd,
}

#[derive(Clone, Copy, ValueEnum)]
enum ObjectiveName {
    One,
    Reconstruction,
    Decorrelation,
}

/// Steps of this size suit the sphere and the free update when weights are about one; a rate that begins at 1, which
/// suits retraction, overshoots there.
const GRADIENT_RATE: Rate = Rate::Constant(0.1);

/// What any solver found.
struct Found {
    weights: Vec<f64>,
    /// The factors, with their names in the model file.
    factors: Vec<(&'static str, Mat)>,
    trace: Trace,
    residual: Option<f64>,
    solver: &'static str,
}

impl Decompose {
    pub fn run(self, session: &Session) -> Result<()> {
        let solver = self.chosen_solver()?;
        if let Some(output) = &self.output {
            files::check_output(output, &[&self.input])?;
        }
        let begin = Instant::now();
        let (tensor, scale) = Tensor::read(&self.input, self.asymmetric, self.symmetry_tolerance)?;
        let name = self.input.file_name().unwrap_or_default().to_string_lossy().into_owned();
        session.note(&format!("{name}: {}", tensor.describe()));
        let mut found = match &tensor {
            Tensor::Dense(_) if !matches!(self.solver.solver, Name::Als | Name::Polar) => {
                return Err(exit::usage("a tensor without symmetry is decomposed by --solver als only"));
            }
            _ => session.watch.during(|watch| self.decompose(&tensor, &solver, session.seed, watch))?,
        };
        found.weights.iter_mut().for_each(|weight| *weight *= scale);
        let numbers = found.weights.iter().chain(&found.residual);
        if let Some(x) =
            numbers.chain(found.factors.iter().flat_map(|f| f.1.as_slice())).find(|x| !x.is_finite())
        {
            return Err(exit::bad_input(format!(
                "{name}: the components come out as {x}, beyond the range of double precision; divide all entries by one number"
            )));
        }
        let seconds = begin.elapsed().as_secs_f64();
        let mut value = self.json(&found, &tensor, session.seed);
        let mut text = found.text(tensor.symmetric().is_some());
        if let Some(path) = &self.output {
            save(path, &found, &value)?;
            text += &format!("components written to {} in {seconds:.1} s\n", path.display());
            value["output"] = json!(path.to_string_lossy());
        }
        value["seconds"] = json!(seconds);
        session.answer(&text, &value)?;
        if found.weights.iter().all(|weight| weight.abs() < f64::MIN_POSITIVE) {
            session.warn("nothing was found: every weight is 0, as those of a tensor without entries are");
        }
        if !found.trace.converged {
            session.warn(&format!(
                "{} did not converge in {} iterations: the components may be wrong; allow more, or try another solver",
                found.solver, found.trace.iterations
            ));
            if self.strict {
                return Err(exit::not_converged());
            }
        }
        Ok(())
    }

    fn chosen_solver(&self) -> Result<Solver> {
        let solver = self.solver.solver()?;
        let Solver::Online(mut online) = solver else {
            let given = [
                ("--update", self.update.is_some()),
                ("--objective", self.objective.is_some()),
                ("--steps", self.steps.is_some()),
            ];
            refuse(&given, "a solver other than online")?;
            return Ok(solver);
        };
        let update = self.update.unwrap_or(match self.objective {
            Some(_) => UpdateName::Sphere,
            None => UpdateName::Retraction,
        });
        if update != UpdateName::Sphere {
            refuse(&[("--objective", self.objective.is_some())], "an update other than sphere")?;
        }
        online.update = match update {
            UpdateName::Retraction => Update::Retraction,
            UpdateName::Sphere => Update::Sphere(match self.objective {
                Some(ObjectiveName::One) => Objective::OneComponent,
                Some(ObjectiveName::Reconstruction) | None => Objective::Reconstruction,
                Some(ObjectiveName::Decorrelation) => Objective::Decorrelation,
            }),
            UpdateName::Stgd => Update::Stgd { theta: 1.0 },
        };
        if update != UpdateName::Retraction && self.solver.rate.is_none() {
            online.rate = GRADIENT_RATE;
        }
        online.max_steps = self.steps.unwrap_or(online.max_steps);
        Ok(Solver::Online(online))
    }

    fn decompose(
        &self,
        tensor: &Tensor,
        solver: &Solver,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Found> {
        let steps = if let Solver::Online(online) = solver { online.max_steps as u64 } else { 0 };
        progress.stage("decomposing", steps);
        if let Tensor::Dense(dense) = tensor {
            let k = dense_k(self.k, dense.shape)?;
            let found = self.solver.als().decompose_dense(dense, k, seed, progress)?;
            let factors = ["factors_1", "factors_2", "factors_3"].into_iter().zip(found.factors).collect();
            let (weights, trace, residual) = (found.weights, found.trace, Some(found.residual));
            return Ok(Found { weights, factors, trace, residual, solver: "als" });
        }
        let symmetric = tensor.symmetric().expect("only a dense tensor has no symmetry");
        let found = solver.decompose(symmetric, self.k.unwrap_or(symmetric.dim()), seed, progress)?;
        let cp = tensor.own_components(found.cp);
        let residual = tensor.residual(&cp)?;
        let factors = vec![("factors", cp.factors)];
        Ok(Found { weights: cp.weights, factors, trace: found.trace, residual, solver: solver.name() })
    }

    fn json(&self, found: &Found, tensor: &Tensor, seed: u64) -> Value {
        json!({
            "tensor": tensor.describe(),
            "order": tensor.order(),
            "symmetric": tensor.symmetric().is_some(),
            "solver": found.solver,
            "seed": seed,
            "k": found.weights.len(),
            "weights": found.weights,
            "residual": found.residual,
            "fit": found.residual.map(|r| 1.0 - r * r),
            "iterations": found.trace.iterations,
            "eigen_residual": found.trace.residual(),
            "agreement": found.trace.agreement(),
            "converged": found.trace.converged,
        })
    }
}

/// The number of components of a tensor without symmetry: its smallest side when none is given, its largest possible
/// rank at most.
fn dense_k(asked: Option<usize>, shape: [usize; 3]) -> Result<usize> {
    let mut sides = shape;
    sides.sort_unstable();
    let most = sides[0].saturating_mul(sides[1]);
    match asked {
        None => Ok(sides[0]),
        Some(k) if k <= most => Ok(k),
        Some(k) => Err(exit::usage(format!(
            "{k} components of a tensor of shape {shape:?} are more than any such tensor has; ask for at most {most}, \
             the product of the two smaller sides"
        ))),
    }
}

/// Components that are printed; the rest is in the file or in the JSON.
const SHOWN: usize = 20;

impl Found {
    fn text(&self, symmetric: bool) -> String {
        let trace = &self.trace;
        let ending = if trace.converged { "converged" } else { "NOT CONVERGED" };
        let mut text = format!(
            "{} components by {}, {} iteration{}: {ending}\n",
            self.weights.len(),
            self.solver,
            trace.iterations,
            if trace.iterations == 1 { "" } else { "s" },
        );
        if let Some(r) = self.residual {
            let fit = 100.0 * (1.0 - r * r);
            // The residual is the root of a difference of squares: below the root of rounding it is noise.
            let r = if r < 1e-7 { "below 1e-7".to_owned() } else { format!("= {r:.1e}") };
            text += &format!("fit {fit:.4} % of the squared norm, residual ‖T − T̂‖/‖T‖ {r}\n");
            // A tenth of the norm left over is more than noise usually leaves.
            if symmetric && fit < 99.0 && self.solver != "als" {
                text += "  the components are probably not orthogonal: try --solver als, or more of them\n";
            }
        }
        text += "component        weight\n";
        for (i, weight) in self.weights.iter().enumerate().take(SHOWN) {
            text += &format!("{:>9}  {weight:>12.6}\n", i + 1);
        }
        if self.weights.len() > SHOWN {
            text += &format!("   … and {} more (all with --json or -o)\n", self.weights.len() - SHOWN);
        }
        text
    }
}

fn save(path: &Path, found: &Found, metadata: &Value) -> tenfold::Result<()> {
    let mut file = ModelFile::new("tensor", metadata.clone());
    file.insert_vector("weights", &found.weights);
    found.factors.iter().for_each(|(name, factor)| file.insert_matrix(name, factor));
    file.save(path)
}
