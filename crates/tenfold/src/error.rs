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
