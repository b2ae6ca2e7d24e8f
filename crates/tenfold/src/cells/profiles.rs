//! Reads tables of transcripts counted in single cells.

use super::counts::GeneCounts;
use crate::error::Result;
use crate::input::decode::utf8;
use crate::input::rows::{Cells, Kind, RowReader};
use crate::input::{Opening, Source};
use std::path::Path;
use tenfold_engine::linalg::Csr;
use tenfold_engine::progress::Progress;

/// Bytes of one row: a hundred thousand cells of ten digits.
const MOST_A_ROW: u64 = 1 << 30;

/// Bytes after which unpacking is given up.
const MOST: u64 = 64 << 30;

/// What the rows of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A row for every gene, a column for every cell: as sequencing tables come.
    GenesInRows,
    /// A row for every cell, a column for every gene.
    CellsInRows,
}

/// Single cells with their names.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles {
    /// The cells' names.
    pub cells: Vec<String>,
    /// Cells × genes.
    pub counts: GeneCounts,
}

/// Reads a table of counts, comma- or tab-separated, plain or packed (gzip, zstd): the first row names the columns, the first column
/// names the rows.
///
/// # Errors
/// [`Error::Read`](crate::Error::Read) with file and line for a cell that is no count, a row of another length, or a gene that comes
/// twice.
pub fn read_profiles(path: &Path, layout: Layout, progress: &dyn Progress) -> Result<Profiles> {
    let opening = Opening {
        encoding: None,
        max_decompressed: MOST,
        wanted: "give a table of counts with a row for every gene",
    };
    let source = Source::open(path, opening, progress)?;
    let first = source.head(1 << 16);
    let first = first.split(|b| *b == b'\n').next().unwrap_or_default();
    let kind = if first.contains(&b'\t') { Kind::Tsv } else { Kind::Csv };
    let mut reader = RowReader::new(&source, kind, MOST_A_ROW, progress)?;
    let mut row = Cells::default();
    let (mut columns, mut rows): (Vec<String>, Vec<String>) = Default::default();
    let mut entries: Vec<(usize, usize, f64)> = Vec::new();
    while let Some(line) = reader.next(&mut row)? {
        progress.check()?;
        if row.is_blank() {
            continue;
        }
        let text =
            |i: usize| utf8(source.path(), row.get(i).unwrap_or_default(), line).map(|t| t.trim().to_owned());
        if columns.is_empty() {
            columns = (1..row.len()).map(text).collect::<Result<_>>()?;
            if columns.is_empty() {
                let remedy = "give a table whose first row names its columns, separated by commas or tabs";
                return Err(source.fail(line, "the first row has one column", remedy));
            }
            continue;
        }
        if row.len() != columns.len() + 1 {
            let problem = format!("{} columns where the first row has {}", row.len(), columns.len() + 1);
            return Err(source.fail(line, problem, "mend the row"));
        }
        for j in 0..columns.len() {
            let cell = text(j + 1)?;
            let count = cell.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
            let Some(count) = count else {
                let problem = format!("{cell:?} in the column {:?} is no count", columns[j]);
                return Err(source.fail(line, problem, "counts are finite numbers that are not negative"));
            };
            if count > 0.0 {
                entries.push((rows.len(), j, count));
            }
        }
        rows.push(text(0)?);
    }
    let (cells, genes) = match layout {
        Layout::CellsInRows => (rows, columns),
        Layout::GenesInRows => {
            entries.iter_mut().for_each(|(i, j, _)| std::mem::swap(i, j));
            (columns, rows)
        }
    };
    let matrix = Csr::from_triplets(cells.len(), genes.len(), &entries);
    let counts = GeneCounts::new(genes, matrix)
        .map_err(|e| source.fail(None, e.to_string(), "give every gene once"))?;
    Ok(Profiles { cells, counts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::progress::Silent;

    fn read(text: &str, layout: Layout) -> Result<Profiles> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.tsv");
        std::fs::write(&path, text).unwrap();
        read_profiles(&path, layout, &Silent)
    }

    #[test]
    fn both_layouts_give_the_same_cells() {
        let by_gene = read("gene\tc1\tc2\na\t1\t0\nb\t2\t3\n\n", Layout::GenesInRows).unwrap();
        let by_cell = read("cell,a,b\nc1,1,2\nc2,0,3\n", Layout::CellsInRows).unwrap();
        assert_eq!(by_gene, by_cell);
        assert_eq!(by_gene.cells, ["c1", "c2"]);
        assert_eq!(by_gene.counts.matrix().to_dense().as_slice(), [1.0, 2.0, 0.0, 3.0]);
    }

    #[test]
    fn what_is_no_table_of_counts_is_told_with_its_line() {
        for (text, words) in [
            ("gene\tc1\na\tx\n", "line 2"),
            ("gene\tc1\na\t-1\n", "\"-1\""),
            ("gene\tc1\na\tNaN\n", "no count"),
            ("gene\tc1\na\t1\t2\n", "3 columns"),
            ("gene\na\n", "one column"),
            ("gene\tc1\na\t1\na\t2\n", "two columns"),
        ] {
            let error = read(text, Layout::GenesInRows).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("cells.tsv"), "{error}");
        }
    }
}
