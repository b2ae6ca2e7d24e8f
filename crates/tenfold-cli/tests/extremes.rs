//! Numbers, tables and images beyond what anybody has: an error or a warning, never an overflow, a hang, or memory without end.

mod support;

use std::time::{Duration, Instant};
use support::{Place, noise, npy};
use tenfold::cells::Plane;
use tenfold::cells::images::write_plane;
use tenfold::model_file::{ModelFile, TensorData};

#[test]
fn numbers_that_no_data_hold_are_refused() {
    let place = Place::new();
    place.write("x.npy", npy(&[500, 4], &noise(2000)));
    place.write("cube.npy", npy(&[4, 4, 4], &noise(64)));
    place.write("words.txt", "one two three\nfour five six\n");
    place.write("cells.csv", "image,gene,x,y\na,g,1,2\na,g,3,4\n");
    place.write("edges.txt", "a b\nb c\nc a\n");
    for (arguments, words) in [
        ("motifs fit x.npy -L 1 --length 1000000 -o m", &["length"][..]),
        ("motifs fit cube.npy --layout images -L 1 --length 99999x99999 -o m", &["length"]),
        ("motifs fit cube.npy --layout images -L 1 --length 4294967296x4294967296 -o m", &["length"]),
    ] {
        place.fails(arguments, 3, words);
    }
    for k in ["1000001", "9223372036854775808", "18446744073709551615"] {
        for fit in
            ["topics fit words.txt", "cells fit cells.csv", "communities fit edges.txt", "ica fit x.npy"]
        {
            place.fails(&format!("{fit} -k {k} -o m"), 2, &["at most 1000000"]);
        }
    }
    place.ok("communities fit edges.txt -k 1 -o m.tenfold");
    place.ok("communities show m.tenfold --bridges 18446744073709551615");
}

/// Even ground is a maximum in every pixel, and what single precision leaves of it is no cell.
#[test]
fn an_even_image_has_no_cells_and_takes_no_time() {
    let place = Place::new();
    let even = |x: usize| if x < 480 { 85.0 } else { 16.0 };
    for (name, value) in [("even.png", None), ("two.png", Some(even))] {
        let values = (0..512 * 512).map(|i| value.map_or(85.0, |value| value(i % 512)));
        write_plane(&place.path(name), &Plane::new(512, 512, values.collect())).unwrap();
        let begin = Instant::now();
        place.fails(&format!("cells detect {name} --radius 5 -o cells.csv"), 3, &["no cells"]);
        // It took minutes, by the cube of the side; this is no measurement.
        assert!(begin.elapsed() < Duration::from_secs(60), "{name}");
    }
}

#[test]
fn an_image_unpacks_to_no_more_than_is_allowed() {
    let place = Place::new();
    write_plane(&place.path("large.png"), &Plane::new(2000, 1000, vec![0.0; 2_000_000])).unwrap();
    assert!(place.bytes("large.png").len() < 20_000);
    place.fails(
        "cells detect large.png --max-decompressed 1MB -o cells.csv",
        3,
        &["large.png", "2000 × 1000 pixels", "--max-decompressed"],
    );
    place.fails("cells detect large.png --max-decompressed 2MB -o cells.csv", 3, &["no cells"]);
}

#[test]
fn tables_that_are_no_tables_are_told() {
    let place = Place::new();
    let wide = |columns: usize| format!("a{}\n1{}\n", ",".repeat(columns - 1), ",1".repeat(columns - 1));
    place.write("wide.csv", wide(300_000));
    for fit in ["ica fit", "motifs fit", "topics fit"] {
        place.fails(&format!("{fit} wide.csv -o m.tenfold"), 3, &["wide.csv", "more than 262144 cells"]);
    }
    place.write("many.csv", wide(70_000));
    place.fails("trees fit many.csv -o m.tenfold", 3, &["many.csv", "70000 columns, more than 65536"]);
    place.write("old.csv", "from,to\ra,b\rb,c\r");
    place.fails("communities fit old.csv -k 2 -o m.tenfold", 3, &["old.csv, line 1", "carriage returns"]);
}

/// Squares and fourth powers of these leave the range of double precision.
#[test]
fn values_beyond_squares_are_told_with_their_place() {
    let place = Place::new();
    let mut values = noise(3000);
    values[3 * 41 + 2] = 1e300;
    place.write("high.npy", npy(&[1000, 3], &values));
    let words = ["high.npy: the value 1e300 at row 42, column 3", "too large to be squared", "divide"];
    place.fails("ica fit high.npy -k 2 -o m.tenfold", 3, &words);
    place.fails("ica fit high.npy -k 2 --standardise -o m.tenfold", 3, &words);
    let words = ["high.npy: the value 1e300 in trial 41, channel 0, at sample 2", "fourth power", "divide"];
    place.fails("motifs fit high.npy -L 1 --length 2 -o m.tenfold", 3, &words);
    let tiny: Vec<f64> = noise(3000).iter().map(|x| 1e-200 * x).collect();
    place.write("tiny.npy", npy(&[1000, 3], &tiny));
    let words = ["tiny.npy: the data vary by", "too little to be squared", "multiply"];
    place.fails("ica fit tiny.npy -k 2 -o m.tenfold", 3, &words);
    place.fails("motifs fit tiny.npy -L 1 --length 2 -o m.tenfold", 3, &["tiny.npy: ", "multiply"]);
    place.write("even.npy", npy(&[1000, 3], &[7.0; 3000]));
    place.fails("ica fit even.npy -k 2 -o m.tenfold", 3, &["even.npy: ", "do not vary"]);
}

/// A model with a valid checksum whose numbers cannot be: the library's tests go through all arrays, these hold the exit code.
#[test]
fn spoilt_models_are_bad_input() {
    let place = Place::new();
    place.write("edges.txt", "a b\nb c\nc a\nc d\nd e\ne f\nf d\n");
    place.ok("communities fit edges.txt -k 2 -o c.tenfold");
    let mut file = ModelFile::load(&place.path("c.tenfold")).unwrap();
    if let TensorData::F32(shares) = &mut file.tensors.get_mut("memberships").unwrap().data {
        shares.fill(0.0);
    }
    file.save(&place.path("c.tenfold")).unwrap();
    let words = ["c.tenfold: the array \"memberships\" adds up to 0", "fit the model again"];
    place.fails("communities infer c.tenfold edges.txt -o o.csv", 3, &words);
    place.ok("generate topics --documents 200 --words 30 -k 2 --format ldac --no-mixtures -o .");
    place.ok("topics fit corpus.ldac -k 2 -o t.tenfold");
    let mut file = ModelFile::load(&place.path("t.tenfold")).unwrap();
    file.metadata["representatives"][0] = serde_json::json!([[u64::MAX, 0.9, null]]);
    file.save(&place.path("t.tenfold")).unwrap();
    for command in ["topics show t.tenfold --documents", "report t.tenfold -o o.html"] {
        place.fails(command, 3, &["t.tenfold: its typical documents", "18446744073709551615 of 200"]);
    }
}

#[test]
fn a_cover_is_no_spreadsheet() {
    let place = Place::new();
    place.write("edges.txt", "=1+1 b\nb c\nc =1+1\n");
    place.ok("communities fit edges.txt -k 1 -o m.tenfold --covers ids.txt");
    for name in ["ids.csv", "ids.TSV"] {
        let export = format!("communities export m.tenfold --covers {name}");
        place.fails(&export, 2, &["no table", name, "--members"]);
    }
}

#[test]
fn nothing_is_told_to_be_nothing() {
    let place = Place::new();
    place.write("two.csv", "1,2\n3,4\n");
    place.write("zero.npy", npy(&[4, 4, 4], &[0.0; 64]));
    for (arguments, words) in [
        ("ica fit two.csv -o m.tenfold", "nothing was found"),
        ("tensor decompose zero.npy -o m.tenfold", "nothing was found"),
    ] {
        let run = place.ok(arguments);
        assert!(run.err.contains(words) || run.out.contains(words), "{}{}", run.out, run.err);
    }
}
