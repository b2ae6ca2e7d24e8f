//! Motifs that were drawn come back, in signals of one and two channels and in images.

use tenfold::components::Components;
use tenfold::engine::linalg::parallel::with_threads;
use tenfold::evaluate::{FilterBank, Firing, Tolerance, event_f1, filter_errors};
use tenfold::motifs::{Activation, Drawn, Event, Extent, Filters, Length, Params, Signals, Solver, Synth};

fn bank(filters: &Filters) -> FilterBank<'_> {
    let Extent { rows, columns } = filters.extent;
    FilterBank { values: &filters.values, channels: filters.channels, rows, columns }
}

fn worst(drawn: &Drawn, found: &Filters) -> f64 {
    filter_errors(bank(&drawn.filters), bank(found), None).worst()
}

fn params(motifs: usize, length: Extent) -> Params {
    Params { length: Length::Known(length), ..Params::new(motifs) }
}

/// Errors go with one over the root of the number of windows. At 10,000 windows a fit that starts at the truth leaves .025 to
/// .037 on the worst of four motifs (the statistical limit of these cumulants); 2,500 windows double that.
#[test]
fn four_motifs_of_sixteen_taps_come_back_to_their_statistical_error() {
    for seed in 1..=3 {
        let drawn = Synth { windows: 2500, seed, keep_events: false, ..Synth::default() }.draw().unwrap();
        let model = params(4, Extent::line(16)).fit(&drawn.signals).unwrap();
        let error = worst(&drawn, model.filters());
        assert!(error < 2.0 * 0.04, "seed {seed}: {error}");
        assert!(model.verdict().is_sound(), "{}", model.summary());
    }
}

/// Without skewness only the fourth cumulant is left, and it is chosen.
#[test]
fn activations_of_either_sign_need_the_fourth_cumulant() {
    let activation = Activation::BernoulliGaussian(0.1);
    let drawn = Synth { windows: 4000, motifs: 3, activation, keep_events: false, ..Synth::default() }
        .draw()
        .unwrap();
    let model = params(3, Extent::line(16)).fit(&drawn.signals).unwrap();
    assert_eq!(model.diagnostics().orders, [false, true]);
    assert!(model.is_signed());
    // .05 at 10,000 windows for twice as many motifs.
    assert!(worst(&drawn, model.filters()) < 0.08, "{}", model.summary());
}

#[test]
fn length_and_number_are_found_where_they_are_not_told() {
    let synth =
        Synth { windows: 4000, motifs: 3, length: Extent::line(12), keep_events: false, ..Synth::default() };
    let drawn = synth.draw().unwrap();
    let model = Params::new(Components::Auto).fit(&drawn.signals).unwrap();
    assert_eq!((model.count(), model.filters().extent), (3, Extent::line(12)), "{}", model.summary());
}

#[test]
fn two_channels_and_images_come_back() {
    let two = Synth {
        windows: 2500,
        motifs: 2,
        channels: 2,
        length: Extent::line(8),
        keep_events: false,
        ..Synth::default()
    };
    let drawn = two.draw().unwrap();
    let model = params(2, Extent::line(8)).fit(&drawn.signals).unwrap();
    assert!(worst(&drawn, model.filters()) < 0.06, "{}", model.summary());
    let images = Synth {
        windows: 24,
        window: Extent::plane(48, 48),
        length: Extent::plane(4, 4),
        motifs: 2,
        activation: Activation::Poisson(0.03),
        cyclic: false,
        keep_events: false,
        ..Synth::default()
    };
    let drawn = images.draw().unwrap();
    let model = params(2, Extent::plane(4, 4)).fit(&drawn.signals).unwrap();
    // 55,000 pixels are as many as 860 windows of 64 samples, which leave about .1 on motifs of sixteen taps.
    assert!(worst(&drawn, model.filters()) < 0.12, "{}", model.summary());
}

/// One long recording with noise: motifs and their firings.
#[test]
fn firings_are_found_in_a_recording() {
    let synth = Synth {
        windows: 1,
        window: Extent::line(60_000),
        motifs: 2,
        length: Extent::line(16),
        activation: Activation::Poisson(0.01),
        noise: 0.15,
        cyclic: false,
        ..Synth::default()
    };
    let drawn = synth.draw().unwrap();
    let model = params(2, Extent::line(16)).fit(&drawn.signals).unwrap();
    assert!(worst(&drawn, model.filters()) < 0.1, "{}", model.summary());
    let decoded = model.infer(&drawn.signals, &model.decoding(), &tenfold::engine::progress::Silent).unwrap();
    let firing = |event: &Event| Firing { trial: event.trial, time: event.start as f64, kind: event.motif };
    let (truth, found): (Vec<_>, Vec<_>) =
        (drawn.events.iter().map(firing).collect(), decoded.events.iter().map(firing).collect());
    let matched = event_f1(&truth, &found, Tolerance { within: 1.0, lag: 8.0 });
    // Two firings of one motif within half its length, one in fifteen here, are counted once.
    assert!(matched.pooled.f1() > 0.93, "F1 {}", matched.pooled.f1());
}

#[test]
fn same_seed_same_bytes_on_any_number_of_threads() {
    let drawn = Synth { windows: 300, motifs: 2, keep_events: false, ..Synth::default() }.draw().unwrap();
    let fit = |threads, signals: &Signals| {
        with_threads(threads, || params(2, Extent::line(16)).fit(signals).unwrap().to_bytes().unwrap())
    };
    let one = fit(1, &drawn.signals);
    for threads in [2, 3, 8] {
        assert!(one == fit(threads, &drawn.signals), "{threads} threads");
    }
}

/// The thesis's alternating least squares on the third cumulant finds a few motifs; its deflation does not.
#[test]
fn alternating_least_squares_works_together_and_not_by_deflation() {
    let drawn = Synth { windows: 2000, motifs: 3, keep_events: false, ..Synth::default() }.draw().unwrap();
    let fit = |solver| {
        let params = Params { solver, ..params(3, Extent::line(16)) };
        worst(&drawn, params.fit(&drawn.signals).unwrap().filters())
    };
    let (together, deflated) = (fit(Solver::Als), fit(Solver::Deflation));
    // Neither the theorem's average nor alternating minimisation without sparsity comes near the motifs.
    assert!(fit(Solver::Average) > together && fit(Solver::Alternating) > 0.3);
    assert!(together < 0.15, "{together}");
    assert!(deflated > 0.3, "the thesis's way would be good enough: {deflated}");
}

#[test]
fn what_cannot_be_fitted_is_told() {
    let flat = Signals::windows(&[1.0; 640], 64, false);
    let told = |params: &Params, signals: &Signals| params.fit(signals).unwrap_err().to_string();
    assert!(told(&params(1, Extent::line(8)), &flat).contains("constant"));
    let drawn = Synth { windows: 50, keep_events: false, ..Synth::default() }.draw().unwrap();
    assert!(told(&params(1, Extent::line(100)), &drawn.signals).contains("no stretch"));
    let many = told(&params(40, Extent::line(16)), &drawn.signals);
    // So few windows show the third cumulant only, which tells eight motifs of sixteen taps apart.
    assert!(many.contains("at most 8 motifs"), "{many}");
    let small = Params { memory: 1000, ..params(2, Extent::line(16)) };
    assert!(told(&small, &drawn.signals).contains("--memory"));
    // Gaussian noise holds nothing, and the fit says so.
    let noise = Synth { windows: 400, activation: Activation::BernoulliGaussian(1.0), ..Synth::default() }
        .draw()
        .unwrap();
    let model = params(1, Extent::line(8)).fit(&noise.signals).unwrap();
    assert!(!model.verdict().is_sound(), "{}", model.summary());
}

/// A shape that fires strongly, and something a quarter as strong that resembles it: the weak ones are left out, whether a
/// stretch is decoded beside others or with the choices of the fit.
#[test]
fn a_lower_group_of_amplitudes_is_left_out() {
    let shape = [0.2, 0.8, 1.5, -0.9, -0.4, 0.3, 0.1, -0.1];
    let mut x = vec![0.0; 30_000];
    let (mut state, mut strong) = (5u64, 0);
    for t in (0..29_900).step_by(40) {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let (place, weak) = (t + (state >> 33) as usize % 20, (state >> 20).is_multiple_of(3));
        strong += usize::from(!weak);
        shape.iter().enumerate().for_each(|(i, s)| x[place + i] += if weak { 0.25 } else { 1.0 } * s);
    }
    let signals = Signals::windows(&x, 30_000, false);
    let model = params(1, Extent::line(8)).fit(&signals).unwrap();
    let count =
        |decoding| model.infer(&signals, &decoding, &tenfold::engine::progress::Silent).unwrap().events.len();
    assert_eq!(count(model.decoding()), strong, "{}", model.summary());
    assert_eq!(count(model.steady_decoding()), strong);
}

/// Five motifs lie over every sample, and one firing in five has another of its motif beside it. Places are counted only when
/// they are exact (up to the shift of the learned motif). With noise of a tenth of the signal's deviation a firing is ten
/// times what decoding mistakes for one.
#[test]
fn dense_firings_are_found() {
    for (seed, noise) in [(1, 0.0), (2, 0.0), (3, 0.05)] {
        let synth = Synth { windows: 1500, motifs: 3, noise, seed, ..Synth::default() };
        assert_eq!((synth.activation, synth.length), (Activation::Poisson(0.1), Extent::line(16)));
        let drawn = synth.draw().unwrap();
        let model = params(3, Extent::line(16)).fit(&drawn.signals).unwrap();
        let decoded =
            model.infer(&drawn.signals, &model.decoding(), &tenfold::engine::progress::Silent).unwrap();
        let firing =
            |event: &Event| Firing { trial: event.trial, time: event.start as f64, kind: event.motif };
        let (truth, found): (Vec<_>, Vec<_>) =
            (drawn.events.iter().map(firing).collect(), decoded.events.iter().map(firing).collect());
        let matched = event_f1(&truth, &found, Tolerance { within: 0.5, lag: 8.0 });
        let (precision, recall) = (matched.pooled.precision(), matched.pooled.recall());
        println!("seed {seed}: precision {precision:.3}, recall {recall:.3}, noise {:.4}", decoded.noise);
        // Nearly every firing is found; motifs that are some hundredths off leave small ones beside them that are false.
        assert!(precision >= 0.8 && recall >= 0.9, "seed {seed}: precision {precision}, recall {recall}");
    }
}
