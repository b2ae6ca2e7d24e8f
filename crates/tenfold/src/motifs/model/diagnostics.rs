//! The figures of a fit, and what they mean.

use crate::verdict::Verdict;

/// Figures of a fit that its verdict rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostics {
    /// Samples of all stretches in one channel.
    pub samples: usize,
    /// Stretches.
    pub stretches: usize,
    /// Squared norms of the third and the fourth cumulant in units of their noise.
    pub strengths: [f64; 2],
    /// Whether the third and the fourth cumulant were used.
    pub orders: [bool; 2],
    /// Squared distance of the model's cumulants from those of the signals, in units of their noise: at most about 1 when the
    /// model tells all there is.
    pub misfit: f64,
    /// Share of the random starts that ended at a motif of the result.
    pub agreement: f64,
    /// φ of the candidates, before the joint fit: 1 for true motifs without noise.
    pub certificates: Vec<f64>,
    /// Whether the joint fit settled.
    pub converged: bool,
    /// How much each direction of the fourth cumulant repeats between halves of the signals, in standard errors.
    pub repeats: Vec<f64>,
    /// The two motifs most alike, from 0, and their |correlation| at the best shift.
    pub likeness: Option<(usize, usize, f64)>,
    /// Share of the variance that decoded motifs explain, on a part of the signals.
    pub explained: Option<f64>,
    /// Standard deviation of the noise, as decoding estimates it.
    pub noise: Option<f64>,
    /// Iterations of the sparse refinement and whether it settled, where it was asked for.
    pub refined: Option<(usize, bool)>,
}

/// Above this misfit the cumulants hold more than the model tells.
const MISFIT: f64 = 2.0;

/// Two motifs more alike than this are hard to tell apart.
const ALIKE: f64 = 0.9;

impl Diagnostics {
    /// Says what the figures mean.
    pub(super) fn report(&self, verdict: &mut Verdict) {
        if !self.converged {
            verdict.note(
                "the joint fit was still moving when it was ended: more samples or fewer motifs settle it",
            );
        }
        if self.misfit > MISFIT {
            verdict.warn(format!(
                "the cumulants hold more than these motifs tell (misfit {:.1} where 1 is noise): \
                 ask for more motifs or a longer --length, or firings depend on each other",
                self.misfit
            ));
        }
        if let Some((a, b, alike)) = self.likeness
            && alike > ALIKE
        {
            verdict.warn(format!(
                "motifs {a} and {b} are alike (correlation {alike:.2}): they may be one, and each is less certain"
            ));
        }
        if self.agreement < 0.3 {
            verdict.note(format!(
                "{:.0} % of the random starts ended at a motif: the others were lost between them",
                100.0 * self.agreement
            ));
        }
        if self.refined.is_some_and(|(_, settled)| !settled) {
            verdict.note("the sparse refinement was ended before it settled");
        }
        if let Some(explained) = self.explained
            && explained < 0.1
        {
            verdict.warn(format!(
                "firings of these motifs explain {:.1} % of the variance: either noise prevails, or they are not sparse",
                100.0 * explained
            ));
        }
    }
}
