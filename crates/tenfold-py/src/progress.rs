//! Long calls: the work goes on without Python's lock, and Python is asked ten times a second whether it may go on.
//!
//! Only Python's main thread learns of Ctrl-C, and worker threads are none of Python's. So the thread that called waits
//! beside the work, wakes up for every new stage and every tenth of a second, takes the lock for a moment, and looks for
//! signals and calls the listener. What either of them raises stops the work at its next block or step and is then raised
//! in the caller.

use crate::{errors, threads};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
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
        let (sender, messages) = channel();
        let watch = Watch { done: AtomicU64::new(0), stop: AtomicBool::new(false), messages: sender };
        let (ended, raised) = py.detach(move || {
            std::thread::scope(|scope| {
                let watch = &watch;
                scope.spawn(move || {
                    let ended = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(watch))));
                    let _ = watch.messages.send(Message::Ended(ended));
                });
                self.wait(watch, &messages)
            })
        });
        match (ended, raised) {
            (Err(payload), _) => Err(errors::panicked(&*payload)),
            (_, Some(error)) => Err(error),
            (Ok(result), None) => result.map_err(errors::raised),
        }
    }

    /// Waits for the end; gives it with what Python raised meanwhile.
    fn wait<T>(
        &self,
        watch: &Watch<T>,
        messages: &Receiver<Message<T>>,
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
                raised = self.ask(stage.as_ref(), watch.done.load(Ordering::Relaxed)).err();
                watch.stop.store(raised.is_some(), Ordering::Relaxed);
            }
        }
    }

    /// Looks for signals and tells the listener where the work is.
    fn ask(&self, stage: Option<&(String, u64)>, done: u64) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            if let (Some(callback), Some((name, total))) = (&self.callback, stage) {
                callback.call1(py, (name, done, *total))?;
            }
            Ok(())
        })
    }
}
