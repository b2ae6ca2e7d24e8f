//! Matrices in the MatrixMarket format: rows and columns are nodes.

use super::ReadOptions;
use super::lines::{Fields, Parsed, Separator, numbers};
use crate::communities::data::{Gathered, Ids, Kind, Pairs, Told};
use crate::error::{Error, Result};
use crate::input::numbers::{line, shown};
use crate::input::{Source, parse_lines};
use std::io::Read;
use std::ops::ControlFlow;
use tenfold_engine::progress::{Progress, Silent};

/// Nodes without edges that are taken beyond two for every entry.
const EMPTY: u64 = 1 << 20;

/// Whether so many entries bear out what a header promises: it may promise any number of nodes, and each costs memory.
pub(super) fn bears_out(nodes: u64, entries: u64) -> bool {
    nodes <= EMPTY + 2 * entries
}

/// What a header promises.
struct Header {
    rows: u32,
    cols: u32,
    entries: u64,
    pattern: bool,
    symmetric: bool,
    /// Bytes and lines of it.
    length: (u64, u64),
}

pub(super) fn read(source: &Source, options: &ReadOptions, progress: &dyn Progress) -> Result<Gathered> {
    let header = header(source)?;
    let Header { rows, cols, entries, pattern, symmetric, length } = header;
    let weight = (!pattern).then_some(2);
    let fields = Fields {
        separator: Separator::Any,
        from: 0,
        to: 1,
        weight,
        comments: true,
        shape: Some((rows, cols)),
    };
    // A symmetric matrix holds one half, which only an undirected graph takes for both.
    let mirrored = symmetric && matches!(options.kind, Some(Kind::Directed | Kind::Bipartite));
    let (mut edges, mut weights, mut found) = (Vec::new(), Vec::new(), 0u64);
    let take = |parsed| {
        if let Parsed::Numbers(Pairs::Small(mut piece), mut own) = parsed {
            found += piece.len() as u64;
            piece.iter_mut().for_each(|e| *e = (e.0 - 1, e.1 - 1));
            if mirrored {
                let back = |e: &usize| piece[*e].0 != piece[*e].1;
                let back: Vec<usize> = (0..piece.len()).filter(back).collect();
                own.extend(back.iter().filter_map(|e| own.get(*e).copied()).collect::<Vec<_>>());
                piece.extend(back.iter().map(|e| (piece[*e].1, piece[*e].0)).collect::<Vec<_>>());
            }
            edges.push(piece);
            weights.push(own);
        }
        Ok(ControlFlow::Continue(()))
    };
    parse_lines(source, length, |piece| numbers(piece, &fields), take, progress)?;
    if found != entries {
        let remedy = if found < entries {
            "it is cut short, or the header is wrong: export it again"
        } else {
            "the header is wrong: mend it"
        };
        return Err(source.fail(
            length.1,
            format!("promises {entries} entries, but the file holds {found}"),
            remedy,
        ));
    }
    let apart = rows != cols || options.kind == Some(Kind::Bipartite);
    let nodes = u64::from(rows) + if apart { u64::from(cols) } else { 0 };
    if !bears_out(nodes, entries) {
        let problem = format!("promises {nodes} nodes, but the file holds {entries} entries");
        return Err(source.fail(length.1, problem, "mend the header, or number the nodes without gaps"));
    }
    let weights = weight.map(|_| weights);
    let mut gathered = Gathered::new(Ids::counted(1, rows as usize), edges, weights);
    gathered.declared = true;
    gathered.others = apart.then(|| Ids::counted(1, cols as usize));
    gathered.told = match (symmetric, rows == cols) {
        (true, _) => {
            Some(Told { kind: Kind::Undirected, by: "as its header calls it symmetric", sure: true })
        }
        (_, false) => Some(Told { kind: Kind::Bipartite, by: "as its matrix is not square", sure: true }),
        _ => None,
    };
    gathered.notes.push("nodes are called by their rows and columns, counted from 1".into());
    Ok(gathered)
}

/// Reads `%%MatrixMarket matrix coordinate real general`, comments, and the numbers of rows, columns and entries.
fn header(source: &Source) -> Result<Header> {
    let head = source.head(1 << 20);
    if head.is_empty() {
        // Not even one byte can be unpacked: the reader says why.
        source.reader(&Silent)?.read_exact(&mut [0]).map_err(|e| source.refuse(None, &e))?;
    }
    let (first, mut at) = line(&head, 0);
    let banner = String::from_utf8_lossy(first).to_ascii_lowercase();
    let words: Vec<&str> = banner.split_ascii_whitespace().take(6).collect();
    let ["%%matrixmarket", "matrix", "coordinate", field, symmetry] = words[..] else {
        return Err(not_market(source, first));
    };
    let pattern = match field {
        "pattern" => true,
        "real" | "integer" | "double" => false,
        _ => return Err(not_market(source, first)),
    };
    let symmetric = match symmetry {
        "symmetric" => true,
        "general" => false,
        _ => return Err(not_market(source, first)),
    };
    let mut number = 1;
    while at < head.len() {
        let (text, next) = line(&head, at);
        number += 1;
        at = next;
        if text.starts_with(b"%") || text.is_empty() {
            continue;
        }
        let fields: Vec<&[u8]> = text.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty()).collect();
        let [rows, cols, entries] = fields[..] else {
            let problem =
                format!("{:?} where the numbers of rows, columns and entries were expected", shown(text));
            return Err(source.fail(number, problem, "export the file again"));
        };
        let (rows, cols) = (size(source, number, "rows", rows)?, size(source, number, "columns", cols)?);
        let entries = promise(source, number, "entries", entries)?;
        if symmetric && rows != cols {
            let problem = format!("calls a matrix of {rows} × {cols} symmetric");
            return Err(source.fail(number, problem, "mend the header, or export the file again"));
        }
        let length = (at as u64, number);
        return Ok(Header { rows, cols, entries, pattern, symmetric, length });
    }
    Err(source.fail(None, "ends within its header", "it is cut short: copy or export it again"))
}

fn not_market(source: &Source, first: &[u8]) -> Error {
    let wanted = "%%MatrixMarket matrix coordinate pattern|real|integer general|symmetric";
    let problem = format!("{:?} where {wanted} was expected", shown(first));
    source.fail(1, problem, "write it as a sparse matrix, for example with scipy.io.mmwrite")
}

fn promise(source: &Source, line: u64, what: &str, text: &[u8]) -> Result<u64> {
    let value = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok());
    value.ok_or_else(|| {
        let problem = format!("{:?} where the number of {what} was expected", shown(text));
        source.fail(line, problem, "export the file again")
    })
}

/// A number of rows or columns, which must stay within what can be counted.
fn size(source: &Source, line: u64, what: &str, text: &[u8]) -> Result<u32> {
    let value = promise(source, line, what, text)?;
    if value == 0 || value > 1 << 31 {
        let problem = format!("promises {value} {what}, where 1 to 2147483648 can be read");
        return Err(source.fail(line, problem, "mend the header, or export the file again"));
    }
    Ok(value as u32)
}
