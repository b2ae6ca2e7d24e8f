//! Rows become the sections of a tissue.

use super::Read;
use super::columns::Columns;
use crate::cells::data::{Cell, Section, Tissue};
use std::collections::HashMap;
use std::path::Path;

/// Cells in the order of their rows. Rows of one image mostly stand together, so names are told only where they change.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) cells: Vec<Cell>,
    /// Image and gene, and the first row that has them.
    runs: Vec<(String, String, usize)>,
}

impl Part {
    /// Takes a row with the names of its image and gene.
    pub(super) fn push(&mut self, image: &str, gene: &str, cell: Cell) {
        let same = self.runs.last().is_some_and(|(i, g, _)| i == image && g == gene);
        if !same {
            self.runs.push((image.to_owned(), gene.to_owned(), self.cells.len()));
        }
        self.cells.push(cell);
    }

    /// Gives back what it grew beyond its cells: many parts wait together.
    pub(super) fn shrink(&mut self) {
        self.cells.shrink_to_fit();
        self.runs.shrink_to_fit();
    }
}

/// Brings rows together by image and gene.
#[derive(Default)]
pub(super) struct Gather {
    places: HashMap<(String, String), usize>,
    sections: Vec<Section>,
}

impl Gather {
    pub(super) fn take(&mut self, part: Part) {
        let ends: Vec<usize> = part.runs.iter().skip(1).map(|run| run.2).chain([part.cells.len()]).collect();
        for ((image, gene, start), end) in part.runs.into_iter().zip(ends) {
            let sections = &mut self.sections;
            let place = *self.places.entry((image, gene)).or_insert_with_key(|(image, gene)| {
                sections.push(Section { image: image.clone(), gene: gene.clone(), cells: Vec::new() });
                sections.len() - 1
            });
            sections[place].cells.extend_from_slice(&part.cells[start..end]);
        }
    }

    /// Names that are missing are made: of the gene by the image, of the image by the gene.
    pub(super) fn finish(mut self, path: &Path, columns: Columns) -> Read {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        for section in &mut self.sections {
            if columns.gene.is_none() {
                section.gene = section.image.clone();
            }
            if columns.image.is_none() {
                section.image = format!("{file} {}", section.gene);
            }
        }
        Read { tissue: Tissue { sections: self.sections }, known: columns.known, notes: columns.notes }
    }
}
