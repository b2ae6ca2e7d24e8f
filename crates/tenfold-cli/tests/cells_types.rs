//! `tenfold cells fit`, `infer`, `show`, `evaluate`, `export` and the page, from files to files.

mod support;

use serde_json::Value;
use support::{Place, number};

/// Cells of three types over twenty genes, without images, and a model of them.
fn fitted(options: &str) -> Place {
    let place = Place::new();
    place.ok("generate cells --types 3 --genes 20 --cells 6000 --no-images --seed 2 -o tissue");
    place.ok(&format!("cells fit tissue/truth.csv -k 3 -o m.tenfold {options}"));
    place
}

#[test]
fn types_are_learnt_told_and_used() {
    let place = fitted("");
    let shown = place.json("cells show m.tenfold");
    assert_eq!((&shown["types"], &shown["genes"]), (&3.into(), &20.into()));
    let one = place.ok("cells show m.tenfold 1 --top 5").out;
    assert!(one.starts_with("type 1: ") && one.contains("orientation") && one.lines().count() >= 9, "{one}");
    place.fails("cells show m.tenfold 3", 2, &["no type 3", "0 to 2"]);

    // Known profiles come back: 6,000 cells for 60 numbers.
    let truth = place.json("cells evaluate m.tenfold --truth tissue/profiles.csv");
    assert!(number(&truth["total_variation"]) < 0.1, "{truth}");
    assert_eq!(truth["matches"].as_array().unwrap().len(), 3);

    let told = place.json("cells infer m.tenfold tissue/truth.csv -o types.csv");
    let rows = place.text("types.csv");
    assert!(rows.starts_with("image,gene,x,y,type,probability,type0,type1,type2\n"));
    assert_eq!(rows.lines().count() as f64 - 1.0, number(&told["cells"]));
    let last: Vec<f64> =
        rows.lines().last().unwrap().split(',').skip(5).map(|x| x.parse().unwrap()).collect();
    assert!((last[1..].iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(last[0], last[1..].iter().copied().fold(0.0, f64::max));

    place.ok("cells export m.tenfold --profiles p.csv --features f.csv --histograms h.csv");
    assert!(place.text("p.csv").starts_with("gene,type0,type1,type2\n"));
    assert_eq!(place.text("p.csv").lines().count(), 21);
    assert!(place.text("f.csv").contains("size,0,"));
    // The shares of a type over all bins are one.
    let share = |column: usize| -> f64 {
        let text = place.text("h.csv");
        text.lines().skip(1).map(|row| row.split(',').nth(column).unwrap().parse::<f64>().unwrap()).sum()
    };
    assert!((6..9).all(|column| (share(column) - 1.0).abs() < 1e-9));
    place.ok("report m.tenfold -o page.html");
    assert!(place.text("page.html").contains("3 cell types"));
}

#[test]
fn the_same_model_on_any_number_of_threads() {
    let place = fitted("--threads 1");
    place.ok("cells fit tissue/truth.csv -k 3 -o again.tenfold --threads 3");
    assert_eq!(place.bytes("m.tenfold"), place.bytes("again.tenfold"));
}

/// Counts of single cells that follow the drawn profiles, one type each, as a table of genes × cells.
fn single_cells(place: &Place) {
    let text = place.text("tissue/profiles.csv");
    let mut lines = text.lines();
    let genes: Vec<&str> = lines.next().unwrap().split(',').skip(1).collect();
    let profiles: Vec<Vec<f64>> =
        lines.map(|row| row.split(',').skip(1).map(|x| x.parse().unwrap()).collect()).collect();
    let cells = 60;
    let mut table = String::from("gene");
    (0..cells).for_each(|c| table += &format!("\tcell{c}"));
    for (g, gene) in genes.iter().enumerate() {
        table += &format!("\n{gene}");
        (0..cells).for_each(|c| {
            table += &format!("\t{}", (200.0 * profiles[c % 3][g]).round() as u32 + (c / 3 % 2) as u32)
        });
    }
    place.write("single.tsv", &(table + "\n"));
    let labels: String = (0..cells).map(|c| format!("cell{c}\tkind{}\n", c % 3)).collect();
    place.write("labels.tsv", &labels);
}

#[test]
fn single_cells_judge_types() {
    let place = fitted("");
    single_cells(&place);
    let judged = place.json(
        "cells evaluate m.tenfold --single-cells single.tsv --labels labels.tsv --permutations 19 --tissue tissue/truth.csv \
         --voxels 4 --curve 2,3",
    );
    let figure = |name: &str| number(&judged[name]);
    assert!(
        figure("perplexity") < figure("averaged") && figure("perplexity") < figure("unigram"),
        "{judged}"
    );
    assert_eq!(figure("p_value"), 0.05, "{judged}");
    assert!(figure("adjusted_rand_index") > 0.9, "{judged}");
    let curve: Vec<f64> = judged["curve"].as_array().unwrap().iter().map(|p| number(&p[1])).collect();
    assert!(curve[1] < curve[0], "three types predict better than two: {curve:?}");
    let text = place.ok("cells evaluate m.tenfold --single-cells single.tsv --permutations 9").out;
    assert!(text.contains("permuted cells") && text.contains("p = 0.1"), "{text}");
    let mixtures = place.json("cells infer m.tenfold single.tsv --counts -o mix.csv");
    assert_eq!(mixtures["rows"], 60);
    assert!(place.text("mix.csv").starts_with("cell,type0,type1,type2\ncell0,"));
    place.ok("report m.tenfold --single-cells single.tsv -o page.html");
    assert!(place.text("page.html").contains("Single cells"));
    // Counts are unmixed as they are, too.
    place.ok("cells fit single.tsv --counts -k 3 -o counts.tenfold");
    place.fails("cells infer counts.tenfold tissue/truth.csv -o t.csv", 3, &["plain counts"]);
    place.fails("cells export counts.tenfold --features f.csv", 2, &["no features"]);
}

#[test]
fn images_stand_behind_the_cells_of_the_page() {
    let place = Place::new();
    place.ok("generate cells --types 2 --genes 4 --cells 160 --side 256 --seed 3 -o tissue");
    let images = "tissue/gene0001.png tissue/gene0002.png tissue/gene0003.png tissue/gene0004.png";
    place.ok(&format!("cells detect {images} -o cells.csv --scale 1"));
    place.ok("cells fit cells.csv -k 2 --sizes 3 --intensities 3 -o m.tenfold");
    place.ok(&format!("report m.tenfold --images {images} -o page.html"));
    assert_eq!(place.text("page.html").matches("data:image/png;base64,").count(), 4);
    let told =
        place.json(&format!("cells infer m.tenfold cells.csv -o t.csv --images {images} --overlay drawn"));
    assert_eq!(told["pictures"], 4);
    assert!(place.bytes("drawn/gene0001.png.types.png").starts_with(b"\x89PNG"));
    // Beside the images nothing of theirs is replaced, and no two results have one name.
    let before = place.bytes("tissue/gene0001.png");
    place.ok(&format!("cells infer m.tenfold cells.csv -o t.csv --images {images} --overlay tissue"));
    assert_eq!(place.bytes("tissue/gene0001.png"), before);
    place.fails("cells export m.tenfold --profiles a.csv --features a.csv", 2, &["a.csv", "name of its own"]);
    place.write("map.csv", "1,0,0,0,1,0\n");
    place.write("ring.csv", "x,y\n0,0\n99,0\n99,99\n");
    let detect = "cells detect tissue/gene0001.png --region ring.csv --affine map.csv";
    place.fails(&format!("{detect} -o map.csv"), 2, &["map.csv would be overwritten"]);
    place.fails("cells infer m.tenfold cells.csv -o t.csv --scale 0", 2, &["above 0"]);
    place.write("other.tenfold", "no model");
    place.fails("report other.tenfold -o p.html", 3, &["other.tenfold"]);
}

#[test]
fn bad_input_is_told() {
    let place = fitted("");
    place.fails("cells fit tissue/truth.csv -k 0 -o x.tenfold", 2, &["at least 1"]);
    place.fails("cells fit tissue/truth.csv -k 50 -o x.tenfold", 3, &["50 cell types", "fewer"]);
    place.fails("cells fit tissue/truth.csv -k 2 --sizes 9,4 -o x.tenfold", 2, &["size"]);
    place.fails("cells fit tissue/truth.csv -k 2 --counts --density raw -o x.tenfold", 2, &["--counts"]);
    place.fails("cells fit nowhere.csv -k 2 -o x.tenfold", 3, &["nowhere.csv"]);
    place.fails("cells evaluate m.tenfold", 2, &["--single-cells or --truth"]);
    place.fails("cells export m.tenfold", 2, &["--profiles"]);
    place.write("wrong.tsv", "gene\ta\nnobody\t1\n");
    place.fails(
        "cells evaluate m.tenfold --single-cells wrong.tsv",
        3,
        &["wrong.tsv", "none of the model's genes"],
    );
    place.write("bad.tsv", "gene\ta\tb\ngene0001\t1\tx\n");
    place.fails("cells evaluate m.tenfold --single-cells bad.tsv", 3, &["bad.tsv, line 2", "\"x\""]);
    assert!(!place.path("x.tenfold").exists());
    let told: Value = place.json("cells fit tissue/truth.csv -k auto --max-types 5 -o auto.tenfold");
    assert!((2..=4).contains(&told["types"].as_u64().unwrap()), "{told}");
}
