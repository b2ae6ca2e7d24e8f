//! One opened card: its memory, its queue, and what travelled.

use crate::adapters::wait;
use crate::kernels::{Kernels, Work};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use tenfold_engine::device::Transfers;
use tenfold_engine::{Error, Result};
use wgpu::BufferUsages as Usage;

/// How a card is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Bytes of its memory that may be taken; `None` takes what the driver gives.
    pub memory: Option<u64>,
    /// Most bytes of one array; `None` asks the driver. What is larger is cut.
    pub array: Option<u64>,
}

/// Bytes of one array of samples: small enough for every driver, large enough that a copy runs at the bus's speed.
const BLOCK_BYTES: u64 = 128 << 20;

/// Bytes that may wait in the driver's own memory for their way to the card; twice as many while a copy runs.
const STAGED_BYTES: u64 = 16 << 20;

pub(crate) struct Context {
    pub name: String,
    device: wgpu::Device,
    queue: wgpu::Queue,
    pub kernels: Kernels,
    /// Bytes to which arrays of samples, rows and parts of sums are cut.
    pub block: u64,
    /// Most bytes of one array, as kernels see it.
    most: u64,
    /// Most bytes of all arrays.
    pub budget: u64,
    staged: Mutex<Staged>,
    held: Arc<AtomicU64>,
    up: AtomicU64,
    down: AtomicU64,
    calls: AtomicU64,
    /// What the driver complained of, and why the device was lost.
    trouble: Arc<Mutex<Option<String>>>,
}

/// What was written since the last submission, and the one before it.
#[derive(Default)]
struct Staged {
    bytes: u64,
    flushed: Option<wgpu::SubmissionIndex>,
}

/// Numbers that are on their way back.
pub(crate) struct Pending {
    staging: wgpu::Buffer,
    submission: wgpu::SubmissionIndex,
    told: mpsc::Receiver<std::result::Result<(), wgpu::BufferAsyncError>>,
    len: usize,
}

/// An array on the card; its bytes are counted as long as it lives.
pub(crate) struct Array {
    pub buffer: wgpu::Buffer,
    bytes: u64,
    held: Arc<AtomicU64>,
}

impl Drop for Array {
    fn drop(&mut self) {
        self.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Context {
    pub fn open(adapter: wgpu::Adapter, options: Options) -> Result<Self> {
        let info = adapter.get_info();
        let limits = adapter.limits();
        let descriptor = wgpu::DeviceDescriptor { required_limits: limits.clone(), ..Default::default() };
        let (device, queue) = wait(adapter.request_device(&descriptor))
            .map_err(|why| Error::Device(format!("{} could not be opened: {why}", info.name)))?;
        let trouble = Arc::new(Mutex::new(None));
        let (first, second) = (trouble.clone(), trouble.clone());
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| remember(&first, error.to_string())));
        device.set_device_lost_callback(move |_, why| remember(&second, format!("it was lost ({why})")));
        let kernels = Kernels::new(&device);
        let offered = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
        let most = options.array.unwrap_or(u64::MAX).min(offered);
        let context = Self {
            name: format!("{} ({})", info.name, info.backend),
            device,
            queue,
            kernels,
            block: BLOCK_BYTES.min(most),
            most,
            budget: options.memory.unwrap_or(u64::MAX),
            staged: Mutex::default(),
            held: Arc::default(),
            up: AtomicU64::new(0),
            down: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            trouble,
        };
        // A driver that refuses a kernel says so here, and not in the middle of a fit.
        context.check()?;
        Ok(context)
    }

    pub fn release(&self) {
        self.device.destroy();
    }

    pub fn transfers(&self) -> Transfers {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Transfers { up: read(&self.up), down: read(&self.down), calls: read(&self.calls) }
    }

    pub fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Bytes that may still be taken.
    pub fn free(&self) -> u64 {
        self.budget.saturating_sub(self.held.load(Ordering::Relaxed))
    }

    /// Whether half of what may be taken is taken.
    pub fn is_half_full(&self) -> bool {
        self.held.load(Ordering::Relaxed) > self.budget / 2
    }

    /// An array of `len` numbers of four bytes.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] when the budget or the driver refuses; [`Error::Device`] when the device is gone.
    pub fn array(&self, len: usize) -> Result<Array> {
        self.check()?;
        let bytes = (len as u64 * 4).max(16);
        // What no kernel may see at once is as good as memory that is not there.
        let available = self.free().min(self.most);
        if bytes > available {
            return Err(Error::DeviceMemory { needed: bytes, available });
        }
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let usage = Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC;
        let buffer = self.buffer(bytes, usage);
        if wait(scope.pop()).is_some() {
            let available = self.held.load(Ordering::Relaxed);
            return Err(Error::DeviceMemory { needed: available + bytes, available });
        }
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Ok(Array { buffer, bytes, held: self.held.clone() })
    }

    fn buffer(&self, size: u64, usage: Usage) -> wgpu::Buffer {
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.device.create_buffer(&descriptor)
    }

    /// Sends numbers into an array, from number `at` on. The copy is made while earlier work still runs; what waits for it in the
    /// driver's memory stays below twice [`STAGED_BYTES`].
    pub fn write<T: bytemuck::Pod>(&self, array: &Array, at: usize, numbers: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(numbers);
        let (mut staged, mut offset) = (lock(&self.staged), at as u64 * 4);
        for part in bytes.chunks(STAGED_BYTES as usize) {
            if staged.bytes + part.len() as u64 > STAGED_BYTES {
                let flushed = staged.flushed.replace(self.queue.submit([]));
                staged.bytes = 0;
                // A device that is lost meanwhile is told by whoever asks it next.
                flushed.into_iter().for_each(|before| drop(self.wait_for(before)));
            }
            self.queue.write_buffer(&array.buffer, offset, part);
            staged.bytes += part.len() as u64;
            offset += part.len() as u64;
        }
        self.up.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    }

    /// An array that holds these numbers.
    pub fn upload<T: bytemuck::Pod>(&self, numbers: &[T]) -> Result<Array> {
        let array = self.array(numbers.len())?;
        self.write(&array, 0, numbers);
        Ok(array)
    }

    /// A constant that kernels are told, such as shapes. It is no data and is not counted.
    pub fn uniform(&self, bytes: &[u8]) -> wgpu::Buffer {
        let buffer = self.buffer(bytes.len() as u64, Usage::UNIFORM | Usage::COPY_DST);
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    pub fn bind(&self, layout: &wgpu::BindGroupLayout, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let entries: Vec<wgpu::BindGroupEntry> = (buffers.iter().enumerate())
            .map(|(at, b)| wgpu::BindGroupEntry { binding: at as u32, resource: b.as_entire_binding() })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    }

    /// Queues work in order; returns at once.
    pub fn submit(&self, work: &[Work]) -> wgpu::SubmissionIndex {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.encode(&mut encoder, work);
        self.queue.submit([encoder.finish()])
    }

    fn encode(&self, encoder: &mut wgpu::CommandEncoder, work: &[Work]) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for one in work {
            pass.set_pipeline(self.kernels.pipeline(one.kernel));
            pass.set_bind_group(0, &one.group, &[]);
            let [x, y, z] = one.grid;
            pass.dispatch_workgroups(x, y, z);
        }
    }

    /// Waits until a submission is done.
    pub fn wait_for(&self, submission: wgpu::SubmissionIndex) -> Result<()> {
        let wait = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
        // wgpu meets a device that is lost while one waits with a panic.
        match catch_unwind(AssertUnwindSafe(|| self.device.poll(wait))) {
            Ok(Ok(_)) => {}
            Ok(Err(why)) => remember(&self.trouble, why.to_string()),
            Err(_) => remember(&self.trouble, "it was lost while it computed".into()),
        }
        self.check()
    }

    /// Queues work and brings the first `len` numbers of `from` back.
    ///
    /// # Errors
    /// [`Error::Device`] when the device was lost, before or meanwhile.
    pub fn run(&self, work: &[Work], from: &Array, len: usize) -> Result<Vec<f32>> {
        self.finish(self.begin(work, from, len)?)
    }

    /// The first half of [`Context::run`]: queues, and returns while the card computes.
    pub fn begin(&self, work: &[Work], from: &Array, len: usize) -> Result<Pending> {
        self.check()?;
        let bytes = (len as u64 * 4).max(4);
        let staging = self.buffer(bytes, Usage::MAP_READ | Usage::COPY_DST);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.encode(&mut encoder, work);
        encoder.copy_buffer_to_buffer(&from.buffer, 0, &staging, 0, bytes);
        let submission = self.queue.submit([encoder.finish()]);
        let (tell, told) = mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |outcome| drop(tell.send(outcome)));
        Ok(Pending { staging, submission, told, len })
    }

    /// The second half: waits for the numbers.
    pub fn finish(&self, pending: Pending) -> Result<Vec<f32>> {
        self.wait_for(pending.submission)?;
        if !matches!(pending.told.recv(), Ok(Ok(()))) {
            remember(&self.trouble, "its answer could not be read".into());
        }
        self.check()?;
        let view = pending.staging.get_mapped_range(..).map_err(|why| self.gone(&why.to_string()))?;
        self.down.fetch_add(pending.len as u64 * 4, Ordering::Relaxed);
        Ok(bytemuck::pod_collect_to_vec(&view[..pending.len * 4]))
    }

    /// An error when the device is gone or has complained.
    pub fn check(&self) -> Result<()> {
        match &*lock(&self.trouble) {
            None => Ok(()),
            Some(why) => Err(self.gone(why)),
        }
    }

    fn gone(&self, why: &str) -> Error {
        Error::Device(format!(
            "{} cannot go on: {why}; nothing was written. Try again, or take --device cpu",
            self.name
        ))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|held| held.into_inner())
}

/// The first trouble is the one to tell; what follows it is its consequence.
fn remember(trouble: &Mutex<Option<String>>, what: String) {
    lock(trouble).get_or_insert(what);
}
