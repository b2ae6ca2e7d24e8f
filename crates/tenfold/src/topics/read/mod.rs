//! Documents from files: text to be cut into words, and bags of words that are counted already.
//!
//! | format | told by | documents |
//! | --- | --- | --- |
//! | a folder | being one | a file each, named by its path |
//! | text with a document a line | `.txt`, anything else | a line each |
//! | CSV, TSV | `.csv`, `.tsv` | a row each, from the column of the text; in TSV a row is a line |
//! | Parquet | `.parquet`, its first bytes | a row each, from the column of the text |
//! | MALLET import text | `.mallet` | a line each: `name label text…` |
//! | UCI bag-of-words | `docword*.txt`, its first lines | `document word count` a line, words beside it |
//! | LDA-C | `.ldac`, its first lines | a line each: `n id:count …`, words beside it |
//! | MatrixMarket | `.mtx`, its first line | a row each |
//! | svmlight | `.svm`, `.svmlight`, `.libsvm`, its first lines | a line each: `label id:count …` |
//!
//! All may be packed by gzip or zstd, and `-` is standard input. What is read is checked against what its header
//! promises before memory is set aside. How text becomes words is the [`Recipe`].

mod bag;
mod cut;
mod folder;
mod format;
mod header;
mod languages;
mod lexicon;
mod lines;
mod numbers;
mod pairs;
#[cfg(feature = "parquet")]
mod parquet;
mod recipe;
mod table;
mod tokens;
mod triples;
mod words;

pub use cut::{Cutter, Scanned, encode_tokens, scan_tokens};
pub use format::Format;
pub use lexicon::{texts, texts_in_parts, tokens, tokens_in_parts};
pub use recipe::Recipe;
pub use words::{distinct_words, vocabulary_beside};

use super::data::Corpus;
use crate::error::{Error, Result};
use crate::input::{Opening, Source};
use crate::report::grouped;
use std::path::{Path, PathBuf};
use tenfold_engine::progress::Progress;

/// How documents are read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The format; `None` tells it by the file's name or its first lines.
    pub format: Option<Format>,
    /// Bytes of memory for the corpus; a larger one goes to a temporary file. 2 GiB by default.
    pub memory: u64,
    /// The file with the words of a bag of words, one a line; `None` looks beside the counts.
    pub vocabulary: Option<PathBuf>,
    /// The column of a table that holds the text, by name or by number from 1. `None`: the only one, or one of a usual
    /// name such as `text`.
    pub text_column: Option<String>,
    /// The column of a table that holds the documents' names.
    pub id_column: Option<String>,
    /// Whether the first line of a table holds the columns' names. `None` looks.
    pub header: Option<bool>,
    /// The encoding of text, by its name in the Encoding Standard. `None` is UTF-8.
    pub encoding: Option<String>,
    /// How text becomes words.
    pub recipe: Recipe,
    /// The words of a model: they keep their numbers, and no others are taken unless the vocabulary may [grow].
    ///
    /// [grow]: ReadOptions::grow
    pub fixed_vocabulary: Option<Vec<String>>,
    /// Whether words that the fixed vocabulary does not have are put behind it.
    pub grow: bool,
    /// Windows of text that are counted while it is read ([`Corpus::windows`]).
    pub windows: Option<Windows>,
    /// Bytes after which unpacking, or standard input, is given up. 8 GiB by default.
    pub max_decompressed: u64,
}

/// How often the first words of topics stand near each other, to be counted where the order of words is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Windows {
    /// Words of a window, one count for each.
    pub widths: Vec<usize>,
    /// The words of every topic, by their numbers in the fixed vocabulary.
    pub topics: Vec<Vec<u32>>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            memory: 2 << 30,
            vocabulary: None,
            text_column: None,
            id_column: None,
            header: None,
            encoding: None,
            recipe: Recipe::default(),
            fixed_vocabulary: None,
            grow: false,
            windows: None,
            max_decompressed: 8 << 30,
        }
    }
}

impl ReadOptions {
    /// Refuses what was asked for and would be passed over. The recipe of a model is no one's wish: it holds where there
    /// is text.
    fn refuse_unused(&self, format: Format) -> Result<()> {
        let is_lines = matches!(format, Format::Csv | Format::Tsv);
        let is_table = is_lines || format == Format::Parquet;
        let given = [
            ("--vocabulary", self.vocabulary.is_some() && format.is_text()),
            ("--text-column", self.text_column.is_some() && !is_table),
            ("--id-column", self.id_column.is_some() && !is_table),
            ("--header", self.header.is_some() && !is_lines),
            ("--encoding", self.encoding.is_some() && format == Format::Parquet),
        ];
        let unused = given.iter().find(|(_, unused)| *unused).map(|(choice, _)| *choice);
        let counted = !format.is_text() && self.fixed_vocabulary.is_none();
        match unused.or_else(|| self.recipe.choice_for_text().filter(|_| counted)) {
            Some(choice) => Err(Error::Unused { choice, with: format.describe().into() }),
            None => Ok(()),
        }
    }

    /// How a file is opened.
    fn opening(&self) -> Opening<'_> {
        let wanted = "give a file with at least one document";
        Opening { encoding: self.encoding.as_deref(), max_decompressed: self.max_decompressed, wanted }
    }
}

/// Reads documents. What the reader did that its user should know stands in [`Corpus::notes`], the recipe with all its
/// choices made in [`Corpus::recipe`].
///
/// # Complexity
/// One pass, in parallel; two over svmlight, and over triples whose documents do not ascend. Memory beyond the corpus
/// is some tens of megabytes, and for text the distinct words.
///
/// # Errors
/// An option that means nothing with the format; a file that is missing, damaged, not what its header promises or not
/// UTF-8; counts that are negative, fractional or beyond 2²⁴; text of which no words are left. All but the first name the
/// file, and the line where there is one.
///
/// # Example
/// ```
/// use tenfold::engine::progress::Silent;
/// use tenfold::topics::read::{ReadOptions, Recipe, read};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("pets.txt");
/// std::fs::write(&path, "The cat sat.\nA dog and a cat\n\nDogs, cats: pets!\n").unwrap();
/// let stop_words = vec!["english".into()];
/// let (min_df, max_df, stemmer) = (Some(2), Some(1.0), Some("en".into()));
/// let recipe = Recipe { stop_words, stemmer, min_df, max_df, ..Recipe::default() };
/// let corpus = read(&path, &ReadOptions { recipe, ..ReadOptions::default() }, &Silent)?;
/// assert_eq!(corpus.vocabulary(), ["cat", "dog"]);
/// assert_eq!((corpus.documents(), corpus.tokens()), (4, 5));
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn read(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Corpus> {
    options.recipe.check()?;
    if path.is_dir() {
        if let Some(format) = options.format.filter(|f| *f != Format::Folder) {
            return Err(fail(
                path,
                format!("is a folder, not {}", format.describe()),
                "give a file, or leave the format out",
            ));
        }
        options.refuse_unused(Format::Folder)?;
        return noted(folder::read(path, options, progress)?, Format::Folder, "by itself");
    }
    let source = Source::open(path, options.opening(), progress)?;
    let (format, how) = match options.format {
        Some(format) => (format, "as was said"),
        None => Format::tell(&source),
    };
    options.refuse_unused(format)?;
    let corpus = match format {
        Format::Folder => Err(fail(path, "is no folder".into(), "give a folder, or leave the format out")),
        Format::Lines => lines::read(&source, lines::Kind::Plain, options, progress),
        Format::Mallet => lines::read(&source, lines::Kind::Mallet, options, progress),
        Format::Csv | Format::Tsv => table::read(&source, format, options, progress),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(source, options, progress),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            Err(fail(path, "this build was made without the feature `parquet`".into(), "convert it to CSV"))
        }
        Format::Uci => triples::read(&source, triples::Kind::Uci, options, progress),
        Format::MatrixMarket => triples::read(&source, triples::Kind::MatrixMarket, options, progress),
        Format::LdaC => pairs::read(&source, pairs::Kind::LdaC, options, progress),
        Format::Svmlight => pairs::read(&source, pairs::Kind::Svmlight, options, progress),
    }?;
    let corpus = if format.is_text() { corpus } else { limited(path, corpus, options)? };
    noted(corpus, format, how)
}

/// Says which format it was.
fn noted(mut corpus: Corpus, format: Format, how: &str) -> Result<Corpus> {
    corpus.note(format!("read as {}, told {how}", format.describe()));
    Ok(corpus)
}

/// A bag of words with the limits of document frequency that were asked for, if any.
fn limited(path: &Path, mut corpus: Corpus, options: &ReadOptions) -> Result<Corpus> {
    let Recipe { min_df, max_df, .. } = options.recipe;
    let recipe = Recipe { min_df, max_df, ..Recipe::given() };
    if (min_df.is_some() || max_df.is_some()) && options.fixed_vocabulary.is_none() {
        let (fewest, share) = recipe.limits();
        let most = share * corpus.documents() as f64;
        let frequencies = corpus.document_frequencies()?;
        let fits = |f: &u32| *f as usize >= fewest && f64::from(*f) <= most;
        let keep: Vec<bool> = frequencies.iter().map(fits).collect();
        let (all, kept) = (keep.len() as u64, keep.iter().filter(|k| **k).count() as u64);
        if kept == 0 {
            let rare = frequencies.iter().filter(|f| (**f as usize) < fewest).count() as u64;
            let problem = format!(
                "no words are left: of {} words {} stand in fewer than {fewest} documents and {} in more than {} % of \
                 them",
                grouped(all),
                grouped(rare),
                grouped(all - rare),
                100.0 * share
            );
            return Err(fail(path, problem, "lower --min-df or raise --max-df"));
        }
        if kept < all {
            corpus = corpus.keep_words(&keep)?;
            corpus.note(format!(
                "{} of {} words were dropped: they stand in fewer than {fewest} documents or in more than {} % of \
                 them",
                grouped(all - kept), grouped(all), 100.0 * share
            ));
        }
    }
    corpus.set_recipe(recipe.to_json());
    Ok(corpus)
}

/// An error about a file as a whole.
fn fail(path: &Path, problem: String, remedy: &str) -> Error {
    Error::Read { path: path.to_owned(), line: None, problem, remedy: remedy.into() }
}
