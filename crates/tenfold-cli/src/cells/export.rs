//! `tenfold cells export`.

use super::infer::type_columns;
use crate::common::Session;
use crate::exit;
use crate::files::{self, Bundle, folder_of};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use tenfold::cells::Model;
use tenfold::engine::linalg::Mat;
use tenfold::output::{self, Labels};

/// Profiles, features and histograms of the types as tables
#[derive(Args)]
#[command(after_help = "\
Profiles have a row for every gene and a column for every type. Features have a row for every type and \
feature: the 5th, 50th and 95th percentile of its cells (orientation in radians). Histograms have a row \
for every bin: where it lies, and its share of the cells of every type.

Examples:
  tenfold cells export m.tenfold --profiles profiles.csv
  tenfold cells export m.tenfold --features features.csv --histograms bins.parquet")]
pub struct Export {
    /// A model that `tenfold cells fit` made
    model: PathBuf,
    /// Gene expression profiles: .csv, .tsv, .parquet or .npy
    #[arg(long, value_name = "OUT")]
    profiles: Option<PathBuf>,
    /// Percentiles of every feature of every type
    #[arg(long, value_name = "OUT")]
    features: Option<PathBuf>,
    /// Histograms of every type over the bins
    #[arg(long, value_name = "OUT")]
    histograms: Option<PathBuf>,
}

impl Export {
    pub fn run(self, session: &Session) -> Result<()> {
        let outputs: Vec<&PathBuf> =
            [&self.profiles, &self.features, &self.histograms].into_iter().flatten().collect();
        let Some(first) = outputs.first() else {
            return Err(exit::usage("nothing to write; ask for --profiles, --features or --histograms"));
        };
        for path in &outputs {
            files::check_table(path, &[&self.model])?;
        }
        files::check_apart(&outputs.iter().map(|path| path.as_path()).collect::<Vec<_>>())?;
        let model = Model::load(&self.model)?;
        if model.bins().is_none() && (self.features.is_some() || self.histograms.is_some()) {
            return Err(exit::usage(
                "the model was learned from counts and has no features; only --profiles can be written",
            ));
        }
        let mut bundle = Bundle::new(folder_of(first))?;
        if let Some(path) = &self.profiles {
            let genes = model.genes();
            let labels = [Labels { name: "gene", of: &|row| Cow::Borrowed(genes[row].as_str()) }];
            let turned = model.profiles().transpose();
            output::write_labelled(&bundle.place(path)?, &labels, &type_columns(model.k()), &turned)?;
        }
        if let Some(path) = &self.features {
            features(&bundle.place(path)?, &model)?;
        }
        if let Some(path) = &self.histograms {
            histograms(&bundle.place(path)?, &model)?;
        }
        let written = bundle.finish()?;
        let shown: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        session.answer(&format!("written: {}\n", shown.join(", ")), &json!({ "outputs": shown }))
    }
}

/// A row for every type and feature.
fn features(path: &Path, model: &Model) -> Result<()> {
    let rows: Vec<(usize, &tenfold::cells::Trait)> = model
        .traits()
        .iter()
        .enumerate()
        .flat_map(|(t, list)| list.iter().map(move |own| (t, own)))
        .collect();
    let names = ["type", "p5", "p50", "p95"].map(String::from);
    let labels = [Labels { name: "feature", of: &|row| Cow::Borrowed(rows[row].1.feature.name()) }];
    let numbers = rows.iter().flat_map(|(t, own)| [*t as f64, own.low, own.median, own.high]).collect();
    Ok(output::write_labelled(path, &labels, &names, &Mat::from_vec(rows.len(), 4, numbers))?)
}

/// A row for every bin that holds cells: its place along every axis and the share of every type's cells.
fn histograms(path: &Path, model: &Model) -> Result<()> {
    let Some(bins) = model.bins() else { return Ok(()) };
    let all = model.histograms();
    let filled: Vec<usize> = (0..bins.len()).filter(|&bin| model.totals()[bin] > 0.0).collect();
    let mut names: Vec<String> =
        ["bin", "size_bin", "shape_bin", "intensity_bin", "density_bin", "cells"].map(String::from).to_vec();
    names.extend(type_columns(model.k()));
    let mut numbers = Vec::with_capacity(filled.len() * names.len());
    for &bin in &filled {
        numbers.push(bin as f64);
        numbers.extend(bins.parts(bin).map(|part| part as f64));
        numbers.push(model.totals()[bin]);
        numbers.extend((0..model.k()).map(|t| all[(t, bin)]));
    }
    let columns = names.len();
    Ok(output::write_table(path, &names, &Mat::from_vec(filled.len(), columns, numbers))?)
}
