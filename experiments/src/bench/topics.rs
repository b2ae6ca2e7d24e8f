//! Topic models beside tomotopy, scikit-learn and gensim: perplexity, coherence and recovery of known topics, by one
//! protocol (the crate `protocol`), all fits on one thread.

use crate::{Request, say};
use protocol::{Bag, Shared, Split, cpu_seconds, shared_data};
use serde_json::{Value, json};
use std::path::PathBuf;
use tenfold::engine::linalg::Mat;
use tenfold::evaluate::Match;
use tenfold::input;
use tenfold::topics::{Corpus, Params, Polish, Synth};

const PEERS: [&str; 3] = ["tomotopy", "sklearn", "gensim"];

/// Seeds of every method on a public corpus; their mean is reported.
const SEEDS: [u64; 3] = [1, 2, 3];

/// Corpora drawn for recovery; the worst is reported.
const DRAWS: u64 = 10;

/// Two scores that agree to so many parts are the same.
const SAME_SCORE: f64 = 1e-4;

/// One comparison on a public corpus.
struct Predict {
    what: &'static str,
    name: &'static str,
    corpus: Shared,
    k: usize,
}

const PREDICT: [Predict; 3] = [
    Predict { what: "KOS k=20", name: "kos", corpus: Shared::Kos, k: 20 },
    Predict { what: "KOS k=50", name: "kos", corpus: Shared::Kos, k: 50 },
    Predict { what: "BBC k=20", name: "bbc", corpus: Shared::Bbc, k: 20 },
];

/// One comparison on drawn corpora.
struct Recover {
    what: &'static str,
    name: &'static str,
    k: usize,
    documents: usize,
    /// Whether the polish for prediction is shown too; recovery is what the faithful one is for.
    predict_too: bool,
    /// Draws that each peer gets: sampling 500 times is slow.
    peers: &'static [(&'static str, u64)],
}

const RECOVER: [Recover; 2] = [
    Recover {
        what: "drawn k=50 n=2000, faithful",
        name: "drawn50",
        k: 50,
        documents: 2000,
        predict_too: true,
        peers: &[("tomotopy", 3), ("sklearn", 3), ("gensim", 3)],
    },
    Recover {
        what: "drawn k=10 n=20000, faithful",
        name: "drawn10",
        k: 10,
        documents: 20_000,
        predict_too: false,
        peers: &[("tomotopy", 1)],
    },
];

/// Fits and scores; the peers have left their topics in the data folder before.
pub fn run(request: &Request) -> Result<(), String> {
    if request.write_data {
        return write(request);
    }
    // Without a peer nobody has asked for the data before.
    if !request.files.folder().join("params.json").exists() {
        write(request)?;
    }
    for comparison in &PREDICT {
        if folder(request, comparison.name).exists() {
            predict(request, comparison)?;
        }
    }
    RECOVER.iter().try_for_each(|comparison| recover(request, comparison))
}

fn folder(request: &Request, name: &str) -> PathBuf {
    request.files.folder().join(name)
}

/// The bags, the truth behind drawn ones, and what the peers should do.
fn write(request: &Request) -> Result<(), String> {
    let mut runs = Vec::new();
    let mut ask = |what: &str, corpus: &str, k: usize, seed: u64, peer: &str, held_out: bool| {
        runs.push(json!({
            "what": what, "corpus": corpus, "k": k, "seed": seed, "peer": peer, "held_out": held_out
        }));
    };
    match shared_data() {
        Ok(shared) => {
            for comparison in &PREDICT {
                let corpus = say(comparison.corpus.read(&shared))?;
                say(Bag::new(folder(request, comparison.name)).write(&corpus))?;
                for peer in PEERS {
                    SEEDS
                        .iter()
                        .for_each(|&s| ask(comparison.what, comparison.name, comparison.k, s, peer, true));
                }
            }
        }
        Err(remedy) => eprintln!("KOS and BBC are left out: {remedy}"),
    }
    for comparison in &RECOVER {
        for draw in 1..=DRAWS {
            let name = format!("{}-{draw}", comparison.name);
            let synth =
                Synth { documents: comparison.documents, k: comparison.k, seed: draw, ..Synth::default() };
            let drawn = say(synth.draw())?;
            let bag = Bag::new(folder(request, &name));
            say(bag.write(&drawn.corpus))?;
            let shape = [drawn.topics.rows(), drawn.topics.cols()];
            say(bag.write_array("truth", &shape, drawn.topics.as_slice()))?;
            for (peer, _) in comparison.peers.iter().filter(|(_, draws)| draw <= *draws) {
                ask(comparison.what, &name, comparison.k, 1, peer, false);
            }
        }
    }
    say(request.files.write_text("params.json", &json!({ "runs": runs }).to_string()))
}

fn fit(corpus: &Corpus, k: usize, polish: Polish, seed: u64) -> Result<(f64, Mat), String> {
    let params = Params { polish, seed, ..Params::new(k) };
    let (seconds, model) = cpu_seconds(|| params.fit(corpus));
    Ok((seconds, say(model)?.topics().clone()))
}

/// What a peer left: topics, and its own scores.
fn peer_run(request: &Request, corpus: &str, k: usize, peer: &str, seed: u64) -> Option<(Mat, Value)> {
    let path = request.files.folder().join("topics").join(format!("{corpus}-k{k}-{peer}-{seed}"));
    let text = std::fs::read_to_string(path.with_extension("json")).ok()?;
    let array = input::read_array(&path.with_extension("npy")).ok()?;
    Some((Mat::from_vec(array.shape[0], array.shape[1], array.data), serde_json::from_str(&text).ok()?))
}

/// Stops when the peer script, written apart from this program, scores the same topics otherwise.
fn agree(name: &str, ours: f64, figures: &Value) -> Result<f64, String> {
    match figures[name].as_f64() {
        Some(theirs) if (ours - theirs).abs() > SAME_SCORE * theirs.abs().max(1.0) => {
            Err(format!("{name} of the same topics is {ours} here and {theirs} in the peer script"))
        }
        _ => Ok(ours),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn predict(request: &Request, comparison: &Predict) -> Result<(), String> {
    let corpus = say(Bag::new(folder(request, comparison.name)).read())?;
    let split = say(Split::new(&corpus))?;
    let (mut seconds, mut perplexity, mut npmi) = (Vec::new(), Vec::new(), Vec::new());
    for seed in SEEDS {
        let (spent, topics) = fit(&split.training, comparison.k, Polish::Predict, seed)?;
        seconds.push(spent);
        perplexity.push(say(split.perplexity(&topics))?);
        npmi.push(say(split.npmi(&topics))?);
    }
    let ours = (mean(&seconds), mean(&perplexity), mean(&npmi));
    for peer in PEERS {
        let (mut perplexity, mut npmi) = (Vec::new(), Vec::new());
        for seed in SEEDS {
            let Some((topics, figures)) = peer_run(request, comparison.name, comparison.k, peer, seed) else {
                continue;
            };
            perplexity.push(agree("perplexity", say(split.perplexity(&topics))?, &figures)?);
            npmi.push(agree("npmi", say(split.npmi(&topics))?, &figures)?);
        }
        let mut more = json!({ "perplexity": round(ours.1, 1), "npmi": round(ours.2, 4) });
        if !perplexity.is_empty() {
            more["peer_perplexity"] = round(mean(&perplexity), 1);
            more["peer_npmi"] = round(mean(&npmi), 4);
            more[format!("perplexity_over_{peer}")] = round(ours.1 / mean(&perplexity), 4);
            more[format!("npmi_over_{peer}")] = round(ours.2 - mean(&npmi), 4);
        }
        request.report(&format!("{}, {peer}", comparison.what), ours.0, more);
    }
    Ok(())
}

fn recover(request: &Request, comparison: &Recover) -> Result<(), String> {
    let (mut seconds, mut ours, mut predicting) = (Vec::new(), Vec::new(), Vec::new());
    let mut theirs: Vec<Vec<Match>> = comparison.peers.iter().map(|_| Vec::new()).collect();
    for draw in 1..=DRAWS {
        let name = format!("{}-{draw}", comparison.name);
        let corpus = say(Bag::new(folder(request, &name)).read())?;
        let truth = say(input::read_array(&folder(request, &name).join("truth.npy")))?;
        let truth = Mat::from_vec(truth.shape[0], truth.shape[1], truth.data);
        let (spent, topics) = fit(&corpus, comparison.k, Polish::Faithful, 1)?;
        seconds.push(spent);
        ours.push(Match::new(&truth, &topics));
        if comparison.predict_too {
            let (_, topics) = fit(&corpus, comparison.k, Polish::Predict, 1)?;
            predicting.push(Match::new(&truth, &topics));
        }
        for ((peer, _), matches) in comparison.peers.iter().zip(&mut theirs) {
            if let Some((topics, figures)) = peer_run(request, &name, comparison.k, peer, 1) {
                let matched = Match::new(&truth, &topics);
                agree("variation", matched.mean(), &figures)?;
                matches.push(matched);
            }
        }
    }
    let figures = |matches: &[Match]| {
        let variations: Vec<f64> = matches.iter().map(Match::mean).collect();
        let found = matches.iter().map(Match::share_found).fold(1.0, f64::min);
        (mean(&variations), variations.iter().copied().fold(0.0, f64::max), found)
    };
    let (variation, worst, found) = figures(&ours);
    for ((peer, _), matches) in comparison.peers.iter().zip(&theirs) {
        let mut more = json!({
            "variation": round(variation, 4), "worst_variation": round(worst, 4), "worst_found": round(found, 3)
        });
        if comparison.predict_too {
            let (variation, worst, found) = figures(&predicting);
            more["predict_variation"] = round(variation, 4);
            more["predict_worst"] = round(worst, 4);
            more["predict_worst_found"] = round(found, 3);
        }
        // Each kind of draw has its own goal, and a goal is a field.
        more[format!("worst_{}", comparison.name)] = round(worst, 4);
        if !matches.is_empty() {
            let (variation, worst, found) = figures(matches);
            more["peer_variation"] = round(variation, 4);
            more["peer_worst_variation"] = round(worst, 4);
            more["peer_worst_found"] = round(found, 3);
        }
        request.report(&format!("{}, {peer}", comparison.what), mean(&seconds), more);
    }
    Ok(())
}

fn round(x: f64, digits: i32) -> Value {
    let unit = 10f64.powi(digits);
    json!((x * unit).round() / unit)
}
