//! The words of a bag of words: their file, and how they fit the words of a model.

use super::{ReadOptions, fail};
use crate::error::Result;
use crate::input::decode::utf8;
use crate::input::{Opening, Source};
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use tenfold_engine::progress::Silent;

/// Most words that may go without names: their stand-ins must be made up.
const NAMELESS: u32 = 1 << 22;

/// Words without names that are taken beyond one for every two entries: a header or a single entry may tell of any number of words.
const UNSEEN: u64 = 1 << 20;

/// How the words of a file are numbered in the corpus.
pub(super) struct Named {
    /// Words of the corpus, if they are known before the file is read.
    vocabulary: Option<Vec<String>>,
    /// From a word of the file to a word of the corpus; u32::MAX where it has none.
    pub(super) map: Option<Vec<u32>>,
    /// Words that the file may use, and who says so.
    pub(super) limit: u32,
    pub(super) who: String,
    notes: Vec<String>,
}

impl Named {
    /// Finds the words for a bag of words that promises `promised` of them.
    pub(super) fn find(source: &Source, options: &ReadOptions, promised: Option<u32>) -> Result<Self> {
        let found = options.vocabulary.clone().or_else(|| vocabulary_beside(source.path()));
        let known = options.fixed_vocabulary.as_deref();
        let Some(path) = found else { return Self::nameless(source, known, promised) };
        let words = lines(&path, options)?;
        if let Some(promised) = promised.filter(|p| *p as usize != words.len()) {
            let counts = source.path().display();
            return Err(fail(
                &path,
                format!("holds {} words where {counts} promises {promised}", words.len()),
                "give the vocabulary that belongs to the counts with --vocabulary",
            ));
        }
        let (who, limit) = (format!("the words of {}", path.display()), words.len() as u32);
        let mut named = match known {
            None => Self { vocabulary: Some(words), map: None, limit, who, notes: Vec::new() },
            Some(known) => Self::fitted(&words, known, options.grow, who),
        };
        if options.vocabulary.is_none() {
            named.notes.push(format!("words from {}, found beside the counts", path.display()));
        }
        Ok(named)
    }

    /// Without names: numbers are those of the model, or stand-ins are made up.
    fn nameless(source: &Source, known: Option<&[String]>, promised: Option<u32>) -> Result<Self> {
        let most = known.map_or(NAMELESS, |known| known.len() as u32);
        let limit = promised.unwrap_or(most);
        if limit > most {
            let remedy = "give the vocabulary of the counts with --vocabulary";
            return Err(match known {
                Some(_) => {
                    source.fail(None, format!("promises {limit} words where the model has {most}"), remedy)
                }
                None => source.fail(
                    None,
                    format!("promises {limit} words, but comes without a vocabulary"),
                    format!("{remedy}; without one at most {most} words are taken"),
                ),
            });
        }
        let who = match (promised, known) {
            (Some(_), _) => "the words that the header promises",
            (None, Some(_)) => "the words of the model",
            (None, None) => "all that is taken without a vocabulary",
        };
        let note = match known {
            Some(_) => "the counts come without a vocabulary: word numbers were taken for the model's",
            None => {
                "no vocabulary was found or given: words are called w1, w2, …; name them with --vocabulary"
            }
        };
        let (vocabulary, who) = (known.map(<[String]>::to_vec), who.to_owned());
        Ok(Self { vocabulary, map: None, limit, who, notes: vec![note.into()] })
    }

    /// The words of the file among those of the model; further ones are dropped, or follow when it may grow.
    fn fitted(words: &[String], known: &[String], grow: bool, who: String) -> Self {
        let (mut vocabulary, mut notes) = (known.to_vec(), Vec::new());
        let mut map = Vec::with_capacity(words.len());
        let mut missing = 0;
        {
            let ids: HashMap<&str, u32> = known.iter().map(String::as_str).zip(0..).collect();
            for word in words {
                map.push(match ids.get(word.as_str()) {
                    Some(&id) => id,
                    None if grow => {
                        vocabulary.push(word.clone());
                        vocabulary.len() as u32 - 1
                    }
                    None => u32::MAX,
                });
                missing += usize::from(!ids.contains_key(word.as_str()));
            }
        }
        if missing > 0 {
            let what = if grow { "added to the model's vocabulary" } else { "dropped" };
            notes.push(format!(
                "{missing} of the file's {} words are not in the model and were {what}",
                words.len()
            ));
        }
        let limit = words.len() as u32;
        Self { vocabulary: Some(vocabulary), map: Some(map), limit, who, notes }
    }

    /// Whether the words have names.
    pub(super) fn is_named(&self) -> bool {
        self.vocabulary.is_some()
    }

    /// The vocabulary and what is to be said about it; stand-ins for `count` words without names, which `entries` must bear out.
    pub(super) fn finish(
        self,
        source: &Source,
        count: usize,
        entries: u64,
    ) -> Result<(Vec<String>, Vec<String>)> {
        let vocabulary = match self.vocabulary {
            Some(vocabulary) => vocabulary,
            None if count as u64 > UNSEEN + entries / 2 => {
                return Err(source.fail(
                    None,
                    format!("tells of {count} words without names, but holds {entries} entries"),
                    "number the words without gaps, or name them with --vocabulary",
                ));
            }
            None => (1..=count).map(|w| format!("w{w}")).collect(),
        };
        Ok((vocabulary, self.notes))
    }
}

/// Most bytes that a file of words may unpack to, unless another limit is given.
const MOST: u64 = 1 << 30;

/// The words of a file, one or more a line, each where it stands first. A packed file is given up after `max_decompressed` bytes,
/// 1 GiB where `None`.
///
/// # Errors
/// A file that cannot be read, unpacks to more, or is not UTF-8.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("stop.txt");
/// std::fs::write(&path, "the of\nand the\n")?;
/// assert_eq!(tenfold::topics::read::distinct_words(&path, None)?, ["the", "of", "and"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn distinct_words(path: &Path, max_decompressed: Option<u64>) -> Result<Vec<String>> {
    let max_decompressed = max_decompressed.unwrap_or(MOST);
    let opening = Opening { encoding: None, max_decompressed, wanted: "give a text file with words" };
    let source = Source::open(path, opening, &Silent)?;
    let bytes = whole(&source)?;
    let mut seen = HashSet::new();
    let words = utf8(path, &bytes, 1)?.split_whitespace().filter(|word| seen.insert(*word));
    Ok(words.map(str::to_owned).collect())
}

/// The text of a file.
fn whole(source: &Source) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.reader(&Silent)?.read_to_end(&mut bytes).map_err(|e| source.refuse(None, &e))?;
    Ok(bytes)
}

/// A file of words, one a line.
fn lines(path: &Path, options: &ReadOptions) -> Result<Vec<String>> {
    let source = Source::open(path, options.opening(), &Silent)?;
    let bytes = whole(&source)?;
    let text = utf8(path, &bytes, 1)?;
    let mut words: Vec<String> = Vec::new();
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (i, line) in text.lines().enumerate() {
        let word = line.trim();
        let (number, again) = (i as u64 + 1, seen.insert(word, i + 1));
        if word.is_empty() {
            return Err(source.fail(
                number,
                "is blank where a word was expected",
                "give one word a line, as many as there are",
            ));
        }
        if let Some(first) = again {
            return Err(source.fail(
                number,
                format!("the word {word:?} stands on line {first} already"),
                "every word must be there once: tell the two apart",
            ));
        }
        words.push(word.to_owned());
    }
    Ok(words)
}

/// The vocabulary that lies beside a file of counts: `vocab.kos.txt` for `docword.kos.txt.gz`, `reuters.tokens` for
/// `reuters.ldac`, or a single `vocab.txt` in the folder.
pub fn vocabulary_beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    let stem = plain.rsplit_once('.').map_or(plain, |(stem, _)| stem);
    let mut names = Vec::new();
    if let Some(rest) = plain.strip_prefix("docword") {
        names.push(format!("vocab{rest}"));
    }
    for ending in ["vocab", "tokens", "vocabulary", "words"] {
        names.push(format!("{stem}.{ending}"));
        names.push(format!("{stem}.{ending}.txt"));
    }
    names.extend(["vocab.txt", "vocabulary.txt", "tokens.txt"].map(String::from));
    let packed = |name: &String| ["", ".gz", ".zst"].map(|end| path.with_file_name(format!("{name}{end}")));
    names.iter().flat_map(packed).find(|candidate| candidate.is_file() && candidate != path)
}
