//! Motifs that repeat anywhere in a signal or an image: convolutional dictionaries by higher-order statistics.
//!
//! # Model
//! x = Σ_l f_l ⋆ w_l + Gaussian noise: L motifs f_l of m samples, fired by independent activations w_l. Signals have one or
//! several channels (a motif has a waveform in each, fired together); images are the same on a plane. L = 1 is blind
//! deconvolution.
//!
//! # Moment identity
//! With F_l the motif's spectrum, u_lω(a) = F_l(a) F_l(ω − a), and λ_l, κ_l the third and fourth cumulants of w_l,
//!
//! cum(X(a), X(ω−a), X*(ω)) = Σ λ_l u_lω(a) F_l*(ω) and cum(X(a), X(ω−a), X*(c), X*(ω−c)) = Σ κ_l u_lω(a) u_lω*(c).
//!
//! Shifts drop out, Gaussian noise drops out, and for every ω the second is a Hermitian matrix of rank L. `moments` gathers them
//! in one pass, one matrix product for every ω; what follows does not depend on the number of samples. `learn` finds the motifs
//! whose u_ω lie in the leading eigenspaces of all these matrices (the convolutional subspace power method), fits both orders
//! jointly, and repairs motifs that sit in wrong places. `decode` says where they fire, `sparse` refines them on the signals.
//!
//! # What differs from the thesis, and why
//! - The thesis decomposes the third cumulant, one motif after the other. Deflation recovers nothing even from exact cumulants:
//!   shifted copies of a motif are not orthogonal. All motifs are found together here; the thesis's way is kept as
//!   [`Solver::Deflation`].
//! - The third cumulant of m taps has m(m+1)/2 lags, too few for more than (m+1)/2 motifs, and none at all for activations that
//!   are not skewed. The fourth carries up to about ¾ m.
//! - The cumulant is never formed as n³ numbers: it does not change under shifts, so its Fourier transform has n² (third order)
//!   or n³/12 distinct ones, and those of lags beyond the motifs' length are noise and are dropped.
//! - The theorem's average of normalised columns is not the least-squares solution; the plain average is.
//! - Whitening is by the noise of the cumulants, as two halves of the signals show it, and not by the power spectrum.
//! - Reconstruction does not tell methods apart for L ≥ 2, since any full-rank filters reconstruct; errors of filters do, after
//!   shift, sign and permutation.
//!
//! # References
//! Huang and Anandkumar, "Convolutional dictionary learning through tensor factorization", 2015. Kileel and Pereira, "Subspace power
//! method for symmetric tensor decomposition", 2019. Wohlberg, "Efficient algorithms for convolutional sparse
//! representations", 2016.

pub mod baseline;
mod channels;
mod choices;
mod choose;
mod data;
pub mod decode;
mod events;
mod extent;
mod filters;
mod fit;
mod learn;
mod memory;
mod model;
mod moments;
mod picture;
mod read;
mod report;
mod shuffled;
pub mod sparse;
mod synth;
pub mod truth;

pub use choices::{Length, Orders, Params, Solver};
pub use data::{Signals, Stretch};
pub use events::Event;
pub use extent::Extent;
pub use filters::Filters;
pub use model::{Diagnostics, Model};
pub use picture::Picture;
pub use read::{Layout, ReadOptions, files_read, read, read_all};
pub use synth::{Activation, Drawn, Shape, Synth};
