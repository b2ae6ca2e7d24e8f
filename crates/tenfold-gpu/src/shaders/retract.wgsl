// Takes T_t(I, v, …, v) into the running weights and gives the next columns before they are made orthonormal:
// x = ±((1 − ρ) w v + ρ g), divided by its norm. One workgroup; ρ is `a`, the share of the step in running means `b`,
// the number of the step `place`. residuals[place] = max ‖g − λv‖ / max |λ|.
@group(0) @binding(1) var<storage, read> v: array<f32>;
@group(0) @binding(2) var<storage, read> g: array<f32>;
@group(0) @binding(3) var<storage, read_write> weights: array<f32>;
@group(0) @binding(4) var<storage, read_write> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> residuals: array<f32>;

var<workgroup> most: array<f32, 256>;
var<workgroup> largest: array<f32, 256>;
var<workgroup> squares: array<f32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_id) local: vec3<u32>) {
    let t = local.x;
    var rest = 0.0;
    var size = 0.0;
    var sum = 0.0;
    for (var c = t; c < p.width; c += 256u) {
        var now = 0.0;
        for (var i = 0u; i < p.rows; i++) {
            now += v[i * p.width + c] * g[i * p.width + c];
        }
        let w = weights[c] + p.b * (now - weights[c]);
        weights[c] = w;
        let side = select(1.0, -1.0, w < 0.0);
        var away = 0.0;
        for (var i = 0u; i < p.rows; i++) {
            let at = i * p.width + c;
            let d = g[at] - now * v[at];
            away += d * d;
            let next = side * ((1.0 - p.a) * w * v[at] + p.a * g[at]);
            x[at] = next;
            sum += next * next;
        }
        rest = max(rest, sqrt(away));
        size = max(size, abs(now));
    }
    most[t] = rest;
    largest[t] = size;
    squares[t] = sum;
    for (var half = 128u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if (t < half) {
            most[t] = max(most[t], most[t + half]);
            largest[t] = max(largest[t], largest[t + half]);
            squares[t] += squares[t + half];
        }
    }
    workgroupBarrier();
    let norm = 1.0 / max(sqrt(squares[0]), 1e-30);
    for (var c = t; c < p.width; c += 256u) {
        for (var i = 0u; i < p.rows; i++) {
            x[i * p.width + c] *= norm;
        }
    }
    if (t == 0u) {
        residuals[p.place] = most[0] / max(largest[0], 1e-30);
    }
}
