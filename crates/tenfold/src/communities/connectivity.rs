//! How often communities are joined.

use super::data::{Graph, Kind};
use super::likelihood::column_sums;
use super::moments::{product, symmetric};
use tenfold_engine::linalg::{Mat, Tall, solve};

/// P in E\[A\] = Π P Φᵀ by least squares, (ΠᵀΠ)⁻¹ Πᵀ A Φ (ΦᵀΦ)⁻¹, not below zero, and not above one where edges have no weights. A graph without loops has nothing on its diagonal:
/// what P itself puts there is put back, twice over.
pub(super) fn connectivity(graph: &Graph, rows: &Tall, columns: Option<&Tall>) -> Mat {
    let k = rows.width();
    let others = columns.unwrap_or(rows);
    let small = |x: &Tall| {
        let mut gram = x.gram(x);
        let total: f64 = column_sums(x).iter().sum();
        (0..k).for_each(|i| gram[(i, i)] += 1e-6 * total / k as f64);
        gram
    };
    let (left, right) = (small(rows), small(others));
    let seen = rows.gram(&product(graph.adjacency(), others));
    let undo = |m: &Mat| solve(&right, &solve(&left, m).transpose()).transpose();
    let mut p = undo(&seen);
    if graph.kind() != Kind::Bipartite {
        for _ in 0..2 {
            let mixed = rows.times(&p);
            let mut weighted = rows.clone();
            let width = k.max(1);
            for (u, row) in weighted.as_mut_slice().chunks_exact_mut(width).enumerate() {
                let own: f32 = mixed.row(u).iter().zip(others.row(u)).map(|(a, b)| a * b).sum();
                row.iter_mut().for_each(|x| *x *= own);
            }
            let mut filled = weighted.gram(others);
            filled.add_scaled(1.0, &seen);
            p = undo(&filled);
        }
    }
    if graph.kind() == Kind::Undirected {
        p = symmetric(&p);
    }
    let most = if graph.weighted() { f64::INFINITY } else { 1.0 };
    p.map(|x| x.clamp(0.0, most))
}
