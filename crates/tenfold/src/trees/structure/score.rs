//! How well a tree with lengths explains the distances.

use super::super::tree::Tree;
use super::pairs::Pairs;
use tenfold_engine::linalg::parallel::{BLOCK, sum_blocks};

/// The misfit Σ_{i<j} (e^{−d_ij} − e^{−t_ij})² / (v_ij e^{−2 d_ij}), t_ij along the tree. Correlations are compared rather than their
/// logarithms: pairs that are far apart are known to be weak, and that is all that is known of them.
pub(crate) fn misfit(tree: &Tree, pairs: &Pairs) -> f64 {
    let p = pairs.count();
    let add = |sum: &mut f64, rows: std::ops::Range<usize>| {
        for i in rows {
            let mut far = vec![0.0; tree.capacity()];
            for (node, parent) in tree.walk(i).into_iter().skip(1) {
                let parent = parent.expect("only the root has none");
                far[node] = far[parent] + tree.length(parent, node).unwrap_or(0.0).max(0.0);
                if node > i && node < p {
                    let found = (-pairs.distance(i, node)).exp();
                    let apart = found - (-far[node]).exp();
                    *sum += apart * apart / (pairs.variance(i, node) * found * found).max(TINY);
                }
            }
        }
        Ok(())
    };
    let block = (BLOCK / 16).max(1);
    sum_blocks(p, block, || 0.0, add, |total, part| *total += part).unwrap_or(f64::INFINITY)
}

/// Keeps exact distances, whose variances mean nothing, from dividing by 0.
const TINY: f64 = 1e-12;
