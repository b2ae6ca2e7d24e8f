//! Documents added to a model, and two models made one, without the old documents.

use super::data::Corpus;
use super::fit::usual_solver;
use super::model::{Model, Moments};
use super::moments::{Projected, SecondMoment, Weighted, project};
use super::spectral::{Estimate, Search, active_words, solve};
use super::statistics::Statistics;
use crate::admixture::Stepwise;
use crate::error::{Error, Result};
use crate::evaluate::total_variation;
use crate::verdict::Verdict;
use tenfold_engine::linalg::counts::all_blocks;
use tenfold_engine::linalg::{Mat, SymmetricOperator, assign, eigen_symmetric, orthonormalise, pinv, random};
use tenfold_engine::progress::Progress;

/// Energy outside the kept subspace, beyond that of the fit, from which a refit is advised.
const REFIT: f64 = 0.1;

/// What an update found.
#[derive(Debug, Clone, PartialEq)]
pub struct Updated {
    /// Documents that were added.
    pub documents: usize,
    /// Words that were added to the vocabulary.
    pub new_words: usize,
    /// Share of the new documents' second moment that lies outside the kept subspace.
    pub outside: f64,
    /// The same for the documents of the fit.
    pub outside_at_fit: f64,
    /// How far each topic moved: total variation.
    pub moved: Vec<f64>,
}

impl Updated {
    /// Whether the new documents hold more than the kept subspace can show.
    pub fn refit_is_due(&self) -> bool {
        self.outside > self.outside_at_fit + REFIT
    }

    pub(super) fn report(&self, verdict: &mut Verdict) {
        let (now, then) = (100.0 * self.outside, 100.0 * self.outside_at_fit);
        let message = format!(
            "{} documents added: {now:.0} % of their second moment lies outside the kept subspace ({then:.0} % of the fit's)",
            self.documents
        );
        if self.refit_is_due() {
            verdict.warn(format!("{message}: they hold themes the model cannot show, so a refit is due"));
        } else {
            verdict.note(message);
        }
    }
}

impl Model {
    /// Adds documents. Their moments join those the model keeps, exactly as if they had been there from the start as far
    /// as the kept subspace goes, which is wider than k by an eighth (at least eight directions); what falls outside is
    /// measured. Topics keep their numbers. The corpus has the model's vocabulary, and may have more words behind it.
    ///
    /// # Complexity
    /// One pass over the new documents for the moments and one for the polish, where the model had one.
    ///
    /// # Errors
    /// A model that keeps no moments; a vocabulary that does not begin with the model's; what the corpus or the listener
    /// says.
    pub fn update(&mut self, more: &Corpus, progress: &dyn Progress) -> Result<Updated> {
        self.check_vocabulary(more)?;
        let Some(mut moments) = self.moments.take() else { return Err(no_moments()) };
        let new_words = more.words() - self.words();
        self.grow(more, &mut moments);
        let search = Search { alpha0: moments.alpha0, solver: &usual_solver(), seed: self.seed(), progress };
        let before = solve(&moments.projected, None, self.k(), &search)?;
        let active: Vec<bool> = moments.scale.iter().map(|s| *s > 0.0).collect();
        let weighted = Weighted::new(more, moments.damping, all_blocks(more), &active, &|_| false)?
            .weigh(moments.cap)?;
        let outside = if weighted.documents >= 2 { outside(more, &moments, &search)? } else { 0.0 };
        progress.stage("gathering moments", weighted.chosen.len() as u64);
        let added = project(&weighted, moments.projected.basis.clone(), true, progress)?;
        moments.projected.add(&added);
        let after = solve(&moments.projected, None, self.k(), &search)?;
        let start = self.follow(&before, &after);
        let topics = match self.is_polished() {
            false => start.clone(),
            true => {
                let usual = Stepwise::for_documents(more.documents());
                let stepwise = Stepwise { epochs: 1, before: self.documents(), seed: self.seed(), ..usual };
                stepwise.run(more, &|_| false, &start, &vec![0.1; start.rows()], progress)?.topics
            }
        };
        let moved = (0..self.k()).map(|t| total_variation(self.topics().row(t), topics.row(t))).collect();
        let statistics = Statistics::gather(more, &topics, self.alpha(), progress)?;
        let outside_at_fit = moments.outside;
        let updated = Updated { documents: more.documents(), new_words, outside, outside_at_fit, moved };
        self.absorb(more, topics, statistics, moments, &updated)?;
        Ok(updated)
    }

    /// One model of the documents of both. The vocabularies are the same; topics keep this model's numbers. Exact when
    /// both keep the same subspace; otherwise each model's moments are seen through the directions the two share most of.
    ///
    /// # Errors
    /// A model that keeps no moments; different vocabularies or numbers of topics.
    pub fn merge(&self, other: &Self, progress: &dyn Progress) -> Result<Self> {
        if self.vocabulary() != other.vocabulary() {
            return Err(misfit("vocabulary", "another one", "two models of the same vocabulary"));
        }
        if self.k() != other.k() {
            return Err(misfit("k", &other.k().to_string(), &format!("{} as in the first model", self.k())));
        }
        let (Some(mine), Some(theirs)) = (&self.moments, &other.moments) else { return Err(no_moments()) };
        let mut moments = mine.clone();
        moments.projected = join(mine, theirs)?;
        let search = Search { alpha0: mine.alpha0, solver: &usual_solver(), seed: self.seed(), progress };
        let after = solve(&moments.projected, None, self.k(), &search)?;
        let mut merged = self.clone();
        merged.unite(other, &after, moments);
        Ok(merged)
    }

    fn check_vocabulary(&self, more: &Corpus) -> Result<()> {
        let same = more.words() >= self.words() && more.vocabulary()[..self.words()] == *self.vocabulary();
        if same {
            return Ok(());
        }
        Err(misfit("vocabulary", "another one", "the model's words, in its order, and new ones after them"))
    }

    /// Room for the words that are new: they take no part in the subspace, but have their place in the topics.
    fn grow(&mut self, more: &Corpus, moments: &mut Moments) {
        let words = more.words();
        let taller = |m: &Mat| {
            let mut data = m.as_slice().to_vec();
            data.resize(words * m.cols(), 0.0);
            Mat::from_vec(words, m.cols(), data)
        };
        moments.projected.basis = taller(&moments.projected.basis);
        moments.projected.regression = taller(&moments.projected.regression);
        moments.projected.first.resize(words, 0.0);
        moments.scale.resize(words, 0.0);
        self.widen(more.vocabulary());
    }

    /// The model's topics moved as the moments moved: a topic whose moments stayed keeps its polish, one that turned into
    /// another takes the moments' new answer.
    fn follow(&self, before: &Estimate, after: &Estimate) -> Mat {
        let old = match_rows(self.topics(), &before.topics);
        let new = match_rows(self.topics(), &after.topics);
        let mut topics = self.topics().clone();
        for t in 0..topics.rows() {
            let (Some(b), Some(a)) = (old[t], new[t]) else { continue };
            let drift = total_variation(before.topics.row(b), after.topics.row(a));
            let share = if self.is_polished() { drift } else { 1.0 };
            let fresh = after.topics.row(a);
            topics.row_mut(t).iter_mut().zip(fresh).for_each(|(x, f)| *x = (1.0 - share) * *x + share * f);
        }
        topics
    }
}

/// For every row of `a` the row of `b` that an optimal matching by overlap gives it.
pub(super) fn match_rows(a: &Mat, b: &Mat) -> Vec<Option<usize>> {
    let n = a.rows().max(b.rows());
    let overlap = |i: usize, j: usize| {
        if i >= a.rows() || j >= b.rows() {
            return 0.0;
        }
        // New words behind the old ones have no place in the shorter row.
        a.row(i).iter().zip(b.row(j)).map(|(x, y)| x.min(*y)).sum()
    };
    let partners = assign(&Mat::from_fn(n, n, overlap));
    (0..a.rows()).map(|i| Some(partners[i]).filter(|j| *j < b.rows())).collect()
}

fn no_moments() -> Error {
    misfit(
        "model",
        "one without moments",
        "a model that keeps its moments: fit without --no-moments and with at most about 140 topics",
    )
}

fn misfit(name: &str, value: &str, expected: &str) -> Error {
    Error::BadParameter { name: name.into(), value: value.into(), expected: expected.into() }
}

/// Probes of the second moment.
const PROBES: usize = 16;

/// The share of the documents' second moment outside the kept subspace, ‖(I − UUᵀ) M2‖² / ‖M2‖².
///
/// With M2 of two halves of the documents and random probes Ω, ⟨(I − P) M2_a Ω, (I − P) M2_b Ω⟩ / ⟨M2_a Ω, M2_b Ω⟩: the noise of one
/// half knows nothing of the other's, so that only what is really there counts.
pub(super) fn outside(corpus: &Corpus, moments: &Moments, search: &Search<'_>) -> Result<f64> {
    let frequencies = corpus.document_frequencies()?;
    let usual = active_words(&frequencies, corpus.documents(), 1);
    let active: Vec<bool> = moments.scale.iter().zip(&usual).map(|(s, u)| *s > 0.0 || *u).collect();
    let blocks = all_blocks(corpus);
    let halves: Vec<Vec<usize>> = match blocks.len() {
        0 | 1 => return Ok(0.0),
        _ => (0..2).map(|p| blocks.iter().copied().filter(|b| b % 2 == p).collect()).collect(),
    };
    let mut products = Vec::new();
    let mut scale = moments.scale.clone();
    for chosen in halves {
        let weighted =
            Weighted::new(corpus, moments.damping, chosen, &active, &|_| false)?.weigh(moments.cap)?;
        if weighted.total == 0.0 {
            return Ok(0.0);
        }
        if products.is_empty() {
            let usual = weighted.usual_scale(&active);
            scale.iter_mut().zip(&usual).filter(|(s, _)| **s == 0.0).for_each(|(s, u)| *s = *u);
        }
        let probes = random::gaussian(scale.len(), PROBES, &mut random::rng(search.seed, 900));
        let operator = SecondMoment {
            weighted: &weighted,
            scale: &scale,
            alpha0: search.alpha0,
            progress: search.progress,
        };
        products.push(operator.apply(&probes)?);
    }
    let directions = moments.directions();
    let inside: Vec<Mat> = products.iter().map(|z| directions.tr_matmul(z)).collect();
    let all: f64 = products[0].col_dots(&products[1]).iter().sum();
    let kept: f64 = inside[0].col_dots(&inside[1]).iter().sum();
    Ok(if all > 0.0 { (1.0 - kept / all).clamp(0.0, 1.0) } else { 0.0 })
}

impl Moments {
    /// U = S⁻¹ B: orthonormal directions of the kept subspace.
    fn directions(&self) -> Mat {
        let mut u = self.projected.basis.clone();
        let inverse: Vec<f64> = self.scale.iter().map(|s| if *s > 0.0 { 1.0 / s } else { 0.0 }).collect();
        u.scale_rows(&inverse);
        u
    }
}

/// The sums of both in one basis of the first one's width.
fn join(a: &Moments, b: &Moments) -> Result<Projected> {
    if a.projected.basis == b.projected.basis {
        let mut sum = a.projected.clone();
        sum.add(&b.projected);
        return Ok(sum);
    }
    let (ua, mut ub) = (a.directions(), b.projected.basis.clone());
    let inverse: Vec<f64> = a.scale.iter().map(|s| if *s > 0.0 { 1.0 / s } else { 0.0 }).collect();
    ub.scale_rows(&inverse);
    let (ma, mb) = (ua.cols(), ub.cols());
    let both = Mat::from_fn(ua.rows(), ma + mb, |i, j| if j < ma { ua[(i, j)] } else { ub[(i, j - ma)] });
    let q = orthonormalise(&both);
    let mut energy = Mat::zeros(q.cols(), q.cols());
    for (u, m) in [(&ua, a), (&ub, b)] {
        let seen = q.tr_matmul(u);
        energy.add_scaled(1.0, &seen.matmul(&m.projected.second).matmul_tr(&seen));
    }
    let best = q.matmul(&eigen_symmetric(&energy)?.vectors.first_cols(ma));
    let mut basis = best.clone();
    basis.scale_rows(&a.scale);
    let basis = basis.map(|x| f64::from(x as f32));
    let mut sum = through(&a.projected, &basis, &ua.tr_matmul(&best));
    sum.add(&through(&b.projected, &basis, &pinv(&ub, 1e-10)?.matmul(&best)));
    Ok(sum)
}

/// Sums in another basis, `way` being that basis in the old one's coordinates.
fn through(old: &Projected, basis: &Mat, way: &Mat) -> Projected {
    Projected {
        basis: basis.clone(),
        weight: old.weight,
        documents: old.documents,
        first: old.first.clone(),
        mean: way.tr_matvec(&old.mean),
        second: way.tr_matmul(&old.second.matmul(way)),
        regression: old.regression.matmul(way),
        third: old.third.as_ref().map(|t| t.multilinear(way)),
        shards: Vec::new(),
    }
}
