//! Which cells lie in a region of an atlas, and where the atlas lies.

mod polygon;

pub use polygon::Polygon;

use super::data::Cell;
use super::images::{Shape, open_raw};
use crate::error::{Error, Result};
use crate::input::rows::{Cells, Kind, RowReader};
use crate::input::{Opening, Source};
use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;
use tenfold_engine::progress::{Progress, Silent};

/// A map from the places of an image to those of an atlas: x′ = a x + b y + c, y′ = d x + e y + f.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine(pub [f64; 6]);

impl Affine {
    /// Every place stays where it is.
    pub const IDENTITY: Self = Self([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);

    /// Where a place of the image lies in the atlas.
    ///
    /// # Example
    /// ```
    /// use tenfold::cells::region::Affine;
    /// let half: Affine = "0.5, 0, 10, 0, 0.5, 20".parse().unwrap();
    /// assert_eq!(half.apply(4.0, 6.0), (12.0, 23.0));
    /// ```
    pub fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + b * y + c, d * x + e * y + f)
    }

    /// Six numbers, or nine whose last three are 0, 0 and 1.
    fn of(numbers: &[f64]) -> std::result::Result<Self, String> {
        let six: [f64; 6] = match numbers {
            [six @ .., 0.0, 0.0, 1.0] if six.len() == 6 => six.try_into().unwrap_or_default(),
            six if six.len() == 6 => six.try_into().unwrap_or_default(),
            _ => return Err(format!("{} numbers where six, a,b,c,d,e,f, are needed", numbers.len())),
        };
        let [a, b, _, d, e, _] = six;
        if !six.iter().all(|x| x.is_finite()) || a * e - b * d == 0.0 {
            return Err("these numbers map the image to a line or a point".into());
        }
        Ok(Self(six))
    }
}

impl FromStr for Affine {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let words = text.split(|c: char| c == ',' || c == ';' || c.is_whitespace() || "[]()".contains(c));
        let numbers: Option<Vec<f64>> = words.filter(|w| !w.is_empty()).map(|w| w.parse().ok()).collect();
        Self::of(&numbers.ok_or("six numbers a,b,c,d,e,f are needed")?)
    }
}

/// Maps to an atlas: one for all images, or one for each.
#[derive(Debug, Clone, PartialEq)]
pub enum Maps {
    /// The same for all.
    One(Affine),
    /// By the images' names.
    Each(HashMap<String, Affine>),
}

/// Most bytes of a file of maps or of a polygon, where nothing else is said.
const MOST: u64 = 256 << 20;

impl Maps {
    /// From a file: six numbers (or the nine of a 3 × 3 matrix), or a table with the columns `image,a,b,c,d,e,f`. A packed
    /// file is given up after `max_decompressed` bytes, 256 MiB where `None`.
    ///
    /// # Errors
    /// A file that holds neither.
    pub fn read(path: &Path, max_decompressed: Option<u64>) -> Result<Self> {
        let wanted = "give six numbers a,b,c,d,e,f, or a table with the columns image,a,b,c,d,e,f";
        let max_decompressed = max_decompressed.unwrap_or(MOST);
        let source = Source::open(path, Opening { encoding: None, max_decompressed, wanted }, &Silent)?;
        if let Ok(text) = std::str::from_utf8(&source.head(1 << 12))
            && let Ok(affine) = text.parse()
        {
            return Ok(Self::One(affine));
        }
        let tabs = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tsv"));
        let mut rows = RowReader::new(&source, if tabs { Kind::Tsv } else { Kind::Csv }, 1 << 20, &Silent)?;
        let (mut cells, mut maps) = (Cells::default(), HashMap::new());
        let mut first = true;
        while let Some(line) = rows.next(&mut cells)? {
            let text: Vec<String> =
                cells.iter().map(|c| String::from_utf8_lossy(c).trim().to_owned()).collect();
            if std::mem::replace(&mut first, false) {
                let names: Vec<String> = text.iter().map(|t| t.to_lowercase()).collect();
                if names != ["image", "a", "b", "c", "d", "e", "f"] {
                    return Err(source.fail(line, format!("begins with {:?}", cells.shown()), wanted));
                }
            } else if !cells.is_blank() {
                let numbers: Option<Vec<f64>> = text.iter().skip(1).map(|t| t.parse().ok()).collect();
                let affine = numbers.ok_or("holds something else than numbers".to_owned());
                let affine = affine.and_then(|n| Affine::of(&n)).map_err(|e| source.fail(line, e, wanted))?;
                if maps.insert(text[0].clone(), affine).is_some() {
                    return Err(source.fail(
                        line,
                        format!("names {} again", text[0]),
                        "give one map for an image",
                    ));
                }
            }
        }
        if maps.is_empty() {
            return Err(source.fail(None, "holds no map", wanted));
        }
        Ok(Self::Each(maps))
    }

    /// The map of an image.
    ///
    /// # Errors
    /// [`Error::Unfit`] when there are maps, but none for this one.
    pub fn of(&self, image: &str) -> Result<Affine> {
        match self {
            Self::One(affine) => Ok(*affine),
            Self::Each(maps) => maps.get(image).copied().ok_or_else(|| Error::Unfit {
                problem: format!("there is no map to the atlas for the image {image}"),
                remedy: "add a line for it: image,a,b,c,d,e,f".into(),
            }),
        }
    }
}

/// A region of an atlas, or of the images themselves where there is no map.
#[derive(Debug, Clone, PartialEq)]
pub enum Region {
    /// Where the pixels of an image are not 0.
    Mask(Mask),
    /// Inside polygons.
    Polygon(Polygon),
}

/// An image of which it is only known which pixels are not 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Mask {
    name: String,
    width: usize,
    height: usize,
    bits: Vec<u64>,
}

impl Region {
    /// From a file: an image is a mask, `.csv`, `.tsv`, `.json` and `.geojson` are polygons. What is packed is given
    /// up after `max_decompressed` bytes; where `None`, 64 GiB of pixels and 256 MiB of points.
    ///
    /// # Errors
    /// A file that is none of these, a mask without a pixel that is not 0, a polygon of fewer than three points.
    pub fn read(
        path: &Path,
        memory: u64,
        max_decompressed: Option<u64>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "csv" | "tsv" | "json" | "geojson" => {
                Polygon::read(path, &extension, max_decompressed).map(Self::Polygon)
            }
            _ => Mask::read(path, (memory, max_decompressed), progress).map(Self::Mask),
        }
    }

    /// Whether a place lies in it; the edge of a polygon belongs to it.
    pub fn contains(&self, x: f64, y: f64) -> bool {
        match self {
            Self::Mask(mask) => mask.contains(x, y),
            Self::Polygon(polygon) => polygon.contains(x, y),
        }
    }

    /// Checks that a mask that is not mapped has the size of its image.
    ///
    /// # Errors
    /// [`Error::Unfit`] when it has not.
    pub fn check(&self, image: &str, size: (usize, usize)) -> Result<()> {
        match self {
            Self::Mask(mask) if (mask.width, mask.height) != size => Err(Error::Unfit {
                problem: format!(
                    "the mask {} has {} × {} pixels, the image {image} {} × {}",
                    mask.name, mask.width, mask.height, size.0, size.1
                ),
                remedy: "give a mask of the image's size, or map the image to the mask with --affine".into(),
            }),
            _ => Ok(()),
        }
    }

    /// Keeps the cells that lie in the region once they are mapped. Places stay those of the image.
    pub fn keep(&self, cells: &mut Vec<Cell>, map: &Affine) {
        cells.retain(|cell| {
            let (x, y) = map.apply(cell.x, cell.y);
            self.contains(x, y)
        });
    }

    /// What it is, for messages.
    pub fn describe(&self) -> String {
        match self {
            Self::Mask(mask) => format!("the mask {} of {} × {} pixels", mask.name, mask.width, mask.height),
            Self::Polygon(polygon) => {
                let [left, top, right, bottom] = polygon.bounds();
                format!("the polygon from ({left}, {top}) to ({right}, {bottom})")
            }
        }
    }
}

impl Mask {
    fn read(path: &Path, bounds: (u64, Option<u64>), progress: &dyn Progress) -> Result<Self> {
        let (raw, _) = open_raw(path, bounds, progress)?;
        let Shape { width, height, channels, colours, .. } = raw.shape();
        let (mut bits, mut at) = (Vec::new(), 0);
        let mut any = false;
        raw.rows(raw.shape().all(), &mut |row| {
            for pixel in row.chunks_exact(channels) {
                if at % 64 == 0 {
                    bits.push(0u64);
                }
                let inside = pixel[..colours].iter().any(|x| *x != 0.0);
                any |= inside;
                *bits.last_mut().expect("a word for every 64 pixels") |= u64::from(inside) << (at % 64);
                at += 1;
            }
            Ok(progress.check()?)
        })?;
        if !any {
            let remedy = "give a mask whose pixels are not 0 inside the region".into();
            let problem = "is 0 everywhere".into();
            return Err(Error::Read { path: path.to_owned(), line: None, problem, remedy });
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, width, height, bits })
    }

    fn contains(&self, x: f64, y: f64) -> bool {
        let (column, row) = (x.round(), y.round());
        if !(column >= 0.0 && row >= 0.0 && column < self.width as f64 && row < self.height as f64) {
            return false;
        }
        let at = row as usize * self.width + column as usize;
        self.bits[at / 64] >> (at % 64) & 1 == 1
    }
}
