//! `cargo xtask bench`: what the engine reaches, beside the peers people use today, in one run.
//!
//! A bench is one entry of [`BENCHES`]. For each (the first once, the others for each thread count T):
//!
//! 1. `bench NAME --threads T --data DIR --write-data` (the binary of `experiments/`, release build) fills
//!    DIR with plain `.npy` files and measures nothing. Only benches with a peer are asked for it.
//! 2. `bench NAME --threads T [--data DIR]` measures, on the data in DIR where it was written.
//! 3. `python xtask/peers/PEER.py DIR T [--fresh]` measures the peer on the same files with T threads. A peer that takes
//!    minutes may keep its results in `target/bench-data/cache`, and says so; `--fresh` makes it measure again.
//!    Where our program scores what the peer found, this comes before 2.
//!
//! Both measuring programs print one JSON object a line on standard output and anything else on standard
//! error. The fields with a meaning here: `what` (pairs a line with the peer's), `seconds` (best of three after
//! a warm-up), `error` (optional, smaller is better), `peer` (its name and version). All others are shown as
//! they are.

mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value};

use crate::venv::Venv;
use crate::workspace::Workspace;

/// One line of a measuring program.
type Record = Map<String, Value>;

/// One bench.
struct Bench {
    name: &'static str,
    about: &'static str,
    /// The script in `xtask/peers`, without its ending.
    peer: Option<&'static str>,
    threads: Threads,
    /// Whether the peer runs first, because the bench program scores its results.
    peer_first: bool,
    goals: &'static [Goal],
}

/// How many threads a bench is measured with.
enum Threads {
    All,
    /// One, and all.
    AloneToo,
    /// One: where processor time is compared.
    Alone,
}

/// What a bench should reach. A miss is printed, not a failure: a busy machine is not a defect.
enum Goal {
    /// At least this many times the peer's speed on all cores.
    Speedup(f64),
    /// The same on one thread.
    SpeedupAlone(f64),
    /// In rows with a perplexity: at least this many times the speed of the peer whose name begins so.
    SpeedupOver(&'static str, f64),
    /// An `error` no larger than the peer's.
    ErrorNoWorse,
    /// A field with at least this value.
    AtLeast(&'static str, f64),
    /// A field with at most this value.
    AtMost(&'static str, f64),
}

/// The benches. A new one is one entry here, one arm in the bench binary, and a script if it has a peer.
const BENCHES: &[Bench] = &[
    Bench {
        name: "spmm",
        about: "sparse × skinny and its transpose: 1M rows, 16M entries, 40 columns",
        peer: Some("spmm"),
        threads: Threads::AloneToo,
        peer_first: false,
        goals: &[Goal::Speedup(2.0), Goal::SpeedupAlone(1.0)],
    },
    Bench {
        name: "rsvd",
        about: "randomized SVD of the same kind of matrix, 20 components",
        peer: Some("rsvd"),
        threads: Threads::All,
        peer_first: false,
        goals: &[Goal::Speedup(2.0), Goal::ErrorNoWorse],
    },
    Bench {
        name: "explicit",
        about: "the explicit third-moment sum, n = 100k, k = 100, against this machine's GEMM rate",
        peer: None,
        threads: Threads::All,
        peer_first: false,
        goals: &[Goal::AtLeast("gemm_share", 0.5)],
    },
    Bench {
        name: "implicit",
        about: "one implicit polar step, n = 100k, k = 200, against this machine's GEMM rate",
        peer: None,
        threads: Threads::All,
        peer_first: false,
        goals: &[Goal::AtLeast("gemm_share", 0.5)],
    },
    Bench {
        name: "ica",
        about: "ICA of 50k × 32 mixed Laplace, uniform and skewed sources",
        peer: Some("ica"),
        threads: Threads::All,
        peer_first: false,
        goals: &[Goal::Speedup(3.0), Goal::ErrorNoWorse],
    },
    Bench {
        name: "ica-online",
        about: "online ICA of 1M × 16 in bounded memory",
        peer: None,
        threads: Threads::All,
        peer_first: false,
        goals: &[Goal::AtMost("peak_rss_mb", 300.0)],
    },
    Bench {
        name: "topics",
        about: "topics of KOS, BBC and drawn corpora; processor seconds of one thread, means over seeds",
        peer: Some("topics"),
        threads: Threads::Alone,
        peer_first: true,
        goals: &[
            Goal::AtMost("perplexity_over_tomotopy", 1.0),
            Goal::AtMost("perplexity_over_sklearn", 0.95),
            Goal::AtMost("perplexity_over_gensim", 0.95),
            Goal::AtLeast("npmi_over_tomotopy", -0.02),
            Goal::SpeedupOver("tomotopy", 20.0),
            Goal::SpeedupOver("scikit-learn", 30.0),
            Goal::SpeedupOver("gensim", 30.0),
            Goal::AtMost("worst_drawn50", 0.10),
            Goal::AtMost("worst_drawn10", 0.015),
            Goal::AtLeast("worst_found", 1.0),
        ],
    },
    Bench {
        name: "communities",
        about: "communities of public graphs, means over five seeds: average F1 and overlapping mutual information with the known ones",
        peer: Some("communities"),
        threads: Threads::All,
        peer_first: true,
        goals: &[
            Goal::AtLeast("f1_over_peer", 0.0),
            Goal::AtLeast("onmi_lfk_over_peer", 0.0),
            Goal::AtLeast("lfr_onmi_lfk", 0.85),
        ],
    },
];

/// What the command line asked for.
struct Request {
    benches: Vec<&'static Bench>,
    threads: Option<Vec<usize>>,
    keep_data: bool,
    fresh: bool,
}

/// Measure and print one Markdown table per bench.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<bool, String> {
    if arguments.iter().any(|argument| argument == "--list") {
        for bench in BENCHES {
            println!("{:<12} {}", bench.name, bench.about);
        }
        return Ok(true);
    }
    let request = parse(arguments)?;
    let runner = Runner::prepare(workspace, &request)?;
    println!("{}\n", machine());
    for bench in &request.benches {
        println!("### {}: {}\n", bench.name, bench.about);
        let data = workspace.target.join("bench-data").join(bench.name);
        runner.write_data(bench, &data)?;
        let mut rows = Vec::new();
        for &threads in request.threads.as_ref().unwrap_or(&bench.threads()) {
            let (ours, theirs) = runner.measure(bench, threads, &data)?;
            rows.extend(table::rows(bench, threads, &ours, &theirs));
        }
        println!("{}", table::markdown(&rows));
        if !request.keep_data {
            let _ = fs::remove_dir_all(&data);
        }
    }
    Ok(true)
}

fn parse(arguments: &[String]) -> Result<Request, String> {
    let mut request = Request { benches: Vec::new(), threads: None, keep_data: false, fresh: false };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--keep-data" => request.keep_data = true,
            "--fresh" => request.fresh = true,
            "--threads" => {
                let list = rest.next().ok_or("--threads needs a list such as 1,2")?;
                let counts: Result<Vec<usize>, _> = list.split(',').map(str::parse).collect();
                match counts {
                    Ok(counts) if !counts.contains(&0) => request.threads = Some(counts),
                    _ => return Err(format!("--threads needs a list such as 1,2, not {list}")),
                }
            }
            name => {
                let bench = BENCHES.iter().find(|bench| bench.name == name).ok_or_else(|| {
                    let names: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
                    format!("there is no bench `{name}`; the benches are {}", names.join(", "))
                })?;
                request.benches.push(bench);
            }
        }
    }
    if request.benches.is_empty() {
        request.benches = BENCHES.iter().collect();
    }
    Ok(request)
}

impl Bench {
    fn threads(&self) -> Vec<usize> {
        let all = cores();
        match self.threads {
            Threads::AloneToo if all > 1 => vec![1, all],
            Threads::Alone => vec![1],
            Threads::All | Threads::AloneToo => vec![all],
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// The built programs.
struct Runner {
    binary: PathBuf,
    peers: PathBuf,
    python: Option<PathBuf>,
    fresh: bool,
}

impl Runner {
    fn prepare(workspace: &Workspace, request: &Request) -> Result<Self, String> {
        let mut build =
            workspace.cargo(&["build", "--release", "--quiet", "--package", "experiments", "--bin", "bench"]);
        if !build.status().is_ok_and(|status| status.success()) {
            return Err("the bench binary does not build".into());
        }
        let binary = workspace.target.join("release").join(format!("bench{}", std::env::consts::EXE_SUFFIX));
        let venv = Venv::for_benches(workspace);
        let python = if request.benches.iter().any(|bench| bench.peer.is_some()) {
            match venv.ensure() {
                Ok(_) => Some(venv.python()),
                Err(why) => {
                    eprintln!("the peers are left out: {why}");
                    None
                }
            }
        } else {
            None
        };
        Ok(Runner { binary, peers: workspace.root.join("xtask/peers"), python, fresh: request.fresh })
    }

    /// The bench program's command line; it reads the data folder where a peer will read it too.
    fn ours(&self, bench: &Bench, threads: usize, data: &Path) -> Command {
        let mut command = Command::new(&self.binary);
        command.args([bench.name, "--threads", &threads.to_string()]);
        if self.peer(bench).is_some() {
            command.arg("--data").arg(data);
        }
        command
    }

    /// The interpreter and the script, where this bench has a peer that can run.
    fn peer(&self, bench: &Bench) -> Option<(&Path, PathBuf)> {
        let script = self.peers.join(format!("{}.py", bench.peer?));
        Some((self.python.as_deref()?, script))
    }

    /// Once per bench: every thread count reads the same files.
    fn write_data(&self, bench: &Bench, data: &Path) -> Result<(), String> {
        if self.peer(bench).is_some() {
            fs::create_dir_all(data).map_err(|error| format!("cannot make {}: {error}", data.display()))?;
            records(self.ours(bench, cores(), data).arg("--write-data"))?;
        }
        Ok(())
    }

    /// Our records and the peer's, of one bench at one thread count.
    fn measure(
        &self,
        bench: &Bench,
        threads: usize,
        data: &Path,
    ) -> Result<(Vec<Record>, Vec<Record>), String> {
        let ours = || records(&mut self.ours(bench, threads, data));
        let theirs = || self.measure_peer(bench, threads, data);
        if bench.peer_first {
            let theirs = theirs()?;
            return Ok((ours()?, theirs));
        }
        Ok((ours()?, theirs()?))
    }

    fn measure_peer(&self, bench: &Bench, threads: usize, data: &Path) -> Result<Vec<Record>, String> {
        let Some((python, script)) = self.peer(bench) else {
            return Ok(Vec::new());
        };
        let count = threads.to_string();
        let mut command = Command::new(python);
        command.arg(script).arg(data).arg(&count);
        if self.fresh {
            command.arg("--fresh");
        }
        // One setting for each library that may sit under numpy; a peer gets the threads we get.
        for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
            command.env(variable, &count);
        }
        records(&mut command)
    }
}

/// Run a measuring program and read its lines.
fn records(command: &mut Command) -> Result<Vec<Record>, String> {
    let shown = format!("{command:?}");
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start {shown}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{shown} failed: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| serde_json::from_str(line).map_err(|error| format!("{shown} printed {line:?}: {error}")))
        .collect()
}

/// One line on the machine, because no figure means much without it.
fn machine() -> String {
    let model = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_string())
    });
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.into());
    format!("{model}, {} cores, {}", cores(), std::env::consts::OS)
}

#[cfg(test)]
mod unit {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn every_peer_has_its_script() {
        let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
        for peer in BENCHES.iter().filter_map(|bench| bench.peer) {
            assert!(peers.join(format!("{peer}.py")).exists(), "xtask/peers/{peer}.py is missing");
        }
    }

    #[test]
    fn the_command_line_is_read() {
        let request = parse(&words("ica --threads 1,2 --keep-data --fresh")).unwrap();
        assert_eq!(request.benches.len(), 1);
        assert_eq!(request.threads, Some(vec![1, 2]));
        assert!(request.keep_data && request.fresh);
        assert_eq!(parse(&[]).unwrap().benches.len(), BENCHES.len());
        assert!(parse(&words("nonsense")).is_err());
        assert!(parse(&words("ica --threads 0")).is_err());
    }
}
