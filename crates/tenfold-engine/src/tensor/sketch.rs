//! Count-sketched tensors: any tensor in `length × repeats` numbers.

use super::{Contract, Packed, check_arguments};
use crate::error::Result;
use crate::linalg::parallel::{BLOCK, sum_blocks};
use crate::linalg::{Mat, Rows, random, with_rows};
use rand::RngExt;
use rayon::prelude::*;
use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::sync::Arc;

/// A symmetric tensor known through count sketches of length b.
///
/// Entry T_ijl is added with sign ξ₁(i)ξ₂(j)ξ₃(l) at place h₁(i)+h₂(j)+h₃(l) mod b. The sketch of y⊗y⊗y is then
/// the circular convolution of three sketches of y, a product after the Fourier transform, and
/// T(I, a, b)_i is read at h₁(i) from a correlation; the median over independent repeats bounds the error
/// by O(‖T‖/√b) (Pagh, 2013; Wang, Tung, Smola and Anandkumar, 2015).
///
/// # Complexity
/// Memory repeats·b; a sample or a contracted column costs repeats·(d + b log b).
///
/// # Example
/// ```
/// use tenfold_engine::linalg::Mat;
/// use tenfold_engine::tensor::{Contract, Sketch};
/// let y = Mat::from_vec(1, 2, vec![1.0, 2.0]);
/// let t = Sketch::of_samples(3, &y, None, 4096, 5, 1).unwrap();
/// let v = Mat::from_vec(2, 1, vec![1.0, 0.0]);
/// assert!((t.power(&v).unwrap()[(1, 0)] - 2.0).abs() < 0.2); // y₂ (y·v)²
/// ```
#[derive(Clone)]
pub struct Sketch {
    order: usize,
    dim: usize,
    length: usize,
    /// One hash of indices per repeat and side.
    hashes: Vec<Vec<Hash>>,
    /// The sketch of each repeat after the Fourier transform.
    spectra: Vec<Vec<Complex64>>,
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Hash {
    place: Vec<usize>,
    sign: Vec<f64>,
}

impl Sketch {
    fn empty(order: usize, dim: usize, length: usize, repeats: usize, seed: u64) -> Self {
        assert!(length > 0 && repeats > 0, "a sketch has a length and a repeat");
        let mut rng = random::rng(seed, 3);
        let mut draw = || Hash {
            place: (0..dim).map(|_| rng.random_range(0..length)).collect(),
            sign: (0..dim).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect(),
        };
        let hashes = (0..repeats).map(|_| (0..order).map(|_| draw()).collect()).collect();
        let mut planner = RealFftPlanner::new();
        let (forward, inverse) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
        let spectra = vec![vec![Complex64::ZERO; length / 2 + 1]; repeats];
        Self { order, dim, length, hashes, spectra, forward, inverse }
    }

    /// The sketch of Σ_t w_t y_t⊗…⊗y_t; sketches of the same seed add up.
    ///
    /// # Errors
    /// What the data source says.
    pub fn of_samples(
        order: usize,
        samples: &dyn Rows,
        weights: Option<&[f64]>,
        length: usize,
        repeats: usize,
        seed: u64,
    ) -> Result<Self> {
        let mut sketch = Self::empty(order, samples.cols(), length, repeats, seed);
        let dim = sketch.dim;
        sketch.spectra = sum_blocks(
            samples.rows(),
            BLOCK,
            || sketch.spectra.clone(),
            |sums, range| {
                let start = range.start;
                with_rows(samples, range, &mut Vec::new(), |block| {
                    for (t, y) in block.chunks_exact(dim).enumerate() {
                        let weight = weights.map_or(1.0, |w| w[start + t]);
                        sketch.add_sample(y, weight, sums);
                    }
                })
            },
            |total, lane| total.iter_mut().zip(&lane).for_each(|(t, l)| add_spectrum(t, l)),
        )?;
        Ok(sketch)
    }

    /// The sketch of a dense tensor.
    pub fn of_tensor<const ORDER: usize>(
        tensor: &Packed<ORDER>,
        length: usize,
        repeats: usize,
        seed: u64,
    ) -> Self {
        let mut sketch = Self::empty(ORDER, tensor.dim(), length, repeats, seed);
        let full = tensor.to_full();
        let dim = sketch.dim;
        sketch.spectra = (0..repeats)
            .into_par_iter()
            .map(|repeat| {
                let mut bins = vec![0.0; length];
                for (at, value) in full.iter().enumerate() {
                    let (mut rest, mut place, mut sign) = (at, 0, 1.0);
                    for hash in sketch.hashes[repeat].iter().rev() {
                        place += hash.place[rest % dim];
                        sign *= hash.sign[rest % dim];
                        rest /= dim;
                    }
                    bins[place % length] += sign * value;
                }
                sketch.transform(&mut bins)
            })
            .collect();
        sketch
    }

    /// Adds the sketch of other samples, made with the same seed and sizes.
    pub fn merge(&mut self, other: &Self) {
        assert!(self.hashes == other.hashes, "sketches merge when seed, length and repeats agree");
        self.spectra.iter_mut().zip(&other.spectra).for_each(|(a, b)| add_spectrum(a, b));
    }

    fn add_sample(&self, y: &[f64], weight: f64, sums: &mut [Vec<Complex64>]) {
        for (hashes, sum) in self.hashes.iter().zip(sums) {
            let mut product = vec![Complex64::new(weight, 0.0); sum.len()];
            for hash in hashes {
                multiply(&mut product, &self.spectrum_of(hash, y.iter().copied()), false);
            }
            add_spectrum(sum, &product);
        }
    }

    /// The Fourier transform of the count sketch of a vector.
    fn spectrum_of(&self, hash: &Hash, vector: impl Iterator<Item = f64>) -> Vec<Complex64> {
        let mut bins = vec![0.0; self.length];
        for (i, x) in vector.enumerate() {
            bins[hash.place[i]] += hash.sign[i] * x;
        }
        self.transform(&mut bins)
    }

    fn transform(&self, bins: &mut [f64]) -> Vec<Complex64> {
        let mut out = self.forward.make_output_vec();
        self.forward.process(bins, &mut out).expect("the plan made these buffers");
        out
    }

    /// T(I, a, b) for one column and one repeat.
    fn contract_once(&self, repeat: usize, arguments: &[&Mat], column: usize) -> Vec<f64> {
        let mut spectrum = self.spectra[repeat].clone();
        for (hash, argument) in self.hashes[repeat][1..].iter().zip(arguments) {
            let vector = (0..self.dim).map(|i| argument[(i, column)]);
            multiply(&mut spectrum, &self.spectrum_of(hash, vector), true);
        }
        // The inverse real transform wants exactly real ends.
        spectrum[0].im = 0.0;
        if self.length.is_multiple_of(2) {
            spectrum[self.length / 2].im = 0.0;
        }
        let mut bins = self.inverse.make_output_vec();
        self.inverse.process(&mut spectrum, &mut bins).expect("the plan made these buffers");
        let first = &self.hashes[repeat][0];
        (0..self.dim).map(|i| first.sign[i] * bins[first.place[i]] / self.length as f64).collect()
    }
}

impl Contract for Sketch {
    fn dim(&self) -> usize {
        self.dim
    }
    fn order(&self) -> usize {
        self.order
    }
    fn contract(&self, arguments: &[&Mat]) -> Result<Mat> {
        let width = check_arguments(self, arguments);
        let columns: Vec<Vec<f64>> = (0..width)
            .into_par_iter()
            .map(|column| {
                let estimates: Vec<Vec<f64>> =
                    (0..self.spectra.len()).map(|r| self.contract_once(r, arguments, column)).collect();
                (0..self.dim).map(|i| median(estimates.iter().map(|e| e[i]).collect())).collect()
            })
            .collect();
        Ok(Mat::from_fn(self.dim, width, |i, c| columns[c][i]))
    }
}

fn multiply(product: &mut [Complex64], factor: &[Complex64], conjugate: bool) {
    for (p, f) in product.iter_mut().zip(factor) {
        *p *= if conjugate { f.conj() } else { *f };
    }
}

fn add_spectrum(total: &mut [Complex64], part: &[Complex64]) {
    total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { 0.5 * (values[half - 1] + values[half]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::parallel;
    use crate::tensor::Cp;

    #[test]
    fn contraction_error_is_within_its_bound() {
        // One repeat has variance at most (2 + 3^p) ‖T‖² ‖a‖² … / b an entry (Avron, Nguyen and Woodruff, 2014, for p
        // sides); the median of nine leaves three deviations only when five of nine do, which Chebyshev puts at
        // C(9,5)/9⁵ < 0.003 an entry.
        let v = random::orthogonal(10, 10, &mut random::rng(1, 0)).unwrap();
        for order in [3, 4] {
            let cp = Cp::new(order, (1..=10).map(f64::from).collect(), v.clone());
            let length = 1 << 13;
            let sketch = match order {
                3 => Sketch::of_tensor(&cp.reconstruct::<3>(), length, 9, 5),
                _ => Sketch::of_tensor(&cp.reconstruct::<4>(), length, 9, 5),
            };
            let u = random::orthogonal(10, 3, &mut random::rng(2, 0)).unwrap();
            let mut error = sketch.power(&u).unwrap();
            error.add_scaled(-1.0, &cp.power(&u).unwrap());
            let sides = 2.0 + 3f64.powi(order as i32);
            let bound = 3.0 * (sides * cp.norm_squared().unwrap() / length as f64).sqrt();
            assert!(error.max_abs() < bound, "order {order}: {} against {bound}", error.max_abs());
        }
    }

    #[test]
    fn samples_and_their_tensor_have_one_sketch_and_parts_merge() {
        let mut rng = random::rng(3, 0);
        let y = random::gaussian(600, 4, &mut rng);
        let w: Vec<f64> = (0..600).map(|_| random::normal(&mut rng)).collect();
        let tensor = crate::tensor::Tensor3::from_samples(&y, Some(&w)).unwrap();
        let direct = Sketch::of_tensor(&tensor, 64, 2, 9);
        let streamed = Sketch::of_samples(3, &y, Some(&w), 64, 2, 9).unwrap();
        let u = random::gaussian(4, 2, &mut rng);
        let mut difference = direct.power(&u).unwrap();
        difference.add_scaled(-1.0, &streamed.power(&u).unwrap());
        assert!(difference.max_abs() < 1e-9);
        let part = |range: std::ops::Range<usize>| {
            let rows = Mat::from_fn(range.len(), 4, |i, j| y[(range.start + i, j)]);
            Sketch::of_samples(3, &rows, Some(&w[range]), 64, 2, 9).unwrap()
        };
        let mut merged = part(0..250);
        merged.merge(&part(250..600));
        let mut difference = merged.power(&u).unwrap();
        difference.add_scaled(-1.0, &streamed.power(&u).unwrap());
        assert!(difference.max_abs() < 1e-9);
        let on = |t| parallel::with_threads(t, || Sketch::of_samples(3, &y, None, 64, 2, 9).unwrap().spectra);
        let one = on(1);
        for threads in [2, 3, 8] {
            assert_eq!(on(threads), one);
        }
    }
}
