//! The online solver's steps on a device.

use super::online::{Minibatches, smoothing, turn};
use super::{Decomposition, Online, Trace, Update};
use crate::device::{Device, Step, Stepped, Steps};
use crate::error::{Error, Result};
use crate::linalg::{polar, random};
use crate::progress::Progress;
use crate::tensor::Cp;

impl Online {
    /// [`Online::run`] over batches, made by `device` where it is one: the columns lie there from the first step to the last,
    /// and V ← polar((1 − ρ) V Λ + ρ T_t(I, V, …, V)) is found by products alone.
    ///
    /// # Complexity
    /// As [`Online::run`]; d × k numbers travel once in each direction, the samples once if the device can hold them.
    ///
    /// # Errors
    /// As [`Online::run`]; [`Error::Unsupported`] when a device that was asked for should make steps other than
    /// [`Update::Retraction`] without noise; what the device says.
    ///
    /// # Example
    /// ```
    /// use tenfold_engine::decompose::{Minibatches, Online};
    /// use tenfold_engine::device::Device;
    /// use tenfold_engine::linalg::Mat;
    /// use tenfold_engine::progress::Silent;
    /// let y = Mat::from_fn(300, 3, |t, i| if t % 3 == i { 1.5 } else { 0.0 });
    /// let batches = Minibatches::new(&y, 3, 30, 2, 1);
    /// let found = Online::default().run_on(&Device::default(), batches, 3, 1, &Silent).unwrap();
    /// assert_eq!(found.trace.iterations, 20);
    /// ```
    pub fn run_on(
        &self,
        device: &Device,
        mut batches: Minibatches<'_>,
        k: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Decomposition> {
        let dim = batches.dim();
        super::check_k(k, dim)?;
        if !device.is_cpu() && self.is_elsewhere(device)? {
            let start = random::orthogonal(dim, k, &mut random::rng(seed, 400))?;
            let count = batches.steps();
            // The older of the last two snapshots at powers of two, as on the processor.
            let middle = if count < 2 { 0 } else { 1 << (count.ilog2() - 1) };
            let run = Steps { batches: self.plan(&batches), start, middle, progress, ..batches.run() };
            if let Some(stepped) = device.steps(&run)? {
                return self.finish_run(stepped, run.order, middle > 0);
            }
        }
        self.run(&mut batches, dim, k, seed, progress)
    }

    /// Whether a device makes this solver's steps.
    fn is_elsewhere(&self, device: &Device) -> Result<bool> {
        let can = self.update == Update::Retraction && self.noise == 0.0;
        let why = "a device makes the online solver's steps by retraction and without noise";
        match (can, device.is_required()) {
            (false, true) => {
                Err(Error::Unsupported(format!("{why}; leave the others out, or take --device cpu")))
            }
            (false, false) => {
                device.notice(format!("{why}: the processor made the others"));
                Ok(false)
            }
            (true, _) => Ok(true),
        }
    }

    fn plan(&self, batches: &Minibatches<'_>) -> Vec<Step> {
        let step = |(t, rows): (usize, std::ops::Range<usize>)| Step {
            first: rows.start,
            samples: rows.len(),
            rate: self.rate.at(t),
            share: smoothing(t),
        };
        batches.order_of_all().into_iter().enumerate().map(step).collect()
    }

    /// The run's story in the words of [`Online::run`]; single precision leaves columns orthonormal to six digits only.
    fn finish_run(&self, stepped: Stepped, order: usize, compared: bool) -> Result<Decomposition> {
        let Stepped { columns, middle, weights, residuals } = stepped;
        if columns.as_slice().iter().any(|x| !x.is_finite()) {
            return Err(Error::NoConvergence("the stochastic gradient (take a smaller rate)"));
        }
        let mut trace = Trace { iterations: residuals.len(), ..Trace::default() };
        trace.converged = compared && turn(&middle, &columns) < self.tolerance;
        let mut running = 1.0;
        for (t, now) in residuals.into_iter().enumerate() {
            running += smoothing(t) * (now - running);
            trace.residuals.push(running);
        }
        let cp = Cp::new(order, weights, polar(&columns)?);
        Ok(Decomposition { cp: cp.canonical(), trace, fit: None })
    }
}
