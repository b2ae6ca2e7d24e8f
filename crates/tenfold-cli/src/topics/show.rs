//! `tenfold topics show`.

use crate::common::{Session, parse_count};
use crate::exit;
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use tenfold::output::shown;
use tenfold::topics::Model;

/// What a model holds: its topics, one of them, or the words between them
#[derive(Args)]
#[command(after_help = "\
Words are ordered by relevance, L ln p(word | topic) + (1 - L) ln p(word | topic) / p(word): with \
--relevance 1 by their probability in the topic, below it words that are the topic's own come \
forward. Lift is p(word | topic) / p(word). Bridging words belong to several topics.

Examples:
  tenfold topics show model.tenfold
  tenfold topics show model.tenfold 3 --words 20 --relevance 0.6
  tenfold topics show model.tenfold --bridging")]
pub struct Show {
    /// A model that `tenfold topics fit` made
    model: PathBuf,
    /// One topic, by its number; all of them when not given
    #[arg(value_name = "TOPIC")]
    topic: Option<usize>,
    /// Words of a topic, or bridging words, to show [default: 10; 20 for one topic]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    words: Option<usize>,
    /// How words are ordered: 1 by probability, towards 0 by what sets the topic apart
    #[arg(long, value_name = "L", default_value_t = 1.0, value_parser = parse_relevance)]
    relevance: f64,
    /// The words that belong to several topics
    #[arg(long, conflicts_with_all = ["relevance", "documents"])]
    bridging: bool,
    /// The documents that have most of each topic
    #[arg(long)]
    documents: bool,
}

impl Show {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let topics: Vec<usize> = match self.topic {
            Some(topic) if topic >= model.k() => {
                return Err(exit::usage(format!(
                    "there is no topic {topic}: {} has topics 0 to {}",
                    self.model.display(),
                    model.k() - 1
                )));
            }
            Some(topic) => vec![topic],
            None => (0..model.k()).collect(),
        };
        let (text, value) = match (self.bridging, self.documents, self.topic) {
            (true, ..) => self.bridging(&model, &topics),
            (_, true, _) => self.representatives(&model, &topics),
            (.., Some(_)) => self.one(&model, topics[0]),
            // The whole of a model is its summary, with the words asked for.
            (.., None) if self.words.is_none() && self.relevance == 1.0 => (model.summary(), model.to_json()),
            (.., None) => self.all(&model),
        };
        session.answer(&text, &value)
    }

    fn all(&self, model: &Model) -> (String, Value) {
        let count = self.words.unwrap_or(10);
        let mut text = "topic   share  words\n".to_owned();
        let mut topics = Vec::new();
        for topic in 0..model.k() {
            let words = self.named(model, topic, count);
            text += &format!("{:>5}  {:>5.1}%  {}\n", topic, 100.0 * model.shares()[topic], words.join(" "));
            topics.push(json!({ "topic": topic, "share": model.shares()[topic], "words": words }));
        }
        (text, json!({ "k": model.k(), "relevance": self.relevance, "topics": topics }))
    }

    fn named(&self, model: &Model, topic: usize, count: usize) -> Vec<String> {
        let words = model.top_words(topic, count, self.relevance);
        words.iter().map(|word| model.vocabulary()[word.word].clone()).collect()
    }

    fn one(&self, model: &Model, topic: usize) -> (String, Value) {
        let words = model.top_words(topic, self.words.unwrap_or(20), self.relevance);
        let mut text = format!(
            "topic {} of {}: {:.1}% of all words, alpha {:.4}, coherence {:.3}\n",
            topic,
            model.k(),
            100.0 * model.shares()[topic],
            model.alpha()[topic],
            model.coherence()[topic],
        );
        text += "probability  relevance     lift  word\n";
        for w in &words {
            let word = &model.vocabulary()[w.word];
            text += &format!("{:>11.5}  {:>9.3}  {:>7.1}  {word}\n", w.probability, w.relevance, w.lift);
        }
        text += &told_documents(model, topic);
        let rows: Vec<Value> = words
            .iter()
            .map(|w| {
                let word = &model.vocabulary()[w.word];
                json!({ "word": word, "probability": w.probability, "relevance": w.relevance, "lift": w.lift })
            })
            .collect();
        let value = json!({
            "topic": topic,
            "share": model.shares()[topic],
            "alpha": model.alpha()[topic],
            "coherence": model.coherence()[topic],
            "words": rows,
            "documents": documents_json(model, topic),
        });
        (text, value)
    }

    fn bridging(&self, model: &Model, topics: &[usize]) -> (String, Value) {
        let count = self.words.unwrap_or(20);
        // A word that hardly leaves its topic is no bridge.
        let concerns = |bridge: &&tenfold::topics::Bridge| {
            bridge.topics.len() > 1 && bridge.topics.iter().any(|(topic, _)| topics.contains(topic))
        };
        let all = model.bridging_words(model.words());
        let mut text = "score  word: its topics\n".to_owned();
        let mut rows = Vec::new();
        for bridge in all.iter().filter(concerns).take(count) {
            let word = &model.vocabulary()[bridge.word];
            let shares: Vec<String> =
                bridge.topics.iter().map(|(t, share)| format!("{} ({:.0}%)", t, 100.0 * share)).collect();
            text += &format!("{:.3}  {word}: {}\n", bridge.score, shares.join(", "));
            let shares: Vec<Value> =
                bridge.topics.iter().map(|(t, share)| json!({ "topic": t, "share": share })).collect();
            rows.push(json!({ "word": word, "score": bridge.score, "topics": shares }));
        }
        (text, json!({ "bridging": rows }))
    }

    fn representatives(&self, model: &Model, topics: &[usize]) -> (String, Value) {
        let mut text = String::new();
        let mut rows = Vec::new();
        for &topic in topics {
            text += &format!("topic {}: {}\n", topic, self.named(model, topic, 6).join(" "));
            text += &told_documents(model, topic);
            rows.push(json!({ "topic": topic, "documents": documents_json(model, topic) }));
        }
        (text, json!({ "topics": rows }))
    }
}

fn told_documents(model: &Model, topic: usize) -> String {
    let line = |r: &tenfold::topics::Representative| {
        let name = r
            .name
            .as_deref()
            .map_or_else(|| format!("document {}", r.document + 1), |n| shown(n).into_owned());
        format!("  {:>3.0}% of {name}\n", 100.0 * r.share)
    };
    model.representatives()[topic].iter().map(line).collect()
}

fn documents_json(model: &Model, topic: usize) -> Vec<Value> {
    let row = |r: &tenfold::topics::Representative| json!({ "document": r.document + 1, "name": r.name, "share": r.share });
    model.representatives()[topic].iter().map(row).collect()
}

fn parse_relevance(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|x: &f64| (0.0..=1.0).contains(x));
    value.ok_or_else(|| "a number from 0 to 1 is needed".into())
}
