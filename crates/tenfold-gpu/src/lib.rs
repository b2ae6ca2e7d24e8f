//! Tensors and sparse matrices on the graphics card, for the engine of tenfold.
//!
//! [`Gpu`] is an [`Accelerator`]: samples go to the card once, then V goes up and
//! T(I, V, …, V) comes down, k × k numbers each for white samples. One source of compute shaders runs on Vulkan, Metal and
//! DirectX 12. Numbers are f32 on the card; sums are made in blocks of blocks, in one order, without atomics: the same
//! device and driver give the same bytes.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use tenfold_engine::device::Device;
//! use tenfold_gpu::{Gpu, Options};
//! let device = match Gpu::open(Some(0), Options::default()) {
//!     Ok(gpu) => Device::required(Arc::new(gpu)),
//!     Err(_) => Device::default(), // no card here
//! };
//! println!("{}", device.name());
//! ```

#![forbid(unsafe_code)]

mod adapters;
mod context;
mod kernels;
mod measure;
mod sparse;
mod steps;
mod tensor;

pub use adapters::{Adapter, adapters};
pub use context::Options;
pub use measure::{Measured, Timed, measure};

use context::Context;
use std::sync::Arc;
use tenfold_engine::Result;
use tenfold_engine::device::{Accelerator, Gram, Product, RowGroups, SparseRows, Stepped, Steps, Transfers};
use tenfold_engine::tensor::{Contract, Implicit};

/// One graphics card, or what stands for one.
pub struct Gpu {
    context: Arc<Context>,
}

impl Gpu {
    /// Opens adapter number `index` of [`adapters()`]; without a number the first that is a card and not software.
    ///
    /// # Errors
    /// [`Device`](tenfold_engine::Error::Device) when there is none, with what to do about it.
    pub fn open(index: Option<usize>, options: Options) -> Result<Self> {
        Ok(Self { context: Arc::new(Context::open(adapters::choose(index)?, options)?) })
    }

    /// Gives the card back at once. Whatever still computes on it gets an error.
    pub fn release(&self) {
        self.context.release();
    }
}

impl Accelerator for Gpu {
    fn name(&self) -> String {
        self.context.name.clone()
    }

    fn tensor<'a>(&self, tensor: &Implicit<'a>) -> Result<Box<dyn Contract + 'a>> {
        Ok(Box::new(tensor::Held::new(&self.context, tensor)?))
    }

    fn matrix<'a>(&self, matrix: &'a dyn SparseRows) -> Result<Box<dyn Product + 'a>> {
        Ok(Box::new(sparse::Held::new(&self.context, matrix)?))
    }

    fn gram<'a>(&self, rows: Box<dyn RowGroups + 'a>) -> Result<Box<dyn Gram + 'a>> {
        Ok(Box::new(sparse::Documents::new(&self.context, rows)))
    }

    fn steps(&self, run: &Steps<'_>) -> Result<Stepped> {
        steps::run(&self.context, run)
    }

    fn transfers(&self) -> Transfers {
        self.context.transfers()
    }
}
