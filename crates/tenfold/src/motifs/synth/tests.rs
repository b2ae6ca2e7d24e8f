use super::*;
use tenfold_engine::linalg::parallel::with_threads;

/// Σ over events of what they add, index by index.
fn directly(synth: &Synth, drawn: &Drawn, trial: usize) -> Vec<f64> {
    let (n, m) = (synth.window, synth.length);
    let mut x = vec![0.0; synth.channels * n.len()];
    for event in drawn.events.iter().filter(|event| event.trial == trial) {
        for c in 0..synth.channels {
            for i in 0..m.rows {
                for j in 0..m.columns {
                    let (mut r, mut t) = (event.row + i as i64, event.start + j as i64);
                    if synth.cyclic {
                        (r, t) = (r.rem_euclid(n.rows as i64), t.rem_euclid(n.columns as i64));
                    }
                    if r < 0 || r >= n.rows as i64 || t < 0 || t >= n.columns as i64 {
                        continue;
                    }
                    let tap = drawn.filters.channel(event.motif, c)[i * m.columns + j];
                    x[c * n.len() + r as usize * n.columns + t as usize] += event.amplitude * tap;
                }
            }
        }
    }
    x
}

#[test]
fn signals_are_the_sum_of_their_events() {
    let line = Synth { windows: 3, window: Extent::line(40), length: Extent::line(9), ..Synth::default() };
    let full = Synth { length: Extent::line(40), shape: Shape::Smooth, ..line.clone() };
    let open =
        Synth { cyclic: false, channels: 2, activation: Activation::BernoulliGaussian(0.2), ..line.clone() };
    let plane =
        Synth { window: Extent::plane(12, 10), length: Extent::plane(5, 4), channels: 2, ..line.clone() };
    let dense = Synth { activation: Activation::Exponential, ..plane.clone() };
    for synth in [line, full, open, plane, dense] {
        let drawn = synth.draw().unwrap();
        for (trial, stretch) in drawn.signals.stretches().iter().enumerate() {
            let expected = directly(&synth, &drawn, trial);
            assert!(expected.iter().any(|x| *x != 0.0));
            assert!(stretch.values.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{synth:?}");
        }
        for l in 0..synth.motifs {
            assert!((drawn.filters.motif(l).iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn activations_have_the_cumulants_they_claim() {
    for activation in [
        Activation::Poisson(0.3),
        Activation::Exponential,
        Activation::BernoulliExponential(0.2),
        Activation::BernoulliGaussian(0.3),
        Activation::BernoulliGaussian(1.0),
    ] {
        let (places, mut rng) = (400_000, random::rng(1, 0));
        let mut w = vec![0.0; places];
        activation.draw(places, &mut rng, |place, amplitude| w[place] += amplitude);
        let mean = w.iter().sum::<f64>() / places as f64;
        let central = |p: i32| w.iter().map(|x| (x - mean).powi(p)).sum::<f64>() / places as f64;
        let found = [mean, central(2), central(3), central(4) - 3.0 * central(2).powi(2)];
        // Five standard errors, from the moments of twice the order; the fourth takes that of the squared variance along.
        for order in 1..=4 {
            let p = order as i32;
            let error = 5.0 * ((central(2 * p) - central(p).powi(2)).max(0.0) / places as f64).sqrt();
            let error = if order == 4 { 2.0 * error } else { error };
            let (have, want) = (found[order - 1], activation.cumulant(order));
            assert!((have - want).abs() < error, "{activation:?} order {order}: {have} ≠ {want} ± {error}");
        }
    }
}

#[test]
fn threads_do_not_matter_and_seeds_do() {
    let synth = Synth { windows: 700, noise: 0.5, ..Synth::default() };
    let one = with_threads(1, || synth.draw().unwrap());
    assert_eq!(one, with_threads(3, || synth.draw().unwrap()));
    assert_ne!(one.signals, Synth { seed: 1, ..synth }.draw().unwrap().signals);
}

#[test]
fn noise_is_measured_by_the_signal() {
    let quiet = Synth { windows: 2000, keep_events: false, ..Synth::default() };
    let loud = Synth { noise: 2.0, ..quiet.clone() };
    let (quiet, loud) = (quiet.draw().unwrap(), loud.draw().unwrap());
    let all = |drawn: &Drawn| -> Vec<f64> {
        drawn.signals.stretches().iter().flat_map(|s| s.values.clone()).collect()
    };
    let (x, y) = (all(&quiet), all(&loud));
    let variance = |x: &[f64]| {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / x.len() as f64
    };
    let noise: Vec<f64> = x.iter().zip(&y).map(|(a, b)| b - a).collect();
    // 128,000 numbers: the ratio of variances is known to 0.4%.
    assert!((variance(&noise) / variance(&x) / 4.0 - 1.0).abs() < 0.02);
    assert!(quiet.events.is_empty());
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let bad = |change: &dyn Fn(&mut Synth)| {
        let mut synth = Synth::default();
        change(&mut synth);
        synth.draw().unwrap_err().to_string()
    };
    assert!(bad(&|s| s.length = Extent::line(65)).contains("1 × 65"));
    assert!(bad(&|s| s.motifs = 0).contains("at least 1"));
    assert!(bad(&|s| s.noise = f64::NAN).contains("noise"));
    assert!(bad(&|s| s.activation = Activation::Poisson(0.0)).contains("activity"));
    assert!(bad(&|s| s.activation = Activation::BernoulliGaussian(1.5)).contains("at most 1"));
}
