//! The sections that are read: communities, bridges, spectrum, diagnostics, and about the page.

use super::Facts;
use crate::communities::data::Kind;
use crate::communities::likelihood::LEAST_BACKGROUND;
use crate::communities::model::Model;
use crate::report::{Block, Cell, Plot, Section, Table, grouped};

/// Members of a community that its row of the table names.
const NAMED: usize = 5;
/// Communities of a bridging node that its row names.
const TIED: usize = 4;

pub(super) fn labels(k: usize) -> Vec<String> {
    (0..k).map(|c| c.to_string()).collect()
}

pub(super) fn communities(facts: &Facts) -> Section {
    let (model, k) = (facts.model, facts.model.k());
    let plot = Plot::bars(
        "Every community's share of all memberships. A click chooses the community.",
        &labels(k),
        model.shares(),
        true,
    )
    .axes("community", "share of memberships")
    .percent();
    let mut table =
        Table::new(&["community", "share of memberships", "nodes", "within", "α", "leading members"]);
    table.tall = k > 12;
    let largest = model.shares().iter().copied().fold(0.0, f64::max);
    for c in 0..k {
        let members = facts.leading[c].iter().take(NAMED).map(|&(u, _)| (facts.held.place(u), facts.id(u)));
        let within = model.connectivity()[(c, c)];
        table.push(
            Some(c),
            vec![
                Cell::Items(vec![(c, c.to_string())]),
                Cell::share(model.shares()[c], largest),
                Cell::count(facts.sizes[c]),
                Cell::Number(within, digits(within)),
                Cell::number(model.alpha()[c], 3),
                Cell::Picks(members.collect()),
            ],
        );
    }
    let what = if model.weighted() { "mean weight" } else { "share of joined pairs" };
    let mut text = String::new();
    if let Some(background) = model.background().filter(|b| k > 1 && *b > 1.1 * LEAST_BACKGROUND) {
        text = format!(" At least {:.1} % of the edges belong to no community.", 100.0 * background);
    }
    let mut section = Section::new("Communities");
    if k > 1 {
        section = section.with(plot);
    }
    section.with(table).with(Block::note(format!(
        "Nodes are those with edges that belong to the community above all. Within is the {what} of nodes that belong to it altogether, by least squares. Leading members have \
         the largest share times edges. A click on a node shows it, one on a column's name sorts by it.{text}"
    )))
}

/// Three digits, whatever the size.
fn digits(x: f64) -> String {
    if x == 0.0 || (1e-3..1e4).contains(&x.abs()) {
        let after = if x == 0.0 { 0 } else { (2 - x.abs().log10().floor() as i32).clamp(0, 6) as usize };
        format!("{x:.after$}")
    } else {
        format!("{x:.1e}").replace('-', "−")
    }
}

pub(super) fn bridges(facts: &Facts) -> Section {
    let mut table =
        Table::new(&["node", "degree-corrected", "bridgeness", "edges", "communities and their shares"]);
    table.tall = facts.bridges.len() > 12;
    let largest = facts.bridges.first().map_or(1.0, |b| b.corrected);
    for bridge in &facts.bridges {
        let mut mix: Vec<(usize, f64)> = facts.all.mix(bridge.node).into_iter().enumerate().collect();
        mix.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let tied = mix.iter().take(TIED).filter(|m| m.1 >= 0.05);
        let degree = facts.all.degree(bridge.node);
        table.push(
            None,
            vec![
                Cell::Picks(vec![(facts.held.place(bridge.node), facts.id(bridge.node))]),
                Cell::Bar(bridge.corrected, digits(bridge.corrected), bridge.corrected / largest),
                Cell::number(bridge.bridgeness, 3),
                if degree == degree.trunc() { Cell::count(degree as usize) } else { Cell::number(degree, 2) },
                Cell::Items(tied.map(|(c, share)| (*c, format!("{c} · {:.0} %", 100.0 * share))).collect()),
            ],
        );
    }
    let text = "Nodes that belong to several communities at once. Bridgeness is 0 for a node of one community and 1 for one \
                of all alike; times the node's edges it tells bridges from strays.";
    Section::new("Bridges").with(Block::text(text)).with(table)
}

pub(super) fn spectrum(model: &Model) -> Section {
    let (k, d) = (model.k(), model.diagnostics());
    // Far beyond k the values say more about the search for directions than about the graph.
    let values: Vec<f64> = d.spectrum.iter().take(k + (k / 2).clamp(10, 30)).map(|x| x.abs()).collect();
    let what = match model.kind() {
        Kind::Undirected => "Eigenvalues of the adjacency matrix, by size without their sign",
        _ => "Singular values of the adjacency matrix",
    };
    let chosen = if d.interval.is_some() {
        "k was chosen from the graph, and the shaded range would also do"
    } else {
        "k was given"
    };
    let caption = format!("{what}. The model uses the first {k}; {chosen}. Those beyond are less exact.");
    let mut plot =
        Plot::line(caption, &values).axes("direction", "size").log_y().mark(k as f64, &format!("k = {k}"));
    if let Some((from, to)) = d.interval {
        plot = plot.band(from as f64, to as f64, "interval");
    }
    Section::new("Spectrum").with(plot)
}

pub(super) fn diagnostics(model: &Model, verdict: Block) -> Section {
    let d = model.diagnostics();
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    let yes = |b: bool| if b { "yes" } else { "no" }.to_owned();
    let small = |x: f64| x.is_finite().then(|| digits(x));
    let facts = [
        ("share of pairs joined", Some(format!("{} %", digits(100.0 * d.density)))),
        ("treated as", Some(if d.dense { "dense" } else { "sparse" }.to_owned())),
        ("edges of no community, at least", model.background().map(percent)),
        ("nodes without edges", Some(grouped(d.isolated))),
        ("eigenvectors converged", Some(yes(d.directions_converged))),
        ("largest residual of an eigenvector", small(d.residual)),
        ("shares of the moments add up to", small(d.share_sum)),
        ("decomposition converged", Some(yes(d.converged))),
        ("residual of the decomposition", small(d.decomposition_residual)),
        ("share of the tensor explained", d.fit.map(percent)),
        ("agreement of starts", d.agreement.map(percent)),
        ("negative eigenvalues of the Bethe–Hessian", d.bethe_hessian.map(grouped)),
        ("directions of four fifths of the edges that the last fifth confirms", d.kept.map(grouped)),
        ("edges kept aside confirm them, in standard errors", d.confirmed.map(|z| format!("{z:.1}"))),
        ("starts of the polish", (!d.trials.is_empty()).then(|| grouped(d.trials.len()))),
        ("iterations of the polish", d.log_likelihood.map(|_| grouped(d.iterations))),
        ("log-likelihood", d.log_likelihood.map(|l| format!("{l:.1}").replace('-', "−"))),
    ];
    let known = facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let seconds = d.seconds.iter().map(|(stage, s)| (format!("seconds: {stage}"), format!("{s:.2}")));
    Section::new("Diagnostics").with(verdict).with(Block::Facts(known.chain(seconds).collect()))
}

pub(super) fn about(facts: &Facts) -> Section {
    Section::about(facts.model.parameters())
        .with(Block::heading("What this page leaves out"))
        .with(Block::text(left_out(facts)))
}

/// What the page does not hold, said plainly.
fn left_out(facts: &Facts) -> String {
    let (held, all) = (facts.held.nodes.len(), facts.all.len());
    let search = if held == all {
        format!("All {} nodes can be searched.", grouped(all))
    } else {
        format!(
            "Of {} nodes, the {} with the most edges and those that the page shows can be searched; the model file holds them \
             all.",
            grouped(all),
            grouped(held)
        )
    };
    let roles = if facts.model.kind() == Kind::Directed {
        " A node's slices are the mean of its memberships as source and as target, weighted by its edges."
    } else {
        ""
    };
    format!(
        "{search} Shares of a node below 1 % are not told.{roles} Pictures show which nodes are joined, not how strongly. Numbers \
         are rounded to five digits. Communities have the ids of the model file, counted from 0."
    )
}
