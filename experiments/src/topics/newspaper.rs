//! A corpus in the shape of the New York Times collection of the thesis, drawn from known topics into a UCI file.
//!
//! Topic t gives the word of rank r the weight (r + 10)^−0.95 · exp(1.8 z) with z normal: Zipf's law with a common
//! head, and a tail that differs between topics. Mixtures are Dirichlet, lengths log-normal and Poisson. Ids are alphabetical, as in the
//! collection, so frequent words lie scattered. Every block of documents has its own stream of random numbers, so
//! the file is the same on any number of threads.

use crate::Outcome;
use rand::RngExt;
use rand_distr::{Distribution, Gamma, Poisson};
use rayon::prelude::*;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use tenfold::engine::linalg::{Mat, random};
use tenfold::output;

/// Documents that one stream of random numbers draws.
const BLOCK: usize = 512;

/// Blocks drawn together before their text is written: some 80 MB.
const WAVE: usize = 64;

/// The shape of the corpus.
pub struct Newspaper {
    /// Documents to draw.
    pub documents: usize,
    /// Words in the vocabulary.
    pub words: usize,
    /// True topics.
    pub topics: usize,
    /// Sum of the Dirichlet's parameters, equal for all topics.
    pub alpha0: f64,
    /// Mean tokens of a document.
    pub length: f64,
    /// All randomness comes from here.
    pub seed: u64,
}

impl Default for Newspaper {
    /// About 70 million entries, as the collection has; its 100 million tokens repeat more often than topics alone
    /// make them, so there are fewer here.
    fn default() -> Self {
        Self { documents: 300_000, words: 102_660, topics: 100, alpha0: 1.0, length: 287.0, seed: 1 }
    }
}

/// Where a drawn corpus lies.
pub struct Files {
    /// `docword.NAME.txt`, UCI bag of words.
    pub counts: PathBuf,
    /// `vocab.NAME.txt`, one word a line.
    pub vocabulary: PathBuf,
    /// `topics.NAME.npy`, the true topics, k × words.
    pub topics: PathBuf,
}

impl Files {
    /// The three files of the corpus `name` in `folder`.
    pub fn new(folder: &Path, name: &str) -> Self {
        Self {
            counts: folder.join(format!("docword.{name}.txt")),
            vocabulary: folder.join(format!("vocab.{name}.txt")),
            topics: folder.join(format!("topics.{name}.npy")),
        }
    }
}

/// How much was drawn.
#[derive(Debug, PartialEq)]
pub struct Drawn {
    /// Pairs of a document and a word.
    pub entries: u64,
    /// Words in running text.
    pub tokens: u64,
}

impl Newspaper {
    /// Draws the corpus into `files`. The counts come last, so where they lie all three are whole.
    pub fn write(&self, files: &Files) -> Outcome<Drawn> {
        let folder = files.counts.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let topics = self.topics();
        output::write_atomically(&files.vocabulary, |out| {
            (0..self.words)
                .try_for_each(|w| writeln!(out, "{}", spell(w, self.words)))
                .map_err(|e| output::write_error(&files.vocabulary, e))
        })?;
        output::write_array(&files.topics, &[topics.rows(), topics.cols()], topics.as_slice())?;
        let tables: Vec<Alias> =
            (0..self.topics).into_par_iter().map(|t| Alias::new(topics.row(t))).collect();
        drop(topics);
        // The header holds the number of entries, known only at the end: the body waits in a nameless file.
        let mut body = tempfile::tempfile_in(folder)?;
        let drawn = self.write_body(&tables, &body)?;
        body.rewind()?;
        output::write_atomically(&files.counts, |out| {
            write!(out, "{}\n{}\n{}\n", self.documents, self.words, drawn.entries)
                .and_then(|()| std::io::copy(&mut BufReader::with_capacity(1 << 20, &body), out))
                .map(|_| ())
                .map_err(|e| output::write_error(&files.counts, e))
        })?;
        Ok(drawn)
    }

    fn topics(&self) -> Mat {
        let ranks = random::permutation(self.words, &mut random::rng(self.seed, 0));
        let rows: Vec<Vec<f64>> = (0..self.topics)
            .into_par_iter()
            .map(|t| {
                let mut rng = random::rng(self.seed, 1 + t as u64);
                let weight = |rank: usize, z: f64| (rank as f64 + 10.0).powf(-0.95) * (1.8 * z).exp();
                let row: Vec<f64> =
                    ranks.iter().map(|&rank| weight(rank, random::normal(&mut rng))).collect();
                let sum: f64 = row.iter().sum();
                row.iter().map(|x| x / sum).collect()
            })
            .collect();
        Mat::from_vec(self.topics, self.words, rows.concat())
    }

    fn write_body(&self, tables: &[Alias], body: &File) -> Outcome<Drawn> {
        let mut out = BufWriter::new(body);
        let mut drawn = Drawn { entries: 0, tokens: 0 };
        let blocks = self.documents.div_ceil(BLOCK);
        for first in (0..blocks).step_by(WAVE) {
            let wave = first..(first + WAVE).min(blocks);
            let texts: Vec<(Vec<u8>, Drawn)> = wave.into_par_iter().map(|b| self.block(b, tables)).collect();
            for (text, block) in texts {
                out.write_all(&text)?;
                drawn.entries += block.entries;
                drawn.tokens += block.tokens;
            }
        }
        out.flush()?;
        Ok(drawn)
    }

    /// The lines of one block of documents.
    fn block(&self, b: usize, tables: &[Alias]) -> (Vec<u8>, Drawn) {
        // Streams below 2³² belong to the topics.
        let mut rng = random::rng(self.seed, (1 << 32) + b as u64);
        let shares = Gamma::new(self.alpha0 / self.topics as f64, 1.0).expect("α₀ is positive");
        let mut text = Vec::with_capacity(BLOCK * 4 * self.length as usize);
        let mut drawn = Drawn { entries: 0, tokens: 0 };
        let (mut mixture, mut tokens) = (vec![0.0; self.topics], Vec::new());
        for document in b * BLOCK..((b + 1) * BLOCK).min(self.documents) {
            let mut sum = 0.0;
            for cumulated in &mut mixture {
                sum += shares.sample(&mut rng);
                *cumulated = sum;
            }
            // exp(½ z − ⅛) has mean 1.
            let mean = self.length * (0.5 * random::normal(&mut rng) - 0.125).exp();
            let length =
                Poisson::new(mean).expect("the length is positive").sample(&mut rng).max(5.0) as usize;
            tokens.clear();
            tokens.extend((0..length).map(|_| {
                let at = rng.random::<f64>() * sum;
                let topic = mixture.partition_point(|&cumulated| cumulated <= at).min(self.topics - 1);
                tables[topic].draw(rng.random())
            }));
            tokens.sort_unstable();
            for run in tokens.chunk_by(|a, b| a == b) {
                push_line(&mut text, [document as u32 + 1, run[0] + 1, run.len() as u32]);
                drawn.entries += 1;
            }
            drawn.tokens += length as u64;
        }
        (text, drawn)
    }
}

/// `document word count` and a newline; formatting by hand, because 200 million numbers are written.
fn push_line(text: &mut Vec<u8>, numbers: [u32; 3]) {
    for (number, end) in numbers.into_iter().zip(*b"  \n") {
        let (mut digits, mut at, mut rest) = ([0u8; 10], 10, number);
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        text.extend_from_slice(&digits[at..]);
        text.push(end);
    }
}

/// A word that can be said for every id, in alphabetical order of ids.
fn spell(mut id: usize, words: usize) -> String {
    const SYLLABLES: [&str; 32] = [
        "ba", "be", "bo", "da", "de", "do", "fa", "fe", "ga", "go", "ha", "he", "ka", "ke", "la", "le", "lo",
        "ma", "me", "mo", "na", "ne", "no", "pa", "pe", "ra", "re", "sa", "se", "ta", "te", "to",
    ];
    let mut syllables = Vec::new();
    let mut room = 1;
    while room < words {
        syllables.push(SYLLABLES[id % 32]);
        id /= 32;
        room *= 32;
    }
    syllables.iter().rev().copied().collect()
}

/// Draws from a discrete distribution in constant time (Walker's alias method, built as Vose does).
struct Alias {
    /// For each cell: the share of 2³² that stays in it, and where the rest goes.
    cells: Vec<(u32, u32)>,
}

impl Alias {
    fn new(probabilities: &[f64]) -> Self {
        let n = probabilities.len();
        let mut scaled: Vec<f64> = probabilities.iter().map(|p| p * n as f64).collect();
        let mut cells: Vec<(u32, u32)> = (0..n as u32).map(|i| (u32::MAX, i)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| scaled[i] < 1.0);
        while let (Some(s), Some(&l)) = (small.pop(), large.last()) {
            cells[s] = ((scaled[s] * (1u64 << 32) as f64) as u32, l as u32);
            scaled[l] -= 1.0 - scaled[s];
            if scaled[l] < 1.0 {
                large.pop();
                small.push(l);
            }
        }
        Self { cells }
    }

    /// One draw from 64 random bits: the upper half picks the cell, the lower half who has it.
    fn draw(&self, bits: u64) -> u32 {
        let at = ((bits >> 32) * self.cells.len() as u64) >> 32;
        let (stays, other) = self.cells[at as usize];
        if bits as u32 <= stays { at as u32 } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold::engine::linalg::parallel;

    fn small() -> Newspaper {
        Newspaper { documents: 1500, words: 300, topics: 4, alpha0: 0.5, length: 60.0, seed: 3 }
    }

    #[test]
    fn an_alias_table_has_the_probabilities_it_was_given() {
        let p = [0.5, 0.0, 0.2, 0.05, 0.25];
        let table = Alias::new(&p);
        let mut mass = [0.0; 5];
        for (i, &(stays, other)) in table.cells.iter().enumerate() {
            let share = if other as usize == i { 1.0 } else { stays as f64 / (1u64 << 32) as f64 };
            mass[i] += share / 5.0;
            mass[other as usize] += (1.0 - share) / 5.0;
        }
        for (m, p) in mass.iter().zip(p) {
            assert!((m - p).abs() < 1e-8, "{mass:?}");
        }
    }

    #[test]
    fn the_file_is_a_sound_bag_of_words_and_the_same_on_any_number_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        let texts = [1, 3].map(|threads| {
            let files = Files::new(folder.path(), &threads.to_string());
            let drawn = parallel::with_threads(threads, || small().write(&files).map_err(|e| e.to_string()));
            (fs::read_to_string(files.counts).unwrap(), drawn.unwrap())
        });
        assert_eq!(texts[0], texts[1]);
        let (text, drawn) = &texts[0];
        let mut lines = text.lines().map(|l| l.split(' ').map(|x| x.parse().unwrap()).collect::<Vec<u64>>());
        let header: Vec<u64> = lines.by_ref().take(3).map(|l| l[0]).collect();
        assert_eq!(header, [1500, 300, drawn.entries]);
        let entries: Vec<Vec<u64>> = lines.collect();
        assert_eq!(entries.len() as u64, drawn.entries);
        assert_eq!(entries.iter().map(|e| e[2]).sum::<u64>(), drawn.tokens);
        assert!(entries.is_sorted_by(|a, b| (a[0], a[1]) < (b[0], b[1])));
        assert!(entries.iter().all(|e| (1..=1500).contains(&e[0]) && (1..=300).contains(&e[1]) && e[2] > 0));
        // A mean of 1,500 lengths with standard deviation about 33: four standard errors.
        assert!((drawn.tokens as f64 / 1500.0 - 60.0).abs() < 4.0 * 33.0 / 1500f64.sqrt(), "{drawn:?}");
    }

    #[test]
    fn words_come_as_often_as_the_topics_say() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(folder.path(), "one");
        // One topic: the counts are multinomial.
        let drawn = Newspaper { topics: 1, ..small() }.write(&files).unwrap();
        let topic = tenfold::input::read_array(&files.topics).unwrap();
        assert_eq!(topic.shape, [1, 300]);
        let mut counts = vec![0.0; 300];
        for line in fs::read_to_string(&files.counts).unwrap().lines().skip(3) {
            let numbers: Vec<usize> = line.split(' ').map(|x| x.parse().unwrap()).collect();
            counts[numbers[1] - 1] += numbers[2] as f64;
        }
        let n = drawn.tokens as f64;
        let chi2: f64 =
            counts.iter().zip(&topic.data).map(|(c, p)| (c - n * p).powi(2) / (n * p).max(1e-9)).sum();
        // Mean 299, standard deviation 24.5; cells with little mass widen it.
        assert!(chi2 < 299.0 + 6.0 * 24.5, "{chi2}");
    }

    #[test]
    fn words_are_distinct_and_in_order() {
        let words: Vec<String> = (0..5000).map(|w| spell(w, 5000)).collect();
        assert!(words.is_sorted_by(|a, b| a < b));
    }
}
