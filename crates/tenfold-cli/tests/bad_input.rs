//! Every bad input gets an error that says where and what to do, the right exit code, and leaves no file.

mod support;

use std::io::Write;
use support::{Place, noise, npy};
use tenfold::cells::Plane;
use tenfold::cells::images::write_plane;
use tenfold::engine::linalg::Mat;
use tenfold::output::{Labels, write_labelled};

#[test]
fn data_that_cannot_be_used_say_where() {
    let place = Place::new();
    let mut x = noise(60);
    x[13] = f64::NAN;
    place.write("nan.npy", npy(&[20, 3], &x));
    x[13] = f64::INFINITY;
    place.write("inf.npy", npy(&[20, 3], &x));
    place.write("nan.csv", "a,b\n1,2\n3,NaN\n");
    place.write("word.csv", "a,b\n1,2\n3,four\n");
    place.write("ragged.csv", "a,b\n1,2\n3\n");
    place.write("empty.csv", "");
    place.write("empty.npy", "");
    place.write("header.csv", "a,b\n");
    place.write("cube.npy", npy(&[2, 3, 2], &noise(12)));
    place.write("short.npy", &npy(&[20, 3], &noise(60))[..300]);
    place.write("text.npy", "1,2\n");
    place.write("few.npy", npy(&[3, 4], &noise(12)));
    place.write("flat.csv", "1,2\n1,2\n1,2\n1,2\n");
    for (file, words) in [
        ("nan.npy", &["nan.npy", "row 5", "column c2", "NaN"][..]),
        ("inf.npy", &["row 5", "column c2", "inf"]),
        ("nan.csv", &["nan.csv, line 3", "b"]),
        ("word.csv", &["word.csv, line 3", "four"]),
        ("ragged.csv", &["ragged.csv, line 3"]),
        ("empty.csv", &["empty.csv", "is empty"]),
        ("empty.npy", &["empty.npy", "is empty"]),
        ("header.csv", &["header.csv", "no data"]),
        ("cube.npy", &["3 dimensions", "[2, 3, 2]"]),
        ("short.npy", &["short.npy", "480 bytes"]),
        ("text.npy", &["text.npy", ".npy"]),
        ("few.npy", &["3 samples cannot carry 4 sources"]),
        ("flat.csv", &[]),
        ("missing.npy", &["missing.npy"]),
    ] {
        place.fails(&format!("ica fit {file} -k 4 -o m.tenfold"), 3, words);
    }
    // From disk, where values are met in the middle of the work, all is as from memory.
    let mut big = noise(300_000);
    big[200_000] = f64::NAN;
    place.write("big.npy", npy(&[100_000, 3], &big));
    place.fails("ica fit big.npy -k 2 --on-disk -o m.tenfold", 3, &["row 66667", "column c3", "NaN"]);
}

#[test]
fn wrong_usage_is_told_before_any_work() {
    let place = Place::new();
    place.write("X.csv", "a,b\n1,2\n3,5\n4,1\n0,2\n");
    place.write("X.txt", "1 2\n");
    let files = place.files();
    for (arguments, words) in [
        ("ica fit X.csv -k 0 -o m", &["at least 1"][..]),
        ("ica fit X.csv -k two -o m", &["whole number"]),
        ("ica fit X.csv -k 2", &["--output"]),
        ("ica fit X.csv -k 2 -o none/m.tenfold", &["no folder none"]),
        ("ica fit X.csv -k 2 -o .", &["is a folder"]),
        ("ica fit X.csv -k 2 -o X.csv", &["overwritten"]),
        ("ica fit X.csv -k 2 -o m --sources S.xls", &[".xls", ".parquet"]),
        ("ica fit X.csv -k 2 -o m --sources ./m", &["extension"]),
        ("ica fit X.csv -k 2 -o m.csv --sources ./m.csv", &["overwritten"]),
        ("ica fit X.txt -k 2 -o m", &[".txt", ".csv"]),
        ("ica fit X.csv -k 2 -o m --memory lots", &["GiB"]),
        ("ica fit X.csv -k 2 -o m --batch 7", &["--batch means nothing"]),
        ("ica fit X.csv -k 2 -o m --rate 0.1", &["--rate means nothing"]),
        ("ica fit X.csv -k 2 -o m --solver online --rate fast", &["1/t"]),
        ("ica fit X.csv -k 2 -o m --solver online --restarts 3", &["--restarts means nothing"]),
        (
            "ica fit X.csv -k 2 -o m --solver online --epochs 18446744073709551615",
            &["epochs", "at most 1000000"],
        ),
        ("ica fit X.csv -k 2 -o m --threads 0", &["threads"]),
        ("ica fit X.csv -k 2 -o m --threads 1025", &["threads", "at most 1024"]),
        ("ica fit X.csv -k 2 -o m --threads 60000", &["threads", "at most 1024"]),
        ("ica fitt X.csv", &["fit"]),
        ("generate ica --columns 2 --sources 3 -o Y.npy", &["at most 2"]),
        ("generate ica --samples 99999999999 -o Y.npy", &["GB"]),
        ("generate ica --samples 1000000000000000 -o Y.npy", &["GB", "ask for less"]),
        ("generate ica --samples 18446744073709551615 -o Y.npy", &["GB"]),
        ("generate ica --columns 18446744073709551615 -o Y.npy", &["GB"]),
        // The mixing matrix alone is too large.
        ("generate ica --samples 1 --columns 1000000 -o Y.npy", &["8000 GB"]),
        ("generate tensor --side 3 -k 4 -o T.npy", &["at most 3"]),
        ("generate tensor --side 3 -k 99999999999999 -o T.npy", &["at most 3"]),
        ("generate tensor --side 18446744073709551615 -k 1 -o T.npy", &["GB"]),
        ("generate tensor -o T.csv", &[".npy"]),
    ] {
        place.fails(arguments, 2, words);
    }
    assert_eq!(place.files(), files);
    place.fails("ica fit X.csv -k 2 -o m --columns a,z", 3, &["z"]);
}

#[test]
fn models_that_do_not_fit_are_refused() {
    let place = Place::new();
    place.ok("generate ica --samples 500 --columns 3 -o X.npy");
    place.ok("ica fit X.npy -k 2 -o m.tenfold");
    place.write("two.npy", npy(&[20, 2], &noise(40)));
    place.fails(
        "ica infer m.tenfold two.npy -o S.npy",
        3,
        &["two.npy does not fit m.tenfold", "2 columns where 3 were expected"],
    );
    place.fails("ica infer m.tenfold X.npy --mix-back -o S.npy", 3, &["3 sources where 2 were expected"]);
    place.fails("ica infer m.tenfold X.npy -o m.tenfold", 2, &[".tenfold"]);
    place.fails("ica infer m.tenfold X.npy -o X.npy", 2, &["overwritten"]);
    place.fails("ica evaluate m.tenfold --mixing X.mixing.npy", 3, &["[3, 3]", "[3, 2]"]);
    place.fails("ica show X.npy", 3, &["X.npy"]);
    place.fails("ica show none.tenfold", 3, &["none.tenfold"]);
    let mut bytes = place.bytes("m.tenfold");
    place.write("cut.tenfold", &bytes[..bytes.len() / 2]);
    place.fails("ica show cut.tenfold", 3, &["cut.tenfold"]);
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    place.write("flip.tenfold", &bytes);
    place.fails("ica show flip.tenfold", 3, &["flip.tenfold"]);
}

#[test]
fn columns_are_held_against_those_of_the_fit() {
    let place = Place::new();
    place.ok("generate ica --samples 500 --columns 3 -o X.csv");
    let text = String::from_utf8(place.bytes("X.csv")).unwrap();
    let renamed = |names: &str| text.replacen("c1,c2,c3", names, 1);
    place.write("X.csv", renamed("left,right,top"));
    assert_eq!(place.json("ica fit X.csv -k 3 -o m.tenfold")["column_names"][2], "top");
    place.ok("ica infer m.tenfold X.csv -o S.csv");
    place.write("turned.csv", renamed("right,top,left"));
    place.fails(
        "ica infer m.tenfold turned.csv -o T.csv",
        3,
        &["turned.csv", "another order", "--columns left,right,top"],
    );
    place.write("other.csv", renamed("left,right,bottom"));
    place.fails("ica infer m.tenfold other.csv -o T.csv", 3, &["no column \"top\"", "left,right,top"]);
    let wide = text.replacen("c1,c2,c3", "left,right,top,extra", 1).replace('\n', ",0\n");
    place.write("wide.csv", wide.replacen("extra,0", "extra", 1));
    place.fails("ica infer m.tenfold wide.csv -o T.csv", 3, &["more columns", "--columns left,right,top"]);
    // Chosen by name they are taken as they were chosen; names that do not agree are told.
    let run = place.ok("ica infer m.tenfold wide.csv --columns left,right,top -o T.csv");
    assert!(place.bytes("T.csv") == place.bytes("S.csv") && !run.err.contains("warning"), "{}", run.err);
    let run = place.ok("ica infer m.tenfold other.csv --columns left,right,bottom -o T.csv");
    assert!(place.bytes("T.csv") == place.bytes("S.csv"));
    assert!(run.err.contains("\"bottom\" is taken for \"top\""), "{}", run.err);
    // A table without names has nothing that could disagree, and the way back knows the names.
    place.write("bare.csv", text.split_once('\n').unwrap().1);
    place.ok("ica infer m.tenfold bare.csv -o T.csv");
    place.ok("ica infer m.tenfold S.csv --mix-back -o back.csv");
    assert!(place.bytes("back.csv").starts_with(b"left,right,top\n"));
}

#[test]
fn with_json_an_error_is_one_object_too() {
    let place = Place::new();
    let run = place.fails("ica fit none.npy -k 2 -o m --json", 3, &["none.npy"]);
    let value: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert!(value["error"].as_str().unwrap().contains("none.npy"));
    assert_eq!(value["exit_code"], 3);
}

/// Files that are read beside the one that is named: found there, told in a header, or in a folder.
#[test]
fn no_result_replaces_a_file_that_is_read() {
    let place = Place::new();
    place.write("notes.txt", "planet star orbit rocket moon\ngoal team match player ball\n".repeat(40));
    place.write("stop.txt", "the\nof\n");
    place.write("docword.kos.txt", "2\n3\n4\n1 1 2\n1 2 2\n2 2 2\n2 3 2\n");
    place.write("vocab.kos.txt", "a\nb\nc\n");
    std::fs::create_dir(place.path("letters")).unwrap();
    (0..30)
        .for_each(|i| place.write(&format!("letters/{i}.txt"), format!("planet star orbit word{}", i % 3)));
    place.write("w.hea", "w 1 360 6\nw.dat 16 200 16 0 0 0 0 MLII\n");
    place.write("w.dat", [1, 0, 2, 0, 3, 0, 1, 0, 2, 0, 3, 0]);
    for (command, kept) in [
        ("topics fit notes.txt -k 2 --stop-words stop.txt -o stop.txt", "stop.txt"),
        ("topics fit docword.kos.txt -k 2 -o vocab.kos.txt", "vocab.kos.txt"),
        ("topics fit docword.kos.txt -k 2 --vocabulary vocab.kos.txt -o ./vocab.kos.txt", "vocab.kos.txt"),
        ("topics fit letters -k 2 -o letters/3.txt", "letters/3.txt"),
        ("motifs fit w.hea -L 1 --length 2 -o w.dat", "w.dat"),
        ("motifs fit w.dat -L 1 --length 2 -o w.hea", "w.hea"),
    ] {
        let before = place.bytes(kept);
        place.fails(command, 2, &["would be overwritten", "give -o another name"]);
        assert_eq!(place.bytes(kept), before, "{command}");
    }
    place.fails("topics fit notes.txt -k 2 -o -", 2, &["give the path of one"]);
}

/// A redirected file is behind such a name, and would be replaced.
#[test]
#[cfg(unix)]
fn names_of_open_files_are_devices() {
    let place = Place::new();
    std::os::unix::fs::symlink("/dev/stdout", place.path("link")).unwrap();
    place.ok("generate ica --samples 50 -o X.npy");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"] {
        place.fails(&format!("ica fit X.npy -k 2 -o {name}"), 2, &["is a device"]);
    }
}

/// A quarter of a megabyte in a few hundred bytes, to every application.
#[test]
fn packed_files_end_where_the_user_says() {
    let place = Place::new();
    for (packing, ending) in [("gzip", "gz"), ("zstd", "zst")] {
        let bomb = format!("{}/../../fuzz/seeds/{packing}/bomb", env!("CARGO_MANIFEST_DIR"));
        let bomb = std::fs::read(bomb).unwrap();
        place.write(&format!("x.csv.{ending}"), &bomb);
        place.write(&format!("x.txt.{ending}"), &bomb);
        for command in [
            "topics fit x.txt -k 2",
            "ica fit x.csv -k 1",
            "communities fit x.txt -k 2",
            "motifs fit x.csv -L 1 --length 2",
            "trees fit x.csv -k 2",
            "sentences fit x.txt",
            "cells fit x.csv -k 2",
        ] {
            let command = command.replace("x.csv", &format!("x.csv.{ending}"));
            let command = command.replace("x.txt", &format!("x.txt.{ending}"));
            let words = ["unpacks to more than 10000 bytes", "raise --max-decompressed"];
            place.fails(&format!("{command} -o m.tenfold --max-decompressed 10kB"), 3, &words);
        }
    }
}

/// Parquet is packed too: the same row again and again.
#[test]
fn packed_columns_end_where_the_user_says() {
    let place = Place::new();
    let text = |name| Labels { name, of: &|_| "twenty bytes of text".into() };
    let names = ["x", "y"].map(String::from);
    let rows = Mat::from_fn(5000, 2, |_, _| 1.0);
    write_labelled(&place.path("t.parquet"), &[text("image"), text("gene")], &names, &rows).unwrap();
    write_labelled(&place.path("n.parquet"), &[], &names, &rows).unwrap();
    assert!(place.bytes("t.parquet").len() < 30_000);
    for command in [
        "topics fit t.parquet -k 2 --text-column gene",
        "ica fit t.parquet -k 1 --columns x,y",
        "communities fit t.parquet -k 2 --from image --to gene",
        "motifs fit n.parquet -L 1 --length 2",
        "trees fit t.parquet -k 2",
        "trees fit t.parquet -k 2 --sample image --code gene",
        "cells fit t.parquet -k 2",
    ] {
        let words = ["unpacks to more than 30000 bytes", "raise --max-decompressed"];
        place.fails(&format!("{command} -o m.tenfold --max-decompressed 30kB"), 3, &words);
    }
}

/// Tables beside the data: groups, known trees and events, counts of single cells, vectors of words, regions and maps.
#[test]
fn packed_files_beside_the_data_end_where_the_user_says() {
    let place = Place::new();
    let pack = |name: &str, head: &str, line: &dyn Fn(usize) -> String| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        let lines: String = (0..20_000).map(line).collect();
        gz.write_all(head.as_bytes()).and_then(|()| gz.write_all(lines.as_bytes())).unwrap();
        place.write(name, gz.finish().unwrap());
    };
    pack("g.csv.gz", "code,group\n", &|_| "a,b\n".into());
    pack("t.nwk.gz", "", &|_| "(x1,x2);\n".into());
    pack("e.csv.gz", "sample,trial\n", &|i| format!("{i},0\n"));
    pack("c.csv.gz", "gene,cell\n", &|i| format!("g{i},1\n"));
    pack("v.txt.gz", "", &|i| format!("w{i} 1 2\n"));
    pack("genes.csv.gz", "image,gene\n", &|i| format!("{i}.png,G\n"));
    pack("stop.txt.gz", "", &|i| format!("s{}\n", i % 9));
    // These are told by their names, and unpacked by what they hold.
    pack("r.csv", "x,y\n", &|i| format!("{i},{}\n", i % 7));
    pack("maps.csv", "image,a,b,c,d,e,f\n", &|i| format!("{i},1,0,0,0,1,0\n"));
    let visits: String = (0..400).map(|i| format!("{},c{}\n", i / 4, i % 5)).collect();
    place.write("visits.csv", format!("patient,code\n{visits}"));
    place.write("groups.csv", "code,group\nc0,A\nc1,A\nc2,B\nc3,B\nc4,B\n");
    place.write("s.txt", "planet star orbit rocket moon\ngoal team match player ball\n".repeat(60));
    place.write("around.csv", "x,y\n0,0\n9,0\n9,9\n");
    write_plane(&place.path("a.png"), &Plane::new(16, 16, (0..256).map(|i| (i % 200) as f32).collect()))
        .unwrap();
    place.ok("generate trees --variables 6 --samples 600 -o T.csv");
    place.ok("trees fit T.csv --bootstrap 0 -o r.tenfold");
    place.ok("generate motifs --windows 300 --samples 24 -L 2 --length 5 -o X.npy");
    place.ok("motifs fit X.npy -L 2 --length 5 -o m.tenfold");
    place.ok("generate cells --types 2 --genes 20 --cells 1500 --no-images -o t");
    place.ok("cells fit t/truth.csv -k 2 -o l.tenfold");
    for command in [
        "trees fit visits.csv --events --groups g.csv.gz -o n.tenfold",
        "trees fit visits.csv --events --groups groups.csv --descriptions g.csv.gz -o n.tenfold",
        "trees evaluate r.tenfold t.nwk.gz",
        "trees evaluate r.tenfold --groups-of g.csv.gz",
        "motifs evaluate m.tenfold --events e.csv.gz --signals X.npy",
        "cells evaluate l.tenfold --single-cells c.csv.gz",
        "cells evaluate l.tenfold --truth c.csv.gz",
        "cells infer l.tenfold c.csv.gz --counts -o n.csv",
        "sentences fit s.txt --vectors v.txt.gz --features mean -o n.tenfold",
        "topics fit s.txt -k 2 --stop-words stop.txt.gz -o n.tenfold",
        "cells detect a.png --genes genes.csv.gz -o n.csv",
        "cells detect a.png --region r.csv -o n.csv",
        "cells detect a.png --region around.csv --affine maps.csv -o n.csv",
    ] {
        let words = ["unpacks to more than 10000 bytes", "raise --max-decompressed"];
        place.fails(&format!("{command} --max-decompressed 10kB"), 3, &words);
    }
}
