use super::super::data::Variable;
use super::super::picture::tests::{Sketch, every_kind};
use super::super::{Shape, Synth};
use super::*;
use serde_json::Value;

/// What strangers call their columns.
const NAMES: [&str; 10] = [
    "plain",
    "it's",
    "a \"b\" \\N c",
    "(x:1,y;)[z]",
    "</data><x>&",
    "line\nbreak\t\u{1}",
    "",
    "ümlaut 漢字",
    "A",
    "a",
];

pub(in crate::trees) fn strange(sketch: &mut Sketch) {
    for (v, variable) in sketch.variables.iter_mut().enumerate() {
        let name = NAMES.get(v).map_or_else(|| format!("v {v}"), |name| (*name).to_owned());
        let labels = variable
            .labels
            .iter()
            .enumerate()
            .map(|(l, _)| if l % 2 == 0 { format!("{l}, }};") } else { format!("<{l}>") });
        *variable = Variable { name, kind: variable.kind, labels: labels.collect() };
    }
}

#[test]
fn a_small_tree_in_every_format() {
    let sketch = Sketch::new(&Synth { variables: 3, shape: Shape::Star, ..Synth::default() });
    let picture = sketch.picture(100, None);
    let lengths: Vec<String> = (0..3).map(|v| sketch.tree.length(v, 3).unwrap().to_string()).collect();
    let newick = format!("(x0:{},x1:{},x2:{});\n", lengths[0], lengths[1], lengths[2]);
    assert_eq!(text(&picture, Format::Newick).unwrap(), newick);
    let nexus = text(&picture, Format::Nexus).unwrap();
    assert!(
        nexus.starts_with("#NEXUS\n")
            && nexus.contains("NTAX=3")
            && nexus.contains("TREE tree_1 = [&U] (x0:")
    );
    assert!(text(&picture, Format::Dot).unwrap().contains("n0 -- n3 ["));
    let bif = text(&picture, Format::Bif).unwrap();
    assert!(bif.contains("variable h1 {\n  type discrete [ 2 ] { s0, s1 };\n}\n"), "{bif}");
    assert!(bif.contains("probability ( x0 | h1 ) {\n  (s0) "), "{bif}");
    let json: Value = serde_json::from_str(&text(&picture, Format::Json).unwrap()).unwrap();
    assert_eq!(
        (json["nodes"][3]["name"].as_str(), json["nodes"][0]["shows"].as_u64()),
        (Some("h1"), Some(3))
    );
}

#[test]
fn labels_of_a_picture_keep_their_direction() {
    let mut sketch = Sketch::new(&Synth { variables: 3, shape: Shape::Star, ..Synth::default() });
    sketch.variables[1].name = "a\u{202e}b\u{200f}c\u{1b}d".to_owned();
    let dot = text(&sketch.picture(100, None), Format::Dot).unwrap();
    assert!(dot.contains("label=\"a\u{fffd}b\u{fffd}c d\""), "{dot}");
}

#[test]
fn inner_variables_are_tips_and_forests_have_a_line_for_each_tree() {
    let sketch = Sketch::new(&Synth { variables: 12, shape: Shape::Observed, blocks: 2, ..Synth::default() });
    let text = text(&sketch.picture(100, None), Format::Newick).unwrap();
    assert_eq!(text.lines().count(), 2);
    for v in 0..24 {
        let tip = |c: char| matches!(c, '(' | ',');
        let found =
            text.match_indices(&format!("x{v}:")).filter(|(at, _)| text[..*at].ends_with(tip)).count();
        assert_eq!(found, 1, "x{v} in {text}");
    }
    assert!(text.contains(":0,") && text.matches('(').count() == text.matches(')').count());
}

/// No export tells a small cell: the tables of the JSON, which holds all that others hold, multiplied out.
#[test]
fn exported_tables_keep_small_cells_back() {
    for (seed, synth) in every_kind().into_iter().enumerate() {
        let sketch = Sketch::new(&Synth { seed: seed as u64, ..synth });
        let samples = 11 * 40;
        let json: Value =
            serde_json::from_str(&text(&sketch.picture(samples, Some(11)), Format::Json).unwrap()).unwrap();
        let numbers = |value: &Value| -> Vec<f64> {
            value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap_or(0.0)).collect()
        };
        let nodes = json["nodes"].as_array().unwrap();
        let shares = |id: &Value| numbers(&nodes.iter().find(|n| n["id"] == *id).unwrap()["shares"]);
        let check = |p: f64| {
            let count = p * samples as f64;
            assert!(!(1e-6..=11.0 - 1e-6).contains(&count), "{count} in {p}");
        };
        for node in nodes {
            if node["kind"] == "real" {
                continue;
            }
            for (above, table, flags) in
                [("parent", "table", false), ("shows", "emission", node["kind"] == "flags")]
            {
                let Some(rows) = node[table].as_array() else { continue };
                let above = shares(&node[above]);
                for row in rows {
                    let cells: Vec<f64> = numbers(row).iter().zip(&above).map(|(p, s)| p * s).collect();
                    cells.iter().for_each(|&p| check(p));
                    check(cells.iter().sum());
                    if flags {
                        cells.iter().zip(&above).for_each(|(p, s)| check(s - p));
                    }
                }
            }
        }
        assert!(json["edges"].as_array().unwrap().iter().all(|e| e["error"].is_null()));
    }
}

#[test]
fn fewer_samples_than_a_cell_are_not_told_at_all() {
    let sketch = Sketch::new(&Synth { variables: 5, ..Synth::default() });
    for format in Format::ALL {
        let error = text(&sketch.picture(10, Some(11)), format).unwrap_err().to_string();
        assert!(error.contains("10 samples, fewer than the smallest cell of 11"), "{error}");
        assert!(text(&sketch.picture(11, Some(11)), format).is_ok());
        assert!(text(&sketch.picture(10, None), format).is_ok());
    }
    let seen = [10, 11, 400, 0, 400];
    let picture = Picture { seen: &seen, ..sketch.picture(400, Some(11)) };
    assert_eq!(picture.held_back(), [0, 3]);
    assert!(sketch.picture(400, None).held_back().is_empty());
}

/// Python's own readers, where `TENFOLD_TEST_PYTHON` has them.
#[test]
fn other_programs_read_the_files() {
    let Some(python) = std::env::var_os("TENFOLD_TEST_PYTHON") else { return };
    let folder = tempfile::tempdir().unwrap();
    for (i, synth) in every_kind().into_iter().enumerate() {
        let mut sketch = Sketch::new(&synth);
        strange(&mut sketch);
        for (j, cell) in [None, Some(11)].into_iter().enumerate() {
            for format in Format::ALL {
                let path = folder.path().join(format!("{i}{j}.{}", format.name()));
                write(&path, &sketch.picture(300, cell), format).unwrap();
            }
        }
    }
    let done = std::process::Command::new(python)
        .args(["-c", include_str!("tests/read.py")])
        .arg(folder.path())
        .output()
        .expect("Python starts");
    let (said, wrong) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}{wrong}");
    println!("{said}");
}
