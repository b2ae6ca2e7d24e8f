//! Records become rows, rows become a Markdown table.

use serde_json::Value;

use super::{Bench, Goal, Record, cores};

/// Two errors this close count as equal: a table prints three digits, and neither side's last is stable.
const SAME_ERROR: f64 = 1.01;

/// The fields with a column of their own; all others are shown as details.
const COLUMNS: &[&str] = &["bench", "what", "seconds", "threads", "error", "peer"];

/// One line of the table.
pub struct Row {
    cells: [String; 7],
}

const HEAD: [&str; 7] = ["what", "threads", "tenfold", "peer", "ratio", "details", "goals"];

/// One row per record of ours, paired with the peer's of the same `what`.
pub fn rows(bench: &Bench, threads: usize, ours: &[Record], theirs: &[Record]) -> Vec<Row> {
    for stray in
        theirs.iter().filter(|other| !ours.iter().any(|record| record.get("what") == other.get("what")))
    {
        let what = stray.get("what").map(plain).unwrap_or_default();
        eprintln!("{}: the peer measured `{what}`, which the bench program did not", bench.name);
    }
    let paired = ours.iter().map(|record| {
        let peer = theirs.iter().find(|other| other.get("what") == record.get("what"));
        row(bench, threads, record, peer)
    });
    paired.collect()
}

fn row(bench: &Bench, threads: usize, ours: &Record, peer: Option<&Record>) -> Row {
    let seconds = number(ours, "seconds");
    let peer_seconds = peer.and_then(|peer| number(peer, "seconds"));
    let ratio = seconds.zip(peer_seconds).map(|(ours, theirs)| theirs / ours);
    let name = peer.and_then(|peer| peer.get("peer")).map(plain).unwrap_or_default();
    let peer_cell = peer_seconds.map_or("–".into(), |seconds| format!("{} {name}", show_seconds(seconds)));
    let theirs = peer.map(details).filter(|text| !text.is_empty());
    let mut notes = details(ours);
    if let Some(theirs) = theirs {
        notes += &format!("; peer: {theirs}");
    }
    let goals = bench.goals.iter().filter_map(|goal| judge(goal, threads, ours, peer, ratio));
    Row {
        cells: [
            ours.get("what").map(plain).unwrap_or_default(),
            threads.to_string(),
            seconds.map_or("–".into(), show_seconds),
            peer_cell.trim_end().into(),
            ratio.map_or("–".into(), |ratio| format!("{ratio:.2}×")),
            notes,
            goals.collect::<Vec<_>>().join("; "),
        ],
    }
}

/// Whether a goal is met; `None` where it says nothing about this row.
fn judge(
    goal: &Goal,
    threads: usize,
    ours: &Record,
    peer: Option<&Record>,
    ratio: Option<f64>,
) -> Option<String> {
    let (met, text) = match *goal {
        Goal::Speedup(least) if threads == cores() => (ratio? >= least, format!("≥ {least}×")),
        Goal::SpeedupAlone(least) if threads == 1 => (ratio? >= least, format!("≥ {least}× alone")),
        Goal::Speedup(_) | Goal::SpeedupAlone(_) => return None,
        Goal::SpeedupOver(name, least) => {
            let peer = plain(peer?.get("peer")?);
            if !peer.starts_with(name) || !ours.contains_key("perplexity") {
                return None;
            }
            (ratio? >= least, format!("≥ {least}×"))
        }
        Goal::ErrorNoWorse => {
            let (mine, theirs) = (number(ours, "error")?, number(peer?, "error")?);
            (mine <= theirs * SAME_ERROR, "error no worse".into())
        }
        Goal::AtLeast(field, least) => (number(ours, field)? >= least, format!("{field} ≥ {least}")),
        Goal::AtMost(field, most) => (number(ours, field)? <= most, format!("{field} ≤ {most}")),
    };
    Some(format!("{text}: {}", if met { "met" } else { "MISSED" }))
}

/// `error` first, then every field without a column.
fn details(record: &Record) -> String {
    let error = number(record, "error").map(|error| format!("error {}", show(error)));
    let others = record.iter().filter(|(field, _)| !COLUMNS.contains(&field.as_str()));
    let others = others.map(|(field, value)| format!("{field} {}", plain(value)));
    error.into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

/// The table, its columns padded so that it also reads well in a terminal.
pub fn markdown(rows: &[Row]) -> String {
    let head = HEAD.map(String::from);
    let width = |at: usize| {
        let cells = rows.iter().map(|row| &row.cells).chain([&head]);
        cells.map(|cells| cells[at].chars().count()).max().unwrap_or(0).max(3)
    };
    let line = |cells: &[String; 7]| {
        let padded = cells.iter().enumerate().map(|(at, cell)| {
            let missing = width(at) - cell.chars().count();
            format!("{cell}{}", " ".repeat(missing))
        });
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let rule: Vec<String> = (0..head.len()).map(|at| "-".repeat(width(at))).collect();
    let mut text = line(&head) + &format!("| {} |\n", rule.join(" | "));
    rows.iter().for_each(|row| text += &line(&row.cells));
    text
}

fn number(record: &Record, field: &str) -> Option<f64> {
    record.get(field).and_then(Value::as_f64)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace('|', "\\|"),
        Value::Number(number) if number.is_f64() => show(number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

/// Three digits, without an exponent where it is not needed.
fn show(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-3..1e4).contains(&size) => {
            let digits = (2 - size.max(1e-3).log10().floor() as i32).max(0) as usize;
            format!("{value:.digits$}")
        }
        _ => format!("{value:.2e}"),
    }
}

fn show_seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{} ms", show(seconds * 1e3)) } else { format!("{} s", show(seconds)) }
}

#[cfg(test)]
mod unit {
    use super::super::Threads;
    use super::*;
    use serde_json::json;

    const BENCH: Bench = Bench {
        name: "b",
        about: "",
        peer: Some("b"),
        threads: Threads::All,
        peer_first: false,
        goals: &[Goal::Speedup(2.0), Goal::ErrorNoWorse, Goal::AtLeast("share", 0.5)],
    };

    fn record(value: Value) -> Record {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn ours_stands_beside_the_peer_of_the_same_name() {
        let ours =
            [record(json!({"bench": "b", "what": "x", "seconds": 0.25, "error": 0.011, "share": 0.6}))];
        let theirs = [
            record(json!({"what": "y", "seconds": 9.0})),
            record(json!({"what": "x", "seconds": 1.0, "error": 0.01, "peer": "scipy 1", "converged": true})),
        ];
        let rows = rows(&BENCH, cores(), &ours, &theirs);
        let text = markdown(&rows);
        assert!(text.contains("| 250 ms"), "{text}");
        assert!(text.contains("| 1.00 s scipy 1"), "{text}");
        assert!(text.contains("| 4.00×"), "{text}");
        assert!(text.contains("error 0.0110, share 0.600; peer: error 0.0100, converged true"), "{text}");
        assert!(text.contains("≥ 2×: met; error no worse: MISSED; share ≥ 0.5: met"), "{text}");
    }

    #[test]
    fn a_bench_without_a_peer_has_dashes() {
        let ours = [record(json!({"what": "x", "seconds": 2.0, "share": 0.4}))];
        let text = markdown(&rows(&BENCH, cores(), &ours, &[]));
        assert!(text.contains("| 2.00 s"), "{text}");
        assert!(text.contains("–"), "{text}");
        assert!(text.contains("share ≥ 0.5: MISSED"), "{text}");
        assert!(!text.contains("2×"), "{text}");
    }
}
