//! Cells from label masks: images in which every pixel holds the number of its cell, and 0 where there is none.

use super::data::Cell;
use super::images::{Raw, Shape, open_raw};
use super::plane::{Pixels, Window};
use crate::error::{Error, Result};
use crate::input::{Array, read_with_gaps};
use crate::memory::size_to_give;
use std::collections::HashMap;
use std::f64::consts::PI;
use std::path::{Path, PathBuf};
use tenfold_engine::progress::Progress;

/// Rows that are read together.
const BAND: usize = 64;

/// The side of the blocks in which the background is averaged, and the pixels that make an average.
const BLOCK: usize = 64;
const ENOUGH: f64 = 200.0;

/// A label mask that is open.
pub struct Mask {
    path: PathBuf,
    raw: Box<dyn Raw>,
    memory: u64,
}

/// The cells of a mask, in the order of their labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Labelled {
    /// The cells; intensities are NaN where no image was given.
    pub cells: Vec<Cell>,
    /// What there is to say about the mask.
    pub notes: Vec<String>,
}

/// An array in memory.
struct Numbers(Array);

impl Raw for Numbers {
    fn shape(&self) -> Shape {
        let [height, width] = self.0.shape[..] else { unreachable!("checked when it was opened") };
        Shape { width, height, channels: 1, colours: 1, bits: 64, top: None }
    }

    fn rows(&self, window: Window, take: &mut dyn FnMut(&[f64]) -> Result<()>) -> Result<()> {
        let width = self.shape().width;
        (window.y..window.y + window.height)
            .try_for_each(|y| take(&self.0.data[y * width + window.x..][..window.width]))
    }
}

/// Opens a label mask: TIFF of 8 to 32 bits, PNG of 8 or 16, or `.npy` with rows and columns. An image is given up where its pixels come
/// to more than `max_decompressed` bytes, 64 GiB where `None`.
///
/// # Errors
/// A file that is none of these, or that has several channels.
pub fn open(
    path: &Path,
    memory: u64,
    max_decompressed: Option<u64>,
    progress: &dyn Progress,
) -> Result<Mask> {
    let fail = |problem: String| Error::Read {
        path: path.to_owned(),
        line: None,
        problem,
        remedy: "a label mask has one channel with the number of a cell in every pixel, and 0 outside".into(),
    };
    let raw = if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) {
        let array = read_with_gaps(path, memory, &size_to_give)?;
        if array.shape.len() != 2 || array.data.is_empty() {
            return Err(fail(format!("has the shape {:?} where rows and columns are needed", array.shape)));
        }
        Box::new(Numbers(array))
    } else {
        open_raw(path, (memory, max_decompressed), progress)?.0
    };
    match raw.shape().colours {
        1 => Ok(Mask { path: path.to_owned(), raw, memory }),
        channels => Err(fail(format!("has {channels} channels"))),
    }
}

/// Sums over the pixels of a cell, from its first pixel on.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    first: [f64; 2],
    count: f64,
    at: [f64; 2],
    squares: [f64; 3],
    value: f64,
}

impl Sums {
    fn add(&mut self, x: f64, y: f64, value: f64) {
        let (dx, dy) = (x - self.first[0], y - self.first[1]);
        self.count += 1.0;
        self.at = [self.at[0] + dx, self.at[1] + dy];
        self.squares = [self.squares[0] + dx * dx, self.squares[1] + dx * dy, self.squares[2] + dy * dy];
        self.value += value;
    }

    /// The ellipse with the same second moments: uniform on it, the variance along an axis is r²/4. A pixel is a square, which adds
    /// 1/12 to the variance of its centre.
    fn cell(&self) -> Cell {
        let [dx, dy] = self.at.map(|sum| sum / self.count);
        let [xx, xy, yy] = self.squares.map(|sum| sum / self.count);
        let (xx, xy, yy) = (xx - dx * dx + 1.0 / 12.0, xy - dx * dy, yy - dy * dy + 1.0 / 12.0);
        let (middle, spread) = ((xx + yy) / 2.0, ((xx - yy) / 2.0).hypot(xy));
        let orientation = (0.5 * (2.0 * xy).atan2(xx - yy)).rem_euclid(PI);
        Cell {
            x: self.first[0] + dx,
            y: self.first[1] + dy,
            r1: 2.0 * (middle + spread).sqrt(),
            r2: 2.0 * (middle - spread).max(0.0).sqrt(),
            orientation: if orientation < PI { orientation } else { 0.0 },
            intensity: f64::NAN,
            neighbours: f64::NAN,
        }
    }
}

/// Means of the image where no cell is, block by block.
struct Background {
    across: usize,
    down: usize,
    /// Sum and number of pixels.
    blocks: Vec<(f64, f64)>,
}

impl Background {
    /// The mean around a place, of as many blocks as make it a mean; NaN where there is no background at all.
    fn around(&self, x: f64, y: f64) -> f64 {
        let (column, row) = (x as usize / BLOCK, y as usize / BLOCK);
        let mut reach = 1;
        loop {
            let (mut sum, mut count) = (0.0, 0.0);
            for r in row.saturating_sub(reach)..=(row + reach).min(self.down - 1) {
                for c in column.saturating_sub(reach)..=(column + reach).min(self.across - 1) {
                    let (s, n) = self.blocks[r * self.across + c];
                    (sum, count) = (sum + s, count + n);
                }
            }
            if count >= ENOUGH || reach > self.across.max(self.down) {
                return sum / count;
            }
            reach *= 2;
        }
    }
}

impl Mask {
    /// Pixels to the right and downwards.
    pub fn size(&self) -> (usize, usize) {
        let Shape { width, height, .. } = self.raw.shape();
        (width, height)
    }

    /// The cells: centroid, radii and orientation by the second moments of every label. The intensity is the mean of the image inside,
    /// above the mean of what is around and in no cell; without an image it is not known.
    ///
    /// # Errors
    /// [`Error::Unfit`] for an image of another size; numbers that are no labels, or labels that are scattered, as those of an ordinary
    /// picture; what the files say.
    pub fn cells(&self, image: Option<&dyn Pixels>, progress: &dyn Progress) -> Result<Labelled> {
        let (width, height) = self.size();
        if let Some(size) = image.map(|image| image.size()).filter(|size| *size != (width, height)) {
            return Err(Error::Unfit {
                problem: format!(
                    "{} has {width} × {height} pixels, its image {} × {}",
                    self.path.display(),
                    size.0,
                    size.1
                ),
                remedy: "give every image the mask that was made of it, in its size".into(),
            });
        }
        let (across, down) = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
        let mut background = Background { across, down, blocks: vec![(0.0, 0.0); across * down] };
        let mut sums: HashMap<u64, Sums> = HashMap::new();
        for top in (0..height).step_by(BAND) {
            progress.check()?;
            let window = Window { x: 0, y: top, width, height: BAND.min(height - top) };
            let values = image.map(|image| image.window(window)).transpose()?;
            let mut y = 0;
            self.raw.rows(window, &mut |row| {
                for (x, &number) in row
                    .chunks_exact(self.raw.shape().channels)
                    .map(|p| &p[0])
                    .enumerate()
                    .filter(|(_, n)| **n != 0.0 || image.is_some())
                {
                    let value = values.as_ref().map_or(f64::NAN, |values| f64::from(values.at(x, y)));
                    if number == 0.0 {
                        let block = &mut background.blocks[(top + y) / BLOCK * across + x / BLOCK];
                        *block = (block.0 + value, block.1 + 1.0);
                        continue;
                    }
                    let place = [x as f64, (top + y) as f64];
                    let of = sums
                        .entry(self.label(number, place)?)
                        .or_insert(Sums { first: place, ..Sums::default() });
                    of.add(place[0], place[1], value);
                }
                y += 1;
                self.check_count(sums.len())
            })?;
        }
        self.finish(sums, &background)
    }

    fn finish(&self, sums: HashMap<u64, Sums>, background: &Background) -> Result<Labelled> {
        let mut labels: Vec<(u64, Sums)> = sums.into_iter().collect();
        labels.sort_unstable_by_key(|(label, _)| *label);
        let mut filled: Vec<f64> = Vec::new();
        let mut cells = Vec::with_capacity(labels.len());
        for (_, sums) in &labels {
            let mut cell = sums.cell();
            filled.push(sums.count / (PI * cell.r1 * cell.r2));
            cell.intensity = sums.value / sums.count - background.around(cell.x, cell.y);
            cells.push(cell);
        }
        filled.sort_unstable_by(f64::total_cmp);
        // The pixels of a cell fill its ellipse; those of a number that is spread over a picture do not.
        if filled.get(filled.len() / 2).is_some_and(|share| *share < 0.5) {
            return Err(self.fail("holds numbers whose pixels are scattered, not those of cells"));
        }
        let mut notes = Vec::new();
        if let [(label @ (1 | 255 | 65_535), _)] = labels[..] {
            notes.push(format!(
                "it holds one label, {label}: if it only says where cells are, give every cell a number of its own first"
            ));
        }
        Ok(Labelled { cells, notes })
    }

    fn label(&self, number: f64, [x, y]: [f64; 2]) -> Result<u64> {
        // Numbers are exact up to 2⁵³.
        if number.fract() != 0.0 || !(0.0..=9e15).contains(&number) {
            return Err(self.fail(&format!("holds {number} at ({x}, {y}), which is no label")));
        }
        Ok(number as u64)
    }

    /// More labels than memory holds are no labels.
    fn check_count(&self, labels: usize) -> Result<()> {
        match labels as u64 > self.memory / 256 {
            true => Err(self.fail(&format!("holds more than {labels} labels"))),
            false => Ok(()),
        }
    }

    fn fail(&self, problem: &str) -> Error {
        Error::Read {
            path: self.path.clone(),
            line: None,
            problem: problem.into(),
            remedy: "a label mask holds the number of a cell in every pixel, and 0 outside".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::images::write_plane;
    use crate::cells::plane::Plane;
    use tenfold_engine::progress::Silent;

    /// Ellipses by their formula, numbered from 1 on.
    fn drawn(ellipses: &[Cell], side: usize) -> Plane {
        let mut plane = Plane::zeros(side, side);
        for (i, value) in plane.values_mut().iter_mut().enumerate() {
            let (x, y) = ((i % side) as f64, (i / side) as f64);
            for (label, cell) in ellipses.iter().enumerate() {
                let (dx, dy) = (x - cell.x, y - cell.y);
                let (cos, sin) = (cell.orientation.cos(), cell.orientation.sin());
                if ((dx * cos + dy * sin) / cell.r1).hypot((dy * cos - dx * sin) / cell.r2) <= 1.0 {
                    *value = (label + 1) as f32;
                }
            }
        }
        plane
    }

    #[test]
    fn ellipses_are_measured() {
        let cell = |x, y, r1, r2, orientation| Cell {
            x,
            y,
            r1,
            r2,
            orientation,
            intensity: 60.0,
            neighbours: f64::NAN,
        };
        let truth = [
            cell(30.3, 40.6, 12.0, 7.0, 0.5),
            cell(80.0, 90.0, 15.0, 6.0, 2.2),
            cell(90.0, 30.0, 9.0, 5.0, 0.02),
        ];
        let labels = drawn(&truth, 128);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mask.png");
        write_plane(&path, &labels).unwrap();
        // On ground that rises to the right.
        let ground = |i: usize| 20.0 + (i % 128) as f32 * 0.01;
        let values =
            labels.values().iter().enumerate().map(|(i, l)| ground(i) + if *l > 0.0 { 60.0 } else { 0.0 });
        let image = Plane::new(128, 128, values.collect());
        let found = open(&path, 1 << 30, None, &Silent).unwrap().cells(Some(&image), &Silent).unwrap();
        assert!(found.notes.is_empty() && found.cells.len() == 3);
        for (found, truth) in found.cells.iter().zip(&truth) {
            assert!((found.x - truth.x).hypot(found.y - truth.y) < 0.2, "{found:?}");
            // The edge of an ellipse in pixels is uncertain by half of one.
            assert!((found.r1 - truth.r1).abs() < 0.25 && (found.r2 - truth.r2).abs() < 0.25, "{found:?}");
            let turn = (found.orientation - truth.orientation).abs();
            assert!(turn.min(PI - turn) < 0.03, "{found:?}");
            assert!((found.intensity - 60.0).abs() < 0.6, "{found:?}");
        }
    }

    #[test]
    fn what_is_no_mask_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mask.png");
        let refused = |plane: &Plane, image: Option<&dyn Pixels>| {
            write_plane(&path, plane).unwrap();
            open(&path, 1 << 30, None, &Silent).unwrap().cells(image, &Silent)
        };
        // A picture: every number is everywhere.
        let picture = Plane::new(64, 64, (0..4096).map(|i| (i * 37 % 200) as f32).collect());
        assert!(refused(&picture, None).unwrap_err().to_string().contains("scattered"));
        let error = refused(&Plane::zeros(8, 8), Some(&Plane::zeros(9, 8))).unwrap_err().to_string();
        assert!(error.contains("has 8 × 8 pixels, its image 9 × 8"), "{error}");
        assert!(refused(&Plane::zeros(8, 8), None).unwrap().cells.is_empty());
        let one = Plane::new(8, 8, (0..64).map(|i| if i % 8 < 4 { 255.0 } else { 0.0 }).collect());
        assert!(refused(&one, None).unwrap().notes[0].contains("one label, 255"));
        let halves = folder.path().join("half.npy");
        crate::output::write_array(&halves, &[2, 2], &[0.0, 1.5, 0.0, 2.0]).unwrap();
        let error =
            open(&halves, 1 << 30, None, &Silent).unwrap().cells(None, &Silent).unwrap_err().to_string();
        assert!(error.contains("holds 1.5 at (1, 0)"), "{error}");
    }
}
