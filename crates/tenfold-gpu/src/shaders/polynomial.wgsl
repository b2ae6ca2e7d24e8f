// out = a I + b A + c B for square matrices of `rows` rows.
@group(0) @binding(1) var<storage, read> first: array<f32>;
@group(0) @binding(2) var<storage, read> second: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    // Grids have at most 65,535 groups a side: further numbers stand along y.
    let e = id.x + id.y * 4194240u;
    if (e >= p.rows * p.rows) {
        return;
    }
    var x = p.b * first[e] + p.c * second[e];
    if (e / p.rows == e % p.rows) {
        x += p.a;
    }
    out[e] = x;
}
