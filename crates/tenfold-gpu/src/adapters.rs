//! Which cards there are.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tenfold_engine::{Error, Result};

/// A card, or software that stands for one.
#[derive(Debug, Clone, PartialEq)]
pub struct Adapter {
    /// Its name by its maker.
    pub name: String,
    /// What it is: `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    /// The interface that reaches it: `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// The driver and its version.
    pub driver: String,
    /// Bytes that one array may take.
    pub largest_buffer: u64,
    /// Bytes of an array that a kernel may see at once.
    pub largest_binding: u64,
    /// Threads of a workgroup.
    pub threads: u32,
    /// Bytes that the threads of a workgroup share.
    pub shared: u32,
}

/// All adapters, in the order that `gpu:N` counts from 0.
pub fn adapters() -> Vec<Adapter> {
    found().iter().map(describe).collect()
}

fn found() -> Vec<wgpu::Adapter> {
    // Software Vulkan is listed like a card: tests run on it.
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    // Validation of our own shaders by the driver's debug layer is for those who write them.
    descriptor.flags = wgpu::InstanceFlags::empty();
    wait(wgpu::Instance::new(descriptor).enumerate_adapters(backends))
}

fn describe(adapter: &wgpu::Adapter) -> Adapter {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    Adapter {
        name: info.name.clone(),
        kind: kind(&info),
        backend: info.backend.to_string(),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        largest_buffer: limits.max_buffer_size,
        largest_binding: limits.max_storage_buffer_binding_size,
        threads: limits.max_compute_invocations_per_workgroup,
        shared: limits.max_compute_workgroup_storage_size,
    }
}

fn kind(info: &wgpu::AdapterInfo) -> &'static str {
    match info.device_type {
        wgpu::DeviceType::DiscreteGpu => "discrete",
        wgpu::DeviceType::IntegratedGpu => "integrated",
        wgpu::DeviceType::VirtualGpu => "virtual",
        wgpu::DeviceType::Cpu => "software",
        wgpu::DeviceType::Other => "other",
    }
}

/// Adapter number `index`, or the first card; discrete ones go first.
pub(crate) fn choose(index: Option<usize>) -> Result<wgpu::Adapter> {
    let mut all = found();
    if all.is_empty() {
        return Err(missing(
            "no graphics card was found; install its Vulkan driver (on Debian mesa-vulkan-drivers, or the maker's), or take --device cpu",
        ));
    }
    let at = match index {
        Some(index) if index < all.len() => index,
        Some(index) => {
            return Err(missing(&format!(
                "there is no adapter {index}: `tenfold devices` lists {} of them, counted from 0",
                all.len()
            )));
        }
        None => {
            let kinds = ["discrete", "integrated", "virtual", "other"];
            let place = |kind| all.iter().position(|adapter| self::kind(&adapter.get_info()) == kind);
            kinds.into_iter().find_map(place).ok_or_else(|| {
                missing(
                    "only software adapters were found, which are slower than the processor itself; take --device cpu, or \
                     --device gpu:0 to use the first of them all the same",
                )
            })?
        }
    };
    Ok(all.swap_remove(at))
}

fn missing(why: &str) -> Error {
    Error::Device(why.into())
}

/// The value of a future that needs nobody to wake it: those of wgpu are ready, or become so while they are asked.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
        std::thread::yield_now();
    }
}
