//! The moments of a block model with mixed memberships: stars with different leaves.
//!
//! A hub u with neighbours v is a sample: its leaves are drawn from its communities. With directions V of the leaves,
//! s_u = Σ_v A_uv V_v, and sums over pairs and triples of *different* leaves are
//!
//!   E2 = 1/n [Σ_u s_u⊗s_u − Σ_v d_v V_v⊗V_v],
//!   E3 = 1/n [Σ_u s_u⊗³ − sym Σ_v V_v⊗V_v⊗t_v + 2 Σ_v d_v V_v⊗³],   t_v = Σ_u A_uv s_u,  d_v = Σ_u A_uv.
//!
//! With numbers of edges in A these are factorial moments: unbiased for Poisson numbers too. For m = E\[s\],
//!
//!   M2 = (α0+1) E2 − α0 m⊗m = Σ_i α̂_i f_i⊗f_i,
//!   M3 = (α0+1)(α0+2)/2 E3 − α0(α0+1)/2 sym(E2⊗m) + α0² m⊗³ = Σ_i α̂_i f_i⊗³,
//!
//! where f_i is the mean of s for a node that belongs to community i alone and α̂ = α/α0.

use crate::error::Result;
use tenfold_engine::linalg::{Adjacency, Mat, Rows, Tall, eigen_symmetric};
use tenfold_engine::tensor::{Implicit, Tensor3, Term};

/// Most operations that the sums over triples may take: beyond it they are taken over every s-th node, which costs
/// less in accuracy than the graph's own noise.
const MOST_WORK: f64 = 2e11;

/// A graph as hubs with leaves: rows of `hubs` are samples, `leaves` is its transpose.
#[derive(Clone, Copy)]
pub(super) struct Stars<'a> {
    pub hubs: &'a Adjacency,
    pub leaves: &'a Adjacency,
}

/// First and second moments of the stars through directions of the leaves.
pub(super) struct Seen {
    /// Hubs × k: s_u.
    pub sums: Tall,
    pub mean: Vec<f64>,
    /// E2.
    pub pairs: Mat,
    /// d_v of every leaf.
    pub strengths: Vec<f64>,
}

crate::checkpoint::keep! { Seen { sums, mean, pairs, strengths } }

/// M2 made the identity.
pub(super) struct White {
    /// Directions × k: WᵀM2W = I.
    pub matrix: Mat,
    /// Directions × k: undoes it.
    pub inverse: Mat,
    /// All eigenvalues of M2 inside the directions, descending.
    pub spectrum: Vec<f64>,
    alpha0: f64,
}

impl Stars<'_> {
    pub fn seen(&self, directions: &Tall) -> Seen {
        let sums = product(self.hubs, directions);
        let strengths = self.leaves.strengths();
        let n = self.hubs.rows() as f64;
        let mut weighted = directions.clone();
        let width = directions.width();
        let rows = weighted.as_mut_slice().chunks_exact_mut(width.max(1));
        rows.zip(&strengths).for_each(|(row, d)| row.iter_mut().for_each(|x| *x *= *d as f32));
        let mut pairs = sums.gram(&sums);
        pairs.add_scaled(-1.0, &weighted.gram(directions));
        let ones = Tall::from_mat(&Mat::from_fn(self.hubs.rows(), 1, |_, _| 1.0));
        let mean = sums.gram(&ones).into_vec().iter().map(|x| x / n).collect();
        Seen { sums, mean, pairs: symmetric(&pairs.map(|x| x / n)), strengths }
    }

    /// What M3 through the white directions is summed from.
    pub fn triples(&self, directions: &Tall, seen: &Seen, white: &White) -> Triples {
        let k = white.matrix.cols();
        let (y, z) = (seen.sums.times(&white.matrix), directions.times(&white.matrix));
        let mut corrections = product(self.leaves, &y);
        // −t + ⅔ d z: the symmetrised sum of z⊗z with it is both corrections at once.
        let rows = corrections.as_mut_slice().chunks_exact_mut(k.max(1));
        for ((row, z), d) in rows.zip(z.as_slice().chunks_exact(k.max(1))).zip(&seen.strengths) {
            let scale = (2.0 / 3.0 * d) as f32;
            row.iter_mut().zip(z).for_each(|(t, z)| *t = scale * z - *t);
        }
        let a = white.alpha0;
        let n = self.hubs.rows() as f64;
        let cubic = (a + 1.0) * (a + 2.0) / 2.0;
        let mut shifts = Vec::new();
        if a > 0.0 {
            let mean = white.matrix.tr_matvec(&seen.mean);
            let matrix = symmetric(&white.matrix.tr_matmul(&seen.pairs.matmul(&white.matrix)));
            shifts.push(Term::MatrixVector { matrix, vector: mean.clone(), scale: -a * (a + 1.0) / 2.0 });
            shifts.push(Term::RankOne { vector: mean, scale: a * a });
        }
        let leaves = z.rows() as f64;
        let (hubs, twice, once) = (Every::of(y), Every::of(z), Every::of(corrections));
        let share = leaves / twice.rows().max(1) as f64;
        Triples { scales: [cubic / hubs.rows() as f64, cubic * share / n], hubs, twice, once, shifts }
    }
}

/// M3 as the sums that it is: over hubs, over leaves that stand twice, and what needs no sum.
pub(super) struct Triples {
    hubs: Every,
    twice: Every,
    once: Every,
    scales: [f64; 2],
    shifts: Vec<Term<'static>>,
}

impl Triples {
    /// The tensor, formed.
    pub fn formed(&self) -> Result<Tensor3> {
        let k = self.hubs.cols();
        let mut third = Tensor3::zeros(k);
        third.add_scaled(self.scales[0], &Tensor3::from_samples(&self.hubs, None)?);
        third.add_scaled(self.scales[1], &Tensor3::from_mixed(&self.twice, &self.once, None)?);
        if !self.shifts.is_empty() {
            third.add_scaled(1.0, &Implicit::new(3, k, self.shifts.clone()).to_tensor3()?);
        }
        Ok(third)
    }

    /// The tensor, never formed.
    pub fn terms(&self) -> Implicit<'_> {
        let [powers, mixed] = self.scales;
        let mut terms = vec![
            Term::Powers { samples: &self.hubs, weights: None, scale: powers },
            Term::Mixed { twice: &self.twice, once: &self.once, weights: None, scale: mixed },
        ];
        terms.extend(self.shifts.iter().cloned());
        Implicit::new(3, self.hubs.cols(), terms)
    }
}

impl Seen {
    /// Whitens M2 in at most `k` directions, those with positive eigenvalues.
    pub fn whiten(&self, alpha0: f64, k: usize) -> Result<White> {
        let m = &self.mean;
        let second =
            Mat::from_fn(m.len(), m.len(), |i, j| (alpha0 + 1.0) * self.pairs[(i, j)] - alpha0 * m[i] * m[j]);
        let eigen = eigen_symmetric(&symmetric(&second))?;
        let floor = 1e-9 * eigen.values.first().copied().unwrap_or(0.0).abs();
        let usable = eigen.values.iter().take(k).filter(|v| **v > floor).count();
        let (mut matrix, mut inverse) = (eigen.vectors.first_cols(usable), eigen.vectors.first_cols(usable));
        let roots: Vec<f64> = eigen.values[..usable].iter().map(|v| v.sqrt()).collect();
        inverse.scale_cols(&roots);
        matrix.scale_cols(&roots.iter().map(|r| 1.0 / r).collect::<Vec<_>>());
        Ok(White { matrix, inverse, spectrum: eigen.values, alpha0 })
    }
}

/// `A · X`.
pub(super) fn product(a: &Adjacency, x: &Tall) -> Tall {
    let mut out = Tall::zeros(a.rows(), x.width());
    a.multiply(x.as_slice(), x.width(), out.as_mut_slice());
    out
}

pub(super) fn symmetric(m: &Mat) -> Mat {
    Mat::from_fn(m.rows(), m.cols(), |i, j| 0.5 * (m[(i, j)] + m[(j, i)]))
}

/// Every s-th row of a tall matrix, as few as the work allows.
struct Every {
    all: Tall,
    stride: usize,
}

impl Every {
    fn of(all: Tall) -> Self {
        let work = all.rows() as f64 * (all.width() as f64).powi(3) / 3.0;
        Self { all, stride: (work / MOST_WORK).ceil().max(1.0) as usize }
    }
}

impl Rows for Every {
    fn rows(&self) -> usize {
        self.all.rows().div_ceil(self.stride)
    }
    fn cols(&self) -> usize {
        self.all.width()
    }
    fn read_rows(&self, start: usize, out: &mut [f64]) -> tenfold_engine::Result<()> {
        for (i, row) in out.chunks_exact_mut(self.all.width()).enumerate() {
            let from = self.all.row((start + i) * self.stride);
            row.iter_mut().zip(from).for_each(|(x, v)| *x = f64::from(*v));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
