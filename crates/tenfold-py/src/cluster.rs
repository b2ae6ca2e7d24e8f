//! Topics of documents that lie on many machines: what Spark's executors and its driver call.

use crate::{errors, threads};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tenfold::engine::Error as EngineError;
use tenfold::engine::linalg::CountBlock;
use tenfold::engine::linalg::counts::{Elsewhere, Sums};
use tenfold::engine::progress::{Progress, Silent};
use tenfold::topics::cluster::{self, Layout};
use tenfold::topics::read::{Cutter, Recipe, encode_tokens, scan_tokens};
use tenfold::topics::{Components, Corpus, Documents, Params, Polish};

/// A block's key holds the number of its window above these bits, and its place there in them.
const PLACE_BITS: u32 = 20;

fn place_of(key: u64) -> (usize, usize) {
    ((key >> PLACE_BITS) as usize, (key & ((1 << PLACE_BITS) - 1)) as usize)
}

/// The words with the documents that hold them, and the distinct words of every document.
type Scanned<'py> = (Vec<String>, Vec<u32>, Bound<'py, PyArray1<u32>>);

fn scanned(py: Python<'_>, found: tenfold::topics::read::Scanned) -> Scanned<'_> {
    let (words, frequencies) = found.words.into_iter().unzip();
    (words, frequencies, PyArray1::from_vec(py, found.entries))
}

/// A recipe for text at work.
#[pyclass(frozen, module = "tenfold._core")]
pub struct TextCutter {
    cutter: Cutter,
    note: Option<String>,
}

#[pymethods]
impl TextCutter {
    /// Settles what the recipe leaves open by the first words of some texts.
    #[new]
    fn new(py: Python<'_>, recipe: &str, texts: Vec<String>) -> PyResult<Self> {
        let recipe = recipe_of(recipe)?;
        let (cutter, note) = threads::apart(py, || Cutter::new(&recipe, &texts))?.map_err(errors::raised)?;
        Ok(Self { cutter, note })
    }

    /// The recipe, with nothing left open, as JSON.
    fn recipe(&self) -> String {
        self.cutter.recipe().to_json().to_string()
    }

    /// How the language was told, if it was.
    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// The smallest number of documents and the largest share of them that a word of the vocabulary may have.
    fn limits(&self) -> (usize, f64) {
        self.cutter.recipe().limits()
    }

    /// Which words some texts hold.
    fn scan<'py>(&self, py: Python<'py>, texts: Vec<String>) -> PyResult<Scanned<'py>> {
        let found = threads::apart(py, || self.cutter.scan(&texts))?;
        Ok(scanned(py, found))
    }

    /// The texts as numbers of words.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<String>,
        numbers: &WordNumbers,
    ) -> PyResult<Encoded<'py>> {
        let documents = threads::apart(py, || self.cutter.encode(&texts, &numbers.0))?;
        encoded(py, &documents)
    }
}

fn recipe_of(json: &str) -> PyResult<Recipe> {
    Recipe::parse(json).map_err(errors::raised)
}

/// Every word of a vocabulary with its number.
#[pyclass(frozen, module = "tenfold._core")]
pub struct WordNumbers(HashMap<String, u32>);

#[pymethods]
impl WordNumbers {
    #[new]
    fn new(vocabulary: Vec<String>) -> Self {
        Self(vocabulary.into_iter().zip(0..).collect())
    }
}

/// [`TextCutter::scan`] for documents whose words are given.
#[pyfunction]
pub fn scan_words(py: Python<'_>, documents: Vec<Vec<String>>) -> PyResult<Scanned<'_>> {
    let found = threads::apart(py, || scan_tokens(&documents))?;
    Ok(scanned(py, found))
}

/// [`TextCutter::encode`] for documents whose words are given.
#[pyfunction]
pub fn encode_words<'py>(
    py: Python<'py>,
    documents: Vec<Vec<String>>,
    numbers: &WordNumbers,
) -> PyResult<Encoded<'py>> {
    let documents = threads::apart(py, || encode_tokens(&documents, &numbers.0))?;
    encoded(py, &documents)
}

/// Documents in bytes, one after the other, and where each begins: words, then counts, four bytes each.
type Encoded<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyBytes>);

fn encoded<'py>(py: Python<'py>, documents: &Documents) -> PyResult<Encoded<'py>> {
    let mut bytes = Vec::with_capacity(8 * documents.words.len());
    let (mut starts, mut begin) = (vec![0i32], 0);
    for &end in &documents.ends {
        let range = begin..end as usize;
        bytes.extend(documents.words[range.clone()].iter().flat_map(|w| w.to_le_bytes()));
        bytes.extend(documents.counts[range].iter().flat_map(|c| c.to_le_bytes()));
        starts.push(i32::try_from(bytes.len()).map_err(|_| {
            PyValueError::new_err(
                "some documents together hold more than 2 GB of distinct words; cut them into chapters",
            )
        })?);
        begin = end as usize;
    }
    Ok((PyArray1::from_vec(py, starts), PyBytes::new(py, &bytes)))
}

/// How many documents each window takes, from the distinct words of every document.
#[pyfunction]
pub fn window_sizes(entries: PyReadonlyArray1<'_, u32>) -> Vec<usize> {
    cluster::windows(entries.as_array().iter().copied())
}

/// One block of documents in bytes: with its documents, entries, tokens and short documents.
type Arranged<'py> = (Bound<'py, PyBytes>, usize, usize, u64, usize);

/// The blocks of one window from its documents as `encode` gave them; `first` documents stand before them in a corpus of so many
/// `windows`.
#[pyfunction]
pub fn arrange<'py>(
    py: Python<'py>,
    documents: Vec<Vec<u8>>,
    window: usize,
    first: usize,
    windows: usize,
) -> PyResult<Vec<Arranged<'py>>> {
    let blocks = threads::apart(py, || {
        let mut all = Documents::default();
        for document in &documents {
            let number = |b: &[u8]| u32::from_le_bytes(b.try_into().expect("four bytes"));
            let (words, counts) = document.split_at(document.len() / 8 * 4);
            all.words.extend(words.chunks_exact(4).map(number));
            all.counts.extend(counts.chunks_exact(4).map(number));
            all.ends.push(all.words.len() as u32);
        }
        cluster::arrange(all, window, first, windows)
    })?;
    Ok(blocks.map_err(errors::raised)?.iter().map(|block| told(py, block)).collect())
}

fn told<'py>(py: Python<'py>, block: &CountBlock) -> Arranged<'py> {
    let tokens: Vec<u64> =
        (0..block.rows()).map(|i| block.row_counts(i).map(|(_, c)| c as u64).sum()).collect();
    let short = tokens.iter().filter(|t| **t < 3).count();
    (PyBytes::new(py, &block.to_bytes()), block.rows(), block.entries(), tokens.iter().sum(), short)
}

/// The size of a corpus (documents and the short ones among them, words, entries and tokens) and the places of its blocks, in
/// bytes.
#[pyfunction]
pub fn corpus_layout<'py>(
    py: Python<'py>,
    documents: (usize, usize),
    words: usize,
    counts: (u64, u64),
    ends: Vec<usize>,
) -> Bound<'py, PyBytes> {
    let ((documents, short), (entries, tokens)) = (documents, counts);
    PyBytes::new(py, &Layout { documents, words, entries, tokens, short, ends }.to_bytes())
}

/// One who holds some windows and answers a pass over them.
#[pyclass(module = "tenfold._core")]
pub struct PassWorker {
    worker: Option<cluster::Worker>,
    threads: usize,
}

#[pymethods]
impl PassWorker {
    #[new]
    fn new(task: &[u8], layout: &[u8], threads: usize) -> PyResult<Self> {
        let worker = cluster::Worker::new(task, layout).map_err(errors::raised)?;
        Ok(Self { worker: Some(worker), threads })
    }

    /// Takes the blocks with these keys, which ascend.
    fn push(&mut self, py: Python<'_>, keys: Vec<u64>, blocks: Vec<Vec<u8>>) -> PyResult<()> {
        let worker = self.worker.as_mut().ok_or_else(|| PyValueError::new_err("the worker has finished"))?;
        let pool = threads::pool(self.threads)?;
        threads::caught(py, || {
            pool.install(|| {
                keys.iter().zip(&blocks).try_for_each(|(key, block)| {
                    let (window, place) = place_of(*key);
                    worker.push(window, place, block, &Silent)
                })
            })
        })?
        .map_err(errors::raised)
    }

    /// The sums of a pass, and the answers to a question with the numbers of their windows.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Finished<'py>> {
        let worker = self.worker.take().ok_or_else(|| PyValueError::new_err("the worker has finished"))?;
        let pool = threads::pool(self.threads)?;
        let found = threads::caught(py, || pool.install(|| worker.finish(&Silent)))?;
        let found = found.map_err(errors::raised)?;
        let answers = found.answers.iter().map(|(window, answer)| (*window, PyBytes::new(py, answer)));
        Ok((PyBytes::new(py, &found.sums.to_bytes()), answers.collect()))
    }
}

/// Sums in bytes, and answers by window.
type Finished<'py> = (Bound<'py, PyBytes>, Vec<(usize, Bound<'py, PyBytes>)>);

/// The sums of several workers added up.
#[pyfunction]
pub fn merge_sums<'py>(py: Python<'py>, parts: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let garbled = || errors::raised(tenfold::engine::linalg::counts::garbled());
    let sums = threads::apart(py, || -> Option<Sums> {
        let mut all = Sums::default();
        for part in &parts {
            let part = Sums::from_bytes(part)?;
            if !all.agrees_with(&part) {
                return None;
            }
            all.merge(part);
        }
        Some(all)
    })?;
    Ok(PyBytes::new(py, &sums.ok_or_else(garbled)?.to_bytes()))
}

/// The choices of a fit, as a dictionary from Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Choices {
    /// None means as many as the documents support.
    k: Option<usize>,
    alpha0: f64,
    damp: Option<bool>,
    /// "predict", or None.
    polish: Option<String>,
    epochs: Option<usize>,
    keep_moments: bool,
    seed: u64,
}

impl Choices {
    fn params(&self) -> PyResult<Params> {
        let polish = match self.polish.as_deref() {
            Some("predict") => Polish::Predict,
            None => Polish::None,
            Some(other) => {
                return Err(PyValueError::new_err(format!(
                    "polish = {other:?} does not run on a cluster: give \"predict\" or \"none\", or fit on one machine"
                )));
            }
        };
        let k = self.k.map_or(Components::Auto, Components::Exactly);
        let &Self { alpha0, damp, epochs, keep_moments, seed, .. } = self;
        Ok(Params { alpha0, damp, polish, epochs, keep_moments, seed, ..Params::new(k) })
    }
}

/// What a fit asks of whoever leads the cluster.
enum Request {
    Sum(Vec<u8>, Vec<u64>),
    Collect(Vec<u8>, Vec<u64>),
    Stage(String, u64),
    Done(std::thread::Result<tenfold::Result<Vec<u8>>>),
}

enum Answer {
    Sums(Vec<u8>),
    Collected(Vec<Vec<u8>>),
    Failed(String),
}

/// A fit of topics that asks for its sums. Spark's jobs are started by the Python thread that called, so that Ctrl-C and Spark's
/// own settings of threads work: `next` says what is asked, `answer` and `collected` bring it.
#[pyclass(frozen, module = "tenfold._core")]
pub struct ClusterFit {
    requests: Mutex<Receiver<Request>>,
    answers: Sender<Answer>,
    stop: Arc<AtomicBool>,
}

/// The fit's side of the conversation.
struct Link {
    layout: Layout,
    requests: Mutex<Sender<Request>>,
    answers: Mutex<Receiver<Answer>>,
}

impl Link {
    fn ask(&self, request: Request) -> Result<Answer, EngineError> {
        let gone = |_| EngineError::Interrupted;
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.send(request).map_err(|_| EngineError::Interrupted)?;
        let answer = self.answers.lock().unwrap_or_else(PoisonError::into_inner).recv().map_err(gone)?;
        match answer {
            Answer::Failed(message) => Err(EngineError::Source(message.into())),
            answer => Ok(answer),
        }
    }

    fn keys(&self, chosen: &[usize]) -> Vec<u64> {
        let key = |&b: &usize| {
            let (window, place) = self.layout.place(b);
            ((window as u64) << PLACE_BITS) | place as u64
        };
        chosen.iter().map(key).collect()
    }
}

impl Elsewhere for Link {
    fn sum(&self, pass: &[u8], chosen: &[usize], _: &dyn Progress) -> Result<Sums, EngineError> {
        match self.ask(Request::Sum(pass.to_vec(), self.keys(chosen)))? {
            Answer::Sums(bytes) => {
                Sums::from_bytes(&bytes).ok_or_else(tenfold::engine::linalg::counts::garbled)
            }
            _ => Err(tenfold::engine::linalg::counts::garbled()),
        }
    }

    fn collect(
        &self,
        question: &[u8],
        chosen: &[usize],
        _: &dyn Progress,
    ) -> Result<Vec<Vec<u8>>, EngineError> {
        match self.ask(Request::Collect(question.to_vec(), self.keys(chosen)))? {
            Answer::Collected(answers) => Ok(answers),
            _ => Err(tenfold::engine::linalg::counts::garbled()),
        }
    }
}

/// Hands on the stages of a fit.
struct Stages {
    requests: Mutex<Sender<Request>>,
    stop: Arc<AtomicBool>,
}

impl Progress for Stages {
    fn stage(&self, name: &str, steps: u64) {
        let sender = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody listens any more when the fit was given up.
        let _ = sender.send(Request::Stage(name.to_owned(), steps));
    }
    fn advance(&self, _by: u64) {}
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[pymethods]
impl ClusterFit {
    /// Starts a fit of a corpus of this layout. `about` holds the recipe as JSON and the notes of reading.
    #[new]
    fn new(
        layout: &[u8],
        vocabulary: Vec<String>,
        about: (String, Vec<String>),
        choices: Choices,
    ) -> PyResult<Self> {
        let garbled = || errors::raised(tenfold::engine::linalg::counts::garbled());
        let (layout, params) = (Layout::from_bytes(layout).ok_or_else(garbled)?, choices.params()?);
        let recipe = recipe_of(&about.0)?.to_json();
        let pool = threads::pool(0)?;
        let (requests, receiver) = channel();
        let (answers, given) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stages = Stages { requests: Mutex::new(requests.clone()), stop: stop.clone() };
        let link = Link { layout, requests: Mutex::new(requests.clone()), answers: Mutex::new(given) };
        std::thread::spawn(move || {
            let layout = link.layout.clone();
            let mut corpus = Corpus::afar(&layout, vocabulary, Box::new(link));
            corpus.set_recipe(recipe);
            about.1.into_iter().for_each(|note| corpus.note(note));
            let work = || params.fit_with(&corpus, &stages)?.to_bytes();
            let ended = catch_unwind(AssertUnwindSafe(|| pool.install(work)));
            let _ = requests.send(Request::Done(ended));
        });
        Ok(Self { requests: Mutex::new(receiver), answers, stop })
    }

    /// What the fit asks next: ("sum", pass, keys), ("collect", question, keys), ("stage", name, steps) or ("done", model).
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let request = loop {
            let wait = || {
                let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
                requests.recv_timeout(Duration::from_millis(100))
            };
            match py.detach(wait) {
                Ok(request) => break request,
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the fit has ended already"));
                }
            }
        };
        match request {
            Request::Sum(pass, keys) => asked(py, "sum", &pass, keys),
            Request::Collect(question, keys) => asked(py, "collect", &question, keys),
            Request::Stage(name, steps) => Ok(("stage", name, steps).into_pyobject(py)?.into_any()),
            Request::Done(Err(payload)) => Err(errors::panicked(&*payload)),
            Request::Done(Ok(model)) => {
                let model = model.map_err(errors::raised)?;
                Ok(("done", PyBytes::new(py, &model)).into_pyobject(py)?.into_any())
            }
        }
    }

    /// Brings the sums of a pass.
    fn answer(&self, sums: Vec<u8>) {
        let _ = self.answers.send(Answer::Sums(sums));
    }

    /// Brings the answers to a question, windows in order.
    fn collected(&self, answers: Vec<Vec<u8>>) {
        let _ = self.answers.send(Answer::Collected(answers));
    }

    /// Ends the fit: what was asked cannot be had.
    fn fail(&self, message: String) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.answers.send(Answer::Failed(message));
    }
}

fn asked<'py>(py: Python<'py>, what: &str, bytes: &[u8], keys: Vec<u64>) -> PyResult<Bound<'py, PyAny>> {
    let keys = PyArray1::from_vec(py, keys);
    Ok((what, PyBytes::new(py, bytes), keys).into_pyobject(py)?.into_any())
}
