//! Whose fit a checkpoint is: the program, the choices and the data.

use crate::error::{Error, Result};
use sha2::{Digest as _, Sha256};
use std::fmt::Debug;
use std::io::Read;
use std::path::Path;
use tenfold_engine::progress::Progress;

/// Says whose fit this is, before its first stage. The data are only looked at where something is kept.
///
/// # Errors
/// What `data` says; [`Error::Unfit`] with all that differs when the checkpoint belongs to another fit.
pub fn identify(
    progress: &dyn Progress,
    application: &str,
    choices: &dyn Debug,
    data: impl FnOnce(&mut Digest) -> Result<()>,
) -> Result<()> {
    let Some(keeper) = progress.keeper() else { return Ok(()) };
    progress.stage("identifying the data", 0);
    let mut digest = Digest::default();
    data(&mut digest)?;
    let facts = [
        ("program", format!("tenfold {}", env!("CARGO_PKG_VERSION"))),
        ("application", application.to_owned()),
        // One line for every choice, so that those that differ can be told.
        ("choices", format!("{choices:#?}")),
        ("data", digest.finish()),
    ];
    Ok(keeper.identify(&facts.map(|(name, value)| (name.to_owned(), value)))?)
}

/// What tells data apart: SHA-256 of all their numbers and texts, in their order.
#[derive(Default)]
pub struct Digest(Sha256);

impl Digest {
    /// Adds a whole number.
    pub fn number(&mut self, x: u64) {
        self.0.update(x.to_le_bytes());
    }

    /// Adds bytes; their number keeps neighbours apart.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    /// Adds texts.
    pub fn texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) {
        texts.into_iter().for_each(|text| self.bytes(text.as_bytes()));
    }

    /// Adds all bytes of a file.
    ///
    /// # Errors
    /// [`Error::Read`] when it cannot be read.
    pub fn file(&mut self, path: &Path) -> Result<()> {
        let fail = |e: std::io::Error| Error::Read {
            path: path.to_owned(),
            line: None,
            problem: e.to_string(),
            remedy: "check that it is there and may be read".into(),
        };
        let mut file = std::fs::File::open(path).map_err(fail)?;
        let (mut piece, mut length) = (vec![0; 1 << 16], 0);
        loop {
            let read = file.read(&mut piece).map_err(fail)?;
            if read == 0 {
                break;
            }
            self.0.update(&piece[..read]);
            length += read as u64;
        }
        self.number(length);
        Ok(())
    }

    /// Adds numbers.
    pub fn doubles(&mut self, numbers: &[f64]) {
        self.pieces(numbers, |x| x.to_le_bytes());
    }

    /// Adds numbers of half the size.
    pub fn singles(&mut self, numbers: &[f32]) {
        self.pieces(numbers, |x| x.to_le_bytes());
    }

    /// Adds whole numbers of four bytes.
    pub fn places(&mut self, numbers: &[u32]) {
        self.pieces(numbers, |x| x.to_le_bytes());
    }

    fn pieces<T, const N: usize>(&mut self, numbers: &[T], bytes: impl Fn(&T) -> [u8; N]) {
        self.number(numbers.len() as u64);
        let mut piece = Vec::with_capacity(N << 12);
        for chunk in numbers.chunks(1 << 12) {
            piece.clear();
            piece.extend(chunk.iter().flat_map(&bytes));
            self.0.update(&piece);
        }
    }

    pub(super) fn finish(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What differs between two fits, in words.
pub(super) fn differences(there: &[(String, String)], here: &[(String, String)]) -> String {
    let mut told = Vec::new();
    for (name, now) in here {
        let then = there.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.as_str());
        match name.as_str() {
            _ if then == now => {}
            "data" => told.push("the data are others".to_owned()),
            "choices" => told.extend(choices_that_differ(then, now)),
            _ => told.push(format!("{name} {then} there, {now} here")),
        }
    }
    told.join("; ")
}

/// The choices that differ, by their names.
fn choices_that_differ(there: &str, here: &str) -> Vec<String> {
    let (there, here) = (fields(there), fields(here));
    let mut told = Vec::new();
    for (name, now) in &here {
        let then = there.iter().find(|(other, _)| other == name).map_or("none", |(_, value)| value);
        if then != now {
            told.push(format!("{name} {then} there, {now} here"));
        }
    }
    if told.is_empty() { vec!["the choices are others".into()] } else { told }
}

/// The fields of a structure that was printed over several lines, each with its value in one.
fn fields(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let field = line.strip_prefix("    ").filter(|rest| !rest.starts_with([' ', ')', '}', ']']));
        if let Some((name, value)) = field.and_then(|field| field.split_once(": ")) {
            found.push((name.to_owned(), value.to_owned()));
        } else if let (Some((_, value)), true) = (found.last_mut(), line.starts_with(' ')) {
            let part = line.trim();
            if part.starts_with([')', '}', ']']) && value.ends_with(',') {
                value.pop();
            } else if value.ends_with(',') {
                value.push(' ');
            }
            value.push_str(part);
        }
    }
    found.into_iter().map(|(name, value)| (name, value.trim_end_matches(',').to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told() {
        #[derive(Debug)]
        #[expect(dead_code, reason = "read through Debug")]
        struct Choices {
            seed: u64,
            k: Option<(usize, usize)>,
            last: Vec<u8>,
        }
        let facts = |seed: u64, data: &str| {
            let k = (seed > 1).then_some((3, 4));
            vec![
                ("program".to_owned(), "tenfold 1".to_owned()),
                ("choices".to_owned(), format!("{:#?}", Choices { seed, k, last: vec![1] })),
                ("data".to_owned(), data.to_owned()),
            ]
        };
        assert_eq!(differences(&facts(1, "a"), &facts(1, "a")), "");
        assert_eq!(
            differences(&facts(1, "a"), &facts(2, "b")),
            "seed 1 there, 2 here; k None there, Some((3, 4)) here; the data are others"
        );
    }

    #[test]
    fn neighbours_are_kept_apart() {
        let of = |texts: &[&str]| {
            let mut digest = Digest::default();
            digest.texts(&texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>());
            digest.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]).len(), 64);
    }
}
