//! Oriented super-Gaussian atoms: what one cell adds to the image.
//!
//! A·2^(−q^p) with q = u² + v², where u and v are the distances from the centre along the two axes in units of their half-maximum
//! radii, but brought to zero where a hundredth is left, so that the energy has no steps: A (e^(−c q^p) − ε)/(1 − ε) with ε = e^(−4.5) and c such
//! that half is left at q = 1. Radii and height are held as logarithms, so every number may be any.

use crate::checkpoint::Keep;
use tenfold_engine::linalg::counts::{Parcel, Unpacked};

/// Columns of an atom's gradient.
pub(super) const MARKS: usize = 6;

/// An atom: x, y, ln r along the first axis, ln r along the second, the angle of the first axis, ln height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Atom(pub [f64; MARKS]);

impl Keep for Atom {
    fn put(&self, parcel: &mut Parcel) {
        self.0.put(parcel);
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Keep::take(parcel).map(Self)
    }
}

impl Atom {
    /// A round one.
    pub fn round(x: f64, y: f64, radius: f64, height: f64) -> Self {
        Self([x, y, radius.ln(), radius.ln(), 0.0, height.max(1e-12).ln()])
    }

    pub fn x(&self) -> f64 {
        self.0[0]
    }

    pub fn y(&self) -> f64 {
        self.0[1]
    }

    /// The longer radius.
    pub fn longer(&self) -> f64 {
        self.0[2].max(self.0[3]).exp()
    }

    /// The logarithm of the radius of a disc of the same area.
    pub fn log_size(&self) -> f64 {
        0.5 * (self.0[2] + self.0[3])
    }

    /// The logarithm of one radius over the other.
    pub fn log_aspect(&self) -> f64 {
        self.0[2] - self.0[3]
    }

    pub fn log_height(&self) -> f64 {
        self.0[5]
    }

    /// The angle of the longer axis.
    pub fn direction(&self) -> f64 {
        if self.0[2] >= self.0[3] { self.0[4] } else { self.0[4] + std::f64::consts::FRAC_PI_2 }
    }

    pub fn distance(&self, other: &Self) -> f64 {
        (self.x() - other.x()).hypot(self.y() - other.y())
    }
}

/// A rectangle of pixels; the ends are left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub x: (usize, usize),
    pub y: (usize, usize),
}

impl Frame {
    pub fn width(&self) -> usize {
        self.x.1 - self.x.0
    }

    pub fn len(&self) -> usize {
        self.width() * (self.y.1 - self.y.0)
    }

    /// The smallest that holds both.
    pub fn with(&self, other: &Self) -> Self {
        let both = |a: (usize, usize), b: (usize, usize)| (a.0.min(b.0), a.1.max(b.1));
        Self { x: both(self.x, other.x), y: both(self.y, other.y) }
    }
}

/// Entries of the table of the profile: straight lines between them miss by less than 3e-6.
const ENTRIES: usize = 2048;

/// The profile ends where e^(−4.5), a hundredth of the height, is left.
const TAIL: f64 = 4.5;

/// The profile, as a table over q, because its powers would be most of the work.
#[derive(Debug, Clone)]
pub(super) struct Profile {
    /// The q where it ends.
    end: f64,
    scale: f32,
    /// The profile and its derivative by q.
    table: Vec<[f32; 2]>,
}

impl Profile {
    pub fn new(exponent: f64) -> Self {
        let rest = (-TAIL).exp();
        let fall = -(0.5 + 0.5 * rest).ln();
        let end = (TAIL / fall).powf(1.0 / exponent);
        let entry = |i: usize| {
            let q = end * i.min(ENTRIES) as f64 / ENTRIES as f64;
            let value = (-fall * q.powf(exponent)).exp();
            let slope = -fall * exponent * q.powf(exponent - 1.0) * value;
            [((value - rest) / (1.0 - rest)) as f32, (slope / (1.0 - rest)) as f32]
        };
        // One entry more, so that rounding at the end finds a neighbour.
        let table = (0..ENTRIES + 2).map(entry).collect();
        Self { end, scale: (ENTRIES as f64 / end) as f32, table }
    }

    /// How far the profile reaches, in radii.
    fn reach(&self) -> f64 {
        self.end.sqrt()
    }

    /// Σ of the squared profile over the pixels of a round atom.
    pub fn energy(&self, radius: f64) -> f64 {
        // ∫ 4^(−q^p) π r² dq, by the table.
        let step = self.end / ENTRIES as f64;
        let sum: f64 = self.table[..ENTRIES].iter().map(|e| f64::from(e[0]).powi(2)).sum();
        std::f64::consts::PI * radius * radius * sum * step
    }

    #[inline(always)]
    fn at(&self, q: f32) -> [f32; 2] {
        let place = (q * self.scale).min(ENTRIES as f32);
        let i = place as usize;
        let part = place - i as f32;
        let (a, b) = (self.table[i], self.table[i + 1]);
        [a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])]
    }

    /// The pixels that an atom can reach when its radii grow by the factor `room`, within a plane.
    pub fn frame(&self, atom: &Atom, room: f64, size: (usize, usize)) -> Frame {
        let reach = self.reach() * atom.longer() * room + 1.0;
        let ends = |at: f64, len: usize| {
            let from = (at - reach).floor().clamp(0.0, len as f64) as usize;
            let to = (at + reach + 1.0).ceil().clamp(0.0, len as f64) as usize;
            (from, to.max(from))
        };
        Frame { x: ends(atom.x(), size.0), y: ends(atom.y(), size.1) }
    }

    /// Calls `visit(row, first column, values)` for every row of the atom inside the frame; rows and columns count from the frame's corner.
    pub fn rows(&self, atom: &Atom, frame: &Frame, mut visit: impl FnMut(usize, usize, usize, Row)) {
        let Atom([x, y, l1, l2, angle, height]) = *atom;
        let (r1, r2) = (l1.exp(), l2.exp());
        let (sin, cos) = angle.sin_cos();
        let (ux, uy, vx, vy) = (cos / r1, sin / r1, -sin / r2, cos / r2);
        let (a, b, c) = (ux * ux + vx * vx, ux * uy + vx * vy, uy * uy + vy * vy);
        // q < end between the roots of a dx² + 2 b dx dy + c dy² = end; and rows up to where they meet.
        let tall = (self.end * a / (a * c - b * b)).sqrt();
        let from = (y - tall).ceil().max(frame.y.0 as f64) as usize;
        let to = ((y + tall).floor() + 1.0).clamp(0.0, frame.y.1 as f64) as usize;
        for row in from..to {
            let dy = row as f64 - y;
            let root = (b * dy).powi(2) - a * (c * dy * dy - self.end);
            if root <= 0.0 {
                continue;
            }
            let (middle, half) = (x - b * dy / a, root.sqrt() / a);
            let first = (middle - half).ceil().max(frame.x.0 as f64) as usize;
            let last = ((middle + half).floor() + 1.0).clamp(0.0, frame.x.1 as f64) as usize;
            if first < last {
                let dx = first as f64 - x;
                let line = Row {
                    u: (dx * ux + dy * uy) as f32,
                    v: (dx * vx + dy * vy) as f32,
                    step: (ux as f32, vx as f32),
                    height: height.exp() as f32,
                };
                visit(row - frame.y.0, first - frame.x.0, last - first, line);
            }
        }
    }

    /// Adds `sign` times the atom to the pixels of a frame.
    pub fn add(&self, atom: &Atom, sign: f32, pixels: &mut [f32], frame: &Frame) {
        let width = frame.width();
        self.rows(atom, frame, |row, first, len, line| {
            let start = row * width + first;
            let height = sign * line.height;
            for (i, pixel) in pixels[start..start + len].iter_mut().enumerate() {
                let (u, v) = line.at(i);
                *pixel += height * self.at(u * u + v * v)[0];
            }
        });
    }

    /// Takes the atom off `pixels` and notes its gradient, pixel after pixel.
    pub fn take(&self, atom: &Atom, pixels: &mut [f32], frame: &Frame, patch: &mut Patch) {
        let width = frame.width();
        patch.clear();
        let Atom([_, _, l1, l2, angle, _]) = *atom;
        let (r1, r2) = (l1.exp() as f32, l2.exp() as f32);
        let (sin, cos) = (angle.sin() as f32, angle.cos() as f32);
        let turn = 2.0 * (r2 / r1 - r1 / r2);
        self.rows(atom, frame, |row, first, len, line| {
            let start = row * width + first;
            let at = patch.add_row(start, len);
            let [px, py, p1, p2, pt, ph] = &mut patch.gradient;
            for (i, pixel) in pixels[start..start + len].iter_mut().enumerate() {
                let (u, v) = line.at(i);
                let [value, slope] = self.at(u * u + v * v);
                let (value, slope) = (line.height * value, line.height * slope);
                *pixel -= value;
                px[at + i] = -2.0 * slope * (u * cos / r1 - v * sin / r2);
                py[at + i] = -2.0 * slope * (u * sin / r1 + v * cos / r2);
                p1[at + i] = -2.0 * slope * u * u;
                p2[at + i] = -2.0 * slope * v * v;
                pt[at + i] = slope * u * v * turn;
                ph[at + i] = value;
            }
        });
    }
}

/// A row of an atom: u and v at its first pixel, and what a pixel adds to them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    u: f32,
    v: f32,
    step: (f32, f32),
    height: f32,
}

impl Row {
    #[inline(always)]
    fn at(&self, i: usize) -> (f32, f32) {
        (self.u + i as f32 * self.step.0, self.v + i as f32 * self.step.1)
    }
}

/// The gradient of an atom over the pixels it reaches: one list for each mark, rows one after the other.
#[derive(Debug, Default)]
pub(super) struct Patch {
    /// Of each row: its first pixel's place in the frame, its length, and where it starts in the lists.
    pub rows: Vec<(usize, usize, usize)>,
    pub gradient: [Vec<f32>; MARKS],
}

impl Patch {
    fn clear(&mut self) {
        self.rows.clear();
        self.gradient.iter_mut().for_each(Vec::clear);
    }

    fn add_row(&mut self, start: usize, len: usize) -> usize {
        let at = self.gradient[0].len();
        self.rows.push((start, len, at));
        self.gradient.iter_mut().for_each(|list| list.resize(at + len, 0.0));
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { x: (0, 40), y: (0, 36) };

    fn image(shape: &Profile, atom: &Atom) -> Vec<f64> {
        let mut pixels = vec![0.0; FRAME.len()];
        shape.add(atom, 1.0, &mut pixels, &FRAME);
        pixels.iter().map(|&p| f64::from(p)).collect()
    }

    #[test]
    fn atoms_are_the_formula() {
        for p in [1.0, 1.5, 3.0] {
            let atom = Atom([19.3, 17.8, 6f64.ln(), 3.5f64.ln(), 0.7, 8f64.ln()]);
            let pixels = image(&Profile::new(p), &atom);
            for (i, pixel) in pixels.iter().enumerate() {
                let (dx, dy) = ((i % 40) as f64 - 19.3, (i / 40) as f64 - 17.8);
                let (sin, cos) = 0.7f64.sin_cos();
                let q = ((dx * cos + dy * sin) / 6.0).powi(2) + ((dy * cos - dx * sin) / 3.5).powi(2);
                let value = 8.0 * 0.5f64.powf(q.powf(p));
                // The tail is brought down by up to a hundredth of the height, and is gone beyond.
                assert!((pixel - value).abs() < 0.012 * 8.0, "p {p}, pixel {i}: {pixel} {value}");
            }
        }
    }

    /// Pixels near the end of the profile are left out, where it has a bend.
    #[test]
    fn gradients_are_differences() {
        for p in [1.0, 1.25, 2.0] {
            let shape = Profile::new(p);
            let atom = Atom([19.3, 17.8, 6f64.ln(), 3.5f64.ln(), 0.7, 8f64.ln()]);
            let mut patch = Patch::default();
            shape.take(&atom, &mut vec![0.0; FRAME.len()], &FRAME, &mut patch);
            let height = |pixel: usize| image(&shape, &atom)[pixel];
            for mark in 0..MARKS {
                let (mut up, mut down) = (atom, atom);
                (up.0[mark], down.0[mark]) = (up.0[mark] + 1e-2, down.0[mark] - 1e-2);
                let (up, down) = (image(&shape, &up), image(&shape, &down));
                for &(start, len, at) in &patch.rows {
                    for i in (0..len).filter(|i| height(start + i) > 0.2) {
                        let difference = (up[start + i] - down[start + i]) / 2e-2;
                        let gradient = f64::from(patch.gradient[mark][at + i]);
                        assert!(
                            (difference - gradient).abs() < 2e-2,
                            "p {p}, mark {mark}: {difference} {gradient}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn energy_is_the_sum_of_squares() {
        for p in [1.0, 2.0] {
            let shape = Profile::new(p);
            let sum: f64 = image(&shape, &Atom::round(20.0, 18.0, 5.0, 1.0)).iter().map(|v| v * v).sum();
            assert!((shape.energy(5.0) / sum - 1.0).abs() < 0.02);
        }
    }
}
