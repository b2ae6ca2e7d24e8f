//! Long calls: the work goes on without Python's lock, and Python is asked ten times a second whether it may go on.
//!
//! Only Python's main thread learns of Ctrl-C, and worker threads are none of Python's. So the thread that called waits
//! beside the work, wakes up for every new stage and every tenth of a second, takes the lock for a moment, and looks for
//! signals and calls the listener. What either of them raises stops the work at its next block or step and is then raised
//! in the caller. Where a checkpoint is asked for, finished stages are kept meanwhile, and go when the work is done.

use crate::{errors, threads};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tenfold::checkpoint::{Checkpoint, Told};
use tenfold::engine::progress::Progress;

/// How often Python is asked.
const TICK: Duration = Duration::from_millis(100);

/// How a call runs, as a dictionary from Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Running {
    /// Threads; 0 is one for every core.
    threads: usize,
    /// `callback(stage, done, total)`; total is 0 when nobody knows it.
    callback: Option<Py<PyAny>>,
    /// The folder for finished stages.
    checkpoint: Option<PathBuf>,
}

/// A checkpoint with what it has told and Python has not heard yet.
struct Kept {
    checkpoint: Checkpoint,
    told: Arc<Mutex<Vec<Told>>>,
}

impl Kept {
    fn open(folder: &std::path::Path) -> PyResult<Self> {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let tell = move |one| heard.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(one);
        Ok(Self { checkpoint: Checkpoint::open(folder, tell).map_err(errors::raised)?, told })
    }

    /// Troubles become warnings, and what was taken over goes to the listener as a stage that is done.
    fn tell(&self, py: Python<'_>, callback: Option<&Py<PyAny>>) -> PyResult<()> {
        let told = std::mem::take(&mut *self.told.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        for one in told {
            match (one, callback) {
                (Told::Taken(stage), Some(callback)) => {
                    callback.call1(py, (format!("taken over: {stage}"), 1, 1))?;
                }
                (Told::Taken(_), None) => {}
                (Told::Trouble(message), _) => {
                    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
                    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 2)?;
                }
            }
        }
        Ok(())
    }
}

/// What the work tells the thread that waits for it.
enum Message<T> {
    Stage(String, u64),
    Ended(std::thread::Result<tenfold::Result<T>>),
}

/// The engine's listener: it counts and hands on, and never touches Python.
struct Watch<T> {
    done: AtomicU64,
    stop: AtomicBool,
    messages: Sender<Message<T>>,
}

impl<T: Send> Progress for Watch<T> {
    fn stage(&self, name: &str, steps: u64) {
        self.done.store(0, Ordering::Relaxed);
        // Whoever waits outlives the work, so the message arrives.
        let _ = self.messages.send(Message::Stage(name.to_owned(), steps));
    }
    fn advance(&self, by: u64) {
        self.done.fetch_add(by, Ordering::Relaxed);
    }
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Running {
    /// Does the work on its threads and without Python's lock. Ctrl-C and the listener may stop it; a panic becomes an
    /// exception.
    pub fn run<T, F>(&self, py: Python<'_>, work: F) -> PyResult<T>
    where
        T: Send,
        F: FnOnce(&dyn Progress) -> tenfold::Result<T> + Send,
    {
        let pool = threads::pool(self.threads)?;
        let kept = self.checkpoint.as_deref().map(Kept::open).transpose()?;
        let (sender, messages) = channel();
        let watch = Watch { done: AtomicU64::new(0), stop: AtomicBool::new(false), messages: sender };
        let keeping = kept.as_ref();
        let (ended, raised) = py.detach(move || {
            std::thread::scope(|scope| {
                let watch = &watch;
                scope.spawn(move || {
                    let work = || match keeping {
                        Some(kept) => work(&kept.checkpoint.listening(watch)),
                        None => work(watch),
                    };
                    let ended = catch_unwind(AssertUnwindSafe(|| pool.install(work)));
                    let _ = watch.messages.send(Message::Ended(ended));
                });
                self.wait(watch, &messages, keeping)
            })
        });
        let result = match (ended, raised) {
            (Err(payload), _) => return Err(errors::panicked(&*payload)),
            (_, Some(error)) => return Err(error),
            (Ok(result), None) => result.map_err(errors::raised)?,
        };
        if let Some(kept) = kept {
            // The model is in the caller's hands.
            kept.checkpoint.remove();
            kept.tell(py, self.callback.as_ref())?;
        }
        Ok(result)
    }

    /// Waits for the end; gives it with what Python raised meanwhile.
    fn wait<T>(
        &self,
        watch: &Watch<T>,
        messages: &Receiver<Message<T>>,
        kept: Option<&Kept>,
    ) -> (std::thread::Result<tenfold::Result<T>>, Option<PyErr>) {
        let mut stage: Option<(String, u64)> = None;
        let mut raised = None;
        loop {
            match messages.recv_timeout(TICK) {
                Ok(Message::Ended(ended)) => return (ended, raised),
                Ok(Message::Stage(name, steps)) => stage = Some((name, steps)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the watch holds the other end"),
            }
            if raised.is_none() {
                raised = self.ask(stage.as_ref(), watch.done.load(Ordering::Relaxed), kept).err();
                watch.stop.store(raised.is_some(), Ordering::Relaxed);
            }
        }
    }

    /// Looks for signals and tells the listener where the work is.
    fn ask(&self, stage: Option<&(String, u64)>, done: u64, kept: Option<&Kept>) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            kept.map_or(Ok(()), |kept| kept.tell(py, self.callback.as_ref()))?;
            if let (Some(callback), Some((name, total))) = (&self.callback, stage) {
                callback.call1(py, (name, done, *total))?;
            }
            Ok(())
        })
    }
}
