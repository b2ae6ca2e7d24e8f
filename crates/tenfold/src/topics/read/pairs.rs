//! Bags of words with a document a line and its words as `id:count`: LDA-C and svmlight.

use super::ReadOptions;
use super::bag::Bag;
use super::numbers::{LARGEST_COUNT, count, id};
use super::words::Named;
use crate::error::Result;
use crate::input::numbers::{Bad, digits, line, shown};
use crate::input::{Source, parse_pieces};
use crate::topics::data::{Corpus, Documents};
use std::ops::ControlFlow;
use tenfold_engine::progress::Progress;

/// The two formats; they differ in what stands before the pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `n id:count …`: the number of pairs, ids from 0.
    LdaC,
    /// `label id:count … # comment`: ids from 1, or from 0 if a 0 occurs.
    Svmlight,
}

/// Documents of a piece.
#[derive(Default)]
struct Lines {
    documents: Documents,
    zeros: u64,
    lowest: u32,
    highest: Option<u32>,
}

/// What a line must keep to.
struct Rule<'a> {
    kind: Kind,
    /// The smallest and the largest id, and who says so.
    low: u32,
    high: u32,
    who: &'a str,
}

pub(super) fn read(
    source: &Source,
    kind: Kind,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Corpus> {
    let named = Named::find(source, options, None)?;
    let (limit, who) = (named.limit, named.who.clone());
    // Where ids begin shows at the end of the file only, and decides which word each of them is.
    let low = match kind {
        Kind::LdaC => 0,
        Kind::Svmlight => {
            let mut lowest = u32::MAX;
            let rule = Rule { kind, low: 0, high: limit, who: &who };
            pass(source, &rule, progress, |lines| {
                lowest = lowest.min(lines.lowest);
                Ok(())
            })?;
            u32::from(lowest > 0)
        }
    };
    let is_named = named.is_named();
    let mut bag = Bag::new(source, named, options.memory);
    let mut highest = None;
    let rule = Rule { kind, low, high: (limit + low).saturating_sub(1), who: &who };
    pass(source, &rule, progress, |lines| {
        bag.zeros += lines.zeros;
        highest = highest.max(lines.highest);
        bag.push(lines.documents)
    })?;
    let words = highest.map_or(0, |h| (h - low) as usize + 1);
    if words == 0 && !is_named {
        return Err(source.fail(None, "holds no words", "give a file with at least one entry"));
    }
    let mut corpus = bag.finish(words)?;
    if kind == Kind::Svmlight {
        corpus.note(match low {
            0 => "word ids begin at 0, since one is 0",
            _ => "word ids begin at 1, since none is 0",
        });
    }
    Ok(corpus)
}

fn pass(
    source: &Source,
    rule: &Rule,
    progress: &dyn Progress,
    mut take: impl FnMut(Lines) -> Result<()>,
) -> Result<()> {
    let mut pieces = source.pieces(progress)?;
    let first = pieces.batch()?;
    let take = |lines| take(lines).map(ControlFlow::Continue);
    parse_pieces(source, &mut pieces, (first, 0), |piece| parse(piece, rule), take).map(drop)
}

fn parse(piece: &[u8], rule: &Rule) -> std::result::Result<(Lines, u64), Bad> {
    let mut out = Lines { lowest: u32::MAX, ..Lines::default() };
    let (mut at, mut lines) = (0, 0);
    while at < piece.len() {
        let (text, next) = line(piece, at);
        at = next;
        let text = match rule.kind {
            Kind::Svmlight => text.split(|&b| b == b'#').next().unwrap_or_default(),
            Kind::LdaC => text,
        };
        document(text.trim_ascii(), rule, &mut out).map_err(|bad| bad.at(lines))?;
        lines += 1;
    }
    Ok((out, lines))
}

/// Appends the document of a line; a blank line is none.
fn document(text: &[u8], rule: &Rule, out: &mut Lines) -> std::result::Result<(), Bad> {
    let mut fields = text.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty());
    let Some(first) = fields.next() else { return Ok(()) };
    let mut found = 0u64;
    for field in fields {
        if rule.kind == Kind::Svmlight && field.starts_with(b"qid:") {
            continue;
        }
        let (word, count) = pair(field, rule)?;
        found += 1;
        out.lowest = out.lowest.min(word);
        out.highest = out.highest.max(Some(word));
        if count == 0 {
            out.zeros += 1;
            continue;
        }
        out.documents.words.push(word - rule.low);
        out.documents.counts.push(count);
    }
    let label = std::str::from_utf8(first).unwrap_or_default();
    match rule.kind {
        Kind::LdaC if label.parse() != Ok(found) => {
            let problem = format!("begins with {:?}, but {found} pairs of id:count follow", shown(first));
            return Err(Bad::new(problem, "a line begins with the number of its pairs: mend the line"));
        }
        Kind::Svmlight if label.parse::<f64>().is_err() => {
            let problem = format!("begins with {:?} where a label was expected", shown(first));
            return Err(Bad::new(
                problem,
                "a line begins with a number, 0 if there is no label: mend the line",
            ));
        }
        _ => {}
    }
    out.documents.ends.push(out.documents.words.len() as u32);
    Ok(())
}

fn pair(field: &[u8], rule: &Rule) -> std::result::Result<(u32, u32), Bad> {
    let mut at = 0;
    if let Some(word) = digits(field, &mut at)
        && field.get(at) == Some(&b':')
    {
        let mut behind = at + 1;
        let count = digits(field, &mut behind).filter(|c| behind == field.len() && *c <= LARGEST_COUNT);
        if let Some(count) = count.filter(|_| (rule.low..=rule.high).contains(&word)) {
            return Ok((word, count));
        }
    }
    let Some(colon) = field.iter().position(|&b| b == b':') else {
        return Err(Bad::new(format!("{:?} where id:count was expected", shown(field)), "mend the line"));
    };
    let word = id("word", &field[..colon], rule.low, rule.high, rule.who)?;
    Ok((word, count(&field[colon + 1..])?))
}
