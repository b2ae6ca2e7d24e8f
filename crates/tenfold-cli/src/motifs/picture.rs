//! Motifs in a terminal: a line of text for each.

use tenfold::motifs::Filters;

/// Eight heights of a character.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Characters of a line.
const WIDTH: usize = 64;

/// Every motif of signals as a line of bars, channel after channel; nothing for images.
pub fn shapes(filters: &Filters) -> String {
    if filters.extent.is_plane() {
        return String::new();
    }
    let mut text = String::new();
    for l in 0..filters.count() {
        for channel in 0..filters.channels {
            let name = if filters.channels > 1 { format!("{l}.{channel}") } else { l.to_string() };
            text += &format!("{name:>6}  {}\n", bars(filters.channel(l, channel)));
        }
    }
    text
}

/// The values between their smallest and their largest; long motifs are thinned out, each bar the largest swing of its samples.
fn bars(values: &[f64]) -> String {
    let per = values.len().div_ceil(WIDTH);
    let largest = |part: &[f64]| part.iter().fold(0.0f64, |m, x| if x.abs() > m.abs() { *x } else { m });
    let values: Vec<f64> = values.chunks(per).map(largest).collect();
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
    let step = (high - low).max(f64::MIN_POSITIVE) / 7.0;
    values.iter().map(|x| HEIGHTS[(((x - low) / step).round() as usize).min(7)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motif_is_a_line() {
        assert_eq!(bars(&[0.0, 1.0, 0.5, -1.0]), "▅█▆▁");
        assert_eq!(bars(&vec![0.0; 200]).chars().count(), 50);
    }
}
