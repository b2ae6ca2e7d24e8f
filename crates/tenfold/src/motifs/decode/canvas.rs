//! A stretch onto which firings are drawn and from which they are wiped.

use crate::motifs::{Extent, Filters};

/// Steps of conjugate gradients: firings overlap a few others only, so few are needed.
const STEPS: usize = 60;

/// One firing, counted in its stretch; edges may cut it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::motifs) struct Spot {
    pub(in crate::motifs) motif: usize,
    pub(in crate::motifs) row: i64,
    pub(in crate::motifs) column: i64,
    pub(in crate::motifs) amplitude: f64,
}

/// Samples, channel after channel, and the motifs that are drawn on them.
pub(in crate::motifs) struct Canvas<'a> {
    pub(in crate::motifs) values: Vec<f64>,
    pub(in crate::motifs) filters: &'a Filters,
    pub(in crate::motifs) extent: Extent,
    pub(in crate::motifs) cyclic: bool,
}

impl Canvas<'_> {
    /// Adds `scale` times the motif at its place.
    pub(in crate::motifs) fn draw(&mut self, spot: &Spot, scale: f64) {
        let mut values = std::mem::take(&mut self.values);
        self.each_run(spot, |at, taps| {
            values[at..at + taps.len()].iter_mut().zip(taps).for_each(|(v, f)| *v += scale * f);
        });
        self.values = values;
    }

    /// The samples times the motif at a place, and the motif's energy that lies inside.
    pub(in crate::motifs) fn correlate(&self, spot: &Spot) -> (f64, f64) {
        let (mut product, mut energy) = (0.0, 0.0);
        self.each_run(spot, |at, taps| {
            for (v, f) in self.values[at..at + taps.len()].iter().zip(taps) {
                product += v * f;
                energy += f * f;
            }
        });
        (product, energy)
    }

    /// Calls with the place of the first sample and the taps of every run of neighbours that a motif covers.
    fn each_run(&self, spot: &Spot, mut call: impl FnMut(usize, &[f64])) {
        let (m, n) = (self.filters.extent, self.extent);
        for c in 0..self.filters.channels {
            let taps = self.filters.channel(spot.motif, c);
            for i in 0..m.rows {
                let mut row = spot.row + i as i64;
                if self.cyclic {
                    row = row.rem_euclid(n.rows as i64);
                } else if row < 0 || row >= n.rows as i64 {
                    continue;
                }
                let line = c * n.len() + row as usize * n.columns;
                self.runs_of_row(spot.column, |at, inside, run| {
                    call(line + inside, &taps[i * m.columns + at..i * m.columns + at + run]);
                });
            }
        }
    }

    /// Calls with the first tap, its column and the length of every run of one row of a motif.
    fn runs_of_row(&self, start: i64, mut call: impl FnMut(usize, usize, usize)) {
        let (taps, columns) = (self.filters.extent.columns, self.extent.columns);
        // A motif that lies wholly before the beginning has no run.
        let mut at = if self.cyclic { 0 } else { (-start).max(0) as usize };
        while at < taps {
            let mut inside = start + at as i64;
            if self.cyclic {
                inside = inside.rem_euclid(columns as i64);
            } else if inside >= columns as i64 {
                break;
            }
            let run = (columns - inside as usize).min(taps - at);
            call(at, inside as usize, run);
            at += run;
        }
    }
}

/// Least-squares amplitudes of firings at their places, min ‖x − Σ a_e f_e‖², by conjugate gradients from those they have;
/// `canvas` holds the residual before and after.
pub(in crate::motifs) fn refit(canvas: &mut Canvas<'_>, spots: &mut [Spot]) {
    let scale: f64 = spots.iter().map(|spot| spot.amplitude * spot.amplitude).sum();
    let mut gradient: Vec<f64> = spots.iter().map(|spot| canvas.correlate(spot).0).collect();
    let mut direction = gradient.clone();
    let mut energy: f64 = gradient.iter().map(|g| g * g).sum();
    let enough = 1e-16 * energy.max(scale);
    let (filters, extent, cyclic) = (canvas.filters, canvas.extent, canvas.cyclic);
    let mut blank = Canvas { values: vec![0.0; canvas.values.len()], filters, extent, cyclic };
    for _ in 0..STEPS {
        if energy <= enough || energy == 0.0 {
            break;
        }
        blank.values.fill(0.0);
        spots.iter().zip(&direction).for_each(|(spot, d)| blank.draw(spot, *d));
        let curvature: f64 = blank.values.iter().map(|v| v * v).sum();
        if curvature <= 0.0 {
            break;
        }
        let length = energy / curvature;
        spots.iter_mut().zip(&direction).for_each(|(spot, d)| spot.amplitude += length * d);
        canvas.values.iter_mut().zip(&blank.values).for_each(|(v, b)| *v -= length * b);
        gradient = spots.iter().map(|spot| canvas.correlate(spot).0).collect();
        let next: f64 = gradient.iter().map(|g| g * g).sum();
        let keep = next / energy;
        direction.iter_mut().zip(&gradient).for_each(|(d, g)| *d = g + keep * *d);
        energy = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::random;

    #[test]
    fn drawing_adds_what_correlating_reads() {
        let mut rng = random::rng(3, 0);
        for (extent, motif) in
            [(Extent::line(9), Extent::line(4)), (Extent::plane(5, 6), Extent::plane(2, 3))]
        {
            for cyclic in [false, true] {
                let filters = Filters::new(random::sphere(4 * motif.len(), &mut rng), 2, motif);
                let zero = vec![0.0; 2 * extent.len()];
                let mut canvas = Canvas { values: zero.clone(), filters: &filters, extent, cyclic };
                for (row, column) in [(0, -3), (1, 8), (0, 2), (-1, 5), (4, 4)] {
                    let spot = Spot { motif: 1, row, column, amplitude: 0.0 };
                    canvas.values = zero.clone();
                    canvas.draw(&spot, 2.0);
                    for c in 0..2 {
                        for i in 0..motif.rows as i64 {
                            for j in 0..motif.columns as i64 {
                                let (mut r, mut k) = (row + i, column + j);
                                if cyclic {
                                    (r, k) = (
                                        r.rem_euclid(extent.rows as i64),
                                        k.rem_euclid(extent.columns as i64),
                                    );
                                } else if !(0..extent.rows as i64).contains(&r)
                                    || !(0..extent.columns as i64).contains(&k)
                                {
                                    continue;
                                }
                                let at = c * extent.len() + r as usize * extent.columns + k as usize;
                                canvas.values[at] -=
                                    2.0 * filters.channel(1, c)[i as usize * motif.columns + j as usize];
                            }
                        }
                    }
                    assert!(
                        canvas.values.iter().all(|v| v.abs() < 1e-14),
                        "{extent:?} {cyclic} {row} {column}"
                    );
                }
            }
        }
    }
}
