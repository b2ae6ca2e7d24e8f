// g += a shift term contracted with v in all places but one; a workgroup for every column. `image` is M·v.
// mode 0: scale · 3 (Mv)(vᵀMv)   mode 1: scale · (2 Mv (m·v) + m (vᵀMv))   mode 2: scale · m (m·v)^(p−1), p−1 in `slab`
@group(0) @binding(1) var<storage, read> image: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> m: array<f32>;
@group(0) @binding(4) var<storage, read_write> g: array<f32>;

var<workgroup> first: array<f32, 64>;
var<workgroup> second: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let c = group.x;
    let t = local.x;
    var along = 0.0;
    var across = 0.0;
    for (var i = t; i < p.rows; i += 64u) {
        let at = i * p.width + c;
        if (p.mode != 2u) {
            across += v[at] * image[at];
        }
        if (p.mode != 0u) {
            along += m[i] * v[at];
        }
    }
    first[t] = along;
    second[t] = across;
    for (var half = 32u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if (t < half) {
            first[t] += first[t + half];
            second[t] += second[t + half];
        }
    }
    workgroupBarrier();
    along = first[0];
    across = second[0];
    for (var i = t; i < p.rows; i += 64u) {
        let at = i * p.width + c;
        var x = 0.0;
        switch p.mode {
            case 0u: { x = 3.0 * image[at] * across; }
            case 1u: { x = 2.0 * image[at] * along + m[i] * across; }
            default: {
                x = m[i] * along * along;
                if (p.slab == 3u) {
                    x *= along;
                }
            }
        }
        g[at] += p.scale * x;
    }
}
