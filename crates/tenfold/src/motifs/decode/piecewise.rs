//! Stretches decoded piece by piece, in parallel.

use super::bank::{Bank, Ridge};
use super::canvas::Spot;
use super::pieces::{Piece, cut};
use super::pursuit::{Pursuit, pursue};
use crate::motifs::{Extent, Filters, Signals, Stretch};
use rayon::prelude::*;
use std::collections::BTreeMap;
use tenfold_engine::Result;
use tenfold_engine::linalg::Complex64;
use tenfold_engine::progress::Progress;

/// Banks of the grids in use; beyond this many they are made anew.
const BANKS: usize = 24;
/// The ridge of least squares as a share of the largest power of a frequency: at spectral zeros nothing is divided by 0.
pub(super) const RIDGE: f64 = 1e-6;

/// Spectra of the motifs on the grids that pieces have.
pub(super) struct Banks<'a> {
    pub(super) filters: &'a Filters,
    banks: BTreeMap<(usize, usize), Bank>,
    /// The longest grid, where it is not the usual one.
    pub(super) longest: Option<usize>,
}

/// What was found in one stretch.
pub(super) struct Activated {
    pub(super) stretch: usize,
    pub(super) spots: Vec<Spot>,
    /// The dense reconstruction, of least squares only.
    pub(super) drawn: Option<Vec<f64>>,
    pub(super) converged: bool,
}

impl<'a> Banks<'a> {
    pub(super) fn new(filters: &'a Filters) -> Self {
        Self { filters, banks: BTreeMap::new(), longest: None }
    }

    fn prepare(&mut self, pieces: &[(usize, Piece)]) {
        let grids: std::collections::BTreeSet<_> =
            pieces.iter().map(|(_, p)| (p.grid.rows, p.grid.columns)).collect();
        if self.banks.len() + grids.len() > BANKS {
            self.banks.retain(|key, _| grids.contains(key));
        }
        for (rows, columns) in grids {
            let filters = self.filters;
            self.banks
                .entry((rows, columns))
                .or_insert_with(|| Bank::new(filters, Extent::plane(rows, columns)));
        }
    }

    fn of(&self, piece: &Piece) -> &Bank {
        &self.banks[&(piece.grid.rows, piece.grid.columns)]
    }

    fn pieces(&self, stretches: &[Stretch], cyclic: bool) -> Vec<(usize, Piece)> {
        let filters = self.filters;
        let of = |(at, s): (usize, &Stretch)| {
            let pieces = if s.extent.is_empty() {
                Vec::new()
            } else {
                cut(s.extent, filters.extent, cyclic, self.longest)
            };
            pieces.into_iter().map(move |piece| (at, piece))
        };
        stretches.iter().enumerate().flat_map(of).collect()
    }

    /// How many pieces these stretches have.
    pub(super) fn count(&self, stretches: &[Stretch], cyclic: bool) -> usize {
        self.pieces(stretches, cyclic).len()
    }

    /// The largest |Σ f x| of a motif with any place of the signals.
    pub(super) fn peak(&mut self, signals: &Signals) -> f64 {
        let pieces = self.pieces(signals.stretches(), signals.is_cyclic());
        self.prepare(&pieces);
        let peaks: Vec<f64> = pieces
            .par_iter()
            .map(|(at, piece)| {
                let (bank, x) = (self.of(piece), piece.gather(&signals.stretches()[*at]));
                let mut spectra = vec![Complex64::default(); bank.channels * bank.half];
                let mut maps = vec![Complex64::default(); bank.motifs * bank.half];
                bank.forward(&x, &mut spectra);
                bank.add_adjoint(&spectra, &mut maps);
                let mut products = vec![0.0; bank.motifs * bank.grid.len()];
                bank.inverse(&mut maps, &mut products);
                products.into_iter().fold(0.0, |most: f64, p| most.max(p.abs()))
            })
            .collect();
        peaks.into_iter().fold(0.0, f64::max)
    }

    /// Sparse activations of these stretches, or those of least squares when there is no `pursuit`.
    pub(super) fn activations(
        &mut self,
        stretches: &[Stretch],
        cyclic: bool,
        pursuit: Option<&Pursuit>,
        progress: &dyn Progress,
    ) -> Result<Vec<Activated>> {
        let pieces = self.pieces(stretches, cyclic);
        self.prepare(&pieces);
        let parts: Vec<Result<Part>> = pieces
            .par_iter()
            .with_max_len(1)
            .map(|(at, piece)| {
                progress.check()?;
                let stretch = &stretches[*at];
                let part = match pursuit {
                    Some(pursuit) => sparse(self.of(piece), piece, stretch, pursuit),
                    None => dense(self.of(piece), piece, stretch),
                };
                progress.advance(1);
                Ok(part)
            })
            .collect();
        let mut all: Vec<Activated> = (0..stretches.len())
            .map(|stretch| Activated { stretch, spots: Vec::new(), drawn: None, converged: true })
            .collect();
        for ((at, piece), part) in pieces.iter().zip(parts) {
            let (part, extent) = (part?, stretches[*at].extent);
            all[*at].spots.extend(part.spots);
            all[*at].converged &= part.converged;
            if let Some(drawn) = part.drawn {
                let target = all[*at].drawn.get_or_insert_with(|| vec![0.0; stretches[*at].values.len()]);
                place(piece, extent, &drawn, target);
            }
        }
        Ok(all)
    }
}

struct Part {
    spots: Vec<Spot>,
    drawn: Option<Vec<f64>>,
    converged: bool,
}

fn sparse(bank: &Bank, piece: &Piece, stretch: &Stretch, pursuit: &Pursuit) -> Part {
    let x = piece.gather(stretch);
    let observed = (!piece.is_circle()).then(|| piece.observed(stretch.extent));
    let pursued = pursue(bank, &x, observed.as_deref(), pursuit);
    Part { spots: spots(bank, piece, &pursued.maps), drawn: None, converged: pursued.converged }
}

/// w = F⁺x with samples outside of the piece taken for 0.
fn dense(bank: &Bank, piece: &Piece, stretch: &Stretch) -> Part {
    let (maps, drawn) = pseudo_inverse(bank, &piece.gather(stretch));
    Part { spots: spots(bank, piece, &maps), drawn: Some(drawn), converged: true }
}

/// w(ω) = F(ω)ᴴ(F(ω)F(ω)ᴴ + εI)⁻¹x(ω) on a circle, and what it draws.
pub(super) fn pseudo_inverse(bank: &Bank, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut spectra = vec![Complex64::default(); bank.channels * bank.half];
    bank.forward(x, &mut spectra);
    let mut maps = vec![Complex64::default(); bank.motifs * bank.half];
    Ridge::new(bank, RIDGE * bank.peak().max(f64::MIN_POSITIVE)).correct(bank, &mut spectra, &mut maps);
    let mut drawn = vec![Complex64::default(); bank.channels * bank.half];
    bank.subtract(&maps, &mut drawn);
    drawn.iter_mut().for_each(|value| *value = -*value);
    let (mut w, mut back) = (vec![0.0; bank.motifs * bank.grid.len()], vec![0.0; x.len()]);
    bank.inverse(&mut maps, &mut w);
    bank.inverse(&mut drawn, &mut back);
    (w, back)
}

/// Activations that are not 0, in the stretch's places.
fn spots(bank: &Bank, piece: &Piece, maps: &[f64]) -> Vec<Spot> {
    let mut spots = Vec::new();
    for (motif, map) in maps.chunks_exact(bank.grid.len()).enumerate() {
        piece.each_kept(|row, column, at| {
            if map[at] != 0.0 {
                spots.push(Spot { motif, row, column, amplitude: map[at] });
            }
        });
    }
    spots
}

/// A piece's samples into those of its stretch; only the samples that are its own.
fn place(piece: &Piece, extent: Extent, drawn: &[f64], target: &mut [f64]) {
    let grid = piece.grid.len();
    for (source, target) in drawn.chunks_exact(grid).zip(target.chunks_exact_mut(extent.len())) {
        piece.each_kept(|row, column, _| {
            if row >= 0 && column >= 0 {
                let i = (row - piece.rows.start) as usize + piece.pad.rows;
                let j = (column - piece.columns.start) as usize + piece.pad.columns;
                target[row as usize * extent.columns + column as usize] = source[i * piece.grid.columns + j];
            }
        });
    }
}
