//! The page of a tree: the tree to explore, its groups in words, hidden nodes, edges, and how likely held-out samples are.

mod explore;
mod sections;
mod telling;

use super::picture::{Picture, Shown};
#[cfg(test)]
use crate::browser::Browser;
use crate::report::{Extension, Page, grouped};
use telling::Telling;

#[cfg(test)]
mod tests;

const TREES: Extension = Extension {
    script: concat!(
        include_str!("layout.js"),
        include_str!("details.js"),
        include_str!("drawing.js"),
        include_str!("trees.js")
    ),
    style: include_str!("trees.css"),
};

/// What the sections are made of.
struct Facts<'a> {
    shown: Shown<'a>,
    /// What is typical of every state of every node of the network.
    telling: Vec<Vec<Vec<Telling>>>,
    /// The variables of every cluster, by its number.
    clusters: Vec<Vec<usize>>,
}

impl Picture<'_> {
    /// A page about the tree: the tree to fold, enlarge and search, what it says in words, its groups, hidden nodes with what
    /// is typical of their states, and edges. Where small cells are kept back ([`Picture::min_cell`]), the page holds the
    /// same coarse numbers as the files for other programs.
    ///
    /// # Complexity
    /// O(hidden nodes · features near them) besides the size of the tables.
    pub fn page(&self) -> Page {
        let facts = Facts::new(self);
        let hidden = self.tree.hidden().count();
        let mut page = Page::new(
            format!("{} under {}", plural(self.variables.len(), "variable"), plural(hidden, "hidden node")),
            format!("A tree of hidden causes, learnt from {}", plural(self.samples, "sample")),
        );
        page.extensions.extend([Extension::EXPLORE, Extension::TONES, TREES]);
        page.push(explore::section(&facts));
        page.push(sections::groups(&facts));
        if let Some(held_out) = &self.held_out {
            page.push(sections::held_out(held_out));
        }
        page.push(sections::hidden(&facts));
        page.push(sections::edges(&facts));
        page
    }
}

impl<'a> Facts<'a> {
    fn new(picture: &Picture<'a>) -> Self {
        let shown = picture.shown();
        let telling = telling::telling(&shown);
        let count = picture.clusters.iter().max().map_or(0, |most| most + 1);
        let mut clusters = vec![Vec::new(); count];
        for (v, &c) in picture.clusters.iter().enumerate() {
            clusters[c].push(v);
        }
        Self { shown, telling, clusters }
    }

    /// Clusters with more than one variable, the largest first.
    fn groups(&self) -> Vec<usize> {
        let mut groups: Vec<usize> =
            (0..self.clusters.len()).filter(|&c| self.clusters[c].len() > 1).collect();
        groups.sort_by_key(|&c| (std::cmp::Reverse(self.clusters[c].len()), c));
        groups
    }
}

fn plural(n: usize, word: &str) -> String {
    format!("{} {word}{}", grouped(n), if n == 1 { "" } else { "s" })
}
