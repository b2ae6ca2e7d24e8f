//! All motifs together: least squares on the cumulants of orders three and four.

use super::super::extent::Extent;
use super::super::moments::{Sum, Target};
use rayon::prelude::*;
use tenfold_engine::linalg::{CMat, Complex64, Descent, Fourier, Mat, solve};

/// The fit J(f) = w₃ Σ‖b_ω − Σ λ_l u_l F_l*(ω)‖² + w₄ Σ‖M_ω − Σ κ_l u_l u_lᴴ‖² of motifs within their support.
///
/// λ and κ are solved for at every f (two systems of L equations), so J knows neither the scale nor the sign of a
/// motif. With w the inverse of the noise's expected squared norm, J is about the number of orders at the truth.
pub(super) struct Joint<'a> {
    pub target: &'a Target,
    /// Motifs are zero outside.
    pub support: Extent,
    /// w₃ and w₄.
    pub weights: [f64; 2],
}

/// Motifs and what the moments say of their activations.
#[derive(Debug, Clone)]
pub(super) struct Fitted {
    /// Motif after motif, channel after channel, within the support; unit norm.
    pub filters: Vec<Vec<f64>>,
    /// λ_l, third cumulants of the activations, for motifs of unit norm.
    pub third: Vec<f64>,
    /// κ_l, fourth cumulants.
    pub fourth: Vec<f64>,
    pub objective: f64,
    pub converged: bool,
}

crate::checkpoint::keep! { Fitted { filters, third, fourth, objective, converged } }

/// What one sum ω contributes before λ and κ are known.
struct Part {
    u: CMat,
    /// M_ω u and, if the third order is used, b_ω Fᵀ.
    fourth: Option<CMat>,
    third: Option<CMat>,
    gram: CMat,
    /// F_l(ω) for every motif, by channel.
    at: CMat,
}

/// The sums over ω that λ and κ are solved from.
struct Normal {
    left: Mat,
    right: Vec<f64>,
}

impl Normal {
    fn new(count: usize) -> Self {
        Self { left: Mat::zeros(count, count), right: vec![0.0; count] }
    }

    /// The solution and the decrease that it brings, rightᵀ · solution.
    fn solve(mut self) -> (Vec<f64>, f64) {
        let count = self.right.len();
        let trace: f64 = (0..count).map(|l| self.left[(l, l)]).sum();
        // Two motifs may meet on the way; the sum stays solvable.
        for l in 0..count {
            self.left[(l, l)] += 1e-10 * trace / count as f64 + 1e-300;
        }
        let solution = solve(&self.left, &Mat::from_vec(count, 1, self.right.clone())).into_vec();
        let gain = solution.iter().zip(&self.right).map(|(a, b)| a * b).sum();
        (solution, gain)
    }
}

impl Joint<'_> {
    /// Descends from `filters`.
    pub fn refine(&self, filters: &[Vec<f64>], descent: Descent) -> Fitted {
        let count = filters.len();
        if count == 0 {
            return self.describe(Vec::new(), true);
        }
        let start: Vec<f64> = filters.iter().flat_map(|f| super::subspace::unit(f.clone())).collect();
        let found = descent.minimise(&start, |x, gradient| self.evaluate(x, count, Some(gradient)).0);
        let size = found.point.len() / count;
        let filters = found.point.chunks_exact(size).map(|f| super::subspace::unit(f.to_vec())).collect();
        self.describe(filters, found.converged)
    }

    /// The cumulants of the activations and the objective for given motifs.
    pub fn describe(&self, filters: Vec<Vec<f64>>, converged: bool) -> Fitted {
        let x: Vec<f64> = filters.iter().flatten().copied().collect();
        let (objective, [third, fourth]) = self.evaluate(&x, filters.len(), None);
        Fitted { filters, third, fourth, objective, converged }
    }

    /// The whitened spectra of motifs: L × variables.
    pub fn spectra(&self, x: &[f64], count: usize) -> Vec<Vec<Complex64>> {
        let lattice = self.target.pairs.lattice;
        let plan = Fourier::new(lattice.period.rows, lattice.period.columns);
        let mut field = vec![0.0; lattice.len()];
        (0..count)
            .map(|l| {
                let mut spectrum = Vec::with_capacity(lattice.variables());
                for channel in 0..lattice.channels {
                    let one = self.support.len();
                    let values = &x[(l * lattice.channels + channel) * one..][..one];
                    field.fill(0.0);
                    for (row, values) in values.chunks_exact(self.support.columns).enumerate() {
                        field[row * lattice.period.columns..][..values.len()].copy_from_slice(values);
                    }
                    spectrum.extend(plan.whole(&field));
                }
                spectrum.iter_mut().zip(&self.target.scale).for_each(|(value, scale)| *value *= scale);
                spectrum
            })
            .collect()
    }

    /// J, [λ, κ], and the gradient of J where it is asked for.
    fn evaluate(&self, x: &[f64], count: usize, gradient: Option<&mut [f64]>) -> (f64, [Vec<f64>; 2]) {
        let spectra = self.spectra(x, count);
        let target = self.target;
        let parts: Vec<Part> = (0..target.pairs.sums.len())
            .into_par_iter()
            .with_min_len(8)
            .map(|number| self.part(number, &spectra))
            .collect();
        let mut normals = [Normal::new(count), Normal::new(count)];
        for (sum, part) in target.pairs.sums.iter().zip(&parts) {
            self.add_normal(sum, part, &mut normals);
        }
        let blocks = [&target.third, &target.fourth];
        let mut value = 0.0;
        let mut solutions = [vec![0.0; count], vec![0.0; count]];
        for (order, normal) in normals.into_iter().enumerate() {
            if self.weights[order] > 0.0 {
                let (solution, gain) = normal.solve();
                value += self.weights[order] * (target.squared_norm(blocks[order]) - gain);
                solutions[order] = solution;
            }
        }
        if let Some(gradient) = gradient {
            self.gradient(&spectra, &parts, &solutions, gradient);
        }
        (value, solutions)
    }

    fn part(&self, number: usize, spectra: &[Vec<Complex64>]) -> Part {
        let (target, count) = (self.target, spectra.len());
        let sum = &target.pairs.sums[number];
        let (n, channels) = (target.pairs.lattice.len(), target.pairs.lattice.channels);
        let mut u = CMat::zeros(sum.len(), count);
        for (l, spectrum) in spectra.iter().enumerate() {
            sum.products(spectrum).enumerate().for_each(|(i, product)| u[(i, l)] = product);
        }
        let at = CMat::from_fn(channels, count, |c, l| spectra[l][c * n + sum.frequency]);
        Part {
            fourth: (self.weights[1] > 0.0).then(|| target.fourth[number].matmul(&u)),
            third: (self.weights[0] > 0.0).then(|| target.third[number].matmul(&at)),
            gram: u.adjoint_matmul(&u),
            at,
            u,
        }
    }

    fn add_normal(&self, sum: &Sum, part: &Part, [three, four]: &mut [Normal; 2]) {
        let count = part.u.cols();
        for l in 0..count {
            let inner = |with: &CMat| {
                (0..sum.len()).map(|i| (part.u[(i, l)].conj() * with[(i, l)]).re).sum::<f64>()
                    * sum.multiplicity
            };
            if let Some(with) = &part.fourth {
                four.right[l] += inner(with);
            }
            if let Some(with) = &part.third {
                three.right[l] += inner(with);
            }
            for j in 0..count {
                let gram = part.gram[(l, j)];
                if part.fourth.is_some() {
                    four.left[(l, j)] += sum.multiplicity * gram.norm_sqr();
                }
                if part.third.is_some() {
                    three.left[(l, j)] += sum.multiplicity * (gram * overlap(&part.at, l, j)).re;
                }
            }
        }
    }

    fn gradient(
        &self,
        spectra: &[Vec<Complex64>],
        parts: &[Part],
        [third, fourth]: &[Vec<f64>; 2],
        out: &mut [f64],
    ) {
        let target = self.target;
        let (lattice, count) = (target.pairs.lattice, spectra.len());
        let n = lattice.len();
        let mut gradients = vec![vec![Complex64::default(); lattice.variables()]; count];
        for (sum, part) in target.pairs.sums.iter().zip(parts) {
            let mut q = CMat::zeros(sum.len(), count);
            if let Some(with) = &part.fourth {
                // −4 κ_l E u_l with E = M − Σ κ u uᴴ.
                let scaled = CMat::from_fn(count, count, |j, l| part.gram[(j, l)] * fourth[j]);
                let model = part.u.matmul(&scaled);
                let weight = -4.0 * self.weights[1] * sum.multiplicity;
                for i in 0..sum.len() {
                    for l in 0..count {
                        q[(i, l)] += (with[(i, l)] - model[(i, l)]) * (weight * fourth[l]);
                    }
                }
            }
            if let Some(with) = &part.third {
                // −2 λ_l (b − Σ λ u F*) F_l for u, and its counterpart for F(ω).
                let scaled = CMat::from_fn(count, count, |j, l| overlap(&part.at, l, j) * third[j]);
                let model = part.u.matmul(&scaled);
                let weight = -2.0 * self.weights[0] * sum.multiplicity;
                for i in 0..sum.len() {
                    for l in 0..count {
                        q[(i, l)] += (with[(i, l)] - model[(i, l)]) * (weight * third[l]);
                    }
                }
                let number =
                    target.pairs.sums.iter().position(|other| std::ptr::eq(other, sum)).expect("own sum");
                let measured = part.u.adjoint_matmul(&target.third[number]);
                for l in 0..count {
                    for c in 0..lattice.channels {
                        let model: Complex64 =
                            (0..count).map(|j| part.gram[(l, j)] * third[j] * part.at[(c, j)].conj()).sum();
                        let inner = measured[(l, c)] - model;
                        gradients[l][c * n + sum.frequency] += inner.conj() * (weight * third[l]);
                    }
                }
            }
            for (i, (&(p, r), &weight)) in sum.pairs.iter().zip(&sum.weights).enumerate() {
                for l in 0..count {
                    let value = q[(i, l)] * weight;
                    gradients[l][p] += value * spectra[l][r].conj();
                    gradients[l][r] += value * spectra[l][p].conj();
                }
            }
        }
        self.to_support(gradients, out);
    }

    /// Gradients by frequency to gradients by the motifs' entries.
    fn to_support(&self, gradients: Vec<Vec<Complex64>>, out: &mut [f64]) {
        let lattice = self.target.pairs.lattice;
        let n = lattice.len();
        let plan = Fourier::new(lattice.period.rows, lattice.period.columns);
        let one = self.support.len();
        for (l, mut gradient) in gradients.into_iter().enumerate() {
            gradient.iter_mut().zip(&self.target.scale).for_each(|(value, scale)| *value *= scale);
            for (channel, field) in gradient.chunks_exact_mut(n).enumerate() {
                plan.complex_inverse(field);
                let target = &mut out[(l * lattice.channels + channel) * one..][..one];
                for (row, values) in target.chunks_exact_mut(self.support.columns).enumerate() {
                    for (value, field) in values.iter_mut().zip(&field[row * lattice.period.columns..]) {
                        *value = n as f64 * field.re;
                    }
                }
            }
        }
    }
}

/// Σ_c F_lc(ω) F_jc*(ω).
fn overlap(at: &CMat, l: usize, j: usize) -> Complex64 {
    (0..at.rows()).map(|c| at[(c, l)] * at[(c, j)].conj()).sum()
}
