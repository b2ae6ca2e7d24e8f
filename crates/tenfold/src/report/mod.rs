//! Pages about models: sections of text, tables and plots become one HTML file that works offline.
//!
//! A [`Page`] knows no application. An application fills it with [`Section`]s of [`Block`]s; where it needs more
//! than tables and plots it brings a script and a style of its own ([`Extension`]) and mounts them with
//! [`Block::Widget`]. Everything stands in one file: style, scripts and the data as one block of JSON.
//!
//! **Strangers' words are hostile.** Text is escaped into the page, data are escaped into their block, and scripts
//! only ever write text nodes. A content security policy with the hashes of the page's own style and script is the
//! second wall: nothing else runs, nothing is fetched, nothing is sent.
//!
//! **Items.** Topics, sources and cells are items with the ids of the model file. A table's row, a bar or a cell
//! of a heat map may belong to an item; choosing it anywhere chooses it everywhere on the page. What items are about,
//! such as the nodes of a graph, can be picked: a page's script then shows it.
//!
//! ```
//! use tenfold::report::{Block, Page, Plot, Section};
//! let mut page = Page::new("Three sources", "1,000 samples of 4 columns");
//! let spectrum = Plot::line("Eigenvalues", &[4.0, 2.0, 1.0, 0.1]).log_y().mark(3.0, "k = 3");
//! page.push(Section::new("Spectrum").with(Block::text("The drop tells k.")).with(spectrum));
//! let html = page.to_html();
//! assert!(html.starts_with("<!doctype html>") && html.contains("Three sources"));
//! ```

mod html;
mod plain;
mod plot;
mod policy;
mod table;

use crate::error::Result;
use serde_json::Value;
use std::path::Path;

pub use plain::plain;
pub use plot::{Plot, Series};
pub(crate) use plot::{grouped, number, numbers};
pub(crate) use policy::base64;
pub use table::{Cell, Table};

/// A page: a title, a line below it, and sections.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The headline, also the title of the window.
    pub title: String,
    /// One line below the headline.
    pub subtitle: String,
    /// What the page says first about how far to trust it; it leads to the section of this title.
    pub badge: Option<Badge>,
    /// The sections, in order.
    pub sections: Vec<Section>,
    /// Scripts and styles beyond the common ones.
    pub extensions: Vec<Extension>,
}

/// A short judgement beside the headline.
#[derive(Debug, Clone, PartialEq)]
pub struct Badge {
    /// Whether it is a warning.
    pub warning: bool,
    /// The words.
    pub text: String,
    /// The title of the section that tells more.
    pub section: String,
}

/// A script and a style that an application adds. They are the program's own text, never data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension {
    /// JavaScript that registers a widget: `tenfold.widget(name, (element, data) => …)`.
    pub script: &'static str,
    /// CSS.
    pub style: &'static str,
}

impl Extension {
    /// What pages that are explored share: choosing an item by name, searching, and shares of items as bars. It stands
    /// before the extension that uses it.
    pub const EXPLORE: Self =
        Self { script: include_str!("assets/explore.js"), style: include_str!("assets/explore.css") };

    /// Colours that tell many items apart: `tenfold.tone(item)`.
    pub const TONES: Self = Self { script: include_str!("assets/tones.js"), style: "" };
}

/// A part of a page with its own headline.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The headline; it also stands in the page's menu.
    pub title: String,
    /// What stands in it, in order.
    pub blocks: Vec<Block>,
}

/// One piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A paragraph in small print.
    Note(String),
    /// A headline inside the section.
    Heading(String),
    /// Names with values, as a list.
    Facts(Vec<(String, String)>),
    /// What speaks for or against the result.
    Findings {
        /// One line over them.
        headline: String,
        /// Whether each is a warning, and its words.
        findings: Vec<(bool, String)>,
    },
    /// Text to copy, as it is.
    Code(String),
    /// Rows and columns.
    Table(Table),
    /// A picture of numbers.
    Plot(Plot),
    /// What a script of an [`Extension`] draws from data.
    Widget {
        /// The name under which the script registers.
        name: &'static str,
        /// What it draws.
        data: Value,
    },
    /// Blocks side by side where the screen is wide enough.
    Row(Vec<Block>),
    /// Blocks below each other, as one piece of a row.
    Group(Vec<Block>),
}

impl Page {
    /// A page without sections yet.
    pub fn new(title: impl Into<String>, subtitle: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            subtitle: subtitle.into(),
            badge: None,
            sections: Vec::new(),
            extensions: Vec::new(),
        }
    }

    /// Adds a section.
    pub fn push(&mut self, section: Section) {
        self.sections.push(section);
    }

    /// Sets the badge by what was found (whether each is a warning, and its words) and gives the findings as a block
    /// for the section of this title.
    pub fn judge(&mut self, section: &str, findings: Vec<(bool, String)>) -> Block {
        let warnings = findings.iter().filter(|(warning, _)| *warning).count();
        let (word, rest) = match (warnings, findings.len()) {
            (0, 0) => ("Sound", ": nothing speaks against this result.".to_owned()),
            (0, 1) => ("Sound", ", with one note.".into()),
            (0, n) => ("Sound", format!(", with {n} notes.")),
            (1, _) => ("Doubtful", ": one warning.".into()),
            (n, _) => ("Doubtful", format!(": {n} warnings.")),
        };
        self.badge = Some(Badge { warning: warnings > 0, text: word.into(), section: section.into() });
        Block::Findings { headline: format!("{word}{rest}"), findings }
    }

    /// The whole page as HTML. The same page gives the same bytes.
    pub fn to_html(&self) -> String {
        html::render(self)
    }

    /// Writes the page, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Write`](crate::Error::Write) when the disk refuses.
    ///
    /// # Example
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("page.html");
    /// tenfold::report::Page::new("Nothing yet", "").write(&path)?;
    /// assert!(std::fs::read_to_string(&path).unwrap().contains("<title>Nothing yet</title>"));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = self.to_html();
        crate::output::write_atomically(path, |out| {
            out.write_all(text.as_bytes()).map_err(|e| crate::output::write_error(path, e))
        })
    }
}

impl Section {
    /// A section without blocks yet.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    /// The last section of every page: the parameters of the fit, and how to cite.
    pub fn about(parameters: &Value) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let cite = format!(
            "The tenfold authors. tenfold: hidden factors in data by the method of moments and tensor\n\
             decomposition. Version {version}, 2026.\n\n\
             F. Huang. Discovery of Latent Factors in High-dimensional Data Using Tensor Methods.\n\
             PhD thesis, University of California, Irvine, 2016."
        );
        Self::new("About")
            .with(Block::heading("Parameters"))
            .with(Block::facts(parameters))
            .with(Block::heading("How to cite"))
            .with(Block::Code(cite))
    }

    /// The section with one more block.
    pub fn with(mut self, block: impl Into<Block>) -> Self {
        self.blocks.push(block.into());
        self
    }
}

impl Block {
    /// A paragraph.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A paragraph in small print.
    pub fn note(text: impl Into<String>) -> Self {
        Self::Note(text.into())
    }

    /// A headline inside the section.
    pub fn heading(text: impl Into<String>) -> Self {
        Self::Heading(text.into())
    }

    /// Names with values, from an object of JSON; values that are objects are told with dots between the names.
    pub fn facts(value: &Value) -> Self {
        let mut found = Vec::new();
        plain::flatten("", value, &mut found);
        Self::Facts(found)
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<Plot> for Block {
    fn from(plot: Plot) -> Self {
        Self::Plot(plot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_badge_tells_doubt() {
        let mut page = Page::new("t", "s");
        page.judge("Verdict", vec![(false, "a".into()), (true, "b".into())]);
        let badge = page.badge.clone().unwrap();
        assert!(badge.warning && badge.text == "Doubtful");
        page.judge("Verdict", Vec::new());
        assert_eq!(page.badge.unwrap().text, "Sound");
    }
}
