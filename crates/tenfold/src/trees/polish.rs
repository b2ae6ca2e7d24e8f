//! Parameters made better by expectation–maximisation: belief propagation, then counting.

mod sweep;

use sweep::beyond;
pub(super) use sweep::{emit, sweep};

use super::belief::{Sweeper, log_likelihoods};
use super::data::Table;
use super::network::Network;
use crate::checkpoint::{Keep, Rounds, keep, stage};
use crate::error::Result;
use tenfold_engine::progress::Progress;

/// Samples below which none is held out: a tenth of fewer says too little about a network.
const ENOUGH: usize = 2000;

/// One in this many samples is held out.
const HELD_OUT: usize = 10;

/// Sweeps over all samples at the end.
const LAST: usize = 2;

/// Steps grow by this factor, up to the second: expectation–maximisation creeps where hidden states are hard to see.
const FASTER: f64 = 1.3;
const FASTEST: f64 = 4.0;

/// How parameters are polished.
#[derive(Debug, Clone, PartialEq)]
pub struct Polish {
    /// Most sweeps before the two last ones; with 0 nothing is changed.
    pub sweeps: usize,
    /// Sweeps before the last ones look at no more than this many samples, spread evenly.
    pub most_samples: usize,
    /// A sweep that gains less than this, in nats a sample, is the last before those over all samples.
    pub tolerance: f64,
}

impl Default for Polish {
    fn default() -> Self {
        Self { sweeps: 10, most_samples: 200_000, tolerance: 1e-5 }
    }
}

/// How polishing went.
#[derive(Debug, Clone, PartialEq)]
pub struct Polished {
    /// The network that was kept.
    pub network: Network,
    /// log P of a sample in the mean, in nats, before each sweep: of held-out ones, or of all where there are too few.
    pub trace: Vec<f64>,
    /// Whether samples were held out.
    pub held_out: bool,
}

crate::checkpoint::keep! { Polished { network, trace, held_out } }

impl Polish {
    /// Expectation–maximisation from a network, P(s | t) ← Σ P(s, t | sample) / Σ P(t | sample), and likewise for
    /// emissions. Where there are enough samples, every tenth is held out: when those clearly lose, the sweeps stop and go back
    /// to the network that they liked best. Steps go further than the mean asks for as long as that gains. Two more plain
    /// sweeps over all samples give the answer.
    ///
    /// # Complexity
    /// A sweep costs O(samples · Σ states · states of the parent), plus the entries that are not 0.
    ///
    /// # Errors
    /// When the network is of other variables; when the caller wants to stop.
    ///
    /// # References
    /// Salakhutdinov and Roweis, "Adaptive overrelaxed bound optimization methods", ICML 2003.
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::progress::Silent;
    /// use tenfold::trees::{Polish, Synth};
    /// let drawn = Synth { samples: 500, ..Synth::default() }.draw()?;
    /// let polished = Polish { sweeps: 3, ..Polish::default() }.run(&drawn.network, &drawn.table, &Silent)?;
    /// assert!(polished.trace[1] > polished.trace[0]); // the samples fit their own estimate better than the truth
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn run(&self, network: &Network, table: &Table, progress: &dyn Progress) -> Result<Polished> {
        network.check(table.variables())?;
        let held_out = table.samples() >= ENOUGH;
        let all: Vec<u32> = (0..table.samples() as u32).collect();
        let kept = |i: &u32| !held_out || *i as usize % HELD_OUT != HELD_OUT - 1;
        let learn = spread(&all.iter().copied().filter(kept).collect::<Vec<_>>(), self.most_samples);
        let watch = spread(
            &all.iter().copied().filter(|i| !kept(i)).collect::<Vec<_>>(),
            self.most_samples / HELD_OUT,
        );
        progress.stage("polishing", (self.sweeps + LAST) as u64);
        let mut current = network.clone();
        let mut plain = network.clone();
        let mut best: Option<Watched> = None;
        let (mut trace, mut before, mut times) = (Vec::new(), f64::NEG_INFINITY, 1.0);
        let mut rounds = Rounds::new(progress, "sweeps");
        let mut done = 0;
        if let Some(stand) = rounds.taken::<Stand>()
            && [&stand.current, &stand.plain].iter().all(|network| network.check(table.variables()).is_ok())
        {
            Stand { done, current, plain, best, trace, before, times } = stand;
        }
        for sweeps in done..self.sweeps {
            rounds.keep(|parcel| {
                sweeps.put(parcel);
                current.put(parcel);
                plain.put(parcel);
                best.put(parcel);
                trace.put(parcel);
                (before, times).put(parcel);
            });
            let (next, own) = sweep(&current, table, &learn, &[], progress)?;
            progress.advance(1);
            if own < before {
                // Too far: back to where the plain step led.
                (current, times, before) = (plain.clone(), 1.0, f64::NEG_INFINITY);
                continue;
            }
            let logs = log_likelihoods_of(&current, table, &watch, progress)?;
            trace.push(if held_out { mean(&logs) } else { own });
            if let Some(best) = best.as_ref().filter(|best| fell(&best.logs, &logs)) {
                plain = best.network.clone();
                break;
            }
            if best.as_ref().is_none_or(|best| mean(&logs) >= mean(&best.logs)) {
                best = Some(Watched { network: current.clone(), logs });
            }
            current =
                if times > 1.0 { beyond(&current, &next, times, table.variables()) } else { next.clone() };
            plain = next;
            times = (times * FASTER).min(FASTEST);
            if own - before < self.tolerance {
                break;
            }
            before = own;
        }
        let mut current = plain;
        for _ in 0..LAST.min(self.sweeps) {
            current =
                stage(progress, "last sweep", |progress| Ok(sweep(&current, table, &all, &[], progress)?.0))?;
            progress.advance(1);
        }
        Ok(Polished { network: current, trace, held_out })
    }
}

/// The network that held-out samples liked best so far, and how they liked it.
struct Watched {
    network: Network,
    logs: Vec<f64>,
}

crate::checkpoint::keep! { Watched { network, logs } }

/// All that the next sweep needs besides the samples.
struct Stand {
    done: usize,
    current: Network,
    plain: Network,
    best: Option<Watched>,
    trace: Vec<f64>,
    before: f64,
    times: f64,
}

keep! { Stand { done, current, plain, best, trace, before, times } }

/// Whether log-likelihoods fell by more than three standard errors of their differences. Less is no reason to stop: every sweep
/// asks, and a start from moments has seen the held-out samples, so that they lose a little in any case.
fn fell(best: &[f64], now: &[f64]) -> bool {
    let differences: Vec<f64> = best.iter().zip(now).map(|(b, n)| b - n).collect();
    let average = mean(&differences);
    let spread = mean(&differences.iter().map(|d| (d - average).powi(2)).collect::<Vec<_>>());
    average > (3.0 * (spread / differences.len().max(1) as f64).sqrt()).max(1e-9)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

/// At most `most` of these, spread evenly.
pub(super) fn spread(rows: &[u32], most: usize) -> Vec<u32> {
    let count = rows.len().min(most.max(1));
    (0..count).map(|i| rows[(i as u64 * rows.len() as u64 / count as u64) as usize]).collect()
}

fn log_likelihoods_of(
    network: &Network,
    table: &Table,
    rows: &[u32],
    progress: &dyn Progress,
) -> Result<Vec<f64>> {
    let sweeper = Sweeper::new(network, table.variables(), &[], table.samples());
    log_likelihoods(&sweeper, table, rows, progress)
}

#[cfg(test)]
mod tests {
    use super::super::data::{Kind, Variable};
    use super::super::synth::{Emits, Synth};
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;
    use tenfold_engine::progress::Silent;

    fn mean_log(network: &Network, table: &Table) -> f64 {
        let rows: Vec<u32> = (0..table.samples() as u32).collect();
        mean(&log_likelihoods_of(network, table, &rows, &Silent).unwrap())
    }

    #[test]
    fn every_sweep_gains_and_threads_do_not_matter() {
        for emits in [Emits::Category, Emits::Real, Emits::Flags, Emits::Mixed] {
            let drawn = Synth { samples: 700, width: 3, emits, seed: 4, ..Synth::default() }.draw().unwrap();
            let other =
                Synth { samples: 1, width: 3, emits, seed: 4, strength: 0.2..0.3, ..Synth::default() };
            // Same tree, other parameters: a start from which there is something to gain.
            let mut network = other.draw().unwrap().network;
            let rows: Vec<u32> = (0..700).collect();
            let mut before = mean_log(&network, &drawn.table);
            for _ in 0..4 {
                let (next, own) = sweep(&network, &drawn.table, &rows, &[], &Silent).unwrap();
                assert!((own - before).abs() < 1e-9 * before.abs(), "{emits:?}: the sweep's own sum");
                let after = mean_log(&next, &drawn.table);
                // Smoothing may take a little back.
                assert!(after > before - 1e-3, "{emits:?}: {before} to {after}");
                (network, before) = (next, after);
            }
            let run = |threads| {
                with_threads(threads, || Polish::default().run(&network, &drawn.table, &Silent).unwrap())
            };
            assert_eq!(run(1), run(3));
        }
    }

    #[test]
    fn complete_data_are_counted() {
        // Both nodes are shown, so one sweep gives relative frequencies (with half a pseudo-count).
        let category = |name: &str| Variable {
            name: name.into(),
            kind: Kind::Category,
            labels: vec!["a".into(), "b".into()],
        };
        let tree = super::super::tree::Tree::from_edges(2, &[(0, 1, 1.0)]);
        let network = Network::skeleton(&tree, &[category("x"), category("y")], |_| 2).unwrap();
        let mut table = Table::new(vec![category("x"), category("y")]).unwrap();
        let rows: [&[(u32, f64)]; 4] = [&[], &[(0, 1.0)], &[(0, 1.0), (1, 1.0)], &[(0, 1.0), (1, 1.0)]];
        rows.iter().for_each(|row| table.push(row, &[]));
        let (next, _) = sweep(&network, &table, &[0, 1, 2, 3], &[], &Silent).unwrap();
        assert!((next.nodes[0].table[(1, 0)] - 3.25 / 4.5).abs() < 1e-12);
        assert!((next.emissions[1].mean[(0, 1)] - 2.25 / 3.5).abs() < 1e-12);
    }
}
