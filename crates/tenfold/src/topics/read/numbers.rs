//! Counts and ids out of bytes, with a reason where they are not well.

use crate::input::numbers::{Bad, digits, shown};

/// The largest count of a word in a document: up to here an f32 holds every whole number.
pub(super) const LARGEST_COUNT: u32 = 1 << 24;

/// A count in any notation: `3`, `3.0` and `3e0` are the same.
pub(super) fn count(text: &[u8]) -> Result<u32, Bad> {
    let shown = shown(text);
    let Some(value) = std::str::from_utf8(text).ok().and_then(|t| t.parse::<f64>().ok()) else {
        return Err(Bad::new(format!("count {shown:?} is not a number"), "mend the line"));
    };
    if !value.is_finite() {
        return Err(Bad::new(format!("count {shown} is not finite"), "leave such entries out"));
    }
    if value < 0.0 {
        return Err(Bad::new(format!("count {shown} is negative"), "counts are 0 or more: mend the line"));
    }
    if value > f64::from(LARGEST_COUNT) {
        let problem = format!("count {shown} is larger than {LARGEST_COUNT}");
        return Err(Bad::new(problem, "no document holds a word so often: mend the line"));
    }
    if value.fract() != 0.0 {
        let problem = format!("count {shown} is not a whole number");
        return Err(Bad::new(problem, "give raw counts, not weights such as tf-idf"));
    }
    Ok(value as u32)
}

/// A whole number called `name` in the range, as ids are.
pub(super) fn id(name: &str, text: &[u8], low: u32, high: u32, who: &str) -> Result<u32, Bad> {
    let mut at = usize::from(text.first() == Some(&b'-') && text.len() > 1);
    let negative = at == 1;
    match digits(text, &mut at) {
        Some(id) if at == text.len() => {
            if !negative && (low..=high).contains(&id) {
                return Ok(id);
            }
            let problem = format!("{name} {} is outside {low} to {high}, {who}", shown(text));
            Err(Bad::new(problem, "mend the line or the header, or export the file again"))
        }
        _ => Err(Bad::new(format!("{name} {:?} is not a whole number", shown(text)), "mend the line")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_say_what_is_wrong() {
        for good in ["3", "3.0", "3e0", "+3", "0.3e1"] {
            assert_eq!(count(good.as_bytes()), Ok(3), "{good}");
        }
        for (text, problem) in [
            ("-1", "count -1 is negative"),
            ("1.5", "count 1.5 is not a whole number"),
            ("inf", "count inf is not finite"),
            ("NaN", "count NaN is not finite"),
            ("16777217", "count 16777217 is larger than 16777216"),
            ("1e300", "count 1e300 is larger than 16777216"),
            ("x", "count \"x\" is not a number"),
            ("", "count \"\" is not a number"),
        ] {
            assert_eq!(count(text.as_bytes()).unwrap_err().problem, problem);
        }
        assert_eq!(id("word", b"7", 1, 7, "").unwrap(), 7);
        assert_eq!(
            id("word", b"8", 1, 7, "as told").unwrap_err().problem,
            "word 8 is outside 1 to 7, as told"
        );
        assert_eq!(
            id("word", b"-8", 1, 7, "as told").unwrap_err().problem,
            "word -8 is outside 1 to 7, as told"
        );
        assert_eq!(id("word", b"1.5", 1, 7, "").unwrap_err().problem, "word \"1.5\" is not a whole number");
    }
}
