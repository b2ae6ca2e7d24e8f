//! Nodes that are declared with attributes, and edges that name them: what GML and GraphML share.

use super::ReadOptions;
use super::lines::weight_of;
use crate::communities::data::{Attributes, Edges, Gathered, GraphBuilder, Names, PIECE, Told, Weights};
use crate::error::Result;
use crate::input::Source;
use std::borrow::Cow;

/// Attributes of edges that are taken for the weight when none is named.
const USUAL: [&str; 2] = ["weight", "value"];

/// Most attributes of a node or an edge: a kilobyte of file could otherwise take many of memory.
pub(super) const MOST_ATTRIBUTES: usize = 1 << 16;

/// What to do about more.
pub(super) const FEWER: &str = "export the graph without the attributes that do not matter";

/// Nodes and edges so far.
pub(super) struct Nodes<'a> {
    source: &'a Source,
    weight: Option<&'a str>,
    weighted: Option<bool>,
    ids: Names,
    /// Whether each node was declared, and where it was named first.
    declared: Vec<(bool, u64)>,
    edges: Edges,
    weights: Weights,
    /// Edges that have a weight.
    with_weight: usize,
    attributes: Attributes,
}

impl<'a> Nodes<'a> {
    pub(super) fn new(source: &'a Source, options: &'a ReadOptions) -> Self {
        Self {
            source,
            weight: options.weight.as_deref(),
            weighted: options.weighted,
            ids: Names::default(),
            declared: Vec::new(),
            edges: Vec::new(),
            weights: Vec::new(),
            with_weight: 0,
            attributes: Attributes::default(),
        }
    }

    /// Declares a node with its attributes.
    ///
    /// # Errors
    /// A node that was declared before.
    pub(super) fn node(&mut self, id: &str, attributes: &[(String, String)], line: u64) -> Result<()> {
        let node = self.place(id, line)?;
        let declared = &mut self.declared[node as usize].0;
        if std::mem::replace(declared, true) {
            let problem = format!("declares node {id:?} a second time");
            return Err(self.source.fail(line, problem, "give every node an id of its own"));
        }
        attributes.iter().for_each(|(name, value)| self.attributes.set(node, name, value));
        Ok(())
    }

    /// Adds an edge with its attributes.
    ///
    /// # Errors
    /// A weight that is missing where one was asked for, negative or not finite.
    pub(super) fn edge(
        &mut self,
        ends: (&str, &str),
        attributes: &[(String, String)],
        line: u64,
    ) -> Result<()> {
        let edge = (self.place(ends.0, line)?, self.place(ends.1, line)?);
        let weight = self.weight_in(attributes, line)?;
        self.with_weight += usize::from(weight.is_some());
        if self.edges.last().is_none_or(|piece| piece.len() == PIECE) {
            self.edges.push(Vec::new());
            self.weights.push(Vec::new());
        }
        self.edges.last_mut().into_iter().for_each(|piece| piece.push(edge));
        self.weights.last_mut().into_iter().for_each(|piece| piece.push(weight.unwrap_or(1.0)));
        Ok(())
    }

    fn weight_in(&self, attributes: &[(String, String)], line: u64) -> Result<Option<f32>> {
        if self.weighted == Some(false) {
            return Ok(None);
        }
        let find = |name: &str| attributes.iter().find(|a| a.0.eq_ignore_ascii_case(name)).map(|a| &a.1);
        let found = match self.weight {
            Some(name) => Some(find(name).ok_or_else(|| {
                let problem = format!("has an edge without the attribute {name:?}, which holds the weights");
                self.source.fail(line, problem, "give every edge one, or name another with --weight")
            })?),
            None => USUAL.iter().find_map(|name| find(name)),
        };
        let Some(text) = found else { return Ok(None) };
        // A word where nobody asked for weights is something else.
        if self.weight.is_none() && text.trim().parse::<f64>().is_err() {
            return Ok(None);
        }
        let weight = weight_of(text.trim().as_bytes());
        weight.map(Some).map_err(|bad| self.source.fail(line, bad.problem, bad.remedy))
    }

    fn place(&mut self, id: &str, line: u64) -> Result<u32> {
        let Some(place) = self.ids.insert(id) else {
            return Err(self.source.fail(
                line,
                "has more than 4,294,967,295 nodes",
                "give a part of the graph",
            ));
        };
        if place as usize == self.declared.len() {
            self.declared.push((false, line));
        }
        Ok(place)
    }

    /// Ends the reading. Nodes are called by their labels, where there is a label for each and each is another's.
    ///
    /// # Errors
    /// An edge that names a node which is not declared.
    pub(super) fn finish(self, told: Told, by_label: bool) -> Result<Gathered> {
        let Self { source, ids, declared, edges, weights, with_weight, attributes, .. } = self;
        if let Some(missing) = declared.iter().position(|d| !d.0) {
            let problem = format!("has an edge with node {:?}, which is not declared", ids.get(missing));
            return Err(source.fail(
                declared[missing].1,
                problem,
                "declare the node, or export the file again",
            ));
        }
        let count: usize = edges.iter().map(Vec::len).sum();
        let mut notes = Vec::new();
        if with_weight > 0 && with_weight < count {
            notes.push(format!("{} of {count} edges have no weight and count 1", count - with_weight));
        }
        let (names, attributes) = match by_label.then(|| labels(&ids, &attributes)).flatten() {
            None => (ids, attributes),
            Some(labels) => {
                let same = (0..ids.len()).all(|i| ids.get(i) == labels.get(i));
                let attributes = attributes.without("label");
                if same {
                    (labels, attributes)
                } else {
                    notes.push("nodes are called by their labels".into());
                    (labels, with_ids(attributes, &ids))
                }
            }
        };
        let weights = (with_weight > 0).then_some(weights);
        let mut gathered = GraphBuilder::of(names, edges, weights, attributes).gathered();
        gathered.declared = true;
        gathered.told = Some(told);
        gathered.notes = notes;
        Ok(gathered)
    }
}

/// A label for every node, each once.
fn labels(ids: &Names, attributes: &Attributes) -> Option<Names> {
    let mut values: Vec<Option<&str>> = vec![None; ids.len()];
    for (node, value) in attributes.get("label")?.iter() {
        values[node].get_or_insert(value);
    }
    let mut labels = Names::default();
    let mut is_new = |(i, label): (usize, &Option<&str>)| {
        label.is_some_and(|label| !label.is_empty() && labels.insert(label) == Some(i as u32))
    };
    let distinct = values.iter().enumerate().all(&mut is_new);
    distinct.then_some(labels)
}

/// Keeps the ids as an attribute.
fn with_ids(mut attributes: Attributes, ids: &Names) -> Attributes {
    if attributes.get("id").is_none() {
        (0..ids.len()).for_each(|i| attributes.set(i as u32, "id", ids.get(i)));
    }
    attributes
}

/// Text with its entities, such as `&amp;` and `&#233;`, replaced; those that are not known stay.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        // The longest entity, a number of seven digits, has ten characters.
        let end = rest.bytes().take(11).position(|b| b == b';');
        match end.and_then(|end| Some((end, entity(&rest[1..end])?))) {
            Some((end, character)) => {
                out.push(character);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character that an entity of this name stands for.
pub(super) fn entity(name: &str) -> Option<char> {
    let code = |digits: &str, base| u32::from_str_radix(digits, base).ok().and_then(char::from_u32);
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => match name.strip_prefix("#x").or_else(|| name.strip_prefix("#X")) {
            Some(digits) => code(digits, 16),
            None => code(name.strip_prefix('#')?, 10),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_replaced() {
        for (text, wanted) in [
            ("plain", "plain"),
            ("a &amp;&lt;b&gt; &quot;c&quot; &apos;", "a &<b> \"c\" '"),
            ("caf&#233; &#x1F600;", "café 😀"),
            ("AT&T & &unknown; &#xD800; &#; &", "AT&T & &unknown; &#xD800; &#; &"),
            ("&amp;amp;", "&amp;"),
            ("é&é;&", "é&é;&"),
        ] {
            assert_eq!(decoded(text), wanted);
        }
    }
}
