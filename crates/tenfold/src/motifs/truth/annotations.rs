//! Annotation files of WFDB: two bytes an annotation, its type and the time since the one before.

use super::{Annotations, Labels, TrueEvent, Truth, TruthOptions, fail};
use crate::error::Result;
use crate::input::Disk;
use std::path::Path;

/// Most bytes of a file; that of a day of heart beats has half a million.
const LONGEST: u64 = 1 << 30;

/// Types that are no annotations but say more about them.
const SKIP: u16 = 59;
const NUM: u16 = 60;
const SUB: u16 = 61;
const CHN: u16 = 62;
const AUX: u16 = 63;
/// A type with a text for people.
const NOTE: u16 = 22;

/// What stands in a note at the beginning when ticks are not samples.
const RESOLUTION: &str = "## time resolution: ";

/// The letters of the types from 0 on, as WFDB prints them; a space where there is none.
const LETTERS: &[u8; 42] = b" NLRaVFJASEj/Q~ | sT*D\"=pB^t+u?![]en@xf()r";

/// Types that mark a beat.
fn is_beat(kind: u16) -> bool {
    matches!(kind, 1..=13 | 25 | 30 | 34 | 35 | 38 | 41)
}

pub(super) fn read(path: &Path, options: &TruthOptions) -> Result<Truth> {
    let disk = Disk::open(path)?;
    if disk.len() > LONGEST {
        let problem = "is too long for a file of annotations";
        return Err(disk.fail(problem, "give a .csv, .mat or a WFDB annotation file"));
    }
    let bytes = disk.bytes(0, disk.len())?;
    let parsed = parse(&bytes).ok_or_else(|| {
        let remedy = "it is cut short or no WFDB annotation file: copy it again, or give the events as .csv";
        fail(path, None, "ends before its last annotation", remedy)
    })?;
    let scale = match (parsed.resolution, options.rate) {
        (Some(ticks), Some(rate)) => rate / ticks,
        _ => 1.0,
    };
    let wanted = |kind: u16| options.annotations == Annotations::All || is_beat(kind);
    let kept = parsed.marks.iter().filter(|(_, kind)| wanted(*kind));
    let mut labels = Labels::default();
    let mut events: Vec<TrueEvent> = kept
        .map(|&(ticks, kind)| TrueEvent {
            trial: 0,
            sample: ticks as f64 * scale,
            kind: labels.kind(&letter(kind)),
        })
        .collect();
    let labels = labels.finish(&mut events);
    Ok(Truth { events, labels })
}

fn letter(kind: u16) -> String {
    match LETTERS.get(usize::from(kind)) {
        Some(&letter) if letter != b' ' => char::from(letter).to_string(),
        _ => format!("type {kind}"),
    }
}

#[derive(Debug, Default)]
struct Parsed {
    /// Times in ticks, and types.
    marks: Vec<(i64, u16)>,
    /// Ticks a second, where the file says so.
    resolution: Option<f64>,
}

/// All annotations; nothing when the file ends before the mark that ends it.
fn parse(bytes: &[u8]) -> Option<Parsed> {
    let mut out = Parsed::default();
    let (mut at, mut time) = (0usize, 0i64);
    let word = |at: usize| Some(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    loop {
        let (kind, low) = (word(at)? >> 10, word(at)? & 0x3ff);
        at += 2;
        match kind {
            0 if low == 0 => return Some(out),
            SKIP => {
                // The high half stands first.
                let interval = (u32::from(word(at)?) << 16 | u32::from(word(at + 2)?)) as i32;
                time = time.saturating_add(i64::from(interval));
                at += 4;
            }
            NUM | SUB | CHN => {}
            AUX => {
                let text = bytes.get(at..at + usize::from(low))?;
                let note = out.marks.last() == Some(&(0, NOTE));
                if let Some(rest) = std::str::from_utf8(text).ok().and_then(|t| t.strip_prefix(RESOLUTION)) {
                    let ticks = rest.trim_end_matches('\0').trim().parse().ok();
                    out.resolution = ticks.filter(|t: &f64| note && t.is_finite() && *t > 0.0);
                }
                at += usize::from(low).next_multiple_of(2);
            }
            _ => {
                time = time.saturating_add(i64::from(low));
                out.marks.push((time, kind));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    #[test]
    fn skips_notes_and_ends_are_understood() {
        let mark = |kind: u16, low: u16| kind << 10 | low;
        // A rhythm with its text, a beat, one after a long interval, and one of a type without a letter.
        let mut bytes = words(&[mark(28, 18), mark(AUX, 3)]);
        bytes.extend(b"(N\0\0");
        bytes.extend(words(&[mark(1, 59), mark(SKIP, 0), 1, 5, mark(5, 7), mark(NUM, 4), mark(49, 1), 0]));
        let parsed = parse(&bytes).unwrap();
        assert_eq!(parsed.marks, [(18, 28), (77, 1), (77 + 65_536 + 5 + 7, 5), (65_626, 49)]);
        assert_eq!(
            ["+", "N", "V", "type 49"].map(String::from).to_vec(),
            parsed.marks.iter().map(|m| letter(m.1)).collect::<Vec<_>>()
        );
        assert!((0..bytes.len() - 1).all(|end| parse(&bytes[..end]).is_none()), "a cut file is noticed");
    }

    #[test]
    fn ticks_that_are_no_samples_are_told() {
        let note = format!("{RESOLUTION}1000\0");
        let mut bytes = words(&[NOTE << 10, AUX << 10 | note.len() as u16]);
        bytes.extend(note.bytes());
        bytes.resize(bytes.len().next_multiple_of(2), 0);
        bytes.extend(words(&[1 << 10 | 500, 0]));
        assert_eq!(parse(&bytes).unwrap().resolution, Some(1000.0));
    }
}
