//! Soak: cycles over all applications for hours in one process.

use super::load::{installed, real, script, whole, without_installed};
use super::{Found, Row};
use crate::workspace::Workspace;

/// Growth over the run, with two standard errors, that still counts as flat: five parts in a hundred of what is held.
const FLAT: f64 = 0.05;

/// `cargo xtask trust soak [--minutes N | --record FILE] [--installed]`; a record is what an earlier run left in `target/soak.csv`.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<Found, String> {
    let (as_it_is, arguments) = without_installed(arguments);
    let kept = workspace.target.join("soak.csv").to_string_lossy().into_owned();
    let (minutes, record) = match &arguments[..] {
        [] => ("120", kept),
        [name, value] if name == "--minutes" => (value.as_str(), kept),
        [name, value] if name == "--record" => ("0", value.clone()),
        _ => return Err("soak takes --minutes N or --record FILE, and --installed".into()),
    };
    let venv = installed(workspace, as_it_is || minutes == "0")?;
    let told = script(workspace, &venv, "soak.py", &[minutes.to_owned(), record])?;
    Ok(Found { command: "cargo xtask trust soak --minutes 120".into(), rows: rows(&told)? })
}

/// What the script counted, held against the promise.
fn rows(told: &serde_json::Value) -> Result<Vec<Row>, String> {
    let (slope, error) = (real(&told["slope"])?, real(&told["slope_error"])?);
    let (bytes, minutes) = (real(&told["bytes"])?, real(&told["minutes"])?);
    let pair = |key: &str| Ok::<_, String>((whole(&told[key][0])?, whole(&told[key][1])?));
    let (handles, threads) = (pair("handles")?, pair("threads")?);
    let tried = format!(
        "{} cycles of fit, infer, report, save and load over {} kinds of fit in one process, {minutes:.0} minutes",
        whole(&told["cycles"])?,
        whole(&told["applications"])?
    );
    let growth = (slope + 2.0 * error) * minutes / 60.0;
    Ok(vec![
        Row {
            tried: tried.clone(),
            promised: "the same bytes in every cycle; memory flat: a line through it grows by less than 5 % over the run".into(),
            measured: format!(
                "{:.0} MB held; slope {:+.2} ± {:.2} MB an hour (standard error)",
                bytes / 1e6,
                slope / 1e6,
                error / 1e6
            ),
            held: growth < FLAT * bytes,
        },
        Row {
            tried,
            promised: "as many file handles and threads after any cycle as after the first ones".into(),
            measured: format!(
                "{} to {} handles; {} threads in the first half, {} in the second",
                handles.0, handles.1, threads.0, threads.1
            ),
            held: handles.0 == handles.1 && threads.1 <= threads.0,
        },
    ])
}

#[cfg(test)]
mod unit {
    use super::*;
    use serde_json::json;

    #[test]
    fn growth_beyond_its_error_is_told() {
        let told = |slope: f64, most: u64| {
            json!({"slope": slope, "slope_error": 1e5, "bytes": 2e8, "minutes": 60.0, "cycles": 90, "applications": 9,
                   "handles": [5, most], "threads": [1, 1]})
        };
        let held = |told: &serde_json::Value| rows(told).unwrap().iter().map(|r| r.held).collect::<Vec<_>>();
        assert_eq!(held(&told(1e6, 5)), [true, true]);
        assert_eq!(held(&told(2e7, 5)), [false, true]);
        assert_eq!(held(&told(-1e6, 6)), [true, false]);
        assert!(rows(&json!({})).is_err());
    }
}
