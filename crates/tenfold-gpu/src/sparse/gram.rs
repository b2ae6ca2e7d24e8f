//! Σ w a aᵀ over sparse rows in groups: documents, whose pairs of words are the second moment.
//!
//! A group lies on the card twice, by rows with their weights and by columns, so that both products are sums in a fixed order:
//! Y = D A X, then S ← S + Aᵀ Y. X and S stay there from the first group to the last. Groups that fit are kept for the next product;
//! the others are gathered and sent again while the card works on those before.

use super::{Gathered, Place, cropped, cut};
use crate::context::{Array, Context};
use crate::kernels::word;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};
use tenfold_engine::device::{Gram, Group, RowGroups};
use tenfold_engine::linalg::Tall;
use tenfold_engine::{Error, Result};

/// Pieces whose sum is made in single precision before the host adds it in double precision.
const PIECES: usize = 16;

/// Pieces that are queued ahead of the one that is gathered.
const AHEAD: usize = 2;

/// Documents on the card, or on their way there.
pub(crate) struct Documents<'a> {
    context: Arc<Context>,
    rows: Box<dyn RowGroups + 'a>,
    kept: Mutex<Kept>,
}

/// The first groups, as many as there is room for.
#[derive(Default)]
struct Kept {
    groups: Vec<Vec<Piece>>,
    full: bool,
}

/// Pieces whose work is queued; their arrays are counted until it is done.
type Flight = VecDeque<(wgpu::SubmissionIndex, Vec<Piece>)>;

/// What may have to leave the card.
struct Room<'a> {
    kept: &'a mut Kept,
    flight: Flight,
}

/// Some rows of a group, both ways.
struct Piece {
    rows: usize,
    by_rows: Place,
    by_columns: Place,
}

impl<'a> Documents<'a> {
    pub fn new(context: &Arc<Context>, rows: Box<dyn RowGroups + 'a>) -> Self {
        Self { context: context.clone(), rows, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|held| held.into_inner())
    }

    /// The rows of a group, cut so that arrays are not too large.
    fn pieces(&self, group: &Group) -> Vec<Range<usize>> {
        let lengths = group.starts.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
        // A piece has four such arrays; three pieces may be there at a time, beside X and the sum.
        cut(lengths, self.context.block.min(self.context.budget / 32))
    }

    /// Sends some rows of a group.
    fn send(&self, group: &Group, rows: Range<usize>) -> Result<Piece> {
        let place = |block: &Gathered| {
            let place = Place::new(&self.context, block.starts.len(), block.values.len())?;
            place.fill(&self.context, block);
            Ok(place)
        };
        let mut some = some_rows(group, rows.clone());
        let by_columns = place(&transposed(&some, self.rows.cols()))?;
        weigh(&mut some, &group.weights[rows.clone()]);
        Ok(Piece { rows: rows.len(), by_rows: place(&some)?, by_columns })
    }

    /// What `work` gives after as many groups left the card as had to.
    fn somehow<T>(&self, room: &mut Room<'_>, mut work: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            match work() {
                Err(Error::DeviceMemory { needed, available }) => {
                    if let Some((oldest, _)) = room.flight.pop_front() {
                        self.context.wait_for(oldest)?;
                    } else if room.kept.groups.pop().is_some() {
                        room.kept.full = true;
                    } else {
                        return Err(Error::DeviceMemory { needed, available });
                    }
                }
                found => return found,
            }
        }
    }

    /// Sends a group piece by piece and queues its part of S. Its pieces are kept if there is room for all.
    fn stream(&self, group: &Group, x: &Array, total: &mut Total<'_>, room: &mut Room<'_>) -> Result<()> {
        let mut sent = Vec::new();
        for rows in self.pieces(group) {
            let piece = self.somehow(room, || {
                total.reserve(rows.len())?;
                self.send(group, rows.clone())
            })?;
            let last = total.add(x, &piece)?;
            sent.push(piece);
            // Half of the memory is left for what the next product needs.
            room.kept.full |= self.context.is_half_full();
            if room.kept.full {
                room.flight.push_back((last, std::mem::take(&mut sent)));
            }
            if room.flight.len() > AHEAD
                && let Some((oldest, _)) = room.flight.pop_front()
            {
                self.context.wait_for(oldest)?;
            }
        }
        if !room.kept.full {
            room.kept.groups.push(sent);
        }
        Ok(())
    }

    /// S for some columns of X.
    fn multiply_some(&self, x: &Tall, columns: Range<usize>) -> Result<Vec<f64>> {
        let (cols, width) = (self.rows.cols(), columns.len());
        let x = self.context.upload(&cropped(x, 0..cols, columns))?;
        let mut total = Total::new(&self.context, cols, width)?;
        let mut kept = self.kept();
        let mut room = Room { kept: &mut kept, flight: Flight::new() };
        for at in 0..self.rows.groups() {
            match room.kept.groups.get(at) {
                Some(pieces) => {
                    for piece in pieces {
                        total.reserve(piece.rows)?;
                        total.add(&x, piece)?;
                    }
                }
                None => {
                    room.kept.full |= room.kept.groups.len() < at;
                    self.stream(&self.rows.group(at)?, &x, &mut total, &mut room)?;
                }
            }
            self.rows.passed(at)?;
        }
        total.bring()?;
        Ok(total.sum)
    }
}

impl Gram for Documents<'_> {
    fn multiply(&self, x: &Tall) -> Result<Vec<f64>> {
        let (cols, width) = (self.rows.cols(), x.width());
        assert_eq!(x.rows(), cols, "inner dimensions");
        self.context.count_call();
        let mut out = vec![0.0; cols * width];
        let mut first = 0;
        while first < width && cols > 0 {
            let most = self.context.columns_at_once(cols, cols);
            let columns = first..width.min(first + most);
            let found = match self.multiply_some(x, columns.clone()) {
                Err(Error::DeviceMemory { .. }) if !self.kept().groups.is_empty() => {
                    *self.kept() = Kept { groups: Vec::new(), full: true };
                    continue;
                }
                found => found?,
            };
            for (row, from) in out.chunks_exact_mut(width).zip(found.chunks_exact(columns.len())) {
                row[columns.clone()].copy_from_slice(from);
            }
            first = columns.end;
        }
        Ok(out)
    }
}

/// S: some pieces on the card, the rest in double precision.
struct Total<'a> {
    context: &'a Context,
    array: Array,
    /// Y of a piece; the next piece's takes its place.
    y: Option<(usize, Array)>,
    added: usize,
    cols: usize,
    width: usize,
    sum: Vec<f64>,
}

impl<'a> Total<'a> {
    fn new(context: &'a Context, cols: usize, width: usize) -> Result<Self> {
        let array = context.array(cols * width)?;
        Ok(Self { context, array, y: None, added: 0, cols, width, sum: vec![0.0; cols * width] })
    }

    /// Makes room for Y of so many rows.
    fn reserve(&mut self, rows: usize) -> Result<()> {
        if self.y.as_ref().is_none_or(|(most, _)| *most < rows) {
            self.y = None;
            self.y = Some((rows, self.context.array(rows * self.width)?));
        }
        Ok(())
    }

    /// Queues S ← S + Aᵀ D A X of a piece.
    fn add(&mut self, x: &Array, piece: &Piece) -> Result<wgpu::SubmissionIndex> {
        if self.added == PIECES {
            self.bring()?;
        }
        let (_, y) = self.y.as_ref().expect("it was reserved");
        let (context, width) = (self.context, self.width);
        let forward = context.sparse(&piece.by_rows, [x, y], [piece.rows, width], false);
        let back = context.sparse(&piece.by_columns, [y, &self.array], [self.cols, width], self.added > 0);
        self.added += 1;
        Ok(context.submit(&[forward, back]))
    }

    /// What lies on the card, into the sum.
    fn bring(&mut self) -> Result<()> {
        if self.added > 0 {
            let found = self.context.run(&[], &self.array, self.cols * self.width)?;
            self.sum.iter_mut().zip(found).for_each(|(sum, x)| *sum += f64::from(x));
            self.added = 0;
        }
        Ok(())
    }
}

fn some_rows(group: &Group, rows: Range<usize>) -> Gathered {
    let ends = &group.starts[rows.start..=rows.end];
    let entries = ends[0] as usize..ends[rows.len()] as usize;
    Gathered {
        starts: ends.iter().map(|end| end - ends[0]).collect(),
        columns: group.columns[entries.clone()].to_vec(),
        values: group.values[entries].to_vec(),
    }
}

fn weigh(rows: &mut Gathered, weights: &[f32]) {
    for (ends, weight) in rows.starts.windows(2).zip(weights) {
        rows.values[ends[0] as usize..ends[1] as usize].iter_mut().for_each(|x| *x *= weight);
    }
}

/// The same entries by columns, those of a column in the order of rows.
fn transposed(rows: &Gathered, cols: usize) -> Gathered {
    let mut starts = vec![0u32; cols + 1];
    rows.columns.iter().for_each(|c| starts[*c as usize + 1] += 1);
    for c in 0..cols {
        starts[c + 1] += starts[c];
    }
    let mut next = starts.clone();
    let (mut columns, mut values) = (vec![0; rows.columns.len()], vec![0.0; rows.values.len()]);
    for (row, ends) in rows.starts.windows(2).enumerate() {
        for e in ends[0] as usize..ends[1] as usize {
            let at = &mut next[rows.columns[e] as usize];
            (columns[*at as usize], values[*at as usize]) = (word(row), rows.values[e]);
            *at += 1;
        }
    }
    Gathered { starts, columns, values }
}
