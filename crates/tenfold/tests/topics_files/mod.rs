//! What the tests of the document readers share.
#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::path::{Path, PathBuf};
use tenfold::engine::progress::Silent;
use tenfold::topics::Corpus;
use tenfold::topics::read::{Format, ReadOptions, Recipe, read};

/// The documents of a corpus in their order, with words by name.
pub type Rows = Vec<Vec<(String, u32)>>;

/// Writes `bytes` to a file of this name.
pub fn file(folder: &tempfile::TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The folder of public corpora, or a line that says that the test is skipped: `topics` in the folder that
/// `TENFOLD_DATA` names, or in `../shared/data` beside the repository.
pub fn shared(test: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("TENFOLD_DATA").map_or_else(beside, PathBuf::from);
    let folder = data.join("topics");
    if !folder.is_dir() {
        eprintln!("skipped: {test} needs public corpora in {}; set TENFOLD_DATA", folder.display());
        return None;
    }
    Some(folder)
}

/// Options that leave text as it is: no stop words, no limits.
pub fn plain() -> ReadOptions {
    let recipe =
        Recipe { stop_words: vec![], min_df: Some(1), max_df: Some(1.0), min_length: 1, ..Recipe::default() };
    ReadOptions { recipe, ..ReadOptions::default() }
}

/// A bag of words as it is given.
pub fn bag() -> ReadOptions {
    ReadOptions { recipe: Recipe::given(), ..ReadOptions::default() }
}

/// The options with a format.
pub fn with(format: Format, options: ReadOptions) -> ReadOptions {
    ReadOptions { format: Some(format), ..options }
}

pub fn open(path: &Path, options: &ReadOptions) -> Corpus {
    read(path, options, &Silent).unwrap_or_else(|error| panic!("{error}"))
}

/// The message of the error that reading gives, which always names the file.
pub fn refusal(path: &Path, options: &ReadOptions) -> String {
    let message = read(path, options, &Silent).expect_err("this file should be refused").to_string();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(message.contains(name), "no path in {message:?}");
    message
}

pub fn rows(corpus: &Corpus) -> Rows {
    let mut all = Vec::new();
    let visit = |rows: Vec<(u32, Vec<(u32, u32)>)>| {
        for (position, words) in rows {
            assert_eq!(position as usize, all.len(), "documents come in order");
            let mut named: Vec<(String, u32)> =
                words.iter().map(|(w, c)| (corpus.vocabulary()[*w as usize].clone(), *c)).collect();
            named.sort();
            all.push(named);
        }
        Ok(())
    };
    corpus.for_each_window(visit).unwrap();
    all
}

/// The same through gzip and zstd.
pub fn packed(bytes: &[u8]) -> [Vec<u8>; 2] {
    use std::io::Write;
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(bytes).unwrap();
    [gz.finish().unwrap(), zstd::encode_all(bytes, 3).unwrap()]
}
