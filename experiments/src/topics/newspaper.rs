//! A corpus in the shape of the New York Times collection of the thesis, drawn from known topics into a UCI file.
//!
//! Topics, mixtures and lengths are those of [`Synth`] under Zipf's law: a common head, and a tail that differs between
//! topics. Ids are alphabetical, as in the collection, so frequent words lie scattered. The file is the same on any number of
//! threads.

use crate::Outcome;
use rayon::prelude::*;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use tenfold::engine::linalg::{Mat, random};
use tenfold::output;
use tenfold::topics::{Shape, Source, Synth};

/// Batches drawn together before their text is written: some 100 MB.
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
        let source = self.source();
        output::write_atomically(&files.vocabulary, |out| {
            (source.vocabulary().iter())
                .try_for_each(|word| writeln!(out, "{word}"))
                .map_err(|e| output::write_error(&files.vocabulary, e))
        })?;
        let topics = source.topics();
        output::write_array(&files.topics, &[topics.rows(), topics.cols()], topics.as_slice())?;
        // The header holds the number of entries, known only at the end: the body waits in a nameless file.
        let mut body = tempfile::tempfile_in(folder)?;
        let drawn = write_body(&source, &body)?;
        body.rewind()?;
        output::write_atomically(&files.counts, |out| {
            write!(out, "{}\n{}\n{}\n", self.documents, self.words, drawn.entries)
                .and_then(|()| std::io::copy(&mut BufReader::with_capacity(1 << 20, &body), out))
                .map(|_| ())
                .map_err(|e| output::write_error(&files.counts, e))
        })?;
        Ok(drawn)
    }

    /// Topics under Zipf's law as the library draws them, with the words in another order and with names.
    fn source(&self) -> Source {
        let Self { documents, words, topics: k, alpha0, length, seed } = *self;
        let synth = Synth {
            documents,
            words,
            k,
            length,
            spread: 0.5,
            alpha0,
            shape: Shape::Zipf,
            seed,
            ..Synth::default()
        };
        let ranks = random::permutation(words, &mut random::rng(seed, 0));
        let ordered = synth.source();
        let topics = Mat::from_fn(k, words, |t, w| ordered.topics()[(t, ranks[w])]);
        let vocabulary = (0..words).map(|w| spell(w, words)).collect();
        Source::new(topics, vec![1.0 / k as f64; k], vocabulary, &synth)
    }
}

fn write_body(source: &Source, body: &File) -> Outcome<Drawn> {
    let mut out = BufWriter::new(body);
    let mut drawn = Drawn { entries: 0, tokens: 0 };
    for first in (0..source.batches()).step_by(WAVE) {
        let wave = first..(first + WAVE).min(source.batches());
        let texts: Vec<(Vec<u8>, Drawn)> = wave.into_par_iter().map(|b| batch(source, b)).collect();
        for (text, batch) in texts {
            out.write_all(&text)?;
            drawn.entries += batch.entries;
            drawn.tokens += batch.tokens;
        }
    }
    out.flush()?;
    Ok(drawn)
}

/// The lines of one batch of documents.
fn batch(source: &Source, b: usize) -> (Vec<u8>, Drawn) {
    let documents = source.batch(b);
    // Lines of some fourteen bytes.
    let (mut text, mut start) = (Vec::with_capacity(14 * documents.words.len()), 0);
    for (i, &end) in documents.ends.iter().enumerate() {
        for e in start as usize..end as usize {
            let document = (b * Source::BATCH + i) as u32 + 1;
            push_line(&mut text, [document, documents.words[e] + 1, documents.counts[e]]);
        }
        start = end;
    }
    let tokens = documents.counts.iter().map(|&c| u64::from(c)).sum();
    (text, Drawn { entries: documents.words.len() as u64, tokens })
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

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold::engine::linalg::parallel;

    fn small() -> Newspaper {
        Newspaper { documents: 1500, words: 300, topics: 4, alpha0: 0.5, length: 60.0, seed: 3 }
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
