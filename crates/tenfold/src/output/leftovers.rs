//! Temporary files: how they are named and claimed, and what killed runs leave of them.

use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// How temporary names begin, before six letters and digits drawn by chance.
const TEMPORARY: &str = ".tenfold-part-";

/// Makes temporary files and folders, under names that [`sweep`] knows again.
pub fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    builder
}

/// The path without temporary folders: files that belong together wait in one beside their place.
pub(super) fn asked_for(path: &Path) -> PathBuf {
    let temporary = |part: &Component<'_>| part.as_os_str().to_string_lossy().starts_with(TEMPORARY);
    path.components().filter(|part| !temporary(part)).collect()
}

/// Says that a temporary file, or an opened temporary folder, is in use for as long as it is open. Where the file system knows no
/// locks nothing is claimed, and then nothing is swept either.
pub fn claim(file: &File) {
    let _ = file.try_lock();
}

/// How long a temporary file must not have been touched before it may be taken for forgotten: its maker has claimed it long before.
const FORGOTTEN: Duration = Duration::from_secs(10);

/// Removes what runs that were killed (or lost their power) have left in a folder: temporary files and folders that nobody claims.
/// Says how many there were. What cannot be looked at stays.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// std::fs::write(folder.path().join("mine.txt"), "kept").unwrap();
/// assert_eq!(tenfold::output::sweep(folder.path()), 0);
/// ```
pub fn sweep(folder: &Path) -> usize {
    sweep_older(folder, FORGOTTEN)
}

/// [`sweep`] for a folder in which nobody else is at work: what nobody claims goes, however old it is.
pub(crate) fn sweep_own(folder: &Path) -> usize {
    sweep_older(folder, Duration::ZERO)
}

fn sweep_older(folder: &Path, least: Duration) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .filter(|entry| is_forgotten(entry, least).is_some_and(|left| remove(entry, left)))
        .count()
}

/// Whether the entry is a temporary folder (true) or file (false) that nobody uses any more.
fn is_forgotten(entry: &std::fs::DirEntry, least: Duration) -> Option<bool> {
    let name = entry.file_name();
    let drawn = name.to_str()?.strip_prefix(TEMPORARY)?;
    if drawn.len() != 6 || !drawn.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    // Of the entry itself: a link is nothing that was made here.
    let about = entry.metadata().ok()?;
    let old = about.modified().ok()?.elapsed().is_ok_and(|age| age > least);
    if !old || !(about.is_dir() || about.is_file()) {
        return None;
    }
    File::open(entry.path()).ok()?.try_lock().ok()?;
    Some(about.is_dir())
}

fn remove(entry: &std::fs::DirEntry, folder: bool) -> bool {
    let path = entry.path();
    if folder { std::fs::remove_dir_all(path).is_ok() } else { std::fs::remove_file(path).is_ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_that_was_asked_for() {
        let staged = Path::new("results/.tenfold-part-aB3xYz/model.tenfold");
        let error = super::super::write_error(staged, std::io::ErrorKind::StorageFull.into());
        assert!(error.to_string().starts_with("results/model.tenfold cannot be written: "), "{error}");
    }

    #[test]
    fn what_killed_runs_left_is_swept_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let long_ago = std::time::SystemTime::now() - 2 * FORGOTTEN;
        let make = |name: &str| {
            std::fs::write(at(name), "x").unwrap();
            File::options().write(true).open(at(name)).unwrap().set_modified(long_ago).unwrap();
        };
        [
            ".tenfold-part-aB3xYz",
            ".tenfold-part-claimd",
            ".tenfold-part-mine.txt",
            ".tenfold-notes",
            "model.tenfold",
        ]
        .into_iter()
        .for_each(make);
        std::fs::write(at(".tenfold-part-fresh1"), "x").unwrap();
        std::fs::create_dir(at(".tenfold-part-folder")).unwrap();
        std::fs::write(at(".tenfold-part-folder/m.tenfold"), "x").unwrap();
        #[cfg(unix)]
        File::open(at(".tenfold-part-folder")).unwrap().set_modified(long_ago).unwrap();
        let claimed = File::open(at(".tenfold-part-claimd")).unwrap();
        claim(&claimed);
        let swept = sweep(folder.path());
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        let has = |name: &str| left.iter().any(|other| other == name);
        assert!(!has(".tenfold-part-aB3xYz"), "{left:?}");
        for name in [
            ".tenfold-part-claimd",
            ".tenfold-part-mine.txt",
            ".tenfold-part-fresh1",
            ".tenfold-notes",
            "model.tenfold",
        ] {
            assert!(has(name), "{name} of {left:?}");
        }
        assert_eq!(swept, if cfg!(unix) { 2 } else { 1 }, "{left:?}");
        drop(claimed);
        assert_eq!(sweep(folder.path()), 1);
    }
}
