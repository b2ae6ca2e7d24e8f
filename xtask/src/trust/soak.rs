//! Soak: cycles over all applications for hours in one process.

use super::load::{installed, real, script, whole};
use super::{Found, Row};
use crate::workspace::Workspace;

/// Growth over the run, with two standard errors, that still counts as flat: five parts in a hundred of what is held.
const FLAT: f64 = 0.05;

/// `cargo xtask trust soak [--minutes N]`.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<Found, String> {
    let minutes: f64 = match arguments {
        [] => 120.0,
        [name, value] if name == "--minutes" => {
            value.parse().map_err(|_| format!("`{value}` is no number of minutes"))?
        }
        _ => return Err("soak takes --minutes N".into()),
    };
    let venv = installed(workspace)?;
    let record = workspace.target.join("soak.csv");
    let told =
        script(workspace, &venv, "soak.py", &[minutes.to_string(), record.to_string_lossy().into_owned()])?;
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
