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

/// Groups that are queued ahead of the one that is gathered.
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

/// Groups whose work is queued; their arrays are counted until it is done.
type Flight = VecDeque<(wgpu::SubmissionIndex, Vec<Piece>)>;

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

    /// Sends a group, cut so that its arrays are not too large.
    fn send(&self, group: &Group) -> Result<Vec<Piece>> {
        let lengths = group.starts.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
        let place = |block: &Gathered| {
            let place = Place::new(&self.context, block.starts.len(), block.values.len())?;
            place.fill(&self.context, block);
            Ok(place)
        };
        let send = |rows: Range<usize>| {
            let mut some = some_rows(group, rows.clone());
            let by_columns = place(&transposed(&some, self.rows.cols()))?;
            weigh(&mut some, &group.weights[rows.clone()]);
            Ok(Piece { rows: rows.len(), by_rows: place(&some)?, by_columns })
        };
        cut(lengths, self.context.block).into_iter().map(send).collect()
    }

    /// [`Documents::send`] after as many others left the card as had to.
    fn send_somehow(&self, group: &Group, kept: &mut Kept, flight: &mut Flight) -> Result<Vec<Piece>> {
        loop {
            match self.send(group) {
                Err(Error::DeviceMemory { needed, available }) => {
                    if let Some((oldest, _)) = flight.pop_front() {
                        self.context.wait_for(oldest)?;
                    } else if kept.groups.pop().is_some() {
                        kept.full = true;
                    } else {
                        return Err(Error::DeviceMemory { needed, available });
                    }
                }
                sent => return sent,
            }
        }
    }

    /// S for some columns of X.
    fn multiply_some(&self, x: &Tall, columns: Range<usize>) -> Result<Vec<f64>> {
        let (cols, width) = (self.rows.cols(), columns.len());
        let x = self.context.upload(&cropped(x, 0..cols, columns))?;
        let mut total = Total::new(&self.context, cols, width)?;
        let (mut kept, mut flight) = (self.kept(), Flight::new());
        for at in 0..self.rows.groups() {
            let sent = match kept.groups.get(at) {
                Some(pieces) => {
                    pieces.iter().try_for_each(|piece| total.add(&x, piece).map(drop))?;
                    None
                }
                None => Some(self.send_somehow(&self.rows.group(at)?, &mut kept, &mut flight)?),
            };
            if let Some(pieces) = sent {
                let mut last = None;
                for piece in &pieces {
                    last = Some(total.add(&x, piece)?);
                }
                // Half of the memory is left for what the next product needs.
                kept.full |= kept.groups.len() < at || self.context.is_half_full();
                match last {
                    _ if !kept.full => kept.groups.push(pieces),
                    Some(last) => flight.push_back((last, pieces)),
                    None => {}
                }
            }
            if flight.len() > AHEAD
                && let Some((oldest, _)) = flight.pop_front()
            {
                self.context.wait_for(oldest)?;
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

    /// Queues S ← S + Aᵀ D A X of a piece.
    fn add(&mut self, x: &Array, piece: &Piece) -> Result<wgpu::SubmissionIndex> {
        if self.added == PIECES {
            self.bring()?;
        }
        if self.y.as_ref().is_none_or(|(rows, _)| *rows < piece.rows) {
            self.y = None;
            self.y = Some((piece.rows, self.context.array(piece.rows * self.width)?));
        }
        let (_, y) = self.y.as_ref().expect("it was made");
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
