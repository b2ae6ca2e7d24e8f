//! `cargo xtask trust`: what happens to tenfold when things go wrong, measured.
//!
//! A piece is one entry of [`PIECES`]. It drives the built command (or the wheel) against hostile files, bad luck, small memory or
//! long hours, and keeps what it counted in `docs/trust/NAME.json`. All kept files together make the one table of
//! `docs/trust.md`, so that a piece that takes hours need not be run again for the others.

mod fits;
mod fuzz;
mod kills;
mod load;
mod luck;
mod memory;
mod properties;
mod reproducible;
mod soak;
mod unsafe_code;

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

use crate::workspace::Workspace;

/// One kind of trouble.
struct Piece {
    name: &'static str,
    /// What it does, for `--list`.
    told: &'static str,
    run: fn(&Workspace, &[String]) -> Result<Found, String>,
}

/// The pieces, in the order of the table.
const PIECES: &[Piece] = &[
    Piece {
        name: "fuzz",
        told: "strangers' files: coverage-guided fuzzing of every reader [--minutes N] [READER…]",
        run: fuzz::run,
    },
    Piece {
        name: "kills",
        told: "kill −9 at 200 random moments (or as many as are given), and fits that go on from their checkpoints",
        run: kills::run,
    },
    Piece {
        name: "luck",
        told: "full and read-only disks, inputs that shrink or grow; as root on Linux",
        run: luck::run,
    },
    Piece {
        name: "memory",
        told: "every application at the size of its issue within --memory, under a hard limit [APPLICATION…] [--scale X]",
        run: memory::run,
    },
    Piece {
        name: "load",
        told: "100 fits at once from threads and processes; 1e6 documents inferred one by one [--fits N] [--documents N] [--installed]",
        run: load::run,
    },
    Piece {
        name: "soak",
        told: "fit, infer and report for hours in one process: memory and file handles stay [--minutes N | --record FILE] [--installed]",
        run: soak::run,
    },
    Piece {
        name: "properties",
        told: "what must not change a fit, and noise that it must find nothing in, over many draws",
        run: properties::run,
    },
    Piece {
        name: "reproducible",
        told: "the same models at other levels of x86-64, of optimisation and of threads; makes docs/reproducible.md",
        run: reproducible::run,
    },
    Piece { name: "unsafe", told: "Miri runs the files that may hold unsafe code", run: unsafe_code::run },
];

/// What a piece counted: rows of what was tried, what was promised, and what was measured.
pub struct Found {
    /// The command that gives it again.
    pub command: String,
    /// Each row: tried, promised, measured, and whether the promise held.
    pub rows: Vec<Row>,
}

/// A line of the table.
pub struct Row {
    pub tried: String,
    pub promised: String,
    pub measured: String,
    pub held: bool,
}

/// Runs the pieces that were named, and makes the table anew of everything that is kept.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<bool, String> {
    match arguments.split_first() {
        None => {}
        Some((first, _)) if first == "--list" => {
            PIECES.iter().for_each(|piece| println!("{:<12} {}", piece.name, piece.told));
            return Ok(true);
        }
        Some((name, rest)) => {
            let piece = PIECES.iter().find(|piece| piece.name == *name);
            let piece = piece.ok_or_else(|| format!("there is no piece `{name}`; --list names them"))?;
            let found = (piece.run)(workspace, rest)?;
            write(&kept(workspace, piece.name), &found.to_json())?;
        }
    }
    let (text, sound) = table(workspace)?;
    let page = workspace.root.join("docs/trust.md");
    fs::write(&page, &text).map_err(|error| format!("{}: {error}", page.display()))?;
    println!("{text}");
    Ok(sound)
}

/// The command that is tried: as it is built, unless this variable names another, such as that of an installed package.
fn command(workspace: &Workspace) -> Result<PathBuf, String> {
    std::env::var_os("TENFOLD_TRUST_COMMAND")
        .map_or_else(|| workspace.tenfold(&[]), |named| Ok(PathBuf::from(named)))
}

impl Found {
    fn to_json(&self) -> Value {
        let row = |row: &Row| json!({"tried": row.tried, "promised": row.promised, "measured": row.measured, "held": row.held});
        json!({"command": self.command, "rows": self.rows.iter().map(row).collect::<Vec<_>>()})
    }
}

fn kept(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root.join("docs/trust").join(format!("{name}.json"))
}

fn write(path: &PathBuf, value: &Value) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
}

/// The page, and whether every kept promise held.
fn table(workspace: &Workspace) -> Result<(String, bool), String> {
    let mut text = String::from(
        "# What happens when things go wrong\n\n\
         Made by `cargo xtask trust` of what its pieces counted. The commands below run a piece again; where a kept run differed \
         from its command, that is told there.\n\n\
         | | tried | promised | measured | held |\n| --- | --- | --- | --- | --- |\n",
    );
    let (mut commands, mut sound) = (String::new(), true);
    for piece in PIECES {
        let path = kept(workspace, piece.name);
        let Ok(bytes) = fs::read(&path) else {
            text += &format!("| {} | not run yet | | | |\n", piece.name);
            continue;
        };
        let found: Value =
            serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        let word = |key: &str| found[key].as_str().unwrap_or_default();
        commands += format!("- {}: `{}` {}", piece.name, word("command"), word("about")).trim_end();
        commands += "\n";
        for row in found["rows"].as_array().into_iter().flatten() {
            let cell = |key: &str| row[key].as_str().unwrap_or_default().replace('|', "\\|");
            let held = row["held"].as_bool().unwrap_or(false);
            sound &= held;
            text += &format!(
                "| {} | {} | {} | {} | {} |\n",
                piece.name,
                cell("tried"),
                cell("promised"),
                cell("measured"),
                if held { "yes" } else { "**no**" }
            );
        }
    }
    Ok((format!("{text}\n{commands}"), sound))
}
