//! `--checkpoint`: fits that are killed go on to the very bytes of one that was left alone.
#![cfg(unix)]

mod support;

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use support::{Place, Run};

/// The stages that a checkpoint holds, with when they were written: a round takes the place of the one before.
fn stages(place: &Place, folder: &str) -> Vec<(String, std::time::SystemTime)> {
    let entries = std::fs::read_dir(place.path(folder)).into_iter().flatten().flatten();
    let stages = entries.filter(|entry| entry.path().extension().is_some_and(|e| e == "stage"));
    let mut found: Vec<_> = stages
        .filter_map(|entry| {
            Some((entry.file_name().to_string_lossy().into_owned(), entry.metadata().ok()?.modified().ok()?))
        })
        .collect();
    found.sort();
    found
}

fn start(place: &Place, arguments: &str) -> Child {
    let mut command = place.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills the fit as soon as it has kept something more; false when it was done before that.
fn killed(place: &Place, arguments: &str) -> bool {
    let before = stages(place, "kept");
    let mut child = start(place, arguments);
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        let now = stages(place, "kept");
        if now.iter().any(|stage| !before.contains(stage)) {
            child.kill().unwrap();
            let code = child.wait().unwrap().code();
            return code.is_none();
        }
        assert!(begin.elapsed() < Duration::from_secs(600), "{arguments} neither kept anything nor ended");
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

/// Fits once alone and once with kills in between; gives what the last run said.
fn comes_to_the_same_bytes(place: &Place, fit: &str, output: &str, kills: usize) -> Run {
    place.ok(&format!("{fit} -o alone-{output}"));
    let files = place.files();
    let kept = format!("{fit} -o {output} --checkpoint kept");
    let times = (0..kills).filter(|_| killed(place, &kept)).count();
    assert!(times > 0, "{fit}: nothing was kept before it was done");
    assert!(!place.path(output).exists(), "{fit}: killed, but the result is there");
    let last = place.ok(&kept);
    assert!(last.err.contains("taken over from kept: "), "{fit}: {}", last.err);
    assert!(last.err.contains("no longer needed and was removed"), "{fit}: {}", last.err);
    assert!(
        place.bytes(output) == place.bytes(&format!("alone-{output}")),
        "{fit}: other bytes after {times} kills; {}",
        last.err
    );
    // Temporary files of the killed runs may still be there; the next run removes them when they are old enough.
    let now: Vec<String> =
        place.files().into_iter().filter(|name| !name.starts_with(".tenfold-part-")).collect();
    assert_eq!(now.len(), files.len() + 1, "{fit}: the model is new and nothing else: {now:?}");
    last
}

#[test]
fn topics_go_on() {
    let place = Place::new();
    place.ok("generate topics --documents 6000 --words 400 -k 8 --length 60 -o d --no-mixtures");
    comes_to_the_same_bytes(
        &place,
        "topics fit d/docword.txt -k 8 --polish faithful --epochs 60",
        "m.tenfold",
        3,
    );
    comes_to_the_same_bytes(&place, "topics fit d/docword.txt --epochs 6", "n.tenfold", 2);
}

#[test]
fn communities_go_on() {
    let place = Place::new();
    place.ok("generate communities --nodes 9000 --degree 24 -k 8 -o g.txt");
    comes_to_the_same_bytes(&place, "communities fit g.txt", "m.tenfold", 3);
}

#[test]
fn motifs_go_on() {
    let place = Place::new();
    place.ok("generate motifs --windows 1000 -L 3 -o X.npy");
    comes_to_the_same_bytes(&place, "motifs fit X.npy -L 3 --length 12", "m.tenfold", 3);
}

#[test]
fn trees_go_on() {
    let place = Place::new();
    place.ok("generate trees --variables 60 --samples 4000 -o X.csv");
    comes_to_the_same_bytes(&place, "trees fit X.csv --bootstrap 40", "m.tenfold", 3);
}

#[test]
fn cells_and_their_types_go_on() {
    let place = Place::new();
    place.ok("generate cells --genes 2 --side 384 --cells 500 -o t");
    let detect = "cells detect t/gene0001.png t/gene0002.png --radius 5";
    comes_to_the_same_bytes(&place, detect, "cells.csv", 2);
    place.ok("generate cells --types 5 --genes 60 --cells 20000 --no-images -o many");
    comes_to_the_same_bytes(&place, "cells fit many/truth.csv -k auto --max-types 7", "m.tenfold", 3);
}

#[test]
fn sources_go_on() {
    let place = Place::new();
    place.ok("generate ica --samples 60000 --columns 12 -o X.npy");
    let fit = "ica fit X.npy -k 12 --solver power --tolerance 0 --max-iterations 200 --restarts 2";
    comes_to_the_same_bytes(&place, fit, "m.tenfold", 2);
}

#[test]
fn a_model_under_a_name_of_the_checkpoint_stays() {
    let place = Place::new();
    place.ok("generate ica --samples 400 -o X.npy");
    std::fs::create_dir(place.path("kept")).unwrap();
    place.ok("ica fit X.npy -k 2 -o kept/fit.identity --checkpoint kept");
    place.ok("ica show kept/fit.identity");
}

#[test]
fn sentences_go_on() {
    let place = Place::new();
    // Words of ten subjects, common ones more often: numbers by a small generator.
    let mut state = 7u64;
    let mut next = |most: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % most
    };
    let mut text = String::new();
    for _ in 0..3000 {
        let subject = next(10);
        for _ in 0..14 {
            let common = 1 + next(40);
            text += &format!("w{} ", subject * 40 + next(common));
        }
        text += "\n";
    }
    place.write("s.txt", text);
    comes_to_the_same_bytes(&place, "sentences fit s.txt --templates 40", "m.tenfold", 2);
}

#[test]
fn another_fit_and_damaged_files_are_told_and_never_used() {
    let place = Place::new();
    place.ok("generate topics --documents 6000 --words 400 -k 8 --length 60 -o d --no-mixtures");
    place.ok("generate topics --documents 6000 --words 400 -k 8 --length 60 -o e --no-mixtures --seed 5");
    let fit = "topics fit d/docword.txt -k 8 --polish faithful --epochs 60 -o m.tenfold --checkpoint kept";
    assert!(killed(&place, fit));
    // Another seed, other choices, other data: what differs is told, and nothing is touched.
    let held = stages(&place, "kept");
    for (other, told) in [
        (format!("{fit} --seed 3"), "seed 0 there, 3 here"),
        (fit.replace("--epochs 60", "--epochs 61"), "epochs Some(60) there, Some(61) here"),
        (fit.replace("d/", "e/"), "the data are others"),
    ] {
        let run = place.run(&other);
        assert_eq!(run.code, 3, "{other}: {}", run.err);
        let says = run.err.contains("kept holds the checkpoint of another fit") && run.err.contains(told);
        assert!(says && run.err.contains("remove this one"), "{other}: {}", run.err);
        assert_eq!(stages(&place, "kept"), held, "{other}");
    }
    // A damaged stage is thrown away, and the answer is the same.
    for (name, _) in &held {
        let mut bytes = place.bytes(&format!("kept/{name}"));
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x40;
        place.write(&format!("kept/{name}"), bytes);
    }
    let run = place.ok(fit);
    assert!(run.err.contains("warning: thrown away, and `"), "{}", run.err);
    assert!(!run.err.contains("taken over"), "{}", run.err);
    place.ok("topics fit d/docword.txt -k 8 --polish faithful --epochs 60 -o alone.tenfold");
    assert!(place.bytes("m.tenfold") == place.bytes("alone.tenfold"));
    // So is a whole checkpoint whose identity is damaged. Files of others in the folder stay.
    assert!(killed(&place, fit));
    let mut bytes = place.bytes("kept/fit.identity");
    let last = bytes.len() - 1;
    bytes[last] ^= 0x40;
    place.write("kept/fit.identity", bytes);
    place.write("kept/notes.txt", "mine");
    // Files of others under names of ours are refused before the work, and nothing is touched.
    for name in ["kept/lights.stage", "elsewhere/fit.identity"] {
        std::fs::create_dir_all(place.path("elsewhere")).unwrap();
        place.write(name, "cue 1");
        let held = stages(&place, "kept");
        let folder = name.split('/').next().unwrap();
        let run = place.run(&fit.replace("checkpoint kept", &format!("checkpoint {folder}")));
        assert!(run.code == 3 && run.err.contains("give another folder"), "{}: {}", run.code, run.err);
        assert_eq!(stages(&place, "kept"), held);
        assert_eq!(place.bytes(name), b"cue 1");
        std::fs::remove_file(place.path(name)).unwrap();
    }
    let run = place.json(fit);
    assert_eq!(run["checkpoint"]["removed"], true);
    assert_eq!(run["checkpoint"]["taken_over"], serde_json::json!([]));
    assert!(place.bytes("m.tenfold") == place.bytes("alone.tenfold"));
    let left: Vec<_> =
        std::fs::read_dir(place.path("kept")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
    // A checkpoint where no folder can be is an error before the work.
    let run = place.run(&fit.replace("kept", "m.tenfold"));
    assert!(run.code == 1 && run.err.contains("m.tenfold cannot be written"), "{}: {}", run.code, run.err);
}
