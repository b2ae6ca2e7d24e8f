// out = (left · right) with what `mode` does to every entry. A workgroup makes 32 × 32 entries, a thread 4 × 4 of them.
// left is rows × inner from row `first` on, right is inner × width, out and other are rows × width.
@group(0) @binding(1) var<storage, read> left: array<f32>;
@group(0) @binding(2) var<storage, read> right: array<f32>;
@group(0) @binding(3) var<storage, read> other: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

var<workgroup> l: array<f32, 512>;
var<workgroup> r: array<f32, 512>;

@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let row = group.x * 32u;
    let col = group.y * 32u;
    let thread = local.y * 8u + local.x;
    var sum = array<vec4<f32>, 4>();
    for (var begin = 0u; begin < p.inner; begin += 16u) {
        for (var i = 0u; i < 8u; i++) {
            let e = i * 64u + thread;
            let lr = e / 16u;
            let lk = e % 16u;
            var value = 0.0;
            if (row + lr < p.rows && begin + lk < p.inner) {
                value = left[(p.first + row + lr) * p.inner + begin + lk];
            }
            l[lk * 32u + lr] = value;
            let rk = e / 32u;
            let rc = e % 32u;
            value = 0.0;
            if (begin + rk < p.inner && col + rc < p.width) {
                value = right[(begin + rk) * p.width + col + rc];
            }
            r[rk * 32u + rc] = value;
        }
        workgroupBarrier();
        for (var k = 0u; k < 16u; k++) {
            let x = k * 32u + local.y * 4u;
            let y = k * 32u + local.x * 4u;
            let b = vec4<f32>(r[y], r[y + 1u], r[y + 2u], r[y + 3u]);
            sum[0] += l[x] * b;
            sum[1] += l[x + 1u] * b;
            sum[2] += l[x + 2u] * b;
            sum[3] += l[x + 3u] * b;
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < 4u; i++) {
        let at = row + local.y * 4u + i;
        for (var j = 0u; j < 4u; j++) {
            let c = col + local.x * 4u + j;
            if (at < p.rows && c < p.width) {
                let place = at * p.width + c;
                let x = sum[i][j];
                switch p.mode {
                    case 1u: { out[place] = x * x; }
                    case 2u: { out[place] = x * x * x; }
                    case 3u: { out[place] = x * other[place]; }
                    case 4u: { out[place] = out[place] + x * other[place]; }
                    default: { out[place] = x; }
                }
            }
        }
    }
}
