//! The bench binary that `cargo xtask bench` runs beside the peers: `bench NAME --threads T [--data DIR]
//! [--write-data]`. With `--write-data` it fills DIR and measures nothing; without, it prints one JSON object a
//! line. Times are the best of three after a warm-up.

#![forbid(unsafe_code)]

mod communities;
mod data;
mod topics;

use data::Files;
use serde_json::{Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tenfold::engine::decompose::{Online, Solver};
use tenfold::engine::linalg::{Csr, Mat, RangeFinder, WithTranspose, gemm_rate, parallel, random};
use tenfold::engine::tensor::{Contract, Implicit, Tensor3, Term};
use tenfold::{evaluate, ica, input};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let request = Request::from_arguments()?;
    parallel::with_threads(request.threads, || match request.name.as_str() {
        "spmm" => spmm(&request),
        "rsvd" => rsvd(&request),
        "explicit" => explicit(&request),
        "implicit" => implicit(&request),
        "ica" => ica_batch(&request),
        "ica-online" => ica_online(&request),
        "topics" => topics::run(&request),
        "communities" => communities::run(&request),
        other => Err(format!("no bench is called {other}")),
    })
    .map_err(Into::into)
}

struct Request {
    name: String,
    threads: usize,
    files: Files,
    write_data: bool,
}

impl Request {
    fn from_arguments() -> Outcome<Self> {
        let mut arguments = std::env::args().skip(1);
        let name = arguments.next().ok_or("usage: bench NAME --threads T [--data DIR] [--write-data]")?;
        let mut request = Self {
            name,
            threads: 2,
            files: Files::new(PathBuf::from("target/bench-data")),
            write_data: false,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--threads" => request.threads = value()?.parse()?,
                "--data" => request.files = Files::new(PathBuf::from(value()?)),
                "--write-data" => request.write_data = true,
                other => return Err(format!("unknown argument {other}").into()),
            }
        }
        Ok(request)
    }

    fn report(&self, what: &str, seconds: f64, more: Value) {
        let mut record =
            json!({ "bench": self.name, "what": what, "seconds": seconds, "threads": self.threads });
        let fields = record.as_object_mut().expect("an object was made");
        fields.extend(more.as_object().cloned().unwrap_or_default());
        println!("{record}");
    }
}

/// Seconds of the quickest of three calls after a warm-up, and the last result.
fn best_of<T>(mut call: impl FnMut() -> T) -> (f64, T) {
    let mut result = call();
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let begin = Instant::now();
        result = call();
        best = best.min(begin.elapsed().as_secs_f64());
    }
    (best, result)
}

fn say<T>(result: Result<T, impl std::fmt::Display>) -> Result<T, String> {
    result.map_err(|e| e.to_string())
}

/// 1M rows, 16M entries, 40 columns: A·X and Aᵀ·Y.
fn spmm(request: &Request) -> Result<(), String> {
    const ROWS: usize = 1_000_000;
    const WIDTH: usize = 40;
    let files = &request.files;
    if request.write_data {
        say(files.write_csr(&data::random_sparse(ROWS, ROWS, 16, 1)))?;
        let dense = |stream| random::gaussian(ROWS, WIDTH, &mut random::rng(2, stream));
        say(files.write_mat("X", &dense(0)))?;
        return say(files.write_mat("Y", &dense(1)));
    }
    let a = say(files.read_csr())?;
    let (x, y) = (say(files.read_mat("X"))?, say(files.read_mat("Y"))?);
    let work = 2.0 * a.entries() as f64 * WIDTH as f64;
    let (seconds, _) = best_of(|| a.matmul(&x));
    request.report("A X", seconds, json!({ "gflops": work / seconds / 1e9 }));
    let (seconds, _) = best_of(|| a.tr_matmul(&y));
    request.report("At Y", seconds, json!({ "gflops": work / seconds / 1e9 }));
    Ok(())
}

/// Randomised SVD with the same passes and oversampling as the peer; the error is the relative residual.
fn rsvd(request: &Request) -> Result<(), String> {
    const COMPONENTS: usize = 20;
    let finder = RangeFinder { oversample: Some(10), power_passes: 3, ..RangeFinder::default() };
    let files = &request.files;
    if request.write_data {
        say(files.write_csr(&data::planted_sparse(300_000, 100_000, 30, 1)))?;
        let chosen =
            json!({ "components": COMPONENTS, "oversampling": 10, "power_passes": finder.power_passes });
        return say(files.write_text("params.json", &chosen.to_string()));
    }
    let a = say(files.read_csr())?;
    let (seconds, found) = best_of(|| finder.svd(&WithTranspose::new(&a), COMPONENTS));
    let found = say(found)?;
    let whole: f64 = (0..a.rows()).map(|i| a.row(i).1.iter().map(|v| v * v).sum::<f64>()).sum();
    // U S Vᵀ projects A on U, so the squares subtract; U from the exact product of Aᵀ keeps this true here too.
    let projected = a.tr_matmul(&found.u).norm().powi(2);
    let error = (1.0 - projected / whole).max(0.0).sqrt();
    request.report("randomized SVD", seconds, json!({ "error": error, "largest": found.s[0] }));
    Ok(())
}

/// Σ y⊗y⊗y with n = 100k, k = 100, in shares of the GEMM rate of the same moment.
fn explicit(request: &Request) -> Result<(), String> {
    let (n, k) = (100_000, 100);
    let y = random::gaussian(n, k, &mut random::rng(1, 0));
    let rate = gemm_rate(2.0);
    let (seconds, tensor) = best_of(|| Tensor3::from_samples(&y, None));
    say(tensor)?;
    // The distinct entries only: n·k(k+1)(k+2)/6 products of three, as multiply-add pairs n·k³/3.
    let useful = n as f64 * (k * (k + 1) * (k + 2)) as f64 / 3.0;
    let more = json!({ "gflops": useful / seconds / 1e9, "gemm_gflops": rate / 1e9, "gemm_share": useful / seconds / rate });
    request.report("explicit tensor", seconds, more);
    Ok(())
}

/// G(V) = T(I, V, V) with n = 100k, k = 200.
fn implicit(request: &Request) -> Result<(), String> {
    let (n, k) = (100_000, 200);
    let y = random::gaussian(n, k, &mut random::rng(1, 0));
    let v = say(random::orthogonal(k, k, &mut random::rng(2, 0)))?;
    let rate = gemm_rate(2.0);
    for order in [3, 4] {
        let tensor =
            Implicit::new(order, k, vec![Term::Powers { samples: &y, weights: None, scale: 1.0 / n as f64 }]);
        let (seconds, step) = best_of(|| tensor.power(&v));
        say(step)?;
        let flops = 4.0 * n as f64 * (k * k) as f64;
        let more = json!({ "gflops": flops / seconds / 1e9, "gemm_gflops": rate / 1e9, "gemm_share": flops / seconds / rate });
        request.report(&format!("implicit step, order {order}"), seconds, more);
    }
    Ok(())
}

/// 50k × 32 Laplace, uniform and exponential sources.
fn ica_batch(request: &Request) -> Result<(), String> {
    let files = &request.files;
    if request.write_data {
        let drawn =
            ica::Synth { samples: 50_000, columns: 32, sources: 32, seed: 1, ..Default::default() }.draw();
        say(files.write_mat("X", &drawn.samples))?;
        return say(files.write_mat("A", &drawn.mixing));
    }
    let (x, mixing) = (say(files.read_mat("X"))?, say(files.read_mat("A"))?);
    for (what, polish) in [("fit", ica::Polish::Likelihood), ("fit, cumulants only", ica::Polish::None)] {
        let params = ica::Params { polish, ..ica::Params::new(32) };
        let (seconds, model) = best_of(|| params.fit(&x));
        let model = say(model)?;
        let error = evaluate::amari_distance(&model.unmixing().matmul(&mixing));
        let more = json!({
            "error": error,
            "iterations": model.diagnostics().iterations,
            "polish_steps": model.diagnostics().polish_steps,
            "converged": model.diagnostics().converged,
        });
        request.report(what, seconds, more);
    }
    Ok(())
}

/// 1M × 16 from a file, the online solver, in little memory. The data are drawn by another process, so that the
/// peak of this one is the fit's.
fn ica_online(request: &Request) -> Result<(), String> {
    let files = &request.files;
    if request.write_data {
        let drawn =
            ica::Synth { samples: 1_000_000, columns: 16, sources: 16, seed: 1, ..Default::default() }.draw();
        say(files.write_mat("X", &drawn.samples))?;
        return say(files.write_mat("A", &drawn.mixing));
    }
    let path = files.path("X");
    if !path.exists() {
        let own = say(std::env::current_exe())?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut command = std::process::Command::new(own);
        command.args(["ica-online", "--write-data", "--data"]).arg(folder);
        let status = say(command.status())?;
        if !status.success() {
            return Err("the data could not be drawn".into());
        }
    }
    let memory = 64 << 20;
    let options = input::Options { memory, ..Default::default() };
    let begin = Instant::now();
    let table = say(input::open(&path, &options))?;
    let params = ica::Params { memory, solver: Solver::Online(Online::default()), ..ica::Params::new(16) };
    let model = say(params.fit(&table))?;
    let seconds = begin.elapsed().as_secs_f64();
    let mixing: Mat = say(files.read_mat("A"))?;
    let error = evaluate::amari_distance(&model.unmixing().matmul(&mixing));
    let more = json!({ "error": error, "peak_rss_mb": protocol::peak_memory_mb(), "verdict": model.verdict().headline() });
    request.report("online fit from disk", seconds, more);
    Ok(())
}

/// The sparse matrix type of the benches.
type Sparse = Csr<u32>;
