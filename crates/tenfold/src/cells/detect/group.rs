//! Neighbouring atoms refined together.
//!
//! Minimises Σ (target − Σ atoms)² / (2 s²) + Σ prior over all marks of all atoms of a group by Levenberg and Marquardt's damped steps. The
//! target is the image without all other atoms, inside one frame, so that energies of several explanations can be compared.

use super::atom::{Atom, Frame, MARKS, Patch};
use super::family::Shape;
use super::prior::Prior;

/// Longest steps: of a place in pixels, and of a logarithm or an angle.
const STEP: (f64, f64) = (1.5, 0.35);

/// A step that gains less than this has come to rest: energies are differences of log-likelihoods, and moves turn on several units.
const REST: f64 = 1e-2;

/// What explanations are weighed by.
#[derive(Debug, Clone)]
pub(super) struct Weigh {
    pub shape: Shape,
    pub prior: Prior,
    /// s²: the variance of a pixel, times the pixels over which the misfit hangs together.
    pub variance: f64,
    /// ln of the largest radius: beyond it an atom cannot be told from the background.
    pub largest: f64,
}

/// Memory for refining groups, used again and again.
#[derive(Debug, Default)]
pub(super) struct Workshop {
    frame: Option<Frame>,
    target: Vec<f32>,
    /// Which pixels of the frame are cut off; empty where none is.
    clipped: Vec<bool>,
    left: Vec<f32>,
    patches: Vec<Patch>,
    normal: Vec<f64>,
    factor: Vec<f64>,
    pull: Vec<f64>,
    step: Vec<f64>,
    pairs: [Vec<Vec<f32>>; 2],
}

impl Workshop {
    /// Sets the target: the pixels of a plane inside a frame, and which of them are cut off.
    pub fn aim(&mut self, (pixels, clipped): (&[f32], &[bool]), width: usize, frame: Frame) {
        self.target.clear();
        self.clipped.clear();
        for y in frame.y.0..frame.y.1 {
            let row = y * width + frame.x.0..y * width + frame.x.1;
            self.target.extend_from_slice(&pixels[row.clone()]);
            if !clipped.is_empty() {
                self.clipped.extend_from_slice(&clipped[row]);
            }
        }
        if !self.clipped.contains(&true) {
            self.clipped.clear();
        }
        self.frame = Some(frame);
    }

    /// Adds an atom to the target.
    pub fn give_back(&mut self, atom: &Atom, shape: &Shape) {
        let frame = self.frame.expect("a target");
        shape.add(atom, 1.0, &mut self.target, &frame);
    }

    /// The energy of atoms as they are.
    pub fn energy(&mut self, atoms: &[Atom], weigh: &Weigh) -> f64 {
        let frame = self.frame.expect("a target");
        self.left.clear();
        self.left.extend_from_slice(&self.target);
        for atom in atoms {
            weigh.shape.add(atom, -1.0, &mut self.left, &frame);
        }
        forgive(&mut self.left, &self.clipped);
        self.weighed(atoms, weigh)
    }

    fn weighed(&self, atoms: &[Atom], weigh: &Weigh) -> f64 {
        let prior: f64 = atoms.iter().map(|atom| weigh.prior.energy(atom)).sum();
        dot(&self.left, &self.left) / (2.0 * weigh.variance) + prior
    }

    /// Refines `atoms` in at most `steps` steps, each staying within `room` pixels of where it began; returns the energy.
    pub fn refine(&mut self, atoms: &mut [Atom], weigh: &Weigh, steps: usize, room: f64) -> f64 {
        let start = atoms.to_vec();
        let mut trial = start.clone();
        let mut damping = 1e-2;
        let mut energy = self.linearise(atoms, weigh);
        for step in 0..steps {
            let mut gain = None;
            for _ in 0..4 {
                if self.solve(atoms.len(), damping) {
                    for (k, atom) in trial.iter_mut().enumerate() {
                        *atom = moved(&atoms[k], &self.step[k * MARKS..], (&start[k], room), weigh.largest);
                    }
                    let reached = self.energy(&trial, weigh);
                    if reached < energy {
                        gain = Some(energy - reached);
                        energy = reached;
                        break;
                    }
                }
                damping *= 6.0;
            }
            let Some(gain) = gain else { break };
            atoms.copy_from_slice(&trial);
            damping = (damping * 0.3).max(1e-5);
            if gain < REST || step + 1 == steps {
                break;
            }
            self.linearise(atoms, weigh);
        }
        energy
    }

    /// The normal equations at `atoms`; returns the energy there.
    fn linearise(&mut self, atoms: &[Atom], weigh: &Weigh) -> f64 {
        let (frame, n) = (self.frame.expect("a target"), atoms.len() * MARKS);
        self.left.clear();
        self.left.extend_from_slice(&self.target);
        self.patches.resize_with(atoms.len().max(self.patches.len()), Patch::default);
        for (atom, patch) in atoms.iter().zip(&mut self.patches) {
            weigh.shape.take(atom, &mut self.left, &frame, patch);
        }
        self.let_go(atoms.len());
        let energy = self.weighed(atoms, weigh);
        self.normal.clear();
        self.normal.resize(n * n, 0.0);
        self.pull.clear();
        self.pull.resize(n, 0.0);
        let scale = 1.0 / weigh.variance;
        for k in 0..atoms.len() {
            self.own(k, n, scale);
            for other in 0..k {
                self.between(k, other, n, scale);
            }
            let o = k * MARKS;
            add_prior(&atoms[k], &weigh.prior, &mut self.normal[o * n + o..], n, &mut self.pull[o..]);
        }
        energy
    }

    /// Pixels that are cut off and lie below the model pull at nothing.
    fn let_go(&mut self, atoms: usize) {
        if self.clipped.is_empty() {
            return;
        }
        for patch in &mut self.patches[..atoms] {
            for &(start, len, at) in &patch.rows {
                for i in (0..len).filter(|i| self.clipped[start + i] && self.left[start + i] < 0.0) {
                    patch.gradient.iter_mut().for_each(|mark| mark[at + i] = 0.0);
                }
            }
        }
        forgive(&mut self.left, &self.clipped);
    }

    /// The block of one atom, and its pull.
    fn own(&mut self, k: usize, n: usize, scale: f64) {
        let patch = &self.patches[k];
        let left = &mut self.pairs[0];
        left.resize_with(MARKS, Vec::new);
        let gathered = &mut left[0];
        gathered.clear();
        for &(start, len, _) in &patch.rows {
            gathered.extend_from_slice(&self.left[start..start + len]);
        }
        let o = k * MARKS;
        for a in 0..MARKS {
            self.pull[o + a] = scale * dot(&patch.gradient[a], gathered);
            for b in 0..=a {
                self.normal[(o + a) * n + o + b] = scale * dot(&patch.gradient[a], &patch.gradient[b]);
            }
        }
    }

    /// The block between two atoms, over the pixels that both reach.
    fn between(&mut self, k: usize, other: usize, n: usize, scale: f64) {
        let width = self.frame.expect("a target").width();
        let [first, second] = &mut self.pairs;
        for lists in [&mut *first, &mut *second] {
            lists.resize_with(MARKS, Vec::new);
            lists.iter_mut().for_each(Vec::clear);
        }
        let (one, two) = (&self.patches[k], &self.patches[other]);
        let mut rows = two.rows.iter().peekable();
        for &(start, len, at) in &one.rows {
            while rows.next_if(|row| row.0 / width < start / width).is_some() {}
            let Some(&&(start2, len2, at2)) = rows.peek() else { break };
            if start2 / width != start / width {
                continue;
            }
            let (from, to) = (start.max(start2), (start + len).min(start2 + len2));
            if from < to {
                for mark in 0..MARKS {
                    first[mark].extend_from_slice(&one.gradient[mark][at + from - start..at + to - start]);
                    second[mark]
                        .extend_from_slice(&two.gradient[mark][at2 + from - start2..at2 + to - start2]);
                }
            }
        }
        if first[0].is_empty() {
            return;
        }
        for a in 0..MARKS {
            for b in 0..MARKS {
                self.normal[(k * MARKS + a) * n + other * MARKS + b] = scale * dot(&first[a], &second[b]);
            }
        }
    }

    /// Solves the damped equations by Cholesky; false when they are not positive definite.
    fn solve(&mut self, atoms: usize, damping: f64) -> bool {
        let n = atoms * MARKS;
        self.factor.clear();
        self.factor.extend_from_slice(&self.normal);
        self.step.clear();
        self.step.extend_from_slice(&self.pull);
        let l = &mut self.factor;
        for i in 0..n {
            l[i * n + i] = l[i * n + i] * (1.0 + damping) + 1e-9;
            for j in 0..=i {
                let mut sum = l[i * n + j];
                for k in 0..j {
                    sum -= l[i * n + k] * l[j * n + k];
                }
                if i == j {
                    if sum <= 0.0 || !sum.is_finite() {
                        return false;
                    }
                    l[i * n + i] = sum.sqrt();
                } else {
                    l[i * n + j] = sum / l[j * n + j];
                }
            }
        }
        for i in 0..n {
            let sum: f64 = (0..i).map(|k| l[i * n + k] * self.step[k]).sum();
            self.step[i] = (self.step[i] - sum) / l[i * n + i];
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|k| l[k * n + i] * self.step[k]).sum();
            self.step[i] = (self.step[i] - sum) / l[i * n + i];
        }
        true
    }
}

/// An atom one step on, the step cut to what the model can be trusted with.
fn moved(atom: &Atom, step: &[f64], (start, room): (&Atom, f64), largest: f64) -> Atom {
    let mut to = *atom;
    for mark in 0..MARKS {
        let most = if mark < 2 { STEP.0 } else { STEP.1 };
        to.0[mark] += step[mark].clamp(-most, most);
    }
    for mark in 0..2 {
        to.0[mark] = to.0[mark].clamp(start.0[mark] - room, start.0[mark] + room);
    }
    // An atom narrower than a pixel explains nothing but noise.
    for mark in 2..4 {
        to.0[mark] = to.0[mark].min(largest).max(-0.5);
    }
    to
}

/// A pixel that is cut off says that the image is at least this bright: a model above it is no misfit.
pub(super) fn forgive(left: &mut [f32], clipped: &[bool]) {
    for (value, _) in left.iter_mut().zip(clipped).filter(|(_, clipped)| **clipped) {
        *value = value.max(0.0);
    }
}

/// Second derivatives and the negative gradient of the prior, in the block of one atom.
fn add_prior(atom: &Atom, prior: &Prior, block: &mut [f64], n: usize, pull: &mut [f64]) {
    let (size, aspect, height) = (prior.size.1.powi(-2), prior.aspect.powi(-2), prior.height.1.powi(-2));
    let (off, skew) = (atom.log_size() - prior.size.0, atom.log_aspect());
    block[2 * n + 2] += 0.25 * size + aspect;
    block[3 * n + 3] += 0.25 * size + aspect;
    block[3 * n + 2] += 0.25 * size - aspect;
    // A round atom has no direction; a trifle holds it where it is.
    block[4 * n + 4] += 1e-3;
    block[5 * n + 5] += height;
    pull[2] -= 0.5 * off * size + skew * aspect;
    pull[3] -= 0.5 * off * size - skew * aspect;
    pull[5] -= (atom.log_height() - prior.height.0) * height;
}

/// Σ a b in eight running sums, which the compiler keeps in vectors.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0f32; 8];
    let (left, right) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in left.zip(right) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().map(|&s| f64::from(s)).sum::<f64>() + f64::from(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { x: (0, 60), y: (0, 50) };

    fn weigh() -> Weigh {
        Weigh { shape: Shape::new(2.0), prior: Prior::wide(6.0, 50.0), variance: 4.0, largest: 5.0 }
    }

    fn two() -> [Atom; 2] {
        [
            Atom([24.2, 25.1, 7f64.ln(), 5f64.ln(), 0.4, 60f64.ln()]),
            Atom([34.7, 22.4, 6f64.ln(), 4.5f64.ln(), 1.9, 45f64.ln()]),
        ]
    }

    #[test]
    fn normal_equations_are_differences_of_the_energy() {
        let weigh = weigh();
        let mut pixels = vec![0.0; FRAME.len()];
        two().iter().for_each(|atom| weigh.shape.add(atom, 1.0, &mut pixels, &FRAME));
        let mut shop = Workshop::default();
        shop.aim((&pixels, &[]), 60, FRAME);
        let mut atoms = two();
        (atoms[0].0[0], atoms[1].0[3], atoms[0].0[5]) = (24.6, 5f64.ln(), 65f64.ln());
        shop.linearise(&atoms, &weigh);
        let pull = shop.pull.clone();
        for place in 0..12 {
            let mut shifted = |by: f64| {
                let mut atoms = atoms;
                atoms[place / 6].0[place % 6] += by;
                shop.energy(&atoms, &weigh)
            };
            let slope = (shifted(1e-3) - shifted(-1e-3)) / 2e-3;
            // Pixels are single precision: their squares sum to 1e4 with an error of 1e-3, which the difference divides by .002.
            assert!(
                (slope + pull[place]).abs() < 0.01 * slope.abs() + 0.5,
                "{place}: {slope} {}",
                -pull[place]
            );
        }
    }

    #[test]
    fn touching_atoms_come_back_from_a_rough_start() {
        let weigh = Weigh { variance: 1e-2, ..weigh() };
        let mut pixels = vec![0.0; FRAME.len()];
        two().iter().for_each(|atom| weigh.shape.add(atom, 1.0, &mut pixels, &FRAME));
        let mut shop = Workshop::default();
        shop.aim((&pixels, &[]), 60, FRAME);
        let mut atoms = [Atom::round(22.5, 26.0, 6.0, 50.0), Atom::round(36.0, 21.0, 6.0, 50.0)];
        shop.refine(&mut atoms, &weigh, 40, 6.0);
        for (found, truth) in atoms.iter().zip(two()) {
            assert!(found.distance(&truth) < 0.05, "{found:?}");
            assert!((found.longer() / truth.longer() - 1.0).abs() < 0.02, "{found:?}");
            let turned = (found.direction() - truth.direction()).rem_euclid(std::f64::consts::PI);
            assert!(turned.min(std::f64::consts::PI - turned) < 0.03, "{found:?}");
        }
    }

    #[test]
    fn nothing_left_has_no_energy_but_the_prior() {
        let weigh = weigh();
        let mut shop = Workshop::default();
        shop.aim((&vec![0.0; FRAME.len()], &[]), 60, FRAME);
        two().iter().for_each(|atom| shop.give_back(atom, &weigh.shape));
        let prior: f64 = two().iter().map(|atom| weigh.prior.energy(atom)).sum();
        assert!((shop.energy(&two(), &weigh) - prior).abs() < 1e-4);
    }

    /// A bright cell whose top is cut off at half its height: without the mask it comes back flat and wide.
    #[test]
    fn light_that_is_cut_off_is_no_misfit() {
        let weigh =
            Weigh { shape: Shape::new(1.0), prior: Prior::wide(6.0, 50.0), variance: 1.0, largest: 5.0 };
        let truth = Atom([30.3, 24.6, 8f64.ln(), 6f64.ln(), 0.5, 90f64.ln()]);
        let mut pixels = vec![0.0; FRAME.len()];
        weigh.shape.add(&truth, 1.0, &mut pixels, &FRAME);
        let clipped: Vec<bool> = pixels.iter().map(|&value| value >= 45.0).collect();
        pixels.iter_mut().for_each(|value| *value = value.min(45.0));
        let mut shop = Workshop::default();
        let mut fit = |clipped: &[bool]| {
            shop.aim((&pixels, clipped), 60, FRAME);
            let mut atoms = [Atom::round(30.0, 25.0, 6.0, 45.0)];
            let energy = shop.refine(&mut atoms, &weigh, 40, 6.0);
            (energy, atoms[0])
        };
        let ((right, found), (wrong, _)) = (fit(&clipped), fit(&[]));
        assert!(right < 0.05 * wrong, "{right} {wrong}");
        assert!(found.distance(&truth) < 0.1 && (found.longer() / 8.0 - 1.0).abs() < 0.05, "{found:?}");
        assert!((found.log_height() - truth.log_height()).abs() < 0.1, "{found:?}");
    }
}
