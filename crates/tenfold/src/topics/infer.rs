//! Mixtures of documents one part after the other, for corpora whose mixtures do not fit into memory.

use super::data::{Corpus, Prefix};
use super::model::Model;
use crate::admixture::Inference;
use crate::error::Result;
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::Progress;

/// Documents that are shown together: enough for a writer, little enough not to count beside a window.
const TOGETHER: usize = 1024;

impl Model {
    /// Shows the mixtures of [`Model::infer`] to `visit`, some documents at a time in the corpus's order, with the number
    /// of the first of them.
    ///
    /// # Complexity
    /// As [`Model::infer`]; the memory is that of a window of documents ([`Builder`](super::Builder)), 4 · k bytes
    /// each.
    ///
    /// # Errors
    /// As [`Model::infer`], and what the visitor says.
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::progress::Silent;
    /// use tenfold::topics::{Params, Synth};
    /// let drawn = Synth { documents: 2000, words: 200, k: 4, ..Synth::default() }.draw()?;
    /// let model = Params::new(4).fit(&drawn.corpus)?;
    /// let mut largest = Vec::new();
    /// model.infer_each(&drawn.corpus, &Silent, &mut |_, mixtures| {
    ///     largest.extend((0..mixtures.rows()).map(|i| mixtures.row(i).iter().copied().fold(0.0, f64::max)));
    ///     Ok(())
    /// })?;
    /// assert_eq!(largest.len(), 2000);
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn infer_each(
        &self,
        corpus: &Corpus,
        progress: &dyn Progress,
        visit: &mut dyn FnMut(usize, &Mat) -> Result<()>,
    ) -> Result<()> {
        let k = self.k();
        let (mut order, mut shares, mut prefix) =
            (Vec::<(u32, usize)>::new(), Vec::<f32>::new(), Prefix::default());
        Inference::default().visit(corpus, self.topics(), self.alpha(), progress, &mut |block, mixtures| {
            for (i, &document) in block.documents().iter().enumerate() {
                order.push((document, shares.len()));
                shares.extend_from_slice(mixtures.row(i));
            }
            if prefix.closes_with(block) {
                order.sort_unstable();
                for part in order.chunks(TOGETHER) {
                    let rows = Mat::from_fn(part.len(), k, |i, t| f64::from(shares[part[i].1 + t]));
                    visit(part[0].0 as usize, &rows)?;
                }
                order.clear();
                shares.clear();
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Params, Synth};
    use tenfold_engine::linalg::Mat;
    use tenfold_engine::progress::Silent;

    #[test]
    fn parts_are_the_whole_in_order() {
        // More than a window of documents.
        let drawn =
            Synth { documents: 40_000, words: 60, k: 3, length: 8.0, ..Synth::default() }.draw().unwrap();
        let model = Params::new(3).fit(&drawn.corpus).unwrap();
        let (mut all, mut parts) = (Vec::new(), 0);
        model
            .infer_each(&drawn.corpus, &Silent, &mut |first, part| {
                assert!(first == all.len() / 3 && part.rows() <= super::TOGETHER);
                all.extend_from_slice(part.as_slice());
                parts += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(Mat::from_vec(40_000, 3, all), model.infer(&drawn.corpus, &Silent).unwrap());
        assert!(parts >= 40);
    }
}
