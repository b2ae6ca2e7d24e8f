//! `tenfold generate cells` and `tenfold cells detect`, from files to files.

mod support;

use support::{Place, npy, number};

/// A small tissue of three genes, 256 × 256 pixels each.
fn tissue(options: &str) -> Place {
    let place = Place::new();
    place.ok(&format!(
        "generate cells --types 2 --genes 3 --cells 90 --side 256 --seed 5 {options} -o tissue"
    ));
    place
}

#[test]
fn drawn_tissue_comes_with_its_truth_and_is_found_again() {
    let place = tissue("");
    let truth = place.text("tissue/truth.csv");
    assert!(
        truth.starts_with("image,gene,x,y,r1,r2,orientation,intensity,neighbours\ngene0001.png,gene0001,")
    );
    let cells = truth.lines().count() - 1;
    assert_eq!(place.text("tissue/types.csv").lines().count() - 1, cells);
    assert_eq!(place.text("tissue/profiles.csv").lines().count(), 3);
    let settings: serde_json::Value = serde_json::from_str(&place.text("tissue/settings.json")).unwrap();
    assert_eq!(settings["types"].as_array().unwrap().len(), 2);
    let images = "tissue/gene0001.png tissue/gene0002.png tissue/gene0003.png";
    let found = place.json(&format!("cells detect {images} -o cells.csv --overlay pictures --scale 1"));
    let told: f64 = found["images"].as_array().unwrap().iter().map(|i| number(&i["cells"])).sum();
    assert_eq!(told, number(&found["cells"]));
    assert_eq!(place.text("cells.csv").lines().count() as f64 - 1.0, told);
    // Counts of drawn tissue are within a tenth; the detector's own tests hold it to more.
    assert!((told / cells as f64 - 1.0).abs() < 0.1, "{told} of {cells}");
    assert!(place.bytes("pictures/gene0001.png.cells.png").starts_with(b"\x89PNG"));
    // The same on one thread and on three, and with Parquet in between.
    place.ok(&format!("cells detect {images} -o again.csv --scale 1 --threads 1"));
    assert_eq!(place.bytes("cells.csv"), place.bytes("again.csv"));
    place.ok(&format!("cells detect {images} -o cells.parquet --scale 1 --threads 3"));
    place.ok("cells detect cells.parquet -o through.csv --scale 1");
    assert_eq!(place.bytes("cells.csv"), place.bytes("through.csv"));
    let shown = place.ok("cells detect tissue/gene0001.png -o one.csv").out;
    assert!(shown.contains("gene0001.png (gene0001): ") && shown.contains("light on dark"), "{shown}");
}

#[test]
fn one_crowded_image_goes_with_the_others() {
    let place = Place::new();
    place.ok("generate cells --types 4 --genes 16 --side 256 --seed 0 -o tissue");
    // The image of gene 8 is full of cells: by itself it is taken for dark spots on light ground.
    let images = "tissue/gene0008.png tissue/gene0009.png tissue/gene0010.png tissue/gene0013.png";
    let found = place.json(&format!("cells detect {images} -o cells.csv --scale 1"));
    assert!(
        found["images"].as_array().unwrap().iter().all(|image| image["dark_on_light"] == false),
        "{found}"
    );
}

#[test]
fn dark_cells_are_the_same_cells() {
    let (light, dark) = (tissue("--noise 4"), tissue("--noise 4 --dark"));
    let count = |place: &Place| number(&place.json("cells detect tissue/gene0001.png -o c.csv")["cells"]);
    let (light, dark_count) = (count(&light), count(&dark));
    assert!((light - dark_count).abs() <= 2.0, "{light} {dark_count}");
    assert_eq!(dark.json("cells detect tissue/gene0001.png -o c.csv")["images"][0]["dark_on_light"], true);
}

#[test]
fn genes_come_from_names_folders_and_tables() {
    let place = Place::new();
    place.write("points_7.csv", "image,x,y\nGad1_a.png,1,2\nGad1_a.png,3,4\nSst_b.png,5,6\n");
    let read = place.json("cells detect points_7.csv -o out.csv --neighbour-radius 3");
    assert_eq!((&read["cells"], &read["genes"]), (&3.into(), &2.into()));
    assert_eq!(read["images"][0]["known"], serde_json::json!([]));
    let out = place.text("out.csv");
    assert!(out.contains("Gad1_a.png,Gad1_a.png,1,2,NaN,NaN,NaN,NaN,1"), "{out}");
    let place = tissue("");
    for (options, gene) in [("", "gene0002"), ("--gene-from folder", "tissue"), ("--genes map.csv", "Pvalb")]
    {
        place.write("map.csv", "image,gene\ngene0002.png,Pvalb\n");
        let found = place.json(&format!("cells detect tissue/gene0002.png -o c.csv {options}"));
        assert_eq!(found["images"][0]["gene"], gene);
    }
    place.fails(
        "cells detect tissue/gene0001.png -o d.csv --genes map.csv",
        3,
        &["map.csv", "gene0001.png,GENE"],
    );
}

#[test]
fn regions_and_maps_select() {
    let place = Place::new();
    let points: String = (0..100).map(|i| format!("a.png,A,{},{}\n", i % 10, i / 10)).collect();
    place.write("p.csv", format!("image,gene,x,y\n{points}"));
    place.write("square.csv", "x,y\n2,2\n5,2\n5,4\n2,4\n");
    let count = |line: &str| number(&place.json(&format!("cells detect p.csv -o out.csv {line}"))["cells"]);
    assert_eq!(count(""), 100.0);
    assert_eq!(count("--region square.csv"), 12.0, "with its edges");
    assert_eq!(count("--region square.csv --affine 0.5,0,0,0,0.5,0"), 30.0);
    place.write("maps.csv", "image,a,b,c,d,e,f\na.png,1,0,-3,0,1,0\n");
    assert_eq!(count("--region square.csv --affine maps.csv"), 12.0);
    place.fails(
        "cells detect p.csv -o x.csv --region square.csv --affine 1,0,99,0,1,0",
        3,
        &["none of the 100 cells", "--affine"],
    );
    place.fails("cells detect p.csv -o x.csv --region square.csv --affine 1,2", 2, &["six"]);
    place.fails("cells detect p.csv -o x.csv --affine 1,0,0,0,1,0", 2, &["--region"]);
}

#[test]
fn masks_of_other_programs_are_measured() {
    let place = tissue("");
    // Two squares.
    let labels: Vec<f64> = (0..256 * 256)
        .map(|i| match (i % 256, i / 256) {
            (20..30, 40..50) => 1.0,
            (100..140, 60..70) => 7.0,
            _ => 0.0,
        })
        .collect();
    std::fs::create_dir(place.path("labels")).unwrap();
    place.write("labels/gene0001_masks.npy", npy(&[256, 256], &labels));
    let found = place.json("cells detect tissue/gene0001.png --masks labels -o c.csv");
    assert_eq!(found["cells"], 2);
    let out = place.text("c.csv");
    assert!(out.lines().nth(1).unwrap().starts_with("gene0001.png,gene0001,24.5,44.5,5.77"), "{out}");
    place.fails(
        "cells detect tissue/gene0002.png --masks labels -o d.csv",
        3,
        &["no mask for", "gene0002.tif"],
    );
    place.write("small.npy", npy(&[4, 4], &[1.0; 16]));
    place.fails("cells detect tissue/gene0001.png --masks small.npy -o d.csv", 3, &["4 × 4", "256 × 256"]);
}

#[test]
fn bad_input_is_told() {
    let place = tissue("");
    place.write("broken.png", &place.bytes("tissue/gene0001.png")[..500]);
    place.write("empty.png", "");
    place.write("words.png", "no image at all");
    place.write("t.csv", "gene,x,y\nA,1,2\nA,one,2\n");
    for (line, code, words) in [
        ("cells detect broken.png -o c.csv", 3, &["broken.png", "PNG"][..]),
        ("cells detect empty.png -o c.csv", 3, &["is empty"]),
        ("cells detect words.png -o c.csv", 2, &["PNG, JPEG and TIFF"]),
        ("cells detect none.png -o c.csv", 3, &["no such file"]),
        ("cells detect t.csv -o c.csv", 3, &["line 3", "\"one\""]),
        ("cells detect tissue/gene0001.png -o c.doc", 2, &[".parquet"]),
        ("cells detect tissue/gene0001.png tissue/gene0001.png -o c.csv", 2, &["twice"]),
        ("cells detect tissue/gene0001.png -o c.csv --stain 3", 3, &["channel"]),
        ("cells detect tissue/gene0001.png -o c.csv --radius 0", 2, &["above 0"]),
        (
            "cells detect tissue/gene0001.png -o c.csv --region tissue/gene0001.png --affine 0,0,0,0,0,0",
            2,
            &["line or a point"],
        ),
    ] {
        place.fails(line, code, words);
    }
    place.write("zero.npy", npy(&[256, 256], &vec![0.0; 256 * 256]));
    place.fails("cells detect tissue/gene0001.png -o c.csv --masks zero.npy", 3, &["no cells", "--polarity"]);
    let warned = place.run("cells detect tissue/gene0001.png -o c.csv --scale 0.01");
    assert!(warned.code == 0 && warned.err.contains("is the scale in µm"), "{}", warned.err);
}
