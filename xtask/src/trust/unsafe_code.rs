//! Miri, which knows what every address may point to, runs the tests of the files that may hold `unsafe`. Also here: what the
//! supply-chain step of the test command counts, since both are about code that nobody should have to trust blindly.

use std::process::{Command, Stdio};

use super::{Found, Row};
use crate::supply;
use crate::workspace::{Workspace, succeeds};

/// The modules of `UNSAFE_FILES` (crates/tenfold/tests/architecture.rs), by the crate and the path of their tests.
const MODULES: &[(&str, &str)] = &[("tenfold-engine", "linalg::spmm::")];

pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<Found, String> {
    if !arguments.is_empty() {
        return Err("unsafe takes no arguments".into());
    }
    if !succeeds(cargo(workspace).args(["miri", "--version"])) {
        return Err("Miri is missing: rustup component add --toolchain nightly miri rust-src".into());
    }
    let mut rows = Vec::new();
    for (krate, module) in MODULES {
        let (tried, passed, clean) = module_under_miri(workspace, krate, module)?;
        let found = if clean { "nothing found" } else { "a finding" };
        rows.push(Row {
            tried: format!("`{krate}`, `{module}` under Miri"),
            promised: "every address that is asked for lies inside its array; no undefined behaviour".into(),
            measured: format!("{passed} of {tried} tests pass, {found}"),
            held: clean && tried > 0 && passed == tried,
        });
    }
    let supply = supply::check(workspace);
    rows.push(Row {
        tried: "licences, versions and sources of all crates, pins of Python, packages of npm".into(),
        promised: "only what deny.toml allows".into(),
        held: supply.is_ok(),
        measured: supply.unwrap_or_else(|why| why.replace('\n', " ")),
    });
    Ok(Found { command: "cargo xtask trust unsafe".into(), rows })
}

/// The nightly cargo: Miri exists for no other.
fn cargo(workspace: &Workspace) -> Command {
    let mut command = Command::new("cargo");
    // What the outer cargo and its toolchain set must not reach the other toolchain.
    let foreign = |name: &str| name.starts_with("CARGO") || name.starts_with("RUST");
    for (name, _) in std::env::vars().filter(|(name, _)| foreign(name)) {
        if name != "CARGO_HOME" && name != "RUSTUP_HOME" {
            command.env_remove(name);
        }
    }
    command.arg("+nightly").current_dir(&workspace.root);
    command
}

/// How many tests ran, how many passed, and whether Miri was content.
fn module_under_miri(
    workspace: &Workspace,
    krate: &str,
    module: &str,
) -> Result<(usize, usize, bool), String> {
    let output = cargo(workspace)
        .args(["miri", "test", "--package", krate, "--lib", "--target-dir"])
        .arg(workspace.target.join("miri"))
        .args(["--", module])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start Miri: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    let tests = text.lines().filter(|line| line.starts_with("test ") && !line.starts_with("test result"));
    let (tried, passed) =
        tests.fold((0, 0), |(t, p), line| (t + 1, p + usize::from(line.ends_with("... ok"))));
    Ok((tried, passed, output.status.success()))
}
