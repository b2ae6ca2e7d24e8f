//! Draws mixtures with known sources.

use crate::error::Result;
use rand::RngExt;
use tenfold_engine::linalg::parallel::BLOCK;
use tenfold_engine::linalg::random::{self, Rng};
use tenfold_engine::linalg::{Mat, svd};
use tenfold_engine::progress::{Progress, Silent};

/// The distribution of a source; all have mean 0 and variance 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Heavy tails: excess kurtosis 3.
    Laplace,
    /// Flat: excess kurtosis −1.2.
    Uniform,
    /// Skewed: an exponential, skewness 2, excess kurtosis 6.
    Exponential,
    /// ±1, the thesis's example: excess kurtosis −2.
    Sign,
    /// Gaussian: cannot be separated from another Gaussian.
    Gaussian,
}

impl Shape {
    /// One draw.
    pub fn draw(self, rng: &mut Rng) -> f64 {
        // Open at 0, so that the logarithm is finite.
        let u = 1.0 - rng.random::<f64>();
        match self {
            Self::Laplace => {
                u.ln() * std::f64::consts::FRAC_1_SQRT_2 * if rng.random::<bool>() { 1.0 } else { -1.0 }
            }
            Self::Uniform => (2.0 * u - 1.0) * 3f64.sqrt(),
            Self::Exponential => -u.ln() - 1.0,
            Self::Sign => {
                if u < 0.5 {
                    -1.0
                } else {
                    1.0
                }
            }
            Self::Gaussian => random::normal(rng),
        }
    }
}

/// What to draw: x = A s + noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Synth {
    /// Rows.
    pub samples: usize,
    /// Columns of the mixtures.
    pub columns: usize,
    /// Number of sources, at most `columns`.
    pub sources: usize,
    /// Source i has shape i modulo their number.
    pub shapes: Vec<Shape>,
    /// Standard deviation of white noise on every column.
    pub noise: f64,
    /// Seed.
    pub seed: u64,
}

impl Default for Synth {
    fn default() -> Self {
        Self {
            samples: 10_000,
            columns: 8,
            sources: 8,
            shapes: vec![Shape::Laplace, Shape::Uniform, Shape::Exponential],
            noise: 0.0,
            seed: 0,
        }
    }
}

/// Mixtures with the truth behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The mixtures, samples × columns.
    pub samples: Mat,
    /// The sources, samples × sources.
    pub sources: Mat,
    /// A, columns × sources.
    pub mixing: Mat,
}

impl Synth {
    /// Draws the mixing matrix (Gaussian, redrawn while its condition is above ten times the number of sources, so that
    /// nothing hangs on one unlucky matrix), the sources and their mixtures.
    ///
    /// # Panics
    /// When there are no sources, no shapes, or more sources than columns.
    pub fn draw(&self) -> Drawn {
        self.draw_with(&Silent).expect("nobody stops it")
    }

    /// [`Synth::draw`] with a listener that may stop it.
    ///
    /// # Errors
    /// When the listener stops it.
    ///
    /// # Panics
    /// As [`Synth::draw`].
    pub fn draw_with(&self, progress: &dyn Progress) -> Result<Drawn> {
        assert!(
            self.sources <= self.columns && !self.shapes.is_empty(),
            "at most as many sources as columns"
        );
        let mut rng = random::rng(self.seed, 500);
        let mixing = loop {
            let candidate = random::gaussian(self.columns, self.sources, &mut rng);
            let s = svd(&candidate).expect("a Gaussian matrix has an SVD").s;
            // The condition of a square Gaussian matrix is of the order of its size: four draws in five pass.
            if s[0] < 10.0 * (self.sources + 1) as f64 * s[s.len() - 1] {
                break candidate;
            }
        };
        progress.stage("drawing", self.samples as u64);
        let mut sources = Mat::zeros(self.samples, self.sources);
        for t in 0..self.samples {
            if t.is_multiple_of(BLOCK) {
                progress.check()?;
                progress.advance(BLOCK.min(self.samples - t) as u64);
            }
            let shapes = self.shapes.iter().cycle();
            sources.row_mut(t).iter_mut().zip(shapes).for_each(|(x, shape)| *x = shape.draw(&mut rng));
        }
        let mut samples = sources.matmul_tr(&mixing);
        if self.noise > 0.0 {
            for piece in samples.as_mut_slice().chunks_mut(BLOCK) {
                progress.check()?;
                piece.iter_mut().for_each(|x| *x += self.noise * random::normal(&mut rng));
            }
        }
        Ok(Drawn { samples, sources, mixing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_sources_are_drawn_too() {
        let drawn = Synth { samples: 3, columns: 150, sources: 150, ..Default::default() }.draw();
        assert_eq!((drawn.mixing.rows(), drawn.sources.cols()), (150, 150));
    }

    #[test]
    fn shapes_have_the_moments_they_claim() {
        for (shape, skewness, kurtosis) in [
            (Shape::Laplace, 0.0, 3.0),
            (Shape::Uniform, 0.0, -1.2),
            (Shape::Exponential, 2.0, 6.0),
            (Shape::Sign, 0.0, -2.0),
            (Shape::Gaussian, 0.0, 0.0),
        ] {
            let mut rng = random::rng(3, 0);
            let n = 400_000;
            let draws: Vec<f64> = (0..n).map(|_| shape.draw(&mut rng)).collect();
            let moment = |p: i32| draws.iter().map(|x| x.powi(p)).sum::<f64>() / n as f64;
            // Five standard errors of each moment, from the moments of twice the order.
            let within = |p: i32, want: f64| {
                let error = 5.0 * ((moment(2 * p) - moment(p).powi(2)).max(0.0) / n as f64).sqrt() + 1e-12;
                assert!((moment(p) - want).abs() < error, "{shape:?} moment {p}: {} ≠ {want}", moment(p));
            };
            within(1, 0.0);
            within(2, 1.0);
            within(3, skewness);
            within(4, kurtosis + 3.0);
        }
    }
}
