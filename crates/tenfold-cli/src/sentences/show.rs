//! `tenfold sentences show`.

use crate::common::{Session, parse_count};
use crate::exit;
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use tenfold::sentences::Model;

/// What a model holds: its words and templates, the phrases of one, or the neighbours of a word
#[derive(Args)]
#[command(after_help = "\
Examples:
  tenfold sentences show m.tenfold
  tenfold sentences show m.tenfold 3
  tenfold sentences show m.tenfold --word film")]
pub struct Show {
    /// A model that `tenfold sentences fit` made
    model: PathBuf,
    /// One template, by its number from 1
    #[arg(value_name = "TEMPLATE", value_parser = parse_count, conflicts_with = "word")]
    template: Option<usize>,
    /// The words nearest to this one
    #[arg(long, value_name = "WORD")]
    word: Option<String>,
}

impl Show {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let (text, value) = match (&self.word, self.template) {
            (Some(word), _) => self.neighbours(&model, word)?,
            (None, Some(template)) => self.template(&model, template)?,
            (None, None) => (model.summary(), model.to_json()),
        };
        session.answer(&text, &value)
    }

    fn neighbours(&self, model: &Model, word: &str) -> Result<(String, Value)> {
        let Some(near) = model.neighbours(word, 15) else {
            return Err(exit::usage(format!("the model has no word {word:?}")));
        };
        let text = near.iter().map(|(other, cosine)| format!("{cosine:>7.3}  {other}\n")).collect();
        let near: Value =
            near.iter().map(|(other, cosine)| json!({ "word": other, "cosine": cosine })).collect();
        Ok((text, json!({ "word": word, "neighbours": near })))
    }

    fn template(&self, model: &Model, template: usize) -> Result<(String, Value)> {
        let count = model.phrases().len();
        let Some(phrases) = model.phrases().get(template - 1) else {
            return Err(exit::usage(match count {
                0 => format!("{} has no templates", self.model.display()),
                _ => format!("there is no template {template}: {} has 1 to {count}", self.model.display()),
            }));
        };
        let text = phrases.iter().map(|p| format!("{:>7.2}  {}\n", p.activation, p.text)).collect();
        let phrases: Value =
            phrases.iter().map(|p| json!({ "phrase": p.text, "activation": p.activation })).collect();
        let d = model.diagnostics();
        let (kurtosis, skewness) = (d.kurtosis()[template - 1], d.skewness()[template - 1]);
        Ok((
            text,
            json!({ "template": template, "kurtosis": kurtosis, "skewness": skewness, "phrases": phrases }),
        ))
    }
}
