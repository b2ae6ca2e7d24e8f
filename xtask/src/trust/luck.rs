//! `cargo xtask trust luck`: full and read-only disks (mounted for the purpose, so as root on Linux), and files that shrink or grow at
//! random moments while they are read.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::fits::{Chance, FITS, Field, leftovers};
use super::{Found, Row};
use crate::workspace::{Workspace, succeeds};

/// Times that a file changes under a run.
const CHANGES: usize = 20;

pub fn run(workspace: &Workspace, _arguments: &[String]) -> Result<Found, String> {
    let field = Field::prepare(workspace, "luck")?;
    let mut rows = vec![full(&field)?, spilling(&field)?, kept_on_a_full_disk(&field)?, read_only(&field)?];
    rows.extend(changing(&field)?);
    Ok(Found { command: "cargo xtask trust luck".into(), rows })
}

/// A small disk in memory, gone when this is.
struct Disk(PathBuf);

impl Disk {
    fn mount(folder: PathBuf, options: &str) -> Result<Self, String> {
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&folder);
        match succeeds(&mut mount) {
            true => Ok(Self(folder)),
            false => Err("a small disk cannot be mounted here: run this as root on Linux".into()),
        }
    }

    fn remount(&self, options: &str) -> bool {
        succeeds(Command::new("mount").args(["-o", options]).arg(&self.0))
    }

    /// Leaves no room at all.
    fn fill(&self) {
        let Ok(mut file) = fs::File::create(self.0.join("filler")) else { return };
        for size in [4096, 512, 16, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = succeeds(Command::new("umount").arg(&self.0));
    }
}

/// The same command with its results on another disk.
fn moved(arguments: &str, outputs: &[&str], folder: &Path) -> String {
    outputs.iter().fold(arguments.to_owned(), |text, name| {
        text.replace(&format!(" {name}"), &format!(" {}", folder.join(name).display()))
    })
}

fn full(field: &Field) -> Result<Row, String> {
    let disk = Disk::mount(field.path("full"), "size=64k")?;
    for output in FITS.iter().flat_map(|fit| fit.outputs) {
        fs::write(disk.0.join(output), "old").map_err(|error| error.to_string())?;
    }
    disk.fill();
    let mut wrong = Vec::new();
    for fit in FITS {
        let output = field.run(&moved(fit.arguments, fit.outputs, &disk.0))?;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let intact =
            fit.outputs.iter().all(|name| fs::read(disk.0.join(name)).is_ok_and(|bytes| bytes == b"old"));
        let clear =
            told.contains("cannot be written") && told.contains("has room") && !told.contains("panicked");
        if output.status.code() != Some(1) || !intact || !clear || !leftovers(&disk.0).is_empty() {
            wrong.push(format!("{} ({:?}: {})", fit.name, output.status.code(), told.trim()));
        }
    }
    Ok(row(
        "a disk without room under the results of every fit",
        "the old files, exit code 1, and what to do",
        FITS.len(),
        &wrong,
    ))
}

/// Documents that do not fit into memory go to the temporary folder, which may be full as well.
fn spilling(field: &Field) -> Result<Row, String> {
    let disk = Disk::mount(field.path("tmp"), "size=64k")?;
    let mut command = field.command("topics fit d/docword.txt -k 8 --on-disk -o spilled.tenfold");
    let output = command.env("TMPDIR", &disk.0).output().map_err(|error| error.to_string())?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let clear = output.status.code() == Some(1) && !told.contains("panicked") && told.contains("TMPDIR");
    let wrong: Vec<String> = (!clear || field.path("spilled.tenfold").exists())
        .then(|| format!("{:?}: {}", output.status.code(), told.trim()))
        .into_iter()
        .collect();
    Ok(row(
        "a temporary folder without room under documents larger than memory",
        "an error that names it",
        1,
        &wrong,
    ))
}

fn kept_on_a_full_disk(field: &Field) -> Result<Row, String> {
    let mut wrong = Vec::new();
    for fit in FITS {
        field.must(fit.arguments)?;
        let whole: Vec<_> = fit.outputs.iter().map(|name| fs::read(field.path(name)).ok()).collect();
        let disk = Disk::mount(field.path("kept"), "size=16k")?;
        let output = field.run(&format!("{} --checkpoint kept/here", fit.arguments))?;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let now: Vec<_> = fit.outputs.iter().map(|name| fs::read(field.path(name)).ok()).collect();
        if !output.status.success() || now != whole || told.contains("panicked") {
            wrong.push(format!("{} ({:?}: {})", fit.name, output.status.code(), told.trim()));
        }
        drop(disk);
    }
    Ok(row(
        "a disk without room under the checkpoint of every fit",
        "the fit goes on without, to the same bytes",
        FITS.len(),
        &wrong,
    ))
}

fn read_only(field: &Field) -> Result<Row, String> {
    let disk = Disk::mount(field.path("closed"), "size=1m")?;
    for output in FITS.iter().flat_map(|fit| fit.outputs) {
        fs::write(disk.0.join(output), "old").map_err(|error| error.to_string())?;
    }
    if !disk.remount("remount,ro") {
        return Err("a disk cannot be made read-only here".into());
    }
    let mut wrong = Vec::new();
    for fit in FITS {
        let begin = Instant::now();
        let output = field.run(&moved(fit.arguments, fit.outputs, &disk.0))?;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let clear = told.contains("cannot be written") && told.contains("choose another folder");
        // Before the work: nothing is read yet.
        if output.status.code() != Some(2) || !clear || begin.elapsed() > Duration::from_secs(2) {
            wrong.push(format!("{} ({:?}: {})", fit.name, output.status.code(), told.trim()));
        }
    }
    Ok(row(
        "a read-only disk under the results of every fit",
        "exit code 2 before the work, and what to do",
        FITS.len(),
        &wrong,
    ))
}

/// Files that are cut, or written on, at random moments of a run.
fn changing(field: &Field) -> Result<Vec<Row>, String> {
    let cases = [
        (
            "generate ica --samples 150000 --columns 8 -o big.csv",
            "big.csv",
            "ica fit big.csv -k 8 -o big.tenfold",
        ),
        (
            "generate topics --documents 60000 --words 800 -k 8 --length 60 -o big --no-mixtures",
            "big/docword.txt",
            "topics fit big/docword.txt -k 8 -o big.tenfold",
        ),
    ];
    let mut chance = Chance(3);
    let (mut shrunk, mut grown) = (Tally::default(), Tally::default());
    for (data, input, fit) in cases {
        field.must(data)?;
        let begin = Instant::now();
        field.must(fit)?;
        let takes = begin.elapsed();
        let whole = fs::read(field.path("big.tenfold")).map_err(|error| error.to_string())?;
        let bytes = fs::read(field.path(input)).map_err(|error| error.to_string())?;
        for shrinks in [true, false] {
            let tally = if shrinks { &mut shrunk } else { &mut grown };
            for _ in 0..CHANGES / 2 {
                fs::write(field.path(input), &bytes).map_err(|error| error.to_string())?;
                let _ = fs::remove_file(field.path("big.tenfold"));
                let child = field
                    .command(fit)
                    .stdout(std::process::Stdio::null())
                    .stderr(std::process::Stdio::piped())
                    .spawn()
                    .map_err(|error| error.to_string())?;
                std::thread::sleep(takes.mul_f64(0.02 + 0.5 * chance.share()));
                let file = fs::OpenOptions::new().append(true).open(field.path(input));
                let mut file = file.map_err(|error| error.to_string())?;
                match shrinks {
                    true => file.set_len((bytes.len() as f64 * chance.share()) as u64),
                    false => file.write_all(&bytes[bytes.len() / 2..]),
                }
                .map_err(|error| error.to_string())?;
                let output = child.wait_with_output().map_err(|error| error.to_string())?;
                let told = String::from_utf8_lossy(&output.stderr).into_owned();
                let model = fs::read(field.path("big.tenfold")).ok();
                match (output.status.code(), model) {
                    (Some(0), Some(model)) if model == whole => tally.whole += 1,
                    // Also of a file that had grown before it was opened, and holds half a line in its middle then.
                    (Some(3), None) if !told.contains("panicked") => tally.refused += 1,
                    (code, model) => tally.wrong.push(format!(
                        "{fit}: {code:?}, {} bytes, {}",
                        model.map_or(0, |model| model.len()),
                        told.trim()
                    )),
                }
            }
        }
    }
    let row = |tried: &str, promised: &str, tally: Tally| Row {
        tried: format!("{tried} at {CHANGES} random moments while it is read"),
        promised: promised.into(),
        measured: match tally.wrong.is_empty() {
            true => {
                format!("{} results of the whole file, {} errors, nothing else", tally.whole, tally.refused)
            }
            false => tally.wrong.join("; "),
        },
        held: tally.wrong.is_empty(),
    };
    Ok(vec![
        row("an input that shrinks", "the result of the whole file or an error, never of a part", shrunk),
        row(
            "an input that grows",
            "the result of the file as it was opened, or an error where that has a torn line",
            grown,
        ),
    ])
}

#[derive(Default)]
struct Tally {
    whole: usize,
    refused: usize,
    wrong: Vec<String>,
}

fn row(tried: &str, promised: &str, runs: usize, wrong: &[String]) -> Row {
    let measured = match wrong.is_empty() {
        true => format!("{runs} of {runs}"),
        false => format!("{} of {runs}; {}", runs - wrong.len(), wrong.join("; ")),
    };
    Row { tried: tried.into(), promised: promised.into(), measured, held: wrong.is_empty() }
}
