//! Smoothing and local maxima on planes.

use super::super::Plane;

/// Where a row or column continues beyond its ends: mirrored, the last pixel twice.
pub(super) fn mirror(at: isize, len: usize) -> usize {
    let period = 2 * len as isize;
    let at = at.rem_euclid(period);
    (if at < len as isize { at } else { period - 1 - at }) as usize
}

/// The half kernel of a Gaussian, from the middle outwards; all weights sum to one.
fn kernel(sigma: f64) -> Vec<f32> {
    // Beyond 3.5 σ a thousandth of the weight is left.
    let reach = (3.5 * sigma).ceil().max(1.0) as usize;
    let weights: Vec<f64> = (0..=reach).map(|i| (-0.5 * (i as f64 / sigma).powi(2)).exp()).collect();
    let total = 2.0 * weights.iter().sum::<f64>() - weights[0];
    weights.iter().map(|w| (w / total) as f32).collect()
}

/// The plane smoothed by a Gaussian of standard deviation `sigma`, mirrored at its edges.
pub(super) fn smooth(plane: &Plane, sigma: f64) -> Plane {
    let kernel = kernel(sigma);
    let (width, height, reach) = (plane.width(), plane.height(), kernel.len() - 1);
    let mut down = Plane::zeros(width, height);
    for (y, out) in down.values_mut().chunks_exact_mut(width).enumerate() {
        for (i, &weight) in kernel.iter().enumerate() {
            let above = plane.row(mirror(y as isize - i as isize, height));
            if i == 0 {
                out.iter_mut().zip(above).for_each(|(o, a)| *o = weight * a);
            } else {
                let below = plane.row(mirror((y + i) as isize, height));
                out.iter_mut().zip(above.iter().zip(below)).for_each(|(o, (a, b))| *o += weight * (a + b));
            }
        }
    }
    let mut row = vec![0.0; width + 2 * reach];
    for out in down.values_mut().chunks_exact_mut(width) {
        for (i, value) in row.iter_mut().enumerate() {
            *value = out[mirror(i as isize - reach as isize, width)];
        }
        out.fill(0.0);
        for (i, &weight) in kernel.iter().enumerate() {
            if i == 0 {
                out.iter_mut().zip(&row[reach..]).for_each(|(o, a)| *o = weight * a);
            } else {
                let sides = row[reach - i..].iter().zip(&row[reach + i..]);
                out.iter_mut().zip(sides).for_each(|(o, (a, b))| *o += weight * (a + b));
            }
        }
    }
    down
}

/// −σ²ΔG_σ: large where a bright blob of Gaussian width σ stands; the factor makes scales comparable.
pub(super) fn blobs(plane: &Plane, sigma: f64) -> Plane {
    let smoothed = smooth(plane, sigma);
    let (width, height) = (plane.width(), plane.height());
    let factor = (sigma * sigma) as f32;
    let mut out = Plane::zeros(width, height);
    for (y, row) in out.values_mut().chunks_exact_mut(width).enumerate() {
        let here = smoothed.row(y);
        let above = smoothed.row(mirror(y as isize - 1, height));
        let below = smoothed.row(mirror(y as isize + 1, height));
        for x in 0..width {
            let left = here[x.saturating_sub(1)];
            let right = here[(x + 1).min(width - 1)];
            row[x] = factor * (4.0 * here[x] - left - right - above[x] - below[x]);
        }
    }
    out
}

/// The largest value within `reach` pixels to either side, for every pixel (a square window).
pub(super) fn dilate(plane: &Plane, reach: usize) -> Plane {
    let (width, height) = (plane.width(), plane.height());
    let mut along = Plane::zeros(width, height);
    let mut queue = Vec::new();
    for (y, out) in along.values_mut().chunks_exact_mut(width).enumerate() {
        sliding_max(plane.row(y), reach, &mut queue, out);
    }
    let mut out = Plane::zeros(width, height);
    for (y, row) in out.values_mut().chunks_exact_mut(width).enumerate() {
        row.fill(f32::NEG_INFINITY);
        for other in y.saturating_sub(reach)..(y + reach + 1).min(height) {
            row.iter_mut().zip(along.row(other)).for_each(|(o, v)| *o = o.max(*v));
        }
    }
    out
}

/// The largest value of a window that slides along a row: the queue holds places whose values fall.
fn sliding_max(row: &[f32], reach: usize, queue: &mut Vec<usize>, out: &mut [f32]) {
    queue.clear();
    let mut head = 0;
    for end in 0..row.len() + reach {
        if end < row.len() {
            while queue.len() > head && row[queue[queue.len() - 1]] <= row[end] {
                queue.pop();
            }
            queue.push(end);
        }
        if end >= reach {
            let x = end - reach;
            while queue[head] + reach < x {
                head += 1;
            }
            out[x] = row[queue[head]];
        }
    }
}

/// Pixels that are the largest within `reach` and larger than `least`, in reading order. Of equal ones that near each other only the
/// first counts: on even ground every pixel is the largest.
pub(super) fn maxima(plane: &Plane, reach: usize, least: f32) -> Vec<(usize, usize, f32)> {
    let largest = dilate(plane, reach);
    let mut found = Vec::new();
    // One more than the row of the last maximum of every column.
    let mut last = vec![0; plane.width()];
    for y in 0..plane.height() {
        for (x, (&value, &most)) in plane.row(y).iter().zip(largest.row(y)).enumerate() {
            let beside = x.saturating_sub(reach)..(x + reach + 1).min(plane.width());
            if value > least && value == most && last[beside].iter().all(|&row| row + reach <= y || row == 0)
            {
                found.push((x, y, value));
                last[x] = y + 1;
            }
        }
    }
    found
}

/// Half as many pixels each way: means of two by two.
pub(super) fn halve(plane: &Plane) -> Plane {
    let (width, height) = ((plane.width() / 2).max(1), (plane.height() / 2).max(1));
    let mut values = Vec::with_capacity(width * height);
    for y in 0..height {
        let (above, below) = (plane.row(2 * y), plane.row((2 * y + 1).min(plane.height() - 1)));
        for x in 0..width {
            let right = (2 * x + 1).min(plane.width() - 1);
            values.push((above[2 * x] + above[right] + below[2 * x] + below[right]) / 4.0);
        }
    }
    Plane::new(width, height, values)
}

/// The value below which the share `at` of the values lies; they are put into another order.
pub(super) fn quantile(values: &mut [f32], at: f64) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let place = ((values.len() - 1) as f64 * at).round() as usize;
    *values.select_nth_unstable_by(place, f32::total_cmp).1
}

/// The standard deviation of white noise: the median of |4 x − neighbours|, which flat and sloping ground leave alone.
pub(super) fn white_noise(plane: &Plane) -> f64 {
    let mut values = Vec::with_capacity(plane.values().len());
    for y in 1..plane.height().saturating_sub(1) {
        let (above, here, below) = (plane.row(y - 1), plane.row(y), plane.row(y + 1));
        for x in 1..plane.width().saturating_sub(1) {
            values.push((4.0 * here[x] - here[x - 1] - here[x + 1] - above[x] - below[x]).abs());
        }
    }
    // A normal number's median of |x| is 1/1.4826 of its deviation; the stencil's weights squared sum to 20.
    1.4826 * f64::from(quantile(&mut values, 0.5)) / 20f64.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(width: usize, height: usize) -> Plane {
        let values = (0..width * height).map(|i| ((i * 7919 + i * i * 31) % 1009) as f32);
        Plane::new(width, height, values.collect())
    }

    #[test]
    fn smoothing_is_the_weighted_sum_it_says() {
        let plane = noise(9, 7);
        let smoothed = smooth(&plane, 1.3);
        let half = kernel(1.3);
        let weight = |i: isize| f64::from(half[i.unsigned_abs()]);
        let reach = half.len() as isize - 1;
        for (x, y) in [(0, 0), (4, 3), (8, 6), (1, 5)] {
            let mut sum = 0.0;
            for j in -reach..=reach {
                for i in -reach..=reach {
                    let value = plane.at(mirror(x as isize + i, 9), mirror(y as isize + j, 7));
                    sum += weight(i) * weight(j) * f64::from(value);
                }
            }
            assert!((sum - f64::from(smoothed.at(x, y))).abs() < 1e-2, "({x}, {y})");
        }
    }

    #[test]
    fn the_largest_in_a_window_is_found_by_looking_at_all_of_it() {
        let plane = noise(23, 17);
        for reach in [0, 1, 3, 30] {
            let fast = dilate(&plane, reach);
            for y in 0..17_usize {
                for x in 0..23_usize {
                    let rows = y.saturating_sub(reach)..(y + reach + 1).min(17);
                    let slow = rows
                        .flat_map(|j| &plane.row(j)[x.saturating_sub(reach)..(x + reach + 1).min(23)])
                        .fold(f32::MIN, |a, b| a.max(*b));
                    assert_eq!(fast.at(x, y), slow);
                }
            }
        }
    }

    /// A Gaussian of width s under −σ²ΔG_σ has the height 2 s²σ²/(s² + σ²)² in its middle.
    #[test]
    fn blobs_answer_by_the_formula() {
        let (s, sigma) = (5.0, 4.0);
        let value = |i: usize| (-((i % 61) as f64 - 30.0).powi(2) / (2.0 * s * s)).exp();
        let values = (0..61 * 61).map(|i| (value(i) * value(i / 61)) as f32).collect();
        let middle = f64::from(blobs(&Plane::new(61, 61, values), sigma).at(30, 30));
        let formula = 2.0 * s * s * sigma * sigma / (s * s + sigma * sigma).powi(2);
        // The five-point Laplacian differs from Δ by O(1/σ²).
        assert!((middle / formula - 1.0).abs() < 0.02, "{middle} {formula}");
    }

    #[test]
    fn even_ground_has_few_maxima() {
        let found = maxima(&Plane::new(100, 100, vec![7.0; 10_000]), 4, 0.0);
        assert_eq!(found.len(), 400);
        for (i, a) in found.iter().enumerate() {
            assert!(found[i + 1..].iter().all(|b| a.0.abs_diff(b.0) > 4 || a.1.abs_diff(b.1) > 4));
        }
        // Two peaks in one row, and one of two pixels.
        let mut values = vec![0.0; 400];
        [(5, 5), (12, 5), (8, 14), (9, 14)].iter().for_each(|&(x, y)| values[20 * y + x] = 3.0);
        let places: Vec<(usize, usize)> =
            maxima(&Plane::new(20, 20, values), 4, 1.0).iter().map(|m| (m.0, m.1)).collect();
        assert_eq!(places, [(5, 5), (12, 5), (8, 14)]);
    }

    #[test]
    fn white_noise_is_measured_under_a_slope() {
        let mut rng = tenfold_engine::linalg::random::rng(1, 0);
        let value = |i: usize, z: f64| (3.0 * z + (i % 200) as f64) as f32;
        let values: Vec<f32> =
            (0..40_000).map(|i| value(i, tenfold_engine::linalg::random::normal(&mut rng))).collect();
        let deviation = white_noise(&Plane::new(200, 200, values));
        assert!((deviation / 3.0 - 1.0).abs() < 0.03, "{deviation}");
    }
}
