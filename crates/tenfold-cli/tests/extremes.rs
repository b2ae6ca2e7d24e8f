//! Numbers, tables and images beyond what anybody has: an error or a warning, never an overflow, a hang, or memory without end.

mod support;

use std::time::{Duration, Instant};
use support::{Place, noise, npy};
use tenfold::cells::Plane;
use tenfold::cells::images::write_plane;

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
        place.fails(&format!("{fit} wide.csv -o m.tenfold"), 3, &["wide.csv", "300000", "more than 262144"]);
    }
    place.write("many.csv", wide(70_000));
    place.fails("trees fit many.csv -o m.tenfold", 3, &["many.csv", "70000 columns, more than 65536"]);
    place.write("old.csv", "from,to\ra,b\rb,c\r");
    place.fails("communities fit old.csv -k 2 -o m.tenfold", 3, &["old.csv, line 1", "carriage returns"]);
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
