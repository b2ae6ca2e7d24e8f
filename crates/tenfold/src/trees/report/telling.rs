//! What is typical of a hidden state: observed values that are likelier with it than without.

use super::super::data::Kind;
use super::super::picture::Shown;
use std::collections::VecDeque;
use tenfold_engine::linalg::Mat;

/// Values told for a state.
const TOLD: usize = 4;
/// Variables around a node that are looked at: further ones say less, and a page has room for few.
const AROUND: usize = 40;

/// An observed value that is typical of a state.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Telling {
    /// The variable.
    pub(super) variable: usize,
    /// The value in words.
    pub(super) value: String,
    /// P(value | state), or the mean of a real number.
    pub(super) within: f64,
    /// P(value), or the mean.
    pub(super) overall: f64,
    /// Whether these are means.
    pub(super) means: bool,
    /// P(value | state) log(P(value | state) / P(value)): nats that the value tells in favour of the state.
    score: f64,
}

/// For every node of the network and each of its states, what is most typical of it.
pub(super) fn telling(shown: &Shown<'_>) -> Vec<Vec<Vec<Telling>>> {
    let around = Around::new(shown);
    (0..shown.network.nodes.len()).map(|node| around.of(node)).collect()
}

struct Around<'a> {
    shown: &'a Shown<'a>,
    children: Vec<Vec<usize>>,
    variables: Vec<Vec<usize>>,
}

impl<'a> Around<'a> {
    fn new(shown: &'a Shown<'a>) -> Self {
        let count = shown.network.nodes.len();
        let (mut children, mut variables) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (i, node) in shown.network.nodes.iter().enumerate() {
            node.parent.into_iter().for_each(|parent| children[parent].push(i));
        }
        for (v, emission) in shown.network.emissions.iter().enumerate() {
            variables[emission.node].push(v);
        }
        Self { shown, children, variables }
    }

    fn of(&self, start: usize) -> Vec<Vec<Telling>> {
        let states = self.shown.network.nodes[start].states();
        let mut found = vec![Vec::new(); states];
        let mut seen = 0;
        // Nodes by their steps from the start, with P(their state | state of the start).
        let mut open = VecDeque::from([(start, None, Mat::identity(states))]);
        while let Some((node, from, given)) = open.pop_front() {
            for &v in &self.variables[node] {
                self.values(start, v, &given, &mut found);
                seen += 1;
            }
            if seen >= AROUND {
                break;
            }
            for &child in self.children[node].iter().filter(|&&child| Some(child) != from) {
                open.push_back((child, Some(node), self.shown.network.nodes[child].table.matmul(&given)));
            }
            if let Some(parent) = self.shown.network.nodes[node].parent.filter(|&parent| Some(parent) != from)
            {
                open.push_back((parent, Some(node), upwards(self.shown, node).matmul(&given)));
            }
        }
        for told in &mut found {
            told.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.variable.cmp(&b.variable)));
            told.truncate(TOLD);
        }
        found
    }

    /// The values of a variable that are likelier with each state.
    fn values(&self, start: usize, v: usize, given: &Mat, found: &mut [Vec<Telling>]) {
        let shown = self.shown;
        let variable = &shown.picture.variables[v];
        let means = variable.kind == Kind::Real;
        let overall = shown.levels(v);
        for (row, emission) in shown.emission(v).iter().enumerate() {
            let within = given.tr_matvec(emission);
            for (s, &p) in within.iter().enumerate() {
                let share = shown.marginals[start][s];
                let score = if means {
                    // A mean that is far off by the spread inside a state is as telling as a value: half the square.
                    let spread = shown.network.emissions[v].variance.get(row).map_or(1.0, |x| x.max(1e-300));
                    0.5 * (p - overall[row]).powi(2) / spread
                } else {
                    p * (p / overall[row].max(1e-300)).ln()
                };
                let seen = shown.picture.seen(v) as f64 * share;
                // Both those who show the value and those who do not; the table of a neighbour holds whole cells or none.
                let few = |count: f64, least: u64| count > 1e-6 && count < least as f64 - 1e-6;
                let small = shown.picture.min_cell.is_some_and(|least| match means {
                    true => few(seen, least),
                    false => few(seen * p, least) || few(seen * (1.0 - p), least),
                });
                // Less than a hundredth of a nat is nothing to tell.
                if score.is_finite() && score > 0.01 && share > 0.0 && !small {
                    let value = self.words(v, row, p > overall[row]);
                    found[s].push(Telling {
                        variable: v,
                        value,
                        within: p,
                        overall: overall[row],
                        means,
                        score,
                    });
                }
            }
        }
    }

    fn words(&self, v: usize, row: usize, more: bool) -> String {
        let variable = &self.shown.picture.variables[v];
        let (name, labels) = (&variable.name, self.shown.labels(v));
        let label = labels.get(row).map_or("", String::as_str);
        let full = match label == name || variable.labels.len() == 1 && variable.kind != Kind::Category {
            true => name.clone(),
            false => format!("{name}: {label}"),
        };
        match (variable.kind, more) {
            (Kind::Real, true) => format!("{full} high"),
            (Kind::Real, false) => format!("{full} low"),
            _ => full,
        }
    }
}

/// P(parent's state | state), from the table by Bayes' rule.
pub(super) fn upwards(shown: &Shown<'_>, node: usize) -> Mat {
    let inner = &shown.network.nodes[node];
    let above = inner.parent.map_or(&[][..], |parent| &shown.marginals[parent][..]);
    let own = &shown.marginals[node];
    Mat::from_fn(above.len(), inner.states(), |a, s| {
        if own[s] > 0.0 { inner.table.row(s)[a] * above[a] / own[s] } else { above[a] }
    })
}
