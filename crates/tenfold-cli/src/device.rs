//! `--device`, and `tenfold devices`.

use crate::common::{Session, human_bytes, parse_size};
#[cfg(not(feature = "gpu"))]
use crate::exit;
use anyhow::Result;
use clap::Args;
use tenfold::engine::device::Device;

/// Who makes the heavy sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A card if there is one, for what it saves passes; by its number in `tenfold devices` if it is given.
    Auto(Option<usize>),
    Cpu,
    /// A card, by its number in `tenfold devices` if it is given.
    Gpu(Option<usize>),
}

#[derive(Args)]
#[command(next_help_heading = "Device")]
pub struct DeviceArgs {
    /// Who makes the heavy sums: `gpu` insists on a graphics card, `gpu:N` on one of `tenfold devices`, `auto` uses a card if there is one (`auto:N` number N) and the processor for what does not fit
    #[arg(long, value_name = "cpu|gpu[:N]|auto[:N]", default_value = "cpu", value_parser = parse_choice)]
    pub device: Choice,
    /// Memory of the card that may be taken, as in 4GiB; all of it when not given
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    device_memory: Option<u64>,
}

/// What to do about a build that knows no cards.
#[cfg(not(feature = "gpu"))]
const WITHOUT: &str = "this tenfold was built without graphics cards; build it with `cargo install --path crates/tenfold-cli \
                       --features gpu`, or take --device cpu";

impl DeviceArgs {
    /// The device; says which one it is.
    pub fn open(&self, session: &Session) -> Result<Device> {
        if self.device == Choice::Cpu {
            crate::common::refuse(&[("--device-memory", self.device_memory.is_some())], "--device cpu")?;
            return Ok(Device::default());
        }
        let device = self.card(session)?;
        session.note(&format!("device: {}", device.name()));
        Ok(device)
    }

    #[cfg(feature = "gpu")]
    fn card(&self, session: &Session) -> Result<Device> {
        use std::sync::Arc;
        let options = tenfold_gpu::Options { memory: self.device_memory, ..Default::default() };
        match self.device {
            Choice::Cpu => Ok(Device::default()),
            Choice::Gpu(index) => Ok(Device::required(Arc::new(tenfold_gpu::Gpu::open(index, options)?))),
            Choice::Auto(index) => match tenfold_gpu::Gpu::open(index, options) {
                Ok(gpu) => Ok(Device::preferred(Arc::new(gpu))),
                Err(why) => {
                    session.note(&format!("the processor is used: {why}"));
                    Ok(Device::default())
                }
            },
        }
    }

    #[cfg(not(feature = "gpu"))]
    fn card(&self, session: &Session) -> Result<Device> {
        match self.device {
            Choice::Gpu(_) => Err(exit::usage(WITHOUT)),
            _ => {
                session.note(&format!("the processor is used: {WITHOUT}"));
                Ok(Device::default())
            }
        }
    }
}

/// What travelled, for those who asked for more.
pub fn tell(device: &Device, session: &Session) {
    if !device.is_cpu() {
        let moved = device.transfers();
        session.detail(&format!(
            "{}: {} contractions, products and steps; {} up, {} down ({} and {} bytes)",
            device.name(),
            moved.calls,
            human_bytes(moved.up),
            human_bytes(moved.down),
            moved.up,
            moved.down
        ));
    }
}

/// `cpu`, `gpu`, `gpu:N`, `auto` or `auto:N`.
pub fn parse_choice(text: &str) -> Result<Choice, String> {
    let (word, number) = match text.split_once(':') {
        None => (text, None),
        Some((word, number)) => {
            let number = number.parse();
            (word, Some(number.map_err(|_| "a number is needed after the colon, as in gpu:0".to_owned())?))
        }
    };
    match (word, number) {
        ("auto", number) => Ok(Choice::Auto(number)),
        ("gpu", number) => Ok(Choice::Gpu(number)),
        ("cpu", None) => Ok(Choice::Cpu),
        _ => Err("cpu, gpu, gpu:N, auto or auto:N is needed".into()),
    }
}

/// List the graphics cards and their limits
#[derive(Args)]
#[command(after_help = "\
The number before a card is the N of --device gpu:N. Cards are reached through Vulkan, Metal or \
DirectX 12, whichever the system has. `software` is the processor in the place of a card: for tests.

Examples:
  tenfold devices
  tenfold ica fit X.npy -k 8 --device gpu:0 -o model.tenfold")]
pub struct Devices {}

impl Devices {
    #[cfg(not(feature = "gpu"))]
    pub fn run(self, _session: &Session) -> Result<()> {
        Err(exit::usage(WITHOUT))
    }

    #[cfg(feature = "gpu")]
    pub fn run(self, session: &Session) -> Result<()> {
        use serde_json::json;
        let found = tenfold_gpu::adapters();
        let mut text = String::new();
        for (at, a) in found.iter().enumerate() {
            text += &format!("{at}  {} ({}, {})\n   driver {}\n", a.name, a.kind, a.backend, a.driver);
            text += &format!(
                "   arrays up to {}, of which a kernel sees {}; {} threads and {} of shared memory a workgroup\n",
                human_bytes(a.largest_buffer),
                human_bytes(a.largest_binding),
                a.threads,
                human_bytes(u64::from(a.shared))
            );
        }
        if found.is_empty() {
            text = "no graphics card was found; its Vulkan driver may be missing (on Debian mesa-vulkan-drivers, or the \
                    maker's)\n"
                .into();
        }
        let value = |(at, a): (usize, &tenfold_gpu::Adapter)| {
            json!({
                "number": at, "name": a.name, "kind": a.kind, "backend": a.backend, "driver": a.driver,
                "largest_buffer": a.largest_buffer, "largest_binding": a.largest_binding,
                "threads": a.threads, "shared": a.shared,
            })
        };
        let all: Vec<_> = found.iter().enumerate().map(value).collect();
        session.answer(&text, &json!({ "devices": all }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_understood() {
        assert_eq!(parse_choice("auto"), Ok(Choice::Auto(None)));
        assert_eq!(parse_choice("auto:1"), Ok(Choice::Auto(Some(1))));
        assert_eq!(parse_choice("gpu"), Ok(Choice::Gpu(None)));
        assert_eq!(parse_choice("gpu:2"), Ok(Choice::Gpu(Some(2))));
        for text in ["", "gpu:", "gpu:x", "cuda", "cpu:0"] {
            assert!(parse_choice(text).is_err(), "{text}");
        }
    }
}
