//! Detection measured on planes that were never files: `cells-detect drawn`. `experiments/cells/detect.py` measures the command on image files.

#![forbid(unsafe_code)]

use std::error::Error;
use std::time::Instant;
use tenfold::cells::Cell;
use tenfold::cells::detect::Params;
use tenfold::cells::synth::{Profile, Scatter, Scene};
use tenfold::engine::progress::Silent;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["drawn"] => drawn(),
        _ => Err("cells-detect drawn".into()),
    }
}

/// 1 and 10 megapixels, 500 cells in each, 15 % touching, signal to noise 5, uneven background.
fn drawn() -> Result<(), Box<dyn Error>> {
    println!("| profile | pixels | seed | cells | found | F1 at 5 px | r1 | r2 | orientation | seconds |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (profile, name) in [(Profile::Gaussian, "Gaussian"), (Profile::Soft(1.2), "soft")] {
        for (side, seeds) in [(1000, 5), (3163, 1)] {
            for seed in 0..seeds {
                let (width, height, cells) = (side as f64, side as f64, side * side / 2000);
                let truth = Scatter { width, height, cells, seed, ..Scatter::default() }.draw()?.cells;
                let image =
                    Scene { width: side, height: side, profile, seed, ..Scene::default() }.draw(&truth);
                let start = Instant::now();
                let found = Params::default().find(&image, &Silent)?.cells;
                let seconds = start.elapsed().as_secs_f64();
                let pairs = pairs(&found, &truth, 5.0);
                let error = |of: fn(&Cell) -> f64| {
                    median(pairs.iter().map(|(a, b)| 100.0 * (of(a) / of(b) - 1.0).abs()).collect())
                };
                let long = pairs.iter().filter(|(_, b)| b.r1 > 1.25 * b.r2);
                println!(
                    "| {name} | {side}² | {seed} | {} | {} | {:.4} | {:.1} % | {:.1} % | {:.1}° | {seconds:.1} |",
                    truth.len(),
                    found.len(),
                    2.0 * pairs.len() as f64 / (found.len() + truth.len()) as f64,
                    error(|c| c.r1),
                    error(|c| c.r2),
                    median(long.map(|(a, b)| turned(a, b)).collect()),
                );
            }
        }
    }
    Ok(())
}

/// Pairs of a found and a true cell within `most` pixels, the nearest first, each cell in one. Both come sorted from the top down.
fn pairs(found: &[Cell], truth: &[Cell], most: f64) -> Vec<(Cell, Cell)> {
    let mut truth = truth.to_vec();
    truth.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut near = Vec::new();
    for (i, a) in found.iter().enumerate() {
        let first = truth.partition_point(|b| b.y < a.y - most);
        for (j, b) in truth.iter().enumerate().skip(first).take_while(|(_, b)| b.y <= a.y + most) {
            let far = (a.x - b.x).hypot(a.y - b.y);
            if far <= most {
                near.push((far, i, j));
            }
        }
    }
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut used, mut met) = (vec![false; found.len()], vec![false; truth.len()]);
    let mut pairs = Vec::new();
    for (_, i, j) in near {
        if !used[i] && !met[j] {
            (used[i], met[j]) = (true, true);
            pairs.push((found[i], truth[j]));
        }
    }
    pairs
}

fn turned(a: &Cell, b: &Cell) -> f64 {
    let turn = (a.orientation - b.orientation).rem_euclid(std::f64::consts::PI);
    turn.min(std::f64::consts::PI - turn).to_degrees()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
