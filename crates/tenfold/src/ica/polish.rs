//! The likelihood polish: Newton steps on an adaptive likelihood, from the tensor's answer.
//!
//! The cumulant estimate is consistent but spends samples: for Laplace sources its variance is several times the
//! least possible. At z = B y the relative gradient of the log-likelihood is G_ij = E[ψ_i(z_i) z_j] − δ_ij, where
//! ψ_i = −(ln p_i)′ is the score of source i. The score is fitted to the source itself: ψ_i = Σ_l c_l h_l with
//! E[h hᵀ] c = E[h′], the best approximation in the mean square (Pham and Garat, 1997). Then B ← (I + E) B with E from
//! the Hessian's 2 × 2 blocks.

use crate::checkpoint::{Keep, Rounds};
use tenfold_engine::linalg::parallel::{BLOCK, add_assign, sum_blocks};
use tenfold_engine::linalg::{Kernel, Mat, Rows, dot, solve, vectorised};
use tenfold_engine::progress::Progress;
use tenfold_engine::{Error, Result};

/// The functions h: 1, z, z², z³, z r and r with r = 1/√(1+z²): odd and even, growing and bounded, and cheap. The bounded
/// pair serves heavy tails, the cube flat sources, the even ones skewness.
const BASIS: usize = 6;
/// Means that the products h_l h_m and the derivatives h′ need: z … z⁶, r … z⁴r, r², z r², r³, z r³ (z²r² = 1 − r²).
const MEANS: usize = 15;
/// Sources whose sums are gathered together: one vector register.
const LANES: usize = 4;
/// The score is refitted in the first steps and then kept, so that the iteration has a fixed point.
const ADAPTIVE_STEPS: usize = 4;
/// Largest E[ψ′]: a source that informative is placed to a seventh of 1/√n, and a steeper score only swings.
const STEEPEST: f64 = 50.0;
/// Smallest eigenvalue allowed in a 2 × 2 block: two Gaussian sources have a singular one.
const CURVATURE_FLOOR: f64 = 0.05;
/// Largest relative step; farther away the quadratic model says little.
const LONGEST_STEP: f64 = 0.5;

/// Where the polish begins, and what it reaches.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Polished {
    /// The unmixing of white samples, k × k; not exactly orthogonal.
    pub(super) unmixing: Mat,
    /// The fitted scores, k × [`BASIS`]; none before the first pass.
    scores: Option<Mat>,
    /// Passes over the data.
    pub(super) steps: usize,
    /// Whether the steps fell below their tolerance.
    pub(super) converged: bool,
}

crate::checkpoint::keep! { Polished { unmixing, scores, steps, converged } }

impl Polished {
    /// The start: rows of `unmixing` are directions of white samples.
    pub(super) fn start(unmixing: Mat) -> Self {
        Self { unmixing, scores: None, steps: 0, converged: false }
    }
}

/// Polishes `start` on white samples, in at most `max_steps` passes over them.
pub(super) fn polish(
    white: &dyn Rows,
    start: Polished,
    max_steps: usize,
    progress: &dyn Progress,
) -> Result<Polished> {
    progress.stage("polishing", 0);
    // A thirtieth of the statistical error 1/√n adds a thousandth to its variance: more digits would be noise.
    let tolerance = 0.03 / (white.rows() as f64).sqrt();
    let Polished { unmixing: first, scores, mut steps, .. } = start;
    let mut b = first.clone();
    // Scores that were fitted before need one more look at most.
    let adaptive = if scores.is_some() { 1 } else { ADAPTIVE_STEPS };
    let mut rounds = Rounds::new(progress, "newton");
    let taken = rounds.taken::<Stand>().filter(|stand| stand.fits(&first));
    let mut done = 0;
    let (mut fitted, mut best);
    match (taken, scores) {
        (Some(stand), _) => Stand { done, steps, b, scores: fitted, best } = stand,
        (None, Some(known)) => (fitted, best) = (known, (f64::INFINITY, first)),
        (None, None) => {
            steps += 1;
            let none = Mat::zeros(b.rows(), BASIS);
            fitted = Sums::gather(white, &b, &none, progress)?.fit_scores();
            best = (f64::INFINITY, first);
        }
    };
    for step in done + 1..=max_steps {
        let sums = Sums::gather(white, &b, &fitted, progress)?;
        steps += 1;
        // The length of a step does not depend on the scale of the scores, which grows without bound for a source of
        // two values; the gradient does.
        let (next, length) = sums.newton_step(&b);
        if step > adaptive && length < tolerance {
            return Ok(Polished { unmixing: b, scores: Some(fitted), steps, converged: true });
        }
        // Steps that grow tenfold, or are no numbers, have left the basin: where they were shortest is the answer.
        if length.is_nan() || length > 10.0 * best.0.max(tolerance) {
            return Ok(Polished { unmixing: best.1, scores: None, steps, converged: false });
        }
        if length < best.0 {
            best = (length, b);
        }
        b = next;
        if step <= adaptive {
            fitted = sums.fit_scores();
        }
        progress.advance(1);
        rounds.keep(|parcel| {
            (step, steps).put(parcel);
            b.put(parcel);
            fitted.put(parcel);
            best.put(parcel);
        });
    }
    Ok(Polished { unmixing: b, scores: Some(fitted), steps, converged: false })
}

/// All that the next step needs besides the samples.
struct Stand {
    done: usize,
    steps: usize,
    b: Mat,
    scores: Mat,
    best: (f64, Mat),
}

crate::checkpoint::keep! { Stand { done, steps, b, scores, best } }

impl Stand {
    /// Whether it is of as many sources.
    fn fits(&self, first: &Mat) -> bool {
        let size = |x: &Mat| (x.rows(), x.cols());
        [size(&self.b), size(&self.best.1)] == [size(first); 2] && size(&self.scores) == (first.rows(), BASIS)
    }
}

/// Means over the samples at the current unmixing and scores.
struct Sums {
    /// k × [`MEANS`].
    means: Mat,
    /// The scores' coefficients that `cross` was taken with.
    scores: Mat,
    /// E[ψ_i(z_i) z_j].
    cross: Mat,
}

impl Sums {
    fn gather(white: &dyn Rows, b: &Mat, scores: &Mat, progress: &dyn Progress) -> Result<Self> {
        let (n, k) = (white.rows(), b.rows());
        // Sources beyond k are zero: they fill the last tile and are dropped at the end.
        let padded = k.div_ceil(LANES) * LANES;
        let directions = Mat::from_fn(b.cols(), padded, |r, i| if i < k { b[(i, r)] } else { 0.0 });
        let coefficient = |i: usize, l: usize| if i < k { scores[(i, l)] } else { 0.0 };
        let tiles: Vec<[[f64; LANES]; BASIS]> = (0..padded / LANES)
            .map(|tile| std::array::from_fn(|f| std::array::from_fn(|l| coefficient(tile * LANES + l, f))))
            .collect();
        let total = sum_blocks(
            n,
            BLOCK,
            || vec![0.0; padded * MEANS + padded * padded],
            |sum, range| {
                progress.check()?;
                let mut y = Mat::zeros(range.len(), white.cols());
                white.read_rows(range.start, y.as_mut_slice())?;
                let z = y.matmul(&directions);
                let mut psi = Mat::zeros(z.rows(), padded);
                let (own, cross) = sum.split_at_mut(padded * MEANS);
                for ((tile, scores), sums) in
                    tiles.iter().enumerate().zip(own.chunks_exact_mut(MEANS * LANES))
                {
                    vectorised(Tile { z: &z, first: tile * LANES, scores, sums, psi: &mut psi });
                }
                add_assign(cross, psi.tr_matmul(&z).as_slice());
                Ok::<(), Error>(())
            },
            |total, lane| add_assign(total, &lane),
        )?;
        let mean = |at: usize| total[at] / n as f64;
        let means = Mat::from_fn(k, MEANS, |i, m| mean((i / LANES * MEANS + m) * LANES + i % LANES));
        let cross = Mat::from_fn(k, k, |i, j| mean(padded * MEANS + i * padded + j));
        Ok(Self { means, scores: scores.clone(), cross })
    }

    /// E[h hᵀ] of source i.
    fn products(&self, i: usize) -> Mat {
        let [z1, z2, z3, z4, z5, z6, r, zr, z2r, z3r, z4r, r2, zr2, ..] = self.moments(i);
        let lower = [
            [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [z1, z2, 0.0, 0.0, 0.0, 0.0],
            [z2, z3, z4, 0.0, 0.0, 0.0],
            [z3, z4, z5, z6, 0.0, 0.0],
            [zr, z2r, z3r, z4r, 1.0 - r2, 0.0],
            [r, zr, z2r, z3r, zr2, r2],
        ];
        Mat::from_fn(BASIS, BASIS, |l, m| lower[l.max(m)][l.min(m)])
    }

    /// E[h′] of source i.
    fn slopes(&self, i: usize) -> [f64; BASIS] {
        let [z1, z2, .., r3, zr3] = self.moments(i);
        [0.0, 1.0, 2.0 * z1, 3.0 * z2, r3, -zr3]
    }

    /// E[h′ z²] of source i; z²r³ = r − r³.
    fn squared_slopes(&self, i: usize) -> [f64; BASIS] {
        let [_, z2, z3, z4, _, _, r, zr, .., r3, zr3] = self.moments(i);
        [0.0, z2, 2.0 * z3, 3.0 * z4, r - r3, zr3 - zr]
    }

    fn moments(&self, i: usize) -> [f64; MEANS] {
        self.means.row(i).try_into().expect("as many means as declared")
    }

    /// c with E[h hᵀ] c = E[h′] for every source.
    fn fit_scores(&self) -> Mat {
        let k = self.means.rows();
        let mut scores = Mat::zeros(k, BASIS);
        for i in 0..k {
            let products = self.products(i);
            // Scaled to a unit diagonal first: z³ has a far larger mean square than the bounded functions.
            let scale: Vec<f64> =
                (0..BASIS).map(|l| products[(l, l)].max(f64::MIN_POSITIVE).powf(-0.5)).collect();
            let right: Vec<f64> = self.slopes(i).iter().zip(&scale).map(|(s, w)| s * w).collect();
            let right = Mat::from_vec(BASIS, 1, right);
            // A ridge that grows until the score is no steeper than allowed: a source of few values has none at all.
            let mut ridge = 1e-9;
            let solution = loop {
                let scaled = Mat::from_fn(BASIS, BASIS, |l, m| {
                    products[(l, m)] * scale[l] * scale[m] + if l == m { ridge } else { 0.0 }
                });
                let solution = solve(&scaled, &right).into_vec();
                if dot(&solution, right.as_slice()) < STEEPEST || ridge > 1.0 {
                    break solution;
                }
                ridge *= 10.0;
            };
            (0..BASIS).for_each(|l| scores[(i, l)] = solution[l] * scale[l]);
        }
        scores
    }

    fn gradient(&self, i: usize, j: usize) -> f64 {
        self.cross[(i, j)] - if i == j { 1.0 } else { 0.0 }
    }

    /// (I + E) B with (E_ij, E_ji) from [κ_i σ_j², 1; 1, κ_j σ_i²] (E_ij, E_ji) = −(G_ij, G_ji), and the largest entry of E.
    fn newton_step(&self, b: &Mat) -> (Mat, f64) {
        let k = self.cross.rows();
        let variance: Vec<f64> = (0..k).map(|i| self.moments(i)[1]).collect();
        let slope: Vec<f64> = (0..k).map(|i| dot(self.scores.row(i), &self.slopes(i))).collect();
        let mut step = Mat::zeros(k, k);
        for i in 0..k {
            let own = 1.0 + dot(self.scores.row(i), &self.squared_slopes(i));
            step[(i, i)] = -self.gradient(i, i) / own.max(CURVATURE_FLOOR);
            for j in 0..i {
                let (mut a, mut d) = (slope[i] * variance[j], slope[j] * variance[i]);
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
        // f64::max passes over NaN, which must stop the polish instead.
        let finite = step.as_slice().iter().all(|x| x.is_finite());
        (next, if finite { longest } else { f64::NAN })
    }
}

/// Adds the sources `first..first + LANES` of all rows to `sums` (mean m of lane l at m·LANES + l) and writes their ψ. A
/// tile's sums stay in registers over all rows.
struct Tile<'a> {
    z: &'a Mat,
    first: usize,
    scores: &'a [[f64; LANES]; BASIS],
    sums: &'a mut [f64],
    psi: &'a mut Mat,
}

impl Kernel for Tile<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { z, first, scores: c, sums, psi } = self;
        let mut acc = [[0.0; LANES]; MEANS];
        let width = z.cols();
        let rows = z.as_slice().chunks_exact(width).zip(psi.as_mut_slice().chunks_exact_mut(width));
        for (z, psi) in rows {
            let x: &[f64; LANES] = z[first..first + LANES].try_into().expect("a tile");
            let out: &mut [f64; LANES] = (&mut psi[first..first + LANES]).try_into().expect("a tile");
            for l in 0..LANES {
                let x = x[l];
                let x2 = x * x;
                let r = 1.0 / (1.0 + x2).sqrt();
                let (x3, r2, xr) = (x2 * x, r * r, x * r);
                acc[0][l] += x;
                acc[1][l] += x2;
                acc[2][l] += x3;
                acc[3][l] += x2 * x2;
                acc[4][l] += x2 * x3;
                acc[5][l] += x3 * x3;
                acc[6][l] += r;
                acc[7][l] += xr;
                acc[8][l] += x * xr;
                acc[9][l] += x2 * xr;
                acc[10][l] += x3 * xr;
                acc[11][l] += r2;
                acc[12][l] += xr * r;
                acc[13][l] += r2 * r;
                acc[14][l] += xr * r2;
                out[l] = c[0][l] + c[1][l] * x + c[2][l] * x2 + c[3][l] * x3 + c[4][l] * xr + c[5][l] * r;
            }
        }
        for (sum, part) in sums.iter_mut().zip(acc.as_flattened()) {
            *sum += part;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Shape, Synth};
    use super::*;
    use tenfold_engine::linalg::random;
    use tenfold_engine::progress::Silent;

    /// E[ψ′] of a shape with the basis above, from 200,000 draws.
    fn information(shape: Shape) -> f64 {
        let mut rng = random::rng(77, 0);
        let draws = Mat::from_fn(200_000, 1, |_, _| shape.draw(&mut rng));
        let one = Mat::identity(1);
        let sums = Sums::gather(&draws, &one, &Mat::zeros(1, BASIS), &Silent).unwrap();
        dot(sums.fit_scores().row(0), &sums.slopes(0))
    }

    #[test]
    fn means_equal_explicit_sums() {
        let z = random::gaussian(1100, 3, &mut random::rng(1, 0));
        let scores = random::gaussian(3, BASIS, &mut random::rng(2, 0));
        let sums = Sums::gather(&z, &Mat::identity(3), &scores, &Silent).unwrap();
        let h = |x: f64| {
            let r = 1.0 / (1.0 + x * x).sqrt();
            [1.0, x, x * x, x * x * x, x * r, r]
        };
        let mean = |f: &dyn Fn(usize) -> f64| (0..1100).map(f).sum::<f64>() / 1100.0;
        for i in 0..3 {
            let products = sums.products(i);
            for l in 0..BASIS {
                for m in 0..BASIS {
                    let want = mean(&|t| h(z[(t, i)])[l] * h(z[(t, i)])[m]);
                    assert!((products[(l, m)] - want).abs() < 1e-12);
                }
                // Derivatives against differences of the functions themselves.
                let slope = |x: f64| (h(x + 1e-5)[l] - h(x - 1e-5)[l]) / 2e-5;
                assert!((sums.slopes(i)[l] - mean(&|t| slope(z[(t, i)]))).abs() < 1e-6);
                let squared = mean(&|t| slope(z[(t, i)]) * z[(t, i)].powi(2));
                assert!((sums.squared_slopes(i)[l] - squared).abs() < 1e-6);
            }
            for j in 0..3 {
                let want = mean(&|t| dot(scores.row(i), &h(z[(t, i)])) * z[(t, j)]);
                assert!((sums.cross[(i, j)] - want).abs() < 1e-12);
            }
        }
    }

    /// Quasi-likelihood theory: the share of source j in source i has variance κ_j / (n (κ_i κ_j − 1)), κ = E[ψ′].
    #[test]
    fn errors_have_the_variance_of_likelihood_theory() {
        let shapes = [Shape::Laplace, Shape::Uniform, Shape::Exponential];
        let kappa = shapes.map(information);
        let (n, k) = (20_000, 6);
        let (mut total, mut terms) = (0.0, 0.0);
        for seed in 0..6 {
            let drawn = Synth {
                samples: n,
                columns: k,
                sources: k,
                shapes: shapes.into(),
                seed,
                ..Default::default()
            }
            .draw();
            // The true sources as data: the answer is the identity up to the error looked for.
            let found = polish(&drawn.sources, Polished::start(Mat::identity(k)), 30, &Silent).unwrap();
            assert!(found.converged, "seed {seed}");
            for i in 0..k {
                for j in (0..k).filter(|&j| j != i) {
                    let share = found.unmixing[(i, j)] / found.unmixing[(i, i)];
                    let (a, b) = (kappa[i % 3], kappa[j % 3]);
                    total += share * share * n as f64 * (a * b - 1.0) / b;
                    terms += 1.0;
                }
            }
        }
        // 180 squared normal errors: 1 ± 0.15, three of them allowed.
        let ratio: f64 = total / terms;
        assert!((0.55..1.45).contains(&ratio), "mean squared error is {ratio:.2} times the theory's");
    }

    /// A source of two values has a score of unbounded size; the polish settles all the same, nearer than the start.
    #[test]
    fn a_source_of_two_values_settles() {
        for seed in 0..5 {
            let shapes = vec![Shape::Sign, Shape::Laplace, Shape::Uniform];
            let drawn =
                Synth { samples: 10_000, columns: 3, sources: 3, shapes, seed, ..Default::default() }.draw();
            let start = Mat::from_fn(3, 3, |i, j| if i == j { 1.0 } else { 0.03 });
            let found = polish(&drawn.sources, Polished::start(start), 30, &Silent).unwrap();
            assert!(found.converged, "seed {seed}: {} passes", found.steps);
            let worst = (0..3).flat_map(|i| (0..3).filter(move |&j| j != i).map(move |j| (i, j)));
            let worst = worst
                .map(|(i, j)| (found.unmixing[(i, j)] / found.unmixing[(i, i)]).abs())
                .fold(0.0, f64::max);
            // Four deviations of the least informative pair: 4 √(κ/(κκ − 1)/n) < 4/√n for κ ≥ 1.62.
            assert!(worst < 0.04, "seed {seed}: {worst}");
        }
    }

    #[test]
    fn two_gaussians_do_not_run_away() {
        let y = random::gaussian(5_000, 2, &mut random::rng(4, 0));
        let found = polish(&y, Polished::start(Mat::identity(2)), 30, &Silent).unwrap();
        assert!(found.unmixing.max_abs() < 3.0, "{:?}", found.unmixing);
    }
}
