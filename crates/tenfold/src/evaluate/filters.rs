//! How near found motifs are to true ones.

use tenfold_engine::linalg::{Complex64, Fourier, Mat, assign};

/// The error of a motif that was not found at all: that of one at right angles.
const MISSED: f64 = std::f64::consts::SQRT_2;

/// Motifs as they lie in memory: motif after motif, within it channel after channel, within that row after row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FilterBank<'a> {
    /// The numbers.
    pub values: &'a [f64],
    /// Channels of a motif.
    pub channels: usize,
    /// Rows of a channel: 1 for signals, the height for images.
    pub rows: usize,
    /// Samples of a row.
    pub columns: usize,
}

impl<'a> FilterBank<'a> {
    /// Motifs of one channel over time.
    pub fn lines(values: &'a [f64], samples: usize) -> Self {
        Self { values, channels: 1, rows: 1, columns: samples }
    }

    fn size(&self) -> usize {
        self.channels * self.rows * self.columns
    }

    fn count(&self) -> usize {
        self.values.len() / self.size()
    }

    /// The spectra of a motif's channels, of unit norm together and padded with zeros to the plan's size.
    fn spectra(&self, l: usize, plan: &Fourier, width: usize) -> Vec<Vec<Complex64>> {
        let motif = &self.values[l * self.size()..(l + 1) * self.size()];
        let norm = motif.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        motif
            .chunks_exact(self.rows * self.columns)
            .map(|channel| {
                let mut padded = vec![0.0; plan.len()];
                for (from, to) in channel.chunks_exact(self.columns).zip(padded.chunks_exact_mut(width)) {
                    from.iter().zip(to).for_each(|(x, y)| *y = x * scale);
                }
                plan.forward(&padded)
            })
            .collect()
    }
}

/// True motifs and their partners among the found ones.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterMatch {
    /// For each true motif its partner, if it has one.
    pub partners: Vec<Option<usize>>,
    /// For each true motif its error, √2 without a partner.
    pub errors: Vec<f64>,
    /// By how many rows and samples the partner must be moved to lie on the true motif.
    pub shifts: Vec<(i64, i64)>,
    /// 1, or −1 where the partner stands on its head.
    pub signs: Vec<f64>,
}

impl FilterMatch {
    /// The largest error; not a number when there is no true motif.
    pub fn worst(&self) -> f64 {
        self.errors.iter().copied().reduce(f64::max).unwrap_or(f64::NAN)
    }

    /// The mean error; not a number when there is no true motif.
    pub fn mean(&self) -> f64 {
        self.errors.iter().sum::<f64>() / self.errors.len() as f64
    }

    /// The share of true motifs whose error is at most `most`.
    pub fn share_within(&self, most: f64) -> f64 {
        self.errors.iter().filter(|&&e| e <= most).count() as f64 / self.errors.len() as f64
    }
}

/// The errors of found motifs after the best shift, sign and order: for a pair of unit norm
///
/// e = min over shifts and signs of ‖f − ±g‖ = √(2 − 2 max_shift |⟨f, shifted g⟩|),
///
/// and the one-to-one order with the largest sum of correlations. All channels of a motif are shifted together. Motifs may differ in
/// length: shorter ones are padded with zeros. With a `period` (rows, samples) motifs live on a circle or torus of that size; without one what
/// is shifted over an edge is lost.
///
/// # Complexity
/// O(L² · channels · n log n) for motifs of n numbers.
///
/// # Panics
/// When the two have different channels, are no whole motifs, or are longer than the period.
///
/// # Example
/// ```
/// use tenfold::evaluate::{FilterBank, filter_errors};
/// let truth = [1.0, 2.0, 0.0, 0.0, /**/ 1.0, -1.0, 1.0, 0.0];
/// let found = [0.0, 3.0, -3.0, 3.0, /**/ 0.0, 0.0, -1.0, -2.0];
/// let matched = filter_errors(FilterBank::lines(&truth, 4), FilterBank::lines(&found, 4), None);
/// assert_eq!(matched.partners, [Some(1), Some(0)]);
/// assert_eq!((matched.shifts[0], matched.signs[0]), ((0, -2), -1.0));
/// assert!(matched.worst() < 1e-7);
/// ```
pub fn filter_errors(truth: FilterBank, found: FilterBank, period: Option<(usize, usize)>) -> FilterMatch {
    assert_eq!(truth.channels, found.channels, "motifs of the same channels");
    for bank in [&truth, &found] {
        assert!(bank.size() > 0 && bank.values.len().is_multiple_of(bank.size()), "whole motifs");
        let inside = period.is_none_or(|(rows, columns)| bank.rows <= rows && bank.columns <= columns);
        assert!(inside, "motifs within the period");
    }
    // Without a period there is room for every shift beside the motif.
    let (rows, columns) = period.unwrap_or((truth.rows + found.rows - 1, truth.columns + found.columns - 1));
    let plan = Fourier::new(rows, columns);
    let all = |bank: &FilterBank| -> Vec<Vec<Vec<Complex64>>> {
        (0..bank.count()).map(|l| bank.spectra(l, &plan, columns)).collect()
    };
    let (true_spectra, found_spectra) = (all(&truth), all(&found));
    let best: Vec<Vec<(f64, usize)>> =
        true_spectra.iter().map(|f| found_spectra.iter().map(|g| largest(&plan, f, g)).collect()).collect();
    let (count, others) = (truth.count(), found.count());
    let mut matched = FilterMatch {
        partners: partners(&Mat::from_fn(count, others, |i, j| best[i][j].0.abs())),
        errors: vec![MISSED; count],
        shifts: vec![(0, 0); count],
        signs: vec![1.0; count],
    };
    for i in 0..count {
        let Some(j) = matched.partners[i] else { continue };
        let (correlation, at) = best[i][j];
        matched.errors[i] = (2.0 - 2.0 * correlation.abs()).max(0.0).sqrt();
        matched.signs[i] = if correlation < 0.0 { -1.0 } else { 1.0 };
        // Shifts backwards are found at the end of the circle.
        let back = |at: usize, reach: usize, circle: usize| {
            if at < reach { at as i64 } else { at as i64 - circle as i64 }
        };
        let reach = match period {
            Some((rows, columns)) => (rows / 2 + 1, columns / 2 + 1),
            None => (truth.rows, truth.columns),
        };
        matched.shifts[i] = (back(at / columns, reach.0, rows), back(at % columns, reach.1, columns));
    }
    matched
}

/// The correlation of largest magnitude over all shifts of g, and its shift.
fn largest(plan: &Fourier, f: &[Vec<Complex64>], g: &[Vec<Complex64>]) -> (f64, usize) {
    let mut product = vec![Complex64::default(); f.first().map_or(0, Vec::len)];
    for (a, b) in f.iter().zip(g) {
        product.iter_mut().zip(a.iter().zip(b)).for_each(|(p, (x, y))| *p += x * y.conj());
    }
    let correlations = plan.inverse(&product);
    let mut best = (0.0f64, 0);
    for (at, &c) in correlations.iter().enumerate() {
        // The first of equal ones, so that the answer does not hang on the last digits.
        if c.abs() > best.0.abs() + 1e-12 {
            best = (c, at);
        }
    }
    best
}

/// The order with the largest sum; where there are fewer columns than rows, rows stay alone.
pub(super) fn partners(scores: &Mat) -> Vec<Option<usize>> {
    let mut partners = vec![None; scores.rows()];
    if scores.cols() == 0 || scores.rows() == 0 {
        return partners;
    }
    if scores.rows() <= scores.cols() {
        assign(scores).into_iter().enumerate().for_each(|(i, j)| partners[i] = Some(j));
    } else {
        assign(&scores.transpose()).into_iter().enumerate().for_each(|(j, i)| partners[i] = Some(j));
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::random;

    /// min over shifts and signs of ‖f − ±g‖, index by index.
    fn directly(
        f: &[f64],
        g: &[f64],
        (c, r, n): (usize, usize, usize),
        (rows, cols): (usize, usize),
        cyclic: bool,
    ) -> f64 {
        let unit = |x: &[f64]| {
            let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
            x.iter().map(|v| v / norm).collect::<Vec<f64>>()
        };
        let (f, g) = (unit(f), unit(g));
        let mut best = f64::INFINITY;
        for dy in -(rows as i64)..=rows as i64 {
            for dx in -(cols as i64)..=cols as i64 {
                let mut inner = 0.0;
                for ch in 0..c {
                    for y in 0..r as i64 {
                        for x in 0..n as i64 {
                            let (mut ty, mut tx) = (y + dy, x + dx);
                            if cyclic {
                                (ty, tx) = (ty.rem_euclid(rows as i64), tx.rem_euclid(cols as i64));
                            }
                            if (0..r as i64).contains(&ty) && (0..n as i64).contains(&tx) {
                                inner += f[(ch * r + ty as usize) * n + tx as usize]
                                    * g[(ch * r + y as usize) * n + x as usize];
                            }
                        }
                    }
                }
                best = best.min((2.0 - 2.0 * inner.abs()).max(0.0).sqrt());
            }
        }
        best
    }

    #[test]
    fn one_pair_has_the_smallest_distance_over_all_shifts() {
        for (stream, (c, r, n)) in [(0, (1, 1, 7)), (1, (3, 1, 5)), (2, (1, 3, 4)), (3, (2, 2, 3))] {
            let mut rng = random::rng(5, stream);
            let size = c * r * n;
            let (f, g) = (random::sphere(size, &mut rng), random::sphere(size, &mut rng));
            let bank = |values| FilterBank { values, channels: c, rows: r, columns: n };
            let linear = filter_errors(bank(&f), bank(&g), None);
            assert!((linear.errors[0] - directly(&f, &g, (c, r, n), (r, n), false)).abs() < 1e-9);
            let cyclic = filter_errors(bank(&f), bank(&g), Some((r, n + 2)));
            assert!((cyclic.errors[0] - directly(&f, &g, (c, r, n), (r, n + 2), true)).abs() < 1e-9);
        }
    }

    #[test]
    fn order_sign_shift_scale_and_support_do_not_count() {
        let mut rng = random::rng(6, 0);
        let truth: Vec<f64> = (0..4).flat_map(|_| random::sphere(8, &mut rng)).collect();
        // Found with twelve samples, moved by l, in another order; the last true one is missing and a stray one is there.
        let mut found = vec![0.0; 36];
        for (place, l) in [2, 0, 1].into_iter().enumerate() {
            (0..8).for_each(|t| found[place * 12 + t + l] = -3.0 * truth[l * 8 + t]);
        }
        let matched = filter_errors(FilterBank::lines(&truth, 8), FilterBank::lines(&found, 12), None);
        assert_eq!(matched.partners, [Some(1), Some(2), Some(0), None]);
        assert_eq!(matched.shifts[..3], [(0, 0), (0, -1), (0, -2)]);
        assert!(matched.errors[..3].iter().all(|e| *e < 1e-7) && matched.errors[3] == MISSED);
        assert!(matched.signs[..3].iter().all(|s| *s == -1.0));
        assert_eq!((matched.share_within(0.1), matched.worst()), (0.75, MISSED));
        let none = filter_errors(FilterBank::lines(&truth, 8), FilterBank::lines(&[], 8), None);
        assert_eq!(none.mean(), MISSED);
    }

    #[test]
    fn a_motif_of_zeros_is_as_far_as_can_be() {
        let matched =
            filter_errors(FilterBank::lines(&[1.0, 0.0], 2), FilterBank::lines(&[0.0, 0.0], 2), None);
        assert_eq!(matched.errors, [MISSED]);
    }
}
