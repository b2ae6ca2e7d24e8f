//! Independent component analysis: sources that were mixed, from their mixtures alone.
//!
//! **Model.** x = A s + mean, with independent sources s of unit variance, at most one of them Gaussian, and A
//! with independent columns (no more sources than columns of data).
//!
//! **Moment identity.** With W that whitens x, y = Wᵀ(x − mean) has the fourth cumulant
//!
//! cum₄(y) = E[y⊗⁴] − sym(I⊗I) = Σ_i κ_i v_i⊗⁴, v_i = Wᵀ a_i orthonormal,
//!
//! where κ_i is the excess kurtosis of source i, of either sign; the third cumulant E[y⊗³] = Σ γ_i v_i⊗³ has the
//! skewness in its place. The tensor is never formed: [`Polar`](crate::engine::decompose::Polar) needs only its
//! contractions, two matrix products over the data an iteration.
//!
//! **Pipeline.** [`Params::fit`]: one pass for mean and covariance, whitening (k given or chosen), the tensor
//! decomposition, and a likelihood polish: the cumulants find the right basin without luck, a few Newton steps
//! on an adaptive likelihood then take the statistical efficiency that cumulants lack.
//!
//! **What differs from the thesis** (chapter 2, which treats ±1 sources already rotated): general sources are
//! whitened first, weights may be negative, and all components stay orthonormal by retraction.
//!
//! ```
//! use tenfold::engine::linalg::Mat;
//! use tenfold::{evaluate, ica};
//! let drawn = ica::Synth { samples: 5000, columns: 4, sources: 4, ..Default::default() }.draw();
//! let model = ica::Params { seed: 7, ..ica::Params::new(4) }.fit(&drawn.samples)?;
//! let distance = evaluate::amari_distance(&model.unmixing().matmul(&drawn.mixing));
//! assert!(distance < 0.05);
//! let sources: Mat = model.infer(&drawn.samples)?;
//! assert_eq!(sources.cols(), 4);
//! # Ok::<(), tenfold::Error>(())
//! ```
//!
//! # References
//! Comon, "Independent component analysis, a new concept?", Signal Processing 36 (1994); Cardoso and Souloumiac,
//! "Blind beamforming for non-Gaussian signals", IEE Proceedings F 140 (1993); Pham and Garat, "Blind separation of
//! mixture of independent sources through a quasi-maximum likelihood approach", IEEE Trans. Signal Processing 45
//! (1997); Ge, Huang, Jin and Yuan, COLT 2015.

mod fit;
mod memory;
mod model;
mod moments;
mod polish;
mod reach;
mod report;
mod synth;

pub use crate::components::Components;
pub use fit::{Contrast, Params, Polish};
pub use model::{Diagnostics, Mixtures, Model, Sources};
pub use synth::{Drawn, Shape, Synth};
