//! Good data, and data that leave nothing to doubt: the verdict is silent.

use super::super::draw;
use super::Case;
use super::fits::{detected, hubs, signals, words};
use tenfold::communities::{self, Edges, Kind};
use tenfold::motifs::{self, Extent};
use tenfold::{cells, ica, topics, trees};

pub(super) const GOOD: &[Case] = &[
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
        application: "motifs",
        what: "a drawn motif of 3 samples",
        fit: |seed| {
            let narrow = Extent::line(3);
            let drawn = motifs::Synth {
                windows: 1000,
                motifs: 1,
                length: narrow,
                noise: 0.5,
                seed,
                ..Default::default()
            }
            .draw()?;
            signals(drawn.signals, 1, Extent::line(8), seed)
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

/// Data that leave nothing to doubt: types, topics and communities that share nothing.
pub(super) const SEPARABLE: &[Case] = &[
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
