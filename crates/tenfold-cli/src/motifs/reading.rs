//! How signals are read.

use crate::common::{Header, Session, parse_delimiter};
use crate::memory::MemoryArgs;
use anyhow::Result;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tenfold::motifs::{Layout, ReadOptions, Signals, read_all};

/// Memory for the numbers of a file where no bound is given.
const USUAL: u64 = 8 << 30;

/// How signals are read, the same for every subcommand.
#[derive(Args)]
#[command(next_help_heading = "Reading the signals")]
pub struct ReadArgs {
    /// What the numbers are: by default a row of a .npy file is a window, a column of a table a channel
    #[arg(long, value_name = "NAME", default_value = "auto")]
    layout: LayoutName,
    /// Samples a second, in place of what the file says
    #[arg(long, value_name = "HZ", value_parser = parse_rate)]
    pub rate: Option<f64>,
    /// Channels to read, by name or by number from 0, in this order
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    channels: Option<Vec<String>>,
    /// The variable of a Matlab file [default: the largest]
    #[arg(long, value_name = "NAME")]
    variable: Option<String>,
    /// Cut signals where values are missing
    #[arg(long)]
    skip_nan: bool,
    /// Windows are circles: a motif that leaves one at its end comes in again at its beginning
    #[arg(long)]
    cyclic: bool,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Whether the first line of a text file holds names
    #[arg(long, value_name = "WHEN", default_value = "guess")]
    header: Header,
    /// What separates the cells of a text file: one character, or `tab`
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    delimiter: Option<u8>,
}

#[derive(Clone, Copy, ValueEnum)]
enum LayoutName {
    /// As the format has it
    Auto,
    /// Every row is a window
    Windows,
    /// Every column is a channel of one recording
    Channels,
    /// Rows and columns are those of images
    Images,
}

impl ReadArgs {
    /// The library's options.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            layout: match self.layout {
                LayoutName::Auto => Layout::Auto,
                LayoutName::Windows => Layout::Windows,
                LayoutName::Channels => Layout::Channels,
                LayoutName::Images => Layout::Images,
            },
            rate: self.rate,
            channels: self.channels.clone(),
            variable: self.variable.clone(),
            skip_nan: self.skip_nan,
            cyclic: self.cyclic,
            header: self.header.known(),
            delimiter: self.delimiter,
            // The numbers of a file are held once as they stand there and once by stretches.
            memory: if self.memory.is_bound() { self.memory.left(0, 0) / 2 } else { USUAL },
            ..ReadOptions::default()
        }
    }

    /// Reads the files and says what they hold.
    pub fn open(&self, paths: &[PathBuf], session: &Session) -> Result<Signals> {
        let mut options = self.options();
        session.bound(&mut options.max_decompressed);
        let signals = session.watch.during(|watch| read_all(paths, &options, watch))?;
        session.note(&describe(&signals));
        Ok(signals)
    }
}

/// One line for people.
fn describe(signals: &Signals) -> String {
    let (stretches, channels) = (signals.stretches().len(), signals.channels().len());
    let what = match signals.stretches().first() {
        Some(first) if first.extent.is_plane() => ("image", "pixels"),
        _ => ("stretch", "samples"),
    };
    let many =
        |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
    let plural = if what.0 == "image" { "images" } else { "stretches" };
    let rate = signals.rate().map(|rate| format!(" at {rate} Hz")).unwrap_or_default();
    format!(
        "{} of {} {} in {}{rate}",
        many(stretches, what.0, plural),
        signals.samples(),
        what.1,
        many(channels, "channel", "channels"),
    )
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0);
    rate.ok_or_else(|| "a number of samples a second above 0 is needed".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        read: ReadArgs,
    }

    #[test]
    fn arguments_become_options() {
        let parse = |line: &str| Alone::try_parse_from(format!("x {line}").split_whitespace());
        assert_eq!(parse("").unwrap().read.options(), ReadOptions::default());
        let options =
            parse("--layout images --rate 360 --channels MLII,1 --skip-nan --cyclic --memory 1GB").unwrap();
        let options = options.read.options();
        assert_eq!(
            (options.layout, options.rate, options.memory),
            (Layout::Images, Some(360.0), (1_000_000_000 - tenfold::memory::PROGRAM) / 2)
        );
        assert_eq!(options.channels, Some(vec!["MLII".into(), "1".into()]));
        assert!(options.skip_nan && options.cyclic);
        assert!(parse("--rate 0").is_err() && parse("--rate fast").is_err());
    }

    #[test]
    fn signals_are_told_in_a_line() {
        let signals = Signals::windows(&[0.0; 6], 3, true);
        assert_eq!(describe(&signals), "2 stretches of 6 samples in 1 channel");
    }
}
