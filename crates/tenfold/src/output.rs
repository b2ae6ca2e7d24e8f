//! Results to files: whole or not at all, and tables by extension.

mod cell;
mod leftovers;
#[cfg(feature = "parquet")]
mod parquet;
mod shown;

pub use cell::{push_cell, text_of_cell};
pub(crate) use shown::acts;
pub use shown::{shown, shown_lines};

use leftovers::asked_for;
pub(crate) use leftovers::sweep_own;
pub use leftovers::{claim, sweep, temporary};

use crate::error::{Error, Result};
use std::borrow::Cow;
use std::io::{BufWriter, Write};
use std::path::Path;
use tenfold_engine::linalg::Rows;
use tenfold_engine::linalg::parallel::{BLOCK, block_range};

/// Writes a file so that it is there complete or not at all: into a temporary file beside it, flushed to the
/// disk, then renamed. Nothing is left behind when `write` fails.
///
/// # Errors
/// What `write` says, or [`Error::Write`] when the disk refuses.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("note.txt");
/// tenfold::output::write_atomically(&path, |out| {
///     out.write_all(b"whole").map_err(|e| tenfold::output::write_error(&path, e))
/// })?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"whole");
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>,
) -> Result<()> {
    let fail = |e: std::io::Error| write_error(path, e);
    // A link keeps pointing where it did: the file behind it is replaced.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if std::fs::metadata(&target).is_ok_and(|m| !m.is_file()) {
        let problem = "it is a directory or a device".to_owned();
        return Err(Error::Write {
            path: path.to_owned(),
            problem,
            remedy: "give the path of a file".into(),
        });
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = temporary();
    // Temporary files are private by default, but this one becomes an ordinary file: the umask decides.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder).map_err(fail)?;
    claim(file.as_file());
    let mut file = BufWriter::with_capacity(1 << 16, file);
    write(&mut file)?;
    let file = file.into_inner().map_err(|e| fail(e.into_error()))?;
    file.as_file().sync_all().map_err(fail)?;
    file.persist(&target).map_err(|e| fail(e.error))?;
    Ok(())
}

/// The error for a write to `path` that the system refused.
pub fn write_error(path: &Path, error: std::io::Error) -> Error {
    // The user knows the file that was asked for, and nothing of temporary names.
    let problem = error.to_string();
    Error::Write {
        path: asked_for(path),
        problem: problem.split(" at path ").next().unwrap_or_default().to_owned(),
        remedy: "check that the folder exists, may be written and has room".into(),
    }
}

#[derive(Clone, Copy)]
enum Format {
    Npy,
    Text(u8),
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Checks, before any work is done, that a table can be written under this name.
///
/// # Errors
/// [`Error::UnsupportedFile`] with the extensions that would do.
pub fn check_table_path(path: &Path) -> Result<()> {
    format_of(path).map(|_| ())
}

fn format_of(path: &Path) -> Result<Format> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match extension.as_str() {
        "npy" => Ok(Format::Npy),
        "csv" => Ok(Format::Text(b',')),
        "tsv" => Ok(Format::Text(b'\t')),
        #[cfg(feature = "parquet")]
        "parquet" => Ok(Format::Parquet),
        _ => Err(Error::UnsupportedFile {
            path: path.to_owned(),
            problem: match extension.as_str() {
                "" => "has no extension to tell the type of the table by".into(),
                "parquet" => "this build was made without the feature `parquet`".into(),
                other => format!("a table cannot be written as .{other}"),
            },
            known: ".npy, .csv, .tsv and .parquet".into(),
        }),
    }
}

/// Writes a table by its file's extension: `.npy` (f64, row after row, without names), `.csv`, `.tsv` or
/// `.parquet`. Rows are taken block by block, so the table may be larger than memory.
///
/// # Errors
/// An unknown extension, a source that fails, or a disk that refuses.
///
/// # Panics
/// When there are not as many names as columns.
///
/// # Example
/// ```
/// use tenfold::engine::linalg::Mat;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("sources.csv");
/// let sources = Mat::from_vec(2, 2, vec![0.5, 1.0, -2.0, 1e300]);
/// tenfold::output::write_table(&path, &["s1".into(), "s2".into()], &sources)?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "s1,s2\n0.5,1\n-2,1e300\n");
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn write_table(path: &Path, names: &[String], rows: &dyn Rows) -> Result<()> {
    write(path, &[], names, rows)
}

/// A text for every row: a column before the numbers.
#[derive(Clone, Copy)]
pub struct Labels<'a> {
    /// The name of the column.
    pub name: &'a str,
    /// The text of a row.
    pub of: &'a dyn Fn(usize) -> Cow<'a, str>,
}

/// [`write_table`] with columns of texts before the numbers; `.npy`, which has no texts, holds the numbers alone.
///
/// # Errors
/// As [`write_table`].
///
/// # Panics
/// When there are not as many names as columns of numbers.
///
/// # Example
/// ```
/// use tenfold::engine::linalg::Mat;
/// use tenfold::output::{Labels, write_labelled};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("shares.csv");
/// let texts = ["first", "and, then"];
/// let labels = Labels { name: "document", of: &|i| texts[i].into() };
/// write_labelled(&path, &[labels], &["topic1".into()], &Mat::from_vec(2, 1, vec![0.5, 1.0]))?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "document,topic1\nfirst,0.5\n\"and, then\",1\n");
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn write_labelled<'a>(
    path: &Path,
    labels: &'a [Labels<'a>],
    names: &[String],
    rows: &dyn Rows,
) -> Result<()> {
    write(path, labels, names, rows)
}

fn write<'a>(path: &Path, labels: &'a [Labels<'a>], names: &[String], rows: &dyn Rows) -> Result<()> {
    let heading = Heading { labels, names, rows: rows.rows() };
    assert_eq!(names.len(), rows.cols(), "one name for every column");
    write_rows(path, heading, |put| each_block(rows, BLOCK, put))
}

/// What is known of a table before its rows.
#[derive(Clone, Copy)]
pub struct Heading<'a, 'b> {
    /// The columns of texts, which stand first.
    pub labels: &'a [Labels<'a>],
    /// The names of the columns of numbers.
    pub names: &'b [String],
    /// How many rows will come.
    pub rows: usize,
}

/// [`write_table`] for rows that are made while they are written: `fill` gets a function and calls it with the
/// numbers of some whole rows at a time, in order, as often as it likes.
///
/// # Errors
/// As [`write_table`], and what `fill` says.
///
/// # Panics
/// When other than whole rows come, or not as many as were announced.
///
/// # Example
/// ```
/// use tenfold::output::{Heading, write_rows};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("squares.csv");
/// let heading = Heading { labels: &[], names: &["n".into(), "square".into()], rows: 3 };
/// write_rows(&path, heading, |put| (1..4).try_for_each(|n| put(&[f64::from(n), f64::from(n * n)])))?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "n,square\n1,1\n2,4\n3,9\n");
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn write_rows(
    path: &Path,
    heading: Heading<'_, '_>,
    fill: impl FnOnce(&mut dyn FnMut(&[f64]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let (format, cols) = (format_of(path)?, heading.names.len().max(1));
    let fail = |e| write_error(path, e);
    let counted = |put: &mut dyn FnMut(usize, &[f64]) -> Result<()>| {
        let mut seen = 0;
        fill(&mut |block| {
            assert!(block.len().is_multiple_of(cols), "whole rows");
            let first = seen;
            seen += block.len() / cols;
            put(first, block)
        })?;
        assert_eq!(seen, heading.rows, "as many rows as were announced");
        Ok(())
    };
    write_atomically(path, |out| match format {
        Format::Npy => {
            out.write_all(&npy_header(&[heading.rows, heading.names.len()])).map_err(fail)?;
            counted(&mut |_, block| {
                block.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())).map_err(fail)
            })
        }
        Format::Text(delimiter) => {
            write_header(heading.labels, heading.names, delimiter, out).map_err(fail)?;
            counted(&mut |first, block| {
                let text = text_rows(block, cols, delimiter, (heading.labels, first));
                out.write_all(&text).map_err(fail)
            })
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::write(path, heading, counted, out),
    })
}

/// Writes an array of any number of dimensions as `.npy`: f64, the last index running fastest.
///
/// # Errors
/// [`Error::Write`] when the disk refuses.
///
/// # Panics
/// When the shape does not have as many entries as there are data.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("t.npy");
/// tenfold::output::write_array(&path, &[2, 1, 2], &[1.0, 2.0, 3.0, 4.0])?;
/// let array = tenfold::input::read_array(&path)?;
/// assert_eq!((array.shape, array.data), (vec![2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]));
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn write_array(path: &Path, shape: &[usize], data: &[f64]) -> Result<()> {
    assert_eq!(shape.iter().product::<usize>(), data.len(), "a shape for all entries");
    write_atomically(path, |out| {
        let mut write = || {
            out.write_all(&npy_header(shape))?;
            data.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
        };
        write().map_err(|e| write_error(path, e))
    })
}

/// Calls `take` with every block of `size` rows in order.
fn each_block(rows: &dyn Rows, size: usize, mut take: impl FnMut(&[f64]) -> Result<()>) -> Result<()> {
    let mut buffer = Vec::new();
    for b in 0..rows.rows().div_ceil(size) {
        let range = block_range(b, rows.rows(), size);
        if let Some(block) = rows.borrow_rows(range.start, range.end) {
            take(block)?;
        } else {
            buffer.resize(range.len() * rows.cols(), 0.0);
            rows.read_rows(range.start, &mut buffer)?;
            take(&buffer)?;
        }
    }
    Ok(())
}

/// All that goes before the numbers of a `.npy` file.
fn npy_header(shape: &[usize]) -> Vec<u8> {
    let mut lengths = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    if shape.len() == 1 {
        lengths.push(','); // In Python `(5)` is a number, `(5,)` a shape.
    }
    let dictionary = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({lengths}), }}");
    // NumPy wants the data to begin at a multiple of 64: 10 bytes go before the dictionary and a newline ends it.
    let padded = (10 + dictionary.len() + 1).next_multiple_of(64) - 11;
    let text = format!("{dictionary:<padded$}\n");
    [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat()
}

/// The line of names.
fn write_header(
    labels: &[Labels<'_>],
    names: &[String],
    delimiter: u8,
    out: &mut (dyn Write + Send),
) -> std::io::Result<()> {
    // Names may need quotes, numbers never do.
    let mut line = String::new();
    for name in labels.iter().map(|l| l.name).chain(names.iter().map(String::as_str)) {
        line.extend((!line.is_empty()).then_some(char::from(delimiter)));
        push_cell(&mut line, name, char::from(delimiter));
    }
    line.push('\n');
    out.write_all(line.as_bytes())
}

/// Lines of numbers, after the texts of each row; the first of them is row `first`.
fn text_rows(block: &[f64], cols: usize, delimiter: u8, (labels, first): (&[Labels<'_>], usize)) -> Vec<u8> {
    let mut text = String::new();
    let delimiter = char::from(delimiter);
    for (i, row) in block.chunks_exact(cols).enumerate() {
        for label in labels {
            push_cell(&mut text, &(label.of)(first + i), delimiter);
            text.push(delimiter);
        }
        for &x in row {
            shortest(&mut text, x);
            text.push(delimiter);
        }
        text.pop();
        text.push('\n');
    }
    text.into_bytes()
}

/// The fewest digits that read back as the same number, with an exponent where plain digits would be long.
fn shortest(text: &mut String, x: f64) {
    use std::fmt::Write as _;
    let plain = x == 0.0 || (1e-5..1e16).contains(&x.abs());
    let written = if plain { write!(text, "{x}") } else { write!(text, "{x:e}") };
    written.expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::Mat;

    #[test]
    fn any_text_is_one_cell() {
        let folder = tempfile::tempdir().unwrap();
        let texts = ["plain", "", "a, b", "say \"no\"", "two\nlines\r", "tab\t", "ü"];
        for (name, delimiter) in [("t.csv", b','), ("t.tsv", b'\t')] {
            let path = folder.path().join(name);
            let labels = Labels { name: "document, name", of: &|i| texts[i].into() };
            write_labelled(&path, &[labels], &["x".into()], &Mat::from_fn(texts.len(), 1, |i, _| i as f64))
                .unwrap();
            let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_path(&path).unwrap();
            assert_eq!(reader.headers().unwrap(), vec!["document, name", "x"]);
            let back: Vec<(String, f64)> = reader
                .records()
                .map(|r| r.unwrap())
                .map(|r| (r[0].to_owned(), r[1].parse().unwrap()))
                .collect();
            assert_eq!(
                back,
                texts.iter().enumerate().map(|(i, t)| (t.to_string(), i as f64)).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn arrays_of_every_number_of_dimensions_have_a_python_shape_and_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        for (shape, text) in [
            (&[][..], "()"),
            (&[3], "(3,)"),
            (&[2, 3], "(2, 3)"),
            (&[1, 2, 3, 2], "(1, 2, 3, 2)"),
            (&[0, 4], "(0, 4)"),
        ] {
            let data: Vec<f64> = (0..shape.iter().product()).map(|i| i as f64 - 0.5).collect();
            write_array(&path, shape, &data).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!((bytes.len() - 8 * data.len()) % 64, 0, "numbers are aligned");
            assert!(String::from_utf8_lossy(&bytes).contains(&format!("'shape': {text}, }}")), "{text}");
            let back = crate::input::read_array(&path).unwrap();
            assert_eq!((&back.shape[..], back.data), (shape, data));
        }
    }
}
