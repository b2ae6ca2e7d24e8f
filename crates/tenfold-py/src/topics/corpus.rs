//! Documents on their way into a corpus: rows of counts, texts, or documents cut into words.

use super::csr::Csr;
use crate::errors::{DataError, in_python, panicked, raised};
use crate::progress::Running;
use crate::threads;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tenfold::Error;
use tenfold::topics::read::{ReadOptions, Recipe, texts_in_parts, tokens_in_parts};
use tenfold::topics::{Builder, Corpus, Documents};

type Numbers<'py> = Bound<'py, PyArray1<f64>>;

/// Documents, counted.
#[pyclass(frozen, module = "tenfold._core")]
pub struct TopicsCorpus(pub Corpus);

#[pymethods]
impl TopicsCorpus {
    /// Documents, tokens, documents of fewer than three tokens, and whether they lie on disk.
    fn size(&self) -> (usize, u64, usize, bool) {
        let corpus = &self.0;
        (corpus.documents(), corpus.tokens(), corpus.short_documents(), corpus.is_spilled())
    }

    /// The words.
    fn words(&self) -> Vec<String> {
        self.0.vocabulary().to_vec()
    }

    /// The tokens of every document, and of every word.
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
        let (mut lengths, mut words) = (Vec::with_capacity(self.0.documents()), vec![0.0; self.0.words()]);
        let visited = threads::apart(py, || {
            self.0.for_each_window(|rows| {
                for (_, row) in rows {
                    row.iter().for_each(|(word, n)| words[*word as usize] += f64::from(*n));
                    lengths.push(row.iter().map(|(_, n)| f64::from(*n)).sum());
                }
                Ok(())
            })
        })?;
        visited.map_err(raised)?;
        Ok((lengths.into_pyarray(py), words.into_pyarray(py)))
    }

    /// What the reader did that its user should know.
    fn notes(&self) -> Vec<String> {
        self.0.notes().to_vec()
    }
}

/// The corpus with every count times `factor`, as far as counts go.
pub fn times(corpus: &Corpus, factor: u32) -> tenfold::Result<Corpus> {
    let mut builder = Builder::new(u64::MAX);
    corpus.for_each_window(|rows| {
        let mut all = Documents::default();
        for (_, words) in rows {
            all.words.extend(words.iter().map(|w| w.0));
            all.counts.extend(words.iter().map(|w| w.1.saturating_mul(factor)));
            all.ends.push(all.words.len() as u32);
        }
        builder.push(all)
    })?;
    let mut more = builder.finish(corpus.vocabulary().to_vec())?;
    more.set_recipe(corpus.recipe().clone());
    corpus.notes().iter().for_each(|note| more.note(note.clone()));
    Ok(more)
}

/// Gathers rows of counts.
#[pyclass(frozen, module = "tenfold._core")]
pub struct CountsReader(Mutex<Option<Builder>>);

#[pymethods]
impl CountsReader {
    /// For a corpus that may hold so many bytes; a larger one goes to disk.
    #[new]
    fn new(memory: u64) -> Self {
        Self(Mutex::new(Some(Builder::new(memory))))
    }

    /// Adds rows, every count times `scale`.
    fn push(&self, py: Python<'_>, rows: Csr<'_>, scale: f64, running: Running) -> PyResult<()> {
        let view = rows.view()?;
        let mut builder = taken(&self.0)?;
        let builder = running.run(py, |progress| {
            view.push(&mut builder, scale, &|| Ok(progress.check()?))?;
            Ok(builder)
        })?;
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(builder);
        Ok(())
    }

    /// The corpus; `words` name the columns.
    fn finish(&self, py: Python<'_>, words: Vec<String>, running: Running) -> PyResult<TopicsCorpus> {
        let builder = taken(&self.0)?;
        running.run(py, |_| builder.finish(words)).map(TopicsCorpus)
    }
}

/// What a reader holds, taken out, so that no lock is held while Python may be asked for.
fn taken<T>(held: &Mutex<Option<T>>) -> PyResult<T> {
    let inside = held.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    inside.ok_or_else(|| PyRuntimeError::new_err("this reader is at its end, or another thread uses it"))
}

/// How text is read, as a dictionary from Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Reading {
    /// JSON; see [`Recipe`].
    recipe: String,
    memory: u64,
    /// Words whose numbers are given.
    vocabulary: Option<Vec<String>>,
    /// Whether others are put behind them.
    grow: bool,
}

impl Reading {
    fn options(self) -> PyResult<ReadOptions> {
        let json = serde_json::from_str(&self.recipe).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        Ok(ReadOptions {
            recipe: Recipe::from_json(&json).map_err(raised)?,
            memory: self.memory,
            fixed_vocabulary: self.vocabulary,
            grow: self.grow,
            ..ReadOptions::default()
        })
    }
}

/// Documents of one part.
#[derive(FromPyObject)]
enum Part {
    Texts(Vec<String>),
    Tokens(Vec<Vec<String>>),
}

/// Where parts go: a thread that counts one while Python brings the next.
enum Parts {
    Texts(SyncSender<Vec<String>>),
    Tokens(SyncSender<Vec<Vec<String>>>),
}

/// A thread that counts, and a channel that nothing is sent through: it breaks off when the thread ends, and who waits hears of it at
/// once.
struct Work {
    thread: JoinHandle<tenfold::Result<Corpus>>,
    gone: Receiver<()>,
}

impl Work {
    fn start(work: impl FnOnce() -> tenfold::Result<Corpus> + Send + 'static) -> Self {
        let (alive, gone) = channel();
        let thread = std::thread::spawn(move || {
            let _alive: Sender<()> = alive;
            work()
        });
        Self { thread, gone }
    }
}

/// How often Python is asked whether to wait on.
const TICK: Duration = Duration::from_millis(100);

/// Gathers texts, or documents cut into words; of the documents only a few parts are held.
#[pyclass(frozen, module = "tenfold._core")]
pub struct TextReader(Mutex<Option<(Parts, Work)>>);

/// Parts that wait for the thread that counts.
const WAITING: usize = 2;

#[pymethods]
impl TextReader {
    /// `cut` says that documents come cut into words.
    #[new]
    fn new(reading: Reading, cut: bool, threads: usize) -> PyResult<Self> {
        let (options, pool) = (reading.options()?, threads::pool(threads)?);
        let started = if cut {
            let (sender, parts) = sync_channel(WAITING);
            let work = move || pool.install(|| tokens_in_parts(parts.into_iter(), &options));
            (Parts::Tokens(sender), Work::start(work))
        } else {
            let (sender, parts) = sync_channel(WAITING);
            let work = move || pool.install(|| texts_in_parts(parts.into_iter(), &options));
            (Parts::Texts(sender), Work::start(work))
        };
        Ok(Self(Mutex::new(Some(started))))
    }

    /// Adds documents.
    fn push(&self, py: Python<'_>, part: Part) -> PyResult<()> {
        let (parts, work) = taken(&self.0)?;
        let sent = py.detach(|| match (&parts, part) {
            (Parts::Texts(sender), Part::Texts(part)) => sender.send(part).is_ok(),
            (Parts::Tokens(sender), Part::Tokens(part)) => sender.send(part).is_ok(),
            // An empty part may be taken for either.
            _ => true,
        });
        if !sent {
            // The thread has ended early, which it does for an error only.
            return ended(py, work).map(drop);
        }
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some((parts, work));
        Ok(())
    }

    /// The corpus.
    fn finish(&self, py: Python<'_>) -> PyResult<TopicsCorpus> {
        let (parts, work) = taken(&self.0)?;
        drop(parts);
        ended(py, work).map(TopicsCorpus)
    }
}

/// Waits for the corpus; Ctrl-C ends the waiting.
fn ended(py: Python<'_>, work: Work) -> PyResult<Corpus> {
    let Work { thread, mut gone } = work;
    loop {
        let (waited, back) = py.detach(move || (gone.recv_timeout(TICK), gone));
        match waited {
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            _ => break,
        }
        gone = back;
    }
    match thread.join() {
        Err(payload) => Err(panicked(&*payload)),
        // No file has been read, so none is missing.
        Ok(Err(Error::Read { path, problem, remedy, .. })) => {
            let message = format!("{}: {problem}; {remedy}", path.display());
            Err(DataError::new_err(in_python(&message)))
        }
        Ok(corpus) => corpus.map_err(raised),
    }
}
