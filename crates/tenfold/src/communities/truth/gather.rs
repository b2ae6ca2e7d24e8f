//! Members of known communities on their way in.

use super::super::data::{Ids, Names};
use super::{Truth, WANTED};
use crate::error::{Error, Result};
use crate::report::grouped;
use std::path::{Path, PathBuf};

/// What a reader has found so far.
pub(super) struct Gather<'a> {
    path: PathBuf,
    ids: &'a Ids,
    names: Names,
    entries: Vec<(u32, u32, f32)>,
    known: Vec<bool>,
    /// Ids that are no nodes.
    strangers: Names,
    weighted: bool,
    notes: Vec<String>,
}

impl<'a> Gather<'a> {
    pub(super) fn new(path: &Path, ids: &'a Ids) -> Self {
        Self {
            path: path.to_owned(),
            ids,
            names: Names::default(),
            entries: Vec::new(),
            known: vec![false; ids.len()],
            strangers: Names::default(),
            weighted: false,
            notes: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    pub(super) fn ids(&self) -> &'a Ids {
        self.ids
    }

    /// The node of this id, which is now known; `None` for a stranger. Blanks around an id may be its own or the file's.
    pub(super) fn node(&mut self, id: &str) -> Option<u32> {
        let plain = id.trim();
        let Some(node) = self.ids.find(id).or_else(|| self.ids.find(plain)) else {
            self.strangers.insert(plain);
            return None;
        };
        self.known[node] = true;
        Some(node as u32)
    }

    /// The number of the community of this name.
    pub(super) fn community(&mut self, name: &str) -> u32 {
        self.names.insert(name).unwrap_or_default()
    }

    /// A node in a community, with a weight where memberships have weights.
    pub(super) fn member(&mut self, id: &str, community: &str, weight: Option<f32>) {
        let Some(node) = self.node(id) else { return };
        let community = self.community(community);
        self.push(node, community, weight);
    }

    pub(super) fn push(&mut self, node: u32, community: u32, weight: Option<f32>) {
        self.weighted |= weight.is_some();
        self.entries.push((node, community, weight.unwrap_or(1.0)));
    }

    /// The truth, if most of its ids are nodes of the graph.
    pub(super) fn finish(mut self, min_size: usize) -> Result<Truth> {
        let known = self.known.iter().filter(|known| **known).count();
        let strangers = self.strangers.len();
        let fail = |problem: String, remedy: &str| {
            Err(Error::Read { path: self.path.clone(), line: None, problem, remedy: remedy.into() })
        };
        if known < strangers {
            let all = grouped(known + strangers);
            let count = match known {
                0 => format!("none of its {all} ids is a node"),
                1 => format!("only 1 of its {all} ids is a node"),
                _ => format!("only {} of its {all} ids are nodes", grouped(known)),
            };
            let stranger = self.strangers.get(0);
            let node = if self.ids.is_empty() { "".into() } else { self.ids.get(0) };
            return fail(
                format!("{count} of the graph: {stranger:?} is not, and nodes are called {node:?} and so on"),
                "give the truth of this graph; ids are compared as text",
            );
        }
        if self.entries.is_empty() {
            return fail("holds no members of communities".into(), WANTED);
        }
        self.entries.sort_by_key(|e| (e.0, e.1));
        self.entries.dedup_by_key(|e| (e.0, e.1));
        let names = self.keep_large(min_size)?;
        let mut warnings = Vec::new();
        if strangers > 0 {
            warnings.push(format!(
                "{} of the truth's {} ids are no nodes of the graph and are left out, such as {:?}",
                grouped(strangers),
                grouped(known + strangers),
                self.strangers.get(0)
            ));
        }
        if let Some(first) = self.known.iter().position(|known| !known) {
            self.notes.push(format!(
                "{} of {} nodes are not in the truth and are left out, such as {:?}",
                grouped(self.known.len() - known),
                grouped(self.known.len()),
                self.ids.get(first)
            ));
        }
        let Self { entries, known, weighted, notes, .. } = self;
        Ok(Truth { names, entries, known, strangers, weighted, notes, warnings })
    }

    /// Drops communities with fewer members, and numbers the others anew.
    fn keep_large(&mut self, min_size: usize) -> Result<Vec<String>> {
        let mut sizes = vec![0usize; self.names.len()];
        self.entries.iter().for_each(|e| sizes[e.1 as usize] += 1);
        // A community of strangers alone has no members here.
        let least = min_size.max(1);
        let mut numbers = Vec::with_capacity(sizes.len());
        let mut kept = Vec::new();
        for (c, &size) in sizes.iter().enumerate() {
            numbers.push((size >= least).then_some(kept.len() as u32));
            if size >= least {
                kept.push(self.names.get(c).to_owned());
            }
        }
        if kept.is_empty() {
            let problem = format!("has no community of {least} nodes or more");
            let (path, remedy) = (self.path.clone(), "ask for a smaller --min-size".into());
            return Err(Error::Read { path, line: None, problem, remedy });
        }
        if kept.len() < sizes.len() {
            let (dropped, all) = (sizes.len() - kept.len(), sizes.len());
            self.notes.push(format!(
                "{} of {} communities have fewer than {least} members in the graph and are left out",
                grouped(dropped),
                grouped(all)
            ));
        }
        self.entries.retain_mut(|e| {
            let number = numbers[e.1 as usize];
            e.1 = number.unwrap_or_default();
            number.is_some()
        });
        Ok(kept)
    }
}
