//! Discrete Fourier transforms of real arrays on a circle or a torus.

use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};
use std::sync::Arc;

/// The transform of real arrays of `rows × columns` numbers, row after row; one row is a circle.
///
/// X(a, b) = Σ x(s, t) exp(−2πi (a s/rows + b t/columns)). A real array has X(−a, −b) = conj X(a, b), so only the
/// columns 0 … columns/2 of the spectrum are held, `rows × (columns/2 + 1)` numbers.
///
/// # Complexity
/// O(n log n) for n = rows·columns.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::Fourier;
/// let plan = Fourier::new(1, 6);
/// let x = [1.0, 2.0, 0.0, -1.0, 0.5, 3.0];
/// let spectrum = plan.forward(&x);
/// assert!((spectrum[0].re - 5.5).abs() < 1e-12);
/// let back = plan.inverse(&spectrum);
/// assert!(x.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12));
/// ```
#[derive(Clone)]
pub struct Fourier {
    rows: usize,
    columns: usize,
    along: Arc<dyn RealToComplex<f64>>,
    back: Arc<dyn ComplexToReal<f64>>,
    down: Arc<dyn Fft<f64>>,
    up: Arc<dyn Fft<f64>>,
    /// Of complex rows, there and back.
    rows_there: Arc<dyn Fft<f64>>,
    rows_back: Arc<dyn Fft<f64>>,
}

impl Fourier {
    /// Plans the transform of arrays of `rows × columns`.
    pub fn new(rows: usize, columns: usize) -> Self {
        assert!(rows > 0 && columns > 0, "a transform has a length");
        let (mut real, mut complex) = (RealFftPlanner::new(), FftPlanner::new());
        Self {
            rows,
            columns,
            along: real.plan_fft_forward(columns),
            back: real.plan_fft_inverse(columns),
            down: complex.plan_fft_forward(rows),
            up: complex.plan_fft_inverse(rows),
            rows_there: complex.plan_fft_forward(columns),
            rows_back: complex.plan_fft_inverse(columns),
        }
    }

    /// Numbers in an array.
    pub fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// Never: a transform has a length.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Columns of the half spectrum: columns/2 + 1.
    pub fn half(&self) -> usize {
        self.columns / 2 + 1
    }

    /// The half spectrum of `x`, `rows × half` numbers.
    pub fn forward(&self, x: &[f64]) -> Vec<Complex64> {
        let mut spectrum = vec![Complex64::default(); self.rows * self.half()];
        self.forward_into(x, &mut spectrum);
        spectrum
    }

    /// [`Fourier::forward`] into memory that is there.
    pub fn forward_into(&self, x: &[f64], spectrum: &mut [Complex64]) {
        assert_eq!(x.len(), self.len(), "an array of the planned length");
        let mut row = self.along.make_input_vec();
        let mut scratch = self.along.make_scratch_vec();
        for (source, target) in x.chunks_exact(self.columns).zip(spectrum.chunks_exact_mut(self.half())) {
            row.copy_from_slice(source);
            self.along.process_with_scratch(&mut row, target, &mut scratch).expect("planned lengths");
        }
        self.columns_through(&*self.down, spectrum, self.half());
    }

    /// The real array whose half spectrum this is.
    pub fn inverse(&self, spectrum: &[Complex64]) -> Vec<f64> {
        let mut x = vec![0.0; self.len()];
        self.inverse_into(&mut spectrum.to_vec(), &mut x);
        x
    }

    /// [`Fourier::inverse`] into memory that is there; `spectrum` is overwritten.
    pub fn inverse_into(&self, spectrum: &mut [Complex64], x: &mut [f64]) {
        assert_eq!(x.len(), self.len(), "an array of the planned length");
        self.columns_through(&*self.up, spectrum, self.half());
        let mut scratch = self.back.make_scratch_vec();
        let scale = 1.0 / self.len() as f64;
        for (source, target) in spectrum.chunks_exact_mut(self.half()).zip(x.chunks_exact_mut(self.columns)) {
            // A real row has a real mean and, at even length, a real last coefficient: rounding is taken off.
            source[0].im = 0.0;
            if self.columns.is_multiple_of(2) {
                source[self.columns / 2].im = 0.0;
            }
            self.back.process_with_scratch(source, target, &mut scratch).expect("planned lengths");
            target.iter_mut().for_each(|value| *value *= scale);
        }
    }

    /// The whole spectrum of `x`, `rows × columns` numbers, for sums over all frequencies.
    pub fn whole(&self, x: &[f64]) -> Vec<Complex64> {
        let spectrum = self.forward(x);
        let half = self.half();
        let mut whole = Vec::with_capacity(self.len());
        for a in 0..self.rows {
            let mirrored = (self.rows - a) % self.rows;
            for b in 0..self.columns {
                whole.push(match b < half {
                    true => spectrum[a * half + b],
                    false => spectrum[mirrored * half + self.columns - b].conj(),
                });
            }
        }
        whole
    }

    /// The transform of a complex array of `rows × columns`, in its place.
    pub fn complex_forward(&self, array: &mut [Complex64]) {
        assert_eq!(array.len(), self.len(), "an array of the planned length");
        self.rows_there.process(array);
        self.columns_through(&*self.down, array, self.columns);
    }

    /// What [`Fourier::complex_forward`] made the array of, in its place.
    pub fn complex_inverse(&self, array: &mut [Complex64]) {
        assert_eq!(array.len(), self.len(), "an array of the planned length");
        self.rows_back.process(array);
        self.columns_through(&*self.up, array, self.columns);
        let scale = 1.0 / self.len() as f64;
        array.iter_mut().for_each(|value| *value *= scale);
    }

    fn columns_through(&self, plan: &dyn Fft<f64>, spectrum: &mut [Complex64], half: usize) {
        if self.rows == 1 {
            return;
        }
        let mut column = vec![Complex64::default(); self.rows];
        let mut scratch = vec![Complex64::default(); plan.get_inplace_scratch_len()];
        for b in 0..half {
            for a in 0..self.rows {
                column[a] = spectrum[a * half + b];
            }
            plan.process_with_scratch(&mut column, &mut scratch);
            for a in 0..self.rows {
                spectrum[a * half + b] = column[a];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directly(rows: usize, columns: usize, x: &[f64], a: usize, b: usize) -> Complex64 {
        let mut sum = Complex64::default();
        for s in 0..rows {
            for t in 0..columns {
                let turn = (a * s) as f64 / rows as f64 + (b * t) as f64 / columns as f64;
                sum += x[s * columns + t] * Complex64::from_polar(1.0, -std::f64::consts::TAU * turn);
            }
        }
        sum
    }

    #[test]
    fn is_the_sum_it_says() {
        for (rows, columns) in [(1, 1), (1, 2), (1, 7), (1, 8), (3, 4), (4, 5), (2, 1), (5, 6)] {
            let plan = Fourier::new(rows, columns);
            let x: Vec<f64> = (0..rows * columns).map(|i| ((i * i + 3) % 7) as f64 - 2.5).collect();
            let whole = plan.whole(&x);
            for a in 0..rows {
                for b in 0..columns {
                    let error = (whole[a * columns + b] - directly(rows, columns, &x, a, b)).norm();
                    assert!(error < 1e-11, "{rows} × {columns} at ({a}, {b}): {error}");
                }
            }
            let mut complex: Vec<Complex64> = x.iter().map(|&x| Complex64::new(x, 0.0)).collect();
            plan.complex_forward(&mut complex);
            assert!(whole.iter().zip(&complex).all(|(a, b)| (a - b).norm() < 1e-11));
            plan.complex_inverse(&mut complex);
            assert!(x.iter().zip(&complex).all(|(a, b)| (b - a).norm() < 1e-12));
            let back = plan.inverse(&plan.forward(&x));
            assert!(x.iter().zip(&back).all(|(x, y)| (x - y).abs() < 1e-12));
        }
    }
}
