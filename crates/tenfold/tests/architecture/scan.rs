//! Just enough of a Rust reader: tokens without comments and strings, test code left out, `use` trees.

use std::collections::BTreeMap;

/// A word or a mark of the source, with its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// Words, `::` and single marks; comments, strings, characters and lifetimes are left out.
pub fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let (mut at, mut line, mut found) = (0, 1, Vec::new());
    while at < chars.len() {
        let rest = &chars[at..];
        let skipped = skipped_length(rest);
        let length = if skipped > 0 {
            skipped
        } else if is_word(rest[0]) {
            rest.iter().take_while(|&&c| is_word(c)).count()
        } else if rest.starts_with(&[':', ':']) {
            2
        } else {
            1
        };
        if skipped == 0 && !rest[0].is_whitespace() {
            found.push(Token { text: rest[..length].iter().collect(), line });
        }
        line += rest[..length].iter().filter(|&&c| c == '\n').count();
        at += length;
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How many characters of a comment, string, character or lifetime begin here; 0 if none does.
fn skipped_length(rest: &[char]) -> usize {
    if rest.starts_with(&['/', '/']) {
        return rest.iter().take_while(|&&c| c != '\n').count();
    }
    if rest.starts_with(&['/', '*']) {
        return block_comment_length(rest);
    }
    // A string may wear a prefix: b"", c"", r"", br#""#.
    let prefix = rest.iter().take_while(|c| matches!(c, 'b' | 'c' | 'r')).count().min(2);
    let raw = rest[..prefix].contains(&'r');
    let hashes = if raw { rest[prefix..].iter().take_while(|&&c| c == '#').count() } else { 0 };
    match rest.get(prefix + hashes) {
        Some('"') => string_length(rest, prefix + hashes + 1, raw, hashes),
        Some('\'') if hashes == 0 && (prefix == 0 || rest[0] == 'b') => character_length(rest, prefix),
        _ => 0,
    }
}

fn block_comment_length(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with(&['/', '*']) {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with(&['*', '/']) {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// `at` is just behind the opening quote.
fn string_length(rest: &[char], mut at: usize, raw: bool, hashes: usize) -> usize {
    while at < rest.len() {
        match rest[at] {
            '\\' if !raw => at += 2,
            '"' if rest[at + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes => {
                return at + 1 + hashes;
            }
            _ => at += 1,
        }
    }
    rest.len()
}

/// `'x'`, `'\n'` or the tick of a lifetime, whose name is then an ordinary word.
fn character_length(rest: &[char], tick: usize) -> usize {
    match (rest.get(tick + 1), rest.get(tick + 2)) {
        (Some('\\'), _) => {
            let end = rest.iter().skip(tick + 3).position(|&c| c == '\'');
            end.map_or(rest.len(), |end| tick + 3 + end + 1)
        }
        (Some(_), Some('\'')) => tick + 3,
        _ => tick + 1,
    }
}

/// The tokens without the items under `#[cfg(test)]` or `#[cfg(all(test, …))]`.
pub fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let attribute = attribute_length(&tokens[at..]);
        let words: Vec<&str> = tokens[at..at + attribute].iter().map(|token| token.text.as_str()).collect();
        if words.contains(&"cfg") && words.contains(&"test") && !words.contains(&"not") {
            at += attribute;
            at += item_length(&tokens[at..]);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// The length of `#[…]` here, or 0.
fn attribute_length(tokens: &[Token]) -> usize {
    match tokens {
        [hash, open, ..] if hash.text == "#" && open.text == "[" => 1 + group_length(&tokens[1..]),
        _ => 0,
    }
}

/// The length of the bracketed group that begins here.
fn group_length(tokens: &[Token]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// An item ends with its block or its semicolon; further attributes belong to it.
fn item_length(tokens: &[Token]) -> usize {
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            ";" => return at + 1,
            "{" => return at + group_length(&tokens[at..]),
            "(" | "[" => at += group_length(&tokens[at..]),
            _ => at += 1,
        }
    }
    tokens.len()
}

/// A path of a `use` tree and the name it is known by.
#[derive(Debug, PartialEq)]
pub struct Import {
    pub path: Vec<String>,
    pub name: String,
    pub line: usize,
}

/// The paths of the tree `a::{b, c::d as e}` that begins here. Of an expression path it reads the path.
pub fn use_tree(tokens: &[Token]) -> Vec<Import> {
    let mut found = Vec::new();
    read_tree(tokens, &[], &mut found);
    found
}

/// Reads one tree, answers its length.
fn read_tree(tokens: &[Token], prefix: &[String], found: &mut Vec<Import>) -> usize {
    let mut path = prefix.to_vec();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.text == "{" {
            let end = at + group_length(&tokens[at..]);
            at += 1;
            while at + 1 < end {
                at += read_tree(&tokens[at..end - 1], &path, found).max(1);
                if tokens[at].text == "," {
                    at += 1;
                }
            }
            return end;
        }
        let word = token.text.as_str();
        if word == "*" || word.starts_with(is_word) {
            path.push(word.into());
            at += 1;
        }
        if tokens.get(at).is_some_and(|next| next.text == "::") {
            at += 1;
            continue;
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if tokens.get(at).is_some_and(|next| next.text == "as") {
            name = tokens.get(at + 1).map(|alias| alias.text.clone()).unwrap_or_default();
            at += 2;
        }
        found.push(Import { path, name, line: token.line });
        return at;
    }
    at
}

/// What `lib.rs` re-exports: the name at the root and the module (or crate) it comes from.
pub fn reexports(lib: &str) -> BTreeMap<String, String> {
    let tokens = without_tests(&tokens(lib));
    let uses = tokens.iter().enumerate().filter(|(_, token)| token.text == "use");
    let imports = uses.flat_map(|(at, _)| use_tree(&tokens[at + 1..]));
    let sources = imports.filter_map(|import| {
        let start = usize::from(matches!(import.path[0].as_str(), "crate" | "self"));
        Some((import.name, import.path.get(start)?.clone()))
    });
    sources.collect()
}
