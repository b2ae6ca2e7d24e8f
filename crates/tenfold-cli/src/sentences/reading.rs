//! How sentences are read, and the features they become.

use crate::common::Session;
use anyhow::Result;
use clap::{Args, ValueEnum};
use std::path::Path;
use tenfold::sentences::{Features, Lines, ReadOptions, read};

/// Where sentences come from.
#[derive(Args)]
#[command(next_help_heading = "Reading the text")]
pub struct ReadArgs {
    /// How the letters of a text are stored: utf-8, latin1, windows-1252, ...
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
}

impl ReadArgs {
    /// Reads sentences, one a line, and says how many.
    pub fn read(&self, path: &Path, session: &Session) -> Result<Lines> {
        let mut options = ReadOptions { encoding: self.encoding.clone(), ..ReadOptions::default() };
        session.bound(&mut options.max_decompressed);
        let lines = session.watch.during(|watch| read(path, &options, watch))?;
        let shown =
            if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() };
        session.note(&format!("{shown}: {} sentences", lines.len()));
        Ok(lines)
    }
}

/// What a sentence becomes, by its name.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum FeaturesName {
    /// The mean of the word vectors
    Mean,
    /// The mean with less weight on frequent words, without the first component
    Sif,
    /// How strongly every template fires
    Templates,
    /// Templates and the mean side by side
    #[value(name = "templates+mean")]
    TemplatesMean,
}

impl FeaturesName {
    pub fn features(self) -> Features {
        match self {
            Self::Mean => Features::Mean,
            Self::Sif => Features::Sif,
            Self::Templates => Features::Templates,
            Self::TemplatesMean => Features::TemplatesMean,
        }
    }
}
