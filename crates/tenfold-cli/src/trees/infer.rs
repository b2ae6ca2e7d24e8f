//! `tenfold trees infer`.

use super::reading::ReadArgs;
use crate::common::{Session, parse_count};
use crate::exit;
use crate::files::{self, Bundle, folder_of};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Progress;
use tenfold::output::{self, Labels};
use tenfold::trees::read::Samples;
use tenfold::trees::{Inference, Model, Table};

/// Samples that are worked on together.
const SAMPLES: usize = 4096;

/// What samples say about hidden and missing variables
#[derive(Args)]
#[command(after_help = "\
Any of the variables may be missing: leave the cell empty, or the column out. --missing writes what is \
expected of them, --next what is likely though it was not seen: the diagnoses to look for. Probabilities are \
exact under the model.

Examples:
  tenfold trees infer m.tenfold new.csv -o hidden.csv
  tenfold trees infer m.tenfold new.csv --missing filled.csv
  tenfold trees infer m.tenfold visits.csv --events --next next.csv --top 5")]
pub struct Infer {
    /// A model that `tenfold trees fit` made
    model: PathBuf,
    /// Samples with variables of the fit
    #[arg(value_name = "DATA")]
    input: PathBuf,
    /// Posterior probabilities of the hidden nodes: .csv, .tsv, .parquet or .npy
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Probabilities and means of what is missing: .csv
    #[arg(long, value_name = "OUT.csv")]
    missing: Option<PathBuf>,
    /// The most probable levels and flags that were not seen: .csv
    #[arg(long, value_name = "OUT.csv")]
    next: Option<PathBuf>,
    /// How many of them for every sample
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = parse_count)]
    top: usize,
    /// The most probable states of all hidden nodes together: .csv
    #[arg(long, value_name = "OUT.csv")]
    states: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

impl Infer {
    pub fn run(self, session: &Session) -> Result<()> {
        let outputs: Vec<&PathBuf> =
            [&self.output, &self.missing, &self.next, &self.states].into_iter().flatten().collect();
        let Some(first) = outputs.first() else {
            return Err(exit::usage("nothing to write; ask for -o, --missing, --next or --states"));
        };
        let mut inputs: Vec<&Path> = self.read.inputs(&self.input);
        inputs.push(&self.model);
        if let Some(path) = &self.output {
            files::check_table(path, &inputs)?;
        }
        for path in &outputs {
            files::check_output(path, &inputs)?;
        }
        files::check_apart(&outputs.iter().map(|path| path.as_path()).collect::<Vec<_>>())?;
        let begin = Instant::now();
        let model = Model::load(&self.model)?;
        let read = self.read.open_like(&self.input, &model, session)?;
        let (table, samples) = (read.table, read.samples);
        let mut bundle = Bundle::new(folder_of(first))?;
        let mut text = String::new();
        if let Some(path) = &self.output {
            let hidden = session.watch.during(|watch| model.transform(&table, watch))?;
            write_named(&bundle.place(path)?, &model.hidden_names(), &samples, &hidden)?;
            text += &format!("{} posteriors written to {}\n", hidden.cols(), path.display());
        }
        if let Some(path) = &self.missing {
            let count = write_long(&bundle.place(path)?, (&model, &table, &samples), session, Model::filled)?;
            text += &format!("{count} values that were missing written to {}\n", path.display());
        }
        if let Some(path) = &self.next {
            let top = self.top;
            let next = |model: &Model, table: &Table, range| model.likely(table, range, top);
            let count = write_long(&bundle.place(path)?, (&model, &table, &samples), session, next)?;
            text += &format!("{count} likely values written to {}\n", path.display());
        }
        if let Some(path) = &self.states {
            let found = model.network().most_probable(&table, 0..table.samples())?;
            let nodes = model.network().nodes.len();
            let states = Mat::from_fn(table.samples(), nodes, |i, n| f64::from(found.states[i * nodes + n]));
            let names: Vec<String> = model.network().nodes.iter().map(|n| model.node_name(n.place)).collect();
            write_named(&bundle.place(path)?, &names, &samples, &states)?;
            text += &format!("most probable states written to {}\n", path.display());
        }
        let each = session.watch.during(|watch| model.log_likelihood(&table, watch))?;
        session.watch.check()?;
        bundle.finish()?;
        let mean = each.iter().sum::<f64>() / each.len().max(1) as f64;
        let seconds = begin.elapsed().as_secs_f64();
        text += &format!("{} samples, {mean:.4} nats each, in {seconds:.1} s\n", table.samples());
        let names: Vec<_> = outputs.iter().map(|path| path.to_string_lossy()).collect();
        let value = json!({
            "samples": table.samples(), "log_likelihood": mean, "outputs": names, "seconds": seconds,
        });
        session.answer(&text, &value)
    }
}

/// Numbers of every sample, behind its name where it has one; arrays hold numbers only.
fn write_named(path: &Path, names: &[String], samples: &Samples, rows: &Mat) -> Result<()> {
    let array = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
    match samples {
        Samples::Interned(_) if !array => {
            let labels = Labels { name: "sample", of: &|i| samples.name(i).into() };
            output::write_labelled(path, &[labels], names, rows)?;
        }
        _ => output::write_table(path, names, rows)?,
    }
    Ok(())
}

/// A table with a line for everything inferred: sample, variable, value, probability or mean.
fn write_long(
    path: &Path,
    (model, table, samples): (&Model, &Table, &Samples),
    session: &Session,
    infer: impl Fn(&Model, &Table, std::ops::Range<usize>) -> tenfold::Result<Vec<Inference>>,
) -> Result<usize> {
    let mut count = 0;
    let mut rows = csv_row(["sample", "variable", "value", "probability", "mean"]);
    let names = model.variables();
    output::write_atomically(path, |file| {
        for first in (0..table.samples()).step_by(SAMPLES) {
            session.watch.check()?;
            for one in infer(model, table, first..(first + SAMPLES).min(table.samples()))? {
                let variable = &names[one.variable];
                let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.6}"));
                rows += &csv_row([
                    &samples.name(one.sample),
                    &variable.name,
                    &one.label,
                    &number(one.probability),
                    &number(one.mean),
                ]);
                count += 1;
            }
            file.write_all(rows.as_bytes()).map_err(|e| output::write_error(path, e))?;
            rows.clear();
        }
        Ok(())
    })?;
    Ok(count)
}

/// A line of cells; those without a number stay empty.
fn csv_row<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    let mut line = String::new();
    for (i, cell) in cells.into_iter().enumerate() {
        line.extend((i > 0).then_some(','));
        if !cell.as_ref().is_empty() {
            output::push_cell(&mut line, cell.as_ref(), ',');
        }
    }
    line + "\n"
}
