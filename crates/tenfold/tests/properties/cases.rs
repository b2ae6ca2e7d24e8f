//! What each application says of data with nothing in them, and of good data.

use super::draw::{self, Chance};
use super::{counted, seeds, warnings};
use tenfold::communities::{self, Edges, Kind};
use tenfold::components::Components;
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Silent;
use tenfold::motifs::{self, Extent};
use tenfold::sentences::{self, Cooccurrence, Cutting, Search, Text, Words};
use tenfold::verdict::Verdict;
use tenfold::{cells, ica, topics, trees};

/// One kind of data with one way to fit it.
struct Case {
    application: &'static str,
    what: &'static str,
    fit: fn(u64) -> tenfold::Result<Verdict>,
}

const AUTO: Components = Components::Auto;

fn graph(chance: Chance, k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let params = communities::Params { seed, ..communities::Params::new(k) };
    Ok(params.fit(&chance.draw(seed))?.verdict().clone())
}

fn sparse(degree: f64) -> Chance {
    Chance { nodes: 600, degree, kind: Kind::Undirected, uneven: false, weighted: false }
}

fn hubs(
    (degree, gamma, own): (f64, f64, f64),
    k: impl Into<Components>,
    seed: u64,
) -> tenfold::Result<Verdict> {
    let params = communities::Params { seed, ..communities::Params::new(k) };
    Ok(params.fit(&draw::hubs((1000, degree), gamma, own, seed))?.verdict().clone())
}

fn unigram(k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let corpus = draw::one_unigram(1500, 500, 60, seed);
    Ok(topics::Params { seed, ..topics::Params::new(k) }.fit(&corpus)?.verdict().clone())
}

fn gaussian(k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let samples = draw::gaussian_samples(4000, 8, seed);
    Ok(ica::Params { seed, ..ica::Params::new(k) }.fit(&samples)?.verdict().clone())
}

fn round(k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let samples = draw::round_samples(5000, 6, 3, seed);
    Ok(ica::Params { seed, ..ica::Params::new(k) }.fit(&samples)?.verdict().clone())
}

fn signals(
    noise: motifs::Signals,
    k: impl Into<Components>,
    length: Extent,
    seed: u64,
) -> tenfold::Result<Verdict> {
    let params = motifs::Params { length: motifs::Length::Known(length), seed, ..motifs::Params::new(k) };
    Ok(params.fit(&noise)?.verdict().clone())
}

fn table(kind: trees::Kind, k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let table = draw::independent(12, 2000, kind, seed);
    Ok(trees::Params { seed, ..trees::Params::new(k) }.fit(&table)?.verdict().clone())
}

fn alike(k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let tissue = draw::alike_cells(60, 400, seed);
    Ok(cells::Params { seed, ..cells::Params::new(k) }.fit(&tissue)?.verdict().clone())
}

fn detected(image: &cells::Plane) -> tenfold::Result<Verdict> {
    Ok(cells::detect::Params::default().find(image, &Silent)?.diagnostics.verdict)
}

fn typed(counts: &cells::GeneCounts, seed: u64) -> tenfold::Result<Verdict> {
    Ok(cells::Params { seed, ..cells::Params::new(2) }.fit_counts(counts)?.verdict().clone())
}

fn words(lines: &[String], seed: u64) -> tenfold::Result<Verdict> {
    let text = Text::new(lines, &Cutting::default(), 3)?;
    let params = sentences::Params {
        words: Words::Learned(Cooccurrence { dimensions: 30, ..Cooccurrence::default() }),
        templates: Search { count: 8, ..Search::default() },
        seed,
        ..sentences::Params::default()
    };
    Ok(params.fit(&text)?.verdict().clone())
}

const NOISE: &[Case] = &[
    Case { application: "ica", what: "Gaussian samples, k = 4", fit: |s| gaussian(4, s) },
    Case { application: "ica", what: "Gaussian samples, k = 8", fit: |s| gaussian(8, s) },
    Case { application: "ica", what: "Gaussian samples, k auto", fit: |s| gaussian(AUTO, s) },
    Case { application: "ica", what: "a round cloud with heavy tails, k = 4", fit: |s| round(4, s) },
    Case { application: "ica", what: "a round cloud with heavy tails, k auto", fit: |s| round(AUTO, s) },
    Case { application: "topics", what: "one unigram, k = 2", fit: |s| unigram(2, s) },
    Case { application: "topics", what: "one unigram, k = 5", fit: |s| unigram(5, s) },
    Case { application: "topics", what: "one unigram, k = 20", fit: |s| unigram(20, s) },
    Case { application: "topics", what: "one unigram, k auto", fit: |s| unigram(AUTO, s) },
    Case {
        application: "communities",
        what: "random graph, degree 10, k = 2",
        fit: |s| graph(sparse(10.0), 2, s),
    },
    Case {
        application: "communities",
        what: "random graph, degree 10, k = 8",
        fit: |s| graph(sparse(10.0), 8, s),
    },
    Case {
        application: "communities",
        what: "random graph, degree 10, k auto",
        fit: |s| graph(sparse(10.0), AUTO, s),
    },
    Case {
        application: "communities",
        what: "dense random graph, k = 4",
        fit: |s| graph(sparse(150.0), 4, s),
    },
    Case {
        application: "communities",
        what: "dense random graph, k auto",
        fit: |s| graph(sparse(150.0), AUTO, s),
    },
    Case {
        application: "communities",
        what: "uneven degrees, k = 4",
        fit: |s| graph(Chance { uneven: true, ..sparse(12.0) }, 4, s),
    },
    Case {
        application: "communities",
        what: "uneven degrees, k auto",
        fit: |s| graph(Chance { uneven: true, ..sparse(12.0) }, AUTO, s),
    },
    Case {
        application: "communities",
        what: "hubs, power 2.5, k = 2",
        fit: |s| hubs((40.0, 2.5, 0.0), 2, s),
    },
    Case {
        application: "communities",
        what: "hubs, power 2.5, k = 5",
        fit: |s| hubs((40.0, 2.5, 0.0), 5, s),
    },
    Case {
        application: "communities",
        what: "hubs, power 2.5, k auto",
        fit: |s| hubs((40.0, 2.5, 0.0), AUTO, s),
    },
    Case {
        application: "communities",
        what: "hubs, power 2.1, k = 2",
        fit: |s| hubs((20.0, 2.1, 0.0), 2, s),
    },
    Case {
        application: "communities",
        what: "hubs, power 2.1, k = 5",
        fit: |s| hubs((20.0, 2.1, 0.0), 5, s),
    },
    Case {
        application: "communities",
        what: "hubs, power 2.1, k auto",
        fit: |s| hubs((20.0, 2.1, 0.0), AUTO, s),
    },
    Case {
        application: "communities",
        what: "random weights, k = 4",
        fit: |s| graph(Chance { weighted: true, ..sparse(12.0) }, 4, s),
    },
    Case {
        application: "communities",
        what: "random arrows, k = 4",
        fit: |s| graph(Chance { kind: Kind::Directed, ..sparse(12.0) }, 4, s),
    },
    Case {
        application: "communities",
        what: "random two sides, k = 4",
        fit: |s| graph(Chance { kind: Kind::Bipartite, ..sparse(12.0) }, 4, s),
    },
    Case {
        application: "motifs",
        what: "white noise, 2 motifs",
        fit: |s| signals(draw::noise_signals(200, Extent::line(128), 1, 0.0, s), 2, Extent::line(8), s),
    },
    Case {
        application: "motifs",
        what: "white noise, auto",
        fit: |s| signals(draw::noise_signals(200, Extent::line(128), 1, 0.0, s), AUTO, Extent::line(8), s),
    },
    Case {
        application: "motifs",
        what: "coloured noise, 2 motifs",
        fit: |s| signals(draw::noise_signals(200, Extent::line(128), 1, 0.6, s), 2, Extent::line(8), s),
    },
    Case {
        application: "motifs",
        what: "noise in 3 channels, 2 motifs",
        fit: |s| signals(draw::noise_signals(200, Extent::line(64), 3, 0.0, s), 2, Extent::line(5), s),
    },
    Case {
        application: "motifs",
        what: "images of noise, 2 motifs",
        fit: |s| {
            signals(
                draw::noise_signals(20, Extent { rows: 32, columns: 32 }, 1, 0.0, s),
                2,
                Extent { rows: 3, columns: 3 },
                s,
            )
        },
    },
    Case {
        application: "trees",
        what: "independent flags, k = 2",
        fit: |s| table(trees::Kind::Category, 2, s),
    },
    Case {
        application: "trees",
        what: "independent flags, k auto",
        fit: |s| table(trees::Kind::Category, AUTO, s),
    },
    Case {
        application: "trees",
        what: "independent numbers, k auto",
        fit: |s| table(trees::Kind::Real, AUTO, s),
    },
    Case { application: "cells", what: "all cells alike, k = 3", fit: |s| alike(3, s) },
    Case { application: "cells", what: "all cells alike, k auto", fit: |s| alike(AUTO, s) },
    Case {
        application: "cells",
        what: "an image of noise",
        fit: |s| {
            Ok(cells::detect::Params::default()
                .find(&draw::noise_image(400, s), &Silent)?
                .diagnostics
                .verdict)
        },
    },
    Case {
        application: "cells",
        what: "an image of noise smoothed over 2 pixels",
        fit: |s| detected(&draw::smooth_noise(300, 2.0, s)),
    },
    Case {
        application: "cells",
        what: "an image of noise smoothed over 5 pixels",
        fit: |s| detected(&draw::smooth_noise(300, 5.0, s)),
    },
    Case {
        application: "cells",
        what: "an image of noisy rows",
        fit: |s| detected(&draw::noisy_rows(300, s)),
    },
    Case {
        application: "cells",
        what: "an image of lognormal pixels",
        fit: |s| detected(&draw::bright_pixels(300, s)),
    },
    Case {
        application: "cells",
        what: "fractions without types, k = 2",
        fit: |s| typed(&draw::gene_noise(300, 30, true, s), s),
    },
    Case {
        application: "cells",
        what: "uneven counts without types, k = 2",
        fit: |s| typed(&draw::gene_noise(300, 30, false, s), s),
    },
    Case {
        application: "sentences",
        what: "words drawn one by one",
        fit: |s| words(&draw::random_sentences(3000, 400, s), s),
    },
    Case {
        application: "sentences",
        what: "2,000 words drawn one by one",
        fit: |s| words(&draw::random_sentences(4000, 2000, s), s),
    },
    Case {
        application: "sentences",
        what: "sentences whose words were shuffled",
        fit: |s| words(&draw::shuffled(&draw::patterned_sentences(16_000, s), s), s),
    },
];

const GOOD: &[Case] = &[
    Case {
        application: "ica",
        what: "sources of three shapes",
        fit: |seed| {
            let drawn =
                ica::Synth { samples: 4000, columns: 8, sources: 8, seed, ..Default::default() }.draw();
            Ok(ica::Params { seed, ..ica::Params::new(8) }.fit(&drawn.samples)?.verdict().clone())
        },
    },
    Case {
        application: "topics",
        what: "5 drawn topics",
        fit: |seed| {
            let drawn =
                topics::Synth { documents: 1500, words: 500, k: 5, length: 60.0, seed, ..Default::default() }
                    .draw()?;
            Ok(topics::Params { seed, ..topics::Params::new(5) }.fit(&drawn.corpus)?.verdict().clone())
        },
    },
    Case {
        application: "communities",
        what: "4 drawn communities, sparse",
        fit: |seed| {
            let edges = Edges::Bernoulli { within: 0.08, between: 0.008 };
            let drawn =
                communities::Synth { nodes: 600, k: 4, alpha0: 0.0, edges, seed, ..Default::default() }
                    .draw()?;
            Ok(communities::Params { seed, ..communities::Params::new(4) }
                .fit(&drawn.graph)?
                .verdict()
                .clone())
        },
    },
    Case {
        application: "communities",
        what: "4 drawn communities, dense",
        fit: |seed| {
            let drawn = communities::Synth { nodes: 600, k: 4, seed, ..Default::default() }.draw()?;
            Ok(communities::Params { seed, ..communities::Params::new(4) }
                .fit(&drawn.graph)?
                .verdict()
                .clone())
        },
    },
    Case {
        application: "communities",
        what: "2 drawn communities with hubs",
        fit: |s| hubs((20.0, 2.5, 0.6), 2, s),
    },
    Case {
        application: "motifs",
        what: "2 drawn motifs",
        fit: |seed| {
            let drawn = motifs::Synth {
                windows: 1000,
                motifs: 2,
                length: Extent::line(8),
                seed,
                ..Default::default()
            }
            .draw()?;
            signals(drawn.signals, 2, Extent::line(8), seed)
        },
    },
    Case {
        application: "trees",
        what: "a drawn tree of 12 variables",
        fit: |seed| {
            let drawn = trees::Synth { variables: 12, samples: 2000, seed, ..Default::default() }.draw()?;
            Ok(trees::Params { seed, ..trees::Params::new(2) }.fit(&drawn.table)?.verdict().clone())
        },
    },
    Case {
        application: "cells",
        what: "3 drawn types",
        fit: |seed| {
            let drawn =
                cells::Synth { types: 3, genes: 60, cells: 60 * 400, seed, ..Default::default() }.draw()?;
            Ok(cells::Params { seed, ..cells::Params::new(3) }.fit(&drawn.tissue)?.verdict().clone())
        },
    },
    Case { application: "cells", what: "drawn tissue", fit: |s| detected(&draw::tissue_image(400, 100, s)) },
    Case {
        application: "cells",
        what: "drawn tissue of few cells",
        fit: |s| detected(&draw::tissue_image(400, 12, s)),
    },
    Case {
        application: "sentences",
        what: "sentences of four patterns",
        fit: |seed| words(&draw::patterned_sentences(16_000, seed), seed),
    },
];

/// Too much asked for, outliers, copies, and columns that say nothing: each must be spoken of.
const HARD: &[Case] = &[
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

/// Data that leave nothing to doubt: types, topics and communities that share nothing.
const SEPARABLE: &[Case] = &[
    Case {
        application: "topics",
        what: "topics without a common word",
        fit: |seed| {
            let corpus = draw::separate_topics(600, 3, seed);
            let model = topics::Params { seed, ..topics::Params::new(3) }.fit(&corpus)?;
            let block = |t: usize, b: usize| (0..20).map(|w| model.topics()[(t, 20 * b + w)]).sum::<f64>();
            let pure = (0..3).all(|t| (0..3).any(|b| block(t, b) > 0.98));
            assert!(pure, "a topic holds words of two");
            Ok(model.verdict().clone())
        },
    },
    Case {
        application: "communities",
        what: "cliques without an edge between them",
        fit: |seed| {
            let mut builder = communities::GraphBuilder::new(Some(Kind::Undirected));
            for clique in 0..4 {
                for u in 0..30 {
                    (0..u).for_each(|v| {
                        builder.edge(&format!("{clique}-{u}"), &format!("{clique}-{v}"));
                    });
                }
            }
            let model =
                communities::Params { seed, ..communities::Params::new(4) }.fit(&builder.finish()?)?;
            let members = model.memberships().to_mat();
            let pure = (0..120).all(|u| members.row(u).iter().any(|m| *m > 0.95));
            assert!(pure, "a node of one clique belongs to two");
            Ok(model.verdict().clone())
        },
    },
];

/// How many of the draws gave a warning. Refusing data with nothing in them is as good as doubting what was found.
fn doubtful(case: &Case, tried: u64) -> u64 {
    let mut count = 0;
    for seed in 0..tried {
        match (case.fit)(seed) {
            Ok(verdict) => {
                let told = warnings(&verdict);
                count += u64::from(!told.is_empty());
                println!("  {} {}, draw {seed}: {told:?}", case.application, case.what);
            }
            Err(error) => {
                println!("  {} {}, draw {seed}: {error}", case.application, case.what);
                count += 1;
            }
        }
    }
    count
}

/// Runs the cases, counts them, and gives those that did not say what they should on every draw.
fn silent(kind: &str, cases: &[Case], wanted: bool) -> Vec<String> {
    let tried = seeds(1);
    let mut wrong = Vec::new();
    for case in cases {
        let told = doubtful(case, tried);
        let right = if wanted { told } else { tried - told };
        counted(kind, case.application, case.what, (right, tried));
        if right < tried {
            wrong.push(format!("{} {}: {right} of {tried}", case.application, case.what));
        }
    }
    wrong
}

#[test]
fn nothing_is_found_where_nothing_is() {
    assert_eq!(silent("noise", NOISE, true), Vec::<String>::new());
}

#[test]
fn too_much_and_too_odd_are_spoken_of() {
    assert_eq!(silent("hard", HARD, true), Vec::<String>::new());
}

#[test]
fn good_data_raise_no_alarm() {
    assert_eq!(silent("sound", GOOD, false), Vec::<String>::new());
}

#[test]
fn what_shares_nothing_is_told_apart() {
    assert_eq!(silent("separable", SEPARABLE, false), Vec::<String>::new());
}
