//! Small pictures of signals in text.

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One character a sample, from the smallest to the largest value shown.
pub fn sparkline(signal: &[f64]) -> String {
    let (low, high) =
        signal.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    let step = (high - low) / LEVELS.len() as f64;
    let level = |x: &f64| if step > 0.0 { (((x - low) / step) as usize).min(LEVELS.len() - 1) } else { 3 };
    signal.iter().map(|x| LEVELS[level(x)]).collect()
}

#[cfg(test)]
mod tests {
    use super::sparkline;

    #[test]
    fn the_range_is_used_from_end_to_end() {
        assert_eq!(sparkline(&[0.0, 1.0, 7.0]), "▁▂█");
        assert_eq!(sparkline(&[5.0, 5.0]), "▄▄");
        assert_eq!(sparkline(&[]), "");
    }
}
