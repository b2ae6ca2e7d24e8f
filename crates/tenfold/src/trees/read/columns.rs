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

/// Cells as they stand that are looked up without a hash, and the most bytes of such a cell.
const SHORT: usize = 8;
const SHORT_BYTES: usize = 7;

/// A column: numbered levels as long as they are not too many, then numbers as long as all cells are.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// What it was said to be.
    pub(super) said: Option<ColumnKind>,
    pub(super) rows: usize,
    pub(super) missing: usize,
    /// The line and the text of the first cell that is no number.
    pub(super) not_number: Option<(u64, String)>,
    pub(super) levels: Option<Levels>,
    /// The numbers, NaN where missing, once there are too many levels; empty when a cell is no number.
    numbers: Vec<f64>,
}

/// What the cells of a column are, numbered as they appear.
#[derive(Debug, Default)]
pub(super) struct Levels {
    codes: Vec<u16>,
    pub(super) names: Vec<String>,
    pub(super) counts: Vec<usize>,
    /// The number that a level is, NaN when it is none.
    values: Vec<f64>,
    index: HashMap<String, u16>,
    /// The first few short cells, packed, with their levels: most cells of most tables are `0` and `1`.
    short: Vec<(u64, u16)>,
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

    fn number(&self, row: usize) -> f64 {
        self.of(row).map_or(f64::NAN, |level| self.values[level])
    }

    fn take(&mut self, code: u16) {
        self.codes.push(code);
        if code != MISSING {
            self.counts[usize::from(code)] += 1;
        }
    }

    /// Takes a cell without surrounding blanks and gives its level; none when that would be one more than `most`.
    fn level(&mut self, cell: &str, value: f64, most: usize) -> Option<u16> {
        if let Some(&code) = self.index.get(cell) {
            return Some(code);
        }
        if self.names.len() == most {
            return None;
        }
        let code = self.names.len() as u16;
        self.index.insert(cell.to_owned(), code);
        self.names.push(cell.to_owned());
        self.counts.push(0);
        self.values.push(value);
        Some(code)
    }
}

/// The bytes of a short cell and their number in one.
fn pack(cell: &str) -> Option<u64> {
    let bytes = cell.as_bytes();
    (bytes.len() <= SHORT_BYTES)
        .then(|| bytes.iter().fold(bytes.len() as u64, |packed, &byte| packed << 8 | u64::from(byte)))
}

impl Column {
    pub(super) fn new(name: &str, said: Option<ColumnKind>) -> Self {
        let (levels, numbers) = (Some(Levels::default()), Vec::new());
        Self { name: name.to_owned(), said, rows: 0, missing: 0, not_number: None, levels, numbers }
    }

    /// Takes the next cell, which stands in this line or row.
    pub(super) fn push(&mut self, cell: &str, line: u64) {
        self.rows += 1;
        let packed = pack(cell);
        if let (Some(levels), Some(packed)) = (&mut self.levels, packed)
            && let Some(&(_, code)) = levels.short.iter().find(|known| known.0 == packed)
        {
            self.missing += usize::from(code == MISSING);
            return levels.take(code);
        }
        let cell = cell.trim();
        let missing = is_missing(cell);
        self.missing += usize::from(missing);
        let code = if missing { Some(MISSING) } else { self.level(cell, line) };
        match (&mut self.levels, code) {
            (Some(levels), Some(code)) => {
                levels.take(code);
                if let Some(packed) = packed.filter(|_| levels.short.len() < SHORT) {
                    levels.short.push((packed, code));
                }
            }
            _ if self.not_number.is_some() => self.numbers = Vec::new(),
            _ => self.numbers.push(if missing { f64::NAN } else { cell.parse().unwrap_or(f64::NAN) }),
        }
    }

    /// The level of a cell that is not missing. Levels that become too many give way to numbers.
    fn level(&mut self, cell: &str, line: u64) -> Option<u16> {
        let known = self.levels.as_ref().and_then(|levels| levels.index.get(cell).copied());
        if known.is_some() {
            return known;
        }
        let value = cell.parse::<f64>().ok().filter(|x| x.is_finite());
        if value.is_none() && self.not_number.is_none() {
            self.not_number = Some((line, cell.chars().take(40).collect()));
        }
        let said = matches!(self.said, Some(ColumnKind::Category | ColumnKind::Binary));
        let most = if said { MOST_SAID } else { MOST };
        let levels = self.levels.as_mut()?;
        let code = levels.level(cell, value.unwrap_or(f64::NAN), most);
        if code.is_none() {
            self.numbers = (0..levels.codes.len()).map(|row| levels.number(row)).collect();
            self.levels = None;
        }
        code
    }

    /// Cells that are not missing.
    pub(super) fn present(&self) -> usize {
        self.rows - self.missing
    }

    /// Whether all cells that are not missing are numbers.
    pub(super) fn is_number(&self) -> bool {
        self.not_number.is_none()
    }

    /// How many cells are numbers, where there are few enough levels to be told apart.
    pub(super) fn numbers_present(&self) -> usize {
        let levels = self.levels.iter().flat_map(|levels| levels.counts.iter().zip(&levels.values));
        levels.filter(|(_, value)| !value.is_nan()).map(|(count, _)| count).sum()
    }

    /// The number of a row, NaN where it is missing or none.
    pub(super) fn number(&self, row: usize) -> f64 {
        match &self.levels {
            Some(levels) => levels.number(row),
            None => self.numbers.get(row).copied().unwrap_or(f64::NAN),
        }
    }

    /// The numbers that appear, each level's once.
    fn held(&self) -> impl Iterator<Item = f64> {
        let all = self.levels.as_ref().map_or(&self.numbers, |levels| &levels.values);
        all.iter().copied().filter(|x| !x.is_nan())
    }

    /// Whether all numbers are whole.
    pub(super) fn is_whole(&self) -> bool {
        self.is_number() && self.held().all(|x| x.fract() == 0.0)
    }

    /// Whether a number is not whole, whatever else there is.
    pub(super) fn has_fractions(&self) -> bool {
        self.held().any(|x| x.fract() != 0.0)
    }

    /// Whether every number is 0 or 1.
    pub(super) fn is_flag(&self) -> bool {
        self.is_number() && self.held().all(|x| x == 0.0 || x == 1.0)
    }

    /// Whether it has one value only.
    pub(super) fn is_constant(&self) -> bool {
        let mut held = self.held();
        self.levels.as_ref().is_some_and(|levels| levels.names.len() < 2)
            || self.is_number() && held.next().is_none_or(|first| held.all(|x| x == first))
    }

    /// Whether no number stands in two rows, and none is missing.
    pub(super) fn all_differ(&self) -> bool {
        let mut sorted: Vec<f64> = self.held().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.len() == self.rows && sorted.windows(2).all(|w| w[0] != w[1])
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
        assert_eq!(numbers.number(5), -300.0);
        assert!(numbers.number(2).is_nan() && numbers.is_number() && !numbers.is_whole());
        let mixed = column(&["1", "two", "inf"]);
        assert_eq!(mixed.not_number, Some((3, "two".into())));
        assert!(!mixed.is_number());
        let levels = column(&["b", "a", "NA", "c", "c"]).levels.unwrap();
        assert_eq!(levels.order().iter().map(|&l| &levels.names[l][..]).collect::<Vec<_>>(), ["c", "a", "b"]);
        assert_eq!((levels.of(2), levels.of(3)), (None, Some(2)));
        let many: Vec<String> = (0..1001).map(|i| format!("t{i}")).collect();
        assert!(column(&many.iter().map(String::as_str).collect::<Vec<_>>()).levels.is_none());
        assert!(column(&["1", "1.0"]).is_constant() && column(&["", "NA"]).is_constant());
    }

    #[test]
    fn numbers_stay_when_levels_become_too_many() {
        let mut cells: Vec<String> = (0..1500).map(|i| format!(" {}.5", i % 1200)).collect();
        cells[7] = "NA".into();
        cells[1400] = String::new();
        let texts: Vec<&str> = cells.iter().map(String::as_str).collect();
        let real = column(&texts);
        assert!(real.levels.is_none() && real.is_number() && !real.is_whole() && !real.all_differ());
        assert_eq!((real.rows, real.missing), (1500, 2));
        for (row, cell) in texts.iter().enumerate() {
            assert_eq!(real.number(row).to_bits(), cell.trim().parse::<f64>().unwrap_or(f64::NAN).to_bits());
        }
        let late = column(&texts.iter().copied().chain(["x"]).collect::<Vec<_>>());
        assert_eq!(late.not_number, Some((1502, "x".into())));
        assert!(!late.is_number() && late.numbers.is_empty());
        assert!(
            column(
                &(0..30)
                    .map(|i| (i * 7).to_string())
                    .collect::<Vec<_>>()
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
            )
            .all_differ()
        );
    }

    #[test]
    fn short_cells_are_told_apart_by_length_blanks_and_zeros() {
        let cells =
            ["0", "00", "0 ", " 0", "", "\0", "\0\0", "1", "0", "1", "NA", "seven77", "eight888", "seven77"];
        let levels = column(&cells).levels.unwrap();
        let of: Vec<Option<&str>> =
            (0..cells.len()).map(|row| levels.of(row).map(|l| levels.names[l].as_str())).collect();
        let expected: Vec<Option<&str>> =
            cells.iter().map(|cell| Some(cell.trim()).filter(|cell| !is_missing(cell))).collect();
        assert_eq!(of, expected);
        assert_eq!(levels.counts.iter().sum::<usize>(), cells.len() - 2);
    }
}
