//! Documents added to a model, without the old ones.

use super::data::Corpus;
use super::fit::{PRIOR, Polish, dirichlet};
use super::model::{Model, Moments};
use super::moments::{SecondMoment, Weighted, project};
use super::spectral::{Estimate, Search, active_words, solve, solve_again, usual_solver};
use super::statistics::Statistics;
use crate::admixture::{Cvb0, HeldOut, Stepwise, estimate_alpha};
use crate::error::{Error, Result, check_range};
use crate::evaluate::total_variation;
use crate::verdict::Verdict;
use tenfold_engine::device::Device;
use tenfold_engine::linalg::{Mat, SymmetricOperator, assign, random};
use tenfold_engine::progress::Progress;

/// Energy outside the kept subspace, beyond that of the fit, from which a refit is advised.
const REFIT: f64 = 0.1;

/// Documents from which the energy outside is measured: of fewer, halves agree by chance more than that.
const FEWEST_MEASURED: usize = 64;

/// Sweeps of the faithful polish over documents that are added: their topics are known but for the new words.
const SWEEPS: usize = 3;

/// What an update found.
#[derive(Debug, Clone, PartialEq)]
pub struct Updated {
    /// Documents that were added.
    pub documents: usize,
    /// Words that were added to the vocabulary.
    pub new_words: usize,
    /// Share of the new documents' second moment that lies outside the kept subspace; `None` for too few documents to
    /// tell, fewer than 64 with three tokens.
    pub outside: Option<f64>,
    /// The same for the documents of the fit.
    pub outside_at_fit: Option<f64>,
    /// How far each topic moved: total variation.
    pub moved: Vec<f64>,
}

impl Updated {
    /// Whether the new documents hold more than the kept subspace can show, as far as it was measured.
    pub fn refit_is_due(&self) -> bool {
        self.outside.is_some_and(|outside| outside > self.outside_at_fit.unwrap_or(0.0) + REFIT)
    }

    fn report(&self, verdict: &mut Verdict) {
        let percent = |x: f64| format!("{:.0} %", 100.0 * x);
        let Some(outside) = self.outside else {
            return verdict.note(format!(
                "{} documents added, too few to measure what lies outside the kept subspace: add more at a time, or refit now \
                 and then",
                self.documents
            ));
        };
        let then = self.outside_at_fit.map_or(String::new(), |x| format!(" ({} of the fit's)", percent(x)));
        let message = format!(
            "{} documents added: {} of their second moment lies outside the kept subspace{then}",
            self.documents,
            percent(outside)
        );
        if self.refit_is_due() {
            verdict.warn(format!("{message}: they hold themes the model cannot show, so a refit is due"));
        } else {
            verdict.note(message);
        }
    }
}

impl Model {
    /// Adds documents. Their moments join those the model keeps, exactly as if they had been there from the start as far
    /// as the kept subspace goes; what falls outside is measured. Topics keep their numbers. The corpus has the model's
    /// vocabulary, and may have more words behind it. On an error, also when the listener stops it, the model is what it
    /// was.
    ///
    /// The subspace has m directions: k and an eighth more, at least eight, in whole eights ([`Model::kept`]). Keeping it
    /// costs 2·words·m·4 + m³/6·8 bytes in memory and in the file: 27 MB for 50 topics of 50,000 words.
    ///
    /// # Complexity
    /// One pass over the new documents for the moments and one for the polish, where the model had one; three where that
    /// is [`Polish::Faithful`](super::Polish::Faithful).
    ///
    /// # Errors
    /// A model that keeps no moments; a vocabulary that does not begin with the model's; what the corpus or the listener
    /// says.
    pub fn update(&mut self, more: &Corpus, progress: &dyn Progress) -> Result<Updated> {
        self.check_vocabulary(more)?;
        let mut next = self.clone();
        let updated = next.add(more, progress)?;
        *self = next;
        Ok(updated)
    }

    fn add(&mut self, more: &Corpus, progress: &dyn Progress) -> Result<Updated> {
        let Some(mut moments) = self.moments.take() else { return Err(no_moments()) };
        let new_words = more.words() - self.words();
        self.grow(more, &mut moments);
        let (solver, device) = (&usual_solver(), &Device::default());
        let search = Search { alpha0: moments.alpha0, solver, seed: self.seed(), device, progress };
        // Both from one start, so that only the new documents make a difference.
        let first = solve(&moments.projected, None, self.k(), &search)?;
        let before = solve_again(&moments.projected, &first, &search)?;
        let active: Vec<bool> = moments.scale.iter().map(|s| *s > 0.0).collect();
        let weighted = Weighted::new(more, moments.damping, &active, HeldOut::NONE, progress)?
            .weigh(moments.cap, progress)?;
        let outside = outside(more, &moments, &search)?;
        progress.stage("gathering moments", weighted.chosen.len() as u64);
        let added = project(&weighted, moments.projected.basis.clone(), true, progress)?;
        moments.projected.add(&added);
        let after = solve_again(&moments.projected, &first, &search)?;
        let partners = self.partners(&before, &after);
        let start = self.follow(&before, &after, &partners);
        let (topics, alpha) = match self.polish() {
            Polish::None => (start, self.alpha_of(&after, &partners)),
            polish => self.polish_again(polish, more, &start, progress)?,
        };
        let moved = (0..self.k()).map(|t| total_variation(self.topics().row(t), topics.row(t)));
        let updated = Updated {
            documents: more.documents(),
            new_words,
            outside,
            outside_at_fit: moments.outside,
            moved: moved.collect(),
        };
        let statistics = Statistics::gather(more, &topics, &alpha, progress)?;
        self.absorb(more, (topics, alpha), statistics)?;
        self.refresh(&after, &partners);
        self.moments = Some(moments);
        updated.report(self.verdict_mut());
        self.verdict_mut().note(
            "spectrum, weights and alpha are those of all documents; stability and what else is said of the fit are the fit's",
        );
        Ok(updated)
    }

    /// The polish of the fit, over the new documents beside the tokens that the topics stand for already; with the prior of
    /// all documents.
    fn polish_again(
        &self,
        polish: Polish,
        more: &Corpus,
        start: &Mat,
        progress: &dyn Progress,
    ) -> Result<(Mat, Vec<f64>)> {
        let tokens = self.tokens() as f64;
        let before: Vec<f64> = self.shares().iter().map(|share| share * tokens).collect();
        let (topics, own) = if polish == Polish::Faithful {
            let cvb0 = Cvb0 { sweeps: SWEEPS, learn_alpha: true, before, ..Cvb0::default() };
            let polished = cvb0.run(more, HeldOut::NONE, start, self.alpha(), progress)?;
            (polished.topics, polished.alpha)
        } else {
            let usual = Stepwise::for_documents(more.documents());
            let stepwise = Stepwise { epochs: 1, before, seed: self.seed(), ..usual };
            let topics =
                stepwise.run(more, HeldOut::NONE, start, &vec![PRIOR; start.rows()], progress)?.topics;
            let alpha = estimate_alpha(more, &topics, self.alpha(), progress)?;
            (topics, alpha)
        };
        let share = more.documents() as f64 / (self.documents() + more.documents()).max(1) as f64;
        let blend = |(old, new): (&f64, f64)| (1.0 - share) * old + share * new;
        Ok((topics, self.alpha().iter().zip(own).map(blend).collect()))
    }

    /// α as the moments say; a topic that they no longer give keeps its own.
    fn alpha_of(&self, after: &Estimate, partners: &[Option<(usize, usize)>]) -> Vec<f64> {
        let found = dirichlet(&after.shares, after.white.alpha0);
        let of = |t: usize| partners[t].map_or(self.alpha()[t], |(_, a)| found[a]);
        (0..self.k()).map(of).collect()
    }

    fn check_vocabulary(&self, more: &Corpus) -> Result<()> {
        let same = more.words() >= self.words() && more.vocabulary()[..self.words()] == *self.vocabulary();
        if same {
            return Ok(());
        }
        Err(Error::Unfit {
            problem: "the documents have another vocabulary than the model".into(),
            remedy: "give them the model's words, in its order, and new ones after them".into(),
        })
    }

    /// Room for the words that are new: they take no part in the subspace, but have their place in the topics.
    fn grow(&mut self, more: &Corpus, moments: &mut Moments) {
        let words = more.words();
        let taller = |m: &Mat| {
            let mut data = m.as_slice().to_vec();
            data.resize(words * m.cols(), 0.0);
            Mat::from_vec(words, m.cols(), data)
        };
        moments.projected.basis = taller(&moments.projected.basis);
        moments.projected.regression = taller(&moments.projected.regression);
        moments.projected.first.resize(words, 0.0);
        moments.scale.resize(words, 0.0);
        self.widen(more.vocabulary());
    }

    /// For every topic its unpolished self, before and after.
    fn partners(&self, before: &Estimate, after: &Estimate) -> Vec<Option<(usize, usize)>> {
        let (old, new) =
            (match_rows(self.topics(), &before.topics), match_rows(&before.topics, &after.topics));
        old.into_iter().map(|b| b.and_then(|b| Some((b, new[b]?)))).collect()
    }

    /// The model's topics moved as the moments moved: a topic whose moments stayed keeps its polish, one that turned into
    /// another takes the moments' new answer.
    fn follow(&self, before: &Estimate, after: &Estimate, partners: &[Option<(usize, usize)>]) -> Mat {
        let mut topics = self.topics().clone();
        for (t, partner) in partners.iter().enumerate() {
            let Some((b, a)) = *partner else { continue };
            let drift = total_variation(before.topics.row(b), after.topics.row(a));
            let share = if self.polish() == Polish::None { 1.0 } else { drift };
            let fresh = after.topics.row(a);
            topics.row_mut(t).iter_mut().zip(fresh).for_each(|(x, f)| *x = (1.0 - share) * *x + share * f);
        }
        topics
    }
}

/// For every row of `a` the row of `b` that an optimal matching by overlap gives it.
pub(super) fn match_rows(a: &Mat, b: &Mat) -> Vec<Option<usize>> {
    let n = a.rows().max(b.rows());
    let overlap = |i: usize, j: usize| {
        if i >= a.rows() || j >= b.rows() {
            return 0.0;
        }
        // New words behind the old ones have no place in the shorter row.
        a.row(i).iter().zip(b.row(j)).map(|(x, y)| x.min(*y)).sum()
    };
    let partners = assign(&Mat::from_fn(n, n, overlap));
    (0..a.rows()).map(|i| Some(partners[i]).filter(|j| *j < b.rows())).collect()
}

pub(super) fn no_moments() -> Error {
    Error::Unfit {
        problem: "the model keeps no moments".into(),
        remedy: "fit it without --no-moments and with at most 143 topics".into(),
    }
}

/// Probes of the second moment.
const PROBES: usize = 16;

/// The share of the documents' second moment outside the kept subspace, ‖(I − UUᵀ) M2‖² / ‖M2‖².
///
/// With M2 of two halves of the documents and random probes Ω, ⟨(I − P) M2_a Ω, (I − P) M2_b Ω⟩ / ⟨M2_a Ω, M2_b Ω⟩: the noise of one
/// half knows nothing of the other's, so that only what is really there counts. `None` for too few documents.
pub(super) fn outside(corpus: &Corpus, moments: &Moments, search: &Search<'_>) -> Result<Option<f64>> {
    let frequencies = corpus.document_frequencies()?;
    let usual = active_words(&frequencies, corpus.documents(), 1);
    let active: Vec<bool> = moments.scale.iter().zip(&usual).map(|(s, u)| *s > 0.0 || *u).collect();
    let progress = search.progress;
    let mut weighted = Weighted::new(corpus, moments.damping, &active, HeldOut::NONE, progress)?;
    if weighted.documents < FEWEST_MEASURED {
        return Ok(None);
    }
    weighted.weighing.cap = moments.cap;
    let halves = [weighted.half(0, progress)?, weighted.half(1, progress)?];
    // Words that the fit did not know have no scale yet.
    let own = halves[0].usual_scale(&active);
    let scale: Vec<f64> =
        moments.scale.iter().zip(&own).map(|(s, own)| if *s > 0.0 { *s } else { *own }).collect();
    let probes = random::gaussian(scale.len(), PROBES, &mut random::rng(search.seed, 900));
    let mut products = Vec::new();
    for weighted in &halves {
        let alpha0 = search.alpha0;
        products.push(SecondMoment { weighted, scale: &scale, alpha0, progress }.apply(&probes)?);
    }
    let directions = moments.directions();
    let inside: Vec<Mat> = products.iter().map(|z| directions.tr_matmul(z)).collect();
    let all: f64 = products[0].col_dots(&products[1]).iter().sum();
    let kept: f64 = inside[0].col_dots(&inside[1]).iter().sum();
    check_range("second moments of the new documents", [all, kept])?;
    Ok((all > 0.0).then(|| (1.0 - kept / all).clamp(0.0, 1.0)))
}

impl Moments {
    /// U = S⁻¹ B: orthonormal directions of the kept subspace.
    pub(super) fn directions(&self) -> Mat {
        let mut u = self.projected.basis.clone();
        let inverse: Vec<f64> = self.scale.iter().map(|s| if *s > 0.0 { 1.0 / s } else { 0.0 }).collect();
        u.scale_rows(&inverse);
        u
    }
}
