//! From parameters and a graph to a model.

use super::chance::confirmed;
use super::choices::{Polish, Treatment, Views};
use super::connectivity::connectivity;
use super::data::{Graph, Kind};
use super::estimate::Estimate;
use super::level::{Level, stars_of};
use super::model::{Diagnostics, Model, Parts};
use super::moments::{Stars, product};
use super::polish::{Best, Patience, climb_best, memberships};
use super::spectrum::{Counted, Search, count, directions, laplacian};
use super::{assign, kmeans, partition};
use crate::checkpoint::{identify, stage_on};
use crate::components::Components;
use crate::error::{Error, Result, check_fitted};
use crate::verdict::Verdict;
use std::time::Instant;
use tenfold_engine::decompose::{Polar, Solver};
use tenfold_engine::device::Device;
use tenfold_engine::linalg::{Tall, TallEigen};
use tenfold_engine::progress::{Progress, Silent};

/// How to fit; all fields are public and have defaults.
///
/// # Example
/// ```
/// use tenfold::communities::{Params, Polish};
/// let params = Params { polish: Polish::None, seed: 7, ..Params::new(10) };
/// assert_eq!(params.alpha0, 1.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Number of communities.
    pub k: Components,
    /// Σα that the moments assume: 0 for nodes of a single community, larger for more mixed ones.
    pub alpha0: f64,
    /// How edges are turned into samples.
    pub views: Views,
    /// What an edge says.
    pub treatment: Treatment,
    /// What follows the moments in a sparse graph.
    pub polish: Polish,
    /// Most iterations of the polish; `None` takes 200 in small graphs, 40 down to 8 in large ones.
    pub iterations: Option<usize>,
    /// How the tensor is decomposed.
    pub solver: Solver,
    /// Who multiplies the graph; a device that is required also contracts the tensor over the nodes, which is then not formed.
    pub device: Device,
    /// Same seed, same bytes.
    pub seed: u64,
}

/// Share of joined pairs from which a graph is dense: from there on the Poisson law, whose variance is p where an edge's is
/// p(1 − p), misleads inside communities, and climbing its likelihood made memberships worse. Overlapping communities with a share of
/// 0.06 were still found far better by likelihood.
const DENSE: f64 = 0.08;

impl Params {
    /// The defaults for `k` communities, or for [`Components::Auto`].
    pub fn new(k: impl Into<Components>) -> Self {
        Self {
            k: k.into(),
            alpha0: 1.0,
            views: Views::All,
            treatment: Treatment::Auto,
            polish: Polish::Likelihood,
            iterations: None,
            solver: Solver::Polar(Polar {
                tolerance: 1e-6,
                fit_tolerance: 1e-5,
                restarts: 3,
                ..Polar::default()
            }),
            device: Device::default(),
            seed: 0,
        }
    }

    fn search<'a>(&'a self, progress: &'a dyn Progress) -> Search<'a> {
        Search { seed: self.seed, device: &self.device, progress }
    }

    /// Learns communities from a graph.
    ///
    /// # Complexity
    /// 10 to 20 products of the adjacency matrix with at most 56 columns at a time for the directions, three with k for
    /// the moments, and 4·edges·k operations an iteration of the polish.
    ///
    /// # Errors
    /// A graph without edges, fewer nodes than communities, parameters out of range.
    pub fn fit(&self, graph: &Graph) -> Result<Model> {
        self.fit_with(graph, &Silent)
    }

    /// [`Params::fit`] with a listener that may stop it.
    ///
    /// # Errors
    /// As [`Params::fit`], and when the listener stops the run.
    pub fn fit_with(&self, graph: &Graph, progress: &dyn Progress) -> Result<Model> {
        self.check(graph)?;
        identify(progress, "communities", self, |digest| graph.identify(digest))?;
        let mut verdict = Verdict::default();
        graph.notes().iter().for_each(|note| verdict.note(note.clone()));
        let mut stages = Stages::begin();
        let counted = match self.k {
            Components::Exactly(_) => None,
            Components::Auto => {
                let counted = |progress: &dyn Progress| count(graph, self.search(progress));
                Some(stage_on(&self.device, progress, "k", counted)?)
            }
        };
        let k = match (self.k, &counted) {
            (Components::Exactly(k), _) => k,
            (_, counted) => counted.as_ref().map_or(1, Counted::choice),
        };
        stages.end("choosing k");
        let symmetric = graph.transposed().is_none();
        let level = Level::of(graph);
        let stars = level.stars(graph);
        let found = stage_on(&self.device, progress, "directions", |progress| {
            directions(stars, symmetric, k, self.search(progress))
        })?;
        stages.end("directions");
        let confirmed = confirmed(graph, k, self.search(progress))?;
        stages.end("chance");
        progress.stage("gathering moments", 0);
        let estimate = stage_on(&self.device, progress, "moments", |progress| match self.views {
            Views::All => self.estimate(stars, &found, k, progress),
            Views::Partition(rounds) => {
                if !self.device.is_cpu() {
                    self.device.notice("the tensors of partitions were decomposed by the processor".into());
                }
                partition::estimate(self, graph, (stars, &found), rounds, progress)
            }
        })?;
        stages.end("moments and decomposition");
        let dense = self.is_dense(graph);
        let mut out = stage_on(&self.device, progress, "memberships", |progress| match dense {
            true => self.assign_dense(graph, stars, &estimate, progress),
            false => self.assign_sparse(stars_of(graph), &estimate, symmetric, progress),
        })?;
        stages.end("memberships");
        if self.alpha0 == 0.0 {
            assign::harden(&mut out.rows);
            out.columns.as_mut().map(assign::harden).unwrap_or_default();
        }
        assign::fill_strays(&mut out.rows, graph.adjacency());
        if let (Some(columns), Some(turned)) = (&mut out.columns, graph.transposed()) {
            assign::fill_strays(columns, turned);
        }
        self.finish(graph, Fitted { found, estimate, out, counted, dense, confirmed }, verdict, stages)
    }

    fn finish(
        &self,
        graph: &Graph,
        fitted: Fitted,
        mut verdict: Verdict,
        mut stages: Stages,
    ) -> Result<Model> {
        let Fitted { found, estimate, out, counted, dense, confirmed } = fitted;
        let connectivity = connectivity(graph, &out.rows, out.columns.as_ref());
        stages.end("connectivity");
        self.device.take_notices().into_iter().for_each(|notice| verdict.note(notice));
        let mut diagnostics = Diagnostics::new(graph, &found, &estimate, &out, counted.as_ref(), dense);
        diagnostics.confirmed = confirmed;
        let parts = Parts { out, connectivity, diagnostics, verdict };
        let model = Model::assemble(self, graph, parts, stages.seconds)?;
        let memberships = model.memberships().as_slice().iter().map(|x| f64::from(*x));
        check_fitted("communities", memberships.chain(model.connectivity().as_slice().iter().copied()))?;
        Ok(model)
    }

    /// Climbs the likelihood from memberships of one's own (nodes × k), in the place of those of the moments: for a start that is
    /// known to be good, or to see how good a fit could be.
    ///
    /// # Errors
    /// As [`Params::fit`]; memberships of other nodes.
    pub fn refine(&self, graph: &Graph, start: &Tall) -> Result<Model> {
        self.check(graph)?;
        if start.rows() != graph.nodes() {
            return Err(Error::WrongShape { what: "nodes", found: start.rows(), expected: graph.nodes() });
        }
        let most = graph.nodes().min(graph.others()).min(MOST_COMMUNITIES);
        if !(1..=most).contains(&start.width()) {
            return Err(Error::WrongShape { what: "communities", found: start.width(), expected: most });
        }
        let symmetric = graph.transposed().is_none();
        let level = Level::of(graph);
        let found = directions(level.stars(graph), symmetric, start.width(), self.search(&Silent))?;
        let estimate = self.estimate(level.stars(graph), &found, start.width(), &Silent)?;
        let stars = stars_of(graph);
        let patience = self.patience(stars, start.width());
        let out = polished(stars, std::slice::from_ref(start), symmetric, patience, &Silent)?;
        self.finish(
            graph,
            Fitted { found, estimate, out, counted: None, dense: false, confirmed: None },
            Verdict::default(),
            Stages::begin(),
        )
    }

    fn check(&self, graph: &Graph) -> Result<()> {
        let bad = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        if !(self.alpha0 >= 0.0 && self.alpha0.is_finite()) {
            return bad("alpha0", self.alpha0.to_string(), "a number from 0 on");
        }
        if graph.edges() == 0 {
            let message = format!("the {} nodes have no edges between them", graph.nodes());
            return Err(tenfold_engine::Error::TooLittleData(message).into());
        }
        match self.k {
            Components::Exactly(0) => bad("k", "0".into(), "at least one community"),
            Components::Exactly(k) if k > graph.nodes().min(graph.others()) => {
                let most = graph.nodes().min(graph.others());
                let why = "the number of nodes";
                Err(tenfold_engine::Error::TooManyComponents { asked: k, most, why }.into())
            }
            Components::Exactly(k) if k > MOST_COMMUNITIES => {
                let (most, why) = (MOST_COMMUNITIES, "the size of the tensor");
                Err(tenfold_engine::Error::TooManyComponents { asked: k, most, why }.into())
            }
            _ => Ok(()),
        }
    }

    fn is_dense(&self, graph: &Graph) -> bool {
        match self.treatment {
            Treatment::Auto => graph.density() > DENSE && !graph.weighted(),
            Treatment::Dense => true,
            Treatment::Sparse => false,
        }
    }

    /// Moments and their decomposition, from directions of the leaves.
    pub(super) fn estimate(
        &self,
        stars: Stars<'_>,
        found: &TallEigen,
        k: usize,
        progress: &dyn Progress,
    ) -> Result<Estimate> {
        let seen = stars.seen(&found.vectors);
        let white = seen.whiten(self.alpha0, k)?;
        if white.matrix.cols() == 0 {
            return Ok(Estimate::of_one(seen, white.spectrum));
        }
        let triples = stars.triples(&found.vectors, &seen, &white);
        progress.stage("decomposing", 0);
        let (terms, k) = (triples.terms(), white.matrix.cols());
        let held = if self.device.is_required() { self.device.held(&terms)? } else { None };
        let decomposition = match held {
            Some(held) => self.solver.decompose(held.as_ref(), k, self.seed, progress)?,
            None => self.solver.decompose(&triples.formed()?, k, self.seed, progress)?,
        };
        Ok(Estimate::new(seen, &white, decomposition))
    }

    fn assign_dense(
        &self,
        graph: &Graph,
        stars: Stars<'_>,
        estimate: &Estimate,
        progress: &dyn Progress,
    ) -> Result<Assigned> {
        progress.stage("solving for memberships", 0);
        let shares = by_squares(stars, estimate)?;
        let rows = if self.alpha0 == 0.0 && graph.kind() == Kind::Undirected {
            assign::blocks(stars.hubs, &shares)
        } else {
            shares
        };
        let columns = match graph.kind() {
            Kind::Undirected => None,
            _ => Some(self.other_side(graph, stars, &rows, progress)?),
        };
        Ok(Assigned { rows, columns, polished: None })
    }

    /// Memberships of the leaves, by taking them for hubs: the moments of the turned graph have communities in an order of their own,
    /// which is brought to that of `rows` by where the edges go.
    fn other_side(
        &self,
        graph: &Graph,
        stars: Stars<'_>,
        rows: &Tall,
        progress: &dyn Progress,
    ) -> Result<Tall> {
        let turned = Stars { hubs: stars.leaves, leaves: stars.hubs };
        let k = rows.width();
        let found = directions(turned, false, k, self.search(progress))?;
        let shares = match self.estimate(turned, &found, k, progress) {
            Ok(estimate) => by_squares(turned, &estimate)?,
            // Leaves of a single hub each have no pairs of their own.
            Err(Error::Engine(tenfold_engine::Error::TooLittleData(_))) => {
                return Ok(spread_to_leaves(stars, rows));
            }
            Err(other) => return Err(other),
        };
        if shares.width() != k {
            return Ok(spread_to_leaves(stars, rows));
        }
        let order = tenfold_engine::linalg::assign(&connectivity(graph, rows, Some(&shares)));
        let mut out = Tall::zeros(shares.rows(), k);
        for (v, row) in out.as_mut_slice().chunks_exact_mut(k).enumerate() {
            row.iter_mut().zip(&order).for_each(|(x, &c)| *x = shares.row(v)[c]);
        }
        Ok(out)
    }

    fn assign_sparse(
        &self,
        stars: Stars<'_>,
        estimate: &Estimate,
        symmetric: bool,
        progress: &dyn Progress,
    ) -> Result<Assigned> {
        let clipped = assign::clipped(&estimate.seen.sums, &estimate.corners)?;
        let k = clipped.width();
        let more = spare_starts(stars, k);
        let patience = self.patience(stars, k);
        if self.polish == Polish::None || patience.most == 0 {
            let columns = (!symmetric).then(|| spread_to_leaves(stars, &clipped));
            return Ok(Assigned { rows: clipped, columns, polished: None });
        }
        let mut starts = vec![clipped];
        if more > 0 {
            let directions = stage_on(&self.device, progress, "starts", |progress| {
                laplacian(stars, symmetric, k, self.search(progress))
            })?;
            let seeds = (0..more as u64).map(|i| self.seed.wrapping_add(i));
            starts.extend(seeds.map(|seed| kmeans::cluster(&directions, k, seed)));
        }
        polished(stars, &starts, symmetric, patience, progress)
    }

    fn patience(&self, stars: Stars<'_>, k: usize) -> Patience {
        let small = spare_starts(stars, k) > 0;
        let usual = if small { Patience::SMALL } else { Patience::large(work(stars, k)) };
        Patience { most: self.iterations.unwrap_or(usual.most), ..usual }
    }
}

/// Memberships of the hubs on the simplex.
fn by_squares(stars: Stars<'_>, estimate: &Estimate) -> Result<Tall> {
    let m = stars.leaves.rows().max(2) as f64;
    let strengths = stars.hubs.strengths();
    let density = |u: usize| (strengths[u] / (m - 1.0)).clamp(0.0, 1.0);
    assign::on_simplex(&estimate.seen.sums, &estimate.corners, density)
}

/// Memberships from the best of the starts.
fn polished(
    stars: Stars<'_>,
    starts: &[Tall],
    symmetric: bool,
    patience: Patience,
    progress: &dyn Progress,
) -> Result<Assigned> {
    let best = climb_best(stars, starts, symmetric, patience, progress)?;
    let k = starts[0].width();
    let rows = memberships(&best.climbed.counts.rows, k);
    let columns = best.climbed.counts.columns.as_ref().map(|c| memberships(c, k));
    Ok(Assigned { rows, columns, polished: Some(best) })
}

/// Most communities that are looked for: the tensor holds k³/6 numbers.
const MOST_COMMUNITIES: usize = 1000;

/// What the stages of a fit leave.
struct Fitted {
    found: TallEigen,
    estimate: Estimate,
    out: Assigned,
    counted: Option<Counted>,
    dense: bool,
    /// What edges kept aside say, in standard errors.
    confirmed: Option<f64>,
}

/// Edges times communities, seen from both ends, that starts besides the moments' may take together: where there are many edges the
/// moments are exact, and another start would cost more than it has ever given.
const SPARE_WORK: f64 = 5e7;

/// Most starts from clustered directions: in small graphs they end at likelihoods that differ, and the best is the best of many.
const MOST_CLUSTERED: usize = 8;

/// How many starts besides the moments' a graph is small enough for.
fn spare_starts(stars: Stars<'_>, k: usize) -> usize {
    spare_starts_of(work(stars, k))
}

/// The same by what an iteration costs.
pub(super) fn spare_starts_of(work: f64) -> usize {
    ((SPARE_WORK / work.max(1.0)) as usize).min(MOST_CLUSTERED)
}

/// What one iteration of the polish costs: entries times communities.
fn work(stars: Stars<'_>, k: usize) -> f64 {
    stars.hubs.entries() as f64 * k as f64
}

/// Memberships of the nodes, and of the other side where there is one.
pub(super) struct Assigned {
    pub rows: Tall,
    pub columns: Option<Tall>,
    pub polished: Option<Best>,
}

crate::checkpoint::keep! { Assigned { rows, columns, polished } }

/// The other side by its neighbours: the mean of their memberships.
fn spread_to_leaves(stars: Stars<'_>, rows: &Tall) -> Tall {
    let mixed = product(stars.leaves, rows);
    memberships(&mixed, rows.width())
}

/// Seconds by stage.
struct Stages {
    last: Instant,
    seconds: Vec<(String, f64)>,
}

impl Stages {
    fn begin() -> Self {
        Self { last: Instant::now(), seconds: Vec::new() }
    }

    fn end(&mut self, stage: &str) {
        self.seconds.push((stage.to_owned(), self.last.elapsed().as_secs_f64()));
        self.last = Instant::now();
    }
}
