//! Load: many fits at once, and documents one by one, through the Python package.

use serde_json::Value;
use std::process::{Command, Stdio};

use super::{Found, Row};
use crate::python;
use crate::venv::Venv;
use crate::workspace::Workspace;

/// `cargo xtask trust load [--fits N] [--documents N] [--installed]`.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<Found, String> {
    let (mut fits, mut documents) = (100, 1_000_000);
    let (as_it_is, arguments) = without_installed(arguments);
    for pair in arguments.chunks(2) {
        match pair {
            [name, value] if name == "--fits" => fits = number(value)?,
            [name, value] if name == "--documents" => documents = number(value)?,
            _ => return Err("load takes --fits N, --documents N and --installed".into()),
        }
    }
    let venv = installed(workspace, as_it_is)?;
    let together = script(workspace, &venv, "together.py", &[fits.to_string()])?;
    let alone = script(workspace, &venv, "one_by_one.py", &[documents.to_string()])?;
    let mut rows = Vec::new();
    for (key, who) in
        [("threads", "Python threads"), ("spawn", "processes"), ("fork", "processes forked after a fit")]
    {
        let one = &together[key];
        let differ = whole(&one["differ"])?;
        let mut measured = format!("{differ} differ; {:.1} s in all", real(&one["seconds"])?);
        let mut held = differ == 0;
        if key == "threads" {
            // Each fit has at most the thread that waits for it, one that leads and two that work.
            let (most, before, after) =
                (whole(&one["most_alive"])?, whole(&one["before"])?, whole(&one["after"])?);
            measured += &format!("; at most {most} threads alive, {after} after them ({before} before)");
            held &= most <= before + 2 + 4 * fits && after <= before;
        }
        rows.push(Row {
            tried: format!(
                "{fits} small fits, inferences and reports of all applications at once from {who}"
            ),
            promised: "the bytes of one alone; none waits for ever; no thread stays".into(),
            measured,
            held,
        });
    }
    for (key, what) in [("rows", "rows of counts"), ("texts", "texts")] {
        let one = &alone[key];
        let (count, rate, grown) = (whole(&one["documents"])?, real(&one["rate"])?, real(&one["grown"])?);
        rows.push(Row {
            tried: format!(
                "{count} documents of 30 words inferred one by one from Python, k = 20, as {what}"
            ),
            promised: "the mixture they have among others; memory stays".into(),
            measured: format!(
                "{rate:.0} documents a second by the clock, {:.0} a processor second; {:.1} MB more than at the start",
                real(&one["rate_busy"])?,
                grown / 1e6
            ),
            // A leak of ten bytes a document would show.
            held: grown < 10.0 * count as f64,
        });
    }
    Ok(Found { command: format!("cargo xtask trust load --fits {fits} --documents {documents}"), rows })
}

/// Whether the package is to be taken as it is installed, and the other arguments.
pub fn without_installed(arguments: &[String]) -> (bool, Vec<String>) {
    let others: Vec<String> = arguments.iter().filter(|a| *a != "--installed").cloned().collect();
    (others.len() < arguments.len(), others)
}

/// The environment of the tests with the package as the source is now, or as it was installed before: several pieces then need one
/// build.
pub fn installed(workspace: &Workspace, as_it_is: bool) -> Result<Venv, String> {
    let venv = Venv::for_tests(workspace);
    venv.ensure()?;
    if !as_it_is {
        python::install(workspace, &venv)?;
    }
    Ok(venv)
}

/// Runs a script of `xtask/trust` and gives the JSON object on the last line that it prints.
pub fn script(workspace: &Workspace, venv: &Venv, name: &str, arguments: &[String]) -> Result<Value, String> {
    let path = workspace.root.join("xtask/trust").join(name);
    // Outside the source tree, so that the package that was installed is the one that is imported.
    let output = Command::new(venv.python())
        .arg(&path)
        .args(arguments)
        .current_dir(&workspace.target)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    match output.status.success() {
        true => serde_json::from_str(last).map_err(|error| format!("{name} printed no JSON: {error}")),
        false => Err(format!("{name} failed: {last}")),
    }
}

pub fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no whole number"))
}

pub fn whole(value: &Value) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| format!("{value} is no whole number"))
}

pub fn real(value: &Value) -> Result<f64, String> {
    value.as_f64().ok_or_else(|| format!("{value} is no number"))
}
