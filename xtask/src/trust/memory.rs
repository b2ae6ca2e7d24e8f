//! Memory: every application at the size of its issue, under a hard limit of what `--memory` says.
//!
//! The limit is the shell's `ulimit -d`, on all private memory that a process asks for, a tenth above `--memory`: one allocation more
//! ends the run. What it held at its peak is what the kernel counted, as the command tells it.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::load::{real, whole};
use super::{Found, Row, command};
use crate::workspace::Workspace;

/// One application at a size.
struct Case {
    name: &'static str,
    /// Data at a share of the size of the issue, by `tenfold generate` in the folder of the data.
    data: fn(f64) -> Vec<String>,
    /// The fit, in the folder of the data; `--memory`, `--json` and the like are added.
    fit: &'static str,
    /// Bytes that are allowed at full size: what the issue allows, or what makes the data go to disk.
    bound: u64,
    /// What of the bound does not shrink with the data.
    fixed: u64,
}

const MB: u64 = 1_000_000;

/// The applications at the sizes of their issues.
const CASES: &[Case] = &[
    Case {
        name: "topics",
        data: |s| {
            words(&format!(
                "generate topics --documents {} --words {} -k 100 --length 330 --zipf --no-mixtures -o docs",
                scaled(300_000.0, s),
                scaled(102_660.0, s)
            ))
        },
        fit: "topics fit docs/docword.txt -k 100 -o topics.tenfold",
        bound: 2000 * MB,
        fixed: 280 * MB,
    },
    Case {
        name: "topics/disk",
        data: |s| {
            words(&format!(
                "generate topics --documents {} --words {} -k 100 --length 330 --zipf --no-mixtures -o docs",
                scaled(300_000.0, s),
                scaled(102_660.0, s)
            ))
        },
        fit: "topics fit docs/docword.txt -k 50 --epochs 1 -o disk.tenfold",
        bound: 900 * MB,
        fixed: 280 * MB,
    },
    Case {
        name: "communities",
        data: |s| {
            words(&format!(
                "generate communities --nodes {} -k 250 --degree 31.5 -o edges.txt",
                scaled(1_054_066.0, s)
            ))
        },
        fit: "communities fit edges.txt -k 10 -o communities.tenfold",
        bound: 1300 * MB,
        fixed: 30 * MB,
    },
    Case {
        name: "communities/many",
        data: |s| {
            words(&format!(
                "generate communities --nodes {} -k 250 --degree 31.5 -o edges.txt",
                scaled(1_054_066.0, s)
            ))
        },
        fit: "communities fit edges.txt -k 100 -o many.tenfold",
        bound: 5000 * MB,
        fixed: 30 * MB,
    },
    Case {
        name: "ica",
        data: |s| {
            words(&format!("generate ica --samples {} --columns 16 -o mixed.npy", scaled(1_000_000.0, s)))
        },
        fit: "ica fit mixed.npy -k 16 --solver online -o ica.tenfold",
        bound: 300 * MB,
        fixed: 40 * MB,
    },
    Case {
        name: "ica/disk",
        data: |s| {
            words(&format!("generate ica --samples {} --columns 16 -o mixed.npy", scaled(1_000_000.0, s)))
        },
        fit: "ica fit mixed.npy -k 16 -o ica-disk.tenfold",
        bound: 50 * MB,
        fixed: 40 * MB,
    },
    Case {
        name: "motifs",
        data: |s| {
            words(&format!(
                "generate motifs --windows {} -L 8 --length 16 --activity 0.02 --no-events -o signals.npy",
                scaled(100_000.0, s)
            ))
        },
        fit: "motifs fit signals.npy --cyclic -L 8 --length 16 -o motifs.tenfold",
        bound: 150 * MB,
        fixed: 45 * MB,
    },
    Case {
        name: "sentences",
        data: |s| {
            words(&format!(
                "generate topics --documents {} --words 20000 -k 20 --length 20 --zipf --format text --no-mixtures -o text",
                scaled(20_000.0, s)
            ))
        },
        fit: "sentences fit text/corpus.txt -o sentences.tenfold",
        bound: 500 * MB,
        fixed: 400 * MB,
    },
    Case {
        name: "trees",
        data: |s| {
            words(&format!(
                "generate trees --events --samples {} --variables 168 -o claims.csv",
                scaled(1_640_000.0, s)
            ))
        },
        fit: "trees fit claims.csv --events --groups claims.groups.csv -o trees.tenfold",
        bound: 2000 * MB,
        fixed: 60 * MB,
    },
    Case {
        name: "cells",
        data: |s| {
            words(&format!(
                "generate cells --genes 40 --cells {} --side 20000 --no-images -o tissue",
                scaled(1_000_000.0, s)
            ))
        },
        fit: "cells fit tissue/truth.csv -k 3 -o cells.tenfold",
        bound: 350 * MB,
        fixed: 40 * MB,
    },
    Case {
        name: "cells/detection",
        data: |s| words(&format!("generate cells --genes 1 --side {} -o slide", scaled(20_000.0, s.sqrt()))),
        fit: "cells detect slide/gene0001.png -o cells.parquet",
        // An image of 400 megapixels does not fit into it and is read in parts.
        bound: 400 * MB,
        fixed: 200 * MB,
    },
];

/// How much more than `--memory` a run may take, and how far an estimate may be off.
const KEPT: f64 = 1.1;
const NEAR: f64 = 0.25;

/// `cargo xtask trust memory [APPLICATION…] [--scale X]`.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<Found, String> {
    let (mut scale, mut chosen) = (1.0, Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--scale" => {
                let value = rest.next().ok_or("--scale needs a number")?;
                scale = value.parse().map_err(|_| format!("`{value}` is no number"))?;
            }
            name => chosen.push(name.to_owned()),
        }
    }
    let wanted = |case: &&Case| chosen.is_empty() || chosen.iter().any(|name| case.name == name.as_str());
    let cases: Vec<&Case> = CASES.iter().filter(wanted).collect();
    if cases.is_empty() {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        return Err(format!("there is no such application; these are: {}", names.join(", ")));
    }
    let built = command(workspace)?;
    let folder = workspace.target.join("trust-data");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    // A copy, so that a build meanwhile does not change what is measured.
    let program = folder.join("tenfold");
    fs::copy(&built, &program).map_err(|error| format!("{}: {error}", built.display()))?;
    let mut rows = earlier(workspace, &cases);
    for case in cases {
        rows.extend(measure(case, scale, &program, &folder)?);
    }
    let place = |row: &Row| CASES.iter().position(|case| case.name == name_in(&row.tried));
    rows.sort_by_key(place);
    Ok(Found { command: "cargo xtask trust memory [APPLICATION…] [--scale X]".into(), rows })
}

/// The application of a row.
fn name_in(tried: &str) -> &str {
    tried.split([' ', ':']).next().unwrap_or_default()
}

/// What an earlier run kept of applications that this one does not measure: some take minutes, and need not be run for the others.
fn earlier(workspace: &Workspace, measured: &[&Case]) -> Vec<Row> {
    let path = workspace.root.join("docs/trust/memory.json");
    let kept: Value =
        fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let rows = kept["rows"].as_array().into_iter().flatten().map(|row| Row {
        tried: text(row, "tried"),
        promised: text(row, "promised"),
        measured: text(row, "measured"),
        held: row["held"].as_bool().unwrap_or(false),
    });
    rows.filter(|row| measured.iter().all(|case| case.name != name_in(&row.tried))).collect()
}

/// Draws the data, unless they lie there from an earlier run: a stamp beside them says by which command.
fn generate(case: &Case, scale: f64, program: &Path, folder: &Path) -> Result<(), String> {
    let arguments = (case.data)(scale);
    let (line, output) = (arguments.join(" "), arguments.last().cloned().unwrap_or_default());
    let stamp = folder.join(format!("{output}.stamp"));
    if fs::read_to_string(&stamp).is_ok_and(|before| before == line) {
        return Ok(());
    }
    println!("{}: generating", case.name);
    let drawn = Command::new(program)
        .args(&arguments)
        .arg("--quiet")
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    if !drawn.status.success() {
        return Err(format!("{}: {}", case.name, String::from_utf8_lossy(&drawn.stderr)));
    }
    fs::write(&stamp, line).map_err(|error| format!("{}: {error}", stamp.display()))
}

/// A fit within its bound, and one that must be refused.
fn measure(case: &Case, scale: f64, program: &Path, folder: &Path) -> Result<Vec<Row>, String> {
    generate(case, scale, program, folder)?;
    let bound = case.fixed + ((case.bound - case.fixed) as f64 * scale) as u64;
    let at = if scale == 1.0 { String::new() } else { format!(" at {scale} of its size") };
    println!("{}: fitting within {} MB", case.name, bound / MB);
    let kept = fitted(case, program, folder, bound);
    let mut rows = vec![Row {
        tried: format!("{}{at}: `{}`", case.name, case.fit),
        promised: format!(
            "--memory {}MB kept within 10 %, under a hard limit of that; the estimate within 25 % of the peak",
            bound / MB
        ),
        measured: String::new(),
        held: false,
    }];
    let told = match kept {
        Ok(told) => told,
        Err(why) => {
            rows[0].measured = why;
            return Ok(rows);
        }
    };
    let (peak, estimate) = (whole(&told["memory"]["peak"])?, whole(&told["memory"]["estimate"])?);
    let off = estimate as f64 / peak as f64 - 1.0;
    rows[0].measured = format!(
        "{:.0} s; peak {:.0} MB ({:.0} % of the bound), estimate {:.0} MB ({:+.0} %)",
        real(&told["seconds"])?,
        peak as f64 / MB as f64,
        100.0 * peak as f64 / bound as f64,
        estimate as f64 / MB as f64,
        100.0 * off
    );
    rows[0].held = peak as f64 <= KEPT * bound as f64 && off.abs() <= NEAR;
    // Less than the program itself takes, so that nothing fits, on disk or not.
    let little = 10 * MB;
    let refused = run_limited(case, program, folder, (little, u64::MAX))?;
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    let said = message.lines().find(|line| line.starts_with("error: ")).unwrap_or("nothing").to_owned();
    let before =
        !message.contains("panicked") && refused.status.code() == Some(2) && said.contains("--memory");
    rows.push(Row {
        tried: format!("{}{at} with --memory {}MB", case.name, little / MB),
        promised: "refused before the work, with what is needed".into(),
        measured: said.chars().take(200).collect(),
        held: before,
    });
    Ok(rows)
}

/// The answer of a fit within its bound.
fn fitted(case: &Case, program: &Path, folder: &Path, bound: u64) -> Result<Value, String> {
    let output = run_limited(case, program, folder, (bound, (KEPT * bound as f64) as u64))?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("failed: {}", told.lines().last().unwrap_or_default()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("no JSON: {error}"))
}

/// Runs the fit with `--memory` under a hard limit of so many bytes.
fn run_limited(
    case: &Case,
    program: &Path,
    folder: &Path,
    (bound, limit): (u64, u64),
) -> Result<std::process::Output, String> {
    // `ulimit` counts in 1,024 bytes.
    let limit = if limit == u64::MAX { "unlimited".into() } else { (limit / 1024).to_string() };
    let script = format!("ulimit -d {limit} && exec \"$@\"");
    Command::new("sh")
        .args(["-c", &script, "sh"])
        .arg(PathBuf::from(program))
        .args(words(case.fit))
        .args(["--memory", &bound.to_string(), "--json", "--quiet"])
        .current_dir(folder)
        .output()
        .map_err(|error| format!("sh cannot be started: {error}"))
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn scaled(size: f64, scale: f64) -> u64 {
    (size * scale).round().max(1.0) as u64
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn every_case_is_told_apart_and_bounded() {
        for (i, case) in CASES.iter().enumerate() {
            assert!(case.fixed < case.bound, "{}", case.name);
            assert!(CASES[i + 1..].iter().all(|other| other.name != case.name));
            assert!((case.data)(0.5).iter().all(|word| !word.is_empty()) && case.fit.contains(" -o "));
        }
        assert_eq!((scaled(300.0, 0.1), scaled(1.0, 0.0001)), (30, 1));
        assert_eq!(
            (name_in("topics/disk at 0.1 of its size: `x`"), name_in("ica: `y`")),
            ("topics/disk", "ica")
        );
    }
}
