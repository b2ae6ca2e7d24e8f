//! How a long run tells its caller where it is, and how the caller stops it.

use crate::error::{Error, Result};

/// Listens to a long run. All methods may be called from worker threads.
///
/// # Example
/// ```
/// use tenfold_engine::progress::{Progress, Silent};
/// Silent.stage("whitening", 3);
/// Silent.advance(1);
/// assert!(!Silent.stopped());
/// ```
pub trait Progress: Sync {
    /// A new stage begins; `steps` is its length, 0 when nobody knows.
    fn stage(&self, name: &str, steps: u64);
    /// `by` more steps of the current stage are done.
    fn advance(&self, by: u64);
    /// True when the caller wants the run to end.
    fn stopped(&self) -> bool;
    /// [`Error::Interrupted`] when the caller wants the run to end.
    fn check(&self) -> Result<()> {
        if self.stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Listens to nothing and never stops a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _name: &str, _steps: u64) {}
    fn advance(&self, _by: u64) {}
    fn stopped(&self) -> bool {
        false
    }
}
