//! The thesis's update as its theorem prints it: the average of normalised columns, on the cumulant of n³ numbers.

use super::super::data::Signals;
use super::super::extent::Extent;
use super::super::filters::Filters;
use crate::error::{Error, Result};
use rayon::prelude::*;
use tenfold_engine::linalg::{Complex64, Fourier, Mat, random, solve};
use tenfold_engine::progress::Progress;

/// Longest windows whose cumulant is formed: n³ numbers.
const LONGEST: usize = 128;

/// Rounds over the three modes.
const ROUNDS: usize = 100;

/// The third cumulant of windows as they are, without using that it does not change under shifts.
struct Cumulant {
    n: usize,
    /// Entry (i · n + j) · n + l.
    values: Mat,
    plan: Fourier,
}

/// Motifs as long as the windows by the thesis's theorem: M = C (H ⊙ G)((HᵀH) .⋆ (GᵀG))⁺, each column of a motif's n × n block
/// brought to unit norm, and the block's diagonals averaged. Kept for comparison: columns that hold mostly noise weigh as much
/// as the others, so this is not the least-squares solution.
///
/// # Errors
/// Windows that are not circles of one size and one channel, or too long; a listener that stops the run.
pub fn normalised_average(
    motifs: usize,
    signals: &Signals,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Filters> {
    let cumulant = Cumulant::of(signals)?;
    let mut rng = random::rng(seed, 0x7e0);
    let mut draw = || (0..motifs).map(|_| random::sphere(cumulant.n, &mut rng)).collect::<Vec<_>>();
    let mut modes = [draw(), draw(), draw()];
    progress.stage("alternating", ROUNDS as u64);
    for _ in 0..ROUNDS {
        progress.check()?;
        for _ in 0..3 {
            let [_, g, h] = modes;
            let f = cumulant.update(&g, &h);
            modes = [g, h, f];
        }
        progress.advance(1);
    }
    Ok(Filters::new(modes[2].concat(), 1, Extent::line(cumulant.n)))
}

impl Cumulant {
    fn of(signals: &Signals) -> Result<Self> {
        let all = signals.stretches();
        let n = all.first().map_or(0, |stretch| stretch.extent.columns);
        let even = all.iter().all(|stretch| stretch.extent == Extent::line(n));
        if !signals.is_cyclic() || !even || signals.channels().len() != 1 || !(2..=LONGEST).contains(&n) {
            return Err(Error::Unfit {
                problem: format!(
                    "the theorem's average needs cyclic windows of one size up to {LONGEST}, in one channel"
                ),
                remedy: "cut the signals into windows and say --cyclic, or take --solver subspace".into(),
            });
        }
        let centre = super::super::moments::centres(signals)[0];
        let x = Mat::from_fn(all.len(), n, |w, i| all[w].values[i] - centre);
        let mut values = Mat::zeros(n * n, n);
        for i in 0..n {
            let mut scaled = x.clone();
            (0..x.rows())
                .for_each(|w| scaled.row_mut(w).iter_mut().for_each(|v| *v *= x[(w, i)] / x.rows() as f64));
            let slice = scaled.tr_matmul(&x);
            (0..n).for_each(|j| values.row_mut(i * n + j).copy_from_slice(slice.row(j)));
        }
        Ok(Self { n, values, plan: Fourier::new(1, n) })
    }

    fn update(&self, g: &[Vec<f64>], h: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let (n, count) = (self.n, g.len());
        // C (H ⊙ G): for every motif l and shift s, Σ_jl C(i, j, l) g(j − s) h(l − s).
        let shifted = |filters: &[Vec<f64>]| {
            Mat::from_fn(n, count * n, |t, column| filters[column / n][(t + n - column % n) % n])
        };
        let (gs, hs) = (shifted(g), shifted(h));
        let inner = self.values.matmul(&hs);
        let mut raw = Mat::zeros(n, count * n);
        raw.as_mut_slice().par_chunks_mut(count * n).enumerate().for_each(|(i, row)| {
            for (column, value) in row.iter_mut().enumerate() {
                *value = (0..n).map(|j| inner[(i * n + j, column)] * gs[(j, column)]).sum();
            }
        });
        let solved = self.unmixed(raw, g, h);
        (0..count).map(|l| self.averaged(&solved, l)).collect()
    }

    /// Times ((HᵀH) .⋆ (GᵀG))⁺, whose blocks are circulant: n systems of L equations after a Fourier transform of the rows.
    fn unmixed(&self, raw: Mat, g: &[Vec<f64>], h: &[Vec<f64>]) -> Mat {
        let (n, count) = (self.n, g.len());
        let spectra = |filters: &[Vec<f64>]| filters.iter().map(|f| self.plan.whole(f)).collect::<Vec<_>>();
        let (gf, hf) = (spectra(g), spectra(h));
        let correlation = |a: &[Complex64], b: &[Complex64]| {
            let mut product: Vec<Complex64> = a.iter().zip(b).map(|(a, b)| a.conj() * b).collect();
            self.plan.complex_inverse(&mut product);
            product.iter().map(|z| z.re).collect::<Vec<f64>>()
        };
        let psi: Vec<Vec<Complex64>> = (0..count * count)
            .map(|at| {
                let (j, l) = (at / count, at % count);
                let both = correlation(&gf[j], &gf[l]).into_iter().zip(correlation(&hf[j], &hf[l]));
                self.plan.whole(&both.map(|(a, b)| a * b).collect::<Vec<_>>())
            })
            .collect();
        let mut out = Mat::zeros(n, count * n);
        for i in 0..n {
            let rows: Vec<Vec<Complex64>> =
                (0..count).map(|l| self.plan.whole(&raw.row(i)[l * n..(l + 1) * n])).collect();
            let mut solved = vec![vec![Complex64::default(); n]; count];
            for a in 0..n {
                let entry = |j: usize, l: usize| psi[j * count + l][a];
                let trace: f64 = (0..count).map(|l| entry(l, l).re.abs()).sum();
                let matrix = Mat::from_fn(2 * count, 2 * count, |r, c| {
                    let value = entry(c % count, r % count);
                    let ridge = if r == c { 1e-9 * trace + 1e-300 } else { 0.0 };
                    match (r < count, c < count) {
                        (true, true) | (false, false) => value.re + ridge,
                        (true, false) => -value.im,
                        (false, true) => value.im,
                    }
                });
                let right =
                    Mat::from_fn(
                        2 * count,
                        1,
                        |r, _| {
                            if r < count { rows[r][a].re } else { rows[r - count][a].im }
                        },
                    );
                let solution = solve(&matrix, &right);
                for l in 0..count {
                    solved[l][a] = Complex64::new(solution[(l, 0)], solution[(count + l, 0)]);
                }
            }
            for (l, mut spectrum) in solved.into_iter().enumerate() {
                self.plan.complex_inverse(&mut spectrum);
                let target = &mut out.row_mut(i)[l * n..(l + 1) * n];
                target.iter_mut().zip(&spectrum).for_each(|(value, z)| *value = z.re);
            }
        }
        out
    }

    /// Columns of a motif's block at unit norm, averaged along the circulant diagonals, at unit norm.
    fn averaged(&self, blocks: &Mat, l: usize) -> Vec<f64> {
        let n = self.n;
        let mut filter = vec![0.0; n];
        for s in 0..n {
            let column: Vec<f64> = (0..n).map(|i| blocks[(i, l * n + s)]).collect();
            let norm = column.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-300);
            for (t, value) in filter.iter_mut().enumerate() {
                *value += column[(t + s) % n] / norm;
            }
        }
        let norm = filter.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-300);
        filter.iter_mut().for_each(|value| *value /= norm);
        filter
    }
}
