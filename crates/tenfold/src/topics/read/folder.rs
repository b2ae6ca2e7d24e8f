//! A folder of text files, a document each.

use super::lexicon::Texts;
use super::{ReadOptions, grouped};
use crate::error::{Error, Result};
use crate::input::Source;
use crate::input::decode::utf8;
use crate::topics::data::Corpus;
use rayon::prelude::*;
use std::io::Read;
use std::path::{Path, PathBuf};
use tenfold_engine::progress::{Progress, Silent};

/// Bytes of files that are read together.
const BATCH: u64 = 32 << 20;

/// Reads all files below the folder in the order of their names. Hidden files and folders are left out, links to
/// folders are not followed. Documents are named by their paths below the folder.
pub(super) fn read(folder: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Corpus> {
    let mut files = Vec::new();
    walk(folder, &mut files)?;
    files.sort_by(|a, b| a.0.cmp(&b.0));
    if files.is_empty() {
        let (path, problem) = (folder.to_owned(), "holds no files".to_owned());
        return Err(Error::Read { path, line: None, problem, remedy: "give a folder of text files".into() });
    }
    let total = files.iter().map(|f| f.2).sum();
    progress.stage(&format!("reading {} files", grouped(files.len() as u64)), total);
    let mut texts = Texts::new(folder, options)?;
    let mut rest = &files[..];
    while !rest.is_empty() {
        progress.check()?;
        let mut bytes = 0;
        let fits = |file: &&(String, PathBuf, u64)| {
            let begun = bytes;
            bytes += file.2;
            begun < BATCH
        };
        let count = rest.iter().take_while(fits).count();
        let read: Result<Vec<String>> = rest[..count].par_iter().map(|f| text(&f.1, options)).collect();
        texts.take(&read?)?;
        progress.advance(rest[..count].iter().map(|f| f.2).sum());
        rest = &rest[count..];
    }
    texts.finish(Some(files.into_iter().map(|f| f.0).collect()))
}

/// Files below a folder: name, path and length.
fn walk(folder: &Path, files: &mut Vec<(String, PathBuf, u64)>) -> Result<()> {
    let mut open = vec![(String::new(), folder.to_owned())];
    while let Some((prefix, folder)) = open.pop() {
        let fail = |e: std::io::Error| Error::Read {
            path: folder.clone(),
            line: None,
            problem: format!("cannot be listed ({e})"),
            remedy: "check the folder and its permissions".into(),
        };
        for entry in std::fs::read_dir(&folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let (name, path) = (format!("{prefix}{name}"), entry.path());
            if entry.file_type().map_err(fail)?.is_dir() {
                open.push((format!("{name}/"), path));
            } else if let Some(metadata) = std::fs::metadata(&path).ok().filter(|m| m.is_file()) {
                files.push((name, path, metadata.len()));
            }
        }
    }
    Ok(())
}

/// The text of a file; an empty file is an empty document.
fn text(path: &Path, options: &ReadOptions) -> Result<String> {
    if std::fs::metadata(path).is_ok_and(|m| m.len() == 0) {
        return Ok(String::new());
    }
    let source = Source::open(path, options.opening(), &Silent)?;
    let mut bytes = Vec::new();
    let reader = source.reader(&Silent)?;
    reader.take(options.memory).read_to_end(&mut bytes).map_err(|e| source.refuse(None, &e))?;
    if bytes.len() as u64 >= options.memory {
        return Err(source.fail(
            None,
            format!("is larger than the {} bytes of memory allowed", options.memory),
            "a document is held whole: cut it into parts, or raise --memory",
        ));
    }
    if bytes.contains(&0) {
        return Err(source.fail(
            None,
            "is not text (it holds a zero byte)",
            "leave only text files in the folder, or name their encoding with --encoding",
        ));
    }
    utf8(path, &bytes, 1).map(str::to_owned)
}
