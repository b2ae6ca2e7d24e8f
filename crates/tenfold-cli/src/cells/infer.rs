//! `tenfold cells infer`.

use super::reading::{ReadArgs, read_cells, read_counts};
use crate::common::Session;
use crate::files::{self, Bundle};
use crate::{exit, files::folder_of};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tenfold::cells::{Model, Posteriors, Tissue, images, overlay};
use tenfold::engine::progress::Progress;
use tenfold::output::{self, Heading, Labels};

/// Sides of an overlay, at most.
const OVERLAY: usize = 4096;

/// The types of cells, or the mixture of types in counts
#[derive(Args)]
#[command(after_help = "\
A cell's type is told by its features and by the gene that its image shows. The table has a row for every \
cell: its most probable type, the probability of that, and those of all types. With --counts the rows are \
those of a table of counts, such as single cells whose transcripts were counted.

Examples:
  tenfold cells infer m.tenfold cells.parquet -o types.parquet
  tenfold cells infer m.tenfold cells.csv -o types.csv --images *.png --overlay drawn
  tenfold cells infer m.tenfold counts.tsv --counts -o mixtures.csv")]
pub struct Infer {
    /// A model that `tenfold cells fit` made
    model: PathBuf,
    /// Cells, or with --counts a table of counts
    #[arg(value_name = "CELLS")]
    input: PathBuf,
    /// Where the types go: .csv, .tsv, .parquet or .npy
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The input is a table of counts and not one of cells
    #[arg(long, conflicts_with_all = ["overlay", "images"])]
    counts: bool,
    /// The images of the cells, for --overlay
    #[arg(long, value_name = "IMAGE", num_args = 1.., requires = "overlay")]
    images: Vec<PathBuf>,
    /// A folder for pictures of the images with their cells in the colours of their types
    #[arg(long, value_name = "DIR", requires = "images")]
    overlay: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

impl Infer {
    pub fn run(self, session: &Session) -> Result<()> {
        files::check_table(&self.output, &self.inputs())?;
        let model = Model::load(&self.model)?;
        match self.counts {
            true => self.mixtures(&model, session),
            false => self.types(&model, session),
        }
    }

    /// All files that are read.
    fn inputs(&self) -> Vec<&Path> {
        let images = self.images.iter().map(PathBuf::as_path);
        [&*self.model, &*self.input].into_iter().chain(images).collect()
    }

    fn mixtures(&self, model: &Model, session: &Session) -> Result<()> {
        let begin = Instant::now();
        let read = read_counts(&self.input, model.genes(), session)?;
        let found = session.watch.during(|watch| model.mixtures(&read.counts, watch))?;
        session.watch.check()?;
        let labels = [Labels { name: "cell", of: &|row| Cow::Borrowed(read.cells[row].as_str()) }];
        output::write_labelled(&self.output, &labels, &type_columns(model.k()), &found)?;
        let seconds = begin.elapsed().as_secs_f64();
        let text = format!(
            "mixtures of {} rows written to {} in {seconds:.1} s\n",
            read.cells.len(),
            self.output.display()
        );
        let value =
            json!({ "rows": read.cells.len(), "output": self.output.to_string_lossy(), "seconds": seconds });
        session.answer(&text, &value)
    }

    fn types(&self, model: &Model, session: &Session) -> Result<()> {
        let begin = Instant::now();
        let tissue = read_cells(&self.input, &self.read, session)?;
        let found = session.watch.during(|watch| model.infer_with(&tissue, watch))?;
        self.warn(&found, session);
        let mut bundle = Bundle::new(self.overlay.as_deref().unwrap_or(folder_of(&self.output)))?;
        write(&bundle.place(&self.output)?, &tissue, &found)?;
        let best: Vec<Vec<usize>> =
            found.sections.iter().map(|m| (0..m.rows()).map(|i| largest(m.row(i))).collect()).collect();
        let drawn = self.draw(&tissue, &best, &mut bundle, session)?;
        session.watch.check()?;
        bundle.finish()?;
        let mut counts = vec![0usize; model.k()];
        best.iter().flatten().for_each(|&t| counts[t] += 1);
        let seconds = begin.elapsed().as_secs_f64();
        let mut text = String::new();
        for (t, count) in counts.iter().enumerate() {
            text += &format!("type {t}: {count} cells\n");
        }
        text += &format!(
            "types of {} cells written to {} in {seconds:.1} s\n",
            tissue.len(),
            self.output.display()
        );
        if let Some(folder) = self.overlay.as_ref().filter(|_| drawn > 0) {
            text += &format!("{drawn} pictures written to {}\n", folder.display());
        }
        let value = json!({
            "cells": tissue.len(), "of_type": counts, "output": self.output.to_string_lossy(), "pictures": drawn,
            "unknown_genes": found.unknown, "seconds": seconds,
        });
        session.answer(&text, &value)
    }

    fn warn(&self, found: &Posteriors, session: &Session) {
        if !found.unknown.is_empty() {
            let some = found.unknown.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            let more = if found.unknown.len() > 5 { ", …" } else { "" };
            session.warn(&format!(
                "{} genes are not known to the model, so their cells are told by features alone: {some}{more}",
                found.unknown.len()
            ));
        }
        if found.missing > 0 {
            session.warn(&format!("{} cells lack a feature and are told by their gene alone", found.missing));
        }
    }

    /// One picture for every image that was given and has cells.
    fn draw(
        &self,
        tissue: &Tissue,
        best: &[Vec<usize>],
        bundle: &mut Bundle,
        session: &Session,
    ) -> Result<usize> {
        let mut drawn = 0;
        for path in &self.images {
            session.watch.check()?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // `detect` calls images by their path where two have the same name.
            let given = path.to_string_lossy();
            let whole = tissue.sections.iter().position(|section| section.image == given);
            let Some(at) = whole.or_else(|| tissue.sections.iter().position(|section| section.image == name))
            else {
                session.warn(&format!("{}: the table has no cells of this image", path.display()));
                continue;
            };
            let mut options = images::Options::default();
            session.bound(&mut options.max_decompressed);
            let image = session.watch.during(|watch| images::open(path, &options, watch))?;
            let mut picture = overlay::Picture::of(&image, OVERLAY)?;
            let colour = |i: usize| overlay::PALETTE[best[at][i] % overlay::PALETTE.len()];
            picture.draw(&tissue.sections[at].cells, colour);
            let called = tissue.sections[at].image.replace(['/', '\\'], "_");
            let target = bundle.folder().join(format!("{called}.types.png"));
            files::check_target(&target, &self.inputs())?;
            files::write_bytes(&bundle.place(&target)?, &picture.png())?;
            drawn += 1;
        }
        match (self.images.is_empty(), drawn) {
            (false, 0) => Err(exit::bad_input(
                "none of the images has cells in the table; its column `image` must hold their file names",
            )),
            _ => Ok(drawn),
        }
    }
}

/// One column for each type.
pub fn type_columns(k: usize) -> Vec<String> {
    (0..k).map(|t| format!("type{t}")).collect()
}

fn largest(row: &[f64]) -> usize {
    (0..row.len()).reduce(|best, t| if row[t] > row[best] { t } else { best }).unwrap_or(0)
}

/// A row for every cell: image, gene, place, the most probable type with its probability, and all probabilities.
fn write(path: &Path, tissue: &Tissue, found: &Posteriors) -> tenfold::Result<()> {
    let k = found.sections.first().map_or(0, |m| m.cols());
    let mut names: Vec<String> = ["x", "y", "type", "probability"].map(String::from).to_vec();
    names.extend(type_columns(k));
    let of: Vec<usize> =
        tissue.sections.iter().enumerate().flat_map(|(s, own)| vec![s; own.cells.len()]).collect();
    let labels = [
        Labels { name: "image", of: &|row| Cow::Borrowed(tissue.sections[of[row]].image.as_str()) },
        Labels { name: "gene", of: &|row| Cow::Borrowed(tissue.sections[of[row]].gene.as_str()) },
    ];
    let heading = Heading { labels: &labels, names: &names, rows: tissue.len() };
    output::write_rows(path, heading, |put| {
        for (section, types) in tissue.sections.iter().zip(&found.sections) {
            for (i, cell) in section.cells.iter().enumerate() {
                let row = types.row(i);
                let best = largest(row);
                let mut cells = vec![cell.x, cell.y, best as f64, row[best]];
                cells.extend_from_slice(row);
                put(&cells)?;
            }
        }
        Ok(())
    })
}
