//! Groups of rows around means.

use rand::RngExt;
use tenfold_engine::linalg::{Mat, random};

/// Starts, of which the one with the smallest sum of squares is kept.
const STARTS: u64 = 20;

/// Rounds of one start, at most; a few tens suffice.
const ROUNDS: usize = 300;

/// The group of every row by Lloyd's algorithm, from 20 starts whose centres are drawn far apart.
///
/// # Complexity
/// O(rows · groups · columns) a round.
///
/// # Example
/// ```
/// use tenfold::cells::validate::kmeans;
/// use tenfold::engine::linalg::Mat;
/// let found = kmeans(&Mat::from_vec(4, 1, vec![0.0, 0.1, 5.0, 5.1]), 2, 0);
/// assert!(found[0] == found[1] && found[2] == found[3] && found[0] != found[2]);
/// ```
///
/// # References
/// Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", 2007.
pub fn kmeans(rows: &Mat, groups: usize, seed: u64) -> Vec<u32> {
    let groups = groups.clamp(1, rows.rows().max(1));
    let mut best: Option<(f64, Vec<u32>)> = None;
    for start in 0..STARTS {
        let (cost, labels) = run(rows, groups, &mut random::rng(seed, start));
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, labels));
        }
    }
    best.map_or_else(Vec::new, |(_, labels)| labels)
}

fn run(rows: &Mat, groups: usize, rng: &mut random::Rng) -> (f64, Vec<u32>) {
    let mut centres = seeds(rows, groups, rng);
    let mut labels = vec![u32::MAX; rows.rows()];
    let mut cost = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut changed = false;
        cost = 0.0;
        for (i, label) in labels.iter_mut().enumerate() {
            let (near, distance) = nearest(rows.row(i), &centres);
            changed |= *label != near as u32;
            *label = near as u32;
            cost += distance;
        }
        if !changed {
            break;
        }
        let mut sums = Mat::zeros(groups, rows.cols());
        let mut counts = vec![0.0; groups];
        for (i, &label) in labels.iter().enumerate() {
            counts[label as usize] += 1.0;
            sums.row_mut(label as usize).iter_mut().zip(rows.row(i)).for_each(|(s, x)| *s += x);
        }
        for (c, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            let mean: Vec<f64> = sums.row(c).iter().map(|s| s / count).collect();
            centres.row_mut(c).copy_from_slice(&mean);
        }
    }
    (cost, labels)
}

fn nearest(row: &[f64], centres: &Mat) -> (usize, f64) {
    let distance = |c: usize| row.iter().zip(centres.row(c)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let mut best = (0, f64::INFINITY);
    for c in 0..centres.rows() {
        let d = distance(c);
        if d < best.1 {
            best = (c, d);
        }
    }
    best
}

/// Rows drawn in proportion to the squared distance from those before.
fn seeds(rows: &Mat, groups: usize, rng: &mut random::Rng) -> Mat {
    let mut chosen: Vec<usize> = Vec::with_capacity(groups);
    let mut least = vec![1.0f64; rows.rows()];
    while chosen.len() < groups && rows.rows() > 0 {
        let mut left = rng.random::<f64>() * least.iter().sum::<f64>();
        let drawn = least.iter().position(|d| {
            left -= d;
            left < 0.0
        });
        let drawn = drawn.unwrap_or_else(|| rng.random_range(0..rows.rows()));
        for (i, d) in least.iter_mut().enumerate() {
            let far: f64 = rows.row(i).iter().zip(rows.row(drawn)).map(|(a, b)| (a - b) * (a - b)).sum();
            *d = if chosen.is_empty() { far } else { d.min(far) };
        }
        chosen.push(drawn);
    }
    Mat::from_fn(chosen.len(), rows.cols(), |c, j| rows[(chosen[c], j)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_apart_are_found_whatever_the_seed() {
        let mut rng = random::rng(1, 0);
        let rows =
            Mat::from_fn(90, 3, |i, j| 6.0 * f64::from(u8::from(i % 3 == j)) + random::normal(&mut rng));
        let truth: Vec<u32> = (0..90).map(|i| i % 3).collect();
        for seed in 0..5 {
            let found = kmeans(&rows, 3, seed);
            assert!(crate::evaluate::adjusted_rand_index(&found, &truth) > 0.95);
        }
        assert_eq!(kmeans(&Mat::zeros(0, 3), 3, 0), Vec::<u32>::new());
        assert_eq!(kmeans(&Mat::zeros(2, 3), 5, 0).len(), 2);
    }
}
