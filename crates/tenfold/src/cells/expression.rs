//! Tables of counted transcripts: single cells whose types are known by other means, to hold profiles against.

use super::counts::GeneCounts;
use crate::error::{Error, Result};
use crate::input::decode::utf8;
use crate::input::rows::{Cells, Kind, RowReader};
use crate::input::{Opening, Source};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use tenfold_engine::linalg::Csr;
use tenfold_engine::progress::Progress;

/// Bytes after which unpacking is given up where nothing else is said: counts of 20,000 genes in 400,000 cells.
const LARGEST: u64 = 16 << 30;
/// Bytes of a row: names of a million cells.
const ROW: u64 = 256 << 20;
const WANTED: &str = "give a table with a name for every gene and every cell, and counts between them";

/// Single cells with the counts of their genes.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// Cells × genes.
    pub counts: GeneCounts,
    /// The names of the cells.
    pub cells: Vec<String>,
}

/// Where a table has its genes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenesIn {
    /// A gene in every row, as most data sets of single cells have them.
    Rows,
    /// A gene in every column.
    Columns,
    /// Where more of the known genes are named.
    Guess,
}

/// Reads a table of counts (`.csv`, `.tsv`, also packed by gzip or zstd): names in the first row and the first column.
///
/// `known` are the genes of the model, by which the guess is made; it does not drop other genes. A packed file is given up after
/// `max_decompressed` bytes, 16 GiB where `None`.
///
/// # Errors
/// [`Error::Read`] names the line: rows of different lengths, names that come twice, counts that are no numbers or negative, and a
/// guess that finds no known gene on either side.
pub fn read_expression(
    path: &Path,
    genes: GenesIn,
    known: &[String],
    max_decompressed: Option<u64>,
    progress: &dyn Progress,
) -> Result<Expression> {
    let source = open(path, max_decompressed, progress)?;
    let mut rows = RowReader::new(&source, kind(&source), ROW, progress)?;
    let (mut row, mut head, mut names) = (Cells::default(), Vec::new(), Vec::new());
    let (mut entries, mut width) = (Vec::new(), None);
    while let Some(line) = rows.next(&mut row)? {
        progress.check()?;
        if row.is_blank() {
            continue;
        }
        if width.is_none() {
            head = texts(&row, source.path(), line)?;
            width = Some(head.len());
            continue;
        }
        // Files written by R have no name over the column of names, so their first row is one shorter.
        let held = row.len();
        if names.is_empty() && width == Some(held - 1) {
            width = Some(held);
            head.insert(0, String::new());
        }
        if width != Some(held) {
            let expected = width.unwrap_or(0);
            let problem = format!("has {held} cells where {expected} were expected");
            return Err(fail(source.path(), Some(line), problem, "give every row the same number of cells"));
        }
        let name = row.get(0).map(|cell| utf8(source.path(), cell, line)).transpose()?.unwrap_or("").trim();
        numbers(&row, names.len(), &head, (source.path(), line), &mut entries)?;
        names.push(name.to_owned());
    }
    if names.is_empty() || head.len() < 2 {
        return Err(fail(source.path(), None, "holds no counts".into(), WANTED));
    }
    head.remove(0);
    assemble(path, genes, known, (names, head), entries)
}

/// The counts of a row, those that are not zero.
fn numbers(
    row: &Cells,
    at: usize,
    head: &[String],
    (path, line): (&Path, u64),
    entries: &mut Vec<(usize, usize, f64)>,
) -> Result<()> {
    for (column, cell) in row.iter().enumerate().skip(1) {
        // Most counts are zero.
        if cell == b"0" {
            continue;
        }
        let text = utf8(path, cell, line)?.trim();
        match text.parse::<f64>() {
            Ok(0.0) => {}
            Ok(count) if count.is_finite() && count > 0.0 => {
                entries.push((at, column - 1, count));
            }
            _ => {
                let shown: String = text.chars().take(40).collect();
                let problem =
                    format!("has {shown:?} in the column {:?} where a count was expected", head[column]);
                return Err(fail(path, Some(line), problem, "give counts: 0 or more, none missing"));
            }
        }
    }
    Ok(())
}

/// Cells × genes, whichever way the file has them.
fn assemble(
    path: &Path,
    genes: GenesIn,
    known: &[String],
    (rows, columns): (Vec<String>, Vec<String>),
    entries: Vec<(usize, usize, f64)>,
) -> Result<Expression> {
    let in_rows = match genes {
        GenesIn::Rows => true,
        GenesIn::Columns => false,
        GenesIn::Guess => {
            let known: HashSet<&str> = known.iter().map(String::as_str).collect();
            let found = |names: &[String]| names.iter().filter(|name| known.contains(name.as_str())).count();
            let (down, across) = (found(&rows), found(&columns));
            if down == 0 && across == 0 {
                let problem = "names none of the model's genes, neither in rows nor in columns".to_owned();
                return Err(fail(path, None, problem, "write genes as in the fit, capital letters included"));
            }
            down >= across
        }
    };
    let (genes, cells) = if in_rows { (rows, columns) } else { (columns, rows) };
    let mut seen = HashSet::with_capacity(genes.len());
    if let Some(twice) = genes.iter().find(|gene| !seen.insert(gene.as_str())) {
        let problem = format!("has the gene {twice:?} twice");
        return Err(fail(path, None, problem, "add its counts up, or drop one of the two"));
    }
    let turned: Vec<(usize, usize, f64)> =
        entries.into_iter().map(|(r, c, x)| if in_rows { (c, r, x) } else { (r, c, x) }).collect();
    let counts = Csr::from_triplets(cells.len(), genes.len(), &turned);
    Ok(Expression { counts: GeneCounts::new(genes, counts)?, cells })
}

/// Reads the known types of cells: a table of two columns, the name of a cell and its label, with or without a row of names.
/// Cells that the table does not name have none. A packed file is given up as [`read_expression`] does.
///
/// # Errors
/// A table of one column, or one that names none of the cells.
pub fn read_labels(
    path: &Path,
    cells: &[String],
    max_decompressed: Option<u64>,
    progress: &dyn Progress,
) -> Result<Vec<Option<String>>> {
    let wanted = "give a table of two columns: the cell as in the counts, and its type";
    let source = open(path, max_decompressed, progress)?;
    let mut rows = RowReader::new(&source, kind(&source), 1 << 20, progress)?;
    let (mut row, mut found) = (Cells::default(), HashMap::new());
    while let Some(line) = rows.next(&mut row)? {
        if row.is_blank() {
            continue;
        }
        let cells = texts(&row, source.path(), line)?;
        let [cell, label, ..] = &cells[..] else {
            return Err(fail(
                source.path(),
                Some(line),
                "has one column where two were expected".into(),
                wanted,
            ));
        };
        found.insert(cell.clone(), label.clone());
    }
    let labels: Vec<Option<String>> =
        cells.iter().map(|cell| found.get(cell).filter(|label| !label.is_empty()).cloned()).collect();
    match labels.iter().any(Option::is_some) {
        true => Ok(labels),
        false => Err(fail(source.path(), None, "names none of the cells".into(), wanted)),
    }
}

fn open(path: &Path, max_decompressed: Option<u64>, progress: &dyn Progress) -> Result<Source> {
    let max_decompressed = max_decompressed.unwrap_or(LARGEST);
    Source::open(path, Opening { encoding: None, max_decompressed, wanted: WANTED }, progress)
}

fn kind(source: &Source) -> Kind {
    let head = source.head(1 << 16);
    let tabs = head.split(|b| *b == b'\n').next().is_some_and(|line| line.contains(&b'\t'));
    if tabs { Kind::Tsv } else { Kind::Csv }
}

fn texts(row: &Cells, path: &Path, line: u64) -> Result<Vec<String>> {
    row.iter().map(|cell| Ok(utf8(path, cell, line)?.trim().to_owned())).collect()
}

fn fail(path: &Path, line: Option<u64>, problem: String, remedy: &str) -> Error {
    Error::Read { path: path.to_owned(), line, problem, remedy: remedy.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::progress::Silent;

    fn write(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.tsv");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    fn dense(expression: &Expression) -> Vec<Vec<f64>> {
        let matrix = expression.counts.matrix();
        let row = |i: usize| {
            let (columns, values) = matrix.row(i);
            let mut row = vec![0.0; matrix.cols()];
            columns.iter().zip(values).for_each(|(c, x)| row[*c as usize] = *x);
            row
        };
        (0..matrix.rows()).map(row).collect()
    }

    #[test]
    fn genes_are_found_on_either_side() {
        let known = ["Mbp".to_owned(), "Gad1".to_owned()];
        let (_folder, down) = write("gene\ta\tb\tc\nGad1\t1\t0\t2\nMbp\t0\t3\t0\n");
        let (_other, across) = write("cell,Gad1,Mbp\na,1,0\nb,0,3\nc,2,0\n");
        // As R writes it: no name over the first column.
        let (_third, short) = write("a\tb\tc\nGad1\t1\t0\t2\nMbp\t0\t3\t0\n");
        for path in [&down, &across, &short] {
            let read = read_expression(path, GenesIn::Guess, &known, None, &Silent).unwrap();
            assert_eq!(read.cells, ["a", "b", "c"]);
            assert_eq!(read.counts.genes(), ["Gad1", "Mbp"]);
            assert_eq!(dense(&read), [[1.0, 0.0], [0.0, 3.0], [2.0, 0.0]]);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let known = ["Gad1".to_owned()];
        let cases = [
            ("gene\ta\tb\nGad1\t1\n", "line 2: has 2 cells where 3 were expected"),
            ("gene\ta\tb\nGad1\t1\t-2\n", "line 2: has \"-2\" in the column \"b\""),
            ("gene\ta\tb\nGad1\t1\tNA\n", "line 2: has \"NA\" in the column \"b\""),
            ("gene\ta\tb\nGad1\t1\t1\nGad1\t1\t1\n", "has the gene \"Gad1\" twice"),
            ("gene\ta\tb\nSst\t1\t1\n", "names none of the model's genes"),
            ("gene\ta\tb\n", "holds no counts"),
        ];
        for (text, expected) in cases {
            let (_folder, path) = write(text);
            let error =
                read_expression(&path, GenesIn::Guess, &known, None, &Silent).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn labels_go_by_name() {
        let (_folder, path) = write("b\tglia\na\tneuron\nz\tother\n");
        let cells = ["a", "b", "c"].map(str::to_owned);
        let labels = read_labels(&path, &cells, None, &Silent).unwrap();
        assert_eq!(labels, [Some("neuron".to_owned()), Some("glia".to_owned()), None]);
        assert!(read_labels(&path, &["q".to_owned()], None, &Silent).is_err());
    }
}
