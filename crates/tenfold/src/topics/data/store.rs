//! Where the blocks of a corpus lie.

use super::afar::{Afar, Layout};
use crate::error::{Error, Result};
use crate::input::Disk;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use tenfold_engine::linalg::CountBlock;
use tenfold_engine::linalg::counts::Elsewhere;

/// Blocks in memory as long as they fit into half of `memory`, which leaves the other half to whoever works on
/// them; all of them in a temporary file after that.
#[derive(Debug)]
pub(crate) struct Store {
    pub(super) memory: u64,
    pub(super) rows: usize,
    pub(super) entries: u64,
    pub(super) tokens: u64,
    /// Documents of fewer than three tokens.
    pub(super) short: usize,
    held: Vec<CountBlock>,
    bytes: u64,
    spill: Option<Spill>,
    /// The number of blocks before the end of every window.
    pub(super) ends: Vec<usize>,
    /// Who holds the blocks, when they do not lie here.
    pub(super) afar: Option<Afar>,
}

#[derive(Debug)]
struct Spill {
    /// Without a name from the start, so that a run that is killed leaves nothing behind.
    file: BufWriter<File>,
    /// Where every block ends in the file.
    ends: Vec<u64>,
    disk: Option<Arc<Disk>>,
}

impl Store {
    pub(super) fn new(memory: u64) -> Self {
        Self {
            memory,
            rows: 0,
            entries: 0,
            tokens: 0,
            short: 0,
            held: Vec::new(),
            bytes: 0,
            spill: None,
            ends: Vec::new(),
            afar: None,
        }
    }

    /// Blocks that lie elsewhere.
    pub(super) fn afar(layout: &Layout, who: Box<dyn Elsewhere + Send>) -> Self {
        let &Layout { documents: rows, entries, tokens, short, .. } = layout;
        let (ends, afar) = (layout.ends.clone(), Some(Afar::new(who)));
        Self { rows, entries, tokens, short, ends, afar, ..Self::new(0) }
    }

    /// Adds a block.
    pub(super) fn push(&mut self, block: CountBlock) -> Result<()> {
        self.rows += block.rows();
        self.entries += block.entries() as u64;
        for i in 0..block.rows() {
            let tokens = block.row_counts(i).map(|(_, c)| c as u64).sum::<u64>();
            self.tokens += tokens;
            self.short += usize::from(tokens < 3);
        }
        if let Some(spill) = &mut self.spill {
            return spill.push(&block);
        }
        self.bytes += block.bytes() as u64;
        self.held.push(block);
        if self.bytes > self.memory / 2 { self.spill_all() } else { Ok(()) }
    }

    /// Begins the temporary file with all blocks that are held.
    fn spill_all(&mut self) -> Result<()> {
        let file = tempfile::tempfile().map_err(refuse)?;
        let mut spill = Spill { file: BufWriter::new(file), ends: Vec::new(), disk: None };
        std::mem::take(&mut self.held).into_iter().try_for_each(|block| spill.push(&block))?;
        self.spill = Some(spill);
        Ok(())
    }

    /// Moves blocks that are held to disk, after the last was written.
    pub(super) fn move_to_disk(&mut self) -> Result<()> {
        if self.spill.is_some() || self.afar.is_some() {
            return Ok(());
        }
        self.spill_all()?;
        self.finish()
    }

    pub(super) fn held_bytes(&self) -> u64 {
        if self.spill.is_some() { 0 } else { self.bytes }
    }

    /// Ends the writing.
    pub(super) fn finish(&mut self) -> Result<()> {
        if let Some(spill) = &mut self.spill {
            spill.file.flush().map_err(refuse)?;
            let file = spill.file.get_ref().try_clone().map_err(refuse)?;
            let len = file.metadata().map_err(refuse)?.len();
            spill.disk = Some(Arc::new(Disk::of(file, len, Path::new("documents on disk"))));
        }
        Ok(())
    }

    pub(super) fn is_spilled(&self) -> bool {
        self.spill.is_some()
    }

    pub(super) fn blocks(&self) -> usize {
        match (&self.afar, &self.spill) {
            (Some(_), _) => self.ends.last().copied().unwrap_or(0),
            (None, Some(spill)) => spill.ends.len(),
            (None, None) => self.held.len(),
        }
    }

    /// The blocks of every window.
    pub(super) fn windows(&self) -> Vec<Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end).collect()
    }

    pub(super) fn block(&self, b: usize) -> Result<Cow<'_, CountBlock>> {
        if let Some(afar) = &self.afar {
            return afar.block(b).map(Cow::Owned);
        }
        match &self.spill {
            None => Ok(Cow::Borrowed(&self.held[b])),
            Some(spill) => spill.block(b).map(Cow::Owned),
        }
    }

    /// Gives the memory of blocks back that will not be read again.
    pub(super) fn forget(&mut self, blocks: Range<usize>) {
        if self.spill.is_none() {
            let empty = || CountBlock::new(&[], &[0], &[], &[]);
            self.held[blocks].iter_mut().for_each(|b| *b = empty());
        }
    }
}

impl Spill {
    fn push(&mut self, block: &CountBlock) -> Result<()> {
        let bytes = block.to_bytes();
        self.file.write_all(&bytes).map_err(refuse)?;
        self.ends.push(self.ends.last().unwrap_or(&0) + bytes.len() as u64);
        Ok(())
    }

    fn block(&self, b: usize) -> Result<CountBlock> {
        let disk = self.disk.as_ref().expect("blocks are read after the last was written");
        let start = if b == 0 { 0 } else { self.ends[b - 1] };
        let bytes = disk.bytes(start, self.ends[b] - start)?;
        CountBlock::from_bytes(&bytes).ok_or_else(|| {
            disk.fail("was changed while it was in use", "keep other programs away from it and start again")
        })
    }
}

fn refuse(error: std::io::Error) -> Error {
    Error::Write {
        path: std::env::temp_dir(),
        problem: format!("the corpus does not fit into memory and a temporary file failed ({error})"),
        remedy: "allow more memory, or set TMPDIR to a folder with more space".into(),
    }
}
