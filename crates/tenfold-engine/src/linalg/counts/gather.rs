//! The sparse product of a block, in tiles of columns that stay in registers.

use super::Entry;
use crate::linalg::Kernel;
use crate::linalg::spmm::prefetch;

/// out[to(i)] += Σ over the entries of row i of value · x[from(at)].
pub(super) struct Gather<'a, From, To> {
    pub starts: &'a [u32],
    pub entries: &'a [Entry],
    pub values: &'a [f32],
    pub x: &'a [f32],
    pub width: usize,
    pub out: &'a mut [f32],
    pub from: From,
    pub to: To,
}

/// The widest tile: ten registers of running sums leave six for what is loaded.
const WIDEST: usize = 80;

impl<From: Fn(u16) -> usize, To: Fn(usize) -> usize> Kernel for Gather<'_, From, To> {
    type Output = ();

    /// Splits the columns evenly into tiles of a width the compiler knows, so that entries are read as few times as can be.
    #[inline(always)]
    fn run(mut self) {
        let width = self.width;
        let tiles = width.div_ceil(WIDEST).max(1);
        let even = width.div_ceil(tiles).next_multiple_of(8);
        let mut first = 0;
        while first < width {
            first += match (width - first).min(even) {
                80.. => self.tile::<80>(first),
                72.. => self.tile::<72>(first),
                64.. => self.tile::<64>(first),
                56.. => self.tile::<56>(first),
                48.. => self.tile::<48>(first),
                40.. => self.tile::<40>(first),
                32.. => self.tile::<32>(first),
                24.. => self.tile::<24>(first),
                16.. => self.tile::<16>(first),
                8.. => self.tile::<8>(first),
                _ => self.tile::<1>(first),
            }
        }
    }
}

/// How many entries ahead rows are asked for.
const AHEAD: usize = 8;

impl<From: Fn(u16) -> usize, To: Fn(usize) -> usize> Gather<'_, From, To> {
    /// Columns `first..first + W`; returns W.
    #[inline(always)]
    fn tile<const W: usize>(&mut self, first: usize) -> usize {
        let width = self.width;
        for (i, bounds) in self.starts.windows(2).enumerate() {
            let mut sum = [0.0f32; W];
            let entries = &self.entries[bounds[0] as usize..bounds[1] as usize];
            for (e, entry) in entries.iter().enumerate() {
                if let Some(later) = entries.get(e + AHEAD) {
                    prefetch::<W, f32>(self.x, (self.from)(later.at) * width + first);
                }
                let at = (self.from)(entry.at) * width + first;
                let row: &[f32; W] = self.x[at..at + W].try_into().expect("W columns");
                let value = self.values[entry.code as usize];
                for l in 0..W {
                    sum[l] += value * row[l];
                }
            }
            let out = &mut self.out[(self.to)(i) * width + first..][..W];
            for l in 0..W {
                out[l] += sum[l];
            }
        }
        W
    }
}
