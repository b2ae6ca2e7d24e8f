//! Readers of tables of numbers.

use super::{ROOM, signals};
use std::path::Path;
use tenfold::engine::linalg::Rows;
use tenfold::input::{Options, open, read_array};

/// Opens in memory and from disk; whatever is given must be finite, unless gaps are wished, and of the promised size.
pub fn check(path: &Path) -> bool {
    let mut found = false;
    for (memory, gaps) in [(ROOM, false), (2000, false), (ROOM, true)] {
        let options = Options { memory, gaps, max_decompressed: ROOM, ..Options::default() };
        let Ok(table) = open(path, &options) else { continue };
        found = true;
        assert!(table.rows() > 0 && table.names().len() == table.cols());
        let mut block = vec![0.0; table.rows().min(600) * table.cols()];
        if table.read_rows(0, &mut block).is_ok() {
            assert!(gaps || block.iter().all(|x| x.is_finite()));
        }
    }
    found
}

pub fn npy(path: &Path) -> bool {
    let found = read_array(path);
    if let Ok(array) = &found {
        assert_eq!(array.data.len(), array.shape.iter().product::<usize>());
    }
    check(path) | signals::check(path) | found.is_ok()
}

/// As a table and as signals.
pub fn twice(path: &Path) -> bool {
    check(path) | signals::check(path)
}

/// Streams of gzip and zstd: as numbers, as documents, as edges and as variables, which unpack in different ways.
pub fn packed(path: &Path) -> bool {
    let lines = Some(tenfold::topics::read::Format::Lines);
    let edges = Some(tenfold::communities::read::Format::Edges);
    check(path)
        | super::documents::ways(path, lines)
        | super::graphs::ways(path, edges)
        | super::variables::check(path)
}

/// Numbers, documents, graphs, variables and cells come in this format.
pub fn parquet(path: &Path) -> bool {
    check(path)
        | super::documents::ways(path, Some(tenfold::topics::read::Format::Parquet))
        | super::graphs::ways(path, Some(tenfold::communities::read::Format::Parquet))
        | super::variables::check(path)
        | super::tissue::table(path)
}
