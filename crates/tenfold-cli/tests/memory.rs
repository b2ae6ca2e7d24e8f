//! `--memory` and the estimate, for every application at a small size; `cargo xtask trust memory` has the large ones.
#![cfg(target_os = "linux")]

mod support;

use serde_json::Value;
use std::process::{Command, Output};
use support::Place;

const MB: f64 = 1e6;

/// A fit with `--memory` under a hard limit a tenth above it: one allocation more would end it.
fn limited(place: &Place, fit: &str, bound: f64) -> Output {
    let limit = (1.1 * bound) as u64 / 1024;
    Command::new("sh")
        .args(["-c", &format!("ulimit -d {limit} && exec \"$@\""), "sh", env!("CARGO_BIN_EXE_tenfold")])
        .args(fit.split_whitespace())
        .args(["--memory", &(bound as u64).to_string(), "--json", "--quiet", "--threads", "2"])
        .current_dir(place.path(""))
        .output()
        .unwrap()
}

/// A fit is told beforehand within a quarter, keeps a bound that is just enough for it, and is refused where there is too little.
fn holds(place: &Place, fit: &str) {
    let run = place.ok(&format!("{fit} --json --threads 2"));
    let told: Value = serde_json::from_str(&run.out).unwrap();
    let number =
        |value: &Value, key: &str| value["memory"][key].as_f64().unwrap_or_else(|| panic!("{key}: {value}"));
    let (estimate, peak) = (number(&told, "estimate"), number(&told, "peak"));
    assert!(
        (estimate / peak - 1.0).abs() < 0.25,
        "{fit}: {:.1} MB expected, {:.1} MB taken",
        estimate / MB,
        peak / MB
    );
    assert!(told["memory"]["bound"].is_null(), "{told}");
    let bound = 1.1 * estimate.max(peak);
    let kept = limited(place, fit, bound);
    assert!(kept.status.success(), "{fit}: {}", String::from_utf8_lossy(&kept.stderr));
    let told: Value = serde_json::from_slice(&kept.stdout).unwrap();
    assert!(number(&told, "peak") <= 1.1 * bound, "{fit}: {told}");
    assert_eq!(number(&told, "bound"), bound.floor());
    // A megabyte is less than the program itself.
    let refused = place.run(&format!("{fit} --memory 1MB"));
    assert_eq!(refused.code, 2, "{fit}: {}", refused.err);
    assert!(
        refused.err.contains("and --memory allows 1 MB") && refused.err.contains("--memory "),
        "{}",
        refused.err
    );
}

/// What a fit that is told so expects, takes, and was advised, by raising the bound as it is told to from a small one on. No run that is
/// accepted may take more than a tenth beyond its bound.
fn follows(place: &Place, fit: &str, small: &str) {
    let mut bound = small.to_owned();
    for _ in 0..4 {
        let run = place.run(&format!("{fit} --memory {bound} --json --threads 2"));
        if run.code == 0 {
            let told: Value = serde_json::from_str(&run.out).unwrap();
            let number = |key: &str| told["memory"][key].as_f64().unwrap();
            let (allowed, estimate, peak) = (number("bound"), number("estimate"), number("peak"));
            assert!(peak <= 1.1 * allowed, "{fit}: {:.1} MB with --memory {bound}", peak / MB);
            // Below some tens of megabytes what the program takes itself is the most of it.
            assert!(
                peak < 40.0 * MB || (estimate / peak - 1.0).abs() < 0.25,
                "{fit}: {:.1} MB expected, {:.1} MB taken",
                estimate / MB,
                peak / MB
            );
            return;
        }
        let advised = run.err.rsplit("--memory ").next().unwrap_or_default();
        bound = advised.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
        assert!(bound.ends_with("MB"), "{fit}: {}", run.err);
    }
    panic!("{fit}: not even --memory {bound} sufficed, which was advised");
}

#[test]
fn topics() {
    let place = Place::new();
    place.ok("generate topics --documents 4000 --words 3000 -k 20 --length 100 --zipf -o d");
    holds(&place, "topics fit d/docword.txt -k 40 --epochs 1 -o m.tenfold");
    holds(&place, "topics fit d/docword.txt -k 40 --epochs 1 --on-disk -o m.tenfold");
}

#[test]
fn communities() {
    let place = Place::new();
    place.ok("generate communities --nodes 20000 -k 10 --degree 20 -o g.txt");
    holds(&place, "communities fit g.txt -k 10 --iterations 2 -o m.tenfold");
    // Where their number is chosen, edges are held again and directions sought for a hundred.
    follows(&place, "communities fit g.txt --iterations 2 -o m.tenfold", "20MB");
}

/// The matrices of the search are as wide as its basis, which in small graphs is most of what is held.
#[test]
fn small_graphs() {
    let place = Place::new();
    place.ok("generate communities --nodes 900 -k 6 --degree 30 -o few.txt");
    follows(&place, "communities fit few.txt -o m.tenfold", "20MB");
    place.ok("generate communities --nodes 3000 -k 6 -o dense.txt");
    follows(&place, "communities fit dense.txt -o m.tenfold", "20MB");
}

/// Tensors are added up from several.
#[test]
fn many_communities() {
    let place = Place::new();
    place.ok("generate communities --nodes 3000 -k 10 --degree 20 -o g.txt");
    follows(&place, "communities fit g.txt -k 80 --iterations 2 -o m.tenfold", "20MB");
}

/// Many topics of few documents: words are held more often than documents.
#[test]
fn many_topics() {
    let place = Place::new();
    place.ok("generate topics --documents 400 --words 4000 -k 20 --length 100 -o d");
    follows(&place, "topics fit d/docword.txt -k 200 --epochs 1 -o m.tenfold", "20MB");
    place.ok("generate topics --documents 2000 --words 2000 -k 20 --length 60 --format text -o t");
    follows(&place, "topics fit t/corpus.txt -k 5 --ngrams 3 --min-df 1 --epochs 1 -o m.tenfold", "30MB");
}

#[test]
fn ica() {
    let place = Place::new();
    place.ok("generate ica --samples 200000 --columns 8 -o X.npy");
    holds(&place, "ica fit X.npy -k 8 -o m.tenfold");
    holds(&place, "ica fit X.npy -k 8 --on-disk --solver online -o m.tenfold");
    // Whitened data are kept in what is left only, for the same answer.
    let all = place.ok("ica fit X.npy -k 8 -o all.tenfold");
    let tight = place.ok("ica fit X.npy -k 8 --memory 30MB -o tight.tenfold");
    assert!(all.err.contains("whitened data 13 MB") && !tight.err.contains("whitened"), "{}", tight.err);
    assert!(place.bytes("all.tenfold") == place.bytes("tight.tenfold"));
}

#[test]
fn motifs() {
    let place = Place::new();
    place.ok("generate motifs --windows 10000 -L 2 --length 8 --no-events -o X.npy");
    holds(&place, "motifs fit X.npy --cyclic -L 2 --length 8 -o m.tenfold");
}

#[test]
fn trees() {
    let place = Place::new();
    place.ok("generate trees --events --samples 60000 --variables 20 -o e.csv");
    holds(&place, "trees fit e.csv --events --groups e.groups.csv --bootstrap 2 -o m.tenfold");
}

/// Many variables are many pairs, each with nine versions; and many levels are wide ones.
#[test]
fn wide_trees() {
    let place = Place::new();
    place.ok("generate trees --samples 1000 --variables 300 -o w.csv");
    follows(&place, "trees fit w.csv --bootstrap 2 -o m.tenfold", "20MB");
    let cell = |i: usize, column: usize| format!("l{}", (i * (7 * column + 3) + i / 13) % 40);
    let row = |i: usize| (0..16).map(|c| cell(i, c)).collect::<Vec<_>>().join(",");
    let head = (0..16).map(|c| format!("c{c}")).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = std::iter::once(head).chain((0..2000).map(row)).collect();
    place.write("levels.csv", rows.join("\n"));
    follows(&place, "trees fit levels.csv --bootstrap 2 -o m.tenfold", "20MB");
}

#[test]
fn sentences() {
    let place = Place::new();
    place.ok("generate topics --documents 4000 --words 2000 -k 5 --length 15 --zipf --format text -o d");
    holds(&place, "sentences fit d/corpus.txt --templates 16 --dimensions 40 -o m.tenfold");
}

/// Short lines take many times their bytes as numbers, which is refused before they are made.
#[test]
fn sentences_without_words() {
    let place = Place::new();
    for text in ["\n", "a\n"] {
        place.write("t.txt", text.repeat(8_000_000 / text.len()));
        let run = place.run("sentences fit t.txt --memory 50MB -o m.tenfold");
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.err.contains("their words") && run.err.contains("--memory allows 50 MB"), "{}", run.err);
        place.write("t.txt", text.repeat(20_000_000 / text.len()));
        let run = place.run("sentences fit t.txt --memory 50MB -o m.tenfold");
        assert!(run.err.contains("reading t.txt takes about"), "{}", run.err);
    }
}

#[test]
fn cells() {
    let place = Place::new();
    place.ok("generate cells --genes 20 --cells 100000 --side 8000 --no-images -o t");
    holds(&place, "cells fit t/truth.csv -k 3 -o m.tenfold");
    place.ok("generate cells --genes 1 --side 1600 -o i");
    holds(&place, "cells detect i/gene0001.png -o c.parquet");
}
