//! Mixtures of documents as tables: one column a topic, or the largest shares in long form.

use crate::common::{Session, topic_columns};
use anyhow::Result;
use std::path::Path;
use tenfold::engine::linalg::{Mat, Rows};
use tenfold::engine::progress::Progress;
use tenfold::output::{self, Labels};
use tenfold::topics::Corpus;

/// The first column.
const DOCUMENT: &str = "document";

/// Writes one row a document, with a column for every topic; with `top`, one row for each of a document's largest
/// shares.
pub fn write(
    path: &Path,
    corpus: &Corpus,
    mixtures: &Mat,
    top: Option<usize>,
    session: &Session,
) -> Result<()> {
    let (rows, names) = match top {
        None => (mixtures.clone(), topic_columns(mixtures.cols())),
        Some(top) => (long(mixtures, top), vec!["topic".to_owned(), "share".to_owned()]),
    };
    let each = top.map_or(1, |top| top.min(mixtures.cols()));
    let rows = session.watch.during(|watch| {
        watch.stage("writing", rows.rows() as u64);
        watch.check().map(|()| rows)
    })?;
    match corpus.names() {
        Some(given) => {
            let labels = Labels { name: DOCUMENT, of: &|row| &given[row / each] };
            output::write_labelled(path, labels, &names, &rows)?;
        }
        None if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) && top.is_none() => {
            output::write_table(path, &names, &rows)?;
        }
        None => {
            let names: Vec<String> = std::iter::once(DOCUMENT.to_owned()).chain(names).collect();
            output::write_table(path, &names, &Numbered { rows: &rows, each })?;
        }
    }
    Ok(())
}

/// Topic and share of the largest shares of every document.
fn long(mixtures: &Mat, top: usize) -> Mat {
    let top = top.min(mixtures.cols());
    let mut rows = Mat::zeros(mixtures.rows() * top, 2);
    let mut order: Vec<usize> = (0..mixtures.cols()).collect();
    for i in 0..mixtures.rows() {
        let shares = mixtures.row(i);
        // Equal shares stand in the order of their topics.
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]).then(a.cmp(&b)));
        for (place, &topic) in order.iter().take(top).enumerate() {
            rows.row_mut(i * top + place).copy_from_slice(&[topic as f64, shares[topic]]);
        }
    }
    rows
}

/// Rows after the number of their document, from 1; `each` rows belong to one.
struct Numbered<'a> {
    rows: &'a Mat,
    each: usize,
}

impl Rows for Numbered<'_> {
    fn rows(&self) -> usize {
        self.rows.rows()
    }
    fn cols(&self) -> usize {
        self.rows.cols() + 1
    }
    fn read_rows(&self, start: usize, out: &mut [f64]) -> tenfold::engine::Result<()> {
        for (i, row) in out.chunks_exact_mut(self.cols()).enumerate() {
            row[0] = ((start + i) / self.each + 1) as f64;
            row[1..].copy_from_slice(self.rows.row(start + i));
        }
        Ok(())
    }
}
