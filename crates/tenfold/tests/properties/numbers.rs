//! Properties of the applications that take numbers: sources, motifs, trees.

use super::draw;
use super::same::{Bound, Property, hold_all};
use tenfold::engine::linalg::Mat;
use tenfold::engine::linalg::random::{normal, permutation, rng};
use tenfold::evaluate::{FilterBank, amari_distance, filter_errors, robinson_foulds};
use tenfold::motifs::{self, Extent, Length, Signals, Stretch};
use tenfold::{Result, ica, trees};

// ---- sources ---------------------------------------------------------------------------------------------

const SAMPLES: usize = 2000;

fn mixtures(seed: u64) -> Mat {
    ica::Synth { samples: SAMPLES, columns: 4, sources: 4, seed, ..Default::default() }.draw().samples
}

fn sources(samples: &Mat, k: usize, seed: u64) -> Result<ica::Model> {
    ica::Params { seed, ..ica::Params::new(k) }.fit(samples)
}

fn rows(samples: &Mat, order: &[usize]) -> Mat {
    Mat::from_fn(order.len(), samples.cols(), |i, j| samples[(order[i], j)])
}

/// The largest difference of two matrices, in shares of the first one's largest entry.
fn apart(a: &Mat, b: &Mat) -> f64 {
    let largest = a.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let pairs = a.as_slice().iter().zip(b.as_slice());
    pairs.fold(0.0f64, |m, (x, y)| m.max((x - y).abs())) / largest
}

/// Newton's polish ends when a step is below 1e-8, so two ways to the same point end within some times that.
const POLISHED: f64 = 1e-6;

const SOURCES: &[Property] = &[
    Property {
        application: "ica",
        what: "samples in another order",
        bound: Bound::Rounding(POLISHED),
        distance: |seed| {
            let samples = mixtures(seed);
            let other = rows(&samples, &permutation(SAMPLES, &mut rng(seed, 1)));
            Ok(apart(sources(&samples, 4, seed)?.mixing(), sources(&other, 4, seed)?.mixing()))
        },
    },
    Property {
        application: "ica",
        what: "columns in another order",
        bound: Bound::Rounding(POLISHED),
        distance: |seed| {
            let (samples, order) = (mixtures(seed), [2, 0, 3, 1]);
            let other = Mat::from_fn(SAMPLES, 4, |i, j| samples[(i, order[j])]);
            let plain = sources(&samples, 4, seed)?;
            let expected = Mat::from_fn(4, 4, |i, j| plain.mixing()[(order[i], j)]);
            Ok(amari_distance(&sources(&other, 4, seed)?.unmixing().matmul(&expected)))
        },
    },
    Property {
        application: "ica",
        what: "every sample twice",
        bound: Bound::Rounding(POLISHED),
        distance: |seed| {
            let samples = mixtures(seed);
            let twice: Vec<usize> = (0..2 * SAMPLES).map(|i| i % SAMPLES).collect();
            let (once, both) = (sources(&samples, 4, seed)?, sources(&rows(&samples, &twice), 4, seed)?);
            Ok(amari_distance(&once.unmixing().matmul(both.mixing())))
        },
    },
    Property {
        application: "ica",
        what: "numbers in another unit (times 8)",
        bound: Bound::Rounding(1e-12),
        distance: |seed| {
            let samples = mixtures(seed);
            let other = Mat::from_fn(SAMPLES, 4, |i, j| 8.0 * samples[(i, j)]);
            let (plain, scaled) = (sources(&samples, 4, seed)?, sources(&other, 4, seed)?);
            let back = Mat::from_fn(4, 4, |i, j| scaled.mixing()[(i, j)] / 8.0);
            Ok(apart(plain.mixing(), &back))
        },
    },
    Property {
        application: "ica",
        what: "a column of noise beside",
        // n samples leave an error of about 1/√n in every entry of the unmixing, and a fifth column is one more to mix up with.
        bound: Bound::Chance(4.0 / 44.7),
        distance: |seed| {
            let (samples, mut noise) = (mixtures(seed), rng(seed, 2));
            let other =
                Mat::from_fn(SAMPLES, 5, |i, j| if j < 4 { samples[(i, j)] } else { normal(&mut noise) });
            let (plain, more) = (sources(&samples, 4, seed)?, sources(&other, 5, seed)?);
            // The four sources that do not live in the fifth column are the four of before.
            let mut order: Vec<usize> = (0..5).collect();
            order.sort_by(|&a, &b| more.mixing()[(4, a)].abs().total_cmp(&more.mixing()[(4, b)].abs()));
            let found = Mat::from_fn(4, 4, |i, j| more.unmixing()[(order[i], j)]);
            Ok(amari_distance(&found.matmul(plain.mixing())))
        },
    },
];

#[test]
fn sources_change_as_their_samples_do() {
    hold_all(SOURCES);
}

// ---- motifs ----------------------------------------------------------------------------------------------

fn signals(seed: u64) -> Signals {
    let length = Extent::line(8);
    let synth = motifs::Synth {
        windows: 500,
        window: Extent::line(48),
        motifs: 2,
        length,
        seed,
        ..Default::default()
    };
    synth.draw().expect("signals can be drawn").signals
}

fn found(signals: &Signals, seed: u64) -> Result<motifs::Model> {
    motifs::Params { length: Length::Known(Extent::line(8)), seed, ..motifs::Params::new(2) }.fit(signals)
}

fn changed(signals: &Signals, stretches: Vec<Stretch>) -> Signals {
    Signals::new(stretches, signals.channels().to_vec(), signals.rate(), signals.is_cyclic())
}

/// The worst error of a motif after matching, shift, sign and size.
fn motifs_apart(a: &motifs::Model, b: &motifs::Model) -> f64 {
    let [a, b] =
        [a, b].map(|model| FilterBank::lines(&model.filters().values, model.filters().extent.columns));
    filter_errors(a, b, None).worst()
}

/// The joint fit ends when a step gains less than 1e-6 of the misfit; the motifs are then within its root.
const JOINT: f64 = 2e-3;

const MOTIFS: &[Property] = &[
    Property {
        application: "motifs",
        what: "windows in another order",
        // Windows are dealt to halves by their place, and the halves tell the noise that the cumulants are whitened by.
        bound: Bound::Chance(0.05),
        distance: |seed| {
            let plain = signals(seed);
            let order = permutation(plain.stretches().len(), &mut rng(seed, 3));
            let other = changed(&plain, order.iter().map(|&i| plain.stretches()[i].clone()).collect());
            Ok(motifs_apart(&found(&plain, seed)?, &found(&other, seed)?))
        },
    },
    Property {
        application: "motifs",
        what: "amplitudes in another unit (times 8)",
        bound: Bound::Rounding(JOINT),
        distance: |seed| {
            let plain = signals(seed);
            let loud =
                |s: &Stretch| Stretch { values: s.values.iter().map(|x| 8.0 * x).collect(), ..s.clone() };
            let other = changed(&plain, plain.stretches().iter().map(loud).collect());
            Ok(motifs_apart(&found(&plain, seed)?, &found(&other, seed)?))
        },
    },
    Property {
        application: "motifs",
        what: "every window twice",
        // The same cumulants; the noise that whitens them is halved everywhere alike where pairs of windows fall into both halves.
        bound: Bound::Chance(0.05),
        distance: |seed| {
            let plain = signals(seed);
            let twice = plain.stretches().iter().flat_map(|s| [s.clone(), s.clone()]).collect();
            Ok(motifs_apart(&found(&plain, seed)?, &found(&changed(&plain, twice), seed)?))
        },
    },
    Property {
        application: "motifs",
        what: "an empty window beside",
        bound: Bound::Chance(0.05),
        distance: |seed| {
            let plain = signals(seed);
            let mut more = plain.stretches().to_vec();
            more.push(Stretch { values: vec![0.0; 48], trial: more.len(), ..more[0].clone() });
            Ok(motifs_apart(&found(&plain, seed)?, &found(&changed(&plain, more), seed)?))
        },
    },
    Property {
        application: "motifs",
        what: "another name of the channel",
        bound: Bound::Exact,
        distance: |seed| {
            let plain = signals(seed);
            let other =
                Signals::new(plain.stretches().to_vec(), vec!["<b>,\"x\"".into()], None, plain.is_cyclic());
            let (a, b) = (found(&plain, seed)?, found(&other, seed)?);
            Ok(f64::from(u8::from(a.filters() != b.filters())))
        },
    },
];

#[test]
fn motifs_change_as_their_signals_do() {
    hold_all(MOTIFS);
}

// ---- trees -----------------------------------------------------------------------------------------------

fn table(seed: u64) -> trees::Table {
    let synth = trees::Synth { variables: 8, samples: 3000, strength: 0.7..0.9, seed, ..Default::default() };
    synth.draw().expect("a tree can be drawn").table
}

fn tree(table: &trees::Table, seed: u64) -> Result<trees::Model> {
    trees::Params { bootstrap: 0, seed, ..trees::Params::new(2) }.fit(table)
}

/// Splits that only one of the trees over the first `n` variables has.
fn splits_apart(n: usize, a: &trees::Model, b: &trees::Model) -> f64 {
    robinson_foulds(n, &a.tree().edges(), &b.tree().edges()).normalised()
}

/// Splits of the first tree that the second has not.
fn splits_lost(n: usize, a: &trees::Model, b: &trees::Model) -> f64 {
    let found = robinson_foulds(n, &a.tree().edges(), &b.tree().edges());
    (found.cuts + (found.different - found.cuts + found.first - found.second) / 2) as f64
}

const TREES: &[Property] = &[
    Property {
        application: "trees",
        what: "samples in another order",
        // Strong edges: of 3,000 samples every split is told surely, so that no split may change.
        bound: Bound::Chance(0.0),
        distance: |seed| {
            let plain = table(seed);
            let other = plain.take(permutation(plain.samples(), &mut rng(seed, 4)));
            Ok(splits_apart(8, &tree(&plain, seed)?, &tree(&other, seed)?))
        },
    },
    Property {
        application: "trees",
        what: "every sample twice: no split goes",
        // Twice the samples are twice the evidence: a split that was not told surely may come, and those that were stay.
        bound: Bound::Chance(0.0),
        distance: |seed| {
            let plain = table(seed);
            let other = plain.take((0..2 * plain.samples()).map(|i| i % plain.samples()));
            Ok(splits_lost(8, &tree(&plain, seed)?, &tree(&other, seed)?))
        },
    },
    Property {
        application: "trees",
        what: "other names of variables",
        bound: Bound::Exact,
        distance: |seed| {
            let plain = table(seed);
            let renamed = plain
                .variables()
                .iter()
                .enumerate()
                .map(|(v, one)| trees::Variable { name: format!("\"{v}\" <i>'"), ..one.clone() });
            let mut other = trees::Table::new(renamed.collect())?;
            for i in 0..plain.samples() {
                let row = plain.row(i);
                let entries: Vec<(u32, f64)> =
                    row.features.iter().copied().zip(row.values.iter().copied()).collect();
                other.push(&entries, row.missing);
            }
            let (a, b) = (tree(&plain, seed)?, tree(&other, seed)?);
            Ok(f64::from(u8::from(a.tree() != b.tree() || a.network() != b.network())))
        },
    },
    Property {
        application: "trees",
        what: "a sample with nothing observed beside",
        bound: Bound::Chance(0.0),
        distance: |seed| {
            let plain = table(seed);
            let mut other = plain.clone();
            other.push(&[], &(0..8).collect::<Vec<u32>>());
            Ok(splits_apart(8, &tree(&plain, seed)?, &tree(&other, seed)?))
        },
    },
    Property {
        application: "trees",
        what: "a variable of noise beside: it stands alone, and the rest is as it was",
        bound: Bound::Chance(0.0),
        distance: |seed| {
            let plain = table(seed);
            let noise = draw::independent(1, plain.samples(), trees::Kind::Category, seed);
            let mut variables = plain.variables().to_vec();
            variables.extend(noise.variables().iter().cloned());
            let mut other = trees::Table::new(variables)?;
            let first = plain.features() as u32;
            for i in 0..plain.samples() {
                let (row, more) = (plain.row(i), noise.row(i));
                let mut entries: Vec<(u32, f64)> =
                    row.features.iter().copied().zip(row.values.iter().copied()).collect();
                entries.extend(more.features.iter().map(|f| (f + first, 1.0)));
                other.push(&entries, &[]);
            }
            let (a, b) = (tree(&plain, seed)?, tree(&other, seed)?);
            let joined = f64::from(u8::from(b.tree().degree(8) > 0));
            let back: Vec<(usize, usize, f64)> = b.tree().edges();
            // Hidden nodes of the larger tree have one number more.
            let shift = |v: usize| if v > 8 { v - 1 } else { v };
            let edges: Vec<(usize, usize, f64)> =
                back.iter().map(|&(u, v, l)| (shift(u), shift(v), l)).collect();
            Ok(joined + robinson_foulds(8, &a.tree().edges(), &edges).normalised())
        },
    },
];

#[test]
fn trees_change_as_their_tables_do() {
    hold_all(TREES);
}
