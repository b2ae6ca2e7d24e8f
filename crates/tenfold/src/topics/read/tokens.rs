//! A text becomes words: cut, folded, filtered, stemmed and joined into runs, as the [`Recipe`] says.

use super::languages;
use super::recipe::Recipe;
use crate::error::Result;
use rust_stemmers::Stemmer;
use std::collections::HashSet;
use unicode_segmentation::UnicodeSegmentation;

/// Longest word in letters. The longest words of living languages are shorter; what is longer is encoded data.
const LONGEST: usize = 64;

/// A recipe made ready to work.
pub(super) struct Tokenizer {
    recipe: Recipe,
    stop: HashSet<String>,
    stemmer: Option<Stemmer>,
}

/// How many words each filter took out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Dropped {
    /// Words before any filter.
    pub(super) all: u64,
    pub(super) numbers: u64,
    pub(super) short: u64,
    pub(super) long: u64,
    pub(super) stopped: u64,
}

impl Dropped {
    pub(super) fn add(&mut self, other: &Self) {
        self.all += other.all;
        self.numbers += other.numbers;
        self.short += other.short;
        self.long += other.long;
        self.stopped += other.stopped;
    }
}

impl Tokenizer {
    /// For a recipe without `auto`.
    pub(super) fn new(recipe: &Recipe) -> Result<Self> {
        let mut stop: HashSet<String> = recipe.extra_stop_words.iter().map(|w| folded(w)).collect();
        for language in &recipe.stop_words {
            stop.extend(languages::stop_list(language)?.iter().map(|w| folded(w)));
        }
        let stemmer = recipe.stemmer.as_deref().map(languages::stemmer).transpose()?.map(Stemmer::create);
        Ok(Self { recipe: recipe.clone(), stop, stemmer })
    }

    /// Calls `take` with every word of the text, and with every run of words, in order.
    pub(super) fn words(&self, text: &str, dropped: &mut Dropped, mut take: impl FnMut(&str)) {
        let mut run = Run::default();
        let mut word = String::new();
        for segment in text.unicode_words() {
            clean(segment, self.recipe.lowercase, &mut word);
            if word.contains('\'') && self.is_stop(&word) {
                dropped.all += 1;
                dropped.stopped += 1;
                run.clear();
                continue;
            }
            for piece in pieces(&word) {
                dropped.all += 1;
                if self.keeps(piece, dropped) {
                    match &self.stemmer {
                        Some(stemmer) => run.push(&stemmer.stem(piece), self.recipe.ngrams),
                        None => run.push(piece, self.recipe.ngrams),
                    }
                    run.endings().for_each(&mut take);
                } else {
                    run.clear();
                }
            }
        }
    }

    fn is_stop(&self, word: &str) -> bool {
        if self.recipe.lowercase {
            self.stop.contains(word)
        } else {
            self.stop.contains(&word.to_lowercase())
        }
    }

    /// Whether a word passes the filters; if not, it is counted where it failed.
    fn keeps(&self, word: &str, dropped: &mut Dropped) -> bool {
        let letters = word.chars().count();
        let failed = if !self.recipe.numbers && !word.chars().any(char::is_alphabetic) {
            &mut dropped.numbers
        } else if letters < self.recipe.min_length && !word.chars().all(is_character_a_word) {
            &mut dropped.short
        } else if letters > LONGEST {
            &mut dropped.long
        } else if self.is_stop(word) {
            &mut dropped.stopped
        } else {
            return true;
        };
        *failed += 1;
        false
    }
}

/// The last few words that were kept, one after another.
#[derive(Default)]
struct Run {
    text: String,
    /// Where each word begins.
    begins: Vec<usize>,
}

impl Run {
    fn clear(&mut self) {
        self.text.clear();
        self.begins.clear();
    }

    /// Appends a word after a space; what is then too far back is forgotten.
    fn push(&mut self, word: &str, longest: usize) {
        if self.begins.len() >= longest {
            let cut = self.begins.get(1).copied().unwrap_or(self.text.len());
            self.text.drain(..cut);
            self.begins.remove(0);
            self.begins.iter_mut().for_each(|begin| *begin -= cut);
        }
        if !self.begins.is_empty() {
            self.text.push(' ');
        }
        self.begins.push(self.text.len());
        self.text.push_str(word);
    }

    /// The last word, the last two, and so on.
    fn endings(&self) -> impl Iterator<Item = &str> {
        self.begins.iter().rev().map(|&begin| &self.text[begin..])
    }
}

/// Whether one character is a word: Chinese characters, and the kana that stand between them.
fn is_character_a_word(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// One spelling for what is written in several ways: the curly apostrophe is a straight one, the soft hyphen nothing.
fn clean(word: &str, lowercase: bool, out: &mut String) {
    out.clear();
    if word.is_ascii() {
        out.push_str(word);
        if lowercase {
            out.make_ascii_lowercase();
        }
        return;
    }
    let spelt = word.chars().filter(|&c| c != '\u{ad}').map(|c| if c == '\u{2019}' { '\'' } else { c });
    out.extend(spelt);
    if lowercase {
        *out = out.to_lowercase();
    }
}

/// A word of a stop list, spelt and in lower case.
fn folded(word: &str) -> String {
    let mut out = String::new();
    clean(word, true, &mut out);
    // The Greek list spells the sigma at the end of a word as if it stood within it.
    if out.ends_with('\u{3c3}') {
        out.pop();
        out.push('\u{3c2}');
    }
    out
}

/// The word, or its parts where an apostrophe stands after a Latin letter. In other scripts an apostrophe is a letter.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    word.split(move |c| {
        let parts = c == '\'' && before < '\u{250}';
        before = c;
        parts
    })
    .filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(recipe: &Recipe, text: &str) -> (Vec<String>, Dropped) {
        let (mut words, mut dropped) = (Vec::new(), Dropped::default());
        Tokenizer::new(recipe).unwrap().words(text, &mut dropped, |word| words.push(word.to_owned()));
        (words, dropped)
    }

    fn english() -> Recipe {
        Recipe { stop_words: vec!["en".into()], ..Recipe::default() }
    }

    #[test]
    fn english_words() {
        let text =
            "The company's 3 CEOs don't (and won’t!) re-open 2004's plan: 1,000.5 x-rays, U.S. e\u{ad}state.";
        let (words, dropped) = cut(&english(), text);
        assert_eq!(words, ["company", "ceos", "open", "plan", "rays", "u.s", "estate"]);
        // Stopped: the, don't, and, won't, re. Short: two s and an x. Numbers: 3, 2004 and 1,000.5.
        let all = Dropped { all: 18, numbers: 3, short: 3, long: 0, stopped: 5 };
        assert_eq!(dropped, all, "{words:?}");
    }

    #[test]
    fn other_languages() {
        let recipe = |language: &str| Recipe { stop_words: vec![language.into()], ..Recipe::default() };
        assert_eq!(
            cut(&recipe("fr"), "L’homme n'est qu'un ROSEAU, à l'hiver").0,
            ["homme", "roseau", "hiver"]
        );
        assert_eq!(cut(&recipe("de"), "Die Größe der STRASSE ändert sich").0, ["größe", "strasse", "ändert"]);
        assert_eq!(cut(&recipe("uk"), "П'ять Українців").0, ["п'ять", "українців"]);
        assert_eq!(cut(&recipe("el"), "ΟΔΟΣ της Αθήνας").0, ["οδο\u{3c2}", "αθήνας"]);
        assert_eq!(
            cut(&Recipe { stop_words: vec![], ..Recipe::default() }, "東京 is 大").0,
            ["東", "京", "is", "大"]
        );
    }

    #[test]
    fn every_choice_counts() {
        let plain = Recipe { stop_words: vec![], ..Recipe::default() };
        let text = "New York runs 42 new races";
        assert_eq!(cut(&plain, text).0, ["new", "york", "runs", "new", "races"]);
        let with = |change: &dyn Fn(&mut Recipe)| {
            let mut recipe = plain.clone();
            change(&mut recipe);
            cut(&recipe, text).0
        };
        assert_eq!(with(&|r| r.lowercase = false), ["New", "York", "runs", "new", "races"]);
        assert_eq!(with(&|r| r.numbers = true)[3], "42");
        assert_eq!(with(&|r| r.min_length = 4), ["york", "runs", "races"]);
        assert_eq!(with(&|r| r.stemmer = Some("english".into())), ["new", "york", "run", "new", "race"]);
        assert_eq!(with(&|r| r.extra_stop_words = vec!["NEW".into()]), ["york", "runs", "races"]);
        assert_eq!(
            with(&|r| r.ngrams = 2),
            ["new", "york", "new york", "runs", "york runs", "new", "races", "new races"],
            "no run reaches over the number"
        );
        assert_eq!(with(&|r| r.ngrams = 3)[3..6], ["runs", "york runs", "new york runs"]);
        let stop = Recipe { lowercase: false, ..english() };
        assert_eq!(cut(&stop, "The OTHER Don't").0, [""; 0]);
        assert_eq!(cut(&plain, &"x".repeat(65)).1.long, 1);
    }
}
