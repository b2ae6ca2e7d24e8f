//! What can go wrong in tenfold, named by what the user did.

use std::path::{Path, PathBuf};

/// Why tenfold could not do what it was asked. Every message names the file, the place in it and a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine refused the data or the choices made.
    #[error(transparent)]
    Engine(tenfold_engine::Error),
    /// A file that was to be read does not hold what it should.
    #[error("{}: {problem}; {remedy}", place(path, *line))]
    Read {
        /// The file.
        path: PathBuf,
        /// The line, from 1, where the file has lines.
        line: Option<u64>,
        /// What was found, and what was expected.
        problem: String,
        /// What the user can do about it.
        remedy: String,
    },
    /// A file of a type that is not known here.
    #[error("{}: {problem}; known types are {known}", path.display())]
    UnsupportedFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with its type.
        problem: String,
        /// The types that would have been accepted.
        known: String,
    },
    /// A model file that is damaged, foreign, of another kind or newer than this program.
    #[error("{}: {problem}; {remedy}", path.display())]
    Model {
        /// The model file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What the user can do about it.
        remedy: String,
    },
    /// A result could not be written.
    #[error("{} cannot be written: {problem}; {remedy}", path.display())]
    Write {
        /// The file that was asked for.
        path: PathBuf,
        /// What went wrong.
        problem: String,
        /// What the user can do about it.
        remedy: String,
    },
    /// Data that do not fit the model they are given to.
    #[error("{found} {what} where {expected} were expected; give the {what} of the fit")]
    WrongShape {
        /// What was counted: columns or sources.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A choice that would be passed over.
    #[error("{choice} means nothing with {with}; leave it out")]
    Unused {
        /// The choice, as the command line calls it.
        choice: &'static str,
        /// What it means nothing with.
        with: String,
    },
    /// Models or data that cannot be used together, or not for this.
    #[error("{problem}; {remedy}")]
    Unfit {
        /// What does not fit.
        problem: String,
        /// What the user can do about it.
        remedy: String,
    },
    /// A parameter outside its range.
    #[error("{name} = {value} is out of range: {expected}")]
    BadParameter {
        /// The parameter's name.
        name: String,
        /// Its value.
        value: String,
        /// What would have been accepted.
        expected: String,
    },
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Refuses results that are no numbers: a model and data that are legal one by one can still lead beyond the range of double precision.
pub(crate) fn check_range(what: &str, results: impl IntoIterator<Item = f64>) -> Result<()> {
    match results.into_iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(x) => Err(Error::Unfit {
            problem: format!("{what} come out as {x}, beyond the range of double precision"),
            remedy: "give data in the units of the fit; where they are, fit the model again".into(),
        }),
    }
}

/// Refuses a fit whose factors are no numbers, which nothing that it says of itself would tell.
pub(crate) fn check_fitted(what: &str, factors: impl IntoIterator<Item = f64>) -> Result<()> {
    match factors.into_iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(x) => Err(Error::Unfit {
            problem: format!(
                "the {what} come out as {x}: sums over the data leave the range of double precision"
            ),
            remedy: "divide or multiply all data by one number, so that they are of the size of 1".into(),
        }),
    }
}

/// The most that a fit repeats anything: from other starts, or with tables that are drawn anew. Far more than changes an answer, and its
/// results fit into memory.
pub(crate) const MOST_REPEATS: usize = 10_000;

/// Refuses more repeats than [`MOST_REPEATS`].
pub(crate) fn check_repeats(name: &str, asked: usize) -> Result<()> {
    if asked <= MOST_REPEATS {
        return Ok(());
    }
    Err(Error::BadParameter {
        name: name.into(),
        value: asked.to_string(),
        expected: format!("at most {MOST_REPEATS}"),
    })
}

fn place(path: &Path, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("{}, line {line}", path.display()),
        None => path.display().to_string(),
    }
}

/// A reader's error that travelled through an engine pass comes out as itself, so that the caller sees one
/// kind of error whether the file was read at once or block by block.
impl From<tenfold_engine::Error> for Error {
    fn from(error: tenfold_engine::Error) -> Self {
        match error {
            tenfold_engine::Error::Source(inner) => match inner.downcast::<Self>() {
                Ok(own) => *own,
                Err(other) => Self::Engine(tenfold_engine::Error::Source(other)),
            },
            other => Self::Engine(other),
        }
    }
}

impl From<Error> for tenfold_engine::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Engine(inner) => inner,
            other => Self::Source(Box::new(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_error_survives_the_engine() {
        let read = Error::Read {
            path: "a.csv".into(),
            line: Some(3),
            problem: "2 fields where 4 were expected".into(),
            remedy: "mend the line".into(),
        };
        let engine = tenfold_engine::Error::from(read);
        let back = Error::from(engine);
        assert_eq!(back.to_string(), "a.csv, line 3: 2 fields where 4 were expected; mend the line");
        assert!(matches!(back, Error::Read { .. }));
        assert!(matches!(Error::from(tenfold_engine::Error::Interrupted), Error::Engine(_)));
    }
}
