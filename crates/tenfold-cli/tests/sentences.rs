//! `tenfold sentences` from files to files.

mod support;

use support::Place;

/// A text whose sentences hold one of two phrases among common words.
fn text(place: &Place, name: &str) {
    let line = |i: usize| {
        let phrase = if i.is_multiple_of(2) { "not so good" } else { "Very, very fine!" };
        format!("w{} w{} {phrase} w{} w{}\n", i * 7 % 11, i * 5 % 13, i * 3 % 17, i % 19)
    };
    place.write(name, (0..600).map(line).collect::<String>());
}

const SMALL: &str = "--dimensions 10 -L 6 --length 3 --min-count 1";

#[test]
fn fitted_encoded_compared_shown_and_reported() {
    let place = Place::new();
    text(&place, "t.txt");
    let fit = place.json(&format!("sentences fit t.txt -o m.tenfold {SMALL}"));
    assert_eq!((&fit["features"], &fit["width"]), (&"templates+mean".into(), &16.into()), "{fit}");
    assert_eq!(fit["diagnostics"]["sentences"], 600);
    assert_eq!(fit["parameters"]["templates"]["learner"], "fourth");

    place.ok("sentences encode m.tenfold t.txt -o x.csv");
    let table = place.text("x.csv");
    assert!(table.starts_with("mean1,mean2,"), "{}", &table[..60]);
    assert!(table.lines().next().unwrap().ends_with("template6"));
    assert_eq!(table.lines().count(), 601);
    for end in ["npy", "tsv", "parquet"] {
        let told = place.json(&format!("sentences encode m.tenfold t.txt --features sif -o x.{end}"));
        assert_eq!((&told["width"], &told["sentences"]), (&10.into(), &600.into()), "{told}");
    }
    // A blank line and strange words are zeros, and keep their places.
    place.write("odd.txt", "not so good\n\nstrangers only\n");
    let told = place.json("sentences encode m.tenfold odd.txt --features mean -o odd.csv");
    assert_eq!((&told["words"], &told["known"]), (&5.into(), &3.into()));
    let rows = place.text("odd.csv");
    let zeros = ["0"; 10].join(",");
    assert_eq!(rows.lines().skip(2).collect::<Vec<_>>(), [&zeros, &zeros]);

    let mut command = place.command("sentences similarity m.tenfold --json");
    let out = command.args(["not so good", "Not so GOOD?"]).output().unwrap();
    let same: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!((same["similarity"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{same}");
    place.write("b.txt", "not so good\nvery fine\nw1\n");
    let lines = place.ok("sentences similarity m.tenfold odd.txt b.txt").out;
    assert_eq!(lines.lines().collect::<Vec<_>>()[..1], ["similarity"]);
    assert_eq!(lines.lines().skip(2).collect::<Vec<_>>(), ["0", "0"]);
    place.ok("sentences similarity m.tenfold odd.txt b.txt --features mean -o s.csv");
    assert_eq!(place.text("s.csv").lines().count(), 4);

    assert!(place.ok("sentences show m.tenfold").out.contains("template 1:"));
    let one = place.json("sentences show m.tenfold 1");
    assert!(!one["phrases"].as_array().unwrap().is_empty(), "{one}");
    assert!(place.ok("sentences show m.tenfold --word good").out.lines().count() == 15);
    place.fails("sentences show m.tenfold 7", 2, &["no template 7", "1 to 6"]);
    place.fails("sentences show m.tenfold --word absent", 2, &["absent"]);
    place.ok("report m.tenfold -o page.html");
    assert!(place.text("page.html").contains(">Templates</h2>"));
}

#[test]
fn motifs_of_single_dimensions_are_templates_too() {
    let place = Place::new();
    text(&place, "t.txt");
    let fit = place.json(&format!("sentences fit t.txt -o m.tenfold {SMALL} --learner motifs --pool 2"));
    assert_eq!(fit["parameters"]["templates"]["learner"], "motifs");
    assert_eq!((&fit["width"], &fit["phrases"].as_array().unwrap().len()), (&22.into(), &6), "{fit}");
    let told = place.json("sentences encode m.tenfold t.txt -o x.csv");
    assert_eq!((&told["width"], &told["sentences"]), (&22.into(), &600.into()), "{told}");
    assert!(place.ok("sentences show m.tenfold").out.contains("template 1:"));
    let fit = "sentences fit t.txt -o n.tenfold --learner motifs";
    place.fails(&format!("{fit} --length 1"), 2, &["length", "two words"]);
    place.ok(&format!("{fit} --dimensions 4 -L 20 --length 3 --min-count 1"));
    assert!(
        place.ok("sentences show n.tenfold").out.contains("20 templates were asked for, but there are 8")
    );
}

#[test]
fn the_same_bytes_on_any_threads_and_from_standard_input() {
    let place = Place::new();
    text(&place, "t.txt");
    for threads in [1, 2, 3] {
        place.ok(&format!("sentences fit t.txt -o m{threads}.tenfold {SMALL} --threads {threads} --seed 5"));
    }
    assert!(place.bytes("m1.tenfold") == place.bytes("m2.tenfold"));
    assert!(place.bytes("m1.tenfold") == place.bytes("m3.tenfold"));
    let run =
        place.run_with(&format!("sentences fit - -o s.tenfold {SMALL} --seed 5"), &place.bytes("t.txt"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(place.bytes("m1.tenfold") == place.bytes("s.tenfold"));
}

#[test]
fn vectors_of_others_are_taken() {
    let place = Place::new();
    text(&place, "t.txt");
    place.write("v.txt", "3 2\nnot 1 0\nso 0 1\ngood 1 1\n");
    let fit = place.json("sentences fit t.txt --vectors v.txt --features mean --no-unit -o m.tenfold");
    assert_eq!((&fit["words"], &fit["dimensions"]), (&3.into(), &2.into()), "{fit}");
    place.write("one.txt", "not so\n");
    place.ok("sentences encode m.tenfold one.txt -o x.csv");
    assert_eq!(place.text("x.csv"), "mean1,mean2\n0.5,0.5\n");
    place.fails("sentences fit t.txt --vectors v.txt --window 3 -o n.tenfold", 2, &["--window", "--vectors"]);
    place.write("other.txt", "not 1 0\nso 0 1 2 3\n");
    place.fails("sentences fit t.txt --vectors other.txt -o n.tenfold", 3, &["other.txt, line 2"]);
    place.write("foreign.txt", "cheval 1 0\n");
    place.fails("sentences fit t.txt --vectors foreign.txt -o n.tenfold", 3, &["none of the words"]);
    assert!(!place.files().contains(&"n.tenfold".to_owned()));
}

#[test]
fn bad_input_is_told_and_nothing_is_left() {
    let place = Place::new();
    text(&place, "t.txt");
    place.write("empty.txt", "");
    place.write("one.txt", "word\n");
    place.write("blank.txt", "\n\n \n");
    place.write("latin.txt", b"fine\ncaf\xe9\n");
    place.write("t.csv", "a,b\n1,2\n");
    place.fails("sentences fit empty.txt -o n.tenfold", 3, &["empty.txt", "is empty"]);
    place.fails("sentences fit one.txt -o n.tenfold", 3, &["too small"]);
    place.fails("sentences fit blank.txt -o n.tenfold", 3, &["too small"]);
    place.fails("sentences fit latin.txt -o n.tenfold", 3, &["latin.txt, line 2", "--encoding latin1"]);
    place.fails("sentences fit t.csv -o n.tenfold", 2, &["t.csv", "one sentence a line"]);
    place.fails("sentences fit missing.txt -o n.tenfold", 3, &["missing.txt"]);
    place.fails("sentences fit t.txt --features mean -L 5 -o n.tenfold", 2, &["--templates", "mean"]);
    place.fails("sentences fit t.txt --sif 0 -o n.tenfold", 2, &["above 0"]);
    place.fails("sentences fit t.txt --stem klingon -o n.tenfold", 2, &["klingon"]);
    place.fails("sentences fit t.txt -o t.txt", 2, &["t.txt"]);
    assert!(!place.files().contains(&"n.tenfold".to_owned()));

    place.ok(&format!("sentences fit t.txt -o m.tenfold --features mean {}", "--dimensions 5 --min-count 1"));
    place.fails("sentences encode m.tenfold t.txt -o x.xls", 2, &["x.xls"]);
    place.fails("sentences encode m.tenfold t.txt --features templates -o x.npy", 3, &["no templates"]);
    place.fails("sentences similarity m.tenfold t.txt none", 2, &["two files"]);
    place.fails("sentences similarity m.tenfold t.txt one.txt", 3, &["600 lines", "1;"]);
    place.write("damaged.tenfold", &place.bytes("m.tenfold")[..2000]);
    place.fails("sentences encode damaged.tenfold t.txt -o x.npy", 3, &["damaged.tenfold"]);
    let warned = place.ok("sentences encode m.tenfold one.txt -o x.npy");
    assert!(warned.err.contains("every row is zeros"), "{}", warned.err);
}
