//! Lists of edges, and tables without quotes, parsed in parallel.

use super::head::{Head, look};
use super::lines::{Fields, Parsed, Separator, names, numbers};
use super::{Format, ReadOptions, table};
use crate::communities::data::{Gathered, Ids, Names, Pairs, compact};
use crate::error::Result;
use crate::input::{Source, parse_lines};
use std::ops::ControlFlow;
use tenfold_engine::progress::Progress;

pub(super) fn read(
    source: &Source,
    format: Format,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Gathered> {
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
        let (ids, edges) = compact(pieces)?;
        return Ok(Some(Gathered::new(ids, edges, fields.weight.map(|_| weights))));
    }
    head.quoted = quotes;
    if !quotes {
        head.notes.push(format!("ids are names: that of line {} is no plain number", line + 1));
    }
    if fields.separator == Separator::Any {
        head.fields.separator = Separator::Blanks;
    }
    Ok(None)
}

/// Reads ids as names; `None` when there are quotes.
fn by_names(source: &Source, head: &mut Head, progress: &dyn Progress) -> Result<Option<Gathered>> {
    let fields: Fields = head.fields;
    let (mut all, mut edges, mut weights) = (Names::default(), Vec::new(), Vec::new());
    let mut too_many = false;
    let take = |parsed| {
        let Parsed::Named(own, mut piece, own_weights) = parsed else {
            return Ok(ControlFlow::Break(()));
        };
        let places: Option<Vec<u32>> = (0..own.len()).map(|i| all.insert(own.get(i))).collect();
        let Some(places) = places else {
            too_many = true;
            return Ok(ControlFlow::Break(()));
        };
        piece.iter_mut().for_each(|e| *e = (places[e.0 as usize], places[e.1 as usize]));
        edges.push(piece);
        weights.push(own_weights);
        Ok(ControlFlow::Continue(()))
    };
    let parse = |piece: &[u8]| names(piece, &fields);
    if parse_lines(source, head.skip, parse, take, progress)? {
        return Ok(Some(Gathered::new(Ids::of(all), edges, fields.weight.map(|_| weights))));
    }
    if too_many {
        return Err(source.fail(None, "has more than 4,294,967,295 nodes", "give a part of the graph"));
    }
    head.quoted = true;
    Ok(None)
}
