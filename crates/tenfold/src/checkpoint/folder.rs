//! The folder that holds a checkpoint.

use super::identity::{Digest, differences};
use crate::error::{Error, Result};
use crate::model_file::{ModelFile, Tensor, TensorData};
use crate::output::{shown, sweep, sweep_own, temporary, write_error};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Read;
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
    /// Whether the folder was not there before.
    made: bool,
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
    /// [`Error::Write`] when there can be no folder of this name, or no file in it; [`Error::Unfit`] when it holds files of others under
    /// names of ours, which a fit would replace.
    pub fn open(folder: &Path, tell: impl Fn(Told) + Send + Sync + 'static) -> Result<Self> {
        let fail = |e| write_error(folder, e);
        if folder.as_os_str().is_empty() {
            return Err(Error::Unfit {
                problem: "the folder of the checkpoint has an empty name".into(),
                remedy: "give the path of a folder, best of a new one".into(),
            });
        }
        let files = stages_in(folder)?;
        let made = !folder.exists();
        std::fs::create_dir_all(folder).map_err(fail)?;
        // The one sure way to learn whether files may be made here. It is gone again at once.
        temporary().tempfile_in(folder).map(drop).map_err(fail)?;
        sweep(folder);
        // What a disk of today does, until this one was seen.
        let state = State { bytes: 200e6, seconds: 1.0, files, made, ..State::default() };
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
        // A fit that never said who it is has left nothing here.
        if self.state().identity.is_some() {
            self.remove_below("");
            remove_own(&self.folder.join(IDENTITY), "checkpoint");
        }
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
            remove_own(&self.folder.join(format!("{name}.{STAGE}")), "stage");
            state.files.remove(&name);
        }
    }

    /// Removes the file of one stage, unless somebody else put it there.
    fn throw_away(&self, place: &str) {
        remove_own(&self.path(place), "stage");
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
        let path = self.path(place);
        if path.exists() && !is_ours(&path, "stage") {
            return Err(taken(&path));
        }
        let metadata = json!({ "fit": self.state().identity, "stage": place });
        let mut file = ModelFile::new("stage", metadata);
        let tensor = Tensor { shape: vec![bytes.len()], data: TensorData::U8(bytes) };
        file.tensors.insert("state".into(), tensor);
        file.save(&path)?;
        self.state().files.insert(stem(place));
        Ok(())
    }
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        // What ended before there was a fit leaves no folder behind.
        let state = self.state();
        if state.made && state.identity.is_none() {
            let _ = std::fs::remove_dir(&self.folder);
        }
    }
}

/// The name of the file of a stage, without its ending.
fn stem(place: &str) -> String {
    place.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
}

/// The files of stages in a folder, by their names without the ending: all of them are ours.
fn stages_in(folder: &Path) -> Result<BTreeSet<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        // What cannot be seen may be somebody's.
        Err(e) => return Err(write_error(folder, e)),
    };
    let name =
        |entry: std::io::Result<std::fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let names: BTreeSet<String> =
        entries.map(name).collect::<std::io::Result<_>>().map_err(|e| write_error(folder, e))?;
    let stem = |name: &str| Some(name.strip_suffix(STAGE)?.strip_suffix('.')?.to_owned());
    let foreign = names.iter().find(|name| match stem(name) {
        Some(_) => !is_ours(&folder.join(name), "stage"),
        None => *name == IDENTITY && !is_ours(&folder.join(name), "checkpoint"),
    });
    match foreign {
        None => Ok(names.iter().filter_map(|name| stem(name)).collect()),
        Some(name) => Err(taken(&folder.join(name))),
    }
}

/// A name of ours is in use by a file of somebody else.
fn taken(path: &Path) -> Error {
    Error::Unfit {
        problem: format!(
            "{} has the name of a file of a checkpoint and is none",
            shown(&path.to_string_lossy())
        ),
        remedy: "give another folder, best a new one; if the file is not needed, remove it".into(),
    }
}

/// Removes a file of ours; one that somebody else put there, such as the fit's own model, stays.
fn remove_own(path: &Path, kind: &str) {
    if is_ours(path, kind) {
        let _ = std::fs::remove_file(path);
    }
}

/// Whether a file begins as those that are left here do. What comes later may be damaged or missing: it is ours all the same.
fn is_ours(path: &Path, kind: &str) -> bool {
    // The facts stand first, in the order of their names; these come within some hundred bytes.
    let mut beginning = Vec::new();
    // Only a file is opened: a pipe would wait for somebody who writes.
    let read = std::fs::metadata(path).is_ok_and(|about| about.is_file())
        && File::open(path).and_then(|file| file.take(256).read_to_end(&mut beginning)).is_ok();
    let text = String::from_utf8_lossy(beginning.get(8..).unwrap_or_default());
    let has = |name: &str, value: &str| text.contains(&format!("\"{name}\":\"{value}\""));
    read && text.starts_with("{\"__metadata__\":{") && has("format", "tenfold") && has("kind", kind)
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
                let path = self.folder.join(IDENTITY);
                if path.exists() && !is_ours(&path, "checkpoint") {
                    return Err(taken(&path).into());
                }
                if let Err(error) = found {
                    self.trouble(format!("the checkpoint was thrown away, and the fit begins anew: {error}"));
                }
                // Stages without a fit are of no use to anyone.
                self.remove_below("");
                let file = ModelFile::new("checkpoint", json!({ "facts": facts }));
                file.save(&path)?;
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
                self.throw_away(place);
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
        self.throw_away(place);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path) -> Result<Checkpoint> {
        Checkpoint::open(folder, |_| ())
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn facts() -> Vec<(String, String)> {
        vec![("seed".to_owned(), "7".to_owned())]
    }

    #[test]
    fn files_of_others_are_refused_and_left_alone() {
        for (name, text) in
            [("lights.stage", "cue 1"), ("whiten.stage", ""), (IDENTITY, "me"), (".stage", "")]
        {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), text).unwrap();
            let error = open(folder.path()).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains(name) && error.contains("give another folder"), "{name}: {error}");
            assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), text);
            assert_eq!(names(folder.path()), [name]);
        }
        // One that comes while the fit runs, and under the very name of a stage.
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = open(folder.path()).unwrap();
        checkpoint.identify(&facts()).unwrap();
        for name in ["lights.stage", "whiten.stage"] {
            std::fs::write(folder.path().join(name), "mine").unwrap();
        }
        assert_eq!(checkpoint.recall("whiten"), None);
        assert!(checkpoint.save("whiten", vec![1]).is_err());
        checkpoint.remove();
        assert_eq!(names(folder.path()), ["lights.stage", "whiten.stage"]);
        // One that comes between the opening and the fit; a name that is empty is no folder, although files can be made in it.
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = open(folder.path()).unwrap();
        std::fs::write(folder.path().join(IDENTITY), "mine").unwrap();
        assert!(checkpoint.identify(&facts()).unwrap_err().to_string().contains("give another folder"));
        checkpoint.remove();
        assert_eq!(names(folder.path()), [IDENTITY]);
        assert!(open(Path::new("")).err().is_some_and(|e| e.to_string().contains("empty name")));
    }

    #[test]
    fn a_run_without_a_fit_leaves_no_folder() {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("kept");
        drop(open(&folder).unwrap());
        assert!(!folder.exists());
        std::fs::create_dir(&folder).unwrap();
        drop(open(&folder).unwrap());
        assert!(folder.exists(), "it was there before");
        std::fs::remove_dir(&folder).unwrap();
        open(&folder).unwrap().identify(&facts()).unwrap();
        assert_eq!(names(&folder), [IDENTITY]);
    }

    #[test]
    fn a_model_under_the_name_of_a_stage_is_no_stage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("voices.stage");
        ModelFile::new("ica", json!({ "kind": "stage" })).save(&path).unwrap();
        assert!(open(folder.path()).is_err() && path.exists());
    }

    #[test]
    fn what_any_crash_leaves_is_taken_up_or_thrown_away() {
        let folder = tempfile::tempdir().unwrap();
        let begin = || {
            let checkpoint = open(folder.path()).unwrap();
            checkpoint.identify(&facts()).unwrap();
            checkpoint
        };
        // Before the first stage, and after it.
        begin();
        begin().save("whiten", vec![1, 2, 3]).unwrap();
        assert_eq!(begin().recall("whiten"), Some(vec![1, 2, 3]));
        // A file that was cut short, and one whose end is damaged: still ours.
        let path = folder.path().join("whiten.stage");
        let whole = std::fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        for bytes in [&whole[..whole.len() - 1], &damaged] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(begin().recall("whiten"), None);
            assert!(!path.exists());
        }
        // Stages without an identity are ours and of no use; one whose end is damaged gives way too.
        std::fs::write(&path, &whole).unwrap();
        std::fs::remove_file(folder.path().join(IDENTITY)).unwrap();
        begin();
        assert_eq!(names(folder.path()), [IDENTITY]);
        let identity = std::fs::read(folder.path().join(IDENTITY)).unwrap();
        std::fs::write(folder.path().join(IDENTITY), &identity[..identity.len() - 1]).unwrap();
        begin().remove();
        assert!(!folder.path().exists());
    }

    #[test]
    fn a_run_that_never_said_who_it_is_removes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let first = open(folder.path()).unwrap();
        first.identify(&facts()).unwrap();
        first.save("whiten", vec![1]).unwrap();
        open(folder.path()).unwrap().remove();
        assert_eq!(names(folder.path()), [IDENTITY, "whiten.stage"]);
    }
}
