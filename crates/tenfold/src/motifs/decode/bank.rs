//! The motifs as a bank of linear filters in the Fourier domain.

use crate::motifs::{Extent, Filters};
use tenfold_engine::linalg::{Complex64, Fourier};

/// The spectra of all motifs on a grid, which is a circle or a torus.
pub(in crate::motifs) struct Bank {
    pub(in crate::motifs) plan: Fourier,
    pub(in crate::motifs) grid: Extent,
    pub(in crate::motifs) motifs: usize,
    pub(in crate::motifs) channels: usize,
    /// Frequencies of the half spectrum.
    pub(in crate::motifs) half: usize,
    /// Motif after motif, within it channel after channel.
    spectra: Vec<Complex64>,
}

impl Bank {
    /// A motif longer than the grid goes around it.
    pub(in crate::motifs) fn new(filters: &Filters, grid: Extent) -> Self {
        Self::with(Fourier::new(grid.rows, grid.columns), filters, grid)
    }

    /// [`Bank::new`] with the transform of the grid that is there already.
    pub(in crate::motifs) fn with(plan: Fourier, filters: &Filters, grid: Extent) -> Self {
        let half = grid.rows * plan.half();
        let (motifs, channels) = (filters.count(), filters.channels);
        let mut bank = Self { plan, grid, motifs, channels, half, spectra: Vec::new() };
        bank.spectra = (0..motifs * channels)
            .flat_map(|at| {
                let taps = laid(filters.channel(at / channels, at % channels), filters.extent, grid);
                bank.plan.forward(&taps)
            })
            .collect();
        bank
    }

    /// The spectrum of motif `l` in channel `c`.
    pub(in crate::motifs) fn spectrum(&self, l: usize, c: usize) -> &[Complex64] {
        let at = l * self.channels + c;
        &self.spectra[at * self.half..(at + 1) * self.half]
    }

    /// The spectra of all motifs and channels.
    pub(in crate::motifs) fn all(&self) -> &[Complex64] {
        &self.spectra
    }

    /// The largest Σ_lc |F_lc(ω)|² of a frequency: the scale of everything that is regularised.
    pub(in crate::motifs) fn peak(&self) -> f64 {
        let mut power = vec![0.0; self.half];
        for spectrum in self.spectra.chunks_exact(self.half) {
            power.iter_mut().zip(spectrum).for_each(|(p, f)| *p += f.norm_sqr());
        }
        power.into_iter().fold(0.0, f64::max)
    }

    /// `out` −= F `maps`: channels from activations, all of them spectra.
    pub(in crate::motifs) fn subtract(&self, maps: &[Complex64], out: &mut [Complex64]) {
        for l in 0..self.motifs {
            let map = &maps[l * self.half..(l + 1) * self.half];
            for c in 0..self.channels {
                let target = &mut out[c * self.half..(c + 1) * self.half];
                for ((t, f), m) in target.iter_mut().zip(self.spectrum(l, c)).zip(map) {
                    *t -= f * m;
                }
            }
        }
    }

    /// `maps` += Fᴴ `channels`.
    pub(in crate::motifs) fn add_adjoint(&self, channels: &[Complex64], maps: &mut [Complex64]) {
        for l in 0..self.motifs {
            let map = &mut maps[l * self.half..(l + 1) * self.half];
            for c in 0..self.channels {
                let source = &channels[c * self.half..(c + 1) * self.half];
                for ((m, f), s) in map.iter_mut().zip(self.spectrum(l, c)).zip(source) {
                    *m += f.conj() * s;
                }
            }
        }
    }

    /// The half spectra of real arrays, one after the other.
    pub(in crate::motifs) fn forward(&self, arrays: &[f64], spectra: &mut [Complex64]) {
        let n = self.grid.len();
        for (x, s) in arrays.chunks_exact(n).zip(spectra.chunks_exact_mut(self.half)) {
            self.plan.forward_into(x, s);
        }
    }

    /// Real arrays from their half spectra, which are overwritten.
    pub(in crate::motifs) fn inverse(&self, spectra: &mut [Complex64], arrays: &mut [f64]) {
        let n = self.grid.len();
        for (x, s) in arrays.chunks_exact_mut(n).zip(spectra.chunks_exact_mut(self.half)) {
            self.plan.inverse_into(s, x);
        }
    }
}

/// Taps on a grid that starts with the first of them.
fn laid(taps: &[f64], extent: Extent, grid: Extent) -> Vec<f64> {
    let mut array = vec![0.0; grid.len()];
    for (at, tap) in taps.iter().enumerate() {
        let (row, column) = (at / extent.columns % grid.rows, at % extent.columns % grid.columns);
        array[row * grid.columns + column] += tap;
    }
    array
}

/// (βI + F Fᴴ)⁻¹ at every frequency: by channels × channels inverses, or by motifs × motifs ones where there are fewer
/// motifs (Sherman, Morrison and Woodbury).
pub(in crate::motifs) struct Ridge {
    beta: f64,
    by_motifs: bool,
    order: usize,
    /// Entry (i, j) of all inverses lies together.
    inverses: Vec<Complex64>,
}

impl Ridge {
    pub(in crate::motifs) fn new(bank: &Bank, beta: f64) -> Self {
        let by_motifs = bank.motifs < bank.channels;
        let order = bank.motifs.min(bank.channels);
        let inner = if by_motifs { bank.channels } else { bank.motifs };
        let mut inverses = vec![Complex64::default(); order * order * bank.half];
        let mut matrix = vec![Complex64::default(); order * order];
        for w in 0..bank.half {
            for i in 0..order {
                for j in 0..=i {
                    let mut sum = Complex64::new(if i == j { beta } else { 0.0 }, 0.0);
                    for k in 0..inner {
                        sum += match by_motifs {
                            true => bank.spectrum(i, k)[w].conj() * bank.spectrum(j, k)[w],
                            false => bank.spectrum(k, i)[w] * bank.spectrum(k, j)[w].conj(),
                        };
                    }
                    matrix[i * order + j] = sum;
                    matrix[j * order + i] = sum.conj();
                }
            }
            invert(&mut matrix, order);
            for (at, value) in matrix.iter().enumerate() {
                inverses[at * bank.half + w] = *value;
            }
        }
        Self { beta, by_motifs, order, inverses }
    }

    /// `maps` += Fᴴ(βI + F Fᴴ)⁻¹ r; r becomes (βI + F Fᴴ)⁻¹ r. Where motifs are fewer, Fᴴ(βI + F Fᴴ)⁻¹ =
    /// (βI + FᴴF)⁻¹Fᴴ, which loses no digits to a small β.
    pub(in crate::motifs) fn correct(&self, bank: &Bank, r: &mut [Complex64], maps: &mut [Complex64]) {
        if !self.by_motifs {
            self.times(bank.half, r);
            bank.add_adjoint(r, maps);
            return;
        }
        let mut pulled = vec![Complex64::default(); bank.motifs * bank.half];
        bank.add_adjoint(r, &mut pulled);
        self.times(bank.half, &mut pulled);
        maps.iter_mut().zip(&pulled).for_each(|(m, p)| *m += p);
        bank.subtract(&pulled, r);
        r.iter_mut().for_each(|q| *q /= self.beta);
    }

    fn times(&self, half: usize, v: &mut [Complex64]) {
        if self.order == 1 {
            v.iter_mut().zip(&self.inverses).for_each(|(v, g)| *v *= g.re);
            return;
        }
        let source = v.to_vec();
        for i in 0..self.order {
            let target = &mut v[i * half..(i + 1) * half];
            target.fill(Complex64::default());
            for j in 0..self.order {
                let at = i * self.order + j;
                let entries = &self.inverses[at * half..(at + 1) * half];
                let from = &source[j * half..(j + 1) * half];
                for ((t, g), s) in target.iter_mut().zip(entries).zip(from) {
                    *t += g * s;
                }
            }
        }
    }
}

/// The inverse of a positive definite Hermitian matrix in place (Gauss and Jordan; no pivots are needed).
pub(in crate::motifs) fn invert(a: &mut [Complex64], n: usize) {
    for p in 0..n {
        let pivot = 1.0 / a[p * n + p].re.max(f64::MIN_POSITIVE);
        a[p * n + p] = Complex64::new(1.0, 0.0);
        for j in 0..n {
            a[p * n + j] *= pivot;
        }
        for i in (0..n).filter(|i| *i != p) {
            let factor = a[i * n + p];
            a[i * n + p] = Complex64::default();
            for j in 0..n {
                let step = factor * a[p * n + j];
                a[i * n + j] -= step;
            }
        }
    }
}
