//! Groups, hidden nodes, edges, and held-out samples.

use super::explore::shorten;
use super::telling::Telling;
use super::{Facts, plural};
use crate::report::{Block, Cell, Plot, Section, Table, grouped};
use crate::trees::picture::HeldOut;

/// Members that the table of groups names.
const MEMBERS: usize = 12;
/// Rows from which on a table shows only its first screen.
const TALL: usize = 12;

/// The groups in words: those that hang together most first.
pub(super) fn groups(facts: &Facts<'_>) -> Section {
    let mut rows: Vec<(usize, f64)> = facts.groups().into_iter().map(|c| (c, closeness(facts, c))).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut section = Section::new("Groups");
    if let Some(&(first, strength)) = rows.first() {
        let names: Vec<String> =
            facts.clusters[first].iter().map(|&v| shorten(&facts.shown.name(v))).collect();
        let largest = facts.groups()[0];
        let more = match rows.len() {
            1 => String::new(),
            _ => format!(
                " The largest is group {largest} with {}.",
                plural(facts.clusters[largest].len(), "variable")
            ),
        };
        section = section.with(Block::text(format!(
            "The group that hangs together most is group {first} ({}): its edges have a strength of {:.0} % on average.{more} \
             Strength is e^(−length): 100 % where one end of an edge tells the other, 0 % where they are independent.",
            listed(&names, 4),
            100.0 * strength
        )));
    }
    let long = rows.iter().any(|row| facts.clusters[row.0].len() > MEMBERS);
    let mut table =
        Table::new(&["group", "variables", "strength", if long { "the first members" } else { "members" }]);
    table.tall = rows.len() > TALL;
    for (c, strength) in rows {
        let members = &facts.clusters[c];
        let picks: Vec<(usize, String)> =
            members.iter().take(MEMBERS).map(|&v| (v, shorten(&facts.shown.name(v)))).collect();
        let group = Cell::Items(vec![(c, c.to_string())]);
        table.push(
            Some(c),
            vec![group, Cell::count(members.len()), Cell::share(strength, 1.0), Cell::Picks(picks)],
        );
    }
    let alone = facts.clusters.iter().filter(|c| c.len() == 1).count();
    section = section.with(table);
    match alone {
        0 => section,
        n => section.with(Block::note(format!(
            "{} in a group of its own.",
            if n == 1 { "One variable is".into() } else { format!("{n} variables are, each,") }
        ))),
    }
}

/// The mean strength of the edges at a group's variables and between nodes that only this group hangs on.
fn closeness(facts: &Facts<'_>, c: usize) -> f64 {
    let member = |node: usize| facts.shown.picture.clusters.get(node) == Some(&c);
    let own: Vec<f64> =
        facts.shown.edges.iter().filter(|e| member(e.a) || member(e.b)).map(|e| e.strength()).collect();
    own.iter().sum::<f64>() / own.len().max(1) as f64
}

pub(super) fn held_out(held: &HeldOut) -> Section {
    let mut table = Table::new(&["model", "log-likelihood a sample", "above independence"]);
    let rows = [
        ("this tree", held.tree),
        ("Chow–Liu tree, nothing hidden", held.chow_liu),
        ("independence", held.independence),
    ];
    for (name, value) in rows {
        table.push(
            None,
            vec![Cell::text(name), Cell::number(value, 3), Cell::number(value - held.independence, 3)],
        );
    }
    let best = if held.tree >= held.chow_liu { "better" } else { "worse" };
    let text = format!(
        "{} that the fit did not see, in nats a sample: the tree is {best} than the Chow–Liu tree by {:.3}, and {} than \
         independent variables by {:.3}.",
        plural(held.samples, "sample"),
        (held.tree - held.chow_liu).abs(),
        if held.tree >= held.independence { "better" } else { "worse" },
        (held.tree - held.independence).abs()
    );
    let mut section = Section::new("Held-out samples").with(Block::text(text));
    let gains: Vec<f64> = rows[..2].iter().map(|(_, value)| value - held.independence).collect();
    if gains.iter().all(|gain| *gain > 0.0) {
        let labels = ["this tree".to_owned(), "Chow–Liu".to_owned()];
        let caption = "Nats a held-out sample above independence: higher is better.";
        section =
            section.with(Block::Row(vec![table.into(), Plot::bars(caption, &labels, &gains, false).into()]));
        return section;
    }
    section.with(table)
}

pub(super) fn hidden(facts: &Facts<'_>) -> Section {
    let shown = &facts.shown;
    let mut table = Table::new(&["node", "states", "what is typical of each state"]);
    for (place, i) in shown.picture.tree.hidden().filter_map(|place| Some((place, shown.index[place]?))) {
        let node = &shown.network.nodes[i];
        let states = shown.marginals[i].iter().zip(&facts.telling[i]).enumerate();
        let lines = states.map(|(s, (share, told))| {
            let told: Vec<String> = told.iter().take(3).map(say).collect();
            let told = if told.is_empty() { "nothing stands out".into() } else { told.join(" · ") };
            format!("{s} ({:.0} %): {told}", 100.0 * share)
        });
        let name = vec![(place, shown.name(place).into_owned())];
        table.push(None, vec![Cell::Picks(name), Cell::count(node.states()), Cell::Words(lines.collect())]);
    }
    table.tall = table.rows.len() > TALL;
    let text = "Every hidden node is a cause that nobody wrote down. Its states are known by what is likelier with them than without: \
                the share of samples that show the value when the node is in this state, and the share of all samples in brackets.";
    Section::new("Hidden nodes").with(Block::text(text)).with(table)
}

fn say(told: &Telling) -> String {
    let value = shorten(&told.value);
    match told.means {
        true => format!("{value} (mean {:.2}, of all {:.2})", told.within, told.overall),
        false => format!("{value} {:.0} % ({:.0} %)", 100.0 * told.within, 100.0 * told.overall),
    }
}

pub(super) fn edges(facts: &Facts<'_>) -> Section {
    let shown = &facts.shown;
    let errors = shown.edges.iter().any(|e| e.error.is_some());
    let support = shown.edges.iter().any(|e| e.support.is_some());
    let mut columns = vec!["from", "to", "length"];
    columns.extend(errors.then_some("standard error"));
    columns.push("strength");
    columns.extend(support.then_some("support"));
    let mut table = Table::new(&columns);
    table.tall = shown.edges.len() > TALL;
    let mut all: Vec<_> = shown.edges.iter().collect();
    all.sort_by(|x, y| x.length.total_cmp(&y.length).then((x.a, x.b).cmp(&(y.a, y.b))));
    for edge in all {
        let end = |node: usize| Cell::Picks(vec![(node, shorten(&shown.name(node)))]);
        let mut cells = vec![end(edge.a), end(edge.b), Cell::number(edge.length, 3)];
        cells.extend(errors.then(|| Cell::number(edge.error.unwrap_or(f64::NAN), 3)));
        cells.push(Cell::share(edge.strength(), 1.0));
        cells.extend(support.then(|| Cell::share(edge.support.unwrap_or(f64::NAN), 1.0)));
        table.push(None, cells);
    }
    let text = format!(
        "{} edges, the strongest first. A length is −Σ log of the correlations between its ends; lengths add up along a path.{}",
        grouped(shown.edges.len()),
        if support {
            " Support is the share of bootstrap samples whose tree splits the variables in the same way."
        } else {
            ""
        }
    );
    Section::new("Edges").with(Block::text(text)).with(table)
}

/// A few names, and how many more.
fn listed(names: &[String], most: usize) -> String {
    let shown = names.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > most { format!("{shown} and {} more", names.len() - most) } else { shown }
}
