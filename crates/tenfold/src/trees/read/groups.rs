//! Codes become variables: one each, or one for each group of a map.

use super::map::{self, Groups};
use super::{Options, fail, listed};
use crate::error::Result;
use crate::trees::data::{Kind, Table, Variable};
use std::collections::BTreeMap;
use std::path::Path;
use tenfold_engine::progress::Progress;

/// A code that is left out.
const NONE: u32 = u32::MAX;

/// Makes the table of the codes that stand together by sample. Gives it with a description of every variable.
pub(super) fn arrange(
    path: &Path,
    (starts, mut events): (Vec<usize>, Vec<u32>),
    names: Vec<String>,
    (options, progress): (&Options, &dyn Progress),
    notes: &mut Vec<String>,
) -> Result<(Table, Vec<String>)> {
    let samples = starts.len() - 1;
    let groups = options.groups.as_deref().map(|map| map::read(map, options, progress)).transpose()?;
    let mut codes = Codes::new(names, groups.as_ref(), notes);
    relabel(&mut events, &codes.place);
    let counts = patients(&starts, &mut events, codes.names.len());
    without_group(&codes, &counts, groups.as_ref(), notes);
    let least = options.least(samples);
    let mut plan = match &groups {
        Some(groups) => grouped(&codes, &counts, (options, least), groups),
        None => alone(&codes, &counts, options, least),
    };
    codes.names.clear();
    relabel(&mut events, &plan.feature);
    let counts = patients(&starts, &mut events, plan.features());
    plan.drop_rare(&counts, least, &mut events);
    plan.tell(least, notes);
    if plan.variables.is_empty() {
        let problem = format!("has no code that at least {least} samples have");
        return Err(fail(
            path,
            None,
            problem,
            "lower --min-count, or give a map whose codes are those of the events",
        ));
    }
    let counted = options.counted();
    let mut table = Table::new(plan.variables)?;
    table.reserve(samples, events.iter().filter(|&&f| f != NONE).count());
    let mut entries: Vec<(u32, f64)> = Vec::new();
    for sample in 0..samples {
        if sample % 65_536 == 0 {
            progress.check()?;
        }
        entries.clear();
        for run in events[starts[sample]..starts[sample + 1]].chunk_by(|a, b| a == b) {
            if run[0] != NONE {
                entries.push((run[0], if counted { run.len() as f64 } else { 1.0 }));
            }
        }
        table.push(&entries, &[]);
    }
    Ok((table, plan.descriptions))
}

fn relabel(events: &mut [u32], to: &[u32]) {
    events.iter_mut().filter(|e| **e != NONE).for_each(|e| *e = to[*e as usize]);
}

/// Puts the events of every sample in order, and counts the samples that have each.
fn patients(starts: &[usize], events: &mut [u32], kinds: usize) -> Vec<u64> {
    let mut counts = vec![0; kinds];
    for range in starts.windows(2) {
        let of = &mut events[range[0]..range[1]];
        of.sort_unstable();
        of.chunk_by(|a, b| a == b).filter(|run| run[0] != NONE).for_each(|run| counts[run[0] as usize] += 1);
    }
    counts
}

/// Codes, those that differ by dots only being one where there is a map.
struct Codes {
    /// As the map writes them, or as they stand in the events.
    names: Vec<String>,
    /// The group of each.
    group: Vec<Option<u32>>,
    /// The place of every code of the file among them.
    place: Vec<u32>,
}

impl Codes {
    fn new(given: Vec<String>, groups: Option<&Groups>, notes: &mut Vec<String>) -> Self {
        let Some(groups) = groups else {
            return Self {
                group: vec![None; given.len()],
                place: (0..given.len() as u32).collect(),
                names: given,
            };
        };
        let (mut names, mut group, mut place) = (Vec::new(), Vec::new(), Vec::new());
        let mut met: BTreeMap<String, u32> = BTreeMap::new();
        for code in given {
            let at = *met.entry(groups.key(&code)).or_insert_with(|| {
                let found = groups.find(&code);
                names.push(found.map_or(code.clone(), |f| f.0.to_owned()));
                group.push(found.map(|f| f.1));
                names.len() as u32 - 1
            });
            place.push(at);
        }
        if names.len() < place.len() {
            notes.push(format!(
                "{} codes are written with and without dots; each was taken as one",
                place.len() - names.len()
            ));
        }
        Self { names, group, place }
    }
}

/// Tells of codes that the map does not know.
fn without_group(codes: &Codes, counts: &[u64], groups: Option<&Groups>, notes: &mut Vec<String>) {
    let Some(groups) = groups else { return };
    notes.extend(groups.notes.iter().cloned());
    let mut lost: Vec<usize> = (0..codes.names.len()).filter(|&c| codes.group[c].is_none()).collect();
    lost.sort_by(|&a, &b| counts[b].cmp(&counts[a]).then_with(|| codes.names[a].cmp(&codes.names[b])));
    if !lost.is_empty() {
        let held: u64 = lost.iter().map(|&c| counts[c]).sum();
        let all: u64 = counts.iter().sum();
        let names: Vec<&str> = lost.iter().map(|&c| codes.names[c].as_str()).collect();
        notes.push(format!(
            "{} of {} codes, {held} of {all} pairs of a sample and a code, have no group and were left out: {}",
            lost.len(),
            codes.names.len(),
            listed(&names)
        ));
    }
}

/// The variables, and the feature of every code.
struct Plan {
    variables: Vec<Variable>,
    descriptions: Vec<String>,
    feature: Vec<u32>,
    /// Codes below the bound: pooled with a map, left out without one.
    rare: usize,
    pooled: bool,
}

fn alone(codes: &Codes, counts: &[u64], options: &Options, least: u64) -> Plan {
    let mut order: Vec<usize> = (0..codes.names.len()).filter(|&c| counts[c] >= least).collect();
    order.sort_by(|&a, &b| codes.names[a].cmp(&codes.names[b]));
    let mut feature = vec![NONE; codes.names.len()];
    order.iter().enumerate().for_each(|(f, &c)| feature[c] = f as u32);
    let variable = |&c: &usize| {
        let name = codes.names[c].clone();
        match options.counted() {
            true => Variable { labels: vec![name.clone()], name, kind: Kind::Counts },
            false => Variable { name, kind: Kind::Category, labels: vec!["absent".into(), "present".into()] },
        }
    };
    Plan {
        variables: order.iter().map(variable).collect(),
        descriptions: order
            .iter()
            .map(|&c| format!("code {}: {} samples", codes.names[c], counts[c]))
            .collect(),
        rare: codes.names.len() - order.len(),
        feature,
        pooled: false,
    }
}

fn grouped(codes: &Codes, counts: &[u64], (options, least): (&Options, u64), groups: &Groups) -> Plan {
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (c, group) in codes.group.iter().enumerate() {
        group.iter().for_each(|&g| members.entry(&groups.names[g as usize]).or_default().push(c));
    }
    let mut plan = Plan {
        variables: Vec::new(),
        descriptions: Vec::new(),
        feature: vec![NONE; codes.names.len()],
        rare: 0,
        pooled: true,
    };
    let mut next = 0;
    for (group, mut members) in members {
        members.sort_by(|&a, &b| counts[b].cmp(&counts[a]).then_with(|| codes.names[a].cmp(&codes.names[b])));
        let frequent = members.iter().filter(|&&c| counts[c] >= least).count();
        let kept = frequent.min(options.widest());
        plan.rare += members.len() - frequent;
        let mut labels: Vec<String> = members[..kept].iter().map(|&c| codes.names[c].clone()).collect();
        if members.len() > kept {
            labels.push(format!("other codes of {group}"));
        }
        for (i, &c) in members.iter().enumerate() {
            plan.feature[c] = next + i.min(kept) as u32;
        }
        next += labels.len() as u32;
        let about = groups.descriptions.get(group).map(|text| format!(", {text}")).unwrap_or_default();
        plan.descriptions.push(format!("group {group}{about}: {} codes", members.len()));
        let kind = if options.counted() { Kind::Counts } else { Kind::Flags };
        let name = match groups.descriptions.get(group) {
            Some(text) => format!("{group} {text}"),
            None => group.to_owned(),
        };
        plan.variables.push(Variable { name, kind, labels });
    }
    plan
}

impl Plan {
    fn features(&self) -> usize {
        self.variables.iter().map(Variable::width).sum()
    }

    /// Leaves out pooled codes that are still too rare, and groups without any other.
    fn drop_rare(&mut self, counts: &[u64], least: u64, events: &mut [u32]) {
        let mut to = vec![NONE; counts.len()];
        let (mut old, mut new) = (0, 0);
        let mut kept = Vec::new();
        for variable in &mut self.variables {
            if variable.kind == Kind::Category {
                to[old] = new;
                (old, new) = (old + 1, new + 1);
                kept.push(true);
                continue;
            }
            variable.labels.retain(|_| {
                old += 1;
                let keep = counts[old - 1] >= least;
                if keep {
                    to[old - 1] = new;
                    new += 1;
                }
                keep
            });
            kept.push(!variable.labels.is_empty());
        }
        let mut keep = kept.iter();
        self.variables.retain(|_| keep.next() == Some(&true));
        let mut keep = kept.iter();
        self.descriptions.retain(|_| keep.next() == Some(&true));
        relabel(events, &to);
    }

    fn tell(&self, least: u64, notes: &mut Vec<String>) {
        if self.rare > 0 {
            let what = if self.pooled {
                "were pooled with others of their group, which is left out where it stays below that"
            } else {
                "were left out"
            };
            notes.push(format!("{} codes that fewer than {least} samples have {what}", self.rare));
        }
        let widest = self.variables.iter().map(Variable::width).max().unwrap_or(0);
        notes.push(format!(
            "{} variables with {} numbers, {widest} at most",
            self.variables.len(),
            self.features()
        ));
    }
}
