//! From which membership on a node is a member.

use std::fmt;

/// From which membership on a node counts as a member of a community. It always is one of the community it belongs to most,
/// and never of one of which it has nothing.
///
/// # Example
/// ```
/// use tenfold::communities::Threshold;
/// let four = [0.25f32, 0.25, 0.25, 0.25, 0.0];
/// assert_eq!(Threshold::default().of(&four), [0, 1, 2, 3]);
/// assert_eq!(Threshold::Absolute(0.3).of(&four), [0]);
/// assert_eq!(Threshold::default().of(&[0.7, 0.2, 0.1]), [0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// So many times the node's largest membership: a node of four communities has a quarter in each, and one of two has a
    /// half, so no one figure would do for both.
    Relative(f64),
    /// This membership, whatever the others are.
    Absolute(f64),
}

impl Threshold {
    /// Half of the largest membership.
    pub const HALF: Self = Self::Relative(0.5);

    /// The communities that a node with these memberships is in.
    pub fn of(self, memberships: &[f32]) -> Vec<usize> {
        let mut found = Vec::new();
        self.visit(memberships, |c| found.push(c));
        found
    }

    /// Calls `visit` with the communities that a node with these memberships is in.
    pub(in super::super) fn visit(self, row: &[f32], visit: impl FnMut(usize)) {
        let Some(most) = largest(row) else { return };
        // In the precision of the memberships: 0.7 is at least 0.7.
        let least = match self {
            Self::Relative(part) => part as f32 * row[most],
            Self::Absolute(least) => least as f32,
        };
        (0..row.len()).filter(|&c| c == most || (row[c] >= least && row[c] > 0.0)).for_each(visit);
    }
}

impl Default for Threshold {
    fn default() -> Self {
        Self::HALF
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relative(part) => write!(out, "memberships of at least {part} times a node's largest"),
            Self::Absolute(least) => write!(out, "memberships of at least {least}, and every node's largest"),
        }
    }
}

/// The community with the largest membership of a row, and how large it is.
pub(in super::super) fn main_of(row: &[f32]) -> (usize, f64) {
    largest(row).map_or((0, 0.0), |c| (c, f64::from(row[c])))
}

/// The first of the largest memberships above 0.
fn largest(row: &[f32]) -> Option<usize> {
    let better = |best: Option<usize>, c: usize| match best {
        Some(b) if row[c] <= row[b] => best,
        _ if row[c] > 0.0 => Some(c),
        _ => best,
    };
    (0..row.len()).fold(None, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_listed_where_it_belongs_most() {
        let of = |row: &[f32], least| Threshold::Absolute(least).of(row);
        assert_eq!(of(&[0.1, 0.2, 0.7], 0.7), [2]);
        assert_eq!(of(&[0.1, 0.2, 0.7], 0.9), [2]);
        assert_eq!(of(&[0.1, 0.2, 0.7], 0.2), [1, 2]);
        assert_eq!(of(&[0.5, 0.0, 0.5], 0.0), [0, 2]);
        assert_eq!((of(&[0.0, 0.0], 0.0), of(&[], 0.0)), (vec![], vec![]));
        assert_eq!(of(&[0.5, 0.5], 0.9), [0]);
        let parts = |row: &[f32], part| Threshold::Relative(part).of(row);
        assert_eq!((parts(&[0.6, 0.3, 0.1], 0.5), parts(&[0.6, 0.3, 0.1], 1.0)), (vec![0, 1], vec![0]));
        assert_eq!(parts(&[0.4, 0.4, 0.2], 1.0), [0, 1]);
        assert_eq!((parts(&[0.9, 0.1, 0.0], 0.0), parts(&[0.0, 0.0], 0.5)), (vec![0, 1], vec![]));
    }
}
