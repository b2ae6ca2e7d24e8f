//! Covers: one community a line.

use super::super::data::Ids;
use crate::error::{Error, Result};
use crate::evaluate::Cover;
use crate::output::{write_atomically, write_error};
use std::path::Path;
use tenfold_engine::progress::Progress;

/// What separates ids and lines.
const BETWEEN: [char; 3] = ['\t', '\n', '\r'];

/// Writes communities as lists: one a line in their order, ids separated by tabs. A community without nodes is an empty
/// line, so that line c + 1 is community c.
///
/// # Errors
/// An id with a tab or a line end in it, which such a file cannot hold; a disk that refuses; a listener that stops the run.
///
/// # Example
/// ```
/// use tenfold::communities::{Ids, write_cover};
/// use tenfold::engine::progress::Silent;
/// use tenfold::evaluate::Cover;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("cover.txt");
/// let ids = Ids::from_names(["ann", "bob", "cem"])?;
/// write_cover(&path, &ids, &Cover::new(3, vec![vec![0, 2], vec![], vec![1, 2]]), &Silent)?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "ann\tcem\n\nbob\tcem\n");
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn write_cover(path: &Path, ids: &Ids, cover: &Cover, progress: &dyn Progress) -> Result<()> {
    progress.stage("writing the cover", cover.communities().len() as u64);
    write_atomically(path, |out| {
        for community in cover.communities() {
            progress.check()?;
            let mut line = String::new();
            for (i, &node) in community.iter().enumerate() {
                let id = ids.get(node as usize);
                if id.contains(BETWEEN) {
                    return Err(unfit(path, &id));
                }
                line.extend((i > 0).then_some('\t'));
                line += &id;
            }
            line.push('\n');
            out.write_all(line.as_bytes()).map_err(|e| write_error(path, e))?;
            progress.advance(1);
        }
        Ok(())
    })
}

/// Checks, before any work is done, that a cover of these nodes can be written.
///
/// # Errors
/// An id with a tab or a line end in it.
pub fn check_cover_ids(path: &Path, ids: &Ids) -> Result<()> {
    match ids.iter().find(|id| id.contains(BETWEEN)) {
        Some(id) => Err(unfit(path, &id)),
        None => Ok(()),
    }
}

fn unfit(path: &Path, id: &str) -> Error {
    Error::Write {
        path: path.to_owned(),
        problem: format!("the id {id:?} has a tab or a line end in it, which separate ids there"),
        remedy: "write the members as a table instead".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::progress::Silent;

    #[test]
    fn ids_that_would_be_taken_for_two_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.txt");
        let ids = Ids::from_names(["plain", "a b", "a\tb"]).unwrap();
        let error =
            write_cover(&path, &ids, &Cover::new(3, vec![vec![1, 2]]), &Silent).unwrap_err().to_string();
        assert!(error.contains("\"a\\tb\"") && !path.exists(), "{error}");
        assert_eq!(check_cover_ids(&path, &ids).unwrap_err().to_string(), error);
        write_cover(&path, &ids, &Cover::new(3, vec![vec![1, 0]]), &Silent).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "plain\ta b\n");
    }
}
