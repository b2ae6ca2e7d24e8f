// out_t = w_t · Σ_c values_tc over `width` columns; weights are read from `first` (mode 1; mode 0 has none).
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let t = id.x;
    if (t >= p.rows) {
        return;
    }
    var sum = 0.0;
    for (var c = 0u; c < p.width; c++) {
        sum += values[t * p.width + c];
    }
    if (p.mode == 1u) {
        sum *= weights[p.first + t];
    }
    out[t] = sum;
}
