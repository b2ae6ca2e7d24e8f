//! `tenfold demo`: documents drawn from ten themes, the topics found in them, and a report.

use crate::common::Session;
use crate::exit;
use crate::files::{Bundle, write_bytes};
use crate::topics::truth::matched;
use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;
use tenfold::engine::progress::Progress;
use tenfold::evaluate::Match;
use tenfold::topics::read::{ReadOptions, read};
use tenfold::topics::{Model, Params, Source, THEMES};

const DOCUMENTS: usize = 2000;
/// Words of a document, on average.
const LENGTH: f64 = 80.0;
const CORPUS: &str = "corpus.txt";
const MODEL: &str = "model.tenfold";
const REPORT: &str = "report.html";
const README: &str = "README.txt";
/// The first line of the README tells that a folder is the demo's own.
const MARK: &str = "Made by `tenfold demo`.";

/// Draws documents, finds their topics and tells how well it went.
pub fn run(folder: &Path, session: &Session) -> Result<()> {
    check_own(folder)?;
    let mut bundle = Bundle::new(folder)?;
    let source = Source::themes(DOCUMENTS, LENGTH, session.seed);
    let corpus = bundle.path(CORPUS)?;
    let text: String = (0..source.batches()).map(|b| source.text(b)).collect();
    write_bytes(&corpus, text.as_bytes())?;
    let begin = Instant::now();
    let watch = &session.watch;
    let documents = watch.during(|watch| read(&corpus, &ReadOptions::default(), watch))?;
    let params = Params { seed: session.seed, ..Params::new(THEMES.len()) };
    let model = watch.during(|watch| params.fit_with(&documents, watch))?;
    let seconds = begin.elapsed().as_secs_f64();
    model.save(&bundle.path(MODEL)?)?;
    model.report()?.write(&bundle.path(REPORT)?)?;
    write_bytes(&bundle.path(README)?, readme().as_bytes())?;
    watch.check()?;
    let paths: Vec<String> = bundle.finish()?.iter().map(|path| path.display().to_string()).collect();
    let found = Found(matched(&model, source.topics(), source.vocabulary()));
    let tokens = documents.tokens();
    let text = format!(
        "{DOCUMENTS} documents of {tokens} words in all, drawn from ten known themes.\n\
         What tenfold finds in the words alone:\n\n\
         {}\nFitted in {seconds:.1} s. Off by: total variation; 0 is the truth, 1 nothing in common.\n\
         Look at {} in a browser.\n\n\
         Your own text, one document a line (or a folder of files, .csv, .parquet):\n  \
         tenfold topics fit YOURS.txt -k auto -o model.tenfold\n  \
         tenfold report model.tenfold -o topics.html\n",
        found.text(&model, &source),
        paths[2],
    );
    let value = json!({
        "documents": DOCUMENTS, "tokens": tokens, "k": model.k(), "seed": session.seed, "seconds": seconds,
        "topics": found.json(&model), "files": paths,
    });
    session.answer(&text, &value)
}

/// Refuses a folder with files that the demo did not make.
fn check_own(folder: &Path) -> Result<()> {
    let Ok(mut entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let made = std::fs::read_to_string(folder.join(README)).is_ok_and(|text| text.starts_with(MARK));
    if made || entries.next().is_none() {
        return Ok(());
    }
    Err(exit::usage(format!(
        "{} holds files that the demo did not make; give it another folder with -o",
        folder.display()
    )))
}

fn readme() -> String {
    format!(
        "{MARK}\n\n\
         {CORPUS}     {DOCUMENTS} documents, one a line, drawn from ten themes; the order of words tells nothing\n\
         {MODEL}  the topics that tenfold found in them\n\
         {REPORT}    a page about them, to look at in a browser\n\n\
         The same model by hand:\n  tenfold topics fit {CORPUS} -k {} -o {MODEL}\n",
        THEMES.len()
    )
}

/// Which theme each topic is, and how far from it.
struct Found(Match);

impl Found {
    fn partners(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let pairs = self.0.partners().iter().zip(self.0.variations()).enumerate();
        pairs.filter_map(|(theme, (topic, distance))| topic.map(|topic| (theme, topic, *distance)))
    }

    /// One line a theme: the topic that was found, the words of both, the distance.
    fn text(&self, model: &Model, source: &Source) -> String {
        let mut text = format!("{:>5}  {:<32} {:<33} {}\n", "topic", "words found", "truth", "off by");
        for (theme, topic, distance) in self.partners() {
            let truth = format!("{}: {}", THEMES[theme], first_words(source, theme));
            text += &format!(
                "{:>5}  {:<32} {:<33} {distance:>6.3}\n",
                topic,
                cut(&top_words(model, topic, 6).join(" "), 32),
                cut(&truth, 33),
            );
        }
        text
    }

    fn json(&self, model: &Model) -> Vec<Value> {
        let row = |(theme, topic, distance): (usize, usize, f64)| {
            json!({
                "topic": topic, "theme": THEMES[theme], "total_variation": distance,
                "words": top_words(model, topic, 10),
            })
        };
        self.partners().map(row).collect()
    }
}

fn top_words(model: &Model, topic: usize, count: usize) -> Vec<String> {
    model.top_words(topic, count, 1.0).iter().map(|w| model.vocabulary()[w.word].clone()).collect()
}

/// The most frequent words of a theme.
fn first_words(source: &Source, theme: usize) -> String {
    let row = source.topics().row(theme);
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
    order[..6].iter().map(|&w| source.vocabulary()[w].as_str()).collect::<Vec<_>>().join(" ")
}

/// As many whole words as fit.
fn cut(text: &str, width: usize) -> String {
    let mut shown = String::new();
    for word in text.split(' ') {
        if shown.chars().count() + word.chars().count() + 1 > width {
            break;
        }
        shown += word;
        shown.push(' ');
    }
    shown.trim_end().to_owned()
}
