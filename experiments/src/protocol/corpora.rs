//! The corpora of the comparisons, and a form in which every program reads the same bag of words.

use std::path::{Path, PathBuf};
use tenfold::engine::progress::Silent;
use tenfold::topics::read::{ReadOptions, read};
use tenfold::topics::{Builder, Corpus, Documents};
use tenfold::{Result, input, output};

/// The environment's word for where public corpora lie; none of them is part of this repository.
const VARIABLE: &str = "TENFOLD_DATA";

/// Where public corpora lie, or what to do about it: the folder that the environment names, or `../shared/data` beside
/// the repository.
pub fn shared_data() -> std::result::Result<PathBuf, String> {
    let remedy = "a folder with topics/docword.kos.txt.gz, topics/vocab.kos.txt and topics/bbc.tsv.gz";
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = std::env::var_os(VARIABLE).map_or_else(beside, PathBuf::from);
    if folder.is_dir() { Ok(folder) } else { Err(format!("set {VARIABLE} to {remedy}")) }
}

/// A public corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// Daily KOS blog entries, a bag of words.
    Kos,
    /// BBC news, lemmatised text; read with the usual recipe.
    Bbc,
}

impl Shared {
    /// Reads the corpus from the folder of [`shared_data`].
    pub fn read(self, folder: &Path) -> Result<Corpus> {
        let folder = folder.join("topics");
        match self {
            Self::Kos => read(&folder.join("docword.kos.txt.gz"), &ReadOptions::default(), &Silent),
            Self::Bbc => {
                let options = ReadOptions {
                    text_column: Some("1".into()),
                    header: Some(false),
                    ..ReadOptions::default()
                };
                read(&folder.join("bbc.tsv.gz"), &options, &Silent)
            }
        }
    }
}

/// A corpus as plain arrays: `indptr.npy`, `indices.npy`, `data.npy`, `shape.npy`, as scipy's CSR has them.
pub struct Bag {
    folder: PathBuf,
}

impl Bag {
    /// The bag in `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Writes the documents in their order.
    pub fn write(&self, corpus: &Corpus) -> Result<()> {
        let (mut starts, mut words, mut counts) = (vec![0.0], Vec::new(), Vec::new());
        corpus.for_each_window(|documents| {
            for (_, entries) in documents {
                words.extend(entries.iter().map(|e| f64::from(e.0)));
                counts.extend(entries.iter().map(|e| f64::from(e.1)));
                starts.push(words.len() as f64);
            }
            Ok(())
        })?;
        std::fs::create_dir_all(&self.folder).map_err(|e| output::write_error(&self.folder, e))?;
        let shape = [corpus.documents() as f64, corpus.words() as f64];
        for (name, array) in
            [("indptr", &starts[..]), ("indices", &words), ("data", &counts), ("shape", &shape)]
        {
            self.write_array(name, &[array.len()], array)?;
        }
        Ok(())
    }

    /// Writes one more array beside them.
    pub fn write_array(&self, name: &str, shape: &[usize], data: &[f64]) -> Result<()> {
        output::write_array(&self.folder.join(format!("{name}.npy")), shape, data)
    }

    /// Reads the documents; words are named by their numbers.
    pub fn read(&self) -> Result<Corpus> {
        let whole = |name: &str| -> Result<Vec<u32>> {
            let array = input::read_array(&self.folder.join(format!("{name}.npy")))?;
            Ok(array.data.into_iter().map(|x| x as u32).collect())
        };
        let mut builder = Builder::new(u64::MAX);
        let ends = whole("indptr")?.split_off(1);
        builder.push(Documents { ends, words: whole("indices")?, counts: whole("data")? })?;
        builder.finish((0..whole("shape")?[1]).map(|w| w.to_string()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bag_comes_back_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let ends: Vec<u32> = (1..=200).collect();
        let words: Vec<u32> = (0..200).map(|i| (i * 7) % 31).collect();
        let counts: Vec<u32> = (0..200).map(|i| 1 + i % 3).collect();
        let mut builder = Builder::new(u64::MAX);
        builder.push(Documents { ends, words: words.clone(), counts: counts.clone() }).unwrap();
        let corpus = builder.finish((0..31).map(|w| format!("w{w}")).collect()).unwrap();
        let bag = Bag::new(folder.path().join("bag"));
        bag.write(&corpus).unwrap();
        let mut seen = Vec::new();
        let back = bag.read().unwrap();
        back.for_each_window(|documents| {
            seen.extend(documents.into_iter().map(|(_, entries)| entries[0]));
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, words.into_iter().zip(counts).collect::<Vec<_>>());
        assert_eq!(back.words(), 31);
    }
}
