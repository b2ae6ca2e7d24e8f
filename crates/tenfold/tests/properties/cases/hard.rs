//! Data that cannot carry what is asked of them, or are odd: the verdict speaks of it.

use super::super::draw;
use super::Case;
use super::fits::{signals, words};
use tenfold::communities::{self, Edges};
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Silent;
use tenfold::motifs::{self, Extent};
use tenfold::{cells, ica, topics, trees};

/// Too much asked for, outliers, copies, and columns that say nothing: each must be spoken of.
pub(super) const HARD: &[Case] = &[
    Case {
        application: "ica",
        what: "one sample a million times too large",
        fit: |seed| {
            let mut samples =
                ica::Synth { samples: 3000, columns: 4, sources: 4, seed, ..Default::default() }
                    .draw()
                    .samples;
            samples[(1234, 2)] = 1e6;
            Ok(ica::Params { seed, ..ica::Params::new(4) }.fit(&samples)?.verdict().clone())
        },
    },
    Case {
        application: "ica",
        what: "a column twice",
        fit: |seed| {
            let drawn = ica::Synth { samples: 3000, columns: 4, sources: 4, seed, ..Default::default() }
                .draw()
                .samples;
            let samples = Mat::from_fn(3000, 5, |i, j| drawn[(i, j.min(3))]);
            Ok(ica::Params { seed, ..ica::Params::new(5) }.fit(&samples)?.verdict().clone())
        },
    },
    Case {
        application: "topics",
        what: "40 topics asked of 4",
        fit: |seed| {
            let drawn =
                topics::Synth { documents: 1000, words: 300, k: 4, length: 60.0, seed, ..Default::default() }
                    .draw()?;
            Ok(topics::Params { seed, ..topics::Params::new(40) }.fit(&drawn.corpus)?.verdict().clone())
        },
    },
    Case {
        application: "communities",
        what: "30 communities asked of 3",
        fit: |seed| {
            let edges = Edges::Bernoulli { within: 0.1, between: 0.01 };
            let drawn =
                communities::Synth { nodes: 400, k: 3, alpha0: 0.0, edges, seed, ..Default::default() }
                    .draw()?;
            Ok(communities::Params { seed, ..communities::Params::new(30) }
                .fit(&drawn.graph)?
                .verdict()
                .clone())
        },
    },
    Case {
        application: "motifs",
        what: "one sample a thousand times too large",
        fit: |seed| {
            let noise = draw::noise_signals(100, Extent::line(128), 1, 0.0, seed);
            let mut stretches = noise.stretches().to_vec();
            stretches[50].values[60] = 1000.0;
            signals(
                motifs::Signals::new(stretches, noise.channels().to_vec(), None, false),
                2,
                Extent::line(8),
                seed,
            )
        },
    },
    Case {
        application: "motifs",
        what: "three samples 30 to 50 times too large",
        fit: |seed| {
            let noise = draw::noise_signals(100, Extent::line(300), 1, 0.0, seed);
            let mut stretches = noise.stretches().to_vec();
            for (window, at, spike) in [(20, 211, 30.0), (71, 8, -40.0), (98, 150, 50.0)] {
                stretches[(window + seed as usize) % 100].values[at] = spike;
            }
            signals(
                motifs::Signals::new(stretches, noise.channels().to_vec(), None, false),
                1,
                Extent::line(8),
                seed,
            )
        },
    },
    Case {
        application: "trees",
        what: "one number of 1e9",
        fit: |seed| {
            let synth = trees::Synth { samples: 1000, emits: trees::Emits::Real, seed, ..Default::default() };
            let drawn = trees::Synth { variables: 8, ..synth }.draw()?.table;
            let mut table = trees::Table::new(drawn.variables().to_vec())?;
            for i in 0..drawn.samples() {
                let row = drawn.row(i);
                let own = |(&f, &x): (&u32, &f64)| (f, if (i, f) == (300, 4) { 1e9 } else { x });
                let entries: Vec<(u32, f64)> = row.features.iter().zip(row.values).map(own).collect();
                table.push(&entries, row.missing);
            }
            Ok(trees::Params { seed, ..trees::Params::new(2) }.fit(&table)?.verdict().clone())
        },
    },
    Case {
        application: "trees",
        what: "a variable twice",
        fit: |seed| {
            let drawn =
                trees::Synth { variables: 8, samples: 1000, seed, ..Default::default() }.draw()?.table;
            let twice = drawn.select(&[0, 1, 2, 3, 4, 5, 6, 7])?;
            let mut variables = twice.variables().to_vec();
            variables.push(trees::Variable { name: "copy".into(), ..variables[7].clone() });
            let mut table = trees::Table::new(variables)?;
            for i in 0..twice.samples() {
                let row = twice.row(i);
                let mut entries: Vec<(u32, f64)> =
                    row.features.iter().copied().zip(row.values.iter().copied()).collect();
                entries.extend((row.value(7) != 0.0).then_some((8, 1.0)));
                table.push(&entries, &[]);
            }
            Ok(trees::Params { seed, ..trees::Params::new(2) }.fit(&table)?.verdict().clone())
        },
    },
    Case {
        application: "trees",
        what: "8 states asked of 2",
        fit: |seed| {
            let drawn =
                trees::Synth { variables: 8, samples: 1000, width: 8, seed, ..Default::default() }.draw()?;
            Ok(trees::Params { seed, ..trees::Params::new(8) }.fit(&drawn.table)?.verdict().clone())
        },
    },
    Case {
        application: "cells",
        what: "15 types asked of 2",
        fit: |seed| {
            let drawn =
                cells::Synth { types: 2, genes: 40, cells: 8000, seed, ..Default::default() }.draw()?;
            Ok(cells::Params { seed, ..cells::Params::new(15) }.fit(&drawn.tissue)?.verdict().clone())
        },
    },
    Case {
        application: "cells",
        what: "one pixel a thousand times too bright",
        fit: |seed| {
            let mut image = draw::tissue_image(400, 100, seed);
            let whole = cells::detect::Params::default().find(&image, &Silent)?.cells.len();
            image.values_mut()[400 * 200 + 100] = 1e6;
            let found = cells::detect::Params::default().find(&image, &Silent)?;
            // One cell may stand where the pixel is.
            assert!(found.cells.len().abs_diff(whole) <= 2, "{} of {whole}", found.cells.len());
            Ok(found.diagnostics.verdict)
        },
    },
    Case {
        application: "sentences",
        what: "one sentence a thousand times",
        fit: |seed| words(&vec!["the old ship sails to the island".to_owned(); 1000], seed),
    },
];
