// What every kernel is told; kernels.rs holds the same fields in the same order.
struct Params {
    rows: u32,
    inner: u32,
    width: u32,
    first: u32,
    second: u32,
    third: u32,
    slab: u32,
    slabs: u32,
    mode: u32,
    place: u32,
    pad: u32,
    pad2: u32,
    scale: f32,
    a: f32,
    b: f32,
    c: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
