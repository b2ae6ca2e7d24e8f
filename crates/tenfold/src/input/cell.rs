//! What stands in a row of a column that holds text or numbers.

use std::fmt::Write;

/// A cell of a table that knows types.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Text(&'a str),
    Whole(i128),
    Number(f64),
}

impl Cell<'_> {
    /// Appends the cell as text; nothing where it is null.
    pub(crate) fn write(self, text: &mut String) {
        match self {
            Self::Null => {}
            Self::Text(given) => text.push_str(given),
            Self::Whole(number) => {
                let _ = write!(text, "{number}");
            }
            Self::Number(number) => {
                let _ = write!(text, "{number}");
            }
        }
    }
}
