//! `cargo xtask test`: every check of the tree, in order, with a summary of what ran.
//!
//! A step is one entry of [`STEPS`]. All cargo steps use the same profile and the same features, so that each
//! dependency is compiled once for checking (clippy, rustdoc) and once for running (tests).

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::python;
use crate::supply;
use crate::venv::Venv;
use crate::vulkan;
use crate::workspace::{Workspace, is_ci, succeeds};

/// Where tests find the Python that holds `xtask/requirements.txt`; unset means: not available.
const PYTHON_VARIABLE: &str = "TENFOLD_TEST_PYTHON";

/// One check.
struct Step {
    name: &'static str,
    /// Whether `--quick` runs it too.
    quick: bool,
    run: fn(&Workspace) -> Outcome,
}

/// The checks, in order: the cheap ones first, so that a small slip is told early.
const STEPS: &[Step] = &[
    Step { name: "format", quick: true, run: format },
    Step { name: "clippy", quick: true, run: clippy },
    Step { name: "python environment", quick: false, run: python },
    Step { name: "graphics driver", quick: false, run: graphics },
    Step { name: "supply chain", quick: true, run: supply_chain },
    Step { name: "tests", quick: true, run: tests },
    Step { name: "python package", quick: false, run: python_package },
    Step { name: "documentation", quick: false, run: documentation },
];

/// How a step ended, with a word on it for the summary.
enum Outcome {
    Passed(String),
    Failed(String),
    Skipped(String),
}

impl Outcome {
    fn word(&self) -> &'static str {
        match self {
            Outcome::Passed(_) => "passed",
            Outcome::Failed(_) => "FAILED",
            Outcome::Skipped(_) => "skipped",
        }
    }

    fn note(&self) -> &str {
        match self {
            Outcome::Passed(note) | Outcome::Failed(note) | Outcome::Skipped(note) => note,
        }
    }
}

/// One line of the summary.
struct Row {
    name: &'static str,
    outcome: Outcome,
    time: Duration,
}

/// Run the steps. A failed step does not stop the later ones: one run tells everything that is wrong.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<bool, String> {
    let quick = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--quick"] => true,
        _ => return Err("test takes only --quick".into()),
    };
    let begin = Instant::now();
    let rows = std::thread::scope(|scope| {
        if !quick {
            // It waits for the network while cargo waits for the processor.
            scope.spawn(|| environment(workspace));
        }
        run_steps(workspace, quick)
    });
    let strict = is_ci();
    let (text, sound) = summary(&rows, begin.elapsed(), strict);
    println!("\n{text}");
    Ok(sound)
}

fn run_steps(workspace: &Workspace, quick: bool) -> Vec<Row> {
    STEPS
        .iter()
        .enumerate()
        .map(|(at, step)| {
            println!("==> [{}/{}] {}", at + 1, STEPS.len(), step.name);
            let begin = Instant::now();
            let outcome =
                if quick && !step.quick { Outcome::Skipped("--quick".into()) } else { (step.run)(workspace) };
            let row = Row { name: step.name, outcome, time: begin.elapsed() };
            println!("    {} in {:.1} s  {}", row.outcome.word(), row.time.as_secs_f64(), row.outcome.note());
            row
        })
        .collect()
}

/// The closing table and whether the run is sound; under `strict` a skip is not.
fn summary(rows: &[Row], total: Duration, strict: bool) -> (String, bool) {
    let mut text = format!("{:<20} {:<8} {:>8}  note\n", "step", "outcome", "seconds");
    for row in rows {
        let seconds = row.time.as_secs_f64();
        let line =
            format!("{:<20} {:<8} {seconds:>8.1}  {}", row.name, row.outcome.word(), row.outcome.note());
        text += line.trim_end();
        text += "\n";
    }
    text += &format!("{:<20} {:<8} {:>8.1}\n", "total", "", total.as_secs_f64());
    let count = |word: &str| rows.iter().filter(|row| row.outcome.word() == word).count();
    let (passed, failed, skipped) = (count("passed"), count("FAILED"), count("skipped"));
    if strict && skipped > 0 {
        text += "CI=true: a skipped step counts as a failure\n";
    }
    text += &format!("{passed} passed, {failed} failed, {skipped} skipped");
    (text, failed == 0 && !(strict && skipped > 0))
}

/// Makes the Python environment once in a run; whoever asks meanwhile waits for it.
fn environment(workspace: &Workspace) -> &'static Result<&'static str, String> {
    static MADE: OnceLock<Result<&'static str, String>> = OnceLock::new();
    MADE.get_or_init(|| Venv::for_tests(workspace).ensure())
}

fn python(workspace: &Workspace) -> Outcome {
    match environment(workspace) {
        Ok(how) => Outcome::Passed((*how).into()),
        Err(why) => Outcome::Skipped(why.clone()),
    }
}

/// The tests of the card run on any driver; without one they say that they are skipped.
fn graphics(_workspace: &Workspace) -> Outcome {
    match vulkan::ensure() {
        Ok(how) => Outcome::Passed(how.into()),
        Err(why) => Outcome::Skipped(why),
    }
}

/// What tenfold is built from; see deny.toml.
fn supply_chain(workspace: &Workspace) -> Outcome {
    match supply::check(workspace) {
        Ok(told) => Outcome::Passed(told),
        Err(why) => Outcome::Failed(why),
    }
}

/// After the tests, whose compiled dependencies the wheel takes over.
fn python_package(workspace: &Workspace) -> Outcome {
    let venv = Venv::for_tests(workspace);
    if !venv.is_current() {
        return Outcome::Skipped("there is no Python environment".into());
    }
    match python::test(workspace, &venv) {
        Ok(told) => Outcome::Passed(told),
        Err(why) => Outcome::Failed(why),
    }
}

fn format(workspace: &Workspace) -> Outcome {
    if let Err(why) = component(workspace, "fmt", "rustfmt") {
        return Outcome::Skipped(why);
    }
    judge(&mut workspace.cargo(&["fmt", "--all", "--check"]), "run `cargo fmt --all`")
}

fn clippy(workspace: &Workspace) -> Outcome {
    if let Err(why) = component(workspace, "clippy", "clippy") {
        return Outcome::Skipped(why);
    }
    let arguments =
        ["clippy", "--workspace", "--all-targets", "--all-features", "--quiet", "--", "-D", "warnings"];
    judge(&mut workspace.cargo(&arguments), "see the warnings above")
}

/// Unit, integration and documentation tests; the real binary is driven by `crates/tenfold-cli/tests`.
fn tests(workspace: &Workspace) -> Outcome {
    let mut command = workspace.cargo(&["test", "--workspace", "--all-features", "--no-fail-fast"]);
    // Mesa looks for a screen to choose among cards, and complains where there is none.
    command.env("NODEVICE_SELECT", "1");
    let venv = Venv::for_tests(workspace);
    if venv.is_current() {
        command.env(PYTHON_VARIABLE, venv.python());
    } else {
        command.env_remove(PYTHON_VARIABLE);
    }
    let Ok(mut child) = command.stdout(Stdio::piped()).spawn() else {
        return Outcome::Failed("cargo could not be started".into());
    };
    let mut tally = Tally::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            tally.read(&line);
        }
    }
    match child.wait() {
        Ok(status) if status.success() && tally.passed == 0 => Outcome::Failed("no test ran".into()),
        Ok(status) if status.success() => Outcome::Passed(tally.to_string()),
        _ if tally.failed == 0 => Outcome::Failed("did not compile, or a test binary died".into()),
        _ => Outcome::Failed(tally.to_string()),
    }
}

fn documentation(workspace: &Workspace) -> Outcome {
    let arguments = ["doc", "--workspace", "--no-deps", "--all-features", "--quiet"];
    let mut command = workspace.cargo(&arguments);
    command.env("RUSTDOCFLAGS", "-D warnings");
    judge(&mut command, "see the warnings above")
}

/// Run a command whose own output says what is wrong.
fn judge(command: &mut Command, remedy: &str) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Outcome::Passed(String::new()),
        Ok(_) => Outcome::Failed(remedy.into()),
        Err(error) => Outcome::Failed(format!("cargo could not be started: {error}")),
    }
}

/// A minimal toolchain lacks rustfmt and clippy; rustup can add them.
fn component(workspace: &Workspace, subcommand: &str, name: &str) -> Result<(), String> {
    let present = || succeeds(&mut workspace.cargo(&[subcommand, "--version"]));
    if present() || (succeeds(Command::new("rustup").args(["component", "add", name])) && present()) {
        return Ok(());
    }
    Err(format!("{name} is missing; add it with `rustup component add {name}`"))
}

/// The sum of the `test result:` lines of all test binaries.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Tally {
    fn read(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for part in counts.split("; ") {
            match part.split_once(' ').map(|(count, what)| (count.parse().unwrap_or(0), what)) {
                Some((count, "passed")) => self.passed += count,
                Some((count, "failed")) => self.failed += count,
                Some((count, "ignored")) => self.ignored += count,
                _ => {}
            }
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "{} tests passed, {} failed, {} ignored", self.passed, self.failed, self.ignored)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn row(name: &'static str, outcome: Outcome) -> Row {
        Row { name, outcome, time: Duration::from_millis(1500) }
    }

    #[test]
    fn the_last_line_counts_steps() {
        let rows = [
            row("a", Outcome::Passed("fine".into())),
            row("b", Outcome::Skipped("no python".into())),
            row("c", Outcome::Failed("bad".into())),
        ];
        let (text, sound) = summary(&rows, Duration::from_secs(3), false);
        assert_eq!(text.lines().last(), Some("1 passed, 1 failed, 1 skipped"));
        assert!(text.contains("no python"));
        assert!(!sound);
    }

    #[test]
    fn a_skip_is_a_failure_only_under_ci() {
        let rows = [row("a", Outcome::Skipped("no python".into()))];
        assert!(summary(&rows, Duration::ZERO, false).1);
        assert!(!summary(&rows, Duration::ZERO, true).1);
    }

    #[test]
    fn the_tally_adds_up_the_binaries() {
        let mut tally = Tally::default();
        tally.read("running 3 tests");
        tally.read(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.1s",
        );
        tally.read(
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s",
        );
        assert_eq!(tally.to_string(), "4 tests passed, 2 failed, 1 ignored");
    }
}
