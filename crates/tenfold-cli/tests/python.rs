//! The model file is read from Python without tenfold, as the README shows it.

mod support;

use std::process::Command;
use support::Place;

const SCRIPT: &str = r#"
import json, sys
import numpy as np
from safetensors import safe_open
with safe_open("m.tenfold", framework="numpy") as model:
    unmixing, mixing, mean = (model.get_tensor(n) for n in ("unmixing", "mixing", "mean"))
    facts = json.loads(model.metadata()["tenfold"])
X, S = np.load("X.npy"), np.load("S.npy")
assert np.allclose((X - mean) @ unmixing.T, S, atol=1e-9)
assert np.allclose(S @ mixing.T + mean, X, atol=1e-9)
assert facts["parameters"]["seed"] == 4, facts
T = np.load("T.npy")
with safe_open("T.truth.tenfold", framework="numpy") as truth:
    weights, factors = truth.get_tensor("weights"), truth.get_tensor("factors")
assert np.allclose(np.einsum("r,ir,jr,kr,lr->ijkl", weights, *[factors] * 4), T)
with safe_open("topics.tenfold", framework="numpy") as model:
    topics, alpha = model.get_tensor("topics"), model.get_tensor("alpha")
    vocabulary = bytes(model.get_tensor("vocabulary")).decode().split("\n")
    spectrum = model.get_tensor("spectrum")
assert topics.shape == (3, 200) and alpha.shape == (3,) and len(spectrum) >= 3
assert np.allclose(topics.sum(axis=1), 1.0) and (topics >= 0).all()
assert vocabulary[:2] == ["w00000", "w00001"] and len(vocabulary) == 200, vocabulary[:3]
print("read")
"#;

#[test]
fn model_files_are_read_from_python() {
    let Ok(python) = std::env::var("TENFOLD_TEST_PYTHON") else {
        let strict = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(!strict, "CI=true, and TENFOLD_TEST_PYTHON is not set: run `cargo xtask test`");
        println!("skipped: TENFOLD_TEST_PYTHON is not set; run `cargo xtask test`, which makes that Python");
        return;
    };
    let place = Place::new();
    place.ok("generate ica --samples 2000 --columns 3 -o X.npy");
    place.ok("ica fit X.npy -k 3 --seed 4 -o m.tenfold --sources S.npy");
    place.ok("generate tensor --order 4 --side 4 -k 3 -o T.npy");
    place.ok("generate topics --documents 500 --words 200 -k 3 -o d");
    place.ok("topics fit d/docword.txt -k 3 -o topics.tenfold");
    place.write("read.py", SCRIPT);
    let output = Command::new(python).arg("read.py").current_dir(place.path("")).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout.starts_with(b"read"), "{told}");
}
