//! The page of a model of sentences: words on a map with their neighbours, templates with their phrases, spectra and verdict.

use super::Model;
#[cfg(test)]
use crate::browser::Browser;
use crate::error::Result;
use crate::report::{Block, Cell, Extension, Page, Plot, Section, Table, grouped, number};
use crate::verdict::Level;
use serde_json::{Value, json};
use tenfold_engine::linalg::{Mat, svd_tall};

const WORDS: Extension =
    Extension { script: include_str!("report/words.js"), style: include_str!("report/words.css") };

/// Words on the map: more cannot be read there.
const MAPPED: usize = 300;
/// Neighbours of a word on the map.
const NEAR: usize = 10;

impl Model {
    /// A page about the model. Templates are counted from 1, as in [`Model::summary`].
    ///
    /// # Errors
    /// When the vectors hold numbers that are not finite.
    ///
    /// # Example
    /// ```
    /// use tenfold::sentences::{Cutting, Features, Params, Text};
    /// let lines: Vec<String> = (0..200).map(|i| format!("the {} ship sails to {}", i % 5, i % 7)).collect();
    /// let model = Params { features: Features::Mean, ..Params::default() }.fit(&Text::new(&lines, &Cutting::default(), 1)?)?;
    /// assert!(model.report()?.title.contains("200 sentences"));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn report(&self) -> Result<Page> {
        let d = self.diagnostics();
        let mut page = Page::new(
            format!("Words and phrases of {} sentences", grouped(d.sentences)),
            format!(
                "{} words with vectors of {} dimensions; features: {}",
                grouped(self.vocabulary().len()),
                self.vectors().cols(),
                self.features().name()
            ),
        );
        page.extensions.push(WORDS);
        page.push(self.words_section()?);
        if !self.phrases().is_empty() {
            page.push(self.templates_section());
        }
        page.push(self.features_section());
        if !d.spectrum.is_empty() {
            let caption = "Singular values of the words' mutual information, largest first.";
            let plot = Plot::line(caption, &d.spectrum).axes("dimension", "singular value").log_y();
            page.push(Section::new("Spectrum").with(plot));
        }
        let findings = self.verdict().findings().iter();
        let findings = findings.map(|(level, text)| (*level == Level::Warning, text.clone())).collect();
        let verdict = page.judge("Diagnostics", findings);
        let mut figures = self.to_json()["diagnostics"].clone();
        if let Some(fields) = figures.as_object_mut() {
            ["spectrum", "kurtosis", "skewness"].iter().for_each(|name| {
                fields.remove(*name);
            });
        }
        let section = Section::new("Diagnostics").with(verdict).with(Block::facts(&figures));
        page.push(section.with(Block::heading("Parameters")).with(Block::facts(self.params())));
        Ok(page)
    }

    fn words_section(&self) -> Result<Section> {
        let shown = self.mapped();
        let places = places(self.vectors(), &shown)?;
        let word = |(at, &w): (usize, &usize)| {
            let near = self.neighbours(&self.vocabulary()[w], NEAR).unwrap_or_default();
            json!({
                "word": self.vocabulary()[w], "share": number(self.frequencies()[w]),
                "x": number(places[(at, 0)]), "y": number(places[(at, 1)]),
                "near": near.iter().map(|(other, cosine)| json!([other, number(*cosine)])).collect::<Value>(),
            })
        };
        let data: Value = shown.iter().enumerate().map(word).collect();
        let text = format!(
            "The {} most frequent words, placed by the two directions in which their vectors differ most. A click, or the \
             search, tells the nearest of all {} words by the cosine of the vectors.",
            shown.len(),
            grouped(self.vocabulary().len())
        );
        Ok(Section::new("Words").with(Block::text(text)).with(Block::Widget { name: "words", data }))
    }

    /// The most frequent words.
    fn mapped(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.vocabulary().len()).collect();
        let order =
            |a: &usize, b: &usize| self.frequencies()[*b].total_cmp(&self.frequencies()[*a]).then(a.cmp(b));
        all.sort_by(order);
        all.truncate(MAPPED);
        all
    }

    fn templates_section(&self) -> Section {
        let d = self.diagnostics();
        let mut table =
            Table::new(&["template", "excess kurtosis", "skewness", "phrases where it fires most"]);
        table.tall = self.phrases().len() > 12;
        for (i, phrases) in self.phrases().iter().enumerate() {
            let said = phrases.iter().take(5).map(|p| p.text.clone()).collect();
            let figures = (Cell::number(d.kurtosis()[i], 2), Cell::number(d.skewness()[i], 2));
            table.push(None, vec![Cell::count(i + 1), figures.0, figures.1, Cell::Words(said)]);
        }
        let length = self.template_length().unwrap_or(0);
        let text = format!(
            "Patterns over {length} neighbouring words. A template fires strongly at few places and hardly elsewhere: that is \
             its excess kurtosis, which a random direction does not have."
        );
        let plot = Plot::line("Excess kurtosis of every template's activations.", d.kurtosis())
            .axes("template", "excess kurtosis");
        Section::new("Templates").with(Block::text(text)).with(table).with(plot)
    }

    fn features_section(&self) -> Section {
        let d = self.diagnostics();
        let share = |part: u64, all: u64| format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64);
        let mut facts = vec![
            ("features".to_owned(), self.features().name().to_owned()),
            ("numbers a sentence".to_owned(), grouped(self.columns(self.features()).len())),
            ("words with a vector".to_owned(), share(d.kept, d.tokens)),
            ("sentences without one".to_owned(), grouped(d.empty)),
            ("along the first component, removed in sif".to_owned(), format!("{:.1} %", 100.0 * d.common)),
        ];
        if let Some((used, all)) = d.patches() {
            facts.push((
                "patches that templates were learned from".into(),
                format!("{} of {}", grouped(used), grouped(all)),
            ));
        }
        Section::new("Features").with(Block::Facts(facts))
    }
}

/// Two coordinates for every chosen word: the leading left singular vectors of their centred vectors.
fn places(vectors: &Mat, chosen: &[usize]) -> Result<Mat> {
    let cols = vectors.cols();
    let mut x = Mat::from_fn(chosen.len(), cols, |i, j| vectors[(chosen[i], j)]);
    let n = x.rows().max(1) as f64;
    let mean: Vec<f64> = (0..cols).map(|j| x.col(j).iter().sum::<f64>() / n).collect();
    for i in 0..x.rows() {
        x.row_mut(i).iter_mut().zip(&mean).for_each(|(v, m)| *v -= m);
    }
    // The small side is decomposed, whichever it is.
    let (wide, svd) =
        if x.rows() < cols { (true, svd_tall(&x.transpose())?) } else { (false, svd_tall(&x)?) };
    let left = if wide { &svd.v } else { &svd.u };
    let at = |i: usize, j: usize| if j < svd.s.len() { left[(i, j)] * svd.s[j] } else { 0.0 };
    Ok(Mat::from_fn(chosen.len(), 2, at))
}

#[cfg(test)]
#[path = "report/tests.rs"]
mod tests;
