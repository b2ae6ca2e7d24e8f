//! Moves between explanations: one atom fewer, one more by a split, one more where something is left.
//!
//! An explanation with n atoms costs its energy + λ n; each move is taken when it lowers the cost after the neighbours have been refined.

use super::atom::Atom;
use super::field::Field;
use super::group::Weigh;
use super::seeds::Seeds;
use crate::error::Result;
use tenfold_engine::progress::Progress;

/// Steps of refinement in a move: with the atoms as they are, without one, and with two in place of one.
const STEPS: (usize, usize, usize) = (3, 6, 8);

/// Two atoms nearer than this many typical radii are one cell.
const APART: f64 = 0.5;

/// What a round of moves needs to know.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub weigh: Weigh,
    /// λ: what an atom must gain.
    pub price: f64,
    /// Where an atom may be born.
    pub seeds: Seeds,
}

impl Field {
    /// One round over all atoms that were stirred in the last one; returns how many moves were taken.
    ///
    /// # Errors
    /// When the caller stops the run.
    pub fn round(&mut self, rules: &Rules, round: usize, progress: &dyn Progress) -> Result<usize> {
        let weigh = &rules.weigh;
        let mut order: Vec<usize> =
            (0..self.atoms.len()).filter(|&i| self.alive[i] && self.stirred[i] + 1 >= round).collect();
        let weight = |atom: &Atom| atom.log_height() + 2.0 * atom.log_size();
        order.sort_by(|&a, &b| weight(&self.atoms[a]).total_cmp(&weight(&self.atoms[b])));
        let mut taken = 0;
        for i in order {
            progress.check()?;
            taken += usize::from(self.reconsider(i, rules, round));
        }
        let births = rules.seeds.find(&self.unexplained(), 0.7);
        for (x, y, height) in births {
            progress.check()?;
            let atom = Atom::round(x, y, weigh.prior.radius(), height);
            taken += usize::from(self.birth(atom, rules, round));
        }
        Ok(taken)
    }

    /// Weighs atom `i` as it is, gone, or split.
    fn reconsider(&mut self, i: usize, rules: &Rules, round: usize) -> bool {
        let weigh = &rules.weigh;
        let radius = weigh.prior.radius();
        let mut members = vec![i];
        members.extend(self.together(&self.atoms[i], Some(i)));
        let halves = self.halves(i, weigh);
        self.aim(&members, halves.as_flattened(), weigh);
        let mut same: Vec<Atom> = members.iter().map(|&m| self.atoms[m]).collect();
        let as_is = self.shop.refine(&mut same, weigh, STEPS.0, radius);
        let mut fewer = same[1..].to_vec();
        let without = match fewer.is_empty() {
            true => self.shop.energy(&[], weigh),
            false => self.shop.refine(&mut fewer, weigh, STEPS.1, radius),
        };
        if without < as_is + rules.price {
            let gone = self.atoms[i];
            self.remove(i, weigh);
            self.settle(&members[1..], &fewer, weigh);
            self.stir(&gone, round);
            return true;
        }
        let mut best: Option<(f64, Vec<Atom>)> = None;
        for pair in halves {
            let mut more = pair.to_vec();
            more.extend(&same[1..]);
            let energy = self.shop.refine(&mut more, weigh, STEPS.2, 1.2 * radius);
            if best.as_ref().is_none_or(|(least, _)| energy < *least) {
                best = Some((energy, more));
            }
        }
        if let Some((energy, more)) = best
            && energy + rules.price < as_is
            && more[0].distance(&more[1]) > APART * radius
        {
            self.replace(i, more[0], weigh);
            self.settle(&members[1..], &more[2..], weigh);
            self.add(more[1], weigh, round);
            self.stir(&more[0], round);
            self.stir(&more[1], round);
            return true;
        }
        self.settle(&members, &same, weigh);
        false
    }

    /// Two atoms each in place of one that is large or bright enough to be two: along its longer axis, and across where it is nearly
    /// round.
    fn halves(&self, i: usize, weigh: &Weigh) -> Vec<[Atom; 2]> {
        let (atom, prior) = (self.atoms[i], &weigh.prior);
        if atom.log_size() < prior.size.0 - 0.1 && atom.log_height() < prior.height.0 + 0.2 {
            return Vec::new();
        }
        let mut angles = vec![atom.direction()];
        if atom.log_aspect().abs() < 0.15 {
            angles.push(angles[0] + std::f64::consts::FRAC_PI_2);
        }
        let size = atom.log_size().min(prior.size.0);
        let at = |angle: f64, side: f64| {
            let far = side * 0.6 * atom.longer();
            let (x, y) = (atom.x() + far * angle.cos(), atom.y() + far * angle.sin());
            Atom([x, y, size, size, angle, atom.log_height() - 0.25])
        };
        angles.into_iter().map(|angle| [at(angle, 1.0), at(angle, -1.0)]).collect()
    }

    /// Weighs an atom more.
    fn birth(&mut self, atom: Atom, rules: &Rules, round: usize) -> bool {
        let weigh = &rules.weigh;
        let radius = weigh.prior.radius();
        let members = self.together(&atom, None);
        self.aim(&members, &[atom], weigh);
        let mut same: Vec<Atom> = members.iter().map(|&m| self.atoms[m]).collect();
        let as_is = match same.is_empty() {
            true => self.shop.energy(&[], weigh),
            false => self.shop.refine(&mut same, weigh, 2, radius),
        };
        let mut more = vec![atom];
        more.extend(&same);
        let energy = self.shop.refine(&mut more, weigh, STEPS.1, radius);
        let apart = more[1..].iter().all(|other| more[0].distance(other) > APART * radius)
            && self
                .beside(&more[0], None)
                .iter()
                .all(|&(_, o)| self.atoms[o].distance(&more[0]) > APART * radius);
        if !apart || energy + rules.price >= as_is {
            return false;
        }
        self.settle(&members, &more[1..], weigh);
        self.add(more[0], weigh, round);
        self.stir(&more[0], round);
        true
    }

    fn settle(&mut self, members: &[usize], atoms: &[Atom], weigh: &Weigh) {
        for (&m, &atom) in members.iter().zip(atoms) {
            self.replace(m, atom, weigh);
        }
    }
}
