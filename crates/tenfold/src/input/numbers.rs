//! Whole numbers out of bytes, quickly when they are well, with a reason when they are not.

/// What is wrong with a line, and what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bad {
    /// The line, counted from 0 in its piece.
    pub(crate) line: u64,
    pub(crate) problem: String,
    pub(crate) remedy: &'static str,
}

impl Bad {
    pub(crate) fn new(problem: impl Into<String>, remedy: &'static str) -> Self {
        Self { line: 0, problem: problem.into(), remedy }
    }

    pub(crate) fn at(mut self, line: u64) -> Self {
        self.line = line;
        self
    }
}

/// Reads digits from `at` on, and moves it behind them. Numbers above u32 give u32::MAX; no digit gives `None`.
#[inline(always)]
pub(crate) fn digits(bytes: &[u8], at: &mut usize) -> Option<u32> {
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

/// Reads a whole number, written without a leading zero, from `at` on, and moves it behind. `None` for anything else, and
/// for a number of 20 digits or more.
#[inline(always)]
pub(crate) fn whole(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let rest = bytes.get(*at..)?;
    if let Some(eight) = rest.first_chunk::<8>() {
        // Digits become 0 to 9. Adding 0x76 sets the upper bit of all others; a carry goes to later bytes only, and the
        // first byte that is no digit is the one that counts.
        let word = u64::from_le_bytes(*eight) ^ 0x3030_3030_3030_3030;
        let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
        let count = others.trailing_zeros() as usize / 8;
        if count == 0 || eight[0] == b'0' && count > 1 {
            return None;
        }
        if count < 8 {
            *at += count;
            return Some(eight_digits(word << (64 - 8 * count)));
        }
    }
    let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    if count == 0 || count > 19 || rest[0] == b'0' && count > 1 {
        return None;
    }
    *at += count;
    Some(rest[..count].iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
}

/// The number of eight digits, the first of them in the lowest byte: neighbours are joined, then pairs, then fours.
#[inline(always)]
fn eight_digits(word: u64) -> u64 {
    let pairs = word.wrapping_mul(10 * (1 << 8) + 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 * (1 << 16) + 1) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 * (1 << 32) + 1) >> 32
}

/// Reads a decimal number of at most 15 digits, without a sign or an exponent, from `at` on, and moves it behind. The value
/// is the nearest one: digits and powers of ten of that size are exact. `None` for anything else.
#[inline(always)]
pub(crate) fn decimal(bytes: &[u8], at: &mut usize) -> Option<f64> {
    let (mut end, mut value, mut digits, mut behind) = (*at, 0u64, 0, 0);
    loop {
        match bytes.get(end) {
            Some(digit @ b'0'..=b'9') => {
                value = value * 10 + u64::from(digit - b'0');
                digits += 1;
                behind += i32::from(behind > 0);
            }
            Some(b'.') if behind == 0 && digits > 0 => behind = 1,
            _ => break,
        }
        end += 1;
        if digits > 15 {
            return None;
        }
    }
    if digits == 0 {
        return None;
    }
    *at = end;
    Some(if behind > 1 { value as f64 / 10f64.powi(behind - 1) } else { value as f64 })
}

/// Moves over spaces and tabs.
#[inline(always)]
pub(crate) fn blanks(bytes: &[u8], at: &mut usize) {
    while matches!(bytes.get(*at), Some(b' ' | b'\t')) {
        *at += 1;
    }
}

/// Moves over the end of a line, if there is one or the bytes end.
#[inline(always)]
pub(crate) fn line_end(bytes: &[u8], at: &mut usize) -> bool {
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
pub(crate) fn line(bytes: &[u8], at: usize) -> (&[u8], usize) {
    let end = bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| at + n);
    (bytes[at..end].trim_ascii_end(), (end + 1).min(bytes.len()))
}

/// Bytes of a message's length.
pub(crate) fn shown(text: &[u8]) -> String {
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
    fn whole_numbers_of_every_length() {
        for digits in 1..=19 {
            let text: String = "9182736455463728191"[..digits].into();
            for end in ["", " ", "\t1234567890", "\n", "a", "\u{e9}\u{ff}", ".5", "/", ":"] {
                let (line, mut at) = (format!("{text}{end}"), 0);
                assert_eq!(whole(line.as_bytes(), &mut at), text.parse().ok(), "{line:?}");
                assert_eq!(at, digits);
            }
        }
        for (text, value) in
            [("0", Some(0)), ("0 1234567", Some(0)), ("18446744073709551615", None), ("", None)]
        {
            assert_eq!(whole(text.as_bytes(), &mut 0), value, "{text}");
        }
        for text in ["00", "01 12345678", "-1", "+1234567890", " 1", "a1", "\u{e9}", "/1234567", ":1234567"] {
            let mut at = 0;
            assert_eq!((whole(text.as_bytes(), &mut at), at), (None, 0), "{text}");
        }
        assert_eq!(whole(b"1", &mut 5), None);
    }

    #[test]
    fn decimals_are_the_nearest_numbers() {
        for text in ["0", "1", "0.1", "3.14159", "12345678901234", "0.00000000000001", "7.", "007.50"] {
            let mut at = 0;
            assert_eq!(decimal(text.as_bytes(), &mut at), text.parse().ok(), "{text}");
            assert_eq!(at, text.len());
        }
        for text in ["", ".", ".5", "-1", "1234567890123456", "nan", "e5"] {
            assert_eq!(decimal(text.as_bytes(), &mut 0), None, "{text}");
        }
        let mut at = 0;
        assert_eq!((decimal(b"1.2.3", &mut at), at), (Some(1.2), 3));
        at = 0;
        assert_eq!((decimal(b"1e5", &mut at), at), (Some(1.0), 1));
    }
}
