//! Parameters on the true tree, beside expectation maximisation from random starts.

use crate::report::{Page, mean};
use crate::{Outcome, Request};
use rand::RngExt;
use tenfold::engine::linalg::{Mat, assign, random};
use tenfold::engine::progress::Silent;
use tenfold::trees::{Drawn, Emission, Emits, Kind, Network, Polish, Synth, Table, Variable};

const VARIABLES: usize = 100;
const SAMPLES: usize = 10_000;
const FRESH: usize = 5_000;
const SEEDS: u64 = 5;
const STARTS: u64 = 10;
/// Sweeps of a random start: they stop by themselves when a sweep gains less than 1e-5 nat.
const SWEEPS: usize = 60;

/// What the drawings of one line came to.
#[derive(Default)]
struct Tally {
    errors: Vec<f64>,
    ours: Vec<f64>,
    best: Vec<f64>,
    worst: Vec<f64>,
    price: Vec<f64>,
}

/// Emissions, held-out likelihood and the price of parameters, for several kinds of variables.
pub fn parameters(request: &Request) -> Outcome<()> {
    let mut page = Page::new("Parameters of trees, beside EM from random starts");
    page.say(&format!(
        "The true tree of {VARIABLES} variables is told; {SAMPLES} samples, {FRESH} fresh ones, {SEEDS} seeds. Ours: one triplet \
         decomposition for every hidden node, then at most ten sweeps. EM: the best and the worst of {STARTS} random starts with at most {SWEEPS} \
         sweeps each, by the likelihood of the fresh samples. Nats are below the true network. The price is half a nat for \
         every free parameter over all samples, what maximum likelihood loses on average; no estimator without prior knowledge does better. \
         `cargo run --release -p experiments --bin experiments -- trees-parameters`",
    ));
    let cases = [
        ("k=2, 2 levels", Emits::Category, 2, 2),
        ("k=3, 6 levels", Emits::Category, 3, 6),
        ("k=4, 6 levels", Emits::Category, 4, 6),
        ("k=3, 6 flags", Emits::Flags, 3, 6),
    ];
    let mut rows = Vec::new();
    for (name, emits, states, width) in cases {
        let mut tally = Tally::default();
        for seed in request.seed..request.seed + SEEDS {
            let samples = SAMPLES + FRESH;
            let drawn =
                Synth { variables: VARIABLES, samples, states, width, emits, seed, ..Synth::default() }
                    .draw()?;
            tally.add(&drawn, states, seed)?;
        }
        let spread =
            |x: &[f64]| format!("{:.3} ({:.3})", mean(x), x.iter().copied().fold(f64::MIN, f64::max));
        rows.push(vec![
            name.to_owned(),
            spread(&tally.errors),
            spread(&tally.ours),
            spread(&tally.best),
            spread(&tally.worst),
            format!("{:.3}", mean(&tally.price)),
        ]);
        eprintln!("{}", rows[rows.len() - 1].join(" | "));
    }
    let headings = [
        "drawn",
        "emission error, mean (worst)",
        "nats below truth: ours",
        "best of 10 EM",
        "worst of 10 EM",
        "price",
    ];
    page.table(&headings, &rows);
    page.finish(&request.out, "trees-parameters")?;
    Ok(())
}

impl Tally {
    fn add(&mut self, drawn: &Drawn, states: usize, seed: u64) -> Outcome<()> {
        let (table, fresh) = (drawn.table.take(0..SAMPLES), drawn.table.take(SAMPLES..SAMPLES + FRESH));
        let truth = score(&drawn.network, &fresh)?;
        let blank = Network::skeleton(&drawn.tree, table.variables(), |_| states)?;
        let started = blank.from_moments(&drawn.tree, &table, seed, &Silent)?;
        let ours = Polish::default().run(&started.network, &table, &Silent)?.network;
        let variables = table.variables();
        let off = (0..VARIABLES).map(|v| {
            let whole = |emission: &Emission| whole(emission, &variables[v]);
            error(&whole(&ours.emissions[v]), &whole(&drawn.network.emissions[v]))
        });
        self.errors.push(mean(&off.collect::<Vec<_>>()));
        self.ours.push(truth - score(&ours, &fresh)?);
        let mut gaps = Vec::new();
        for start in 0..STARTS {
            let begin = scattered(&blank, variables, 1000 * seed + start);
            let found = Polish { sweeps: SWEEPS, ..Polish::default() }.run(&begin, &table, &Silent)?;
            gaps.push(truth - score(&found.network, &fresh)?);
        }
        self.best.push(gaps.iter().copied().fold(f64::MAX, f64::min));
        self.worst.push(gaps.iter().copied().fold(f64::MIN, f64::max));
        let tables: usize = blank.nodes.iter().map(|n| (n.table.rows() - 1) * n.table.cols()).sum();
        let emissions: usize = blank.emissions.iter().map(|e| e.mean.rows() * e.mean.cols()).sum();
        self.price.push((tables + emissions) as f64 / (2 * SAMPLES) as f64);
        Ok(())
    }
}

/// The network with random tables and emissions.
fn scattered(blank: &Network, variables: &[Variable], seed: u64) -> Network {
    let mut rng = random::rng(seed, 99);
    let mut network = blank.clone();
    let mut column = |rows: usize| -> Vec<f64> {
        let drawn: Vec<f64> = (0..rows).map(|_| -(1.0 - rng.random::<f64>()).ln() + 0.05).collect();
        let sum: f64 = drawn.iter().sum();
        drawn.iter().map(|x| x / sum).collect()
    };
    for node in &mut network.nodes {
        for c in 0..node.table.cols() {
            let own = column(node.table.rows());
            (0..own.len()).for_each(|r| node.table[(r, c)] = own[r]);
        }
    }
    for (emission, variable) in network.emissions.iter_mut().zip(variables) {
        for c in 0..emission.mean.cols() {
            let rows = emission.mean.rows();
            match variable.kind {
                Kind::Category => {
                    let own = column(rows + 1);
                    (0..rows).for_each(|r| emission.mean[(r, c)] = own[r + 1]);
                }
                _ => (0..rows).for_each(|r| emission.mean[(r, c)] = column(2)[0]),
            }
        }
    }
    network
}

fn score(network: &Network, table: &Table) -> Outcome<f64> {
    Ok(mean(&network.log_likelihood(table, &Silent)?))
}

/// P of all levels, the reference included.
fn whole(emission: &Emission, variable: &Variable) -> Mat {
    if variable.kind != Kind::Category {
        return emission.mean.clone();
    }
    let first = |s: usize| 1.0 - emission.mean.col(s).iter().sum::<f64>();
    let (rows, k) = (emission.mean.rows() + 1, emission.mean.cols());
    Mat::from_fn(rows, k, |f, s| if f == 0 { first(s) } else { emission.mean[(f - 1, s)] })
}

/// ‖A − B‖ / ‖B‖ with the columns in the best order.
fn error(found: &Mat, truth: &Mat) -> f64 {
    let k = truth.cols();
    let square =
        |i: usize, j: usize| (0..truth.rows()).map(|r| (found[(r, i)] - truth[(r, j)]).powi(2)).sum::<f64>();
    let partner = assign(&Mat::from_fn(k, k, |i, j| -square(i, j)));
    (0..k).map(|i| square(i, partner[i])).sum::<f64>().sqrt() / truth.norm()
}
