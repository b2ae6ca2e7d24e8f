//! Long fits that go on where they were cut off.
//!
//! A fit is a chain of stages, some of which go in rounds, and every one of them gives the same numbers whenever it is done. So what a
//! stage gave may be kept in a file, and a later run of the same fit takes it over instead of working: the model is the same to
//! the byte. [`stage`] and [`Rounds`] are all that an application calls; without a checkpoint they cost nothing. Whose fit it is
//! stands beside the stages (see [`identify`]); another fit is refused, with what differs.
//!
//! Files are those of [`model_file`](crate::model_file): data only, with a checksum, there whole or not at all. One that is damaged is
//! thrown away with a notice, and its stage is done again.

mod folder;
mod identity;
mod keep;

pub use folder::{Checkpoint, Told};
pub use identity::{Digest, identify};
pub use keep::Keep;
pub(crate) use keep::keep;

use crate::error::Result;
use std::time::{Duration, Instant};
use tenfold_engine::device::Device;
use tenfold_engine::linalg::counts::{Parcel, Unpacked};
use tenfold_engine::progress::{Keeper, Progress};

/// What a stage gives: taken over from an earlier run of this fit, or worked out and kept. Stages inside of it have names of their
/// own below its name; those are forgotten when it is finished.
///
/// # Errors
/// What `work` says.
///
/// # Example
/// ```
/// use tenfold::checkpoint::{Checkpoint, stage};
/// use tenfold::engine::progress::Silent;
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path().join("kept");
/// let mut calls = 0;
/// for run in 0..2 {
///     let checkpoint = Checkpoint::open(&folder, |_| ())?;
///     let kept = checkpoint.listening(&Silent);
///     tenfold::checkpoint::identify(&kept, "example", &7, |_| Ok(()))?;
///     let squares = stage(&kept, "squares", |_| {
///         calls += 1;
///         std::thread::sleep(std::time::Duration::from_millis(300));
///         Ok(vec![1.0, 4.0, 9.0])
///     })?;
///     assert_eq!(squares, [1.0, 4.0, 9.0]);
/// }
/// assert_eq!(calls, 1);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn stage<T: Keep>(
    progress: &dyn Progress,
    name: &str,
    work: impl FnOnce(&dyn Progress) -> Result<T>,
) -> Result<T> {
    let Some(keeper) = progress.keeper() else { return work(progress) };
    let place = keeper.place("", name);
    if let Some(found) = recalled(keeper, &place) {
        return Ok(found);
    }
    let begin = Instant::now();
    let within = Within { progress, prefix: place.clone() };
    let found = work(&within)?;
    if keeper.keep(&place, begin.elapsed(), &mut || packed(&found)) {
        // Only what lies below: the stage itself was just left there.
        keeper.forget(&format!("{place}."));
    }
    Ok(found)
}

/// [`stage`] for work on a device, whose notices are kept with what it gives.
///
/// # Errors
/// What `work` says.
pub fn stage_on<T: Keep>(
    device: &Device,
    progress: &dyn Progress,
    name: &str,
    work: impl FnOnce(&dyn Progress) -> Result<T>,
) -> Result<T> {
    let earlier = device.take_notices();
    let (found, own) = stage(progress, name, |progress| Ok((work(progress)?, device.take_notices())))?;
    earlier.into_iter().chain(own).for_each(|notice| device.notice(notice));
    Ok(found)
}

/// A listener whose stages stand below `name`: for work whose stages have names that others have too.
pub fn within<'a>(progress: &'a dyn Progress, name: &str) -> Within<'a> {
    let prefix = progress.keeper().map(|keeper| keeper.place("", name)).unwrap_or_default();
    Within { progress, prefix }
}

/// Work that goes in rounds, each of which begins where the last one ended.
///
/// The caller takes up what [`Rounds::taken`] gives, and calls [`Rounds::keep`] after every round with all that the next one needs.
/// Stages inside a round are to stand [`within`] a name that tells the round.
pub struct Rounds<'a> {
    kept: Option<(&'a dyn Keeper, String)>,
    last: Instant,
}

impl<'a> Rounds<'a> {
    /// Rounds of this name.
    pub fn new(progress: &'a dyn Progress, name: &str) -> Self {
        let kept = progress.keeper().map(|keeper| (keeper, keeper.place("", name)));
        Self { kept, last: Instant::now() }
    }

    /// Where an earlier run of this fit had got to.
    pub fn taken<T: Keep>(&self) -> Option<T> {
        let (keeper, place) = self.kept.as_ref()?;
        recalled(*keeper, place)
    }

    /// Leaves where this run has got to; not after every round where rounds are quick.
    pub fn keep(&mut self, state: impl Fn(&mut Parcel)) {
        let Some((keeper, place)) = &self.kept else { return };
        let left = keeper.keep(place, self.last.elapsed() / ROUNDS_FOR_ONE, &mut || {
            let mut parcel = Parcel::default();
            state(&mut parcel);
            parcel.0
        });
        if left {
            self.last = Instant::now();
        }
    }
}

/// A round is kept when all since the last one took this many times what keeping takes: then it costs a twentieth of the time at most
/// (with the four of [`Checkpoint`]).
const ROUNDS_FOR_ONE: u32 = 5;

/// A listener that hands everything on, and gives its stages names below its own.
pub struct Within<'a> {
    progress: &'a dyn Progress,
    prefix: String,
}

impl Progress for Within<'_> {
    fn stage(&self, name: &str, steps: u64) {
        self.progress.stage(name, steps);
    }
    fn advance(&self, by: u64) {
        self.progress.advance(by);
    }
    fn stopped(&self) -> bool {
        self.progress.stopped()
    }
    fn keeper(&self) -> Option<&dyn Keeper> {
        self.progress.keeper().map(|_| self as &dyn Keeper)
    }
}

impl Within<'_> {
    fn outer(&self) -> &dyn Keeper {
        self.progress.keeper().expect("asked for only where there is one")
    }
}

impl Keeper for Within<'_> {
    /// A fit inside a fit is the outer one's.
    fn identify(&self, _facts: &[(String, String)]) -> tenfold_engine::Result<()> {
        Ok(())
    }
    fn place(&self, below: &str, name: &str) -> String {
        self.outer().place(if below.is_empty() { &self.prefix } else { below }, name)
    }
    fn recall(&self, place: &str) -> Option<Vec<u8>> {
        self.outer().recall(place)
    }
    fn keep(&self, place: &str, spent: Duration, state: &mut dyn FnMut() -> Vec<u8>) -> bool {
        self.outer().keep(place, spent, state)
    }
    fn forget(&self, place: &str) {
        self.outer().forget(place);
    }
    fn refuse(&self, place: &str) {
        self.outer().refuse(place);
    }
}

fn packed(state: &impl Keep) -> Vec<u8> {
    let mut parcel = Parcel::default();
    state.put(&mut parcel);
    parcel.0
}

/// What was left in a place, when it is whole: all of its bytes and no more.
fn recalled<T: Keep>(keeper: &dyn Keeper, place: &str) -> Option<T> {
    let bytes = keeper.recall(place)?;
    let mut parcel = Unpacked(&bytes);
    let found = T::take(&mut parcel).filter(|_| parcel.0.is_empty());
    if found.is_none() {
        keeper.refuse(place);
    }
    found
}
