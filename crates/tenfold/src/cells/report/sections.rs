//! Sections of tables and plots.

use crate::cells::validate::Judged;
use crate::cells::{Feature, Model};
use crate::report::{Block, Cell, Plot, Section, Series, Table, grouped, numbers};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Markers that a type is told by.
const MARKERS: usize = 8;
/// Genes in the picture of profiles: more rows nobody reads.
const GENES: usize = 96;

/// One row a type: how many cells, what they look like, which genes.
pub(super) fn types(model: &Model) -> Section {
    let shown: Vec<Feature> =
        model.traits().first().map_or(Vec::new(), |list| list.iter().map(|own| own.feature).collect());
    let share = format!("share of {}", model.counted());
    let mut columns = vec!["type", share.as_str(), model.counted()];
    columns.extend(shown.iter().map(|feature| feature.name()));
    columns.push("marker genes");
    let mut table = Table::new(&columns);
    table.tall = model.k() > 12;
    let heaviest = model.weights().iter().copied().fold(0.0, f64::max);
    for t in 0..model.k() {
        let weight = model.weights()[t];
        let mut row = vec![
            Cell::count(t),
            Cell::share(weight, heaviest),
            Cell::count((weight * model.diagnostics().cells).round() as usize),
        ];
        for &feature in &shown {
            let own = model.traits()[t].iter().find(|own| own.feature == feature);
            row.push(Cell::text(own.map_or("–".to_owned(), |own| range(feature, own.low, own.high))));
        }
        row.push(Cell::Words(
            model.markers(t, MARKERS).iter().map(|m| model.genes()[m.gene].clone()).collect(),
        ));
        table.push(Some(t), row);
    }
    let words = match shown.is_empty() {
        true => {
            "Marker genes are those with the largest share of a type's profile over the mean of all types."
        }
        false => {
            "Of every feature the range from the 5th to the 95th percentile; a cell counts for a type by its \
                  probability. Sizes are mean radii in pixels. Marker genes are those with the largest share of a type's \
                  profile over the mean of all types."
        }
    };
    Section::new("Types").with(Block::text(words)).with(table)
}

fn range(feature: Feature, low: f64, high: f64) -> String {
    match feature {
        Feature::Orientation => format!("{:.0}° – {:.0}°", low.to_degrees(), high.to_degrees()),
        _ => format!("{} – {}", figure(low), figure(high)),
    }
}

/// Three digits that count.
fn figure(x: f64) -> String {
    let digits = if x == 0.0 { 0 } else { (2 - x.abs().log10().floor() as i32).clamp(0, 6) as usize };
    format!("{x:.digits$}")
}

/// Genes that tell types apart, as colours.
pub(super) fn profiles(model: &Model) -> Section {
    let each = (GENES / model.k()).clamp(2, MARKERS);
    let mut seen = BTreeSet::new();
    let genes: Vec<usize> = (0..model.k())
        .flat_map(|t| model.markers(t, each).into_iter().map(|m| m.gene))
        .filter(|gene| seen.insert(*gene))
        .take(GENES)
        .collect();
    let k = model.k() as f64;
    let shares: Value = genes
        .iter()
        .map(|&g| {
            let own: Vec<f64> =
                (0..model.k()).map(|t| model.weights()[t] * model.profiles()[(t, g)]).collect();
            let sum = own.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            numbers(&own.iter().map(|x| x / sum).collect::<Vec<_>>())
        })
        .collect();
    let lifts: Value = genes
        .iter()
        .map(|&g| {
            let mean = (0..model.k()).map(|t| model.profiles()[(t, g)]).sum::<f64>() / k;
            let lift = |t: usize| model.profiles()[(t, g)] / mean.max(f64::MIN_POSITIVE);
            numbers(&(0..model.k()).map(lift).collect::<Vec<_>>())
        })
        .collect();
    let caption = "Which types the cells that show a gene belong to, for the marker genes of every type.";
    let names: Vec<&str> = genes.iter().map(|&g| model.genes()[g].as_str()).collect();
    let data =
        json!({ "types": model.k(), "genes": names, "shares": shares, "lifts": lifts, "caption": caption });
    Section::new("Profiles").with(Block::text(caption)).with(Block::Widget { name: "profiles", data })
}

/// How features are distributed, for every type.
pub(super) fn features(model: &Model) -> Option<Section> {
    let bins = model.bins()?;
    let mut section = Section::new("Features").with(Block::text(
        "How many times as frequent a value is among the cells of a type as among all cells; 1 is no difference. Values are the \
         middles of the histogram's bins.",
    ));
    let mut plots: Vec<Block> = Vec::new();
    let edges = bins.edges();
    for (name, edges) in edges {
        let Some(feature) = Feature::ALL.into_iter().find(|feature| feature.name() == name) else { continue };
        if edges.is_empty() {
            continue;
        }
        // Of aspects the first bin holds round cells, which the edges do not tell.
        let with_round: Vec<f64>;
        let cuts = match feature {
            Feature::Aspect => {
                with_round = std::iter::once(bins.round()).chain(edges.iter().copied()).collect();
                &with_round[..]
            }
            _ => edges,
        };
        let series = lines(model, feature, &middles(cuts));
        plots.push(Plot::lines(format!("{name} of cells"), series).axes(name, "times").into());
    }
    let turns = bins.orientations();
    if turns > 1 && !model.histogram(0, Feature::Orientation).is_empty() {
        let at: Vec<f64> = (0..turns).map(|i| (i as f64 + 0.5) * 180.0 / turns as f64).collect();
        let plot =
            Plot::lines("orientation of cells that are not round", lines(model, Feature::Orientation, &at));
        plots.push(plot.axes("degrees from the x axis towards the y axis", "times").into());
    }
    for pair in plots.chunks(2) {
        section = section.with(Block::Row(pair.to_vec()));
    }
    Some(section)
}

/// A line for each type, relative to all cells together.
fn lines(model: &Model, feature: Feature, at: &[f64]) -> Vec<Series> {
    let own: Vec<Vec<f64>> = (0..model.k()).map(|t| model.histogram(t, feature)).collect();
    let all: Vec<f64> = (0..at.len())
        .map(|i| own.iter().zip(model.weights()).map(|(histogram, w)| w * histogram[i]).sum())
        .collect();
    own.iter()
        .enumerate()
        .map(|(t, histogram)| {
            let times: Vec<f64> = histogram.iter().zip(&all).map(|(x, all)| x / all.max(1e-12)).collect();
            Series::new(format!("type {t}"), at, &times)
        })
        .collect()
}

/// Middles of bins; the outermost, which are open, are as wide as their neighbours.
fn middles(edges: &[f64]) -> Vec<f64> {
    let (first, last) = (edges[0], edges[edges.len() - 1]);
    let step = |a: f64, b: f64| if edges.len() > 1 { (b - a) / 2.0 } else { 0.25 * first.abs().max(1e-12) };
    let mut at = vec![first - step(first, edges[1.min(edges.len() - 1)])];
    at.extend(edges.windows(2).map(|w| (w[0] + w[1]) / 2.0));
    at.push(last + step(edges[edges.len().saturating_sub(2)], last));
    at
}

/// How many types predict best, where the fit chose.
pub(super) fn number(model: &Model) -> Option<Section> {
    let curve = &model.diagnostics().curve;
    if curve.len() < 2 {
        return None;
    }
    let k: Vec<f64> = curve.iter().map(|point| point.k as f64).collect();
    let score: Vec<f64> = curve.iter().map(|point| point.log_likelihood).collect();
    let plot =
        Plot::lines("How well one half of the cells tells the other", vec![Series::new("", &k, &score)])
            .axes("number of types", "nats a cell")
            .mark(model.k() as f64, &format!("{} types", model.k()));
    let words = "Every cell goes to one of two halves by chance. Types are learnt from one half and predict the other; too few miss \
                 what cells have in common, too many learn chance.";
    Some(Section::new("Number of types").with(Block::text(words)).with(plot))
}

/// What single cells with counted transcripts say.
pub(super) fn single_cells(judged: &Judged) -> Section {
    let verdict = match (judged.permuted.is_empty(), judged.p_value <= 0.05) {
        (true, _) => String::new(),
        (false, true) => format!(" Permuted cells are predicted worse (p = {:.3}).", judged.p_value),
        (false, false) => format!(
            " Permuted cells are predicted about as well (p = {:.3}): the types say no more than chance.",
            judged.p_value
        ),
    };
    let words = format!(
        "Half of the transcripts of each of {} single cells give its mixture of types, the other half is predicted, over {} common \
         genes.{verdict} Smaller perplexity is better.",
        grouped(judged.cells),
        grouped(judged.genes)
    );
    let mut table = Table::new(&["what is predicted", "perplexity"]);
    table.push(None, vec![Cell::text("single cells"), Cell::number(judged.perplexity, 1)]);
    if !judged.permuted.is_empty() {
        let (low, high) =
            judged.permuted.iter().fold((f64::INFINITY, 0.0f64), |(l, h), x| (l.min(*x), h.max(*x)));
        let name = format!("permuted cells, {low:.1} to {high:.1} in {} tries", judged.permuted.len());
        table.push(None, vec![Cell::text(name), Cell::number(judged.permuted_mean(), 1)]);
    }
    table.push(None, vec![Cell::text("by gene frequencies alone"), Cell::number(judged.unigram, 1)]);
    Section::new("Single cells").with(Block::text(words)).with(table)
}

/// How the starts ended.
pub(super) fn starts(model: &Model) -> Table {
    let mut table = Table::new(&["start", "nats a cell", "total variation from the best"]);
    for start in &model.diagnostics().starts {
        table.push(
            None,
            vec![
                Cell::text(start.name.as_str()),
                Cell::number(start.log_likelihood, 4),
                Cell::number(start.distance, 3),
            ],
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_middles() {
        assert_eq!(middles(&[2.0, 4.0, 8.0]), [1.0, 3.0, 6.0, 10.0]);
        assert_eq!(middles(&[4.0]), [3.0, 5.0]);
        assert_eq!(figure(0.012345), "0.0123");
        assert_eq!(figure(123.4), "123");
        assert_eq!(figure(0.0), "0");
    }
}
