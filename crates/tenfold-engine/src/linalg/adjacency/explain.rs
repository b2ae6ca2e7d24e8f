//! How much of every edge each column explains: the one pass over the edges of a Poisson factorisation.
//!
//! Rows of x and y are padded to whole registers. Up to 64 columns a node's own row and its running sums stay in
//! registers; what later entries need is asked for ahead.

use crate::linalg::spmm::prefetch;
use crate::linalg::{Kernel, vectorised};

/// Numbers of a register; rows are padded to a multiple of it.
pub(super) const LANES: usize = 8;

/// Registers of running sums of an inner product: enough that no addition waits for the one before.
const CHAINS: usize = 4;

/// Added to a rate before it divides: an edge that nothing explains gives no weight instead of a NaN.
const TINY: f32 = 1e-30;

/// Bytes of rows of y that are asked for ahead.
const AHEAD_BYTES: usize = 2048;

/// Rows of the adjacency matrix, and what belongs to them.
pub(super) struct Explain<'a> {
    pub starts: &'a [usize],
    pub indices: &'a [u32],
    pub weights: Option<&'a [f32]>,
    /// The rows' own factors.
    pub x: &'a [f32],
    /// The factors of all columns.
    pub y: &'a [f32],
    pub width: usize,
    pub out: &'a mut [f32],
}

/// out_u = x_u ∘ Σ_v A_uv y_v / (x_u · y_v) for some rows.
pub(super) fn explain_rows(rows: Explain<'_>) {
    vectorised(rows);
}

impl Kernel for Explain<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.width / LANES {
            1 => self.narrow::<1>(),
            2 => self.narrow::<2>(),
            3 => self.narrow::<3>(),
            4 => self.narrow::<4>(),
            5 => self.narrow::<5>(),
            6 => self.narrow::<6>(),
            7 => self.narrow::<7>(),
            8 => self.narrow::<8>(),
            13 => self.narrow::<13>(),
            _ => self.wide(),
        }
    }
}

impl Explain<'_> {
    #[inline(always)]
    fn ahead(&self) -> usize {
        (AHEAD_BYTES / (4 * self.width)).clamp(4, 16)
    }

    #[inline(always)]
    fn weight(&self, e: usize) -> f32 {
        self.weights.map_or(1.0, |w| w[e])
    }

    /// Rows of R registers: of a width that the compiler knows.
    #[inline(always)]
    fn narrow<const R: usize>(self) {
        let (width, ahead) = (R * LANES, self.ahead());
        let registers = |row: &'_ [f32]| -> [[f32; LANES]; R] {
            let mut out = [[0.0; LANES]; R];
            out.iter_mut().zip(row.chunks_exact(LANES)).for_each(|(o, r)| o.copy_from_slice(r));
            out
        };
        for (i, bounds) in self.starts.windows(2).enumerate() {
            let own = registers(&self.x[i * width..(i + 1) * width]);
            let mut sum = [[0.0f32; LANES]; R];
            for e in bounds[0]..bounds[1] {
                if let Some(later) = self.indices.get(e + ahead) {
                    self.ask(*later as usize);
                }
                let at = self.indices[e] as usize * width;
                let other = registers(&self.y[at..at + width]);
                let mut lanes = [0.0f32; LANES];
                for r in 0..R {
                    for l in 0..LANES {
                        lanes[l] += own[r][l] * other[r][l];
                    }
                }
                let share = self.weight(e) / (total(lanes) + TINY);
                for r in 0..R {
                    for l in 0..LANES {
                        sum[r][l] += share * other[r][l];
                    }
                }
            }
            let out = self.out[i * width..(i + 1) * width].chunks_exact_mut(LANES);
            for ((out, sum), own) in out.zip(&sum).zip(&own) {
                (0..LANES).for_each(|l| out[l] = sum[l] * own[l]);
            }
        }
    }

    /// Asks for a row of y.
    #[inline(always)]
    fn ask(&self, row: usize) {
        for part in (0..self.width).step_by(2 * LANES) {
            prefetch::<1, f32>(self.y, row * self.width + part);
        }
        prefetch::<1, f32>(self.y, (row + 1) * self.width - 1);
    }

    #[inline(always)]
    fn wide(self) {
        let (width, ahead) = (self.width, self.ahead());
        for (i, bounds) in self.starts.windows(2).enumerate() {
            let own = &self.x[i * width..(i + 1) * width];
            let begin = i * width;
            self.out[begin..begin + width].fill(0.0);
            for e in bounds[0]..bounds[1] {
                if let Some(later) = self.indices.get(e + ahead) {
                    self.ask(*later as usize);
                }
                let at = self.indices[e] as usize * width;
                let other = &self.y[at..at + width];
                let share = self.weight(e) / (inner(own, other) + TINY);
                let sum = &mut self.out[begin..begin + width];
                for (sum, other) in sum.chunks_exact_mut(LANES).zip(other.chunks_exact(LANES)) {
                    for l in 0..LANES {
                        sum[l] += share * other[l];
                    }
                }
            }
            let sum = &mut self.out[begin..begin + width];
            sum.iter_mut().zip(own).for_each(|(s, x)| *s *= x);
        }
    }
}

/// Inner product of padded rows.
#[inline(always)]
pub(super) fn inner(a: &[f32], b: &[f32]) -> f32 {
    const RUN: usize = CHAINS * LANES;
    let mut sums = [[0.0f32; LANES]; CHAINS];
    let (mut a_runs, mut b_runs) = (a.chunks_exact(RUN), b.chunks_exact(RUN));
    for (x, y) in (&mut a_runs).zip(&mut b_runs) {
        for c in 0..CHAINS {
            for l in 0..LANES {
                sums[c][l] += x[c * LANES + l] * y[c * LANES + l];
            }
        }
    }
    let rest = a_runs.remainder().chunks_exact(LANES).zip(b_runs.remainder().chunks_exact(LANES));
    for (c, (x, y)) in rest.enumerate() {
        for l in 0..LANES {
            sums[c][l] += x[l] * y[l];
        }
    }
    let mut lanes = [0.0f32; LANES];
    for l in 0..LANES {
        lanes[l] = (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
    }
    total(lanes)
}

#[inline(always)]
fn total(lanes: [f32; LANES]) -> f32 {
    ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
}
