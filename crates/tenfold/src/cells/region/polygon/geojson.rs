//! Polygons from GeoJSON. Points are taken from the text as they stand: a tree of all values would take twenty times the text.

use super::{COARSER, MOST_POINTS, MOST_RINGS, Ring};
use crate::error::{Error, Result};
use crate::input::Disk;
use std::path::Path;

const WANTED: &str = "give a GeoJSON Polygon or MultiPolygon, alone or in features";

/// Most brackets within each other, as JSON is commonly read, and most objects that are gone into: every one is gone over again by
/// those around it.
const DEEPEST: usize = 128;
const OBJECTS: usize = 16;

/// The parts of all polygons of a file of at most so many bytes, which is held whole.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<Vec<Ring>>> {
    let disk = Disk::open(path)?;
    if disk.len() > most {
        let problem = format!("has more than {most} bytes, and is held in memory whole");
        return Err(
            disk.fail(problem, "if you trust it, raise --max-decompressed, or give the region as a mask")
        );
    }
    let bytes = disk.bytes(0, disk.len())?;
    parse(&bytes).map_err(|wrong| told(&disk, &bytes, wrong))
}

fn parse(bytes: &[u8]) -> std::result::Result<Vec<Vec<Ring>>, Wrong> {
    let text =
        std::str::from_utf8(bytes).map_err(|e| Wrong::Json("text that is not UTF-8", e.valid_up_to()))?;
    let begin = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut json = Json { text, at: begin, parts: Vec::new(), points: 0, rings: 0 };
    // What is no JSON at its end is none.
    json.skip(0)?;
    if json.peek().is_some() {
        return Err(json.unexpected());
    }
    json.at = begin;
    json.gather(0)?;
    Ok(json.parts)
}

fn told(disk: &Disk, bytes: &[u8], wrong: Wrong) -> Error {
    match wrong {
        Wrong::Json(what, at) => {
            let line = bytes[..at.min(bytes.len())].iter().filter(|b| **b == b'\n').count() + 1;
            disk.fail(format!("is no JSON ({what} at byte {at}, line {line})"), WANTED)
        }
        Wrong::Else => disk.fail("holds something else than polygons", WANTED),
        Wrong::Many => {
            disk.fail(format!("has more than {MOST_POINTS} points or {MOST_RINGS} rings"), COARSER)
        }
    }
}

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wrong {
    /// It is no JSON: what stands at which byte.
    Json(&'static str, usize),
    /// It is JSON, but of no polygons.
    Else,
    /// There are too many points.
    Many,
}

type Read<T> = std::result::Result<T, Wrong>;

/// Where the values of an object begin that may lead to polygons.
#[derive(Default)]
struct Object {
    kind: Option<usize>,
    coordinates: Option<usize>,
    features: Option<usize>,
    geometry: Option<usize>,
    geometries: Option<usize>,
}

struct Json<'a> {
    text: &'a str,
    at: usize,
    parts: Vec<Vec<Ring>>,
    points: usize,
    rings: usize,
}

impl<'a> Json<'a> {
    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r')).unwrap_or(rest.len());
        self.text.as_bytes().get(self.at).copied()
    }

    fn unexpected(&self) -> Wrong {
        let ends = self.at >= self.text.len();
        Wrong::Json(if ends { "its end" } else { "a character that does not belong" }, self.at)
    }

    /// Moves over one such byte.
    fn expect(&mut self, byte: u8) -> Read<()> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Moves over a separator, or over the end of a list; whether it goes on.
    fn goes_on(&mut self, end: u8) -> Read<bool> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            _ => self.expect(end).map(|()| false),
        }
    }

    /// Calls `take` at every item of a list.
    fn each(&mut self, take: &mut dyn FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.expect(b'[')?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            take(self)?;
            if !self.goes_on(b']')? {
                return Ok(());
            }
        }
    }

    /// Calls `take` at every value of an object, with its key.
    fn every(&mut self, take: &mut dyn FnMut(&mut Self, &str) -> Read<()>) -> Read<()> {
        self.expect(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            take(self, &key)?;
            if !self.goes_on(b'}')? {
                return Ok(());
            }
        }
    }

    /// The text in quotes that begins here.
    fn string(&mut self) -> Read<std::borrow::Cow<'a, str>> {
        self.expect(b'"')?;
        let (begin, bytes) = (self.at, self.text.as_bytes());
        let mut escapes = false;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escapes = true;
                    self.at += 2;
                }
                Some(0x20..) => self.at += 1,
                _ => return Err(Wrong::Json("a text that is not closed on its line", begin - 1)),
            }
        }
        self.at += 1;
        let quoted = &self.text[begin - 1..self.at];
        match escapes {
            false => Ok(self.text[begin..self.at - 1].into()),
            true => serde_json::from_str::<String>(quoted)
                .map(Into::into)
                .map_err(|_| Wrong::Json("a text with an escape that means nothing", begin - 1)),
        }
    }

    /// The number, or the word, that begins here.
    fn word(&mut self) -> &'a str {
        let begin = self.at;
        let rest = &self.text.as_bytes()[begin..];
        let belongs = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.');
        self.at += rest.iter().position(|b| !belongs(b)).unwrap_or(rest.len());
        &self.text[begin..self.at]
    }

    /// The number that begins here; infinite where it is beyond double precision.
    fn number(&mut self) -> Read<f64> {
        let begin = self.at;
        let word = self.word();
        let beyond = || word.parse().ok().filter(|x: &f64| x.is_infinite() && !word.starts_with('+'));
        serde_json::from_str(word)
            .ok()
            .or_else(beyond)
            .ok_or(Wrong::Json("a character that does not belong", begin))
    }

    /// Moves over any value.
    fn skip(&mut self, depth: usize) -> Read<()> {
        if depth > DEEPEST {
            return Err(Wrong::Json("more brackets within each other than are read", self.at));
        }
        match self.peek() {
            Some(b'[') => self.each(&mut |json| json.skip(depth + 1)),
            Some(b'{') => self.every(&mut |json, _| json.skip(depth + 1)),
            Some(b'"') => self.string().map(|_| ()),
            Some(b'-' | b'0'..=b'9') => self.number().map(|_| ()),
            _ => {
                let begin = self.at;
                match self.word() {
                    "true" | "false" | "null" => Ok(()),
                    _ => {
                        self.at = begin;
                        Err(self.unexpected())
                    }
                }
            }
        }
    }

    /// Takes the parts of an object, or of a plain list of them, as annotations of QuPath are.
    fn gather(&mut self, depth: usize) -> Read<()> {
        match self.peek() {
            _ if depth > OBJECTS => Err(Wrong::Else),
            Some(b'[') => self.each(&mut |json| json.gather(depth + 1)),
            Some(b'{') => {
                let object = self.object()?;
                let end = self.at;
                self.parts_of(&object, depth)?;
                self.at = end;
                Ok(())
            }
            _ => Err(Wrong::Else),
        }
    }

    /// Moves over an object and notes where its values stand.
    fn object(&mut self) -> Read<Object> {
        let mut object = Object::default();
        self.every(&mut |json, key| {
            json.peek();
            let place = match key {
                "type" => Some(&mut object.kind),
                "coordinates" => Some(&mut object.coordinates),
                "features" => Some(&mut object.features),
                "geometry" => Some(&mut object.geometry),
                "geometries" => Some(&mut object.geometries),
                _ => None,
            };
            place.into_iter().for_each(|place| *place = Some(json.at));
            json.skip(0)
        })?;
        Ok(object)
    }

    fn parts_of(&mut self, object: &Object, depth: usize) -> Read<()> {
        self.go(object.kind, b'"')?;
        match &*self.string()? {
            "FeatureCollection" => {
                self.go(object.features, b'[')?;
                self.gather(depth + 1)
            }
            // Features without a place are legal, and none of ours.
            "Feature" => {
                self.at = object.geometry.ok_or(Wrong::Else)?;
                if self.text[self.at..].starts_with("null") { Ok(()) } else { self.gather(depth + 1) }
            }
            "GeometryCollection" => {
                self.go(object.geometries, b'[')?;
                self.gather(depth + 1)
            }
            "Polygon" => {
                self.at = object.coordinates.ok_or(Wrong::Else)?;
                self.polygon()
            }
            "MultiPolygon" => {
                self.go(object.coordinates, b'[')?;
                self.each(&mut Self::polygon)
            }
            _ => Err(Wrong::Else),
        }
    }

    /// Moves to a value that must be there and begin so.
    fn go(&mut self, place: Option<usize>, begins: u8) -> Read<()> {
        self.at = place.ok_or(Wrong::Else)?;
        if self.peek() == Some(begins) { Ok(()) } else { Err(Wrong::Else) }
    }

    fn polygon(&mut self) -> Read<()> {
        let mut rings = Vec::new();
        self.list(&mut |json| {
            let mut ring = json.ring()?;
            ring.shrink_to_fit();
            json.rings += 1;
            rings.push(ring);
            if json.rings > MOST_RINGS { Err(Wrong::Many) } else { Ok(()) }
        })?;
        rings.shrink_to_fit();
        self.rings += usize::from(rings.is_empty());
        self.parts.push(rings);
        if self.rings > MOST_RINGS { Err(Wrong::Many) } else { Ok(()) }
    }

    fn ring(&mut self) -> Read<Ring> {
        let mut ring = Ring::new();
        self.list(&mut |json| {
            let point = json.point()?;
            json.points += 1;
            if json.points > MOST_POINTS {
                return Err(Wrong::Many);
            }
            ring.push(point);
            Ok(())
        })?;
        Ok(ring)
    }

    /// Two numbers, and perhaps more that do not matter.
    fn point(&mut self) -> Read<[f64; 2]> {
        let (mut point, mut found) = ([0.0; 2], 0);
        self.list(&mut |json| {
            let begins = json.peek();
            if found > 1 {
                return json.skip(0);
            }
            if !matches!(begins, Some(b'-' | b'0'..=b'9')) {
                return Err(Wrong::Else);
            }
            let begin = json.at;
            point[found] = json.number()?;
            if !point[found].is_finite() {
                return Err(Wrong::Json("a number beyond double precision", begin));
            }
            found += 1;
            Ok(())
        })?;
        if found == 2 { Ok(point) } else { Err(Wrong::Else) }
    }

    /// Calls `take` at every item of what must be a list.
    fn list(&mut self, take: &mut dyn FnMut(&mut Self) -> Read<()>) -> Read<()> {
        if self.peek() == Some(b'[') { self.each(take) } else { Err(Wrong::Else) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_are_found_wherever_they_stand() {
        let square = "[[0,0],[1.5,0,7,null],[-2e0, 1]]";
        let polygon = format!(r#"{{"coordinates":[{square}],"t\u0079pe":"Polygon","x":[{{}},"a\"]",true]}}"#);
        let ring = vec![[0.0, 0.0], [1.5, 0.0], [-2.0, 1.0]];
        for (text, parts) in [
            (polygon.clone(), 1),
            (format!(r#" [ {{"type":"Feature","geometry":{polygon}}} , {polygon}]"#), 2),
            (
                format!(
                    r#"{{"features":[{{"geometry":{polygon},"type":"Feature"}}],"type":"FeatureCollection"}}"#
                ),
                1,
            ),
            (
                format!(
                    "\u{feff}{}",
                    format_args!(
                        r#"{{"type":"FeatureCollection","x":1e999,"features":[{{"type":"Feature","geometry":null}},{polygon}]}}"#
                    )
                ),
                1,
            ),
            (format!(r#"{{"type":"GeometryCollection","geometries":[{polygon},{polygon}]}}"#), 2),
            (format!(r#"{{"type":"MultiPolygon","coordinates":[[{square}],[],[{square},{square}]]}}"#), 3),
        ] {
            let found = parse(text.as_bytes()).unwrap_or_else(|e| panic!("{e:?}: {text}"));
            assert_eq!(found.len(), parts, "{text}");
            assert!(found.iter().flatten().all(|r| *r == ring), "{text}");
        }
    }

    #[test]
    fn other_texts_are_told_apart() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        for text in
            ["", "{", "[1,]", "{\"a\"}", "[01]", "\"\\x\"", "[1] 2", "\"a", "nul", "[-]", &nested(200)]
        {
            let wrong = parse(text.as_bytes()).unwrap_err();
            assert!(matches!(wrong, Wrong::Json(..)), "{text}: {wrong:?}");
            assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text}");
        }
        let of =
            |kind: &str, coordinates: &str| format!(r#"{{"type":"{kind}","coordinates":{coordinates}}}"#);
        for text in [
            "1".to_owned(),
            "{}".into(),
            r#"{"type":1}"#.into(),
            of("Point", "[1,2]"),
            of("Polygon", "[1,2]"),
            of("Polygon", "[[[1]]]"),
            of("Polygon", "[[[1,\"2\"]]]"),
            of("MultiPolygon", "[[[1,2]]]"),
            r#"{"type":"Feature","geometry":null}"#.into(),
            r#"{"type":"FeatureCollection","features":{"type":"Polygon","coordinates":[]}}"#.into(),
            nested(100),
        ] {
            let wrong = parse(text.as_bytes());
            // A list of nothing holds no polygons, which is told later.
            assert!(wrong == Err(Wrong::Else) || wrong == Ok(vec![]), "{text}: {wrong:?}");
        }
        let beyond = of("Polygon", "[[[0,1e400]]]");
        let place = beyond.find("1e400").unwrap();
        assert_eq!(parse(beyond.as_bytes()), Err(Wrong::Json("a number beyond double precision", place)));
        let many = of("Polygon", &format!("[{}[]]", "[],".repeat(MOST_RINGS)));
        assert_eq!(parse(many.as_bytes()), Err(Wrong::Many));
    }
}
