//! Trees drawn and found again.

mod parameters;

pub use parameters::parameters;

use crate::report::{Page, mean};
use crate::{Outcome, Request};
use std::collections::BTreeSet;
use std::time::Instant;
use tenfold::components::Components;
use tenfold::engine::linalg::parallel::with_threads;
use tenfold::engine::progress::Silent;
use tenfold::evaluate::robinson_foulds;
use tenfold::trees::{Emits, Params, Shape, Synth, Tree};

/// A line of the table: what is drawn, and the largest mean error that is wanted.
struct Line {
    name: &'static str,
    synth: Synth,
    goal: f64,
}

fn lines() -> Vec<Line> {
    let base = Synth::default();
    let line = |name, variables, states, width, goal| Line {
        name,
        synth: Synth { variables, states, width, ..base.clone() },
        goal,
    };
    let with = |name, shape, emits, variables, (states, width), goal| Line {
        name,
        synth: Synth { shape, emits, variables, states, width, ..base.clone() },
        goal,
    };
    let mut all = vec![
        line("k=2, 2 levels", 20, 2, 2, 0.02),
        line("k=2, 2 levels", 60, 2, 2, 0.02),
        line("k=2, 2 levels", 100, 2, 2, 0.02),
        line("k=3, 6 levels", 20, 3, 6, 0.02),
        line("k=3, 6 levels", 60, 3, 6, 0.02),
        line("k=3, 6 levels", 100, 3, 6, 0.02),
        line("k=2, 2 levels", 500, 2, 2, 0.06),
        line("k=2, 2 levels", 1000, 2, 2, 0.06),
        with("real vectors of 4, k=3", Shape::Mixed, Emits::Real, 60, (3, 4), 0.05),
        with("half real, half categories of 4, k=3", Shape::Mixed, Emits::Mixed, 60, (3, 4), 0.05),
        with("chain, k=2", Shape::Chain, Emits::Category, 60, (2, 2), 0.05),
        with("chain, k=3, 6 levels", Shape::Chain, Emits::Category, 60, (3, 6), 0.05),
        with("star, k=2", Shape::Star, Emits::Category, 30, (2, 2), 0.0),
        with("observed inside, k=2", Shape::Observed, Emits::Category, 60, (2, 2), 0.05),
        with("observed inside, k=3", Shape::Observed, Emits::Category, 60, (3, 3), 0.05),
    ];
    all.push(Line {
        name: "four independent trees, k=2",
        synth: Synth { variables: 15, blocks: 4, ..base },
        goal: 0.02,
    });
    all
}

/// What five fits of one line came to.
#[derive(Default)]
struct Tally {
    distances: Vec<f64>,
    seconds: Vec<f64>,
    gaps: Vec<f64>,
    right: usize,
    found_inner: usize,
    true_inner: usize,
    both: usize,
    /// Runs in which the variables of every independent tree are one tree, and no others.
    forests: usize,
}

impl Tally {
    fn add(&mut self, synth: &Synth) -> Outcome<()> {
        let drawn = synth.draw()?;
        let fresh = drawn.network.draw(drawn.table.variables(), 5000, synth.seed + 1000)?.table;
        let begin = Instant::now();
        let params = Params { bootstrap: 0, held_out: 0.0, ..Params::new(Components::Auto) };
        let model = params.fit(&drawn.table)?;
        self.seconds.push(begin.elapsed().as_secs_f64());
        self.right += usize::from(model.diagnostics().states == synth.states);
        let p = drawn.tree.observed();
        let sets = |tree: &Tree| -> BTreeSet<Vec<usize>> {
            let observed = |c: Vec<usize>| c.into_iter().filter(|&node| node < p).collect();
            tree.components().into_iter().map(observed).collect()
        };
        self.forests += usize::from(sets(model.tree()) == sets(&drawn.tree));
        self.distances.push(robinson_foulds(p, &model.tree().edges(), &drawn.tree.edges()).normalised());
        for v in 0..p {
            let (found, known) = (model.tree().degree(v) > 1, drawn.tree.degree(v) > 1);
            self.found_inner += usize::from(found);
            self.true_inner += usize::from(known);
            self.both += usize::from(found && known);
        }
        let truth = mean(&drawn.network.log_likelihood(&fresh, &Silent)?);
        self.gaps.push(truth - mean(&model.log_likelihood(&fresh, &Silent)?));
        Ok(())
    }
}

/// Structure over five seeds: Robinson–Foulds, inner observed nodes, the number of states, likelihood and seconds.
pub fn recovery(request: &Request) -> Outcome<()> {
    let mut page = Page::new("Trees that were drawn, found again");
    page.say(
        "Edges of strength .55 to .85, 10,000 samples, five seeds, all defaults but no resampling (the number of states is found too); RF is the normalised \
         Robinson–Foulds distance. Nats are those of 5,000 fresh samples. `cargo run --release -p experiments -- trees-recovery`",
    );
    let mut rows = Vec::new();
    for line in lines() {
        let mut tally = Tally::default();
        for seed in request.seed..request.seed + 5 {
            tally.add(&Synth { seed, ..line.synth.clone() })?;
        }
        let share = |a: usize, b: usize| {
            if b == 0 { "–".to_owned() } else { format!("{:.3}", a as f64 / b as f64) }
        };
        rows.push(vec![
            line.name.to_owned(),
            (line.synth.variables * line.synth.blocks).to_string(),
            format!("{:.4}", mean(&tally.distances)),
            format!("{:.4}", tally.distances.iter().copied().fold(0.0, f64::max)),
            line.goal.to_string(),
            format!("{} of 5", tally.right),
            format!("{} of 5", tally.forests),
            share(tally.both, tally.found_inner),
            share(tally.both, tally.true_inner),
            format!("{:.3}", mean(&tally.gaps)),
            format!("{:.1}", mean(&tally.seconds)),
        ]);
        eprintln!("{}", rows[rows.len() - 1].join(" | "));
    }
    let headings = [
        "drawn",
        "variables",
        "RF mean",
        "worst",
        "goal",
        "k right",
        "trees apart as drawn",
        "inner observed: precision",
        "recall",
        "nats below the truth",
        "seconds",
    ];
    page.table(&headings, &rows);
    page.finish(&request.out, "trees-recovery")?;
    Ok(())
}

/// Seconds against samples, variables and threads: the thesis's three figures.
pub fn time(request: &Request) -> Outcome<()> {
    let mut page = Page::new("Trees: time against samples, variables and threads");
    page.say(
        "Binary variables, k = 2, all defaults but no resampling and nothing held out. \
         `cargo run --release -p experiments -- trees-time`",
    );
    let mut rows = Vec::new();
    for (variables, samples, threads) in [
        (100, 1000, 2),
        (100, 10_000, 2),
        (100, 100_000, 2),
        (30, 10_000, 2),
        (300, 10_000, 2),
        (1000, 10_000, 2),
        (1000, 10_000, 1),
    ] {
        let drawn = Synth { variables, samples, seed: request.seed, ..Synth::default() }.draw()?;
        let params = Params { bootstrap: 0, held_out: 0.0, ..Params::new(2) };
        let begin = Instant::now();
        let model = with_threads(threads, || params.fit(&drawn.table))?;
        let seconds = begin.elapsed().as_secs_f64();
        let rf = robinson_foulds(variables, &model.tree().edges(), &drawn.tree.edges()).normalised();
        rows.push(vec![
            variables.to_string(),
            samples.to_string(),
            threads.to_string(),
            format!("{seconds:.1}"),
            format!("{rf:.4}"),
        ]);
        eprintln!("{}", rows[rows.len() - 1].join(" | "));
    }
    page.table(&["variables", "samples", "threads", "seconds", "RF"], &rows);
    page.finish(&request.out, "trees-time")?;
    Ok(())
}
