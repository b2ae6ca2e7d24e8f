//! The most probable state of all hidden nodes together (max-product).

use super::super::data::Table;
use super::super::network::Network;
use super::sweep::{Block, Sweeper};
use crate::error::Result;
use std::ops::Range;
use tenfold_engine::linalg::parallel::fill_rows;

/// The most probable hidden states of samples.
#[derive(Debug, Clone, PartialEq)]
pub struct MostProbable {
    /// max log P(hidden states, observed) of every sample.
    pub log_probability: Vec<f64>,
    /// The states, samples × nodes.
    pub states: Vec<u32>,
}

impl Network {
    /// The hidden states that are most probable together, argmax_h P(h, observed), for some of the samples.
    ///
    /// # Errors
    /// When the table is of other variables.
    ///
    /// # Example
    /// ```
    /// use tenfold::trees::Synth;
    /// let drawn = Synth { samples: 50, ..Synth::default() }.draw()?;
    /// let best = drawn.network.most_probable(&drawn.table, 0..50)?;
    /// assert_eq!(best.states.len(), 50 * drawn.network.nodes.len());
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn most_probable(&self, table: &Table, samples: Range<usize>) -> Result<MostProbable> {
        self.check(table.variables())?;
        let sweeper = Sweeper::new(self, table.variables(), &[], table.samples());
        let width = self.nodes.len() + 1;
        let mut all = vec![0.0; samples.len() * width];
        fill_rows(&mut all, width, |range, out| {
            let mut block = Block::default();
            let step = sweeper.block();
            for (chunk, out) in range.clone().step_by(step).zip(out.chunks_mut(step * width)) {
                let end = (chunk + step).min(range.end);
                let rows: Vec<u32> = (chunk..end).map(|i| (samples.start + i) as u32).collect();
                sweeper.observe(table, &rows, &mut block);
                self.search(&sweeper, &mut block, out);
            }
        });
        Ok(MostProbable {
            log_probability: all.chunks(width).map(|row| row[width - 1]).collect(),
            states: all.chunks(width).flat_map(|row| row[..width - 1].iter().map(|&s| s as u32)).collect(),
        })
    }

    /// For every sample of a block, its states and their log-probability as one row of `out`.
    fn search(&self, sweeper: &Sweeper<'_>, block: &mut Block, out: &mut [f64]) {
        let (r, width) = (block.r, self.nodes.len() + 1);
        block.below.iter_mut().for_each(|x| *x = x.ln());
        for (i, row) in out.chunks_mut(width).enumerate() {
            // best[(node, t)]: the state of the node that goes best with state t of its parent.
            let mut best: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
            let mut total = block.log_likelihood[i];
            for (n, node) in self.nodes.iter().enumerate().rev() {
                for t in 0..node.table.cols() {
                    let score =
                        |s: usize| node.table[(s, t)].ln() + block.below[(sweeper.offsets[n] + s) * r + i];
                    let (s, most) = (0..node.states())
                        .map(|s| (s, score(s)))
                        .fold((0, f64::NEG_INFINITY), |best, x| if x.1 > best.1 { x } else { best });
                    best[n].push(s as u32);
                    match node.parent {
                        Some(parent) => block.below[(sweeper.offsets[parent] + t) * r + i] += most,
                        None => total += most,
                    }
                }
            }
            for (n, node) in self.nodes.iter().enumerate() {
                let above = node.parent.map_or(0, |parent| row[parent] as usize);
                row[n] = f64::from(best[n][above]);
            }
            row[width - 1] = total;
        }
    }
}
