//! One fit of each application, as the cases use it.

use super::super::draw::{self, Chance};
use super::super::tails::{self, Law};
use tenfold::communities::{self, Kind};
use tenfold::components::Components;
use tenfold::engine::progress::Silent;
use tenfold::motifs::{self, Extent};
use tenfold::sentences::{self, Cooccurrence, Cutting, Search, Text, Words};
use tenfold::verdict::Verdict;
use tenfold::{cells, ica, topics, trees};

pub const AUTO: Components = Components::Auto;

pub fn graph(chance: Chance, k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let params = communities::Params { seed, ..communities::Params::new(k) };
    Ok(params.fit(&chance.draw(seed))?.verdict().clone())
}

pub fn sparse(degree: f64) -> Chance {
    Chance { nodes: 600, degree, kind: Kind::Undirected, uneven: false, weighted: false }
}

pub fn hubs(
    (degree, gamma, own): (f64, f64, f64),
    k: impl Into<Components>,
    seed: u64,
) -> tenfold::Result<Verdict> {
    let params = communities::Params { seed, ..communities::Params::new(k) };
    Ok(params.fit(&draw::hubs((1000, degree), gamma, own, seed))?.verdict().clone())
}

pub fn unigram(k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let corpus = draw::one_unigram(1500, 500, 60, seed);
    Ok(topics::Params { seed, ..topics::Params::new(k) }.fit(&corpus)?.verdict().clone())
}

pub fn gaussian(k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let samples = draw::gaussian_samples(4000, 8, seed);
    Ok(ica::Params { seed, ..ica::Params::new(k) }.fit(&samples)?.verdict().clone())
}

pub fn round(k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let samples = draw::round_samples(5000, 6, 3, seed);
    Ok(ica::Params { seed, ..ica::Params::new(k) }.fit(&samples)?.verdict().clone())
}

pub fn signals(
    noise: motifs::Signals,
    k: impl Into<Components>,
    length: Extent,
    seed: u64,
) -> tenfold::Result<Verdict> {
    let params = motifs::Params { length: motifs::Length::Known(length), seed, ..motifs::Params::new(k) };
    Ok(params.fit(&noise)?.verdict().clone())
}

/// Samples that know nothing of each other, of a law that is not normal.
pub fn tailed(law: Law, k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    signals(tails::signals(law, 100, Extent::line(600), 1, seed), k, Extent::line(8), seed)
}

pub fn table(kind: trees::Kind, k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let table = draw::independent(12, 2000, kind, seed);
    Ok(trees::Params { seed, ..trees::Params::new(k) }.fit(&table)?.verdict().clone())
}

pub fn alike(k: impl Into<Components>, seed: u64) -> tenfold::Result<Verdict> {
    let tissue = draw::alike_cells(60, 400, seed);
    Ok(cells::Params { seed, ..cells::Params::new(k) }.fit(&tissue)?.verdict().clone())
}

pub fn detected(image: &cells::Plane) -> tenfold::Result<Verdict> {
    Ok(cells::detect::Params::default().find(image, &Silent)?.diagnostics.verdict)
}

pub fn typed(counts: &cells::GeneCounts, seed: u64) -> tenfold::Result<Verdict> {
    Ok(cells::Params { seed, ..cells::Params::new(2) }.fit_counts(counts)?.verdict().clone())
}

pub fn words(lines: &[String], seed: u64) -> tenfold::Result<Verdict> {
    let text = Text::new(lines, &Cutting::default(), 3)?;
    let params = sentences::Params {
        words: Words::Learned(Cooccurrence { dimensions: 30, ..Cooccurrence::default() }),
        templates: Search { count: 8, ..Search::default() },
        seed,
        ..sentences::Params::default()
    };
    Ok(params.fit(&text)?.verdict().clone())
}
