//! The thesis's table of drawn graphs, and sparse graphs where the best that edges can tell is known.

use crate::report::{Page, mean};
use crate::{Outcome, Request};
use std::time::Instant;
use tenfold::communities::{Drawn, Edges, Model, Params, Synth};
use tenfold::evaluate::Recovery;

const SEEDS: u64 = 5;

/// One row of the thesis's table: nodes, α0, published error and seconds, the error to stay below.
type Dense = (usize, f64, &'static str, Option<f64>);

const DENSE: [Dense; 6] = [
    (100, 0.0, ".1200, 0.5 s", Some(0.06)),
    (1000, 0.0, ".1010, 1.2 s", Some(0.005)),
    (10_000, 0.0, ".0841, 43.2 s", Some(0.002)),
    (100, 1.0, ".1455, 0.5 s", None),
    (1000, 1.0, ".1452, 1.2 s", Some(0.03)),
    (10_000, 1.0, ".1259, 42.2 s", Some(0.012)),
];

/// Nodes, k, mean degree.
const SPARSE: [(usize, usize, f64); 4] =
    [(10_000, 10, 30.0), (10_000, 30, 30.0), (20_000, 50, 30.0), (100_000, 10, 20.0)];

/// How far from the answer of a start at the truth a fit may be.
const NEAR: f64 = 1.10;

/// Writes `communities-drawn.md`.
pub fn run(request: &Request) -> Outcome<()> {
    let mut page = Page::new("Communities of drawn graphs");
    page.say(&format!(
        "Seeds {} to {}; mean and worst. k = 10 and P = .9 within, .1 between, as the thesis's table of synthetic results. Error and \
         recovery by its p-value matching, with the number of pairs and the mean absolute error (MAE) of the one-to-one matching.",
        request.seed,
        request.seed + SEEDS - 1
    ));
    dense(request, &mut page)?;
    sparse(request, &mut page)?;
    Ok(page.finish(&request.out, "communities-drawn")?)
}

fn dense(request: &Request, page: &mut Page) -> Outcome<()> {
    page.section("Dense");
    let mut rows = Vec::new();
    for (nodes, alpha0, published, limit) in DENSE {
        let (mut errors, mut maes, mut ratios, mut pairs, mut seconds) = (vec![], vec![], vec![], vec![], vec![]);
        for seed in request.seed..request.seed + SEEDS {
            let drawn = Synth { nodes, k: 10, alpha0, seed, ..Synth::default() }.draw()?;
            let begin = Instant::now();
            let model = Params { alpha0, seed, ..Params::new(10) }.fit(&drawn.graph)?;
            seconds.push(begin.elapsed().as_secs_f64());
            let found = recovery(&drawn, &model);
            errors.push(found.error());
            maes.push(found.mean_absolute_error());
            ratios.push(found.ratio());
            pairs.push(found.pairs().len() as f64);
        }
        let verdict = limit.map_or("none".into(), |l| format!("{l}: {}", met(worst(&errors) <= l)));
        rows.push(vec![
            nodes.to_string(),
            alpha0.to_string(),
            published.into(),
            span(&errors),
            span(&maes),
            format!("{:.2}", mean(&ratios)),
            format!("{:.1}", mean(&pairs)),
            format!("{:.2}", mean(&seconds)),
            verdict,
        ]);
        eprintln!("{}", rows.last().expect("just pushed").join(" | "));
    }
    let headings =
        ["n", "α0", "published error", "error, worst", "MAE, worst", "R", "pairs", "seconds", "limit"];
    page.table(&headings, &rows);
    Ok(())
}

fn sparse(request: &Request, page: &mut Page) -> Outcome<()> {
    page.section("Sparse");
    page.say(&format!(
        "Poisson edges, α0 = 1, a fifth of the edges background. The likelihood climbed from the true memberships is the best that \
         the edges can tell; a fit should come within {NEAR} of its mean absolute error. `moments` is the answer before the polish."
    ));
    let mut rows = Vec::new();
    for (nodes, k, degree) in SPARSE {
        let (mut plain, mut found, mut best, mut ratio, mut seconds) = (vec![], vec![], vec![], vec![], vec![]);
        for seed in request.seed..request.seed + SEEDS {
            let edges = Edges::Poisson { degree, background: 0.2 };
            let drawn = Synth { nodes, k, alpha0: 1.0, edges, seed, ..Synth::default() }.draw()?;
            let params = Params { seed, ..Params::new(k) };
            let begin = Instant::now();
            let model = params.fit(&drawn.graph)?;
            seconds.push(begin.elapsed().as_secs_f64());
            let moments = Params { iterations: Some(0), ..params.clone() }.fit(&drawn.graph)?;
            let limit = params.refine(&drawn.graph, &drawn.memberships)?;
            plain.push(recovery(&drawn, &moments).mean_absolute_error());
            found.push(recovery(&drawn, &model).mean_absolute_error());
            best.push(recovery(&drawn, &limit).mean_absolute_error());
            ratio.push(found[found.len() - 1] / best[best.len() - 1]);
        }
        rows.push(vec![
            nodes.to_string(),
            k.to_string(),
            degree.to_string(),
            span(&plain),
            span(&found),
            span(&best),
            format!("{}, {}", span(&ratio), met(worst(&ratio) <= NEAR)),
            format!("{:.2}", mean(&seconds)),
        ]);
        eprintln!("{}", rows.last().expect("just pushed").join(" | "));
    }
    let headings =
        ["n", "k", "degree", "moments", "tenfold", "from the truth", "ratio, worst", "seconds"];
    page.table(&headings, &rows);
    Ok(())
}

fn recovery(drawn: &Drawn, model: &Model) -> Recovery {
    Recovery::new(&drawn.memberships.to_mat(), &model.memberships().to_mat())
}

fn worst(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn span(values: &[f64]) -> String {
    format!("{:.4}, {:.4}", mean(values), worst(values))
}

fn met(yes: bool) -> &'static str {
    if yes { "met" } else { "**missed**" }
}
