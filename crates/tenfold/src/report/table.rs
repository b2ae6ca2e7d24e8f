//! Rows and columns.

use super::plot::grouped;

/// A table with a header; the reader sorts it by any column.
///
/// # Example
/// ```
/// use tenfold::report::{Cell, Table};
/// let mut table = Table::new(&["source", "share"]);
/// table.push(Some(0), vec![Cell::count(0), Cell::share(0.25, 0.5)]);
/// assert_eq!(table.rows.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The header.
    pub columns: Vec<String>,
    /// The item that a row belongs to, and its cells.
    pub rows: Vec<(Option<usize>, Vec<Cell>)>,
    /// Whether a long table shows only its first screen until it is scrolled.
    pub tall: bool,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number, as it is sorted and as it is written.
    Number(f64, String),
    /// A number with a bar of this length, 0 to 1.
    Bar(f64, String, f64),
    /// Words, each of which could be a stranger's.
    Words(Vec<String>),
    /// Items with their names.
    Items(Vec<(usize, String)>),
    /// Things that items are about, such as nodes: their numbers on this page, and their names, which could be strangers'.
    Picks(Vec<(usize, String)>),
}

impl Table {
    /// A table without rows yet.
    pub fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|&c| c.to_owned()).collect(), rows: Vec::new(), tall: false }
    }

    /// Adds a row, of an item or of none.
    ///
    /// # Panics
    /// When there are not as many cells as columns.
    pub fn push(&mut self, item: Option<usize>, cells: Vec<Cell>) {
        assert_eq!(cells.len(), self.columns.len(), "one cell for every column");
        self.rows.push((item, cells));
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A whole number.
    pub fn count(n: usize) -> Self {
        Self::Number(n as f64, grouped(n))
    }

    /// A number with this many digits after the point; a dash when it is not finite.
    pub fn number(x: f64, digits: usize) -> Self {
        Self::Number(x, fixed(x, digits))
    }

    /// A share in percent with a bar whose full length is `full`.
    pub fn share(x: f64, full: f64) -> Self {
        let text = if x.is_finite() { format!("{:.1} %", 100.0 * x) } else { "–".into() };
        Self::Bar(x, text, if full > 0.0 { (x / full).clamp(0.0, 1.0) } else { 0.0 })
    }
}

/// With a true minus sign, which is as wide as a digit.
pub(super) fn fixed(x: f64, digits: usize) -> String {
    if x.is_finite() { format!("{x:.digits$}").replace('-', "−") } else { "–".into() }
}
