//! Lines with an edge each whose ids are names.

use super::lines::{Fields, Line, Parsed, Separator, edge, quick_weight};
use crate::communities::data::{Keys, NamedPiece, Names};
use crate::input::numbers::{Bad, line};
use crate::output::text_of_cell;

/// Edges between names, numbered as they appear in the piece. The second value is the number of lines.
pub(super) fn names(piece: &[u8], fields: &Fields, keys: Keys) -> Line<(Parsed, u64)> {
    // Lines of twenty bytes are usual.
    let (mut names, mut edges) = (Names::with(keys), Vec::with_capacity(piece.len() / 16));
    let mut weights = Vec::with_capacity(if fields.weight.is_some() { piece.len() / 16 } else { 0 });
    // One look at the whole is cheaper than one at every name. Where it fails, lines are looked at one by one.
    let whole = std::str::from_utf8(piece).ok().filter(|_| fields.are_first());
    let stops = fields.separator.stops();
    let (mut at, mut lines) = (0, 0);
    while at < piece.len() {
        let begin = at;
        let found = match whole.and_then(|text| quick(text, &mut at, fields, &stops)) {
            Some(found) => Some(found),
            None => {
                let (text, next) = line(piece, begin);
                at = next;
                careful(text, fields).map_err(|bad| bad.at(lines))?
            }
        };
        lines += 1;
        let Some((from, to, weight)) = found else { continue };
        if from.contains('"') || to.contains('"') {
            return Ok((Parsed::Quotes, lines - 1));
        }
        // Tables may be our own; the ids of plain lists are what they are.
        let is_table = matches!(fields.separator, Separator::One(_));
        let (from, to) = if is_table { (text_of_cell(from), text_of_cell(to)) } else { (from, to) };
        // A piece holds far fewer names than there are numbers.
        let mut place = |name: &str| names.insert(name).unwrap_or_default();
        edges.push((place(from), place(to)));
        if fields.weight.is_some() {
            weights.push(weight);
        }
    }
    Ok((Parsed::Named(NamedPiece::new(&names, edges), weights), lines))
}

/// The two ids and the weight of a line.
type Named<'a> = (&'a str, &'a str, f32);

/// A plain line; `None` for anything else, which [`careful`] looks at closely.
#[inline(always)]
fn quick<'a>(text: &'a str, at: &mut usize, fields: &Fields, stops: &[bool; 256]) -> Option<Named<'a>> {
    let bytes = text.as_bytes();
    if fields.comments && matches!(bytes[*at], b'#' | b'%') {
        return None;
    }
    let from = id(text, at, stops)?;
    fields.separator.pass(bytes, at)?;
    let to = id(text, at, stops)?;
    let weight = quick_weight(bytes, at, fields)?;
    fields.separator.end(bytes, at)?;
    Some((from, to, weight))
}

/// The id that begins here, if there are no blanks at its ends.
#[inline(always)]
fn id<'a>(text: &'a str, at: &mut usize, stops: &[bool; 256]) -> Option<&'a str> {
    let rest = &text.as_bytes()[*at..];
    let length = rest.iter().position(|b| stops[usize::from(*b)]).unwrap_or(rest.len());
    let (first, last) = (rest.first()?, rest.get(length.checked_sub(1)?)?);
    if first.is_ascii_whitespace() || last.is_ascii_whitespace() {
        return None;
    }
    let begin = *at;
    *at += length;
    text.get(begin..*at)
}

fn careful<'a>(text: &'a [u8], fields: &Fields) -> Line<Option<Named<'a>>> {
    let Some((from, to, weight)) = edge(text, fields)? else { return Ok(None) };
    let utf8 = |field: &'a [u8]| std::str::from_utf8(field).map_err(|e| not_utf8(field[e.valid_up_to()]));
    Ok(Some((utf8(from)?, utf8(to)?, weight)))
}

fn not_utf8(byte: u8) -> Bad {
    let problem = format!("is not valid UTF-8 (byte 0x{byte:02x})");
    Bad::new(problem, "if it is in another encoding, name that, for example --encoding latin1")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Fields =
        Fields { separator: Separator::Blanks, from: 0, to: 1, weight: None, comments: true, shape: None };

    /// The edges by name, their weights, and the number of lines.
    fn found(text: &[u8], fields: &Fields) -> (Vec<(String, String)>, Vec<f32>, u64) {
        let (Parsed::Named(piece, weights), lines) = names(text, fields, Keys::default()).unwrap() else {
            panic!("names");
        };
        (piece.pairs(), weights, lines)
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|e| (e.0.into(), e.1.into())).collect()
    }

    #[test]
    fn plain_lines_and_others() {
        let text = "# x\nb a\n\n  a \t c,d  \r\nb b more \"words\"\r\n%\né ü\nz y";
        let wanted = pairs(&[("b", "a"), ("a", "c,d"), ("b", "b"), ("é", "ü"), ("z", "y")]);
        assert_eq!(found(text.as_bytes(), &PLAIN), (wanted, vec![], 8));
        let swapped = Fields { from: 2, to: 0, ..PLAIN };
        assert_eq!(found(b"x y z\n", &swapped).0, pairs(&[("z", "x")]));
        // A comment may hold any bytes; then lines are looked at one by one.
        assert_eq!(found(b"# \xff\na b\n", &PLAIN).0, pairs(&[("a", "b")]));
    }

    #[test]
    fn one_separator_leaves_blanks_in_names() {
        let tabs = Fields { separator: Separator::One(b'\t'), weight: Some(2), ..PLAIN };
        let text = b"New York\tLos Angeles\t2.5\n a b \t c\t 1e1 \textra\n\"\tx\t1";
        assert!(matches!(names(text, &tabs, Keys::default()).unwrap(), (Parsed::Quotes, 2)));
        let (edges, weights, _) = found(&text[..45], &tabs);
        assert_eq!(edges, pairs(&[("New York", "Los Angeles"), ("a b", "c")]));
        assert_eq!(weights, [2.5, 10.0]);
        let commas = Fields { separator: Separator::One(b','), comments: false, ..PLAIN };
        assert_eq!(found(b"#a, b c\n", &commas).0, pairs(&[("#a", "b c")]));
    }

    #[test]
    fn what_is_wrong_is_told_by_line() {
        for (text, line, problem) in [
            (&b"a b\n\xff c\n"[..], 1, "is not valid UTF-8 (byte 0xff)"),
            (b"a b\n\nc\n", 2, "\"c\" has 1 field where 2 are needed for an edge"),
        ] {
            let bad = names(text, &PLAIN, Keys::default()).unwrap_err();
            assert_eq!((bad.line, bad.problem.as_str()), (line, problem));
        }
    }
}
