// out = (mode 1: out +) A · x for a block of sparse rows: one thread an entry of out, neighbours along the columns, so that rows of x are
// read together. Entries are summed by 32, then those sums.
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> columns: array<u32>;
@group(0) @binding(3) var<storage, read> values: array<f32>;
@group(0) @binding(4) var<storage, read> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(32, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let c = id.x;
    // Grids have at most 65,535 groups a side: further rows stand along z.
    let row = id.y + id.z * 262140u;
    if (row >= p.rows || c >= p.width) {
        return;
    }
    let end = starts[row + 1u];
    var total = 0.0;
    for (var begin = starts[row]; begin < end; begin += 32u) {
        var sum = 0.0;
        for (var e = begin; e < min(begin + 32u, end); e++) {
            sum += values[e] * x[columns[e] * p.width + c];
        }
        total += sum;
    }
    if (p.mode == 1u) {
        total += out[row * p.width + c];
    }
    out[row * p.width + c] = total;
}
