//! The TREES block of NEXUS.

use super::newick::scan::{Bad, Label, Scanner, Word};
use super::newick::{Written, next_tree};
use std::collections::HashMap;
use std::rc::Rc;

/// What to do about a file without trees.
const WANTED: &str = "give a file with a block BEGIN TREES; TREE name = (a,(b,c)); END;";

/// All trees of all TREES blocks; numbers of a TRANSLATE command become the names they stand for.
pub(super) fn trees(text: &str, most: usize) -> Result<Vec<Vec<Written>>, Bad> {
    let mut words = Scanner::new(text);
    words.equals = true;
    // Behind the first word, which told the format.
    words.at = text.len() - text.trim_start().len() + "#nexus".len();
    let mut found = Vec::new();
    let mut left = most;
    while find_block(&mut words) {
        block(&mut words, &mut found, &mut left)?;
    }
    match found.is_empty() {
        true => Err(words.bad(0, "holds no tree in a TREES block", WANTED)),
        false => Ok(found),
    }
}

/// Moves behind the next BEGIN TREES; false at the end. Other blocks are passed over unread: they may hold anything.
fn find_block(words: &mut Scanner) -> bool {
    loop {
        let rest = &words.text[words.at..];
        let Some(end) = rest.find(';') else { return false };
        // Only the last words count: comments may stand before.
        let mut command = rest[..end].split_whitespace();
        words.at += end + 1;
        if let (Some(name), Some(begin)) = (command.next_back(), command.next_back())
            && begin.eq_ignore_ascii_case("begin")
            && name.eq_ignore_ascii_case("trees")
        {
            return true;
        }
    }
}

/// Reads a block. `left` is the number of nodes that its trees may have together.
fn block(words: &mut Scanner, found: &mut Vec<Vec<Written>>, left: &mut usize) -> Result<(), Bad> {
    let most = *left;
    let mut names: HashMap<Rc<str>, Label> = HashMap::new();
    loop {
        let at = words.at;
        match words.next()? {
            Word::End => {
                return Err(words.bad(at, "a TREES block is never ended", "end it with END;"));
            }
            Word::Mark(b';') => {}
            Word::Label(word) => match word.text.to_ascii_lowercase().as_str() {
                "end" | "endblock" => {
                    pass_command(words)?;
                    return Ok(());
                }
                "translate" => translate(words, &mut names, most)?,
                "tree" | "utree" => {
                    pass_name(words)?;
                    words.equals = false;
                    let tree = next_tree(words, *left)?;
                    words.equals = true;
                    let Some(mut tree) = tree else {
                        return Err(words.bad(at, "a TREE command holds no tree", WANTED));
                    };
                    for node in tree.iter_mut() {
                        if let Some(name) = node.label.as_ref().and_then(|l| names.get(&*l.text)) {
                            node.label = Some(name.clone());
                        }
                    }
                    *left = left.saturating_sub(tree.len());
                    found.push(tree);
                }
                _ => pass_command(words)?,
            },
            Word::Mark(mark) => {
                let problem = format!("{:?} stands where a command was expected", char::from(mark));
                return Err(words.bad(at, problem, WANTED));
            }
        }
    }
}

fn pass_command(words: &mut Scanner) -> Result<(), Bad> {
    loop {
        if matches!(words.next()?, Word::Mark(b';') | Word::End) {
            return Ok(());
        }
    }
}

/// Moves behind the `=` of a TREE command.
fn pass_name(words: &mut Scanner) -> Result<(), Bad> {
    let at = words.at;
    loop {
        match words.next()? {
            Word::Mark(b'=') => return Ok(()),
            Word::Label(_) => {}
            _ => return Err(words.bad(at, "a TREE command has no =", "write TREE name = (a,(b,c));")),
        }
    }
}

/// Pairs of a short and a full name between commas, up to a semicolon.
fn translate(words: &mut Scanner, names: &mut HashMap<Rc<str>, Label>, most: usize) -> Result<(), Bad> {
    let bad = |words: &Scanner, at| {
        words.bad(at, "a TRANSLATE command is not made of pairs", "write TRANSLATE 1 a, 2 b;")
    };
    loop {
        let at = words.at;
        let short = match words.next()? {
            Word::Label(short) => short,
            // A comma behind the last pair.
            Word::Mark(b';') => return Ok(()),
            _ => return Err(bad(words, at)),
        };
        let Word::Label(full) = words.next()? else { return Err(bad(words, at)) };
        names.insert(short.text, full);
        if names.len() > most {
            let problem = "a TRANSLATE command names more tips than a tree of all variables has";
            return Err(words.bad(at, problem, "keep the names of the tips that are variables"));
        }
        match words.next()? {
            Word::Mark(b',') => {}
            Word::Mark(b';') => return Ok(()),
            _ => return Err(bad(words, at)),
        }
    }
}
