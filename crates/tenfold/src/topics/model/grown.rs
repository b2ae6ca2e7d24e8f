//! What a model takes in later: documents, or another model.

use super::super::data::Corpus;
use super::super::fit::{dirichlet, unigram};
use super::super::merge::Side;
use super::super::spectral::Estimate;
use super::super::statistics::{REPRESENTATIVES, Statistics};
use super::{Model, Moments, Representative};
use crate::error::Result;
use crate::evaluate::{Coherence, Cooccurrence, top_words};
use tenfold_engine::linalg::Mat;

impl Model {
    /// Words behind the known ones, with nothing in any topic yet.
    pub(in super::super) fn widen(&mut self, vocabulary: &[String]) {
        let old = &self.topics;
        let wide = |t: usize, w: usize| if w < old.cols() { old[(t, w)] } else { 0.0 };
        self.topics = Mat::from_fn(old.rows(), vocabulary.len(), wide);
        self.unigram.resize(vocabulary.len(), 0.0);
        self.vocabulary = vocabulary.to_vec();
    }

    /// Takes in documents, with the topics and α of all; topics keep their numbers.
    pub(in super::super) fn absorb(
        &mut self,
        more: &Corpus,
        (topics, alpha): (Mat, Vec<f64>),
        statistics: Statistics,
    ) -> Result<()> {
        let share = more.tokens() as f64 / (self.tokens + more.tokens()).max(1) as f64;
        let blend = |old: &mut [f64], new: &[f64]| {
            old.iter_mut().zip(new).for_each(|(o, n)| *o = (1.0 - share) * *o + share * n);
        };
        blend(&mut self.unigram, &unigram(more)?);
        blend(&mut self.shares, &statistics.shares);
        blend(self.correlations.as_mut_slice(), statistics.correlations.as_slice());
        let seen = Cooccurrence::in_documents(more, &top_words(&topics, 10))?;
        blend(&mut self.coherence, &Coherence::Npmi.of(&seen));
        let name = |document: usize| more.names().map(|names| names[document].clone());
        for (old, new) in self.representatives.iter_mut().zip(&statistics.representatives) {
            let found =
                new.iter().map(|&(document, share)| Representative { document, name: name(document), share });
            extend(old, found, self.documents);
        }
        let carriers = self.diagnostics.carriers.iter_mut().zip(&statistics.carriers);
        carriers.for_each(|(old, new)| *old += new);
        self.diagnostics.looked_at += statistics.documents;
        (self.topics, self.alpha) = (topics, alpha);
        self.documents += more.documents();
        self.tokens += more.tokens();
        Ok(())
    }

    /// What the moments say, said anew; `partners` gives every topic's number among theirs.
    pub(in super::super) fn refresh(&mut self, after: &Estimate, partners: &[Option<(usize, usize)>]) {
        let partners: Vec<Option<usize>> = partners.iter().map(|p| p.map(|(_, a)| a)).collect();
        self.diagnostics.refresh(after, &partners);
    }

    /// The model of both sides; `after` is what the moments of both say.
    pub(in super::super) fn united(sides: &[Side<'_>; 2], after: &Estimate, moments: Moments) -> Self {
        let [a, b] = sides.each_ref().map(|side| side.model);
        let mut merged = a.clone();
        let slots = slots(&sides[0].topics, a.k());
        for (new, &slot) in slots.iter().enumerate() {
            merged.unite_topic(sides, after, (new, slot));
        }
        let total: f64 = merged.shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        merged.shares.iter_mut().for_each(|share| *share /= total);
        let own = |s: usize, slot: usize| {
            let new = slots.iter().position(|x| *x == slot)?;
            sides[s].topics[new]
        };
        let by = [a, b].map(|model| model.documents as f64 / (a.documents + b.documents).max(1) as f64);
        merged.correlations = Mat::from_fn(a.k(), a.k(), |i, j| {
            let pair = |s: usize| Some(sides[s].model.correlations[(own(s, i)?, own(s, j)?)]);
            match (pair(0), pair(1)) {
                _ if i == j => 1.0,
                (Some(x), Some(y)) => by[0] * x + by[1] * y,
                (x, y) => x.or(y).unwrap_or(0.0),
            }
        });
        let share = b.tokens as f64 / (a.tokens + b.tokens).max(1) as f64;
        let unigram = merged.unigram.iter_mut().zip(&b.unigram);
        unigram.for_each(|(x, y)| *x = (1.0 - share) * *x + share * y);
        merged.documents += b.documents;
        merged.tokens += b.tokens;
        merged.diagnostics.looked_at += b.diagnostics.looked_at;
        let partners: Vec<Option<usize>> =
            (0..a.k()).map(|slot| slots.iter().position(|x| *x == slot)).collect();
        merged.diagnostics.refresh(after, &partners);
        merged.moments = Some(moments);
        merged.report_merge(sides);
        merged
    }

    /// One topic of two models: that of the moments, moved as the polish had moved it in either, by their documents.
    fn unite_topic(&mut self, sides: &[Side<'_>; 2], after: &Estimate, (new, slot): (usize, usize)) {
        let own = sides.each_ref().map(|side| side.topics[new]);
        let weight = |s: usize| if own[s].is_some() { sides[s].model.documents as f64 } else { 0.0 };
        let all = (weight(0) + weight(1)).max(f64::MIN_POSITIVE);
        let by = [weight(0) / all, weight(1) / all];
        let row = self.topics.row_mut(slot);
        row.copy_from_slice(after.topics.row(new));
        for (side, by) in sides.iter().zip(by) {
            row.iter_mut().zip(side.drift.row(new)).for_each(|(x, d)| *x += by * d);
        }
        let total: f64 = row.iter().map(|x| x.max(0.0)).sum();
        row.iter_mut().for_each(|x| *x = x.max(0.0) / total.max(f64::MIN_POSITIVE));
        let mean = |of: fn(&Self) -> &[f64], unknown: f64| match own {
            [None, None] => unknown,
            _ => (0..2).filter_map(|s| Some(by[s] * of(sides[s].model)[own[s]?])).sum(),
        };
        let tokens = |s: usize| sides[s].model.tokens as f64;
        let found = dirichlet(&after.shares, after.white.alpha0);
        self.alpha[slot] = mean(|m| &m.alpha, found[new]);
        // Of a topic that goes on from neither there are no documents at hand: 0 says that its words stand together by chance.
        self.coherence[slot] = mean(|m| &m.coherence, 0.0);
        self.shares[slot] = match own {
            [None, None] => after.shares[new] / after.shares.iter().sum::<f64>().max(f64::MIN_POSITIVE),
            _ => {
                let share = |s: usize| Some(tokens(s) * sides[s].model.shares[own[s]?]);
                (0..2).filter_map(share).sum::<f64>() / (tokens(0) + tokens(1)).max(1.0)
            }
        };
        let mut documents = Vec::new();
        for (s, side) in sides.iter().enumerate() {
            let first = if s == 0 { 0 } else { sides[0].model.documents };
            let list = own[s].map_or(&[][..], |t| &side.model.representatives[t]);
            extend(&mut documents, list.iter().cloned(), first);
        }
        self.representatives[slot] = documents;
        if let Some(carriers) = self.diagnostics.carriers.get_mut(slot) {
            let of = |s: usize| sides[s].model.diagnostics.carriers.get(own[s]?).copied();
            *carriers = (0..2).filter_map(of).sum();
        }
    }

    fn report_merge(&mut self, sides: &[Side<'_>; 2]) {
        let lost = sides.each_ref().map(|side| side.topics.iter().filter(|t| t.is_none()).count());
        self.diagnostics.stability = Vec::new();
        self.verdict.note(format!(
            "merged with a model of {} documents: topics, weights and typical documents are those of both; stability is not \
             known, and what else is said of the fit is the first one's",
            sides[1].model.documents
        ));
        if lost != [0, 0] {
            self.verdict.warn(format!(
                "topics that are new to the first model: {1} of {0}, to the second: {2}; together the documents may hold more than \
                 {0}, which a fit of all of them with a larger k tells",
                self.k(),
                lost[0],
                lost[1]
            ));
        }
    }
}

/// Where every new topic goes: in the place of the topic that it goes on, the others in the places that are left.
fn slots(own: &[Option<usize>], k: usize) -> Vec<usize> {
    let mut free = (0..k).filter(|t| !own.contains(&Some(*t)));
    own.iter().map(|t| t.or_else(|| free.next()).expect("no more new topics than places")).collect()
}

/// Adds typical documents, whose numbers begin at `first`, to a list that stays in order and short.
fn extend(list: &mut Vec<Representative>, more: impl Iterator<Item = Representative>, first: usize) {
    list.extend(more.map(|r| Representative { document: first + r.document, ..r }));
    list.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.document.cmp(&b.document)));
    list.truncate(REPRESENTATIVES);
}
