//! Mixtures of documents as tables: one column a topic, or the largest shares in long form.

use crate::common::{Session, topic_columns};
use anyhow::Result;
use std::path::Path;
use tenfold::engine::linalg::Mat;
use tenfold::output::{self, Heading, Labels};
use tenfold::topics::{Corpus, Model};

/// The first column.
const DOCUMENT: &str = "document";

/// Infers and writes one row a document, with a column for every topic; with `top`, one row for each of a document's
/// largest shares. Rows are written as they are found, so only some of them are held.
pub fn write(
    path: &Path,
    model: &Model,
    corpus: &Corpus,
    top: Option<usize>,
    session: &Session,
) -> Result<()> {
    let top = top.map(|top| top.min(model.k()));
    let mut names = match top {
        None => topic_columns(model.k()),
        Some(_) => vec!["topic".to_owned(), "share".to_owned()],
    };
    let (given, each) = (corpus.names(), top.unwrap_or(1));
    // An array is for programs, which count its rows themselves.
    let is_array = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
    let numbered = given.is_none() && !(is_array && top.is_none());
    if numbered {
        names.insert(0, DOCUMENT.to_owned());
    }
    let name = |row: usize| given.map_or("", |names| &names[row / each]).into();
    let labels: Vec<Labels> = given.iter().map(|_| Labels { name: DOCUMENT, of: &name }).collect();
    let heading = Heading { labels: &labels, names: &names, rows: corpus.documents() * each };
    let mut rows = Vec::new();
    session.watch.during(|watch| {
        output::write_rows(path, heading, |put| {
            model.infer_each(corpus, watch, &mut |first, mixtures| {
                rows.clear();
                for i in 0..mixtures.rows() {
                    let number = numbered.then_some((first + i + 1) as f64);
                    push_rows(&mut rows, number, mixtures, i, top);
                }
                put(&rows)
            })
        })
    })?;
    Ok(())
}

/// The row or the rows of document i of a part, each after the document's number where that is wanted.
fn push_rows(rows: &mut Vec<f64>, number: Option<f64>, mixtures: &Mat, i: usize, top: Option<usize>) {
    let shares = mixtures.row(i);
    let Some(top) = top else {
        rows.extend(number);
        rows.extend_from_slice(shares);
        return;
    };
    let mut order: Vec<usize> = (0..shares.len()).collect();
    // Equal shares stand in the order of their topics.
    order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]).then(a.cmp(&b)));
    for &topic in &order[..top] {
        rows.extend(number);
        rows.extend([topic as f64, shares[topic]]);
    }
}
