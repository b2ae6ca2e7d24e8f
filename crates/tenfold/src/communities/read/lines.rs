//! Lines with an edge each: the parser of edge lists, of matrices in the MatrixMarket format, and of tables without quotes.

use crate::communities::data::{MEND_WEIGHT, NamedPiece, Pairs, number, weight};
use crate::input::numbers::{Bad, decimal, line, shown, whole};

/// What stands between the fields of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// Blanks, or a comma, a semicolon or a bar with any blanks around it: enough where ids are numbers.
    Any,
    /// Any number of blanks.
    Blanks,
    /// One such byte; blanks around fields do not count.
    One(u8),
}

impl Separator {
    #[inline(always)]
    fn is(self, byte: u8) -> bool {
        match self {
            Self::Any => is_blank(byte) || is_mark(byte),
            Self::Blanks => is_blank(byte),
            Self::One(one) => byte == one,
        }
    }

    /// The bytes at which an id ends.
    pub(super) fn stops(self) -> [bool; 256] {
        std::array::from_fn(|byte| {
            let byte = byte as u8;
            self.is(byte) || matches!(byte, b'\n' | b'\r' | b'"')
        })
    }

    /// Moves over what stands between two fields.
    #[inline(always)]
    pub(super) fn pass(self, text: &[u8], at: &mut usize) -> Option<()> {
        let begin = *at;
        let blank = |byte: &u8| is_blank(*byte) && self != Self::One(*byte);
        while text.get(*at).is_some_and(blank) {
            *at += 1;
        }
        let mark = text.get(*at).is_some_and(|byte| match self {
            Self::Any => is_mark(*byte),
            Self::Blanks => false,
            Self::One(one) => *byte == one,
        });
        if mark {
            *at += 1;
            while text.get(*at).is_some_and(blank) {
                *at += 1;
            }
        }
        (mark || *at > begin && !matches!(self, Self::One(_))).then_some(())
    }

    /// Moves over the rest of a line that has no more fields in use.
    #[inline(always)]
    pub(super) fn end(self, text: &[u8], at: &mut usize) -> Option<()> {
        match text.get(*at) {
            None => {}
            Some(b'\n') => *at += 1,
            Some(b'\r') if text.get(*at + 1) == Some(&b'\n') => *at += 2,
            Some(&byte) if self.is(byte) => {
                *at += text[*at..].iter().position(|b| *b == b'\n').map_or(text.len() - *at, |n| n + 1);
            }
            Some(_) => return None,
        }
        Some(())
    }

    /// The fields of a line that has no blanks at its ends.
    pub(super) fn fields(self, text: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut rest = Some(text).filter(|text| !text.is_empty());
        std::iter::from_fn(move || {
            let text = rest?;
            let end = text.iter().position(|b| self.is(*b)).unwrap_or(text.len());
            let mut at = end;
            rest = self.pass(text, &mut at).map(|()| &text[at..]);
            Some(text[..end].trim_ascii())
        })
    }
}

#[inline(always)]
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

#[inline(always)]
fn is_mark(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b'|')
}

/// Where the parts of an edge stand in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) separator: Separator,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) weight: Option<usize>,
    /// Whether a line that begins with `#` or `%` is a comment.
    pub(super) comments: bool,
    /// For a matrix: its rows and columns, which ids count from 1; a line then has nothing else.
    pub(super) shape: Option<(u32, u32)>,
}

impl Fields {
    /// Whether a line begins with an edge, and its weight stands behind that.
    pub(super) fn are_first(&self) -> bool {
        (self.from, self.to) == (0, 1) && self.weight.is_none_or(|w| w == 2)
    }
}

/// What a piece of lines holds.
#[derive(Debug)]
pub(super) enum Parsed {
    Numbers(Pairs, Vec<f32>),
    Named(NamedPiece, Vec<f32>),
    /// An id that is no number.
    NotNumbers,
    /// Quotes, which another reader understands.
    Quotes,
}

pub(super) type Line<T> = Result<T, Bad>;

/// Edges between numbers. The second value is the number of lines.
pub(super) fn numbers(piece: &[u8], fields: &Fields) -> Line<(Parsed, u64)> {
    // Lines of fifteen bytes are usual.
    let mut small: Vec<(u32, u32)> = Vec::with_capacity(piece.len() / 12);
    let mut large: Vec<(u64, u64)> = Vec::new();
    let mut weights = Vec::with_capacity(if fields.weight.is_some() { piece.len() / 12 } else { 0 });
    let quick_fields = fields.are_first();
    let (mut at, mut lines) = (0, 0);
    while at < piece.len() {
        let begin = at;
        let found = if quick_fields { quick(piece, &mut at, fields) } else { None };
        let (from, to, weight) = match found {
            Some(edge) => edge,
            None => {
                let (text, next) = line(piece, begin);
                at = next;
                match careful(text, fields).map_err(|bad| bad.at(lines))? {
                    Careful::Edge(from, to, weight) => (from, to, weight),
                    Careful::Nothing => {
                        lines += 1;
                        continue;
                    }
                    Careful::NotNumbers => return Ok((Parsed::NotNumbers, lines)),
                    Careful::Quotes => return Ok((Parsed::Quotes, lines)),
                }
            }
        };
        lines += 1;
        if fields.weight.is_some() {
            weights.push(weight);
        }
        if (from | to) >> 32 == 0 && large.is_empty() {
            small.push((from as u32, to as u32));
        } else {
            if large.is_empty() {
                large = small.iter().map(|e| (u64::from(e.0), u64::from(e.1))).collect();
            }
            large.push((from, to));
        }
    }
    let pairs = if large.is_empty() { Pairs::Small(small) } else { Pairs::Large(large) };
    Ok((Parsed::Numbers(pairs, weights), lines))
}

/// A plain line `from to` or `from to weight`; `None` for anything else, which [`careful`] looks at closely.
#[inline(always)]
fn quick(piece: &[u8], at: &mut usize, fields: &Fields) -> Option<(u64, u64, f32)> {
    let from = whole(piece, at)?;
    fields.separator.pass(piece, at)?;
    let to = whole(piece, at)?;
    let value = quick_weight(piece, at, fields)?;
    if let Some((rows, cols)) = fields.shape {
        let inside = |id: u64, most: u32| id.wrapping_sub(1) < u64::from(most);
        if !inside(from, rows) || !inside(to, cols) {
            return None;
        }
    }
    // Behind the places of a matrix nothing may stand.
    if fields.shape.is_some() && !matches!(piece.get(*at), None | Some(b'\n' | b'\r')) {
        return None;
    }
    fields.separator.end(piece, at)?;
    Some((from, to, value))
}

/// The weight that follows, or 1 where there are none.
#[inline(always)]
pub(super) fn quick_weight(piece: &[u8], at: &mut usize, fields: &Fields) -> Option<f32> {
    if fields.weight.is_none() {
        return Some(1.0);
    }
    fields.separator.pass(piece, at)?;
    weight(decimal(piece, at)?).ok()
}

/// What a line holds on a closer look.
enum Careful {
    Edge(u64, u64, f32),
    Nothing,
    NotNumbers,
    Quotes,
}

fn careful(text: &[u8], fields: &Fields) -> Line<Careful> {
    let Some((from, to, weight)) = edge(text, fields)? else {
        return Ok(Careful::Nothing);
    };
    let mut ids = [0; 2];
    for (id, field) in ids.iter_mut().zip([from, to]) {
        match std::str::from_utf8(field).ok().and_then(number) {
            Some(number) => *id = number,
            None if fields.shape.is_some() => return Err(not_in_matrix(field, fields)),
            None if field.contains(&b'"') => return Ok(Careful::Quotes),
            None => return Ok(Careful::NotNumbers),
        }
    }
    if let Some((rows, cols)) = fields.shape {
        for (id, field, most) in [(ids[0], from, rows), (ids[1], to, cols)] {
            if id == 0 || id > u64::from(most) {
                return Err(not_in_matrix(field, fields));
            }
        }
    }
    Ok(Careful::Edge(ids[0], ids[1], weight))
}

fn not_in_matrix(field: &[u8], fields: &Fields) -> Bad {
    let (rows, cols) = fields.shape.unwrap_or_default();
    let problem = format!("{:?} is no place in a matrix of {rows} × {cols}, counted from 1", shown(field));
    Bad::new(problem, "mend the line or the header, or export the file again")
}

/// Two ids as they are written, and a weight.
pub(super) type Raw<'a> = (&'a [u8], &'a [u8], f32);

/// The two ids and the weight of a line; `None` for a blank line or a comment.
pub(super) fn edge<'a>(text: &'a [u8], fields: &Fields) -> Line<Option<Raw<'a>>> {
    let text = text.trim_ascii();
    if text.is_empty() || fields.comments && matches!(text[0], b'#' | b'%') {
        return Ok(None);
    }
    let (mut from, mut to, mut value, mut count) = (None, None, None, 0);
    for (at, field) in fields.separator.fields(text).enumerate() {
        from = if at == fields.from { Some(field) } else { from };
        to = if at == fields.to { Some(field) } else { to };
        value = if Some(at) == fields.weight { Some(field) } else { value };
        count = at + 1;
    }
    let (Some(from), Some(to)) = (from, to) else {
        let wanted = fields.from.max(fields.to) + 1;
        let problem = format!("{:?} has {} where {wanted} are needed for an edge", shown(text), many(count));
        return Err(Bad::new(problem, "give the two ids of an edge on every line"));
    };
    if from.is_empty() || to.is_empty() {
        return Err(Bad::new(
            format!("{:?} has an empty id", shown(text)),
            "give the two ids of an edge on every line",
        ));
    }
    if fields.shape.is_some() && count != 2 + usize::from(fields.weight.is_some()) {
        let wanted = 2 + usize::from(fields.weight.is_some());
        let problem = format!("{:?} has {} where {wanted} were expected", shown(text), many(count));
        return Err(Bad::new(problem, "mend the line, or export the file again"));
    }
    let value = match (fields.weight, value) {
        (None, _) => 1.0,
        (Some(_), Some(field)) if !field.is_empty() => weight_of(field)?,
        _ => {
            let problem = format!("{:?} has no weight", shown(text));
            return Err(Bad::new(problem, "give every edge one, or leave the weights out with --unweighted"));
        }
    };
    Ok(Some((from, to, value)))
}

fn many(fields: usize) -> String {
    if fields == 1 { "1 field".into() } else { format!("{fields} fields") }
}

/// A weight as it is written.
pub(super) fn weight_of(field: &[u8]) -> Line<f32> {
    let Some(value) = std::str::from_utf8(field).ok().and_then(|t| t.parse::<f64>().ok()) else {
        return Err(Bad::new(format!("weight {:?} is not a number", shown(field)), MEND_WEIGHT));
    };
    weight(value).map_err(|problem| Bad::new(format!("weight {} {problem}", shown(field)), MEND_WEIGHT))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Fields =
        Fields { separator: Separator::Any, from: 0, to: 1, weight: None, comments: true, shape: None };

    fn pairs(text: &str, fields: &Fields) -> Vec<(u64, u64)> {
        match numbers(text.as_bytes(), fields).unwrap().0 {
            Parsed::Numbers(Pairs::Small(pairs), _) => {
                pairs.iter().map(|e| (e.0.into(), e.1.into())).collect()
            }
            Parsed::Numbers(Pairs::Large(pairs), _) => pairs,
            other => panic!("{other:?}"),
        }
    }

    fn problem(text: &str, fields: &Fields) -> (u64, String) {
        let bad = numbers(text.as_bytes(), fields).unwrap_err();
        (bad.line, bad.problem)
    }

    #[test]
    fn separators_comments_and_ends_of_lines() {
        let text = "# a\n1 2\n\n% b\n3\t4\r\n5,6\n7 ; 8\n  9|10  \n11 , 12 extra words\n13  14\t\n123456789012 15\n0 0";
        let wanted =
            [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10), (11, 12), (13, 14), (123456789012, 15), (0, 0)];
        assert_eq!(pairs(text, &PLAIN), wanted);
        assert_eq!(numbers(text.as_bytes(), &PLAIN).unwrap().1, text.lines().count() as u64);
        let comma = Fields { separator: Separator::One(b','), comments: false, ..PLAIN };
        assert_eq!(pairs("1,2\n3 , 4\n5,6,x\n", &comma), [(1, 2), (3, 4), (5, 6)]);
        assert_eq!(problem("1,2\n1,,2\n", &comma), (1, "\"1,,2\" has an empty id".into()));
        assert_eq!(problem("1 , , 2\n", &PLAIN).1, "\"1 , , 2\" has an empty id");
        let swapped = Fields { from: 2, to: 0, ..PLAIN };
        assert_eq!(pairs("1 2 3\n", &swapped), [(3, 1)]);
    }

    #[test]
    fn weights() {
        let fields = Fields { weight: Some(2), ..PLAIN };
        let Parsed::Numbers(_, weights) =
            numbers(b"1 2 3\n1 2 0.5\n1\t2\t1e-3\n1,2,+4 # x\n1 2 123456789.25\n", &fields).unwrap().0
        else {
            panic!("numbers");
        };
        assert_eq!(weights, [3.0, 0.5, 0.001, 4.0, 123456789.25]);
        for (line, wrong) in [
            ("1 2 -3", "weight -3 is negative"),
            ("1 2 nan", "weight nan is not a finite number"),
            ("1 2 inf", "weight inf is not a finite number"),
            ("1 2 1e300", "weight 1e300 is larger than 1e28"),
            ("1 2 x", "weight \"x\" is not a number"),
            ("1 2", "\"1 2\" has no weight"),
            ("1", "\"1\" has 1 field where 2 are needed for an edge"),
        ] {
            assert_eq!(problem(&format!("1 2 3\n{line}\n4 5 6"), &fields), (1, wrong.into()));
        }
    }

    #[test]
    fn what_is_no_number() {
        for text in
            ["1 2\na 3\n", "1 2\n03 4\n", "1 2\n-3 4\n", "1 2\n3.5 4\n", "1 é\n", "1 18446744073709551616\n"]
        {
            assert!(matches!(numbers(text.as_bytes(), &PLAIN).unwrap().0, Parsed::NotNumbers), "{text}");
        }
        assert!(matches!(numbers(b"1 2\n\"3\" 4\n", &PLAIN).unwrap().0, Parsed::Quotes));
    }

    #[test]
    fn places_in_a_matrix() {
        let fields = Fields { shape: Some((3, 4)), weight: None, ..PLAIN };
        assert_eq!(pairs("1 1\n3 4\n", &fields), [(1, 1), (3, 4)]);
        for text in ["4 1\n", "1 5\n", "0 1\n", "1 0\n", "-1 2\n", "x 2\n", "01 2\n", "1 2 3\n", "1\n"] {
            assert!(numbers(text.as_bytes(), &fields).is_err(), "{text}");
        }
    }
}
