//! Convolutional basis pursuit by the alternating direction method of multipliers.

use super::bank::{Bank, Ridge};
use tenfold_engine::linalg::Complex64;

/// Over-relaxation: the value that Boyd et al. (2011, section 3.4.3) and Wohlberg (2014) recommend.
const RELAX: f64 = 1.8;
/// How often the penalty is adapted, in iterations.
const ADAPT: usize = 5;

/// What is minimised, and how long.
#[derive(Debug, Clone, Copy)]
pub(in crate::motifs) struct Pursuit {
    pub(in crate::motifs) lambda: f64,
    pub(in crate::motifs) signed: bool,
    pub(in crate::motifs) max_iterations: usize,
    /// Primal and dual residual, relative.
    pub(in crate::motifs) tolerance: f64,
}

/// The split variables of one grid. Behind the maps of the motifs stands, where some samples were not observed, one map
/// for each channel that explains those samples and costs nothing (additive mask, Wohlberg 2014b).
#[derive(Debug, Clone)]
pub(in crate::motifs) struct State {
    /// The sparse activations.
    pub(in crate::motifs) y: Vec<f64>,
    /// The scaled multipliers.
    pub(in crate::motifs) u: Vec<f64>,
    /// What the penalty of each activation is multiplied by; empty for 1.
    weights: Vec<f64>,
}

/// Squared norms of one iteration.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::motifs) struct Norms {
    primal: f64,
    dual: f64,
    x: f64,
    y: f64,
    u: f64,
}

impl Norms {
    pub(in crate::motifs) fn add(&mut self, other: Self) {
        self.primal += other.primal;
        self.dual += other.dual;
        self.x += other.x;
        self.y += other.y;
        self.u += other.u;
    }

    /// Relative primal and dual residual (Wohlberg 2017, equation 19).
    pub(in crate::motifs) fn relative(&self) -> (f64, f64) {
        let share = |part: f64, whole: f64| {
            if part == 0.0 { 0.0 } else { (part / whole.max(f64::MIN_POSITIVE)).sqrt() }
        };
        (share(self.primal, self.x.max(self.y)), share(self.dual, self.u))
    }

    /// By what the penalty is to be multiplied so that both residuals fall alike; 1 while they do.
    pub(in crate::motifs) fn balance(&self) -> f64 {
        let (primal, dual) = self.relative();
        let ratio = (primal / dual.max(1e-300)).sqrt().clamp(0.1, 10.0);
        if (0.8..1.25).contains(&ratio) || !ratio.is_finite() { 1.0 } else { ratio }
    }
}

/// What the samples of one grid are: spectra of its channels, and which samples were observed if not all were.
pub(in crate::motifs) struct Given<'a> {
    pub(in crate::motifs) spectra: &'a [Complex64],
    pub(in crate::motifs) observed: Option<&'a [bool]>,
}

/// How activations are shrunk.
#[derive(Debug, Clone, Copy)]
pub(in crate::motifs) struct Shrink {
    pub(in crate::motifs) threshold: f64,
    pub(in crate::motifs) signed: bool,
}

impl Shrink {
    #[inline]
    fn of(self, v: f64, weight: f64) -> f64 {
        let threshold = self.threshold * weight;
        if self.signed { v - v.clamp(-threshold, threshold) } else { (v - threshold).max(0.0) }
    }
}

/// Memory of an iteration, kept between iterations.
pub(in crate::motifs) struct Work {
    maps: Vec<Complex64>,
    rest: Vec<Complex64>,
    x: Vec<f64>,
}

impl Work {
    pub(in crate::motifs) fn new(bank: &Bank, masked: bool) -> Self {
        let maps = bank.motifs + if masked { bank.channels } else { 0 };
        Self {
            maps: vec![Complex64::default(); maps * bank.half],
            rest: vec![Complex64::default(); bank.channels * bank.half],
            x: vec![0.0; maps * bank.grid.len()],
        }
    }
}

impl State {
    pub(in crate::motifs) fn new(bank: &Bank, masked: bool) -> Self {
        let maps = bank.motifs + if masked { bank.channels } else { 0 };
        Self {
            y: vec![0.0; maps * bank.grid.len()],
            u: vec![0.0; maps * bank.grid.len()],
            weights: Vec::new(),
        }
    }

    /// The penalty is multiplied by `factor`; the multipliers are scaled by it.
    pub(in crate::motifs) fn rescale(&mut self, factor: f64) {
        self.u.iter_mut().for_each(|u| *u /= factor);
    }

    /// From now on the penalty is that of λ ε log(1 + |w|/ε), made linear here (Candès, Wakin and Boyd 2008): what is large
    /// is shrunk little, so that firings may lie denser and motifs are less biased.
    pub(in crate::motifs) fn reweigh(&mut self, knee: f64) {
        self.weights = self.y.iter().map(|y| knee / (y.abs() + knee)).collect();
    }

    /// One iteration: x ← argmin ½‖s − Fx‖² + ρ/2‖x − y + u‖², y ← shrink(x + u), u ← u + x − y.
    ///
    /// With z = y − u the first is x = z + Fᴴ(ρI + FFᴴ)⁻¹(s − Fz) at every frequency; for one channel that is the formula
    /// of Sherman and Morrison (Wohlberg 2014). `ridge` has β = ρ, or ρ + 1 when maps stand for unobserved samples.
    pub(in crate::motifs) fn iterate(
        &mut self,
        bank: &Bank,
        ridge: &Ridge,
        given: &Given<'_>,
        shrink: Shrink,
        work: &mut Work,
    ) -> Norms {
        let (n, own) = (bank.grid.len(), bank.motifs * bank.half);
        work.x.iter_mut().zip(&self.y).zip(&self.u).for_each(|((x, y), u)| *x = y - u);
        bank.forward(&work.x, &mut work.maps);
        let (maps, absorbing) = work.maps.split_at_mut(own);
        work.rest.copy_from_slice(given.spectra);
        bank.subtract(maps, &mut work.rest);
        work.rest.iter_mut().zip(&*absorbing).for_each(|(r, e)| *r -= e);
        ridge.correct(bank, &mut work.rest, maps);
        absorbing.iter_mut().zip(&work.rest).for_each(|(e, q)| *e += q);
        bank.inverse(&mut work.maps, &mut work.x);
        let mut norms = Norms::default();
        for (at, ((x, y), u)) in work.x.iter().zip(&mut self.y).zip(&mut self.u).enumerate() {
            let relaxed = RELAX * x + (1.0 - RELAX) * *y;
            let v = relaxed + *u;
            let new = match given.observed {
                Some(observed) if at >= bank.motifs * n => {
                    if observed[at % n] {
                        0.0
                    } else {
                        v
                    }
                }
                _ => shrink.of(v, self.weights.get(at).copied().unwrap_or(1.0)),
            };
            norms.dual += (new - *y) * (new - *y);
            norms.primal += (x - new) * (x - new);
            norms.x += x * x;
            norms.y += new * new;
            *u = v - new;
            *y = new;
            norms.u += *u * *u;
        }
        norms
    }
}

/// Activations on a grid, and whether they came to rest.
pub(in crate::motifs) struct Pursued {
    /// Map after map; the maps of unobserved samples are left out.
    pub(in crate::motifs) maps: Vec<f64>,
    pub(in crate::motifs) converged: bool,
}

/// argmin_w ½‖x − Σ f_l ⋆ w_l‖² + λ‖w‖₁ over the observed samples, with w ≥ 0 unless it is signed.
pub(in crate::motifs) fn pursue(
    bank: &Bank,
    x: &[f64],
    observed: Option<&[bool]>,
    pursuit: &Pursuit,
) -> Pursued {
    let mut spectra = vec![Complex64::default(); bank.channels * bank.half];
    bank.forward(x, &mut spectra);
    let given = Given { spectra: &spectra, observed };
    let (mut state, mut work) = (State::new(bank, observed.is_some()), Work::new(bank, observed.is_some()));
    let mut rho = start(x, bank, pursuit.lambda);
    let masked = if observed.is_some() { 1.0 } else { 0.0 };
    let mut ridge = Ridge::new(bank, rho + masked);
    let mut converged = false;
    for iteration in 1..=pursuit.max_iterations {
        let norms = state.iterate(
            bank,
            &ridge,
            &given,
            Shrink { threshold: pursuit.lambda / rho, signed: pursuit.signed },
            &mut work,
        );
        let (primal, dual) = norms.relative();
        if primal <= pursuit.tolerance && dual <= pursuit.tolerance {
            converged = true;
            break;
        }
        // Adapted in the first half only: with a fixed penalty the method is sure to converge.
        if iteration % ADAPT == 0 && 2 * iteration < pursuit.max_iterations {
            let factor = norms.balance();
            if factor != 1.0 {
                rho *= factor;
                state.rescale(factor);
                ridge = Ridge::new(bank, rho + masked);
            }
        }
    }
    state.y.truncate(bank.motifs * bank.grid.len());
    Pursued { maps: state.y, converged }
}

/// The first penalty: Wohlberg's 50 λ + 1 for data of unit scale.
fn start(x: &[f64], bank: &Bank, lambda: f64) -> f64 {
    let rms = (x.iter().map(|v| v * v).sum::<f64>() / (bank.grid.len() * bank.channels) as f64).sqrt();
    (50.0 * lambda / rms.max(f64::MIN_POSITIVE)).min(1e3) + 1.0
}
