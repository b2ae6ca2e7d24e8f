//! Lists of edges, and tables without quotes, parsed in parallel.

use super::head::{Head, look, names_from};
use super::lines::{Fields, Parsed, Separator, numbers};
use super::named::names;
use super::{Format, ReadOptions, table};
use crate::communities::data::{Edges, Gathered, Ids, Keys, NamedPiece, Pairs, Pool, compact};
use crate::error::Result;
use crate::input::{Source, parse_lines};
use std::ops::ControlFlow;
use tenfold_engine::progress::Progress;

/// Pieces whose names are numbered together: enough to share among threads, and some tens of megabytes.
const TOGETHER: usize = 64;

pub(super) fn read(
    source: &Source,
    format: Format,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Gathered> {
    source.check_line_ends()?;
    let mut head = look(source, format, options)?;
    let mut gathered = None;
    if !head.quoted && !head.named {
        gathered = by_numbers(source, &mut head, progress)?;
    }
    if !head.quoted && gathered.is_none() {
        gathered = by_names(source, &mut head, progress)?;
    }
    let mut gathered = match gathered {
        Some(gathered) => gathered,
        None => table::read(source, &head, progress)?,
    };
    gathered.told = head.told;
    gathered.notes.append(&mut head.notes);
    Ok(gathered)
}

/// Reads ids as numbers; `None` when one of them is none.
fn by_numbers(source: &Source, head: &mut Head, progress: &dyn Progress) -> Result<Option<Gathered>> {
    let fields = head.fields;
    let (mut pieces, mut weights) = (Vec::<Pairs>::new(), Vec::new());
    let (mut quotes, mut line) = (false, head.skip.1);
    let take = |(parsed, lines)| {
        line += lines;
        match parsed {
            Parsed::Numbers(pairs, own) => {
                pieces.push(pairs);
                weights.push(own);
                return Ok(ControlFlow::Continue(()));
            }
            Parsed::Quotes => quotes = true,
            _ => {}
        }
        Ok(ControlFlow::Break(()))
    };
    let parse = |piece: &[u8]| numbers(piece, &fields).map(|(parsed, lines)| ((parsed, lines), lines));
    if parse_lines(source, head.skip, parse, take, progress)? {
        progress.stage("numbering the nodes", 0);
        progress.check()?;
        let (ids, edges) = compact(pieces)?;
        return Ok(Some(Gathered::new(ids, edges, fields.weight.map(|_| weights))));
    }
    head.quoted = quotes;
    if !quotes {
        head.notes.push(names_from(line + 1));
    }
    if fields.separator == Separator::Any {
        head.fields.separator = Separator::Blanks;
    }
    Ok(None)
}

/// Reads ids as names; `None` when there are quotes.
fn by_names(source: &Source, head: &mut Head, progress: &dyn Progress) -> Result<Option<Gathered>> {
    let fields: Fields = head.fields;
    let keys = Keys::default();
    let (mut pool, mut edges, mut weights) = (Pool::new(keys), Edges::new(), Vec::new());
    let (mut waiting, mut too_many) = (Vec::<NamedPiece>::new(), false);
    let mut number = |waiting: &mut Vec<NamedPiece>| {
        let moved = pool.add(std::mem::take(waiting));
        too_many = moved.is_none();
        edges.extend(moved.into_iter().flatten());
        if too_many { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let take = |parsed| {
        let Parsed::Named(piece, own) = parsed else {
            return Ok(ControlFlow::Break(()));
        };
        waiting.push(piece);
        weights.push(own);
        Ok(if waiting.len() == TOGETHER { number(&mut waiting) } else { ControlFlow::Continue(()) })
    };
    let parse = |piece: &[u8]| names(piece, &fields, keys);
    if parse_lines(source, head.skip, parse, take, progress)? && number(&mut waiting).is_continue() {
        return Ok(Some(Gathered::new(Ids::of(pool.finish()), edges, fields.weight.map(|_| weights))));
    }
    if too_many {
        return Err(source.fail(None, "has more than 4,294,967,295 nodes", "give a part of the graph"));
    }
    head.quoted = true;
    Ok(None)
}
