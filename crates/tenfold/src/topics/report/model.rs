//! From a model to what its page is made of.

use super::{PageData, page};
use crate::error::Result;
use crate::report::{Page, grouped};
use crate::topics::{Diagnostics, Model, Representative};
use serde_json::json;

/// Words between topics that the page lists.
const BRIDGES: usize = 30;

impl Model {
    /// A page about the model: topic map, words by relevance, sizes, correlations, search, spectrum and diagnostics.
    /// Topics keep their numbers.
    ///
    /// # Errors
    /// When the model holds numbers that are not finite.
    ///
    /// # Example
    /// ```
    /// use tenfold::topics::{Params, Synth};
    /// let drawn = Synth { documents: 2000, words: 200, k: 4, ..Synth::default() }.draw()?;
    /// let page = Params::new(4).fit(&drawn.corpus)?.report()?;
    /// assert_eq!(page.title, "4 topics in 2,000 documents");
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn report(&self) -> Result<Page> {
        let d = self.diagnostics();
        let name = |r: &Representative| match &r.name {
            Some(name) => name.clone(),
            // People count from 1, as tables of mixtures and `topics show` do.
            None => format!("document {}", r.document + 1),
        };
        let parameters = json!({ "fit": self.parameters(), "reading": self.recipe() });
        page(&PageData {
            topics: self.topics(),
            vocabulary: self.vocabulary(),
            unigram: self.unigram(),
            shares: self.shares(),
            alpha: self.alpha(),
            correlations: self.correlations(),
            coherence: self.coherence(),
            stability: &d.stability,
            spectrum: &d.spectrum,
            interval: d.interval,
            tried: &d.tried,
            curve: &d.curve,
            carriers: &d.carriers,
            representatives: self
                .representatives()
                .iter()
                .map(|list| list.iter().map(|r| (name(r), r.share)).collect())
                .collect(),
            bridges: self.bridging_words(BRIDGES),
            verdict: self.verdict(),
            diagnostics: facts(d),
            parameters: &parameters,
            documents: self.documents(),
            looked_at: d.looked_at,
        })
    }
}

/// The figures that have no picture. Seconds are left out: the same model gives the same page.
fn facts(d: &Diagnostics) -> Vec<(String, String)> {
    let worst = d.negative.iter().copied().fold(f64::NAN, f64::max);
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    let mut facts = vec![
        ("condition of the second moment", d.condition.is_finite().then(|| format!("{:.1}", d.condition))),
        ("eigenvalue k over the next", d.eigengap.is_finite().then(|| format!("{:.2}", d.eigengap))),
        ("Σα from the weights", Some(format!("{:.2}", d.alpha_sum))),
        ("Σα assumed (alpha0)", Some(format!("{}", d.alpha0))),
        ("largest mass below zero", worst.is_finite().then(|| percent(worst))),
        ("share of the tensor explained", d.fit.map(percent)),
        ("agreement of starts", d.agreement.map(percent)),
        ("iterations", Some(grouped(d.iterations))),
        ("converged", Some(if d.converged { "yes" } else { "no" }.to_owned())),
        ("residual", d.residual.is_finite().then(|| format!("{:.1e}", d.residual).replace('-', "−"))),
    ];
    if let (Some(first), Some(kept)) = (d.curve.first(), d.curve.get(d.chosen)) {
        facts.push(("perplexity before the polish", Some(format!("{:.1}", first.1))));
        facts.push(("perplexity of the model", Some(format!("{:.1}", kept.1))));
    }
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests {
    use crate::topics::{Params, Synth};

    #[test]
    fn the_page_is_the_same_from_run_to_run_and_counts_documents_from_one() {
        let drawn = Synth { documents: 400, words: 100, k: 3, ..Synth::default() }.draw().unwrap();
        let [one, two] = [0; 2].map(|_| Params::new(3).fit(&drawn.corpus).unwrap());
        let html = one.report().unwrap().to_html();
        assert!(html == two.report().unwrap().to_html(), "two pages of one fit");
        let first = one.representatives()[0][0].document;
        assert!(html.contains(&format!("\"document {}\"", first + 1)), "document {first}");
    }
}
