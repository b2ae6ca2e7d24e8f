//! Models with a valid checksum whose numbers cannot be: what the mathematics excludes is refused when the file is read, naming the array
//! and what to do, and what it allows ends in numbers or in an error when the model is used.

mod input_files;
#[path = "readers/mod.rs"]
mod readers;

use input_files::folder;
use serde_json::json;
use std::path::Path;
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Silent;
use tenfold::model_file::{ModelFile, TensorData};

/// The kept model of this kind.
fn golden(kind: &str) -> ModelFile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/0.1.0").join(kind);
    ModelFile::load(&path.join("model.tenfold")).unwrap()
}

/// Changes every number of an array.
fn each(file: &mut ModelFile, name: &str, change: impl Fn(f64) -> f64) {
    match &mut file.tensors.get_mut(name).unwrap_or_else(|| panic!("{name}")).data {
        TensorData::F64(x) => x.iter_mut().for_each(|x| *x = change(*x)),
        TensorData::F32(x) => x.iter_mut().for_each(|x| *x = change(f64::from(*x)) as f32),
        TensorData::U8(_) => panic!("{name} holds no numbers"),
    }
}

/// Changes one number of an array.
fn one(file: &mut ModelFile, name: &str, at: usize, value: f64) {
    match &mut file.tensors.get_mut(name).unwrap_or_else(|| panic!("{name}")).data {
        TensorData::F64(x) => x[at] = value,
        TensorData::F32(x) => x[at] = value as f32,
        TensorData::U8(_) => panic!("{name} holds no numbers"),
    }
}

type Load = fn(&[u8]) -> tenfold::Result<()>;

const KINDS: [(&str, Load); 7] = [
    ("ica", |bytes| tenfold::ica::Model::from_bytes(bytes).map(drop)),
    ("topics", |bytes| tenfold::topics::Model::from_bytes(bytes).map(drop)),
    ("communities", |bytes| tenfold::communities::Model::from_bytes(bytes).map(drop)),
    ("motifs", |bytes| tenfold::motifs::Model::from_bytes(bytes).map(drop)),
    ("sentences", |bytes| tenfold::sentences::Model::from_bytes(bytes).map(drop)),
    ("trees", |bytes| tenfold::trees::Model::from_bytes(bytes).map(drop)),
    ("cells", |bytes| tenfold::cells::Model::from_bytes(bytes).map(drop)),
];

/// What loading says of a kept model that was changed.
fn refused(kind: &str, change: impl Fn(&mut ModelFile)) -> String {
    let mut file = golden(kind);
    change(&mut file);
    let bytes = file.to_bytes().unwrap();
    let error = match kind {
        "tensor" => {
            tenfold::model_file::Factors::from_file(&ModelFile::from_bytes(&bytes).unwrap()).map(drop)
        }
        _ => KINDS.iter().find(|(name, _)| *name == kind).unwrap().1(&bytes),
    };
    let said = error.expect_err("such a model is refused").to_string();
    assert!(said.starts_with("(model in memory): ") && said.contains("again"), "{said}");
    said
}

#[test]
fn arrays_that_cannot_be_are_refused_by_name() {
    // The kind, the array, and what becomes of all its numbers.
    type Change = fn(f64) -> f64;
    let all: &[(&str, &str, Change)] = &[
        ("topics", "topics", |_| 0.0),
        ("topics", "topics", |x| -x),
        ("topics", "alpha", |x| 1e300 * x),
        ("topics", "alpha", |x| -x),
        ("topics", "shares", |x| 2.0 * x),
        ("topics", "unigram", |x| 1e-150 * x),
        ("topics", "correlations", |x| 3.0 * x),
        ("topics", "coherence", |_| 1e308),
        ("topics", "moments.scale", |x| -x),
        ("communities", "memberships", |_| -0.0),
        ("communities", "memberships", |x| 1e-30 * x),
        ("communities", "shares", |_| 0.0),
        ("communities", "connectivity", |x| -x),
        ("communities", "strengths", |_| 1e308),
        ("communities", "explained", |x| -x),
        ("communities", "confidence", |x| x + 1.0),
        ("ica", "mixing", |x| 1e200 * x),
        ("motifs", "filters", |x| 1e150 * x),
        ("motifs", "weights", |x| -x),
        ("motifs", "floors", |_| -1.0),
        ("sentences", "frequencies", |x| -x),
        ("sentences", "sif_weights", |x| 1e300 * x),
        ("sentences", "common", |x| 1e150 * x),
        ("trees", "tables", |_| -1e308),
        ("trees", "tables", |_| 0.0),
        ("trees", "means", |x| 3.0 * x),
        ("cells", "profiles", |_| 0.0),
        ("cells", "memberships", |x| 1e-150 * x),
        ("cells", "weights", |_| 0.0),
        ("cells", "totals", |_| 1e308),
        ("tensor", "factors", |x| 1e300 * x),
        ("tensor", "weights", |_| 1e308),
    ];
    for (kind, name, change) in all {
        let said = refused(kind, |file| each(file, name, change));
        assert!(said.contains(&format!("\"{name}\"")), "{kind}, {name}: {said}");
    }
    let said = refused("trees", |file| one(file, "tables", 1, -1e308));
    assert!(said.contains("\"tables\""), "{said}");
}

#[test]
fn numbers_that_no_document_or_firing_has_are_refused() {
    for number in [json!(u64::MAX), json!(-1), json!(150), json!("x")] {
        let said = refused("topics", |file| {
            file.metadata["representatives"][0] = json!([[number.clone(), 0.5, null]]);
        });
        assert!(said.contains(&format!("the number {number} of 150")), "{said}");
    }
    for (column, value) in [(0, 1e308), (1, -1e308), (2, 1e308), (2, 0.5), (3, 2.0)] {
        let said = refused("motifs", |file| one(file, "events", column, value));
        assert!(said.contains("excerpt"), "{said}");
    }
    // Counts of whatever size are no reason to overflow.
    for (kind, load) in KINDS {
        let mut file = golden(kind);
        let mut facts = vec![&mut file.metadata];
        while let Some(fact) = facts.pop() {
            match fact {
                serde_json::Value::Number(n) if n.is_u64() => *fact = json!(u64::MAX),
                // Shapes must fit the arrays.
                serde_json::Value::Object(map) => facts.extend(
                    map.iter_mut()
                        .filter(|(name, _)| {
                            let shapes = ["rows", "columns", "bins", "templates", "recipe", "picture"];
                            !shapes.contains(&name.as_str()) && *name != "representatives"
                        })
                        .map(|(_, fact)| fact),
                ),
                serde_json::Value::Array(list) => facts.extend(list),
                _ => {}
            }
        }
        if kind == "topics" {
            file.metadata["representatives"] = json!([]);
        }
        load(&file.to_bytes().unwrap()).unwrap_or_else(|e| panic!("{kind}: {e}"));
        used(kind, &file);
    }
}

/// Uses a model as the fuzzers do, which panics where something is no number; whether it loads.
fn used(kind: &str, file: &ModelFile) -> bool {
    let folder = folder();
    let path = folder.path().join("x.tenfold");
    file.save(&path).unwrap();
    (readers::find(&format!("model-{kind}")).unwrap().check)(&path)
}

#[test]
fn kept_models_are_sound_and_can_be_used() {
    for kind in KINDS.iter().map(|(kind, _)| *kind).chain(["tensor"]) {
        assert!(used(kind, &golden(kind)), "{kind}");
    }
}

#[test]
fn legal_numbers_beyond_the_range_end_in_an_error() {
    let mut file = golden("ica");
    one(&mut file, "mean", 1, 1e308);
    each(&mut file, "unmixing", |x| 10.0 * x);
    let model = tenfold::ica::Model::from_bytes(&file.to_bytes().unwrap()).unwrap();
    let said = model.infer(&Mat::zeros(2, 3)).unwrap_err().to_string();
    assert!(said.contains("the sources come out as") && said.contains("fit the model again"), "{said}");
    let mut out = [0.0; 6];
    let rows = Mat::zeros(2, 3);
    use tenfold::engine::linalg::Rows;
    assert!(model.sources(&rows).unwrap().read_rows(0, &mut out).is_err());

    let mut file = golden("sentences");
    each(&mut file, "vectors", |x| 1e308_f64.copysign(x));
    let model = tenfold::sentences::Model::from_bytes(&file.to_bytes().unwrap()).unwrap();
    let words = model.vocabulary()[..8].join(" ");
    let said = model.encode(&[words.as_str()]).unwrap_err().to_string();
    assert!(said.contains("numbers of sentences come out as"), "{said}");
    let near = model.neighbours(&model.vocabulary()[0], 3).unwrap();
    assert!(near.iter().all(|(_, alike)| alike.abs() <= 1.0), "{near:?}");

    // Communities that nobody is joined by, or by next to nothing.
    for (by, dense) in [(0.0, true), (1e-150, true), (1e-300, true), (1e150, true), (1e-300, false)] {
        let mut file = golden("communities");
        each(&mut file, "connectivity", |x| by * x);
        file.metadata["diagnostics"]["dense"] = json!(dense);
        let model = tenfold::communities::Model::from_bytes(&file.to_bytes().unwrap()).unwrap();
        if let Ok(found) = model.infer(&[(0, 1.0), (7, 1.0)]) {
            let sum: f64 = found.iter().sum();
            assert!((sum - 1.0).abs() < 1e-5, "{by:e}: {found:?}");
        }
    }
}

/// Impossible values of one variable and means beyond the range of another, in a network as a file may hold it.
#[test]
fn a_tree_with_means_beyond_the_range_tells_no_probabilities() {
    use tenfold::trees::{Emission, Kind, Network, Node, Table, Variable};
    let variable = |name: &str, kind, labels: &[&str]| Variable {
        name: name.into(),
        kind,
        labels: labels.iter().map(|l| (*l).to_owned()).collect(),
    };
    let variables = vec![variable("x", Kind::Real, &["x"]), variable("y", Kind::Category, &["a", "b"])];
    let network = |mean: f64, variance: f64| Network {
        nodes: vec![Node { place: 2, parent: None, table: Mat::from_vec(2, 1, vec![0.5, 0.5]) }],
        emissions: vec![
            Emission { node: 0, mean: Mat::from_vec(1, 2, vec![mean, 0.9 * mean]), variance: vec![variance] },
            Emission { node: 0, mean: Mat::from_vec(1, 2, vec![0.0, 1.0]), variance: vec![] },
        ],
    };
    let mut table = Table::new(variables).unwrap();
    table.push(&[(0, 1.0), (1, 1.0)], &[]);
    let sound = network(5.0, 1.0);
    assert!(sound.posterior(&table, 0..1).is_ok() && sound.log_likelihood(&table, &Silent).is_ok());
    let far = network(1.7e308, 1e-300);
    let said = far.posterior(&table, 0..1).unwrap_err().to_string();
    assert!(said.contains("probabilities of hidden states"), "{said}");
    assert!(far.log_likelihood(&table, &Silent).is_err());
}
