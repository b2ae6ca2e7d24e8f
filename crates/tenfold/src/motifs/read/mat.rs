//! Matlab's arrays, and cells with a window each.

use super::{Layout, Raw, ReadOptions, arrays, fail, listed, numbered};
use crate::error::Result;
use crate::input::mat::{Class, Stream, Variable, each_variable};
use crate::input::{Array, Opening, Source};
use crate::memory::size_for_half;
use crate::motifs::data::Stretch;
use crate::motifs::extent::Extent;
use std::path::Path;
use tenfold_engine::progress::{Progress, Silent};

/// A cell: its rows, its columns, and its numbers column after column.
type Cell = (usize, usize, Vec<f64>);

pub(super) fn read(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Raw> {
    let opening = Opening {
        encoding: None,
        max_decompressed: options.max_decompressed,
        wanted: "give a file with at least one variable",
    };
    let source = Source::open(path, opening, progress)?;
    let mut variables = Vec::new();
    each_variable(&source, &Silent, |variable, _| {
        variables.push(variable);
        Ok(())
    })?;
    let chosen = pick(path, &variables, options)?;
    source.begin(progress);
    let (mut array, mut cells, mut beside) = (None, Vec::new(), Vec::new());
    let mut left = Left { numbers: options.memory / 8, allowed: options.memory };
    each_variable(&source, progress, |variable, stream| {
        let here = variable.place == chosen.place;
        match variable.class {
            Class::Full | Class::Array if here => {
                array = Some(numbers(path, &variable, stream, &mut left)?);
            }
            Class::Cells if here => {
                cells = in_cells(path, &variable, stream, &mut left)?.map_err(|cell| {
                    let problem =
                        format!("has no real numbers in cell {cell} of {:?} (counted from 1)", variable.name);
                    fail(path, problem, "every cell must hold a window: drop the others")
                })?;
            }
            // Where windows lie may stand in cells of the same number beside them; cells of other things are passed over.
            Class::Cells if chosen.class == Class::Cells && variable.count() == chosen.count() && !here => {
                beside.extend(in_cells(path, &variable, stream, &mut left)?.ok());
            }
            _ => {}
        }
        Ok(())
    })?;
    match array {
        Some(data) => arrays::arrange(path, fortran(&chosen, data), options.layout),
        None => windows(path, cells, &beside, options),
    }
}

/// The variable that is asked for, or the largest; one of cells goes before plain arrays, as windows beside which stand only facts
/// about them.
fn pick(path: &Path, variables: &[Variable], options: &ReadOptions) -> Result<Variable> {
    let usable =
        |v: &&Variable| matches!(v.class, Class::Full | Class::Array | Class::Cells) && v.count() > 0;
    let held: Vec<String> = variables.iter().map(|v| v.name.clone()).collect();
    let remedy = "name one with --variable";
    if let Some(name) = &options.variable {
        let found = variables.iter().filter(usable).find(|v| v.name == *name);
        let problem = || format!("has no variable {name:?} with numbers; it holds {}", listed(&held));
        return found.cloned().ok_or_else(|| fail(path, problem(), remedy));
    }
    let cells: Vec<&Variable> = variables.iter().filter(usable).filter(|v| v.class == Class::Cells).collect();
    if let [first, others @ ..] = &cells[..] {
        // Of several, the one that is called so; places beside it are called idx, index, t, time.
        let plain = |v: &&&Variable| {
            !["idx", "index", "indices", "t", "time", "times"].contains(&v.name.to_lowercase().as_str())
        };
        let signal: Vec<&&Variable> = cells.iter().filter(plain).collect();
        return match &signal[..] {
            [only] => Ok((**only).clone()),
            _ if others.is_empty() => Ok((*first).clone()),
            _ => Err(fail(path, format!("holds several variables: {}", listed(&held)), remedy)),
        };
    }
    let largest = variables.iter().filter(usable).max_by_key(|v| v.count());
    largest.cloned().ok_or_else(|| {
        let held = if held.is_empty() { "nothing".into() } else { listed(&held) };
        fail(path, format!("holds no numbers; it holds {held}"), "save the signals as a matrix or as cells")
    })
}

/// Memory for the numbers of a file.
struct Left {
    /// Numbers that may still come.
    numbers: u64,
    /// Bytes for all of them.
    allowed: u64,
}

/// The numbers of a plain array, column after column. Memory grows with what the file holds, never with what it promises.
fn numbers(path: &Path, variable: &Variable, stream: &mut Stream, left: &mut Left) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    if variable.complex {
        let problem = format!("has complex numbers in {:?}", variable.name);
        return Err(fail(path, problem, "signals are real: save real(x) and imag(x) as two channels"));
    }
    stream.numbers(|value| {
        let Some(less) = left.numbers.checked_sub(1) else {
            // What other arrays hold is not known before they are read: twice as much suffices in the end.
            let needed = variable.count().saturating_mul(8).max(left.allowed.saturating_mul(2));
            let remedy = format!("give --memory {}, or more", size_for_half(needed));
            return Err(fail(path, "holds more numbers than memory is allowed for", remedy));
        };
        left.numbers = less;
        values.push(value);
        Ok(())
    })?;
    if values.len() as u64 != variable.count() {
        let problem = format!(
            "has {} numbers in {:?}, whose size is {:?}",
            values.len(),
            variable.name,
            variable.sizes
        );
        return Err(fail(path, problem, "it is damaged: copy it or save it again"));
    }
    Ok(values)
}

/// The numbers of all cells; or which cell, counted from 1, is the first that holds no real ones.
fn in_cells(
    path: &Path,
    variable: &Variable,
    stream: &mut Stream,
    left: &mut Left,
) -> Result<std::result::Result<Vec<Cell>, usize>> {
    let (mut cells, mut without, name) = (Vec::new(), None, &variable.name);
    stream.cells(variable.count(), |cell, stream| {
        if cell.class != Class::Full || cell.count() == 0 || cell.complex {
            without.get_or_insert(cells.len() + 1);
        }
        if without.is_some() {
            return Ok(());
        }
        let values = numbers(path, &Variable { name: name.clone(), ..cell.clone() }, stream, left)?;
        cells.push((cell.rows as usize, cell.cols as usize, values));
        Ok(())
    })?;
    Ok(without.map_or(Ok(cells), Err))
}

/// Matlab's order with the first index fastest becomes that of `.npy`; vectors lose their second dimension.
fn fortran(variable: &Variable, data: Vec<f64>) -> Array {
    let shape: Vec<usize> = variable.sizes.iter().map(|&size| size as usize).collect();
    match shape[..] {
        [1, samples] | [samples, 1] => Array { shape: vec![samples], data },
        _ => Array { data: crate::input::fortran_to_c(&shape, &data), shape },
    }
}

/// Every cell is a window; one with rows and columns has a channel a row, or is an image.
fn windows(path: &Path, cells: Vec<Cell>, beside: &[Vec<Cell>], options: &ReadOptions) -> Result<Raw> {
    let places = beside.iter().find_map(|other| offsets(&cells, other));
    let images = options.layout == Layout::Images;
    let vectors = cells.iter().all(|(rows, columns, _)| *rows == 1 || *columns == 1);
    let channels = if vectors || images { 1 } else { cells.first().map_or(1, |cell| cell.0) };
    let mut trials = Vec::with_capacity(cells.len());
    for (i, (rows, columns, data)) in cells.into_iter().enumerate() {
        let (extent, whole) = match (images, vectors) {
            (true, _) => (Extent::plane(rows, columns), true),
            (_, true) => (Extent::line(rows * columns), true),
            _ => (Extent::line(columns), rows == channels),
        };
        if !whole {
            let problem = format!("has {rows} channels in cell {} where the first has {channels}", i + 1);
            return Err(fail(path, problem, "all cells must have the same channels (rows)"));
        }
        let values = if vectors { data } else { crate::input::fortran_to_c(&[rows, columns], &data) };
        let (trial, offset) = places.as_ref().map_or((i, 0), |places| (0, places[i]));
        trials.push(Stretch { values, extent, trial, offset });
    }
    if places.is_some() && options.layout == Layout::Channels {
        trials = joined(path, trials)?;
    }
    Ok(Raw::new(trials, numbered(channels), None))
}

/// Where each window begins, if `other` numbers its samples: as many, and one after the other. Matlab counts from 1.
fn offsets(cells: &[Cell], other: &[Cell]) -> Option<Vec<usize>> {
    if cells.len() != other.len() {
        return None;
    }
    cells
        .iter()
        .zip(other)
        .map(|((rows, columns, values), (_, _, places))| {
            let begin = *places.first()?;
            let vector = *rows == 1 || *columns == 1;
            let follows = places.iter().enumerate().all(|(i, &place)| place == begin + i as f64);
            let counted = begin >= 1.0 && begin <= (1u64 << 52) as f64 && begin.fract() == 0.0;
            (vector && follows && counted && places.len() == values.len()).then(|| begin as usize - 1)
        })
        .collect()
}

/// Windows of one recording that touch or overlap become one stretch.
fn joined(path: &Path, mut windows: Vec<Stretch>) -> Result<Vec<Stretch>> {
    windows.sort_by_key(|window| window.offset);
    let mut out: Vec<Stretch> = Vec::new();
    for window in windows {
        let Some(last) = out.last_mut().filter(|last| last.offset + last.values.len() >= window.offset)
        else {
            out.push(window);
            continue;
        };
        let common = (last.offset + last.values.len() - window.offset).min(window.values.len());
        let before = &last.values[window.offset - last.offset..][..common];
        if before != &window.values[..common] {
            let problem = format!("has windows that overlap at sample {} and differ there", window.offset);
            return Err(fail(
                path,
                problem,
                "they are no parts of one recording: read them with --layout windows",
            ));
        }
        last.values.extend_from_slice(&window.values[common..]);
        last.extent = Extent::line(last.values.len());
    }
    Ok(out)
}
