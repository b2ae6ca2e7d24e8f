// out = (mode 1: out +) the sum of `slabs` arrays of `rows` numbers, eight at a time and always in the same order.
@group(0) @binding(1) var<storage, read> parts: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    // Grids have at most 65,535 groups a side: further numbers stand along y.
    let e = id.x + id.y * 4194240u;
    if (e >= p.rows) {
        return;
    }
    var total = 0.0;
    for (var begin = 0u; begin < p.slabs; begin += 8u) {
        var sum = 0.0;
        for (var s = begin; s < min(begin + 8u, p.slabs); s++) {
            sum += parts[s * p.rows + e];
        }
        total += sum;
    }
    if (p.mode == 1u) {
        total += out[e];
    }
    out[e] = total;
}
