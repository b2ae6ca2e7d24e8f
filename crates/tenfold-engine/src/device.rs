//! Where the heavy sums are made: on the processor, or on a device such as a graphics card.
//!
//! This is the one seam. The engine and the applications ask a [`Device`]; what answers is either the code of this crate or
//! an [`Accelerator`] that somebody else wrote and that holds the data in memory of its own. Then only small matrices
//! travel: for T(I, V, V) of white samples V goes out and the contraction comes back, k × k numbers each.

mod spare;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::linalg::{Adjacency, Csr, Mat, Rows, Tall};
use crate::progress::Progress;
use crate::tensor::{Contract, Implicit, Term};
use spare::Spare;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Something with memory and arithmetic of its own.
///
/// Every method gives the same bytes when it is called twice with the same data on the same device and driver.
pub trait Accelerator: Send + Sync {
    /// What it is called, for people.
    fn name(&self) -> String;

    /// The tensor with its samples held on the device.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] when they do not fit; [`Error::Device`]; what a data source says.
    fn tensor<'a>(&self, tensor: &Implicit<'a>) -> Result<Box<dyn Contract + 'a>>;

    /// The sparse matrix for products with skinny ones; held where it fits, streamed in blocks where it does not.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] when not even two blocks fit; [`Error::Device`].
    fn matrix<'a>(&self, matrix: &'a dyn SparseRows) -> Result<Box<dyn Product + 'a>>;

    /// Σ w a aᵀ over sparse rows that come in groups, for products with skinny matrices. Groups that fit stay on the device from the
    /// first product on, the others are streamed.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn gram<'a>(&self, rows: Box<dyn RowGroups + 'a>) -> Result<Box<dyn Gram + 'a>>;

    /// All steps of a stochastic run, with the columns on the device from the first to the last.
    ///
    /// # Errors
    /// As [`Accelerator::tensor`].
    fn steps(&self, run: &Steps<'_>) -> Result<Stepped>;

    /// What has travelled so far.
    fn transfers(&self) -> Transfers;
}

/// What has travelled between host and device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transfers {
    /// Bytes to the device.
    pub up: u64,
    /// Bytes from the device.
    pub down: u64,
    /// Contractions, products and steps that were asked for.
    pub calls: u64,
}

impl Transfers {
    /// What has travelled since `before`.
    pub fn since(self, before: Self) -> Self {
        Self { up: self.up - before.up, down: self.down - before.down, calls: self.calls - before.calls }
    }
}

/// A sparse matrix by rows, as a device takes it: in single precision and some rows at a time.
pub trait SparseRows: Sync {
    /// Rows and columns.
    fn shape(&self) -> (usize, usize);
    /// Entries of a row.
    fn length(&self, row: usize) -> usize;
    /// Adds the columns and values of a row.
    fn append(&self, row: usize, columns: &mut Vec<u32>, values: &mut Vec<f32>);
}

impl SparseRows for Adjacency {
    fn shape(&self) -> (usize, usize) {
        (self.rows(), self.cols())
    }
    fn length(&self, row: usize) -> usize {
        self.degree(row)
    }
    fn append(&self, row: usize, columns: &mut Vec<u32>, values: &mut Vec<f32>) {
        let (at, weights) = self.row(row);
        columns.extend_from_slice(at);
        match weights {
            Some(weights) => values.extend_from_slice(weights),
            None => values.resize(columns.len(), 1.0),
        }
    }
}

impl SparseRows for Csr<u32> {
    fn shape(&self) -> (usize, usize) {
        (self.rows(), self.cols())
    }
    fn length(&self, row: usize) -> usize {
        self.row(row).0.len()
    }
    fn append(&self, row: usize, columns: &mut Vec<u32>, values: &mut Vec<f32>) {
        let (at, own) = self.row(row);
        columns.extend_from_slice(at);
        values.extend(own.iter().map(|v| *v as f32));
    }
}

/// A matrix known through `A · X`, in single precision.
pub trait Product: Sync {
    /// `A · X`.
    ///
    /// # Errors
    /// [`Error::Device`] when the device is lost.
    fn multiply(&self, x: &Tall) -> Result<Tall>;
}

impl Product for &Adjacency {
    fn multiply(&self, x: &Tall) -> Result<Tall> {
        let mut out = Tall::zeros(self.rows(), x.width());
        Adjacency::multiply(self, x.as_slice(), x.width(), out.as_mut_slice());
        Ok(out)
    }
}

/// Sparse rows with weights, in groups that are small enough to be gathered at once.
pub trait RowGroups: Sync {
    /// Columns of the rows.
    fn cols(&self) -> usize;
    /// Number of groups.
    fn groups(&self) -> usize;
    /// Group number `at`.
    ///
    /// # Errors
    /// What the source of the data says.
    fn group(&self, at: usize) -> Result<Group>;
    /// Is told that a group went through a product, and may stop it.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    fn passed(&self, at: usize) -> Result<()>;
}

/// Some sparse rows in single precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Where each row begins in `columns` and `values`, and where the last one ends.
    pub starts: Vec<u32>,
    /// Columns of the entries.
    pub columns: Vec<u32>,
    /// The entries.
    pub values: Vec<f32>,
    /// The weight of each row.
    pub weights: Vec<f32>,
}

/// A matrix Σ w a aᵀ that is known through its products.
pub trait Gram: Sync {
    /// Σ w a (aᵀ X), columns × width numbers.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] when not one column of X fits; [`Error::Device`] when the device is lost; what the rows say.
    fn multiply(&self, x: &Tall) -> Result<Vec<f64>>;
}

/// A run of V ← polar((1 − ρ) V Λ + ρ T_t(I, V, …, V)) over batches of samples, Λ the running weights.
pub struct Steps<'a> {
    /// All samples, in rows.
    pub samples: &'a dyn Rows,
    /// Order of the tensor.
    pub order: usize,
    /// Factor of the mean over a batch.
    pub scale: f64,
    /// What is added to every batch's tensor; no terms over samples.
    pub shifts: &'a [Term<'a>],
    /// For every step the first sample, the number of samples, the rate ρ and the share of the step in running means.
    pub batches: Vec<Step>,
    /// The first columns.
    pub start: Mat,
    /// The step after which the columns are kept for comparison with the last.
    pub middle: usize,
    /// Who is told of every step and may stop the run.
    pub progress: &'a dyn Progress,
}

/// One step of [`Steps`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// First sample of the batch.
    pub first: usize,
    /// Samples in the batch.
    pub samples: usize,
    /// ρ.
    pub rate: f64,
    /// Share of this step in the running means.
    pub share: f64,
}

/// What a run of [`Steps`] leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct Stepped {
    /// The last columns.
    pub columns: Mat,
    /// The columns after step `middle`.
    pub middle: Mat,
    /// The running weights.
    pub weights: Vec<f64>,
    /// The running residual after every step.
    pub residuals: Vec<f64>,
}

/// Who makes the heavy sums. The default is the processor.
///
/// # Example
/// ```
/// use tenfold_engine::device::Device;
/// use tenfold_engine::linalg::Mat;
/// use tenfold_engine::tensor::{Contract, Implicit, Term};
/// let y = Mat::identity(2);
/// let tensor = Implicit::new(3, 2, vec![Term::Powers { samples: &y, weights: None, scale: 1.0 }]);
/// let held = Device::default().tensor(tensor).unwrap();
/// assert_eq!(held.power(&Mat::identity(2)).unwrap(), Mat::identity(2));
/// ```
#[derive(Clone, Default)]
pub struct Device {
    on: Option<Arc<dyn Accelerator>>,
    required: bool,
    notices: Arc<Mutex<Vec<String>>>,
}

impl Device {
    /// A device that is used for all it can do; what it cannot do is an error.
    pub fn required(on: Arc<dyn Accelerator>) -> Self {
        Self { on: Some(on), required: true, ..Self::default() }
    }

    /// A device that is used where the processor would go over the samples again and again; the processor takes over what does
    /// not fit, with a notice.
    pub fn preferred(on: Arc<dyn Accelerator>) -> Self {
        Self { on: Some(on), required: false, ..Self::default() }
    }

    /// Whether the processor does everything.
    pub fn is_cpu(&self) -> bool {
        self.on.is_none()
    }

    /// Whether the device was asked for, and not only allowed.
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// What answers, for people.
    pub fn name(&self) -> String {
        self.on.as_ref().map_or_else(|| "cpu".into(), |on| on.name())
    }

    /// What has travelled so far; nothing on the processor.
    pub fn transfers(&self) -> Transfers {
        self.on.as_ref().map_or_else(Transfers::default, |on| on.transfers())
    }

    /// Leaves a notice that the processor did something in the device's place.
    pub fn notice(&self, notice: String) {
        self.notices.lock().unwrap_or_else(|held| held.into_inner()).push(notice);
    }

    /// What the processor did in the device's place since this was last asked, and why.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(|held| held.into_inner()))
    }

    /// The tensor where it will be contracted.
    ///
    /// # Errors
    /// As [`Accelerator::tensor`].
    pub fn tensor<'a>(&self, tensor: Implicit<'a>) -> Result<Box<dyn Contract + 'a>> {
        match self.held(&tensor)? {
            Some(held) => Ok(held),
            None => Ok(Box::new(tensor)),
        }
    }

    /// The tensor on the device; nothing where the processor must contract it.
    ///
    /// # Errors
    /// As [`Accelerator::tensor`].
    pub fn held<'a>(&self, tensor: &Implicit<'a>) -> Result<Option<Box<dyn Contract + 'a>>> {
        const WHAT: &str = "the samples";
        let held = self.ask(WHAT, |on| on.tensor(tensor))?;
        Ok(match held {
            Some(held) if !self.required => Some(Box::new(Spare::new(self, WHAT, held, tensor.clone()))),
            held => held,
        })
    }

    /// The graph where it will be multiplied.
    ///
    /// # Errors
    /// As [`Accelerator::matrix`].
    pub fn adjacency<'a>(&self, matrix: &'a Adjacency) -> Result<Box<dyn Product + 'a>> {
        const WHAT: &str = "the graph";
        Ok(match self.ask(WHAT, |on| on.matrix(matrix))? {
            Some(held) if !self.required => Box::new(Spare::new(self, WHAT, held, matrix)),
            Some(held) => held,
            None => Box::new(matrix),
        })
    }

    /// Σ w a aᵀ over rows in groups, on the device if it was asked for; nothing where the processor sums.
    ///
    /// # Errors
    /// As [`Accelerator::gram`].
    pub fn gram<'a>(&self, rows: Box<dyn RowGroups + 'a>) -> Result<Option<Box<dyn Gram + 'a>>> {
        self.on.as_ref().filter(|_| self.required).map(|on| on.gram(rows)).transpose()
    }

    /// All steps of a stochastic run on the device; nothing where the processor must make them.
    ///
    /// # Errors
    /// As [`Accelerator::steps`].
    pub fn steps(&self, run: &Steps<'_>) -> Result<Option<Stepped>> {
        self.ask("the samples", |on| on.steps(run))
    }

    fn ask<T>(&self, what: &str, work: impl FnOnce(&dyn Accelerator) -> Result<T>) -> Result<Option<T>> {
        let Some(on) = &self.on else { return Ok(None) };
        self.allow(what, work(on.as_ref()))
    }

    /// The device's answer; nothing, with a notice, where it lacks memory and the processor may take over.
    fn allow<T>(&self, what: &str, answer: Result<T>) -> Result<Option<T>> {
        match answer {
            Err(Error::DeviceMemory { needed, available }) if !self.required => {
                let notice = format!(
                    "{what} take {needed} bytes and {} offers {available}: the processor was used instead",
                    self.name()
                );
                self.notice(notice);
                Ok(None)
            }
            other => other.map(Some),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "Device({})", self.name())
    }
}

/// By name: two handles of one card are the same choice.
impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.required == other.required && self.name() == other.name()
    }
}
