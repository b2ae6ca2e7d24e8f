//! Models of every version that was, kept with what they said, are still read and still say it.
//!
//! The recipes in crates/tenfold/tests/golden/ say how a model was made and what it is asked. `cargo xtask golden` writes a folder
//! for the version at hand, by this very file.

#[path = "../../tenfold/tests/golden/recipes.rs"]
mod recipes;
mod support;

use recipes::{Recipe, recipes};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use support::Place;
use tenfold::model_file::ModelFile;

/// Set by `cargo xtask golden`: models are made instead of asked.
const WRITE: &str = "TENFOLD_GOLDEN_WRITE";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tenfold/tests/golden")
}

/// The kept versions, oldest first by name.
fn versions() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

/// A recipe, followed in a folder of its own.
struct Asked<'a>(&'a Recipe);

impl Asked<'_> {
    /// Asks the model that lies in the place; the answers by the names of their files.
    fn ask(&self, place: &Place) -> BTreeMap<String, String> {
        let mut answers = BTreeMap::new();
        for line in self.0.of("ask") {
            if let Some((command, name)) = line.split_once(" > ") {
                answers.insert(name.to_owned(), place.ok(command).out);
            } else {
                let name = line.rsplit(' ').next().expect("a line ends with the name of its answer");
                place.ok(line);
                if !name.ends_with(".tenfold") {
                    answers.insert(name.to_owned(), place.text(name));
                }
            }
        }
        answers
    }

    /// A place with what was kept of this version.
    fn place(&self, version: &Path) -> Place {
        let place = Place::new();
        for name in self.0.of("keep").flat_map(str::split_whitespace) {
            let path = version.join(&self.0.name).join(name);
            place.write(name, fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        }
        place
    }

    fn write(&self, version: &Path) {
        let place = Place::new();
        self.0.of("take").for_each(|name| place.write(name, fs::read(folder().join(name)).unwrap()));
        self.0.of("make").for_each(|line| drop(place.ok(line)));
        let to = version.join(&self.0.name);
        fs::create_dir_all(&to).unwrap();
        for (name, answer) in self.ask(&place) {
            fs::write(to.join(name), answer).unwrap();
        }
        for name in self.0.of("keep").flat_map(str::split_whitespace) {
            fs::write(to.join(name), place.bytes(name)).unwrap();
        }
    }
}

/// Words and numbers of a text; numbers are compared as such.
fn pieces(text: &str) -> Vec<&str> {
    text.split(|c: char| c.is_whitespace() || ",();:[]".contains(c))
        .filter(|piece| !piece.is_empty())
        .collect()
}

/// Where two answers differ by more than 1e-9 of a number's size, or in a word.
fn difference(kept: &str, now: &str) -> Option<String> {
    let (kept, now) = (pieces(kept), pieces(now));
    let same = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        _ => a == b,
    };
    if kept.len() != now.len() {
        return Some(format!("{} pieces where there were {}", now.len(), kept.len()));
    }
    let at = kept.iter().zip(&now).position(|(a, b)| !same(a, b))?;
    Some(format!("piece {at} is {} where it was {}", now[at], kept[at]))
}

#[test]
fn models_of_every_version_still_say_what_they_said() {
    if let Ok(version) = std::env::var(WRITE) {
        recipes(&folder()).iter().for_each(|recipe| Asked(recipe).write(&folder().join(&version)));
        return;
    }
    let versions = versions();
    assert!(
        versions.iter().any(|path| path.ends_with(env!("CARGO_PKG_VERSION"))),
        "run `cargo xtask golden` for this version"
    );
    for version in versions {
        for recipe in recipes(&folder()) {
            // An application that came later has no model of an older version.
            if !version.join(&recipe.name).exists() {
                continue;
            }
            let place = Asked(&recipe).place(&version);
            for (name, answer) in Asked(&recipe).ask(&place) {
                let path = version.join(&recipe.name).join(&name);
                let kept =
                    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert_eq!(difference(&kept, &answer), None, "{}", path.display());
            }
            let page = place.run("report model.tenfold -o page.html");
            assert_eq!(page.code, 0, "{} of {}: {}", recipe.name, version.display(), page.err);
            assert!(place.text("page.html").contains("</html>"));
        }
    }
}

/// A later version may add arrays and facts; an older program passes over what it does not know, as `model_file` documents.
#[test]
fn what_is_not_known_is_passed_over() {
    for version in versions() {
        for recipe in recipes(&folder()).iter().filter(|recipe| version.join(&recipe.name).exists()) {
            let place = Asked(recipe).place(&version);
            let plain = Asked(recipe).ask(&place);
            let path = place.path("model.tenfold");
            let mut model = ModelFile::load(&path).unwrap();
            model.insert_vector("from_the_future", &[1.0, 2.0]);
            model.insert_text("notes_of_the_future", "not known yet");
            model.metadata["from_the_future"] = serde_json::json!({ "deep": [1, 2, 3] });
            model.save(&path).unwrap();
            for (name, answer) in Asked(recipe).ask(&place) {
                assert_eq!(answer, plain[&name], "{} of {}", name, recipe.name);
            }
        }
    }
}

/// A file of a format that is not known yet: the program says that it is the older one, and what to do.
#[test]
fn a_newer_file_says_what_to_do() {
    for version in versions() {
        for recipe in recipes(&folder()).iter().filter(|recipe| version.join(&recipe.name).exists()) {
            let place = Asked(recipe).place(&version);
            let bytes = place.bytes("model.tenfold");
            let known = b"\"format_version\":\"1\"";
            let at = bytes.windows(known.len()).position(|window| window == known).expect("its format");
            let mut newer = bytes.clone();
            newer[at + known.len() - 2] = b'9';
            place.write("newer.tenfold", newer);
            let made_by = format!("was made by tenfold {}", version.file_name().unwrap().to_string_lossy());
            let words = ["newer.tenfold", made_by.as_str(), "with format 9", "upgrade tenfold"];
            for line in recipe.of("ask").filter(|line| line.contains(" model.tenfold")) {
                let line = line.split(" > ").next().unwrap().replace("model.tenfold", "newer.tenfold");
                place.fails(&line, 3, &words);
            }
            place.fails("report newer.tenfold -o page.html", 3, &words);
        }
    }
}

#[test]
fn answers_are_compared_as_numbers_and_words() {
    assert_eq!(difference("a,1.0000000001\nb 2", "a,1.0000000002\nb 2"), None);
    assert!(difference("a,1.0", "a,1.00001").unwrap().contains("1.00001"));
    assert!(difference("a,1.0", "b,1.0").unwrap().contains('b'));
    assert!(difference("a,1.0", "a,1.0,2").unwrap().contains("3 pieces"));
}
