//! `tenfold generate motifs`: files that agree with each other and do not depend on threads.

mod support;
use support::Place;
use tenfold::engine::progress::Silent;
use tenfold::input::{Array, read_array};
use tenfold::motifs::truth::{self, TruthOptions};
use tenfold::motifs::{Layout, ReadOptions, read};

const SMALL: &str = "generate motifs --windows 300 --samples 20 --length 5 -L 3 --activity 0.05 --seed 4";

#[test]
fn signals_are_the_sum_of_their_events() {
    let place = Place::new();
    let told = place.json(&format!("{SMALL} -o X.npy"));
    assert_eq!(place.files(), ["X.events.csv", "X.filters.npy", "X.npy"]);
    let signals =
        read(&place.path("X.npy"), &ReadOptions { cyclic: true, ..Default::default() }, &Silent).unwrap();
    let Array { shape, data: filters } = read_array(&place.path("X.filters.npy")).unwrap();
    assert_eq!((shape, signals.stretches().len()), (vec![3, 5], 300));
    let mut sums = vec![0.0; 300 * 20];
    let text = place.text("X.events.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("time,motif,amplitude,trial"));
    let mut count = 0;
    for line in lines {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        for t in 0..5 {
            let at = cells[3] as usize * 20 + (cells[0] as usize + t) % 20;
            sums[at] += cells[2] * filters[cells[1] as usize * 5 + t];
        }
        count += 1;
    }
    assert_eq!(told["events"], count);
    let read: Vec<f64> = signals.stretches().iter().flat_map(|s| s.values.clone()).collect();
    assert!(read.iter().zip(&sums).all(|(a, b)| (a - b).abs() < 1e-12));
    let known = truth::read(&place.path("X.events.csv"), &TruthOptions::default(), &Silent).unwrap();
    assert_eq!((known.events.len(), known.labels.join(" ")), (count, "0 1 2".into()));
}

#[test]
fn threads_do_not_matter_and_seeds_do() {
    let place = Place::new();
    for (folder, more) in [("a", "--threads 1"), ("b", "--threads 3"), ("c", "--seed 5")] {
        let line = SMALL.replace("--seed 4", if folder == "c" { "" } else { "--seed 4" });
        place.ok(&format!("{line} --noise 0.5 {more} -o {folder}"));
    }
    for name in ["X.npy", "filters.npy", "events.csv"] {
        assert_eq!(place.bytes(&format!("a/{name}")), place.bytes(&format!("b/{name}")));
        assert_ne!(place.bytes(&format!("a/{name}")), place.bytes(&format!("c/{name}")));
    }
}

#[test]
fn recordings_and_images() {
    let place = Place::new();
    let run = place.ok(
        "generate motifs --linear --windows 2 --samples 500 --channels 3 --length 20 --shape smooth -o r.npy",
    );
    assert!(run.out.contains("motifs fit r.npy -L 4 --length 20"), "{}", run.out);
    let signals = read(&place.path("r.npy"), &ReadOptions::default(), &Silent).unwrap();
    assert_eq!((signals.channels().len(), signals.samples()), (3, 1000));
    place.ok("generate motifs --samples 12x10 --length 4x3 --windows 7 --channels 2 --activation bernoulli-gaussian -o i.npy");
    let images =
        read(&place.path("i.npy"), &ReadOptions { layout: Layout::Images, ..Default::default() }, &Silent);
    assert_eq!(images.unwrap().stretches().len(), 7);
    assert_eq!(read_array(&place.path("i.filters.npy")).unwrap().shape, [4, 2, 4, 3]);
    assert!(place.text("i.events.csv").starts_with("time,motif,amplitude,trial,row\n"));
    place.ok("generate motifs --windows 50 --activation exponential --no-events -o e.npy");
    assert!(!place.path("e.events.csv").exists());
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let place = Place::new();
    for (more, words) in [
        ("--length 65 -o X.npy", &["65", "64"][..]),
        ("--length 4x4 -o X.npy", &["4x4"]),
        ("--samples 0 -o X.npy", &["samples"]),
        ("--samples 9999999999x9 -o X.npy", &["32x32"]),
        ("--windows 99999999999 -o X.npy", &["GB"]),
        ("--activity 0.5 --activation exponential -o X.npy", &["--activity means nothing"]),
        ("--activity 2 --activation bernoulli-gaussian -o X.npy", &["activity"]),
        ("-o X.csv", &[".npy"]),
        ("-o gone/X.npy", &["gone"]),
    ] {
        place.fails(&format!("generate motifs {more}"), 2, words);
    }
}
