//! `tenfold sentences fit`.

use super::reading::{FeaturesName, ReadArgs};
use crate::checkpoint::CheckpointArgs;
use crate::common::{Session, parse_amount, parse_count, parse_count_to, refuse};
use crate::memory::{MemoryArgs, Taken};
use crate::{exit, files};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;
use tenfold::memory::Estimate;
use tenfold::sentences::{Cooccurrence, Cutting, Learner, Model, Params, Search, Text, Words, read_vectors};
use tenfold::topics::read::Recipe;

/// Learn word vectors and phrase templates from a text
#[derive(Args)]
#[command(after_help = "\
TEXT holds one sentence a line, also as .gz or .zst; - reads standard input. Word vectors are learned \
from the same text by the words that stand near each other, or taken from a file of word2vec or \
GloVe. Templates are patterns of a few words, found by the fourth (or third) cumulant of all \
patches of the text; `random` ones are for comparison.

Examples:
  tenfold sentences fit reviews.txt -o m.tenfold
  tenfold sentences fit reviews.txt --features sif --dimensions 300 -o m.tenfold
  tenfold sentences fit reviews.txt --vectors glove.6B.100d.txt -o m.tenfold")]
pub struct Fit {
    /// Sentences, one a line; - for standard input
    #[arg(value_name = "TEXT")]
    input: PathBuf,
    /// Where the model goes; .tenfold is the usual extension
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// What a sentence becomes
    #[arg(long, value_name = "NAME", default_value = "templates+mean")]
    features: FeaturesName,
    /// Weight a/(a + frequency) of a word in the features sif
    #[arg(long, value_name = "A", default_value_t = 1e-3, value_parser = parse_positive)]
    sif: f64,
    /// Exit with code 4 when the decomposition did not converge
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    #[command(flatten)]
    words: WordArgs,
    #[command(flatten)]
    templates: TemplateArgs,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

#[derive(Args)]
#[command(next_help_heading = "Words and their vectors")]
struct WordArgs {
    /// Vectors of word2vec (text or binary) or GloVe, instead of learning them
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// Keep all vectors of that file, not only those of the words of the text
    #[arg(long)]
    all_words: bool,
    /// Length of learned vectors [default: 100]
    #[arg(long, value_name = "N", value_parser = parse_count_to::<4096>)]
    dimensions: Option<usize>,
    /// How far apart neighbours may stand [default: 10]
    #[arg(long, value_name = "N", value_parser = parse_count_to::<1000>)]
    window: Option<usize>,
    /// Power of the neighbours' frequencies: below 1 rare ones count for less [default: 0.75]
    #[arg(long, value_name = "X", value_parser = parse_amount)]
    smoothing: Option<f64>,
    /// How many times more often than by chance two words must stand together [default: 1]
    #[arg(long, value_name = "X", value_parser = parse_positive)]
    shift: Option<f64>,
    /// Power of the singular values in the vectors [default: 0.5]
    #[arg(long, value_name = "X", value_parser = parse_amount)]
    power: Option<f64>,
    /// Leave the vectors as long as they come, instead of length one
    #[arg(long)]
    no_unit: bool,
    /// Fewest times that a word must occur
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = parse_count)]
    min_count: usize,
    /// Tell upper from lower case
    #[arg(long)]
    keep_case: bool,
    /// Leave marks of punctuation out
    #[arg(long)]
    no_punctuation: bool,
    /// Take words by their stems, in this language: en, de, fr, ...
    #[arg(long, value_name = "CODE")]
    stem: Option<String>,
}

#[derive(Args)]
#[command(next_help_heading = "Templates")]
struct TemplateArgs {
    /// How many templates [default: 128]
    #[arg(short = 'L', long, value_name = "N", value_parser = parse_count_to::<4096>)]
    templates: Option<usize>,
    /// Words of a template [default: 4]
    #[arg(long, value_name = "N", value_parser = parse_count_to::<16>)]
    length: Option<usize>,
    /// Leading dimensions of the vectors that templates see [default: all]
    #[arg(long, value_name = "N", value_parser = parse_count_to::<4096>)]
    channels: Option<usize>,
    /// What tells templates apart [default: fourth]
    #[arg(long, value_name = "NAME")]
    learner: Option<LearnerName>,
    /// Activations of a template that a sentence keeps, the largest first [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_count_to::<16>)]
    pool: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum LearnerName {
    /// The third cumulant
    Third,
    /// The fourth cumulant
    Fourth,
    /// Nothing: random templates, to compare with
    Random,
    /// Both cumulants of every dimension of the vectors by itself
    Motifs,
}

impl Fit {
    pub fn run(self, session: &Session) -> Result<()> {
        self.refuse_unused()?;
        let cutting = self.words.cutting()?;
        let inputs: Vec<_> =
            std::iter::once(&self.input).chain(&self.words.vectors).map(PathBuf::as_path).collect();
        files::check_output(&self.output, &inputs)?;
        let kept = self.checkpoint.open(session)?;
        let begin = Instant::now();
        // Lines are held with their words while these are numbered.
        self.memory.admit(&self.input, 2.0)?;
        let lines = self.read.read(&self.input, session)?;
        // Short lines take more than their bytes once they are numbered.
        let numbers =
            Estimate::beside("the lines", lines.bytes() as u64).and("their words", Text::bytes_of(&lines));
        if !self.memory.holds(&numbers) {
            self.memory.announce(numbers, "give fewer or longer lines", session)?;
        }
        let text = Text::of_lines(&lines, &cutting, self.words.min_count)?;
        drop(lines);
        let params = self.params(&text, session)?;
        let remedy = "give a larger --min-count, or fewer --dimensions or templates";
        let taken = self.memory.announce(params.needs(&text), remedy, session)?;
        let model = kept.during(session, |progress| params.fit_with(&text, progress))?;
        model.save(&self.output)?;
        kept.finish(session);
        self.tell(&model, (begin.elapsed().as_secs_f64(), &taken), session)
    }

    /// Choices that would be passed over.
    fn refuse_unused(&self) -> Result<()> {
        let (w, t) = (&self.words, &self.templates);
        if w.vectors.is_some() {
            let learned = [
                ("--dimensions", w.dimensions.is_some()),
                ("--window", w.window.is_some()),
                ("--smoothing", w.smoothing.is_some()),
                ("--shift", w.shift.is_some()),
                ("--power", w.power.is_some()),
            ];
            refuse(&learned, "--vectors")?;
        } else {
            refuse(&[("--all-words", w.all_words)], "vectors that are learned")?;
        }
        let templates = [
            ("--templates", t.templates.is_some()),
            ("--length", t.length.is_some()),
            ("--channels", t.channels.is_some()),
            ("--learner", t.learner.is_some()),
            ("--pool", t.pool.is_some()),
        ];
        if !self.features.features().has_templates() {
            refuse(&templates, &format!("--features {}", self.features.features().name()))?;
        }
        Ok(())
    }

    fn params(&self, text: &Text, session: &Session) -> Result<Params> {
        let (w, t) = (&self.words, &self.templates);
        let words = match &w.vectors {
            Some(path) => {
                let wanted: HashSet<&str> = text.vocabulary().iter().map(String::as_str).collect();
                let wanted = (!w.all_words).then_some(&wanted);
                let bound = session.max_decompressed;
                let given = session.watch.during(|watch| read_vectors(path, wanted, bound, watch))?;
                given.notes().iter().for_each(|note| session.note(&format!("{}: {note}", path.display())));
                Words::Given(given)
            }
            None => {
                let d = Cooccurrence::default();
                Words::Learned(Cooccurrence {
                    dimensions: w.dimensions.unwrap_or(d.dimensions),
                    window: w.window.unwrap_or(d.window),
                    smoothing: w.smoothing.unwrap_or(d.smoothing),
                    shift: w.shift.unwrap_or(d.shift),
                    power: w.power.unwrap_or(d.power),
                })
            }
        };
        let d = Search::default();
        let templates = Search {
            count: t.templates.unwrap_or(d.count),
            length: t.length.unwrap_or(d.length),
            channels: t.channels,
            learner: match t.learner {
                Some(LearnerName::Third) => Learner::Third,
                Some(LearnerName::Fourth) => Learner::Fourth,
                Some(LearnerName::Random) => Learner::Random,
                Some(LearnerName::Motifs) => Learner::Motifs,
                None => d.learner,
            },
            pool: t.pool.unwrap_or(d.pool),
        };
        let (features, unit, sif, seed) = (self.features.features(), !w.no_unit, self.sif, session.seed);
        Ok(Params { features, words, unit, templates, sif, seed })
    }

    fn tell(&self, model: &Model, (seconds, taken): (f64, &Taken), session: &Session) -> Result<()> {
        let mut text = model.summary();
        let mut value = model.to_json();
        text += &format!("model written to {} in {seconds:.1} s\n", self.output.display());
        value["seconds"] = json!(seconds);
        value["memory"] = taken.to_json();
        value["model"] = json!(self.output.to_string_lossy());
        text += &format!("next: tenfold sentences encode {} TEXT -o features.npy\n", self.output.display());
        session.answer(&text, &value)?;
        if !model.diagnostics().converged() && self.strict {
            return Err(exit::not_converged());
        }
        Ok(())
    }
}

impl WordArgs {
    fn cutting(&self) -> Result<Cutting> {
        let usual = Cutting::default();
        let recipe = Recipe { lowercase: !self.keep_case, stemmer: self.stem.clone(), ..usual.recipe };
        let cutting = Cutting { recipe, punctuation: !self.no_punctuation };
        cutting.check()?;
        Ok(cutting)
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match parse_amount(text)? {
        x if x > 0.0 => Ok(x),
        _ => Err("a number above 0 is needed".into()),
    }
}
