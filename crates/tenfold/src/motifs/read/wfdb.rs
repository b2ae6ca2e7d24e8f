//! Records of the WFDB library (PhysioNet): a `.hea` file in text, and the samples in files that it names.

mod header;
mod samples;

use super::{Raw, ReadOptions, fail, only_channels, rates};
use crate::error::Result;
use crate::input::Disk;
use crate::motifs::data::Stretch;
use crate::motifs::extent::Extent;
use header::{Header, Signal};
use std::path::{Path, PathBuf};
use tenfold_engine::progress::Progress;

pub(super) fn read(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Raw> {
    only_channels(options, "a WFDB record")?;
    let head = path.with_extension("hea");
    if !head.exists() && path.exists() {
        let problem = format!("is read by its header {}, which is not there", head.display());
        return Err(fail(
            path,
            problem,
            "put the .hea file beside it; for another .dat, save it as .npy or .csv",
        ));
    }
    let header = Header::read(&head)?;
    let names: Vec<String> = header.signals.iter().map(|signal| signal.name.clone()).collect();
    let counts: Vec<usize> = header.signals.iter().map(|signal| signal.per_frame).collect();
    let places = rates::select(&head, &names, &counts, options)?;
    progress.stage(&format!("reading {}", header.name), places.len() as u64);
    let mut channels: Vec<Vec<f64>> = vec![Vec::new(); places.len()];
    // Signals of one file stand side by side in the header, and their samples side by side in the file.
    for group in header.signals.chunk_by(|a, b| a.file == b.file) {
        let wanted = |signal: &Signal| places.iter().position(|&c| header.signals[c].place == signal.place);
        if !group.iter().any(|signal| wanted(signal).is_some()) {
            continue;
        }
        progress.check()?;
        let disk = Disk::open(&beside(&head, &group[0].file)?)?;
        for (signal, values) in
            group.iter().zip(samples::read(&disk, &header, group, options.memory, &wanted)?)
        {
            if let Some(at) = wanted(signal) {
                channels[at] = values;
                progress.advance(1);
            }
        }
    }
    let samples = channels.iter().map(Vec::len).min().unwrap_or(0);
    if samples == 0 {
        return Err(fail(&head, "belongs to a record without samples", "check that the .dat file is whole"));
    }
    let values = channels.iter().flat_map(|channel| &channel[..samples]).copied().collect();
    let trial = Stretch { values, extent: Extent::line(samples), trial: 0, offset: 0 };
    let names = places.iter().map(|&c| names[c].clone()).collect();
    let rate = header.rate * header.signals[places[0]].per_frame as f64;
    Ok(Raw { chosen: true, ..Raw::new(vec![trial], names, Some(rate).filter(|rate| rate.is_finite())) })
}

/// The header of a record and the files that it names, as far as it can be read.
pub(super) fn files(path: &Path) -> Vec<PathBuf> {
    let head = path.with_extension("hea");
    let signals = Header::read(&head).map(|header| header.signals).unwrap_or_default();
    let samples: Vec<PathBuf> = signals.iter().filter_map(|s| beside(&head, &s.file).ok()).collect();
    std::iter::once(head).chain(samples).collect()
}

/// The file of samples, which lies beside its header: a stranger's header names no file elsewhere.
fn beside(head: &Path, name: &str) -> Result<PathBuf> {
    if Path::new(name).file_name().is_none_or(|plain| plain != name) || name.contains(['/', '\\']) {
        let problem = format!("names the file {name:?}, which is not one beside it");
        return Err(fail(head, problem, "samples must lie in the folder of the .hea file"));
    }
    Ok(head.with_file_name(name))
}
