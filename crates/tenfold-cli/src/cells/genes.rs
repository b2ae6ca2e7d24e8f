//! Which gene an image shows, and what the image is called.

use crate::common::Session;
use crate::exit;
use anyhow::Result;
use clap::{Args, ValueEnum};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use tenfold::cells::names;

/// Where the gene of an image is told.
#[derive(Args)]
#[command(next_help_heading = "Genes")]
pub struct GeneArgs {
    /// What of an image's path is its gene
    #[arg(long, value_name = "PART", default_value = "prefix", conflicts_with = "genes")]
    gene_from: From,
    /// The gene of every image, in a table with the columns image and gene
    #[arg(long, value_name = "MAP.csv")]
    genes: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum From {
    /// The file's name up to the first `_`, without its extension
    Prefix,
    /// The file's name without its extension
    Name,
    /// The name of the folder
    Folder,
}

/// An image that is to be looked at.
pub struct Asked {
    pub path: PathBuf,
    pub image: String,
    pub gene: String,
}

impl GeneArgs {
    /// The files that are read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.genes.iter().map(PathBuf::as_path)
    }

    /// Names and genes of images. Images are called by their files; where two files have one name, by their paths.
    pub fn ask(&self, paths: &[&Path], session: &Session) -> Result<Vec<Asked>> {
        let file = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let mut seen = HashSet::new();
        let unique = paths.iter().all(|path| seen.insert(file(path)));
        let read = |path| names::read_genes(path, session.max_decompressed);
        let known = self.genes.as_deref().map(read).transpose()?;
        let mut asked: Vec<Asked> = Vec::new();
        for path in paths {
            let image = if unique { file(path) } else { path.to_string_lossy().into_owned() };
            let gene = match &known {
                Some(known) => self.mapped(known, path, &image)?,
                None => self.told(path)?,
            };
            // Names stand in tables, whose lines they must not break.
            let plain = |name: String| name.replace(|c: char| c.is_control(), " ");
            asked.push(Asked { path: path.to_path_buf(), image: plain(image), gene: plain(gene) });
        }
        let mut seen = HashSet::new();
        match asked.iter().find(|asked| !seen.insert(&asked.image)) {
            Some(twice) => {
                Err(exit::usage(format!("{} is given twice; leave one out", twice.path.display())))
            }
            None => Ok(asked),
        }
    }

    fn mapped(&self, known: &HashMap<String, String>, path: &Path, image: &str) -> Result<String> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let found = [image, &name, &stem].iter().find_map(|key| known.get(*key));
        found.cloned().ok_or_else(|| {
            let map = self.genes.as_deref().unwrap_or(Path::new("")).display();
            exit::bad_input(format!("{map} has no line for the image {image}; add one: {image},GENE"))
        })
    }

    fn told(&self, path: &Path) -> Result<String> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let gene = match self.gene_from {
            From::Prefix => stem.split('_').find(|part| !part.is_empty()).unwrap_or(&stem).to_owned(),
            From::Name => stem.into_owned(),
            From::Folder => {
                let folder = path.canonicalize().ok().and_then(|p| p.parent().map(Path::to_owned));
                let folder =
                    folder.as_deref().and_then(Path::file_name).map(|f| f.to_string_lossy().into_owned());
                folder.unwrap_or_default()
            }
        };
        match gene.is_empty() {
            true => {
                Err(exit::usage(format!("{} does not tell its gene; give --genes MAP.csv", path.display())))
            }
            false => Ok(gene),
        }
    }
}
