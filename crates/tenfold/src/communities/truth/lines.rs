//! Covers and lists of nodes: text whose lines are communities, or nodes with their communities.

use super::super::data::Ids;
use super::Format;
use super::gather::Gather;
use crate::error::Result;
use crate::input::Source;
use crate::input::decode::utf8;
use crate::input::numbers::line;
use crate::report::grouped;
use std::collections::HashSet;
use tenfold_engine::progress::{Progress, Silent};

/// Bytes that are looked at to tell what separates ids.
const HEAD: u64 = 1 << 16;

pub(super) fn read(
    source: &Source,
    format: Option<Format>,
    gather: &mut Gather<'_>,
    progress: &dyn Progress,
) -> Result<()> {
    let between = Between::of(&source.head(HEAD));
    let format = match format {
        Some(format) => format,
        None => {
            let mut look = Look::default();
            for_every_line(source, &Silent, |text, _| {
                look.at(text, between, gather.ids());
                Ok(())
            })?;
            let (format, why) = look.format(gather.ids().len());
            gather.note(why);
            format
        }
    };
    let mut first = true;
    for_every_line(source, progress, |text, number| {
        if format == Format::Nodes {
            nodes(source, (text, number), between, first, gather)?;
        } else {
            // Communities without a name are called by their lines.
            let mut community = None;
            for id in between.fields(text) {
                if let Some(node) = gather.node(id) {
                    let community = *community.get_or_insert_with(|| gather.community(&number.to_string()));
                    gather.push(node, community, None);
                }
            }
        }
        first = false;
        Ok(())
    })
}

/// A node and its communities.
fn nodes(
    source: &Source,
    (text, number): (&str, u64),
    between: Between,
    first: bool,
    gather: &mut Gather<'_>,
) -> Result<()> {
    let (id, rest) = between.node(text);
    // A line of names before the first node.
    if first && gather.ids().find(id).is_none() && !rest.trim().is_empty() && rest.parse::<f64>().is_err() {
        gather.note(format!("line {number} is taken for names of columns"));
        return Ok(());
    }
    if id.is_empty() {
        return Err(source.fail(number, "has no id", "begin every line with the id of a node"));
    }
    let Some(node) = gather.node(id) else { return Ok(()) };
    for community in rest.split([' ', '\t', ',', ';']).filter(|c| !c.is_empty()) {
        let community = gather.community(community);
        gather.push(node, community, None);
    }
    Ok(())
}

/// Calls `take` with every line that holds something, and its number.
fn for_every_line(
    source: &Source,
    progress: &dyn Progress,
    mut take: impl FnMut(&str, u64) -> Result<()>,
) -> Result<()> {
    let mut pieces = source.pieces(progress)?;
    let mut number = 0;
    while let Some(piece) = pieces.next()? {
        let mut at = 0;
        while at < piece.len() {
            let (bytes, next) = line(&piece, at);
            (at, number) = (next, number + 1);
            let text = utf8(source.path(), bytes, number)?;
            if !text.trim().is_empty() && !is_comment(text) {
                take(text, number)?;
            }
        }
    }
    Ok(())
}

/// `# words`, but not `#tag`, which may be an id.
fn is_comment(text: &str) -> bool {
    let mut chars = text.chars();
    matches!(chars.next(), Some('#' | '%'))
        && chars.next().is_none_or(|c| c.is_whitespace() || matches!(c, '#' | '%'))
}

/// What stands between the ids of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Tabs,
    Blanks,
    Commas,
}

impl Between {
    fn of(head: &[u8]) -> Self {
        let has = |byte: u8| head.contains(&byte);
        match (has(b'\t'), has(b' ') || !has(b',')) {
            (true, _) => Self::Tabs,
            (_, true) => Self::Blanks,
            _ => Self::Commas,
        }
    }

    fn is(self, c: char) -> bool {
        match self {
            Self::Tabs => c == '\t',
            Self::Blanks => c.is_whitespace(),
            Self::Commas => c == ',',
        }
    }

    fn fields(self, text: &str) -> impl Iterator<Item = &str> {
        text.split(move |c| self.is(c)).map(str::trim).filter(|field| !field.is_empty())
    }

    /// The first field and what follows it.
    fn node(self, text: &str) -> (&str, &str) {
        let text = text.trim_start();
        let (id, rest) = text.split_once(|c| self.is(c)).unwrap_or((text, ""));
        (id.trim(), rest.trim())
    }
}

/// What the lines look like.
#[derive(Default)]
struct Look {
    lines: usize,
    /// First ids: nodes that were one, and ids that are no nodes.
    nodes: Vec<bool>,
    strangers: HashSet<String>,
    /// Lines whose first id a line before had.
    again: usize,
    /// Lines of two fields, and what the second ones are.
    pairs: usize,
    seconds: HashSet<String>,
    /// Lines with one tab, and those of them with blanks behind it.
    one_tab: usize,
    blanks: usize,
}

impl Look {
    fn at(&mut self, text: &str, between: Between, ids: &Ids) {
        let (id, rest) = between.node(text);
        let node = ids.find(id);
        let first = self.nodes.is_empty();
        self.nodes.resize(ids.len(), false);
        // A line of names may stand before all others.
        if first && node.is_none() {
            return;
        }
        self.lines += 1;
        self.one_tab += usize::from(text.matches('\t').count() == 1);
        self.blanks += usize::from(rest.contains(' '));
        let mut others = rest.split([' ', '\t', ',', ';']).filter(|field| !field.is_empty());
        if let (Some(second), None) = (others.next(), others.next()) {
            self.pairs += 1;
            if !self.seconds.contains(second) {
                self.seconds.insert(second.to_owned());
            }
        }
        let new = match node {
            Some(node) => !std::mem::replace(&mut self.nodes[node], true),
            None => self.strangers.insert(id.to_owned()),
        };
        self.again += usize::from(!new);
    }

    /// A list of nodes has a line for each. In a cover lines are communities: there are fewer of them, and their first
    /// ids are any.
    fn format(&self, nodes: usize) -> (Format, String) {
        let lines = grouped(self.lines);
        let why = if self.lines == 0 || self.again > 0 {
            None
        } else if self.pairs == self.lines && 2 * self.seconds.len() <= self.lines {
            Some(format!(
                "each of its {lines} lines is another id and one of {} labels",
                grouped(self.seconds.len())
            ))
        } else if 2 * self.lines >= nodes {
            Some(format!("each of its {lines} lines begins with another id"))
        } else if self.one_tab == self.lines && self.blanks > 0 {
            Some("a tab follows the first id alone".to_owned())
        } else {
            None
        };
        match why {
            Some(why) => (
                Format::Nodes,
                format!(
                    "read as a list of nodes, for {why}; say --truth-format cover if lines are communities"
                ),
            ),
            None => (
                Format::Cover,
                format!(
                    "read as a cover of {lines} lines, one community each; say --truth-format nodes if lines are nodes"
                ),
            ),
        }
    }
}
