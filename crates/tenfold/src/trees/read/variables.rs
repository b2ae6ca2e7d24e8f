//! Columns become variables, and rows samples.

use super::columns::Column;
use super::{ColumnKind, Input, Options, Samples, fail, listed};
use crate::error::{Error, Result};
use crate::trees::data::{Kind, Table, Variable};
use std::path::Path;
use tenfold_engine::progress::Progress;

/// A variable and the columns it is made of.
struct Made {
    variable: Variable,
    parts: Vec<usize>,
    /// The place of every level of a category, 0 the reference.
    ranks: Vec<u32>,
    description: String,
}

/// Makes the table. Columns that say nothing, or look like ids, are left out; the notes tell which and why.
pub(super) fn finish(
    path: &Path,
    columns: &[Column],
    samples: Samples,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Input> {
    check_names(path, columns, options)?;
    let rows = columns.first().map_or(0, |c| c.rows);
    if rows == 0 {
        return Err(fail(
            path,
            None,
            "holds no samples".into(),
            "give a table with at least one row below its names",
        ));
    }
    let mut notes = Vec::new();
    let made = match options.like.is_empty() {
        true => variables(path, columns, options, &mut notes)?,
        false => like(path, columns, options)?,
    };
    if made.is_empty() && !options.like.is_empty() {
        let problem = "has no column of the model's".into();
        return Err(fail(path, None, problem, "give data with the columns of the fit, or say --events"));
    }
    if made.is_empty() {
        let problem = "holds no column that could be a variable".into();
        return Err(fail(path, None, problem, "say what a column is with --kind NAME=category or NAME=real"));
    }
    let mut table = Table::new(made.iter().map(|m| m.variable.clone()).collect())?;
    progress.stage("arranging the samples", rows as u64);
    let (entries, missing) = made.iter().map(|m| m.room(columns)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    table.reserve(rows, entries);
    table.reserve_missing(missing);
    let (mut entries, mut missing) = (Vec::new(), Vec::new());
    for row in 0..rows {
        if row % 4096 == 0 {
            progress.check()?;
            progress.advance(4096.min(rows - row) as u64);
        }
        entries.clear();
        missing.clear();
        for (v, made) in made.iter().enumerate() {
            let first = table.features_of(v).start as u32;
            if !made.push(columns, row, first, &mut entries) {
                missing.push(v as u32);
            }
        }
        table.push(&entries, &missing);
    }
    let groups = made.into_iter().map(|m| m.description).collect();
    Ok(Input { table, notes, groups, samples, format: super::Format::Csv })
}

impl Made {
    /// How many features of all rows are not 0, and in how many it is missing; of a vector at most so many.
    fn room(&self, columns: &[Column]) -> (usize, usize) {
        let first = &columns[self.parts[0]];
        if let Some(levels) = first.levels.as_ref().filter(|_| self.variable.kind == Kind::Category) {
            let kept = levels.counts.iter().zip(&self.ranks).filter(|(_, rank)| **rank > 0);
            return (kept.map(|(count, _)| count).sum(), first.missing);
        }
        let of = |part: usize| {
            (0..columns[part].rows).filter(|&row| columns[part].number(row).abs() > 0.0).count()
        };
        (self.parts.iter().map(|&part| of(part)).sum(), self.parts.iter().map(|&p| columns[p].missing).sum())
    }

    /// Adds the features of a row that are not 0; false when one of its columns is missing there.
    fn push(&self, columns: &[Column], row: usize, first: u32, entries: &mut Vec<(u32, f64)>) -> bool {
        if self.variable.kind == Kind::Category {
            let Some(level) = columns[self.parts[0]].levels.as_ref().and_then(|l| l.of(row)) else {
                return false;
            };
            let rank = self.ranks[level];
            if rank > 0 {
                entries.push((first + rank - 1, 1.0));
            }
            return true;
        }
        let before = entries.len();
        for (i, &part) in self.parts.iter().enumerate() {
            let x = columns[part].number(row);
            if x.is_nan() {
                entries.truncate(before);
                return false;
            }
            if x != 0.0 {
                entries.push((first + i as u32, x));
            }
        }
        true
    }
}

/// Refuses options about columns that are not there, and columns of the same name.
fn check_names(path: &Path, columns: &[Column], options: &Options) -> Result<()> {
    let vectors = options.vectors.iter().map(|v| &v.0);
    let named = options.vectors.iter().flat_map(|v| &v.1);
    let kinds = options.kinds.keys().filter(|name| !vectors.clone().any(|v| v == *name));
    for (option, name) in named.map(|n| ("--vector", n)).chain(kinds.map(|n| ("--kind", n))) {
        if !columns.iter().any(|c| c.name == *name) {
            let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
            let problem = format!("has no column {name:?}; the columns are {}", listed(&names));
            return Err(fail(path, None, problem, &format!("give {option} the name of a column")));
        }
    }
    let mut sorted: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|w| w[0] == w[1]) {
        let problem = format!("has two columns that are called {:?}", pair[0]);
        return Err(fail(path, None, problem, "give every column a name of its own"));
    }
    Ok(())
}

fn variables(
    path: &Path,
    columns: &[Column],
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Vec<Made>> {
    let mut made = Vec::new();
    let mut in_vector = vec![false; columns.len()];
    let mut left: [(&str, Vec<&str>); 3] = [
        ("hold one value only", Vec::new()),
        ("look like ids, since every text in them is another", Vec::new()),
        ("hold more than 1000 different texts", Vec::new()),
    ];
    for (name, parts) in &options.vectors {
        let places: Vec<usize> =
            parts.iter().filter_map(|part| columns.iter().position(|c| c.name == *part)).collect();
        places.iter().for_each(|&at| in_vector[at] = true);
        made.push(vector(path, name, &places, columns, options)?);
    }
    for (at, column) in columns.iter().enumerate().filter(|(at, _)| !in_vector[*at]) {
        match guess(path, column, options)? {
            Guess::Kind(kind) => made.push(single(column, at, kind)),
            Guess::Constant => left[0].1.push(&column.name),
            Guess::Id => left[1].1.push(&column.name),
            Guess::Text => left[2].1.push(&column.name),
        }
    }
    for (why, names) in left.iter().filter(|(_, names)| !names.is_empty()) {
        notes.push(format!("{} columns {why} and were left out: {}", names.len(), listed(names)));
    }
    let count = |keep: &dyn Fn(&Made) -> bool| made.iter().filter(|m| keep(m)).count();
    let binary = count(&|m| m.variable.kind == Kind::Category && m.variable.labels.len() == 2);
    let category = count(&|m| m.variable.kind == Kind::Category) - binary;
    notes.push(format!(
        "{} variables: {binary} binary, {category} categories, {} real, {} flags, {} counts",
        made.len(),
        count(&|m| m.variable.kind == Kind::Real),
        count(&|m| m.variable.kind == Kind::Flags),
        count(&|m| m.variable.kind == Kind::Counts),
    ));
    let ids: Vec<&str> =
        columns.iter().filter(|c| c.said.is_none() && looks_like_id(c)).map(|c| c.name.as_str()).collect();
    if !ids.is_empty() {
        notes.push(format!(
            "{} columns hold whole numbers that all differ: leave them out with --ids if they are ids: {}",
            ids.len(),
            listed(&ids)
        ));
    }
    let missing: usize = columns.iter().map(|c| c.missing).sum();
    if missing > 0 {
        notes.push(format!("{missing} cells are missing"));
    }
    Ok(made)
}

/// The variables of a model whose columns are all here.
fn like(path: &Path, columns: &[Column], options: &Options) -> Result<Vec<Made>> {
    let place = |name: &String| columns.iter().position(|c| c.name == *name && c.present() > 0);
    let mut made = Vec::new();
    for variable in &options.like {
        if variable.kind == Kind::Category {
            let Some(at) = place(&variable.name) else { continue };
            if columns[at].levels.is_none() {
                let problem = format!("column {:?} has more than 65000 levels", variable.name);
                return Err(fail(path, None, problem, "give data with the levels of the fit"));
            }
            made.push(single(&columns[at], at, Kind::Category));
            continue;
        }
        let Some(parts) = variable.labels.iter().map(place).collect::<Option<Vec<usize>>>() else { continue };
        for &part in &parts {
            match variable.kind {
                Kind::Counts => counts(path, &columns[part])?,
                _ => numbers(path, &columns[part], variable.kind.name())?,
            }
        }
        let (variable, description) = (variable.clone(), String::new());
        made.push(Made { variable, parts, ranks: Vec::new(), description });
    }
    Ok(made)
}

/// Whether all cells are whole numbers, each another.
fn looks_like_id(column: &Column) -> bool {
    column.rows > 20 && column.is_whole() && column.all_differ()
}

enum Guess {
    Kind(Kind),
    Constant,
    Id,
    Text,
}

/// What a column is, as was said or by its cells.
fn guess(path: &Path, column: &Column, options: &Options) -> Result<Guess> {
    if column.is_constant() {
        return Ok(Guess::Constant);
    }
    let levels = column.levels.as_ref().map(|levels| levels.names.len());
    let wrong = |problem: String, remedy: &str| Err(fail(path, None, problem, remedy));
    match column.said {
        Some(ColumnKind::Real) => numbers(path, column, "real").map(|()| Guess::Kind(Kind::Real)),
        Some(ColumnKind::Counts) => counts(path, column).map(|()| Guess::Kind(Kind::Counts)),
        Some(ColumnKind::Binary) if levels != Some(2) => {
            let found = levels.map_or("more than 65000".into(), |l| l.to_string());
            wrong(
                format!("column {:?} has {found} values where a binary one has 2", column.name),
                "say --kind NAME=category",
            )
        }
        Some(ColumnKind::Category) if levels.is_none() => {
            wrong(format!("column {:?} has more than 65000 levels", column.name), "leave it out with --ids")
        }
        Some(_) => Ok(Guess::Kind(Kind::Category)),
        None if column.is_number() => {
            let few = levels.is_some_and(|l| l == 2 || l <= options.max_levels && column.is_whole());
            Ok(Guess::Kind(if few { Kind::Category } else { Kind::Real }))
        }
        None => Ok(match levels {
            None => Guess::Text,
            Some(l) if l > options.max_levels => {
                let all_differ = l == column.present();
                if all_differ || column.has_fractions() {
                    spoilt(path, column)?;
                }
                if all_differ { Guess::Id } else { Guess::Kind(Kind::Category) }
            }
            Some(_) => Guess::Kind(Kind::Category),
        }),
    }
}

/// A column of numbers in which a cell is none holds neither ids nor levels: it would be left out, or be a variable of hundreds of
/// levels, for that cell.
fn spoilt(path: &Path, column: &Column) -> Result<()> {
    match &column.not_number {
        // Ids such as 57a are rarer than that where they are ids, and numbers are wrong less often.
        Some((line, text)) if 10 * column.numbers_present() > 9 * column.present() => Err(fail(
            path,
            Some(*line),
            format!("{text:?} is no number in column {:?}, which holds numbers otherwise", column.name),
            "mend the cell or leave it empty; for a column of ids give --ids, for one of levels --kind NAME=category",
        )),
        _ => Ok(()),
    }
}

fn numbers(path: &Path, column: &Column, what: &str) -> Result<()> {
    match &column.not_number {
        None => Ok(()),
        Some((line, text)) => Err(fail(
            path,
            Some(*line),
            format!(
                "{text:?} in column {:?} is no finite number, but the column was said to be {what}",
                column.name
            ),
            "mend the cell, leave it empty, or say --kind NAME=category",
        )),
    }
}

fn counts(path: &Path, column: &Column) -> Result<()> {
    numbers(path, column, "counts")?;
    let bad = (0..column.rows).find(|&row| {
        let x = column.number(row);
        x < 0.0 || x.fract() != 0.0 && !x.is_nan()
    });
    match bad {
        None => Ok(()),
        Some(row) => Err(fail(
            path,
            None,
            format!("row {} (counted from 1), column {:?} is no count", row + 1, column.name),
            "counts are whole and not negative: say --kind NAME=real",
        )),
    }
}

fn single(column: &Column, at: usize, kind: Kind) -> Made {
    let (mut labels, mut ranks) = (vec![column.name.clone()], Vec::new());
    if let Some(levels) = column.levels.as_ref().filter(|_| kind == Kind::Category) {
        let order = levels.order();
        labels = order.iter().map(|&level| levels.names[level].clone()).collect();
        ranks = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, &level)| ranks[level] = rank as u32);
    }
    let description = match kind {
        Kind::Category => format!("column {}: {} levels", column.name, labels.len()),
        _ => format!("column {}: {}", column.name, kind.name()),
    };
    Made {
        variable: Variable { name: column.name.clone(), kind, labels },
        parts: vec![at],
        ranks,
        description,
    }
}

fn vector(path: &Path, name: &str, parts: &[usize], columns: &[Column], options: &Options) -> Result<Made> {
    let bad = |expected: &str| -> Error {
        Error::BadParameter { name: "vector".into(), value: name.into(), expected: expected.into() }
    };
    let mut sorted = parts.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    if parts.is_empty() || sorted.len() < parts.len() {
        return Err(bad("columns, each of them once: --vector NAME=a,b,c"));
    }
    let flags = parts.iter().all(|&p| columns[p].is_flag());
    let kind = match options.kinds.get(name) {
        None if flags => Kind::Flags,
        None | Some(ColumnKind::Real) => Kind::Real,
        Some(ColumnKind::Counts) => Kind::Counts,
        Some(ColumnKind::Binary) if flags => Kind::Flags,
        Some(ColumnKind::Binary) => {
            return Err(bad("columns of 0 and 1 only, since it was said to be binary"));
        }
        Some(ColumnKind::Category) => return Err(bad("real, counts or binary: a category is one column")),
    };
    for &part in parts {
        match kind {
            Kind::Counts => counts(path, &columns[part])?,
            _ => numbers(path, &columns[part], "part of a vector")?,
        }
    }
    let labels: Vec<String> = parts.iter().map(|&p| columns[p].name.clone()).collect();
    let description = format!("columns {}: {}", listed(&labels), kind.name());
    Ok(Made {
        variable: Variable { name: name.into(), kind, labels },
        parts: parts.to_vec(),
        ranks: Vec::new(),
        description,
    })
}
