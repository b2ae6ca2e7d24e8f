//! Three views of every hidden node: observed variables that are independent of each other given its state.

use super::super::data::Variable;
use super::super::network::Network;
use super::super::tree::Tree;

/// Variables that a branch gives to its view: the nearest ones. More than one makes up for few levels and for noise.
const EACH: usize = 3;

/// Features of a view beyond which no further variable joins it; a wider variable gives its most frequent features.
const WIDEST: usize = 32;

/// Some features of observed variables in one or more branches around a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct View {
    pub variables: Vec<usize>,
    pub features: Vec<u32>,
    /// The branches: indices of neighbouring nodes, or the number of nodes plus that of a variable that hangs here.
    pub branches: Vec<usize>,
}

impl View {
    /// Its features and the constant.
    pub fn dim(&self) -> usize {
        self.features.len() + 1
    }
}

/// A node with its views: three where it has three branches; one, the variable itself, where it is shown; none of one state.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Local {
    pub k: usize,
    pub shown: bool,
    pub views: Vec<View>,
}

impl Local {
    /// The views that do not look into this branch.
    pub fn away_from(&self, branch: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.views.len()).filter(move |&g| self.shown || !self.views[g].branches.contains(&branch))
    }
}

/// Who is beside whom in a network, with lengths from the tree.
struct Around<'a> {
    network: &'a Network,
    tree: &'a Tree,
    children: Vec<Vec<usize>>,
    hanging: Vec<Vec<usize>>,
}

impl Around<'_> {
    /// Branches at a node with the lengths of their first edges.
    fn branches(&self, node: usize) -> Vec<(usize, f64)> {
        let count = self.network.nodes.len();
        let place = |n: usize| self.network.nodes[n].place;
        let length = |a: usize, b: usize| if a == b { 0.0 } else { self.tree.length(a, b).unwrap_or(1.0) };
        let beside = self.network.nodes[node].parent.into_iter().chain(self.children[node].iter().copied());
        let nodes = beside.map(|n| (n, length(place(node), place(n)).max(0.0)));
        let leaves = self.hanging[node].iter().map(|&v| (count + v, length(place(node), v).max(0.0)));
        nodes.chain(leaves).collect()
    }

    /// The nearest variables in a branch, with their distances, at most `EACH`.
    fn nearest(&self, node: usize, branch: usize, length: f64) -> Vec<(f64, usize)> {
        let count = self.network.nodes.len();
        let mut open = vec![(length, branch, node)];
        let mut found = Vec::new();
        while found.len() < EACH && !open.is_empty() {
            let next = (0..open.len())
                .min_by(|&a, &b| open[a].0.total_cmp(&open[b].0).then(open[b].1.cmp(&open[a].1)))
                .expect("something is open");
            let (distance, at, from) = open.swap_remove(next);
            if at >= count {
                found.push((distance, at - count));
                continue;
            }
            open.extend(
                self.branches(at).into_iter().filter(|b| b.0 != from).map(|(b, w)| (distance + w, b, at)),
            );
        }
        found
    }
}

/// Views for every node. `frequency` says how often a feature is not 0.
pub(super) fn choose(
    network: &Network,
    tree: &Tree,
    variables: &[Variable],
    frequency: &[u64],
) -> Vec<Local> {
    let mut around = Around {
        network,
        tree,
        children: vec![Vec::new(); network.nodes.len()],
        hanging: vec![Vec::new(); network.nodes.len()],
    };
    for (n, node) in network.nodes.iter().enumerate() {
        node.parent.into_iter().for_each(|p| around.children[p].push(n));
    }
    let mut shown = vec![None; network.nodes.len()];
    let mut starts = vec![0];
    for (v, variable) in variables.iter().enumerate() {
        let node = network.emissions[v].node;
        around.hanging[node].push(v);
        starts.push(starts[v] + variable.width());
        if network.shows(v, variable) {
            shown[node] = Some(v);
        }
    }
    let wide = |v: usize, most: usize| -> Vec<u32> {
        let mut features: Vec<u32> = (starts[v] as u32..starts[v + 1] as u32).collect();
        features.sort_by_key(|&f| std::cmp::Reverse(frequency[f as usize]));
        features.truncate(most);
        features.sort_unstable();
        features
    };
    (0..network.nodes.len())
        .map(|n| {
            let k = network.nodes[n].states();
            let views = match shown[n] {
                _ if k == 1 => Vec::new(),
                Some(v) => {
                    vec![View { variables: vec![v], features: wide(v, usize::MAX), branches: Vec::new() }]
                }
                None => grouped(&around, n, k, &wide),
            };
            Local { k, shown: shown[n].is_some() && k > 1, views }
        })
        .collect()
}

/// The branches of a node, nearest first, put into three views; later ones join the narrowest.
fn grouped(around: &Around<'_>, node: usize, k: usize, wide: &dyn Fn(usize, usize) -> Vec<u32>) -> Vec<View> {
    let mut branches: Vec<(usize, Vec<(f64, usize)>)> = around
        .branches(node)
        .into_iter()
        .map(|(branch, length)| (branch, around.nearest(node, branch, length)))
        .filter(|(_, near)| !near.is_empty())
        .collect();
    branches.sort_by(|a, b| a.1[0].0.total_cmp(&b.1[0].0).then(a.0.cmp(&b.0)));
    let mut views: Vec<View> = Vec::new();
    let mut more: Vec<(f64, usize, usize)> = Vec::new();
    for (branch, near) in branches {
        let view = if views.len() < 3 {
            views.push(View::default());
            views.len() - 1
        } else {
            (0..3).min_by_key(|&g| (views[g].dim(), g)).expect("three views")
        };
        views[view].branches.push(branch);
        for (i, (distance, v)) in near.into_iter().enumerate() {
            if i == 0 && views[view].variables.is_empty() {
                views[view].variables.push(v);
                views[view].features = wide(v, WIDEST);
            } else {
                more.push((distance, view, v));
            }
        }
    }
    more.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
    for (_, view, v) in more {
        let features = wide(v, WIDEST);
        let view = &mut views[view];
        if view.dim() < k || (view.variables.len() < EACH && view.dim() + features.len() <= WIDEST) {
            view.variables.push(v);
            view.features.extend(features);
        }
    }
    views
}
