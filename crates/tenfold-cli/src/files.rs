//! Files that are written: checked before the work, all of them or none.

use crate::exit;
use crate::watch::{Stoppable, Watch};
use anyhow::Result;
use std::fs::File;
use std::path::{Path, PathBuf};
use tenfold::engine::linalg::Rows;
use tenfold::engine::progress::Progress;
use tenfold::output;

/// Checks before any work that a file can be written here: the folder is there and takes files, and no input is in
/// the way.
pub fn check_output(path: &Path, inputs: &[&Path]) -> Result<()> {
    if path == Path::new("-") {
        return Err(exit::usage("results are files: give the path of one in the place of -"));
    }
    if is_stream(path) {
        return Err(exit::usage(format!("{} is a device; give the path of a file", path.display())));
    }
    if path.is_dir() {
        return Err(exit::usage(format!("{} is a folder; give the path of a file", path.display())));
    }
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return Err(exit::usage(format!("{} is a device; give the path of a file", path.display())));
    }
    check_target(path, inputs)?;
    check_folder(folder_of(path), path)
}

/// Whether this is a name for standard output or another open file, behind which a redirected file would be replaced.
fn is_stream(path: &Path) -> bool {
    let streams = ["/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd"];
    let is_one = |path: &Path| {
        streams.iter().any(|stream| path.starts_with(stream))
            || path.starts_with("/proc") && path.components().any(|part| part.as_os_str() == "fd")
    };
    // A link may lead to one; more of them in a row than the system follows lead nowhere.
    let mut at = path.to_owned();
    for _ in 0..40 {
        if is_one(&at) {
            return true;
        }
        match std::fs::read_link(&at) {
            Ok(next) => at = folder_of(&at).join(next),
            Err(_) => return false,
        }
    }
    false
}

/// Refuses a result that would be written over one of the files that it is made from, or over one in a folder that is read.
pub fn check_target(path: &Path, inputs: &[&Path]) -> Result<()> {
    let target = real(path);
    match inputs.iter().find(|input| target == real(input)) {
        Some(input) => Err(exit::usage(format!(
            "{} would be overwritten by its own result; give -o another name",
            input.display()
        ))),
        None => match inputs.iter().find(|input| input.is_dir() && target.starts_with(real(input))) {
            Some(folder) if target.exists() => Err(exit::usage(format!(
                "{} lies in {}, which is read, and would be overwritten; give -o another name",
                path.display(),
                folder.display()
            ))),
            _ => Ok(()),
        },
    }
}

/// Refuses two results of one name, however it is spelt.
pub fn check_apart(results: &[&Path]) -> Result<()> {
    let twice = |(i, path): (usize, &&Path)| results[..i].iter().any(|other| real(other) == real(path));
    match results.iter().enumerate().find(|one| twice(*one)) {
        Some((_, path)) => Err(two_results(path)),
        None => Ok(()),
    }
}

fn two_results(path: &Path) -> anyhow::Error {
    exit::usage(format!("two results would be written to {}; give each a name of its own", path.display()))
}

/// The one name of a file that has several, such as `a.csv`, `./a.csv` and `../here/a.csv`, also of one that is still to be written.
fn real(path: &Path) -> PathBuf {
    // A link keeps pointing where it did: the file behind it is meant.
    path.canonicalize().unwrap_or_else(|_| match path.file_name() {
        Some(name) => real(folder_of(path)).join(name),
        None => path.to_owned(),
    })
}

/// [`check_output`] for a table, whose extension must be known.
pub fn check_table(path: &Path, inputs: &[&Path]) -> Result<()> {
    output::check_table_path(path)?;
    check_output(path, inputs)
}

fn check_folder(folder: &Path, path: &Path) -> Result<()> {
    if !folder.is_dir() {
        return Err(exit::usage(format!(
            "{} cannot be written: there is no folder {}; make it first",
            path.display(),
            folder.display()
        )));
    }
    // The one sure way to learn whether files may be made here. It is gone again at once.
    output::temporary().tempfile_in(folder).map(drop).map_err(|e| {
        // What the system said, without the name of a file that nobody asked for.
        let why =
            e.get_ref().and_then(|inner| inner.source()).map_or_else(|| e.to_string(), ToString::to_string);
        let why = why.split(" at path ").next().unwrap_or_default();
        exit::usage(format!("{} cannot be written: {why}; choose another folder", path.display()))
    })?;
    // Runs that were killed here before had no chance to tidy up.
    output::sweep(folder);
    Ok(())
}

/// The folder of a file, `.` where the path names none.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a table block by block; a stop leaves nothing behind.
pub fn write_table(path: &Path, names: &[String], rows: &dyn Rows, watch: &Watch) -> Result<()> {
    watch.during(|watch| {
        watch.stage("writing", rows.rows() as u64);
        Ok(output::write_table(path, names, &Stoppable::new(rows, watch))?)
    })
}

/// Writes a small file.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(output::write_atomically(path, |out| out.write_all(bytes).map_err(|e| output::write_error(path, e)))?)
}

/// Several files that belong together: made in hidden folders beside their places, and moved there when all are whole.
pub struct Bundle {
    folder: PathBuf,
    /// Folders of files, and where these wait: made with the first file, so that a run that is ended by force before
    /// leaves nothing behind.
    staging: Vec<(PathBuf, Waiting)>,
    files: Vec<Staged>,
}

/// A hidden folder, claimed for as long as it is used.
struct Waiting {
    folder: tempfile::TempDir,
    _claimed: Option<File>,
}

impl Waiting {
    fn beside(folder: &Path) -> std::io::Result<Self> {
        let folder = output::temporary().tempdir_in(beside(folder))?;
        // Folders can be opened on Unix only; elsewhere they are not swept either.
        let claimed = File::open(folder.path()).inspect(output::claim).ok();
        Ok(Self { folder, _claimed: claimed })
    }
}

/// A file of a bundle: where it waits, where it goes, and how that was called.
struct Staged {
    waiting: PathBuf,
    target: PathBuf,
    shown: PathBuf,
}

impl Bundle {
    /// Files for `folder`, which is made when only its last part is missing.
    pub fn new(folder: &Path) -> Result<Self> {
        check_folder(&beside(folder), folder)?;
        Ok(Self { folder: folder.to_owned(), staging: Vec::new(), files: Vec::new() })
    }

    /// The folder that it was made for.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where to write the file of the folder that is to be called `name`.
    pub fn path(&mut self, name: &str) -> Result<PathBuf> {
        self.place(&self.folder.join(name))
    }

    /// Where to write the file that is to be `path`, in this or in another folder.
    pub fn place(&mut self, path: &Path) -> Result<PathBuf> {
        let target = real(path);
        if self.files.iter().any(|staged| staged.target == target) {
            return Err(two_results(path));
        }
        let folder = folder_of(&target).to_owned();
        let at = match self.staging.iter().position(|(of, _)| *of == folder) {
            Some(at) => at,
            None => {
                let made = Waiting::beside(&folder);
                self.staging.push((folder, made.map_err(|e| output::write_error(path, e))?));
                self.staging.len() - 1
            }
        };
        let waiting = self.staging[at].1.folder.path().join(target.file_name().unwrap_or_default());
        self.files.push(Staged { waiting: waiting.clone(), target, shown: path.to_owned() });
        Ok(waiting)
    }

    /// Moves all files to their place; says where they are.
    pub fn finish(self) -> Result<Vec<PathBuf>> {
        for (folder, _) in &self.staging {
            std::fs::create_dir_all(folder).map_err(|e| output::write_error(folder, e))?;
        }
        let mut paths = Vec::new();
        for Staged { waiting, target, shown } in self.files {
            std::fs::rename(waiting, target).map_err(|e| output::write_error(&shown, e))?;
            paths.push(shown);
        }
        Ok(paths)
    }
}

/// Where files for `folder` are staged: in it, or beside it when it is still to be made.
fn beside(folder: &Path) -> PathBuf {
    // The empty path is the current folder; it stays empty, so that names are shown as they were given.
    let here = folder.as_os_str().is_empty() || folder.is_dir();
    if here { folder_of(&folder.join("x")).to_owned() } else { folder_of(folder).to_owned() }
}
