//! Directions in which a variable has variance 1, and the canonical correlations of two variables seen in them.

use super::layout::Layout;
use super::own::Own;
use crate::error::{Error, Result};
use crate::trees::data::Kind;
use rayon::prelude::*;
use tenfold_engine::linalg::{Mat, SmallEigen, dot, eigen_symmetric};

/// Directions with less than this share of the largest variance are dropped, features being on one scale: such a direction is
/// one feature told by the others up to rounding, as when the reference level never appears.
const TOLERANCE: f64 = 1e-6;

/// A level or a flag that fewer samples have is left out where its variable has others: one for every jackknife block, so
/// that it is there whichever is left out.
const FEWEST: f64 = 8.0;

/// Rows w with Cov(wᵀx) = 1 for each and 0 between them: effective width × features.
pub(super) type Whitener = Mat;

/// The whiteners of a variable from several covariances, the first of which decides which features and how many directions
/// are used, so that all have the same.
pub(super) fn whiteners(covariances: &[&Mat], used: &[bool]) -> Result<Vec<Whitener>> {
    let all = covariances[0];
    let width = all.rows();
    let scale: Vec<f64> = (0..width).map(|f| if used[f] { 1.0 / all[(f, f)].sqrt() } else { 0.0 }).collect();
    let kept: Vec<usize> = (0..width).filter(|&f| used[f]).collect();
    if kept.is_empty() {
        return Ok(vec![Mat::zeros(0, width); covariances.len()]);
    }
    if let [f] = kept[..] {
        let weight = |c: &Mat| if c[(f, f)] > TOLERANCE * all[(f, f)] { 1.0 / c[(f, f)].sqrt() } else { 0.0 };
        let row = |c: &&Mat| Mat::from_fn(1, width, |_, g| if g == f { weight(c) } else { 0.0 });
        return Ok(covariances.iter().map(row).collect());
    }
    let mut effective = None;
    covariances
        .iter()
        .map(|covariance| {
            let scaled = Mat::from_fn(kept.len(), kept.len(), |a, b| {
                covariance[(kept[a], kept[b])] * scale[kept[a]] * scale[kept[b]]
            });
            let eigen = eigen_symmetric(&scaled)?;
            let least = TOLERANCE * eigen.values.first().copied().unwrap_or(0.0);
            let count =
                *effective.get_or_insert_with(|| eigen.values.iter().take_while(|&&l| l > least).count());
            let mut whitener = Mat::zeros(count, width);
            for l in (0..count).filter(|&l| eigen.values[l] > least) {
                let weight = 1.0 / eigen.values[l].sqrt();
                for (a, &f) in kept.iter().enumerate() {
                    whitener[(l, f)] = eigen.vectors[(a, l)] * scale[f] * weight;
                }
            }
            Ok(whitener)
        })
        .collect()
}

/// Which features of a variable vary, and often enough.
fn used(layout: &Layout<'_>, own: &Own, variable: usize, covariance: &Mat) -> Vec<bool> {
    let features = layout.features_of(variable);
    let count = own.count(layout, variable).max(1.0);
    let varies: Vec<bool> = features
        .clone()
        .enumerate()
        .map(|(f, column)| {
            let (variance, mean) = (covariance[(f, f)], own.sums[column] / count);
            // Rounding alone makes a constant vary by about 1e-16 of itself.
            variance > 1e-13 * mean * mean && variance > (1e-11 * layout.shift()[column]).powi(2)
        })
        .collect();
    let held = &own.held[features];
    let rare = |up: f64| up < FEWEST || layout.kind(variable) != Kind::Counts && count - up < FEWEST;
    if layout.kind(variable) == Kind::Real {
        return varies;
    }
    let mut used: Vec<bool> = varies.iter().zip(held).map(|(&varies, &up)| varies && !rare(up)).collect();
    if layout.kind(variable) == Kind::Category && used.iter().filter(|&&u| u).count() > 1 {
        let reference = count - held.iter().sum::<f64>();
        // A rare reference is one with the most common level.
        if reference < FEWEST {
            let common = (0..held.len()).max_by(|&a, &b| held[a].total_cmp(&held[b]));
            used[common.expect("several levels")] = false;
        }
    }
    if used.contains(&true) { used } else { varies }
}

/// The whiteners of all variables, from all samples and with each block left out.
pub(super) fn all_whiteners(layout: &Layout<'_>, versions: &[Own]) -> Result<Vec<Vec<Whitener>>> {
    let covariances: Vec<Vec<Mat>> = versions.par_iter().map(|own| own.covariances(layout)).collect();
    (0..layout.variables())
        .into_par_iter()
        .map(|v| {
            let own: Vec<&Mat> = covariances.iter().map(|version| &version[v]).collect();
            if own.iter().any(|c| c.as_slice().iter().any(|x| !x.is_finite())) {
                return Err(Error::Unfit {
                    problem: format!("the squares of {} are too large to be added", layout.name(v)),
                    remedy: "give it in another unit".into(),
                });
            }
            whiteners(&own, &used(layout, &versions[0], v, own[0]))
        })
        .collect()
}

/// The rows made to have Cov(wᵀx) = 1 for each and 0 between them under another covariance: (R C Rᵀ)^(−1/2) R.
pub(super) fn renewed(rows: &Whitener, covariance: &Mat) -> Result<Whitener> {
    let eigen = eigen_symmetric(&rows.matmul(covariance).matmul_tr(rows))?;
    let least = TOLERANCE * eigen.values.first().copied().unwrap_or(0.0);
    let mut scaled = eigen.vectors.clone();
    let scale = |&value: &f64| if value > least { 1.0 / value.sqrt() } else { 0.0 };
    scaled.scale_cols(&eigen.values.iter().map(scale).collect::<Vec<_>>());
    Ok(scaled.matmul_tr(&eigen.vectors).matmul(rows))
}

/// Room for the canonical correlations of one pair after another.
#[derive(Default)]
pub(super) struct Work {
    half: Vec<f64>,
    whitened: Vec<f64>,
    square: Vec<f64>,
    eigen: SmallEigen,
    /// The canonical correlations, largest first.
    pub values: Vec<f64>,
}

impl Work {
    /// W_i C_ij W_jᵀ of the last pair, the narrower of the two in rows; nothing where one does not vary.
    pub fn whitened(&self) -> &[f64] {
        if self.values.is_empty() { &[] } else { &self.whitened }
    }
}

/// The canonical correlations of two variables from their whiteners and their covariance: singular values of W_i C_ij W_jᵀ,
/// at most 1.
pub(super) fn canonical(left: &Whitener, right: &Whitener, cross: &[f64], work: &mut Work) -> Result<()> {
    let Work { half, whitened, square, eigen, values } = work;
    values.clear();
    if left.rows() == 0 || right.rows() == 0 {
        return Ok(());
    }
    let (inner, outer) = (left.cols(), right.cols());
    products(right.as_slice(), cross, outer, half);
    // The smaller side leads, so that the square below is small.
    let rows = left.rows().min(right.rows());
    if left.rows() <= right.rows() {
        products(left.as_slice(), half, inner, whitened);
    } else {
        products(half, left.as_slice(), inner, whitened);
    }
    let cols = whitened.len() / rows;
    products(whitened, whitened, cols, square);
    match rows {
        1 => values.push(square[0]),
        2 => {
            let (mean, apart) = ((square[0] + square[3]) / 2.0, (square[0] - square[3]) / 2.0);
            let large = mean + apart.hypot(square[1]);
            // The smaller one by the determinant: a difference would lose its digits.
            values.extend([large, if large > 0.0 { determinant(whitened, cols) / large } else { 0.0 }]);
        }
        _ => values.extend_from_slice(eigen.values(square, rows)?),
    }
    values.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0).sqrt());
    Ok(())
}

/// a bᵀ, both with rows of length `inner`.
fn products(a: &[f64], b: &[f64], inner: usize, out: &mut Vec<f64>) {
    out.clear();
    for x in a.chunks_exact(inner) {
        out.extend(b.chunks_exact(inner).map(|y| dot(x, y)));
    }
}

/// The determinant of m mᵀ for two rows, as the sum of the squares of all 2 × 2 minors.
fn determinant(m: &[f64], cols: usize) -> f64 {
    let (x, y) = m.split_at(cols);
    (0..cols).flat_map(|a| (0..a).map(move |b| (x[a] * y[b] - x[b] * y[a]).powi(2))).sum()
}
