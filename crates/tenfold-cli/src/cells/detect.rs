//! `tenfold cells detect`.

use super::genes::{Asked, GeneArgs};
use super::reading::parse_positive;
use super::select::{SelectArgs, Selection};
use crate::checkpoint::{CheckpointArgs, Kept};
use crate::common::{self, Session, parse_amount};
use crate::exit;
use crate::files::{self, Bundle};
use crate::memory::{MemoryArgs, Taken};
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tenfold::cells::detect::Params;
use tenfold::cells::images::{self, Image, Polarity, Stain};
use tenfold::cells::overlay::Picture;
use tenfold::cells::{Pixels, Section, Tissue, count_neighbours, masks, names, table};
use tenfold::checkpoint::{identify, within};
use tenfold::engine::progress::Progress;
use tenfold::memory::{PROGRAM, resident};
use tenfold::verdict::Level;

/// Find cells in images: where they are, how large, which way they lie, how strong they are
#[derive(Args)]
#[command(after_help = "\
Images are PNG, JPEG or TIFF, one gene each, in grey or colour, dark on light or light on dark; a \
TIFF in tiles may be larger than memory. The table has the columns \
image,gene,x,y,r1,r2,orientation,intensity,neighbours: places and radii in pixels, the orientation \
in radians from the x axis downwards, the intensity above the background, and the number of other \
cells within --neighbour-radius. Tables of points that other programs found (.csv, .tsv, .parquet) \
may stand among the images, and --masks takes the cells from label masks.

Examples:
  tenfold cells detect ish/*.png -o cells.parquet --scale 1.05
  tenfold cells detect Gad1.tif -o cells.csv --radius 6 --overlay pictures
  tenfold cells detect ish/*.jpg -o cells.parquet --region cortex.geojson --affine maps.csv
  tenfold cells detect slides/*.tif --masks labels --genes genes.csv -o cells.parquet")]
pub struct Detect {
    /// Images, one gene each; or tables of points
    #[arg(value_name = "IMAGES", required = true)]
    inputs: Vec<PathBuf>,
    /// Where the cells go: .parquet, .csv or .tsv
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The typical radius of a cell in pixels, where its intensity has fallen to half [default: found]
    #[arg(long, value_name = "R", value_parser = parse_positive)]
    radius: Option<f64>,
    /// µm on the side of a pixel [default: 1, with a note]
    #[arg(long, value_name = "UM", value_parser = parse_positive)]
    scale: Option<f64>,
    /// How far neighbours are counted, in µm
    #[arg(long, value_name = "UM", default_value_t = 100.0, value_parser = parse_amount)]
    neighbour_radius: f64,
    /// What is looked at: auto, grey, density, red, green, blue, hematoxylin, eosin, dab, or a channel's number
    #[arg(long, value_name = "NAME", default_value = "auto")]
    stain: Stain,
    /// Whether cells are dark or light: auto, dark-on-light or light-on-dark
    #[arg(long, value_name = "NAME", default_value = "auto")]
    polarity: Polarity,
    /// Take the cells from label masks: a folder with a file for every image, or the file for one
    #[arg(long, value_name = "DIR|FILE", conflicts_with = "radius")]
    masks: Option<PathBuf>,
    /// Also draw the cells on every image, into this folder
    #[arg(long, value_name = "DIR")]
    overlay: Option<PathBuf>,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    #[command(flatten)]
    genes: GeneArgs,
    #[command(flatten)]
    select: SelectArgs,
}

/// The longest side of an overlay: more than a screen, less than a nuisance.
const MOST_PICTURE: usize = 2400;

/// Radii of cells in µm, with a wide margin: from bacteria to the largest neurons.
const USUAL: std::ops::RangeInclusive<f64> = 1.0..=60.0;

/// What was found in one image.
struct Seen {
    section: Section,
    about: Value,
    line: String,
}

/// Where an image stands in the run.
struct Run<'a> {
    session: &'a Session,
    kept: &'a Kept,
    number: usize,
}

fn is_table(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    [".csv", ".tsv", ".parquet"].iter().any(|end| name.ends_with(end))
}

impl Detect {
    pub fn run(self: Box<Self>, session: &Session) -> Result<()> {
        let begin = Instant::now();
        let (tables, images): (Vec<&Path>, Vec<&Path>) =
            self.inputs.iter().map(PathBuf::as_path).partition(|path| is_table(path));
        let mut inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
        inputs.extend(self.genes.files().chain(self.select.files()));
        let asked = self.genes.ask(&images, session)?;
        let masks = self.masks_of(&asked)?;
        inputs.extend(masks.iter().map(PathBuf::as_path));
        files::check_table(&self.output, &inputs)?;
        if self.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) {
            return Err(exit::usage(
                "a .npy file has no room for names of images and genes; give -o a .csv, .tsv or .parquet",
            ));
        }
        let selection = self.select.open(self.for_masks(), session)?;
        if self.scale.is_none() {
            session.note("no --scale: a pixel is taken for 1 µm where neighbours are counted");
        }
        let kept = self.checkpoint.open(session)?;
        kept.during(session, |progress| self.identify(&asked, progress))?;
        let mut bundle = Bundle::new(files::folder_of(&self.output))?;
        let (mut seen, mut taken) = (Vec::new(), None);
        for path in tables {
            seen.extend(self.of_table(path, selection.as_ref(), session)?);
        }
        let polarity = self.common_polarity(&asked, session)?;
        for (i, one) in asked.iter().enumerate() {
            let with = (polarity, masks.get(i));
            let run = Run { session, kept: &kept, number: i };
            let found = self.of_image(one, with, selection.as_ref(), (&run, &mut bundle, &mut taken))?;
            seen.push(found);
        }
        self.check_any(&seen, selection.as_ref())?;
        let (sections, rest): (Vec<Section>, Vec<(Value, String)>) =
            seen.into_iter().map(|seen| (seen.section, (seen.about, seen.line))).unzip();
        for section in sections.iter().filter(|section| section.cells.is_empty()) {
            session.warn(&format!("no cells in {}, which shows {}", section.image, section.gene));
        }
        let tissue = Tissue { sections };
        session.watch.during(|watch| {
            Ok::<_, anyhow::Error>(table::write(&bundle.place(&self.output)?, &tissue, watch)?)
        })?;
        session.watch.check()?;
        bundle.finish()?;
        kept.finish(session);
        let (about, lines): (Vec<Value>, Vec<String>) = rest.into_iter().unzip();
        let seconds = begin.elapsed().as_secs_f64();
        let text = format!(
            "{}\n{} cells of {} genes in {} images written to {} in {seconds:.1} s\n",
            lines.join("\n"),
            tissue.len(),
            tissue.genes().len(),
            tissue.sections.len(),
            self.output.display(),
        );
        let value = json!({
            "cells": tissue.len(), "genes": tissue.genes().len(), "images": about, "scale": self.scale,
            "neighbour_radius": self.neighbour_radius, "output": self.output.to_string_lossy(), "seconds": seconds,
            "memory": taken.map(|taken| taken.to_json()),
        });
        session.answer(&text, &value)
    }

    /// Whose cells a checkpoint holds: those of these images, seen in this way.
    fn identify(&self, asked: &[Asked], progress: &dyn Progress) -> tenfold::Result<()> {
        #[derive(Debug)]
        #[expect(dead_code, reason = "read through Debug")]
        struct Choices {
            radius: Option<f64>,
            stain: Stain,
            polarity: Polarity,
        }
        let choices = Choices { radius: self.radius, stain: self.stain, polarity: self.polarity };
        identify(progress, "cells detect", &choices, |digest| {
            asked.iter().try_for_each(|one| {
                progress.check()?;
                digest.texts([&one.image]);
                digest.file(&one.path)
            })
        })
    }

    /// The label mask of every image, in order; none where cells are looked for.
    fn masks_of(&self, asked: &[Asked]) -> Result<Vec<PathBuf>> {
        let Some(given) = &self.masks else { return Ok(Vec::new()) };
        if !given.is_dir() {
            return match asked.len() {
                1 => Ok(vec![given.clone()]),
                n => Err(exit::usage(format!(
                    "one mask, {}, and {n} images; give a folder of masks",
                    given.display()
                ))),
            };
        }
        asked.iter().map(|asked| Ok(names::mask_of(given, &asked.path)?)).collect()
    }

    /// Images of one run come from one microscope: whether cells are dark is what most of them say, so that one crowded image, in
    /// which cells are not what is rare, goes with the others. Of two that disagree each keeps its own.
    fn common_polarity(&self, asked: &[Asked], session: &Session) -> Result<Polarity> {
        if self.polarity != Polarity::Auto || asked.len() < 3 || self.masks.is_some() {
            return Ok(self.polarity);
        }
        let options = self.looking(Polarity::Auto, session);
        let mut dark = Vec::new();
        for one in asked {
            session.watch.check()?;
            let image = session.watch.during(|watch| images::open(&one.path, &options, watch))?;
            dark.push(image.is_dark_on_light());
        }
        let most = 2 * dark.iter().filter(|dark| **dark).count() > dark.len();
        let others: Vec<&str> = asked
            .iter()
            .zip(&dark)
            .filter(|(_, dark)| **dark != most)
            .map(|(one, _)| one.image.as_str())
            .collect();
        if !others.is_empty() {
            session.note(&format!(
                "most images are {}, and {} taken as such though by themselves {} not: {}; --polarity decides for all",
                if most { "dark on light" } else { "light on dark" },
                if others.len() == 1 { "one more is".to_owned() } else { format!("{} more are", others.len()) },
                if others.len() == 1 { "it would" } else { "they would" },
                others.iter().take(5).copied().collect::<Vec<_>>().join(", ")
            ));
        }
        Ok(if most { Polarity::DarkOnLight } else { Polarity::LightOnDark })
    }

    fn params(&self) -> Params {
        Params { radius: self.radius, ..Params::default() }
    }

    /// Memory for pixels and the work with them: an image that needs more is read in parts, or unpacked into a temporary file.
    fn for_pixels(&self) -> u64 {
        self.memory.left(0, common::USUAL)
    }

    /// Memory for a mask beside an image and the work with it.
    fn for_masks(&self) -> u64 {
        self.for_pixels() / 2
    }

    /// How images are opened.
    fn looking(&self, polarity: Polarity, session: &Session) -> images::Options {
        let (stain, memory, beside) = (self.stain, self.for_pixels(), Some(self.params()));
        let mut options = images::Options { stain, polarity, memory, beside, ..images::Options::default() };
        session.bound(&mut options.max_decompressed);
        options
    }

    /// Neighbours in pixels.
    fn reach(&self) -> f64 {
        self.neighbour_radius / self.scale.unwrap_or(1.0)
    }

    fn of_image(
        &self,
        asked: &Asked,
        (polarity, mask): (Polarity, Option<&PathBuf>),
        selection: Option<&Selection>,
        (run, bundle, taken): (&Run, &mut Bundle, &mut Option<Taken>),
    ) -> Result<Seen> {
        let session = run.session;
        let options = self.looking(polarity, session);
        let image = session.watch.during(|watch| images::open(&asked.path, &options, watch))?;
        image.notes().iter().for_each(|note| session.note(&format!("{}: {note}", asked.image)));
        // Images of one run are about of one size: the first tells what the run will take.
        if taken.is_none() {
            let held = resident().map_or(0, |now| now.saturating_sub(PROGRAM));
            let needs = self.params().needs(image.size(), held);
            *taken = Some(self.memory.announce(needs, "write the image as a TIFF in tiles", session)?);
        }
        let (cells, mut about) = match mask {
            Some(mask) => self.of_mask(mask, &image, session)?,
            None => self.found(asked, &image, run)?,
        };
        let mut section = Section { image: asked.image.clone(), gene: asked.gene.clone(), cells };
        let all = section.cells.len();
        count_neighbours(&mut section.cells, self.reach());
        if let Some(selection) = selection {
            selection.keep(&mut section, Some(image.size()))?;
        }
        if let Some(folder) = &self.overlay {
            let mut picture = Picture::of(&image, MOST_PICTURE)?;
            let ink = picture.ink();
            picture.draw(&section.cells, |_| ink);
            let target = folder.join(format!("{}.cells.png", asked.image.replace(['/', '\\'], "_")));
            let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
            files::check_target(&target, &inputs)?;
            files::write_bytes(&bundle.place(&target)?, &picture.png())?;
        }
        let line = told(&section, all, selection.is_some(), Some(&image));
        let (width, height) = image.size();
        for (key, value) in [
            ("image", json!(asked.image)),
            ("gene", json!(asked.gene)),
            ("width", json!(width)),
            ("height", json!(height)),
            ("cells", json!(section.cells.len())),
            ("found", json!(all)),
            ("stain", json!(image.stain())),
            ("dark_on_light", json!(image.is_dark_on_light())),
        ] {
            about[key] = value;
        }
        Ok(Seen { section, about, line })
    }

    fn found(
        &self,
        asked: &Asked,
        image: &Image,
        &Run { session, kept, number }: &Run,
    ) -> Result<(Vec<tenfold::cells::Cell>, Value)> {
        let params = self.params();
        let found = kept.during(session, |progress| {
            params.find(image, &within(progress, &format!("image {}", number + 1)))
        })?;
        let d = &found.diagnostics;
        for (level, message) in d.verdict.findings() {
            match level {
                // That there are none is told once for all images.
                Level::Warning if !found.cells.is_empty() => {
                    session.warn(&format!("{}: {message}", asked.image))
                }
                _ => session.note(&format!("{}: {message}", asked.image)),
            }
        }
        let micrometres = self.scale.map(|scale| scale * d.radius).filter(|_| !found.cells.is_empty());
        if let Some(radius) = micrometres.filter(|radius| !USUAL.contains(radius)) {
            session.warn(&format!(
                "{}: by --scale a cell has a radius of {radius:.2} µm, where cells have {} to {}; is the scale in µm on the side of a pixel?",
                asked.image, USUAL.start(), USUAL.end(),
            ));
        }
        let about = json!({
            "radius": d.radius, "radius_um": micrometres, "intensity": d.intensity, "shape": d.shape, "noise": d.noise,
            "background": [d.background.0, d.background.1], "verdict": d.verdict.to_json(),
        });
        Ok((found.cells, about))
    }

    fn of_mask(
        &self,
        path: &Path,
        image: &Image,
        session: &Session,
    ) -> Result<(Vec<tenfold::cells::Cell>, Value)> {
        let labelled = session.watch.during(|watch| {
            watch.stage("measuring labels", 0);
            masks::open(path, self.for_masks(), session.max_decompressed, watch)?.cells(Some(image), watch)
        })?;
        labelled.notes.iter().for_each(|note| session.note(&format!("{}: {note}", path.display())));
        Ok((labelled.cells, json!({ "mask": path.to_string_lossy() })))
    }

    fn of_table(&self, path: &Path, selection: Option<&Selection>, session: &Session) -> Result<Vec<Seen>> {
        let mut options = table::Options { scale: self.scale, ..table::Options::default() };
        session.bound(&mut options.max_decompressed);
        let read = session.watch.during(|watch| table::read(path, &options, watch))?;
        read.notes.iter().for_each(|note| session.note(&format!("{}: {note}", path.display())));
        let mut seen = Vec::new();
        for mut section in read.tissue.sections {
            let all = section.cells.len();
            count_neighbours(&mut section.cells, self.reach());
            if let Some(selection) = selection {
                selection.keep(&mut section, None)?;
            }
            let line = told(&section, all, selection.is_some(), None);
            let about = json!({
                "image": section.image, "gene": section.gene, "cells": section.cells.len(), "found": all,
                "table": path.to_string_lossy(), "known": read.known.names(),
            });
            seen.push(Seen { section, about, line });
        }
        Ok(seen)
    }

    /// Cells in none of the images are an error, and mostly of one kind.
    fn check_any(&self, seen: &[Seen], selection: Option<&Selection>) -> Result<()> {
        if seen.iter().any(|seen| !seen.section.cells.is_empty()) {
            return Ok(());
        }
        let found: u64 = seen.iter().filter_map(|seen| seen.about["found"].as_u64()).sum();
        Err(exit::bad_input(match selection {
            Some(selection) if found > 0 => format!(
                "none of the {found} cells lies in {}; check --affine and that the region is in its pixels",
                selection.describe()
            ),
            _ => "no cells were found in any image; give --radius in pixels, --polarity dark-on-light or \
                  light-on-dark, or another --stain"
                .into(),
        }))
    }
}

/// One line for people: the count is always told.
fn told(section: &Section, all: usize, selected: bool, image: Option<&Image>) -> String {
    let Section { image: name, gene, cells } = section;
    let of = if selected { format!(" of {all} in the region") } else { String::new() };
    let mut radii: Vec<f64> = cells.iter().map(|c| (c.r1 * c.r2).sqrt()).filter(|r| r.is_finite()).collect();
    radii.sort_unstable_by(f64::total_cmp);
    let radius = radii.get(radii.len() / 2).map(|r| format!(", radius {r:.1}")).unwrap_or_default();
    let how = match image {
        Some(image) if image.is_dark_on_light() => format!("; {}, dark on light", image.stain()),
        Some(image) => format!("; {}, light on dark", image.stain()),
        None => String::new(),
    };
    format!("{name} ({gene}): {} cells{of}{radius}{how}", cells.len())
}
