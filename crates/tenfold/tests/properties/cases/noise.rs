//! Data with nothing in them: the verdict says so.

use super::super::draw::{self, Chance};
use super::super::tails::Law;
use super::Case;
use super::fits::{
    AUTO, alike, detected, gaussian, graph, hubs, round, signals, sparse, table, tailed, typed, unigram,
    words,
};
use tenfold::cells;
use tenfold::communities::Kind;
use tenfold::engine::progress::Silent;
use tenfold::motifs::Extent;
use tenfold::trees;

pub(super) const NOISE: &[Case] = &[
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
    Case { application: "motifs", what: "Laplace noise, 1 motif", fit: |s| tailed(Law::Laplace, 1, s) },
    Case { application: "motifs", what: "Laplace noise, auto", fit: |s| tailed(Law::Laplace, AUTO, s) },
    Case {
        application: "motifs",
        what: "exponential noise, auto",
        fit: |s| tailed(Law::Exponential, AUTO, s),
    },
    Case { application: "motifs", what: "squares of noise, 1 motif", fit: |s| tailed(Law::Square, 1, s) },
    Case { application: "motifs", what: "noise of two widths, auto", fit: |s| tailed(Law::Mixture, AUTO, s) },
    Case {
        application: "motifs",
        what: "Poisson counts, 2 motifs",
        fit: |s| tailed(Law::Poisson(0.5), 2, s),
    },
    Case { application: "motifs", what: "single spikes, 2 motifs", fit: |s| tailed(Law::Spikes(0.05), 2, s) },
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
