//! How documents are read, and how text becomes words.

use crate::common::{Header, Session, parse_count};
use crate::memory::MemoryArgs;
use anyhow::Result;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use tenfold::topics::read::{self, Format, ReadOptions, Recipe, Windows, distinct_words, vocabulary_beside};
use tenfold::topics::{Corpus, Model};

/// Memory for documents where no bound is given; more of them stay on disk and are read in blocks.
const USUAL: u64 = 2 << 30;

/// Where the documents come from.
#[derive(Args)]
#[command(next_help_heading = "Reading the documents")]
pub struct ReadArgs {
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Leave the documents on disk, whatever room there is
    #[arg(long, help_heading = "Memory")]
    on_disk: bool,
    /// What the input is, where its name does not tell
    #[arg(long, value_name = "NAME")]
    format: Option<FormatName>,
    /// The words of a bag of words, one a line; looked for beside it when not given
    #[arg(long, value_name = "FILE")]
    vocabulary: Option<PathBuf>,
    /// The column of a table that holds the text
    #[arg(long, value_name = "NAME")]
    text_column: Option<String>,
    /// The column of a table that names its documents
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// Whether the first line of a table holds names
    #[arg(long, value_name = "WHEN", default_value = "guess")]
    header: Header,
    /// How the letters of a text are stored: utf-8, latin1, windows-1252, ...
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    /// A folder of text files
    Folder,
    /// One document a line
    Lines,
    Csv,
    Tsv,
    Parquet,
    /// UCI bag of words: docword.txt with vocab.txt
    Uci,
    /// LDA-C
    Ldac,
    /// MALLET: name, label, text
    Mallet,
    /// MatrixMarket, documents in rows
    Mtx,
    Svmlight,
}

impl FormatName {
    fn format(self) -> Format {
        match self {
            Self::Folder => Format::Folder,
            Self::Lines => Format::Lines,
            Self::Csv => Format::Csv,
            Self::Tsv => Format::Tsv,
            Self::Parquet => Format::Parquet,
            Self::Uci => Format::Uci,
            Self::Ldac => Format::LdaC,
            Self::Mallet => Format::Mallet,
            Self::Mtx => Format::MatrixMarket,
            Self::Svmlight => Format::Svmlight,
        }
    }
}

impl ReadArgs {
    /// The files that are read for this input: no result may replace one.
    pub fn inputs(&self, input: &Path) -> Vec<PathBuf> {
        let words = self.vocabulary.clone().or_else(|| vocabulary_beside(input));
        std::iter::once(input.to_owned()).chain(words).collect()
    }

    /// Reads documents by a recipe, and says what they are. What the reader did stands in the verdict of the fit.
    pub fn read(&self, path: &Path, recipe: Recipe, session: &Session) -> Result<Corpus> {
        self.open(path, ReadOptions { recipe, ..self.options() }, session)
    }

    /// Reads documents as those of the fit were read: by its recipe, in its words. With `grow` new words follow them.
    pub fn read_for(&self, model: &Model, path: &Path, grow: bool, session: &Session) -> Result<Corpus> {
        self.open_for(model, path, ReadOptions { grow, ..self.options() }, session)
    }

    /// As [`ReadArgs::read_for`], counting windows of text.
    pub fn read_windows(
        &self,
        model: &Model,
        path: &Path,
        windows: Windows,
        session: &Session,
    ) -> Result<Corpus> {
        self.open_for(model, path, ReadOptions { windows: Some(windows), ..self.options() }, session)
    }

    fn open_for(
        &self,
        model: &Model,
        path: &Path,
        options: ReadOptions,
        session: &Session,
    ) -> Result<Corpus> {
        let recipe = Recipe::from_json(model.recipe())?;
        let fixed_vocabulary = Some(model.vocabulary().to_vec());
        let corpus = self.open(path, ReadOptions { recipe, fixed_vocabulary, ..options }, session)?;
        corpus.notes().iter().for_each(|note| session.note(&format!("  {note}")));
        Ok(corpus)
    }

    fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.map(FormatName::format),
            memory: self.memory.left(0, USUAL),
            vocabulary: self.vocabulary.clone(),
            text_column: self.text_column.clone(),
            id_column: self.id_column.clone(),
            header: self.header.known(),
            encoding: self.encoding.clone(),
            ..ReadOptions::default()
        }
    }

    fn open(&self, path: &Path, mut options: ReadOptions, session: &Session) -> Result<Corpus> {
        session.bound(&mut options.max_decompressed);
        let mut corpus = session.watch.during(|watch| read::read(path, &options, watch))?;
        if self.on_disk {
            corpus.move_to_disk()?;
        }
        let shown =
            if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() };
        session.note(&format!(
            "{shown}: {} documents, {} words, {} tokens{}",
            corpus.documents(),
            corpus.words(),
            corpus.tokens(),
            if corpus.is_spilled() { "; they stay on disk".into() } else { String::new() }
        ));
        Ok(corpus)
    }
}

/// How text becomes words. The choices are kept in the model.
#[derive(Args)]
#[command(next_help_heading = "From text to words (a bag of words is left as it is)")]
pub struct WordArgs {
    /// Language of the text, for its stop list: en, de, fr, ...; found by itself when not given
    #[arg(long, value_name = "CODE", value_delimiter = ',', conflicts_with = "keep_stop_words")]
    language: Option<Vec<String>>,
    /// Further stop words, one a line
    #[arg(long, value_name = "FILE")]
    stop_words: Option<PathBuf>,
    /// Drop no stop list; topics of ordinary text then drown in them
    #[arg(long)]
    keep_stop_words: bool,
    /// Fewest documents that a word must stand in [default: 3 for text]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    min_df: Option<usize>,
    /// Largest share of documents that a word may stand in [default: 0.5 for text]
    #[arg(long, value_name = "X", value_parser = parse_share)]
    max_df: Option<f64>,
    /// Runs of up to N neighbouring words count as words too: 1, 2 or 3
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_ngrams)]
    ngrams: usize,
    /// Cut endings by the stemmer of this language: en, de, fr, ...
    #[arg(long, value_name = "CODE")]
    stem: Option<String>,
    /// Fewest letters of a word
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = parse_count)]
    min_length: usize,
    /// Keep numbers as words
    #[arg(long)]
    numbers: bool,
    /// Tell capital letters from small ones
    #[arg(long)]
    keep_case: bool,
}

impl WordArgs {
    /// The file of further stop words.
    pub fn input(&self) -> Option<&Path> {
        self.stop_words.as_deref()
    }

    /// The recipe, with its files read and its languages known.
    pub fn recipe(&self, session: &Session) -> Result<Recipe> {
        let extra_stop_words = match &self.stop_words {
            None => Vec::new(),
            Some(path) => distinct_words(path, session.max_decompressed)?,
        };
        let defaults = Recipe::default();
        let recipe = Recipe {
            lowercase: !self.keep_case,
            stop_words: match &self.language {
                _ if self.keep_stop_words => Vec::new(),
                Some(languages) => languages.clone(),
                None => defaults.stop_words.clone(),
            },
            extra_stop_words,
            stemmer: self.stem.clone(),
            ngrams: self.ngrams,
            min_length: self.min_length,
            numbers: self.numbers,
            min_df: self.min_df,
            max_df: self.max_df,
            ..defaults
        };
        recipe.check()?;
        Ok(recipe)
    }
}

/// A share above 0, at most 1.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|x: &f64| *x > 0.0 && *x <= 1.0);
    share.ok_or_else(|| "a share above 0, at most 1, is needed".into())
}

fn parse_ngrams(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=3) => Ok(n),
        _ => Err("1, 2 or 3 is needed".into()),
    }
}
