//! A corpus whose blocks lie elsewhere: what is known of it here, and how some of its blocks are brought.

use crate::admixture::{pack_blocks, unpack_blocks};
use crate::error::Result;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tenfold_engine::error::Result as EngineResult;
use tenfold_engine::linalg::counts::{Elsewhere, Parcel, Unpacked, garbled};
use tenfold_engine::linalg::{CountBlock, Counts};
use tenfold_engine::progress::Silent;

/// The size of a corpus and the places of its blocks, which everybody who holds some of them must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Documents.
    pub documents: usize,
    /// Words of the vocabulary.
    pub words: usize,
    /// Pairs of a document and a word in it.
    pub entries: u64,
    /// The sum of all counts.
    pub tokens: u64,
    /// Documents of fewer than three tokens.
    pub short: usize,
    /// The number of blocks before the end of every window.
    pub ends: Vec<usize>,
}

impl Layout {
    /// The first block of a window; `None` when there is no such window.
    pub fn first_block(&self, window: usize) -> Option<usize> {
        self.ends.get(window)?;
        Some(if window == 0 { 0 } else { self.ends[window - 1] })
    }

    /// The window of a block, and its place there.
    pub fn place(&self, block: usize) -> (usize, usize) {
        let window = self.ends.partition_point(|&end| end <= block);
        (window, block - if window == 0 { 0 } else { self.ends[window - 1] })
    }

    /// For another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        let sizes = [self.documents as u64, self.words as u64, self.entries, self.tokens, self.short as u64];
        sizes.iter().for_each(|x| parcel.number(*x));
        parcel.number(self.ends.len() as u64);
        self.ends.iter().for_each(|end| parcel.number(*end as u64));
        parcel.0
    }

    /// `None` for bytes that are no layout.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut parcel = Unpacked(bytes);
        let mut size = || parcel.number();
        let (documents, words, entries) = (size()? as usize, size()? as usize, size()?);
        let (tokens, short, windows) = (size()?, size()? as usize, size()?);
        let ends: Option<Vec<usize>> = (0..windows).map(|_| size().map(|end| end as usize)).collect();
        let ends = ends.filter(|ends| ends.is_sorted())?;
        parcel.0.is_empty().then_some(Self { documents, words, entries, tokens, short, ends })
    }
}

/// Whoever holds the blocks, and those that were brought from there.
pub(super) struct Afar {
    who: Box<dyn Elsewhere + Send>,
    brought: Mutex<BTreeMap<usize, CountBlock>>,
}

impl std::fmt::Debug for Afar {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Afar")
    }
}

impl Afar {
    pub fn new(who: Box<dyn Elsewhere + Send>) -> Self {
        Self { who, brought: Mutex::default() }
    }

    pub fn elsewhere(&self) -> &dyn Elsewhere {
        &*self.who
    }

    /// Brings these blocks, all at once, and lets go of others.
    pub fn fetch(&self, blocks: &[usize]) -> EngineResult<()> {
        let mut brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        brought.retain(|b, _| blocks.contains(b));
        let missing: Vec<usize> = blocks.iter().copied().filter(|b| !brought.contains_key(b)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut found = Vec::new();
        for answer in self.who.collect(&Blocks::to_bytes(), &missing, &Silent)? {
            found.extend(unpack_blocks(&answer).ok_or_else(garbled)?);
        }
        if found.len() != missing.len() {
            return Err(garbled());
        }
        brought.extend(missing.into_iter().zip(found));
        Ok(())
    }

    pub fn block(&self, b: usize) -> Result<CountBlock> {
        let held = || self.brought.lock().unwrap_or_else(PoisonError::into_inner).get(&b).cloned();
        if let Some(block) = held() {
            return Ok(block);
        }
        self.fetch(&[b])?;
        held().ok_or_else(|| garbled().into())
    }
}

/// The question for whole blocks.
pub(in crate::topics) struct Blocks;

impl Blocks {
    pub const TAG: u64 = 20;

    pub fn answer(counts: &dyn Counts, chosen: &[usize]) -> EngineResult<Vec<u8>> {
        let blocks: EngineResult<Vec<CountBlock>> =
            chosen.iter().map(|&b| counts.block(b).map(Cow::into_owned)).collect();
        Ok(pack_blocks(&blocks?))
    }

    fn to_bytes() -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(Self::TAG);
        parcel.0
    }
}
