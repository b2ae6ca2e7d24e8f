//! Groups of variables, cut from a tree.

use super::tree::Tree;

/// Cuts the longest edges until there are `pieces` groups, where the tree has as many; a tree of a forest is a group at least, and
/// a variable alone stays alone. Groups have at least a quarter of an even share of the variables, or, where that gives too few
/// of them, two: the longest edges of a large tree lead to small ends. Groups are numbered by their smallest variable.
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
    for least in [(tree.observed() / (4 * pieces.max(1))).max(2), 2] {
        for &(a, b, _) in &edges {
            if groups >= pieces {
                break;
            }
            let there = cut.length(a, b).is_some();
            if there && observed_behind(&cut, a, b) >= least && observed_behind(&cut, b, a) >= least {
                cut.cut(a, b);
                groups += 1;
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two halves of eight with a long edge between them, and a pair at the end of a longer one: of two groups neither is a
    /// pair; of three the pair is one.
    #[test]
    fn small_ends_are_not_cut_before_large_parts() {
        let mut edges: Vec<(usize, usize, f64)> = (0..8).map(|leaf| (leaf, 16, 0.1)).collect();
        edges.extend((8..14).map(|leaf| (leaf, 17, 0.1)));
        edges.extend([(16, 17, 1.0), (17, 18, 2.0), (14, 18, 0.1), (15, 18, 0.1)]);
        let tree = Tree::from_edges(16, &edges);
        let sizes = |pieces: usize| {
            let labels = clusters(&tree, pieces);
            (0..pieces).map(|group| labels.iter().filter(|&&l| l == group).count()).collect::<Vec<_>>()
        };
        assert_eq!((sizes(1), sizes(3)), (vec![16], vec![8, 6, 2]));
        // A quarter of an even share of sixteen over one group is four, over two it is two.
        assert_eq!(clusters(&tree, 2).iter().filter(|&&l| l == 1).count(), 2);
    }
}
