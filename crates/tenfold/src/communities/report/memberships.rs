//! Memberships of many nodes side by side, as stacked bars.

use super::Facts;
use super::plural;
use crate::communities::picture::AllNodes;
use crate::report::{Block, Section, grouped};
use rayon::prelude::*;
use serde_json::json;

/// Most bars: about the points that a page has beside each other.
const BARS: usize = 900;

/// The nodes of the picture.
pub(super) struct Bars {
    /// By main community, then by falling share of it.
    pub nodes: Vec<usize>,
    /// Where each community begins, and the end.
    pub borders: Vec<usize>,
}

impl Bars {
    /// All nodes with edges, or every so many-th of them.
    pub fn new(all: &AllNodes<'_>, mains: &[u32]) -> Self {
        let main = |u: usize| mains[u];
        let mut order: Vec<(u32, u32, usize)> = (0..all.len())
            .into_par_iter()
            .filter(|&u| all.degree(u) > 0.0)
            // Shares lie between 0 and 1, where whole numbers tell them well enough.
            .map(|u| (main(u), u32::MAX - (1e9 * all.mix(u)[main(u) as usize]) as u32, u))
            .collect();
        order.par_sort_unstable();
        let (found, shown) = (order.len(), order.len().min(BARS));
        let nodes: Vec<usize> = (0..shown).map(|i| order[i * found / shown].2).collect();
        let mut borders = vec![0; all.k() + 1];
        nodes.iter().for_each(|&u| borders[main(u) as usize + 1] += 1);
        (0..all.k()).for_each(|c| borders[c + 1] += borders[c]);
        Self { nodes, borders }
    }
}

pub(super) fn section(facts: &Facts) -> Section {
    let Bars { nodes, borders } = &facts.bars;
    let edged = (0..facts.all.len()).filter(|&u| facts.all.degree(u) > 0.0).count();
    let who = if nodes.len() == edged {
        format!("Every bar is one of {} with edges", plural(edged, "node"))
    } else {
        format!(
            "Every bar is a node, {} of {} with edges, taken evenly",
            grouped(nodes.len()),
            grouped(edged)
        )
    };
    let data = json!({
        "nodes": nodes.iter().map(|&u| facts.held.place(u)).collect::<Vec<_>>(),
        "borders": borders,
        "caption": format!(
            "{who}, by main community and then by how much they belong to it. Colours are those of the network. A click chooses the \
             main community of the node."
        ),
    });
    Section::new("Memberships").with(Block::Widget { name: "memberships", data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communities::data::Kind;
    use tenfold_engine::linalg::Tall;

    #[test]
    fn bars_stand_by_community_then_by_share() {
        let memberships =
            Tall::from_vec(5, 2, vec![0.9, 0.1, 0.2, 0.8, 1.0, 0.0, 0.5, 0.5, 0.0, 1.0]).unwrap();
        let strengths = [1.0, 1.0, 1.0, 0.0, 1.0];
        let all = AllNodes {
            kind: Kind::Undirected,
            memberships: &memberships,
            others: None,
            strengths: &strengths,
            other_strengths: &[],
        };
        let bars = Bars::new(&all, &all.mains());
        assert_eq!((bars.nodes, bars.borders), (vec![2, 0, 4, 1], vec![0, 2, 4]));
    }
}
