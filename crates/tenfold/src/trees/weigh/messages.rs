//! What the rest of a network says about every node, sample by sample.

use super::super::belief::{Block, Sweeper};
use super::super::data::{Kind, Table, Variable};
use super::super::network::{Emission, Network, Node};
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::Mat;

/// Messages towards every node from both sides of its edge to its parent, and observed variables by columns.
pub(super) struct Messages {
    pub samples: usize,
    /// P(below | state) for every node, states × samples, up to a factor of each sample.
    pub below: Vec<Vec<f32>>,
    /// P(all else | state of the parent) for every node with a parent, states of the parent × samples.
    pub above: Vec<Vec<f32>>,
    /// P(state) of every node.
    pub marginals: Vec<Vec<f64>>,
    columns: Vec<Column>,
}

/// One variable of all samples.
#[derive(Default, Clone)]
struct Column {
    /// Sample, feature within the variable, value.
    entries: Vec<(u32, u32, f64)>,
    missing: Vec<u32>,
}

/// The messages of some samples, node by node.
struct Part {
    r: usize,
    below: Vec<Vec<f32>>,
    above: Vec<Vec<f32>>,
}

/// P(state) of every node, from the roots down.
pub(super) fn marginals(network: &Network) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = Vec::new();
    for node in &network.nodes {
        let own = match node.parent {
            None => node.table.col(0),
            Some(parent) => node.table.matvec(&all[parent]),
        };
        all.push(own);
    }
    all
}

impl Messages {
    pub fn new(network: &Network, table: &Table) -> Result<Self> {
        let samples = table.samples();
        let sweeper = Sweeper::new(network, table.variables(), &[], samples);
        let marginals = marginals(network);
        let step = sweeper.block();
        let blocks: Vec<Part> = (0..samples.div_ceil(step))
            .into_par_iter()
            .map_init(Block::default, |block, b| {
                let rows: Vec<u32> = (b * step..((b + 1) * step).min(samples)).map(|i| i as u32).collect();
                sweeper.observe(table, &rows, block);
                sweeper.up(block);
                let mut above = vec![Vec::new(); network.nodes.len()];
                sweeper.down(block, |n, _, quotient| {
                    let parent = network.nodes[n].parent.expect("only nodes with a parent have a joint");
                    above[n] = likelihood(quotient, &marginals[parent], rows.len());
                });
                let part =
                    |n: usize| &block.below[sweeper.offsets[n] * block.r..sweeper.offsets[n + 1] * block.r];
                let below =
                    (0..network.nodes.len()).map(|n| part(n).iter().map(|&x| x as f32).collect()).collect();
                Part { r: rows.len(), below, above }
            })
            .collect();
        let join = |which: fn(&Part) -> &[Vec<f32>], n: usize| -> Vec<f32> {
            let k = blocks.first().map_or(0, |b| which(b)[n].len() / b.r.max(1));
            let part = |s: usize| {
                blocks.iter().flat_map(move |b| which(b)[n][s * b.r..(s + 1) * b.r].iter().copied())
            };
            (0..k).flat_map(part).collect()
        };
        let each = 0..network.nodes.len();
        Ok(Self {
            samples,
            below: each.clone().map(|n| join(|b| &b.below, n)).collect(),
            above: each.map(|n| join(|b| &b.above, n)).collect(),
            marginals,
            columns: columns(table),
        })
    }

    /// What a variable that hangs on a node says: for a category a likelihood of its levels, with the table that leads there;
    /// for other kinds a likelihood of the states that the node has now, with a table near the identity.
    pub fn leaf(&self, emission: &Emission, variable: &Variable, v: usize) -> Result<(Vec<f32>, Mat)> {
        let (m, k) = (self.samples, emission.mean.cols());
        let column = &self.columns[v];
        if variable.kind == Kind::Category {
            let d = variable.labels.len();
            let mut out = vec![0.0f32; d * m];
            out[..m].fill(1.0);
            for &(row, f, _) in &column.entries {
                out[row as usize] = 0.0;
                out[(f as usize + 1) * m + row as usize] = 1.0;
            }
            for &row in &column.missing {
                (0..d).for_each(|level| out[level * m + row as usize] = 1.0);
            }
            let reference: Vec<f64> =
                (0..k).map(|s| (1.0 - emission.mean.col(s).iter().sum::<f64>()).max(1e-9)).collect();
            let table =
                Mat::from_fn(d, k, |l, s| if l == 0 { reference[s] } else { emission.mean[(l - 1, s)] });
            return Ok((out, table));
        }
        let alone = Network {
            nodes: vec![Node { place: 0, parent: None, table: Mat::from_fn(k, 1, |_, _| 1.0 / k as f64) }],
            emissions: vec![Emission { node: 0, ..emission.clone() }],
        };
        let table = column.table(variable, m)?;
        let sweeper = Sweeper::new(&alone, table.variables(), &[], m);
        let mut out = vec![0.0f32; k * m];
        let mut block = Block::default();
        for start in (0..m).step_by(512) {
            let rows: Vec<u32> = (start..(start + 512).min(m)).map(|i| i as u32).collect();
            sweeper.observe(&table, &rows, &mut block);
            for s in 0..k {
                let from = &block.below[s * block.r..(s + 1) * block.r];
                out[s * m + start..s * m + start + block.r]
                    .iter_mut()
                    .zip(from)
                    .for_each(|(o, x)| *o = *x as f32);
            }
        }
        // Not quite the identity: what is exactly 0 stays 0 for ever.
        let near = |i: usize, j: usize| if i == j { 1.0 - 1e-3 * (k - 1) as f64 } else { 1e-3 };
        Ok((out, Mat::from_fn(k, k, near)))
    }
}

/// P(all else | t) ∝ P(t | observed) / (P(t) P(below | t)), its largest 1 in every sample.
fn likelihood(quotient: &[f64], marginal: &[f64], r: usize) -> Vec<f32> {
    let mut out: Vec<f64> = Vec::with_capacity(quotient.len());
    for (t, p) in marginal.iter().enumerate() {
        out.extend(quotient[t * r..(t + 1) * r].iter().map(|q| q / p.max(1e-12)));
    }
    for i in 0..r {
        let most = out[i..].iter().step_by(r).copied().fold(f64::MIN_POSITIVE, f64::max);
        out[i..].iter_mut().step_by(r).for_each(|x| *x /= most);
    }
    out.into_iter().map(|x| x as f32).collect()
}

impl Column {
    fn table(&self, variable: &Variable, samples: usize) -> Result<Table> {
        let mut table = Table::new(vec![variable.clone()])?;
        let (mut next, mut gone) = (0, 0);
        let mut entries = Vec::new();
        for row in 0..samples as u32 {
            entries.clear();
            while let Some(&(_, f, x)) = self.entries.get(next).filter(|e| e.0 == row) {
                entries.push((f, x));
                next += 1;
            }
            let missing = self.missing.get(gone) == Some(&row);
            gone += usize::from(missing);
            table.push(&entries, if missing { &[0] } else { &[] });
        }
        Ok(table)
    }
}

fn columns(table: &Table) -> Vec<Column> {
    let count = table.variables().len();
    let owner: Vec<u32> = (0..count).flat_map(|v| table.features_of(v).map(move |_| v as u32)).collect();
    let mut all = vec![Column::default(); count];
    for sample in 0..table.samples() {
        let row = table.row(sample);
        for (&f, &x) in row.features.iter().zip(row.values) {
            let v = owner[f as usize] as usize;
            let within = f - table.features_of(v).start as u32;
            all[v].entries.push((sample as u32, within, x));
        }
        row.missing.iter().for_each(|&v| all[v as usize].missing.push(sample as u32));
    }
    all
}
