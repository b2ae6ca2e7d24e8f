//! Sentences as they stand in a file, in one piece of memory.

use super::super::data::Sentences;
use std::ops::Range;

/// Lines between two whose places are noted: a place for every line would take many times what a short one does.
const APART: usize = 64;

/// The lines of a text. They take their own bytes and little else, however short they are.
///
/// # Example
/// ```
/// use tenfold::sentences::Lines;
/// let lines: Lines = ["A fine film.", "", "Dull, alas"].into_iter().collect();
/// assert_eq!((lines.len(), lines.get(2)), (3, Some("Dull, alas")));
/// assert_eq!(lines.iter().filter(|line| line.is_empty()).count(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    text: String,
    /// Where every [`APART`]-th line begins.
    starts: Vec<usize>,
    count: usize,
    words: u64,
}

impl Lines {
    /// Adds whole lines; only the last ones of all may lack their end.
    pub(super) fn push(&mut self, text: &str) {
        let mut at = self.text.len();
        for line in text.split_inclusive('\n') {
            if self.count.is_multiple_of(APART) {
                self.starts.push(at);
            }
            at += line.len();
            self.count += 1;
            let (blank, mut between) = (|byte: u8| byte.is_ascii_whitespace(), true);
            for byte in line.bytes() {
                self.words += u64::from(between && !blank(byte));
                between = blank(byte);
            }
        }
        self.text.push_str(text);
    }

    /// How many lines there are, empty ones included.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of all lines.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// What stands between blanks, as often as it does.
    pub fn words(&self) -> u64 {
        self.words
    }

    /// A line without its end.
    pub fn get(&self, i: usize) -> Option<&str> {
        self.from(i).next()
    }

    /// All lines without their ends.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.from(0)
    }

    /// The lines from this one on.
    fn from(&self, i: usize) -> impl Iterator<Item = &str> {
        let start = self.starts.get(i / APART).copied().unwrap_or(self.text.len());
        self.text[start..].lines().skip(i % APART)
    }
}

impl<T: AsRef<str>> FromIterator<T> for Lines {
    /// A line for every text that has no end of a line in it.
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut lines = Self::default();
        for text in texts {
            lines.push(&format!("{}\n", text.as_ref()));
        }
        lines
    }
}

impl Sentences for Lines {
    fn count(&self) -> usize {
        self.count
    }

    fn each(&self, range: Range<usize>, take: &mut dyn FnMut(&str)) {
        self.from(range.start).take(range.len()).for_each(take);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_text() {
        let text: String =
            (0..1000).map(|i| format!("{}{}", "é x ".repeat(i % 5), ["\n", "\r\n"][i % 2])).collect();
        for text in [&text[..], "a", "a\n", "\n", "", "a\n\nb\r"] {
            let mut lines = Lines::default();
            text.split_inclusive('\n').for_each(|piece| lines.push(piece));
            let expected: Vec<&str> = text.lines().collect();
            assert_eq!(lines.iter().collect::<Vec<_>>(), expected, "{text:?}");
            assert_eq!(lines.len(), expected.len());
            assert!((0..=expected.len()).all(|i| lines.get(i) == expected.get(i).copied()), "{text:?}");
            assert_eq!(lines.words(), text.split_ascii_whitespace().count() as u64);
        }
    }
}
