//! What the first lines of a list or a table show: comments, names of columns, separators, and what ids look like.

use super::columns::{Columns, are_names, choose};
use super::lines::{Fields, Separator};
use super::{Format, ReadOptions};
use crate::communities::data::{Kind, Told, number};
use crate::error::Result;
use crate::input::Source;
use crate::input::decode::utf8;
use crate::input::numbers::line;
use crate::input::rows::{MOST_CELLS, TOO_WIDE};

/// Lines that are looked at.
const LINES: usize = 50;

/// Seconds since 1970 in the year 1973: whole numbers from here on in a third column are times, not weights.
const A_TIME: f64 = 1e8;

/// How a file is to be read.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) fields: Fields,
    /// Bytes and lines before the first edge.
    pub(super) skip: (u64, u64),
    pub(super) told: Option<Told>,
    /// Whether ids are names, and not numbers.
    pub(super) named: bool,
    /// Whether fields stand in quotes.
    pub(super) quoted: bool,
    pub(super) notes: Vec<String>,
}

/// The lines at the beginning of a file.
#[derive(Default)]
struct Beginning {
    comments: Vec<String>,
    /// Bytes and lines of comments and blank lines.
    before: (u64, u64),
    /// Bytes of the first line behind them, with its end.
    first: u64,
    lines: Vec<String>,
    /// Which lines of the file these are, counted from 1.
    numbers: Vec<u64>,
}

/// Looks at the first lines.
///
/// # Errors
/// A column that is asked for and not there, or a file in an encoding of two bytes.
pub(super) fn look(source: &Source, format: Format, options: &ReadOptions) -> Result<Head> {
    let mut beginning = begin(&source.head(1 << 16), 1 << 16);
    if beginning.lines.is_empty() {
        beginning = begin(&source.head(1 << 24), 1 << 24);
    }
    let head = source.head(2);
    if head == [0xff, 0xfe] || head == [0xfe, 0xff] {
        utf8(source.path(), &head, 1)?;
    }
    let Beginning { comments, before, first, lines, numbers } = beginning;
    let separator = separator(format, &lines);
    let wide = lines.iter().position(|line| separator.fields(line.as_bytes()).nth(MOST_CELLS).is_some());
    if let Some(at) = wide {
        return Err(source.fail(numbers[at], format!("has more than {MOST_CELLS} cells"), TOO_WIDE));
    }
    let cells = |line: &str| -> Vec<String> {
        separator.fields(line.as_bytes()).map(|f| String::from_utf8_lossy(unquoted(f)).into_owned()).collect()
    };
    let rows: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    let has_names = rows.first().is_some_and(|first| has_names(first, &rows[1..], options));
    let names = has_names.then(|| rows[0].as_slice());
    // A line with one field is told about by its number, when it is read.
    let count = rows.first().map_or(2, |first| first.len().max(2));
    let mut columns = choose(source.path(), names, count, options)?;
    let rows = &rows[usize::from(has_names)..];
    let mut notes = Vec::new();
    if let Some(at) = columns.weight {
        let sure = options.weight.is_some() || options.weighted == Some(true) || names.is_some();
        let refused = if sure { None } else { no_weights(at, &comments, rows) };
        columns.weight = columns.weight.filter(|_| refused.is_none());
        let column = names.map_or_else(|| (at + 1).to_string(), |names| cell(Some(names), at).to_owned());
        notes.push(match refused {
            Some(why) => format!("column {column} is left out: {why}; say --weighted if it holds weights"),
            None if sure => format!("weights from column {column}"),
            None => format!("weights from column {column}; say --unweighted if it holds none"),
        });
    }
    if has_names {
        let names: Vec<&str> = [columns.from, columns.to].iter().map(|&at| cell(names, at)).collect();
        notes.push(format!(
            "edges from column {} to column {}, as the first line calls them",
            names[0], names[1]
        ));
    }
    let is_number = |row: &Vec<String>, at: usize| row.get(at).is_some_and(|id| number(id).is_some());
    let both = |row: &Vec<String>| is_number(row, columns.from) && is_number(row, columns.to);
    let odd = rows.iter().position(|row| !both(row));
    if let Some(odd) = odd.filter(|_| rows.iter().any(both)) {
        notes.push(names_from(numbers[odd + usize::from(has_names)]));
    }
    let named = odd.is_some();
    let Columns { from, to, weight } = columns;
    // Numbers may stand between any separators, but a comma may belong to a weight; names may hold all but their own.
    let any = !named && format == Format::Edges && weight.is_none() && (from, to) == (0, 1);
    let separator = if any { Separator::Any } else { separator };
    let fields = Fields { separator, from, to, weight, comments: format == Format::Edges, shape: None };
    let skip = if has_names { (before.0 + first, before.1 + 1) } else { before };
    let quoted = lines.iter().any(|line| line.contains('"'));
    let told = told(&comments).or_else(|| told_by_column(names, rows));
    Ok(Head { fields, skip, told, named, quoted, notes })
}

/// The note about the first id that is no number where others are.
pub(super) fn names_from(line: u64) -> String {
    format!("ids are names: that of line {line} is no plain number")
}

fn cell(names: Option<&[String]>, at: usize) -> &str {
    names.and_then(|names| names.get(at)).map_or("", String::as_str)
}

fn unquoted(field: &[u8]) -> &[u8] {
    field.strip_prefix(b"\"").and_then(|f| f.strip_suffix(b"\"")).unwrap_or(field)
}

/// Splits the beginning into comments and lines; the last line may be cut where the head is full.
fn begin(head: &[u8], full: usize) -> Beginning {
    let whole = match head.len() < full {
        true => head.len(),
        false => head.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1),
    };
    let mut found = Beginning::default();
    let (mut at, mut number) = (0, 0);
    while at < whole && found.lines.len() < LINES {
        let (text, next) = line(&head[..whole], at);
        let text = String::from_utf8_lossy(text).trim().to_owned();
        let comment = text.starts_with(['#', '%']);
        number += 1;
        if found.lines.is_empty() && (comment || text.is_empty()) {
            found.before = (next as u64, found.before.1 + 1);
            found.comments.extend(comment.then_some(text));
        } else if !comment && !text.is_empty() {
            if found.lines.is_empty() {
                found.first = (next - at) as u64;
            }
            found.lines.push(text);
            found.numbers.push(number);
        }
        at = next;
    }
    found
}

/// What stands between fields: in a list the least usual part of a name that all lines hold.
fn separator(format: Format, lines: &[String]) -> Separator {
    let first = lines.first().map_or("", String::as_str);
    match format {
        Format::Tsv => Separator::One(b'\t'),
        Format::Csv if !first.contains(',') && first.contains(';') => Separator::One(b';'),
        Format::Csv if !first.contains(',') && first.contains('\t') => Separator::One(b'\t'),
        Format::Csv => Separator::One(b','),
        _ => {
            let one = [b'\t', b';', b',', b'|']
                .into_iter()
                .find(|byte| !lines.is_empty() && lines.iter().all(|line| line.contains(char::from(*byte))))
                .map_or(Separator::Blanks, Separator::One);
            if !all_numbers(one, lines) && all_numbers(Separator::Any, lines) && !has_gaps(one, lines) {
                // As in the lists of KONECT, with a blank between ids and tabs behind them.
                return Separator::Any;
            }
            one
        }
    }
}

/// Whether every line begins with two numbers, but for the first, which may hold names of columns.
fn all_numbers(separator: Separator, lines: &[String]) -> bool {
    let two = |line: &String| {
        let ids = separator.fields(line.as_bytes()).take(2);
        ids.filter(|id| std::str::from_utf8(id).ok().and_then(number).is_some()).count() == 2
    };
    !lines.is_empty() && lines[usize::from(lines.len() > 1)..].iter().all(two)
}

/// Whether a field has nothing in it.
fn has_gaps(separator: Separator, lines: &[String]) -> bool {
    lines.iter().any(|line| separator.fields(line.as_bytes()).any(<[u8]>::is_empty))
}

/// Whether the first line holds the columns' names: it is said, they are known, it alone has no numbers for ids, or it alone has
/// none in the third column, as `gene1 gene2 score` before names and scores.
fn has_names(first: &[String], rows: &[Vec<String>], options: &ReadOptions) -> bool {
    let two_numbers = |row: &[String]| row.iter().take(2).filter(|id| number(id).is_some()).count();
    options.header.unwrap_or_else(|| {
        are_names(first, options)
            || two_numbers(first) == 0 && !rows.is_empty() && rows.iter().all(|row| two_numbers(row) == 2)
            || first.get(2).is_some_and(|cell| !is_number(cell))
                && !rows.is_empty()
                && rows.iter().all(|row| row.get(2).is_some_and(|cell| is_number(cell)))
    })
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

/// Why a third column without a name does not hold weights, if it does not.
fn no_weights(at: usize, comments: &[String], rows: &[Vec<String>]) -> Option<&'static str> {
    let values: Option<Vec<f64>> =
        rows.iter().map(|row| row.get(at).and_then(|field| field.parse().ok())).collect();
    let unweighted = comments.first().is_some_and(|c| konect(c).is_some_and(|(_, weighted)| !weighted));
    match values {
        None => Some("not every line has a number there"),
        Some(_) if unweighted => Some("its first line says that there are no weights"),
        Some(values) if values.iter().all(|v| *v >= A_TIME && v.fract() == 0.0) => {
            Some("it looks like times")
        }
        Some(_) => None,
    }
}

/// The kind that the first line of a KONECT file tells, and whether it has weights.
fn konect(comment: &str) -> Option<(Kind, bool)> {
    let mut words = comment.strip_prefix('%')?.split_ascii_whitespace();
    let kind = match words.next()? {
        "sym" => Kind::Undirected,
        "asym" => Kind::Directed,
        "bip" => Kind::Bipartite,
        _ => return None,
    };
    Some((kind, words.next()? != "unweighted"))
}

/// The kind that comments tell, as those of SNAP and KONECT do.
fn told(comments: &[String]) -> Option<Told> {
    if let Some((kind, _)) = comments.first().and_then(|c| konect(c)) {
        return Some(Told { kind, by: "as its first line says", sure: true });
    }
    comments.iter().find_map(|comment| {
        let comment = comment.to_ascii_lowercase();
        let by = "as its comments say";
        if comment.contains("undirected graph") {
            Some(Told { kind: Kind::Undirected, by, sure: true })
        } else if comment.contains("directed graph") {
            // SNAP calls graphs directed that hold both directions of every edge.
            Some(Told { kind: Kind::Directed, by, sure: false })
        } else {
            None
        }
    })
}

/// The kind that a column `type` tells, as Gephi writes it.
fn told_by_column(names: Option<&[String]>, rows: &[Vec<String>]) -> Option<Told> {
    let at = names?.iter().position(|name| name.eq_ignore_ascii_case("type"))?;
    let kind = match rows.first()?.get(at)?.to_ascii_lowercase().as_str() {
        "undirected" => Kind::Undirected,
        "directed" => Kind::Directed,
        _ => return None,
    };
    Some(Told { kind, by: "as its column of types says", sure: true })
}
