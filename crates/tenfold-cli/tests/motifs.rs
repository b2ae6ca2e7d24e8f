//! `tenfold motifs` from files to files.

mod support;

use support::Place;

#[test]
fn motifs_are_learned_decoded_and_compared() {
    let place = Place::new();
    place.ok("generate motifs --windows 2000 -L 3 --activity 0.02 --seed 2 -o X.npy");
    let fit = place.json("motifs fit X.npy --cyclic -L 3 --length 16 --seed 2 -o m.tenfold --events E.csv");
    assert_eq!((&fit["motifs"], &fit["columns"]), (&3.into(), &16.into()));
    assert_eq!(fit["parameters"]["solver"], "subspace");
    let near = place.json("motifs evaluate m.tenfold --filters X.filters.npy");
    // As in the library's recovery test: .04 at 10,000 windows, and one over the root of their number.
    assert!(near["filters"]["worst"].as_f64().unwrap() < 0.09, "{near}");
    // Events of the fit are those of infer.
    place.ok("motifs infer m.tenfold X.npy --cyclic -o again.csv --reconstruction R.npy --residual D.npy");
    assert_eq!(place.bytes("E.csv"), place.bytes("again.csv"));
    assert!(place.bytes("E.csv").starts_with(b"time,motif,amplitude,trial\n"));
    assert!(place.bytes("R.npy").len() > 2000 * 64 * 8);
    let found =
        place.json("motifs evaluate m.tenfold --events X.events.csv --signals X.npy --cyclic --tolerance 1");
    // Firings of one motif within half its length, one in six, are merged only where they also look alike.
    assert!(found["events"]["all"]["f1"].as_f64().unwrap() > 0.95, "{found}");
    let shown = place.ok("motifs show m.tenfold --filters F.npy").out;
    assert!(shown.contains("3 motifs of 16 samples"), "{shown}");
    place.ok("report m.tenfold -o page.html");
    assert!(String::from_utf8_lossy(&place.bytes("page.html")).contains("Where they fire"));
}

#[test]
fn bad_input_is_told() {
    let place = Place::new();
    place.ok("generate motifs --windows 40 -L 2 -o X.npy");
    for (line, code, words) in [
        ("motifs fit X.npy -L 2 --length 100 -o m.tenfold", 3, "no stretch"),
        ("motifs fit X.npy -L 60 --length 16 -o m.tenfold", 2, "at most"),
        ("motifs fit X.npy -L 2 --length 16 -o X.npy", 2, "overwritten"),
        ("motifs fit X.npy -L 2 --length 16 -o m.tenfold --events e.txt", 2, ".csv"),
        ("motifs fit X.npy --length 0 -o m.tenfold", 2, "--length"),
    ] {
        place.fails(line, code, &[words]);
    }
    assert!(!place.path("m.tenfold").exists());
    place.write("gap.csv", "a\n1\n2\nNaN\n4\n");
    place.fails("motifs fit gap.csv --length 2 -o m.tenfold", 3, &["--skip-nan"]);
}
