//! Topics in text: latent Dirichlet allocation by its moments.
//!
//! # The model
//! A document's mixture θ is drawn from Dirichlet(α), α0 = Σα, and each of its words from Σ_i θ_i μ_i: topic i is a
//! distribution μ_i over the words. With α0 = 0 a document has a single topic.
//!
//! # The moments
//! With M1 = E\[x₁\] and the averages of pairs and triples of different tokens,
//!
//! M2 = E[x₁⊗x₂] − α0/(α0+1) M1⊗M1 = Σ_i α_i/(α0(α0+1)) μ_i⊗μ_i,
//! M3 = E[x₁⊗x₂⊗x₃] − α0/(α0+2) sym(E[x₁⊗x₂]⊗M1) + 2α0²/((α0+1)(α0+2)) M1⊗³ = Σ_i 2α_i/(α0(α0+1)(α0+2)) μ_i⊗³.
//!
//! Whitening by M2 makes M3 orthogonal; its decomposition gives μ_i and α_i without a start to guess. Neither is formed:
//! M2 acts on skinny matrices by passes over the counts, and M3 is seen through a subspace a little wider than k.
//!
//! # The polish
//! Moments find the right topics, a likelihood sharpens them. `Predict` is stepwise EM on the raw counts, best for
//! unseen text; `Faithful` is collapsed variational Bayes, nearest the truth where the model is true. Held-out documents
//! watch both, and the answer of the moments is kept when a polish would make it worse.
//!
//! # Example
//! ```
//! use tenfold::evaluate::Match;
//! use tenfold::topics::{Params, Synth};
//! let drawn = Synth { documents: 3000, words: 300, k: 5, ..Synth::default() }.draw()?;
//! let model = Params { seed: 7, ..Params::new(5) }.fit(&drawn.corpus)?;
//! let found = Match::new(&drawn.topics, model.topics());
//! assert!(found.mean() < 0.1 && found.share_found() == 1.0);
//! # Ok::<(), tenfold::Error>(())
//! ```
//!
//! # What differs from the thesis, and why
//! - Its moments (equations for pairs and triples) lack the division by ℓ(ℓ−1) and ℓ(ℓ−1)(ℓ−2): documents of unequal
//!   length would be biased. Here they are unbiased, and tested against explicit sums.
//! - Documents weigh min(ℓ, 3·median ℓ), counts enter as ⌈√c⌉ unless the polish is faithful, words are scaled by
//!   (M1 + 0.1/d)^(−1/4) before whitening: on real text these decide between poor and excellent.
//! - M2 of real text is indefinite: the largest *signed* eigenvalues are taken, never square roots of a sketch.
//! - The decomposition is the polar iteration, all topics together, instead of stochastic gradients one by one.
//!
//! # References
//! Anandkumar, Foster, Hsu, Kakade and Liu, "A spectral algorithm for latent Dirichlet allocation", NIPS 2012; Anandkumar,
//! Ge, Hsu, Kakade and Telgarsky, "Tensor decompositions for learning latent variable models", JMLR 15 (2014); Blei, Ng and
//! Jordan, "Latent Dirichlet allocation", JMLR 3 (2003).

mod choose;
pub mod cluster;
mod data;
mod fit;
mod infer;
mod memory;
mod merge;
mod model;
mod moments;
pub mod read;
mod report;
mod spectral;
mod stability;
mod statistics;
mod synth;
mod update;
mod white;

pub use crate::components::Components;
pub use data::{Builder, Corpus, Documents};
pub use fit::{Params, Polish};
pub use model::{Bridge, Diagnostics, Model, Representative, TopWord};
pub use spectral::OVERSAMPLE;
pub use synth::{Drawn, Mixtures, Shape, Source, Synth, THEMES};
pub use update::Updated;
