//! What a file says about nodes beside their ids.

use super::names::Names;

/// Attributes of nodes, such as the labels that communities are compared with.
///
/// Values are kept as they were written; a node may have none. In the Facebook100 files the value `0` stands for one that
/// is not known.
///
/// # Example
/// ```
/// use tenfold::communities::{GraphBuilder, Kind};
/// let mut builder = GraphBuilder::new(Some(Kind::Undirected));
/// builder.edge("ann", "bob").attribute("ann", "team", "red");
/// let graph = builder.finish()?;
/// let team = graph.attributes().get("team").unwrap();
/// assert_eq!((team.value(0), team.value(1)), (Some("red"), None));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Attributes {
    columns: Vec<Attribute>,
    names: Names,
}

/// One attribute of the nodes.
#[derive(Debug, Clone)]
pub struct Attribute {
    name: String,
    /// Nodes that have a value, ascending, and which of the distinct values it is.
    held: Vec<(u32, u32)>,
    values: Names,
}

impl Attributes {
    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The attributes' names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The attribute of this name.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.names.find(name).map(|i| &self.columns[i as usize])
    }

    /// All attributes.
    pub fn iter(&self) -> impl Iterator<Item = &Attribute> {
        self.columns.iter()
    }

    /// Gives a node a value; of several the first stays. Once all are set, they must be [settled](Self::settled).
    pub(crate) fn set(&mut self, node: u32, name: &str, value: &str) {
        let Some(at) = self.names.insert(name) else { return };
        if at as usize == self.columns.len() {
            self.columns.push(Attribute {
                name: name.to_owned(),
                held: Vec::new(),
                values: Names::default(),
            });
        }
        let column = &mut self.columns[at as usize];
        let Some(value) = column.values.insert(value) else { return };
        column.held.push((node, value));
    }

    /// The others.
    pub(crate) fn without(self, name: &str) -> Self {
        let mut others = Self::default();
        for column in self.columns.into_iter().filter(|column| column.name != name) {
            others.names.insert(&column.name);
            others.columns.push(column);
        }
        others
    }

    /// What was [set](Self::set), in order, with nodes at other places; those without a place are left out.
    pub(crate) fn settled(mut self, place: impl Fn(u32) -> Option<u32>) -> Self {
        for column in &mut self.columns {
            let moved = column.held.iter().filter_map(|&(node, value)| Some((place(node)?, value)));
            column.held = moved.collect();
            // A stable sort: what was set first stays first.
            column.held.sort_by_key(|h| h.0);
            column.held.dedup_by_key(|h| h.0);
        }
        self
    }
}

impl Attribute {
    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value of a node, if it has one.
    pub fn value(&self, node: usize) -> Option<&str> {
        let at = self.held.binary_search_by_key(&(node as u64), |h| u64::from(h.0)).ok()?;
        Some(self.values.get(self.held[at].1 as usize))
    }

    /// How many nodes have a value.
    pub fn known(&self) -> usize {
        self.held.len()
    }

    /// Number of distinct values.
    pub fn distinct(&self) -> usize {
        let mut seen = vec![false; self.values.len()];
        self.held.iter().for_each(|h| seen[h.1 as usize] = true);
        seen.iter().filter(|s| **s).count()
    }

    /// Nodes that have a value, ascending, each with it.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &str)> {
        self.held.iter().map(|&(node, value)| (node as usize, self.values.get(value as usize)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_by_node() {
        let mut all = Attributes::default();
        for (node, name, value) in
            [(0, "a", "x"), (5, "a", "y"), (3, "a", "x"), (5, "a", "z"), (2, "b", ""), (9, "a", "y")]
        {
            all.set(node, name, value);
        }
        let all = all.settled(Some);
        let a = all.get("a").unwrap();
        assert_eq!(a.iter().collect::<Vec<_>>(), [(0, "x"), (3, "x"), (5, "y"), (9, "y")]);
        assert_eq!((a.known(), a.distinct(), a.value(4), a.value(usize::MAX)), (4, 2, None, None));
        assert_eq!((all.names().collect::<Vec<_>>(), all.len()), (vec!["a", "b"], 2));
        let moved = all.settled(|node| (node != 3).then_some(9 - node));
        assert_eq!(moved.get("a").unwrap().iter().collect::<Vec<_>>(), [(0, "y"), (4, "y"), (9, "x")]);
        assert_eq!((moved.get("b").unwrap().value(7), moved.get("c").is_none()), (Some(""), true));
    }
}
