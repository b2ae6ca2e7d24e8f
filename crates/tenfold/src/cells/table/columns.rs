//! Which column of a table holds what, by the names that many programs give.

use super::super::data::Cell;
use super::Options;
use crate::error::{Error, Result};
use std::f64::consts::PI;
use std::path::Path;

/// Which features of cells are known beside their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Radii; where only one is given, or an area, cells are round.
    pub size: bool,
    /// The direction of the longer radius.
    pub orientation: bool,
    /// The height above the background.
    pub intensity: bool,
    /// The number of cells around.
    pub neighbours: bool,
}

impl Known {
    /// All of them.
    pub const ALL: Self = Self { size: true, orientation: true, intensity: true, neighbours: true };

    /// Names of those that are known, for people.
    pub fn names(&self) -> Vec<&'static str> {
        let all = [
            (self.size, "size"),
            (self.orientation, "orientation"),
            (self.intensity, "intensity"),
            (self.neighbours, "neighbours"),
        ];
        all.iter().filter(|(known, _)| *known).map(|(_, name)| *name).collect()
    }
}

/// What a column of numbers means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    X,
    Y,
    LongRadius,
    ShortRadius,
    LongAxis,
    ShortAxis,
    Radius,
    Diameter,
    Area,
    /// In radians from the x axis towards the y axis.
    Orientation,
    /// In degrees against the clock from the x axis, as seen on the screen.
    Degrees,
    Intensity,
    Neighbours,
}

use Meaning::*;

/// Names without case, blanks, lines and units; the first that is there is taken.
const NUMBERS: &[(Meaning, &[&str])] = &[
    (
        X,
        &[
            "x",
            "centroidx",
            "xcentroid",
            "centerx",
            "xcenter",
            "centrex",
            "cx",
            "xc",
            "xm",
            "posx",
            "positionx",
            "xposition",
            "xcoord",
            "xcoordinate",
            "xpixel",
            "globalx",
            "locationcenterx",
            "areashapecenterx",
            "centroid1",
        ],
    ),
    (
        Y,
        &[
            "y",
            "centroidy",
            "ycentroid",
            "centery",
            "ycenter",
            "centrey",
            "cy",
            "yc",
            "ym",
            "posy",
            "positiony",
            "yposition",
            "ycoord",
            "ycoordinate",
            "ypixel",
            "globaly",
            "locationcentery",
            "areashapecentery",
            "centroid0",
        ],
    ),
    (LongRadius, &["r1", "radius1", "majorradius", "radiusmajor", "semimajor", "semimajoraxis", "rmajor"]),
    (ShortRadius, &["r2", "radius2", "minorradius", "radiusminor", "semiminor", "semiminoraxis", "rminor"]),
    (
        LongAxis,
        &[
            "majoraxislength",
            "axismajorlength",
            "major",
            "majoraxis",
            "areashapemajoraxislength",
            "maxdiameter",
        ],
    ),
    (
        ShortAxis,
        &[
            "minoraxislength",
            "axisminorlength",
            "minor",
            "minoraxis",
            "areashapeminoraxislength",
            "mindiameter",
        ],
    ),
    (Radius, &["radius", "r", "meanradius"]),
    (
        Diameter,
        &["diameter", "equivalentdiameter", "equivalentdiameterarea", "areashapeequivalentdiameter", "size"],
    ),
    (Area, &["area", "cellarea", "nucleusarea", "areashapearea", "pixels", "npixels"]),
    (Orientation, &["orientation", "theta", "orientationradians"]),
    (Degrees, &["angle", "orientationdegrees", "orientationdeg", "areashapeorientation"]),
    (
        Intensity,
        &[
            "intensity",
            "meanintensity",
            "intensitymean",
            "amplitude",
            "mean",
            "avgintensity",
            "intensitymeanintensity",
            "expression",
            "peak",
        ],
    ),
    (
        Neighbours,
        &[
            "neighbours",
            "neighbors",
            "nneighbours",
            "nneighbors",
            "neighborsnumberofneighbors",
            "localdensity",
            "density",
        ],
    ),
];

const IMAGES: &[&str] = &[
    "image",
    "imagename",
    "imageid",
    "imagenumber",
    "file",
    "filename",
    "section",
    "sectionid",
    "slide",
    "fov",
    "sample",
];
const GENES: &[&str] =
    &["gene", "genename", "genesymbol", "symbol", "target", "marker", "probe", "featurename", "stain"];

/// A name as the lists above have it, and whether it is in µm.
fn plain(name: &str) -> (String, bool) {
    let lower = name.trim().to_lowercase();
    let micro = ["µm", "μm", "(um", "_um", " um", "micron"].iter().any(|unit| lower.contains(unit));
    let mut kept = lower;
    for unit in [
        "µm^2", "µm²", "μm^2", "μm²", "um^2", "µm", "μm", "microns", "micron", "(um)", "_um", " um", "(px)",
        "_px", "^2",
    ] {
        kept = kept.replace(unit, "");
    }
    // QuPath writes what was measured before the measure, as in `Nucleus: Area`.
    let kept = kept.rsplit(':').next().unwrap_or_default().to_owned();
    (kept.chars().filter(|c| c.is_alphanumeric()).collect(), micro)
}

/// Where a column stands, what it means, and by what it is divided to become pixels.
#[derive(Debug, Clone, Copy)]
struct Found {
    at: usize,
    meaning: Meaning,
    units: f64,
}

/// The columns of a table.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub(super) image: Option<usize>,
    pub(super) gene: Option<usize>,
    found: Vec<Found>,
    /// The orientation is measured from the rows, against the clock, as scikit-image does.
    from_rows: bool,
    pub(super) known: Known,
    pub(super) notes: Vec<String>,
}

impl Columns {
    /// Chooses by the names of a table's first line.
    pub(super) fn choose(
        path: &Path,
        line: Option<u64>,
        names: &[String],
        options: &Options,
    ) -> Result<Self> {
        let plain: Vec<(String, bool)> = names.iter().map(|name| plain(name)).collect();
        let place =
            |list: &[&str]| list.iter().find_map(|wanted| plain.iter().position(|(name, _)| name == wanted));
        let mut found = Vec::new();
        let (mut micro, mut notes) = (false, Vec::new());
        for (meaning, list) in NUMBERS {
            let Some(at) = place(list) else { continue };
            let squared = if *meaning == Area { 2 } else { 1 };
            let is_length = !matches!(meaning, Orientation | Degrees | Intensity | Neighbours);
            micro |= plain[at].1 && is_length;
            let scale = options.scale.filter(|_| plain[at].1 && is_length).unwrap_or(1.0);
            found.push(Found { at, meaning: *meaning, units: scale.powi(squared) });
        }
        let has = |meaning: Meaning| found.iter().any(|f: &Found| f.meaning == meaning);
        let fail = |problem: String, remedy: &str| {
            let (path, remedy) = (path.to_owned(), remedy.to_owned());
            Error::Read { path, line, problem, remedy }
        };
        if !has(X) || !has(Y) {
            let shown: Vec<&str> = names.iter().take(12).map(String::as_str).collect();
            let problem = format!("has no columns x and y; its columns are {}", shown.join(", "));
            return Err(fail(problem, "name the columns of the places x and y in the first line"));
        }
        let (image, gene) = (place(IMAGES), place(GENES));
        if image.is_none() && gene.is_none() {
            let problem = "has neither a column gene nor a column image".to_owned();
            return Err(fail(problem, "add a column gene that says which gene a cell was seen to express"));
        }
        if gene.is_none() {
            notes.push("there is no column gene: every image is taken for a gene".into());
        }
        if micro && options.scale.is_none() {
            notes.push(
                "places or sizes are in µm and taken as they stand: give --scale to have pixels".into(),
            );
        }
        let size = has(LongRadius) || has(LongAxis) || has(Radius) || has(Diameter) || has(Area);
        let orientation = has(Orientation) || has(Degrees);
        let known = Known { size, orientation, intensity: has(Intensity), neighbours: has(Neighbours) };
        let from_rows =
            place(&["centroid0"]).is_some_and(|at| found.iter().any(|f| f.at == at && f.meaning == Y));
        let columns = Self { image, gene, found, from_rows, known, notes };
        Ok(columns.with_notes(names))
    }

    fn with_notes(mut self, names: &[String]) -> Self {
        let ours = |found: &&Found| {
            !["x", "y", "r1", "r2", "orientation", "intensity", "neighbours"]
                .contains(&names[found.at].trim())
        };
        let taken: Vec<String> = self
            .found
            .iter()
            .filter(ours)
            .map(|f| format!("{:?} for {}", names[f.at].trim(), words(f.meaning)))
            .collect();
        if !taken.is_empty() {
            self.notes.push(format!("columns are taken by their names: {}", taken.join(", ")));
        }
        if self.known != Known::ALL {
            let all = Known::ALL.names();
            let left = self.known.names();
            let missing: Vec<&str> = all.into_iter().filter(|name| !left.contains(name)).collect();
            let left = if left.is_empty() { "places alone".into() } else { left.join(", ") };
            self.notes
                .push(format!("there are no columns for {}; what is left are {left}", missing.join(", ")));
        }
        if self.from_rows && self.known.orientation {
            self.notes.push(
                "the orientation is measured from the rows, as scikit-image does, and turned to the x axis"
                    .into(),
            );
        }
        self
    }

    /// The columns of numbers, in the order that [`Columns::cell`] wants them.
    pub(super) fn numbers(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.found.iter().map(|f| f.at)
    }

    /// Whether a number may be missing: only places may not.
    pub(super) fn may_miss(&self, number: usize) -> bool {
        !matches!(self.found[number].meaning, X | Y)
    }

    /// The cell of these numbers, or the number that is impossible and why.
    pub(super) fn cell(&self, numbers: &[f64]) -> std::result::Result<Cell, (usize, &'static str)> {
        let nan = f64::NAN;
        let mut cell =
            Cell { x: nan, y: nan, r1: nan, r2: nan, orientation: nan, intensity: nan, neighbours: nan };
        // Columns come in the order of the list, better sources first, and later ones do not replace them.
        let set = |place: &mut f64, value: f64| {
            if place.is_nan() {
                *place = value;
            }
        };
        for (i, (found, &number)) in self.found.iter().zip(numbers).enumerate() {
            let value = number / found.units;
            let is_size = matches!(
                found.meaning,
                LongRadius | ShortRadius | LongAxis | ShortAxis | Radius | Diameter | Area
            );
            if is_size && value < 0.0 {
                return Err((i, "a size is not negative"));
            }
            match found.meaning {
                X => cell.x = value,
                Y => cell.y = value,
                LongRadius => set(&mut cell.r1, value),
                ShortRadius => set(&mut cell.r2, value),
                LongAxis => set(&mut cell.r1, value / 2.0),
                ShortAxis => set(&mut cell.r2, value / 2.0),
                Radius | Diameter | Area => {
                    let radius = match found.meaning {
                        Radius => value,
                        Diameter => value / 2.0,
                        _ => (value / PI).sqrt(),
                    };
                    // With one radius known, a mean one tells nothing about the other.
                    set(&mut cell.r1, radius);
                }
                Orientation => {
                    set(&mut cell.orientation, if self.from_rows { PI / 2.0 - value } else { value })
                }
                Degrees => set(&mut cell.orientation, -value.to_radians()),
                Intensity => cell.intensity = value,
                Neighbours => cell.neighbours = value,
            }
        }
        set(&mut cell.r2, cell.r1);
        if cell.r2 > cell.r1 {
            (cell.r1, cell.r2) = (cell.r2, cell.r1);
            cell.orientation += PI / 2.0;
        }
        // rem_euclid of a tiny negative number rounds up to π itself.
        cell.orientation = cell.orientation.rem_euclid(PI);
        if cell.orientation >= PI {
            cell.orientation = 0.0;
        }
        Ok(cell)
    }
}

fn words(meaning: Meaning) -> &'static str {
    match meaning {
        X => "x",
        Y => "y",
        LongRadius => "r1",
        ShortRadius => "r2",
        LongAxis => "twice r1",
        ShortAxis => "twice r2",
        Radius => "both radii",
        Diameter => "twice both radii",
        Area => "an area, of round cells",
        Orientation => "orientation in radians",
        Degrees => "orientation in degrees",
        Intensity => "intensity",
        Neighbours => "neighbours",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(names: &str, scale: Option<f64>) -> Result<Columns> {
        let names: Vec<String> = names.split(',').map(String::from).collect();
        Columns::choose(Path::new("t.csv"), Some(1), &names, &Options { scale, ..Options::default() })
    }

    #[test]
    fn tables_of_other_programs_are_understood() {
        for (names, numbers, x, r1, r2) in [
            ("gene,x,y,r1,r2", &[1.0, 2.0, 5.0, 3.0][..], 1.0, 5.0, 3.0),
            ("Image,Centroid X µm,Centroid Y µm,Nucleus: Area µm^2", &[10.0, 20.0, PI * 36.0], 5.0, 3.0, 3.0),
            (
                "image,centroid-0,centroid-1,axis_major_length,axis_minor_length",
                &[1.0, 2.0, 8.0, 6.0],
                1.0,
                4.0,
                3.0,
            ),
            (
                "FileName,Location_Center_X,Location_Center_Y,AreaShape_MajorAxisLength,AreaShape_MinorAxisLength",
                &[1.0, 2.0, 8.0, 6.0],
                1.0,
                4.0,
                3.0,
            ),
            ("feature_name,x_centroid,y_centroid,radius", &[1.0, 2.0, 7.0], 1.0, 7.0, 7.0),
            ("gene,X,Y,diameter,area", &[1.0, 2.0, 7.0, 1000.0], 1.0, 3.5, 3.5),
        ] {
            let cell = choose(names, Some(2.0)).unwrap().cell(numbers).unwrap();
            assert_eq!((cell.x, cell.r1, cell.r2), (x, r1, r2), "{names}");
        }
        let problem = choose("gene,left,top", None).unwrap_err().to_string();
        assert!(
            problem.starts_with("t.csv, line 1: has no columns x and y; its columns are gene, left, top"),
            "{problem}"
        );
        assert!(choose("x,y", None).unwrap_err().to_string().contains("neither a column gene"));
    }

    #[test]
    fn directions_come_from_degrees_from_rows_and_from_radii_in_the_wrong_order() {
        let of =
            |names: &str, numbers: &[f64]| choose(names, None).unwrap().cell(numbers).unwrap().orientation;
        assert!((of("gene,x,y,r1,r2,angle", &[0.0, 0.0, 2.0, 1.0, 30.0]) - (PI - PI / 6.0)).abs() < 1e-12);
        assert!(
            (of("gene,x,y,r1,r2,orientation", &[0.0, 0.0, 1.0, 2.0, 0.25]) - (0.25 + PI / 2.0)).abs() < 1e-12
        );
        let rows = of(
            "gene,centroid-0,centroid-1,axis_major_length,axis_minor_length,orientation",
            &[0.0, 0.0, 4.0, 2.0, 0.5],
        );
        assert!((rows - (PI / 2.0 - 0.5)).abs() < 1e-12);
        assert_eq!(of("gene,x,y,orientation", &[0.0, 0.0, -1e-30]), 0.0);
        assert_eq!(
            choose("gene,x,y,r1", None).unwrap().cell(&[0.0, 0.0, -1.0]),
            Err((2, "a size is not negative"))
        );
    }
}
