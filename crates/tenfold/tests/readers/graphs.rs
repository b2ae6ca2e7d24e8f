//! Readers of graphs, of pairs of nodes and of known communities.

use super::ROOM;
use std::path::Path;
use tenfold::communities::read::{Format, ReadOptions, read, read_pairs};
use tenfold::communities::{Graph, Ids, Kind, truth};
use tenfold::engine::progress::Silent;

/// Whatever was read must hold together.
pub fn sound(graph: &Graph) {
    let (rows, cols) = (graph.nodes(), graph.others());
    assert!(graph.edges() > 0 && (rows, cols) == (graph.ids().len(), graph.other_ids().len()));
    let a = graph.adjacency();
    for i in (0..rows).take(200) {
        let (columns, weights) = a.row(i);
        assert!(columns.is_sorted_by(|a, b| a < b) && columns.iter().all(|j| (*j as usize) < cols));
        assert!(weights.is_none_or(|w| w.iter().all(|w| w.is_finite() && *w > 0.0)));
        assert!(graph.kind() == Kind::Bipartite || !columns.contains(&(i as u32)));
        assert_eq!(graph.ids().find(&graph.ids().get(i)), Some(i));
        if graph.kind() == Kind::Undirected {
            assert!(columns.iter().all(|j| a.row(*j as usize).0.contains(&(i as u32))));
        }
    }
    let attributes = graph.attributes();
    assert!(attributes.iter().all(|a| a.iter().all(|(node, _)| node < rows)));
}

/// Reads as every kind of graph; `true` where one came out.
pub fn ways(path: &Path, format: Option<Format>) -> bool {
    let mut found = false;
    for kind in [None, Some(Kind::Directed), Some(Kind::Bipartite)] {
        let options = ReadOptions { format, kind, max_decompressed: ROOM, ..ReadOptions::default() };
        if let Ok(graph) = read(path, &options, &Silent) {
            sound(&graph);
            found = true;
        }
    }
    found
}

pub fn mat(path: &Path) -> bool {
    ways(path, Some(Format::Mat))
}

pub fn gml(path: &Path) -> bool {
    ways(path, Some(Format::Gml))
}

pub fn graphml(path: &Path) -> bool {
    ways(path, Some(Format::GraphMl))
}

pub fn edges(path: &Path) -> bool {
    let found = ways(path, None) | ways(path, Some(Format::Edges));
    let options = ReadOptions { max_decompressed: ROOM, ..ReadOptions::default() };
    if let Ok(list) = read_pairs(path, &options, &Silent) {
        let inside =
            |&(a, b): &(u32, u32)| (a as usize) < list.from().len() && (b as usize) < list.to().len();
        assert!(list.pairs().iter().all(inside));
    }
    found
}

pub fn table(path: &Path) -> bool {
    ways(path, Some(Format::Csv)) | ways(path, Some(Format::Tsv))
}

/// Known communities of nodes 1 to 4.
pub fn truth(path: &Path) -> bool {
    use truth::Format;
    let ids = Ids::from_numbers(vec![1, 2, 3, 4]).unwrap();
    let mut found = false;
    for format in [
        None,
        Some(Format::Cover),
        Some(Format::Nodes),
        Some(Format::Members),
        Some(Format::Table),
        Some(Format::Graph),
    ] {
        let options = truth::Options { format, max_decompressed: ROOM, ..truth::Options::default() };
        if let Ok(known) = truth::read(path, &ids, &options, &Silent) {
            assert!(known.known().len() == 4 && known.names().len() == known.k());
            found = true;
        }
    }
    found
}
