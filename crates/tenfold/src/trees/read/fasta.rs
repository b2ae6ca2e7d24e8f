//! Aligned sequences in FASTA.

use super::align::{FEWER, Taxon, finish, letter};
use super::{Input, Options};
use crate::error::Result;
use crate::input::Source;
use crate::input::decode::utf8;
use crate::trees::data::MOST_VARIABLES;
use std::io::{BufRead, BufReader};
use tenfold_engine::progress::Progress;

/// A name is all of the line behind `>`: trees often call taxa by more than a word of it.
pub(super) fn read(source: &Source, options: &Options, progress: &dyn Progress) -> Result<Input> {
    source.begin(progress);
    let mut text = BufReader::with_capacity(1 << 16, source.reader(progress)?);
    let (mut taxa, mut row, mut number) = (Vec::<Taxon>::new(), Vec::new(), 0u64);
    loop {
        row.clear();
        let read = text.read_until(b'\n', &mut row).map_err(|e| source.refuse(Some(number + 1), &e))?;
        if read == 0 {
            break;
        }
        number += 1;
        if number.is_multiple_of(1024) {
            progress.check()?;
        }
        let row = row.trim_ascii();
        if let Some(name) = row.strip_prefix(b">") {
            let name = utf8(source.path(), name, number)?.trim();
            if name.is_empty() {
                return Err(source.fail(number, "a sequence has no name", "write a name behind the >"));
            }
            if taxa.len() == MOST_VARIABLES {
                let problem = format!("holds more than {MOST_VARIABLES} sequences");
                return Err(source.fail(number, problem, FEWER));
            }
            taxa.push(Taxon { name: name.to_owned(), line: number, letters: Vec::new() });
            continue;
        }
        if row.is_empty() || row.starts_with(b";") {
            continue;
        }
        let Some(taxon) = taxa.last_mut() else {
            return Err(source.fail(
                number,
                "does not begin with a > and a name",
                "give sequences in FASTA, or name the format with --format",
            ));
        };
        for &byte in row.iter().filter(|b| !b.is_ascii_whitespace()) {
            let Some(letter) = letter(byte) else {
                let problem = format!("{:?} stands in the sequence {:?}", char::from(byte), taxon.name);
                return Err(source.fail(number, problem, "sequences are letters, with - for gaps"));
            };
            taxon.letters.push(letter);
        }
    }
    finish(source.path(), taxa, options, progress)
}
