//! `tenfold report`.

use crate::cells;
use crate::common::Session;
use crate::communities::TruthArgs;
use crate::{exit, files};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use tenfold::communities::{Comparison, Members, THRESHOLDS, truth};
use tenfold::engine::progress::Progress;
use tenfold::model_file::{ModelFile, TensorData};
use tenfold::report::{self, Page};
use tenfold::{cells as types, communities, ica, motifs, sentences, topics, trees};

/// One page about a model, to look at in a browser
#[derive(Args)]
#[command(after_help = "\
The page is a single file that works offline and can be sent to others. For topics it has a map, \
the words of every topic with a slider for their relevance, a search, sizes and correlations, the \
spectrum and what speaks for or against the model. For communities it has the network with \
memberships as pies, members and bridges, the adjacency matrix by blocks, and the trade-off that a \
threshold makes; with --truth that between recovery and error. For motifs it has \
their shapes and spectra, where they fire on a stretch of the signal, and the raster of firings. For \
sentences it has the words on a map with their neighbours, and the phrases of every template. For trees \
it has the tree, to fold, search and zoom, with the tables behind every edge. For cell types it has their \
profiles and features and, with --images, the cells on their images; with --single-cells what counted \
transcripts say of the types.

Examples:
  tenfold report model.tenfold -o topics.html
  tenfold report communities.tenfold --truth labels.txt -o communities.html
  tenfold report cells.tenfold --images *.png -o types.html")]
pub struct Report {
    /// A model that tenfold made
    model: PathBuf,
    /// Where the page goes: .html
    #[arg(short, long, value_name = "PAGE.html")]
    output: PathBuf,
    /// Of cell types: the images, to draw the cells on
    #[arg(long, value_name = "IMAGE", num_args = 1..)]
    images: Vec<PathBuf>,
    /// Of cell types: counted transcripts of single cells that judge the types
    #[arg(long, value_name = "COUNTS")]
    single_cells: Option<PathBuf>,
    /// For trees: hold back what stands for fewer samples than this, other than none
    #[arg(long, value_name = "N")]
    min_cell: Option<u64>,
    #[command(flatten)]
    truth: TruthArgs,
}

/// Sides of an image on a page, at most: a screen's width.
const BACKDROP: usize = 1200;

impl Report {
    pub fn run(self, session: &Session) -> Result<()> {
        let extension = self.output.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if !matches!(extension.as_str(), "html" | "htm") {
            return Err(exit::usage(format!(
                "{}: a report is a page for the browser; give it a name that ends in .html",
                self.output.display()
            )));
        }
        let inputs: Vec<&Path> = std::iter::once(&self.model)
            .chain(&self.truth.truth)
            .chain(&self.images)
            .chain(&self.single_cells)
            .map(PathBuf::as_path)
            .collect();
        files::check_output(&self.output, &inputs)?;
        let kind = ModelFile::kind_of(&self.model)?;
        if self.truth.truth.is_some() && kind != "communities" {
            return Err(exit::usage(format!(
                "--truth is for models of communities; {} holds one of {kind}",
                self.model.display()
            )));
        }
        if (!self.images.is_empty() || self.single_cells.is_some()) && kind != "cells" {
            return Err(exit::usage(format!(
                "--images and --single-cells are for models of cell types; {} holds one of {kind}",
                self.model.display()
            )));
        }
        if self.min_cell.is_some() && kind != "trees" {
            return Err(exit::usage(format!(
                "--min-cell is for models of trees; {} holds one of {kind}",
                self.model.display()
            )));
        }
        let page = match kind.as_str() {
            "cells" => self.cells(&types::Model::load(&self.model)?, session)?,
            "topics" => topics::Model::load(&self.model)?.report()?,
            "communities" => self.communities(&communities::Model::load(&self.model)?, session)?,
            "ica" => ica::Model::load(&self.model)?.report(),
            "motifs" => motifs::Model::load(&self.model)?.report(),
            "sentences" => sentences::Model::load(&self.model)?.report()?,
            "trees" => {
                let model = trees::Model::load(&self.model)?;
                let picture = model.picture(self.min_cell);
                picture.check()?;
                picture.page()
            }
            _ => plain(&ModelFile::load(&self.model)?),
        };
        session.watch.check()?;
        page.write(&self.output)?;
        let to = self.output.display();
        let value = json!({ "output": self.output.to_string_lossy(), "kind": kind });
        session.answer(&format!("page written to {to}; open it in a browser\n"), &value)
    }
}

impl Report {
    fn communities(&self, model: &communities::Model, session: &Session) -> Result<Page> {
        let Some(path) = &self.truth.truth else { return Ok(model.report()) };
        let members = Members::of(model, None)?;
        let mut options = self.truth.options(None);
        session.bound(&mut options.max_decompressed);
        let known = session.watch.during(|watch| truth::read(path, members.ids(), &options, watch))?;
        known.notes().iter().for_each(|note| session.note(&format!("{}: {note}", path.display())));
        if known.strangers() > 0 {
            session.warn(&format!("{} ids of the truth are no nodes of the graph", known.strangers()));
        }
        let curve = Comparison::new(&members, &known).trade_off(&THRESHOLDS);
        Ok(model.report_with(&THRESHOLDS.into_iter().zip(curve).collect::<Vec<_>>()))
    }
}

impl Report {
    fn cells(&self, model: &types::Model, session: &Session) -> Result<Page> {
        let mut backdrops = Vec::new();
        let shown = &model.picture().images;
        for path in &self.images {
            session.watch.check()?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // Only those that the page draws cells of: the others would make it large for nothing.
            if shown.iter().all(|image| image.image != name) {
                continue;
            }
            let mut options = types::images::Options::default();
            session.bound(&mut options.max_decompressed);
            let image = session.watch.during(|watch| types::images::open(path, &options, watch))?;
            let (width, height) = types::Pixels::size(&image);
            let png = types::overlay::Picture::of(&image, BACKDROP)?.png();
            backdrops.push(types::Backdrop { image: name, width, height, png });
        }
        if !self.images.is_empty() && backdrops.is_empty() {
            let some: Vec<&str> = shown.iter().take(3).map(|image| image.image.as_str()).collect();
            let some = some.join(", ");
            session.warn(&format!(
                "none of the images is among those the model drew its page for, such as {some}"
            ));
        }
        let judged = match &self.single_cells {
            None => None,
            Some(path) => {
                let cells = cells::read_counts(path, model.genes(), session)?;
                let how = types::validate::Validation { seed: session.seed, ..Default::default() };
                Some(session.watch.during(|watch| how.judge(model, &cells.counts, watch))?)
            }
        };
        Ok(model.report_with(types::Beside { backdrops: &backdrops, judged: judged.as_ref() }))
    }
}

/// The page of a model that has none of its own.
fn plain(file: &ModelFile) -> Page {
    let arrays: Vec<(&str, &[usize], &[f64])> = file
        .tensors
        .iter()
        .filter_map(|(name, tensor)| match &tensor.data {
            TensorData::F64(data) => Some((name.as_str(), &tensor.shape[..], &data[..])),
            _ => None,
        })
        .collect();
    report::plain(&file.kind, &file.metadata, &arrays)
}
