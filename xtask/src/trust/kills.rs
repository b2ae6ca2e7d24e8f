//! `cargo xtask trust kills`: kill −9 at random moments, while models, reports and tables are written over others; and fits with
//! `--checkpoint` that are killed again and again and must still come to the same bytes.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::fits::{Chance, FITS, Field, Fit, RESULTS, leftovers};
use super::{Found, Row};
use crate::workspace::Workspace;

/// Kills, unless a number is given.
const KILLS: usize = 200;

/// Times that a fit with a checkpoint is killed before it may end.
const RESUMED: usize = 5;

/// What stands in every output before a run.
const OLD: &[u8] = b"what was there before\n";

/// What the next run takes for forgotten; somewhat longer than its ten seconds.
const FORGOTTEN: Duration = Duration::from_secs(11);

pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<Found, String> {
    let kills = match arguments.first() {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is no number of kills"))?,
        None => KILLS,
    };
    let field = Field::prepare(workspace, "kills")?;
    let rows = vec![over_files(&field, kills)?, swept(&field)?, with_checkpoints(&field)?];
    let command = match arguments.first() {
        Some(count) => format!("cargo xtask trust kills {count}"),
        None => "cargo xtask trust kills".into(),
    };
    Ok(Found { command, rows })
}

/// A command with what it writes when nobody disturbs it, and how long that takes.
struct Known {
    fit: &'static Fit,
    written: Vec<Vec<u8>>,
    takes: Duration,
}

fn known(field: &Field, fit: &'static Fit) -> Result<Known, String> {
    let begin = Instant::now();
    field.must(fit.arguments)?;
    let takes = begin.elapsed();
    let written =
        fit.outputs.iter().map(|name| fs::read(field.path(name)).map_err(|e| format!("{name}: {e}")));
    Ok(Known { fit, written: written.collect::<Result<_, _>>()?, takes })
}

fn over_files(field: &Field, kills: usize) -> Result<Row, String> {
    let mut all = Vec::new();
    for fit in FITS.iter().chain(RESULTS) {
        all.push(known(field, fit)?);
    }
    let mut chance = Chance(1);
    let (mut done, mut ended, mut old, mut new, mut torn, mut writing) = (0, 0, 0, 0, Vec::new(), 0);
    let mut turn = 0;
    while done < kills {
        let one = &all[turn % all.len()];
        turn += 1;
        for name in one.fit.outputs {
            fs::write(field.path(name), OLD).map_err(|error| format!("{name}: {error}"))?;
        }
        // One kill in two comes at any time of the run, the other when a file is being written.
        let at_a_file = chance.next().is_multiple_of(2);
        let moment = one.takes.mul_f64(1.05 * chance.share());
        let after = Duration::from_micros(chance.next() % 20_000);
        let before = field.leftovers();
        let mut child = field.start(one.fit.arguments)?;
        let begin = Instant::now();
        let mut seen = None;
        loop {
            if child.try_wait().map_err(|error| error.to_string())?.is_some() {
                break;
            }
            if at_a_file && seen.is_none() && field.leftovers().iter().any(|name| !before.contains(name)) {
                seen = Some(Instant::now());
            }
            let due = if at_a_file {
                seen.is_some_and(|seen| seen.elapsed() >= after)
            } else {
                begin.elapsed() >= moment
            };
            if due {
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        let _ = child.kill();
        let status = child.wait().map_err(|error| error.to_string())?;
        match status.code() {
            None => done += 1,
            Some(0) => ended += 1,
            Some(code) => return Err(format!("tenfold {} ended with code {code}", one.fit.arguments)),
        }
        writing += usize::from(seen.is_some() && status.code().is_none());
        for (name, whole) in one.fit.outputs.iter().zip(&one.written) {
            let bytes = fs::read(field.path(name)).map_err(|error| format!("{name}: {error}"))?;
            match bytes {
                bytes if bytes == OLD => old += 1,
                bytes if bytes == *whole => new += 1,
                bytes => torn.push(format!("{name} of {} bytes", bytes.len())),
            }
            // Others may be made from it.
            fs::write(field.path(name), whole).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    let measured = match torn.is_empty() {
        true => format!(
            "{done} killed ({writing} of them while a temporary file was there), {ended} ended before; {old} files old, {new} new, 0 torn"
        ),
        false => format!("{done} killed; torn: {}", torn.join(", ")),
    };
    Ok(Row {
        tried: format!(
            "kill −9 at {kills} random moments of {} commands of all applications, over existing files",
            all.len()
        ),
        promised: "every file is the old one or the new one, byte for byte".into(),
        measured,
        held: torn.is_empty(),
    })
}

/// What the killed runs have left, and what the next one leaves of it.
fn swept(field: &Field) -> Result<Row, String> {
    let left = field.leftovers().len();
    std::thread::sleep(FORGOTTEN);
    field.must(RESULTS[0].arguments)?;
    let after = field.leftovers();
    Ok(Row {
        tried: "the next run in a folder where runs were killed".into(),
        promised: "removes what they left under temporary names".into(),
        measured: format!("{left} left by the kills, {} after the next run", after.len()),
        held: after.is_empty(),
    })
}

/// Every fit is killed at random moments, each time later, and then left to end.
fn with_checkpoints(field: &Field) -> Result<Row, String> {
    let mut chance = Chance(2);
    let (mut killed, mut taken, mut wrong) = (0, 0, Vec::new());
    for fit in FITS {
        let known = known(field, fit)?;
        let command = format!("{} --checkpoint kept", fit.arguments);
        for _ in 0..RESUMED {
            let mut child = field.start(&command)?;
            std::thread::sleep(known.takes.mul_f64(0.2 + 0.7 * chance.share()));
            let _ = child.kill();
            match child.wait().map_err(|error| error.to_string())?.code() {
                None => killed += 1,
                Some(0) => break,
                Some(code) => return Err(format!("tenfold {command} ended with code {code}")),
            }
        }
        let output = field.must(&format!("{command} --json"))?;
        let told: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        taken += told["checkpoint"]["taken_over"].as_array().map_or(0, Vec::len);
        for (name, whole) in fit.outputs.iter().zip(&known.written) {
            if fs::read(field.path(name)).ok().as_ref() != Some(whole) {
                wrong.push(*name);
            }
        }
        if field.path("kept").exists() && leftovers(&field.path("kept")).is_empty() {
            wrong.push("kept");
        }
        let _ = fs::remove_dir_all(field.path("kept"));
    }
    Ok(Row {
        tried: format!("{} fits with --checkpoint, killed at random moments and started again", FITS.len()),
        promised: "the bytes of a fit that was left alone".into(),
        measured: match wrong.is_empty() {
            true => format!("{killed} kills, {taken} stages taken over by the last runs, all bytes the same"),
            false => format!("{killed} kills; other bytes: {}", wrong.join(", ")),
        },
        held: wrong.is_empty() && taken > 0,
    })
}
