//! Sparse rows times skinny matrices.
//!
//! The matrix is cut into blocks of rows, and where X is too long for one array also into ranges of columns. All of them stay on the
//! card where they fit; otherwise two places take turns: while the card multiplies one block, the host gathers and sends the next.
//! Queued work runs in order, so a place may be written again as soon as its product is queued.

mod gram;

pub(crate) use gram::Documents;

use crate::context::{Array, Context, Pending};
use crate::kernels::{Kernel, Params, Work, word};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use tenfold_engine::device::{Product, SparseRows};
use tenfold_engine::linalg::Tall;
use tenfold_engine::{Error, Result};

/// Most rows of a block: results of a block come back whole.
const MOST_ROWS: usize = 1 << 17;

/// Groups of rows in one direction of a grid, four rows each: what every driver takes.
const GRID_ROWS: usize = 65_535;

/// Columns of a long X that fit into one array beside each other.
const LEAST_WIDTH: u64 = 8;

/// A sparse matrix on the card, or on its way there.
pub(crate) struct Held<'a> {
    context: Arc<Context>,
    matrix: &'a dyn SparseRows,
    /// Blocks of rows.
    rows: Vec<Range<usize>>,
    /// Ranges of columns; the parts of X that lie in one array each.
    parts: Vec<Range<usize>>,
    places: Places,
}

enum Places {
    /// A place for every block and range, filled once.
    All(Vec<Place>),
    /// Two that take turns; one product at a time.
    Two(Mutex<Vec<Place>>),
}

/// Arrays for a block of rows.
pub(crate) struct Place {
    starts: Array,
    columns: Array,
    values: Array,
}

/// A block of rows on the host.
#[derive(Default)]
pub(crate) struct Gathered {
    pub starts: Vec<u32>,
    pub columns: Vec<u32>,
    pub values: Vec<f32>,
}

impl<'a> Held<'a> {
    pub fn new(context: &Arc<Context>, matrix: &'a dyn SparseRows) -> Result<Self> {
        let (rows, cols) = matrix.shape();
        let total: u64 = (0..rows).map(|i| 8 * matrix.length(i) as u64 + 4).sum();
        // Half of the memory is for x and what comes out.
        let fits = total <= context.free() / 2;
        let most = context.block.min(if fits { u64::MAX } else { context.free() / 8 });
        let longest = (context.block / (4 * LEAST_WIDTH)).max(1) as usize;
        let parts = (0..cols).step_by(longest).map(|c| c..cols.min(c + longest)).collect();
        let lengths = (0..rows).map(|i| matrix.length(i));
        let rows = cut(lengths, most);
        let mut held =
            Self { context: context.clone(), matrix, rows, parts, places: Places::All(Vec::new()) };
        if fits {
            match held.send_all() {
                // The driver refuses so much: two places will do.
                Err(Error::DeviceMemory { .. }) => {}
                sent => {
                    held.places = Places::All(sent?);
                    return Ok(held);
                }
            }
        }
        held.places = Places::Two(Mutex::new(held.two()?));
        Ok(held)
    }

    fn send_all(&self) -> Result<Vec<Place>> {
        let send = |(rows, part): (&Range<usize>, &Range<usize>)| {
            let gathered = self.gather(rows.clone(), part);
            let place = Place::new(&self.context, gathered.starts.len(), gathered.values.len())?;
            place.fill(&self.context, &gathered);
            Ok(place)
        };
        self.rows.iter().flat_map(|rows| self.parts.iter().map(move |part| (rows, part))).map(send).collect()
    }

    /// Two places for the largest block.
    fn two(&self) -> Result<Vec<Place>> {
        let entries = |rows: &Range<usize>| rows.clone().map(|i| self.matrix.length(i)).sum::<usize>();
        let rows = self.longest() + 1;
        let entries = self.rows.iter().map(entries).max().unwrap_or(0);
        (0..2).map(|_| Place::new(&self.context, rows, entries)).collect()
    }

    fn longest(&self) -> usize {
        self.rows.iter().map(Range::len).max().unwrap_or(0)
    }

    /// Some rows, with their entries in a range of columns counted from its beginning.
    fn gather(&self, rows: Range<usize>, part: &Range<usize>) -> Gathered {
        let mut out = Gathered { starts: vec![0], ..Gathered::default() };
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for row in rows {
            if self.parts.len() == 1 {
                self.matrix.append(row, &mut out.columns, &mut out.values);
            } else {
                columns.clear();
                values.clear();
                self.matrix.append(row, &mut columns, &mut values);
                let inside =
                    columns.iter().zip(&values).filter(|(column, _)| part.contains(&(**column as usize)));
                for (column, value) in inside {
                    out.columns.push(column - part.start as u32);
                    out.values.push(*value);
                }
            }
            out.starts.push(word(out.columns.len()));
        }
        out
    }

    /// A · x for some columns of x.
    fn multiply_some(&self, x: &Tall, columns: Range<usize>, out: &mut Tall) -> Result<()> {
        let (context, width) = (&*self.context, columns.len());
        let send = |part: &Range<usize>| context.upload(&cropped(x, part.clone(), columns.clone()));
        let xs: Vec<Array> = self.parts.iter().map(send).collect::<Result<_>>()?;
        let outs = [context.array(self.longest() * width)?, context.array(self.longest() * width)?];
        let two = match &self.places {
            Places::Two(two) => Some(two.lock().unwrap_or_else(|held| held.into_inner())),
            Places::All(_) => None,
        };
        let mut waiting: VecDeque<(Pending, Range<usize>)> = VecDeque::new();
        let mut take = |(pending, rows): (Pending, Range<usize>)| -> Result<()> {
            let (found, stride) = (context.finish(pending)?, out.width());
            for (row, from) in rows.zip(found.chunks_exact(width)) {
                let at = row * stride + columns.start;
                out.as_mut_slice()[at..at + width].copy_from_slice(from);
            }
            Ok(())
        };
        for (r, rows) in self.rows.iter().enumerate() {
            let result = &outs[r % 2];
            for (p, part) in self.parts.iter().enumerate() {
                let at = r * self.parts.len() + p;
                let place = match (&self.places, &two) {
                    (Places::All(all), _) => &all[at],
                    (_, Some(two)) => {
                        // Gathered while the card still works on the blocks before.
                        two[at % 2].fill(context, &self.gather(rows.clone(), part));
                        &two[at % 2]
                    }
                    (Places::Two(_), None) => unreachable!("the places were locked"),
                };
                let work = context.sparse(place, [&xs[p], result], [rows.len(), width], p > 0);
                if p + 1 < self.parts.len() {
                    context.submit(&[work]);
                    continue;
                }
                if waiting.len() == 2
                    && let Some(oldest) = waiting.pop_front()
                {
                    take(oldest)?;
                }
                waiting.push_back((context.begin(&[work], result, rows.len() * width)?, rows.clone()));
            }
        }
        waiting.into_iter().try_for_each(take)
    }
}

impl Place {
    fn new(context: &Context, starts: usize, entries: usize) -> Result<Self> {
        Ok(Self {
            starts: context.array(starts)?,
            columns: context.array(entries)?,
            values: context.array(entries)?,
        })
    }

    fn fill(&self, context: &Context, block: &Gathered) {
        context.write(&self.starts, 0, &block.starts);
        context.write(&self.columns, 0, &block.columns);
        context.write(&self.values, 0, &block.values);
    }
}

impl Context {
    /// out = (what is there, if `more`, +) A · x for the rows of a place.
    fn sparse(&self, place: &Place, [x, out]: [&Array; 2], [rows, width]: [usize; 2], more: bool) -> Work {
        let params =
            Params { rows: word(rows), width: word(width), mode: u32::from(more), ..Params::default() };
        let arrays = [&place.starts, &place.columns, &place.values, x, out];
        let groups = rows.div_ceil(4);
        let grid = [word(width.div_ceil(32)), word(groups.min(GRID_ROWS)), word(groups.div_ceil(GRID_ROWS))];
        self.work(Kernel::Sparse, &params, &arrays, grid)
    }
}

/// Some rows and columns of X, one row after the other.
fn cropped(x: &Tall, rows: Range<usize>, columns: Range<usize>) -> Vec<f32> {
    rows.flat_map(|i| &x.row(i)[columns.clone()]).copied().collect()
}

/// Blocks of rows of these lengths whose arrays take at most `most` bytes each, one row at least.
fn cut(lengths: impl Iterator<Item = usize>, most: u64) -> Vec<Range<usize>> {
    let (mut blocks, mut begin, mut end, mut bytes) = (Vec::new(), 0, 0, 0);
    for length in lengths {
        let own = 4 * length as u64 + 4;
        if end > begin && (bytes + own > most || end - begin == MOST_ROWS) {
            blocks.push(begin..end);
            (begin, bytes) = (end, 0);
        }
        bytes += own;
        end += 1;
    }
    if begin < end {
        blocks.push(begin..end);
    }
    blocks
}

impl Product for Held<'_> {
    fn multiply(&self, x: &Tall) -> Result<Tall> {
        let (rows, cols) = self.matrix.shape();
        assert_eq!(x.rows(), cols, "inner dimensions");
        self.context.count_call();
        let width = x.width();
        let mut out = Tall::zeros(rows, width);
        if rows * cols * width == 0 {
            return Ok(out);
        }
        let part = self.parts.iter().map(Range::len).max().unwrap_or(0);
        let most = self.context.columns_at_once(part.max(self.longest()), cols.max(self.longest()));
        for first in (0..width).step_by(most) {
            self.multiply_some(x, first..width.min(first + most), &mut out)?;
        }
        Ok(out)
    }
}

impl Context {
    /// Columns that go through a product together: as many as one array of `longest` rows, and a quarter of the memory that is left
    /// for `rows` of them, can hold.
    fn columns_at_once(&self, longest: usize, rows: usize) -> usize {
        let most = |bytes: u64, rows: usize| bytes / (4 * rows.max(1) as u64);
        most(self.block, longest).min(most(self.free() / 4, rows)).clamp(1, 1 << 20) as usize
    }
}
