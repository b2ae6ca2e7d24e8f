//! Documents seen through white directions: the third moment for many topics, never formed.

use super::moments::{Projected, Weighing, Weighted, Whitened};
use crate::error::Result;
use rayon::prelude::*;
use std::borrow::Cow;
use tenfold_engine::device::Device;
use tenfold_engine::error::Result as EngineResult;
use tenfold_engine::linalg::counts::{
    Parcel, Part, Pass, Sums, Unpacked, add_transposed, by_window, for_each_group, sum, to_single,
};
use tenfold_engine::linalg::{Counts, Mat, Rows};
use tenfold_engine::progress::{Progress, Silent};
use tenfold_engine::tensor::{Contract, Implicit, Term};

/// How documents are projected: Y = C B W in single precision, and their weights p/(ℓ(ℓ−1)(ℓ−2))/Σp.
#[derive(Clone)]
struct Projection {
    weighing: Weighing,
    /// B W, words × `width`.
    columns: Vec<f32>,
    k: usize,
    /// Rows of a multiple of eight numbers keep the products in whole registers.
    width: usize,
    /// 1/Σp.
    by: f64,
}

/// The projected documents of one window.
struct White {
    rows: Single,
    weights: Vec<f64>,
}

struct Single {
    data: Vec<f32>,
    cols: usize,
}

impl Rows for Single {
    fn rows(&self) -> usize {
        self.data.len() / self.cols.max(1)
    }
    fn cols(&self) -> usize {
        self.cols
    }
    fn read_rows(&self, start: usize, out: &mut [f64]) -> EngineResult<()> {
        let from = &self.data[start * self.cols..];
        out.iter_mut().zip(from).for_each(|(o, x)| *o = f64::from(*x));
        Ok(())
    }
}

impl White {
    /// Σ_t w_t y_t⊗³.
    fn tensor(&self) -> Implicit<'_> {
        let powers = Term::Powers { samples: &self.rows, weights: Some(&self.weights), scale: 1.0 };
        Implicit::new(3, self.rows.cols, vec![powers])
    }
}

impl Projection {
    /// The documents of some blocks of one window; Σ_t w_t c_tw y_t is added to `back`.
    fn project(
        &self,
        counts: &dyn Counts,
        chosen: &[usize],
        progress: &dyn Progress,
        mut back: Option<&mut [f32]>,
    ) -> EngineResult<White> {
        let (width, k, damping) = (self.width, self.k, self.weighing.damping);
        let (mut data, mut weights) = (Vec::new(), Vec::new());
        for_each_group(counts, chosen, |numbers, blocks| {
            progress.check()?;
            let mut ys: Vec<Vec<f32>> = (blocks.par_iter())
                .map(|block| {
                    let mut y = vec![0.0f32; block.rows() * width];
                    block.forward(&damping.levels(block), &self.columns, width, &mut y);
                    y
                })
                .collect();
            for ((y, &b), block) in ys.iter_mut().zip(numbers).zip(blocks) {
                for (row, &l) in y.chunks_exact_mut(width).zip(self.weighing.lengths(b, block).iter()) {
                    let w = self.weighing.divided(l)[2] * self.by;
                    weights.push(w);
                    data.extend_from_slice(&row[..k]);
                    row.iter_mut().for_each(|v| *v *= w as f32);
                }
            }
            if let Some(back) = &mut back {
                add_transposed(blocks, |c| damping.of(c), &ys, width, back);
                progress.advance(blocks.len() as u64);
            }
            Ok(())
        })?;
        Ok(White { rows: Single { data, cols: k }, weights })
    }

    fn pack(&self, tag: u64) -> Parcel {
        let mut parcel = Parcel::default();
        parcel.number(tag);
        self.weighing.pack(&mut parcel);
        parcel.number(self.k as u64);
        parcel.number(self.width as u64);
        parcel.double(self.by);
        parcel.singles(&self.columns);
        parcel
    }

    fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let weighing = Weighing::unpack(parcel)?;
        let (k, width) = (parcel.number()? as usize, parcel.number()? as usize);
        Some(Self { weighing, k, width, by: parcel.double()?, columns: parcel.singles()? })
    }
}

/// The pass for Σ_t w_t c_tw y_t.
pub(super) struct Back<'a>(Cow<'a, Projection>);

impl Back<'_> {
    pub const TAG: u64 = 14;

    pub fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Projection::unpack(parcel).map(|p| Self(Cow::Owned(p)))
    }
}

impl Pass for Back<'_> {
    fn window(
        &self,
        counts: &dyn Counts,
        chosen: &[usize],
        progress: &dyn Progress,
    ) -> EngineResult<Vec<Part>> {
        let mut back = vec![0.0; self.0.columns.len()];
        self.0.project(counts, chosen, progress, Some(&mut back))?;
        Ok(vec![Part::Single(back)])
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.pack(Self::TAG).0
    }
}

/// The pass for the contraction of Σ_t w_t y_t⊗³ with two matrices column by column, or with one in a slice.
pub(super) struct Contraction<'a> {
    projection: Cow<'a, Projection>,
    /// One stands for two equal ones.
    arguments: Vec<Cow<'a, Mat>>,
    slice: bool,
}

impl Contraction<'_> {
    pub const TAG: u64 = 15;

    pub fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let projection = Cow::Owned(Projection::unpack(parcel)?);
        let (slice, n) = (parcel.number()? == 1, parcel.number()?);
        let mut argument = |_| {
            let (rows, cols) = (parcel.number()? as usize, parcel.number()? as usize);
            let numbers = parcel.doubles()?;
            (Some(numbers.len()) == rows.checked_mul(cols)).then(|| Mat::from_vec(rows, cols, numbers))
        };
        let arguments: Option<Vec<Mat>> = (0..n.min(2)).map(&mut argument).collect();
        Some(Self { projection, arguments: arguments?.into_iter().map(Cow::Owned).collect(), slice })
    }

    fn of(&self, white: &White) -> EngineResult<Part> {
        let tensor = white.tensor();
        let first: &Mat = &self.arguments[0];
        let found = if self.slice {
            tensor.slice(first)?
        } else {
            tensor.contract(&[first, self.arguments.get(1).map_or(first, |second| second)])?
        };
        Ok(Part::Double(found.as_slice().to_vec()))
    }
}

impl Pass for Contraction<'_> {
    fn window(
        &self,
        counts: &dyn Counts,
        chosen: &[usize],
        progress: &dyn Progress,
    ) -> EngineResult<Vec<Part>> {
        let white = self.projection.project(counts, chosen, progress, None)?;
        Ok(vec![self.of(&white)?])
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = self.projection.pack(Self::TAG);
        parcel.number(u64::from(self.slice));
        parcel.number(self.arguments.len() as u64);
        for argument in &self.arguments {
            parcel.number(argument.rows() as u64);
            parcel.number(argument.cols() as u64);
            parcel.doubles(argument.as_slice());
        }
        parcel.0
    }
}

/// The third moment of projected documents, with what the diagonal terms of the triples need.
///
/// # Complexity
/// Four bytes for every document and topic where the documents lie here; a contraction with k columns costs
/// 4·(documents + 2·words)·k² operations. Documents that lie elsewhere are projected anew for each.
pub(super) struct WhiteRows<'a> {
    weighted: &'a Weighted<'a>,
    projection: Projection,
    /// The documents that lie here, by window.
    held: Vec<White>,
    /// B W, words × k.
    words: Mat,
    /// Σ_t w_t c_tw y_t − ⅔ Σ_t w_t c_tw (B W)_w: with it one mixed term holds both corrections.
    once: Mat,
}

impl<'a> WhiteRows<'a> {
    pub fn project(
        weighted: &'a Weighted<'a>,
        moments: &Projected,
        white: &Whitened,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let words = moments.basis.matmul(&white.white);
        let k = words.cols();
        let width = k.next_multiple_of(8);
        let columns = {
            let padded = Mat::from_fn(words.rows(), width, |i, j| if j < k { words[(i, j)] } else { 0.0 });
            to_single(&padded, &vec![1.0; words.rows()])
        };
        let by = 1.0 / weighted.total.max(f64::MIN_POSITIVE);
        let projection = Projection { weighing: weighted.weighing.clone(), columns, k, width, by };
        let (counts, chosen) = (weighted.counts, &weighted.chosen);
        let mut held = Vec::new();
        let back = if counts.elsewhere().is_some() {
            sum(&Back(Cow::Borrowed(&projection)), counts, chosen, progress)?
        } else {
            let mut sums = Sums::default();
            for window in by_window(counts, chosen) {
                let mut back = vec![0.0f32; projection.columns.len()];
                held.push(projection.project(counts, window, progress, Some(&mut back))?);
                sums.add(vec![Part::Single(back)]);
            }
            sums.rounded()
        };
        let third = &weighted.sums[2];
        let once = Mat::from_fn(words.rows(), k, |w, j| {
            back[0][w * width + j] - 2.0 / 3.0 * by * third[w] * words[(w, j)]
        });
        Ok(Self { weighted, projection, held, words, once })
    }

    /// M3(W, W, W).
    pub fn tensor<'t>(&'t self, white: &'t Whitened) -> ThirdMoment<'t> {
        let mut terms = white.corrections();
        terms.push(Term::Mixed { twice: &self.words, once: &self.once, weights: None, scale: -1.0 });
        ThirdMoment { documents: self, rest: Implicit::new(3, self.words.cols(), terms) }
    }

    /// M3(W, W, W) on a device, where there is one and the documents lie here.
    pub fn held<'t>(
        &'t self,
        white: &'t Whitened,
        device: &Device,
    ) -> EngineResult<Option<Box<dyn Contract + 't>>> {
        if self.weighted.counts.elsewhere().is_some() {
            return Ok(None);
        }
        let mut terms = white.corrections();
        terms.push(Term::Mixed { twice: &self.words, once: &self.once, weights: None, scale: -1.0 });
        let powers =
            |held: &'t White| Term::Powers { samples: &held.rows, weights: Some(&held.weights), scale: 1.0 };
        terms.extend(self.held.iter().map(powers));
        device.held(&Implicit::new(3, self.words.cols(), terms))
    }

    /// What a contraction gives, summed over windows.
    fn sum(&self, contraction: &Contraction<'_>) -> EngineResult<Vec<f64>> {
        let Weighted { counts, chosen, .. } = self.weighted;
        if counts.elsewhere().is_some() {
            return Ok(sum(contraction, *counts, chosen, &Silent)?.swap_remove(0));
        }
        let mut sums = Sums::default();
        for white in &self.held {
            sums.add(vec![contraction.of(white)?]);
        }
        Ok(sums.rounded().swap_remove(0))
    }
}

/// M3(W, W, W) as its contractions.
pub(super) struct ThirdMoment<'a> {
    documents: &'a WhiteRows<'a>,
    rest: Implicit<'a>,
}

impl ThirdMoment<'_> {
    fn contraction(&self, arguments: &[&Mat], slice: bool) -> EngineResult<Mat> {
        let equal = arguments.len() == 2 && std::ptr::eq(arguments[0], arguments[1]);
        let own = if equal { &arguments[..1] } else { arguments };
        let arguments = own.iter().map(|a| Cow::Owned((*a).clone())).collect();
        let projection = Cow::Borrowed(&self.documents.projection);
        let numbers = self.documents.sum(&Contraction { projection, arguments, slice })?;
        let k = self.dim();
        Ok(Mat::from_vec(k, numbers.len() / k.max(1), numbers))
    }
}

impl Contract for ThirdMoment<'_> {
    fn dim(&self) -> usize {
        self.documents.words.cols()
    }

    fn order(&self) -> usize {
        3
    }

    fn contract(&self, arguments: &[&Mat]) -> EngineResult<Mat> {
        let mut out = self.rest.contract(arguments)?;
        out.add_scaled(1.0, &self.contraction(arguments, false)?);
        Ok(out)
    }

    fn slice(&self, u: &Mat) -> EngineResult<Mat> {
        let mut out = self.rest.slice(u)?;
        out.add_scaled(1.0, &self.contraction(&[u], true)?);
        Ok(out)
    }
}
