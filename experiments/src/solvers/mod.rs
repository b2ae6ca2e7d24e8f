//! Every solver on the same whitened k × k × k tensors of a topic model, as math.md section 0 measured them.
//!
//! Each seed draws its own corpus; the solvers see the same tensor (online: the same documents). Seeds are shared
//! out over the cores and each runs on one thread, so that seconds compare solvers and not schedulers.

mod corpus;

use crate::report::{Page, mean, median, percent};
use crate::{Outcome, Request};
use corpus::{Lda, Whitened};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tenfold::engine::decompose::{
    Als, Decomposition, Minibatches, Online, Polar, Power, Rate, Simultaneous, Solver, Update,
};
use tenfold::engine::linalg::parallel;
use tenfold::engine::progress::Silent;
use tenfold::engine::tensor::Tensor3;
use tenfold::engine::{Error, Result};

/// Corpora for every k.
const SEEDS: u64 = 20;
/// Corpora, others than those, on which the rate of plain STGD is chosen.
const SEARCH_SEEDS: u64 = 2;
/// A component is found when a column of its own lies within this distance: an angle of 11°.
const FOUND: f64 = 0.2;
/// Rates of plain STGD, in units of one over the mean weight.
const STGD_RATES: [f64; 4] = [0.03, 0.1, 0.3, 1.0];
/// Documents in a batch of the online solver, and passes over all of them.
const BATCH: usize = 200;
const EPOCHS: usize = 3;

/// The corpora of one k.
fn lda(k: usize) -> Lda {
    // Enough documents for errors of a few percent, and weights that differ by √3.
    Lda { k, words: 500, documents: 200 * k, length: 100, alpha0: 1.0, spread: 3.0 }
}

/// Steps of plain STGD: until it stands nearly still, where that takes no minutes.
fn stgd_steps(k: usize) -> usize {
    if k <= 50 { 1000 } else { 300 }
}

/// Who is compared.
#[derive(Clone, Copy, PartialEq)]
enum Method {
    Polar,
    JacobiAll,
    Jacobi24,
    Power,
    Als { starts: usize },
    Online,
    Stgd { rate: f64 },
}

/// One solver on one tensor.
struct Measured {
    found: f64,
    error: f64,
    iterations: f64,
    /// 1 when the solver says so.
    converged: f64,
    /// Nothing for a single start.
    agreement: Option<f64>,
    seconds: f64,
}

impl Method {
    fn name(self) -> String {
        match self {
            Self::Polar => "polar, 3 starts".into(),
            Self::JacobiAll => "Jacobi, all k slices".into(),
            Self::Jacobi24 => "Jacobi, 24 slices".into(),
            Self::Power => "power with deflation".into(),
            Self::Als { starts: 1 } => "ALS from a slice".into(),
            Self::Als { starts } => format!("ALS, {starts} starts"),
            Self::Online => "online with retraction, 3 epochs".into(),
            Self::Stgd { rate } => format!("plain STGD, exact gradient, rate {rate}/λ"),
        }
    }

    fn measure(self, data: &Whitened, tensor: &Tensor3, seed: u64) -> Result<Measured> {
        let begin = Instant::now();
        let answer = self.solve(data, tensor, seed);
        let seconds = begin.elapsed().as_secs_f64();
        match answer {
            Ok(answer) => {
                let matched = answer.cp.match_to(&data.truth);
                Ok(Measured {
                    found: matched.found(FOUND),
                    error: mean(&matched.errors),
                    iterations: answer.trace.iterations as f64,
                    converged: f64::from(u8::from(answer.trace.converged)),
                    agreement: answer.trace.agreement(),
                    seconds,
                })
            }
            // Steps that blow up find nothing; a column that points anywhere else is at a right angle.
            Err(Error::NoConvergence(_)) => Ok(Measured {
                found: 0.0,
                error: std::f64::consts::SQRT_2,
                iterations: stgd_steps(tensor.dim()) as f64,
                converged: 0.0,
                agreement: None,
                seconds,
            }),
            Err(other) => Err(other),
        }
    }

    fn solve(self, data: &Whitened, tensor: &Tensor3, seed: u64) -> Result<Decomposition> {
        let k = tensor.dim();
        let solver = match self {
            Self::Polar => Solver::Polar(Polar::default()),
            Self::JacobiAll => {
                Solver::Simultaneous(Simultaneous { slices: Some(k), ..Simultaneous::default() })
            }
            Self::Jacobi24 => Solver::Simultaneous(Simultaneous::default()),
            // Five starts a component keep the largest k within minutes.
            Self::Power => Solver::Power(Power { restarts: 5, ..Power::default() }),
            // Moves below 1e-7 are rounding at these sizes.
            Self::Als { starts } => {
                Solver::Als(Als { restarts: starts, max_iterations: 100, tolerance: 1e-7 })
            }
            Self::Online => {
                let mut batches = Minibatches::new(&data.samples, 3, BATCH, EPOCHS, seed)
                    .shifted(data.scale(), data.shifts());
                return Online::default().run(&mut batches, k, k, seed, &Silent);
            }
            Self::Stgd { rate } => {
                // θ = mean weight makes columns of about unit length stationary: the best case for the method.
                let theta = mean(&data.truth.weights);
                Solver::Online(Online {
                    update: Update::Stgd { theta },
                    rate: Rate::Constant(rate / theta),
                    max_steps: stgd_steps(k),
                    ..Online::default()
                })
            }
        };
        solver.decompose(tensor, k, seed, &Silent)
    }
}

/// All methods on the corpora `seeds`; a list a seed, in order.
fn measure_all(k: usize, methods: &[Method], seeds: std::ops::Range<u64>) -> Result<Vec<Vec<Measured>>> {
    let next = AtomicU64::new(seeds.start);
    let done = Mutex::new(Vec::new());
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= seeds.end {
            break;
        }
        let measured = parallel::with_threads(1, || {
            let data = lda(k).draw(seed)?.whiten()?;
            let tensor = data.tensor()?;
            methods.iter().map(|m| m.measure(&data, &tensor, seed)).collect::<Result<Vec<_>>>()
        });
        eprintln!("solvers: k = {k}, corpus {seed}");
        done.lock().expect("no worker panics while it holds this").push((seed, measured));
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    let mut done = done.into_inner().expect("no worker panicked");
    done.sort_by_key(|(seed, _)| *seed);
    done.into_iter().map(|(_, measured)| measured).collect()
}

/// The rate at which plain STGD finds most.
fn best_stgd(k: usize, seed: u64) -> Result<Method> {
    let tried = STGD_RATES.map(|rate| Method::Stgd { rate });
    let measured = measure_all(k, &tried, seed..seed + SEARCH_SEEDS)?;
    let share = |i: usize| mean(&measured.iter().map(|m| m[i].found).collect::<Vec<_>>());
    let best = (0..tried.len()).fold(0, |b, i| if share(i) > share(b) { i } else { b });
    Ok(tried[best])
}

/// All methods on all corpora of one k.
struct Table {
    k: usize,
    methods: Vec<Method>,
    measured: Vec<Vec<Measured>>,
}

impl Table {
    fn measure(k: usize, seed: u64) -> Result<Self> {
        let mut methods = vec![
            Method::Polar,
            Method::JacobiAll,
            Method::Jacobi24,
            Method::Power,
            Method::Als { starts: 1 },
            Method::Online,
            best_stgd(k, seed + 500)?,
        ];
        // From random starts ALS often runs to its last round: too dear for the largest tensors.
        if k <= 50 {
            methods.insert(5, Method::Als { starts: 3 });
        }
        let measured = measure_all(k, &methods, seed..seed + SEEDS)?;
        Ok(Self { k, methods, measured })
    }

    /// One number of one method over all corpora.
    fn over(&self, chosen: impl Fn(Method) -> bool, number: fn(&Measured) -> f64) -> Vec<f64> {
        let at = self.methods.iter().position(|m| chosen(*m)).expect("the method was measured");
        self.measured.iter().map(|m| number(&m[at])).collect()
    }

    /// Share of starts that agree, where there were several.
    fn agreement(&self, method: Method) -> Option<f64> {
        let at = self.methods.iter().position(|m| *m == method)?;
        let shares: Option<Vec<f64>> = self.measured.iter().map(|m| m[at].agreement).collect();
        shares.map(|s| mean(&s))
    }

    /// Mean error over polar's, less one.
    fn excess(&self, chosen: impl Fn(Method) -> bool) -> String {
        let polar = mean(&self.over(|m| m == Method::Polar, |m| m.error));
        format!("{:+.1} %", 100.0 * (mean(&self.over(chosen, |m| m.error)) / polar - 1.0))
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |&method: &Method| {
            let over = |number| self.over(|m| m == method, number);
            vec![
                method.name(),
                percent(mean(&over(|m| m.found))),
                format!("{:.4}", mean(&over(|m| m.error))),
                self.excess(|m| m == method),
                format!("{:.0}", mean(&over(|m| m.iterations))),
                percent(mean(&over(|m| m.converged))),
                self.agreement(method).map(percent).unwrap_or_default(),
                format!("{:.4}", median(&over(|m| m.seconds))),
            ]
        };
        self.methods.iter().map(row).collect()
    }

    /// What was measured for each of the published statements, in their order.
    fn claims(&self) -> [String; 8] {
        let polar = |m| m == Method::Polar;
        let dearer = median(&self.over(|m| m == Method::JacobiAll, |m| m.seconds))
            / median(&self.over(polar, |m| m.seconds / Polar::default().restarts as f64));
        [
            self.excess(|m| m == Method::JacobiAll),
            format!("{dearer:.1}×"),
            format!("{:.1}", mean(&self.over(polar, |m| m.iterations))),
            self.agreement(Method::Polar).map(percent).unwrap_or_default(),
            self.excess(|m| m == Method::Power),
            self.excess(|m| m == Method::Als { starts: 1 }),
            percent(mean(&self.over(|m| matches!(m, Method::Stgd { .. }), |m| m.found))),
            self.excess(|m| m == Method::Online),
        ]
    }
}

/// The statements of math.md section 0, in numpy prototypes, and what they say.
const CLAIMS: [[&str; 2]; 8] = [
    ["Jacobi's error against polar's", "equal to 3 digits"],
    ["Jacobi's seconds, in starts of polar", "20 to 100×"],
    ["polar's iterations", "6 to 11"],
    ["polar's starts that succeed", "every one"],
    ["power's error against polar's", "0 to 9 % worse"],
    ["ALS's error against polar's", "0 to 9 % worse"],
    ["components that plain STGD finds", "80 % at k = 10"],
    ["online's error against polar's, 3 epochs", "equal"],
];

/// Runs everything and writes the page `solvers.md`.
pub fn run(request: &Request) -> Outcome<()> {
    let mut page = Page::new("The solvers on whitened topic tensors");
    introduce(&mut page, request.seed);
    let measure = |k: usize| Table::measure(k, request.seed * 1000);
    let tables = [measure(10)?, measure(50)?, measure(100)?];
    page.section("Published and measured");
    let claims: Vec<Vec<String>> = (0..CLAIMS.len())
        .map(|i| {
            let measured = tables.iter().map(|t| t.claims()[i].clone());
            CLAIMS[i].map(str::to_owned).into_iter().chain(measured).collect()
        })
        .collect();
    page.table(&["what", "published", "k = 10", "k = 50", "k = 100"], &claims);
    for table in &tables {
        page.section(&format!("k = {}: {} documents", table.k, lda(table.k).documents));
        page.table(
            &[
                "solver",
                "found",
                "error",
                "against polar",
                "iterations",
                "converged",
                "starts agree",
                "seconds",
            ],
            &table.rows(),
        );
    }
    Ok(page.finish(&request.out, "solvers")?)
}

fn introduce(page: &mut Page, seed: u64) {
    let Lda { words, length, alpha0, spread, .. } = lda(10);
    page.say(&format!(
        "Made by `cargo run --release -p experiments --bin experiments -- solvers --seed {seed}`. Latent Dirichlet \
         allocation: {words} words, documents of {length} words, α₀ = {alpha0}, the most frequent topic {spread} times the \
         rarest; 200 documents a topic. Whitened by the corrected second moment; all solvers see the same corrected \
         third moment, the online one as batches of {BATCH} documents."
    ));
    page.say(&format!(
        "Means over {SEEDS} corpora. *found*: share of components with a column of their own within {FOUND} of the truth \
         (unit vectors, best one-to-one matching). *error*: mean distance over all components. *iterations*: of the start that was \
         kept; sweeps for Jacobi, steps of all components for power, batches for online. *converged*: share of the corpora on \
         which the solver says so. *starts agree*: share of the starts that reach the best Σλ². *seconds*: median, one thread, all starts."
    ));
}
