//! Counts in rows, read where numpy holds them: the three arrays of a scipy CSR matrix.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;
use tenfold::admixture::MOST_TOKENS;
use tenfold::engine::linalg::{CountBlock, Counts};
use tenfold::topics::{Builder, Documents};
use tenfold::{Error, Result};

/// Whole numbers of either width that scipy gives to indices.
pub enum Indices<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

/// Values of the types that are read without a conversion; Python converts the others.
pub enum Values<'py> {
    Double(PyReadonlyArray1<'py, f64>),
    Single(PyReadonlyArray1<'py, f32>),
    Long(PyReadonlyArray1<'py, i64>),
    Int(PyReadonlyArray1<'py, i32>),
    Byte(PyReadonlyArray1<'py, u8>),
}

// By hand: what is derived writes a message for every type that does not fit before it tries the next, which takes longer than the
// mixture of a short document.
impl<'py> FromPyObject<'_, 'py> for Indices<'py> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = given.cast::<PyArray1<i32>>() {
            return Ok(Self::Short(array.try_readonly()?));
        }
        match given.cast::<PyArray1<i64>>() {
            Ok(array) => Ok(Self::Long(array.try_readonly()?)),
            Err(_) => Err(PyTypeError::new_err("indices of a CSR matrix are whole numbers of 32 or 64 bits")),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Values<'py> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = given.cast::<PyArray1<f64>>() {
            return Ok(Self::Double(array.try_readonly()?));
        }
        if let Ok(array) = given.cast::<PyArray1<f32>>() {
            return Ok(Self::Single(array.try_readonly()?));
        }
        if let Ok(array) = given.cast::<PyArray1<i64>>() {
            return Ok(Self::Long(array.try_readonly()?));
        }
        if let Ok(array) = given.cast::<PyArray1<i32>>() {
            return Ok(Self::Int(array.try_readonly()?));
        }
        match given.cast::<PyArray1<u8>>() {
            Ok(array) => Ok(Self::Byte(array.try_readonly()?)),
            Err(_) => Err(PyTypeError::new_err("values of a CSR matrix are f8, f4, i8, i4 or u1")),
        }
    }
}

/// A CSR matrix, as a dictionary from Python; its arrays are contiguous.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Csr<'py> {
    indptr: Indices<'py>,
    indices: Indices<'py>,
    data: Values<'py>,
    columns: usize,
}

enum Whole<'a> {
    Short(&'a [i32]),
    Long(&'a [i64]),
}

enum Numbers<'a> {
    Double(&'a [f64]),
    Single(&'a [f32]),
    Long(&'a [i64]),
    Int(&'a [i32]),
    Byte(&'a [u8]),
}

/// [`Csr`] without Python, checked as far as its row starts go.
pub struct View<'a> {
    starts: Whole<'a>,
    words: Whole<'a>,
    values: Numbers<'a>,
    columns: usize,
}

/// Indices as Rust reads them.
fn whole<'a>(indices: &'a Indices<'_>) -> PyResult<Whole<'a>> {
    Ok(match indices {
        Indices::Short(array) => Whole::Short(array.as_slice()?),
        Indices::Long(array) => Whole::Long(array.as_slice()?),
    })
}

impl Csr<'_> {
    /// The matrix as Rust reads it, also without Python's lock.
    pub fn view(&self) -> PyResult<View<'_>> {
        let (values, entries) = match &self.data {
            Values::Double(array) => (Numbers::Double(array.as_slice()?), array.len()),
            Values::Single(array) => (Numbers::Single(array.as_slice()?), array.len()),
            Values::Long(array) => (Numbers::Long(array.as_slice()?), array.len()),
            Values::Int(array) => (Numbers::Int(array.as_slice()?), array.len()),
            Values::Byte(array) => (Numbers::Byte(array.as_slice()?), array.len()),
        };
        let (starts, words) = (whole(&self.indptr)?, whole(&self.indices)?);
        let view = View { starts, words, values, columns: self.columns };
        view.check(entries).map_err(crate::errors::raised)?;
        Ok(view)
    }
}

impl Whole<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Short(all) => all.len(),
            Self::Long(all) => all.len(),
        }
    }

    /// Number i; what is negative or too large becomes larger than anything that is allowed.
    fn at(&self, i: usize) -> usize {
        match self {
            Self::Short(all) => usize::try_from(all[i]).unwrap_or(usize::MAX),
            Self::Long(all) => usize::try_from(all[i]).unwrap_or(usize::MAX),
        }
    }
}

impl Numbers<'_> {
    fn at(&self, i: usize) -> f64 {
        match self {
            Self::Double(all) => all[i],
            Self::Single(all) => f64::from(all[i]),
            Self::Long(all) => all[i] as f64,
            Self::Int(all) => f64::from(all[i]),
            Self::Byte(all) => f64::from(all[i]),
        }
    }
}

/// Entries that are read at once, some megabytes of them.
const TOGETHER: usize = 1 << 18;

/// Rows of a block whose mixtures are sought together.
const ROWS: usize = 512;

/// Rows and entries up to which a call has no threads of its own: starting them takes some hundred microseconds, in which one thread
/// makes the fifty steps of about this many entries for twenty topics.
const FEW_ROWS: usize = 16;
const FEW_ENTRIES: usize = 2048;

impl View<'_> {
    fn check(&self, entries: usize) -> Result<()> {
        let bad = |problem: &str| Error::Unfit {
            problem: format!("X is no CSR matrix: {problem}"),
            remedy: "build it by scipy's own functions".into(),
        };
        if self.starts.len() == 0 || self.words.len() != entries {
            return Err(bad("indptr, indices and data do not fit together"));
        }
        let rows = self.rows();
        // One after the other: this runs outside a pool, and the global one would not survive a fork of Python.
        let ascending = (0..rows).all(|i| self.starts.at(i) <= self.starts.at(i + 1));
        // What stands before the first row or after the last one would be passed over without a word.
        match ascending && self.starts.at(0) == 0 && self.starts.at(rows) == entries {
            true => Ok(()),
            false => Err(bad("indptr does not ascend from 0 to the number of entries")),
        }
    }

    /// Documents.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Rows cut into runs of at most so many rows and entries; a row that is longer stands alone.
    fn runs(&self, rows: usize, entries: usize) -> Vec<Range<usize>> {
        let (mut runs, mut first) = (Vec::new(), 0);
        for i in 0..self.rows() {
            let full = i - first == rows || self.starts.at(i + 1) - self.starts.at(first) > entries;
            if full && i > first {
                runs.push(first..i);
                first = i;
            }
        }
        runs.extend(Some(first..self.rows()).filter(|last| !last.is_empty()));
        runs
    }

    /// The entries of a row.
    fn row(&self, i: usize) -> impl Iterator<Item = Result<(u32, f64)>> + '_ {
        (self.starts.at(i)..self.starts.at(i + 1)).map(move |e| {
            let (word, value) = (self.words.at(e), self.values.at(e));
            let refuse = |name: String, value: String, expected: String| {
                Err(Error::BadParameter { name, value, expected })
            };
            if word >= self.columns {
                let expected = format!("a column below {}", self.columns);
                return refuse(format!("the column of an entry of row {i}"), word.to_string(), expected);
            }
            if !(value >= 0.0 && value.is_finite()) {
                return refuse(format!("X[{i}, {word}]"), value.to_string(), "a count".into());
            }
            Ok((word as u32, value))
        })
    }

    /// Hands all rows to a builder, times `scale`; only some are held twice at a time. A scale of 1 asks for whole counts.
    pub fn push(&self, builder: &mut Builder, scale: f64, check: &dyn Fn() -> Result<()>) -> Result<()> {
        for runs in self.runs(usize::MAX, TOGETHER).chunks(2 * rayon::current_num_threads()) {
            check()?;
            let parts: Result<Vec<Documents>> =
                runs.par_iter().map(|run| self.documents(run.clone(), scale)).collect();
            parts?.into_iter().try_for_each(|part| builder.push(part))?;
        }
        Ok(())
    }

    fn documents(&self, rows: Range<usize>, scale: f64) -> Result<Documents> {
        let mut documents = Documents::default();
        for i in rows {
            for entry in self.row(i) {
                let (word, value) = entry?;
                let count = (value * scale).round();
                if count > f64::from(u32::MAX) || (scale == 1.0 && count != value) {
                    return Err(Error::BadParameter {
                        name: format!("X[{i}, {word}]"),
                        value: value.to_string(),
                        expected: format!("a whole number up to {}", u32::MAX),
                    });
                }
                documents.words.push(word);
                documents.counts.push(count as u32);
            }
            documents.ends.push(documents.words.len() as u32);
        }
        Ok(documents)
    }

    /// All rows as one block where they are so few that the calling thread answers before others would have begun.
    pub fn few(&self) -> Result<Option<CountBlock>> {
        let (rows, entries) = (self.rows(), self.starts.at(self.rows()) - self.starts.at(0));
        if rows == 0 || rows > FEW_ROWS || entries > FEW_ENTRIES {
            return Ok(None);
        }
        Blocks { view: self, runs: Vec::new() }.make(0..rows).map(Some)
    }

    /// Refuses rows of another number of columns.
    pub fn check_columns(&self, expected: usize) -> Result<()> {
        match self.columns == expected {
            true => Ok(()),
            false => Err(Error::WrongShape { what: "words", found: self.columns, expected }),
        }
    }

    /// The rows as blocks that are made when they are asked for; counts need not be whole.
    pub fn blocks(&self) -> Blocks<'_> {
        // No more entries than a block can tell apart, so that all of them may be different.
        Blocks { view: self, runs: self.runs(ROWS, CountBlock::MOST) }
    }
}

/// A matrix seen as the blocks that mixtures are inferred from.
pub struct Blocks<'a> {
    view: &'a View<'a>,
    runs: Vec<Range<usize>>,
}

impl Blocks<'_> {
    fn make(&self, rows: Range<usize>) -> Result<CountBlock> {
        let (mut starts, mut words, mut counts) = (vec![0u32], Vec::new(), Vec::new());
        let mut row: Vec<(u32, f64)> = Vec::new();
        for i in rows.clone() {
            row.clear();
            self.view.row(i).try_for_each(|entry| entry.map(|entry| row.push(entry)))?;
            row.sort_by_key(|entry| entry.0);
            row.dedup_by(|later, first| {
                let same = later.0 == first.0;
                first.1 += if same { later.1 } else { 0.0 };
                same
            });
            row.retain(|entry| entry.1 > 0.0);
            // Blocks hold single precision, whose range ends sooner than that of what was given.
            if let Some((word, value)) = row.iter().find(|entry| entry.1 > MOST_TOKENS) {
                return Err(Error::BadParameter {
                    name: format!("X[{i}, {word}]"),
                    value: format!("{value:e}"),
                    expected: format!("a count of at most {MOST_TOKENS:e}; divide all counts by one number"),
                });
            }
            if row.len() > CountBlock::MOST {
                return Err(Error::BadParameter {
                    name: format!("row {i}"),
                    value: format!("{} words", row.len()),
                    expected: format!("at most {} words a document; cut it into chapters", CountBlock::MOST),
                });
            }
            words.extend(row.iter().map(|entry| entry.0));
            counts.extend(row.iter().map(|entry| entry.1 as f32));
            starts.push(words.len() as u32);
        }
        let documents: Vec<u32> = rows.map(|i| i as u32).collect();
        Ok(CountBlock::new(&documents, &starts, &words, &counts))
    }
}

impl Counts for Blocks<'_> {
    fn rows(&self) -> usize {
        self.view.rows()
    }
    fn cols(&self) -> usize {
        self.view.columns
    }
    fn entries(&self) -> u64 {
        self.view.words.len() as u64
    }
    fn blocks(&self) -> usize {
        self.runs.len()
    }
    fn block(&self, b: usize) -> tenfold::engine::Result<Cow<'_, CountBlock>> {
        Ok(Cow::Owned(self.make(self.runs[b].clone())?))
    }
}
