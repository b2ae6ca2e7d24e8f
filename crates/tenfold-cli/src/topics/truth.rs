//! Found topics beside true ones.

use crate::common::Session;
use crate::exit;
use anyhow::Result;
use std::collections::HashMap;
use std::path::Path;
use tenfold::engine::linalg::Mat;
use tenfold::evaluate::Match;
use tenfold::input::read_array;
use tenfold::topics::Model;
use tenfold::topics::read::distinct_words;

/// Matches the topics of a model to true ones over `words`. Words that only one side has count as never said by the
/// other.
pub fn matched(model: &Model, truth: &Mat, words: &[String]) -> Match {
    let mut place: HashMap<&str, usize> =
        model.vocabulary().iter().enumerate().map(|(w, word)| (word.as_str(), w)).collect();
    for word in words {
        let next = place.len();
        place.entry(word).or_insert(next);
    }
    let mut there = Mat::zeros(truth.rows(), place.len());
    for t in 0..truth.rows() {
        words.iter().zip(truth.row(t)).for_each(|(word, p)| there[(t, place[word.as_str()])] += p);
    }
    let mut here = Mat::zeros(model.k(), place.len());
    for t in 0..model.k() {
        here.row_mut(t)[..model.words()].copy_from_slice(model.topics().row(t));
    }
    Match::new(&there, &here)
}

/// True topics from a file, and their words: those of another file or, in their order, those of the model.
pub fn read(
    path: &Path,
    words: Option<&Path>,
    model: &Model,
    session: &Session,
) -> Result<(Mat, Vec<String>)> {
    let array = read_array(path)?;
    let [k, columns] = array.shape[..] else {
        return Err(exit::bad_input(format!(
            "{} has shape {:?}, but true topics are a matrix of topics × words",
            path.display(),
            array.shape
        )));
    };
    let (named, by) = match words {
        Some(words) => (distinct_words(words, session.max_decompressed)?, words.display().to_string()),
        None => (model.vocabulary().to_vec(), "the model".to_owned()),
    };
    if named.len() != columns {
        return Err(exit::bad_input(format!(
            "{} has {columns} words and {by} {}; name its words with --truth-vocabulary",
            path.display(),
            named.len()
        )));
    }
    Ok((Mat::from_vec(k, columns, array.data), named))
}
