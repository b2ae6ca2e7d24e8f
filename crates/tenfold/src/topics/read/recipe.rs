//! How text becomes words. The recipe is kept in the model, so that new documents are read as the old ones were.

use super::languages;
use crate::error::{Error, Result};
use serde_json::{Map, Value, json};

/// Bytes of further stop words: every model keeps them among its facts, which have room for sixteen times as much.
const MOST_STOP_WORDS: usize = 1 << 20;

/// The choices by which text becomes counts of words.
///
/// A text is cut into words by the Unicode standard (annex 29); apostrophes part the words of the Latin script, so that
/// `l'homme` gives `homme` and `company's` gives `company`. Words of more than 64 letters are taken for noise.
///
/// # Example
/// ```
/// use tenfold::topics::read::Recipe;
/// let recipe = Recipe { stemmer: Some("en".into()), ngrams: 2, ..Recipe::default() };
/// assert_eq!(Recipe::from_json(&recipe.to_json())?, recipe);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// Whether words are taken from text. False for a bag of words, to which only the two limits below apply.
    pub text: bool,
    /// Whether upper and lower case are the same.
    pub lowercase: bool,
    /// Languages whose stop words are dropped, by code or English name. `auto` looks at the beginning of the text; what
    /// it found stands here in the corpus.
    pub stop_words: Vec<String>,
    /// Further words to drop.
    pub extra_stop_words: Vec<String>,
    /// The language by whose Snowball stemmer words lose their endings.
    pub stemmer: Option<String>,
    /// Longest run of neighbouring words that counts as a word of its own, 1 to 3. No run reaches over a dropped word.
    pub ngrams: usize,
    /// Fewest letters of a word. A single Chinese or Japanese character is a word all the same.
    pub min_length: usize,
    /// Whether numbers are words.
    pub numbers: bool,
    /// Fewest documents that a word must stand in. `None`: 3 for text; a bag of words is left as it is.
    pub min_df: Option<usize>,
    /// Largest share of the documents that a word may stand in. `None`: 0.5 for text; a bag of words is left as it is.
    pub max_df: Option<f64>,
}

impl Default for Recipe {
    /// For text.
    fn default() -> Self {
        Self {
            text: true,
            lowercase: true,
            stop_words: vec!["auto".into()],
            extra_stop_words: Vec::new(),
            stemmer: None,
            ngrams: 1,
            min_length: 2,
            numbers: false,
            min_df: None,
            max_df: None,
        }
    }
}

/// Names of the fields in JSON, in the order of the struct.
const FIELDS: [&str; 10] = [
    "text",
    "lowercase",
    "stop_words",
    "extra_stop_words",
    "stemmer",
    "ngrams",
    "min_length",
    "numbers",
    "min_df",
    "max_df",
];

impl Recipe {
    /// For a bag of words, which is taken as it is given.
    pub fn given() -> Self {
        Self { text: false, stop_words: Vec::new(), min_length: 1, numbers: true, ..Self::default() }
    }

    /// As a JSON object with every field.
    pub fn to_json(&self) -> Value {
        json!({
            "text": self.text,
            "lowercase": self.lowercase,
            "stop_words": self.stop_words,
            "extra_stop_words": self.extra_stop_words,
            "stemmer": self.stemmer,
            "ngrams": self.ngrams,
            "min_length": self.min_length,
            "numbers": self.numbers,
            "min_df": self.min_df,
            "max_df": self.max_df,
        })
    }

    /// The recipe in a JSON text, as [`Recipe::to_json`] wrote it.
    ///
    /// # Errors
    /// As [`Recipe::from_json`]; a text that is no JSON.
    pub fn parse(json: &str) -> Result<Self> {
        let value = serde_json::from_str(json)
            .map_err(|e| bad("", &Value::from(json), &format!("a JSON object ({e})")))?;
        Self::from_json(&value)
    }

    /// From [`Recipe::to_json`]; null is the recipe of counts that were given.
    ///
    /// # Errors
    /// A field that is missing, unknown (from a newer version, which does something this one cannot repeat), of the
    /// wrong type or out of range.
    pub fn from_json(value: &Value) -> Result<Self> {
        if value.is_null() {
            return Ok(Self::given());
        }
        let Value::Object(object) = value else { return Err(bad("", value, "a JSON object")) };
        if let Some((name, value)) = object.iter().find(|(name, _)| !FIELDS.contains(&name.as_str())) {
            return Err(bad(name, value, "no such choice is known here: use a newer version of tenfold"));
        }
        let recipe = Self {
            text: field(object, "text", Value::as_bool)?,
            lowercase: field(object, "lowercase", Value::as_bool)?,
            stop_words: field(object, "stop_words", strings)?,
            extra_stop_words: field(object, "extra_stop_words", strings)?,
            stemmer: field(object, "stemmer", |v| optional(v, |v| v.as_str().map(str::to_owned)))?,
            ngrams: field(object, "ngrams", whole)?,
            min_length: field(object, "min_length", whole)?,
            numbers: field(object, "numbers", Value::as_bool)?,
            min_df: field(object, "min_df", |v| optional(v, whole))?,
            max_df: field(object, "max_df", |v| optional(v, Value::as_f64))?,
        };
        recipe.check()?;
        Ok(recipe)
    }

    /// Checks every choice.
    ///
    /// # Errors
    /// A choice out of its range, or a language without a list or a stemmer.
    pub fn check(&self) -> Result<()> {
        let refuse = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        if !(1..=3).contains(&self.ngrams) {
            return refuse("ngrams", self.ngrams.to_string(), "from 1 to 3");
        }
        if self.min_df == Some(0) {
            return refuse("min_df", "0".into(), "1 document or more");
        }
        if let Some(share) = self.max_df.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
            return refuse("max_df", share.to_string(), "a share of the documents above 0, at most 1");
        }
        let bytes: usize = self.extra_stop_words.iter().map(String::len).sum();
        if bytes > MOST_STOP_WORDS {
            let most = format!("at most {MOST_STOP_WORDS} bytes of words, which every model keeps");
            return refuse("extra_stop_words", format!("{bytes} bytes"), &most);
        }
        for language in self.stop_words.iter().filter(|name| *name != "auto") {
            languages::stop_list(language)?;
        }
        self.stemmer.as_deref().map_or(Ok(()), |language| languages::stemmer(language).map(drop))
    }

    /// A choice that was made and means something for text only, as the command line calls it.
    pub(super) fn choice_for_text(&self) -> Option<&'static str> {
        let usual = if self.text { Self::default() } else { Self::given() };
        let made = [
            ("--keep-case", self.lowercase != usual.lowercase),
            ("--keep-stop-words", self.stop_words.is_empty() && !usual.stop_words.is_empty()),
            ("--language", self.stop_words != usual.stop_words),
            ("--stop-words", self.extra_stop_words != usual.extra_stop_words),
            ("--stem", self.stemmer != usual.stemmer),
            ("--ngrams", self.ngrams != usual.ngrams),
            ("--min-length", self.min_length != usual.min_length),
            ("--numbers", self.numbers != usual.numbers),
        ];
        made.iter().find(|(_, made)| *made).map(|(choice, _)| *choice)
    }

    /// The limits of document frequency that hold for this recipe: fewest documents, largest share.
    pub fn limits(&self) -> (usize, f64) {
        let (fewest, share) = if self.text { (3, 0.5) } else { (1, 1.0) };
        (self.min_df.unwrap_or(fewest), self.max_df.unwrap_or(share))
    }
}

fn bad(name: &str, value: &Value, expected: &str) -> Error {
    let value: String = value.to_string().chars().take(60).collect();
    let name = if name.is_empty() { "recipe".to_owned() } else { format!("recipe.{name}") };
    Error::BadParameter { name, value, expected: expected.into() }
}

fn field<T>(object: &Map<String, Value>, name: &str, read: impl Fn(&Value) -> Option<T>) -> Result<T> {
    let value = object.get(name).unwrap_or(&Value::Null);
    read(value).ok_or_else(|| bad(name, value, "what a model of this version keeps there"))
}

fn whole(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|s| s.as_str().map(str::to_owned)).collect()
}

fn optional<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
    if value.is_null() { Some(None) } else { read(value).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_as_it_was() {
        let full = Recipe {
            text: true,
            lowercase: false,
            stop_words: vec!["en".into(), "german".into()],
            extra_stop_words: vec!["naïve \"word\"".into()],
            stemmer: Some("de".into()),
            ngrams: 3,
            min_length: 4,
            numbers: true,
            min_df: Some(7),
            max_df: Some(0.1),
        };
        for recipe in [full, Recipe::default(), Recipe::given()] {
            assert_eq!(Recipe::from_json(&recipe.to_json()).unwrap(), recipe);
        }
    }

    #[test]
    fn what_is_unknown_missing_or_out_of_range_is_refused() {
        let changed = |name: &str, value: Value| {
            let mut json = Recipe::default().to_json();
            json[name] = value;
            Recipe::from_json(&json).unwrap_err().to_string()
        };
        let newer = changed("phrases", json!(true));
        assert_eq!(
            newer,
            "recipe.phrases = true is out of range: no such choice is known here: use a newer version of tenfold"
        );
        for (name, value) in [
            ("ngrams", json!(4)),
            ("ngrams", json!(-1)),
            ("min_df", json!(0)),
            ("max_df", json!(0.0)),
            ("max_df", json!("half")),
            ("stop_words", json!("en")),
            ("stop_words", json!(["klingon"])),
            ("stemmer", json!("pl")),
            ("text", Value::Null),
        ] {
            assert!(changed(name, value.clone()).contains(name.split('_').next().unwrap()), "{name} {value}");
        }
        assert!(Recipe::from_json(&json!([])).is_err());
    }
}
