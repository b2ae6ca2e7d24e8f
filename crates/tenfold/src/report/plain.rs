//! The page of a model that has none of its own: its facts and its arrays, told as they are.

use super::plot::{grouped, number};
use super::table::fixed;
use super::{Block, Cell, Page, Plot, Section, Table};
use serde_json::Value;

/// A page from what every model file holds: the facts as JSON and the arrays with their shapes. It draws the array
/// `spectrum`, tells the findings under `verdict`, and lists the rest.
///
/// # Example
/// ```
/// let facts = serde_json::json!({ "parameters": { "seed": 7 }, "verdict": [] });
/// let weights = [3.0, 2.0];
/// let page = tenfold::report::plain("tensor", &facts, &[("weights", &[2], &weights)]);
/// assert!(page.to_html().contains("parameters.seed"));
/// ```
pub fn plain(kind: &str, facts: &Value, arrays: &[(&str, &[usize], &[f64])]) -> Page {
    let mut page = Page::new(format!("Model of kind {kind}"), "What its file holds");
    let findings: Option<Vec<(bool, String)>> = facts["verdict"].as_array().map(|found| {
        let message = |f: &Value| f["message"].as_str().unwrap_or_default().to_owned();
        found.iter().map(|f| (f["level"] == "warning", message(f))).collect()
    });
    if let Some(findings) = findings {
        let verdict = page.judge("Verdict", findings);
        page.push(Section::new("Verdict").with(verdict));
    }
    for (name, shape, values) in arrays {
        if shape.len() == 1 && values.len() > 1 && values.iter().all(|x| x.is_finite()) {
            let positive = *name == "spectrum" && values.iter().all(|&x| x > 0.0);
            let plot = Plot::line(format!("{name}, in the order of the file"), values).axes("index", name);
            page.push(Section::new(*name).with(if positive { plot.log_y() } else { plot }));
        }
    }
    let mut table = Table::new(&["array", "shape", "smallest", "largest"]);
    for (name, shape, values) in arrays {
        let shape = shape.iter().map(|&n| grouped(n)).collect::<Vec<_>>().join(" × ");
        let [least, most] = [f64::min as fn(f64, f64) -> f64, f64::max]
            .map(|pick| values.iter().copied().fold(f64::NAN, pick));
        table.push(
            None,
            vec![Cell::text(*name), Cell::text(shape), Cell::number(least, 4), Cell::number(most, 4)],
        );
    }
    page.push(Section::new("Arrays").with(table));
    let mut rest = facts.clone();
    if let Some(rest) = rest.as_object_mut() {
        rest.remove("verdict");
    }
    page.push(Section::new("Facts").with(Block::facts(&rest)));
    page
}

/// Every leaf of the JSON with its path; long lists of numbers are told by their length.
pub(super) fn flatten(path: &str, value: &Value, found: &mut Vec<(String, String)>) {
    let text = match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(&path, inner, found);
            }
            return;
        }
        Value::Null => "–".into(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::String(text) => text.clone(),
        Value::Number(n) => match n.as_f64() {
            Some(x) if n.is_f64() && x.abs() >= 0.001 && x.abs() < 1e6 => {
                fixed(x, 6).trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            Some(x) if n.is_f64() => number(x).to_string().replace('-', "−"),
            _ => n.to_string(),
        },
        Value::Array(items) if items.is_empty() => "none".into(),
        Value::Array(items) if items.len() > 8 => format!("{} values", grouped(items.len())),
        Value::Array(items) => {
            let mut inner = Vec::new();
            items.iter().for_each(|item| flatten("", item, &mut inner));
            inner.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ")
        }
    };
    found.push((path.to_owned(), text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn facts_are_flat_and_readable() {
        let value =
            json!({ "a": { "b": 1, "c": [0.5, null] }, "d": true, "e": vec![1; 9], "f": 1e-9, "g": -0.25 });
        let Block::Facts(facts) = Block::facts(&value) else { unreachable!() };
        let told: Vec<String> = facts.into_iter().map(|(name, text)| format!("{name}={text}")).collect();
        assert_eq!(told, ["a.b=1", "a.c=0.5, –", "d=yes", "e=9 values", "f=1e−9", "g=−0.25"]);
    }
}
