//! One tree of a Newick text, as it is written: with a root.

use super::scan::{Bad, Label, Scanner, Word};
use crate::trees::data::MOST_VARIABLES;

/// What to do about a text that is no tree.
const MEND: &str = "mend it: a tree is written like (a:1,(b:2,c:3):0.5);";

/// Nodes of all trees of a file that are held at most, beyond two for every variable: a tree whose inner nodes have two branches or more
/// has fewer, and few inner nodes have one branch only. A byte of a hostile file is a node.
const SPARE: usize = 1 << 14;

/// What is wrong with a text that has more, and what to do about it.
const TOO_MANY: &str = "there are more nodes up to here than a tree of the variables can have";
const FEWER: &str = "give the tree that is meant alone, with the variables at its tips";

/// Most nodes of all trees of a file together, for so many variables. The number of the variables is the caller's; where it is small, a
/// tree of other variables is still told by its names.
pub(in crate::trees) fn most_nodes(variables: usize) -> usize {
    2 * variables.max(MOST_VARIABLES) + SPARE
}

/// A node as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::trees) struct Written {
    /// Its parent, which comes before it; the root, the first, has itself.
    pub(in crate::trees) parent: usize,
    pub(in crate::trees) label: Option<Label>,
    pub(in crate::trees) length: Option<f64>,
    pub(in crate::trees) is_tip: bool,
    /// Where it begins in the text.
    pub(in crate::trees) at: usize,
}

/// How far a node has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing yet.
    Fresh,
    /// Its children.
    Closed,
    /// Its name.
    Named,
    /// Its length.
    Measured,
}

/// Reads the next tree, of `most` nodes at most; `None` at the end of the text. No recursion: a tree may be as deep as it likes.
pub(in crate::trees) fn next_tree(words: &mut Scanner, most: usize) -> Result<Option<Vec<Written>>, Bad> {
    let fresh = |parent: usize, at: usize| Written { parent, label: None, length: None, is_tip: true, at };
    let mut nodes = vec![fresh(0, words.at)];
    let (mut now, mut state) = (0usize, State::Fresh);
    loop {
        let word = words.next()?;
        let at = words.at.saturating_sub(1);
        if nodes.len() > most && word != Word::End {
            return Err(words.bad(at, TOO_MANY, FEWER));
        }
        match word {
            Word::Mark(b'(') if state == State::Fresh => {
                nodes[now].is_tip = false;
                nodes.push(fresh(now, at));
                now = nodes.len() - 1;
            }
            Word::Label(label) if matches!(state, State::Fresh | State::Closed) => {
                nodes[now].label = Some(label).filter(|l| !l.text.is_empty());
                nodes[now].at = at;
                state = State::Named;
            }
            Word::Mark(b':') if state != State::Measured => {
                nodes[now].length = Some(length(words)?);
                state = State::Measured;
            }
            Word::Mark(mark @ (b',' | b')')) if now != 0 => {
                named(words, &nodes[now], at)?;
                let parent = nodes[now].parent;
                if mark == b',' {
                    nodes.push(fresh(parent, at));
                    now = nodes.len() - 1;
                    state = State::Fresh;
                } else {
                    now = parent;
                    state = State::Closed;
                }
            }
            Word::Mark(b';') | Word::End if now != 0 => {
                let problem = "the tree ends before all of its ( are closed";
                return Err(words.bad(at, problem, MEND));
            }
            Word::End if state == State::Fresh => return Ok(None),
            // The last tree of a file often lacks its semicolon.
            Word::Mark(b';') | Word::End => {
                named(words, &nodes[0], at)?;
                // Files may hold many trees of a node each.
                nodes.shrink_to_fit();
                return Ok(Some(nodes));
            }
            other => return Err(unexpected(words, at, &other, state)),
        }
    }
}

fn named(words: &Scanner, node: &Written, at: usize) -> Result<(), Bad> {
    match node.is_tip && node.label.is_none() {
        true => Err(words.bad(at, "a tip has no name", "give every tip the name of a variable")),
        false => Ok(()),
    }
}

fn unexpected(words: &Scanner, at: usize, word: &Word, state: State) -> Bad {
    let problem = match word {
        Word::Mark(b')') => "a ) closes nothing".to_owned(),
        Word::Mark(b',') => "a comma stands outside of all parentheses".to_owned(),
        Word::Mark(mark) => format!("{:?} stands where it means nothing", char::from(*mark)),
        Word::Label(label) if state == State::Named => {
            let problem = format!("{:?} follows another name", shown(&label.text));
            return words.bad(at, problem, "put names with blanks in quotes: 'Homo sapiens'");
        }
        Word::Label(label) => format!("{:?} stands where it means nothing", shown(&label.text)),
        Word::End => "the text ends too early".to_owned(),
    };
    words.bad(at, problem, MEND)
}

fn length(words: &mut Scanner) -> Result<f64, Bad> {
    let begin = words.at;
    if let Word::Label(label) = words.next()? {
        if let Some(length) = label.text.parse::<f64>().ok().filter(|x| x.is_finite()) {
            return Ok(length);
        }
        let problem = format!("the length {:?} is no finite number", shown(&label.text));
        return Err(words.bad(begin, problem, "mend it, or leave it out with its colon"));
    }
    Err(words.bad(begin, "a colon is not followed by a length", "give the length, or leave the colon out"))
}

/// As much of a name as a message can hold.
pub(in crate::trees) fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}
