//! Which columns of a table of events hold the samples and the codes.

use super::{Options, fail, listed};
use crate::error::Result;
use std::path::Path;

/// Columns that are taken for the samples when none is named.
const SAMPLES: [&str; 15] = [
    "patient",
    "patient_id",
    "patientid",
    "subject_id",
    "subject",
    "person_id",
    "person",
    "desynpuf_id",
    "bene_id",
    "pid",
    "mrn",
    "hadm_id",
    "sample",
    "sample_id",
    "user_id",
];

/// Columns that are taken for the codes.
const CODES: [&str; 16] = [
    "code",
    "icd9_code",
    "icd10_code",
    "icd_code",
    "icd9",
    "icd10",
    "icd",
    "icd9_cd",
    "dx",
    "diagnosis",
    "diagnosis_code",
    "concept_id",
    "condition_concept_id",
    "event",
    "item",
    "itemid",
];

/// The columns in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::trees) struct Fields {
    pub(in crate::trees) sample: usize,
    pub(in crate::trees) code: usize,
}

fn usual(names: &[String], known: &[&str]) -> Option<usize> {
    known.iter().find_map(|name| names.iter().position(|n| n.trim().eq_ignore_ascii_case(name)))
}

impl Fields {
    /// Whether these are the names of a table of events.
    pub(super) fn are_usual(names: &[String]) -> bool {
        usual(names, &SAMPLES).is_some() && usual(names, &CODES).is_some()
    }

    /// Whether a first line holds names: those that were asked for, usual ones, or words without digits above a line with some.
    pub(super) fn has_names(first: &[String], second: Option<&[String]>, options: &Options) -> bool {
        let asked = [&options.sample, &options.code];
        let named = |wanted: &String| first.iter().any(|c| c.eq_ignore_ascii_case(wanted));
        let digits = |cells: &[String]| cells.iter().any(|c| c.bytes().any(|b| b.is_ascii_digit()));
        options.header.unwrap_or_else(|| {
            asked.into_iter().flatten().any(named)
                || usual(first, &SAMPLES).is_some()
                || usual(first, &CODES).is_some()
                || !digits(first) && second.is_some_and(digits)
        })
    }

    /// The columns that are asked for, by name or by number from 1; else those of usual names; else the two there are, or the first
    /// two of three.
    pub(super) fn choose(
        path: &Path,
        names: Option<&[String]>,
        count: usize,
        options: &Options,
    ) -> Result<Self> {
        let find = |wanted: &str| {
            let named = names.and_then(|names| names.iter().position(|n| n.eq_ignore_ascii_case(wanted)));
            named.or_else(|| wanted.parse::<usize>().ok().filter(|n| (1..=count).contains(n)).map(|n| n - 1))
        };
        let held = match names {
            Some(names) => format!("the columns are {}", listed(names)),
            None => format!("there are {count} columns, which have no names"),
        };
        let asked = |wanted: &Option<String>, option: &str| match wanted {
            None => Ok(None),
            Some(wanted) => find(wanted).map(Some).ok_or_else(|| {
                let problem = format!("has no column {wanted:?}; {held}");
                fail(path, None, problem, &format!("give {option} a column's name, or its number from 1"))
            }),
        };
        let known = |list: &[&str]| names.and_then(|names| usual(names, list));
        let sample = asked(&options.sample, "--sample")?.or_else(|| known(&SAMPLES));
        let code = asked(&options.code, "--code")?.or_else(|| known(&CODES));
        let free = |taken: usize| (0..count).find(|at| *at != taken).filter(|_| count <= 3);
        let (sample, code) = match (sample, code) {
            (Some(sample), Some(code)) => (Some(sample), Some(code)),
            (Some(sample), None) => (Some(sample), free(sample)),
            (None, Some(code)) => (free(code), Some(code)),
            (None, None) => (Some(0).filter(|_| (2..=3).contains(&count)), Some(1)),
        };
        match (sample, code) {
            (Some(sample), Some(code)) if sample != code && sample.max(code) < count => {
                Ok(Self { sample, code })
            }
            _ => Err(fail(
                path,
                None,
                format!("does not tell which columns hold the samples and the codes of its events; {held}"),
                "name them with --sample COLUMN and --code COLUMN",
            )),
        }
    }

    /// What was chosen, for people.
    pub(super) fn describe(self, names: Option<&[String]>) -> String {
        let name = |at: usize| names.map_or_else(|| (at + 1).to_string(), |names| names[at].clone());
        format!("events: samples from column {}, codes from column {}", name(self.sample), name(self.code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &str, change: impl Fn(&mut Options)) -> std::result::Result<(usize, usize), String> {
        let names: Vec<String> = names.split(' ').map(Into::into).collect();
        let mut options = Options::default();
        change(&mut options);
        Fields::choose(Path::new("x"), Some(&names), names.len(), &options)
            .map(|f| (f.sample, f.code))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn by_name_by_number_or_as_usual() {
        let mimic = "ROW_ID SUBJECT_ID HADM_ID SEQ_NUM ICD9_CODE";
        assert_eq!(chosen(mimic, |_| {}), Ok((1, 4)));
        assert_eq!(chosen(mimic, |o| o.sample = Some("hadm_id".into())), Ok((2, 4)));
        assert_eq!(chosen(mimic, |o| o.code = Some("4".into())), Ok((1, 3)));
        assert_eq!(chosen("who what when", |_| {}), Ok((0, 1)));
        assert_eq!(chosen("code who", |_| {}), Ok((1, 0)));
        assert!(chosen("a b c d", |_| {}).unwrap_err().contains("--sample COLUMN"));
        assert!(
            chosen("a b c d", |o| o.sample = Some("z".into())).unwrap_err().contains("has no column \"z\"")
        );
        assert!(chosen("a b", |o| (o.sample, o.code) = (Some("a".into()), Some("1".into()))).is_err());
        assert!(chosen("code", |_| {}).is_err());
    }

    #[test]
    fn first_lines_that_hold_names() {
        let cells = |text: &str| -> Vec<String> { text.split(',').map(Into::into).collect() };
        let has = |first: &str, second: &str| {
            Fields::has_names(&cells(first), Some(&cells(second)), &Options::default())
        };
        assert!(
            has("patient,code", "1,2")
                && has("who,what", "a1,b")
                && !has("1,401.1", "2,5")
                && !has("a,b", "c,d")
        );
    }
}
