//! Every variable by itself: its counts, sums and products within every jackknife block.

use super::layout::{BLOCKS, Layout, members};
use rayon::prelude::*;
use tenfold_engine::linalg::Mat;

/// Sums over a jackknife block, over all samples, or over all but a block.
#[derive(Clone)]
pub(super) struct Own {
    /// Samples.
    pub samples: f64,
    /// Sums of all columns.
    pub sums: Vec<f64>,
    /// Products of the columns of each variable with each other, square after square.
    products: Vec<f64>,
    /// How often a column was not 0.
    pub held: Vec<f64>,
}

impl Own {
    /// All samples first, then all but each block in turn.
    pub fn versions(layout: &Layout<'_>) -> Vec<Self> {
        let blocks: Vec<Self> =
            (0..BLOCKS).into_par_iter().with_max_len(1).map(|block| Self::of_block(layout, block)).collect();
        let sum = |without: Option<usize>| {
            let mut total = Self::zeros(layout);
            for (_, block) in blocks.iter().enumerate().filter(|(b, _)| Some(*b) != without) {
                total.add(block);
            }
            total
        };
        std::iter::once(None).chain((0..BLOCKS).map(Some)).map(sum).collect()
    }

    fn zeros(layout: &Layout<'_>) -> Self {
        let squares = (0..layout.variables()).map(|v| layout.features_of(v).len().pow(2)).sum();
        let columns = layout.columns();
        Self {
            samples: 0.0,
            sums: vec![0.0; columns],
            products: vec![0.0; squares],
            held: vec![0.0; columns],
        }
    }

    fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        for (to, from) in [
            (&mut self.sums, &other.sums),
            (&mut self.products, &other.products),
            (&mut self.held, &other.held),
        ] {
            to.iter_mut().zip(from).for_each(|(t, f)| *t += f);
        }
    }

    fn of_block(layout: &Layout<'_>, block: usize) -> Self {
        let mut own = Self::zeros(layout);
        let mut places = Vec::with_capacity(layout.columns());
        let mut place = 0;
        for v in 0..layout.variables() {
            let features = layout.features_of(v);
            places.extend(layout.columns_of(v).map(|_| (features.clone(), place)));
            place += features.len().pow(2);
        }
        for sample in members(block, layout.samples()) {
            own.samples += 1.0;
            let (columns, values) = layout.row(sample);
            for (at, (&column, &value)) in columns.iter().zip(values).enumerate() {
                let column = column as usize;
                let value = value - layout.shift()[column];
                own.sums[column] += value;
                own.held[column] += 1.0;
                let (features, place) = &places[column];
                if column >= features.end {
                    continue;
                }
                let base = place + (column - features.start) * features.len();
                for (&other, &x) in columns[at..].iter().zip(&values[at..]) {
                    let other = other as usize;
                    if other >= features.end {
                        break;
                    }
                    own.products[base + other - features.start] += value * (x - layout.shift()[other]);
                }
            }
        }
        own
    }

    /// In how many samples a variable is there.
    pub fn count(&self, layout: &Layout<'_>, variable: usize) -> f64 {
        self.samples - layout.flag_of(variable).map_or(0.0, |flag| self.sums[flag])
    }

    /// The covariances of all variables, each over the samples in which it is there.
    pub fn covariances(&self, layout: &Layout<'_>) -> Vec<Mat> {
        let mut place = 0;
        (0..layout.variables())
            .map(|v| {
                let features = layout.features_of(v);
                let width = features.len();
                let count = self.count(layout, v).max(1.0);
                let means: Vec<f64> = self.sums[features].iter().map(|sum| sum / count).collect();
                let covariance = Mat::from_fn(width, width, |a, b| {
                    let product = self.products[place + a.min(b) * width + a.max(b)];
                    product / count - means[a] * means[b]
                });
                place += width * width;
                covariance
            })
            .collect()
    }
}
