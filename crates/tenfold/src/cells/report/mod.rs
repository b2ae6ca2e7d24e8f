//! The page of cell types: their cells on the images, profiles, features, the number of types, and what single cells say.

mod sections;
mod tissue;

use super::Model;
use super::validate::Judged;
#[cfg(test)]
use crate::browser::Browser;
use crate::report::{Block, Extension, Page, Section, grouped};
use crate::verdict::Level;

#[cfg(test)]
mod tests;

const CELLS: Extension = Extension {
    script: concat!(include_str!("tissue.js"), include_str!("profiles.js")),
    style: include_str!("cells.css"),
};

/// An image behind the cells of a page, made small.
#[derive(Debug, Clone, PartialEq)]
pub struct Backdrop {
    /// The name of the image, as the cells' table has it.
    pub image: String,
    /// Pixels to the right that the image has; the picture may have fewer.
    pub width: usize,
    /// Pixels downwards.
    pub height: usize,
    /// The picture as a PNG file.
    pub png: Vec<u8>,
}

/// What a page can show beside the model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// Images to draw the cells on.
    pub backdrops: &'a [Backdrop],
    /// What single cells say of the types.
    pub judged: Option<&'a Judged>,
}

impl Model {
    /// A page about the types. They are counted from 0.
    ///
    /// # Example
    /// ```
    /// use tenfold::cells::{Params, Synth};
    /// let drawn = Synth { types: 3, genes: 30, cells: 6000, ..Synth::default() }.draw()?;
    /// let page = Params::new(3).fit(&drawn.tissue)?.report();
    /// assert_eq!(page.title, "3 cell types");
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn report(&self) -> Page {
        self.report_with(Beside::default())
    }

    /// [`Model::report`] with images behind the cells and the judgement of single cells.
    pub fn report_with(&self, beside: Beside) -> Page {
        let k = self.k();
        let mut page = Page::new(
            format!("{k} cell type{}", if k == 1 { "" } else { "s" }),
            format!(
                "{} {}, {} genes",
                grouped(self.diagnostics().cells.round() as usize),
                self.counted(),
                grouped(self.genes().len())
            ),
        );
        page.extensions.extend([Extension::EXPLORE, Extension::TONES, CELLS]);
        page.push(sections::types(self));
        page.sections.extend(tissue::section(self, beside.backdrops));
        page.push(sections::profiles(self));
        page.sections.extend(sections::features(self));
        page.sections.extend(sections::number(self));
        page.sections.extend(beside.judged.map(sections::single_cells));
        let findings = self.verdict().findings().iter();
        let findings = findings.map(|(level, text)| (*level == Level::Warning, text.clone())).collect();
        let verdict = page.judge("Diagnostics", findings);
        let mut facts = self.to_json()["diagnostics"].clone();
        if let Some(fields) = facts.as_object_mut() {
            fields.retain(|name, _| name != "starts" && name != "curve");
        }
        page.push(
            Section::new("Diagnostics")
                .with(verdict)
                .with(Block::facts(&facts))
                .with(Block::heading("Starts"))
                .with(sections::starts(self)),
        );
        page.push(Section::about(self.params()));
        page
    }
}
