//! `tenfold generate ica`.

use super::{check_entries, folder, stem};
use crate::common::{Session, numbered, parse_amount, parse_count};
use crate::exit;
use crate::files::{Bundle, check_table, write_table};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;
use tenfold::ica::{Shape, Synth};

/// Mixtures x = A s + noise of independent sources, with A and s beside them
#[derive(Args)]
#[command(after_help = "\
Examples:
  tenfold generate ica -o X.npy
  tenfold generate ica --samples 100000 --columns 16 --sources 4 -o data/
  tenfold generate ica --shapes uniform,sign --noise 0.1 -o X.csv

The first writes X.npy, X.mixing.npy and X.sources.npy.")]
pub struct Ica {
    /// Rows to draw
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = parse_count)]
    samples: usize,
    /// Columns of the mixtures
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = parse_count)]
    columns: usize,
    /// Sources; as many as columns when not given
    #[arg(long, value_name = "N", value_parser = parse_count)]
    sources: Option<usize>,
    /// Shapes of the sources, in turn
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "laplace,uniform,exponential")]
    shapes: Vec<ShapeName>,
    /// Standard deviation of white noise on every column
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = parse_amount)]
    noise: f64,
    /// A file for the mixtures (.npy, .csv, .tsv, .parquet), with the truth beside it, or a folder for all
    #[arg(short, long, value_name = "FILE|DIR")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum ShapeName {
    Laplace,
    Uniform,
    Exponential,
    Sign,
    Gaussian,
}

impl Ica {
    pub fn run(self, session: &Session) -> Result<()> {
        let sources = self.sources.unwrap_or(self.columns);
        if sources > self.columns {
            return Err(exit::usage(format!(
                "{sources} sources cannot be unmixed from {} columns; ask for at most {}",
                self.columns, self.columns
            )));
        }
        let [n, d, k] = [self.samples, self.columns, sources].map(|count| count as f64);
        check_entries(n * (d + k) + d * k)?;
        // Without an extension, or as a folder that is there, all files go into it under plain names.
        let (place, names) = if self.output.is_dir() || self.output.extension().is_none() {
            (self.output.as_path(), ["X.npy".into(), "mixing.npy".into(), "sources.npy".into()])
        } else {
            check_table(&self.output, &[])?;
            let name = self.output.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (stem, extension) = (stem(&self.output), name.rsplit('.').next().unwrap_or("npy").to_owned());
            let beside = [format!("{stem}.mixing.npy"), format!("{stem}.sources.{extension}")];
            let [mixing, sources] = beside;
            (folder(&self.output), [name, mixing, sources])
        };
        let mut bundle = Bundle::new(place)?;
        let shapes = self.shapes.iter().map(|s| s.shape()).collect();
        let Self { samples, columns, noise, .. } = self;
        let synth = Synth { samples, columns, sources, shapes, noise, seed: session.seed };
        let watch = &session.watch;
        let drawn = watch.during(|watch| synth.draw_with(watch))?;
        write_table(&bundle.path(&names[0])?, &numbered("c", columns), &drawn.samples, watch)?;
        write_table(&bundle.path(&names[1])?, &numbered("s", sources), &drawn.mixing, watch)?;
        write_table(&bundle.path(&names[2])?, &numbered("s", sources), &drawn.sources, watch)?;
        let paths = bundle.finish()?;
        let [x, mixing, truth] = [0, 1, 2].map(|i| paths[i].display().to_string());
        let text = format!(
            "{samples} samples of {columns} columns mixed from {sources} sources: {x}\n\
             the truth beside it: {mixing} ({columns} × {sources}) and {truth}\n\
             next: tenfold ica fit {x} -k {sources} -o model.tenfold\n"
        );
        let value = json!({
            "samples": samples, "columns": columns, "k": sources, "noise": noise, "seed": session.seed,
            "output": x, "mixing": mixing, "sources": truth,
        });
        session.answer(&text, &value)
    }
}

impl ShapeName {
    fn shape(self) -> Shape {
        match self {
            Self::Laplace => Shape::Laplace,
            Self::Uniform => Shape::Uniform,
            Self::Exponential => Shape::Exponential,
            Self::Sign => Shape::Sign,
            Self::Gaussian => Shape::Gaussian,
        }
    }
}
