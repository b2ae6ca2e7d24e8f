//! Text with a document a line: plain, or MALLET's with a name and a label before it.

use super::ReadOptions;
use super::lexicon::Texts;
use crate::error::Result;
use crate::input::Source;
use crate::input::decode::utf8;
use crate::topics::data::Corpus;
use tenfold_engine::progress::Progress;

/// Documents that are taken together: where there is little in them, their places alone take many times a piece of the text.
const TOGETHER: usize = 1 << 17;

/// What a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The document.
    Plain,
    /// `name label text…`, as MALLET's import-file takes it.
    Mallet,
}

/// Reads every line; a blank one is an empty document, so that the places of the others stay right.
pub(super) fn read(
    source: &Source,
    kind: Kind,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Corpus> {
    let mut texts = Texts::new(source.path(), options)?;
    let mut names = Vec::new();
    let mut pieces = source.pieces(progress)?;
    let mut line = 1;
    loop {
        let batch = pieces.batch()?;
        if batch.is_empty() {
            break;
        }
        let mut documents = Vec::new();
        for piece in &batch {
            let text = utf8(source.path(), piece, line)?;
            for document in text.lines() {
                line += 1;
                documents.push(match kind {
                    Kind::Plain => document,
                    Kind::Mallet => {
                        let (name, rest) = field(document);
                        names.push(name.to_owned());
                        field(rest).1
                    }
                });
                if documents.len() == TOGETHER {
                    texts.take(&documents)?;
                    documents.clear();
                }
            }
        }
        texts.take(&documents)?;
    }
    texts.finish((kind == Kind::Mallet).then_some(names))
}

/// The first field and what follows; blanks and commas part them, as in MALLET.
fn field(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let (first, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    (first.trim_end_matches(','), rest.trim_start_matches(|c: char| c.is_whitespace() || c == ','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_mallet() {
        assert_eq!(field("doc1, news\tSome, text"), ("doc1", "news\tSome, text"));
        assert_eq!(field("news\t Some, text"), ("news", "Some, text"));
        assert_eq!(field("alone"), ("alone", ""));
        assert_eq!(field("  "), ("", ""));
    }
}
