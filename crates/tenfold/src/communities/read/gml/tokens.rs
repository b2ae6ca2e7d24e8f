//! Words, texts and brackets of GML, one at a time, so that a file of any size takes little memory.

use crate::error::{Error, Result};
use crate::input::Source;
use crate::input::numbers::shown;
use std::io::{ErrorKind, Read};

/// Bytes that are read at once.
const BUFFER: usize = 1 << 16;

/// Longest word or text.
const LONGEST: usize = 1 << 20;

/// A piece of the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// A key or a number.
    Word,
    /// A text in quotes.
    Quoted,
    Open,
    Close,
    End,
}

/// Cuts a text into tokens.
pub(super) struct Tokens<'a> {
    source: &'a Source,
    reader: Box<dyn Read + Send + 'a>,
    buffer: Vec<u8>,
    at: usize,
    line: u64,
    text: Vec<u8>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(source: &'a Source, reader: Box<dyn Read + Send + 'a>) -> Self {
        Self { source, reader, buffer: Vec::new(), at: 0, line: 1, text: Vec::new() }
    }

    /// The line of the last token's end.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The last word or text.
    pub(super) fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.text).map_err(|e| {
            let problem = format!("is not valid UTF-8 (byte 0x{:02x})", self.text[e.valid_up_to()]);
            let remedy = "if it is in another encoding, name that, for example --encoding latin1";
            self.source.fail(self.line, problem, remedy)
        })
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Result<Token> {
        self.text.clear();
        loop {
            match self.byte()? {
                None => return Ok(Token::End),
                Some(b'[') => return Ok(Token::Open),
                Some(b']') => return Ok(Token::Close),
                Some(b'"') => return self.quoted(),
                Some(b'#') => while !matches!(self.byte()?, None | Some(b'\n')) {},
                Some(byte) if byte.is_ascii_whitespace() => {}
                Some(byte) => {
                    self.push(byte)?;
                    return self.word();
                }
            }
        }
    }

    fn word(&mut self) -> Result<Token> {
        while let Some(byte) = self.peek()? {
            if byte.is_ascii_whitespace() || matches!(byte, b'[' | b']' | b'"') {
                break;
            }
            self.at += 1;
            self.push(byte)?;
        }
        Ok(Token::Word)
    }

    fn quoted(&mut self) -> Result<Token> {
        let begun = self.line;
        loop {
            match self.byte()? {
                None => {
                    return Err(self.source.fail(begun, "opens a quote that is never closed", super::MEND));
                }
                Some(b'"') => return Ok(Token::Quoted),
                Some(byte) => self.push(byte)?,
            }
        }
    }

    /// Passes over a value that has begun with this token.
    pub(super) fn skip(&mut self, value: Token) -> Result<()> {
        let mut depth = match value {
            Token::Word | Token::Quoted => return Ok(()),
            Token::Open => 1u64,
            Token::Close => return Err(self.unexpected(value, "a value")),
            Token::End => return Err(self.cut_short()),
        };
        while depth > 0 {
            match self.next()? {
                Token::Open => depth += 1,
                Token::Close => depth -= 1,
                Token::End => return Err(self.cut_short()),
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn unexpected(&self, token: Token, wanted: &str) -> Error {
        let found = match token {
            Token::Open => "\"[\"".into(),
            Token::Close => "\"]\"".into(),
            Token::End => "the end".into(),
            _ => format!("{:?}", shown(&self.text)),
        };
        self.source.fail(self.line, format!("{found} where {wanted} was expected"), super::MEND)
    }

    /// An error about the line of the last token.
    pub(super) fn fail(&self, problem: String, remedy: &str) -> Error {
        self.source.fail(self.line, problem, remedy)
    }

    pub(super) fn cut_short(&self) -> Error {
        self.source.fail(self.line, "ends before its graph does", "it is cut short: copy or export it again")
    }

    fn push(&mut self, byte: u8) -> Result<()> {
        if self.text.len() >= LONGEST {
            let problem = format!("has a text of more than {LONGEST} bytes");
            return Err(self.source.fail(self.line, problem, "check that it is GML with closed quotes"));
        }
        self.text.push(byte);
        Ok(())
    }

    fn byte(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.at += 1;
            self.line += u64::from(byte == Some(b'\n'));
        }
        Ok(byte)
    }

    /// The next byte, which stays.
    fn peek(&mut self) -> Result<Option<u8>> {
        if self.at == self.buffer.len() {
            self.buffer.resize(BUFFER, 0);
            let count = loop {
                match self.reader.read(&mut self.buffer) {
                    Ok(count) => break count,
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) => return Err(self.source.refuse(Some(self.line), &e)),
                }
            };
            self.buffer.truncate(count);
            self.at = 0;
        }
        Ok(self.buffer.get(self.at).copied())
    }
}
