//! Files that are written: checked before the work, all of them or none.

use crate::exit;
use crate::watch::{Stoppable, Watch};
use anyhow::Result;
use std::path::{Path, PathBuf};
use tenfold::engine::linalg::Rows;
use tenfold::engine::progress::Progress;
use tenfold::output;

/// Checks before any work that a file can be written here: the folder is there and takes files, and no input is in
/// the way.
pub fn check_output(path: &Path, inputs: &[&Path]) -> Result<()> {
    if path.is_dir() {
        return Err(exit::usage(format!("{} is a folder; give the path of a file", path.display())));
    }
    let same = |other: &&Path| match (path.canonicalize(), other.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => path == *other,
    };
    if let Some(input) = inputs.iter().find(|i| same(i)) {
        return Err(exit::usage(format!(
            "{} would be overwritten by its own result; give -o another name",
            input.display()
        )));
    }
    check_folder(folder_of(path), path)
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
    tempfile::Builder::new()
        .prefix(".tenfold-")
        .tempfile_in(folder)
        .map(drop)
        .map_err(|e| exit::usage(format!("{} cannot be written: {e}; choose another folder", path.display())))
}

fn folder_of(path: &Path) -> &Path {
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

/// Several files that belong together: made in a hidden folder beside their place, and moved there when all are whole.
pub struct Bundle {
    folder: PathBuf,
    /// Made with the first file, so that a run that is ended by force before leaves nothing behind.
    staging: Option<tempfile::TempDir>,
    names: Vec<String>,
}

impl Bundle {
    /// Files for `folder`, which is made when only its last part is missing.
    pub fn new(folder: &Path) -> Result<Self> {
        check_folder(&beside(folder), folder)?;
        Ok(Self { folder: folder.to_owned(), staging: None, names: Vec::new() })
    }

    /// Where to write the file that is to be called `name`.
    pub fn path(&mut self, name: &str) -> Result<PathBuf> {
        let staging = match self.staging.take() {
            Some(made) => made,
            None => tempfile::Builder::new()
                .prefix(".tenfold-")
                .tempdir_in(beside(&self.folder))
                .map_err(|e| output::write_error(&self.folder, e))?,
        };
        self.names.push(name.to_owned());
        Ok(self.staging.insert(staging).path().join(name))
    }

    /// Moves all files to their place; says where they are.
    pub fn finish(self) -> Result<Vec<PathBuf>> {
        let fail = |path: &Path, e: std::io::Error| output::write_error(path, e);
        if !self.folder.as_os_str().is_empty() {
            std::fs::create_dir_all(&self.folder).map_err(|e| fail(&self.folder, e))?;
        }
        let mut paths = Vec::new();
        for (name, staging) in self.names.iter().zip(self.staging.iter().cycle()) {
            let path = self.folder.join(name);
            std::fs::rename(staging.path().join(name), &path).map_err(|e| fail(&path, e))?;
            paths.push(path);
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
