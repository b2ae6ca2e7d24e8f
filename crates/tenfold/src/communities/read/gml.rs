//! GML: lists of keys and values in brackets.

mod tokens;

use super::ReadOptions;
use super::nodes::{FEWER, MOST_ATTRIBUTES, Nodes};
use crate::communities::data::{Gathered, Kind, Told};
use crate::error::Result;
use crate::input::Source;
use tenfold_engine::progress::Progress;
use tokens::{Token, Tokens};

/// Nodes and edges between two looks whether to stop.
const STEPS: u64 = 1 << 14;

/// What to do about a file that does not follow the grammar.
const MEND: &str = "mend the line, or export the file again";

pub(super) fn read(source: &Source, options: &ReadOptions, progress: &dyn Progress) -> Result<Gathered> {
    source.begin(progress);
    let mut tokens = Tokens::new(source, source.reader(progress)?);
    loop {
        match tokens.next()? {
            Token::Word => {
                let key = tokens.text()?.to_owned();
                let value = tokens.next()?;
                if key == "graph" && value == Token::Open {
                    return graph(source, tokens, options, progress);
                }
                tokens.skip(value)?;
            }
            Token::End => {
                return Err(source.fail(None, "holds no graph", "GML has its nodes in `graph [ … ]`"));
            }
            other => return Err(tokens.unexpected(other, "a key such as graph")),
        }
    }
}

fn graph(
    source: &Source,
    mut tokens: Tokens,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Gathered> {
    let mut nodes = Nodes::new(source, options);
    let mut told =
        Told { kind: Kind::Undirected, by: "as GML is where it does not say otherwise", sure: true };
    let mut steps = 0u64;
    loop {
        steps += 1;
        if steps.is_multiple_of(STEPS) {
            progress.check()?;
        }
        match tokens.next()? {
            Token::Close => return nodes.finish(told, true),
            Token::Word => {}
            Token::End => return Err(tokens.cut_short()),
            other => return Err(tokens.unexpected(other, "a key such as node")),
        }
        let key = tokens.text()?.to_owned();
        let value = tokens.next()?;
        let line = tokens.line();
        match (key.as_str(), value) {
            ("node", Token::Open) => {
                let values = list(&mut tokens)?;
                let id =
                    find(&values, "id").ok_or_else(|| source.fail(line, "has a node without an id", MEND))?;
                let own: Vec<(String, String)> = values.iter().filter(|v| v.0 != "id").cloned().collect();
                nodes.node(id, &own, line)?;
            }
            ("edge", Token::Open) => {
                let values = list(&mut tokens)?;
                let ends = find(&values, "source").zip(find(&values, "target"));
                let ends =
                    ends.ok_or_else(|| source.fail(line, "has an edge without a source or a target", MEND))?;
                nodes.edge(ends, &values, line)?;
            }
            ("directed", Token::Word) => {
                let kind = match tokens.text()? {
                    "1" => Kind::Directed,
                    "0" => Kind::Undirected,
                    other => {
                        let problem = format!("says directed {other:?} where 0 or 1 was expected");
                        return Err(source.fail(line, problem, MEND));
                    }
                };
                told = Told { kind, by: "as its flag says", sure: true };
            }
            _ => tokens.skip(value)?,
        }
    }
}

/// The plain values of a list up to its end; lists inside it are passed over.
fn list(tokens: &mut Tokens) -> Result<Vec<(String, String)>> {
    let mut values = Vec::new();
    loop {
        match tokens.next()? {
            Token::Close => return Ok(values),
            Token::Word => {}
            Token::End => return Err(tokens.cut_short()),
            other => return Err(tokens.unexpected(other, "a key")),
        }
        if values.len() == MOST_ATTRIBUTES {
            return Err(tokens.fail(format!("has more than {MOST_ATTRIBUTES} attributes in one list"), FEWER));
        }
        let key = tokens.text()?.to_owned();
        match tokens.next()? {
            Token::Word => values.push((key, tokens.text()?.to_owned())),
            Token::Quoted => values.push((key, super::nodes::decoded(tokens.text()?).into_owned())),
            other => tokens.skip(other)?,
        }
    }
}

fn find<'a>(values: &'a [(String, String)], key: &str) -> Option<&'a str> {
    values.iter().find(|v| v.0 == key).map(|v| v.1.as_str())
}
