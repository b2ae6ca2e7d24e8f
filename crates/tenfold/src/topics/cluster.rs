//! Topics of documents that lie on many machines.
//!
//! Who holds documents makes blocks of them ([`arrange`]), as [`Builder`](super::Builder) does, and answers the passes of a
//! fit over its blocks ([`Worker`]). Who leads the fit has a [`Corpus`](super::Corpus) that knows only the [`Layout`] and whom
//! to ask. The windows are the same and are summed in the same way wherever they lie, so the model is the same.

pub use super::data::Layout;

use super::data::{Blocks, Documents, Frequencies, block_size, blocks_of_window, window_sizes};
use super::moments::{Gathering, Lengths, Product, WeighedSums};
use super::white::{Back, Contraction};
use crate::admixture::{Aside, Step, WordTotals, pack_blocks};
use crate::error::Result;
use crate::evaluate::TogetherInDocuments;
use std::borrow::Cow;
use tenfold_engine::error::Result as EngineResult;
use tenfold_engine::linalg::counts::{Pass, Sums, Unpacked, garbled};
use tenfold_engine::linalg::{CountBlock, Counts};
use tenfold_engine::progress::Progress;

/// How many documents each window takes, from the entries (distinct words) of every document in order.
///
/// # Example
/// ```
/// use tenfold::topics::cluster::windows;
/// assert_eq!(windows(vec![10; 70_000]), [32_768, 32_768, 4_464]);
/// ```
pub fn windows(entries: impl IntoIterator<Item = u32>) -> Vec<usize> {
    window_sizes(entries)
}

/// The blocks of one window of a corpus of so many `windows`; `first` is the number of documents before it.
///
/// # Errors
/// A document of more than 65,535 distinct words.
pub fn arrange(documents: Documents, window: usize, first: usize, windows: usize) -> Result<Vec<CountBlock>> {
    blocks_of_window(&[documents], window as u64, first, block_size(windows))
}

/// What somebody who holds blocks is asked.
enum Task {
    Sum(Box<dyn Pass + Send>),
    Lengths(Lengths<'static>),
    Aside(Aside),
    Blocks,
}

impl Task {
    fn unpack(bytes: &[u8]) -> Option<Self> {
        fn sum(pass: impl Pass + Send + 'static) -> Task {
            Task::Sum(Box::new(pass))
        }
        let parcel = &mut Unpacked(bytes);
        Some(match parcel.number()? {
            WordTotals::TAG => sum(WordTotals::unpack(parcel)?),
            Step::TAG => sum(Step::unpack(parcel)?),
            TogetherInDocuments::TAG => sum(TogetherInDocuments::unpack(parcel)?),
            WeighedSums::TAG => sum(WeighedSums::unpack(parcel)?),
            Product::TAG => sum(Product::unpack(parcel)?),
            Gathering::TAG => sum(Gathering::unpack(parcel)?),
            Back::TAG => sum(Back::unpack(parcel)?),
            Contraction::TAG => sum(Contraction::unpack(parcel)?),
            Frequencies::TAG => sum(Frequencies),
            Lengths::TAG => Self::Lengths(Lengths::unpack(parcel)?),
            Aside::TAG => Self::Aside(Aside::unpack(parcel)?),
            Blocks::TAG => Self::Blocks,
            _ => return None,
        })
    }
}

/// What a [`Worker`] brings back: sums of a pass, or answers to a question.
#[derive(Debug, Clone)]
pub struct Answered {
    /// Sums over all windows that were there.
    pub sums: Sums,
    /// The answer of every window, with the window's number.
    pub answers: Vec<(usize, Vec<u8>)>,
}

/// One who holds some windows and answers a pass over them. Blocks come window by window, in order.
pub struct Worker {
    layout: Layout,
    task: Task,
    /// The blocks of the window at hand, with their numbers.
    held: Vec<(usize, CountBlock)>,
    sums: Sums,
    /// The answers to a question, with the numbers of their windows.
    answers: Vec<(usize, Vec<u8>)>,
}

impl Worker {
    /// For the pass or question `task`, as the leader of the fit packed it.
    ///
    /// # Errors
    /// Bytes that are neither.
    pub fn new(task: &[u8], layout: &[u8]) -> Result<Self> {
        let task = Task::unpack(task).ok_or_else(garbled)?;
        let layout = Layout::from_bytes(layout).ok_or_else(garbled)?;
        Ok(Self { layout, task, held: Vec::new(), sums: Sums::default(), answers: Vec::new() })
    }

    /// Takes one block: its window, its place there, and its bytes.
    ///
    /// # Errors
    /// A place that the layout does not have, bytes that are no block; what happens while a window is summed.
    pub fn push(&mut self, window: usize, place: usize, block: &[u8], progress: &dyn Progress) -> Result<()> {
        let first = self.layout.first_block(window).ok_or_else(garbled)?;
        let number = first + place;
        if number >= self.layout.ends[window] {
            return Err(garbled().into());
        }
        if self.held.last().is_some_and(|(last, _)| self.layout.place(*last).0 != window) {
            self.finish_window(progress)?;
        }
        let block = CountBlock::from_bytes(block).ok_or_else(garbled)?;
        let words = self.layout.words;
        if block.words().last().is_some_and(|&w| w as usize >= words)
            || self.held.last().is_some_and(|(last, _)| *last >= number)
        {
            return Err(garbled().into());
        }
        self.held.push((number, block));
        Ok(())
    }

    /// What came of the windows.
    ///
    /// # Errors
    /// What happens while the last window is summed.
    pub fn finish(mut self, progress: &dyn Progress) -> Result<Answered> {
        self.finish_window(progress)?;
        Ok(Answered { sums: self.sums, answers: self.answers })
    }

    fn finish_window(&mut self, progress: &dyn Progress) -> Result<()> {
        let Some(&(first, _)) = self.held.first() else { return Ok(()) };
        let numbers: Vec<usize> = self.held.iter().map(|(number, _)| *number).collect();
        let window = Window { layout: &self.layout, held: &self.held };
        let answer = match &self.task {
            Task::Sum(pass) => {
                self.sums.add(pass.window(&window, &numbers, progress)?);
                None
            }
            Task::Lengths(question) => Some(question.answer(&window, &numbers)?.to_bytes()),
            Task::Aside(question) => Some(pack_blocks(&question.answer(&window, &numbers)?)),
            Task::Blocks => Some(Blocks::answer(&window, &numbers)?),
        };
        self.answers.extend(answer.map(|answer| (self.layout.place(first).0, answer)));
        self.held.clear();
        Ok(())
    }
}

/// The blocks of a window as counts of the whole corpus.
struct Window<'a> {
    layout: &'a Layout,
    held: &'a [(usize, CountBlock)],
}

impl Counts for Window<'_> {
    fn rows(&self) -> usize {
        self.layout.documents
    }
    fn cols(&self) -> usize {
        self.layout.words
    }
    fn entries(&self) -> u64 {
        self.layout.entries
    }
    fn blocks(&self) -> usize {
        self.layout.ends.last().copied().unwrap_or(0)
    }
    fn block(&self, b: usize) -> EngineResult<Cow<'_, CountBlock>> {
        let place = self.held.binary_search_by_key(&b, |(number, _)| *number).map_err(|_| garbled())?;
        Ok(Cow::Borrowed(&self.held[place].1))
    }
}

#[cfg(test)]
mod tests;
