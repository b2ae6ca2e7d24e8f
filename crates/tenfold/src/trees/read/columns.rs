//! Columns of a table as they are read: numbers as long as all cells are numbers, levels as long as they are not too many.

use super::ColumnKind;
use std::collections::HashMap;

/// Levels that a column may have: beyond, it is free text or numbers. A column that is said to be a category may have
/// [`MOST_SAID`].
const MOST: usize = 1000;
const MOST_SAID: usize = 65_000;

/// The level of a missing cell.
const MISSING: u16 = u16::MAX;

/// Whether a cell stands for nothing.
pub(super) fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "?")
        || cell.len() <= 4
            && ["na", "n/a", "nan", "null", "<na>", "#n/a"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// What it was said to be.
    pub(super) said: Option<ColumnKind>,
    pub(super) rows: usize,
    pub(super) missing: usize,
    /// The numbers, NaN where missing; none once a cell is no number.
    pub(super) numbers: Option<Vec<f64>>,
    /// The line and the text of the first cell that is no number.
    pub(super) not_number: Option<(u64, String)>,
    pub(super) levels: Option<Levels>,
}

/// What the cells of a column are, numbered as they appear.
#[derive(Debug, Default)]
pub(super) struct Levels {
    codes: Vec<u16>,
    pub(super) names: Vec<String>,
    pub(super) counts: Vec<usize>,
    index: HashMap<String, u16>,
}

impl Levels {
    /// The level of a row, unless it is missing.
    pub(super) fn of(&self, row: usize) -> Option<usize> {
        self.codes.get(row).filter(|&&code| code != MISSING).map(|&code| usize::from(code))
    }

    /// Levels by how often they appear, then by name: the first is the reference.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|&a, &b| {
            self.counts[b].cmp(&self.counts[a]).then_with(|| self.names[a].cmp(&self.names[b]))
        });
        order
    }
}

impl Column {
    pub(super) fn new(name: &str, said: Option<ColumnKind>) -> Self {
        let (numbers, levels) = (Some(Vec::new()), Some(Levels::default()));
        Self { name: name.to_owned(), said, rows: 0, missing: 0, numbers, not_number: None, levels }
    }

    /// Takes the next cell, which stands in this line or row.
    pub(super) fn push(&mut self, cell: &str, line: u64) {
        let cell = cell.trim();
        self.rows += 1;
        let missing = is_missing(cell);
        self.missing += usize::from(missing);
        if let Some(numbers) = &mut self.numbers {
            match cell.parse::<f64>().ok().filter(|x| x.is_finite()) {
                Some(x) => numbers.push(x),
                None if missing => numbers.push(f64::NAN),
                None => {
                    self.numbers = None;
                    self.not_number = Some((line, cell.chars().take(40).collect()));
                }
            }
        }
        let most = if matches!(self.said, Some(ColumnKind::Category | ColumnKind::Binary)) {
            MOST_SAID
        } else {
            MOST
        };
        let Some(levels) = &mut self.levels else { return };
        if missing {
            levels.codes.push(MISSING);
        } else if let Some(&code) = levels.index.get(cell) {
            levels.codes.push(code);
            levels.counts[usize::from(code)] += 1;
        } else if levels.names.len() == most {
            self.levels = None;
        } else {
            let code = levels.names.len() as u16;
            levels.index.insert(cell.to_owned(), code);
            levels.names.push(cell.to_owned());
            levels.counts.push(1);
            levels.codes.push(code);
        }
    }

    /// Cells that are not missing.
    pub(super) fn present(&self) -> usize {
        self.rows - self.missing
    }

    /// Whether all numbers are whole.
    pub(super) fn is_whole(&self) -> bool {
        self.numbers.as_ref().is_some_and(|n| n.iter().all(|x| x.is_nan() || x.fract() == 0.0))
    }

    /// Whether every number is 0 or 1.
    pub(super) fn is_flag(&self) -> bool {
        self.numbers.as_ref().is_some_and(|n| n.iter().all(|x| x.is_nan() || *x == 0.0 || *x == 1.0))
    }

    /// Whether it has one value only.
    pub(super) fn is_constant(&self) -> bool {
        self.levels.as_ref().is_some_and(|levels| levels.names.len() < 2)
            || self.numbers.as_ref().is_some_and(|n| {
                let mut held = n.iter().filter(|x| !x.is_nan());
                held.next().is_none_or(|first| held.all(|x| x == first))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str]) -> Column {
        let mut column = Column::new("x", None);
        cells.iter().enumerate().for_each(|(i, cell)| column.push(cell, i as u64 + 2));
        column
    }

    #[test]
    fn cells_are_numbers_levels_or_missing() {
        let numbers = column(&["1", " 2.5", "NA", "", "nan", "-3e2", "?", "null"]);
        assert_eq!((numbers.missing, numbers.present()), (5, 3));
        assert_eq!(numbers.numbers.as_ref().unwrap()[5], -300.0);
        let mixed = column(&["1", "two", "inf"]);
        assert_eq!(mixed.not_number, Some((3, "two".into())));
        assert!(mixed.numbers.is_none());
        let levels = column(&["b", "a", "NA", "c", "c"]).levels.unwrap();
        assert_eq!(levels.order().iter().map(|&l| &levels.names[l][..]).collect::<Vec<_>>(), ["c", "a", "b"]);
        assert_eq!((levels.of(2), levels.of(3)), (None, Some(2)));
        let many: Vec<String> = (0..1001).map(|i| format!("t{i}")).collect();
        assert!(column(&many.iter().map(String::as_str).collect::<Vec<_>>()).levels.is_none());
        assert!(column(&["1", "1.0"]).is_constant() && column(&["", "NA"]).is_constant());
    }
}
