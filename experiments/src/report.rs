//! A page of Markdown, and the few numbers that summarise many runs.

use std::path::Path;

/// Grows paragraph by paragraph; printed and written at the end.
pub struct Page {
    text: String,
}

impl Page {
    /// A page with its heading.
    pub fn new(title: &str) -> Self {
        Self { text: format!("# {title}\n") }
    }

    /// A heading below the title.
    pub fn section(&mut self, title: &str) {
        self.text += &format!("\n## {title}\n");
    }

    /// Some sentences.
    pub fn say(&mut self, sentences: &str) {
        self.text += &format!("\n{sentences}\n");
    }

    /// A table with one heading a column.
    pub fn table(&mut self, headings: &[&str], rows: &[Vec<String>]) {
        self.text += &format!("\n| {} |\n|{}\n", headings.join(" | "), " --- |".repeat(headings.len()));
        for row in rows {
            assert_eq!(row.len(), headings.len(), "a cell for every heading");
            self.text += &format!("| {} |\n", row.join(" | "));
        }
    }

    /// A figure that lies beside the page.
    pub fn figure(&mut self, file: &str, caption: &str) {
        self.text += &format!("\n![{caption}]({file})\n");
    }

    /// Prints the page and writes it to `folder`/`name`.md.
    pub fn finish(self, folder: &Path, name: &str) -> std::io::Result<()> {
        print!("{}", self.text);
        std::fs::write(folder.join(format!("{name}.md")), &self.text)
    }
}

/// The value below which a share `q` of `values` lies, by the nearest rank; not a number for none.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (q * (sorted.len().max(1) - 1) as f64).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

/// The middle value.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The mean; not a number for none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A small number with two digits, zero when it is rounding.
pub fn short(x: f64) -> String {
    match x {
        x if x.abs() < 1e-12 => "0".into(),
        x if x.abs() < 1e-2 => format!("{x:.1e}"),
        x => format!("{x:.3}"),
    }
}

/// A share as percent.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
