//! Whole numbers out of bytes, quickly when they are well, with a reason when they are not.

/// The largest count of a word in a document: up to here an f32 holds every whole number.
pub(super) const LARGEST_COUNT: u32 = 1 << 24;

/// What is wrong with a line, and what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bad {
    /// The line, counted from 0 in its piece.
    pub(super) line: u64,
    pub(super) problem: String,
    pub(super) remedy: &'static str,
}

impl Bad {
    pub(super) fn new(problem: impl Into<String>, remedy: &'static str) -> Self {
        Self { line: 0, problem: problem.into(), remedy }
    }

    pub(super) fn at(mut self, line: u64) -> Self {
        self.line = line;
        self
    }
}

/// Reads digits from `at` on, and moves it behind them. Numbers above u32 give u32::MAX; no digit gives `None`.
#[inline(always)]
pub(super) fn digits(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let (begin, mut value) = (*at, 0u64);
    while let Some(digit) = bytes.get(*at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        value = value * 10 + u64::from(digit);
        *at += 1;
        // Beyond ten digits the value no longer matters, but must not wrap.
        if *at - begin > 10 {
            value = u64::MAX / 20;
        }
    }
    (*at > begin).then_some(value.min(u64::from(u32::MAX)) as u32)
}

/// Moves over spaces and tabs.
#[inline(always)]
pub(super) fn blanks(bytes: &[u8], at: &mut usize) {
    while matches!(bytes.get(*at), Some(b' ' | b'\t')) {
        *at += 1;
    }
}

/// Moves over the end of a line, if there is one or the bytes end.
#[inline(always)]
pub(super) fn line_end(bytes: &[u8], at: &mut usize) -> bool {
    blanks(bytes, at);
    if bytes.get(*at) == Some(&b'\r') {
        *at += 1;
    }
    match bytes.get(*at) {
        None => true,
        Some(b'\n') => {
            *at += 1;
            true
        }
        Some(_) => false,
    }
}

/// The line that begins at `at` without its end, and where the next begins.
pub(super) fn line(bytes: &[u8], at: usize) -> (&[u8], usize) {
    let end = bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| at + n);
    (bytes[at..end].trim_ascii_end(), (end + 1).min(bytes.len()))
}

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

/// Bytes of a message's length.
pub(super) fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stop_where_they_end_and_never_wrap() {
        for (text, value, end) in [
            ("0", Some(0), 1),
            ("00012 ", Some(12), 5),
            ("4294967295", Some(u32::MAX), 10),
            ("4294967296", Some(u32::MAX), 10),
            ("99999999999999999999999999999999", Some(u32::MAX), 32),
            ("12a", Some(12), 2),
            ("-1", None, 0),
            ("", None, 0),
        ] {
            let mut at = 0;
            assert_eq!((digits(text.as_bytes(), &mut at), at), (value, end), "{text}");
        }
    }

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
