//! The recipes beside this file, read: for the test that asks kept models, and for the command that makes them elsewhere.

use std::path::Path;

/// One paragraph: what it is called, and its lines by their first word.
pub struct Recipe {
    pub name: String,
    lines: Vec<(String, String)>,
}

/// All paragraphs of `recipes.txt` in this folder.
///
/// # Panics
/// When the file is not there or a line is not understood.
pub fn recipes(folder: &Path) -> Vec<Recipe> {
    let text = std::fs::read_to_string(folder.join("recipes.txt")).expect("the recipes");
    let mut all: Vec<Recipe> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            all.push(Recipe { name: name.into(), lines: Vec::new() });
        } else {
            let (verb, rest) = line.split_once(' ').unwrap_or_else(|| panic!("recipes.txt: {line}"));
            assert!(["take", "make", "keep", "ask"].contains(&verb), "recipes.txt: {line}");
            let last = all.last_mut().unwrap_or_else(|| panic!("recipes.txt: {line} belongs to nothing"));
            last.lines.push((verb.into(), rest.into()));
        }
    }
    all
}

impl Recipe {
    /// What follows this word, line by line.
    pub fn of<'a>(&'a self, verb: &'a str) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter(move |(known, _)| known == verb).map(|(_, rest)| rest.as_str())
    }
}
