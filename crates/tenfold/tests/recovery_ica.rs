//! ICA recovers drawn sources as accurately as theory allows, whatever the seed, the contrast and the solver.

use rand::RngExt;
use tenfold::engine::decompose::{Als, Online, Polar, Power, Simultaneous, Solver};
use tenfold::engine::linalg::{Mat, assign, parallel, random};
use tenfold::evaluate::amari_distance;
use tenfold::ica::{Components, Contrast, Drawn, Model, Params, Polish, Shape, Synth};

const SHAPES: [Shape; 3] = [Shape::Laplace, Shape::Uniform, Shape::Exponential];

/// P = unmixing · mixing with every estimated source at the place of its true one and a unit diagonal.
fn aligned(model: &Model, drawn: &Drawn) -> Mat {
    let p = model.unmixing().matmul(&drawn.mixing);
    let place = assign(&p.map(f64::abs).transpose());
    Mat::from_fn(p.rows(), p.cols(), |i, j| p[(place[i], j)] / p[(place[i], i)])
}

/// First-order theory of the cumulant estimate: the share Δ_ij of source j in source i solves
/// Δ_ij (|κ_i| + |κ_j|) = mean of s_i s_j [σ_i (s_i² − 3) − σ_j (s_j² − 3) − |κ_i|], σ the sign of κ. Its variance is the
/// second moment of that product over n (|κ_i| + |κ_j|)², taken here from 400,000 draws.
fn cumulant_variance(i: Shape, j: Shape, n: usize) -> f64 {
    let kurtosis = |shape: Shape| match shape {
        Shape::Laplace => 3.0,
        Shape::Uniform => -1.2,
        Shape::Exponential => 6.0,
        Shape::Sign => -2.0,
        Shape::Gaussian => 0.0f64,
    };
    let (ki, kj) = (kurtosis(i), kurtosis(j));
    let mut rng = random::rng(99, 0);
    let draws = 400_000;
    let squares: f64 = (0..draws)
        .map(|_| {
            let (a, b) = (i.draw(&mut rng), j.draw(&mut rng));
            let factor = ki.signum() * (a * a - 3.0) - kj.signum() * (b * b - 3.0) - ki.abs();
            (a * b * factor).powi(2)
        })
        .sum();
    squares / draws as f64 / (n as f64 * (ki.abs() + kj.abs()).powi(2))
}

#[test]
fn cumulant_errors_have_the_variance_of_first_order_theory() {
    let (k, n, seeds) = (6, 40_000, 6);
    let (mut total, mut terms) = (0.0, 0);
    for seed in 0..seeds {
        let drawn =
            Synth { samples: n, columns: k, sources: k, shapes: SHAPES.into(), seed, ..Default::default() }
                .draw();
        let params = Params { polish: Polish::None, seed, ..Params::new(k) };
        let p = aligned(&params.fit(&drawn.samples).unwrap(), &drawn);
        for i in 0..k {
            for j in (0..k).filter(|&j| j != i) {
                total += p[(i, j)].powi(2) / cumulant_variance(SHAPES[i % 3], SHAPES[j % 3], n);
                terms += 1;
            }
        }
    }
    // 180 squared normal errors, correlated in pairs: the mean is 1 ± 0.15; exponential tails of order eight widen it.
    let ratio = total / terms as f64;
    assert!((0.6..1.6).contains(&ratio), "mean squared error is {ratio:.2} times the theory's");
}

/// Every solver separates, for sources of both kurtosis signs: the cumulants alone to their first-order error, and with
/// the polish to the likelihood's.
#[test]
fn every_solver_separates_every_seed() {
    let (n, k) = (20_000, 6);
    // The mean size of a normal error is √(2/π) of its deviation; rows and columns each add k − 1 of them, divided by
    // the k − 1 of the definition. Twice that leaves room for the exponential sources' tails.
    let deviations = (0..k).flat_map(|i| (0..k).filter(move |&j| j != i).map(move |j| (i, j)));
    let mean =
        deviations.map(|(i, j)| cumulant_variance(SHAPES[i % 3], SHAPES[j % 3], n).sqrt()).sum::<f64>();
    let allowed = 2.0 * (2.0 / std::f64::consts::PI).sqrt() * mean / (k * (k - 1)) as f64;
    for seed in 0..5 {
        let drawn =
            Synth { samples: n, columns: 9, sources: k, noise: 0.0, seed, ..Default::default() }.draw();
        for solver in [
            Solver::Polar(Polar::default()),
            Solver::Power(Power::default()),
            Solver::Als(Als { restarts: 1, ..Als::default() }),
            Solver::Simultaneous(Simultaneous::default()),
            Solver::Online(Online::default()),
        ] {
            let name = solver.name();
            let params = Params { solver, seed, batch: 256, ..Params::new(k) };
            let distance = |params: &Params| {
                let model = params.fit(&drawn.samples).unwrap();
                (amari_distance(&model.unmixing().matmul(&drawn.mixing)), model)
            };
            let (plain, _) = distance(&Params { polish: Polish::None, ..params.clone() });
            assert!(plain < allowed, "{name}, seed {seed}: {plain} against {allowed}");
            let (polished, model) = distance(&params);
            assert!(polished < plain, "{name}, seed {seed}: polished {polished}, before {plain}");
            assert!(model.verdict().is_sound(), "{name}, seed {seed}: {}", model.summary());
        }
    }
}

#[test]
fn polish_is_nearer_the_truth_than_cumulants() {
    let mut means = [0.0, 0.0];
    for seed in 0..5 {
        let drawn = Synth { samples: 10_000, columns: 9, sources: 9, seed, ..Default::default() }.draw();
        for (mean, polish) in means.iter_mut().zip([Polish::Likelihood, Polish::None]) {
            let model = Params { polish, seed, ..Params::new(9) }.fit(&drawn.samples).unwrap();
            *mean += amari_distance(&model.unmixing().matmul(&drawn.mixing)) / 5.0;
        }
    }
    assert!(means[0] < 0.6 * means[1], "polished {}, cumulants {}", means[0], means[1]);
}

#[test]
fn skewness_separates_skewed_sources() {
    for seed in 0..5 {
        let shapes = vec![Shape::Exponential];
        let drawn =
            Synth { samples: 20_000, columns: 5, sources: 5, shapes, seed, ..Default::default() }.draw();
        let params = Params { contrast: Contrast::Skewness, polish: Polish::None, seed, ..Params::new(5) };
        let model = params.fit(&drawn.samples).unwrap();
        let distance = amari_distance(&model.unmixing().matmul(&drawn.mixing));
        // A pair's angle has variance (E s⁴ − …)/(n (γ_i + γ_j)²) ≈ 1/n: 0.007, and Amari averages their sizes.
        assert!(distance < 0.02, "seed {seed}: {distance}");
        assert!(model.skewness().iter().all(|s| s.abs() > 1.5), "{:?}", model.skewness());
    }
}

#[test]
fn number_of_sources_is_found_in_noise() {
    for seed in 0..10 {
        let drawn =
            Synth { samples: 5_000, columns: 12, sources: 4, noise: 0.1, seed, ..Default::default() }.draw();
        let model = Params { seed, ..Params::new(Components::Auto) }.fit(&drawn.samples).unwrap();
        assert_eq!(model.k(), 4, "seed {seed}");
    }
}

#[test]
fn gaussian_sources_are_called_out() {
    let shapes = vec![Shape::Laplace, Shape::Gaussian, Shape::Gaussian];
    let drawn = Synth { samples: 20_000, columns: 3, sources: 3, shapes, ..Default::default() }.draw();
    let model = Params::new(3).fit(&drawn.samples).unwrap();
    assert!(!model.verdict().is_sound() && model.summary().contains("Gaussian"), "{}", model.summary());
    // Pure noise: nothing is found, and the fit says so.
    let noise = random::gaussian(5_000, 4, &mut random::rng(1, 0));
    let model = Params::new(4).fit(&noise).unwrap();
    assert!(
        model.summary().contains("none of the 4 sources can be told from Gaussian noise: nothing was found"),
        "{}",
        model.summary()
    );
}

#[test]
fn inference_mixing_and_scale_are_consistent() {
    let drawn = Synth { samples: 4_000, columns: 5, sources: 5, ..Default::default() }.draw();
    let shifted = drawn.samples.map(|x| 3.0 * x + 100.0);
    let model = Params::new(5).fit(&shifted).unwrap();
    let sources = model.infer(&shifted).unwrap();
    for c in 0..5 {
        let column = sources.col(c);
        let mean = column.iter().sum::<f64>() / 4000.0;
        let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4000.0;
        assert!(mean.abs() < 1e-9 && (variance - 1.0).abs() < 1e-9, "source {c}: {mean} {variance}");
    }
    let back = model.mix(&sources);
    let worst =
        back.as_slice().iter().zip(shifted.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-9, "mixing back differs by {worst}");
    // Scale and offset of the data do not move the sources.
    let plain = Params::new(5).fit(&drawn.samples).unwrap().infer(&drawn.samples).unwrap();
    let moved =
        plain.as_slice().iter().zip(sources.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved < 1e-6, "sources moved by {moved}");
}

#[test]
fn permuting_samples_or_columns_changes_nothing_else() {
    let drawn = Synth { samples: 3_000, columns: 4, sources: 4, ..Default::default() }.draw();
    let x = &drawn.samples;
    let model = Params::new(4).fit(x).unwrap();
    let order = random::permutation(3_000, &mut random::rng(3, 0));
    let shuffled = Mat::from_fn(3_000, 4, |i, j| x[(order[i], j)]);
    let again = Params::new(4).fit(&shuffled).unwrap();
    let mut difference = again.unmixing().clone();
    difference.add_scaled(-1.0, model.unmixing());
    assert!(difference.max_abs() < 1e-6, "samples: {}", difference.max_abs());
    let turned = Mat::from_fn(3_000, 4, |i, j| x[(i, 3 - j)]);
    let again = Params::new(4).fit(&turned).unwrap();
    for i in 0..4 {
        for j in 0..4 {
            let (a, b) = (again.unmixing()[(i, j)].abs(), model.unmixing()[(i, 3 - j)].abs());
            assert!((a - b).abs() < 1e-6, "columns: {a} {b}");
        }
    }
}

#[test]
fn wide_data_use_products_only_and_still_separate() {
    // 1,100 columns: beyond the width for which a covariance is formed.
    let drawn = Synth { samples: 3_000, columns: 1_100, sources: 3, ..Default::default() }.draw();
    let model = Params::new(3).fit(&drawn.samples).unwrap();
    let distance = amari_distance(&model.unmixing().matmul(&drawn.mixing));
    assert!(distance < 0.05, "{distance}");
}

#[test]
fn bad_data_get_clear_answers() {
    let drawn = Synth { samples: 500, columns: 4, sources: 4, ..Default::default() }.draw();
    let x = &drawn.samples;
    let text = |params: &Params, data: &Mat| params.fit(data).unwrap_err().to_string();
    let mut holed = x.clone();
    holed[(123, 2)] = f64::INFINITY;
    assert!(text(&Params::new(4), &holed).contains("row 124, column 3"));
    assert!(text(&Params::new(0), x).contains("at least one source"));
    assert!(text(&Params::new(4), &Mat::zeros(4, 4)).contains("more than 4 samples"));
    assert!(text(&Params::new(1), &Mat::zeros(0, 4)).contains("at least 2 samples"));
    assert!(text(&Params::new(1), &Mat::from_fn(50, 3, |_, _| 7.0)).contains("do not vary"));
    // More sources than columns, dependent columns, a constant column: fewer sources, and the verdict says so.
    let model = Params::new(9).fit(x).unwrap();
    assert!(model.k() == 4 && model.summary().contains("only 4 columns"));
    let dependent = Mat::from_fn(500, 5, |i, j| if j < 4 { x[(i, j)] } else { x[(i, 0)] + x[(i, 1)] });
    let model = Params::new(5).fit(&dependent).unwrap();
    assert!(model.k() == 4 && model.summary().contains("rank 4"), "{}", model.summary());
    let constant = Mat::from_fn(500, 5, |i, j| if j < 4 { x[(i, j)] } else { 3.5 });
    let model = Params::new(Components::Auto).fit(&constant).unwrap();
    assert!(model.k() == 4 && model.summary().contains("column 5 is constant"), "{}", model.summary());
    // 0.1 has no exact binary form, so its mean carries rounding: standardising must not turn that into a source.
    let constant = Mat::from_fn(500, 5, |i, j| if j < 4 { x[(i, j)] } else { 0.1 });
    let model = Params { standardise: true, ..Params::new(5) }.fit(&constant).unwrap();
    assert!(model.k() == 4 && model.verdict().findings().len() == 2, "{}", model.summary());
}

#[test]
fn same_seed_same_bytes_on_any_threads_and_from_any_memory() {
    let drawn = Synth { samples: 6_000, columns: 5, sources: 5, ..Default::default() }.draw();
    for solver in [Solver::default(), Solver::Online(Online::default())] {
        let run = |memory: u64, threads: usize| {
            let params = Params { solver: solver.clone(), memory, ..Params::new(5) };
            parallel::with_threads(threads, || params.fit(&drawn.samples).unwrap())
        };
        let one = run(1 << 30, 1);
        for threads in [2, 3, 8] {
            assert_eq!(run(1 << 30, threads), one, "{} on {threads} threads", solver.name());
        }
        assert_eq!(run(0, 2), one, "{} without memory for whitened data", solver.name());
    }
}

/// Enough samples for a start from a part of them, and columns wide enough for products that split their depth.
#[test]
fn the_start_from_a_part_is_as_good_and_has_the_same_bytes_everywhere() {
    for seed in 0..2 {
        let drawn = Synth { samples: 33_500, columns: 520, sources: 4, seed, ..Default::default() }.draw();
        let run = |memory: u64, threads: usize| {
            let params = Params { memory, seed, ..Params::new(4) };
            parallel::with_threads(threads, || params.fit(&drawn.samples).unwrap())
        };
        let one = run(1 << 30, 1);
        assert!(one.diagnostics().start_samples < 9_000, "{}", one.diagnostics().start_samples);
        assert_eq!(run(1 << 30, 3), one);
        // Room for the part (270 kB) but not for all whitened samples.
        assert_eq!(run(600_000, 2), one);
        let full = Params { solver: Solver::Simultaneous(Simultaneous::default()), seed, ..Params::new(4) };
        let full = full.fit(&drawn.samples).unwrap();
        let mut difference = full.unmixing().matmul(one.mixing());
        (0..4).for_each(|i| difference[(i, i)] -= 1.0);
        // Both polishes end within a thirtieth of the statistical error 1/√n.
        assert!(difference.max_abs() < 0.1 / 33_500f64.sqrt(), "{}", difference.max_abs());
    }
}

#[test]
fn white_data_keep_all_their_sources() {
    let drawn = Synth { samples: 20_000, columns: 8, sources: 8, ..Default::default() }.draw();
    let model = Params::new(Components::Auto).fit(&drawn.sources).unwrap();
    assert_eq!(model.k(), 8, "{}", model.summary());
}

#[test]
fn models_survive_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.tenfold");
    let drawn = Synth { samples: 2_000, columns: 4, sources: 3, noise: 0.1, ..Default::default() }.draw();
    let model = Params::new(Components::Auto).fit(&drawn.samples).unwrap();
    model.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap(), model);
    let bytes = std::fs::read(&path).unwrap();
    model.save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let mut rng = random::rng(1, 0);
    let wrong = Mat::from_fn(10, 7, |_, _| rng.random());
    assert!(model.infer(&wrong).unwrap_err().to_string().contains("where 4 were expected"));
}

#[test]
fn sources_that_are_large_together_are_told_from_independent_ones() {
    let told = |samples: &Mat, k: usize| {
        let model = Params::new(k).fit(samples).unwrap();
        model.verdict().findings().iter().any(|(_, text)| text.contains("large and small together"))
    };
    for seed in 0..20 {
        // Heavy tails, flat, skewed, two values; alone with their like and mixed.
        for shapes in [
            vec![Shape::Laplace],
            vec![Shape::Uniform],
            vec![Shape::Exponential],
            vec![Shape::Laplace, Shape::Uniform, Shape::Exponential, Shape::Sign],
        ] {
            for k in [2, 4] {
                let synth = Synth { samples: 2000, columns: k, sources: k, seed, ..Default::default() };
                let drawn = Synth { shapes: shapes.clone(), ..synth }.draw();
                assert!(!told(&drawn.samples, k), "seed {seed}, {shapes:?}, k = {k}");
            }
        }
        // A round cloud whose samples differ in size: Student's law of three degrees of freedom in every direction.
        let mut rng = random::rng(seed, 1);
        let mut cloud = random::gaussian(4000, 4, &mut rng);
        for t in 0..4000 {
            let square: f64 = (0..3).map(|_| random::normal(&mut rng).powi(2)).sum();
            cloud.row_mut(t).iter_mut().for_each(|x| *x *= (3.0 / square).sqrt());
        }
        assert!(told(&cloud, 4), "seed {seed}");
        let two = Mat::from_fn(4000, 2, |t, j| cloud[(t, j)]);
        assert!(told(&two, 2), "seed {seed}");
    }
}
