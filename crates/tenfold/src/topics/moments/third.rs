//! From projected moments to the whitened third moment, and back from its components to topics.

use super::Projected;
use super::project::{Shard, symmetric};
use crate::error::Result;
use tenfold_engine::linalg::{Mat, eigen_symmetric};
use tenfold_engine::tensor::{Cp, Implicit, Tensor3, Term};

/// The whitening of M2 inside the basis, and what is needed to undo it.
#[derive(Debug, Clone)]
pub(crate) struct Whitened {
    /// m × k: white directions in the basis's coordinates, Wᵀ M2 W = I.
    pub white: Mat,
    /// All eigenvalues of M2 inside the basis, descending.
    pub spectrum: Vec<f64>,
    /// E[pairs] and M1 through the white directions.
    pub second: Mat,
    pub first: Vec<f64>,
    pub alpha0: f64,
}

/// Average moments of some documents in a basis.
struct Averages<'a> {
    weight: f64,
    first: Vec<f64>,
    second: Mat,
    third: Option<&'a Tensor3>,
}

/// Whitens the second moment to at most `k` directions: those with positive eigenvalues.
pub(crate) fn whiten(moments: &Projected, alpha0: f64, k: usize) -> Result<Whitened> {
    Averages::of(moments).whiten(alpha0, k)
}

impl<'a> Averages<'a> {
    fn of(moments: &'a Projected) -> Self {
        let (first, second) = (moments.mean.clone(), moments.second.clone());
        Self { weight: moments.weight, first, second, third: moments.third.as_ref() }.divided()
    }

    fn of_shard(shard: &'a Shard) -> Self {
        let (first, second) = (shard.first.clone(), shard.second.clone());
        Self { weight: shard.weight, first, second, third: shard.third.as_ref() }.divided()
    }

    fn divided(mut self) -> Self {
        let by = 1.0 / self.weight.max(f64::MIN_POSITIVE);
        self.first.iter_mut().for_each(|x| *x *= by);
        self.second = self.second.map(|x| x * by);
        self
    }

    fn whiten(&self, alpha0: f64, k: usize) -> Result<Whitened> {
        let shift = alpha0 / (alpha0 + 1.0);
        let corrected = Mat::from_fn(self.second.rows(), self.second.cols(), |i, j| {
            self.second[(i, j)] - shift * self.first[i] * self.first[j]
        });
        let eigen = eigen_symmetric(&symmetric(&corrected))?;
        // Directions whose variance is lost in rounding would blow up noise beyond anything else.
        let floor = 1e-9 * eigen.values.first().copied().unwrap_or(0.0).abs();
        let usable = eigen.values.iter().take(k).filter(|v| **v > floor).count();
        let mut white = eigen.vectors.first_cols(usable);
        let roots: Vec<f64> = eigen.values[..usable].iter().map(|v| v.powf(-0.5)).collect();
        white.scale_cols(&roots);
        let second = symmetric(&white.tr_matmul(&self.second.matmul(&white)));
        let first = white.tr_matvec(&self.first);
        Ok(Whitened { white, spectrum: eigen.values, second, first, alpha0 })
    }
}

impl Whitened {
    pub fn k(&self) -> usize {
        self.white.cols()
    }

    /// The way from this white space to another one of the same basis: W⁺ of that one times W of this.
    pub fn way_to(&self, other: &Self) -> Mat {
        // White directions are V e^(−1/2); V e^(1/2) undoes them.
        let mut back = other.white.clone();
        back.scale_cols(&other.spectrum[..other.k()]);
        back.tr_matmul(&self.white)
    }

    /// The terms of M3 that need no pass: −α0/(α0+2) sym(E[pairs]⊗M1) + 2α0²/((α0+1)(α0+2)) M1⊗³.
    pub fn corrections(&self) -> Vec<Term<'static>> {
        let a = self.alpha0;
        vec![
            Term::MatrixVector {
                matrix: self.second.clone(),
                vector: self.first.clone(),
                scale: -a / (a + 2.0),
            },
            Term::RankOne { vector: self.first.clone(), scale: 2.0 * a * a / ((a + 1.0) * (a + 2.0)) },
        ]
    }

    /// M3(W, W, W) from the triples kept in the basis.
    pub fn third(&self, triples: &Tensor3, weight: f64) -> Result<Tensor3> {
        let mut sum = Tensor3::zeros(self.k());
        sum.add_scaled(1.0 / weight.max(f64::MIN_POSITIVE), &triples.multilinear(&self.white));
        sum.add_scaled(1.0, &Implicit::new(3, self.k(), self.corrections()).to_tensor3()?);
        Ok(sum)
    }

    /// α_i/α0 of every component: λ_i = 2/(α0+2) · √((α0+1)/share_i).
    pub fn shares(&self, weights: &[f64]) -> Vec<f64> {
        let a = self.alpha0;
        weights.iter().map(|l| 4.0 * (a + 1.0) / ((a + 2.0).powi(2) * (l * l).max(1e-24))).collect()
    }

    /// The topics before anything is clipped, words × k: μ_i = (α0+2)/2 · λ_i · M2 W v_i, for every word of the corpus,
    /// also those that took no part in the basis.
    pub fn topics(&self, moments: &Projected, found: &Cp) -> Mat {
        let by = 1.0 / moments.weight.max(f64::MIN_POSITIVE);
        let shift = self.alpha0 / (self.alpha0 + 1.0);
        let mut directions = self.white.matmul(&found.factors);
        directions
            .scale_cols(&found.weights.iter().map(|l| l * (self.alpha0 + 2.0) / 2.0).collect::<Vec<_>>());
        let mut raw = moments.regression.matmul(&directions);
        let mean: Vec<f64> = directions.tr_matvec(&moments.mean).iter().map(|x| x * by).collect();
        for (w, &first) in moments.first.iter().enumerate() {
            let row = raw.row_mut(w);
            row.iter_mut().zip(&mean).for_each(|(v, m)| *v = by * (*v - shift * first * m));
        }
        raw
    }
}

/// The whitened third moment of some shards, in `like`'s number of directions, with the way from its white space to that
/// of `like`: Wₗ⁺ W.
pub(crate) fn whitened_part(
    shards: &[Shard],
    chosen: &[bool],
    like: &Whitened,
) -> Result<Option<(Tensor3, Mat)>> {
    let sum = add(shards, chosen);
    let averages = Averages::of_shard(&sum);
    let white = averages.whiten(like.alpha0, like.k())?;
    let Some(third) = averages.third.filter(|_| white.k() == like.k()) else { return Ok(None) };
    let way = white.way_to(like);
    Ok(Some((white.third(third, averages.weight)?, way)))
}

fn add(shards: &[Shard], chosen: &[bool]) -> Shard {
    let m = shards[0].first.len();
    let mut sum = Shard {
        weight: 0.0,
        first: vec![0.0; m],
        second: Mat::zeros(m, m),
        third: shards[0].third.as_ref().map(|t| Tensor3::zeros(t.dim())),
    };
    for shard in shards.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(shard, _)| shard) {
        sum.weight += shard.weight;
        sum.first.iter_mut().zip(&shard.first).for_each(|(a, b)| *a += b);
        sum.second.add_scaled(1.0, &shard.second);
        if let (Some(total), Some(part)) = (&mut sum.third, &shard.third) {
            total.add_scaled(1.0, part);
        }
    }
    sum
}
