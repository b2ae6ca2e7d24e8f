//! What the moments say of a graph, before anything is made of it.

use super::moments::{Seen, White};
use tenfold_engine::decompose::{Decomposition, Trace};
use tenfold_engine::linalg::Mat;
use tenfold_engine::tensor::Cp;

/// What the moments say.
pub(super) struct Estimate {
    pub seen: Seen,
    /// k × directions: where a node of one community alone lies.
    pub corners: Mat,
    /// α_i/α0 of every community.
    pub shares: Vec<f64>,
    pub found: Decomposition,
    pub spectrum: Vec<f64>,
}

crate::checkpoint::keep! { Estimate { seen, corners, shares, found, spectrum } }

impl Estimate {
    /// Corners that were found otherwise.
    pub fn with_corners(seen: Seen, corners: Mat, spectrum: Vec<f64>, found: Decomposition) -> Self {
        let shares = found.cp.weights.iter().map(|l| 1.0 / (l * l).max(1e-12)).collect();
        Self { seen, corners, shares, found, spectrum }
    }

    /// One community of all nodes, where the mean of all lies: what is left to say when no two neighbours tell anything.
    pub fn of_one(seen: Seen, spectrum: Vec<f64>) -> Self {
        let corners = Mat::from_fn(1, seen.mean.len(), |_, j| seen.mean[j]);
        let cp = Cp::new(3, vec![1.0], Mat::identity(1));
        let trace = Trace { residuals: vec![0.0], converged: true, ..Trace::default() };
        Self::with_corners(seen, corners, spectrum, Decomposition { cp, trace, fit: None })
    }

    /// f_i = W⁺ᵀ λ_i v_i and α̂_i = λ_i^(−2).
    pub fn new(seen: Seen, white: &White, found: Decomposition) -> Self {
        let mut scaled = found.cp.factors.clone();
        scaled.scale_cols(&found.cp.weights);
        let corners = white.inverse.matmul(&scaled).transpose();
        Self::with_corners(seen, corners, white.spectrum.clone(), found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Graph, Kind, Params};

    /// In a single edge no node has two neighbours, and the moments are empty.
    #[test]
    fn a_graph_too_small_to_tell_anything_is_one_community() {
        for kind in [Kind::Undirected, Kind::Directed, Kind::Bipartite] {
            let graph = Graph::from_edges(kind, &[(0, 1)], None).unwrap();
            let model = Params::new(1).fit(&graph).unwrap();
            assert_eq!(model.k(), 1, "{kind}");
            assert!(model.memberships().as_slice().iter().all(|x| *x == 1.0), "{kind}");
            assert!(model.verdict().findings().iter().all(|(_, f)| !f.contains("NaN")), "{kind}");
        }
        let two = Graph::from_edges(Kind::Undirected, &[(0, 1), (2, 3)], None).unwrap();
        let model = Params::new(2).fit(&two).unwrap();
        assert!(model.k() == 1 && !model.verdict().is_sound());
        let triangle = Graph::from_edges(Kind::Undirected, &[(0, 1), (1, 2), (0, 2)], None).unwrap();
        assert_eq!(Params::new(1).fit(&triangle).unwrap().k(), 1);
    }
}
