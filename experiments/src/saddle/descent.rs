//! Projected noisy stochastic gradient, watched on its way.
//!
//! The engine's `Online` gives only where a run ends; figures need the way there. This is the same update
//! (`Update::Sphere`), and a test holds the two together.

use tenfold::engine::Result;
use tenfold::engine::decompose::{Objective, Oracle, Rate};
use tenfold::engine::linalg::{Mat, random};
use tenfold::engine::tensor::Cp;

/// u ← (u − ρ_t (∇ + noise)) / ‖·‖ for every column (thesis Algorithm 2).
pub struct Descent {
    /// What is minimised.
    pub objective: Objective,
    /// The step size.
    pub rate: Rate,
    /// Length of the random direction added to every column's gradient.
    pub noise: f64,
    /// Steps between two looks at the error.
    pub stride: usize,
}

impl Descent {
    /// Follows `oracle` to its end from unit columns `u`; returns them with the error before the first step and
    /// after every `stride` steps.
    pub fn run(
        &self,
        mut u: Mat,
        oracle: &mut dyn Oracle,
        truth: &Cp,
        rng: &mut random::Rng,
    ) -> Result<(Mat, Vec<f64>)> {
        let mut errors = vec![reconstruction_error(&u, truth)?];
        let mut t = 0;
        while oracle.next(&mut |tensor| {
            let mut gradient = self.objective.gradient(tensor, &u)?;
            add_noise(&mut gradient, self.noise, rng);
            u.add_scaled(-self.rate.at(t), &gradient);
            normalise(&mut u);
            Ok(())
        })? {
            t += 1;
            if t % self.stride == 0 {
                errors.push(reconstruction_error(&u, truth)?);
            }
        }
        Ok((u, errors))
    }
}

/// ‖T − Σ u_i⊗⁴‖² / ‖T‖², the thesis's measure.
pub fn reconstruction_error(u: &Mat, truth: &Cp) -> Result<f64> {
    let found = Cp::new(truth.order, vec![1.0; u.cols()], u.clone());
    Ok(found.residual(truth)?.expect("the norm of a decomposition is known").powi(2))
}

/// Columns of independent uniform directions: the thesis's random initial point, which is not orthogonal.
pub fn independent_start(dim: usize, k: usize, rng: &mut random::Rng) -> Mat {
    let mut u = random::gaussian(dim, k, rng);
    normalise(&mut u);
    u
}

fn add_noise(gradient: &mut Mat, noise: f64, rng: &mut random::Rng) {
    if noise > 0.0 {
        for c in 0..gradient.cols() {
            for (i, n) in random::sphere(gradient.rows(), rng).into_iter().enumerate() {
                gradient[(i, c)] += noise * n;
            }
        }
    }
}

fn normalise(u: &mut Mat) {
    let scales: Vec<f64> = u.col_norms().into_iter().map(f64::recip).collect();
    u.scale_cols(&scales);
}

#[cfg(test)]
mod tests {
    use super::super::source::SingleComponents;
    use super::*;
    use tenfold::engine::decompose::{Online, Update};
    use tenfold::engine::progress::Silent;

    #[test]
    fn a_watched_run_ends_where_the_engine_ends() {
        let (d, seed) = (6, 3);
        let a = random::orthogonal(d, d, &mut random::rng(seed, 1)).unwrap();
        let truth = Cp::new(4, vec![1.0; d], a.clone());
        let rate = Rate::Constant(0.01);
        for objective in [Objective::Decorrelation, Objective::Reconstruction] {
            for noise in [0.0, 0.5] {
                let source = || SingleComponents { components: &a, steps: 500, rng: random::rng(seed, 2) };
                let online = Online { update: Update::Sphere(objective), rate, noise, ..Online::default() };
                let engine = online.run(&mut source(), d, d, seed, &Silent).unwrap().cp;
                // The engine's own stream: start first, noise after it.
                let mut rng = random::rng(seed, 400);
                let start = random::orthogonal(d, d, &mut rng).unwrap();
                let descent = Descent { objective, rate, noise, stride: 100 };
                let (u, errors) = descent.run(start, &mut source(), &truth, &mut rng).unwrap();
                let ours = Cp::new(4, vec![1.0; d], u);
                assert!(ours.match_to(&engine).worst() < 1e-12, "{objective:?}, noise {noise}");
                assert_eq!(errors.len(), 6);
            }
        }
    }
}
