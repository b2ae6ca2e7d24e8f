//! Data in which there is nothing to find, drawn by seed.

use rand::RngExt;
use tenfold::cells::synth::{Scatter, Scene};
use tenfold::cells::{Cell, GeneCounts, Plane, Section, Tissue};
use tenfold::communities::{Graph, GraphBuilder, Kind};
use tenfold::engine::linalg::random::{gaussian, normal, permutation, rng};
use tenfold::engine::linalg::{Csr, Mat};
use tenfold::motifs::{Extent, Signals, Stretch};
use tenfold::topics::{Builder, Corpus, Documents};
use tenfold::trees;

/// Where each of these words ends in [0, 1): word w, from 0, has probability in proportion to 1 / (w + first), as words of a language do.
fn zipf(words: usize, first: f64) -> Vec<f64> {
    let total: f64 = (0..words).map(|w| 1.0 / (w as f64 + first)).sum();
    let mut sum = 0.0;
    (0..words)
        .map(|w| {
            sum += 1.0 / (w as f64 + first) / total;
            sum
        })
        .collect()
}

fn word(ends: &[f64], at: f64) -> usize {
    ends.partition_point(|end| *end <= at).min(ends.len() - 1)
}

/// Samples of independent normal numbers, mixed.
pub fn gaussian_samples(samples: usize, columns: usize, seed: u64) -> Mat {
    let mut rng = rng(seed, 900);
    gaussian(samples, columns, &mut rng).matmul(&gaussian(columns, columns, &mut rng))
}

/// Documents that all draw from one distribution of words.
pub fn one_unigram(documents: usize, words: usize, length: usize, seed: u64) -> Corpus {
    let (mut rng, ends) = (rng(seed, 901), zipf(words, 3.0));
    let mut batch = Documents { ends: Vec::new(), words: Vec::new(), counts: Vec::new() };
    for _ in 0..documents {
        let mut counts = std::collections::BTreeMap::<u32, u32>::new();
        // Lengths differ, as those of documents do.
        for _ in 0..length / 2 + rng.random_range(0..length) {
            *counts.entry(word(&ends, rng.random()) as u32).or_default() += 1;
        }
        batch.words.extend(counts.keys());
        batch.counts.extend(counts.values());
        batch.ends.push(batch.words.len() as u32);
    }
    let mut builder = Builder::new(1 << 30);
    builder.push(batch).unwrap();
    builder.finish((0..words).map(|w| format!("w{w}")).collect()).unwrap()
}

/// Documents of one topic each, and topics of twenty words that no other has.
pub fn separate_topics(documents: usize, topics: usize, seed: u64) -> Corpus {
    let mut rng = rng(seed, 909);
    let mut batch = Documents { ends: Vec::new(), words: Vec::new(), counts: Vec::new() };
    for document in 0..documents {
        let first = 20 * (document % topics) as u32;
        let mut counts = [0u32; 20];
        (0..40).for_each(|_| counts[rng.random_range(0..20)] += 1);
        let present = (0..20).filter(|w| counts[*w as usize] > 0);
        batch.words.extend(present.map(|w| first + w));
        batch.counts.extend(counts.iter().filter(|c| **c > 0));
        batch.ends.push(batch.words.len() as u32);
    }
    let mut builder = Builder::new(1 << 30);
    builder.push(batch).unwrap();
    builder.finish((0..20 * topics).map(|w| format!("w{w}")).collect()).unwrap()
}

/// A graph in which every pair is joined by chance: by one probability, or in proportion to degrees that are wished for.
pub struct Chance {
    pub nodes: usize,
    pub degree: f64,
    pub kind: Kind,
    /// Wished degrees fall from many to few as 1/√rank.
    pub uneven: bool,
    pub weighted: bool,
}

impl Chance {
    pub fn draw(&self, seed: u64) -> Graph {
        let mut rng = rng(seed, 902);
        let wish: Vec<f64> = (0..self.nodes)
            .map(|u| if self.uneven { (self.nodes as f64 / (u as f64 + 10.0)).sqrt() } else { 1.0 })
            .collect();
        let total: f64 = wish.iter().sum();
        let scale = self.degree * self.nodes as f64 / (total * total);
        let mut builder = GraphBuilder::new(Some(self.kind));
        for u in 0..self.nodes {
            let first = if self.kind == Kind::Undirected { u + 1 } else { 0 };
            for v in (first..self.nodes).filter(|&v| v != u || self.kind == Kind::Bipartite) {
                if rng.random::<f64>() < scale * wish[u] * wish[v] {
                    let weight = if self.weighted { 0.5 + rng.random::<f64>() } else { 1.0 };
                    let (from, to) = (
                        format!("a{u}"),
                        format!("{}{v}", if self.kind == Kind::Bipartite { "b" } else { "a" }),
                    );
                    match self.weighted {
                        true => builder.weighted_edge(&from, &to, weight),
                        false => builder.edge(&from, &to),
                    };
                }
            }
        }
        builder.finish().unwrap()
    }
}

/// Pairs joined with probability min(1, w_u w_v / Σw), where the wished degrees w fall by a power law with exponent `gamma`: a simple
/// graph with hubs that are joined less often than the product of their degrees says. Even and odd nodes are two communities
/// whose own pairs have that probability 1 + `own` times and the others 1 − `own` times.
pub fn hubs((nodes, degree): (usize, f64), gamma: f64, own: f64, seed: u64) -> Graph {
    let mut rng = rng(seed, 912);
    let mut wish: Vec<f64> = (0..nodes).map(|u| ((u + 1) as f64).powf(-1.0 / (gamma - 1.0))).collect();
    let total = degree * nodes as f64;
    let scale = total / wish.iter().sum::<f64>();
    wish.iter_mut().for_each(|w| *w *= scale);
    let mut edges = Vec::new();
    for u in 0..nodes {
        for v in u + 1..nodes {
            let times = if (u + v) % 2 == 0 { 1.0 + own } else { 1.0 - own };
            if rng.random::<f64>() < times * wish[u] * wish[v] / total {
                edges.push((u as u64, v as u64));
            }
        }
    }
    Graph::from_edges(Kind::Undirected, &edges, None).unwrap()
}

/// Normal noise; with `colour` each sample keeps that share of the one before it.
pub fn noise_signals(windows: usize, window: Extent, channels: usize, colour: f64, seed: u64) -> Signals {
    let mut rng = rng(seed, 903);
    let stretches = (0..windows).map(|trial| {
        let mut last = 0.0;
        let values = (0..channels * window.len())
            .map(|_| {
                last = colour * last + normal(&mut rng);
                last
            })
            .collect();
        Stretch { values, extent: window, trial, offset: 0 }
    });
    Signals::new(stretches.collect(), (0..channels).map(|c| c.to_string()).collect(), None, false)
}

/// Variables that know nothing of each other.
pub fn independent(variables: usize, samples: usize, kind: trees::Kind, seed: u64) -> trees::Table {
    let mut rng = rng(seed, 904);
    let real = kind == trees::Kind::Real;
    let labels = if real { vec!["x".to_owned()] } else { vec!["no".to_owned(), "yes".to_owned()] };
    let named = |v: usize| trees::Variable { name: format!("v{v}"), kind, labels: labels.clone() };
    let mut table = trees::Table::new((0..variables).map(named).collect()).unwrap();
    let share: Vec<f64> = (0..variables).map(|_| rng.random_range(0.2..0.8)).collect();
    for _ in 0..samples {
        let mut entries = Vec::new();
        for v in 0..variables {
            match real {
                true => entries.push((v as u32, normal(&mut rng))),
                false if rng.random::<f64>() < share[v] => entries.push((v as u32, 1.0)),
                false => {}
            }
        }
        table.push(&entries, &[]);
    }
    table
}

/// Sections of many genes whose cells all look alike: one distribution of sizes, shapes and places.
pub fn alike_cells(genes: usize, cells: usize, seed: u64) -> Tissue {
    let mut rng = rng(seed, 905);
    let section = |g: usize, rng: &mut tenfold::engine::linalg::random::Rng| {
        let cell = |rng: &mut tenfold::engine::linalg::random::Rng| {
            let r1 = 5.0 * (0.3 * normal(rng)).exp();
            Cell {
                x: rng.random_range(0.0..1000.0),
                y: rng.random_range(0.0..1000.0),
                r1,
                r2: r1 * rng.random_range(0.4..1.0),
                orientation: rng.random_range(0.0..std::f64::consts::PI),
                intensity: (0.4 * normal(rng)).exp(),
                neighbours: rng.random_range(0.0..6.0f64).floor(),
            }
        };
        // Genes differ in how many cells express them, and in nothing else.
        let count = rng.random_range(cells / 2..cells * 3 / 2);
        Section {
            image: format!("i{g}"),
            gene: format!("g{g}"),
            cells: (0..count).map(|_| cell(rng)).collect(),
        }
    };
    Tissue { sections: (0..genes).map(|g| section(g, &mut rng)).collect() }
}

/// An image of noise over an even background.
pub fn noise_image(side: usize, seed: u64) -> Plane {
    let mut rng = rng(seed, 906);
    Plane::new(side, side, (0..side * side).map(|_| (100.0 + 10.0 * normal(&mut rng)) as f32).collect())
}

/// Noise that hangs together: every pixel is the mean of normal numbers around it, by a Gaussian of so many pixels.
pub fn smooth_noise(side: usize, deviation: f64, seed: u64) -> Plane {
    let mut rng = rng(seed, 912);
    let reach = (4.0 * deviation).ceil() as usize;
    let wide = side + 2 * reach;
    let weights: Vec<f64> =
        (0..=2 * reach).map(|i| (-0.5 * ((i as f64 - reach as f64) / deviation).powi(2)).exp()).collect();
    let white: Vec<f64> = (0..wide * wide).map(|_| normal(&mut rng)).collect();
    let sum = |of: &dyn Fn(usize) -> f64| weights.iter().enumerate().map(|(i, w)| w * of(i)).sum::<f64>();
    let across: Vec<f64> =
        (0..wide * side).map(|at| sum(&|i| white[at / side * wide + at % side + i])).collect();
    let value = |at: usize| sum(&|i| across[(at / side + i) * side + at % side]) as f32;
    Plane::new(side, side, (0..side * side).map(value).collect())
}

/// Every row brighter or darker than the next, with a little noise.
pub fn noisy_rows(side: usize, seed: u64) -> Plane {
    let mut rng = rng(seed, 913);
    let rows: Vec<f64> = (0..side).map(|_| normal(&mut rng)).collect();
    let value = |at: usize| (rows[at / side] + 0.1 * normal(&mut rng)) as f32;
    Plane::new(side, side, (0..side * side).map(value).collect())
}

/// Pixels by themselves, some of them much brighter than most.
pub fn bright_pixels(side: usize, seed: u64) -> Plane {
    let mut rng = rng(seed, 914);
    Plane::new(side, side, (0..side * side).map(|_| normal(&mut rng).exp() as f32).collect())
}

/// Drawn cells on uneven ground, with noise.
pub fn tissue_image(side: usize, cells: usize, seed: u64) -> Plane {
    let extent = side as f64;
    let scatter = Scatter { cells, width: extent, height: extent, seed, ..Scatter::default() };
    let cells = scatter.draw().unwrap().cells;
    Scene { width: side, height: side, noise: 5.0, seed, ..Scene::default() }.draw(&cells)
}

/// Rows of genes that know nothing of each other: fractions, or counts several times as variable as Poisson's.
pub fn gene_noise(rows: usize, genes: usize, fractions: bool, seed: u64) -> GeneCounts {
    let mut rng = rng(seed, 915);
    let places = (0..rows).flat_map(|m| (0..genes).map(move |g| (m, g)));
    let entries: Vec<(usize, usize, f64)> = places
        .map(|(m, g)| {
            let even: f64 = rng.random();
            (m, g, if fractions { even } else { (-6.0 * even.max(1e-300).ln()).floor() })
        })
        .filter(|entry| entry.2 > 0.0)
        .collect();
    let names = (0..genes).map(|g| format!("g{g}")).collect();
    GeneCounts::new(names, Csr::from_triplets(rows, genes, &entries)).unwrap()
}

/// Sentences whose words are drawn one by one, whatever stands beside them; the most frequent of 2,000 words is one in eight.
pub fn random_sentences(sentences: usize, words: usize, seed: u64) -> Vec<String> {
    let (mut rng, ends) = (rng(seed, 907), zipf(words, 1.0));
    let sentence = |_| {
        let length = rng.random_range(5..20);
        let words: Vec<String> = (0..length).map(|_| format!("w{}", word(&ends, rng.random()))).collect();
        words.join(" ")
    };
    (0..sentences).map(sentence).collect()
}

/// These sentences with all their words in any order, over all of them; lengths stay.
pub fn shuffled(sentences: &[String], seed: u64) -> Vec<String> {
    let words: Vec<&str> = sentences.iter().flat_map(|line| line.split(' ')).collect();
    let mut order = permutation(words.len(), &mut rng(seed, 910)).into_iter();
    let sentence = |line: &String| {
        let length = line.split(' ').count();
        order.by_ref().take(length).map(|at| words[at]).collect::<Vec<_>>().join(" ")
    };
    sentences.iter().map(sentence).collect()
}

/// Sentences that follow one of four patterns, with words of their own in each place.
pub fn patterned_sentences(sentences: usize, seed: u64) -> Vec<String> {
    let mut rng = rng(seed, 908);
    let patterns: [&[&str]; 4] = [
        &["the", "adj", "noun", "verb", "the", "place"],
        &["time", "it", "weather", "in", "place", "and", "place"],
        &["who", "gave", "who", "a", "adj", "thing"],
        &["noun", "of", "the", "adj", "thing", "verb", "time"],
    ];
    let sentence = |_| {
        let places = patterns[rng.random_range(0..4)];
        let place = |slot: &&str| match slot.len() {
            0..=3 if *slot != "adj" && *slot != "who" => (*slot).to_owned(),
            _ => format!("{slot}{}", rng.random_range(0..12)),
        };
        places.iter().map(place).collect::<Vec<_>>().join(" ")
    };
    (0..sentences).map(sentence).collect()
}

/// Samples whose direction is any and whose length has heavy tails (Student's law of so many degrees of freedom): there are no sources,
/// and columns know of each other's size.
pub fn round_samples(samples: usize, columns: usize, freedom: usize, seed: u64) -> Mat {
    let mut rng = rng(seed, 911);
    let mut all = gaussian(samples, columns, &mut rng);
    for t in 0..samples {
        let square: f64 = (0..freedom).map(|_| normal(&mut rng).powi(2)).sum();
        let scale = (freedom as f64 / square).sqrt();
        all.row_mut(t).iter_mut().for_each(|x| *x *= scale);
    }
    all
}
