//! The convolutional subspace power method: motifs from the leading eigenvectors of M_ω.

use super::super::moments::Pairs;
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::{CMat, Complex64, Fourier, dot, random};
use tenfold_engine::progress::Progress;

/// For every sum ω the space that the motifs' u_lω span, as the leading eigenvectors of M_ω.
#[derive(Debug, Clone)]
pub(super) struct Subspaces<'a> {
    pairs: &'a Pairs,
    /// Eigenvectors in the columns, and the adjoint of it.
    vectors: Vec<(CMat, CMat)>,
    values: Vec<Vec<f64>>,
}

/// A whitened motif over one period, and how much of its products lies in the subspaces.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Channel after channel, of unit norm.
    pub filter: Vec<f64>,
    /// φ: 1 for a true motif, in the absence of noise.
    pub certificate: f64,
}

crate::checkpoint::keep! { Found { filter, certificate } }

/// How long a start is followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ascent {
    pub iterations: usize,
    /// Largest change of an entry at which a start has arrived.
    pub tolerance: f64,
}

/// Starts that go through the products together.
const GROUP: usize = 8;

impl<'a> Subspaces<'a> {
    /// The spaces of the `rank` eigenvalues largest in size.
    pub fn leading(pairs: &'a Pairs, blocks: &[CMat], rank: usize) -> Result<Self> {
        let parts: Vec<(CMat, Vec<f64>)> = blocks
            .par_iter()
            .map(|block| {
                let eigen = block.eigen_hermitian()?;
                let kept = rank.min(block.rows());
                let vectors = CMat::from_fn(block.rows(), kept, |i, j| eigen.vectors[(i, j)]);
                Ok((vectors, eigen.values[..kept].to_vec()))
            })
            .collect::<Result<_>>()?;
        Ok(Self::from_parts(pairs, parts))
    }

    fn from_parts(pairs: &'a Pairs, parts: Vec<(CMat, Vec<f64>)>) -> Self {
        let (vectors, values) = parts.into_iter().unzip();
        let with_adjoint = |v: CMat| {
            let adjoint = CMat::from_fn(v.cols(), v.rows(), |i, j| v[(j, i)].conj());
            (v, adjoint)
        };
        let vectors: Vec<CMat> = vectors;
        Self { pairs, vectors: vectors.into_iter().map(with_adjoint).collect(), values }
    }

    /// The spaces without one motif: M_ω − μ u uᴴ with the μ = 1 / uᴴM_ω⁺u that takes one from its rank.
    pub fn without(&self, filter: &[f64]) -> Result<Self> {
        let spectrum = self.spectrum(filter);
        let parts = (0..self.vectors.len())
            .into_par_iter()
            .map(|number| {
                let sum = &self.pairs.sums[number];
                let u = CMat::from_fn(sum.len(), 1, {
                    let products: Vec<Complex64> = sum.products(&spectrum).collect();
                    move |i, _| products[i]
                });
                let (vectors, adjoint) = &self.vectors[number];
                let (c, values) = (adjoint.matmul(&u), &self.values[number]);
                let rank = values.len();
                let inverse: f64 = (0..rank).map(|l| c[(l, 0)].norm_sqr() / values[l]).sum();
                let mu = if inverse.abs() > 1e-12 { 1.0 / inverse } else { 0.0 };
                let inner = CMat::from_fn(rank, rank, |i, j| {
                    let own = if i == j { values[i] } else { 0.0 };
                    Complex64::new(own, 0.0) - mu * c[(i, 0)] * c[(j, 0)].conj()
                });
                let eigen = inner.eigen_hermitian()?;
                let kept = rank.saturating_sub(1);
                let chosen = CMat::from_fn(rank, kept, |i, j| eigen.vectors[(i, j)]);
                Ok((vectors.matmul(&chosen), eigen.values[..kept].to_vec()))
            })
            .collect::<Result<_>>()?;
        Ok(Self::from_parts(self.pairs, parts))
    }

    /// Random starts, the same for the same seed and stream.
    pub fn starts(&self, count: usize, seed: u64, stream: u64) -> Vec<Vec<f64>> {
        let mut rng = random::rng(seed, stream);
        (0..count).map(|_| random::sphere(self.pairs.lattice.variables(), &mut rng)).collect()
    }

    /// Maximises φ(f) = Σ_ω ‖V_ωᴴu_ω(f)‖² / Σ_ω ‖u_ω(f)‖² from every start, by F(a) ← Σ_ω [V_ωV_ωᴴu_ω](a) F*(ω−a).
    ///
    /// # Errors
    /// When the listener stops the run: many starts take long.
    pub fn ascend(
        &self,
        starts: Vec<Vec<f64>>,
        ascent: Ascent,
        progress: &dyn Progress,
    ) -> Result<Vec<Found>> {
        let groups = starts.par_chunks(GROUP).map(|group| self.ascend_group(group, ascent, progress));
        Ok(groups.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn ascend_group(
        &self,
        starts: &[Vec<f64>],
        ascent: Ascent,
        progress: &dyn Progress,
    ) -> Result<Vec<Found>> {
        let mut found: Vec<Found> =
            starts.iter().map(|start| Found { filter: unit(start.clone()), certificate: 0.0 }).collect();
        let mut moving: Vec<usize> = (0..found.len()).collect();
        for _ in 0..ascent.iterations {
            progress.check()?;
            let spectra: Vec<Vec<Complex64>> =
                moving.iter().map(|&k| self.spectrum(&found[k].filter)).collect();
            let steps = self.step(&spectra);
            let mut still = Vec::new();
            for (&k, (filter, certificate)) in moving.iter().zip(steps) {
                let change =
                    filter.iter().zip(&found[k].filter).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                found[k] = Found { filter, certificate };
                if change > ascent.tolerance {
                    still.push(k);
                }
            }
            moving = still;
            if moving.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    /// One step of every start: the next filter, and φ of the last.
    fn step(&self, spectra: &[Vec<Complex64>]) -> Vec<(Vec<f64>, f64)> {
        let (count, lattice) = (spectra.len(), self.pairs.lattice);
        let mut gradients = vec![vec![Complex64::default(); lattice.variables()]; count];
        let (mut inside, mut all) = (vec![0.0; count], vec![0.0; count]);
        for (sum, (vectors, adjoint)) in self.pairs.sums.iter().zip(&self.vectors) {
            let mut u = CMat::zeros(sum.len(), count);
            for (k, spectrum) in spectra.iter().enumerate() {
                for (i, product) in sum.products(spectrum).enumerate() {
                    u[(i, k)] = product;
                    all[k] += sum.multiplicity * product.norm_sqr();
                }
            }
            let inner = adjoint.matmul(&u);
            for row in 0..inner.rows() {
                for (k, value) in inner.row(row).iter().enumerate() {
                    inside[k] += sum.multiplicity * value.norm_sqr();
                }
            }
            let projected = vectors.matmul(&inner);
            for (i, (&(p, q), &weight)) in sum.pairs.iter().zip(&sum.weights).enumerate() {
                for (k, value) in projected.row(i).iter().enumerate() {
                    let value = value * (sum.multiplicity * weight);
                    gradients[k][p] += value * spectra[k][q].conj();
                    gradients[k][q] += value * spectra[k][p].conj();
                }
            }
        }
        gradients
            .into_iter()
            .zip(inside.iter().zip(&all))
            .map(|(gradient, (inside, all))| (unit(self.real(gradient)), inside / all.max(1e-300)))
            .collect()
    }

    fn plan(&self) -> Fourier {
        let period = self.pairs.lattice.period;
        Fourier::new(period.rows, period.columns)
    }

    fn spectrum(&self, filter: &[f64]) -> Vec<Complex64> {
        let plan = self.plan();
        filter.chunks_exact(plan.len()).flat_map(|channel| plan.whole(channel)).collect()
    }

    fn real(&self, mut spectrum: Vec<Complex64>) -> Vec<f64> {
        let plan = self.plan();
        spectrum.chunks_exact_mut(plan.len()).for_each(|channel| plan.complex_inverse(channel));
        spectrum.iter().map(|value| value.re).collect()
    }
}

/// The vector over its norm; a zero vector stays.
pub(super) fn unit(mut vector: Vec<f64>) -> Vec<f64> {
    let norm = dot(&vector, &vector).sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|value| *value /= norm);
    }
    vector
}
