// One slab of rows of scale · leftᵀ · (weights ∘ right), inner × width. Sixteen rows are summed, then sixteen such sums,
// then those: so that errors of single precision grow with the levels and not with the rows.
// left is read from row `first`, right from row `second`, weights from `third` (mode 1; mode 0 has none).
@group(0) @binding(1) var<storage, read> left: array<f32>;
@group(0) @binding(2) var<storage, read> right: array<f32>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

var<workgroup> l: array<f32, 512>;
var<workgroup> r: array<f32, 512>;

@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let row = group.x * 32u;
    let col = group.y * 32u;
    let thread = local.y * 8u + local.x;
    let start = group.z * p.slab;
    let end = min(start + p.slab, p.rows);
    var total = array<vec4<f32>, 4>();
    var middle = array<vec4<f32>, 4>();
    var tiles = 0u;
    for (var begin = start; begin < end; begin += 16u) {
        for (var i = 0u; i < 8u; i++) {
            let e = i * 64u + thread;
            let k = e / 32u;
            let c = e % 32u;
            var x = 0.0;
            var y = 0.0;
            if (begin + k < end) {
                if (row + c < p.inner) {
                    x = left[(p.first + begin + k) * p.inner + row + c];
                }
                if (col + c < p.width) {
                    y = right[(p.second + begin + k) * p.width + col + c];
                    if (p.mode == 1u) {
                        y = y * weights[p.third + begin + k];
                    }
                }
            }
            l[k * 32u + c] = x;
            r[k * 32u + c] = y;
        }
        workgroupBarrier();
        var sum = array<vec4<f32>, 4>();
        for (var k = 0u; k < 16u; k++) {
            let x = k * 32u + local.y * 4u;
            let y = k * 32u + local.x * 4u;
            let b = vec4<f32>(r[y], r[y + 1u], r[y + 2u], r[y + 3u]);
            sum[0] += l[x] * b;
            sum[1] += l[x + 1u] * b;
            sum[2] += l[x + 2u] * b;
            sum[3] += l[x + 3u] * b;
        }
        for (var i = 0u; i < 4u; i++) {
            middle[i] += sum[i];
        }
        tiles += 1u;
        if (tiles % 16u == 0u) {
            for (var i = 0u; i < 4u; i++) {
                total[i] += middle[i];
                middle[i] = vec4<f32>();
            }
        }
        workgroupBarrier();
    }
    let base = (p.place + group.z) * p.inner * p.width;
    for (var i = 0u; i < 4u; i++) {
        let at = row + local.y * 4u + i;
        for (var j = 0u; j < 4u; j++) {
            let c = col + local.x * 4u + j;
            if (at < p.inner && c < p.width) {
                out[base + at * p.width + c] = p.scale * (total[i][j] + middle[i][j]);
            }
        }
    }
}
