//! The page of an ICA model.

use super::Model;
use crate::report::{Block, Cell, Page, Plot, Section, Table, grouped};
use crate::verdict::Level;

/// Most rows and columns that the table of the mixing matrix shows.
const SHOWN: usize = 20;

impl Model {
    /// A page about the model: sources, mixing, spectrum and verdict. Sources are counted from 1, as in
    /// [`Model::summary`].
    ///
    /// # Example
    /// ```
    /// use tenfold::ica;
    /// let drawn = ica::Synth { samples: 2000, columns: 3, sources: 3, ..Default::default() }.draw();
    /// let page = ica::Params::new(3).fit(&drawn.samples)?.report();
    /// assert_eq!(page.title, "3 independent sources");
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn report(&self) -> Page {
        let (k, d) = (self.k(), self.diagnostics());
        let mut page = Page::new(
            format!("{k} independent source{}", if k == 1 { "" } else { "s" }),
            format!("{} samples of {} columns", grouped(d.samples), grouped(self.mean().len())),
        );
        page.push(self.sources_section());
        page.push(self.mixing_section());
        let caption = format!("Eigenvalues of the covariance, largest first. The model uses the first {k}.");
        let plot = Plot::line(caption, &d.spectrum).axes("component", "eigenvalue").log_y();
        page.push(Section::new("Spectrum").with(plot.mark(k as f64, &format!("k = {k}"))));
        let findings = self.verdict().findings().iter();
        let findings = findings.map(|(level, text)| (*level == Level::Warning, text.clone())).collect();
        let verdict = page.judge("Diagnostics", findings);
        let facts = self.to_json();
        let mut diagnostics = facts["diagnostics"].clone();
        if let Some(fields) = diagnostics.as_object_mut() {
            fields.remove("spectrum");
        }
        let section = Section::new("Diagnostics").with(verdict).with(Block::facts(&diagnostics));
        page.push(section.with(Block::heading("Parameters")).with(Block::facts(self.params())));
        page
    }

    fn sources_section(&self) -> Section {
        let shares = self.shares();
        let largest = shares.iter().copied().fold(0.0, f64::max);
        let mut table = Table::new(&["source", "share of variance", "excess kurtosis", "skewness"]);
        table.tall = self.k() > 12;
        for i in 0..self.k() {
            let (kurtosis, skewness) =
                (Cell::number(self.kurtosis()[i], 3), Cell::number(self.skewness()[i], 3));
            table.push(None, vec![Cell::count(i + 1), Cell::share(shares[i], largest), kurtosis, skewness]);
        }
        let names: Vec<String> = (1..=self.k()).map(|i| i.to_string()).collect();
        let caption = "Excess kurtosis of every source: 0 is Gaussian, which cannot be told from a mixture.";
        let plot = Plot::bars(caption, &names, self.kurtosis(), false).axes("source", "excess kurtosis");
        Section::new("Sources").with(Block::Row(vec![plot.into(), table.into()]))
    }

    fn mixing_section(&self) -> Section {
        let (rows, cols) = (self.mixing().rows(), self.k());
        let (some_rows, some_cols) = (rows.min(SHOWN), cols.min(SHOWN));
        let mut names = vec!["column".to_owned()];
        names.extend((1..=some_cols).map(|i| format!("source {i}")));
        let mut table = Table::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
        for i in 0..some_rows {
            let name = self.columns().map_or_else(|| (i + 1).to_string(), |names| names[i].clone());
            let entries = (0..some_cols).map(|j| Cell::number(self.mixing()[(i, j)], 3));
            table.push(None, [Cell::text(name)].into_iter().chain(entries).collect());
        }
        let section = Section::new("Mixing").with(Block::text("How much of every source each column holds."));
        let section = section.with(table);
        if (some_rows, some_cols) == (rows, cols) {
            return section;
        }
        section.with(Block::note(format!(
            "The first {some_rows} of {} columns and {some_cols} of {cols} sources; the model file holds them all.",
            grouped(rows)
        )))
    }
}
