//! What the subcommands share: the session, and how tables are read.

use crate::exit;
use crate::memory::MemoryArgs;
use crate::watch::Watch;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::path::Path;
use tenfold::components::Components;
use tenfold::input::{self, Options, Table};
use tenfold::output::{shown, shown_lines};

/// What holds for the whole run.
pub struct Session {
    /// Same seed, same bytes.
    pub seed: u64,
    /// One JSON object on standard output.
    pub json: bool,
    /// No notes.
    quiet: bool,
    /// More notes.
    verbose: bool,
    /// Progress and Ctrl-C.
    pub watch: Watch,
    /// Bytes after which unpacking is given up, where the user has said so.
    pub max_decompressed: Option<u64>,
    /// What the JSON object holds besides the answer.
    more: RefCell<Map<String, Value>>,
}

impl Session {
    /// Starts to listen to signals.
    pub fn start(seed: u64, json: bool, quiet: bool, verbose: bool) -> Self {
        let watch = Watch::start(json, quiet, verbose);
        Self { seed, json, quiet, verbose, watch, max_decompressed: None, more: RefCell::default() }
    }

    /// Bytes after which unpacking is given up: what the user says in place of what is usual.
    pub fn bound(&self, max_decompressed: &mut u64) {
        *max_decompressed = self.max_decompressed.unwrap_or(*max_decompressed);
    }

    /// The result: for people, or as one JSON object.
    pub fn answer(&self, text: &str, value: &Value) -> Result<()> {
        if !self.json {
            return print(&shown_lines(text));
        }
        let mut value = value.clone();
        if let Value::Object(facts) = &mut value {
            facts.append(&mut self.more.borrow_mut());
        }
        print_json(&value)
    }

    /// Something that the JSON object of the answer is to hold as well.
    pub fn add(&self, name: &str, value: Value) {
        self.more.borrow_mut().insert(name.to_owned(), value);
    }

    /// A file on standard output: as it is when another program takes it, and harmless when it goes to a terminal.
    pub fn hand_over(&self, text: &str, value: &Value) -> Result<()> {
        match self.json || std::io::stdout().is_terminal() {
            true => self.answer(text, value),
            false => print(text),
        }
    }

    /// Whether notes are printed.
    pub fn notes(&self) -> bool {
        !self.quiet && !self.json
    }

    /// Worth knowing while one waits.
    pub fn note(&self, message: &str) {
        if self.notes() {
            let _ = writeln!(std::io::stderr(), "{}", shown(message));
        }
    }

    /// For those who asked for more.
    pub fn detail(&self, message: &str) {
        if self.verbose {
            let _ = writeln!(std::io::stderr(), "{}", shown(message));
        }
    }

    /// What the user must see even with `--quiet`.
    pub fn warn(&self, message: &str) {
        let _ = writeln!(std::io::stderr(), "warning: {}", shown(message));
    }
}

/// Prints on standard output; a closed pipe is an error that [`exit::finish`] lets pass.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.context("standard output cannot be written; check that there is room where it goes")
}

/// Memory for a table where no bound is given.
pub const USUAL: u64 = 2 << 30;

/// Prints an object. Characters that a terminal would act on, which JSON may hold as they are, stand as escapes: the same to whoever
/// parses them.
pub fn print_json(value: &Value) -> Result<()> {
    let mut text = String::new();
    for c in value.to_string().chars() {
        // All of them are among the first 65,536.
        match shown(c.encode_utf8(&mut [0; 4])).len() == c.len_utf8() {
            true => text.push(c),
            false => text += &format!("\\u{:04x}", u32::from(c)),
        }
    }
    print(&(text + "\n"))
}

/// How a table is read.
#[derive(Args)]
#[command(next_help_heading = "Reading the table")]
pub struct TableArgs {
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Leave data of more than a megabyte on disk, whatever room there is
    #[arg(long, help_heading = "Memory")]
    on_disk: bool,
    /// Whether the first line of a text file holds names
    #[arg(long, value_name = "WHEN", default_value = "guess")]
    header: Header,
    /// What separates the cells of a text file: one character, or `tab`
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Columns of a text or Parquet file to read, by name and in this order
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    columns: Option<Vec<String>>,
}

/// Whether the first line of a text file holds names.
#[derive(Clone, Copy, ValueEnum)]
pub enum Header {
    Yes,
    No,
    Guess,
}

impl Header {
    /// What is known, if anything.
    pub fn known(self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No => Some(false),
            Self::Guess => None,
        }
    }
}

impl TableArgs {
    /// Opens the table and says what it is.
    pub fn open(&self, path: &Path, session: &Session) -> Result<Table> {
        let mut options = Options {
            // A quarter of a bound is left to the work; larger data stay on disk and are read in blocks.
            memory: match self.on_disk {
                true => 1 << 20,
                false if self.memory.is_bound() => self.memory.left(0, 0) / 4 * 3,
                false => USUAL,
            },
            header: self.header.known(),
            delimiter: self.delimiter,
            columns: self.columns.clone(),
            ..Options::default()
        };
        session.bound(&mut options.max_decompressed);
        let table = session.watch.during(|watch| input::open_with(path, &options, watch))?;
        session.note(&table.describe());
        Ok(table)
    }

    /// Whether the columns were chosen by name.
    pub fn chosen(&self) -> bool {
        self.columns.is_some()
    }
}

/// A number of bytes for people.
pub fn human_bytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.0} kB", (bytes as f64 / 1e3).max(1.0).ceil()),
        1_000_000..1_000_000_000 => format!("{:.0} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// `prefix1`, `prefix2`, …
pub fn numbered(prefix: &str, count: usize) -> Vec<String> {
    (1..=count).map(|i| format!("{prefix}{i}")).collect()
}

/// A column for every topic, by its number in the model.
pub fn topic_columns(k: usize) -> Vec<String> {
    (0..k).map(|topic| format!("topic{topic}")).collect()
}

/// A count of at least one.
pub fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 is needed".into()),
        Ok(count) => Ok(count),
        Err(_) => Err("a whole number is needed".into()),
    }
}

/// A count of at least one and at most `MOST`.
pub fn parse_count_to<const MOST: usize>(text: &str) -> Result<usize, String> {
    match parse_count(text)? {
        count if count > MOST => Err(format!("at most {MOST} is possible")),
        count => Ok(count),
    }
}

/// How many factors are looked for: a number, or `auto`. No data hold a million, and reckoning with more would overflow.
pub fn parse_components(text: &str) -> Result<Components, String> {
    if text == "auto" {
        Ok(Components::Auto)
    } else {
        parse_count_to::<1_000_000>(text).map(Components::Exactly)
    }
}

/// A finite number that is not negative.
pub fn parse_amount(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
    amount.ok_or_else(|| "a number of 0 or more is needed".into())
}

/// `512MB`, `2GiB`, `1.5G`, or plain bytes.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024f64.powi(2),
        "gib" => 1024f64.powi(3),
        "tib" => 1024f64.powi(4),
        _ => return Err("units are kB, MB, GB, TB and kiB, MiB, GiB, TiB".into()),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok((number * unit) as u64),
        _ => Err("a size such as 512MB or 2GiB is needed".into()),
    }
}

/// One character, `tab` or `space`.
pub fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
            _ => Err("one ASCII character is needed, or `tab` or `space`".into()),
        },
    }
}

/// Refuses options that the chosen method would pass over.
pub fn refuse(options: &[(&str, bool)], chosen: &str) -> Result<()> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(exit::usage(format!("{option} means nothing with {chosen}; leave it out"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_delimiters_are_understood() {
        for (text, bytes) in
            [("7", 7), ("1kB", 1000), ("1.5G", 1_500_000_000), ("2GiB", 2 << 30), ("64 MiB", 64 << 20)]
        {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "GB", "-1MB", "1e400", "3 parsecs", "nan"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
        assert_eq!(parse_delimiter("tab"), Ok(b'\t'));
        assert_eq!(parse_delimiter(";"), Ok(b';'));
        assert!(parse_delimiter("ab").is_err() && parse_delimiter("é").is_err());
    }
}
