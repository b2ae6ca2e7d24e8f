//! What a person at a terminal meets: help, the demo, completions, closed pipes, Ctrl-C.

mod support;

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::{Place, noise, npy};

#[test]
fn help_reads_well_everywhere() {
    let place = Place::new();
    for command in [
        "",
        "topics",
        "topics fit",
        "topics infer",
        "topics show",
        "topics evaluate",
        "topics update",
        "topics merge",
        "communities",
        "communities fit",
        "communities infer",
        "communities predict",
        "communities show",
        "communities evaluate",
        "communities export",
        "report",
        "ica",
        "ica fit",
        "ica infer",
        "ica show",
        "ica evaluate",
        "tensor",
        "tensor decompose",
        "tensor evaluate",
        "generate",
        "generate communities",
        "motifs fit",
        "motifs infer",
        "motifs show",
        "motifs evaluate",
        "sentences fit",
        "sentences encode",
        "sentences similarity",
        "trees fit",
        "trees infer",
        "trees show",
        "trees evaluate",
        "trees export",
        "generate ica",
        "generate motifs",
        "generate tensor",
        "generate topics",
        "generate trees",
        "demo",
        "completions",
    ] {
        let [short, long] = ["-h", "--help"].map(|flag| place.ok(&format!("{command} {flag}")).out);
        assert_eq!(short, long, "{command}");
        assert!(short.contains("Usage: tenfold"), "{command}");
        for line in short.lines() {
            // Text is wrapped to the terminal; examples are there to be copied and must fit as they are.
            let most = if line.starts_with("  tenfold ") { 80 } else { 100 };
            assert!(line.chars().count() <= most, "{command}: {line}");
        }
    }
    let help = place.ok("--help").out;
    for word in ["Examples:", "Exit codes:", "--seed", "--threads", "--json", "--quiet", "130"] {
        assert!(help.contains(word), "{word}");
    }
    let version = place.ok("--version").out;
    assert_eq!(version.trim(), concat!("tenfold ", env!("CARGO_PKG_VERSION")));
    assert_eq!(place.run("").code, 2);
    assert!(place.files().is_empty());
}

#[test]
fn the_demo_finds_the_themes_and_fits_one_screen() {
    let place = Place::new();
    let demo = place.ok("demo");
    assert_eq!(place.files(), ["tenfold-demo"]);
    assert!(demo.out.lines().count() <= 24 && !demo.out.contains('\x1b'), "{}", demo.out);
    assert!(demo.out.lines().all(|line| line.chars().count() <= 80), "{}", demo.out);
    for word in ["cooking", "recipe", "tenfold-demo/report.html", "topics fit YOURS.txt"] {
        assert!(demo.out.contains(word), "{word}: {}", demo.out);
    }
    let made = place.bytes("tenfold-demo/model.tenfold");
    // The page and the text are there, and the text gives the same model by hand.
    assert!(place.bytes("tenfold-demo/report.html").starts_with(b"<!doctype html>"));
    place.ok("topics fit tenfold-demo/corpus.txt -k 10 -o m.tenfold");
    assert!(place.bytes("m.tenfold") == made);
    for seed in 0..3 {
        let value = place.json(&format!("demo --seed {seed} -o again"));
        for topic in value["topics"].as_array().unwrap() {
            assert!(topic["total_variation"].as_f64().unwrap() < 0.1, "seed {seed}: {topic}");
        }
    }
    // Its own folder it writes again, one with other files it leaves alone.
    place.ok("demo");
    std::fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/corpus.txt", "my only copy");
    place.fails("demo -o mine", 2, &["mine", "did not make", "-o"]);
    assert_eq!(place.bytes("mine/corpus.txt"), b"my only copy");
}

#[test]
fn the_demo_of_signals_fits_one_screen_and_writes_only_when_asked() {
    let place = Place::new();
    let demo = place.ok("demo signals");
    assert!(place.files().is_empty());
    assert!(demo.out.lines().count() <= 24 && !demo.out.contains('\x1b'), "{}", demo.out);
    assert!(demo.out.lines().all(|line| line.chars().count() <= 80), "{}", demo.out);
    for seed in 0..3 {
        let value = place.json(&format!("demo signals --seed {seed}"));
        for correlation in value["correlations"].as_array().unwrap() {
            assert!(correlation.as_f64().unwrap() > 0.99, "seed {seed}: {value}");
        }
    }
    place.ok("demo signals -o shown");
    let model = place.json("ica evaluate shown/model.tenfold --mixing shown/mixing.npy");
    assert!(model["amari_distance"].as_f64().unwrap() < 0.02);
    place.ok("ica fit shown/mixtures.csv -k auto -o m.tenfold");
    assert_eq!(place.files(), ["m.tenfold", "shown"]);
}

#[test]
fn completions_for_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.ok(&format!("completions {shell}")).out;
        assert!(script.contains("tenfold") && script.contains("decompose"), "{shell}");
    }
    assert_eq!(place.run("completions dos").code, 2);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let place = Place::new();
    for arguments in ["completions zsh", "demo", "demo --json", "--help"] {
        let mut child =
            place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut told = String::new();
        child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments}: {told}");
        assert_eq!(told, "", "{arguments}");
    }
}

/// Starts a command, waits for `ready`, sends it a signal, and gives its exit code and what it said.
#[cfg(unix)]
fn interrupt(place: &Place, arguments: &str, signal: &str, ready: impl Fn() -> bool) -> (i32, String) {
    let mut child = place.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while !ready() || begin.elapsed() < Duration::from_millis(400) {
        assert!(child.try_wait().unwrap().is_none(), "{arguments} ended before it was stopped");
        assert!(begin.elapsed() < Duration::from_secs(20), "{arguments} never got ready");
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), told)
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_nothing_behind() {
    let place = Place::new();
    // Pure noise and a tolerance of zero: the fit goes on until it is stopped.
    place.write("X.npy", npy(&[40_000, 24], &noise(960_000)));
    let files = place.files();
    let endless = "--tolerance 0 --max-iterations 100000000 --restarts 1000000";
    for signal in ["-INT", "-TERM"] {
        let args = format!("ica fit X.npy -k 24 --solver power {endless} -o m.tenfold --sources S.csv");
        let (code, told) = interrupt(&place, &args, signal, || true);
        assert_eq!(code, 130, "{signal}: {told}");
        assert!(told.contains("stopped; nothing was written"), "{told}");
        assert_eq!(place.files(), files, "{signal}");
    }
    // In the middle of a large file that is being read.
    let lines = ("0.123456789,".repeat(99) + "7\n").repeat(2000);
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    member.write_all(lines.as_bytes()).unwrap();
    // Members one after the other are one file: a small one that takes seconds to read.
    place.write("long.csv.gz", member.finish().unwrap().repeat(1000));
    let (code, told) = interrupt(&place, "ica fit long.csv.gz -k 2 -o m.tenfold", "-INT", || true);
    assert_eq!((code, told.as_str()), (130, "error: stopped; nothing was written\n"));
    std::fs::remove_file(place.path("long.csv.gz")).unwrap();
    assert_eq!(place.files(), files);
    // In the middle of a file that is being written.
    let writing = || place.files().iter().any(|name| name.starts_with(".tenfold-"));
    let args = "generate ica --samples 2000000 --columns 4 -o Y.csv";
    let (code, told) = interrupt(&place, args, "-INT", writing);
    assert_eq!(code, 130, "{told}");
    assert_eq!(place.files(), files);
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_nothing_of_topics_behind() {
    let place = Place::new();
    place.ok("generate topics --documents 2000 --words 300 -k 8 --length 60 -o d --no-mixtures");
    let files = place.files();
    let endless = "--solver power --tolerance 0 --max-iterations 100000000 --restarts 1000000";
    for signal in ["-INT", "-TERM"] {
        let args = format!("topics fit d/docword.txt -k 8 {endless} -o m.tenfold --mixtures mix.csv");
        let (code, told) = interrupt(&place, &args, signal, || true);
        assert_eq!(code, 130, "{signal}: {told}");
        assert!(told.contains("stopped; nothing was written"), "{told}");
        assert_eq!(place.files(), files, "{signal}");
    }
    // In the middle of text that is being read, and of mixtures that are being written.
    let text = "planet star orbit rocket\ngoal team match player\n".repeat(20_000);
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    member.write_all(text.as_bytes()).unwrap();
    place.write("long.txt.gz", member.finish().unwrap().repeat(200));
    let (code, told) = interrupt(&place, "topics fit long.txt.gz -k 2 -o m.tenfold", "-INT", || true);
    assert_eq!((code, told.contains("stopped; nothing was written")), (130, true), "{told}");
    std::fs::remove_file(place.path("long.txt.gz")).unwrap();
    place.ok("topics fit d/docword.txt -k 8 -o m.tenfold");
    place.write("many.ldac", "4 0:3 7:1 9:2 100:1\n".repeat(400_000));
    let files = place.files();
    let writing = || place.files().iter().any(|name| name.starts_with(".tenfold-"));
    let (code, told) = interrupt(&place, "topics infer m.tenfold many.ldac -o mix.csv", "-INT", writing);
    assert_eq!(code, 130, "{told}");
    assert_eq!(place.files(), files);
}
