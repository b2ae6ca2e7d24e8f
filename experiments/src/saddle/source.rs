//! The stochastic tensors of thesis chapter 2.

use rand::RngExt;
use tenfold::engine::Result;
use tenfold::engine::decompose::Oracle;
use tenfold::engine::linalg::{Mat, random};
use tenfold::engine::tensor::{Contract, Implicit, Term};

/// `steps` samples x = d^¼ a_i, each i with probability 1/d, one at a time: E x⊗⁴ = Σ a_i⊗⁴.
pub struct SingleComponents<'a> {
    /// The orthonormal a_i in columns.
    pub components: &'a Mat,
    /// Samples still to come.
    pub steps: usize,
    /// Who chooses.
    pub rng: random::Rng,
}

impl Oracle for SingleComponents<'_> {
    fn next(&mut self, step: &mut dyn FnMut(&dyn Contract) -> Result<()>) -> Result<bool> {
        if self.steps == 0 {
            return Ok(false);
        }
        self.steps -= 1;
        let d = self.components.cols();
        let chosen = self.rng.random_range(0..d);
        let size = (d as f64).powf(0.25);
        let x = Mat::from_fn(1, self.components.rows(), |_, i| size * self.components[(i, chosen)]);
        let sample = Term::Powers { samples: &x, weights: None, scale: 1.0 };
        step(&Implicit::new(4, x.cols(), vec![sample]))?;
        Ok(true)
    }
}

/// `steps` batches of signals y = A s with s uniform in {±1}^d: the mean of ½ (Z − y⊗⁴) over a batch, whose
/// expectation is Σ a_i⊗⁴ (thesis, lemma constructTensorZ); Z = sym(I⊗I).
pub struct SignSources<'a> {
    /// The orthonormal mixing matrix A.
    pub mixing: &'a Mat,
    /// Samples in a batch.
    pub batch: usize,
    /// Batches still to come.
    pub steps: usize,
    /// Who draws the sources.
    pub rng: random::Rng,
}

impl Oracle for SignSources<'_> {
    fn next(&mut self, step: &mut dyn FnMut(&dyn Contract) -> Result<()>) -> Result<bool> {
        if self.steps == 0 {
            return Ok(false);
        }
        self.steps -= 1;
        let d = self.mixing.cols();
        let rng = &mut self.rng;
        let s = Mat::from_fn(self.batch, d, |_, _| if rng.random::<bool>() { 1.0 } else { -1.0 });
        let y = s.matmul_tr(self.mixing);
        let terms = vec![
            Term::Powers { samples: &y, weights: None, scale: -0.5 / self.batch as f64 },
            Term::MatrixPair { matrix: Mat::identity(d), scale: 0.5 },
        ];
        step(&Implicit::new(4, d, terms))?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold::engine::tensor::Cp;

    /// The mean of T(v, v, v, v) over the draws nears Σ ⟨a_i, v⟩⁴ within five standard errors.
    #[test]
    fn stochastic_tensors_average_to_the_tensor() {
        let d = 4;
        let a = random::orthogonal(d, d, &mut random::rng(1, 0)).unwrap();
        let truth = Cp::new(4, vec![1.0; d], a.clone());
        let v = Mat::from_vec(d, 1, random::sphere(d, &mut random::rng(1, 3)));
        let expected = truth.values(&v).unwrap()[0];
        let mut single = SingleComponents { components: &a, steps: 20_000, rng: random::rng(1, 1) };
        let mut signs = SignSources { mixing: &a, batch: 20, steps: 5_000, rng: random::rng(1, 2) };
        for oracle in [&mut single as &mut dyn Oracle, &mut signs] {
            let mut seen = Vec::new();
            while oracle.next(&mut |t| t.values(&v).map(|x| seen.push(x[0]))).unwrap() {}
            let n = seen.len() as f64;
            let mean = seen.iter().sum::<f64>() / n;
            let spread = seen.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            assert!((mean - expected).abs() < 5.0 * (spread / n).sqrt(), "{mean} against {expected}");
        }
    }
}
