//! Independent columns are sources already, and the verdict notes it; of mixtures it says no such thing.

use rand::RngExt;
use tenfold::engine::linalg::Mat;
use tenfold::engine::linalg::random::{gaussian, normal, rng};
use tenfold::ica::Params;

const LAWS: [&str; 5] = ["uniform", "Laplace", "exponential", "Student's of 5", "each another"];

fn sources(law: usize, samples: usize, columns: usize, seed: u64) -> Mat {
    let mut rng = rng(seed, 700);
    Mat::from_fn(samples, columns, |_, j| {
        let even: f64 = rng.random::<f64>().max(1e-12);
        let sign = if rng.random::<f64>() < 0.5 { -1.0 } else { 1.0 };
        match if law == 4 { j % 4 } else { law } {
            0 => even,
            1 => sign * even.ln(),
            2 => -even.ln(),
            _ => {
                let square: f64 = (0..5).map(|_| normal(&mut rng).powi(2)).sum();
                normal(&mut rng) * (5.0 / square).sqrt()
            }
        }
    })
}

fn told(samples: &Mat, seed: u64) -> bool {
    let model = Params { seed, ..Params::new(samples.cols()) }.fit(samples).unwrap();
    model.verdict().findings().iter().any(|(_, text)| text.starts_with("nothing was mixed"))
}

#[test]
fn independent_columns_were_not_mixed_and_mixtures_were() {
    for (law, name) in LAWS.iter().enumerate() {
        for seed in 0..8 {
            let columns = 2 + seed as usize % 5;
            let sources = sources(law, 3000, columns, seed);
            assert!(told(&sources, seed), "{name}, {columns} columns, seed {seed}");
            let mixture = sources.matmul(&gaussian(columns, columns, &mut rng(seed, 701)));
            assert!(!told(&mixture, seed), "mixture, {name}, {columns} columns, seed {seed}");
        }
    }
}

#[test]
fn a_small_part_of_another_source_is_a_mixture() {
    for seed in 0..8 {
        let mut samples = sources(1, 10_000, 4, seed);
        for t in 0..samples.rows() {
            let row = samples.row_mut(t);
            row[2] += 0.15 * row[0];
        }
        assert!(!told(&samples, seed), "seed {seed}");
    }
}
