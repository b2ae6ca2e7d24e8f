//! From an image to its cells.

use super::super::{Cell, Pixels, Window};
use super::atom::Atom;
use super::choices::{Diagnostics, Found, Params};
use super::sample::sample;
use super::seams::{Part, join};
use super::settle::{Settled, settle, sown, typical};
use super::spikes::{Believed, Spoilt};
use super::tiles::{Tiles, flat, widened};
use crate::checkpoint::{Digest, identify, stage};
use crate::error::{Error, Result};
use crate::verdict::Verdict;
use rayon::prelude::*;
use std::f64::consts::PI;
use tenfold_engine::progress::Progress;

/// Pixels around a tile that are fitted with it, in typical radii: three rows of touching cells, the last of which is cut.
const AROUND: f64 = 6.0;

/// A blob's radius in its Gaussian widths, before its shape is known.
const USUAL: f64 = 1.35;

/// The share of the faintest intensity that is looked for, below which a fitted cell is none: fits move heights by a tenth or two.
const FADED: f64 = 0.7;

/// A spread of ln of the blobs' width that is no longer that of cells: images of cells have .15 to .3, .4 where
/// sizes differ by a factor of four, stained texture .5 to .8.
const TEXTURE: f64 = 0.45;

impl Params {
    /// Finds the cells of an image of one channel in which cells are bright; see [the module](crate::cells::detect) for how.
    ///
    /// # Errors
    /// When a choice is out of range, the image has no pixels or cannot be read, a pixel is not a number, or the caller stops the run.
    pub fn find(&self, image: &dyn Pixels, progress: &dyn Progress) -> Result<Found> {
        self.check(image.size())?;
        identify(progress, "cells detect", self, |digest| digested(image, digest))?;
        stage(progress, "cells", |progress| self.found(image, progress))
    }

    fn found(&self, image: &dyn Pixels, progress: &dyn Progress) -> Result<Found> {
        let mut verdict = Verdict::default();
        progress.stage("choosing size, shape and noise", 0);
        let side = self.tile.max((24.0 * self.radius.unwrap_or(0.0)) as usize);
        let windows = sample(image, &Tiles::new(image.size(), side))?;
        let believed = Believed::new(image, &windows)?;
        let image: &dyn Pixels = &believed;
        progress.check()?;
        let width = match self.radius {
            Some(radius) => Some(radius / USUAL),
            None => typical(image, &windows, progress)?.and_then(|found| {
                if found.too_large {
                    verdict.warn("what stands out is wider than cells that are looked for; give the radius");
                    return None;
                }
                if found.too_small {
                    verdict.warn("the typical radius is at the edge of the searched range; give the radius");
                }
                if found.spread > TEXTURE {
                    verdict.warn(
                        "blobs come in all sizes, as in texture; look at the cells and give the radius",
                    );
                }
                Some(found.width)
            }),
        };
        let settled = match width {
            Some(width) => settle(image, &windows, width, self, progress)?,
            None => None,
        };
        progress.check()?;
        let Some(settled) = settled else {
            let spoilt: Result<Vec<Spoilt>> = windows.iter().map(|&window| believed.spoilt(window)).collect();
            believed.tell(spoilt?.into_iter(), &mut verdict);
            return Ok(nothing(verdict));
        };
        self.over_tiles(&believed, &settled, verdict, progress)
    }

    fn over_tiles(
        &self,
        image: &Believed<'_>,
        settled: &Settled,
        mut verdict: Verdict,
        progress: &dyn Progress,
    ) -> Result<Found> {
        let radius = settled.rules.weigh.prior.radius();
        let tiles = Tiles::new(image.size(), self.tile.max((24.0 * radius) as usize));
        progress.stage("finding cells", tiles.len() as u64);
        let parts: Result<Vec<Part>> = (0..tiles.len())
            .into_par_iter()
            .with_max_len(1)
            .map(|tile| {
                progress.check()?;
                let part = stage(progress, &format!("tile {tile}"), |progress| {
                    self.over_tile(image, settled, tiles.core(tile), progress)
                })?;
                progress.advance(1);
                Ok(part)
            })
            .collect();
        let parts = parts?;
        let spoilt: Vec<Spoilt> = parts.iter().map(|part| part.spoilt).collect();
        let rounds = parts.iter().map(|part| part.rounds).max().unwrap_or(0);
        let low = parts.iter().map(|part| part.background.0).fold(f32::MAX, f32::min);
        let high = parts.iter().map(|part| part.background.1).fold(f32::MIN, f32::max);
        // What was seeded as a cell and faded while it was fitted is a patch of background.
        let typical = settled.rules.weigh.prior.height.0.exp();
        let seen =
            |cell: &Cell| cell.intensity >= FADED * self.faintest * typical && settled.is_no_chance(cell);
        let cells: Vec<Cell> = join(parts, radius).iter().map(cell).filter(seen).collect();
        if cells.is_empty() {
            verdict.warn("no cells found");
        }
        image.tell(spoilt.into_iter(), &mut verdict);
        let (width, height) = image.size();
        settled.doubt.tell(&cells, width * height, &mut verdict);
        let diagnostics = Diagnostics {
            radius,
            intensity: typical,
            shape: settled.rules.weigh.shape.exponent,
            noise: settled.noise,
            background: (f64::from(low), f64::from(high)),
            rounds,
            tiles: tiles.len(),
            verdict,
        };
        Ok(Found { cells, diagnostics })
    }

    /// The atoms of one tile, in the image's coordinates.
    fn over_tile(
        &self,
        image: &Believed<'_>,
        settled: &Settled,
        core: Window,
        progress: &dyn Progress,
    ) -> Result<Part> {
        let rules = &settled.rules;
        let margin = (AROUND * rules.weigh.prior.radius()).ceil() as usize;
        let window = widened(core, margin, image.size());
        let flat = flat(image, window, &settled.lattice)?;
        let background = flat.ground;
        let mut field = sown(flat, rules);
        field.sweep(&rules.weigh, 4, progress)?;
        field.sweep(&rules.weigh, 4, progress)?;
        let mut rounds = 0;
        while rounds < self.max_rounds {
            rounds += 1;
            if field.round(rules, rounds, progress)? == 0 {
                break;
            }
        }
        field.sweep(&rules.weigh, 4, progress)?;
        let place = |atom: &Atom| {
            let mut atom = *atom;
            atom.0[0] += window.x as f64;
            atom.0[1] += window.y as f64;
            atom
        };
        Ok(Part {
            core,
            atoms: field.living().map(place).collect(),
            background,
            rounds,
            spoilt: image.spoilt(core)?,
        })
    }

    fn check(&self, size: (usize, usize)) -> Result<()> {
        let wrong = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        if size.0 == 0 || size.1 == 0 {
            let problem = "the image has no pixels".into();
            return Err(Error::Unfit { problem, remedy: "give an image with rows and columns".into() });
        }
        if let Some(radius) = self.radius
            && !(radius >= 0.8 && radius * 2.0 < size.0.max(size.1) as f64)
        {
            return wrong("radius", radius.to_string(), "from 0.8 pixels to half the image's longer side");
        }
        if let Some(shape) = self.shape
            && !(0.7..=6.0).contains(&shape)
        {
            return wrong("shape", shape.to_string(), "from 0.7 to 6");
        }
        if !(self.faintest > 0.0 && self.faintest < 1.0) {
            return wrong("faintest", self.faintest.to_string(), "a share between 0 and 1");
        }
        if self.tile < 64 {
            return wrong("tile", self.tile.to_string(), "at least 64 pixels");
        }
        Ok(())
    }
}

/// What tells this image from another, some rows at a time.
fn digested(image: &dyn Pixels, digest: &mut Digest) -> Result<()> {
    const ROWS: usize = 64;
    let (width, height) = image.size();
    digest.number(width as u64);
    digest.bytes(format!("{:?}", image.ceiling()).as_bytes());
    for y in (0..height).step_by(ROWS) {
        let window = Window { x: 0, y, width, height: ROWS.min(height - y) };
        digest.singles(image.window(window)?.values());
    }
    Ok(())
}

/// What there is to say when there is nothing but noise.
fn nothing(mut verdict: Verdict) -> Found {
    verdict.warn("no cells found");
    let diagnostics = Diagnostics {
        radius: 0.0,
        intensity: 0.0,
        shape: 0.0,
        noise: 0.0,
        background: (0.0, 0.0),
        rounds: 0,
        tiles: 0,
        verdict,
    };
    Found { cells: Vec::new(), diagnostics }
}

/// An atom as a cell: the longer radius first, its direction in [0, π).
fn cell(atom: &Atom) -> Cell {
    let (a, b) = (atom.0[2].exp(), atom.0[3].exp());
    let turned = atom.direction().rem_euclid(PI);
    Cell {
        x: atom.x(),
        y: atom.y(),
        r1: a.max(b),
        r2: a.min(b),
        // The remainder of a tiny negative angle rounds to π itself.
        orientation: if turned < PI { turned } else { 0.0 },
        intensity: atom.log_height().exp(),
        neighbours: 0.0,
    }
}
