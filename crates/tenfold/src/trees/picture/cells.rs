//! Tables in whole units of samples, so that no small cell is told.

use super::super::data::Kind;
use super::super::network::{Emission, Network, Node};
use super::Picture;
use tenfold_engine::linalg::Mat;

/// The network with every table in units of `cell` samples; see [`Picture::shown`].
pub(super) fn coarse(picture: &Picture<'_>, cell: u64) -> Network {
    let mut units: Vec<Vec<u64>> = Vec::new();
    let mut nodes = Vec::new();
    for node in &picture.network.nodes {
        let above = match node.parent {
            None => vec![picture.samples as u64 / cell],
            Some(parent) => units[parent].clone(),
        };
        let columns: Vec<Vec<u64>> =
            above.iter().enumerate().map(|(c, &whole)| share_out(whole, &node.table.col(c))).collect();
        units.push((0..node.states()).map(|s| columns.iter().map(|column| column[s]).sum()).collect());
        nodes.push(Node { place: node.place, parent: node.parent, table: shares(&columns) });
    }
    let emission = |(v, emission): (usize, &Emission)| {
        let seen = picture.seen(v) as f64 / picture.samples.max(1) as f64;
        let units: Vec<u64> =
            units[emission.node].iter().map(|&u| (u as f64 * seen.min(1.0)) as u64).collect();
        let mean = match picture.variables[v].kind {
            Kind::Category => category(&emission.mean, &units),
            Kind::Flags => each(&emission.mean, &units, |p| p, |_, share| share),
            Kind::Counts => each(&emission.mean, &units, |rate| 1.0 - (-rate).exp(), slower),
            Kind::Real => means(&emission.mean, &units),
        };
        // Of nobody there is no spread, as there is no mean.
        let told = units.iter().any(|&u| u > 0);
        let variance = emission.variance.iter().map(|&x| if told { x } else { f64::NAN }).collect();
        Emission { node: emission.node, mean, variance }
    };
    Network { nodes, emissions: picture.network.emissions.iter().enumerate().map(emission).collect() }
}

/// Whole units by probability. Cells of less than one unit get none; what is left goes to the others, in the order of what
/// rounding took from them, and to the largest where there is no other.
fn share_out(units: u64, probabilities: &[f64]) -> Vec<u64> {
    let exact: Vec<f64> = probabilities.iter().map(|p| units as f64 * p.clamp(0.0, 1.0)).collect();
    // Sums of probabilities that are 1 but for rounding: 3 units · (1/3) must be one unit.
    let mut whole: Vec<u64> = exact.iter().map(|x| (x + 1e-9) as u64).collect();
    let mut order: Vec<usize> = (0..whole.len()).filter(|&i| whole[i] > 0).collect();
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()).then(a.cmp(&b)));
    if order.is_empty() {
        order.extend((0..whole.len()).rev().max_by(|&a, &b| exact[a].total_cmp(&exact[b])));
    }
    let left = units.saturating_sub(whole.iter().sum());
    for i in 0..left as usize {
        whole[order[i % order.len()]] += 1;
    }
    whole
}

/// Columns of units as columns of probabilities. A column without a unit gets the average of all; where there is no
/// unit at all every cell is as likely as the others.
fn shares(columns: &[Vec<u64>]) -> Mat {
    let rows = columns.first().map_or(0, Vec::len);
    let sums: Vec<u64> = columns.iter().map(|column| column.iter().sum()).collect();
    let all: u64 = sums.iter().sum();
    Mat::from_fn(rows, columns.len(), |r, c| match (sums[c], all) {
        (0, 0) => 1.0 / rows as f64,
        (0, _) => columns.iter().map(|column| column[r]).sum::<u64>() as f64 / all as f64,
        (sum, _) => columns[c][r] as f64 / sum as f64,
    })
}

fn category(mean: &Mat, units: &[u64]) -> Mat {
    let column = |(s, &whole): (usize, &u64)| {
        let rest = mean.col(s);
        let reference = 1.0 - rest.iter().sum::<f64>();
        share_out(whole, &[vec![reference], rest].concat())
    };
    let columns: Vec<Vec<u64>> = units.iter().enumerate().map(column).collect();
    let all = shares(&columns);
    Mat::from_fn(mean.rows(), mean.cols(), |f, s| all.row(f + 1)[s])
}

/// Features one by one: `up` is the probability that one is not 0, `told` what is told where this share of samples has it.
fn each(mean: &Mat, units: &[u64], up: impl Fn(f64) -> f64, told: impl Fn(f64, f64) -> f64) -> Mat {
    let none = units.iter().sum::<u64>() == 0;
    let mut coarse = Mat::zeros(mean.rows(), mean.cols());
    for f in 0..mean.rows() {
        let columns: Vec<Vec<u64>> = mean
            .row(f)
            .iter()
            .zip(units)
            .map(|(&x, &whole)| share_out(whole, &[1.0 - up(x), up(x)]))
            .collect();
        let all = shares(&columns);
        for s in 0..mean.cols() {
            coarse.row_mut(f)[s] = if none { 0.0 } else { told(mean.row(f)[s], all.row(1)[s]) };
        }
    }
    coarse
}

/// A rate that leaves the counts of samples that have any as they are on average, while this share of samples has any.
fn slower(rate: f64, share: f64) -> f64 {
    let any = 1.0 - (-rate).exp();
    if share == 0.0 || any <= 0.0 { 0.0 } else { rate * share / any }
}

/// Means of states with at least one unit; the average of these for the others, and no number where there is none.
fn means(mean: &Mat, units: &[u64]) -> Mat {
    let all = units.iter().sum::<u64>() as f64;
    let average = |f: usize| mean.row(f).iter().zip(units).map(|(x, &u)| x * u as f64).sum::<f64>() / all;
    Mat::from_fn(mean.rows(), mean.cols(), |f, s| if units[s] == 0 { average(f) } else { mean.row(f)[s] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_shared_out_whole_and_small_cells_get_none() {
        assert_eq!(share_out(10, &[0.5, 0.5]), [5, 5]);
        assert_eq!(share_out(10, &[0.05, 0.55, 0.4]), [0, 6, 4]);
        assert_eq!(share_out(3, &[1.0 / 3.0; 3]), [1, 1, 1]);
        assert_eq!(share_out(6, &[0.15, 0.15, 0.15, 0.15, 0.4]), [0, 0, 0, 0, 6]);
        assert_eq!(share_out(1, &[0.2, 0.4, 0.4]), [0, 1, 0], "no cell has a unit: all to the first largest");
        assert_eq!(share_out(0, &[0.5, 0.5]), [0, 0]);
        assert_eq!(share_out(5, &[f64::NAN, 1.0]), [0, 5]);
        for seed in 0..50u64 {
            let p: Vec<f64> = (1..6).map(|i| ((seed * 31 + i * 17) % 23) as f64).collect();
            let sum: f64 = p.iter().sum();
            let p: Vec<f64> = p.iter().map(|x| x / sum).collect();
            let whole = share_out(37, &p);
            assert_eq!(whole.iter().sum::<u64>(), 37);
            assert!(whole.iter().zip(&p).all(|(&w, p)| 37.0 * p >= 1.0 - 1e-9 || w == 0), "{p:?} {whole:?}");
        }
    }

    #[test]
    fn a_state_without_a_unit_is_told_the_average() {
        let table = shares(&[vec![3, 1], vec![0, 0], vec![0, 4]]);
        assert_eq!(
            (table.col(0), table.col(1), table.col(2)),
            (vec![0.75, 0.25], vec![0.375, 0.625], vec![0.0, 1.0])
        );
        assert_eq!(shares(&[vec![0, 0]]).col(0), [0.5, 0.5]);
    }
}
