//! Admixtures: documents that mix topics, under a Dirichlet prior.
//!
//! A document's mixture θ is drawn from Dirichlet(α), and each of its tokens is a word drawn from Σ_t θ_t B_t, where B_t
//! is the word distribution of topic t. This module knows nothing of moments: it infers mixtures when the topics are
//! known ([`Inference`]), fits topics and mixtures together ([`Joint`]), scores topics by how well they complete held-out documents ([`Completion`]), and polishes
//! topics that somebody else found ([`Stepwise`], [`Cvb0`]).
//!
//! # Two polishes
//!
//! [`Stepwise`] takes the most probable mixture of each document for the truth. That predicts held-out text best on real
//! corpora, but it is biased: where documents are really drawn from the model and mix many topics, it moves a good estimate
//! away from the truth. [`Cvb0`] integrates the mixtures and the topics out, up to first order, and does not. Both are
//! watched by held-out documents and return the best model they saw, the start included.
//!
//! # References
//! - Cappé and Moulines, On-line expectation-maximization algorithm for latent data models, 2009.
//! - Asuncion, Welling, Smyth and Teh, On smoothing and inference for topic models, 2009 (CVB0: equation 6).
//! - Minka, Estimating a Dirichlet distribution, 2000 (equation 55).

mod alpha;
mod aside;
mod collapsed;
mod completion;
mod cvb0;
mod infer;
mod joint;
mod kernel;
#[cfg(test)]
mod sample;
mod stepwise;
mod table;
mod training;

pub use alpha::estimate_alpha;
pub use aside::HeldOut;
pub(crate) use aside::{Aside, documents_aside, pack_blocks, unpack_blocks};
pub use completion::{Completion, Halves, split_tokens};
pub use cvb0::Cvb0;
pub(crate) use infer::too_many;
pub use infer::{BlockMixtures, Inference, LARGEST_PRIOR, MOST_TOKENS};
pub use joint::{Fitted, Joint};
pub(crate) use stepwise::Step;
pub use stepwise::Stepwise;
pub(crate) use training::WordTotals;
pub use training::{Checkpoint, Polished};
