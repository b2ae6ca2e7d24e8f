//! Cost grows linearly: seconds of a fit over the number of documents and over k.

use crate::figure::Lines;
use crate::report::Page;
use crate::{Outcome, Request};
use std::time::Instant;
use tenfold::topics::{Params, Shape, Synth};

/// Documents of the smallest corpus, and how many times as many the others have.
const BASE: usize = 10_000;
const TIMES: [usize; 3] = [1, 4, 16];
/// Topics while documents grow.
const FIXED_K: usize = 50;
/// Topics while documents stay.
const TOPICS: [usize; 6] = [10, 20, 50, 100, 200, 300];

struct Point {
    documents: usize,
    k: usize,
    entries: u64,
    seconds: f64,
    stages: Vec<(String, f64)>,
}

/// Measures and writes the page `cost.md` with a figure.
pub fn run(request: &Request) -> Outcome<()> {
    let by_documents: Vec<Point> =
        TIMES.iter().map(|t| measure(BASE * t, FIXED_K, request.seed)).collect::<Outcome<_>>()?;
    let by_k: Vec<Point> =
        TOPICS.iter().map(|&k| measure(4 * BASE, k, request.seed)).collect::<Outcome<_>>()?;
    let mut page = Page::new("What a fit costs");
    page.say(&format!(
        "Drawn corpora with 20,000 words under Zipf's law and 100 tokens a document; seconds by the clock on {} threads, \
         the usual polish. The slope is that of log seconds over log size: 1 is linear.",
        rayon::current_num_threads()
    ));
    page.section(&format!("Documents, k = {FIXED_K}"));
    table(&mut page, &by_documents, |p| p.documents as f64);
    page.section(&format!("Topics, {} documents", 4 * BASE));
    table(&mut page, &by_k, |p| p.k as f64);
    let line =
        |points: &[Point], x: &dyn Fn(&Point) -> f64| points.iter().map(|p| (x(p), p.seconds)).collect();
    let lines = [
        (format!("documents / 1000, k = {FIXED_K}"), line(&by_documents, &|p| p.documents as f64 / 1000.0)),
        (format!("k, {} documents", 4 * BASE), line(&by_k, &|p| p.k as f64)),
    ];
    let figure =
        Lines { title: "Seconds of a fit", x: "documents / 1000, or k", y: "seconds", lines: &lines };
    figure.save(&request.out.join("cost.svg"))?;
    page.figure("cost.svg", "Seconds of a fit over documents and over k");
    page.finish(&request.out, "cost")?;
    Ok(())
}

fn measure(documents: usize, k: usize, seed: u64) -> Outcome<Point> {
    let synth = Synth { documents, words: 20_000, k, shape: Shape::Zipf, seed, ..Synth::default() };
    let drawn = synth.draw()?;
    let begin = Instant::now();
    let model = Params { seed, ..Params::new(k) }.fit(&drawn.corpus)?;
    let seconds = begin.elapsed().as_secs_f64();
    eprintln!("{documents} documents, k = {k}: {seconds:.2} s");
    Ok(Point {
        documents,
        k,
        entries: drawn.corpus.entries(),
        seconds,
        stages: model.diagnostics().seconds.clone(),
    })
}

fn table(page: &mut Page, points: &[Point], size: impl Fn(&Point) -> f64) {
    let stages: Vec<&str> = points[0].stages.iter().map(|s| s.0.as_str()).collect();
    let headings: Vec<&str> =
        ["documents", "k", "entries", "seconds", "slope"].into_iter().chain(stages).collect();
    let rows: Vec<Vec<String>> = points
        .iter()
        .enumerate()
        .map(|(i, point)| {
            let slope = i.checked_sub(1).map(|before| {
                let before = &points[before];
                (point.seconds / before.seconds).ln() / (size(point) / size(before)).ln()
            });
            let mut row = vec![
                point.documents.to_string(),
                point.k.to_string(),
                point.entries.to_string(),
                format!("{:.2}", point.seconds),
                slope.map_or("–".into(), |slope| format!("{slope:.2}")),
            ];
            row.extend(point.stages.iter().map(|s| format!("{:.2}", s.1)));
            row
        })
        .collect();
    page.table(&headings, &rows);
}
