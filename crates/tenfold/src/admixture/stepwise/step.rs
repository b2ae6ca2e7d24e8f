//! One step of the polish: the expected counts of words in topics over some blocks.

use super::super::aside::{HeldOut, training_rows};
use super::super::infer::Inference;
use super::super::kernel::{RowsRef, weigh};
use super::super::table::{Reading, Rows, Table, split_rows};
use super::WORDS_A_TASK;
use rayon::prelude::*;
use std::borrow::Cow;
use tenfold_engine::error::Result;
use tenfold_engine::linalg::counts::{Parcel, Part, Pass, Unpacked};
use tenfold_engine::linalg::{CountBlock, Counts, Kernel, vectorised};
use tenfold_engine::progress::Progress;

/// The pass of a step: N = Σ_d B_w ∘ Σ c_dw θ_d / (θ_d · B_w) under the topics at its beginning, with the documents and the
/// tokens it saw.
pub(crate) struct Step<'a> {
    pub(super) table: Cow<'a, Table>,
    pub(super) slope: Vec<f32>,
    pub(super) offset: Vec<f32>,
    pub(super) alpha: Vec<f32>,
    /// Steps of a document's mixture.
    pub(super) inner: usize,
    pub(super) held_out: HeldOut,
}

impl Step<'_> {
    pub(crate) const TAG: u64 = 3;

    pub(crate) fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let (k, inner) = (parcel.number()? as usize, parcel.number()? as usize);
        let held_out = HeldOut::from_limit(parcel.number()?)?;
        let table = Table::from_data(k, parcel.singles()?)?;
        let (slope, offset, alpha) = (parcel.singles()?, parcel.singles()?, parcel.singles()?);
        let fits = [&slope, &offset, &alpha].iter().all(|x| x.len() == table.width);
        fits.then_some(Self { table: Cow::Owned(table), slope, offset, alpha, inner, held_out })
    }
}

impl Pass for Step<'_> {
    fn window(&self, counts: &dyn Counts, chosen: &[usize], progress: &dyn Progress) -> Result<Vec<Part>> {
        let (slope, offset) = (self.slope.clone(), self.offset.clone());
        let reading = Reading { table: &self.table, slope, offset, share: 0.0, background: &[] };
        let inference = Inference { steps: self.inner, tolerance: 0.0 };
        let mut found = vec![0.0f64; self.table.data.len()];
        let (mut rows, mut theta, mut seen) = (Rows::default(), Vec::new(), [0.0; 2]);
        counts.fetch(chosen)?;
        let mut next = chosen.first().map(|&b| counts.block(b)).transpose()?;
        for i in 0..chosen.len() {
            progress.check()?;
            let block = next.take().expect("every block is asked for before its turn");
            let mut work = || {
                let keep = training_rows(&block, self.held_out);
                let tokens: f64 = (0..block.rows()).filter(|&i| keep[i]).map(|i| length(&block, i)).sum();
                if tokens == 0.0 {
                    return;
                }
                seen[0] += keep.iter().filter(|k| **k).count() as f64;
                seen[1] += tokens;
                rows.gather(&reading, block.words());
                theta.resize(block.rows() * rows.width, 0.0);
                inference.infer(&block, &keep, rows.as_ref(), &self.alpha, &mut theta);
                add_expected(&block, &rows, &theta, &mut found);
            };
            // The next block comes from disk while this one is worked on.
            let ((), read) =
                rayon::join(&mut work, || chosen.get(i + 1).map(|&b| counts.block(b)).transpose());
            next = read?;
            progress.advance(1);
        }
        Ok(vec![Part::Double(found), Part::Double(seen.to_vec())])
    }

    /// Counts are rounded to the grid before they are added.
    fn exact(&self) -> bool {
        true
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(Self::TAG);
        parcel.number(self.table.k as u64);
        parcel.number(self.inner as u64);
        parcel.number(self.held_out.limit());
        [&self.table.data, &self.slope, &self.offset, &self.alpha].iter().for_each(|x| parcel.singles(x));
        parcel.0
    }
}

fn length(block: &CountBlock, row: usize) -> f64 {
    block.row(row).iter().map(|e| f64::from(block.levels()[e.code as usize])).sum()
}

/// Expected counts are multiples of 2⁻²⁴ of a token, far finer than the single precision they are made in. Sums of such numbers
/// are exact up to 2²⁹ tokens, in whatever order they are added: between 2²⁸ and 2²⁹ doubles have this distance.
const GRID: f64 = 1.5 * (1u64 << 28) as f64;

/// Adds the block's expected counts.
fn add_expected(block: &CountBlock, rows: &Rows, theta: &[f32], found: &mut [f64]) {
    let mixtures = RowsRef { width: rows.width, data: theta, inverse: &[] };
    let tasks = split_rows(found, rows.width, block.words(), WORDS_A_TASK);
    tasks.into_par_iter().for_each(|(first, words, out)| {
        vectorised(Expect { block, first, words, rows, mixtures, out });
    });
}

/// Expected counts of some words: out_w += B_w ∘ Σ_d c_dw θ_d / (θ_d · B_w), on the grid.
struct Expect<'a> {
    block: &'a CountBlock,
    first: usize,
    words: &'a [u32],
    rows: &'a Rows,
    mixtures: RowsRef<'a>,
    out: &'a mut [f64],
}

impl Kernel for Expect<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let width = self.mixtures.width;
        let mut sum = vec![0.0f32; width];
        for (i, &word) in self.words.iter().enumerate() {
            let local = self.first + i;
            let row = &self.rows.data[local * width..][..width];
            sum.fill(0.0);
            weigh(row, self.block.column(local), self.block.levels(), self.mixtures, &mut sum);
            let out = &mut self.out[(word - self.words[0]) as usize * width..][..width];
            for j in 0..width {
                out[j] += (f64::from(sum[j] * row[j]) + GRID) - GRID;
            }
        }
    }
}
