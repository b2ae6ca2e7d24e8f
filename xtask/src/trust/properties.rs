//! The property suite over many draws: `crates/tenfold/tests/properties.rs` with more seeds than the test command takes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use super::{Found, Row};
use crate::workspace::Workspace;

/// Draws for each property and case, where nobody says.
const DRAWS: &str = "20";

/// What the lines `counted` say: the kind, the promise in words, and the share of draws that must keep it. A check by
/// standard errors misses once in a hundred times by its own threshold, so that a share is promised and not every draw.
const KINDS: &[(&str, &str, f64)] = &[
    ("property", "the answer changes as it should and not otherwise", 1.0),
    ("noise", "the verdict warns of what was found, or the data are refused", 0.95),
    ("hard", "the verdict warns of it, or the data are refused", 1.0),
    ("sound", "no warning on good data", 0.9),
    ("separable", "found exactly, and no warning", 1.0),
];

/// What was tried, how often it held, and how often it was tried.
type Count = (String, u64, u64);

pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<Found, String> {
    let draws = match arguments {
        [] => DRAWS,
        [draws] if draws.parse::<u64>().is_ok_and(|n| n > 0) => draws,
        _ => return Err("properties takes the number of draws".into()),
    };
    let mut child = workspace
        .cargo(&["test", "--workspace", "--all-features", "--test", "properties", "--no-fail-fast"])
        .args(["--", "--nocapture", "--test-threads", "1"])
        .env("TENFOLD_PROPERTY_SEEDS", draws)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    // By kind and application.
    let mut counts: BTreeMap<(String, String), Vec<Count>> = BTreeMap::new();
    for line in BufReader::new(child.stdout.take().ok_or("no output")?).lines().map_while(Result::ok) {
        println!("{line}");
        if let ["counted", kind, application, what, held, tried] = line.split('\t').collect::<Vec<_>>()[..] {
            let (held, tried) = (held.parse().unwrap_or(0), tried.parse().unwrap_or(0));
            counts.entry((kind.into(), application.into())).or_default().push((what.into(), held, tried));
        }
    }
    child.wait().map_err(|error| error.to_string())?;
    if counts.is_empty() {
        return Err("no property was tried".into());
    }
    let mut rows = Vec::new();
    for (kind, promised, share) in KINDS {
        for ((_, application), all) in counts.iter().filter(|((known, _), _)| known == kind) {
            let (held, tried) = all.iter().fold((0, 0), |(h, t), one| (h + one.1, t + one.2));
            let short: Vec<String> = all
                .iter()
                .filter(|(_, held, tried)| held < tried)
                .map(|(what, held, tried)| format!("{what}: {held} of {tried}"))
                .collect();
            let told = if short.is_empty() { String::new() } else { format!(" ({})", short.join("; ")) };
            rows.push(Row {
                tried: format!("{application}: {} of kind `{kind}`, {draws} draws each", all.len()),
                promised: (*promised).into(),
                measured: format!("{held} of {tried}{told}"),
                held: held as f64 >= share * tried as f64,
            });
        }
    }
    Ok(Found { command: format!("cargo xtask trust properties {draws}"), rows })
}
