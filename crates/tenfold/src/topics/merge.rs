//! Two models made one, without the documents of either.

use super::model::{Model, Moments};
use super::moments::Projected;
use super::spectral::{Estimate, Search, solve, usual_solver};
use super::update::{match_rows, no_moments};
use crate::error::{Error, Result};
use tenfold_engine::device::Device;
use tenfold_engine::linalg::{Mat, eigen_symmetric, orthonormalise, pinv};
use tenfold_engine::progress::Progress;

/// Probability that two word distributions share at least when they are one topic: more than half.
const SAME: f64 = 0.5;

/// One of the models, seen from the topics that the moments of both give.
pub(super) struct Side<'a> {
    pub model: &'a Model,
    /// For every new topic the model's own topic that it goes on, where there is one.
    pub topics: Vec<Option<usize>>,
    /// What the polish had made of these topics, model − moments; k × words.
    pub drift: Mat,
}

impl Model {
    /// One model of the documents of both. The vocabularies are the same; topics keep this model's numbers where they go
    /// on.
    ///
    /// The sums of both models are added: exact when both keep the same subspace, otherwise each is seen through the
    /// directions the two share most of. The topics μ of the sum are found anew, and what the polish had made of them in
    /// either model, its topics − those of its own moments, is added by its share of the documents. A topic that goes on
    /// in one model takes that one's; one that goes on in neither stands as the moments say.
    ///
    /// # Errors
    /// A model that keeps no moments; different vocabularies or numbers of topics; counts that entered the moments of
    /// one model damped and those of the other as they are.
    pub fn merge(&self, other: &Self, progress: &dyn Progress) -> Result<Self> {
        if self.vocabulary() != other.vocabulary() {
            return Err(unfit("their vocabularies differ", "fit both with the same --vocabulary"));
        }
        if self.k() != other.k() {
            let problem = format!("one has {} topics, the other {}", self.k(), other.k());
            return Err(unfit(&problem, "fit both with the same k"));
        }
        let (Some(mine), Some(theirs)) = (&self.moments, &other.moments) else { return Err(no_moments()) };
        if mine.damping != theirs.damping {
            let problem = "counts entered the moments of one damped, those of the other as they are";
            return Err(unfit(problem, "fit both with the same polish"));
        }
        let moments = Moments { projected: join(mine, theirs)?, ..mine.clone() };
        let (solver, device) = (&usual_solver(), &Device::default());
        let search = Search { alpha0: mine.alpha0, solver, seed: self.seed(), device, progress };
        let after = solve(&moments.projected, None, self.k(), &search)?;
        let side = |model, own: &Moments| -> Result<Side<'_>> {
            let search = Search { alpha0: own.alpha0, ..search };
            Ok(Side::new(model, &solve(&own.projected, None, self.k(), &search)?, &after))
        };
        let sides = [side(self, mine)?, side(other, theirs)?];
        Ok(Self::united(&sides, &after, moments))
    }
}

impl<'a> Side<'a> {
    /// `own` is what the model's moments say by themselves, `after` what those of both say.
    fn new(model: &'a Model, own: &Estimate, after: &Estimate) -> Self {
        let unpolished = match_rows(model.topics(), &own.topics);
        let shared = |i: usize, j: usize| -> f64 {
            let pairs = after.topics.row(i).iter().zip(own.topics.row(j));
            pairs.map(|(x, y)| x.min(*y)).sum()
        };
        let mut drift = Mat::zeros(after.topics.rows(), model.words());
        let mut topics = Vec::new();
        for (i, j) in match_rows(&after.topics, &own.topics).into_iter().enumerate() {
            let j = j.filter(|&j| shared(i, j) > SAME);
            let topic = j.and_then(|j| unpolished.iter().position(|u| *u == Some(j)));
            if let (Some(j), Some(t)) = (j, topic) {
                let parts = model.topics().row(t).iter().zip(own.topics.row(j));
                drift.row_mut(i).iter_mut().zip(parts).for_each(|(d, (x, y))| *d = x - y);
            }
            topics.push(topic);
        }
        Self { model, topics, drift }
    }
}

fn unfit(problem: &str, remedy: &str) -> Error {
    Error::Unfit { problem: format!("the models cannot be merged: {problem}"), remedy: remedy.into() }
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
