//! What the cells of an image have in common: an empirical-Bayes prior on size, aspect and height.

use super::atom::Atom;

/// Normal laws of the logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prior {
    /// The mean and deviation of ln of the size.
    pub size: (f64, f64),
    /// The deviation of ln of the aspect, around 0.
    pub aspect: f64,
    /// The mean and deviation of ln of the height.
    pub height: (f64, f64),
}

/// Fewer cells than this say too little.
const ENOUGH: usize = 12;

impl Prior {
    /// Before any cell is known: sizes within a factor e^¼ and heights within a factor 2.
    pub fn wide(radius: f64, height: f64) -> Self {
        Self { size: (radius.ln(), 0.25), aspect: 0.5, height: (height.ln(), 0.7) }
    }

    /// −ln of the density, without its constant.
    pub fn energy(&self, atom: &Atom) -> f64 {
        let size = (atom.log_size() - self.size.0) / self.size.1;
        let aspect = atom.log_aspect() / self.aspect;
        let height = (atom.log_height() - self.height.0) / self.height.1;
        0.5 * (size * size + aspect * aspect + height * height)
    }

    /// The radius of a typical cell.
    pub fn radius(&self) -> f64 {
        self.size.0.exp()
    }

    /// From atoms, those that stand alone where these are enough. Medians, because some atoms are wrong; and deviations within bounds, so
    /// that the prior neither forbids what it has not seen nor allows everything.
    pub fn update(&self, atoms: &[(Atom, bool)]) -> Self {
        let alone: Vec<&Atom> = atoms.iter().filter(|(_, alone)| *alone).map(|(atom, _)| atom).collect();
        let all: Vec<&Atom> = atoms.iter().map(|(atom, _)| atom).collect();
        let atoms = if alone.len() >= ENOUGH { alone } else { all };
        if atoms.is_empty() {
            return *self;
        }
        if atoms.len() < ENOUGH {
            // A few say where the middle is, but not how far others lie from it.
            let size = median(atoms.iter().map(|a| a.log_size()).collect());
            let height = median(atoms.iter().map(|a| a.log_height()).collect());
            return Self { size: (size, self.size.1), height: (height, self.height.1), ..*self };
        }
        let (size, spread) = median_and_spread(atoms.iter().map(|a| a.log_size()).collect());
        let aspect = 1.4826 * median(atoms.iter().map(|a| a.log_aspect().abs()).collect());
        let (height, range) = median_and_spread(atoms.iter().map(|a| a.log_height()).collect());
        Self {
            size: (size, spread.clamp(0.06, 0.35)),
            aspect: aspect.clamp(0.1, 0.6),
            height: (height, range.clamp(0.15, 0.8)),
        }
    }
}

/// The middle value.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The median, and the deviation of a normal law with the same median distance from it.
fn median_and_spread(values: Vec<f64>) -> (f64, f64) {
    let middle = median(values.clone());
    (middle, 1.4826 * median(values.iter().map(|v| (v - middle).abs()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::random;

    #[test]
    fn laws_come_back_from_cells_drawn_by_them() {
        let mut rng = random::rng(1, 0);
        let draw = |rng: &mut random::Rng| {
            let (m, a) = (1.8 + 0.2 * random::normal(rng), 0.3 * random::normal(rng));
            Atom([0.0, 0.0, m + a / 2.0, m - a / 2.0, 0.0, 4.0 + 0.4 * random::normal(rng)])
        };
        let atoms: Vec<(Atom, bool)> = (0..4000).map(|_| (draw(&mut rng), true)).collect();
        let prior = Prior::wide(3.0, 3.0).update(&atoms);
        // The standard error of a spread by medians is 1.17/√n of it, near 2 %; five of them.
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.1;
        assert!(near(prior.size.0, 1.8) && near(prior.size.1, 0.2) && near(prior.aspect, 0.3), "{prior:?}");
        assert!(near(prior.height.0, 4.0) && near(prior.height.1, 0.4), "{prior:?}");
        // A few cells move the middle and leave the spread.
        let few = prior.update(&atoms[..5]);
        assert_eq!((few.size.1, few.aspect, few.height.1), (prior.size.1, prior.aspect, prior.height.1));
        assert!(few.size.0 != prior.size.0 && prior.update(&[]) == prior);
    }
}
