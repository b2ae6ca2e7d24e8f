//! The Bayesian interchange format, as pgmpy, bnlearn and others read it.

use super::super::data::{Kind, Variable};
use super::super::picture::Shown;
use std::collections::HashSet;
use std::fmt::Write;

/// Names hold letters of ASCII, digits, `_` and `-` only: other characters become `_`, and a name that is then taken, capital
/// or small, gets a number. Flags are named after their variable and their label.
pub(super) fn bif(shown: &Shown<'_>) -> String {
    let mut file = File { text: "network tree {\n}\n".to_owned(), names: HashSet::new() };
    let variables = shown.picture.variables;
    let own: Vec<bool> = (0..variables.len()).map(|v| shown.is_own_twin(v)).collect();
    // Declared first, so that every parent is known where it is used.
    let nodes: Vec<(String, Vec<String>)> =
        shown.network.nodes.iter().map(|node| declare(&mut file, shown, node.place, &own)).collect();
    for (i, node) in shown.network.nodes.iter().enumerate() {
        let rows: Vec<&[f64]> = (0..node.states()).map(|s| node.table.row(s)).collect();
        file.table(&nodes[i].0, node.parent.map(|p| &nodes[p]), &rows);
    }
    let mut left = Vec::new();
    for (v, variable) in variables.iter().enumerate().filter(|(v, _)| !own[*v]) {
        let above = &nodes[shown.network.emissions[v].node];
        let rows = shown.emission(v);
        match variable.kind {
            Kind::Real => left.push(variable),
            Kind::Category => {
                let name = file.variable(&variable.name, &words(&shown.labels(v)));
                file.table(&name, Some(above), &rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
            }
            Kind::Flags | Kind::Counts => {
                for (label, up) in shown.labels(v).iter().zip(&rows) {
                    let levels = if variable.kind == Kind::Flags { ["no", "yes"] } else { ["none", "some"] };
                    let name = file.variable(&joined(variable, label), &levels.map(str::to_owned));
                    let down: Vec<f64> = up.iter().map(|p| 1.0 - p).collect();
                    file.table(&name, Some(above), &[&down, up]);
                }
            }
        }
    }
    file.finish(&left)
}

/// A node of the network: a variable that shows itself stands for it, other nodes are hidden.
fn declare(file: &mut File, shown: &Shown<'_>, place: usize, own: &[bool]) -> (String, Vec<String>) {
    let variable = shown.picture.variables.get(place);
    let (name, states) = match variable.filter(|_| own[place]) {
        Some(variable) => (variable.name.clone(), words(&shown.labels(place))),
        None => {
            let count = shown.index[place].map_or(0, |i| shown.network.nodes[i].states());
            let name = shown.name(place);
            let name = if variable.is_some() { format!("{name}_state") } else { name.into_owned() };
            (name, (0..count).map(|s| format!("s{s}")).collect())
        }
    };
    (file.variable(&name, &states), states)
}

/// A flag alone in its variable, or named as it is, needs no second name.
fn joined(variable: &Variable, label: &str) -> String {
    if variable.labels.len() == 1 || variable.name == label {
        variable.name.clone()
    } else {
        format!("{}_{label}", variable.name)
    }
}

struct File {
    text: String,
    /// Names that are taken, in small letters.
    names: HashSet<String>,
}

impl File {
    fn variable(&mut self, name: &str, states: &[String]) -> String {
        let name = free(word(name), &mut self.names);
        let _ = writeln!(
            self.text,
            "variable {name} {{\n  type discrete [ {} ] {{ {} }};\n}}",
            states.len(),
            states.join(", ")
        );
        name
    }

    /// Rows are states of the variable, columns those of its parent.
    fn table(&mut self, name: &str, parent: Option<&(String, Vec<String>)>, rows: &[&[f64]]) {
        let column = |c: usize| {
            let values: Vec<f64> = rows
                .iter()
                .map(|row| if row[c].is_finite() { row[c].clamp(0.0, 1.0) } else { 0.0 })
                .collect();
            let sum: f64 = values.iter().sum();
            let even = 1.0 / values.len().max(1) as f64;
            let told = values.iter().map(|x| if sum > 0.0 { x / sum } else { even }.to_string());
            told.collect::<Vec<_>>().join(", ")
        };
        let _ = match parent {
            None => writeln!(self.text, "probability ( {name} ) {{\n  table {};\n}}", column(0)),
            Some((above, states)) => {
                let lines =
                    states.iter().enumerate().map(|(c, state)| format!("  ({state}) {};\n", column(c)));
                let lines: String = lines.collect();
                writeln!(self.text, "probability ( {name} | {above} ) {{\n{lines}}}")
            }
        };
    }

    /// With a note about what was left out, before all else.
    fn finish(self, left: &[&Variable]) -> String {
        if left.is_empty() {
            return self.text;
        }
        let names: Vec<String> = left.iter().map(|v| word(&v.name)).collect();
        format!("// Left out, as this format has no real numbers: {}.\n{}", names.join(" "), self.text)
    }
}

/// Levels as words, each one once.
fn words(labels: &[String]) -> Vec<String> {
    let mut taken = HashSet::new();
    labels.iter().map(|label| free(word(label), &mut taken)).collect()
}

fn word(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let word: String = text.chars().map(plain).collect();
    if word.is_empty() { "_".into() } else { word }
}

/// The word, with a number after it where it is taken; readers of the format do not tell capital from small letters.
fn free(word: String, taken: &mut HashSet<String>) -> String {
    let mut name = word.clone();
    let mut number = 1;
    while !taken.insert(name.to_ascii_lowercase()) {
        number += 1;
        name = format!("{word}_{number}");
    }
    name
}
