//! How much documents weigh, wherever they lie: their lengths, and the sums that depend on nothing else.

use super::Damping;
use crate::admixture::HeldOut;
use crate::error::Result;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use tenfold_engine::linalg::counts::{Parcel, Part, Pass, Unpacked, for_each_group, garbled};
use tenfold_engine::linalg::{CountBlock, Counts};
use tenfold_engine::progress::Progress;

/// A document that takes part has at least three tokens: fewer carry no third moment.
const SHORTEST: f32 = 3.0;

/// The rule by which documents are weighed.
#[derive(Debug, Clone)]
pub(in crate::topics) struct Weighing {
    pub damping: Damping,
    /// Words that take part.
    active: Vec<bool>,
    held_out: HeldOut,
    /// Only rows with this remainder by 2 take part.
    half: Option<usize>,
    /// Weight that no document exceeds.
    pub cap: f64,
    /// Damped length of every row of every block that lies here and takes part, of words that take part.
    lengths: Vec<Vec<f32>>,
}

impl Weighing {
    pub fn new(damping: Damping, active: &[bool], held_out: HeldOut) -> Self {
        let active = active.to_vec();
        Self { damping, active, held_out, half: None, cap: f64::INFINITY, lengths: Vec::new() }
    }

    /// The rule for every other row.
    pub fn half(&self, which: usize) -> Self {
        Self { half: Some(which), lengths: Vec::new(), ..self.clone() }
    }

    /// Measures the documents of some blocks. Where they lie here, their lengths are kept.
    pub fn measure(
        &mut self,
        counts: &dyn Counts,
        chosen: &[usize],
        progress: &dyn Progress,
    ) -> Result<Tally> {
        let mut tally = Tally::default();
        if let Some(elsewhere) = counts.elsewhere() {
            let question = Lengths { weighing: Cow::Borrowed(self) }.to_bytes();
            for answer in elsewhere.collect(&question, chosen, progress)? {
                tally.merge(&Tally::from_bytes(&answer).ok_or_else(garbled)?);
            }
            return Ok(tally);
        }
        let mut lengths = std::mem::take(&mut self.lengths);
        lengths.resize(counts.blocks(), Vec::new());
        for_each_group(counts, chosen, |numbers, blocks| {
            let found: Vec<Vec<f32>> = blocks.par_iter().map(|block| self.row_lengths(block)).collect();
            for (&b, found) in numbers.iter().zip(found) {
                tally.add(&found);
                lengths[b] = found;
            }
            Ok(())
        })?;
        self.lengths = lengths;
        Ok(tally)
    }

    /// The damped length of every row of block `b`; 0 for a document that takes no part.
    pub fn lengths(&self, b: usize, block: &CountBlock) -> Cow<'_, [f32]> {
        match self.lengths.get(b).filter(|known| known.len() == block.rows()) {
            Some(known) => Cow::Borrowed(known),
            None => Cow::Owned(self.row_lengths(block)),
        }
    }

    fn row_lengths(&self, block: &CountBlock) -> Vec<f32> {
        let damped = self.damping.levels(block);
        let active: Vec<bool> = block.words().iter().map(|&w| self.active[w as usize]).collect();
        let takes_part = |i: usize| {
            self.half.is_none_or(|half| i % 2 == half) && !self.held_out.holds(block.documents()[i] as usize)
        };
        let length = |i: usize| {
            let words = block.row(i).iter().filter(|e| active[e.at as usize]);
            words.map(|e| damped[e.code as usize]).sum()
        };
        (0..block.rows()).map(|i| if takes_part(i) { length(i) } else { 0.0 }).collect()
    }

    /// p: the length, but no more than the cap.
    pub fn weight(&self, length: f32) -> f64 {
        if length >= SHORTEST { f64::from(length).min(self.cap) } else { 0.0 }
    }

    /// p/ℓ, p/(ℓ(ℓ−1)) and p/(ℓ(ℓ−1)(ℓ−2)) of a document of this length.
    pub fn divided(&self, length: f32) -> [f64; 3] {
        let (p, l) = (self.weight(length), f64::from(length));
        if p == 0.0 {
            return [0.0; 3];
        }
        [p / l, p / (l * (l - 1.0)), p / (l * (l - 1.0) * (l - 2.0))]
    }

    pub fn pack(&self, parcel: &mut Parcel) {
        parcel.number(u64::from(self.damping == Damping::Root));
        parcel.bytes(&self.active.iter().map(|a| u8::from(*a)).collect::<Vec<u8>>());
        parcel.number(self.held_out.limit());
        parcel.number(self.half.map_or(2, |half| half as u64));
        parcel.double(self.cap);
    }

    pub fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Some(Self {
            damping: if parcel.number()? == 1 { Damping::Root } else { Damping::None },
            active: parcel.bytes()?.iter().map(|a| *a == 1).collect(),
            held_out: HeldOut::from_limit(parcel.number()?)?,
            half: Some(parcel.number()? as usize).filter(|half| *half < 2),
            cap: parcel.double()?,
            lengths: Vec::new(),
        })
    }
}

/// How many documents have which length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::topics) struct Tally {
    /// By the bits of the length, which ascend with it.
    counts: BTreeMap<u32, u64>,
}

impl Tally {
    fn add(&mut self, lengths: &[f32]) {
        for l in lengths.iter().filter(|l| **l >= SHORTEST) {
            *self.counts.entry(l.to_bits()).or_default() += 1;
        }
    }

    fn merge(&mut self, other: &Self) {
        other.counts.iter().for_each(|(l, n)| *self.counts.entry(*l).or_default() += n);
    }

    pub fn documents(&self) -> usize {
        self.counts.values().sum::<u64>() as usize
    }

    /// The upper median.
    pub fn median(&self) -> Option<f32> {
        let mut left = self.documents() as u64 / 2;
        for (bits, n) in &self.counts {
            if left < *n {
                return Some(f32::from_bits(*bits));
            }
            left -= n;
        }
        None
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(self.counts.len() as u64);
        for (l, n) in &self.counts {
            parcel.number(u64::from(*l));
            parcel.number(*n);
        }
        parcel.0
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut parcel = Unpacked(bytes);
        let n = parcel.number()?;
        let entry = |_| Some((u32::try_from(parcel.number()?).ok()?, parcel.number()?));
        let counts: Option<BTreeMap<u32, u64>> = (0..n).map(entry).collect();
        Some(Self { counts: counts? })
    }
}

/// The question for the lengths of documents.
pub(in crate::topics) struct Lengths<'a> {
    pub weighing: Cow<'a, Weighing>,
}

impl Lengths<'_> {
    pub const TAG: u64 = 10;

    pub fn answer(&self, counts: &dyn Counts, chosen: &[usize]) -> Result<Tally> {
        let mut tally = Tally::default();
        for_each_group(counts, chosen, |_, blocks| {
            let found: Vec<Vec<f32>> =
                blocks.par_iter().map(|block| self.weighing.row_lengths(block)).collect();
            found.iter().for_each(|lengths| tally.add(lengths));
            Ok(())
        })?;
        Ok(tally)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(Self::TAG);
        self.weighing.pack(&mut parcel);
        parcel.0
    }

    pub fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Some(Self { weighing: Cow::Owned(Weighing::unpack(parcel)?) })
    }
}

/// The pass for Σ p, and for Σ p c/ℓ, Σ p c/(ℓ(ℓ−1)) and Σ p c/(ℓ(ℓ−1)(ℓ−2)) of every word, side by side.
pub(in crate::topics) struct WeighedSums<'a> {
    pub weighing: Cow<'a, Weighing>,
}

impl WeighedSums<'_> {
    pub const TAG: u64 = 11;

    pub fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Some(Self { weighing: Cow::Owned(Weighing::unpack(parcel)?) })
    }
}

impl Pass for WeighedSums<'_> {
    fn window(
        &self,
        counts: &dyn Counts,
        chosen: &[usize],
        progress: &dyn Progress,
    ) -> tenfold_engine::error::Result<Vec<Part>> {
        let mut total = 0.0;
        let mut sums = vec![0.0f64; 3 * counts.cols()];
        for_each_group(counts, chosen, |numbers, blocks| {
            progress.check()?;
            let lengths: Vec<Cow<'_, [f32]>> =
                numbers.iter().zip(blocks).map(|(&b, block)| self.weighing.lengths(b, block)).collect();
            total += lengths.iter().flat_map(|l| l.iter()).map(|&l| self.weighing.weight(l)).sum::<f64>();
            let weights: Vec<Vec<[f64; 3]>> =
                lengths.iter().map(|l| l.iter().map(|&l| self.weighing.divided(l)).collect()).collect();
            let task = 4096;
            sums.par_chunks_mut(3 * task).enumerate().for_each(|(t, out)| {
                for (block, weights) in blocks.iter().zip(&weights) {
                    add_columns(block, self.weighing.damping, weights, (t * task, out));
                }
            });
            Ok(())
        })?;
        Ok(vec![Part::Double(vec![total]), Part::Double(sums)])
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(Self::TAG);
        self.weighing.pack(&mut parcel);
        parcel.0
    }
}

/// out[w] += Σ_t weights_t c_tw for the words from `first` on, three numbers a word.
fn add_columns(
    block: &CountBlock,
    damping: Damping,
    weights: &[[f64; 3]],
    (first, out): (usize, &mut [f64]),
) {
    let damped = damping.levels(block);
    let local = |word: usize| block.words().partition_point(|&w| (w as usize) < word);
    for at in local(first)..local(first + out.len() / 3) {
        let mut sum = [0.0; 3];
        for e in block.column(at) {
            let (c, w) = (f64::from(damped[e.code as usize]), weights[e.at as usize]);
            (0..3).for_each(|i| sum[i] += c * w[i]);
        }
        let total = &mut out[3 * (block.words()[at] as usize - first)..][..3];
        (0..3).for_each(|i| total[i] += sum[i]);
    }
}
