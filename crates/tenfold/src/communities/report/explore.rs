//! The part of the page that is explored: what its script is given.

use super::layout::layout;
use super::{Facts, plural};
use crate::communities::data::Kind;
use crate::communities::picture::Picture;
use crate::report::{Block, Section, grouped, number, numbers};
use serde_json::{Value, json};

/// Shares below this are not told for a node, in thousandths.
const LEAST: u32 = 10;
/// Communities that are told as linked with another.
const NEAR: usize = 4;

pub(super) fn section(facts: &Facts) -> Section {
    let model = facts.model;
    let picture = model.picture();
    let held = &facts.held.nodes;
    let left = model.nodes();
    let confidence =
        |u: &usize| model.confidence().get(*u).map_or(Value::Null, |&c| number((100.0 * c).round() / 100.0));
    let data = json!({
        "communities": (0..model.k()).map(|c| community(facts, c)).collect::<Value>(),
        "ids": held.iter().map(|&u| facts.id(u)).collect::<Vec<_>>(),
        "confidence": held.iter().map(confidence).collect::<Value>(),
        "roles": roles(facts),
        "lefts": (model.kind() == Kind::Bipartite).then(|| held.iter().filter(|u| **u < left).count()),
        "nodes": facts.all.len(),
        "weighted": model.weighted(),
        "drawing": picture.map(|p| drawing(facts, p)),
        "note": note(facts, picture),
    });
    Section::new("Network").with(Block::Widget { name: "communities", data })
}

fn community(facts: &Facts, c: usize) -> Value {
    let (model, k) = (facts.model, facts.model.k());
    let p = model.connectivity();
    let both = |j: usize| if model.kind() == Kind::Undirected { p[(c, j)] } else { p[(c, j)].max(p[(j, c)]) };
    let mut near: Vec<usize> = (0..k).filter(|&j| j != c && both(j) > 0.0).collect();
    near.sort_by(|&a, &b| both(b).total_cmp(&both(a)).then(a.cmp(&b)));
    let members = facts.leading[c].iter().map(|&(u, share)| json!([facts.held.place(u), number(share)]));
    json!({
        "share": number(model.shares()[c]),
        "nodes": facts.sizes[c],
        "alpha": number(model.alpha()[c]),
        "within": number(p[(c, c)]),
        "members": members.collect::<Value>(),
        "near": near.iter().take(NEAR).map(|&j| json!([j, number(both(j))])).collect::<Value>(),
    })
}

/// Degrees and memberships of the held nodes, once for every role that a node can have: one, or two where edges have a
/// direction.
fn roles(facts: &Facts) -> Value {
    let (model, all) = (facts.model, &facts.all);
    let held = &facts.held.nodes;
    let role = |degree: &dyn Fn(usize) -> f64, mix: &dyn Fn(usize) -> Vec<f64>| {
        let degrees: Vec<f64> = held.iter().map(|&u| degree(u)).collect();
        json!({ "degrees": numbers(&degrees), "mixes": held.iter().map(|&u| shares(&mix(u))).collect::<Value>() })
    };
    match (model.kind(), all.others) {
        (Kind::Directed, Some(others)) => {
            let plain = |row: &[f32]| row.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
            json!([
                role(&|u| all.strengths[u], &|u| plain(all.memberships.row(u))),
                role(&|u| all.other_strengths[u], &|u| plain(others.row(u))),
            ])
        }
        _ => json!([role(&|u| all.degree(u), &|u| all.mix(u))]),
    }
}

/// Communities with their shares in thousandths, one after the other, the largest first.
fn shares(mix: &[f64]) -> Value {
    let mut told: Vec<(usize, u32)> = mix.iter().map(|x| (1000.0 * x).round() as u32).enumerate().collect();
    told.retain(|t| t.1 >= LEAST);
    told.sort_by_key(|&(c, share)| (std::cmp::Reverse(share), c));
    told.into_iter().flat_map(|(c, share)| [json!(c), json!(share)]).collect()
}

fn drawing(facts: &Facts, picture: &Picture) -> Value {
    let sample = &picture.sample;
    let mixes: Vec<Vec<f64>> = sample.nodes.iter().map(|&u| facts.all.mix(u)).collect();
    let found = layout(&mixes, &sample.links);
    json!({
        "nodes": sample.nodes.iter().map(|&u| facts.held.place(u)).collect::<Vec<_>>(),
        "x": found.places.iter().map(|p| p.0.round() as i64).collect::<Vec<_>>(),
        "y": found.places.iter().map(|p| p.1.round() as i64).collect::<Vec<_>>(),
        "width": found.width.round() as i64,
        "height": found.height.round() as i64,
        "links": sample.links.iter().flat_map(|l| [l.0, l.1]).collect::<Vec<_>>(),
    })
}

fn note(facts: &Facts, picture: Option<&Picture>) -> String {
    let Some(Picture { sample, .. }) = picture else {
        return "This model file holds no picture of its graph; fit the model again to get one.".into();
    };
    let all = facts.all.len();
    let nodes = if sample.nodes.len() == all {
        format!("All {}", plural(all, "node"))
    } else {
        format!(
            "{} of {} nodes: the strongest bridges, and of every community, by its size, a part around its hub that hangs \
             together",
            grouped(sample.nodes.len()),
            grouped(all)
        )
    };
    let links = if sample.links.len() == sample.between {
        format!("{} between them", plural(sample.between, "link"))
    } else {
        format!("{} of {} links between them", grouped(sample.links.len()), grouped(sample.between))
    };
    let squares = if facts.model.kind() == Kind::Bipartite { ", squares are the right side" } else { "" };
    format!(
        "{nodes}; {links}. Slices are memberships{squares}; larger nodes have more edges. Linked nodes attract each other and \
         all nodes repel each other (ForceAtlas2)."
    )
}
