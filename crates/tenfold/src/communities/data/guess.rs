//! What kind of graph some edges are, where nobody says so.

use super::Kind;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU8, Ordering};

/// Pairs that are looked at in a large graph: a share is then known to a part in a thousand.
const SAMPLE: usize = 1 << 18;

/// The share of pairs with edges in both directions from which on a list is taken to hold both directions of every
/// edge, and one minus it up to which it is taken to hold one.
const NEARLY: f64 = 0.99;

/// How many linked pairs of different nodes have edges in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pairs {
    pub(super) seen: usize,
    pub(super) both: usize,
}

impl Pairs {
    /// Up to this many edges all pairs are looked at, beyond that about as many as [`SAMPLE`].
    pub(super) const ALL: usize = 1 << 20;

    /// Counts the pairs. Which ones are looked at depends on the smaller node alone, so that both directions of an edge
    /// are seen or neither.
    pub(super) fn count(edges: &[Vec<(u32, u32)>]) -> Self {
        let total: usize = edges.iter().map(Vec::len).sum();
        let keep = if total <= Self::ALL { u32::MAX } else { ((SAMPLE << 32) / total) as u32 };
        // Multiplying by an odd number mixes the upper bits (Fibonacci hashing).
        let looked_at = |i: u32| i.wrapping_mul(0x9e37_79b9) <= keep;
        let mut pairs: Vec<(u32, u32, bool)> = edges
            .par_iter()
            .flat_map_iter(|chunk| chunk.iter())
            .filter(|(i, j)| i != j && looked_at(*i.min(j)))
            .map(|&(i, j)| (i.min(j), i.max(j), i > j))
            .collect();
        pairs.par_sort_unstable();
        pairs.dedup();
        let (mut seen, mut both) = (0, 0);
        for same in pairs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            seen += 1;
            both += usize::from(same.len() == 2);
        }
        Self { seen, both }
    }

    fn share(self) -> f64 {
        self.both as f64 / self.seen.max(1) as f64
    }

    /// Whether the list holds both directions of edges that have none.
    pub(super) fn doubled(self) -> bool {
        self.seen > 0 && self.share() >= NEARLY
    }

    /// The kind, and the reason for it.
    pub(super) fn kind(self) -> (Kind, String) {
        let percent = format!("{:.1} %", 100.0 * self.share());
        match self.share() {
            _ if self.seen == 0 => (Kind::Undirected, "there is nothing to tell by".into()),
            share if self.both == self.seen || share >= NEARLY => {
                (Kind::Undirected, format!("{percent} of the pairs stand in both directions"))
            }
            share if share > 1.0 - NEARLY => (
                Kind::Directed,
                format!("{percent} of the pairs stand in both directions, the others in one"),
            ),
            _ if self.both == 0 => (Kind::Undirected, "no pair stands in both directions".into()),
            _ => (Kind::Undirected, format!("only {percent} of the pairs stand in both directions")),
        }
    }
}

/// On which sides of edges each node stands.
pub(super) struct Sides(Vec<u8>);

impl Sides {
    const LEFT: u8 = 1;
    const RIGHT: u8 = 2;

    pub(super) fn of(edges: &[Vec<(u32, u32)>], nodes: usize) -> Self {
        let sides: Vec<AtomicU8> = (0..nodes).map(|_| AtomicU8::new(0)).collect();
        let see = |i: u32, side: u8| {
            let flags = &sides[i as usize];
            // A look is cheaper than a write that other threads must wait for.
            if flags.load(Ordering::Relaxed) & side == 0 {
                flags.fetch_or(side, Ordering::Relaxed);
            }
        };
        edges.par_iter().for_each(|chunk| {
            chunk.iter().for_each(|&(i, j)| {
                see(i, Self::LEFT);
                see(j, Self::RIGHT);
            });
        });
        Self(sides.into_iter().map(AtomicU8::into_inner).collect())
    }

    /// A node that stands on both sides, if there is one.
    pub(super) fn on_both(&self) -> Option<usize> {
        self.0.iter().position(|flags| *flags == Self::LEFT | Self::RIGHT)
    }

    /// Which nodes stand on the left; those without edges count as left.
    pub(super) fn left(&self) -> Vec<bool> {
        self.0.iter().map(|flags| *flags != Self::RIGHT).collect()
    }

    /// Which nodes stand on the right.
    pub(super) fn right(&self) -> Vec<bool> {
        self.0.iter().map(|flags| flags & Self::RIGHT != 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_tell_the_kind() {
        let kind = |edges: &[(u32, u32)]| Pairs::count(&[edges.to_vec(), vec![]]).kind().0;
        let ring: Vec<(u32, u32)> = (0..200).map(|i| (i, (i + 1) % 200)).collect();
        let back: Vec<(u32, u32)> = ring.iter().map(|&(i, j)| (j, i)).collect();
        assert_eq!(kind(&ring), Kind::Undirected);
        assert_eq!(kind(&[ring.clone(), back.clone()].concat()), Kind::Undirected);
        assert_eq!(kind(&[&ring[..], &back[..40]].concat()), Kind::Directed);
        assert_eq!(kind(&[&ring[..], &back[..1], &ring[..9], &[(3, 3)]].concat()), Kind::Undirected);
        assert_eq!(kind(&[]), Kind::Undirected);
        let pairs = Pairs::count(&[vec![(1, 2), (2, 1), (2, 1), (4, 4), (5, 4)]]);
        assert_eq!(pairs, Pairs { seen: 2, both: 1 });
    }

    #[test]
    fn a_large_list_is_looked_at_in_part() {
        let edges: Vec<(u32, u32)> =
            (0..1_500_000u32).flat_map(|i| [(i, i + 1), (i + 1, i)]).take(2_000_000).collect();
        let pairs = Pairs::count(&[edges]);
        assert!((100_000..300_000).contains(&pairs.seen), "{pairs:?}");
        assert!(pairs.doubled());
    }

    #[test]
    fn sides() {
        let sides = Sides::of(&[vec![(0, 2), (1, 2)], vec![(0, 3)]], 5);
        assert_eq!(sides.on_both(), None);
        assert_eq!(sides.left(), [true, true, false, false, true]);
        assert_eq!(sides.right(), [false, false, true, true, false]);
        assert_eq!(Sides::of(&[vec![(0, 1), (1, 2)]], 3).on_both(), Some(1));
    }
}
