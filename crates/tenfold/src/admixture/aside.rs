//! Documents that are held out, and how they are brought together from wherever they lie.

use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::counts::{Parcel, Unpacked, all_blocks, for_each_group, garbled};
use tenfold_engine::linalg::{CountBlock, Counts};
use tenfold_engine::progress::Progress;

/// Which documents are held out: a share of them, chosen by a hash of their positions in the corpus, so that neither the
/// order of a file nor the way it is stored matters, and whoever holds some of them can tell.
///
/// # Example
/// ```
/// use tenfold::admixture::HeldOut;
/// let held_out = HeldOut::share(0.05);
/// let n = (0..100_000).filter(|&d| held_out.holds(d)).count();
/// assert!((4_900..5_100).contains(&n));
/// assert!(!HeldOut::NONE.holds(0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldOut {
    limit: u32,
}

impl HeldOut {
    /// No document.
    pub const NONE: Self = Self { limit: 0 };

    /// This share of the documents.
    pub fn share(share: f64) -> Self {
        Self { limit: (share * f64::from(u32::MAX)) as u32 }
    }

    /// Whether the document at this position is held out.
    pub fn holds(self, position: usize) -> bool {
        ((position as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32 <= self.limit
            && self.limit > 0
    }

    /// What [`HeldOut::from_limit`] takes: the hash up to which documents are held out.
    pub(crate) fn limit(self) -> u64 {
        u64::from(self.limit)
    }

    pub(crate) fn from_limit(limit: u64) -> Option<Self> {
        Some(Self { limit: u32::try_from(limit).ok()? })
    }
}

/// Which rows of a block are not held out.
pub(super) fn training_rows(block: &CountBlock, held_out: HeldOut) -> Vec<bool> {
    block.documents().iter().map(|&d| !held_out.holds(d as usize)).collect()
}

/// The question for the documents that are held out.
pub(crate) struct Aside {
    pub held_out: HeldOut,
}

impl Aside {
    pub(crate) const TAG: u64 = 2;

    /// The held-out documents of every block that holds some, as blocks, one after the other.
    pub(crate) fn answer(&self, counts: &dyn Counts, chosen: &[usize]) -> Result<Vec<CountBlock>> {
        let mut found = Vec::new();
        for_each_group(counts, chosen, |_, blocks| {
            let parts: Vec<Option<CountBlock>> = (blocks.par_iter())
                .map(|block| {
                    let rows = training_rows(block, self.held_out);
                    rows.contains(&false).then(|| block.select(|i| !rows[i]))
                })
                .collect();
            found.extend(parts.into_iter().flatten());
            Ok(())
        })?;
        Ok(found)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(Self::TAG);
        parcel.number(self.held_out.limit());
        parcel.0
    }

    pub(crate) fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Some(Self { held_out: HeldOut::from_limit(parcel.number()?)? })
    }
}

/// The held-out documents, in blocks in the order of the corpus's.
pub(crate) fn documents_aside(
    counts: &dyn Counts,
    held_out: HeldOut,
    progress: &dyn Progress,
) -> Result<Vec<CountBlock>> {
    let (aside, all) = (Aside { held_out }, all_blocks(counts));
    if held_out == HeldOut::NONE {
        return Ok(Vec::new());
    }
    let Some(elsewhere) = counts.elsewhere() else { return aside.answer(counts, &all) };
    let mut found = Vec::new();
    for answer in elsewhere.collect(&aside.to_bytes(), &all, progress)? {
        found.extend(unpack_blocks(&answer).ok_or_else(garbled)?);
    }
    Ok(found)
}

/// Blocks in bytes, for another process.
pub(crate) fn pack_blocks(blocks: &[CountBlock]) -> Vec<u8> {
    let mut parcel = Parcel::default();
    parcel.number(blocks.len() as u64);
    blocks.iter().for_each(|block| parcel.bytes(&block.to_bytes()));
    parcel.0
}

/// The blocks that [`pack_blocks`] packed.
pub(crate) fn unpack_blocks(bytes: &[u8]) -> Option<Vec<CountBlock>> {
    let mut parcel = Unpacked(bytes);
    (0..parcel.number()?).map(|_| CountBlock::from_bytes(parcel.bytes()?)).collect()
}
