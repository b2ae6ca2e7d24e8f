//! Mixtures of documents, given the topics.

use super::kernel::{Mixtures, RowsRef, padded};
use super::table::{Rows, Table, pad_alpha};
use crate::error::{Error, Result};
use rayon::prelude::*;
use tenfold_engine::linalg::counts::{all_blocks, for_each_group};
use tenfold_engine::linalg::{CountBlock, Counts, Mat, vectorised};
use tenfold_engine::progress::Progress;

/// Documents that one task infers.
const DOCUMENTS_A_TASK: usize = 16;

/// Documents are few when all of them together have fewer entries than one for so many words of the vocabulary.
const FEW: u64 = 8;

/// The largest sum of a Dirichlet prior: mixtures are in single precision, whose range ends at 3·10³⁸, and counts are added to it.
pub const LARGEST_PRIOR: f64 = 1e30;

/// Most tokens of a document. Mixtures are inferred in single precision, and document completion counts tokens in 64 bits, whose range ends
/// at 1.8·10¹⁹.
pub const MOST_TOKENS: f64 = 1e18;

/// How mixtures are inferred: the fixed point of
///
///   θ_t ∝ θ_t Σ_w c_w B_tw / Σ_s θ_s B_sw + α_t
///
/// from the uniform start. Where it ends, θ is the most probable mixture under a Dirichlet prior with parameters α + 1. A
/// document without words gets α/Σα, or the uniform mixture where α is zero.
///
/// # Complexity
/// 4·entries·k operations a step.
///
/// # Example
/// ```
/// use std::borrow::Cow;
/// use tenfold::admixture::Inference;
/// use tenfold::engine::linalg::{CountBlock, Counts, Mat};
/// use tenfold::engine::progress::Silent;
/// struct One(CountBlock);
/// impl Counts for One {
///     fn rows(&self) -> usize { self.0.rows() }
///     fn cols(&self) -> usize { 3 }
///     fn entries(&self) -> u64 { self.0.entries() as u64 }
///     fn blocks(&self) -> usize { 1 }
///     fn block(&self, _: usize) -> tenfold::engine::Result<Cow<'_, CountBlock>> { Ok(Cow::Borrowed(&self.0)) }
/// }
/// // Nine times word 0, which only topic 0 knows.
/// let counts = One(CountBlock::new(&[0], &[0, 1], &[0], &[9.0]));
/// let topics = Mat::from_vec(2, 3, vec![0.5, 0.5, 0.0, 0.0, 0.5, 0.5]);
/// let mixtures = Inference::default().mixtures(&counts, &topics, &[0.5, 0.5], &Silent)?;
/// assert!((mixtures[(0, 0)] - 0.95).abs() < 1e-6);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inference {
    /// Most steps.
    pub steps: usize,
    /// A document is done when no more than this share of its mixture moves in a step; 0 takes all steps.
    pub tolerance: f64,
}

impl Default for Inference {
    fn default() -> Self {
        Self { steps: 50, tolerance: 0.0 }
    }
}

/// The mixtures of a block's documents.
#[derive(Debug, Clone, Copy)]
pub struct BlockMixtures<'a> {
    k: usize,
    width: usize,
    data: &'a [f32],
}

impl<'a> BlockMixtures<'a> {
    /// The mixture of row i of the block; it sums to 1.
    pub fn row(&self, i: usize) -> &'a [f32] {
        &self.data[i * self.width..][..self.k]
    }
}

impl Inference {
    /// The mixtures of all documents, documents × k in the corpus's order.
    ///
    /// # Errors
    /// Topics of another vocabulary, a prior of another k or with negative numbers; what the counts or the listener say.
    pub fn mixtures(
        &self,
        counts: &dyn Counts,
        topics: &Mat,
        alpha: &[f64],
        progress: &dyn Progress,
    ) -> Result<Mat> {
        let mut all = Mat::zeros(counts.rows(), topics.rows());
        self.visit(counts, topics, alpha, progress, &mut |block, mixtures| {
            for (i, &document) in block.documents().iter().enumerate() {
                let row = all.row_mut(document as usize).iter_mut();
                row.zip(mixtures.row(i)).for_each(|(x, m)| *x = f64::from(*m));
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Shows the mixtures to `visit` block by block, blocks in order, without holding those of all documents.
    ///
    /// # Errors
    /// As [`Inference::mixtures`], and what the visitor says.
    pub fn visit(
        &self,
        counts: &dyn Counts,
        topics: &Mat,
        alpha: &[f64],
        progress: &dyn Progress,
        visit: &mut dyn FnMut(&CountBlock, BlockMixtures<'_>) -> Result<()>,
    ) -> Result<()> {
        check(counts, topics, alpha)?;
        let few = counts.entries() < topics.cols() as u64 / FEW;
        let whole = (!few).then(|| Table::from_topics(topics, 1.0));
        let (k, width, prior) = (topics.rows(), padded(topics.rows()), pad_alpha(alpha));
        progress.stage("inferring mixtures", counts.rows() as u64);
        for_each_group(counts, &all_blocks(counts), |_, blocks| {
            progress.check()?;
            blocks.iter().try_for_each(|block| check_tokens(block))?;
            let found: Vec<Vec<f32>> = blocks
                .par_iter()
                .map(|block| {
                    let rows = match &whole {
                        Some(table) => Rows::of_table(table, block.words()),
                        None => Rows::of_topics(topics, block.words()),
                    };
                    let mut theta = vec![0.0; block.rows() * width];
                    self.infer(block, &vec![true; block.rows()], rows.as_ref(), &prior, &mut theta);
                    uniform_where_unknown(&mut theta, k, width);
                    theta
                })
                .collect();
            for (block, theta) in blocks.iter().zip(&found) {
                visit(block, BlockMixtures { k, width, data: theta })?;
                progress.advance(block.rows() as u64);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The mixtures of the documents of one block, in its order, by the calling thread alone: for a service that is asked for one
    /// document after the other, where starting threads would take longer than the answer. The same numbers as
    /// [`Inference::mixtures`].
    ///
    /// # Errors
    /// As [`Inference::mixtures`].
    pub fn few(&self, block: &CountBlock, topics: &Mat, alpha: &[f64]) -> Result<Mat> {
        let beyond = block.words().last().map_or(0, |&w| w as usize + 1);
        if beyond > topics.cols() {
            return Err(Error::WrongShape { what: "words", found: beyond, expected: topics.cols() });
        }
        check_prior(topics, alpha)?;
        check_tokens(block)?;
        let (k, prior, rows) = (topics.rows(), pad_alpha(alpha), Rows::of_topics(topics, block.words()));
        let (keep, mut theta) = (vec![true; block.rows()], vec![0.0; block.rows() * rows.width]);
        let (steps, tolerance, alpha) = (self.steps, self.tolerance as f32, &prior[..]);
        let (rows, width, out) = (rows.as_ref(), rows.width, &mut theta[..]);
        vectorised(Mixtures { block, first: 0, keep: &keep, rows, alpha, steps, tolerance, out });
        uniform_where_unknown(&mut theta, k, width);
        Ok(Mat::from_fn(block.rows(), k, |i, t| f64::from(theta[i * width + t])))
    }

    /// The padded mixtures of those rows of a block that `keep` wants, zeros for the others.
    pub(super) fn infer(
        &self,
        block: &CountBlock,
        keep: &[bool],
        rows: RowsRef<'_>,
        alpha: &[f32],
        out: &mut [f32],
    ) {
        let (steps, tolerance) = (self.steps, self.tolerance as f32);
        let tasks = out.par_chunks_mut((DOCUMENTS_A_TASK * rows.width).max(1)).enumerate();
        tasks.for_each(|(task, out)| {
            let first = task * DOCUMENTS_A_TASK;
            vectorised(Mixtures { block, first, keep, rows, alpha, steps, tolerance, out });
        });
    }
}

/// Without words and without a prior nothing is known of a mixture.
fn uniform_where_unknown(theta: &mut [f32], k: usize, width: usize) {
    for row in theta.chunks_exact_mut(width) {
        if row.iter().all(|x| *x == 0.0) {
            row[..k].fill(1.0 / k as f32);
        }
    }
}

/// Refuses topics or a prior that do not belong to the counts or to each other.
pub(super) fn check(counts: &dyn Counts, topics: &Mat, alpha: &[f64]) -> Result<()> {
    if topics.cols() != counts.cols() {
        return Err(Error::WrongShape { what: "words", found: counts.cols(), expected: topics.cols() });
    }
    check_prior(topics, alpha)
}

fn check_prior(topics: &Mat, alpha: &[f64]) -> Result<()> {
    if alpha.len() != topics.rows() {
        return Err(Error::WrongShape {
            what: "Dirichlet parameters",
            found: alpha.len(),
            expected: topics.rows(),
        });
    }
    alpha.iter().try_for_each(|a| finite("alpha", *a))?;
    let sum: f64 = alpha.iter().sum();
    if sum <= LARGEST_PRIOR {
        return Ok(());
    }
    let expected = format!("numbers that add up to {LARGEST_PRIOR:e} at most");
    Err(Error::BadParameter { name: "alpha".into(), value: format!("{sum:e} in all"), expected })
}

/// Refuses documents with more than [`MOST_TOKENS`].
pub(super) fn check_tokens(block: &CountBlock) -> Result<()> {
    for (i, document) in block.documents().iter().enumerate() {
        let tokens: f64 = block.row_counts(i).map(|(_, count)| f64::from(count)).sum();
        if tokens.is_nan() || tokens > MOST_TOKENS {
            return Err(too_many(&format!("row {document}"), tokens));
        }
    }
    Ok(())
}

/// The error for a row with more than [`MOST_TOKENS`].
pub(crate) fn too_many(row: &str, tokens: f64) -> Error {
    // Beyond single precision nothing is known but that.
    let all =
        if tokens.is_finite() { format!("{tokens:.1e}") } else { format!("more than {:.1e}", f32::MAX) };
    Error::Unfit {
        problem: format!("{row} (counted from 0) holds counts of {all} in all, and {MOST_TOKENS:e} are possible"),
        remedy: "divide all counts by one number: mixtures depend on their ratios, and hardly on the prior beside so many".into(),
    }
}

/// Refuses a prior that is none.
pub(super) fn finite(name: &str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    let expected = "finite numbers that are not negative".into();
    Err(Error::BadParameter { name: name.into(), value: value.to_string(), expected })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Drawn, Held, block_of, naive_mixture};
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;
    use tenfold_engine::progress::Silent;

    #[test]
    fn mixtures_equal_the_equation_in_the_corpus_order() {
        for k in [1, 5, 8, 21] {
            let drawn = Drawn::new(120, k, 70, 25.0, k as u64);
            let alpha: Vec<f64> = (0..k).map(|t| 0.1 + 0.05 * t as f64).collect();
            let found =
                Inference::default().mixtures(&drawn.counts(32), &drawn.topics, &alpha, &Silent).unwrap();
            for (position, document) in &drawn.documents {
                let expected = naive_mixture(document, &drawn.topics, &alpha, 50);
                let row = found.row(*position as usize);
                assert!(row.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 2e-5), "{row:?} {expected:?}");
            }
        }
    }

    #[test]
    fn a_tolerance_saves_steps_and_changes_little() {
        let drawn = Drawn::new(120, 5, 70, 25.0, 1);
        let run = |inference: Inference| {
            inference.mixtures(&drawn.counts(32), &drawn.topics, &[0.2; 5], &Silent).unwrap()
        };
        let mut far = run(Inference { steps: 2000, tolerance: 1e-6 });
        far.add_scaled(-1.0, &run(Inference { steps: 2000, tolerance: 0.0 }));
        assert!(far.max_abs() > 0.0 && far.max_abs() < 1e-3, "{}", far.max_abs());
    }

    #[test]
    fn without_words_the_prior_speaks() {
        let block = block_of(&[(1, vec![(0, 2.0)]), (0, vec![])]);
        let counts = Held { cols: 2, blocks: vec![block] };
        let topics = Mat::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0]);
        let found = Inference::default().mixtures(&counts, &topics, &[0.3, 0.1], &Silent).unwrap();
        assert!((found[(0, 0)] - 0.75).abs() < 1e-6 && (found[(1, 0)] - 2.3 / 2.4).abs() < 1e-6);
        let unknown = Inference::default().mixtures(&counts, &topics, &[0.0, 0.0], &Silent).unwrap();
        assert_eq!(unknown.as_slice(), [0.5, 0.5, 1.0, 0.0]);
        // A word that no topic knows says nothing.
        let unheard = Mat::from_vec(2, 2, vec![0.0, 1.0, 0.0, 1.0]);
        let found = Inference::default().mixtures(&counts, &unheard, &[0.3, 0.1], &Silent).unwrap();
        assert!((found[(1, 0)] - 0.75).abs() < 1e-6);
    }

    #[test]
    fn same_bytes_on_any_number_of_threads() {
        let drawn = Drawn::new(300, 12, 500, 40.0, 2);
        let counts = drawn.counts(64);
        let run = |threads| {
            let infer =
                || Inference::default().mixtures(&counts, &drawn.topics, &[0.2; 12], &Silent).unwrap();
            with_threads(threads, infer)
        };
        let one = run(1);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads), one, "{threads} threads");
        }
    }

    #[test]
    fn a_document_alone_has_the_mixture_it_has_among_others() {
        // One document has far fewer words than the vocabulary, all of them have more.
        let drawn = Drawn::new(400, 12, 60, 30.0, 3);
        let infer = |counts: &dyn Counts| {
            Inference::default().mixtures(counts, &drawn.topics, &[0.2; 12], &Silent).unwrap()
        };
        let all = drawn.counts(32);
        assert!(all.entries() > 400);
        let together = infer(&all);
        for (position, document) in &drawn.documents {
            let alone = Held { cols: 400, blocks: vec![block_of(&[(0, document.clone())])] };
            assert!(alone.entries() < 400 / FEW);
            assert_eq!(infer(&alone).row(0), together.row(*position as usize));
            let few = Inference::default().few(&alone.blocks[0], &drawn.topics, &[0.2; 12]).unwrap();
            assert_eq!(few.row(0), together.row(*position as usize));
        }
    }

    #[test]
    fn large_counts_have_the_mixtures_of_small_ones_or_are_refused() {
        // The third word is known to no topic, and its row is nothing but zeros.
        let topics = Mat::from_vec(2, 3, vec![0.8, 0.2, 0.0, 0.3, 0.7, 0.0]);
        let infer = |scale: f32| {
            let row = vec![(0, 3.0 * scale), (1, 2.0 * scale), (2, scale)];
            let block = block_of(&[(0, row)]);
            let few = Inference::default().few(&block, &topics, &[0.0; 2]);
            let all = Inference::default().mixtures(
                &Held { cols: 3, blocks: vec![block] },
                &topics,
                &[0.0; 2],
                &Silent,
            );
            assert_eq!(few.as_ref().ok(), all.as_ref().ok());
            few
        };
        let small = infer(1.0).unwrap();
        for scale in [1e6, 1e9, 1e17] {
            let large = infer(scale).unwrap();
            assert!(
                large.as_slice().iter().zip(small.as_slice()).all(|(a, b)| (a - b).abs() < 1e-5),
                "{scale}: {large:?}"
            );
        }
        for scale in [1e18, 1e37, f32::INFINITY] {
            let error = infer(scale).unwrap_err().to_string();
            assert!(error.contains("1e18") && error.contains("divide"), "{error}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let drawn = Drawn::new(30, 3, 10, 10.0, 2);
        let (counts, run) = (drawn.counts(8), Inference::default());
        let words = run.mixtures(&counts, &Mat::zeros(3, 29), &[0.1; 3], &Silent).unwrap_err();
        assert!(words.to_string().contains("30 words where 29 were expected"), "{words}");
        assert!(run.mixtures(&counts, &drawn.topics, &[0.1; 2], &Silent).is_err());
        assert!(run.few(&counts.blocks[0], &Mat::zeros(3, 5), &[0.1; 3]).is_err());
        assert!(run.few(&counts.blocks[0], &drawn.topics, &[0.1; 2]).is_err());
        assert!(run.mixtures(&counts, &drawn.topics, &[0.1, f64::NAN, 0.1], &Silent).is_err());
    }
}
