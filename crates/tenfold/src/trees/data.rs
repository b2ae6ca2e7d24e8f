//! Observed variables of several kinds, and samples of them, sparse by rows.

use crate::checkpoint::Digest;
use crate::error::{Error, Result};
use std::ops::Range;

/// Most variables of a file: its reader keeps up to a kilobyte for each, and trees compare each with each.
pub(super) const MOST_VARIABLES: usize = 1 << 16;

/// What the numbers of a variable are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One of several levels. The first level is the reference: it has no feature, it is where all others are 0.
    Category,
    /// Any number of flags that are up or down together, such as the diagnoses of one group.
    Flags,
    /// Counts, such as how often each code of a group appeared.
    Counts,
    /// Real numbers: one, or a vector of them.
    Real,
}

impl Kind {
    /// Its name in files and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Category => "category",
            Self::Flags => "flags",
            Self::Counts => "counts",
            Self::Real => "real",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Category, Self::Flags, Self::Counts, Self::Real].into_iter().find(|kind| kind.name() == name)
    }
}

/// An observed variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name, such as a column's.
    pub name: String,
    /// What its numbers are.
    pub kind: Kind,
    /// The levels of a category, the reference first; otherwise the names of the numbers.
    pub labels: Vec<String>,
}

impl Variable {
    /// How many features it has: numbers that a row may hold.
    pub fn width(&self) -> usize {
        if self.kind == Kind::Category { self.labels.len().saturating_sub(1) } else { self.labels.len() }
    }
}

/// One sample: its features that are not 0, in order, and the variables that were not observed.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Numbers of features, increasing.
    pub features: &'a [u32],
    /// Their values.
    pub values: &'a [f64],
    /// Variables that are missing here, increasing; none of their features stands above.
    pub missing: &'a [u32],
}

impl Row<'_> {
    /// The value of a feature, 0 where it does not stand here.
    pub fn value(&self, feature: usize) -> f64 {
        self.features.binary_search(&(feature as u32)).map_or(0.0, |at| self.values[at])
    }
}

/// Samples of variables. A feature that a row does not hold is 0; the features of a variable stand together.
///
/// # Example
/// ```
/// use tenfold::trees::{Kind, Table, Variable};
/// let colour = Variable { name: "colour".into(), kind: Kind::Category, labels: vec!["red".into(), "blue".into()] };
/// let size = Variable { name: "size".into(), kind: Kind::Real, labels: vec!["size".into()] };
/// let mut table = Table::new(vec![colour, size])?;
/// table.push(&[(0, 1.0), (1, 2.5)], &[]); // blue, 2.5
/// table.push(&[], &[1]); // red, size unknown
/// assert_eq!((table.samples(), table.features(), table.row(0).values), (2, 2, &[1.0, 2.5][..]));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    variables: Vec<Variable>,
    /// The first feature of every variable, and the number of features.
    starts: Vec<usize>,
    ends: Vec<usize>,
    features: Vec<u32>,
    values: Vec<f64>,
    missing_ends: Vec<usize>,
    missing: Vec<u32>,
}

impl Table {
    /// What tells this table from another.
    pub(super) fn identify(&self, digest: &mut Digest) -> Result<()> {
        for variable in &self.variables {
            digest.bytes(variable.name.as_bytes());
            digest.bytes(variable.kind.name().as_bytes());
            digest.texts(&variable.labels);
        }
        let places = |digest: &mut Digest, list: &[usize]| list.iter().for_each(|&x| digest.number(x as u64));
        places(digest, &self.ends);
        digest.places(&self.features);
        digest.doubles(&self.values);
        places(digest, &self.missing_ends);
        digest.places(&self.missing);
        Ok(())
    }

    /// Without samples.
    ///
    /// # Errors
    /// When there is no variable, or more than 2³² features.
    pub fn new(variables: Vec<Variable>) -> Result<Self> {
        let mut starts = vec![0];
        for variable in &variables {
            starts.push(starts[starts.len() - 1] + variable.width());
        }
        if variables.is_empty() || u32::try_from(starts[variables.len()]).is_err() {
            return Err(Error::Unfit {
                problem: format!("{} variables with {} numbers", variables.len(), starts[variables.len()]),
                remedy: "give a table with at least one column and fewer than 2^32 levels".into(),
            });
        }
        Ok(Self {
            variables,
            starts,
            ends: Vec::new(),
            features: Vec::new(),
            values: Vec::new(),
            missing_ends: Vec::new(),
            missing: Vec::new(),
        })
    }

    /// Adds a sample: features that are not 0, increasing, and the variables that are missing, increasing.
    ///
    /// # Panics
    /// When features or missing variables are out of range or out of order.
    pub fn push(&mut self, entries: &[(u32, f64)], missing: &[u32]) {
        assert!(entries.windows(2).all(|w| w[0].0 < w[1].0), "features increase");
        assert!(missing.windows(2).all(|w| w[0] < w[1]), "missing variables increase");
        assert!(entries.last().is_none_or(|e| (e.0 as usize) < self.features()), "a feature that is there");
        assert!(
            missing.last().is_none_or(|&v| (v as usize) < self.variables.len()),
            "a variable that is there"
        );
        self.features.extend(entries.iter().map(|e| e.0));
        self.values.extend(entries.iter().map(|e| e.1));
        self.missing.extend(missing);
        self.ends.push(self.features.len());
        self.missing_ends.push(self.missing.len());
    }

    /// Makes room for more samples and entries, so that pushing them does not move what is there.
    pub fn reserve(&mut self, samples: usize, entries: usize) {
        self.ends.reserve_exact(samples);
        self.missing_ends.reserve_exact(samples);
        self.features.reserve_exact(entries);
        self.values.reserve_exact(entries);
    }

    /// The same for variables that are missing.
    pub(super) fn reserve_missing(&mut self, missing: usize) {
        self.missing.reserve_exact(missing);
    }

    /// The variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// How many samples.
    pub fn samples(&self) -> usize {
        self.ends.len()
    }

    /// How many features all variables have together.
    pub fn features(&self) -> usize {
        self.starts[self.variables.len()]
    }

    /// The features of a variable.
    pub fn features_of(&self, variable: usize) -> Range<usize> {
        self.starts[variable]..self.starts[variable + 1]
    }

    /// Entries that are not 0.
    pub fn entries(&self) -> usize {
        self.features.len()
    }

    /// Whether anything is missing.
    pub fn has_missing(&self) -> bool {
        !self.missing.is_empty()
    }

    /// A sample.
    pub fn row(&self, sample: usize) -> Row<'_> {
        let from = |ends: &[usize]| if sample == 0 { 0 } else { ends[sample - 1] };
        let (a, b) = (from(&self.ends), from(&self.missing_ends));
        Row {
            features: &self.features[a..self.ends[sample]],
            values: &self.values[a..self.ends[sample]],
            missing: &self.missing[b..self.missing_ends[sample]],
        }
    }

    /// These samples, in this order; one may come several times.
    pub fn take(&self, samples: impl IntoIterator<Item = usize>) -> Self {
        let mut taken = Self::new(self.variables.clone()).expect("the variables of a table");
        let samples: Vec<usize> = samples.into_iter().collect();
        // Room for exactly these: arrays that grow by doubling are held up to three times over while they are moved.
        taken.reserve(samples.len(), samples.iter().map(|&sample| self.row(sample).features.len()).sum());
        for sample in samples {
            let row = self.row(sample);
            taken.features.extend(row.features);
            taken.values.extend(row.values);
            taken.missing.extend(row.missing);
            taken.ends.push(taken.features.len());
            taken.missing_ends.push(taken.missing.len());
        }
        taken
    }

    /// These variables only, in this order.
    pub fn select(&self, chosen: &[usize]) -> Result<Self> {
        let mut picked = Self::new(chosen.iter().map(|&v| self.variables[v].clone()).collect())?;
        let mut place = vec![None; self.variables.len()];
        for (new, &old) in chosen.iter().enumerate() {
            place[old] = Some(new);
        }
        let owner: Vec<u32> =
            (0..self.variables.len()).flat_map(|v| self.features_of(v).map(move |_| v as u32)).collect();
        for sample in 0..self.samples() {
            let row = self.row(sample);
            let mut entries: Vec<(u32, f64)> = Vec::new();
            for (&f, &x) in row.features.iter().zip(row.values) {
                let old = owner[f as usize] as usize;
                if let Some(new) = place[old] {
                    entries.push(((picked.starts[new] + f as usize - self.starts[old]) as u32, x));
                }
            }
            entries.sort_unstable_by_key(|e| e.0);
            let mut missing: Vec<u32> =
                row.missing.iter().filter_map(|&v| place[v as usize].map(|new| new as u32)).collect();
            missing.sort_unstable();
            picked.push(&entries, &missing);
        }
        Ok(picked)
    }
}
