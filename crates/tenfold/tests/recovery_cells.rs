//! Cell types that were drawn come back: profiles, how many there are, whose cells they are, and the same on any number of threads.

use tenfold::cells::validate::{Validation, permute, voxels};
use tenfold::cells::{Features, Params, Solver, Synth};
use tenfold::components::Components;
use tenfold::engine::linalg::parallel::with_threads;
use tenfold::engine::progress::Silent;
use tenfold::evaluate::Match;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn drawn_types_come_back() {
    // The goals over five seeds; n cells for each of 200 genes of a type alone make about √(1/(2π n)): .02, .03 and .04.
    for (k, goal) in [(4, 0.05), (8, 0.10), (12, 0.17)] {
        let (mut counted, mut drawn, mut permuted) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 20..23 {
            let synth = Synth { types: k, seed, ..Synth::default() };
            let counts = synth.draw_counts(&Features::default()).unwrap();
            let model = Params::new(k).fit_counts(&counts.counts).unwrap();
            counted.push(Match::new(&counts.profiles, model.profiles()).mean());
            let chance = Params::new(k).fit_counts(&permute(&counts.counts, seed, 0)).unwrap();
            permuted.push(Match::new(&counts.profiles, chance.profiles()).mean());
            let tissue = synth.draw().unwrap();
            let model = Params::new(k).fit(&tissue.tissue).unwrap();
            drawn.push(Match::new(&tissue.profiles, model.profiles()).mean());
        }
        assert!(mean(&counted) <= goal, "k = {k}, model-true: {counted:?}");
        assert!(mean(&drawn) <= goal, "k = {k}, point process: {drawn:?}");
        assert!(mean(&permuted) > 0.3, "k = {k}, permuted: {permuted:?}");
    }
}

#[test]
fn the_number_of_types_is_found() {
    for (k, seed) in [(4, 30), (8, 31), (12, 32)] {
        let drawn = Synth { types: k, seed, ..Synth::default() }.draw().unwrap();
        let model = Params::new(Components::Auto).fit(&drawn.tissue).unwrap();
        assert!(model.k().abs_diff(k) <= 1, "{} for {k}", model.k());
        assert!(model.diagnostics().curve.len() >= model.k() + 3, "the curve goes beyond the best");
    }
}

#[test]
fn least_squares_find_types_too() {
    let drawn = Synth { types: 4, seed: 21, ..Synth::default() }.draw_counts(&Features::default()).unwrap();
    let model = Params { solver: Solver::Nmf, ..Params::new(4) }.fit_counts(&drawn.counts).unwrap();
    let error = Match::new(&drawn.profiles, model.profiles()).mean();
    assert!(error < 0.1, "{error}");
}

#[test]
fn cells_are_told_apart() {
    let drawn = Synth { types: 4, seed: 24, ..Synth::default() }.draw().unwrap();
    let model = Params::new(4).fit(&drawn.tissue).unwrap();
    let partners = Match::new(&drawn.profiles, model.profiles()).partners().to_vec();
    let found = model.infer(&drawn.tissue).unwrap();
    let (mut right, mut expected) = (0.0, 0.0);
    for (section, labels) in found.sections.iter().zip(&drawn.labels) {
        for (c, label) in labels.iter().enumerate() {
            let row = section.row(c);
            let best = (0..4).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
            right += f64::from(u8::from(partners[*label] == Some(best)));
            expected += row[best];
        }
    }
    let n = drawn.tissue.len() as f64;
    // As many are right as the posteriors say, up to what estimated profiles cost.
    assert!((right / n - expected / n).abs() < 0.03, "{} {}", right / n, expected / n);
    assert!(right / n > 0.8, "{}", right / n);
}

#[test]
fn single_cells_prefer_types_of_cells_to_averages_and_to_chance() {
    let drawn = Synth { seed: 25, ..Synth::default() }.draw().unwrap();
    let cells = drawn.single_cells(200, 200.0, 1).counts;
    let validation = Validation { permutations: 19, ..Validation::default() };
    let ours = validation.judge(&Params::new(8).fit(&drawn.tissue).unwrap(), &cells, &Silent).unwrap();
    let average = Params::new(8).fit_counts(&voxels(&drawn.tissue, 10)).unwrap();
    let average = validation.judge(&average, &cells, &Silent).unwrap();
    let words = format!("{} {} {}", ours.perplexity, average.perplexity, ours.permuted_mean());
    assert!(ours.perplexity < average.perplexity && average.perplexity < ours.permuted_mean(), "{words}");
    assert_eq!(ours.p_value, 0.05);
}

#[test]
fn same_bytes_on_any_number_of_threads() {
    let drawn = Synth { types: 3, genes: 60, cells: 6000, seed: 26, ..Synth::default() }.draw().unwrap();
    for params in [Params::new(Components::Auto), Params { solver: Solver::Nmf, ..Params::new(3) }] {
        let run = |threads| {
            let bytes = || params.fit(&drawn.tissue).unwrap().to_bytes().unwrap();
            with_threads(threads, bytes)
        };
        let one = run(1);
        for threads in [2, 3, 8] {
            assert!(run(threads) == one, "{threads} threads");
        }
    }
}

#[test]
fn what_cannot_be_fitted_is_told() {
    let drawn = Synth { types: 2, genes: 3, cells: 100, ..Synth::default() }.draw().unwrap();
    let words = |k: usize| Params::new(k).fit(&drawn.tissue).unwrap_err().to_string();
    assert!(words(4).contains("3 genes"), "{}", words(4));
    assert!(words(0).contains("at least one cell type"), "{}", words(0));
    let nothing = Synth { types: 2, genes: 3, cells: 0, ..Synth::default() }.draw().unwrap().tissue;
    assert!(Params::new(2).fit(&nothing).unwrap_err().to_string().contains("no cell"));
}
