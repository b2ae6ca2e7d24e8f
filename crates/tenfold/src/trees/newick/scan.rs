//! The words of Newick and NEXUS.

use std::rc::Rc;

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::trees) struct Bad {
    /// The byte.
    pub(in crate::trees) at: usize,
    pub(in crate::trees) problem: String,
    pub(in crate::trees) remedy: &'static str,
}

/// A name, and whether it stands in quotes; otherwise its underscores may mean blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::trees) struct Label {
    /// Shared: the name that a number of a TRANSLATE command stands for may be long, and the number come often.
    pub(in crate::trees) text: Rc<str>,
    pub(in crate::trees) quoted: bool,
}

/// A word of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::trees) enum Word {
    /// One of `( ) , : ;`, and `=` in NEXUS.
    Mark(u8),
    Label(Label),
    End,
}

/// Reads words; comments and blanks between them are passed over.
pub(in crate::trees) struct Scanner<'a> {
    pub(in crate::trees) text: &'a str,
    pub(in crate::trees) at: usize,
    /// Whether `=` is a mark.
    pub(in crate::trees) equals: bool,
}

impl<'a> Scanner<'a> {
    pub(in crate::trees) fn new(text: &'a str) -> Self {
        Self { text, at: 0, equals: false }
    }

    pub(in crate::trees) fn bad(&self, at: usize, problem: impl Into<String>, remedy: &'static str) -> Bad {
        Bad { at, problem: problem.into(), remedy }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next word.
    pub(in crate::trees) fn next(&mut self) -> Result<Word, Bad> {
        self.pass()?;
        match self.byte() {
            None => Ok(Word::End),
            Some(mark @ (b'(' | b')' | b',' | b':' | b';')) => {
                self.at += 1;
                Ok(Word::Mark(mark))
            }
            Some(b'=') if self.equals => {
                self.at += 1;
                Ok(Word::Mark(b'='))
            }
            Some(quote @ (b'\'' | b'"')) => self.quoted(quote),
            Some(b']') => {
                Err(self.bad(self.at, "a ] closes no comment", "remove it, or put the name in quotes"))
            }
            Some(_) => {
                let begin = self.at;
                let stops = |b: u8| {
                    matches!(b, b'(' | b')' | b'[' | b']' | b',' | b':' | b';' | b'\'')
                        || b.is_ascii_whitespace()
                        || b == b'=' && self.equals
                };
                let rest = &self.text.as_bytes()[begin..];
                // It stops at ASCII only, so that letters of several bytes stay whole.
                self.at += rest.iter().position(|&b| stops(b)).unwrap_or(rest.len());
                Ok(Word::Label(Label { text: self.text[begin..self.at].into(), quoted: false }))
            }
        }
    }

    /// Moves over blanks and comments, which may hold others.
    fn pass(&mut self) -> Result<(), Bad> {
        loop {
            match self.byte() {
                Some(b) if b.is_ascii_whitespace() => self.at += 1,
                Some(b'[') => {
                    let (begin, mut depth) = (self.at, 0usize);
                    loop {
                        match self.byte() {
                            None => {
                                return Err(self.bad(
                                    begin,
                                    "a comment opens here and is never closed",
                                    "close it with ]",
                                ));
                            }
                            Some(b'[') => depth += 1,
                            Some(b']') => depth -= 1,
                            _ => {}
                        }
                        self.at += 1;
                        if depth == 0 {
                            break;
                        }
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<Word, Bad> {
        let begin = self.at;
        let mut text = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.bytes().position(|b| b == quote) else {
                return Err(self.bad(
                    begin,
                    "a quote opens here and is never closed",
                    "close it; within quotes a quote is written twice",
                ));
            };
            text.push_str(&rest[..end]);
            self.at += end + 1;
            if self.byte() != Some(quote) {
                return Ok(Word::Label(Label { text: text.into(), quoted: true }));
            }
            text.push(quote as char);
            self.at += 1;
        }
    }

    /// The line of a byte, from 1.
    pub(in crate::trees) fn line(text: &str, at: usize) -> u64 {
        text.as_bytes()[..at.min(text.len())].iter().filter(|&&b| b == b'\n').count() as u64 + 1
    }
}
