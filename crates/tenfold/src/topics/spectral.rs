//! The method of moments: from counts to topics, without a likelihood.

use super::moments::{Documents, Offloaded, Projected, SecondMoment, Weighted, Whitened, project, whiten};
use super::white::WhiteRows;
use crate::checkpoint::stage_on;
use crate::error::Result;
use tenfold_engine::decompose::{Decomposition, Polar, Solver};
use tenfold_engine::device::Device;
use tenfold_engine::linalg::{self, Mat, RangeFinder, SymmetricOperator};
use tenfold_engine::progress::Progress;

/// The widest basis in which triples are formed: a tensor of 160³/6 numbers, whose decomposition then costs nothing.
/// Beyond it every iteration passes over the projected documents instead.
pub(super) const WIDEST_FORMED: usize = 160;

/// Words take part in the moments when they occur in at least this many documents and at most this share of them.
pub(super) const RAREST: u32 = 3;
pub(super) const COMMONEST: f64 = 0.5;

/// How topics are sought; what fit, update and the choice of k share.
pub(super) struct Search<'a> {
    pub alpha0: f64,
    pub solver: &'a Solver,
    pub seed: u64,
    pub device: &'a Device,
    pub progress: &'a dyn Progress,
}

/// Topics as the moments see them.
pub(super) struct Estimate {
    /// k × words; rows sum to 1.
    pub topics: Mat,
    /// α_i/α0 of every topic.
    pub shares: Vec<f64>,
    pub found: Decomposition,
    pub white: Whitened,
    /// Share of every topic's mass that was negative and clipped.
    pub negative: Vec<f64>,
}

/// Directions kept beyond k, so that documents added later may turn the topics: an eighth, at least eight.
pub(super) fn basis_width(k: usize, words: usize) -> usize {
    let k = k.min(words);
    (k + (k / 8).max(8)).next_multiple_of(8).min(words)
}

/// Which words take part in the moments. When the usual limits leave too few for k topics, all that occur do.
pub(super) fn active_words(frequencies: &[u32], documents: usize, k: usize) -> Vec<bool> {
    let most = (COMMONEST * documents as f64) as u32;
    let usual: Vec<bool> = frequencies.iter().map(|&f| f >= RAREST && f <= most).collect();
    if usual.iter().filter(|a| **a).count() >= 4 * k.max(4) {
        return usual;
    }
    frequencies.iter().map(|&f| f > 0).collect()
}

/// Corpora from which the first passes over a part of the documents are good enough.
const ENOUGH_DOCUMENTS: usize = 32_768;

/// Directions sought beyond the basis. On KOS a third of its width more changed held-out perplexity by 0.1 % and cost a tenth
/// of the fit.
pub const OVERSAMPLE: usize = 16;

/// The leading directions of M2, as many as `width`, scaled to be a basis for projections.
pub(super) fn find_basis(
    weighted: &Weighted<'_>,
    scale: &[f64],
    width: usize,
    search: &Search<'_>,
) -> Result<Mat> {
    let counts = weighted.counts;
    // The basis is wider than k already, so what the passes leave wrong in its last directions hardly reaches a topic.
    let finder = RangeFinder { seed: search.seed, oversample: Some(OVERSAMPLE), ..RangeFinder::default() };
    let (alpha0, progress) = (search.alpha0, search.progress);
    // Early products only turn the directions: the more there are documents, the fewer of them that takes.
    let usable = counts.rows() / ENOUGH_DOCUMENTS;
    let strides: &[usize] = if usable >= 8 { &[8, 4, 2] } else { &[1, 1] };
    let parts: Result<Vec<Weighted<'_>>> = (strides.iter().filter(|s| **s > 1))
        .map(|&s| weighted.part(|block| block.is_multiple_of(s), progress))
        .collect();
    let parts = parts?;
    let operator = |weighted| SecondMoment { weighted, scale, alpha0, progress };
    let rough: Vec<SecondMoment<'_>> = parts.iter().map(operator).collect();
    let whole = whole_moment(operator(weighted), search.device)?;
    let whole = whole.as_ref();
    let passes: usize = strides.iter().map(|s| counts.blocks() / s).sum::<usize>() + counts.blocks();
    progress.stage("finding directions", passes as u64);
    let mut before: Vec<&dyn SymmetricOperator> = rough.iter().map(|r| r as &dyn SymmetricOperator).collect();
    before.resize(strides.len(), whole);
    let k = width.min(whole.dim());
    let mut basis = finder.basis(&before, whole, k)?;
    basis.scale_rows(scale);
    // What a model file keeps in single precision must be what the moments were gathered with.
    Ok(basis.map(|x| f64::from(x as f32)))
}

/// M2 of all documents, with its products where they were asked for.
fn whole_moment<'a>(moment: SecondMoment<'a>, device: &Device) -> Result<Box<dyn SymmetricOperator + 'a>> {
    if moment.weighted.counts.elsewhere().is_none()
        && let Some(pairs) = device.gram(Box::new(Documents::new(&moment)))?
    {
        return Ok(Box::new(Offloaded { moment, pairs }));
    }
    Ok(Box::new(moment))
}

/// Gathers moments in the basis: triples too when their tensor is small enough to be formed, and no device was asked for that goes
/// over the documents instead.
pub(super) fn gather(weighted: &Weighted<'_>, basis: Mat, search: &Search<'_>) -> Result<Projected> {
    search.progress.stage("gathering moments", weighted.chosen.len() as u64);
    let formed = basis.cols() <= WIDEST_FORMED && !search.device.is_required();
    project(weighted, basis, formed, search.progress)
}

/// The topics of k components from projected moments; `weighted` is needed where triples were not formed.
pub(super) fn solve(
    moments: &Projected,
    weighted: Option<&Weighted<'_>>,
    k: usize,
    search: &Search<'_>,
) -> Result<Estimate> {
    let white = whiten(moments, search.alpha0, k)?;
    let found = stage_on(search.device, search.progress, "decomposition", |progress| {
        let search = &Search { progress, ..*search };
        decomposed(moments, weighted, &white, search)
    })?;
    Ok(Estimate::new(moments, white, found))
}

fn decomposed(
    moments: &Projected,
    weighted: Option<&Weighted<'_>>,
    white: &Whitened,
    search: &Search<'_>,
) -> Result<Decomposition> {
    let progress = search.progress;
    Ok(match (&moments.third, weighted) {
        (Some(triples), _) => {
            let tensor = white.third(triples, moments.weight)?;
            progress.stage("decomposing", 0);
            search.solver.decompose(&tensor, white.k(), search.seed, progress)?
        }
        (None, Some(weighted)) => {
            progress.stage("projecting documents", weighted.chosen.len() as u64);
            let rows = WhiteRows::project(weighted, moments, white, progress)?;
            progress.stage("decomposing", 0);
            let solver = if *search.solver == usual_solver() { one_start() } else { search.solver.clone() };
            match rows.held(white, search.device)? {
                Some(held) => solver.decompose(held.as_ref(), white.k(), search.seed, progress)?,
                None => solver.decompose(&rows.tensor(white), white.k(), search.seed, progress)?,
            }
        }
        (None, None) => unreachable!("without triples the documents are at hand"),
    })
}

/// Moments carry sampling noise far above these tolerances; two starts tell whether the answer depends on the start.
pub(super) fn usual_solver() -> Solver {
    Solver::Polar(Polar { tolerance: 1e-4, fit_tolerance: 1e-3, restarts: 2, ..Polar::default() })
}

/// [`usual_solver`] where every iteration passes over the projected documents: from the slice the fit stands still after some
/// fifteen, and a second start would take half of the whole time.
fn one_start() -> Solver {
    Solver::Polar(Polar { tolerance: 1e-4, fit_tolerance: 1e-3, restarts: 1, max_iterations: 25 })
}

/// [`solve`] for moments that few documents were added to, from where the components lay before: those that the data hardly
/// determine could otherwise come out as others from another start, and one document would seem to change them.
pub(super) fn solve_again(moments: &Projected, before: &Estimate, search: &Search<'_>) -> Result<Estimate> {
    let white = whiten(moments, search.alpha0, before.white.k())?;
    let (Some(triples), Solver::Polar(polar), true) =
        (&moments.third, search.solver, white.k() == before.white.k())
    else {
        return solve(moments, None, before.white.k(), search);
    };
    let start = linalg::polar(&white.way_to(&before.white).tr_matmul(&before.found.cp.factors))?;
    let tensor = white.third(triples, moments.weight)?;
    search.progress.stage("decomposing", 0);
    let found = polar.from_start(&tensor, start, search.progress)?;
    Ok(Estimate::new(moments, white, found))
}

impl Estimate {
    fn new(moments: &Projected, white: Whitened, found: Decomposition) -> Self {
        let shares = white.shares(&found.cp.weights);
        let raw = white.topics(moments, &found.cp);
        let (topics, negative) = clip(&raw, &moments.first);
        Self { topics, shares, found, white, negative }
    }
}

/// Rows on the simplex from columns with negative parts: clipped and divided by their sum. A column with nothing positive
/// becomes the corpus's word frequencies.
fn clip(raw: &Mat, first: &[f64]) -> (Mat, Vec<f64>) {
    let mut topics = raw.transpose();
    let total: f64 = first.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let mut negative = Vec::with_capacity(topics.rows());
    for t in 0..topics.rows() {
        let row = topics.row_mut(t);
        let (mut plus, mut minus) = (0.0, 0.0);
        row.iter().for_each(|x| if *x > 0.0 { plus += x } else { minus -= x });
        if plus < minus {
            row.iter_mut().for_each(|x| *x = -*x);
            std::mem::swap(&mut plus, &mut minus);
        }
        negative.push(minus / (plus + minus).max(f64::MIN_POSITIVE));
        if plus > 0.0 {
            row.iter_mut().for_each(|x| *x = x.max(0.0) / plus);
        } else {
            row.iter_mut().zip(first).for_each(|(x, f)| *x = f / total);
        }
    }
    (topics, negative)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_are_formed_up_to_143_topics() {
        // What the help of `topics update` and an error say.
        assert_eq!((basis_width(143, 1000), basis_width(144, 1000)), (WIDEST_FORMED, 168));
        assert_eq!((basis_width(8, 1000), basis_width(50, 1000), basis_width(5, 9)), (16, 64, 9));
    }
}
