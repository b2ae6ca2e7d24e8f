//! Communities of two college networks against what their members say of themselves, as the thesis prints its tables.

use crate::report::Page;
use crate::{Outcome, Request};
use protocol::shared_data;
use std::time::Instant;
use tenfold::communities::read::{ReadOptions, read};
use tenfold::communities::truth::{self, Options};
use tenfold::communities::{Comparison, Members, Params, Threshold};
use tenfold::components::Components;
use tenfold::engine::progress::Silent;

const COLLEGES: [(&str, &str); 2] = [("Caltech36", "Caltech36.gml.gz"), ("Reed98", "Reed98.mat")];

/// What a person may be put in a community by; all together are the truth of the last row.
const ATTRIBUTES: [&[&str]; 4] = [&["dorm"], &["year"], &["major_index"], &["dorm", "year", "major_index"]];

const THRESHOLDS: [f64; 4] = [0.0, 0.1, 0.2, 0.3];

/// Values with fewer members tell more about persons than about communities.
const LEAST: usize = 10;

/// Writes `communities-attributes.md`.
pub fn run(request: &Request) -> Outcome<()> {
    let mut page = Page::new("College networks and the attributes of their members");
    page.say(&format!(
        "Two networks of the Facebook100 collection. A true community is a value of an attribute with at least {LEAST} members; 0 is \
         missing. k is chosen by -k auto and, as k is a choice, also 20. R, E and pairs by the thesis's p-value matching at a \
         threshold; MAE is the mean absolute error of the one-to-one matching, beside that of an answer without members. Friendships \
         follow dorms at Caltech and years at Reed; neither follows majors."
    ));
    let folder = shared_data()?.join("graphs");
    for (name, file) in COLLEGES {
        let path = folder.join(file);
        let graph = read(&path, &ReadOptions::default(), &Silent)?;
        page.section(&format!("{name}: {} nodes, {} edges", graph.nodes(), graph.edges()));
        let mut rows = Vec::new();
        for k in [Components::Auto, Components::Exactly(20)] {
            let begin = Instant::now();
            let model = Params { alpha0: 0.1, seed: request.seed, ..Params::new(k) }.fit(&graph)?;
            let seconds = begin.elapsed().as_secs_f64();
            let members = Members::of(&model, None)?;
            for attributes in ATTRIBUTES {
                let options = Options {
                    attributes: attributes.iter().map(|a| (*a).to_owned()).collect(),
                    missing: vec!["0".into()],
                    min_size: LEAST,
                    ..Options::default()
                };
                let known = truth::read(&path, graph.ids(), &options, &Silent)?;
                let comparison = Comparison::new(&members, &known);
                let measures = comparison.measures(Threshold::HALF);
                for (found, threshold) in comparison.trade_off(&THRESHOLDS).iter().zip(THRESHOLDS) {
                    rows.push(vec![
                        format!("{} ({})", attributes.join(" + "), known.k()),
                        model.k().to_string(),
                        threshold.to_string(),
                        format!("{:.3}", found.error()),
                        format!("{:.0}", 100.0 * found.ratio()),
                        found.pairs().len().to_string(),
                        format!("{:.3} ({:.3})", found.mean_absolute_error(), found.empty_error()),
                        format!("{:.3}", measures.average_f1),
                        format!("{:.3}", measures.onmi_lfk),
                        format!("{seconds:.1}"),
                    ]);
                }
            }
        }
        let headings = [
            "attribute (communities)",
            "k̂",
            "Thre",
            "E",
            "R (%)",
            "pairs",
            "MAE (empty)",
            "F1",
            "ONMI-LFK",
            "Time (s)",
        ];
        page.table(&headings, &rows);
    }
    Ok(page.finish(&request.out, "communities-attributes")?)
}
