//! The header of a WFDB record.

use super::samples::Format;
use crate::error::{Error, Result};
use crate::input::Disk;
use std::path::Path;

/// Most bytes of a header; those in use have a few hundred.
const LONGEST: u64 = 1 << 20;

/// Samples a second where the header does not say.
const RATE: f64 = 250.0;

/// Units a millivolt where the header does not say.
const GAIN: f64 = 200.0;

#[derive(Debug)]
pub(super) struct Header {
    pub(super) name: String,
    /// Frames a second.
    pub(super) rate: f64,
    /// Frames, where the header says so.
    pub(super) frames: Option<u64>,
    pub(super) signals: Vec<Signal>,
}

#[derive(Debug)]
pub(super) struct Signal {
    /// Which of the header's signals it is.
    pub(super) place: usize,
    pub(super) file: String,
    pub(super) format: Format,
    /// Bytes before the first sample.
    pub(super) offset: u64,
    /// Samples in a frame; 1 unless signals have different rates.
    pub(super) per_frame: usize,
    /// Steps of the stored number for one physical unit, and the number that means 0.
    pub(super) gain: f64,
    pub(super) baseline: f64,
    pub(super) name: String,
}

impl Header {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let disk = Disk::open(path)?;
        if disk.len() > LONGEST {
            return Err(disk.fail("is too long for a WFDB header", "give the .hea file of a record"));
        }
        let bytes = disk.bytes(0, disk.len())?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<(u64, &str)> = (1..)
            .zip(text.lines().map(str::trim))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .collect();
        let Some(((number, first), rest)) = lines.split_first() else {
            return Err(disk.fail("has no line that describes a record", "give the .hea file of a record"));
        };
        let fail = |line: u64, problem: String, remedy: &str| Error::Read {
            path: path.to_owned(),
            line: Some(line),
            problem,
            remedy: remedy.to_owned(),
        };
        let (mut header, count) =
            record(first).map_err(|(problem, remedy)| fail(*number, problem, remedy))?;
        if count > rest.len() {
            let problem = format!("promises {count} signals, but {} lines follow", rest.len());
            return Err(fail(*number, problem, "it is cut short: copy it again"));
        }
        for (place, (number, line)) in rest[..count].iter().enumerate() {
            let signal = signal(line, place).map_err(|problem| {
                fail(
                    *number,
                    problem,
                    "a line is: file format gain(baseline)/units bits zero first sum block name",
                )
            })?;
            // Format 0 is a signal without samples.
            header.signals.extend(signal);
        }
        let mut seen: Vec<String> = Vec::new();
        for signal in &mut header.signals {
            // Names may be missing or stand twice; then their number tells them apart.
            if signal.name.is_empty() || seen.contains(&signal.name) {
                signal.name = format!("{} {}", signal.name, signal.place).trim().to_owned();
            }
            seen.push(signal.name.clone());
        }
        Ok(header)
    }
}

/// `100 2 360 650000`: name, signals, rate, frames.
fn record(line: &str) -> std::result::Result<(Header, usize), (String, &'static str)> {
    let again = "give the .hea file of a record";
    let mut fields = line.split_whitespace();
    let name = fields.next().unwrap_or_default();
    if name.contains('/') {
        return Err((
            "describes a record of several segments".into(),
            "give the header of one segment at a time",
        ));
    }
    let count = fields.next().and_then(|n| n.parse::<usize>().ok()).filter(|n| (1..=4096).contains(n));
    let count = count.ok_or_else(|| (format!("has no number of signals in {line:?}"), again))?;
    // The rate may be followed by that of a counter and its base: 360/24(0).
    let rate = match fields.next() {
        None => RATE,
        Some(text) => {
            let rate = text.split(['/', '(']).next().and_then(|r| r.parse::<f64>().ok());
            rate.filter(|r| r.is_finite() && *r > 0.0)
                .ok_or_else(|| (format!("has the rate {text:?}, which is no number"), again))?
        }
    };
    let frames = match fields.next() {
        None => None,
        Some(text) => {
            let bad = |_| (format!("has the number of samples {text:?}, which is no number"), again);
            Some(text.parse::<u64>().map_err(bad)?).filter(|&n| n > 0)
        }
    };
    Ok((Header { name: name.to_owned(), rate, frames, signals: Vec::new() }, count))
}

/// `100.dat 212 200(0)/mV 11 1024 995 -22131 0 MLII`; nothing for a signal without samples.
fn signal(line: &str, place: usize) -> std::result::Result<Option<Signal>, String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [file, format, rest @ ..] = &fields[..] else {
        return Err(format!("{line:?} does not describe a signal"));
    };
    let digits = format.bytes().take_while(u8::is_ascii_digit).count();
    let (code, mut more) = format.split_at(digits);
    let (mut per_frame, mut offset) = (1, 0);
    while let Some(what) = more.chars().next() {
        let tail = &more[what.len_utf8()..];
        let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
        let value: u64 = tail[..digits].parse().map_err(|_| format!("has the format {format:?}"))?;
        match what {
            'x' if (1..=1 << 16).contains(&value) => per_frame = value as usize,
            '+' => offset = value,
            ':' if value == 0 => {}
            ':' => return Err("has a signal with a skew, which is not read: remove it with xform".into()),
            _ => return Err(format!("has the format {format:?}")),
        }
        more = &tail[digits..];
    }
    if code == "0" || *file == "~" {
        return Ok(None);
    }
    let format = Format::of(code).ok_or_else(|| {
        format!("has format {code}; 16, 24, 32, 61, 80, 160 and 212 are read, to which xform converts others")
    })?;
    let (gain, baseline) = scale(rest.first().copied().unwrap_or(""), rest.get(2).copied().unwrap_or("0"))?;
    let name = rest.get(6..).unwrap_or_default().join(" ");
    Ok(Some(Signal { place, file: (*file).to_owned(), format, offset, per_frame, gain, baseline, name }))
}

/// `200(1024)/mV`: steps a unit, the number of 0, and the unit. Without a baseline it is the converter's `zero`.
fn scale(text: &str, zero: &str) -> std::result::Result<(f64, f64), String> {
    let bad = || format!("has the gain {text:?} with zero {zero:?}, which are no numbers");
    let finite = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(bad);
    let number = text.split('/').next().unwrap_or_default();
    let (gain, baseline) = match number.split_once('(') {
        Some((gain, rest)) => (gain, finite(rest.strip_suffix(')').ok_or_else(bad)?)?),
        None => (number, finite(zero)?),
    };
    let gain = if gain.is_empty() { 0.0 } else { finite(gain)? };
    // 0 says that the gain is not known.
    Ok((if gain == 0.0 { GAIN } else { gain }, baseline))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_ages_are_understood() {
        let (header, count) = record("100 2 360/1(5) 650000 0:0:0 1/1/2000").unwrap();
        assert_eq!((header.rate, header.frames, count), (360.0, Some(650_000), 2));
        let (header, _) = record("a 1").unwrap();
        assert_eq!((header.rate, header.frames), (250.0, None));
        assert!(record("many/3 2 360 100").unwrap_err().1.contains("one segment"));
        let s = signal("100.dat 212 200 11 1024 995 -22131 0 MLII of old", 0).unwrap().unwrap();
        assert_eq!((s.gain, s.baseline, s.per_frame, s.name.as_str()), (200.0, 1024.0, 1, "MLII of old"));
        let s = signal("a.dat 16x4+24 0.5(-3)/uV 16 7", 0).unwrap().unwrap();
        assert_eq!((s.gain, s.baseline, s.per_frame, s.offset), (0.5, -3.0, 4, 24));
        assert!(signal("~ 0 200", 0).unwrap().is_none());
        for bad in
            ["a.dat", "a.dat 311", "a.dat 212x0", "a.dat 212:5", "a.dat 16 x", "a.dat 16 200(1", "a.dat 16é"]
        {
            assert!(signal(bad, 0).is_err(), "{bad}");
        }
    }
}
