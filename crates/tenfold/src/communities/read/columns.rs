//! Which columns of a table hold the ends and the weights of edges.

use super::{ReadOptions, fail};
use crate::error::Result;
use std::path::Path;

/// Columns that are taken for where an edge begins when none is named.
const FROM: [&str; 12] = [
    "source",
    "from",
    "src",
    "from_id",
    "source_id",
    "fromnodeid",
    "node1",
    "node_1",
    "start",
    "u",
    "id1",
    "i",
];

/// Columns that are taken for where an edge ends.
const TO: [&str; 14] = [
    "target",
    "to",
    "dst",
    "to_id",
    "target_id",
    "tonodeid",
    "node2",
    "node_2",
    "end",
    "v",
    "id2",
    "j",
    "dest",
    "destination",
];

/// Columns that are taken for the weight.
const WEIGHT: [&str; 9] =
    ["weight", "w", "count", "value", "strength", "frequency", "n", "score", "combined_score"];

/// The columns in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) weight: Option<usize>,
}

fn usual(names: &[String], known: &[&str]) -> Option<usize> {
    known.iter().find_map(|name| names.iter().position(|n| n.eq_ignore_ascii_case(name)))
}

/// Whether a first line holds the names of columns: those that were asked for, or usual ones for both ends.
pub(super) fn are_names(cells: &[String], options: &ReadOptions) -> bool {
    let asked = [&options.from, &options.to, &options.weight];
    let named = |wanted: &String| cells.iter().any(|c| c.eq_ignore_ascii_case(wanted));
    asked.into_iter().flatten().any(named) || usual(cells, &FROM).is_some() && usual(cells, &TO).is_some()
}

/// The columns that are asked for, by name or by number from 1; else those of usual names; else the first two. Without
/// names the third may hold weights, which the caller must look at.
///
/// # Errors
/// Fewer than two columns, or one that is asked for and not there.
pub(super) fn choose(
    path: &Path,
    names: Option<&[String]>,
    count: usize,
    options: &ReadOptions,
) -> Result<Columns> {
    let find = |wanted: &str| {
        let named = names.and_then(|names| names.iter().position(|n| n.eq_ignore_ascii_case(wanted)));
        named.or_else(|| wanted.parse::<usize>().ok().filter(|n| (1..=count).contains(n)).map(|n| n - 1))
    };
    let asked = |wanted: &Option<String>, option: &str| -> Result<Option<usize>> {
        let Some(wanted) = wanted else { return Ok(None) };
        let missing = || {
            let held = match names {
                Some(names) => {
                    let names: Vec<String> = names.iter().take(20).map(|n| format!("{n:?}")).collect();
                    format!("the columns are {}", names.join(", "))
                }
                None => format!("there are {count} columns, which have no names"),
            };
            let problem = format!("has no column {wanted:?}; {held}");
            fail(path, problem, &format!("give {option} a column's name, or its number from 1"))
        };
        find(wanted).ok_or_else(missing).map(Some)
    };
    if count < 2 {
        let problem = format!("has {count} column where an edge needs two ids");
        return Err(fail(path, problem, "give a file with the two ids of an edge on every line"));
    }
    let (from, to) = (asked(&options.from, "--from")?, asked(&options.to, "--to")?);
    let weight = asked(&options.weight, "--weight")?;
    let known = |list: &[&str], taken: Option<usize>| {
        names.and_then(|names| usual(names, list)).filter(|at| Some(*at) != taken)
    };
    let first = |taken: [Option<usize>; 2]| (0..count).find(|at| !taken.contains(&Some(*at))).unwrap_or(0);
    let (from, to) = match (from, to) {
        (Some(from), Some(to)) => (from, to),
        (Some(from), None) => (from, known(&TO, Some(from)).unwrap_or_else(|| first([Some(from), weight]))),
        (None, Some(to)) => (known(&FROM, Some(to)).unwrap_or_else(|| first([Some(to), weight])), to),
        (None, None) => match (known(&FROM, weight), known(&TO, weight)) {
            (Some(from), Some(to)) => (from, to),
            _ => {
                let from = first([weight, None]);
                (from, first([weight, Some(from)]))
            }
        },
    };
    let free = |at: &usize| *at != from && *at != to;
    let guessed = match names {
        Some(names) => usual(names, &WEIGHT).filter(free),
        None => Some(2).filter(|at| *at < count).filter(free),
    };
    let weight = match options.weighted {
        Some(false) => None,
        _ => weight.or(guessed),
    };
    Ok(Columns { from, to, weight })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &str, change: impl Fn(&mut ReadOptions)) -> std::result::Result<Columns, String> {
        let names: Vec<String> = names.split(' ').map(Into::into).collect();
        let mut options = ReadOptions::default();
        change(&mut options);
        choose(Path::new("x"), Some(&names), names.len(), &options).map_err(|e| e.to_string())
    }

    fn found(from: usize, to: usize, weight: Option<usize>) -> std::result::Result<Columns, String> {
        Ok(Columns { from, to, weight })
    }

    #[test]
    fn by_name_by_number_or_as_usual() {
        assert_eq!(columns("id Source Target Weight", |_| {}), found(1, 2, Some(3)));
        assert_eq!(columns("dst src", |_| {}), found(1, 0, None));
        assert_eq!(columns("user item date", |_| {}), found(0, 1, None));
        assert_eq!(columns("user item n", |o| o.weighted = Some(false)), found(0, 1, None));
        assert_eq!(columns("a b c", |o| o.weight = Some("a".into())), found(1, 2, Some(0)));
        assert_eq!(columns("a b c", |o| o.from = Some("3".into())), found(2, 0, None));
        assert_eq!(columns("a to c", |o| o.from = Some("C".into())), found(2, 1, None));
        assert_eq!(columns("a b from", |o| o.to = Some("a".into())), found(2, 0, None));
        assert!(
            columns("a b", |o| o.to = Some("z".into())).unwrap_err().contains("the columns are \"a\", \"b\"")
        );
        assert!(columns("a b", |o| o.to = Some("3".into())).is_err());
        assert!(columns("a", |_| {}).unwrap_err().contains("has 1 column"));
    }
}
