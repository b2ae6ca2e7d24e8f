//! The atoms of one part of the image, and what they leave unexplained.

use super::super::Plane;
use super::atom::{Atom, Frame};
use super::group::{Weigh, Workshop, forgive};
use super::tiles::Flat;
use crate::error::Result;
use std::borrow::Cow;
use tenfold_engine::progress::Progress;

/// Neighbours that are refined with an atom, at most: a fourth hardly touches it.
const TOGETHER: usize = 3;

/// Atoms whose centres are within this many sums of longer radii explain pixels of each other.
const TOUCH: f64 = 1.15;

/// Pixels beyond which a bucket ends; a few atoms each.
const BUCKET: usize = 16;

/// Atoms with the image that is left without them.
#[derive(Debug)]
pub(super) struct Field {
    pub left: Plane,
    clipped: Vec<bool>,
    pub atoms: Vec<Atom>,
    pub alive: Vec<bool>,
    /// The last round in which an atom, or one beside it, came, went or split.
    pub stirred: Vec<usize>,
    columns: usize,
    buckets: Vec<Vec<u32>>,
    longest: f64,
    pub shop: Workshop,
}

impl Field {
    /// No atoms yet.
    pub fn new(flat: Flat) -> Self {
        let image = flat.plane;
        let (columns, rows) = (image.width() / BUCKET + 1, image.height() / BUCKET + 1);
        Self {
            left: image,
            clipped: flat.clipped,
            atoms: Vec::new(),
            alive: Vec::new(),
            stirred: Vec::new(),
            columns,
            buckets: vec![Vec::new(); columns * rows],
            longest: 0.0,
            shop: Workshop::default(),
        }
    }

    pub fn size(&self) -> (usize, usize) {
        (self.left.width(), self.left.height())
    }

    /// The atoms that are there.
    pub fn living(&self) -> impl Iterator<Item = &Atom> {
        self.atoms.iter().zip(&self.alive).filter(|(_, alive)| **alive).map(|(atom, _)| atom)
    }

    /// What the image holds beyond the atoms, where pixels that are cut off hide nothing.
    pub fn unexplained(&self) -> Cow<'_, Plane> {
        let mut left = Cow::Borrowed(&self.left);
        if !self.clipped.is_empty() {
            forgive(left.to_mut().values_mut(), &self.clipped);
        }
        left
    }

    /// Adds an atom and takes it off the image.
    pub fn add(&mut self, atom: Atom, weigh: &Weigh, round: usize) -> usize {
        let i = self.atoms.len();
        self.paint(&atom, -1.0, weigh);
        let bucket = self.bucket(&atom);
        self.buckets[bucket].push(i as u32);
        self.longest = self.longest.max(atom.longer());
        self.atoms.push(atom);
        self.alive.push(true);
        self.stirred.push(round);
        i
    }

    /// Puts another atom in the place of `i`.
    pub fn replace(&mut self, i: usize, atom: Atom, weigh: &Weigh) {
        let old = self.atoms[i];
        if old == atom {
            return;
        }
        self.paint(&old, 1.0, weigh);
        self.paint(&atom, -1.0, weigh);
        let (from, to) = (self.bucket(&old), self.bucket(&atom));
        if from != to {
            self.buckets[from].retain(|&other| other as usize != i);
            self.buckets[to].push(i as u32);
        }
        self.longest = self.longest.max(atom.longer());
        self.atoms[i] = atom;
    }

    /// Gives an atom back to the image.
    pub fn remove(&mut self, i: usize, weigh: &Weigh) {
        let old = self.atoms[i];
        self.paint(&old, 1.0, weigh);
        let bucket = self.bucket(&old);
        self.buckets[bucket].retain(|&other| other as usize != i);
        self.alive[i] = false;
    }

    fn paint(&mut self, atom: &Atom, sign: f32, weigh: &Weigh) {
        let (width, height) = self.size();
        let frame = Frame { x: (0, width), y: (0, height) };
        weigh.shape.add(atom, sign, self.left.values_mut(), &frame);
    }

    fn bucket(&self, atom: &Atom) -> usize {
        let (width, height) = self.size();
        let x = atom.x().clamp(0.0, width as f64 - 1.0) as usize / BUCKET;
        let y = atom.y().clamp(0.0, height as f64 - 1.0) as usize / BUCKET;
        y * self.columns + x
    }

    /// Atoms beside `atom`, the nearest first, with distances in sums of longer radii; `own` is left out.
    pub fn beside(&self, atom: &Atom, own: Option<usize>) -> Vec<(f64, usize)> {
        let reach = TOUCH * (atom.longer() + self.longest);
        let rows = self.buckets.len() / self.columns;
        let ends = |at: f64, count: usize| {
            let from = ((at - reach) / BUCKET as f64).clamp(0.0, count as f64 - 1.0) as usize;
            let to = ((at + reach) / BUCKET as f64).clamp(0.0, count as f64 - 1.0) as usize;
            from..=to
        };
        let mut found = Vec::new();
        for y in ends(atom.y(), rows) {
            for x in ends(atom.x(), self.columns) {
                for &other in &self.buckets[y * self.columns + x] {
                    let other = other as usize;
                    let near =
                        atom.distance(&self.atoms[other]) / (atom.longer() + self.atoms[other].longer());
                    if near < TOUCH && Some(other) != own {
                        found.push((near, other));
                    }
                }
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found
    }

    /// The neighbours that are refined with an atom.
    pub fn together(&self, atom: &Atom, own: Option<usize>) -> Vec<usize> {
        self.beside(atom, own).into_iter().take(TOGETHER).map(|(_, other)| other).collect()
    }

    /// Sets the workshop's target to what `members` explain together with what is left, in a frame that holds them and `new`.
    pub fn aim(&mut self, members: &[usize], new: &[Atom], weigh: &Weigh) {
        let size = self.size();
        let atoms = members.iter().map(|&i| &self.atoms[i]).chain(new);
        let frames = atoms.map(|atom| weigh.shape.frame(atom, 1.15, size));
        let frame = frames.reduce(|a, b| a.with(&b)).expect("a group has members");
        self.shop.aim((self.left.values(), &self.clipped), size.0, frame);
        for &i in members {
            self.shop.give_back(&self.atoms[i], &weigh.shape);
        }
    }

    /// Refines every atom together with its neighbours, the brightest first.
    ///
    /// # Errors
    /// When the caller stops the run.
    pub fn sweep(&mut self, weigh: &Weigh, steps: usize, progress: &dyn Progress) -> Result<()> {
        let mut order: Vec<usize> = (0..self.atoms.len()).filter(|&i| self.alive[i]).collect();
        order.sort_by(|&a, &b| self.atoms[b].log_height().total_cmp(&self.atoms[a].log_height()));
        for i in order {
            progress.check()?;
            let mut members = vec![i];
            members.extend(self.together(&self.atoms[i], Some(i)));
            self.aim(&members, &[], weigh);
            let mut group: Vec<Atom> = members.iter().map(|&m| self.atoms[m]).collect();
            self.shop.refine(&mut group, weigh, steps, weigh.prior.radius());
            for (&m, atom) in members.iter().zip(group) {
                self.replace(m, atom, weigh);
            }
        }
        Ok(())
    }

    /// Marks atoms beside a place as stirred in `round`.
    pub fn stir(&mut self, atom: &Atom, round: usize) {
        for (_, other) in self.beside(atom, None) {
            self.stirred[other] = round;
        }
    }
}
