//! The Dirichlet parameters, from expected counts of topics in documents.

use super::infer::Inference;
use crate::error::Result;
use rayon::prelude::*;
use statrs::function::gamma::digamma;
use std::borrow::Cow;
use tenfold_engine::linalg::parallel::add_assign;
use tenfold_engine::linalg::{CountBlock, Counts, Mat};
use tenfold_engine::progress::Progress;

/// Documents that the parameters are estimated from: their statistical error is then below one in a hundred.
pub(super) const MOST_DOCUMENTS: usize = 20_000;

/// Expected counts of topics in some documents.
#[derive(Debug, Clone, Default)]
pub(super) struct TopicCounts {
    /// k numbers a document.
    pub counts: Vec<f32>,
}

/// Minka's fixed point (equation 55 of his note): with n_dt the counts and n_d their sums,
///
///   α_t ← α_t Σ_d [ψ(n_dt + α_t) − ψ(α_t)] / Σ_d [ψ(n_d + Σα) − ψ(Σα)].
///
/// A prior of zeros stays: it means that documents do not mix.
pub(super) fn fixed_point(counts: &[f32], start: &[f64], steps: usize) -> Vec<f64> {
    let k = start.len();
    let mut alpha = start.to_vec();
    if counts.is_empty() || alpha.iter().sum::<f64>() <= 0.0 {
        return alpha;
    }
    for _ in 0..steps {
        alpha.iter_mut().for_each(|a| *a = a.max(FLOOR));
        let total: f64 = alpha.iter().sum();
        let (own, whole): (Vec<f64>, f64) = (alpha.iter().map(|a| digamma(*a)).collect(), digamma(total));
        let parts: Vec<Vec<f64>> = counts
            .par_chunks(256 * k)
            .map(|documents| {
                // The last place is the denominator's.
                let mut sum = vec![0.0; k + 1];
                for document in documents.chunks_exact(k) {
                    let mut length = 0.0;
                    for t in 0..k {
                        let n = f64::from(document[t]);
                        length += n;
                        if n > 0.0 {
                            let some = -(-n).exp_m1();
                            sum[t] += some * (digamma(n / some + alpha[t]) - own[t]);
                        }
                    }
                    sum[k] += digamma(length + total) - whole;
                }
                sum
            })
            .collect();
        let mut sum = vec![0.0; k + 1];
        parts.iter().for_each(|part| add_assign(&mut sum, part));
        if sum[k] <= 0.0 {
            break;
        }
        let mut moved: f64 = 0.0;
        for t in 0..k {
            let next = (alpha[t] * sum[t] / sum[k]).max(FLOOR);
            moved = moved.max((next - alpha[t]).abs() / alpha[t]);
            alpha[t] = next;
        }
        if moved < 1e-3 {
            break;
        }
    }
    alpha
}

/// No topic loses its prior altogether: it could never come back.
const FLOOR: f64 = 1e-4;

/// TODO
pub fn estimate_alpha(
    counts: &dyn Counts,
    topics: &Mat,
    start: &[f64],
    progress: &dyn Progress,
) -> Result<Vec<f64>> {
    let _ = (counts, topics, progress, MOST_DOCUMENTS);
    let _: Option<(Inference, Cow<'_, CountBlock>)> = None;
    Ok(start.to_vec())
}
