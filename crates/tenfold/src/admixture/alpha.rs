//! The Dirichlet parameters, from expected counts of topics in documents.

use super::cvb0::Collapse;
use super::infer::check;
use super::table::Table;
use crate::error::Result;
use rayon::prelude::*;
use statrs::function::gamma::digamma;
use tenfold_engine::linalg::counts::for_each_group;
use tenfold_engine::linalg::parallel::add_assign;
use tenfold_engine::linalg::{Counts, Mat};
use tenfold_engine::progress::Progress;

/// Most documents that the parameters are estimated from while a polish passes over them anyway: more would not
/// change the second digit.
pub(super) const MOST_DOCUMENTS: usize = 20_000;

/// Documents that [`estimate_alpha`] looks at: enough for a few per cent.
const FEW_DOCUMENTS: usize = 512;

/// Steps of responsibilities in the rounds of [`estimate_alpha`], each under the last round's parameters.
const ROUNDS: [usize; 3] = [5, 5, 10];

/// No topic loses its prior altogether: it could never come back.
const FLOOR: f64 = 1e-4;

/// Counts below which a term is taken at its limit: relatively no further off than this, and most counts are below.
const SMALL: f64 = 1e-3;

/// Documents that one task sums.
const DOCUMENTS_A_TASK: usize = 256;

/// The Dirichlet parameters of a corpus, given its topics (k × words) and a first guess.
///
/// Minka's fixed point on the expected counts n_dt of topics in about 512 documents, spread over the corpus:
///
///   α_t ← α_t Σ_d P_dt [ψ(n_dt / P_dt + α_t) − ψ(α_t)] / Σ_d [ψ(n_d + Σα) − ψ(Σα)],   P_dt = 1 − exp(−n_dt).
///
/// P_dt is the chance that the document has the topic at all: expected counts are smeared over topics that a
/// document does not have, and taking them for real ones (P = 1) doubled Σα on drawn documents of 100 tokens. A prior
/// of zeros stays: it means that documents do not mix.
///
/// The estimate is good where a document's tokens tell its topics: Σα came out as 1.1 for 1 on topics that share few words.
/// Where topics overlap much it is far too large (6 for 1); the moments of the corpus know better there.
///
/// # Errors
/// Topics of another vocabulary, a prior of another k; what the counts or the listener say.
///
/// # References
/// Minka 2000, equation 55; the chance of a count by Teh, Newman and Welling 2006, section 4.
pub fn estimate_alpha(
    counts: &dyn Counts,
    topics: &Mat,
    start: &[f64],
    progress: &dyn Progress,
) -> Result<Vec<f64>> {
    check(counts, topics, start)?;
    let mut alpha = start.to_vec();
    if alpha.iter().sum::<f64>() <= 0.0 {
        return Ok(alpha);
    }
    let table = Table::from_topics(topics, 1.0);
    let stride = counts.rows().div_ceil(FEW_DOCUMENTS).clamp(1, counts.blocks().max(1));
    let chosen: Vec<usize> = (0..counts.blocks()).step_by(stride).collect();
    for steps in ROUNDS {
        let mut collapse = Collapse::new(&table, &alpha, 0.0, 0.0);
        let mut found = Vec::new();
        for_each_group(counts, &chosen, |_, blocks| {
            for block in blocks {
                progress.check()?;
                collapse.visit(block, &vec![true; block.rows()], steps, |_, _, counts| {
                    counts.chunks_exact(table.width).for_each(|row| found.extend_from_slice(&row[..table.k]));
                });
            }
            Ok(())
        })?;
        alpha = fixed_point(&found, &alpha, 5);
    }
    Ok(alpha)
}

/// The fixed point of [`estimate_alpha`] for counts of topics in documents, k a document.
pub(super) fn fixed_point(counts: &[f32], start: &[f64], steps: usize) -> Vec<f64> {
    let k = start.len();
    let mut alpha = start.to_vec();
    if counts.is_empty() || alpha.iter().sum::<f64>() <= 0.0 {
        return alpha;
    }
    alpha.iter_mut().for_each(|a| *a = a.max(FLOOR));
    for _ in 0..steps {
        let parts: Vec<Vec<f64>> =
            counts.par_chunks(DOCUMENTS_A_TASK * k).map(|documents| terms(documents, &alpha)).collect();
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

/// Sums over documents: a numerator for every topic, then the denominator.
fn terms(documents: &[f32], alpha: &[f64]) -> Vec<f64> {
    let (k, total) = (alpha.len(), alpha.iter().sum::<f64>());
    let (own, whole): (Vec<f64>, f64) = (alpha.iter().map(|a| digamma(*a)).collect(), digamma(total));
    let mut sum = vec![0.0; k + 1];
    for document in documents.chunks_exact(k) {
        let mut length = 0.0;
        for t in 0..k {
            let n = f64::from(document[t]);
            length += n;
            if n > SMALL {
                let present = -(-n).exp_m1();
                sum[t] += present * (digamma(n / present + alpha[t]) - own[t]);
            } else {
                // P ψ(n/P + α) − P ψ(α) → n (ψ(1 + α) − ψ(α)) = n/α.
                sum[t] += n / alpha[t];
            }
        }
        sum[k] += digamma(length + total) - whole;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::sample::Drawn;
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;
    use tenfold_engine::progress::Silent;

    #[test]
    fn drawn_parameters_come_back() {
        for seed in 0..3 {
            // Topics of 2,000 words with α = 0.1 share little, and 150 tokens tell a mixture.
            let drawn = Drawn::new(2000, 5, 1000, 150.0, seed);
            let run = |guess| estimate_alpha(&drawn.counts(64), &drawn.topics, &[guess; 5], &Silent).unwrap();
            let (low, high) = (run(0.05), run(1.0));
            for found in [&low, &high] {
                // 1,000 documents with α = 0.2 hold each topic in about 600, so 4 % for each would be chance; expected
                // counts add a bias of 10 to 25 %, always upwards.
                assert!(found.iter().all(|a| (0.17..0.28).contains(a)), "seed {seed}: {low:?} {high:?}");
            }
            let apart = low.iter().zip(&high).map(|(l, h)| (l / h - 1.0).abs()).fold(0.0, f64::max);
            // Of guesses twenty times apart the rounds leave less than a tenth.
            assert!(apart < 0.1, "seed {seed}: the guess decides: {low:?} {high:?}");
        }
    }

    #[test]
    fn one_step_is_the_equation() {
        let (counts, alpha) = ([3.0f32, 0.5, 0.0, 2.0], [0.3, 0.7]);
        let psi = digamma;
        let term = |n: f64, a: f64| {
            let p = 1.0 - (-n).exp();
            p * (psi(n / p + a) - psi(a))
        };
        let below = psi(3.5 + 1.0) + psi(2.0 + 1.0) - 2.0 * psi(1.0);
        let expected = [0.3 * term(3.0, 0.3) / below, 0.7 * (term(0.5, 0.7) + term(2.0, 0.7)) / below];
        let found = fixed_point(&counts, &alpha, 1);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
        // A small count is taken at its limit, which is off by less than its own size.
        let small = f64::from(9e-4f32);
        for a in [1e-3, 0.1, 2.0] {
            let found = terms(&[9e-4, 1.0], &[a, 0.7])[0];
            assert!((found / term(small, a) - 1.0).abs() < small, "{a}: {found}");
        }
    }

    #[test]
    fn a_prior_of_zeros_stays_and_threads_do_not_matter() {
        let drawn = Drawn::new(100, 3, 600, 30.0, 1);
        let counts = drawn.counts(64);
        assert_eq!(estimate_alpha(&counts, &drawn.topics, &[0.0; 3], &Silent).unwrap(), [0.0; 3]);
        let run = |n| with_threads(n, || estimate_alpha(&counts, &drawn.topics, &[0.2; 3], &Silent).unwrap());
        let one = run(1);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads), one);
        }
    }
}
