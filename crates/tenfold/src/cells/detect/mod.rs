//! Cells found in an image: convolutional sparse coding with oriented super-Gaussian filters.
//!
//! # Model
//! An image is an uneven background, noise, and a sum of few atoms A·2^(−q^p), ellipses with half-maximum radii r1 ≥ r2. The exponent p is
//! one for the image (1 Gaussian, 2 and more flat with a soft edge), or grows with the size, so that all edges have one width in pixels. Where
//! light is cut off at the top of the format's range, an explanation above it is no misfit. The cost of an explanation with n cells is
//!
//! ```text
//! Σ (image − background − Σ atoms)² / (2 s²) + Σ prior(size, aspect, height) + λ n
//! ```
//!
//! # Steps
//! 1. From a sample of tiles: the typical size (blobs over all widths), the background's lattice, p and its law (blobs that stand alone), and, in turn with
//!    refinement, the prior (empirical Bayes) and s² (residual variance × the area over which it hangs together, frozen after two updates).
//! 2. Tile by tile with these numbers: seeds at maxima of blobs, joint refinement of neighbours, and rounds of moves: an atom goes, splits,
//!    or is born where something is left, whenever that lowers the cost after its neighbours have been refined.
//! 3. What chance gives is no cell: blobs must exceed the level that maxima of noise reach, cells must stand out of the noise as a whole, and
//!    what is wider than the background is told from is background.
//! 4. A cell belongs to the tile that holds its centre; at seams two tiles' claims on one cell count once.
//!
//! # What differs from the thesis, and why
//! Its filters are a fixed bank of Gaussians, activated by matching pursuit and fitted in turn. Pursuit from a bank and seeds at blob maxima give
//! the same cells after refinement, and seeds cost far less; what decides is the background, the prior and the moves. Real cells are flatter than
//! Gaussians, hence p.
//!
//! # Complexity
//! O(pixels + cells · pixels of a cell); memory is a few planes of a tile for each thread, whatever the size of the image.
//!
//! # References
//! Huang et al., "Discovering neuronal cell types and their gene expression profiles using a spatial point process mixture model", 2016,
//! appendix: Gaussian prior convolutional sparse coding.
//!
//! # Example
//! ```
//! use tenfold::cells::detect::Params;
//! use tenfold::cells::synth::{Scatter, Scene};
//! use tenfold::engine::progress::Silent;
//! let truth = Scatter { cells: 45, width: 300.0, height: 300.0, ..Scatter::default() }.draw()?.cells;
//! let image = Scene { width: 300, height: 300, noise: 5.0, ..Scene::default() }.draw(&truth);
//! let found = Params::default().find(&image, &Silent)?;
//! assert!(found.cells.len().abs_diff(45) <= 1, "{}", found.cells.len());
//! # Ok::<(), tenfold::Error>(())
//! ```

mod atom;
mod background;
mod chance;
mod choices;
mod doubt;
mod family;
mod field;
mod filter;
mod find;
mod group;
mod memory;
mod moves;
mod prior;
mod sample;
mod scale;
mod seams;
mod seeds;
mod settle;
mod shape;
mod spikes;
mod tiles;

pub use choices::{Diagnostics, Found, Params};
