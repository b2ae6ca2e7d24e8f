//! The likelihood polish: Newton steps on an adaptive likelihood, from the tensor's answer.
//!
//! The cumulant estimate is consistent but spends samples: for Laplace sources its variance is several times the
//! least possible. At z = B y the relative gradient of the log-likelihood is G_ij = E[ψ_i(z_i) z_j] − δ_ij, where
//! ψ_i = −(ln p_i)′ is the score of source i. The score is fitted to the source itself: ψ_i = Σ_l c_l h_l with
//! E[h hᵀ] c = E[h′], the best approximation in the mean square (Pham and Garat, 1997). Then B ← (I + E) B with E from
//! the Hessian's 2 × 2 blocks.

use tenfold_engine::linalg::parallel::{BLOCK, add_assign, sum_blocks};
use tenfold_engine::linalg::{Mat, Rows, pinv};
use tenfold_engine::progress::Progress;
use tenfold_engine::{Error, Result};

/// 1, z, z², z³, z/√(1+z²), 1/√(1+z²): odd and even, growing and bounded, and cheap. The bounded pair serves heavy
/// tails, the cube flat sources, the even ones skewness.
const BASIS: usize = 6;
/// Distinct products h_l h_m.
const PRODUCTS: usize = BASIS * (BASIS + 1) / 2;
/// Sums kept for every source: products, derivatives, z², ψ′ and ψ′ z².
const SUMS: usize = PRODUCTS + BASIS + 3;
/// The score is refitted in the first steps and then kept, so that the iteration has a fixed point.
const ADAPTIVE_STEPS: usize = 5;
/// Smallest eigenvalue allowed in a 2 × 2 block: two Gaussian sources have a singular one.
const CURVATURE_FLOOR: f64 = 0.05;
/// Largest relative step; farther away the quadratic model says little.
const LONGEST_STEP: f64 = 0.5;

/// What the polish reached.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Polished {
    /// The unmixing of white samples, k × k; not exactly orthogonal.
    pub(super) unmixing: Mat,
    /// Steps taken.
    pub(super) steps: usize,
    /// Whether the gradient fell below its tolerance.
    pub(super) converged: bool,
}

/// Polishes `start` (rows are directions) on white samples, at most `max_steps` passes over them.
pub(super) fn polish(
    white: &dyn Rows,
    start: &Mat,
    max_steps: usize,
    progress: &dyn Progress,
) -> Result<Polished> {
    let k = start.rows();
    let n = white.rows() as f64;
    // A thousandth of the statistical error 1/√n: more digits would be digits of noise.
    let tolerance = 1e-3 / n.sqrt();
    let mut b = start.clone();
    let mut scores = Mat::from_fn(k, BASIS, |_, l| if l == 1 { 1.0 } else { 0.0 });
    let mut first_gradient = None;
    progress.stage("polishing", max_steps as u64);
    for step in 0..=max_steps {
        progress.check()?;
        let sums = Sums::gather(white, &b, &scores)?;
        if step < ADAPTIVE_STEPS {
            scores = sums.fit_scores()?;
        }
        if step == 0 {
            // The first pass only fits the scores.
            continue;
        }
        let largest = sums.largest_gradient();
        let worst_start = *first_gradient.get_or_insert(largest);
        if !largest.is_finite() || largest > 10.0 * worst_start.max(tolerance) {
            break;
        }
        if step >= ADAPTIVE_STEPS.min(max_steps) && largest < tolerance {
            return Ok(Polished { unmixing: b, steps: step, converged: true });
        }
        b = sums.newton_step(&b);
        progress.advance(1);
    }
    let sound = b.as_slice().iter().all(|x| x.is_finite());
    let unmixing = if sound { b } else { start.clone() };
    Ok(Polished { unmixing, steps: max_steps, converged: false })
}

/// Means over the samples at the current unmixing and scores.
struct Sums {
    /// k × SUMS.
    per_source: Mat,
    /// E[ψ_i(z_i) z_j].
    cross: Mat,
}

impl Sums {
    fn gather(white: &dyn Rows, b: &Mat, scores: &Mat) -> Result<Self> {
        let (n, k) = (white.rows(), b.rows());
        let directions = b.transpose();
        let total = sum_blocks(
            n,
            BLOCK,
            || vec![0.0; k * SUMS + k * k],
            |sum, range| {
                let mut y = Mat::zeros(range.len(), white.cols());
                white.read_rows(range.start, y.as_mut_slice())?;
                let z = y.matmul(&directions);
                let mut psi = Mat::zeros(z.rows(), k);
                let (own, cross) = sum.split_at_mut(k * SUMS);
                for t in 0..z.rows() {
                    add_row(z.row(t), scores, own, psi.row_mut(t));
                }
                add_assign(cross, psi.tr_matmul(&z).as_slice());
                Ok::<(), Error>(())
            },
            |total, lane| add_assign(total, &lane),
        )?;
        let scaled: Vec<f64> = total.iter().map(|x| x / n as f64).collect();
        let (own, cross) = scaled.split_at(k * SUMS);
        // Sums lie with the sources together (they are added in one sweep over a row); turn them round.
        let per_source = Mat::from_fn(k, SUMS, |i, s| own[s * k + i]);
        Ok(Self { per_source, cross: Mat::from_vec(k, k, cross.to_vec()) })
    }

    /// c with E[h hᵀ] c = E[h′] for every source.
    fn fit_scores(&self) -> Result<Mat> {
        let k = self.per_source.rows();
        let mut scores = Mat::zeros(k, BASIS);
        for i in 0..k {
            let sums = self.per_source.row(i);
            let products = Mat::from_fn(BASIS, BASIS, |l, m| sums[product(l.max(m), l.min(m))]);
            // Scaled to a unit diagonal first: z³ has a far larger mean square than the bounded functions.
            let scale: Vec<f64> =
                (0..BASIS).map(|l| products[(l, l)].max(f64::MIN_POSITIVE).powf(-0.5)).collect();
            let scaled = Mat::from_fn(BASIS, BASIS, |l, m| products[(l, m)] * scale[l] * scale[m]);
            let right: Vec<f64> = (0..BASIS).map(|l| sums[PRODUCTS + l] * scale[l]).collect();
            let solution = pinv(&scaled, 1e-8)?.matvec(&right);
            (0..BASIS).for_each(|l| scores[(i, l)] = solution[l] * scale[l]);
        }
        Ok(scores)
    }

    fn gradient(&self, i: usize, j: usize) -> f64 {
        self.cross[(i, j)] - if i == j { 1.0 } else { 0.0 }
    }

    fn largest_gradient(&self) -> f64 {
        let k = self.cross.rows();
        let pairs = (0..k).flat_map(|i| (0..k).map(move |j| (i, j))).filter(|(i, j)| i != j);
        // f64::max passes over NaN, which must stop the polish instead.
        pairs
            .map(|(i, j)| self.gradient(i, j).abs())
            .fold(0.0, |m: f64, g| if g.is_nan() { f64::NAN } else { m.max(g) })
    }

    /// (I + E) B with (E_ij, E_ji) from [κ_i σ_j², 1; 1, κ_j σ_i²] (E_ij, E_ji) = −(G_ij, G_ji).
    fn newton_step(&self, b: &Mat) -> Mat {
        let k = self.cross.rows();
        let last = SUMS - 3;
        let variance = |i: usize| self.per_source[(i, last)];
        let slope = |i: usize| self.per_source[(i, last + 1)];
        let mut step = Mat::zeros(k, k);
        for i in 0..k {
            step[(i, i)] = -self.gradient(i, i) / (1.0 + self.per_source[(i, last + 2)]).max(CURVATURE_FLOOR);
            for j in 0..i {
                let (mut a, mut d) = (slope(i) * variance(j), slope(j) * variance(i));
                let smallest = 0.5 * (a + d) - (0.25 * (a - d) * (a - d) + 1.0).sqrt();
                if smallest < CURVATURE_FLOOR {
                    a += CURVATURE_FLOOR - smallest;
                    d += CURVATURE_FLOOR - smallest;
                }
                let determinant = a * d - 1.0;
                let (gi, gj) = (self.gradient(i, j), self.gradient(j, i));
                step[(i, j)] = -(d * gi - gj) / determinant;
                step[(j, i)] = -(a * gj - gi) / determinant;
            }
        }
        let longest = step.max_abs();
        let factor = if longest > LONGEST_STEP { LONGEST_STEP / longest } else { 1.0 };
        let mut next = b.clone();
        next.add_scaled(factor, &step.matmul(b));
        next
    }
}

/// Place of h_l h_m, l ≥ m, among the products.
const fn product(l: usize, m: usize) -> usize {
    l * (l + 1) / 2 + m
}

/// Adds one row of sources to `sums` (sum s of source i at s·k + i) and writes ψ.
fn add_row(z: &[f64], scores: &Mat, sums: &mut [f64], psi: &mut [f64]) {
    let k = z.len();
    for i in 0..k {
        let x = z[i];
        let r = 1.0 / (1.0 + x * x).sqrt();
        let h = [1.0, x, x * x, x * x * x, x * r, r];
        let slopes = [0.0, 1.0, 2.0 * x, 3.0 * x * x, r * r * r, -x * r * r * r];
        let c = scores.row(i);
        let (mut score, mut slope) = (0.0, 0.0);
        for l in 0..BASIS {
            score += c[l] * h[l];
            slope += c[l] * slopes[l];
            for m in 0..=l {
                sums[product(l, m) * k + i] += h[l] * h[m];
            }
            sums[(PRODUCTS + l) * k + i] += slopes[l];
        }
        psi[i] = score;
        let last = SUMS - 3;
        sums[last * k + i] += x * x;
        sums[(last + 1) * k + i] += slope;
        sums[(last + 2) * k + i] += slope * x * x;
    }
}
