//! Sentences as numbers: word vectors and phrase templates learned from the same text, without pre-training.
//!
//! # The model
//! A word is a vector. A patch of q neighbouring words, their vectors one after another, is x = mean + Σ_l f_l a_l + noise
//! with independent activations a_l: template f_l is a pattern over q words in all dimensions of their vectors.
//!
//! # The moments
//! Words: pairs that stand near each other, as the positive pointwise mutual information max(0, ln p(w, c)/(p(w) q(c))),
//! whose leading singular vectors are the word vectors. Patches: their covariance, which whitens them to y, and the third or
//! fourth cumulant of y,
//!
//! cum₃(y) = Σ_l γ_l v_l⊗³,  cum₄(y) = Σ_l κ_l v_l⊗⁴,
//!
//! whose orthogonal components v_l, undone, are the templates ([`crate::ica`] does this part).
//!
//! # From templates to numbers
//! Decoding is a = F⁺(x − mean) at every place of a sentence. Sentences have different lengths: of every template the largest
//! activations stay (max-k pooling). A sentence shorter than a template is filled with zeros; an empty one is all zeros.
//! Beside that stand the plain mean of the vectors and the mean with weights a/(a + p(w)) less its first component, so that
//! the gain of templates can be seen.
//!
//! # Example
//! ```
//! use tenfold::sentences::{Cutting, Cooccurrence, Features, Params, Search, Text, Words};
//! let lines: Vec<String> = (0..300)
//!     .map(|i| format!("the {} ship sails {} the {} harbour", ["old", "new"][i % 2], ["to", "from"][i % 3 % 2], i % 7))
//!     .collect();
//! let text = Text::new(&lines, &Cutting::default(), 1)?;
//! let params = Params {
//!     words: Words::Learned(Cooccurrence { dimensions: 8, ..Cooccurrence::default() }),
//!     templates: Search { count: 4, ..Search::default() },
//!     ..Params::default()
//! };
//! let model = params.fit(&text)?;
//! assert_eq!(model.encode(&lines)?.cols(), 8 + 4);
//! assert!(model.similarity("the old ship", "the old ship")? > 0.999);
//! # Ok::<(), tenfold::Error>(())
//! ```
//!
//! # What differs from the thesis, and why
//! - Its principal components of one-hot words are degenerate: the second moment of one-hot words is diagonal, so they are
//!   the most frequent words. Word vectors come from words that stand together instead.
//! - It fits a convolutional model to every coordinate of the vectors by itself. One coordinate says little about which words
//!   stand together; templates over all coordinates do. Its way is kept as [`Learner::Motifs`].
//! - It decodes F⁺y over the whole sentence with zero-padded filters; templates over all coordinates are decoded at every
//!   place by itself, which gives the same numbers for a sentence however it goes on.
//!
//! # References
//! Thesis, chapter "Learning convolutional dictionary models", section "Learning word-sequence embeddings". Levy, Goldberg
//! and Dagan, "Improving distributional similarity with lessons learned from word embeddings", TACL 3 (2015). Arora, Liang
//! and Ma, "A simple but tough-to-beat baseline for sentence embeddings", ICLR 2017.

mod chance;
mod coordinates;
mod data;
mod features;
mod fit;
mod gather;
mod memory;
mod model;
mod moments;
mod read;
mod report;
mod templates;

pub use data::{Cutting, Text};
pub use features::Features;
pub use fit::{Params, Words};
pub use model::{Diagnostics, Model, Phrase};
pub use moments::Cooccurrence;
pub use read::{Given, Lines, ReadOptions, read, read_vectors};
pub use templates::{Learner, Search};
