//! Readers of text, bags of words and word vectors.

use super::ROOM;
use std::path::Path;
use tenfold::engine::progress::Silent;
use tenfold::sentences;
use tenfold::topics::Corpus;
use tenfold::topics::read::{Format, ReadOptions, Recipe, read};

/// Text as it is, and counts as they are given.
pub fn bases() -> [ReadOptions; 2] {
    let text =
        Recipe { stop_words: vec![], min_df: Some(1), max_df: Some(1.0), min_length: 1, ..Recipe::default() };
    [text, Recipe::given()].map(|recipe| ReadOptions {
        recipe,
        memory: ROOM,
        max_decompressed: ROOM,
        ..ReadOptions::default()
    })
}

/// Whatever was read must hold together.
pub fn sound(corpus: &Corpus) {
    assert!(corpus.documents() > 0 && corpus.names().is_none_or(|names| names.len() == corpus.documents()));
    // A header may promise four million documents without a word, which would be most of the work.
    if corpus.documents() > 100_000 {
        return;
    }
    let (mut documents, mut tokens) = (0, 0);
    let visit = |rows: Vec<(u32, Vec<(u32, u32)>)>| {
        for (position, words) in rows {
            assert_eq!(position as usize, documents, "documents come in order");
            assert!(words.iter().all(|(word, _)| (*word as usize) < corpus.words()));
            documents += 1;
            tokens += words.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
        }
        Ok(())
    };
    corpus.for_each_window(visit).unwrap();
    assert_eq!((documents, tokens), (corpus.documents(), corpus.tokens()));
}

/// Reads as text and as counts; `true` where a corpus came out.
pub fn ways(path: &Path, format: Option<Format>) -> bool {
    let mut found = false;
    for base in bases() {
        if let Ok(corpus) = read(path, &ReadOptions { format, ..base }, &Silent) {
            sound(&corpus);
            found = true;
        }
    }
    found
}

pub fn text(path: &Path) -> bool {
    let found = ways(path, Some(Format::Lines)) | ways(path, None);
    let options = sentences::ReadOptions { max_decompressed: ROOM, ..sentences::ReadOptions::default() };
    let _ = sentences::read(path, &options, &Silent);
    let other = sentences::ReadOptions { encoding: Some("shift_jis".into()), ..options };
    let _ = sentences::read(path, &other, &Silent);
    found
}

pub fn table(path: &Path) -> bool {
    ways(path, Some(Format::Csv)) | ways(path, Some(Format::Tsv))
}

pub fn mallet(path: &Path) -> bool {
    ways(path, Some(Format::Mallet))
}

pub fn uci(path: &Path) -> bool {
    ways(path, Some(Format::Uci))
}

pub fn lda_c(path: &Path) -> bool {
    ways(path, Some(Format::LdaC))
}

pub fn svmlight(path: &Path) -> bool {
    ways(path, Some(Format::Svmlight))
}

/// Documents and graphs come in this format.
pub fn market(path: &Path) -> bool {
    let graph = super::graphs::ways(path, Some(tenfold::communities::read::Format::MatrixMarket));
    ways(path, Some(Format::MatrixMarket)) | graph
}

pub fn recipe(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    let found = Recipe::parse(&String::from_utf8_lossy(&bytes));
    if let Ok(recipe) = &found {
        assert_eq!(&Recipe::from_json(&recipe.to_json()).unwrap(), recipe);
    }
    found.is_ok()
}

pub fn vectors(path: &Path) -> bool {
    let found = sentences::read_vectors(path, None, Some(ROOM), &Silent);
    if let Ok(given) = &found {
        assert_eq!(given.words().len(), given.vectors().rows());
        assert!(given.vectors().as_slice().iter().all(|x| x.is_finite()));
    }
    let _ = sentences::read_vectors(path, Some(&["ship"].into()), Some(ROOM), &Silent);
    found.is_ok()
}
