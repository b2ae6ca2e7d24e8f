//! Motifs: how well drawn ones come back.

use crate::report::{Page, mean};
use crate::{Outcome, Request};
use std::sync::Mutex;
use std::time::Instant;
use tenfold::engine::linalg::parallel::with_threads;
use tenfold::engine::progress::{Progress, Silent};
use tenfold::evaluate::{FilterBank, filter_errors};
use tenfold::motifs::{Activation, Drawn, Extent, Filters, Length, Params, Shape, Synth, baseline};

/// One line of the table of recovery.
struct Case {
    name: &'static str,
    synth: Synth,
    /// The largest error of a motif, over all seeds, that is aimed at.
    goal: f64,
}

fn bank(filters: &Filters) -> FilterBank<'_> {
    let Extent { rows, columns } = filters.extent;
    FilterBank { values: &filters.values, channels: filters.channels, rows, columns }
}

/// Errors of found motifs; full-length motifs live on the circle of the window.
fn errors(drawn: &Drawn, found: &Filters, window: Extent) -> Vec<f64> {
    let whole = drawn.filters.extent == window;
    filter_errors(bank(&drawn.filters), bank(found), whole.then_some((window.rows, window.columns))).errors
}

fn cases() -> Vec<Case> {
    let case = |name, motifs, samples, length, activation, goal| Case {
        name,
        synth: Synth {
            motifs,
            window: Extent::line(samples),
            length: Extent::line(length),
            activation,
            keep_events: false,
            ..Synth::default()
        },
        goal,
    };
    use Activation::{BernoulliGaussian, Poisson};
    let with = |mut case: Case, change: &dyn Fn(&mut Synth)| {
        change(&mut case.synth);
        case
    };
    vec![
        case("16 taps, rate .1, L = 4", 4, 64, 16, Poisson(0.1), 0.04),
        case("16 taps, rate .1, L = 6", 6, 64, 16, Poisson(0.1), 0.08),
        case("16 taps, rate .1, L = 8", 8, 64, 16, Poisson(0.1), 0.12),
        case("16 taps, rate .02, L = 8", 8, 64, 16, Poisson(0.02), 0.05),
        case("16 taps, rate .02, L = 12", 12, 64, 16, Poisson(0.02), 0.13),
        case("full length 64, rate .02, L = 8", 8, 64, 64, Poisson(0.02), 0.08),
        case("full length 64, rate .02, L = 12", 12, 64, 64, Poisson(0.02), 0.12),
        case("full length 128, rate .02, L = 12", 12, 128, 128, Poisson(0.02), 0.11),
        case("32 of 1,024 samples, rate .02, L = 6, 600 windows", 6, 1024, 32, Poisson(0.02), 0.08),
        case("Bernoulli–Gaussian, 16 taps, L = 6", 6, 64, 16, BernoulliGaussian(0.1), 0.05),
        with(case("noise as strong as the signal, L = 3", 3, 64, 16, Poisson(0.1), 0.13), &|s| s.noise = 1.0),
        with(case("N = 1,000, L = 4", 4, 64, 16, Poisson(0.1), 0.13), &|s| s.windows = 1_000),
        with(case("N = 100,000, L = 4", 4, 64, 16, Poisson(0.1), 0.013), &|s| s.windows = 100_000),
        with(case("two channels, 16 taps, L = 4", 4, 64, 16, Poisson(0.1), 0.04), &|s| s.channels = 2),
        with(case("images: 6 × 6 in 64 × 64, L = 3, 64 images", 3, 64, 16, Poisson(0.02), 0.05), &|s| {
            (s.window, s.length, s.windows) = (Extent::plane(64, 64), Extent::plane(6, 6), 64);
        }),
        with(case("two smooth motifs (pair correlation below .9)", 2, 64, 16, Poisson(0.1), 0.12), &|s| {
            s.shape = Shape::Smooth;
        }),
    ]
    .into_iter()
    .map(|mut case| {
        if case.synth.window.columns == 1024 {
            case.synth.windows = 600;
        }
        case
    })
    .collect()
}

/// Smooth motifs are drawn anew until no two are too alike to be told apart.
fn draw(synth: &Synth, seed: u64) -> Outcome<Drawn> {
    let mut drawn = Synth { seed, ..synth.clone() }.draw()?;
    let mut again = 0;
    while synth.shape == Shape::Smooth && alike(&drawn.filters) > 0.9 {
        again += 1;
        drawn = Synth { seed: seed + 1000 * again, ..synth.clone() }.draw()?;
    }
    Ok(drawn)
}

/// |correlation| of the first two motifs at the best shift.
fn alike(filters: &Filters) -> f64 {
    let one = |l: usize| Filters::new(filters.motif(l).to_vec(), filters.channels, filters.extent);
    let error = filter_errors(bank(&one(0)), bank(&one(1)), None).errors[0];
    1.0 - error * error / 2.0
}

/// Filter errors on drawn signals, five seeds each.
pub fn recovery(request: &Request) -> Outcome<()> {
    let mut page = Page::new("Motifs that were drawn, found again");
    page.say(
        "Errors are the largest of all motifs, ‖f − f̂‖ after the best shift, sign and order; N = 10,000 windows of 64 samples \
         unless said otherwise. Length and number of motifs are given. `cargo run --release -p experiments -- motifs-recovery`",
    );
    let mut rows = Vec::new();
    for case in cases() {
        let (mut worst, mut refined, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
        for seed in request.seed..request.seed + 5 {
            let drawn = draw(&case.synth, seed)?;
            let params =
                Params { length: Length::Known(case.synth.length), seed, ..Params::new(case.synth.motifs) };
            let begin = Instant::now();
            let model = params.fit(&drawn.signals)?;
            seconds.push(begin.elapsed().as_secs_f64());
            let largest =
                |found: &Filters| errors(&drawn, found, case.synth.window).into_iter().fold(0.0, f64::max);
            worst.push(largest(model.filters()));
            if case.synth.shape == Shape::Smooth {
                let params = Params { sparse: true, ..params };
                refined.push(largest(params.fit(&drawn.signals)?.filters()));
            }
        }
        let list = |values: &[f64]| values.iter().map(|e| format!("{e:.3}")).collect::<Vec<_>>().join(" ");
        let met = worst.iter().filter(|&&e| e <= case.goal).count();
        eprintln!(
            "{}: {} (goal {}) {:.1} s {}",
            case.name,
            list(&worst),
            case.goal,
            mean(&seconds),
            list(&refined)
        );
        rows.push(vec![
            case.name.into(),
            format!("{:.3}", mean(&worst)),
            format!("{:.3}", worst.iter().copied().fold(0.0, f64::max)),
            format!("{}", case.goal),
            format!("{met} of 5"),
            format!("{:.1}", mean(&seconds)),
            list(&refined),
        ]);
    }
    page.table(&["drawn", "mean", "worst", "goal", "within", "seconds", "after sparse refinement"], &rows);
    page.finish(&request.out, "motifs-recovery")?;
    Ok(())
}

/// Notes when each stage of a run begins.
struct Stages(Mutex<Vec<(String, Instant)>>);

impl Progress for Stages {
    fn stage(&self, name: &str, _steps: u64) {
        self.0.lock().expect("one writer at a time").push((name.to_owned(), Instant::now()));
    }
    fn advance(&self, _by: u64) {}
    fn stopped(&self) -> bool {
        false
    }
}

impl Stages {
    /// Seconds from the beginning of one stage to that of the next.
    fn seconds(&self, name: &str) -> f64 {
        let stages = self.0.lock().expect("one writer at a time");
        let at = stages.iter().position(|(stage, _)| stage == name);
        at.and_then(|at| Some((stages.get(at + 1)?.1 - stages[at].1).as_secs_f64())).unwrap_or(f64::NAN)
    }
}

/// Rounds of alternating minimisation: the thesis's figure runs it until it stands still, about this many.
const ROUNDS: usize = 30;

/// What does and does not grow with the number of samples.
pub fn time(request: &Request) -> Outcome<()> {
    let mut page = Page::new("Motifs: time against the number of samples");
    page.say(
        "Windows of 64 samples, 4 motifs of 16 taps, Poisson rate .1. The pass gathers all orders; finding the motifs follows it. \
         Alternating minimisation (30 rounds, least squares for activations and motifs in turn) reads all samples in every round. \
         Two threads unless said otherwise. `cargo run --release -p experiments -- motifs-time`",
    );
    let mut rows = Vec::new();
    for windows in [1_000, 10_000, 100_000] {
        let synth = Synth { windows, keep_events: false, seed: request.seed, ..Synth::default() };
        let drawn = synth.draw()?;
        let params = Params { length: Length::Known(synth.length), ..Params::new(synth.motifs) };
        let stages = |threads| -> Outcome<Stages> {
            let stages = Stages(Mutex::new(Vec::new()));
            with_threads(threads, || params.fit_with(&drawn.signals, &stages))?;
            Ok(stages)
        };
        let (one, two) = (stages(1)?, stages(2)?);
        let begin = Instant::now();
        let start = baseline::random_start(synth.motifs, 1, synth.length, request.seed);
        with_threads(2, || baseline::alternate(&start, &drawn.signals, ROUNDS, &Silent))?;
        let alternating = begin.elapsed().as_secs_f64();
        let pass = "gathering moments";
        let per = |seconds: f64| 1e9 * seconds / (windows * 64 * 64) as f64;
        let row = vec![
            windows.to_string(),
            format!("{:.3}", one.seconds(pass)),
            format!("{:.3}", two.seconds(pass)),
            format!("{:.2} / {:.2}", per(one.seconds(pass)), per(two.seconds(pass))),
            format!("{:.2}", two.seconds("finding motifs")),
            format!("{alternating:.2}"),
        ];
        eprintln!("{}", row.join(" | "));
        rows.push(row);
    }
    let headings = [
        "windows",
        "pass, 1 thread (s)",
        "pass, 2 threads (s)",
        "ns per N n²",
        "finding motifs (s)",
        "alternating (s)",
    ];
    page.table(&headings, &rows);
    page.finish(&request.out, "motifs-time")?;
    Ok(())
}
