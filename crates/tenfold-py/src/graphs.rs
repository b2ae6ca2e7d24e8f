//! Graphs in Python's arrays, read where they lie: sparse and dense matrices, and lists of edges.

use crate::arrays::{Samples, View};
use numpy::PyReadonlyArray1;
use numpy::ndarray::ArrayView1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tenfold::communities::{EdgeArrays, Ends, Graph, Ids, Kind, Piece};
use tenfold::engine::linalg::Rows;

/// Edges of a piece: enough to share among threads, few enough to hold beside the graph.
const PIECE: usize = 1 << 20;

/// Numbers in one dimension, of the types that graphs come in; Python converts others.
#[derive(FromPyObject)]
pub enum Numbers<'py> {
    /// float64.
    F64(PyReadonlyArray1<'py, f64>),
    /// float32.
    F32(PyReadonlyArray1<'py, f32>),
    /// int64.
    I64(PyReadonlyArray1<'py, i64>),
    /// int32.
    I32(PyReadonlyArray1<'py, i32>),
    /// uint64.
    U64(PyReadonlyArray1<'py, u64>),
    /// uint32.
    U32(PyReadonlyArray1<'py, u32>),
    /// uint8, and truth values seen as such.
    U8(PyReadonlyArray1<'py, u8>),
}

/// [`Numbers`] without Python.
pub enum Column<'a> {
    F64(ArrayView1<'a, f64>),
    F32(ArrayView1<'a, f32>),
    I64(ArrayView1<'a, i64>),
    I32(ArrayView1<'a, i32>),
    U64(ArrayView1<'a, u64>),
    U32(ArrayView1<'a, u32>),
    U8(ArrayView1<'a, u8>),
}

impl Numbers<'_> {
    fn view(&self) -> Column<'_> {
        match self {
            Self::F64(a) => Column::F64(a.as_array()),
            Self::F32(a) => Column::F32(a.as_array()),
            Self::I64(a) => Column::I64(a.as_array()),
            Self::I32(a) => Column::I32(a.as_array()),
            Self::U64(a) => Column::U64(a.as_array()),
            Self::U32(a) => Column::U32(a.as_array()),
            Self::U8(a) => Column::U8(a.as_array()),
        }
    }
}

impl Column<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::F64(a) => a.len(),
            Self::F32(a) => a.len(),
            Self::I64(a) => a.len(),
            Self::I32(a) => a.len(),
            Self::U64(a) => a.len(),
            Self::U32(a) => a.len(),
            Self::U8(a) => a.len(),
        }
    }

    fn number(&self, i: usize) -> f64 {
        match self {
            Self::F64(a) => a[i],
            Self::F32(a) => a[i].into(),
            Self::I64(a) => a[i] as f64,
            Self::I32(a) => a[i].into(),
            Self::U64(a) => a[i] as f64,
            Self::U32(a) => a[i].into(),
            Self::U8(a) => a[i].into(),
        }
    }

    /// A place or the number of a node. A negative one becomes larger than any graph, and is refused there.
    pub fn place(&self, i: usize) -> u64 {
        match self {
            Self::F64(a) => a[i] as u64,
            Self::F32(a) => a[i] as u64,
            Self::I64(a) => a[i] as u64,
            Self::I32(a) => i64::from(a[i]) as u64,
            Self::U64(a) => a[i],
            Self::U32(a) => a[i].into(),
            Self::U8(a) => a[i].into(),
        }
    }
}

/// A graph as Python gives it: a dense matrix, or rows, columns and values. With a shape these are the three arrays of a
/// sparse matrix by rows, without one the ends and weights of edges.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Source<'py> {
    dense: Option<Samples<'py>>,
    rows: Option<Numbers<'py>>,
    columns: Option<Numbers<'py>>,
    values: Option<Numbers<'py>>,
    shape: Option<(usize, usize)>,
    /// Names of the nodes, where they are neither counted nor numbers.
    ids: Option<Vec<String>>,
    /// Names of the columns of a matrix that are a side of their own.
    other_ids: Option<Vec<String>>,
    /// Whether nodes were declared apart from their edges.
    declared: bool,
    kind: Option<String>,
    weighted: Option<bool>,
}

/// [`Source`] without Python.
pub struct Plain<'a> {
    entries: Entries<'a>,
    shape: Option<(usize, usize)>,
    ids: Option<&'a [String]>,
    other_ids: Option<&'a [String]>,
    declared: bool,
    kind: Option<Kind>,
    weighted: Option<bool>,
}

enum Entries<'a> {
    Dense(View<'a>),
    Lists { rows: Column<'a>, columns: Column<'a>, values: Option<Column<'a>> },
}

impl Source<'_> {
    /// The graph as Rust reads it, also without Python's lock.
    pub fn plain(&self) -> PyResult<Plain<'_>> {
        let entries = match (&self.dense, &self.rows, &self.columns) {
            (Some(dense), ..) => Entries::Dense(dense.view()),
            (_, Some(rows), Some(columns)) => {
                let values = self.values.as_ref().map(Numbers::view);
                Entries::Lists { rows: rows.view(), columns: columns.view(), values }
            }
            _ => return Err(PyValueError::new_err("a graph has a matrix, or rows and columns")),
        };
        let kind = self.kind.as_deref().map(kind_named).transpose()?;
        let (ids, other_ids) = (self.ids.as_deref(), self.other_ids.as_deref());
        let (declared, weighted) = (self.declared, self.weighted);
        let plain = Plain { entries, shape: self.shape, ids, other_ids, declared, kind, weighted };
        plain.check()?;
        Ok(plain)
    }
}

/// The kind that a word means.
pub fn kind_named(name: &str) -> PyResult<Kind> {
    [Kind::Undirected, Kind::Directed, Kind::Bipartite]
        .into_iter()
        .find(|kind| kind.to_string() == name)
        .ok_or_else(|| PyValueError::new_err(format!("kind = {name:?} is not known")))
}

impl Plain<'_> {
    /// Arrays of a strange sparse matrix must not be read beyond their ends.
    fn check(&self) -> PyResult<()> {
        let Entries::Lists { rows, columns, values } = &self.entries else { return Ok(()) };
        let entries = columns.len();
        let whole = match self.shape {
            None => rows.len() == entries,
            Some((n, _)) => {
                let rises = (1..rows.len()).all(|i| rows.place(i - 1) <= rows.place(i));
                rows.len() == n + 1 && rises && rows.place(0) == 0 && rows.place(n) <= entries as u64
            }
        };
        if whole && values.as_ref().is_none_or(|values| values.len() == entries) {
            return Ok(());
        }
        Err(PyValueError::new_err("the arrays of the graph do not have lengths that go together"))
    }

    /// Number of rows of a matrix.
    pub fn rows(&self) -> usize {
        self.shape.map_or(0, |shape| shape.0)
    }

    /// Calls `visit` with column and value of every entry of a row that is not 0.
    pub fn visit(&self, row: usize, mut visit: impl FnMut(u64, f64)) {
        match &self.entries {
            Entries::Dense(view) => {
                let mut all = vec![0.0; view.cols()];
                let _ = view.read_rows(row, &mut all);
                let given = all.into_iter().enumerate().filter(|(_, w)| *w != 0.0);
                given.for_each(|(j, w)| visit(j as u64, w));
            }
            Entries::Lists { rows, columns, values } => {
                for e in rows.place(row) as usize..rows.place(row + 1) as usize {
                    let w = values.as_ref().map_or(1.0, |values| values.number(e));
                    if w != 0.0 {
                        visit(columns.place(e), w);
                    }
                }
            }
        }
    }

    /// Where pieces begin and end: edges of a list, rows of a matrix.
    fn cuts(&self) -> Vec<usize> {
        let by = |total: usize, step: usize| (0..total).step_by(step.max(1)).chain([total]).collect();
        match (&self.entries, self.shape) {
            (Entries::Lists { rows, .. }, Some((n, _))) => {
                let mut cuts = vec![0];
                for row in 0..n {
                    if rows.place(row + 1) - rows.place(cuts[cuts.len() - 1]) >= PIECE as u64 {
                        cuts.push(row + 1);
                    }
                }
                cuts.push(n);
                cuts.dedup();
                cuts
            }
            (Entries::Dense(view), _) => by(view.rows(), PIECE / view.cols().max(1)),
            (Entries::Lists { rows, .. }, None) => by(rows.len(), PIECE),
        }
    }

    fn piece(&self, from: usize, to: usize) -> Piece {
        let mut edges = Vec::new();
        let mut weights = Vec::new();
        let weighted = match (&self.entries, self.shape) {
            (Entries::Lists { rows, columns, values }, None) => {
                edges.extend((from..to).map(|e| (rows.place(e), columns.place(e))));
                weights.extend(values.iter().flat_map(|values| (from..to).map(|e| values.number(e))));
                values.is_some()
            }
            _ => {
                for row in from..to {
                    self.visit(row, |column, w| {
                        edges.push((row as u64, column));
                        weights.push(w);
                    });
                }
                true
            }
        };
        Piece { edges, weights: weighted.then_some(weights) }
    }

    /// The graph of these edges.
    pub fn graph(&self) -> tenfold::Result<Graph> {
        let named = |ids: Option<&[String]>, count: usize| match ids {
            Some(ids) => Ids::from_names(ids),
            None => Ok(Ids::counted(0, count)),
        };
        let ends = match self.shape {
            Some((n, m)) if n == m && self.other_ids.is_none() => Ends::Square(named(self.ids, n)?),
            Some((n, m)) => Ends::Sides(named(self.ids, n)?, named(self.other_ids, m)?),
            None => match self.ids {
                Some(ids) => Ends::Places { ids: Ids::from_names(ids)?, declared: self.declared },
                None => Ends::Numbers,
            },
        };
        let cuts = self.cuts();
        let read = |i: usize| self.piece(cuts[i], cuts[i + 1]);
        let (kind, weighted, pieces) = (self.kind, self.weighted, cuts.len() - 1);
        EdgeArrays { ends, kind, weighted, pieces, read: &read }.graph()
    }

    /// A number for every row that tells rows with other entries apart, in whatever order the entries stand.
    pub fn fingerprints(&self) -> Vec<u64> {
        let mixed = |x: u64| {
            let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        };
        let of = |row: usize| {
            let mut sum = 0u64;
            self.visit(row, |column, w| sum = sum.wrapping_add(mixed(mixed(column + 1) ^ w.to_bits())));
            sum
        };
        (0..self.rows()).map(of).collect()
    }
}
