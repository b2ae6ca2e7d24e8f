//! The compute shaders, and one piece of work for each.

use crate::context::{Array, Context};
use std::borrow::Cow;

/// The kernels; each is a file in `shaders/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    Product,
    Gather,
    Fold,
    RowSum,
    Sparse,
    Retract,
    Polynomial,
    Shift,
}

/// Every kernel's source, in the order of [`Kernel`].
const SOURCES: [&str; 8] = [
    include_str!("shaders/product.wgsl"),
    include_str!("shaders/gather.wgsl"),
    include_str!("shaders/fold.wgsl"),
    include_str!("shaders/rowsum.wgsl"),
    include_str!("shaders/sparse.wgsl"),
    include_str!("shaders/retract.wgsl"),
    include_str!("shaders/polynomial.wgsl"),
    include_str!("shaders/shift.wgsl"),
];

/// Rows and columns of the result that one workgroup of a matrix product makes.
pub(crate) const TILE: usize = 32;

/// What [`Kernel::Product`] does with every entry x of its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Keep = 0,
    Square = 1,
    Cube = 2,
    /// x · other.
    Times = 3,
    /// What is there + x · other.
    AddTimes = 4,
}

/// The fields of `params.wgsl`, in its order.
#[derive(Debug, Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Params {
    pub rows: u32,
    pub inner: u32,
    pub width: u32,
    pub first: u32,
    pub second: u32,
    pub third: u32,
    pub slab: u32,
    pub slabs: u32,
    pub mode: u32,
    pub place: u32,
    pub pad: [u32; 2],
    pub scale: f32,
    pub a: f32,
    pub b: f32,
    pub c: f32,
}

/// One kernel with its arrays, ready to be queued any number of times.
pub(crate) struct Work {
    pub kernel: Kernel,
    pub group: wgpu::BindGroup,
    pub grid: [u32; 3],
}

pub(crate) struct Kernels {
    pipelines: Vec<wgpu::ComputePipeline>,
}

impl Kernels {
    pub fn new(device: &wgpu::Device) -> Self {
        let pipeline = |source: &&str| {
            let text = format!("{}\n{source}", include_str!("shaders/params.wgsl"));
            let source = wgpu::ShaderSource::Wgsl(Cow::Owned(text));
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: Default::default(),
                cache: None,
            })
        };
        Self { pipelines: SOURCES.iter().map(pipeline).collect() }
    }

    pub fn pipeline(&self, kernel: Kernel) -> &wgpu::ComputePipeline {
        &self.pipelines[kernel as usize]
    }
}

/// A count as the card takes it.
pub(crate) fn word(count: usize) -> u32 {
    u32::try_from(count).expect("arrays on the card have fewer than 2³² numbers")
}

fn tiles(count: usize) -> u32 {
    word(count.div_ceil(TILE))
}

/// The grid of a kernel with a thread for each of `count` numbers, 64 a group; a side has at most 65,535 groups.
pub(crate) fn line(count: usize) -> [u32; 3] {
    let groups = count.div_ceil(64);
    [word(groups.min(65_535)), word(groups.div_ceil(65_535).max(1)), 1]
}

impl Context {
    pub fn work(&self, kernel: Kernel, params: &Params, arrays: &[&Array], grid: [u32; 3]) -> Work {
        let uniform = self.uniform(bytemuck::bytes_of(params));
        let mut buffers = vec![&uniform];
        buffers.extend(arrays.iter().map(|a| &a.buffer));
        let layout = self.kernels.pipeline(kernel).get_bind_group_layout(0);
        Work { kernel, group: self.bind(&layout, &buffers), grid }
    }

    /// out = left · right, entry by entry as `entry` says; left holds [rows, inner] from row `first` on.
    pub fn product(
        &self,
        (left, first): (&Array, usize),
        right: &Array,
        [rows, inner, width]: [usize; 3],
        entry: Entry,
        [other, out]: [&Array; 2],
    ) -> Work {
        let params = Params {
            rows: word(rows),
            inner: word(inner),
            width: word(width),
            first: word(first),
            mode: entry as u32,
            ..Params::default()
        };
        let grid = [tiles(rows), tiles(width), 1];
        self.work(Kernel::Product, &params, &[left, right, other, out], grid)
    }

    /// out = (what is there, unless `fresh`, +) the sum of `slabs` arrays of `len` numbers.
    pub fn fold(&self, parts: &Array, out: &Array, len: usize, slabs: usize, fresh: bool) -> Work {
        let params =
            Params { rows: word(len), slabs: word(slabs), mode: u32::from(!fresh), ..Params::default() };
        self.work(Kernel::Fold, &params, &[parts, out], line(len))
    }

    /// The slabs of scale · leftᵀ (weights ∘ right) over `rows` rows, inner × width each.
    pub fn gather(&self, sum: &Gather<'_>, out: &Array) -> Work {
        let [rows, inner, width] = sum.shape;
        let params = Params {
            rows: word(rows),
            inner: word(inner),
            width: word(width),
            first: word(sum.left.1),
            second: word(sum.right.1),
            third: word(sum.weights.map_or(0, |w| w.1)),
            slab: word(sum.slab),
            mode: u32::from(sum.weights.is_some()),
            scale: sum.scale as f32,
            ..Params::default()
        };
        let weights = sum.weights.map_or(sum.left.0, |w| w.0);
        let grid = [tiles(inner), tiles(width), word(rows.div_ceil(sum.slab))];
        self.work(Kernel::Gather, &params, &[sum.left.0, sum.right.0, weights, out], grid)
    }
}

/// A sum over rows; every array comes with its first row.
#[derive(Clone, Copy)]
pub(crate) struct Gather<'a> {
    pub left: (&'a Array, usize),
    pub right: (&'a Array, usize),
    pub weights: Option<(&'a Array, usize)>,
    /// Rows, columns of left, columns of right.
    pub shape: [usize; 3],
    /// Rows of a slab.
    pub slab: usize,
    pub scale: f64,
}
