//! The profiles of cells of all sizes: one exponent for all, or edges of one width.
//!
//! A cell that is flat up to an edge of a width in pixels, whatever its size, is the flatter in its own units the larger it is. At half its height
//! A·2^(−q^p) falls by p ln 2 over one radius, so edges of one width are exponents that grow as the radius.

use super::atom::{Atom, Frame, Patch, Profile};

/// Exponents from a Gaussian to an edge as sharp as pixels show, in steps that change a profile by less than a fiftieth.
const RANGE: (f64, f64) = (1.0, 6.0);
const STEP: f64 = 1.08;

/// How the profile of a cell follows from its size.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// The exponent of a typical cell.
    pub exponent: f64,
    /// ln of the radius of a cell with this exponent, where edges have one width.
    typical: Option<f64>,
    profiles: Vec<Profile>,
}

impl Shape {
    /// One exponent for all sizes.
    pub fn new(exponent: f64) -> Self {
        Self { exponent, typical: None, profiles: vec![Profile::new(exponent)] }
    }

    /// Edges as wide as those of cells of this radius and exponent.
    pub fn edged(exponent: f64, radius: f64) -> Self {
        let steps = ((RANGE.1 / RANGE.0).ln() / STEP.ln()).ceil() as i32;
        let profiles = (0..=steps).map(|step| Profile::new(RANGE.0 * STEP.powi(step))).collect();
        Self { exponent, typical: Some(radius.ln()), profiles }
    }

    /// The profile of cells of this size.
    fn of(&self, log_size: f64) -> &Profile {
        let Some(typical) = self.typical else { return &self.profiles[0] };
        let exponent = (self.exponent / RANGE.0).ln() + log_size - typical;
        let step = (exponent / STEP.ln()).round().clamp(0.0, self.profiles.len() as f64 - 1.0);
        &self.profiles[step as usize]
    }

    /// Σ of the squared profile over the pixels of a round atom.
    pub fn energy(&self, radius: f64) -> f64 {
        self.of(radius.ln()).energy(radius)
    }

    /// The pixels that an atom can reach when its radii grow by the factor `room`, within a plane.
    pub fn frame(&self, atom: &Atom, room: f64, size: (usize, usize)) -> Frame {
        self.of(atom.log_size()).frame(atom, room, size)
    }

    /// Adds `sign` times the atom to the pixels of a frame.
    pub fn add(&self, atom: &Atom, sign: f32, pixels: &mut [f32], frame: &Frame) {
        self.of(atom.log_size()).add(atom, sign, pixels, frame);
    }

    /// Takes the atom off `pixels` and notes its gradient, pixel after pixel, as if its exponent stayed.
    pub fn take(&self, atom: &Atom, pixels: &mut [f32], frame: &Frame, patch: &mut Patch) {
        self.of(atom.log_size()).take(atom, pixels, frame, patch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From nine tenths of the height to a tenth, an edge is as many pixels wide at any size.
    #[test]
    fn edges_have_one_width() {
        let shape = Shape::edged(2.0, 8.0);
        let width = |radius: f64| {
            let mut pixels = vec![0.0; 60 * 3];
            let frame = Frame { x: (0, 60), y: (0, 3) };
            shape.add(&Atom::round(0.0, 1.0, radius, 1.0), 1.0, &mut pixels, &frame);
            let row = &pixels[60..120];
            let at = |level: f32| {
                let i = row.iter().position(|&v| v < level).unwrap();
                i as f32 - (level - row[i]) / (row[i - 1] - row[i])
            };
            at(0.2) - at(0.8)
        };
        for radius in [6.0, 12.0, 20.0] {
            assert!(
                (width(radius) / width(8.0) - 1.0).abs() < 0.15,
                "{radius}: {} {}",
                width(radius),
                width(8.0)
            );
        }
    }
}
