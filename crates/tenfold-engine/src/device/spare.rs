//! The processor in reserve: it goes on where a device that was only allowed runs out of memory in the middle.

use super::{Device, Product};
use crate::error::Result;
use crate::linalg::{Adjacency, Mat, Tall};
use crate::tensor::{Contract, Implicit};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a device holds, and what the processor uses from the first lack of memory on.
pub(super) struct Spare<H, S> {
    device: Device,
    what: &'static str,
    held: H,
    spare: S,
    over: AtomicBool,
}

impl<H, S> Spare<H, S> {
    pub fn new(device: &Device, what: &'static str, held: H, spare: S) -> Self {
        Self { device: device.clone(), what, held, spare, over: AtomicBool::new(false) }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn answer<T>(
        &self,
        ask: impl FnOnce(&H) -> Result<T>,
        instead: impl FnOnce(&S) -> Result<T>,
    ) -> Result<T> {
        if !self.is_over() {
            if let Some(found) = self.device.allow(self.what, ask(&self.held))? {
                return Ok(found);
            }
            self.over.store(true, Ordering::Relaxed);
        }
        instead(&self.spare)
    }
}

impl<'a> Contract for Spare<Box<dyn Contract + 'a>, Implicit<'a>> {
    fn dim(&self) -> usize {
        self.spare.dim()
    }

    fn order(&self) -> usize {
        self.spare.order()
    }

    fn contract(&self, arguments: &[&Mat]) -> Result<Mat> {
        self.answer(|on| on.contract(arguments), |spare| spare.contract(arguments))
    }

    fn slice(&self, u: &Mat) -> Result<Mat> {
        self.answer(|on| on.slice(u), |spare| spare.slice(u))
    }

    fn rounding(&self) -> f64 {
        if self.is_over() { self.spare.rounding() } else { self.held.rounding() }
    }
}

impl<'a> Product for Spare<Box<dyn Product + 'a>, &'a Adjacency> {
    fn multiply(&self, x: &Tall) -> Result<Tall> {
        self.answer(|on| on.multiply(x), |spare| Product::multiply(spare, x))
    }
}
