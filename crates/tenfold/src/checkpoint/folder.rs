//! The folder that holds a checkpoint.

use super::identity::{Digest, differences};
use crate::error::{Error, Result};
use crate::model_file::{ModelFile, Tensor, TensorData};
use crate::output::{sweep, sweep_own, temporary, write_error};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tenfold_engine::progress::{Keeper, Progress};

/// The file that says whose fit it is, and how files of stages end.
const IDENTITY: &str = "fit.identity";
const STAGE: &str = "stage";

/// A result is kept when finding it took this many times what keeping it takes: else a later run is nearly as quick without it.
const WORTH: u32 = 4;

/// What a file costs besides its bytes, in bytes.
const OVERHEAD: f64 = 65_536.0;

/// Something that the user should know of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// This was taken over from an earlier run.
    Taken(String),
    /// This went wrong; the fit goes on all the same.
    Trouble(String),
}

/// A folder with the finished stages of one fit.
///
/// Keeping is for nothing but time, so it never stops a fit: what cannot be written is told, and the fit goes on without.
pub struct Checkpoint {
    folder: PathBuf,
    tell: Box<dyn Fn(Told) + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whose fit this is, once that was said.
    identity: Option<String>,
    /// The files of stages that are there, by their names without the ending.
    files: BTreeSet<String>,
    /// How often a name has come.
    named: HashMap<String, usize>,
    taken: Vec<String>,
    /// Whether the user knows that nothing can be written.
    complained: bool,
    /// What was written so far, with the overhead, and how long that took.
    bytes: f64,
    seconds: f64,
}

impl Checkpoint {
    /// Opens the folder, or makes it. `tell` is called at once with what the user should know.
    ///
    /// # Errors
    /// [`Error::Write`] when there can be no folder of this name, or no file in it.
    pub fn open(folder: &Path, tell: impl Fn(Told) + Send + Sync + 'static) -> Result<Self> {
        let fail = |e| write_error(folder, e);
        std::fs::create_dir_all(folder).map_err(fail)?;
        // The one sure way to learn whether files may be made here. It is gone again at once.
        temporary().tempfile_in(folder).map(drop).map_err(fail)?;
        sweep(folder);
        // What a disk of today does, until this one was seen.
        let state = State { bytes: 200e6, seconds: 1.0, files: stages_in(folder), ..State::default() };
        Ok(Self { folder: folder.to_owned(), tell: Box::new(tell), state: Mutex::new(state) })
    }

    /// A listener that hands everything on to `progress`, and keeps stages here.
    pub fn listening<'a>(&'a self, progress: &'a dyn Progress) -> Listening<'a> {
        Listening { checkpoint: self, progress }
    }

    /// The stages that were taken over from an earlier run, in order.
    pub fn taken(&self) -> Vec<String> {
        self.state().taken.clone()
    }

    /// The fit is done and its results are safe: removes what was kept, and the folder where nothing else is in it.
    pub fn remove(&self) {
        self.remove_below("");
        let _ = std::fs::remove_file(self.folder.join(IDENTITY));
        sweep_own(&self.folder);
        // Whatever else is in the folder is not ours, and then it stays.
        let _ = std::fs::remove_dir(&self.folder);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Whoever panicked left numbers and names, which are whole.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn path(&self, place: &str) -> PathBuf {
        self.folder.join(format!("{}.{STAGE}", stem(place)))
    }

    /// Removes the files of stages whose names begin so.
    fn remove_below(&self, beginning: &str) {
        let mut state = self.state();
        let gone = state.files.range(beginning.to_owned()..).take_while(|name| name.starts_with(beginning));
        for name in gone.cloned().collect::<Vec<String>>() {
            let _ = std::fs::remove_file(self.folder.join(format!("{name}.{STAGE}")));
            state.files.remove(&name);
        }
    }

    fn trouble(&self, message: String) {
        (self.tell)(Told::Trouble(message));
    }

    /// The facts that stand in the folder; none where there is no checkpoint yet.
    fn facts_there(&self) -> Result<Option<Vec<(String, String)>>> {
        let path = self.folder.join(IDENTITY);
        if !path.exists() {
            return Ok(None);
        }
        let file = ModelFile::load(&path)?;
        file.expect_kind("checkpoint")?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let facts = file.metadata["facts"].as_array().into_iter().flatten();
        Ok(Some(facts.map(|fact| (text(&fact[0]), text(&fact[1]))).collect()))
    }

    fn load(&self, place: &str) -> Result<Option<Vec<u8>>> {
        let path = self.path(place);
        if !path.exists() {
            return Ok(None);
        }
        let mut file = ModelFile::load(&path)?;
        file.expect_kind("stage")?;
        // A file of another fit or of another stage under this name was put there by somebody: it is not ours to use.
        let own = (Value::from(self.state().identity.clone()), Value::from(place));
        match file.tensors.remove("state") {
            Some(Tensor { data: TensorData::U8(bytes), .. })
                if (&file.metadata["fit"], &file.metadata["stage"]) == (&own.0, &own.1) =>
            {
                Ok(Some(bytes))
            }
            _ => Err(Error::Model {
                path,
                problem: "it belongs to another fit".into(),
                remedy: "it is done again".into(),
            }),
        }
    }

    fn save(&self, place: &str, bytes: Vec<u8>) -> Result<()> {
        let metadata = json!({ "fit": self.state().identity, "stage": place });
        let mut file = ModelFile::new("stage", metadata);
        let tensor = Tensor { shape: vec![bytes.len()], data: TensorData::U8(bytes) };
        file.tensors.insert("state".into(), tensor);
        file.save(&self.path(place))?;
        self.state().files.insert(stem(place));
        Ok(())
    }
}

/// The name of the file of a stage, without its ending.
fn stem(place: &str) -> String {
    place.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
}

/// The files of stages in a folder, by their names without the ending.
fn stages_in(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let stem = |name: String| Some(name.strip_suffix(STAGE)?.strip_suffix('.')?.to_owned());
    names.filter_map(stem).collect()
}

impl Keeper for Checkpoint {
    fn identify(&self, facts: &[(String, String)]) -> tenfold_engine::Result<()> {
        match self.facts_there() {
            Ok(Some(there)) if there == facts => {}
            Ok(Some(there)) => {
                return Err(Error::Unfit {
                    problem: format!(
                        "{} holds the checkpoint of another fit: {}",
                        self.folder.display(),
                        differences(&there, facts)
                    ),
                    remedy: "give what was given then, or another folder; to begin anew, remove this one"
                        .into(),
                }
                .into());
            }
            found => {
                if let Err(error) = found {
                    self.trouble(format!("the checkpoint was thrown away, and the fit begins anew: {error}"));
                }
                // Stages without a fit are of no use to anyone.
                self.remove_below("");
                let file = ModelFile::new("checkpoint", json!({ "facts": facts }));
                file.save(&self.folder.join(IDENTITY))?;
            }
        }
        let mut digest = Digest::default();
        facts.iter().for_each(|(name, value)| digest.texts([name, value]));
        self.state().identity = Some(digest.finish());
        Ok(())
    }

    fn place(&self, below: &str, name: &str) -> String {
        let place = if below.is_empty() { name.to_owned() } else { format!("{below}.{name}") };
        let mut state = self.state();
        let times = state.named.entry(place.clone()).or_default();
        *times += 1;
        if *times == 1 { place } else { format!("{place} #{times}") }
    }

    fn recall(&self, place: &str) -> Option<Vec<u8>> {
        match self.load(place) {
            Ok(found) => {
                let bytes = found?;
                self.state().taken.push(place.to_owned());
                (self.tell)(Told::Taken(place.to_owned()));
                Some(bytes)
            }
            Err(error) => {
                let _ = std::fs::remove_file(self.path(place));
                self.trouble(format!("thrown away, and `{place}` is done again: {error}"));
                None
            }
        }
    }

    fn keep(&self, place: &str, spent: Duration, state: &mut dyn FnMut() -> Vec<u8>) -> bool {
        let begin = Instant::now();
        let rate = {
            let state = self.state();
            if state.identity.is_none() || state.complained {
                return false;
            }
            state.seconds / state.bytes
        };
        let worth = |bytes: f64| spent.as_secs_f64() >= f64::from(WORTH) * rate * (bytes + OVERHEAD);
        // What is too quick for an empty file need not be packed to see that.
        if !worth(0.0) {
            return false;
        }
        let bytes = state();
        let length = bytes.len() as f64;
        if !worth(length) {
            return false;
        }
        match self.save(place, bytes) {
            Ok(()) => {
                let mut state = self.state();
                // The last files say most about the next.
                state.bytes = 0.5 * state.bytes + length + OVERHEAD;
                state.seconds = 0.5 * state.seconds + begin.elapsed().as_secs_f64();
                true
            }
            Err(error) => {
                self.state().complained = true;
                self.trouble(format!("the fit goes on, but no more of it is kept: {error}"));
                false
            }
        }
    }

    fn forget(&self, place: &str) {
        self.remove_below(&stem(place));
    }

    fn refuse(&self, place: &str) {
        let path = self.path(place);
        let _ = std::fs::remove_file(&path);
        self.state().taken.retain(|taken| taken != place);
        self.trouble(format!(
            "{}: it does not hold what `{place}` needs; thrown away, and it is done again",
            path.display()
        ));
    }
}

/// A run that is listened to and whose stages are kept.
pub struct Listening<'a> {
    checkpoint: &'a Checkpoint,
    progress: &'a dyn Progress,
}

impl Progress for Listening<'_> {
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
        Some(self.checkpoint)
    }
}
