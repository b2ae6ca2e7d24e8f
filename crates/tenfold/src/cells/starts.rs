//! Where the estimation of profiles begins: by the tensor, by successive projection, and by chance.

use super::moments::Moments;
use crate::error::Result;
use rand::RngExt;
use tenfold_engine::linalg::{Csr, Mat, RangeFinder, random};
use tenfold_engine::progress::Progress;

/// Cells that a bin needs before it may stand for a type.
const FEWEST: f64 = 20.0;

/// Share of a profile that is spread over all genes, so that no step is barred by a zero.
const SPREAD: f64 = 1e-3;

/// First profiles, k × genes.
pub(super) struct Start {
    /// Where they come from.
    pub name: String,
    pub profiles: Mat,
}

crate::checkpoint::keep! { Start { name, profiles } }

/// Starts for k types: by the tensor and by successive projection where the data have k directions, then `random` ones.
pub(super) fn starts(
    counts: &Csr,
    k: usize,
    random: usize,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Start>> {
    let mut all = Vec::new();
    let mut add =
        |name: &str, profiles: Mat| all.push(Start { name: name.into(), profiles: spread(&profiles) });
    if k > 1
        && let Some(profiles) = Moments::new(counts).profiles(k, seed, progress)?
    {
        add("tensor", profiles);
    }
    let seen = Seen::new(counts, k, seed)?;
    if let Some(seen) = &seen {
        add("projection", seen.profiles(&seen.corners(k)));
    }
    for r in 0..random {
        let mut rng = random::rng(seed, 1 + r as u64);
        match &seen {
            Some(seen) => add(&format!("random {}", r + 1), seen.profiles(&seen.far_apart(k, &mut rng))),
            None => add(&format!("random {}", r + 1), noise(counts, k, &mut rng)),
        }
    }
    if all.is_empty() {
        all.push(Start {
            name: "random 1".into(),
            profiles: spread(&noise(counts, k, &mut random::rng(seed, 1))),
        });
    }
    Ok(all)
}

/// Rows that sum to 1, a little of it everywhere.
fn spread(profiles: &Mat) -> Mat {
    let genes = profiles.cols() as f64;
    let mut out = profiles.clone();
    for t in 0..out.rows() {
        let total = out.row(t).iter().sum::<f64>().max(f64::MIN_POSITIVE);
        out.row_mut(t).iter_mut().for_each(|x| *x = (1.0 - SPREAD) * *x / total + SPREAD / genes);
    }
    out
}

/// The genes' frequencies, each multiplied by a random number.
fn noise(counts: &Csr, k: usize, rng: &mut random::Rng) -> Mat {
    let mut totals = vec![1.0; counts.cols()];
    for row in 0..counts.rows() {
        let (columns, values) = counts.row(row);
        columns.iter().zip(values).for_each(|(g, x)| totals[*g as usize] += x);
    }
    Mat::from_fn(k, counts.cols(), |_, g| totals[g] * (0.5 + rng.random::<f64>()))
}

/// The bins with enough cells, as distributions seen in the leading k directions.
struct Seen {
    /// Bins × k.
    places: Mat,
    /// Cells of each of these bins.
    cells: Vec<f64>,
    /// Genes × k, orthonormal.
    directions: Mat,
}

impl Seen {
    /// None where there are fewer than k bins with enough cells, or fewer genes.
    fn new(counts: &Csr, k: usize, seed: u64) -> Result<Option<Self>> {
        let lengths: Vec<f64> = (0..counts.rows()).map(|row| counts.row(row).1.iter().sum()).collect();
        let mut sorted: Vec<f64> = lengths.iter().copied().filter(|l| *l > 0.0).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        let mut least = FEWEST.max(median);
        if lengths.iter().filter(|l| **l >= least).count() < 2 * k {
            // Few bins, or all of them short: whoever has cells may stand for a type.
            least = 1.0;
        }
        let rows: Vec<usize> = (0..counts.rows()).filter(|&row| lengths[row] >= least).collect();
        if rows.len() < k || counts.cols() < k {
            return Ok(None);
        }
        // x/√L: noise of multinomial counts is about equally large in every row then.
        let mut entries = Vec::new();
        for (i, &row) in rows.iter().enumerate() {
            let (columns, values) = counts.row(row);
            let by = lengths[row].sqrt();
            entries.extend(columns.iter().zip(values).map(|(g, x)| (i, *g as usize, x / by)));
        }
        let scaled: Csr = Csr::from_triplets(rows.len(), counts.cols(), &entries);
        let directions = RangeFinder { seed, ..RangeFinder::default() }.svd(&scaled, k)?.v;
        let mut places = scaled.matmul(&directions);
        let cells: Vec<f64> = rows.iter().map(|&row| lengths[row]).collect();
        places.scale_rows(&cells.iter().map(|l| 1.0 / l.sqrt()).collect::<Vec<_>>());
        Ok(Some(Self { places, cells, directions }))
    }

    /// Successive projection: the bin that is farthest from the span of those before it, sure ones first.
    fn corners(&self, k: usize) -> Vec<usize> {
        let mut rest = self.places.clone();
        let most = self.cells.iter().copied().fold(0.0, f64::max);
        let mut chosen = Vec::with_capacity(k);
        for _ in 0..k {
            // Short bins lie far out by chance: their distance counts less.
            let norm = |row: usize| rest.row(row).iter().map(|x| x * x).sum::<f64>();
            let score = |row: usize| norm(row) * (self.cells[row] / most).powf(0.25);
            let best = (0..rest.rows()).max_by(|&a, &b| score(a).total_cmp(&score(b)).then(b.cmp(&a)));
            let best = best.expect("there are bins");
            chosen.push(best);
            let size = norm(best).sqrt().max(f64::MIN_POSITIVE);
            let direction: Vec<f64> = rest.row(best).iter().map(|x| x / size).collect();
            let along = rest.matvec(&direction);
            for (row, a) in along.iter().enumerate() {
                rest.row_mut(row).iter_mut().zip(&direction).for_each(|(x, d)| *x -= a * d);
            }
        }
        chosen
    }

    /// Bins drawn one after the other, in proportion to their cells and to the squared distance from those drawn before.
    fn far_apart(&self, k: usize, rng: &mut random::Rng) -> Vec<usize> {
        let mut nearest = vec![1.0f64; self.places.rows()];
        let mut chosen: Vec<usize> = Vec::with_capacity(k);
        for _ in 0..k {
            let weights: Vec<f64> = nearest.iter().zip(&self.cells).map(|(d, l)| d * l).collect();
            let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
            let drawn = weights.iter().position(|w| {
                left -= w;
                left < 0.0
            });
            let drawn = drawn.unwrap_or_else(|| rng.random_range(0..weights.len()));
            let distance = |row: usize| -> f64 {
                let pairs = self.places.row(row).iter().zip(self.places.row(drawn));
                pairs.map(|(a, b)| (a - b) * (a - b)).sum()
            };
            for row in 0..nearest.len() {
                let d = distance(row);
                nearest[row] = if chosen.is_empty() { d } else { nearest[row].min(d) };
            }
            chosen.push(drawn);
        }
        chosen
    }

    /// The distributions of these bins as the directions see them, negative numbers set to nothing.
    fn profiles(&self, chosen: &[usize]) -> Mat {
        let own = Mat::from_fn(chosen.len(), self.places.cols(), |t, j| self.places[(chosen[t], j)]);
        own.matmul_tr(&self.directions).map(|x| x.max(1e-6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::progress::Silent;

    /// Two pure bins of each of three types, and mixed ones between them.
    fn mixed() -> (Csr, Mat) {
        let truth = Mat::from_vec(
            3,
            6,
            vec![
                0.7, 0.3, 0.0, 0.0, 0.0, 0.0, //
                0.0, 0.0, 0.6, 0.4, 0.0, 0.0, //
                0.0, 0.0, 0.0, 0.0, 0.5, 0.5,
            ],
        );
        let shares = [
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.5, 0.5, 0.0],
            [0.2, 0.3, 0.5],
            [0.4, 0.2, 0.4],
        ];
        let mut cells = Vec::new();
        for (m, share) in shares.iter().cycle().take(18).enumerate() {
            for g in 0..6 {
                let p: f64 = (0..3).map(|t| share[t] * truth[(t, g)]).sum();
                if p > 0.0 {
                    cells.push((m, g, 1000.0 * p));
                }
            }
        }
        (Csr::from_triplets(18, 6, &cells), truth)
    }

    #[test]
    fn pure_bins_are_the_corners() {
        let (counts, truth) = mixed();
        let all = starts(&counts, 3, 2, 0, &Silent).unwrap();
        let names: Vec<&str> = all.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["tensor", "projection", "random 1", "random 2"]);
        let matched = crate::evaluate::Match::new(&truth, &all[1].profiles);
        // Exact but for the share that is spread.
        assert!(matched.mean() < 2.0 * SPREAD, "{}", matched.mean());
        for start in &all {
            assert!(start.profiles.as_slice().iter().all(|x| *x > 0.0));
            assert!((0..3).all(|t| (start.profiles.row(t).iter().sum::<f64>() - 1.0).abs() < 1e-12));
        }
    }

    #[test]
    fn there_is_always_a_start() {
        let (counts, _) = mixed();
        for k in [1, 6, 18, 25] {
            let all = starts(&counts, k, 0, 0, &Silent).unwrap();
            assert!(!all.is_empty() && all.iter().all(|s| s.profiles.rows() == k), "{k}");
        }
    }
}
