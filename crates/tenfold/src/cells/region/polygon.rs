//! Polygons from tables of points and from GeoJSON.

mod geojson;

use super::MOST;
use crate::error::{Error, Result};
use crate::input::rows::{Cells, Kind, RowReader};
use crate::input::{Opening, Source};
use std::collections::HashMap;
use std::path::Path;
use tenfold_engine::progress::Silent;

/// Most points and rings: a region is drawn by hand or traced around structures, with thousands.
const MOST_POINTS: usize = 1 << 22;
const MOST_RINGS: usize = 1 << 20;

/// What to do about more.
const COARSER: &str = "trace the region with fewer points, or give it as a mask";

/// One closed line of points.
type Ring = Vec<[f64; 2]>;

/// Rings of points, in parts. A place lies inside a part when a ray from it crosses its rings an odd number of times, so a ring within
/// a ring is a hole, and rings beside each other are all inside; it lies inside the polygon when it lies inside any part, so that
/// parts may overlap. Edges and corners belong to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Polygon {
    parts: Vec<Vec<Ring>>,
}

impl Polygon {
    /// From rings, closed or not.
    ///
    /// # Errors
    /// [`Error::Unfit`] for no ring, a ring of fewer than three different points, or a place that is not finite.
    ///
    /// # Example
    /// ```
    /// use tenfold::cells::region::Polygon;
    /// let square = |low: f64, high: f64| vec![[low, low], [high, low], [high, high], [low, high]];
    /// let frame = Polygon::new(vec![square(0.0, 10.0), square(4.0, 6.0)])?;
    /// assert!(frame.contains(1.0, 5.0) && !frame.contains(5.0, 5.0) && !frame.contains(11.0, 5.0));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn new(rings: Vec<Vec<[f64; 2]>>) -> Result<Self> {
        Self::of(vec![rings])
    }

    /// From parts, each of some rings.
    fn of(mut parts: Vec<Vec<Ring>>) -> Result<Self> {
        let unfit = |problem: &str| Error::Unfit {
            problem: problem.into(),
            remedy: "a ring has at least three points, each with a finite x and y".into(),
        };
        for ring in parts.iter_mut().flatten() {
            ring.dedup();
            if ring.len() > 1 && ring.first() == ring.last() {
                ring.pop();
            }
            if ring.len() < 3 {
                return Err(unfit("a ring of the polygon has fewer than three points"));
            }
            if ring.iter().flatten().any(|x| !x.is_finite()) {
                return Err(unfit("a point of the polygon is not finite"));
            }
        }
        parts.retain(|rings| !rings.is_empty());
        if parts.is_empty() {
            return Err(unfit("the polygon has no points"));
        }
        Ok(Self { parts })
    }

    /// Whether a place lies inside or on an edge.
    pub fn contains(&self, x: f64, y: f64) -> bool {
        // Nothing compares with NaN.
        !x.is_nan() && !y.is_nan() && self.parts.iter().any(|rings| Self::within(rings, x, y))
    }

    fn within(rings: &[Ring], x: f64, y: f64) -> bool {
        let mut inside = false;
        for ring in rings {
            let last = ring.len() - 1;
            for (i, &[bx, by]) in ring.iter().enumerate() {
                let [ax, ay] = ring[if i == 0 { last } else { i - 1 }];
                // Twice the area of the triangle of the edge and the place; 0 on the line through the edge.
                let side = (bx - ax) * (y - ay) - (by - ay) * (x - ax);
                let beside = x >= ax.min(bx) && x <= ax.max(bx) && y >= ay.min(by) && y <= ay.max(by);
                if side == 0.0 && beside {
                    return true;
                }
                // A corner belongs to the edge that goes down from it, so that no ray crosses it twice.
                if (ay > y) != (by > y) && (side > 0.0) == (by > ay) {
                    inside = !inside;
                }
            }
        }
        inside
    }

    /// The least and largest x and y: left, top, right, bottom.
    pub fn bounds(&self) -> [f64; 4] {
        let all = self.parts.iter().flatten().flatten();
        all.fold([f64::MAX, f64::MAX, f64::MIN, f64::MIN], |[l, t, r, b], &[x, y]| {
            [l.min(x), t.min(y), r.max(x), b.max(y)]
        })
    }

    /// A table with columns x and y and, for several rings, `ring`; or GeoJSON.
    pub(super) fn read(path: &Path, extension: &str, max_decompressed: Option<u64>) -> Result<Self> {
        let parts = match extension {
            "json" | "geojson" => geojson::read(path, max_decompressed.map_or(MOST, |most| most.max(MOST)))?,
            _ => vec![table(path, extension == "tsv", max_decompressed.unwrap_or(MOST))?],
        };
        Self::of(parts).map_err(|error| match error {
            Error::Unfit { problem, remedy } => {
                Error::Read { path: path.to_owned(), line: None, problem, remedy }
            }
            other => other,
        })
    }
}

fn table(path: &Path, tabs: bool, max_decompressed: u64) -> Result<Vec<Vec<[f64; 2]>>> {
    let wanted = "give a table of points with the columns x and y, and ring where there are several";
    let source = Source::open(path, Opening { encoding: None, max_decompressed, wanted }, &Silent)?;
    let mut rows = RowReader::new(&source, if tabs { Kind::Tsv } else { Kind::Csv }, 1 << 20, &Silent)?;
    let (mut cells, mut places) = (Cells::default(), None);
    let (mut rings, mut numbers): (Vec<Vec<[f64; 2]>>, HashMap<String, usize>) = Default::default();
    let mut points = 0;
    while let Some(line) = rows.next(&mut cells)? {
        if cells.is_blank() {
            continue;
        }
        let text: Vec<String> = cells.iter().map(|c| String::from_utf8_lossy(c).trim().to_owned()).collect();
        let Some((x, y, ring)) = places else {
            let names: Vec<String> = text.iter().map(|t| t.to_lowercase()).collect();
            let find = |name: &str| names.iter().position(|n| n == name);
            places = match (find("x"), find("y"), text.len()) {
                (Some(x), Some(y), _) => Some((x, y, find("ring").or(find("part")).or(find("polygon")))),
                _ => return Err(source.fail(line, format!("begins with {:?}", cells.shown()), wanted)),
            };
            continue;
        };
        let number = |at: usize| text.get(at).and_then(|t| t.parse::<f64>().ok()).filter(|x| x.is_finite());
        let Some((x, y)) = number(x).zip(number(y)) else {
            return Err(source.fail(line, "has no numbers for x and y", "mend the line"));
        };
        let name = ring.and_then(|at| text.get(at)).cloned().unwrap_or_default();
        let at = *numbers.entry(name).or_insert_with(|| {
            rings.push(Vec::new());
            rings.len() - 1
        });
        points += 1;
        if points > MOST_POINTS || rings.len() > MOST_RINGS {
            let problem = format!("has more than {MOST_POINTS} points or {MOST_RINGS} rings");
            return Err(source.fail(line, problem, COARSER));
        }
        rings[at].push([x, y]);
    }
    Ok(rings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How often the ring winds around a place, by angles: the same question asked another way.
    fn winds(ring: &[[f64; 2]], x: f64, y: f64) -> bool {
        let angle = |a: [f64; 2], b: [f64; 2]| {
            let (ux, uy, vx, vy) = (a[0] - x, a[1] - y, b[0] - x, b[1] - y);
            (ux * vy - uy * vx).atan2(ux * vx + uy * vy)
        };
        let turns: f64 = (0..ring.len()).map(|i| angle(ring[i], ring[(i + 1) % ring.len()])).sum();
        (turns / std::f64::consts::TAU).round() as i64 % 2 != 0
    }

    proptest! {
        #[test]
        fn rays_and_angles_agree(
            ring in prop::collection::vec((0i32..12, 0i32..12), 3..12),
            (x, y) in (0i32..12, 0i32..12),
        ) {
            let ring: Vec<[f64; 2]> = ring.iter().map(|&(x, y)| [f64::from(x), f64::from(y)]).collect();
            if let Ok(polygon) = Polygon::new(vec![ring]) {
                // Rays through corners, but no place on an edge: corners are whole, and this is not.
                let (x, y) = (f64::from(x) + 0.125 + 1.0 / 1024.0, f64::from(y));
                let on_edge = polygon.contains(x, y) != winds(&polygon.parts[0][0], x, y);
                let near = (0..polygon.parts[0][0].len()).any(|i| {
                    let (a, b) = (polygon.parts[0][0][i], polygon.parts[0][0][(i + 1) % polygon.parts[0][0].len()]);
                    (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) == 0.0
                });
                prop_assert!(!on_edge || near);
            }
        }
    }

    #[test]
    fn corners_edges_and_holes() {
        let square =
            |low: f64, high: f64| vec![[low, low], [high, low], [high, high], [low, high], [low, low]];
        let frame = Polygon::new(vec![square(0.0, 10.0), square(4.0, 6.0)]).unwrap();
        for (x, y, inside) in [
            (0.0, 0.0, true),
            (10.0, 10.0, true),
            (5.0, 0.0, true),
            (10.0, 3.3, true),
            (4.0, 5.0, true),
            (5.0, 5.0, false),
            (2.0, 4.0, true),
            (2.0, 6.0, true),
            (-1.0, 4.0, false),
            (-1.0, 0.0, false),
            (11.0, 10.0, false),
            (f64::NAN, 1.0, false),
        ] {
            assert_eq!(frame.contains(x, y), inside, "({x}, {y})");
        }
        // A ray along an edge, and one through a corner that points up.
        let roof = Polygon::new(vec![vec![[0.0, 10.0], [5.0, 0.0], [10.0, 10.0]]]).unwrap();
        assert!(!roof.contains(-1.0, 10.0) && !roof.contains(-1.0, 0.0) && !roof.contains(11.0, 10.0));
        assert!(roof.contains(5.0, 0.0) && roof.contains(5.0, 5.0));
        assert_eq!(frame.bounds(), [0.0, 0.0, 10.0, 10.0]);
        assert!(Polygon::new(vec![vec![[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]]).is_err());
        assert!(Polygon::new(Vec::new()).is_err());
    }

    #[test]
    fn endless_points_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("many.csv");
        std::fs::write(&path, format!("x,y\n{}z", "0,0\n".repeat(MOST_POINTS + 1))).unwrap();
        let error = Polygon::read(&path, "csv", None).unwrap_err().to_string();
        assert!(error.contains("line 4194306: has more than 4194304 points"), "{error}");
    }

    #[test]
    fn overlapping_features_are_one_region() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("two.geojson");
        let square =
            |low: i32, high: i32| format!("[[{low},{low}],[{high},{low}],[{high},{high}],[{low},{high}]]");
        let feature = |rings: String| {
            format!(r#"{{"type":"Feature","geometry":{{"type":"Polygon","coordinates":[{rings}]}}}}"#)
        };
        let holed = format!("{},{}", square(10, 30), square(15, 17));
        let text = format!(
            r#"{{"type":"FeatureCollection","features":[{},{}]}}"#,
            feature(square(0, 20)),
            feature(holed)
        );
        std::fs::write(&path, text).unwrap();
        let region = Polygon::read(&path, "geojson", None).unwrap();
        assert!(region.contains(12.0, 12.0), "in both");
        assert!(region.contains(16.0, 16.0), "a hole of one lies in the other");
        assert!(region.contains(25.0, 25.0) && !region.contains(5.0, 25.0));
    }
}
