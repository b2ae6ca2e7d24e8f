//! From a tree to a network without parameters: roots, order, parents, and twins of observed nodes.

use super::data::{Kind, Variable};
use super::network::{Emission, Network, Node};
use super::tree::Tree;
use crate::error::{Error, Result};
use tenfold_engine::linalg::Mat;

impl Network {
    /// The network of a tree before anything is known: even tables, emissions of 0.
    ///
    /// Every hidden node of the tree becomes a node with `states(node)` states. An observed one gets a twin where it has
    /// several neighbours, where it is alone (one state), or where a pair of observed nodes stands by itself (one of the two).
    /// A twin of a category has a state for every level and shows it; a twin of another kind has `states(node)` states. All
    /// other observed nodes hang on the node beside them.
    ///
    /// # Errors
    /// When the tree is over another number of variables, or a node would have no state.
    ///
    /// # Example
    /// ```
    /// use tenfold::trees::{Kind, Network, Tree, Variable};
    /// let variable = |name: &str| Variable { name: name.into(), kind: Kind::Real, labels: vec![name.into()] };
    /// let mut tree = Tree::new(4);
    /// let h = tree.add_hidden();
    /// (0..3).for_each(|leaf| tree.join(leaf, h, 0.5)); // the fourth variable is alone
    /// let network = Network::skeleton(&tree, &["a", "b", "c", "d"].map(variable), |_| 2)?;
    /// assert_eq!(network.nodes.iter().map(|n| n.states()).collect::<Vec<_>>(), [2, 1]);
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn skeleton(tree: &Tree, variables: &[Variable], states: impl Fn(usize) -> usize) -> Result<Self> {
        if tree.observed() != variables.len() {
            return Err(Error::WrongShape {
                what: "variables",
                found: variables.len(),
                expected: tree.observed(),
            });
        }
        let mut nodes: Vec<Node> = Vec::new();
        let mut index = vec![usize::MAX; tree.capacity()];
        for component in tree.components() {
            let pair = pair_twin(tree, variables, &component);
            let bears = |n: usize| tree.is_hidden(n) || tree.degree(n) != 1 || pair == Some(n);
            let root = component.iter().copied().max_by_key(|&n| (bears(n), n)).expect("a node");
            for (place, parent) in tree.walk(root) {
                if !bears(place) {
                    continue;
                }
                let count = states_of(tree, variables, place, &states)?;
                let parent = parent.map(|p| index[p]);
                let above = parent.map_or(1, |p| nodes[p].states());
                index[place] = nodes.len();
                nodes.push(Node {
                    place,
                    parent,
                    table: Mat::from_fn(count, above, |_, _| 1.0 / count as f64),
                });
            }
        }
        let emissions = (0..tree.observed())
            .map(|v| {
                let beside = || tree.neighbours(v).first_key_value().map_or(v, |(&n, _)| n);
                let node = if index[v] == usize::MAX { index[beside()] } else { index[v] };
                blank(&variables[v], node, nodes[node].states(), index[v] == node)
            })
            .collect();
        Ok(Self { nodes, emissions })
    }

    /// Whether the states of this variable's node are its levels themselves: it is the twin of a category.
    pub fn shows(&self, v: usize, variable: &Variable) -> bool {
        let node = &self.nodes[self.emissions[v].node];
        node.place == v && variable.kind == Kind::Category && node.states() == variable.labels.len()
    }
}

/// Of two observed nodes with nobody else, the one that gets a twin: a category where there is one, with the fewer levels.
fn pair_twin(tree: &Tree, variables: &[Variable], component: &[usize]) -> Option<usize> {
    if component.len() != 2 || component.iter().any(|&n| tree.is_hidden(n)) {
        return None;
    }
    let rank = |n: usize| (variables[n].kind != Kind::Category, variables[n].labels.len(), n);
    component.iter().copied().min_by_key(|&n| rank(n))
}

fn states_of(
    tree: &Tree,
    variables: &[Variable],
    place: usize,
    states: &impl Fn(usize) -> usize,
) -> Result<usize> {
    let count = if tree.is_hidden(place) {
        states(place)
    } else if tree.degree(place) == 0 {
        1
    } else if variables[place].kind == Kind::Category {
        variables[place].labels.len()
    } else {
        states(place)
    };
    if count == 0 {
        return Err(Error::BadParameter {
            name: "k".into(),
            value: "0".into(),
            expected: "at least one state for every hidden node".into(),
        });
    }
    Ok(count)
}

fn blank(variable: &Variable, node: usize, states: usize, twin: bool) -> Emission {
    let shows = twin && variable.kind == Kind::Category && states == variable.labels.len();
    let mean = Mat::from_fn(variable.width(), states, |f, s| f64::from(u8::from(shows && f + 1 == s)));
    let variance = if variable.kind == Kind::Real { vec![1.0; variable.width()] } else { Vec::new() };
    Emission { node, mean, variance }
}

#[cfg(test)]
mod tests {
    use super::super::synth::{Shape, Synth};
    use super::*;

    #[test]
    fn the_skeleton_of_a_drawn_tree_has_the_shape_of_its_network() {
        for shape in [Shape::Mixed, Shape::Observed, Shape::Chain, Shape::Star] {
            let drawn =
                Synth { variables: 24, samples: 1, shape, blocks: 2, ..Synth::default() }.draw().unwrap();
            let blank = Network::skeleton(&drawn.tree, drawn.table.variables(), |_| 2).unwrap();
            let shape_of = |n: &Network| {
                let nodes: Vec<_> = n.nodes.iter().map(|x| (x.place, x.parent, x.states())).collect();
                (
                    nodes,
                    n.emissions.iter().map(|e| (e.node, e.mean.rows(), e.mean.cols())).collect::<Vec<_>>(),
                )
            };
            assert_eq!(shape_of(&blank), shape_of(&drawn.network), "{shape:?}");
        }
    }

    #[test]
    fn pairs_and_lonely_ones_get_one_twin() {
        let of = |kind, count: usize| Variable {
            name: String::new(),
            kind,
            labels: (0..count).map(|l| l.to_string()).collect(),
        };
        let variables = [of(Kind::Real, 2), of(Kind::Category, 5), of(Kind::Category, 4), of(Kind::Flags, 3)];
        let tree = Tree::from_edges(4, &[(0, 1, 1.0)]);
        let network = Network::skeleton(&tree, &variables, |_| 3).unwrap();
        let states: Vec<_> = network.nodes.iter().map(|n| (n.place, n.states())).collect();
        assert_eq!(states, [(1, 5), (2, 1), (3, 1)]);
        assert_eq!(network.emissions[0].mean.cols(), 5);
        assert!(network.shows(1, &variables[1]) && !network.shows(2, &variables[2]));
        assert!(Network::skeleton(&tree, &variables, |_| 0).is_ok(), "no hidden node, no k");
        assert!(Network::skeleton(&tree, &variables[..3], |_| 2).is_err());
    }
}
