//! `tenfold sentences similarity`.

use super::reading::{FeaturesName, ReadArgs};
use crate::common::{Session, print};
use crate::{exit, files};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use tenfold::engine::linalg::Mat;
use tenfold::sentences::{Features, Model};

/// How alike two sentences are, or the sentences of two files line by line
#[derive(Args)]
#[command(after_help = "\
The cosine of their features, -1 to 1; 0 where a sentence has no known word. When A and B are files, \
their lines are compared one by one, and the answer is a table.

Examples:
  tenfold sentences similarity m.tenfold \"he rides a bike\" \"a man cycles\"
  tenfold sentences similarity m.tenfold left.txt right.txt -o alike.csv")]
pub struct Similarity {
    /// A model that `tenfold sentences fit` made
    model: PathBuf,
    /// A sentence, or a file of sentences
    a: String,
    /// Another, or another file
    b: String,
    /// Where the table of two files goes: .csv, .tsv, .npy or .parquet [default: printed as CSV]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// What a sentence becomes [default: what the model was fitted for]
    #[arg(long, value_name = "NAME")]
    features: Option<FeaturesName>,
    #[command(flatten)]
    read: ReadArgs,
}

impl Similarity {
    pub fn run(self, session: &Session) -> Result<()> {
        let is_file = |text: &str| Path::new(text).is_file();
        let (a, b) = (is_file(&self.a), is_file(&self.b));
        if a != b {
            let (file, other) = if a { (&self.a, &self.b) } else { (&self.b, &self.a) };
            return Err(exit::usage(format!(
                "{file} is a file and {other:?} is none; give two files or two sentences"
            )));
        }
        if let Some(output) = &self.output {
            if !a {
                return Err(exit::usage("-o is for the table of two files; leave it out"));
            }
            files::check_table(output, &[&self.model, Path::new(&self.a), Path::new(&self.b)])?;
        }
        let model = Model::load(&self.model)?;
        let features = self.features.map_or(model.features(), FeaturesName::features);
        if a { self.files(&model, features, session) } else { self.texts(&model, features, session) }
    }

    fn texts(&self, model: &Model, features: Features, session: &Session) -> Result<()> {
        for sentence in [&self.a, &self.b] {
            if model.known(&[sentence])?.1 == 0 {
                session.warn(&format!("the model knows no word of {sentence:?}"));
            }
        }
        let alike =
            session.watch.during(|watch| model.similarities(&[&self.a], &[&self.b], features, watch))?[0];
        session.answer(&format!("{alike:.4}\n"), &json!({ "similarity": alike, "features": features.name() }))
    }

    fn files(&self, model: &Model, features: Features, session: &Session) -> Result<()> {
        let (a, b) =
            (self.read.read(Path::new(&self.a), session)?, self.read.read(Path::new(&self.b), session)?);
        let (a, b): (Vec<&str>, Vec<&str>) = (a.iter().collect(), b.iter().collect());
        if a.len() != b.len() {
            return Err(exit::bad_input(format!(
                "{} has {} lines and {} has {}; lines are compared one by one, so that both need as many",
                self.a,
                a.len(),
                self.b,
                b.len()
            )));
        }
        let alike = session.watch.during(|watch| model.similarities(&a, &b, features, watch))?;
        let Some(output) = &self.output else {
            let lines: String = alike.iter().map(|x| format!("{x}\n")).collect();
            return match session.json {
                true => session.answer("", &json!({ "similarities": alike, "features": features.name() })),
                false => print(&format!("similarity\n{lines}")),
            };
        };
        let n = alike.len();
        let mean = alike.iter().sum::<f64>() / n.max(1) as f64;
        files::write_table(output, &["similarity".into()], &Mat::from_vec(n, 1, alike), &session.watch)?;
        let value = json!({ "pairs": n, "mean": mean, "output": output.to_string_lossy(), "features": features.name() });
        session
            .answer(&format!("{n} pairs written to {}; their mean is {mean:.4}\n", output.display()), &value)
    }
}
