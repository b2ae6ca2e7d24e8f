//! `tenfold generate topics`.

use super::check_entries;
use crate::common::{Session, parse_amount, parse_count, topic_columns};
use crate::exit;
use crate::files::{Bundle, write_bytes, write_table};
use crate::watch::Watch;
use anyhow::Result;
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use tenfold::engine::progress::Progress;
use tenfold::output;
use tenfold::topics::{Shape, Source, Synth};

/// Documents drawn from known topics (LDA), with topics, alpha and mixtures beside them
#[derive(Args)]
#[command(after_help = "\
Every document mixes the topics by theta ~ Dirichlet(alpha); every word comes from one of them. \
With --alpha0 0 a document has a single topic. The documents are drawn as they are written, so \
they may be more than memory holds.

Examples:
  tenfold generate topics --documents 20000 -k 20 --zipf --format text -o d
  tenfold generate topics -o d
  tenfold topics fit d/docword.txt -k 10 -o m.tenfold
  tenfold topics evaluate m.tenfold d/docword.txt --truth d/topics.npy")]
pub struct Topics {
    /// Documents to draw
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = parse_count)]
    documents: usize,
    /// Words of the vocabulary
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = parse_count)]
    words: usize,
    /// Topics
    #[arg(short, value_name = "N", default_value_t = 10, value_parser = parse_count)]
    k: usize,
    /// Mean length of a document
    #[arg(long, value_name = "X", default_value_t = 100.0, value_parser = parse_length)]
    length: f64,
    /// How lengths differ: deviation of their logarithm; 0 for Poisson lengths
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = parse_spread)]
    spread: f64,
    /// Sum of alpha: 0 for one topic in a document, large to mix them all
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_amount)]
    alpha0: f64,
    /// Makes topics unequal: alpha of topic i falls as i^-X
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = parse_amount)]
    skew: f64,
    /// Word frequencies as in text (Zipf), rather than Dirichlet(0.05) topics
    #[arg(long)]
    zipf: bool,
    /// How the documents are written
    #[arg(long, value_name = "NAME", default_value = "uci")]
    format: Format,
    /// Leave out mixtures.csv, one row for every document
    #[arg(long)]
    no_mixtures: bool,
    /// A folder for all files; it is made where it is missing
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// docword.txt, of which vocab.txt names the words
    Uci,
    /// corpus.ldac
    Ldac,
    /// corpus.mtx (MatrixMarket)
    Mtx,
    /// corpus.txt, one document a line
    Text,
}

impl Topics {
    pub fn run(self, session: &Session) -> Result<()> {
        // The topics and the tables to draw from them; documents are written as they are drawn.
        check_entries(2.0 * self.k as f64 * self.words as f64)?;
        if self.documents > u32::MAX as usize || self.words > u32::MAX as usize {
            return Err(exit::usage("more documents or words than a corpus can number; ask for less"));
        }
        let mut bundle = Bundle::new(&self.output)?;
        let source = self.synth(session.seed).source();
        let watch = &session.watch;
        let corpus = bundle.path(self.format.file())?;
        let tokens = watch.during(|watch| self.format.write(&corpus, &source, watch))?;
        let lines: String = source.vocabulary().iter().map(|word| format!("{word}\n")).collect();
        write_bytes(&bundle.path("vocab.txt")?, lines.as_bytes())?;
        output::write_array(&bundle.path("topics.npy")?, &[self.k, self.words], source.topics().as_slice())?;
        output::write_array(&bundle.path("alpha.npy")?, &[self.k], source.alpha())?;
        if !self.no_mixtures {
            write_table(&bundle.path("mixtures.csv")?, &topic_columns(self.k), &source.mixtures(), watch)?;
        }
        watch.check()?;
        let paths: Vec<String> = bundle.finish()?.iter().map(|path| path.display().to_string()).collect();
        let Self { documents, words, k, alpha0, .. } = self;
        let text = format!(
            "{documents} documents of {tokens} words in all, {k} topics over {words} words: {}\n\
             the truth beside it: {}\n\
             next: tenfold topics fit {} -k {k} -o model.tenfold\n",
            paths[0],
            paths[1..].join(", "),
            paths[0],
        );
        let value = json!({
            "documents": documents, "tokens": tokens, "words": words, "k": k, "alpha0": alpha0,
            "seed": session.seed, "output": paths[0], "files": paths,
        });
        session.answer(&text, &value)
    }

    fn synth(&self, seed: u64) -> Synth {
        let Self { documents, words, k, length, spread, alpha0, skew, .. } = *self;
        let shape = if self.zipf { Shape::Zipf } else { Shape::Dirichlet(0.05) };
        Synth { documents, words, k, length, spread, alpha0, skew, shape, seed }
    }
}

/// Batches that are drawn before they are written: enough for every core, little enough to be held.
const GROUP: usize = 16;

impl Format {
    fn file(self) -> &'static str {
        match self {
            Self::Uci => "docword.txt",
            Self::Ldac => "corpus.ldac",
            Self::Mtx => "corpus.mtx",
            Self::Text => "corpus.txt",
        }
    }

    /// Writes all documents; says how many words they have.
    fn write(self, path: &Path, source: &Source, watch: &Watch) -> Result<u64> {
        // Where the first line tells the number of entries, the documents are drawn once to count them.
        let header = match self {
            Self::Uci => {
                let (n, d, entries) = (source.documents(), source.topics().cols(), entries(source, watch)?);
                format!("{n}\n{d}\n{entries}\n")
            }
            Self::Mtx => {
                let (n, d, entries) = (source.documents(), source.topics().cols(), entries(source, watch)?);
                format!("%%MatrixMarket matrix coordinate integer general\n{n} {d} {entries}\n")
            }
            Self::Ldac | Self::Text => String::new(),
        };
        watch.stage("writing", source.batches() as u64);
        let mut tokens = 0;
        output::write_atomically(path, |out| {
            let fail = |e| output::write_error(path, e);
            out.write_all(header.as_bytes()).map_err(fail)?;
            for group in groups(source) {
                watch.check()?;
                let batches: Vec<(String, u64)> = group.par_iter().map(|&b| self.batch(source, b)).collect();
                for (text, drawn) in batches {
                    out.write_all(text.as_bytes()).map_err(fail)?;
                    tokens += drawn;
                    watch.advance(1);
                }
            }
            Ok(())
        })?;
        Ok(tokens)
    }

    /// The text of batch `b`, and the number of its words.
    fn batch(self, source: &Source, b: usize) -> (String, u64) {
        if matches!(self, Self::Text) {
            let text = source.text(b);
            let words = text.split_ascii_whitespace().count() as u64;
            return (text, words);
        }
        let mut text = String::new();
        let batch = source.batch(b);
        let mut start = 0;
        for (i, &end) in batch.ends.iter().enumerate() {
            let range = start as usize..end as usize;
            let entries = batch.words[range.clone()].iter().zip(&batch.counts[range.clone()]);
            let document = b * Source::BATCH + i + 1;
            if matches!(self, Self::Ldac) {
                text += &range.len().to_string();
                entries.for_each(|(word, count)| text += &format!(" {word}:{count}"));
                text.push('\n');
            } else {
                entries.for_each(|(word, count)| text += &format!("{document} {} {count}\n", word + 1));
            }
            start = end;
        }
        (text, batch.counts.iter().map(|&count| u64::from(count)).sum())
    }
}

fn groups(source: &Source) -> impl Iterator<Item = Vec<usize>> {
    let batches = source.batches();
    (0..batches).step_by(GROUP).map(move |first| (first..(first + GROUP).min(batches)).collect())
}

/// Different words, document by document.
fn entries(source: &Source, watch: &Watch) -> Result<u64> {
    watch.stage("counting", source.batches() as u64);
    let mut sum = 0;
    for group in groups(source) {
        watch.check()?;
        sum += group.par_iter().map(|&b| source.batch(b).words.len() as u64).sum::<u64>();
        watch.advance(group.len() as u64);
    }
    Ok(sum)
}

fn parse_length(text: &str) -> Result<f64, String> {
    match parse_amount(text)? {
        length if (3.0..=1e6).contains(&length) => Ok(length),
        _ => Err("a length from 3 to 1000000 is needed".into()),
    }
}

fn parse_spread(text: &str) -> Result<f64, String> {
    match parse_amount(text)? {
        spread if spread <= 3.0 => Ok(spread),
        _ => Err("a deviation from 0 to 3 is needed".into()),
    }
}
