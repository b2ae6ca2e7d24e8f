//! Texts as cells of CSV and TSV, which spreadsheets open too.

use std::borrow::Cow;

/// What makes a spreadsheet take a cell for a formula when the cell begins with it. The wide forms are those of East Asian keyboards,
/// which some programs read as the narrow ones.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Adds a text to a line of CSV or TSV as one cell: in quotes where it would be taken for more than one cell or for none, and with an
/// apostrophe before it where a spreadsheet would take it for a formula, as in `=1+1`.
///
/// Numbers and single characters are never formulas and stay as they are. So that [`text_of_cell`] can give every text back, one that
/// has apostrophes before a formula already gets another.
///
/// # Example
/// ```
/// use tenfold::output::{push_cell, text_of_cell};
/// let mut line = String::new();
/// for text in ["-1.5", "a, b", "=SUM(A1)"] {
///     push_cell(&mut line, text, ',');
///     line.push(';');
/// }
/// assert_eq!(line, "-1.5;\"a, b\";'=SUM(A1);");
/// assert_eq!(text_of_cell("'=SUM(A1)"), "=SUM(A1)");
/// assert_eq!(text_of_cell("'t is"), "'t is");
/// ```
pub fn push_cell(line: &mut String, text: &str, delimiter: char) {
    let text = if is_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) };
    if text.is_empty() || text.contains([delimiter, '"', '\n', '\r', ';']) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(&text);
    }
}

/// The text of a cell that [`push_cell`] wrote, once its quotes are gone: without the apostrophe before a formula.
pub fn text_of_cell(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if is_formula(text) => text,
        _ => cell,
    }
}

/// Whether a spreadsheet would compute the text, or the text behind its apostrophes.
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    let mut letters = text.chars();
    let begins = letters.next().is_some_and(|first| FORMULA.contains(&first)) && letters.next().is_some();
    begins && !is_number(text)
}

/// Digits with a sign, a point, an exponent; not the names of infinities, which a spreadsheet would look up.
fn is_number(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    text.bytes().all(plain) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cell(text: &str) -> String {
        let mut line = String::new();
        push_cell(&mut line, text, ',');
        line
    }

    #[test]
    fn formulas_get_an_apostrophe_and_nothing_else_does() {
        for text in
            ["=1+1", "+A1", "-A1", "@SUM(A1)", "=cmd|' /C calc'!A0", "-1+1", "-inf", "＝1+1", "--1", "+-"]
        {
            assert_eq!(cell(text), format!("'{text}"), "{text}");
        }
        assert_eq!(cell("\t=1"), "'\t=1");
        assert_eq!(cell("\r=1"), "\"'\r=1\"");
        for text in ["-1", "+1.5e-3", "-.5", "-", "+", "=", "a=b", "1-2", "'tis", "'", "x@y", "ü"] {
            assert_eq!(cell(text), text);
        }
        assert_eq!(cell(""), "\"\"");
        assert_eq!(cell("a;b"), "\"a;b\"");
    }

    proptest! {
        #[test]
        fn every_text_comes_back(text in "['=+@a1.\t\n\r\"，＝-]{0,6}|\\PC{0,8}") {
            let line = format!("x,{},y\n", cell(&text));
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
            let row = reader.records().next().unwrap().unwrap();
            prop_assert_eq!(row.len(), 3);
            prop_assert_eq!(text_of_cell(&row[1]), text.as_str());
            let first = row[1].chars().next();
            let safe = row[1].chars().count() < 2 || is_number(&row[1]) || !first.is_some_and(|c| FORMULA.contains(&c));
            prop_assert!(safe, "{:?}", &row[1]);
        }
    }
}
