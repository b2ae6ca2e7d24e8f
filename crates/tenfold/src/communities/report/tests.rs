use super::super::data::{Graph, GraphBuilder};
use super::*;
use crate::communities::{Edges, Params, Synth};
use crate::evaluate::Cover;
use serde_json::Value;

mod browser;

/// Names that would like to be programs.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";
const SCRIPT: &str = "<script>alert(1)</script>";

/// The drawn graph with names instead of numbers; nodes 5 and 6 have hostile ones.
fn named(synth: &Synth) -> Graph {
    let drawn = synth.draw().unwrap().graph;
    let name = |u: usize, side: &str| match u {
        5 => HOSTILE.to_owned(),
        6 => SCRIPT.to_owned(),
        _ => format!("{side}{u}"),
    };
    let mut builder = GraphBuilder::new(Some(drawn.kind()));
    let right = if drawn.kind() == Kind::Bipartite { "item" } else { "node" };
    for u in 0..drawn.nodes() {
        builder.node(&name(u, "node"));
    }
    for u in 0..drawn.nodes() {
        for &v in drawn.adjacency().row(u).0 {
            if drawn.kind() != Kind::Undirected || (v as usize) > u {
                builder.edge(&name(u, "node"), &name(v as usize, right));
            }
        }
    }
    builder.finish().unwrap()
}

fn blocks(nodes: usize, k: usize) -> Synth {
    let edges = Edges::Poisson { degree: 12.0, background: 0.1 };
    Synth { nodes, k, alpha0: 0.3, edges, seed: 3, ..Synth::default() }
}

/// The model against its own main communities.
fn trade_off(model: &Model) -> Vec<(f64, Recovery)> {
    let found = model.memberships().to_mat();
    let thresholds = [0.0, 0.2, 0.4, 0.6, 0.8];
    thresholds.into_iter().zip(Recovery::trade_off(&Cover::top(&found), &found, &thresholds)).collect()
}

fn island(html: &str) -> Value {
    let start = html.find("id=\"data\">").unwrap() + 10;
    serde_json::from_str(&html[start..start + html[start..].find("</script>").unwrap()]).unwrap()
}

#[test]
fn the_page_holds_every_part_and_the_ids_of_the_model() {
    let model = Params::new(4).fit(&named(&blocks(200, 4))).unwrap();
    let html = model.report_with(&trade_off(&model)).to_html();
    let parts = [
        "Network",
        "Communities",
        "Memberships",
        "Blocks",
        "Bridges",
        "Spectrum",
        "Trade-off",
        "Diagnostics",
        "About",
    ];
    for part in parts {
        assert!(html.contains(&format!(">{part}</h2>")), "{part}");
    }
    assert!(html.contains("4 communities in 200 nodes") && html.contains("All 200 nodes can be searched"));
    let widget = &island(&html)[0]["data"];
    let places: Vec<&str> = widget["ids"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for (place, id) in places.iter().enumerate() {
        let node = model.ids().find(id).unwrap();
        let best = super::super::picture::largest(model.memberships().row(node));
        assert_eq!(widget["roles"][0]["mixes"][place][0], best, "{id}");
        assert_eq!(widget["roles"][0]["degrees"][place], model.strengths()[node]);
    }
}

#[test]
fn hostile_ids_stay_inside_and_no_address_is_named() {
    let html = Params::new(3).fit(&named(&blocks(60, 3))).unwrap().report().to_html();
    assert!(
        html.contains("&lt;/script&gt;&lt;img src=x") || html.contains("\\u003c/script\\u003e\\u003cimg")
    );
    assert!(html.contains("\\u003cscript\\u003ealert(1)"));
    assert_eq!(html.matches("<script").count(), 2);
    assert!(!html.contains("<img") && !html.contains("http:") && !html.contains("https:"));
    assert!(!html.contains("innerHTML"));
}

#[test]
fn every_kind_of_graph_has_a_page_and_keeps_it_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.tenfold");
    for kind in [Kind::Undirected, Kind::Directed, Kind::Bipartite] {
        for (nodes, k) in [(90, 3), (900, 5)] {
            let synth = Synth { kind, others: 120, ..blocks(nodes, k) };
            let model = Params::new(k).fit(&named(&synth)).unwrap();
            model.save(&path).unwrap();
            let back = Model::load(&path).unwrap();
            let (mut before, after) = (model.report(), back.report());
            // Seconds are not kept in the file.
            let facts = |page: &Page| page.sections.len();
            assert_eq!(facts(&before), facts(&after));
            before.sections.retain(|s| s.title != "Diagnostics");
            let mut after = after;
            after.sections.retain(|s| s.title != "Diagnostics");
            assert_eq!(before.to_html(), after.to_html(), "{kind:?} of {nodes} nodes");
        }
    }
}

/// Two triangles with an edge between them.
#[test]
fn the_smallest_graphs_have_a_page() {
    let mut builder = GraphBuilder::new(Some(Kind::Undirected));
    builder.edge("a", "b").edge("b", "c").edge("c", "a");
    builder.edge("d", "e").edge("e", "f").edge("f", "d").edge("a", "d");
    let graph = builder.finish().unwrap();
    for k in [1, 2] {
        assert!(Params::new(k).fit(&graph).unwrap().report().to_html().len() > 1000);
    }
}

#[test]
fn long_names_are_cut_and_without_a_truth_thresholds_are_told() {
    let long = "ö".repeat(5000);
    let mut builder = GraphBuilder::new(Some(Kind::Undirected));
    builder.edge(&long, "b").edge("b", "c").edge("c", &long);
    builder.edge("d", "e").edge("e", "f").edge("f", "d").edge("c", "d");
    let page = Params::new(2).fit(&builder.finish().unwrap()).unwrap().report();
    let html = page.to_html();
    assert!(html.contains(&format!("{}…", "ö".repeat(LONGEST))));
    assert!(!html.contains(&"ö".repeat(LONGEST + 1)));
    assert!(html.contains("in several") && !html.contains("error of no answer"));
}

#[test]
fn a_path_has_a_page_or_an_error() {
    let mut builder = GraphBuilder::new(Some(Kind::Undirected));
    builder.edge("a", "b").edge("b", "c");
    let graph = builder.finish().unwrap();
    for k in [1, 2] {
        if let Ok(model) = Params::new(k).fit(&graph) {
            assert!(model.report().to_html().len() > 1000);
        }
    }
}

#[test]
fn a_large_model_gives_a_small_page() {
    let synth = Synth { edges: Edges::Poisson { degree: 8.0, background: 0.1 }, ..blocks(60_000, 20) };
    let model = Params { iterations: Some(3), ..Params::new(20) }.fit(&synth.draw().unwrap().graph).unwrap();
    let html = model.report().to_html();
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(html.contains("400 of 60,000 nodes") && html.contains("Of 60,000 nodes"));
}
