//! Events as a table: `time,motif,amplitude[,channel][,trial][,row]`.

use crate::exit;
use crate::files;
use crate::watch::Watch;
use anyhow::Result;
use std::path::Path;
use tenfold::engine::progress::Progress;
use tenfold::motifs::{Event, Filters, Model, Signals};
use tenfold::output;

/// Checks before the work that events can be written here.
pub fn check(path: &Path, inputs: &[&Path]) -> Result<()> {
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv")) {
        return Err(exit::usage(format!(
            "{}: events are a table; give it a name that ends in .csv",
            path.display()
        )));
    }
    files::check_output(path, inputs)
}

/// Writes events by time. A time is where a motif begins: in seconds where the samples a second are known, in samples
/// otherwise. `channel` is the one in which the motif is strongest; `trial` stands where there are several, `row` in images.
pub fn write(path: &Path, model: &Model, signals: &Signals, events: &[Event], watch: &Watch) -> Result<()> {
    watch.stage("writing", events.len() as u64);
    let rate = signals.rate().or(model.rate());
    let channels = model.channels();
    let strongest: Vec<&str> =
        (0..model.count()).map(|l| channels[loudest(model.filters(), l)].as_str()).collect();
    let trials = signals.stretches().iter().any(|stretch| stretch.trial > 0);
    let plane = model.filters().extent.is_plane();
    Ok(output::write_atomically(path, |out| {
        let fail = |e| output::write_error(path, e);
        let mut text = String::from("time,motif,amplitude");
        text += if channels.len() > 1 { ",channel" } else { "" };
        text += if trials { ",trial" } else { "" };
        text += if plane { ",row\n" } else { "\n" };
        for event in events {
            text += &match rate {
                Some(rate) if !plane => format!("{:.6}", event.start as f64 / rate),
                _ => event.start.to_string(),
            };
            text += &format!(",{},{:.6}", event.motif, event.amplitude);
            if channels.len() > 1 {
                text.push(',');
                output::push_cell(&mut text, strongest[event.motif], ',');
            }
            if trials {
                text += &format!(",{}", event.trial);
            }
            text += &if plane { format!(",{}\n", event.row) } else { "\n".into() };
            if text.len() > 1 << 16 {
                watch.check()?;
                out.write_all(text.as_bytes()).map_err(fail)?;
                text.clear();
            }
            watch.advance(1);
        }
        out.write_all(text.as_bytes()).map_err(fail)
    })?)
}

/// The channel that holds most of a motif's energy.
fn loudest(filters: &Filters, l: usize) -> usize {
    let energy = |c: usize| filters.channel(l, c).iter().map(|x| x * x).sum::<f64>();
    (0..filters.channels).fold(0, |best, c| if energy(c) > energy(best) { c } else { best })
}
