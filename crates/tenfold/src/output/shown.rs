//! Strangers' names in texts for people.

use std::borrow::Cow;

/// A name as part of a line for people: characters that would move the cursor, end the line, order the terminal about or turn the
/// direction of writing stand as escapes such as `\n` and `\u{202e}`.
///
/// # Example
/// ```
/// use tenfold::output::shown;
/// assert_eq!(shown("café"), "café");
/// assert_eq!(shown("two\nlines\u{1b}[2J\u{202e}"), "two\\nlines\\u{1b}[2J\\u{202e}");
/// ```
pub fn shown(name: &str) -> Cow<'_, str> {
    escaped(name, |c| acts(c) || matches!(c, '\n' | '\t'))
}

/// The same for a text of several lines.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, acts)
}

/// Whether a character does something other than to be seen, line ends and tabs aside: control characters of ASCII and of Latin-1,
/// marks, embeddings, overrides and isolates of direction, separators of lines and paragraphs, and the mark of byte order.
pub(crate) fn acts(c: char) -> bool {
    let direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || direction
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn escaped(text: &str, acts: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match acts(c) {
            // `\n`, `\t` and `\r` by their letters, all others by their numbers.
            true if matches!(c, '\n' | '\t' | '\r') => out.extend(c.escape_default()),
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_the_terminal() {
        for code in (0..0x20).chain(0x7f..0xa0).chain([0x61c, 0x200f, 0x202e, 0x2066, 0x2028, 0xfeff]) {
            let c = char::from_u32(code).unwrap();
            let told = shown(&c.to_string()).into_owned();
            assert!(told.starts_with('\\') && told.is_ascii() && told.bytes().all(|b| b >= b' '), "{told:?}");
            assert_eq!(shown_lines(&c.to_string()) == c.to_string(), matches!(c, '\n' | '\t'));
        }
        for text in ["plain", "naïve 日本語 العربية עברית", "👩‍👩‍👧", "a\\n"] {
            assert!(matches!(shown(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
