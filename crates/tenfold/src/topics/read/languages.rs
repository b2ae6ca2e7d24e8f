//! Languages: their names, stop lists and stemmers, and which one a text is written in.

use crate::error::{Error, Result};
use rust_stemmers::Algorithm;
use std::collections::HashSet;

/// Names that are taken beside the codes of ISO 639-1, with the stemmer where there is one.
const NAMES: &[(&str, &str, Option<Algorithm>)] = &[
    ("ar", "arabic", Some(Algorithm::Arabic)),
    ("bg", "bulgarian", None),
    ("ca", "catalan", None),
    ("cs", "czech", None),
    ("da", "danish", Some(Algorithm::Danish)),
    ("de", "german", Some(Algorithm::German)),
    ("el", "greek", Some(Algorithm::Greek)),
    ("en", "english", Some(Algorithm::English)),
    ("es", "spanish", Some(Algorithm::Spanish)),
    ("fa", "persian", None),
    ("fi", "finnish", Some(Algorithm::Finnish)),
    ("fr", "french", Some(Algorithm::French)),
    ("he", "hebrew", None),
    ("hi", "hindi", None),
    ("hr", "croatian", None),
    ("hu", "hungarian", Some(Algorithm::Hungarian)),
    ("id", "indonesian", None),
    ("it", "italian", Some(Algorithm::Italian)),
    ("ja", "japanese", None),
    ("ko", "korean", None),
    ("nl", "dutch", Some(Algorithm::Dutch)),
    ("no", "norwegian", Some(Algorithm::Norwegian)),
    ("pl", "polish", None),
    ("pt", "portuguese", Some(Algorithm::Portuguese)),
    ("ro", "romanian", Some(Algorithm::Romanian)),
    ("ru", "russian", Some(Algorithm::Russian)),
    ("sk", "slovak", None),
    ("sv", "swedish", Some(Algorithm::Swedish)),
    ("ta", "tamil", Some(Algorithm::Tamil)),
    ("tr", "turkish", Some(Algorithm::Turkish)),
    ("uk", "ukrainian", None),
    ("vi", "vietnamese", None),
    ("zh", "chinese", None),
];

/// Languages that [`detect`] tells apart: those whose lists are short and hold function words only. Longer lists
/// hold ordinary words too, and would claim texts of their neighbours.
const DETECTED: &[&str] =
    &["da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pl", "pt", "ro", "ru", "sv", "tr", "uk"];

/// Of running text a third to a half are stop words; text from which they were taken out has hardly any.
const SHARE_OF_RUNNING_TEXT: f64 = 0.15;

/// The code of a language given by its code or its English name.
pub(super) fn code(name: &str) -> Option<&'static str> {
    let name = name.trim().to_lowercase();
    let named = NAMES.iter().find(|(code, long, _)| *code == name || *long == name).map(|(code, ..)| *code);
    named.or_else(|| stop_words::available_languages().iter().find(|code| **code == name).copied())
}

/// A language's English name, or its code where it has none here.
pub(super) fn name(code: &str) -> String {
    let long = NAMES.iter().find(|(c, ..)| *c == code).map_or(code, |(_, long, _)| *long);
    long.chars().enumerate().map(|(i, c)| if i == 0 { c.to_ascii_uppercase() } else { c }).collect()
}

/// The stop words of a language.
///
/// # Errors
/// A language without a list.
pub(super) fn stop_list(language: &str) -> Result<&'static [&'static str]> {
    code(language).and_then(stop_words::lookup).ok_or_else(|| Error::BadParameter {
        name: "language".into(),
        value: language.into(),
        expected: format!(
            "auto, or languages out of {}; for any other give a file of its words as --stop-words, or \
             --keep-stop-words to drop none",
            stop_words::available_languages().join(", ")
        ),
    })
}

/// The Snowball stemmer of a language.
///
/// # Errors
/// A language without one.
pub(super) fn stemmer(language: &str) -> Result<Algorithm> {
    let found = code(language).and_then(|code| NAMES.iter().find(|(c, ..)| *c == code)?.2);
    found.ok_or_else(|| Error::BadParameter {
        name: "stemmer".into(),
        value: language.into(),
        expected: format!(
            "a language with a Snowball stemmer: {}",
            NAMES.iter().filter(|(.., s)| s.is_some()).map(|(c, ..)| *c).collect::<Vec<_>>().join(", ")
        ),
    })
}

/// The language whose stop words make up the largest share of these words, if that is the share of running text.
pub(super) fn detect<'a>(words: impl Iterator<Item = &'a str> + Clone) -> Option<&'static str> {
    let all = words.clone().count();
    let share = |language: &&&'static str| {
        let list: HashSet<&str> =
            stop_words::lookup(**language).unwrap_or_default().iter().copied().collect();
        words.clone().filter(|word| list.contains(word)).count() as f64 / all.max(1) as f64
    };
    let shares: Vec<(&'static str, f64)> = DETECTED.iter().map(|l| (*l, share(&l))).collect();
    let best = shares.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (best.1 >= SHARE_OF_RUNNING_TEXT).then_some(best.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_go_by_code_and_by_name() {
        assert_eq!(
            (code("English"), code("de"), code("af"), code("klingon")),
            (Some("en"), Some("de"), Some("af"), None)
        );
        assert!(stop_list("french").unwrap().contains(&"avec"));
        let message = stop_list("klingon").unwrap_err().to_string();
        assert!(message.starts_with("language = klingon is out of range: auto, or languages out of af, ar"));
        assert!(stemmer("pl").unwrap_err().to_string().contains("Snowball stemmer: ar, da, de"));
        for (code, ..) in NAMES {
            assert!(stop_list(code).is_ok(), "{code}");
        }
    }

    #[test]
    fn running_text_tells_its_language() {
        let told = |text: &str| detect(text.split(' '));
        assert_eq!(told("the cat sat on the mat and it was not at all happy about that"), Some("en"));
        assert_eq!(told("der hund liegt auf dem sofa und die katze ist nicht mehr in der küche"), Some("de"));
        assert_eq!(told("le chat est sur la table et il ne veut pas descendre de là"), Some("fr"));
        assert_eq!(told("кот сидит на столе и он не хочет с него спускаться"), Some("ru"));
        assert_eq!(told("market share sale plan technology index document file"), None);
        assert_eq!(detect(std::iter::empty()), None);
    }
}
