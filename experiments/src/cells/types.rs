//! Cell types drawn and found again; single cells of a real tissue; time.

use crate::report::{Page, mean};
use crate::{Outcome, Request};
use rand::RngExt;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tenfold::cells::validate::{Validation, label_agreement, permute, voxels};
use tenfold::cells::{Features, GeneCounts, GenesIn, Params, Solver, Synth, read_expression};
use tenfold::components::Components;
use tenfold::engine::linalg::{Csr, Mat, random};
use tenfold::engine::progress::Silent;
use tenfold::evaluate::Match;

const SEEDS: u64 = 5;

/// The numbers of types, and the largest mean total variation that is wanted.
const GOALS: [(usize, f64); 3] = [(4, 0.05), (8, 0.10), (12, 0.17)];

/// Columns of the first table after the name.
const METHODS: [&str; 8] =
    ["EM", "thesis's NMF", "k − 1", "k + 2", "permuted", "sklearn LDA", "sklearn NMF", "sklearn NMF (KL)"];

/// One drawn data set with its truth.
struct Case {
    kind: &'static str,
    k: usize,
    seed: u64,
    counts: GeneCounts,
    truth: Mat,
}

fn cases(first: u64) -> Outcome<Vec<Case>> {
    let mut all = Vec::new();
    for (k, _) in GOALS {
        for seed in first..first + SEEDS {
            let synth = Synth { types: k, seed, ..Synth::default() };
            let drawn = synth.draw_counts(&Features::default())?;
            all.push(Case { kind: "model-true", k, seed, counts: drawn.counts, truth: drawn.profiles });
            let tissue = synth.draw()?;
            let counts = Features::default().bins(&tissue.tissue)?.histogram(&tissue.tissue).counts;
            all.push(Case { kind: "point process", k, seed, counts, truth: tissue.profiles });
        }
    }
    Ok(all)
}

/// What scikit-learn finds on the same counts, by `peers.py`; nothing where no Python is named.
fn peers(cases: &[Case], folder: &Path) -> Outcome<Value> {
    let Some(python) = std::env::var_os("TENFOLD_TEST_PYTHON") else { return Ok(Value::Null) };
    std::fs::create_dir_all(folder)?;
    let table = |m: &Mat| {
        (0..m.rows()).fold(String::new(), |mut text, i| {
            let row: Vec<String> = m.row(i).iter().map(f64::to_string).collect();
            let _ = writeln!(text, "{}", row.join(","));
            text
        })
    };
    for (i, case) in cases.iter().enumerate() {
        std::fs::write(folder.join(format!("{i}.counts.csv")), table(&case.counts.matrix().to_dense()))?;
        std::fs::write(folder.join(format!("{i}.truth.csv")), table(&case.truth))?;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("cells/peers.py");
    let output = Command::new(python).arg(script).arg(folder).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Mean total variation of every method on a case, in the order of [`METHODS`], and the number of types that `auto` takes.
fn measured(case: &Case, peer: &Value) -> Outcome<(Vec<f64>, usize)> {
    let fit = |k: usize, solver, counts: &GeneCounts| -> Outcome<f64> {
        let model = Params { solver, seed: case.seed, ..Params::new(k) }.fit_counts(counts)?;
        Ok(Match::new(&case.truth, model.profiles()).mean())
    };
    let k = case.k;
    let mut found = vec![
        fit(k, Solver::Em, &case.counts)?,
        fit(k, Solver::Nmf, &case.counts)?,
        fit(k - 1, Solver::Em, &case.counts)?,
        fit(k + 2, Solver::Em, &case.counts)?,
        fit(k, Solver::Em, &permute(&case.counts, case.seed, 0))?,
    ];
    found.extend(["lda", "nmf", "nmf_kl"].map(|name| peer[name].as_f64().unwrap_or(f64::NAN)));
    let auto = Params { seed: case.seed, ..Params::new(Components::Auto) }.fit_counts(&case.counts)?;
    Ok((found, auto.k()))
}

/// Types over five seeds, beside the thesis's estimator and scikit-learn; perplexities; Zeisel's cells.
pub fn types(request: &Request) -> Outcome<()> {
    let mut page = Page::new("Cell types that were drawn, found again");
    page.say(
        "200 genes, 40,000 cells, five seeds; total variation per type, mean (worst) over seeds. `permuted` unmixes counts whose genes \
         were permuted across bins; `k − 1` and `k + 2` are fits with a wrong k (a true type without a partner counts 1). \
         `TENFOLD_TEST_PYTHON=python cargo run --release -p experiments -- cells-types`",
    );
    let cases = cases(request.seed)?;
    let peers = peers(&cases, &request.data.join("cells-types"))?;
    let mut rows = Vec::new();
    for (k, goal) in GOALS {
        for kind in ["model-true", "point process"] {
            let (mut errors, mut right, mut chosen) = (vec![Vec::new(); METHODS.len()], 0, Vec::new());
            for (i, case) in cases.iter().enumerate().filter(|(_, c)| c.k == k && c.kind == kind) {
                let (found, auto) = measured(case, &peers[i.to_string()])?;
                errors.iter_mut().zip(found).for_each(|(list, x)| list.push(x));
                right += usize::from(auto.abs_diff(k) <= 1);
                chosen.push(auto.to_string());
            }
            let cell = |list: &Vec<f64>| {
                format!("{:.3} ({:.3})", mean(list), list.iter().copied().fold(0.0, f64::max))
            };
            let mut row = vec![kind.to_owned(), k.to_string(), goal.to_string()];
            row.extend(errors.iter().map(cell));
            row.push(format!("{} ({right} of {SEEDS} within 1)", chosen.join(" ")));
            eprintln!("{}", row.join(" | "));
            rows.push(row);
        }
    }
    let headings: Vec<&str> =
        ["drawn", "k", "goal"].into_iter().chain(METHODS).chain(["k by auto"]).collect();
    page.table(&headings, &rows);
    ordering(request, &mut page)?;
    zeisel(&mut page)?;
    page.finish(&request.out, "cells-types")?;
    Ok(())
}

/// Perplexity of single cells under types from cells, from averages, and of permuted cells.
fn ordering(request: &Request, page: &mut Page) -> Outcome<()> {
    page.section("Single cells of drawn tissue");
    page.say(
        "Completion perplexity of 500 drawn single cells (300 transcripts each) under types found from the tissue's cells, from average \
         expression in 10 × 10 voxels, and of the same cells with every gene's levels permuted; k = 8, the thesis's figure (b).",
    );
    let mut rows = Vec::new();
    for seed in request.seed..request.seed + SEEDS {
        let drawn = Synth { seed, ..Synth::default() }.draw()?;
        let cells = drawn.single_cells(500, 300.0, seed + 100).counts;
        let validation = Validation { permutations: 99, seed, ..Validation::default() };
        let params = Params { seed, ..Params::new(8) };
        let ours = validation.judge(&params.fit(&drawn.tissue)?, &cells, &Silent)?;
        let average = params.fit_counts(&voxels(&drawn.tissue, 10))?;
        let average = validation.judge(&average, &cells, &Silent)?;
        rows.push(vec![
            seed.to_string(),
            format!("{:.1}", ours.perplexity),
            format!("{:.1}", average.perplexity),
            format!("{:.1}", ours.permuted_mean()),
            format!("{:.1}", ours.unigram),
            format!("{:.3}", ours.p_value),
        ]);
        eprintln!("{}", rows[rows.len() - 1].join(" | "));
    }
    page.table(&["seed", "point process", "averaged", "permuted", "unigram", "p"], &rows);
    Ok(())
}

/// Zeisel's cells: profiles from every other cell, judged by the rest.
fn zeisel(page: &mut Page) -> Outcome<()> {
    page.section("Single cells of mouse cortex and hippocampus");
    let folder = match protocol::shared_data() {
        Ok(folder) => folder.join("cells"),
        Err(remedy) => {
            page.say(&format!("Left out: {remedy}."));
            return Ok(());
        }
    };
    page.say(
        "Zeisel's counts, 1,000 genes × 1,464 cells: profiles from every other cell, perplexity of the rest by completion, permuted by 199 \
         permutations, and 3-means on √h of all cells against the three classes. Measured in a prototype at k = 8: 402, permuted 439, \
         unigram 462, ARI .92–.96.",
    );
    let all = read_expression(&folder.join("zeisel_counts.tsv.gz"), GenesIn::Rows, &[], None, &Silent)?;
    let text = std::fs::read_to_string(folder.join("zeisel_labels.tsv"))?;
    let classes: std::collections::HashMap<&str, &str> =
        text.lines().filter_map(|l| l.split_once('\t')).collect();
    let mut names: Vec<&str> = classes.values().copied().collect();
    names.sort_unstable();
    names.dedup();
    let label = |cell: &String| classes.get(cell.as_str()).and_then(|c| names.iter().position(|n| n == c));
    let labels: Vec<u32> = all.cells.iter().map(|c| label(c).map_or(u32::MAX, |l| l as u32)).collect();
    let half = |odd: usize| (0..all.counts.rows()).filter(|i| i % 2 == odd).collect::<Vec<_>>();
    let (learn, judge) = (all.counts.take_rows(&half(0)), all.counts.take_rows(&half(1)));
    let mut rows = Vec::new();
    for k in [3, 5, 6, 7, 8, 10] {
        let begin = Instant::now();
        let model = Params::new(k).fit_counts(&learn)?;
        let seconds = begin.elapsed().as_secs_f64();
        let permutations = if k == 8 { 199 } else { 0 };
        let judged = Validation { permutations, ..Validation::default() }.judge(&model, &judge, &Silent)?;
        let mixtures = model.mixtures(&all.counts, &Silent)?;
        let shown = |x: f64| if x.is_nan() { "–".to_owned() } else { format!("{x:.1}") };
        rows.push(vec![
            k.to_string(),
            format!("{:.1}", judged.perplexity),
            shown(judged.permuted_mean()),
            if permutations > 0 { format!("{:.3}", judged.p_value) } else { "–".to_owned() },
            format!("{:.1}", judged.unigram),
            format!("{:.3}", label_agreement(&mixtures, &labels, 0)),
            format!("{seconds:.1}"),
        ]);
        eprintln!("{}", rows[rows.len() - 1].join(" | "));
    }
    page.table(&["k", "perplexity", "permuted", "p", "unigram", "ARI", "seconds"], &rows);
    Ok(())
}

/// Seconds for counts as large as the thesis's, 10,010 bins × 1,743 genes.
pub fn time(request: &Request) -> Outcome<()> {
    let mut page = Page::new("Cell types: time");
    page.say(
        "10,010 bins × 1,743 genes, k = 10, memberships that few types share, about 400 cells a bin, all defaults (six starts), two threads. \
         `cargo run --release -p experiments -- cells-time`",
    );
    let (rows, genes, k) = (10_010, 1_743, 10);
    let mut rng = random::rng(request.seed, 0);
    let sparse = |rng: &mut random::Rng, n: usize, power: i32| {
        let raw: Vec<f64> = (0..n).map(|_| rng.random::<f64>().powi(power)).collect();
        let sum: f64 = raw.iter().sum();
        raw.iter().map(|x| x / sum).collect::<Vec<f64>>()
    };
    let profiles: Vec<Vec<f64>> = (0..k).map(|_| sparse(&mut rng, genes, 4)).collect();
    let mut entries = Vec::new();
    for m in 0..rows {
        let h = sparse(&mut rng, k, 6);
        for _ in 0..400 {
            let pick = |weights: &[f64], rng: &mut random::Rng| {
                let mut at = rng.random::<f64>();
                let found = weights.iter().position(|w| {
                    at -= w;
                    at < 0.0
                });
                found.unwrap_or(weights.len() - 1)
            };
            let t = pick(&h, &mut rng);
            entries.push((m, pick(&profiles[t], &mut rng), 1.0));
        }
    }
    let names = (0..genes).map(|g| format!("g{g}")).collect();
    let counts = GeneCounts::new(names, Csr::from_triplets(rows, genes, &entries))?;
    let truth = Mat::from_fn(k, genes, |t, g| profiles[t][g]);
    let (mut table, mut pools) = (Vec::new(), Vec::new());
    for (solver, threads) in [(Solver::Em, 2), (Solver::Em, 1), (Solver::Nmf, 2)] {
        // Kept to the end: seconds of threads that are gone would be missing.
        pools.push(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?);
        let pool = &pools[pools.len() - 1];
        let begin = Instant::now();
        let fit = || Params { solver, ..Params::new(k) }.fit_counts(&counts);
        let (processor, model) = protocol::cpu_seconds(|| pool.install(fit));
        let (seconds, model) = (begin.elapsed().as_secs_f64(), model?);
        table.push(vec![
            solver.name().to_owned(),
            threads.to_string(),
            counts.matrix().entries().to_string(),
            model.diagnostics().steps.to_string(),
            format!("{seconds:.1}"),
            format!("{processor:.1}"),
            format!("{:.3}", Match::new(&truth, model.profiles()).mean()),
        ]);
        eprintln!("{}", table[table.len() - 1].join(" | "));
    }
    page.table(
        &["solver", "threads", "entries", "steps", "seconds", "processor seconds", "total variation"],
        &table,
    );
    page.finish(&request.out, "cells-time")?;
    Ok(())
}
