//! The thesis's figure of time for 100 iterations against k (figure "Comparison of the running time for STGD"), on the processor
//! and on a graphics card, with the data and the columns on the card from the first step to the last.

use crate::report::Page;
use crate::{Outcome, Request};
use std::sync::Arc;
use std::time::Instant;
use tenfold::engine::decompose::{Minibatches, Online};
use tenfold::engine::device::{Accelerator, Device};
use tenfold::engine::linalg::{Mat, polar, random};
use tenfold::engine::progress::Silent;
use tenfold::engine::tensor::{Implicit, Term};
use tenfold_gpu::{Gpu, Options, adapters};

/// As many as the figure counts.
const ITERATIONS: usize = 100;
/// Samples of a stochastic step, and of a whole iteration.
const BATCH: usize = 256;
const SAMPLES: usize = 4096;
const KS: [usize; 5] = [10, 20, 50, 100, 200];

/// Writes `gpu.md`.
pub fn run(request: &Request) -> Outcome<()> {
    // A card if there is one, and software in its place otherwise.
    let gpu = Gpu::open(None, Options::default()).or_else(|_| Gpu::open(Some(0), Options::default()))?;
    let name = gpu.name();
    let software = adapters().iter().any(|a| a.kind == "software" && name.starts_with(&a.name));
    let card = Device::required(Arc::new(gpu));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut page = Page::new("Time of 100 iterations against k");
    page.say(&format!(
        "The thesis's figure of running times for 100 stochastic iterations, remade. Seconds of {ITERATIONS} steps of the online solver with \
         {BATCH} samples each, and of {ITERATIONS} polar iterations over {SAMPLES} samples, order 3, samples of k numbers. \"cpu\" is this \
         engine on {cores} cores in double precision; \"device\" is {name}. The thesis prints its curves without numbers, and says that those of the \
         device interface lie orders of magnitude below the others."
    ));
    if software {
        page.say(
            "**The device is software Vulkan: the processor in the place of a card. Its seconds say nothing of a card's speed**, only \
             that the same kernels run and how their time grows. The last column is for whoever has a card: \
             `cargo run --release -p experiments --features gpu --bin experiments -- gpu`.",
        );
    }
    let ks = request.k.map_or(KS.to_vec(), |k| vec![k]);
    for (title, measured) in [
        ("Stochastic steps", steps as fn(&Device, usize, u64) -> Outcome<f64>),
        ("Polar iterations", iterations),
    ] {
        let mut rows = Vec::new();
        for &k in &ks {
            let cpu = measured(&Device::default(), k, request.seed)?;
            let device = measured(&card, k, request.seed)?;
            rows.push(vec![k.to_string(), format!("{cpu:.3}"), format!("{device:.3}"), String::new()]);
        }
        page.section(title);
        page.table(&["k", "cpu, s", "device, s", "your card, s"], &rows);
    }
    Ok(page.finish(&request.out, "gpu")?)
}

fn samples(k: usize, seed: u64) -> Mat {
    random::gaussian(SAMPLES, k, &mut random::rng(seed, k as u64))
}

/// Steps over batches, sending the samples included, as the figure's curves of the device interface do.
fn steps(device: &Device, k: usize, seed: u64) -> Outcome<f64> {
    let y = random::gaussian(ITERATIONS * BATCH, k, &mut random::rng(seed, k as u64));
    let begin = Instant::now();
    let batches = Minibatches::new(&y, 3, BATCH, 1, seed);
    Online::default().run_on(device, batches, k, seed, &Silent)?;
    Ok(begin.elapsed().as_secs_f64())
}

/// V ← polar(T(I, V, V)), the polar factor by the processor.
fn iterations(device: &Device, k: usize, seed: u64) -> Outcome<f64> {
    let y = samples(k, seed);
    let begin = Instant::now();
    let powers = Term::Powers { samples: &y, weights: None, scale: 1.0 / SAMPLES as f64 };
    let tensor = device.tensor(Implicit::new(3, k, vec![powers]))?;
    let mut v = Mat::identity(k);
    for _ in 0..ITERATIONS {
        v = polar(&tensor.power(&v)?)?;
    }
    Ok(begin.elapsed().as_secs_f64())
}
