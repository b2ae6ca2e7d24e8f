//! Found communities against known ones.

use super::members::{Members, Threshold};
use super::truth::Truth;
use crate::evaluate::{self, Cover, OverlappingNmi, Recovery, average_f1, nmi, omega_index};
use tenfold_engine::linalg::Mat;

/// Thresholds of the curve of recovery against error, where nobody says others.
pub const THRESHOLDS: [f64; 12] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7];

/// A comparison of found memberships with the truth, over the nodes that the truth knows.
///
/// # Example
/// ```
/// use tenfold::communities::{Comparison, Ids, Members, Threshold, truth};
/// use tenfold::engine::{linalg::Tall, progress::Silent};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("truth.txt");
/// std::fs::write(&path, "1 2 3\n3 4 5\n").unwrap();
/// let ids = Ids::counted(1, 5);
/// let known = truth::read(&path, &ids, &truth::Options::default(), &Silent)?;
/// let found = Tall::from_vec(5, 2, vec![0., 1., 0., 1., 0.5, 0.5, 1., 0., 1., 0.]).unwrap();
/// let measures = Comparison::new(&Members::new(&ids, &found), &known).measures(Threshold::HALF);
/// assert_eq!((measures.onmi_lfk, measures.omega, measures.average_f1, measures.nmi), (1.0, 1.0, 1.0, None));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Comparison<'a> {
    members: Members<'a>,
    truth: &'a Truth,
    found: Mat,
    known: Known,
}

/// The truth as [`Recovery`] takes it.
#[derive(Debug, Clone)]
enum Known {
    Weights(Mat),
    Lists(Cover),
}

/// How near two sets of communities are; all are 1 when they are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// Normalised mutual information of every node's main community with its true one; none when nodes are in several true
    /// communities, or in none.
    pub nmi: Option<f64>,
    /// Overlapping normalised mutual information by Lancichinetti, Fortunato and Kertész.
    pub onmi_lfk: f64,
    /// The same by McDaid, Greene and Hurley.
    pub onmi_max: f64,
    /// The omega index.
    pub omega: f64,
    /// The average F1 score.
    pub average_f1: f64,
}

impl<'a> Comparison<'a> {
    /// Prepares a comparison.
    ///
    /// # Panics
    /// When members and truth are over different numbers of nodes.
    pub fn new(members: &Members<'a>, truth: &'a Truth) -> Self {
        let known = if truth.is_weighted() {
            Known::Weights(truth.memberships())
        } else {
            Known::Lists(truth.cover(Threshold::HALF))
        };
        Self { members: *members, truth, found: members.to_mat(truth.known()), known }
    }

    /// Number of nodes that are compared.
    pub fn nodes(&self) -> usize {
        self.found.rows()
    }

    /// The thesis's matching, and the best one-to-one matching, for each threshold: memberships below it count as 0.
    ///
    /// # Complexity
    /// O(n k k̂) for every threshold; see [`Recovery::trade_off`].
    pub fn trade_off(&self, thresholds: &[f64]) -> Vec<Recovery> {
        match &self.known {
            Known::Weights(truth) => Recovery::trade_off(truth, &self.found, thresholds),
            Known::Lists(truth) => Recovery::trade_off(truth, &self.found, thresholds),
        }
    }

    /// The thesis's matching, and the best one-to-one matching, of the memberships as they are.
    pub fn recovery(&self) -> Recovery {
        let truth = match &self.known {
            Known::Weights(truth) => evaluate::Truth::from(truth),
            Known::Lists(truth) => evaluate::Truth::from(truth),
        };
        Recovery::new(truth, &self.found)
    }

    /// The measures between communities as lists of nodes: [`Members::cover`] at this threshold, and the truth likewise
    /// where it has weights.
    pub fn measures(&self, threshold: Threshold) -> Measures {
        let found = self.members.cover(threshold).restricted(self.truth.known());
        let truth = self.truth.cover(threshold);
        let labels = truth.labels().zip(Cover::top(&self.found).labels());
        Measures {
            nmi: labels.map(|(a, b)| nmi(&a, &b)),
            onmi_lfk: OverlappingNmi::Lfk.of(&truth, &found),
            onmi_max: OverlappingNmi::Max.of(&truth, &found),
            omega: omega_index(&truth, &found),
            average_f1: average_f1(&truth, &found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::Ids;
    use super::super::truth::{Options, read};
    use super::*;
    use tenfold_engine::linalg::Tall;
    use tenfold_engine::progress::Silent;

    #[test]
    fn only_what_the_truth_knows_is_compared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.txt");
        let text: String = (0..60).map(|u| format!("{u} {}\n", u / 30)).collect();
        std::fs::write(&path, text).unwrap();
        // Twenty nodes more, which the truth does not know, and which are all over the place.
        let ids = Ids::counted(0, 80);
        let truth = read(&path, &ids, &Options::default(), &Silent).unwrap();
        let data = (0..80usize).flat_map(|u| match u {
            0..30 => [0.1f32, 0.9],
            30..60 => [0.9, 0.1],
            _ => [0.5, 0.5],
        });
        let found = Tall::from_vec(80, 2, data.collect()).unwrap();
        let comparison = Comparison::new(&Members::new(&ids, &found), &truth);
        assert_eq!(comparison.nodes(), 60);
        let Measures { nmi, onmi_lfk, onmi_max, omega, average_f1 } =
            comparison.measures(Threshold::Absolute(0.5));
        assert_eq!((nmi, onmi_lfk, onmi_max, omega, average_f1), (Some(1.0), 1.0, 1.0, 1.0, 1.0));
        let recovery = comparison.recovery();
        assert_eq!((recovery.ratio(), recovery.pairs().len(), recovery.empty_error()), (1.0, 2, 0.5));
        assert!((recovery.mean_absolute_error() - 0.1).abs() < 1e-6);
        let curve = comparison.trade_off(&THRESHOLDS);
        assert_eq!(curve.len(), THRESHOLDS.len());
        assert_eq!(curve[0].error(), recovery.error());
    }

    #[test]
    fn a_truth_with_weights_is_compared_by_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let rows: String = (0..40).map(|u| format!("{u},{},0.75\n{u},{},0.25\n", u % 2, 1 - u % 2)).collect();
        std::fs::write(&path, format!("id,community,weight\n{rows}")).unwrap();
        let ids = Ids::counted(0, 40);
        let truth = read(&path, &ids, &Options::default(), &Silent).unwrap();
        let data = (0..40usize).flat_map(|u| if u % 2 == 0 { [0.75f32, 0.25] } else { [0.25, 0.75] });
        let found = Tall::from_vec(40, 2, data.collect()).unwrap();
        let comparison = Comparison::new(&Members::new(&ids, &found), &truth);
        assert_eq!(comparison.recovery().mean_absolute_error(), 0.0);
        assert_eq!(
            (
                comparison.measures(Threshold::Absolute(0.5)).nmi,
                comparison.measures(Threshold::Absolute(0.2)).nmi
            ),
            (Some(1.0), None)
        );
        assert_eq!(comparison.measures(Threshold::Absolute(0.2)).average_f1, 1.0);
    }
}
