//! Maps of codes to groups, such as of ICD-9 to phecodes.

use super::{Options, fail, listed};
use crate::error::Result;
use crate::input::decode::utf8;
use crate::input::rows::{Cells, Kind, RowReader};
use crate::input::{Opening, Source};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use tenfold_engine::progress::Progress;

const CODES: [&str; 10] =
    ["code", "icd9", "icd9_code", "icd9cm", "icd_code", "icd10", "icd10_code", "icd", "concept_id", "item"];
const GROUPS: [&str; 7] = ["group", "phecode", "category", "ccs", "ccs_category", "block", "parent"];
const KEYS: [&str; 4] = ["phecode", "group", "code", "category"];
const TEXTS: [&str; 7] = ["description", "phenotype", "name", "title", "long_title", "label", "text"];

/// A map of codes to groups.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) names: Vec<String>,
    /// By key: the code as the map writes it, and its group.
    codes: HashMap<String, (String, u32)>,
    /// Whether codes that differ by dots and case only are the same.
    plain: bool,
    /// What groups are, where a file of descriptions was given.
    pub(super) descriptions: HashMap<String, String>,
    pub(super) notes: Vec<String>,
}

/// Without dots and blanks, in capitals: ICD-9 is written both as 250.01 and as 25001.
fn without_dots(code: &str) -> String {
    code.chars().filter(|c| *c != '.' && !c.is_whitespace()).flat_map(char::to_uppercase).collect()
}

impl Groups {
    /// What is the same for codes that are the same.
    pub(super) fn key(&self, code: &str) -> String {
        if self.plain { without_dots(code) } else { code.to_owned() }
    }

    /// The code as the map writes it, and its group.
    pub(super) fn find(&self, code: &str) -> Option<(&str, u32)> {
        self.codes.get(&self.key(code)).map(|(name, group)| (name.as_str(), *group))
    }
}

/// Reads a map, and the descriptions of its groups where a file of them is given.
///
/// A code with several groups goes to the one with the longest name, the narrowest of a hierarchy such as that of phecodes, or with
/// [`Options::broad_groups`] to the one with the shortest; the first of several.
pub(super) fn read(path: &Path, options: &Options, progress: &dyn Progress) -> Result<Groups> {
    // What stands there again is not held again.
    let mut chosen: BTreeMap<String, String> = BTreeMap::new();
    let mut several: HashSet<String> = HashSet::new();
    each_pair(path, (&CODES, &GROUPS), options, progress, |code, group| match chosen.get_mut(code) {
        None => {
            chosen.insert(code.to_owned(), group.to_owned());
        }
        Some(held) if held != group => {
            if !several.contains(code) {
                several.insert(code.to_owned());
            }
            let better =
                if options.broad_groups { group.len() < held.len() } else { group.len() > held.len() };
            if better {
                *held = group.to_owned();
            }
        }
        Some(_) => {}
    })?;
    let mut spelled: HashSet<String> = HashSet::new();
    let plain = chosen.keys().all(|code| spelled.insert(without_dots(code)));
    drop(spelled);
    let mut groups = Groups {
        names: Vec::new(),
        codes: HashMap::new(),
        plain,
        descriptions: HashMap::new(),
        notes: Vec::new(),
    };
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    for (code, group) in &chosen {
        let number = *numbers.entry(group).or_insert_with(|| {
            groups.names.push(group.clone());
            groups.names.len() as u32 - 1
        });
        let key = groups.key(code);
        groups.codes.insert(key, (code.clone(), number));
    }
    if !several.is_empty() {
        let which = if options.broad_groups { "shortest" } else { "longest" };
        groups.notes.push(format!(
            "{} codes of the map have several groups; the one with the {which} name was taken",
            several.len()
        ));
    }
    if !plain {
        groups.notes.push(
            "the map tells codes apart by dots or case only: codes must be written as they are there".into(),
        );
    }
    if let Some(path) = &options.descriptions {
        let known = &mut groups.descriptions;
        each_pair(path, (&KEYS, &TEXTS), options, progress, |key, text| {
            known.insert(key.to_owned(), text.to_owned());
        })?;
    }
    Ok(groups)
}

/// Hands over the rows of a table of two columns, by usual names or the first two.
fn each_pair(
    path: &Path,
    known: (&[&str], &[&str]),
    options: &Options,
    progress: &dyn Progress,
    mut take: impl FnMut(&str, &str),
) -> Result<()> {
    let wanted = "give a table with the columns code and group";
    let opening = Opening {
        encoding: options.encoding.as_deref(),
        max_decompressed: options.max_decompressed_groups,
        wanted,
    };
    let source = Source::open(path, opening, progress)?;
    let tabs = source.head(1 << 16).split(|b| *b == b'\n').next().is_some_and(|line| line.contains(&b'\t'));
    let mut rows = RowReader::new(&source, if tabs { Kind::Tsv } else { Kind::Csv }, 1 << 20, progress)?;
    rows.too_large = "close the quote; within quotes a quote is written twice";
    let (mut row, mut found, mut columns) = (Cells::default(), false, None);
    while let Some(line) = rows.next(&mut row)? {
        if row.is_blank() {
            continue;
        }
        let cells: Vec<&str> =
            row.iter().map(|c| utf8(source.path(), c, line).map(str::trim)).collect::<Result<_>>()?;
        let Some((first, second)) = columns else {
            let place = |names: &[&str], but: Option<usize>| {
                names.iter().find_map(|n| {
                    cells.iter().position(|c| c.eq_ignore_ascii_case(n)).filter(|p| Some(*p) != but)
                })
            };
            if cells.len() < 2 {
                let problem = format!("has one column where two were expected: {}", listed(&cells));
                return Err(fail(source.path(), Some(line), problem, wanted));
            }
            let first = place(known.0, None);
            let second = place(known.1, first);
            columns = Some((first.unwrap_or(0), second.unwrap_or(if first == Some(1) { 0 } else { 1 })));
            if first.is_none() && second.is_none() {
                take(cells[0], cells[1]);
                found = true;
            }
            continue;
        };
        let (Some(a), Some(b)) = (cells.get(first), cells.get(second)) else {
            let problem =
                format!("has {} cells where at least {} were expected", cells.len(), first.max(second) + 1);
            return Err(fail(source.path(), Some(line), problem, wanted));
        };
        if !a.is_empty() && !b.is_empty() {
            take(a, b);
            found = true;
        }
    }
    match found {
        false => Err(fail(source.path(), None, "holds no pairs of a code and a group".into(), wanted)),
        true => Ok(()),
    }
}
