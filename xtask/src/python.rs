//! The Python package: a wheel is built, installed into the environment of the tests, and tested there.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::venv::Venv;
use crate::workspace::{Workspace, build_once};

/// Builds, installs and tests. What it answers is the last line of pytest, which counts tests.
///
/// The wheel is that of the dev profile: it shares its dependencies with the tests that were compiled before.
pub fn test(workspace: &Workspace, venv: &Venv) -> Result<String, String> {
    install(workspace, venv)?;
    // Outside the source tree, so that the package that was installed is the one that is imported.
    let place = workspace.target.join("python-tests");
    fs::create_dir_all(&place).map_err(|error| format!("cannot make {}: {error}", place.display()))?;
    let mut tests = Command::new(venv.python());
    tests.args(["-m", "pytest", "--quiet", "--doctest-modules", "-p", "no:cacheprovider", "-c"]);
    tests.arg(workspace.root.join("pyproject.toml")).arg(workspace.root.join("python/tests"));
    tests.args(["--pyargs", "tenfold"]).current_dir(&place);
    last_line(&mut tests)
}

/// Builds the wheel and installs it.
pub fn install(workspace: &Workspace, venv: &Venv) -> Result<(), String> {
    let wheel = build(workspace, venv)?;
    let mut install = Command::new(venv.python());
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--force-reinstall", "--no-deps", "--no-index"]).arg(&wheel);
    match install.status().is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(format!("pip could not install {}", wheel.display())),
    }
}

fn build(workspace: &Workspace, venv: &Venv) -> Result<PathBuf, String> {
    let folder = workspace.target.join("wheels");
    // A wheel of an earlier run must not be taken for this one's.
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    }
    let mut maturin = Command::new(venv.python());
    maturin.args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--compatibility", "off"]);
    // With the features of the tests before, so that nothing is compiled twice.
    maturin.args(["--features", "gpu"]);
    maturin.arg("--interpreter").arg(venv.python()).arg("--out").arg(&folder).current_dir(&workspace.root);
    build_once(&mut maturin);
    if !maturin.status().is_ok_and(|status| status.success()) {
        return Err("maturin could not build the wheel; see above".into());
    }
    only_file(&folder).ok_or_else(|| format!("maturin left no wheel in {}", folder.display()))
}

fn only_file(folder: &Path) -> Option<PathBuf> {
    fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).next()
}

/// Runs a command, lets its output through, and gives the last line of it.
fn last_line(command: &mut Command) -> Result<String, String> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("pytest cannot be started: {error}"))?;
    let mut last = String::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            if !line.trim().is_empty() {
                last = line.trim().to_owned();
            }
        }
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(last),
        _ => Err(last),
    }
}

#[cfg(all(test, unix))]
mod unit {
    use super::*;

    #[test]
    fn the_last_line_is_told_either_way() {
        let run = |script: &str| last_line(Command::new("sh").args(["-c", script]));
        assert_eq!(run("echo one; echo ' 3 passed '; echo"), Ok("3 passed".into()));
        assert_eq!(run("echo '1 failed'; exit 1"), Err("1 failed".into()));
    }
}
