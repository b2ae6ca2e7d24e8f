//! `tenfold generate cells`.

use super::check_entries;
use crate::common::{Session, parse_amount, parse_count, parse_count_to};
use crate::files::{Bundle, write_bytes};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;
use tenfold::cells::images::write_plane;
use tenfold::cells::synth::{Background, Profile, Scene};
use tenfold::cells::{Drawn, Plane, Synth, table};
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Progress;
use tenfold::output::{self, Labels};

/// Tissue of known cell types: an image for every gene, with the cells, their types and the types' profiles beside them
#[derive(Args)]
#[command(after_help = "\
A type has its own size, aspect, orientation, intensity, depth in the tissue and distance to its \
neighbours, and expresses some of the genes. The image of a gene shows the cells of all types that \
express it, on uneven ground, with noise.

Examples:
  tenfold generate cells -o tissue
  tenfold generate cells --types 8 --genes 200 --cells 40000 --no-images -o tissue
  tenfold generate cells --genes 2 --side 2048 --cells 4000 --dark -o slides

The first writes tissue/gene0001.png …, truth.csv (the cells as `cells detect` would write them), \
types.csv (the type of each of these cells), profiles.csv (types × genes) and settings.json.")]
pub struct Cells {
    /// Cell types
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = parse_count_to::<1000>)]
    types: usize,
    /// Genes, an image each
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = parse_count_to::<100_000>)]
    genes: usize,
    /// Cells in all images together, on average [default: 500 a megapixel]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    cells: Option<usize>,
    /// Pixels on the side of an image
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = parse_count_to::<65_536>)]
    side: usize,
    /// How widely the features of a type vary: at 1 neighbouring types overlap
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_amount)]
    spread: f64,
    /// Share of the types that express a gene, on average
    #[arg(long, value_name = "X", default_value_t = 0.35, value_parser = parse_amount)]
    expressed: f64,
    /// How the intensity of a cell falls from its centre
    #[arg(long, value_name = "NAME", default_value = "gaussian")]
    shape: ShapeName,
    /// Standard deviation of the noise; the intensity of a cell is 50 to 170
    #[arg(long, value_name = "X", default_value_t = 10.0, value_parser = parse_amount)]
    noise: f64,
    /// Height of the waves of the background
    #[arg(long, value_name = "X", default_value_t = 8.0, value_parser = parse_amount)]
    wave: f64,
    /// Draw cells dark on light ground
    #[arg(long)]
    dark: bool,
    /// Leave out the images
    #[arg(long)]
    no_images: bool,
    /// The folder for all files
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ShapeName {
    /// A bell
    Gaussian,
    /// Flat, with a soft edge
    Soft,
}

/// The light of images whose cells are dark.
const LIGHT: f32 = 255.0;

impl Cells {
    pub fn run(self, session: &Session) -> Result<()> {
        let pixels = self.side as f64 * self.side as f64;
        // One image at a time, in single precision, and the cells.
        let cells = self.cells.unwrap_or((pixels * self.genes as f64 / 2000.0).ceil().max(1.0) as usize);
        check_entries(pixels + 8.0 * cells as f64 + self.types as f64 * self.genes as f64)?;
        let synth = Synth {
            types: self.types,
            genes: self.genes,
            cells,
            expressed: self.expressed,
            spread: self.spread,
            side: self.side as f64,
            seed: session.seed,
            ..Synth::default()
        };
        let watch = &session.watch;
        let mut bundle = Bundle::new(&self.output)?;
        let drawn = synth.draw()?;
        watch.check()?;
        if !self.no_images {
            watch.during(|watch| {
                watch.stage("drawing images", drawn.tissue.sections.len() as u64);
                for (i, section) in drawn.tissue.sections.iter().enumerate() {
                    watch.check()?;
                    let plane = self.image(&section.cells, session.seed.wrapping_add(i as u64));
                    write_plane(&bundle.path(&section.image)?, &plane)?;
                    watch.advance(1);
                }
                Ok::<_, anyhow::Error>(())
            })?;
        }
        watch.during(|watch| {
            table::write(&bundle.path("truth.csv")?, &drawn.tissue, watch).map_err(anyhow::Error::from)
        })?;
        write_types(&bundle.path("types.csv")?, &drawn)?;
        let genes = drawn.tissue.sections.iter().map(|s| s.gene.clone()).collect::<Vec<_>>();
        let label = |t: usize| format!("type{t}").into();
        let labels = [Labels { name: "type", of: &label }];
        output::write_labelled(&bundle.path("profiles.csv")?, &labels, &genes, &drawn.profiles)?;
        let settings = self.settings(&drawn, session.seed);
        write_bytes(&bundle.path("settings.json")?, format!("{settings:#}\n").as_bytes())?;
        watch.check()?;
        let files = bundle.finish()?;
        let place = self.output.display();
        let images = if self.no_images {
            "no images".into()
        } else {
            format!("{} images of {side} × {side} pixels", self.genes, side = self.side)
        };
        let next = if self.no_images {
            format!("tenfold cells fit {place}/truth.csv -k {} -o model.tenfold", self.types)
        } else {
            format!("tenfold cells detect {place}/gene*.png -o cells.parquet")
        };
        let text = format!(
            "{} cells of {} types, and {images}, in {place}\nthe truth beside them: truth.csv, types.csv, profiles.csv, settings.json\nnext: {next}\n",
            drawn.tissue.len(),
            self.types,
        );
        let mut value = settings;
        value["cells"] = json!(drawn.tissue.len());
        value["files"] = json!(files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>());
        value["output"] = json!(self.output.to_string_lossy());
        session.answer(&text, &value)
    }

    fn image(&self, cells: &[tenfold::cells::Cell], seed: u64) -> Plane {
        let profile = match self.shape {
            ShapeName::Gaussian => Profile::Gaussian,
            ShapeName::Soft => Profile::Soft(1.5),
        };
        // High enough that neither waves nor noise are cut off at 0.
        let background = Background {
            level: 3.0 * self.noise + 2.0 * self.wave,
            wave: self.wave,
            slope: 0.01,
            ..Background::default()
        };
        let scene =
            Scene { width: self.side, height: self.side, profile, background, noise: self.noise, seed };
        let mut plane = scene.draw(cells);
        if self.dark {
            plane.values_mut().iter_mut().for_each(|x| *x = LIGHT - *x);
        } else {
            // Eight bits; where many cells overlap the camera is at its end, as cameras are.
            plane.values_mut().iter_mut().for_each(|x| *x = x.min(LIGHT));
        }
        plane
    }

    fn settings(&self, drawn: &Drawn, seed: u64) -> serde_json::Value {
        let types: Vec<_> = drawn
            .types
            .iter()
            .map(|t| {
                json!({
                    "weight": t.weight, "size": t.size, "aspect": t.aspect, "orientation": t.orientation,
                    "intensity": t.intensity, "depth": t.depth, "spacing": t.spacing,
                })
            })
            .collect();
        let shape = if self.shape == ShapeName::Gaussian { "gaussian" } else { "soft" };
        json!({
            "seed": seed, "types": types, "genes": self.genes, "side": self.side, "spread": self.spread,
            "expressed": self.expressed, "shape": shape, "noise": self.noise, "wave": self.wave, "dark": self.dark,
        })
    }
}

/// The type of every cell, in the order of truth.csv.
fn write_types(path: &std::path::Path, drawn: &Drawn) -> Result<()> {
    let all: Vec<(usize, usize)> =
        drawn.labels.iter().enumerate().flat_map(|(s, labels)| labels.iter().map(move |&t| (s, t))).collect();
    let image = |i: usize| drawn.tissue.sections[all[i].0].image.as_str().into();
    let label = |i: usize| format!("type{}", all[i].1).into();
    let labels = [Labels { name: "image", of: &image }, Labels { name: "type", of: &label }];
    let numbers = Mat::from_fn(all.len(), 1, |i, _| all[i].1 as f64);
    Ok(output::write_labelled(path, &labels, &["number".into()], &numbers)?)
}
