//! How a long run tells its caller where it is, how the caller stops it, and where it leaves what it has finished.

use crate::error::{Error, Result};
use std::time::Duration;

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
    /// Where finished stages are left for a later run of the same work; nowhere unless the caller says so.
    fn keeper(&self) -> Option<&dyn Keeper> {
        None
    }
}

/// Keeps what a long run has finished, so that a later run of the same work goes on from there.
///
/// Runs are deterministic, so what was kept is what would be computed again: it saves time and changes nothing. What cannot be
/// kept is told by the keeper itself and does not stop the run.
pub trait Keeper: Sync {
    /// Says whose work it is, by names and values, before anything is recalled.
    ///
    /// # Errors
    /// When what is kept belongs to other work.
    fn identify(&self, facts: &[(String, String)]) -> Result<()>;
    /// Where the next stage called `name` is kept: below the place of another, or at the top when that is empty. A stage that comes
    /// twice has two places.
    fn place(&self, below: &str, name: &str) -> String;
    /// What was left in a place.
    fn recall(&self, place: &str) -> Option<Vec<u8>>;
    /// Leaves what took so long to find, when that is more than leaving it takes; says whether it did.
    fn keep(&self, place: &str, spent: Duration, state: &mut dyn FnMut() -> Vec<u8>) -> bool;
    /// What was left in a place, and in those below it, is no longer needed.
    fn forget(&self, place: &str);
    /// What was left in a place cannot be used after all.
    fn refuse(&self, place: &str);
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
