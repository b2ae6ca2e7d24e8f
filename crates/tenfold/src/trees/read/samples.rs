//! What samples are called.

use super::interner::Interner;

/// The names of samples.
#[derive(Debug, Clone)]
pub enum Samples {
    /// They have none but their numbers, from 1.
    Numbered,
    /// Such as patients.
    Interned(Names),
}

/// Names in one piece of memory.
#[derive(Debug, Clone)]
pub struct Names {
    data: String,
    ends: Vec<usize>,
}

impl Names {
    fn get(&self, at: usize) -> &str {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.data[start..self.ends[at]]
    }
}

impl From<Interner> for Names {
    fn from(interner: Interner) -> Self {
        Self::of(interner.names().map(String::from_utf8_lossy))
    }
}

impl Names {
    fn of(names: impl Iterator<Item = impl AsRef<str>>) -> Self {
        let mut all = Self { data: String::new(), ends: Vec::new() };
        for name in names {
            all.data.push_str(name.as_ref());
            all.ends.push(all.data.len());
        }
        all
    }
}

impl Samples {
    pub(super) fn named(names: Vec<String>) -> Self {
        Self::Interned(Names::of(names.into_iter()))
    }

    /// The name of a sample: its own, or its number from 1.
    ///
    /// # Panics
    /// When there is no such sample.
    pub fn name(&self, sample: usize) -> String {
        match self {
            Self::Numbered => (sample + 1).to_string(),
            Self::Interned(names) => names.get(sample).to_owned(),
        }
    }
}
