//! From parameters and data to a model.

use super::model::{Diagnostics, Model, SourceStatistics};
use super::moments::{SecondMoment, cumulant};
use super::polish::{Polished, polish};
use super::reach;
use crate::checkpoint::{Digest, identify, stage, stage_on};
use crate::components::Components;
use crate::error::{Error, Result, check_fitted};
use crate::verdict::Verdict;
use rand::RngExt;
use tenfold_engine::decompose::{Decomposition, Minibatches, Polar, Solver};
use tenfold_engine::device::Device;
use tenfold_engine::linalg::parallel::BLOCK;
use tenfold_engine::linalg::{Mat, Rows, random, solve};
use tenfold_engine::progress::{Progress, Silent};
use tenfold_engine::whiten::{Whitened, Whitener, numerical_rank, suggest_k};

/// Which cumulant tells the sources apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contrast {
    /// The fourth: sources of either kurtosis sign.
    Kurtosis,
    /// The third: skewed sources only, but less sensitive to outliers.
    Skewness,
}

/// What follows the tensor decomposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polish {
    /// Newton steps on an adaptive likelihood.
    Likelihood,
    /// Nothing: the answer of the cumulants.
    None,
}

/// How to fit; all fields are public and have defaults.
///
/// # Example
/// ```
/// use tenfold::ica::{Contrast, Params};
/// let params = Params { contrast: Contrast::Skewness, seed: 7, ..Params::new(3) };
/// assert_eq!(params.batch, 1024);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Number of sources.
    pub k: Components,
    /// Which cumulant.
    pub contrast: Contrast,
    /// How its tensor is decomposed; [`Solver::Online`] goes over the data in batches. With a polish to follow,
    /// [`Solver::Polar`] takes the tensor of a part of the samples when there are many
    /// ([`Diagnostics::start_samples`]), to a tenth of its statistical error at most.
    pub solver: Solver,
    /// Rows in a batch of the online solver.
    pub batch: usize,
    /// Passes over the data of the online solver.
    pub epochs: usize,
    /// What follows.
    pub polish: Polish,
    /// Divide every column by its standard deviation first: for columns in different units.
    pub standardise: bool,
    /// Bytes that whitened data may take; beyond that they are computed anew in every pass.
    pub memory: u64,
    /// Who contracts the cumulant and makes the online solver's steps; covariance and polish are the processor's.
    pub device: Device,
    /// Same seed, same bytes.
    pub seed: u64,
}

/// Passes over the data that the polish may take: five or six where sources are independent, tens where they are not.
const POLISH_STEPS: usize = 100;

impl Params {
    /// The defaults for `k` sources, or for [`Components::Auto`].
    pub fn new(k: impl Into<Components>) -> Self {
        Self {
            k: k.into(),
            contrast: Contrast::Kurtosis,
            // Two starts tell whether the answer depends on the start; more only cost time.
            solver: Solver::Polar(Polar { restarts: 2, ..Polar::default() }),
            batch: 1024,
            epochs: 3,
            polish: Polish::Likelihood,
            standardise: false,
            memory: 2 << 30,
            device: Device::default(),
            seed: 0,
        }
    }

    /// Learns the model from samples in rows.
    ///
    /// # Complexity
    /// One pass of 2·n·d² operations for the covariance, about ten of 4·n·k² for the tensor (of a part of the samples when
    /// a polish follows) and about five for the polish.
    ///
    /// # Errors
    /// Values that are not finite, or too large or too small to be squared, fewer samples than sources, data that do not vary; what
    /// the source of the data says. More sources than the rank of the data is no error: the model has fewer and says so.
    pub fn fit(&self, samples: &dyn Rows) -> Result<Model> {
        self.fit_with(samples, &Silent)
    }

    /// [`Params::fit`] with a listener that may stop it.
    ///
    /// # Errors
    /// As [`Params::fit`], and when the listener stops the run.
    pub fn fit_with(&self, samples: &dyn Rows, progress: &dyn Progress) -> Result<Model> {
        let mut verdict = Verdict::default();
        self.check(samples)?;
        identify(progress, "ica", self, |digest| digested(samples, digest))?;
        progress.stage("reading", samples.rows() as u64);
        let wanted = if let Components::Exactly(k) = self.k { Some(k.min(samples.cols())) } else { None };
        let second = stage(progress, "covariance", |progress| {
            match SecondMoment::gather(samples, wanted, self.standardise, self.seed, progress) {
                // The matrix holds no numbers because those of the data cannot be squared.
                Err(error @ tenfold_engine::Error::NoConvergence(_)) => {
                    let told = reach::too_large(samples)?.or(reach::too_small(samples)?);
                    Err(told.unwrap_or_else(|| error.into()))
                }
                found => Ok(found?),
            }
        })?;
        if second.spectrum().first().is_none_or(|largest| largest.is_nan() || *largest < reach::LEAST_SQUARE)
            && let Some(error) = reach::too_small(samples)?
        {
            return Err(error);
        }
        second.report(&mut verdict);
        let k = self.choose_k(&second, samples.rows(), &mut verdict);
        let whitener = Whitener::new(second.eigen.clone(), k)?;
        if whitener.k() < k {
            verdict.warn(format!(
                "{k} sources were asked for, but the data have rank {}: the model has that many",
                whitener.k()
            ));
        }
        let mut matrix = whitener.matrix().clone();
        matrix.scale_rows(&second.scales);
        let streamed = Whitened { samples, mean: &second.mean, matrix: &matrix };
        let size = (samples.rows() as u64).saturating_mul(whitener.k() as u64 * 8);
        progress.stage("whitening", 0);
        let held = if size <= self.memory { Some(streamed.to_mat(progress)?) } else { None };
        let white: &dyn Rows = held.as_ref().map_or(&streamed as &dyn Rows, |m| m);
        let separated =
            stage_on(&self.device, progress, "sources", |progress| self.separate(white, progress))?;
        self.device.take_notices().into_iter().for_each(|notice| verdict.note(notice));
        let unmixing = match &separated.polished {
            Some(polished) => polished.unmixing.clone(),
            None => separated.found.cp.factors.transpose(),
        };
        let statistics =
            stage(progress, "statistics", |progress| SourceStatistics::gather(white, &unmixing, progress))?;
        let parts = Parts { second, whitener, matrix, separated, statistics };
        let model = self.assemble(parts, unmixing, samples.rows(), verdict);
        let factors = model.unmixing().as_slice().iter().chain(model.mixing().as_slice());
        check_fitted("sources", factors.copied())?;
        Ok(model)
    }

    fn check(&self, samples: &dyn Rows) -> Result<()> {
        let (n, d) = (samples.rows(), samples.cols());
        let bad = |name: &str, value: usize, expected: &str| {
            Err(Error::BadParameter {
                name: name.into(),
                value: value.to_string(),
                expected: expected.into(),
            })
        };
        if let Components::Exactly(0) = self.k {
            return bad("k", 0, "at least one source");
        }
        if self.batch == 0 {
            return bad("batch", 0, "at least one row");
        }
        if d == 0 || n < 2 {
            let message = format!(
                "{n} samples of {d} columns hold nothing to separate; give at least 2 samples of 1 column"
            );
            return Err(tenfold_engine::Error::TooLittleData(message).into());
        }
        if let Components::Exactly(k) = self.k
            && n <= k
        {
            let message = format!(
                "{n} samples cannot carry {k} sources: give more than {k} samples, or ask for fewer sources"
            );
            return Err(tenfold_engine::Error::TooLittleData(message).into());
        }
        Ok(())
    }

    fn choose_k(&self, second: &SecondMoment, samples: usize, verdict: &mut Verdict) -> usize {
        let d = second.mean.len();
        match self.k {
            Components::Exactly(k) if k > d => {
                verdict.warn(format!(
                    "{k} sources were asked for, but there are only {d} columns: at most {d} can be found"
                ));
                d
            }
            Components::Exactly(k) => k,
            Components::Auto => {
                let spectrum = second.spectrum();
                let most = samples.saturating_sub(1).min(numerical_rank(spectrum)).max(1);
                let k = suggest_k(spectrum, samples).clamp(1, most);
                verdict.note(format!(
                    "k = {k} chosen by description length from {} eigenvalues of the covariance of {samples} samples",
                    spectrum.len()
                ));
                k
            }
        }
    }

    /// The tensor's answer and, where it is wanted, its polish.
    fn separate(&self, white: &dyn Rows, progress: &dyn Progress) -> Result<Separated> {
        if self.polish == Polish::None {
            let found = self.decompose(white, progress)?;
            return Ok(Separated { found, polished: None, start_samples: white.rows() });
        }
        let begin = |found: &Decomposition| Polished::start(found.cp.factors.transpose());
        if let (Solver::Polar(polar), Some(part)) = (&self.solver, self.part_of(white, progress)?) {
            // The basin is found on a part of the samples; all of them then say where in it the answer lies. The
            // start need not be exacter than a tenth of the part's statistical error.
            let tolerance = polar.tolerance.max(0.1 / (part.rows() as f64).sqrt());
            let solver = Solver::Polar(Polar { tolerance, ..polar.clone() });
            progress.stage("separating", 0);
            let found = stage(progress, "decomposition of a part", |progress| {
                let tensor = self.device.tensor(cumulant(&part, self.contrast))?;
                Ok(solver.decompose(tensor.as_ref(), part.cols(), self.seed, progress)?)
            })?;
            let near = stage(progress, "polish of a part", |progress| {
                Ok(polish(&part, begin(&found), POLISH_STEPS, progress)?)
            })?;
            let whole = polish(white, near, POLISH_STEPS, progress)?;
            if whole.converged {
                return Ok(Separated { found, polished: Some(whole), start_samples: part.rows() });
            }
        }
        let found = self.decompose(white, progress)?;
        let polished = Some(polish(white, begin(&found), POLISH_STEPS, progress)?);
        Ok(Separated { found, polished, start_samples: white.rows() })
    }

    /// One sample at random out of every `n / enough` neighbours, when there are at least four times as many as finding
    /// the basin takes: 8k², because a fourth cumulant has about k² numbers for every source. Random, because a regular
    /// stride would see periodic signals at few phases only.
    fn part_of(&self, white: &dyn Rows, progress: &dyn Progress) -> Result<Option<Mat>> {
        let (n, k) = (white.rows(), white.cols());
        let enough = (8 * k * k).max(8192);
        let stride = n / enough;
        let rows = n.checked_div(stride).unwrap_or(0);
        if stride < 4 || (rows * k * 8) as u64 > self.memory {
            return Ok(None);
        }
        let mut rng = random::rng(self.seed, 600);
        let chosen: Vec<usize> = (0..rows).map(|c| c * stride + rng.random_range(0..stride)).collect();
        let mut part = Mat::zeros(rows, k);
        let mut taken = 0;
        for first in (0..n).step_by(BLOCK) {
            progress.check()?;
            let mut block = Mat::zeros((n - first).min(BLOCK), k);
            white.read_rows(first, block.as_mut_slice())?;
            while taken < rows && chosen[taken] < first + block.rows() {
                part.row_mut(taken).copy_from_slice(block.row(chosen[taken] - first));
                taken += 1;
            }
        }
        Ok(Some(part))
    }

    fn decompose(&self, white: &dyn Rows, progress: &dyn Progress) -> Result<Decomposition> {
        stage(progress, "decomposition", |progress| self.decomposed(white, progress))
    }

    fn decomposed(&self, white: &dyn Rows, progress: &dyn Progress) -> Result<Decomposition> {
        let k = white.cols();
        let found = match &self.solver {
            Solver::Online(online) => {
                let order = self.contrast.order();
                let batches = Minibatches::new(white, order, self.batch, self.epochs.max(1), self.seed)
                    .shifted(1.0, self.contrast.shifts(k));
                progress.stage("separating online", batches.steps() as u64);
                online.run_on(&self.device, batches, k, self.seed, progress)?
            }
            batch => {
                progress.stage("separating", 0);
                let tensor = self.device.tensor(cumulant(white, self.contrast))?;
                batch.decompose(tensor.as_ref(), k, self.seed, progress)?
            }
        };
        Ok(found)
    }

    fn assemble(&self, parts: Parts, unmixing: Mat, samples: usize, mut verdict: Verdict) -> Model {
        let Parts { second, whitener, matrix, separated, statistics } = parts;
        let Separated { found, polished, start_samples } = separated;
        // z = B Wᵀ (x − mean), scaled to unit variance; A = (W⁺)ᵀ B⁻¹ undoes it.
        let scales: Vec<f64> = statistics.deviations.iter().map(|s| 1.0 / s.max(f64::MIN_POSITIVE)).collect();
        let mut b = unmixing;
        b.scale_rows(&scales);
        let mut back = whitener.inverse().clone();
        back.scale_rows(
            &second.scales.iter().map(|s| if *s > 0.0 { 1.0 / s } else { 0.0 }).collect::<Vec<_>>(),
        );
        let mixing = back.matmul(&solve(&b, &Mat::identity(b.rows())));
        let diagnostics = Diagnostics {
            samples,
            spectrum: whitener.spectrum().to_vec(),
            condition: whitener.condition(),
            eigengap: whitener.eigengap(),
            start_samples,
            residual: found.trace.residual(),
            iterations: found.trace.iterations,
            converged: found.trace.converged,
            agreement: found.trace.agreement(),
            polish_steps: polished.as_ref().map_or(0, |p| p.steps),
            polish_converged: polished.as_ref().map(|p| p.converged),
        };
        diagnostics.report(&mut verdict);
        let unmixing = b.matmul_tr(&matrix);
        Model::assemble(unmixing, mixing, second.mean, statistics, self.clone(), diagnostics, verdict)
    }
}

/// What tells these samples from others.
fn digested(samples: &dyn Rows, digest: &mut Digest) -> Result<()> {
    let (n, d) = (samples.rows(), samples.cols());
    let mut block = Vec::new();
    for first in (0..n).step_by(BLOCK) {
        block.resize((n - first).min(BLOCK) * d, 0.0);
        samples.read_rows(first, &mut block)?;
        digest.doubles(&block);
    }
    digest.number(d as u64);
    Ok(())
}

/// What the tensor and the polish found.
struct Separated {
    found: Decomposition,
    polished: Option<Polished>,
    /// Samples on which the tensor was taken.
    start_samples: usize,
}

crate::checkpoint::keep! { Separated { found, polished, start_samples } }

/// What the stages of a fit leave for the model.
struct Parts {
    second: SecondMoment,
    whitener: Whitener,
    matrix: Mat,
    separated: Separated,
    statistics: SourceStatistics,
}
