//! Sparse rows times skinny matrices.
//!
//! The matrix is cut into blocks of rows. All of them stay on the card where they fit; otherwise two places take turns: while the
//! card multiplies one block, the host gathers and sends the next.

use crate::context::{Array, Context, Pending};
use crate::kernels::{Kernel, Params, Work, word};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use tenfold_engine::device::{Product, SparseRows};
use tenfold_engine::linalg::Tall;
use tenfold_engine::{Error, Result};

/// Most rows of a block: a grid has at most 65,535 groups of four rows, and results of a block come back whole.
const MOST_ROWS: usize = 1 << 17;

/// A sparse matrix on the card, or on its way there.
pub(crate) struct Held<'a> {
    context: Arc<Context>,
    matrix: &'a dyn SparseRows,
    blocks: Vec<Range<usize>>,
    places: Places,
}

enum Places {
    /// A place for every block, filled once.
    All(Vec<Place>),
    /// Two that take turns; one product at a time.
    Two(Mutex<Vec<Place>>),
}

/// Arrays for a block of rows.
struct Place {
    starts: Array,
    columns: Array,
    values: Array,
}

/// A block of rows on the host.
#[derive(Default)]
struct Gathered {
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl<'a> Held<'a> {
    pub fn new(context: &Arc<Context>, matrix: &'a dyn SparseRows) -> Result<Self> {
        let rows = matrix.shape().0;
        let total: u64 = (0..rows).map(|i| 8 * matrix.length(i) as u64 + 4).sum();
        // Half of the memory is for x and what comes out.
        let fits = total <= context.free() / 2;
        let most = context.block.min(if fits { u64::MAX } else { context.free() / 8 });
        let blocks = cut(matrix, most);
        let mut held = Self { context: context.clone(), matrix, blocks, places: Places::All(Vec::new()) };
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
        let send = |rows: &Range<usize>| {
            let gathered = self.gather(rows.clone());
            let place = Place::new(&self.context, gathered.starts.len(), gathered.values.len())?;
            place.fill(&self.context, &gathered);
            Ok(place)
        };
        self.blocks.iter().map(send).collect()
    }

    /// Two places for the largest block.
    fn two(&self) -> Result<Vec<Place>> {
        let entries = |rows: &Range<usize>| rows.clone().map(|i| self.matrix.length(i)).sum::<usize>();
        let rows = self.longest() + 1;
        let entries = self.blocks.iter().map(entries).max().unwrap_or(0);
        (0..2).map(|_| Place::new(&self.context, rows, entries)).collect()
    }

    fn longest(&self) -> usize {
        self.blocks.iter().map(Range::len).max().unwrap_or(0)
    }

    fn gather(&self, rows: Range<usize>) -> Gathered {
        let mut out = Gathered { starts: vec![0], ..Gathered::default() };
        for row in rows {
            self.matrix.append(row, &mut out.columns, &mut out.values);
            out.starts.push(word(out.columns.len()));
        }
        out
    }

    fn work(&self, place: &Place, [x, out]: [&Array; 2], rows: usize, width: usize) -> Work {
        let params = Params { rows: word(rows), width: word(width), ..Params::default() };
        let arrays = [&place.starts, &place.columns, &place.values, x, out];
        let grid = [word(width.div_ceil(32)), word(rows.div_ceil(4)), 1];
        self.context.work(Kernel::Sparse, &params, &arrays, grid)
    }

    /// A · x for as many columns as fit; the rows of `out` are `stride` numbers apart and filled from `column` on.
    fn multiply_some(&self, x: &[f32], width: usize, out: &mut Tall, column: usize) -> Result<()> {
        let context = &*self.context;
        let x = context.upload(x)?;
        let outs = [context.array(self.longest() * width)?, context.array(self.longest() * width)?];
        let two = match &self.places {
            Places::Two(two) => Some(two.lock().unwrap_or_else(|held| held.into_inner())),
            Places::All(_) => None,
        };
        let mut waiting: VecDeque<(Pending, Range<usize>)> = VecDeque::new();
        let mut take = |(pending, rows): (Pending, Range<usize>)| -> Result<()> {
            let (found, stride) = (context.finish(pending)?, out.width());
            for (row, from) in rows.zip(found.chunks_exact(width)) {
                let at = row * stride + column;
                out.as_mut_slice()[at..at + width].copy_from_slice(from);
            }
            Ok(())
        };
        for (at, rows) in self.blocks.iter().enumerate() {
            // The block is gathered while the card still works on those before it.
            let gathered = two.as_ref().map(|_| self.gather(rows.clone()));
            if waiting.len() == 2
                && let Some(oldest) = waiting.pop_front()
            {
                take(oldest)?;
            }
            let place = match (&self.places, &two, &gathered) {
                (Places::All(all), ..) => &all[at],
                (_, Some(two), Some(gathered)) => {
                    two[at % 2].fill(context, gathered);
                    &two[at % 2]
                }
                _ => unreachable!("streamed blocks were gathered"),
            };
            let work = self.work(place, [&x, &outs[at % 2]], rows.len(), width);
            waiting.push_back((context.begin(&[work], &outs[at % 2], rows.len() * width)?, rows.clone()));
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

/// Blocks of rows whose arrays take at most `most` bytes each, one row at least.
fn cut(matrix: &dyn SparseRows, most: u64) -> Vec<Range<usize>> {
    let rows = matrix.shape().0;
    let (mut blocks, mut begin, mut bytes) = (Vec::new(), 0, 0);
    for row in 0..rows {
        let own = 4 * matrix.length(row) as u64 + 4;
        if row > begin && (bytes + own > most || row - begin == MOST_ROWS) {
            blocks.push(begin..row);
            (begin, bytes) = (row, 0);
        }
        bytes += own;
    }
    if begin < rows {
        blocks.push(begin..rows);
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
        // As many columns at a time as arrays, and the memory that is left, can hold.
        let room = self.context.block.min(self.context.free() / 4);
        let most = (room / (4 * cols.max(self.longest()) as u64)).clamp(1, width as u64) as usize;
        for first in (0..width).step_by(most) {
            let columns = most.min(width - first);
            if columns == width {
                self.multiply_some(x.as_slice(), width, &mut out, 0)?;
            } else {
                let part: Vec<f32> =
                    (0..cols).flat_map(|i| &x.row(i)[first..first + columns]).copied().collect();
                self.multiply_some(&part, columns, &mut out, first)?;
            }
        }
        Ok(out)
    }
}
