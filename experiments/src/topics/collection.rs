//! A collection as large as the New York Times one of the thesis: from a file on disk to a model and its report, with
//! seconds by stage, peak memory, and shares of what the machine can do.
//!
//! Each k has a process of its own, so that its peak memory is its own.

use super::newspaper::{Files, Newspaper};
use crate::report::Page;
use crate::{Outcome, Request};
use protocol::{memory_rate, peak_memory_mb};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;
use tenfold::engine::linalg::{Mat, gemm_rate};
use tenfold::engine::progress::Progress;
use tenfold::evaluate::Match;
use tenfold::input;
use tenfold::topics::read::{ReadOptions, read};
use tenfold::topics::{OVERSAMPLE, Params};

const TOPICS: [usize; 3] = [10, 100, 300];

/// The thesis: about two minutes of computing on its machine, without reading the file.
const PUBLISHED_SECONDS: f64 = 120.0;

/// Draws the collection where it is not there.
pub fn draw(request: &Request) -> Outcome<()> {
    let files = Files::new(&request.data, "nyt");
    if files.counts.exists() {
        println!("{} is there", files.counts.display());
        return Ok(());
    }
    let begin = Instant::now();
    let drawn = Newspaper { seed: request.seed, ..Default::default() }.write(&files)?;
    println!("{} entries, {} tokens, {:.0} s", drawn.entries, drawn.tokens, begin.elapsed().as_secs_f64());
    Ok(())
}

/// One k when it is asked for, printed as JSON; otherwise all of them and the page `newspaper.md`.
pub fn run(request: &Request) -> Outcome<()> {
    match request.k {
        Some(k) => {
            println!("{}", measure(request, k)?);
            Ok(())
        }
        None => all(request),
    }
}

/// Steps done in every stage.
#[derive(Default)]
struct Recorder(Mutex<Vec<(String, u64)>>);

impl Progress for Recorder {
    fn stage(&self, name: &str, _steps: u64) {
        self.0.lock().expect("nobody panics while counting").push((name.to_owned(), 0));
    }
    fn advance(&self, by: u64) {
        if let Some(last) = self.0.lock().expect("nobody panics while counting").last_mut() {
            last.1 += by;
        }
    }
    fn stopped(&self) -> bool {
        false
    }
}

impl Recorder {
    fn steps(&self, stage: &str) -> f64 {
        let stages = self.0.lock().expect("nobody panics while counting");
        stages.iter().filter(|s| s.0 == stage).map(|s| s.1 as f64).sum()
    }
}

fn measure(request: &Request, k: usize) -> Outcome<Value> {
    let files = Files::new(&request.data, "nyt");
    let recorder = Recorder::default();
    let begin = Instant::now();
    let corpus = read(&files.counts, &ReadOptions::default(), &recorder)?;
    let reading = begin.elapsed().as_secs_f64();
    let model = Params { seed: request.seed, ..Params::new(k) }.fit_with(&corpus, &recorder)?;
    let fitted = begin.elapsed().as_secs_f64();
    model.save(&request.data.join(format!("nyt-k{k}.tenfold")))?;
    let saved = begin.elapsed().as_secs_f64();
    model.report()?.write(&request.data.join(format!("nyt-k{k}.html")))?;
    let all = begin.elapsed().as_secs_f64();
    let peak = peak_memory_mb();
    let mut stages = vec![("reading".to_string(), reading)];
    stages.extend(model.diagnostics().seconds.iter().cloned());
    stages.push(("saving".into(), saved - fitted));
    stages.push(("report".into(), all - saved));
    let truth = input::read_array(&files.topics)?;
    let truth = Mat::from_vec(truth.shape[0], truth.shape[1], truth.data);
    let found = (k == truth.rows()).then(|| Match::new(&truth, model.topics()));
    let (entries, blocks) = (corpus.entries() as f64, corpus.counts().blocks() as f64);
    // A pass is a product with the counts and one with their transpose: two operations an entry and column each.
    let width = (model.spectrum().len() + OVERSAMPLE) as f64;
    let directions = 4.0 * entries * width * recorder.steps("finding directions") / blocks;
    let seconds = |stage: &str| stages.iter().filter(|s| s.0 == stage).map(|s| s.1).sum::<f64>();
    let (gemm, memory) = (gemm_rate(2.0), memory_rate());
    let curve = &model.diagnostics().curve;
    Ok(json!({
        "k": k,
        "seconds": all,
        "stages": stages,
        "peak_mb": peak,
        "directions_gflops": directions / seconds("directions") / 1e9,
        // Every operation pair reads a number of four bytes.
        "directions_gbytes": 2.0 * directions / seconds("directions") / 1e9,
        "gemm_gflops": gemm / 1e9,
        "memory_gbytes": memory / 1e9,
        "perplexity": [curve.first().map(|c| c.1), curve.get(model.diagnostics().chosen).map(|c| c.1)],
        "variation": found.as_ref().map(Match::mean),
        "found": found.as_ref().map(Match::share_found),
    }))
}

fn all(request: &Request) -> Outcome<()> {
    draw(request)?;
    let mut results = Vec::new();
    for k in TOPICS {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["newspaper", "--k", &k.to_string(), "--seed", &request.seed.to_string(), "--data"]);
        let output = command.arg(&request.data).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(format!("the run with k = {k} failed: {}", output.status).into());
        }
        results.push(serde_json::from_slice::<Value>(&output.stdout)?);
    }
    write(request, &results)
}

fn write(request: &Request, results: &[Value]) -> Outcome<()> {
    let mut page = Page::new("A collection as large as the New York Times");
    page.say(&format!(
        "300,000 documents, 102,660 words, some 70 million entries, drawn from 100 topics under Zipf's law; from the file \
         on disk to a saved model and its report on {} threads. The thesis needed about {PUBLISHED_SECONDS} seconds without reading.",
        rayon::current_num_threads()
    ));
    let headings: Vec<String> =
        std::iter::once(String::new()).chain(results.iter().map(|r| format!("k = {}", r["k"]))).collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let number =
        |value: &Value, digits: usize| value.as_f64().map_or("–".into(), |x| format!("{x:.digits$}"));
    let line = |name: &str, digits: usize, get: &dyn Fn(&Value) -> Value| -> Vec<String> {
        std::iter::once(name.to_string()).chain(results.iter().map(|r| number(&get(r), digits))).collect()
    };
    let share = |r: &Value, of: &str, whole: &str| match (r[of].as_f64(), r[whole].as_f64()) {
        (Some(of), Some(whole)) => json!(100.0 * of / whole),
        _ => Value::Null,
    };
    let mut rows = vec![
        line("seconds", 1, &|r| r["seconds"].clone()),
        line("peak memory, MB", 0, &|r| r["peak_mb"].clone()),
    ];
    let stages = results[0]["stages"].as_array().cloned().unwrap_or_default();
    for (at, stage) in stages.iter().enumerate() {
        rows.push(line(&format!("{}, s", stage[0].as_str().unwrap_or_default()), 1, &|r| {
            r["stages"][at][1].clone()
        }));
    }
    rows.push(line("directions, Gflop/s", 1, &|r| r["directions_gflops"].clone()));
    rows.push(line("… of this machine's matrix product, %", 0, &|r| {
        share(r, "directions_gflops", "gemm_gflops")
    }));
    rows.push(line("… numbers read, of its memory rate, %", 0, &|r| {
        share(r, "directions_gbytes", "memory_gbytes")
    }));
    rows.push(line("held-out perplexity, moments only", 0, &|r| r["perplexity"][0].clone()));
    rows.push(line("held-out perplexity of the model", 0, &|r| r["perplexity"][1].clone()));
    rows.push(line("total variation from the truth", 3, &|r| r["variation"].clone()));
    rows.push(line("topics found, %", 0, &|r| json!(r["found"].as_f64().map(|x| 100.0 * x))));
    page.table(&headings, &rows);
    page.say("Numbers read may pass the memory rate: rows that are used again come from the cache.");
    page.finish(&request.out, "newspaper")?;
    Ok(())
}
