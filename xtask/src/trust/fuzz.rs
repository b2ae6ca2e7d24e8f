//! `cargo xtask trust fuzz [--minutes N] [READER…]`: coverage-guided fuzzing of every reader.
//!
//! The fuzzers are one program, `fuzz/`, built with libFuzzer's instrumentation on the stable toolchain. A reader's folder of
//! `fuzz/seeds` names it; as many are fuzzed at once as there are cores. What was counted is added to `fuzz/tally.json`, so that long campaigns can be run in pieces; inputs that
//! were found worth keeping lie in `fuzz/corpus`, those that were a finding in `fuzz/artifacts`, both outside the repository. A finding
//! is open for as long as its file still fails. `--told` runs nothing and tells what is kept.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Found, Row};
use crate::workspace::Workspace;

/// What libFuzzer needs to see where a program goes, and `cfg(fuzzing)`.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";

/// Seconds after which a reader hangs: files are a few kilobytes, and machines may be shared.
const TIMEOUT: u64 = 60;

/// Milliseconds of a processor that a reader must have been fuzzed for, all runs together: minutes by the clock say little on a machine
/// that does other work.
const LEAST: u64 = 600_000;

const PROMISE: &str =
    "10 processor minutes at least without a panic, a hang, or more than 4 × the file + 64 MiB";

pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<Found, String> {
    let folder = workspace.root.join("fuzz");
    let all = readers(&folder)?;
    if arguments == ["--told"] {
        return Ok(found(&all, &tally(&folder)));
    }
    let (minutes, chosen) = options(arguments)?;
    if let Some(stranger) = chosen.iter().find(|name| !all.contains(name)) {
        return Err(format!("there is no reader `{stranger}`; the readers are {}", all.join(" ")));
    }
    let program = build(&folder)?;
    let chosen = all.iter().filter(|name| chosen.is_empty() || chosen.contains(name));
    let (chosen, tally) = (Mutex::new(chosen), Mutex::new(tally(&folder)));
    let work = || -> Result<(), String> {
        loop {
            let Some(reader) = locked(&chosen).next() else { return Ok(()) };
            let told = campaign(&folder, &program, reader, minutes)?;
            println!("{reader}: {told}");
            let mut tally = locked(&tally);
            add(&mut tally[reader], &told);
            let text = serde_json::to_string_pretty(&*tally).map_err(|e| e.to_string())?;
            fs::write(folder.join("tally.json"), text + "\n").map_err(|e| format!("fuzz/tally.json: {e}"))?;
        }
    };
    thread::scope(|scope| {
        let at_once = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| "a worker panicked".to_owned())?)
    })?;
    Ok(found(&all, &locked(&tally)))
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn found(all: &[String], tally: &Value) -> Found {
    let rows = all.iter().map(|reader| row(reader, &tally[reader])).collect();
    Found { command: "cargo xtask trust fuzz --minutes 10".into(), rows }
}

fn options(arguments: &[String]) -> Result<(f64, Vec<String>), String> {
    let (mut minutes, mut chosen) = (10.0, Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--minutes" {
            let told = rest.next().and_then(|text| text.parse().ok()).filter(|m: &f64| *m > 0.0);
            minutes = told.ok_or("--minutes needs a number above 0")?;
        } else {
            chosen.push(argument.clone());
        }
    }
    Ok((minutes, chosen))
}

/// The names of the readers: those of their seeds.
fn readers(folder: &Path) -> Result<Vec<String>, String> {
    let seeds = folder.join("seeds");
    let entries = fs::read_dir(&seeds).map_err(|e| format!("{}: {e}", seeds.display()))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn build(folder: &Path) -> Result<PathBuf, String> {
    let about = Command::new("rustc").arg("-vV").output().map_err(|e| format!("rustc: {e}"))?;
    let about = String::from_utf8_lossy(&about.stdout).into_owned();
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    // With a target of its own, build scripts and macros stay free of the instrumentation.
    let built = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["build", "--target", host, "--target-dir", "target"])
        .env("RUSTFLAGS", FLAGS)
        .current_dir(folder)
        .status()
        .map_err(|e| format!("cargo: {e}"))?;
    match built.success() {
        true => Ok(folder.join("target").join(host).join("debug/readers")),
        false => Err("the fuzzers cannot be built".into()),
    }
}

/// Runs of a reader until it has had its minutes of a processor, or until a finding; says what was counted.
fn campaign(folder: &Path, program: &Path, reader: &str, minutes: f64) -> Result<Value, String> {
    let mut sum = Value::Null;
    loop {
        let had = sum["milliseconds"].as_u64().unwrap_or(0) as f64 / 1000.0;
        let left = minutes * 60.0 - had;
        if left <= 0.0 || sum["crashes"].as_u64() > Some(0) {
            return Ok(sum);
        }
        add(&mut sum, &fuzz(folder, program, reader, left)?);
    }
}

/// One run of a reader of so many seconds by the clock.
fn fuzz(folder: &Path, program: &Path, reader: &str, seconds: f64) -> Result<Value, String> {
    let [corpus, artifacts, seeds] =
        ["corpus", "artifacts", "seeds"].map(|part| folder.join(part).join(reader));
    for path in [&corpus, &artifacts] {
        fs::create_dir_all(path).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let [peak, log] = ["peak", "log"].map(|kind| folder.join("target").join(format!("{reader}.{kind}")));
    let _ = fs::remove_file(&peak);
    // Room for the largest seed and a little more; most formats say all they can in four kilobytes.
    let largest = fs::read_dir(&seeds)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| Some(e.metadata().ok()?.len()))
        .max();
    let longest = 4096.max(largest.unwrap_or(0) * 5 / 4);
    let file = fs::File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
    let child = start(program, reader)
        .env("TENFOLD_PEAK", &peak)
        .arg(format!("-max_total_time={}", seconds.ceil()))
        .args([format!("-timeout={TIMEOUT}"), format!("-max_len={longest}")])
        .args(["-rss_limit_mb=4096", "-print_final_stats=1"])
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args([&corpus, &seeds])
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let (ended, taken) = waited(child, None)?;
    let said = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    let number = |key: &str, end: char| {
        let at = said.rfind(key)? + key.len();
        said[at..].trim_start().split(end).next()?.trim().parse::<u64>().ok()
    };
    let executions = number("stat::number_of_executed_units:", '\n').unwrap_or(0);
    if executions == 0 {
        return Err(format!("{reader} did not run; see {}", log.display()));
    }
    let peak = fs::read_to_string(&peak).unwrap_or_default();
    let peak: Vec<u64> = peak.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    Ok(json!({
        "executions": executions, "milliseconds": taken.as_millis() as u64, "edges": number("cov: ", ' '),
        "peak": peak.first(), "allowed": peak.get(2), "crashes": u64::from(!ended.is_some_and(|status| status.success())),
        "open": open(program, reader, &artifacts)?,
    }))
}

fn start(program: &Path, reader: &str) -> Command {
    let mut command = Command::new(program);
    command.env("TENFOLD_READER", reader);
    // Files in memory, where the system has such a folder.
    if Path::new("/dev/shm").is_dir() {
        command.env("TMPDIR", "/dev/shm");
    }
    command
}

/// How many of the findings so far still are.
fn open(program: &Path, reader: &str, artifacts: &Path) -> Result<u64, String> {
    let files = fs::read_dir(artifacts).map_err(|e| format!("{}: {e}", artifacts.display()))?;
    let mut count = 0;
    for file in files.flatten() {
        let child = start(program, reader)
            .arg(format!("-timeout={TIMEOUT}"))
            .arg(file.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("{}: {e}", program.display()))?;
        let (ended, _) = waited(child, Some(Duration::from_secs(2 * TIMEOUT)))?;
        count += u64::from(!ended.is_some_and(|status| status.success()));
    }
    Ok(count)
}

/// Waits for a program; says how it ended, if it did within the limit, and how long it had a processor.
fn waited(mut child: Child, limit: Option<Duration>) -> Result<(Option<ExitStatus>, Duration), String> {
    let (begin, mut taken) = (Instant::now(), None);
    loop {
        taken = processor(child.id()).or(taken);
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok((Some(status), taken.unwrap_or_else(|| begin.elapsed())));
        }
        if limit.is_some_and(|limit| begin.elapsed() > limit) {
            let _ = child.kill().and_then(|()| child.wait());
            return Ok((None, taken.unwrap_or_else(|| begin.elapsed())));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// How long a process has had a processor, where the system tells it as Linux does: in hundredths of a second, the twelfth and
/// thirteenth word behind the name in brackets.
fn processor(id: u32) -> Option<Duration> {
    let told = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut words = told[told.rfind(')')? + 1..].split_whitespace().skip(11);
    let mut next = || words.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (next()? + next()?)))
}

fn tally(folder: &Path) -> Value {
    let kept = fs::read(folder.join("tally.json")).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    kept.filter(Value::is_object).unwrap_or_else(|| json!({}))
}

/// Adds a run to what is kept of a reader: sums, the worst of the peaks, and what is open now.
fn add(kept: &mut Value, told: &Value) {
    let count = |value: &Value, key: &str| value[key].as_u64().unwrap_or(0);
    let mut sum = json!({ "open": told["open"] });
    for key in ["executions", "milliseconds", "crashes"] {
        sum[key] = json!(count(kept, key) + count(told, key));
    }
    sum["edges"] = json!(count(kept, "edges").max(count(told, "edges")));
    let share = |value: &Value| count(value, "peak") as f64 / count(value, "allowed").max(1) as f64;
    // A peak beyond what is allowed was a finding, and is among the open ones unless it is mended.
    let worst = if share(told) >= share(kept) || share(kept) > 1.0 { told } else { &*kept };
    (sum["peak"], sum["allowed"]) = (worst["peak"].clone(), worst["allowed"].clone());
    *kept = sum;
}

fn row(reader: &str, kept: &Value) -> Row {
    let count = |key: &str| kept[key].as_u64().unwrap_or(0);
    let (open, executions) = (count("open"), count("executions"));
    let (peak, allowed) = (count("peak"), count("allowed"));
    let measured = match executions {
        0 => "not run yet".to_owned(),
        _ => format!(
            "{executions} executions in {:.1} processor minutes, {} edges, {} found, {open} open; peak {:.2} MiB ({:.1} % of what is allowed)",
            count("milliseconds") as f64 / 60_000.0,
            count("edges"),
            count("crashes"),
            peak as f64 / f64::from(1 << 20),
            100.0 * peak as f64 / allowed.max(1) as f64
        ),
    };
    let held = count("milliseconds") >= LEAST && executions > 0 && open == 0 && peak <= allowed;
    Row { tried: format!("strangers' bytes: {reader}"), promised: PROMISE.into(), measured, held }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_add_up_and_the_worst_peak_stays() {
        let run = |executions: u64, peak: u64, crashes: u64, open: u64| {
            json!({ "executions": executions, "milliseconds": 300_000, "edges": 9, "peak": peak, "allowed": 100,
                    "crashes": crashes, "open": open })
        };
        let mut kept = Value::Null;
        add(&mut kept, &run(5, 40, 1, 1));
        assert!(!row("x", &kept).held);
        add(&mut kept, &run(7, 30, 0, 0));
        assert_eq!(
            kept,
            json!({ "executions": 12, "milliseconds": 600_000, "edges": 9, "peak": 40, "allowed": 100, "crashes": 1, "open": 0 })
        );
        let told = row("x", &kept);
        assert!(
            told.held
                && told
                    .measured
                    .starts_with("12 executions in 10.0 processor minutes, 9 edges, 1 found, 0 open"),
            "{}",
            told.measured
        );
        assert!(!row("x", &Value::Null).held);
    }

    #[test]
    fn minutes_and_readers_are_told_apart() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(options(&words("npy --minutes 0.5 gml")), Ok((0.5, words("npy gml"))));
        assert!(options(&words("--minutes")).is_err() && options(&words("--minutes 0")).is_err());
    }
}
