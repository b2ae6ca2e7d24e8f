//! Samples that were read by themselves, as samples of the variables of a model.

use super::data::{Kind, Table, Variable};
use crate::error::{Error, Result};
use std::collections::HashMap;

/// A table over the variables of a model, and what did not fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Conformed {
    /// The samples.
    pub table: Table,
    /// What was left out or is missing, for people.
    pub notes: Vec<String>,
}

/// Where a feature of the read table goes.
#[derive(Clone, Copy)]
enum Goes {
    /// To this feature.
    To(u32),
    /// Nowhere, and nothing is wrong: the reference level.
    Nowhere,
    /// Nowhere: the variable is missing in this sample.
    Missing(u32),
}

impl Table {
    /// These samples as samples of `variables`: matched by name, levels and flags by their labels. A level that the variables do
    /// not have makes the variable missing in that sample; a variable that is not in this table is missing in all, or, where
    /// `absent_is_none`, is at its reference or 0 in all, as codes are that nobody has.
    ///
    /// # Errors
    /// When no variable has a name of `variables`, or one is of another kind.
    pub fn conform(&self, variables: &[Variable], absent_is_none: bool) -> Result<Conformed> {
        let mut table = Self::new(variables.to_vec())?;
        let own = self.places(variables, absent_is_none);
        let mut notes = Vec::new();
        let mut goes = vec![Goes::Nowhere; self.features()];
        // What a sample without any feature of a variable becomes: its reference level here may be another one there.
        let mut idle: Vec<Option<(usize, Goes)>> = vec![None; variables.len()];
        let mut absent = 0;
        let mut strange: Vec<String> = Vec::new();
        for (v, variable) in variables.iter().enumerate() {
            let Some(from) = own[v] else {
                absent += 1;
                continue;
            };
            let old = &self.variables()[from];
            if old.kind != variable.kind {
                return Err(Error::Unfit {
                    problem: format!(
                        "{} is {} here and {} in the model",
                        old.name,
                        old.kind.name(),
                        variable.kind.name()
                    ),
                    remedy: format!("say --kind {}={}", old.name, variable.kind.name()),
                });
            }
            let place = |label: &String| -> Goes {
                let to = variable.labels.iter().position(|l| l == label);
                let first = table.features_of(v).start;
                match (to, variable.kind) {
                    (Some(0), Kind::Category) => Goes::Nowhere,
                    (Some(level), Kind::Category) => Goes::To((first + level - 1) as u32),
                    (Some(at), _) => Goes::To((first + at) as u32),
                    (None, Kind::Flags | Kind::Counts) => match variable.labels.last() {
                        Some(last) if last.starts_with("other codes of ") => {
                            Goes::To((first + variable.labels.len() - 1) as u32)
                        }
                        _ => Goes::Nowhere,
                    },
                    (None, _) => Goes::Missing(v as u32),
                }
            };
            let skip = usize::from(old.kind == Kind::Category);
            for (feature, label) in self.features_of(from).zip(old.labels.iter().skip(skip)) {
                goes[feature] = place(label);
                if matches!(goes[feature], Goes::Missing(_)) {
                    strange.push(format!("{}={label}", old.name));
                }
            }
            if skip == 1
                && let Some(reference) = old.labels.first()
            {
                idle[v] = Some((from, place(reference)));
            }
        }
        if absent == variables.len() {
            return Err(Error::Unfit {
                problem: "no variable has a name of the model's".into(),
                remedy: "give data with the columns or codes of the fit".into(),
            });
        }
        if absent > 0 && !absent_is_none {
            notes.push(format!(
                "{absent} of the model's {} variables are not here and count as missing",
                variables.len()
            ));
        }
        if !strange.is_empty() {
            notes.push(format!(
                "levels that the fit has not seen count as missing: {}",
                strange[..strange.len().min(5)].join(", ")
            ));
        }
        let lacking: Vec<u32> = if absent_is_none {
            Vec::new()
        } else {
            (0..variables.len()).filter(|&v| own[v].is_none()).map(|v| v as u32).collect()
        };
        self.move_rows(&own, &goes, &idle, &lacking, &mut table);
        Ok(Conformed { table, notes })
    }

    /// Where each of `variables` stands here: by its name, or, of `coded` ones, by the code that its name begins with, since one side may
    /// have been read with descriptions and the other without.
    fn places(&self, variables: &[Variable], coded: bool) -> Vec<Option<usize>> {
        let code = |name: &str| name.split(' ').next().unwrap_or("").to_owned();
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        let mut by_code: HashMap<String, Option<usize>> = HashMap::new();
        for (v, variable) in self.variables().iter().enumerate() {
            by_name.insert(&variable.name, v);
            // A code that two names begin with tells neither.
            by_code.entry(code(&variable.name)).and_modify(|place| *place = None).or_insert(Some(v));
        }
        let place = |variable: &Variable| {
            let exact = by_name.get(variable.name.as_str()).copied();
            exact.or_else(|| by_code.get(&code(&variable.name)).copied().flatten().filter(|_| coded))
        };
        variables.iter().map(place).collect()
    }

    /// Puts every sample where its features go.
    fn move_rows(
        &self,
        own: &[Option<usize>],
        goes: &[Goes],
        idle: &[Option<(usize, Goes)>],
        lacking: &[u32],
        table: &mut Self,
    ) {
        let target: Vec<Option<usize>> = {
            let mut target = vec![None; self.variables().len()];
            for (v, from) in own.iter().enumerate() {
                if let Some(from) = *from {
                    target[from] = Some(v);
                }
            }
            target
        };
        let owner: Vec<usize> =
            (0..self.variables().len()).flat_map(|v| self.features_of(v).map(move |_| v)).collect();
        let mut active = vec![usize::MAX; self.variables().len()];
        for sample in 0..self.samples() {
            let row = self.row(sample);
            let mut entries: Vec<(u32, f64)> = Vec::new();
            let mut missing: Vec<u32> = lacking.to_vec();
            missing.extend(row.missing.iter().filter_map(|&v| target[v as usize].map(|v| v as u32)));
            row.missing.iter().for_each(|&v| active[v as usize] = sample);
            let mut put = |goes: Goes, x: f64| match goes {
                Goes::To(feature) => entries.push((feature, x)),
                Goes::Missing(v) => missing.push(v),
                Goes::Nowhere => {}
            };
            for (&feature, &x) in row.features.iter().zip(row.values) {
                active[owner[feature as usize]] = sample;
                put(goes[feature as usize], x);
            }
            for &(from, goes) in idle.iter().flatten() {
                if active[from] != sample {
                    put(goes, 1.0);
                }
            }
            entries.sort_unstable_by_key(|e| e.0);
            // Codes that were pooled meet in one place: a flag stays a flag, counts add up.
            let kinds = |feature: u32| {
                let v = (0..table.variables().len())
                    .find(|&v| table.features_of(v).contains(&(feature as usize)));
                v.map(|v| table.variables()[v].kind)
            };
            let mut merged: Vec<(u32, f64)> = Vec::with_capacity(entries.len());
            for (feature, x) in entries {
                match merged.last_mut() {
                    Some(last) if last.0 == feature => {
                        last.1 =
                            if kinds(feature) == Some(Kind::Counts) { last.1 + x } else { last.1.max(x) };
                    }
                    _ => merged.push((feature, x)),
                }
            }
            missing.sort_unstable();
            missing.dedup();
            merged.retain(|e| {
                missing.iter().all(|&v| !table.features_of(v as usize).contains(&(e.0 as usize)))
            });
            table.push(&merged, &missing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn category(name: &str, labels: &[&str]) -> Variable {
        Variable {
            name: name.into(),
            kind: Kind::Category,
            labels: labels.iter().map(|l| (*l).into()).collect(),
        }
    }

    #[test]
    fn levels_find_their_places_whatever_is_usual_here() {
        // Here "b" is the usual level; in the model "a" is, and "d" was never seen.
        let mut table =
            Table::new(vec![category("x", &["b", "a", "d"]), category("z", &["0", "1"])]).unwrap();
        table.push(&[(2, 1.0)], &[]); // b, 1
        table.push(&[(0, 1.0)], &[1]); // a, missing
        table.push(&[(1, 1.0)], &[]); // d, 0
        let model = [category("y", &["0", "1"]), category("x", &["a", "b"])];
        let found = table.conform(&model, false).unwrap();
        let rows: Vec<_> = (0..3)
            .map(|i| (found.table.row(i).features.to_vec(), found.table.row(i).missing.to_vec()))
            .collect();
        assert_eq!(rows, [(vec![1], vec![0]), (vec![], vec![0]), (vec![], vec![0, 1])]);
        assert_eq!(found.notes.len(), 2);
        let none = table.conform(&model, true).unwrap();
        assert_eq!((none.table.row(0).missing, none.table.row(2).missing), (&[][..], &[1][..]));
        assert!(table.conform(&[category("q", &["0", "1"])], false).is_err());
    }

    #[test]
    fn codes_beyond_the_fit_are_pooled() {
        let flags = |labels: &[&str]| Variable { kind: Kind::Flags, ..category("g", labels) };
        let mut table = Table::new(vec![flags(&["1", "2", "3"])]).unwrap();
        table.push(&[(0, 1.0), (1, 1.0), (2, 1.0)], &[]);
        let found = table.conform(&[flags(&["3", "other codes of g"])], true).unwrap();
        assert_eq!((found.table.row(0).features, found.table.row(0).values), (&[0, 1][..], &[1.0, 1.0][..]));
    }

    #[test]
    fn codes_are_known_with_and_without_their_descriptions() {
        let flags = |name: &str| Variable { kind: Kind::Flags, ..category(name, &["1"]) };
        let mut table = Table::new(vec![flags("585.3"), flags("7"), flags("7 other")]).unwrap();
        table.push(&[(0, 1.0), (1, 1.0)], &[]);
        let found = table.conform(&[flags("585.3 Chronic kidney disease"), flags("7 what")], true).unwrap();
        assert_eq!(found.table.row(0).features, [0], "7 is the code of two");
        assert!(
            table.conform(&[flags("585.3 Chronic kidney disease")], false).is_err(),
            "columns have no codes"
        );
    }
}
