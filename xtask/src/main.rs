//! The project's own commands, run as `cargo xtask COMMAND`.
//!
//! `test` is the one command that says whether the tree is sound; `bench` measures it beside its peers. Both
//! make what they need under `target/`, so a fresh clone needs only Rust (and Python for the parts that
//! check against it).

#![forbid(unsafe_code)]

mod bench;
mod python;
mod supply;
mod test;
mod trust;
mod venv;
mod vulkan;
mod workspace;

use std::process::ExitCode;

use workspace::Workspace;

const HELP: &str = "\
cargo xtask COMMAND

Commands
  test [--quick]      run every check: format, lints, supply chain, tests, the Python package, documentation
      --quick         leave out Python and the documentation
  bench [NAME…]       measure beside the peers people use today, and print a table
      --threads 1,2   thread counts to run with (default: what each bench asks for)
      --fresh         measure again what slow peers have kept from an earlier run
      --keep-data     leave the generated data in target/bench-data
      --list          name the benches and stop
  trust [NAME …]      put one kind of trouble to tenfold, keep what was counted, and remake docs/trust.md
      --list          name the kinds and stop
  golden              keep models of this version in crates/tenfold/tests/golden, for later versions to read
  help                this text

With CI=true in the environment a skipped step of `test` is a failure.";

/// Each command answers whether all went well, or why it could not run.
fn run(arguments: &[String]) -> Result<bool, String> {
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", arguments),
    };
    match command {
        "test" => test::run(&Workspace::find()?, rest),
        "bench" => bench::run(&Workspace::find()?, rest),
        "trust" => trust::run(&Workspace::find()?, rest),
        "golden" => golden(&Workspace::find()?),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(true)
        }
        other => Err(format!("there is no command `{other}`\n\n{HELP}")),
    }
}

/// Models of the version at hand, written by the test that will ask them.
fn golden(workspace: &Workspace) -> Result<bool, String> {
    let version = env!("CARGO_PKG_VERSION");
    let folder = workspace.root.join("crates/tenfold/tests/golden").join(version);
    if folder.exists() {
        return Err(format!(
            "{} is kept already: models of a version are never made again",
            folder.display()
        ));
    }
    let arguments = ["test", "--workspace", "--all-features", "--test", "golden", "models_of_every_version"];
    let status = workspace.cargo(&arguments).env("TENFOLD_GOLDEN_WRITE", version).status();
    Ok(status.map_err(|error| format!("cargo could not be started: {error}"))?.success())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::from(2)
        }
    }
}
