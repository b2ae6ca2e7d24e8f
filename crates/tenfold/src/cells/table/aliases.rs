//! The names that many programs give to what they measure.

use Meaning::*;

/// What a column of numbers means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
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

/// Names without case, blanks, lines and units; the first that is there is taken.
pub(super) const NUMBERS: &[(Meaning, &[&str])] = &[
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

pub(super) const IMAGES: &[&str] = &[
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
pub(super) const GENES: &[&str] =
    &["gene", "genename", "genesymbol", "symbol", "target", "marker", "probe", "featurename", "stain"];

/// A name as the lists above have it, and whether it is in µm.
pub(super) fn plain(name: &str) -> (String, bool) {
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

/// What it is, for people.
pub(super) fn words(meaning: Meaning) -> &'static str {
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
