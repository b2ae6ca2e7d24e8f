//! Groups of variables, cut from a tree.

use super::tree::Tree;

/// Cuts the longest edges until there are `pieces` groups of at least two observed variables, where the tree has as many; a tree of
/// a forest is a group at least, and a variable alone stays alone. Groups are numbered by their smallest variable.
///
/// # Example
/// ```
/// use tenfold::trees::{Tree, clusters};
/// let tree = Tree::from_edges(4, &[(0, 4, 0.1), (1, 4, 0.1), (4, 5, 2.0), (2, 5, 0.1), (3, 5, 0.1)]);
/// assert_eq!(clusters(&tree, 2), [0, 0, 1, 1]);
/// ```
pub fn clusters(tree: &Tree, pieces: usize) -> Vec<usize> {
    let mut cut = tree.clone();
    let observed_behind = |tree: &Tree, node: usize, from: usize| {
        let mut count = 0;
        let mut stack = vec![(node, from)];
        while let Some((node, from)) = stack.pop() {
            count += usize::from(!tree.is_hidden(node));
            stack.extend(tree.neighbours(node).keys().filter(|&&n| n != from).map(|&n| (n, node)));
        }
        count
    };
    let several =
        |component: &Vec<usize>| component.iter().filter(|&&node| !tree.is_hidden(node)).count() > 1;
    let mut groups = tree.components().iter().filter(|c| several(c)).count();
    let mut edges = tree.edges();
    edges.sort_by(|x, y| y.2.total_cmp(&x.2).then((x.0, x.1).cmp(&(y.0, y.1))));
    for (a, b, _) in edges {
        if groups >= pieces {
            break;
        }
        if observed_behind(&cut, a, b) > 1 && observed_behind(&cut, b, a) > 1 {
            cut.cut(a, b);
            groups += 1;
        }
    }
    let mut labels = vec![0; tree.observed()];
    let components = cut.components();
    let seen = components.iter().filter(|nodes| nodes.iter().any(|&node| !tree.is_hidden(node)));
    for (label, nodes) in seen.enumerate() {
        nodes.iter().filter(|&&node| !tree.is_hidden(node)).for_each(|&node| labels[node] = label);
    }
    labels
}
