//! Aligned sequences in PHYLIP: sequential or interleaved, with names that end at a blank or after ten letters.

use super::align::{FEWER, Taxon, finish, letter};
use super::{Input, Options, fail};
use crate::error::{Error, Result};
use crate::input::Source;
use crate::input::decode::utf8;
use crate::trees::data::MOST_VARIABLES;
use std::io::Read;
use tenfold_engine::progress::Progress;

const HEADER: &str = "the first line gives the numbers of sequences and of sites, such as 12 898";

/// How a name ends.
#[derive(Debug, Clone, Copy)]
enum Name {
    /// At a blank.
    Word,
    /// After ten letters.
    Ten,
}

/// What is wrong: the line and the problem.
type Bad = (u64, String);

/// Lines that hold something, with their numbers; gone over again for every way, since a list of them would be many times the text.
#[derive(Debug, Clone, Copy)]
struct Lines<'a> {
    text: &'a str,
    /// The number of its first line.
    first: u64,
}

impl<'a> Lines<'a> {
    fn iter(self) -> impl Iterator<Item = (u64, &'a str)> {
        (self.first..).zip(self.text.lines()).filter(|(_, line)| !line.trim().is_empty())
    }
}

/// A way to read the sequences, of which there are so many, of so many sites.
type Way = fn(Lines, usize, usize, Name) -> std::result::Result<Vec<Taxon>, Bad>;

pub(super) fn read(source: &Source, options: &Options, progress: &dyn Progress) -> Result<Input> {
    source.begin(progress);
    let mut bytes = Vec::new();
    source.reader(progress)?.read_to_end(&mut bytes).map_err(|e| source.refuse(None, &e))?;
    progress.check()?;
    let text = utf8(source.path(), &bytes, 1)?;
    let (taxa, sites, lines) = header(source, text)?;
    let ways: [Way; 2] = [sequential, interleaved];
    let mut first: Option<Bad> = None;
    // Neither the order nor the kind of names is written anywhere: the first way that gives what the header promises is taken.
    for name in [Name::Word, Name::Ten] {
        for (way, what) in ways.iter().zip(["sequential", "interleaved"]) {
            match way(lines, taxa, sites, name) {
                Ok(found) => {
                    let mut input = finish(source.path(), found, options, progress)?;
                    input.notes.push(format!("PHYLIP, {what}"));
                    return Ok(input);
                }
                Err(bad) => {
                    first.get_or_insert(bad);
                }
            }
        }
    }
    let (line, problem) = first.unwrap_or((1, "cannot be read as PHYLIP".into()));
    Err(fail(
        source.path(),
        Some(line),
        problem,
        "give as many sequences, each of as many letters, as the first line says",
    ))
}

/// The numbers of the first line, which must not promise more than the file can hold, and the lines behind it.
fn header<'a>(source: &Source, text: &'a str) -> Result<(usize, usize, Lines<'a>)> {
    let bad = |line: u64, problem: String| -> Error { source.fail(line, problem, HEADER) };
    let Some((line, head)) = (Lines { text, first: 1 }).iter().next() else {
        return Err(bad(1, "holds no lines".into()));
    };
    // What is left of the line is blank.
    let behind = head.as_ptr() as usize - text.as_ptr() as usize + head.len();
    let rest = Lines { text: &text[behind..], first: line };
    let mut words = head.split_whitespace();
    let mut number = || words.next().and_then(|word| word.parse::<usize>().ok()).filter(|n| *n > 0);
    let (Some(taxa), Some(sites)) = (number(), number()) else {
        return Err(bad(
            line,
            format!("{:?} is no header of PHYLIP", head.chars().take(40).collect::<String>()),
        ));
    };
    let bytes = text.len();
    match taxa.checked_mul(sites) {
        Some(letters) if letters <= bytes && taxa > MOST_VARIABLES => {
            let problem = format!("promises {taxa} sequences, more than {MOST_VARIABLES}");
            Err(source.fail(line, problem, FEWER))
        }
        Some(letters) if letters <= bytes => Ok((taxa, sites, rest)),
        _ => Err(bad(
            line,
            format!("promises {taxa} sequences of {sites} letters, but the file has {bytes} bytes only"),
        )),
    }
}

/// Name and letters of a line.
fn cut(line: &str, name: Name) -> (&str, &str) {
    match name {
        Name::Word => {
            let line = line.trim_start();
            line.split_at(line.find(char::is_whitespace).unwrap_or(line.len()))
        }
        Name::Ten => {
            let end = line.char_indices().nth(10).map_or(line.len(), |c| c.0);
            let (name, rest) = line.split_at(end);
            (name.trim(), rest)
        }
    }
}

/// Adds letters; `.` is the letter of the first sequence at that site.
fn push(taxon: &mut Taxon, first: Option<&[u8]>, text: &str, line: u64) -> std::result::Result<(), Bad> {
    for byte in text.bytes().filter(|b| !b.is_ascii_whitespace() && !b.is_ascii_digit()) {
        let Some(mut letter) = letter(byte) else {
            return Err((line, format!("{:?} stands in the sequence {:?}", char::from(byte), taxon.name)));
        };
        if letter == b'.' {
            letter = first.and_then(|first| first.get(taxon.letters.len())).copied().unwrap_or(b'-');
        }
        taxon.letters.push(letter);
    }
    Ok(())
}

fn sequential(lines: Lines, taxa: usize, sites: usize, name: Name) -> std::result::Result<Vec<Taxon>, Bad> {
    let mut found: Vec<Taxon> = Vec::new();
    let mut lines = lines.iter();
    while let Some((line, text)) = lines.next() {
        if found.len() == taxa {
            return Err((line, format!("goes on behind the {taxa} sequences that the first line promises")));
        }
        let (called, rest) = cut(text, name);
        let mut taxon = Taxon { name: called.to_owned(), line, letters: Vec::new() };
        let first = found.first().map(|t| t.letters.as_slice());
        push(&mut taxon, first, rest, line)?;
        while taxon.letters.len() < sites {
            let Some((line, text)) = lines.next() else { break };
            push(&mut taxon, first, text, line)?;
        }
        if taxon.letters.len() != sites {
            let problem =
                format!("{called:?} has {} letters where {sites} were promised", taxon.letters.len());
            return Err((line, problem));
        }
        found.push(taxon);
    }
    match found.len() == taxa {
        true => Ok(found),
        false => Err((1, format!("holds {} sequences where {taxa} were promised", found.len()))),
    }
}

fn interleaved(lines: Lines, taxa: usize, sites: usize, name: Name) -> std::result::Result<Vec<Taxon>, Bad> {
    let count = lines.iter().count();
    if count < taxa || !count.is_multiple_of(taxa) {
        return Err((1, format!("has {count} lines with letters, which {taxa} sequences cannot share")));
    }
    let mut found: Vec<Taxon> = Vec::new();
    for (at, (line, text)) in lines.iter().enumerate() {
        let rest = if at < taxa {
            let (called, rest) = cut(text, name);
            found.push(Taxon { name: called.to_owned(), line, letters: Vec::new() });
            rest
        } else {
            text
        };
        let (before, now) = found.split_at_mut(at % taxa);
        push(&mut now[0], before.first().map(|t| t.letters.as_slice()), rest, line)?;
    }
    match found.iter().find(|t| t.letters.len() != sites) {
        None => Ok(found),
        Some(bad) => Err((
            bad.line,
            format!("{:?} has {} letters where {sites} were promised", bad.name, bad.letters.len()),
        )),
    }
}
