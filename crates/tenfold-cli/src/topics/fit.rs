//! `tenfold topics fit`.

use super::reading::parse_share;
use super::{ReadArgs, WordArgs, mixtures};
use crate::checkpoint::CheckpointArgs;
use crate::common::{Session, parse_amount, parse_components, parse_count_to};
use crate::device::DeviceArgs;
use crate::memory::Taken;
use crate::solver::SolverArgs;
use crate::{device, exit, files};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tenfold::admixture::Completion;
use tenfold::components::Components;
use tenfold::engine::progress::Progress;
use tenfold::topics::{Corpus, Model, Params, Polish};

/// Learn topics from documents
#[derive(Args)]
#[command(after_help = "\
INPUT is text (a folder of files, a file with one document a line, MALLET import text, a .csv, .tsv \
or .parquet table with a text column) or a bag of words (UCI docword, LDA-C, MatrixMarket, \
svmlight), also as .gz or .zst; - reads standard input. Documents of fewer than 3 words tell nothing about how \
words go together: they are left out of the moments and kept for the rest.

The topics come from the second and third moments of the words; the polish then raises the \
likelihood of the documents: `predict` for the best prediction of unseen text, `faithful` for the \
nearest topics where the model is true, `none` for the moments alone. A part of the documents is \
kept aside to see that it helps.

Examples:
  tenfold topics fit notes.txt -k 20 -o model.tenfold
  tenfold topics fit letters/ -k auto --language de -o model.tenfold
  tenfold topics fit talks.csv --text-column body --id-column id -o m.tenfold
  tenfold topics fit docword.kos.txt.gz -k 50 --hold-out 0.2 -o m.tenfold")]
pub struct Fit {
    /// Documents: a file, a folder, or - for standard input
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// Number of topics, or `auto` to choose it by eigenvalues that hold in the other half of the documents
    #[arg(short, value_name = "N|auto", default_value = "auto", value_parser = parse_components)]
    k: Components,
    /// Where the model goes; .tenfold is the usual extension
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Sum of alpha that the moments assume: 0 for one topic in a document, larger for more
    #[arg(long, value_name = "X", value_parser = parse_amount)]
    alpha0: Option<f64>,
    /// What follows the moments
    #[arg(long, value_name = "NAME", default_value = "predict")]
    polish: PolishName,
    /// Most passes of the polish over the documents [default: by their number]
    #[arg(long, value_name = "N", value_parser = parse_count_to::<10_000>)]
    epochs: Option<usize>,
    /// Also write the mixtures of the documents: .csv, .tsv, .parquet or .npy
    #[arg(long, value_name = "OUT")]
    mixtures: Option<PathBuf>,
    /// Keep this share of the documents out of the fit and say how well it predicts them
    #[arg(long, value_name = "X", value_parser = parse_hold_out)]
    hold_out: Option<f64>,
    /// Keep no moments in the model: a smaller file, which `topics update` and `merge` cannot use
    #[arg(long)]
    no_moments: bool,
    /// Exit with code 4 when the decomposition did not converge
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    #[command(flatten)]
    solver: SolverArgs,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    words: WordArgs,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PolishName {
    /// Stepwise EM: the best prediction of unseen documents
    Predict,
    /// Collapsed variational steps: the nearest topics where the model is true
    Faithful,
    /// The moments alone
    None,
}

/// Memory while a bag of words is read, in lengths of its file and at most: windows of 32,768 documents or eight million words, as
/// they were read and as they are kept. Measured: 230 MB for a file of 170 MB, and no more for larger ones.
const READING: f64 = 1.3;
const MOST_READING: f64 = 250e6;

impl Fit {
    pub fn run(self, session: &Session) -> Result<()> {
        let mut params = self.params(session.seed)?;
        let recipe = self.words.recipe(session)?;
        let read = self.read.inputs(&self.input);
        let mut inputs: Vec<&Path> = read.iter().map(PathBuf::as_path).chain(self.words.input()).collect();
        files::check_output(&self.output, &inputs)?;
        if let Some(mixtures) = &self.mixtures {
            inputs.push(&self.output);
            files::check_table(mixtures, &inputs)?;
        }
        let kept = self.checkpoint.open(session)?;
        let begin = Instant::now();
        self.admit()?;
        let mut corpus = self.read.read(&self.input, recipe, session)?;
        let mut parts = self.hold_out.map(|share| Parts::of(&corpus, share)).transpose()?;
        if let Some(parts) = &parts {
            session.note(&parts.describe(&corpus));
        }
        let taken = self.settle_memory(&params, &mut corpus, parts.as_mut(), session)?;
        let fitted = parts.as_ref().map_or(&corpus, |parts| &parts.fit);
        params.device = self.device.open(session)?;
        let model = kept.during(session, |progress| params.fit_with(fitted, progress))?;
        device::tell(&params.device, session);
        let scored = parts.as_ref().map(|parts| parts.score(&model, session)).transpose()?;
        // Model and mixtures appear together or not at all, so that a stop leaves neither.
        let mut bundle = files::Bundle::new(files::folder_of(&self.output))?;
        if let Some(path) = &self.mixtures {
            mixtures::write(&bundle.place(path)?, &model, &corpus, None, session)?;
        }
        model.save(&bundle.place(&self.output)?)?;
        session.watch.check()?;
        bundle.finish()?;
        kept.finish(session);
        self.tell(&model, scored, (begin.elapsed().as_secs_f64(), &taken), session)
    }

    fn params(&self, seed: u64) -> Result<Params> {
        if self.polish == PolishName::None && self.epochs.is_some() {
            return Err(exit::usage("--epochs means nothing with --polish none; leave it out"));
        }
        let defaults = Params::new(self.k);
        Ok(Params {
            alpha0: self.alpha0.unwrap_or(defaults.alpha0),
            polish: match self.polish {
                PolishName::Predict => Polish::Predict,
                PolishName::Faithful => Polish::Faithful,
                PolishName::None => Polish::None,
            },
            epochs: self.epochs,
            solver: self.solver.solver_like(&defaults.solver)?,
            keep_moments: !self.no_moments,
            seed,
            ..defaults
        })
    }

    /// Documents are shuffled in windows of millions of words, whatever the bound: reading a large corpus takes as much.
    fn admit(&self) -> Result<()> {
        let length = self.input.metadata().map_or(0, |about| if about.is_file() { about.len() } else { 0 });
        let least = (READING * length as f64).min(MOST_READING);
        self.read.memory.admit(&self.input, least / (length as f64).max(1.0))
    }

    /// Says what the fit will hold. Documents go to disk where there is room for them or for the work, but not for both.
    fn settle_memory(
        &self,
        params: &Params,
        corpus: &mut Corpus,
        mut parts: Option<&mut Parts>,
        session: &Session,
    ) -> Result<Taken> {
        let memory = &self.read.memory;
        let needs = |corpus: &Corpus, parts: &Option<&mut Parts>| {
            params.needs(parts.as_ref().map_or(corpus, |parts| &parts.fit))
        };
        if !memory.holds(&needs(corpus, &parts)) {
            corpus.move_to_disk()?;
            if let Some(parts) = &mut parts {
                parts.fit.move_to_disk()?;
                parts.held_out.move_to_disk()?;
            }
        }
        memory.announce(needs(corpus, &parts), "ask for fewer topics or a smaller vocabulary", session)
    }

    fn tell(
        &self,
        model: &Model,
        scored: Option<Score>,
        (seconds, taken): (f64, &Taken),
        session: &Session,
    ) -> Result<()> {
        let mut text = model.summary();
        let mut value: Value = model.to_json();
        if let Some(Score { documents, perplexity }) = scored {
            text +=
                &format!("perplexity {perplexity:.1} on {documents} documents, which the fit did not see\n");
            value["held_out"] =
                json!({ "share": self.hold_out, "documents": documents, "perplexity": perplexity });
        }
        text += &format!("model written to {} in {seconds:.1} s\n", self.output.display());
        value["seconds"] = json!(seconds);
        value["memory"] = taken.to_json();
        value["model"] = json!(self.output.to_string_lossy());
        if let Some(path) = &self.mixtures {
            text += &format!("mixtures written to {}\n", path.display());
            value["mixtures"] = json!(path.to_string_lossy());
        }
        text += &format!("next: tenfold report {} -o topics.html\n", self.output.display());
        session.answer(&text, &value)?;
        let d = model.diagnostics();
        if !d.converged {
            session.warn(&format!("the decomposition had not converged after {} iterations", d.iterations));
            if self.strict {
                return Err(exit::not_converged());
            }
        }
        Ok(())
    }
}

/// Documents for the fit and documents that are kept from it.
struct Parts {
    fit: Corpus,
    held_out: Corpus,
}

/// How well documents are predicted that the fit did not see.
struct Score {
    documents: usize,
    perplexity: f64,
}

impl Parts {
    /// Holds documents out by their place alone, beginning with the first, as evenly as the share allows: 0.2 is
    /// every fifth.
    fn of(corpus: &Corpus, share: f64) -> Result<Self> {
        let is_out = |i: usize| is_held_out(i, share);
        let held_out = corpus.select(is_out)?;
        let mut fit = corpus.select(|i| !is_out(i))?;
        // Known before the fit, because an error after it would cost the model.
        if held_out.short_documents() == held_out.documents() {
            return Err(exit::bad_input(format!(
                "none of the {} documents held out has three words, so none can be predicted; give longer \
                 documents or leave --hold-out out",
                held_out.documents()
            )));
        }
        // The model tells documents by their numbers in the fit; the user knows those of the file.
        if corpus.names().is_none() {
            let numbers = (0..corpus.documents()).filter(|&i| !is_out(i));
            fit.set_names(numbers.map(|i| format!("document {}", i + 1)).collect());
        }
        Ok(Self { fit, held_out })
    }

    fn describe(&self, corpus: &Corpus) -> String {
        format!("{} of {} documents are held out", self.held_out.documents(), corpus.documents())
    }

    fn score(&self, model: &Model, session: &Session) -> Result<Score> {
        let (counts, measure) = (self.held_out.counts(), Completion::default());
        let perplexity =
            session.watch.during(|w| measure.perplexity(counts, model.topics(), model.unigram(), w))?;
        Ok(Score { documents: self.held_out.documents(), perplexity })
    }
}

/// Whether document i is held out: where i·share passes a whole number, in millionths so that nothing is rounded.
fn is_held_out(i: usize, share: f64) -> bool {
    let (whole, part) = (1_000_000, (share * 1e6).round() as u64);
    i as u64 * part % whole < part
}

fn parse_hold_out(text: &str) -> Result<f64, String> {
    match parse_share(text)? {
        share if (0.001..=0.5).contains(&share) => Ok(share),
        _ => Err("a share from 0.001 to 0.5 is needed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_share_is_held_out_evenly() {
        assert!((0..100_000).all(|i| is_held_out(i, 0.2) == (i % 5 == 0)));
        for share in [0.001, 0.01, 0.1, 0.25, 0.3, 0.4, 0.45, 0.5] {
            let out: Vec<usize> = (0..100_000).filter(|&i| is_held_out(i, share)).collect();
            assert_eq!((out[0], out.len()), (0, (100_000.0 * share) as usize), "{share}");
            let even = (1.0 / share).floor() as usize..=(1.0 / share).ceil() as usize;
            assert!(out.windows(2).all(|pair| even.contains(&(pair[1] - pair[0]))), "{share}");
        }
    }
}
