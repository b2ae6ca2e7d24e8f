//! `tenfold topics evaluate`.

use super::{ReadArgs, truth};
use crate::common::{Session, parse_count};
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use tenfold::admixture::Completion;
use tenfold::evaluate::{Coherence, Cooccurrence, Match, diversity, top_words};
use tenfold::topics::read::Windows;
use tenfold::topics::{Corpus, Model};

/// How well a model predicts documents, how its topics read, how near they are to the truth
#[derive(Args)]
#[command(after_help = "\
Perplexity is by document completion: every second word of a document (words in the order of their \
numbers) gives its mixture, by 50 steps of theta ~ counts + 0.1, and the others are scored, with \
topics smoothed by 1% of the word frequencies; no word is passed over. Give documents that the fit \
did not see, or fit with --hold-out.

Coherence says how often the first words of a topic stand together, by four measures: UMass counts \
documents, UCI and NPMI windows of 10 words, c_v windows of 110; in a bag of words, where the order \
is not known, all count documents, and the figures do not compare. Words that were dropped from the \
text take no place in a window; \
diversity is the share of different words among the first 25 of all topics. With --truth every true \
topic gets a found one: total variation is 0 when they are equal and 1 when they have nothing in \
common, and below 0.25 the topic counts as found.

Examples:
  tenfold topics evaluate model.tenfold unseen.txt
  tenfold topics evaluate model.tenfold d/docword.txt --truth d/topics.npy")]
pub struct Evaluate {
    /// A model that `tenfold topics fit` made
    model: PathBuf,
    /// Documents: a file or a folder of what `topics fit` reads; - for standard input
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// First words of a topic that coherence looks at
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = parse_count)]
    words: usize,
    /// The true topics, topics × words
    #[arg(long, value_name = "B.npy")]
    truth: Option<PathBuf>,
    /// The words of the true topics, one a line; those of the model, in its order, when not given
    #[arg(long, value_name = "FILE", requires = "truth")]
    truth_vocabulary: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

/// Words of the windows in which UCI and NPMI are counted, and c_v, as in the literature.
const WIDTHS: [usize; 2] = [10, 110];

/// First words of every topic that diversity counts, as in the literature.
const DIVERSE: usize = 25;

impl Evaluate {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let words = self.truth_vocabulary.as_deref();
        let truth =
            self.truth.as_deref().map(|path| truth::read(path, words, &model, session)).transpose()?;
        let windows = Windows { widths: WIDTHS.to_vec(), topics: top_words(model.topics(), self.words) };
        let corpus = self.read.read_windows(&model, &self.input, windows, session)?;
        let measure = Completion::default();
        let perplexity = session
            .watch
            .during(|watch| measure.perplexity(corpus.counts(), model.topics(), model.unigram(), watch))?;
        let mut text = format!(
            "perplexity {perplexity:.1} by completion of {} documents ({} topics, {} words)\n",
            corpus.documents(),
            model.k(),
            model.words()
        );
        let mut value = json!({
            "perplexity": perplexity, "documents": corpus.documents(), "tokens": corpus.tokens(), "k": model.k(),
        });
        self.reading(&model, &corpus, &mut text, &mut value)?;
        if let Some((truth, words)) = truth {
            tell_truth(&truth::matched(&model, &truth, &words), &mut text, &mut value);
        }
        session.answer(&text, &value)
    }

    /// How the topics read: do their words go together, do they differ.
    fn reading(&self, model: &Model, corpus: &Corpus, text: &mut String, value: &mut Value) -> Result<()> {
        let first = top_words(model.topics(), self.words);
        let documents = Cooccurrence::in_documents(corpus.counts(), &first)?;
        for (name, measure, window) in [
            ("umass", Coherence::U_MASS, None),
            ("uci", Coherence::Uci, Some(0)),
            ("npmi", Coherence::Npmi, Some(0)),
            ("c_v", Coherence::Cv, Some(1)),
        ] {
            let in_window = window.and_then(|at| Some((corpus.windows().get(at)?, WIDTHS[at])));
            let (seen, over) = match in_window {
                Some((seen, width)) => (seen, format!("windows of {width} words")),
                None => (&documents, "documents".to_owned()),
            };
            let each = measure.of(seen);
            let mean = each.iter().sum::<f64>() / each.len() as f64;
            *text += &format!("coherence {:<5} {mean:>8.4}  over {over}\n", measure.name());
            value["coherence"][name] = json!(mean);
            value["coherence_over"][name] = json!(over);
            value["coherence_by_topic"][name] = json!(each);
        }
        let diversity = diversity(&top_words(model.topics(), DIVERSE));
        *text += &format!("diversity       {diversity:>8.4}\n");
        value["diversity"] = json!(diversity);
        Ok(())
    }
}

fn tell_truth(matched: &Match, text: &mut String, value: &mut Value) {
    let (mean, found) = (matched.mean(), matched.share_found());
    *text += &format!(
        "truth: {:.0}% of {} topics found, total variation {mean:.4} on average",
        100.0 * found,
        matched.variations().len()
    );
    if let Some((topic, worst)) = matched.worst() {
        *text += &format!(", {worst:.4} at worst (true topic {})", topic);
    }
    text.push('\n');
    value["truth"] = json!({
        "total_variation": mean, "found": found, "worst": matched.worst().map(|w| w.1),
        "partners": matched.partners(), "each": matched.variations(),
    });
}
