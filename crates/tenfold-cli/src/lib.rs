//! The command `tenfold`: hidden factors in data, from the command line.
//!
//! A library, because two programs are this command: the binary of this crate, and the one that the Python package
//! installs.

#![forbid(unsafe_code)]

mod allocator;
mod bench;
mod cells;
mod checkpoint;
mod common;
mod communities;
mod completions;
mod demo;
mod device;
mod exit;
mod files;
mod generate;
mod ica;
mod memory;
mod motifs;
mod report;
mod sentences;
mod solver;
mod tensor;
mod topics;
mod trees;
mod watch;

pub use allocator::settle_allocator;

use anyhow::Context;
use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use common::{Session, parse_count_to, parse_size};
use std::ffi::OsString;

/// Finds hidden factors in data: topics of documents, communities in graphs, motifs in signals, templates of sentences, trees of hidden causes,
/// cells in tissue images, sources of mixed signals, components of a tensor.
#[derive(Parser)]
#[command(name = "tenfold", version, max_term_width = 96, after_help = AFTER_HELP)]
#[command(subcommand_required = true, arg_required_else_help = true)]
// One help text, the compact one, for -h and --help alike.
#[command(disable_help_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: Global,
}

#[derive(Subcommand)]
enum Command {
    /// Find topics in documents
    #[command(subcommand)]
    Topics(topics::Command),
    /// Find overlapping communities in a graph
    #[command(subcommand)]
    Communities(communities::Command),
    /// Find motifs that repeat anywhere in signals or images
    #[command(subcommand)]
    Motifs(motifs::Command),
    /// Turn sentences into numbers, by word vectors and phrase templates
    #[command(subcommand)]
    Sentences(sentences::Command),
    /// Learn a tree of hidden variables above observed ones
    #[command(subcommand)]
    Trees(trees::Command),
    /// Find cells in tissue images, and their types
    #[command(subcommand)]
    Cells(cells::Command),
    Report(report::Report),
    /// Unmix signals: independent component analysis
    #[command(subcommand)]
    Ica(ica::Command),
    /// Decompose a tensor into its components
    #[command(subcommand)]
    Tensor(tensor::Command),
    /// Draw data with known truth, to try things on
    #[command(subcommand)]
    Generate(generate::Command),
    Demo(demo::Demo),
    Devices(device::Devices),
    Bench(bench::Bench),
    Completions(completions::Completions),
}

#[derive(Args)]
#[command(next_help_heading = "Options of every command")]
struct Global {
    /// Same seed, same bytes, whatever --threads says
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Threads to use; all cores when not given
    #[arg(long, global = true, value_name = "N", value_parser = parse_count_to::<1024>)]
    threads: Option<usize>,
    /// Give up a packed file (Parquet and Arrow are packed too), or standard input, that is longer than this once unpacked [default:
    /// 64GiB for images and word vectors, 16GiB for graphs, trees and counts of genes, 8GiB otherwise, less for tables beside the data]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size)]
    max_decompressed: Option<u64>,
    /// Print one JSON object on standard output, nothing else
    #[arg(long, global = true)]
    json: bool,
    /// Print no progress and no notes; warnings and errors stay
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Tell on standard error what each stage took
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Print this help
    #[arg(short, long, global = true, action = ArgAction::HelpShort)]
    help: Option<bool>,
}

const AFTER_HELP: &str = "\
`tenfold COMMAND --help` tells more, with examples.

Examples:
  tenfold demo                                       see what it does
  tenfold topics fit notes.txt -k 20 -o m.tenfold    learn 20 topics of text
  tenfold topics show m.tenfold 3                    the words of topic 3
  tenfold topics infer m.tenfold new.txt -o mix.csv  topics of new documents
  tenfold report m.tenfold -o topics.html            a page for the browser
  tenfold communities fit g.txt -k 20 -o m.tenfold   20 communities of a graph
  tenfold communities show m.tenfold --bridges 10    who stands between them
  tenfold motifs fit X.npy -L 4 -o m.tenfold         shapes that repeat
  tenfold sentences fit reviews.txt -o m.tenfold     word vectors and templates
  tenfold sentences encode m.tenfold new.txt -o X.npy  numbers for sentences
  tenfold trees fit survey.csv -o m.tenfold          hidden causes of answers
  tenfold cells detect ish/*.png -o cells.parquet    cells of tissue images
  tenfold ica fit X.csv -k 8 -o m.tenfold            learn 8 sources from rows
  tenfold ica infer m.tenfold Y.csv -o S.csv         sources of new samples
  tenfold tensor decompose T.npy                     components of a tensor
  tenfold generate topics -o drawn                   documents of known topics
  tenfold completions bash > ~/.local/share/bash-completion/completions/tenfold

Exit codes:
  0 done   1 it could not be done   2 wrong usage   3 bad input data
  4 not converged, with --strict    130 stopped by Ctrl-C, nothing half-written";

fn carry_out(command: Command, session: &Session) -> anyhow::Result<()> {
    match command {
        Command::Topics(command) => command.run(session),
        Command::Communities(command) => command.run(session),
        Command::Motifs(command) => command.run(session),
        Command::Sentences(command) => command.run(session),
        Command::Trees(command) => command.run(session),
        Command::Cells(command) => command.run(session),
        Command::Report(report) => report.run(session),
        Command::Ica(command) => command.run(session),
        Command::Tensor(command) => command.run(session),
        Command::Generate(command) => command.run(session),
        Command::Demo(demo) => demo.run(session),
        Command::Devices(devices) => devices.run(session),
        Command::Bench(bench) => bench.run(session),
        Command::Completions(completions) => completions.run::<Cli>(),
    }
}

/// Builds the pool of threads; this can be done only once, and only here it is.
fn start_threads(threads: Option<usize>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build_global()
        .with_context(|| format!("{threads} threads cannot be started; give --threads a smaller number"))
}

/// Parses the command line. A number that begins with a minus is a value like any other: the option that gets it says what it
/// expects, where clap would take it for an option of its own.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> clap::error::Result<Cli> {
    fn lenient(command: clap::Command) -> clap::Command {
        let takes_values = |a: &clap::Arg| a.get_action().takes_values() && !a.is_positional();
        command
            .mut_args(|a| if takes_values(&a) { a.allow_negative_numbers(true) } else { a })
            .mut_subcommands(lenient)
    }
    let matches = lenient(Cli::command()).try_get_matches_from(arguments)?;
    Cli::from_arg_matches(&matches)
}

/// Runs the command and gives its exit code. The first of `arguments` is the program's own name.
///
/// Once in a process: signals are listened to and threads are started for the whole of it.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let Cli { command, global } = match parse(arguments) {
        Ok(cli) => cli,
        Err(told) => {
            // Help and version come this way too; when the output is closed there is no one left to tell.
            let _ = told.print();
            return u8::try_from(told.exit_code()).unwrap_or(exit::USAGE);
        }
    };
    if let Err(error) = start_threads(global.threads) {
        return exit::finish(Err(error), global.json);
    }
    let mut session = Session::start(global.seed, global.json, global.quiet, global.verbose);
    session.max_decompressed = global.max_decompressed;
    let result = carry_out(command, &session);
    session.watch.end();
    exit::finish(result, global.json)
}
