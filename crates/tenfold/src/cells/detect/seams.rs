//! The cells of neighbouring tiles brought together.
//!
//! A cell belongs to the tile that holds its centre. Two tiles see a cell at their seam with slightly different centres, so both may claim it, or
//! each leave it to the other; here such cells are counted once.

use super::super::Window;
use super::atom::Atom;
use super::spikes::Spoilt;

/// Centres in two tiles within this many typical radii are the same cell.
const SAME: f64 = 0.5;

/// What one tile found, its surroundings included.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub core: Window,
    /// In the image's coordinates.
    pub atoms: Vec<Atom>,
    pub background: (f32, f32),
    pub rounds: usize,
    pub spoilt: Spoilt,
}

crate::checkpoint::keep! { Part { core, atoms, background, rounds, spoilt } }

impl Part {
    /// How far a centre lies inside the core; negative outside. A pixel ends half-way to the next.
    fn depth(&self, atom: &Atom) -> f64 {
        let inside = |at: f64, from: usize, len: usize| {
            let from = from as f64 - 0.5;
            (at - from).min(from + len as f64 - at)
        };
        let across = inside(atom.x(), self.core.x, self.core.width);
        across.min(inside(atom.y(), self.core.y, self.core.height))
    }
}

/// The cells of all tiles, each once, from the top down.
pub(super) fn join(parts: Vec<Part>, radius: f64) -> Vec<Atom> {
    // Inside by more than `strip`, a cell is the tile's own whatever others see; within it, the tiles must agree.
    let strip = SAME * radius;
    let mut sure: Vec<Atom> = Vec::new();
    let mut claims: Vec<(f64, usize, Atom)> = Vec::new();
    for (tile, part) in parts.iter().enumerate() {
        for atom in &part.atoms {
            match part.depth(atom) {
                depth if depth > strip => sure.push(*atom),
                depth if depth > -strip => claims.push((depth, tile, *atom)),
                _ => {}
            }
        }
    }
    sure.extend(settled(claims, strip));
    sure.sort_by(|a, b| a.y().total_cmp(&b.y()).then(a.x().total_cmp(&b.x())));
    sure
}

/// Claims in strips along seams: each cell once, as the tile sees it in which it lies deepest.
fn settled(mut claims: Vec<(f64, usize, Atom)>, strip: f64) -> Vec<Atom> {
    claims.sort_by(|a, b| a.2.y().total_cmp(&b.2.y()).then(a.2.x().total_cmp(&b.2.x())).then(a.1.cmp(&b.1)));
    // Rows of claims, so that only those within a strip above and below are compared.
    let near = |i: usize| {
        let y = claims[i].2.y();
        let before = claims[..i].partition_point(|claim| claim.2.y() < y - strip);
        let after = claims.partition_point(|claim| claim.2.y() <= y + strip);
        (before..after).filter(move |&j| j != i)
    };
    let same = |i: usize, j: usize| claims[i].1 != claims[j].1 && claims[i].2.distance(&claims[j].2) < strip;
    let kept = |i: usize| {
        let (depth, tile, _) = claims[i];
        let rivals: Vec<usize> = near(i).filter(|&j| same(i, j)).collect();
        // Outside the core it counts only when the owner sees it outside its own as well.
        let seen = depth >= 0.0 || !rivals.is_empty();
        seen && rivals.iter().all(|&j| (claims[j].0, tile) < (depth, claims[j].1))
    };
    (0..claims.len()).filter(|&i| kept(i)).map(|i| claims[i].2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(x: usize, atoms: &[(f64, f64)]) -> Part {
        let core = Window { x, y: 0, width: 100, height: 100 };
        let atoms = atoms.iter().map(|&(x, y)| Atom::round(x, y, 6.0, 1.0)).collect();
        Part { core, atoms, background: (0.0, 0.0), rounds: 0, spoilt: (0, 0, 0) }
    }

    #[test]
    fn a_cell_at_a_seam_is_counted_once() {
        let places = |left: &[(f64, f64)], right: &[(f64, f64)]| {
            join(vec![part(0, left), part(100, right)], 6.0).iter().map(|a| a.x()).collect::<Vec<_>>()
        };
        // Both claim it, each leaves it to the other, both agree; and one that only the wrong tile sees.
        assert_eq!(places(&[(99.2, 50.0)], &[(100.4, 50.0)]).len(), 1);
        assert_eq!(places(&[(100.3, 50.0)], &[(98.8, 50.0)]).len(), 1);
        assert_eq!(places(&[(98.0, 50.0)], &[(98.1, 50.0)]), [98.0]);
        assert_eq!(places(&[(101.0, 50.0)], &[]), [0.0; 0]);
        assert_eq!(places(&[(50.0, 50.0), (120.0, 50.0)], &[(120.1, 50.0)]), [50.0, 120.1]);
        assert_eq!(places(&[(97.0, 50.0), (99.4, 54.0)], &[(99.4, 54.0), (97.0, 50.0)]).len(), 2);
    }
}
