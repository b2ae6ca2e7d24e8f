//! Texts cut into words in places that know nothing of each other: first which words there are, then their numbers.

use super::languages;
use super::lexicon::count;
use super::recipe::Recipe;
use super::tokens::{Dropped, Tokenizer};
use crate::error::Result;
use crate::topics::data::Documents;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// Words looked at to tell the language.
const SAMPLE: usize = 20_000;

/// Documents that one task cuts.
const TOGETHER: usize = 128;

/// A recipe at work, with every choice made.
pub struct Cutter {
    recipe: Recipe,
    tokenizer: Tokenizer,
}

/// The words of some documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Every word with the number of documents that hold it.
    pub words: HashMap<String, u32>,
    /// Distinct words of every document.
    pub entries: Vec<u32>,
}

impl Cutter {
    /// Makes the choices that the recipe leaves open, by the first words of some texts; a note says how.
    ///
    /// # Errors
    /// A recipe out of range.
    pub fn new<T: AsRef<str>>(recipe: &Recipe, texts: &[T]) -> Result<(Self, Option<String>)> {
        recipe.check()?;
        let (mut recipe, mut note) = (recipe.clone(), None);
        if recipe.stop_words.iter().any(|name| name == "auto") {
            let told = language(&recipe, texts)?;
            recipe.stop_words.retain(|name| name != "auto");
            recipe.stop_words.extend(told.map(String::from));
            note = Some(match told {
                Some(code) => {
                    format!("the text reads like {}, whose stop words were dropped", languages::name(code))
                }
                None => {
                    "the text reads like no language whose stop words are known by heart: none were dropped"
                        .into()
                }
            });
        }
        let tokenizer = Tokenizer::new(&recipe)?;
        Ok((Self { recipe, tokenizer }, note))
    }

    /// The recipe, with nothing left open.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    pub(super) fn words(&self, text: &str, dropped: &mut Dropped, take: &mut dyn FnMut(&str)) {
        self.tokenizer.words(text, dropped, take);
    }

    /// Every word of a text, in its order.
    pub(crate) fn in_order(&self, text: &str, take: &mut dyn FnMut(&str)) {
        self.words(text, &mut Dropped::default(), take);
    }

    /// How often one text holds each word that has a number, by ascending number, by the calling thread alone.
    pub fn count(&self, text: &str, numbers: &HashMap<String, u32>) -> BTreeMap<u32, u32> {
        let mut counts = BTreeMap::new();
        self.in_order(text, &mut |word| {
            if let Some(&number) = numbers.get(word) {
                *counts.entry(number).or_insert(0) += 1;
            }
        });
        counts
    }

    /// Which words some texts hold.
    pub fn scan<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Scanned {
        scan(texts, |text, dropped, take| self.words(text.as_ref(), dropped, take))
    }

    /// The texts as numbers of words; words without a number are dropped.
    pub fn encode<T: AsRef<str> + Sync>(&self, texts: &[T], numbers: &HashMap<String, u32>) -> Documents {
        encode(texts, numbers, |text, dropped, take| self.words(text.as_ref(), dropped, take))
    }
}

/// [`Cutter::scan`] for documents whose words are given.
pub fn scan_tokens<T: AsRef<str> + Sync>(documents: &[Vec<T>]) -> Scanned {
    scan(documents, |words, _, take| words.iter().for_each(|word| take(word.as_ref())))
}

/// [`Cutter::encode`] for documents whose words are given.
pub fn encode_tokens<T: AsRef<str> + Sync>(
    documents: &[Vec<T>],
    numbers: &HashMap<String, u32>,
) -> Documents {
    encode(documents, numbers, |words, _, take| words.iter().for_each(|word| take(word.as_ref())))
}

fn scan<D: Sync>(
    documents: &[D],
    words_of: impl Fn(&D, &mut Dropped, &mut dyn FnMut(&str)) + Sync,
) -> Scanned {
    let parts: Vec<_> = documents.par_chunks(TOGETHER).map(|some| count(some, &words_of, None)).collect();
    let mut all = Scanned::default();
    for part in parts {
        for (word, frequency) in part.words.into_iter().zip(part.frequencies) {
            *all.words.entry(word).or_default() += frequency;
        }
        let starts = std::iter::once(0).chain(part.documents.ends.iter().copied());
        all.entries.extend(part.documents.ends.iter().zip(starts).map(|(end, start)| end - start));
    }
    all
}

fn encode<D: Sync>(
    documents: &[D],
    numbers: &HashMap<String, u32>,
    words_of: impl Fn(&D, &mut Dropped, &mut dyn FnMut(&str)) + Sync,
) -> Documents {
    let parts: Vec<Documents> = (documents.par_chunks(TOGETHER))
        .map(|some| {
            let mut part = count(some, &words_of, None);
            let number = |word: &String| numbers.get(word).copied().unwrap_or(u32::MAX);
            let map: Vec<u32> = part.words.iter().map(number).collect();
            super::bag::rename(&mut part.documents, &map);
            part.documents
        })
        .collect();
    let mut all = Documents::default();
    for part in parts {
        let before = all.words.len() as u32;
        all.words.extend(part.words);
        all.counts.extend(part.counts);
        all.ends.extend(part.ends.iter().map(|end| end + before));
    }
    all
}

/// The language that the first words of some texts read like.
fn language<T: AsRef<str>>(recipe: &Recipe, texts: &[T]) -> Result<Option<&'static str>> {
    let bare = Recipe { stop_words: Vec::new(), stemmer: None, lowercase: true, ngrams: 1, ..recipe.clone() };
    let (bare, mut sample) = (Tokenizer::new(&bare)?, Vec::new());
    for text in texts {
        bare.words(text.as_ref(), &mut Dropped::default(), |word| sample.push(word.to_owned()));
        if sample.len() > SAMPLE {
            break;
        }
    }
    Ok(languages::detect(sample.iter().map(String::as_str)))
}
