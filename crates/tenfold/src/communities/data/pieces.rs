//! Graphs from arrays that a program holds: read where they lie, piece by piece and in parallel.

use super::compact::{Pairs, compact};
use super::gathered::{Gathered, Told, Wanted, weight};
use super::{Graph, Ids, Kind};
use crate::error::{Error, Result};
use rayon::prelude::*;

/// A piece of the edges, with a weight for each where there are weights.
#[derive(Debug, Clone, Default)]
pub struct Piece {
    /// From and to.
    pub edges: Vec<(u64, u64)>,
    /// As many as edges.
    pub weights: Option<Vec<f64>>,
}

/// What the ends of edges mean.
#[derive(Debug, Clone)]
pub enum Ends {
    /// Numbers that nodes are called by; there are no other nodes than those with edges.
    Numbers,
    /// Places among these ids. Where nodes were declared apart from their edges, an id means one node wherever it stands;
    /// otherwise the two ends of edges may turn out to be two sides.
    Places {
        /// What the nodes are called.
        ids: Ids,
        /// Whether nodes were declared.
        declared: bool,
    },
    /// Entries of a matrix, rows first: a square one whose rows and columns are the same nodes.
    Square(Ids),
    /// Entries of a matrix whose rows and columns are two sides.
    Sides(Ids, Ids),
}

/// Edges in arrays of a program's own.
pub struct EdgeArrays<'a> {
    /// What the ends of edges mean.
    pub ends: Ends,
    /// What the edges are. `None` goes by the edges; a square matrix is undirected when it is symmetric.
    pub kind: Option<Kind>,
    /// Whether weights count. `None` goes by whether there are any.
    pub weighted: Option<bool>,
    /// Number of pieces, of about a million edges each.
    pub pieces: usize,
    /// Reads one of them.
    pub read: &'a (dyn Fn(usize) -> Piece + Sync),
}

/// A piece as it is kept.
type Kept = (Pairs, Option<Vec<f32>>);

impl EdgeArrays<'_> {
    /// The graph. No more than it holds itself is copied: a piece is turned into four bytes for an end as it is read.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for a weight that is negative or not finite, an end outside of the nodes, or a kind that does
    /// not go with the data; an error when no edges are left.
    ///
    /// # Example
    /// ```
    /// use tenfold::communities::{EdgeArrays, Ends, Ids, Kind, Piece};
    /// let read = |_| Piece { edges: vec![(0, 1), (1, 0), (1, 2), (2, 1)], weights: None };
    /// let ends = Ends::Square(Ids::counted(0, 4));
    /// let graph = EdgeArrays { ends, kind: None, weighted: None, pieces: 1, read: &read }.graph()?;
    /// assert_eq!((graph.kind(), graph.nodes(), graph.edges()), (Kind::Undirected, 4, 2));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn graph(self) -> Result<Graph> {
        let wanted = Wanted { kind: self.kind, weighted: self.weighted };
        let read = |i: usize| kept((self.read)(i));
        let kept: Vec<Kept> =
            (0..self.pieces).into_par_iter().with_max_len(1).map(read).collect::<Result<_>>()?;
        let (pairs, weights): (Vec<Pairs>, Vec<Option<Vec<f32>>>) = kept.into_iter().unzip();
        // Either all pieces have weights or none; of no pieces none do.
        let weights: Option<Vec<Vec<f32>>> = weights.into_iter().collect();
        let weights = weights.filter(|w| !w.is_empty());
        let places = |pairs: Vec<Pairs>, from: &Ids, to: &Ids| {
            pairs.into_par_iter().map(|piece| inside(piece, (from.len(), to.len()))).collect::<Result<_>>()
        };
        match self.ends {
            Ends::Numbers => {
                let (ids, edges) = compact(pairs)?;
                Gathered::new(ids, edges, weights).finish(wanted)
            }
            Ends::Places { ids, declared } => {
                let edges = places(pairs, &ids, &ids)?;
                Gathered { declared, ..Gathered::new(ids, edges, weights) }.finish(wanted)
            }
            Ends::Square(ids) if self.kind != Some(Kind::Bipartite) => {
                let edges = places(pairs, &ids, &ids)?;
                Gathered { declared: true, ..Gathered::new(ids, edges, weights) }.finish_square(wanted)
            }
            Ends::Square(ids) => {
                let (edges, others) = (places(pairs, &ids, &ids)?, Some(ids.clone()));
                Gathered { others, ..Gathered::new(ids, edges, weights) }.finish(wanted)
            }
            Ends::Sides(ids, others) => {
                let edges = places(pairs, &ids, &others)?;
                let told = Told { kind: Kind::Bipartite, by: "as its matrix is not square", sure: true };
                let (others, told) = (Some(others), Some(told));
                Gathered { others, told, ..Gathered::new(ids, edges, weights) }.finish(wanted)
            }
        }
    }
}

/// A piece in the least bytes that hold it.
fn kept(piece: Piece) -> Result<Kept> {
    let bad =
        |value: String, expected: String| Error::BadParameter { name: "weights".into(), value, expected };
    let Piece { edges, weights } = piece;
    if let Some(weights) = &weights
        && weights.len() != edges.len()
    {
        return Err(bad(weights.len().to_string(), format!("{}, one for every edge", edges.len())));
    }
    let small: Option<Vec<(u32, u32)>> =
        edges.iter().map(|e| Some((e.0.try_into().ok()?, e.1.try_into().ok()?))).collect();
    let keep = |w: f64| weight(w).map_err(|problem| bad(w.to_string(), format!("it {problem}")));
    let weights = weights.map(|w| w.into_iter().map(keep).collect::<Result<_>>()).transpose()?;
    Ok((small.map_or_else(|| Pairs::Large(edges), Pairs::Small), weights))
}

/// The edges of a piece, if they lie among so many nodes.
fn inside(piece: Pairs, (rows, cols): (usize, usize)) -> Result<Vec<(u32, u32)>> {
    let outside = |(i, j): (u64, u64)| Error::BadParameter {
        name: "edge".into(),
        value: format!("from {i} to {j}"),
        expected: format!("places below {rows} and {cols}"),
    };
    let lies = |i: u64, j: u64| i < rows as u64 && j < cols as u64;
    match piece {
        Pairs::Small(pairs) => match pairs.iter().find(|e| !lies(e.0.into(), e.1.into())) {
            Some(&(i, j)) => Err(outside((i.into(), j.into()))),
            None => Ok(pairs),
        },
        // There are never so many nodes: one of the ends that need eight bytes lies outside.
        Pairs::Large(pairs) => {
            Err(outside(pairs.into_iter().find(|&(i, j)| !lies(i, j)).unwrap_or_default()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(ends: Ends, kind: Option<Kind>, edges: &[(u64, u64)], weights: Option<&[f64]>) -> Result<Graph> {
        // Every edge a piece of its own.
        let read = |i: usize| Piece { edges: vec![edges[i]], weights: weights.map(|w| vec![w[i]]) };
        EdgeArrays { ends, kind, weighted: None, pieces: edges.len(), read: &read }.graph()
    }

    #[test]
    fn a_square_matrix_is_undirected_when_it_is_symmetric() {
        let both = [(0, 1), (1, 0), (1, 2), (2, 1), (1, 1)];
        let square = |edges: &[(u64, u64)], w: Option<&[f64]>| {
            graph(Ends::Square(Ids::counted(0, 4)), None, edges, w).unwrap()
        };
        let same = square(&both, Some(&[2.0, 2.0, 3.0, 3.0, 9.0]));
        assert_eq!((same.kind(), same.nodes(), same.edges()), (Kind::Undirected, 4, 2));
        assert_eq!(same.adjacency().row(1), (&[0, 2][..], Some(&[2.0, 3.0][..])));
        assert!(same.notes().iter().any(|n| n.contains("matrix is symmetric")));
        assert!(same.notes().iter().any(|n| n.contains("1 self-loop")));
        assert_eq!(square(&both, Some(&[2.0, 2.0, 3.0, 4.0, 9.0])).kind(), Kind::Directed);
        // Half of a symmetric matrix is not guessed to be the whole.
        assert_eq!(square(&[(0, 1), (1, 2)], None).kind(), Kind::Directed);
        let halves = graph(Ends::Square(Ids::counted(0, 3)), Some(Kind::Undirected), &[(0, 1), (1, 2)], None);
        assert_eq!(halves.unwrap().edges(), 2);
    }

    #[test]
    fn sides_places_and_numbers() {
        let sides = Ends::Sides(Ids::counted(0, 2), Ids::from_names(["x", "y", "z"]).unwrap());
        let two = graph(sides.clone(), None, &[(0, 2), (1, 0)], None).unwrap();
        assert_eq!((two.kind(), two.nodes(), two.others()), (Kind::Bipartite, 2, 3));
        for strange in [(2, 0), (0, 3), (1 << 40, 0)] {
            let error = graph(sides.clone(), None, &[(0, 1), strange], None).unwrap_err().to_string();
            assert!(error.contains(&format!("from {} to {}", strange.0, strange.1)), "{error}");
        }
        let square = Ends::Square(Ids::counted(0, 2));
        let apart = graph(square, Some(Kind::Bipartite), &[(0, 0), (1, 1)], None).unwrap();
        assert_eq!((apart.others(), apart.edges()), (2, 2));
        let names = Ids::from_names(["b", "a", "alone"]).unwrap();
        let named = graph(Ends::Places { ids: names, declared: true }, Some(Kind::Directed), &[(0, 1)], None)
            .unwrap();
        assert_eq!((named.ids().get(2), named.components()), ("alone".into(), 2));
        let far = graph(Ends::Numbers, Some(Kind::Directed), &[(7, 1 << 40), (7, 9)], Some(&[1.0, 2.0]));
        assert_eq!(far.unwrap().ids().get(2), (1u64 << 40).to_string());
        for wrong in [-1.0, f64::NAN] {
            assert!(graph(Ends::Numbers, None, &[(1, 2)], Some(&[wrong])).is_err());
        }
    }
}
