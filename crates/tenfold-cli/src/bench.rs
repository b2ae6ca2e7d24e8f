//! `tenfold bench`.

use crate::common::{Session, parse_count};
use crate::device::{Choice, parse_choice};
use crate::exit;
use anyhow::Result;
use clap::Args;

/// Measure a graphics card: its rates, what the kernels reach of them, and the processor beside it
#[derive(Args)]
#[command(after_help = "\
Rates are by wall clock, the best of three. The share is the time that the rates \
above, of our own products and copies, allow, divided by what the kernel took. Take the processor's column on all its \
cores, with nothing else running.

Examples:
  tenfold bench --device gpu
  tenfold bench --device gpu:0 --samples 20000 -k 64 --json")]
pub struct Bench {
    /// The card: `gpu`, or `gpu:N` of `tenfold devices`
    #[arg(long, value_name = "gpu[:N]", default_value = "gpu", value_parser = parse_choice)]
    device: Choice,
    /// Samples of the contraction, and nodes of the graph
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = parse_count)]
    samples: usize,
    /// Components
    #[arg(short, value_name = "N", default_value_t = 100, value_parser = parse_count)]
    k: usize,
}

impl Bench {
    #[cfg(not(feature = "gpu"))]
    pub fn run(self, _session: &Session) -> Result<()> {
        let _ = (self.device, self.samples, self.k);
        Err(exit::usage(
            "this tenfold was built without graphics cards; build it with `cargo install --path crates/tenfold-cli \
             --features gpu`, or run `cargo xtask bench` for the processor",
        ))
    }

    #[cfg(feature = "gpu")]
    pub fn run(self, session: &Session) -> Result<()> {
        use serde_json::json;
        use tenfold::engine::device::Accelerator;
        let Choice::Gpu(index) = self.device else {
            return Err(exit::usage(
                "--device gpu is measured here; `cargo xtask bench` measures the processor",
            ));
        };
        let gpu = tenfold_gpu::Gpu::open(index, tenfold_gpu::Options::default())?;
        let found = session.watch.during(|_| tenfold_gpu::measure(&gpu, self.samples, self.k))?;
        let billions = |x: f64| x / 1e9;
        let mut text = format!("{}\n", gpu.name());
        text += &format!("matrix products   {:>8.1} GFLOP/s (f32, 1024 × 1024)\n", billions(found.products));
        text += &format!("memory            {:>8.1} GB/s\n", billions(found.memory));
        text += &format!("to the card       {:>8.1} GB/s\n", billions(found.up));
        text += &format!("from the card     {:>8.1} GB/s\n\n", billions(found.down));
        text += &format!("{:<58} {:>9} {:>9} {:>6} {:>6}\n", "", "card, s", "cpu, s", "times", "share");
        for one in &found.kernels {
            let times = one.processor / one.seconds;
            text += &format!(
                "{:<58} {:>9.4} {:>9.4} {:>6.2} {:>5.0}%\n",
                one.name,
                one.seconds,
                one.processor,
                times,
                100.0 * one.share
            );
        }
        let kernels: Vec<_> = (found.kernels.iter())
            .map(|t| json!({ "name": t.name, "seconds": t.seconds, "processor": t.processor, "share": t.share }))
            .collect();
        let value = json!({
            "device": gpu.name(), "products": found.products, "memory": found.memory,
            "up": found.up, "down": found.down, "kernels": kernels,
        });
        session.answer(&text, &value)
    }
}
