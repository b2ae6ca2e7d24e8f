//! European data format: EDF and EDF+, 16-bit numbers in records of equal duration.

use super::{Raw, ReadOptions, fail, only_channels, rates};
use crate::error::{Error, Result};
use crate::input::Disk;
use crate::memory::size_for_half;
use crate::motifs::data::Stretch;
use crate::motifs::extent::Extent;
use std::path::Path;
use tenfold_engine::progress::Progress;

const CUT: &str = "it is cut short or damaged: copy or export it again";

/// Bytes of the header that every file has, and again of that for each signal.
const HEADER: u64 = 256;

/// Most bytes of a record; the format advises 61,440.
const LONGEST: u64 = 64 << 20;

/// Records between two looks whether to stop.
const RECORDS: usize = 1 << 10;

/// A signal as the header has it.
#[derive(Debug)]
struct Signal {
    label: String,
    /// Value of the number 0, and of a step.
    zero: f64,
    step: f64,
    /// Samples in a record.
    samples: usize,
    /// Where they begin, in samples from the beginning of a record.
    begin: usize,
}

#[derive(Debug)]
struct Header {
    signals: Vec<Signal>,
    /// Where each record's annotations lie, in samples.
    annotations: Option<std::ops::Range<usize>>,
    /// Whether there may be time between records.
    discontinuous: bool,
    bytes: u64,
    records: usize,
    seconds: f64,
    /// Samples in a record, over all signals.
    width: usize,
}

pub(super) fn read(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Raw> {
    only_channels(options, "an .edf file")?;
    let disk = Disk::open(path)?;
    let header = Header::read(&disk)?;
    let names: Vec<String> = header.signals.iter().map(|signal| signal.label.clone()).collect();
    let samples: Vec<usize> = header.signals.iter().map(|signal| signal.samples).collect();
    let places = rates::select(path, &names, &samples, options)?;
    let chosen: Vec<&Signal> = places.iter().map(|&c| &header.signals[c]).collect();
    let each = chosen[0].samples;
    let needed = (header.records as u64).saturating_mul((each * chosen.len() * 8) as u64);
    if needed > options.memory {
        return Err(fail(
            path,
            format!("takes {needed} bytes of memory, more than the {} allowed", options.memory),
            format!("give --memory {}, or fewer --channels", size_for_half(needed)),
        ));
    }
    let rate = (header.seconds > 0.0).then(|| each as f64 / header.seconds).filter(|rate| rate.is_finite());
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    progress.stage(&format!("reading {name}"), header.records as u64);
    let mut channels: Vec<Vec<f64>> =
        chosen.iter().map(|_| Vec::with_capacity(header.records * each)).collect();
    let mut onsets = Vec::new();
    let mut record = vec![0; 2 * header.width];
    for r in 0..header.records {
        if r % RECORDS == 0 {
            progress.check()?;
        }
        disk.read_exact_at(header.bytes + (r * record.len()) as u64, &mut record)?;
        for (signal, out) in chosen.iter().zip(&mut channels) {
            let numbers = record[2 * signal.begin..][..2 * each].chunks_exact(2);
            out.extend(
                numbers.map(|b| signal.zero + signal.step * f64::from(i16::from_le_bytes([b[0], b[1]]))),
            );
        }
        if let Some(place) = header.annotations.as_ref().filter(|_| header.discontinuous) {
            onsets.push(onset(&record[2 * place.start..2 * place.end]).ok_or_else(|| no_onset(path, r))?);
        }
        progress.advance(1);
    }
    let names = places.iter().map(|&c| names[c].clone()).collect();
    let trials = stretches(path, &channels, each, &onsets, header.seconds)?;
    Ok(Raw { chosen: true, ..Raw::new(trials, names, rate) })
}

fn no_onset(path: &Path, record: usize) -> Error {
    let problem = format!("has gaps (EDF+D), but record {record} does not say when it begins");
    fail(path, problem, "convert it to EDF or EDF+C, for example with EDFbrowser")
}

/// One stretch, or one for every run of records without a gap between them.
fn stretches(
    path: &Path,
    channels: &[Vec<f64>],
    each: usize,
    onsets: &[f64],
    seconds: f64,
) -> Result<Vec<Stretch>> {
    let records = channels[0].len() / each;
    let mut starts = vec![0];
    // Half a sample is how exactly a beginning can be told.
    let apart = 0.5 * seconds / each as f64;
    for r in 1..onsets.len() {
        let step = onsets[r] - onsets[r - 1] - seconds;
        if step < -apart {
            let problem = format!("has records {} and {r} that overlap in time", r - 1);
            return Err(fail(path, problem, CUT));
        }
        if step > apart {
            starts.push(r);
        }
    }
    let ahead = |r: usize| onsets.get(r).map_or(0.0, |onset| (onset - onsets[0]) / seconds * each as f64);
    // Beyond 2⁵² samples are no longer told apart.
    if let Some(r) = starts.iter().find(|&&r| ahead(r) > 4e15) {
        return Err(fail(path, format!("has a gap of impossible length before record {r}"), CUT));
    }
    let ends = starts.iter().skip(1).copied().chain([records]);
    let runs = starts.iter().zip(ends).map(|(&from, to)| Stretch {
        values: channels.iter().flat_map(|c| &c[from * each..to * each]).copied().collect(),
        extent: Extent::line((to - from) * each),
        trial: 0,
        offset: ahead(from).round() as usize,
    });
    Ok(runs.collect())
}

/// When a record begins: the first time-stamped list of its annotations is empty and says so, `+567\x14\x14`.
fn onset(annotations: &[u8]) -> Option<f64> {
    let end = annotations.iter().position(|&b| b == 0x14 || b == 0x15)?;
    let onset: f64 = std::str::from_utf8(&annotations[..end]).ok()?.parse().ok()?;
    // A thousand years in seconds: beyond, samples could not be counted.
    onset.is_finite().then_some(onset).filter(|onset| onset.abs() < 3.2e10)
}

impl Header {
    fn read(disk: &Disk) -> Result<Self> {
        let main = disk.bytes(0, HEADER.min(disk.len()))?;
        if main.len() < HEADER as usize || field(&main, 0, 8) != "0" {
            let bdf = main.first() == Some(&0xff);
            let problem = if bdf {
                "is a BDF file (24 bits), which is not read"
            } else {
                "does not begin like an EDF file"
            };
            return Err(disk.fail(problem, "give an EDF or EDF+ file; EDFbrowser converts others"));
        }
        let count = number(disk, &main, (252, 4), "number of signals")?;
        if !(1.0..=9999.0).contains(&count) || count.fract() != 0.0 {
            return Err(disk.fail(format!("says that it has {count} signals"), CUT));
        }
        let count = count as usize;
        let bytes = HEADER * (count as u64 + 1);
        if number(disk, &main, (184, 8), "length of the header")? != bytes as f64 {
            return Err(disk.fail(format!("has {count} signals, but not a header of {bytes} bytes"), CUT));
        }
        let about = disk.bytes(HEADER, bytes - HEADER)?;
        let (signals, annotations, width) = signals(disk, &about, count)?;
        let seconds = number(disk, &main, (244, 8), "duration of a record")?;
        let reserved = field(&main, 192, 44);
        let discontinuous = reserved.starts_with("EDF+D");
        if !(0.0..=1e9).contains(&seconds) || (discontinuous && seconds == 0.0) {
            return Err(disk.fail(format!("has records of {seconds} seconds"), CUT));
        }
        if discontinuous && annotations.is_none() {
            return Err(no_onset(disk.path(), 0));
        }
        let one = 2 * width as u64;
        if width == 0 || one > LONGEST {
            return Err(disk.fail(format!("has records of {one} bytes"), CUT));
        }
        let (promised, body) = (number(disk, &main, (236, 8), "number of records")?, disk.len() - bytes);
        // −1 stands for a recording that was not closed.
        if promised != -1.0 && promised * one as f64 != body as f64 {
            return Err(disk.fail(
                format!("promises {promised} records of {one} bytes, but {body} bytes follow its header"),
                CUT,
            ));
        }
        let records = (body / one) as usize;
        if records == 0 {
            return Err(disk.fail("holds no record", CUT));
        }
        Ok(Self { signals, annotations, discontinuous, bytes, records, seconds, width })
    }
}

/// The signals, the place of the annotations, and the samples of a record. Fields of all signals stand together.
fn signals(
    disk: &Disk,
    about: &[u8],
    count: usize,
) -> Result<(Vec<Signal>, Option<std::ops::Range<usize>>, usize)> {
    let (mut signals, mut annotations, mut width) = (Vec::new(), None, 0);
    for i in 0..count {
        // Each field begins where the same one of all signals before it ends.
        let text = |begin: usize, len: usize| field(about, begin * count + i * len, len);
        let numbers = |begin: usize, what: &str| number(disk, about, (begin * count + i * 8, 8), what);
        let label = text(0, 16);
        let samples = numbers(216, "number of samples")?;
        if !(0.0..=LONGEST as f64).contains(&samples) || samples.fract() != 0.0 {
            return Err(disk.fail(format!("has {samples} samples of signal {label:?} in a record"), CUT));
        }
        let (begin, samples) = (width, samples as usize);
        width += samples;
        if label == "EDF Annotations" {
            annotations.get_or_insert(begin..width);
            continue;
        }
        let [low, high] = [numbers(104, "physical minimum")?, numbers(112, "physical maximum")?];
        let [least, most] = [numbers(120, "digital minimum")?, numbers(128, "digital maximum")?];
        if most <= least || high == low {
            return Err(
                disk.fail(format!("scales signal {label:?} from {least} … {most} to {low} … {high}"), CUT)
            );
        }
        let step = (high - low) / (most - least);
        signals.push(Signal { label, zero: low - least * step, step, samples, begin });
    }
    Ok((signals, annotations, width))
}

fn field(bytes: &[u8], begin: usize, len: usize) -> String {
    String::from_utf8_lossy(bytes.get(begin..begin + len).unwrap_or_default()).trim().to_owned()
}

fn number(disk: &Disk, bytes: &[u8], (begin, len): (usize, usize), what: &str) -> Result<f64> {
    let text = field(bytes, begin, len);
    let value = text.parse().ok().filter(|x: &f64| x.is_finite());
    value.ok_or_else(|| disk.fail(format!("has the {what} {text:?}, which is no number"), CUT))
}
