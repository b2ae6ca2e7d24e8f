//! `tenfold motifs evaluate`.

use super::{DecodeArgs, ReadArgs};
use crate::common::{Session, parse_amount};
use crate::exit;
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tenfold::evaluate::{
    Detection, FilterBank, Firing, Tolerance, best_detection, detection_f1, event_f1, filter_errors,
};
use tenfold::input::read_array;
use tenfold::motifs::truth::{self, TruthOptions};
use tenfold::motifs::{Event, Model};
use tenfold::output::shown;

/// How near motifs are to true ones, or events to true events
#[derive(Args)]
#[command(after_help = "\
Motifs are matched whatever their shift, sign and order; the error of a pair is the distance of \
the two at unit norm. Events count as found within --tolerance of a true one, one to one; since a \
motif begins before the moment that somebody marked, each motif may have one constant lag.

Examples:
  tenfold motifs evaluate m.tenfold --filters X.filters.npy
  tenfold motifs evaluate m.tenfold --events 100.atr --signals 100.hea")]
pub struct Evaluate {
    /// A model that `tenfold motifs fit` made
    model: PathBuf,
    /// True motifs: .npy, motifs × [channels ×] samples
    #[arg(long, value_name = "F.npy", required_unless_present = "events")]
    filters: Option<PathBuf>,
    /// True events: .csv, .atr, .qrs or .mat
    #[arg(long, value_name = "EVENTS", requires = "signals")]
    events: Option<PathBuf>,
    /// The signals in which they happened
    #[arg(long, value_name = "X", num_args = 1..)]
    signals: Vec<PathBuf>,
    /// How far a found event may be from a true one, in seconds where the rate is known, else in samples [default: 0.05 s, or 3 samples]
    #[arg(long, value_name = "T", value_parser = parse_amount)]
    tolerance: Option<f64>,
    /// Motifs whose events count, by number from 0 [default: all, and those that serve best]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    motifs: Option<Vec<usize>>,
    /// True motifs of full length that live on windows closed to circles
    #[arg(long)]
    circular_filters: bool,
    #[command(flatten)]
    decode: DecodeArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl Evaluate {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let (mut text, mut value) = (String::new(), json!({}));
        if let Some(path) = &self.filters {
            self.filters(path, &model, &mut text, &mut value)?;
        }
        if let Some(path) = &self.events {
            self.events(path, &model, session, &mut text, &mut value)?;
        }
        session.answer(&text, &value)
    }

    fn filters(&self, path: &Path, model: &Model, text: &mut String, value: &mut Value) -> Result<()> {
        let array = read_array(path)?;
        let own = model.filters();
        let plane = own.extent.is_plane();
        let expected = 2 + usize::from(own.channels > 1) + usize::from(plane);
        let fits = array.shape.len() == expected && (own.channels == 1 || array.shape[1] == own.channels);
        if !fits || array.shape.contains(&0) {
            return Err(exit::bad_input(format!(
                "{} has shape {:?}, but motifs × {}samples are needed",
                path.display(),
                array.shape,
                if own.channels > 1 { format!("{} channels × ", own.channels) } else { String::new() }
                    + if plane { "rows × " } else { "" }
            )));
        }
        let columns = array.shape[expected - 1];
        let rows = if plane { array.shape[expected - 2] } else { 1 };
        let truth = FilterBank { values: &array.data, channels: own.channels, rows, columns };
        let found = FilterBank {
            values: &own.values,
            channels: own.channels,
            rows: own.extent.rows,
            columns: own.extent.columns,
        };
        let circle = (rows.max(own.extent.rows), columns.max(own.extent.columns));
        let matched = filter_errors(truth, found, self.circular_filters.then_some(circle));
        *text += "true motif  found as  error\n";
        for (i, error) in matched.errors.iter().enumerate() {
            let partner = matched.partners[i].map_or("-".into(), |j| j.to_string());
            *text += &format!("{i:>10}  {partner:>8}  {error:.4}\n");
        }
        *text += &format!(
            "largest error {:.4}, mean {:.4} (0 is perfect, 1.41 unrelated)\n",
            matched.worst(),
            matched.mean()
        );
        value["filters"] = json!({
            "errors": matched.errors, "partners": matched.partners, "shifts": matched.shifts, "signs": matched.signs,
            "worst": matched.worst(), "mean": matched.mean(),
        });
        Ok(())
    }

    fn events(
        &self,
        path: &Path,
        model: &Model,
        session: &Session,
        text: &mut String,
        value: &mut Value,
    ) -> Result<()> {
        let signals = self.read.open(&self.signals, session)?;
        let rate = signals.rate().or(model.rate());
        let options =
            TruthOptions { rate, max_decompressed: session.max_decompressed, ..TruthOptions::default() };
        let truth = session.watch.during(|watch| truth::read(path, &options, watch))?;
        let decoding = self.decode.decoding(model);
        let decoded = session.watch.during(|watch| model.infer(&signals, &decoding, watch))?;
        let within = match (self.tolerance, rate) {
            (Some(tolerance), Some(rate)) => tolerance * rate,
            (Some(tolerance), None) => tolerance,
            (None, Some(rate)) => 0.05 * rate,
            (None, None) => 3.0,
        };
        // A mark may stand anywhere in its motif, and a little before or behind it.
        let tolerance = Tolerance { within, lag: 1.5 * model.filters().extent.columns as f64 };
        let fired =
            |event: &Event| Firing { trial: event.trial, time: event.start as f64, kind: event.motif };
        let found: Vec<Firing> = decoded.events.iter().map(fired).collect();
        let known: Vec<Firing> =
            truth.events.iter().map(|e| Firing { trial: e.trial, time: e.sample, kind: e.kind }).collect();
        let mut tell = |name: &str, key: &str, detection: &Detection| {
            let (score, used) = (&detection.score, &detection.motifs);
            let motifs = used.iter().map(|(motif, _)| motif.to_string()).collect::<Vec<_>>().join(", ");
            *text += &format!(
                "{} (motifs {motifs}): F1 {:.4}, precision {:.4}, recall {:.4} ({} true, {} found, {} matched)\n",
                shown(name),
                score.f1(),
                score.precision(),
                score.recall(),
                score.truth,
                score.found,
                score.matched
            );
            value["events"][key] = json!({
                "f1": score.f1(), "precision": score.precision(), "recall": score.recall(), "true": score.truth,
                "found": score.found, "matched": score.matched, "motifs": used,
            });
        };
        match &self.motifs {
            Some(motifs) => {
                tell("chosen motifs", "chosen", &detection_f1(&known, &found, Some(motifs), tolerance))
            }
            None => {
                tell("all motifs", "all", &detection_f1(&known, &found, None, tolerance));
                tell("those that serve best", "best", &best_detection(&known, &found, tolerance));
            }
        }
        if truth.labels.len() > 1 {
            let matched = event_f1(&known, &found, tolerance);
            *text += &format!("kinds told apart: F1 {:.4}\n", matched.pooled.f1());
            for kind in &matched.kinds {
                let motif = kind.motif.map_or("no motif".into(), |motif| format!("motif {motif}"));
                *text += &format!("  {}: {motif}, F1 {:.4}\n", truth.labels[kind.kind], kind.score.f1());
            }
            value["events"]["kinds"] = json!({ "f1": matched.pooled.f1() });
        }
        Ok(())
    }
}
