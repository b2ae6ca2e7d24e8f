use super::*;
use rand::RngExt;
use tenfold_engine::linalg::{parallel, random};
use tenfold_engine::progress::Silent;

fn filters(count: usize, channels: usize, extent: Extent, seed: u64) -> Filters {
    let mut rng = random::rng(seed, 1);
    let values = (0..count).flat_map(|_| random::sphere(channels * extent.len(), &mut rng)).collect();
    Filters::new(values, channels, extent)
}

/// A stretch on which every motif fires with probability `rate` a sample, and its firings.
fn drawn(
    filters: &Filters,
    extent: Extent,
    cyclic: bool,
    rate: f64,
    noise: f64,
    seed: u64,
) -> (Stretch, Vec<Spot>) {
    let mut rng = random::rng(seed, 2);
    let values = (0..filters.channels * extent.len()).map(|_| noise * random::normal(&mut rng)).collect();
    let mut canvas = Canvas { values, filters, extent, cyclic };
    let mut spots = Vec::new();
    let before = |m: usize| if cyclic { 0 } else { 1 - m as i64 };
    for motif in 0..filters.count() {
        for row in before(filters.extent.rows)..extent.rows as i64 {
            for column in before(filters.extent.columns)..extent.columns as i64 {
                if rng.random::<f64>() < rate {
                    let spot = Spot { motif, row, column, amplitude: 1.0 + rng.random::<f64>() };
                    canvas.draw(&spot, spot.amplitude);
                    spots.push(spot);
                }
            }
        }
    }
    (Stretch { values: canvas.values, extent, trial: 0, offset: 0 }, spots)
}

fn signals(stretches: Vec<Stretch>, channels: usize, cyclic: bool) -> Signals {
    Signals::new(stretches, (0..channels).map(|c| c.to_string()).collect(), None, cyclic)
}

/// F1 of events against firings of which at least half is inside: same motif, at most `apart` samples away, one to one.
fn f1(events: &[Event], truth: &[Spot], filters: &Filters, extent: Extent, cyclic: bool, apart: i64) -> f64 {
    let canvas = Canvas { values: vec![0.0; filters.channels * extent.len()], filters, extent, cyclic };
    let clear = |spot: &Spot| canvas.correlate(spot).1 >= 0.5;
    let mut used = vec![false; truth.len()];
    let (mut hits, mut wrong) = (0, 0);
    for event in events {
        let matches = |at: &usize| {
            let spot = &truth[*at];
            let rows = (spot.row - event.row).abs();
            !used[*at]
                && spot.motif == event.motif
                && rows <= apart
                && (spot.column - event.start).abs() <= apart
        };
        let spot = Spot { motif: event.motif, row: event.row, column: event.start, amplitude: 0.0 };
        match (0..truth.len()).find(matches) {
            Some(at) => {
                used[at] = true;
                hits += usize::from(clear(&truth[at]));
            }
            None => wrong += usize::from(clear(&spot)),
        }
    }
    let missed = truth.iter().zip(&used).filter(|(spot, used)| !**used && clear(spot)).count();
    2.0 * hits as f64 / (2 * hits + wrong + missed) as f64
}

#[test]
fn least_squares_is_the_pseudo_inverse_of_the_circulant_matrix() {
    use tenfold_engine::linalg::{Mat, pinv};
    for (l, c, grid, m) in [
        (1, 1, Extent::line(7), Extent::line(3)),
        (3, 1, Extent::line(8), Extent::line(4)),
        (2, 3, Extent::line(6), Extent::line(3)),
        (3, 2, Extent::plane(3, 4), Extent::plane(2, 2)),
    ] {
        let filters = filters(l, c, m, 5);
        let (x, _) = drawn(&filters, grid, true, 0.2, 0.3, 6);
        let n = grid.len();
        let mut matrix = Mat::zeros(c * n, l * n);
        for motif in 0..l {
            for at in 0..n {
                let (row, column) = ((at / grid.columns) as i64, (at % grid.columns) as i64);
                let mut canvas =
                    Canvas { values: vec![0.0; c * n], filters: &filters, extent: grid, cyclic: true };
                canvas.draw(&Spot { motif, row, column, amplitude: 1.0 }, 1.0);
                (0..c * n).for_each(|i| matrix[(i, motif * n + at)] = canvas.values[i]);
            }
        }
        let inverse = pinv(&matrix, 1e-12).unwrap();
        let w = least_squares(&filters, &x, true);
        for (i, w) in w.iter().enumerate() {
            let directly: f64 = (0..c * n).map(|j| inverse[(i, j)] * x.values[j]).sum();
            // The ridge of a millionth moves what is far from spectral zeros by about that.
            assert!((w - directly).abs() < 1e-3 * (1.0 + directly.abs()), "{l} {c}: {w} for {directly}");
        }
    }
}

#[test]
fn a_pursuit_meets_the_conditions_of_its_minimum() {
    // |Fᵀ(x − Fw)| ≤ λ everywhere and = λ where w > 0: then w is the minimiser, whatever found it.
    for (channels, motifs, cyclic) in [(1, 3, true), (1, 3, false), (3, 2, false), (2, 4, true)] {
        let filters = filters(motifs, channels, Extent::line(6), 8);
        let (stretch, _) = drawn(&filters, Extent::line(50), cyclic, 0.03, 0.1, 9);
        let lambda = 0.3;
        let pursuit = Pursuit { lambda, signed: false, max_iterations: 20_000, tolerance: 1e-8 };
        let found =
            Banks::new(&filters).activations(std::slice::from_ref(&stretch), cyclic, Some(&pursuit), &Silent);
        let found = found.unwrap().remove(0);
        assert!(found.converged);
        let mut canvas =
            Canvas { values: stretch.values.clone(), filters: &filters, extent: stretch.extent, cyclic };
        found.spots.iter().for_each(|spot| canvas.draw(spot, -spot.amplitude));
        assert!(!found.spots.is_empty());
        for spot in &found.spots {
            assert!((canvas.correlate(spot).0 - lambda).abs() < 1e-4, "{channels} {motifs} {cyclic}");
        }
        for motif in 0..motifs {
            for column in if cyclic { 0 } else { -5 }..50 {
                let product = canvas.correlate(&Spot { motif, row: 0, column, amplitude: 0.0 }).0;
                assert!(product < lambda + 1e-4, "{channels} {motifs} {cyclic} at {column}: {product}");
            }
        }
    }
}

#[test]
fn pieces_give_what_the_whole_gives() {
    let filters = filters(3, 2, Extent::line(12), 3);
    for cyclic in [false, true] {
        let (stretch, _) = drawn(&filters, Extent::line(3000), cyclic, 0.01, 0.05, 4);
        let dense = |longest| {
            let mut banks = Banks::new(&filters);
            banks.longest = Some(longest);
            let pursuit = Pursuit { lambda: 0.15, signed: false, max_iterations: 3000, tolerance: 1e-6 };
            let found =
                banks.activations(std::slice::from_ref(&stretch), cyclic, Some(&pursuit), &Silent).unwrap();
            let mut maps = vec![0.0; 3 * 3011];
            for spot in &found[0].spots {
                maps[spot.motif * 3011 + (spot.column + 11) as usize] = spot.amplitude;
            }
            maps
        };
        let (whole, pieces) = (dense(8192), dense(640));
        let worst = whole.iter().zip(&pieces).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Amplitudes are 1 to 2; both pursuits end at a relative residual of 1e-6.
        assert!(worst < 1e-3, "{cyclic}: {worst}");
    }
}

#[test]
fn firings_are_found_in_noise() {
    // Motifs of 16 taps and unit norm, amplitudes 1 to 2, noise of sd .1: a product has a signal of ten noises.
    for (seed, signed) in [(1, false), (2, true), (3, false)] {
        let filters = filters(3, 1, Extent::line(16), seed);
        let (stretch, truth) = drawn(&filters, Extent::line(4000), false, 0.02, 0.1, seed);
        let all = signals(vec![stretch], 1, false);
        let decoded = decode(&filters, &all, &Decoding { signed, ..Decoding::default() }, &Silent).unwrap();
        let score = f1(&decoded.events, &truth, &filters, Extent::line(4000), false, 1);
        assert!(score >= 0.95, "seed {seed}: F1 {score}, noise {}", decoded.noise);
        assert!((decoded.noise - 0.1).abs() < 0.02, "noise {}", decoded.noise);
        assert!(
            decoded.explained > 0.85 && (decoded.residual_sd - 0.1).abs() < 0.02,
            "{}",
            decoded.residual_sd
        );
    }
}

#[test]
fn firings_are_found_in_images() {
    let filters = filters(2, 1, Extent::plane(5, 5), 11);
    let extent = Extent::plane(60, 70);
    let (stretch, truth) = drawn(&filters, extent, false, 0.005, 0.05, 12);
    let decoded = decode(&filters, &signals(vec![stretch], 1, false), &Decoding::default(), &Silent).unwrap();
    let score = f1(&decoded.events, &truth, &filters, extent, false, 0);
    assert!(score >= 0.95, "F1 {score}");
}

#[test]
fn threads_change_nothing() {
    let filters = filters(2, 2, Extent::line(9), 21);
    let stretches =
        (0..6).map(|i| drawn(&filters, Extent::line(100 + 60 * i), false, 0.02, 0.1, 30 + i as u64).0);
    let all = signals(stretches.collect(), 2, false);
    let run = |threads| {
        parallel::with_threads(threads, || decode(&filters, &all, &Decoding::default(), &Silent).unwrap())
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
    assert!(!one.events.is_empty());
}

#[test]
fn least_squares_finds_lonely_firings_and_bad_choices_are_named() {
    let filters = filters(1, 1, Extent::line(8), 40);
    let (stretch, truth) = drawn(&filters, Extent::line(400), true, 0.02, 0.0, 41);
    let all = signals(vec![stretch], 1, true);
    let decoding = Decoding { method: Method::LeastSquares, threshold: Some(0.5), ..Decoding::default() };
    let decoded = decode(&filters, &all, &decoding, &Silent).unwrap();
    assert!(decoded.explained > 0.999);
    let score = f1(&decoded.events, &truth, &filters, Extent::line(400), true, 0);
    // Two of the five lie next to each other and count as one: a peak has no neighbours.
    assert!(score > 0.85, "F1 {score}");
    let bad = Decoding { lambda: Some(-1.0), ..Decoding::default() };
    assert!(decode(&filters, &all, &bad, &Silent).unwrap_err().to_string().contains("lambda"));
    let wide = signals(Vec::new(), 2, false);
    assert!(
        decode(&filters, &wide, &Decoding::default(), &Silent)
            .unwrap_err()
            .to_string()
            .contains("2 channels")
    );
    let nothing = decode(&filters, &signals(Vec::new(), 1, false), &Decoding::default(), &Silent).unwrap();
    assert!(nothing.events.is_empty() && nothing.explained == 0.0);
}

#[test]
fn nothing_of_a_constant_is_explained() {
    let filters = filters(2, 1, Extent::line(8), 50);
    // 0.1 is no number of binary digits, and 97 is none of its powers: sums of it are rounded.
    for value in [0.1, -7.3e5, 1e-9, 0.0] {
        let stretches = (0..3).map(|trial| Stretch {
            values: vec![value; 97 + trial],
            extent: Extent::line(97 + trial),
            trial,
            offset: 0,
        });
        let all = signals(stretches.collect(), 1, false);
        let decoded = decode(&filters, &all, &Decoding::default(), &Silent).unwrap();
        assert_eq!(decoded.explained, 0.0, "{value}");
    }
}

#[test]
fn a_variance_keeps_its_digits_far_from_zero_and_in_parts() {
    let values: Vec<f64> = (0..1000).map(|i| f64::from((i * 7919) % 1009)).collect();
    let mean = values.iter().sum::<f64>() / 1000.0;
    let expected = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1000.0;
    for far in [0.0, 1e9] {
        let mut spread = Spread::default();
        for part in values.chunks(137) {
            spread.add(part.iter().map(|x| x + far));
        }
        spread.add(std::iter::empty());
        assert!((spread.variance() / expected - 1.0).abs() < 1e-9, "{far}: {}", spread.variance());
    }
    assert_eq!(Spread::default().variance(), 0.0);
}
