//! Which cells are kept: those of a region of an atlas.

use crate::common::Session;
use crate::exit;
use anyhow::Result;
use clap::Args;
use std::path::{Path, PathBuf};
use tenfold::cells::Section;
use tenfold::cells::region::{Affine, Maps, Region};

#[derive(Args)]
#[command(next_help_heading = "Region")]
pub struct SelectArgs {
    /// Keep cells in this region: a mask (an image, not 0 inside) or a polygon (CSV of x,y[,ring], or GeoJSON)
    #[arg(long, value_name = "FILE")]
    region: Option<PathBuf>,
    /// From an image's pixels to those of the region, x' = a x + b y + c and y' = d x + e y + f: six numbers,
    /// a file with them, or a table image,a,b,c,d,e,f
    #[arg(long, value_name = "A,B,C,D,E,F|FILE", requires = "region", allow_hyphen_values = true)]
    affine: Option<String>,
}

/// What is kept.
pub struct Selection {
    region: Region,
    maps: Option<Maps>,
}

impl SelectArgs {
    /// The files that are read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.region.iter().map(PathBuf::as_path).chain(self.affine.iter().map(Path::new))
    }

    /// Reads the region and the maps to it, if any were asked for.
    pub fn open(&self, memory: u64, session: &Session) -> Result<Option<Selection>> {
        let Some(path) = &self.region else { return Ok(None) };
        let bound = session.max_decompressed;
        let region = session.watch.during(|watch| Region::read(path, memory, bound, watch))?;
        let maps = match &self.affine {
            None => None,
            Some(text) => Some(match text.parse::<Affine>() {
                Ok(affine) => Maps::One(affine),
                Err(_) if Path::new(text).exists() => Maps::read(Path::new(text), bound)?,
                Err(problem) => {
                    let message = format!("--affine {text}: {problem}, or a file that holds them");
                    return Err(exit::usage(message));
                }
            }),
        };
        Ok(Some(Selection { region, maps }))
    }
}

impl Selection {
    /// Keeps the cells of an image that lie in the region.
    pub fn keep(&self, section: &mut Section, size: Option<(usize, usize)>) -> Result<()> {
        let map = match &self.maps {
            Some(maps) => maps.of(&section.image)?,
            None => {
                if let Some(size) = size {
                    self.region.check(&section.image, size)?;
                }
                Affine::IDENTITY
            }
        };
        self.region.keep(&mut section.cells, &map);
        Ok(())
    }

    /// What it is, for messages.
    pub fn describe(&self) -> String {
        self.region.describe()
    }
}
