//! The page of a community model: network, communities with their members, adjacency and connectivity, bridging nodes,
//! spectrum, the trade-off against a known truth, and diagnostics.

mod explore;
mod held;
mod layout;
mod matrices;
mod memberships;
mod sections;
mod trade_off;

use super::data::Kind;
use super::members::Bridge;
use super::model::Model;
use super::picture::AllNodes;
use crate::evaluate::Recovery;
use crate::report::{Extension, Page, grouped};
use crate::verdict::Level;
use held::{Held, leading};
use memberships::Bars;

/// Nodes between communities that the page lists.
const BRIDGES: usize = 30;
/// Bridgeness of a node with 1 % of itself elsewhere is about this: what lies below is no bridge.
const LEAST_BRIDGE: f64 = 0.01;
/// Members that the page lists for every community.
const MEMBERS: usize = 10;
/// Letters of an id that the page shows.
const LONGEST: usize = 120;

const COMMUNITIES: Extension = Extension {
    script: concat!(
        include_str!("nodes.js"),
        include_str!("network.js"),
        include_str!("adjacency.js"),
        include_str!("memberships.js"),
        include_str!("explorer.js")
    ),
    style: include_str!("communities.css"),
};

/// What the sections are made of.
struct Facts<'a> {
    model: &'a Model,
    all: AllNodes<'a>,
    /// Nodes that the page holds, and so can be searched and picked.
    held: Held,
    /// Leading members of every community: nodes and their share.
    leading: Vec<Vec<(usize, f64)>>,
    /// How many nodes with edges have each community as their main one.
    sizes: Vec<usize>,
    /// Some nodes in the order of their main communities.
    bars: Bars,
    bridges: Vec<Bridge>,
}

impl Model {
    /// A page about the model: network with memberships as pies, communities with their members, adjacency by blocks,
    /// connectivity, bridging nodes, spectrum and diagnostics. Communities keep their numbers.
    ///
    /// # Complexity
    /// O(nodes · k), and two seconds at most for the layout of the network.
    ///
    /// # Example
    /// ```
    /// use tenfold::communities::{Params, Synth};
    /// let drawn = Synth { nodes: 300, k: 3, ..Synth::default() }.draw()?;
    /// let page = Params::new(3).fit(&drawn.graph)?.report();
    /// assert_eq!(page.title, "3 communities in 300 nodes");
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn report(&self) -> Page {
        self.report_with(&[])
    }

    /// [`Model::report`] with the trade-off between recovery and error against known communities: thresholds below which
    /// memberships count as none, with what is recovered from there on.
    ///
    /// # Example
    /// ```
    /// use tenfold::communities::{Params, Synth};
    /// use tenfold::evaluate::Recovery;
    /// let drawn = Synth { nodes: 300, k: 3, alpha0: 0.0, ..Synth::default() }.draw()?;
    /// let model = Params::new(3).fit(&drawn.graph)?;
    /// let thresholds = [0.0, 0.25, 0.5, 0.75];
    /// let curve = Recovery::trade_off(&drawn.memberships.to_mat(), &model.memberships().to_mat(), &thresholds);
    /// let page = model.report_with(&thresholds.into_iter().zip(curve).collect::<Vec<_>>());
    /// assert!(page.sections.iter().any(|section| section.title == "Trade-off"));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn report_with(&self, trade_off: &[(f64, Recovery)]) -> Page {
        let facts = Facts::new(self);
        let k = self.k();
        let nodes = match self.kind() {
            Kind::Bipartite => {
                format!("{} and {} nodes", grouped(self.nodes()), grouped(self.other_ids().len()))
            }
            _ => plural(self.nodes(), "node"),
        };
        let communities = if k == 1 { "One community".to_owned() } else { format!("{k} communities") };
        let mut page = Page::new(
            format!("{communities} in {nodes}"),
            format!(
                "{}, {}{}",
                plural(self.edges() as usize, "edge"),
                self.kind(),
                if self.weighted() { ", with weights" } else { "" }
            ),
        );
        page.extensions.extend([Extension::EXPLORE, Extension::TONES, COMMUNITIES]);
        page.push(explore::section(&facts));
        page.push(sections::communities(&facts));
        if k > 1 {
            page.push(memberships::section(&facts));
        }
        page.push(matrices::section(&facts));
        if !facts.bridges.is_empty() {
            page.push(sections::bridges(&facts));
        }
        page.push(sections::spectrum(self));
        page.push(trade_off::section(&facts, trade_off));
        let findings = self.verdict().findings().iter();
        let findings = findings.map(|(level, text)| (*level == Level::Warning, text.clone())).collect();
        let verdict = page.judge("Diagnostics", findings);
        page.push(sections::diagnostics(self, verdict));
        page.push(sections::about(&facts));
        page
    }
}

impl<'a> Facts<'a> {
    fn new(model: &'a Model) -> Self {
        let all = model.all_nodes();
        let leading = leading(&all, MEMBERS);
        let mut bridges = if model.k() > 1 { model.bridges(BRIDGES) } else { Vec::new() };
        bridges.retain(|b| b.bridgeness > LEAST_BRIDGE);
        let drawn = model.picture().map_or(&[][..], |p| &p.sample.nodes);
        let shown = leading.iter().flatten().map(|m| m.0).chain(bridges.iter().map(|b| b.node));
        let mains = all.mains();
        let bars = Bars::new(&all, &mains);
        let shown = shown.chain(drawn.iter().copied()).chain(bars.nodes.iter().copied());
        let held = Held::new(&all, shown, |u| id(model, u).len());
        let mut sizes = vec![0; model.k()];
        let edged = mains.iter().enumerate().filter(|(u, _)| all.degree(*u) > 0.0);
        edged.for_each(|(_, &c)| sizes[c as usize] += 1);
        Self { model, all, held, leading, sizes, bars, bridges }
    }

    /// What a node is called.
    fn id(&self, node: usize) -> String {
        id(self.model, node)
    }
}

/// What a node is called on the page: its id, or its beginning where it is a text of its own.
fn id(model: &Model, node: usize) -> String {
    let left = model.nodes();
    let id = if node < left { model.ids().get(node) } else { model.other_ids().get(node - left) };
    match id.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &id[..end]),
        None => id.into_owned(),
    }
}

fn plural(n: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
use crate::browser::Browser;
#[cfg(test)]
mod tests;
