//! GraphML: nodes and edges in XML, read as a stream.

use super::ReadOptions;
use super::nodes::{FEWER, MOST_ATTRIBUTES, Nodes, decoded, entity};
use crate::communities::data::{Gathered, Kind, Told};
use crate::error::{Error, Result};
use crate::input::{Source, TooMuch};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};
use tenfold_engine::progress::Progress;

/// Longest piece of markup or text, which is held whole.
const LONGEST: u64 = 1 << 24;

/// Most elements within each other: the parser keeps the name and the place of each.
const DEEPEST: u64 = 1 << 16;

/// Pieces of markup between two looks whether to stop.
const STEPS: u64 = 1 << 14;

const MEND: &str = "mend the line, or export the file again";

pub(super) fn read(source: &Source, options: &ReadOptions, progress: &dyn Progress) -> Result<Gathered> {
    source.begin(progress);
    let counted =
        Counted { inner: BufReader::with_capacity(1 << 16, source.reader(progress)?), line: 1, since: 0 };
    let mut reader = Reader::from_reader(counted);
    let mut state = State::new(source, options);
    let (mut buffer, mut depth, mut steps) = (Vec::new(), 0u64, 0u64);
    loop {
        buffer.clear();
        reader.get_mut().since = 0;
        steps += 1;
        if steps.is_multiple_of(STEPS) {
            progress.check()?;
        }
        let event = reader.read_event_into(&mut buffer);
        state.line = reader.get_ref().line;
        match event.map_err(|e| state.refuse(e))? {
            Event::Start(element) => {
                depth += 1;
                if depth > DEEPEST {
                    let problem = format!("opens more than {DEEPEST} elements within each other");
                    return Err(source.fail(state.line, problem, MEND));
                }
                state.open(&element)?;
            }
            Event::Empty(element) => {
                state.open(&element)?;
                state.close(element.local_name().as_ref())?;
            }
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                state.close(element.local_name().as_ref())?;
            }
            Event::Text(text) => state.push(&decoded(state.utf8(&text)?)),
            Event::CData(text) => state.push(state.utf8(&text)?.to_owned().as_str()),
            Event::GeneralRef(name) => {
                let name = state.utf8(&name)?.to_owned();
                let character = entity(&name).ok_or_else(|| {
                    source.fail(state.line, format!("has the unknown entity \"&{name};\""), MEND)
                })?;
                state.push(character.encode_utf8(&mut [0; 4]));
            }
            Event::Eof if depth > 0 => {
                return Err(source.fail(
                    state.line,
                    "ends before its graph does",
                    "it is cut short: copy it again",
                ));
            }
            Event::Eof => return state.finish(),
            _ => {}
        }
    }
}

/// Whether the values of a key belong to nodes or to edges.
#[derive(Debug, Clone)]
struct Key {
    name: String,
    nodes: bool,
    edges: bool,
}

/// A node or an edge that is being read.
struct Item {
    ends: Option<(String, String)>,
    id: String,
    values: Vec<(String, String)>,
    line: u64,
}

/// What was read so far.
struct State<'a> {
    source: &'a Source,
    nodes: Nodes<'a>,
    keys: HashMap<String, Key>,
    told: Option<Told>,
    item: Option<Item>,
    /// The key and the text of a value that is being read.
    value: Option<(String, String)>,
    /// Edges whose own direction is not that of the graph.
    contrary: usize,
    line: u64,
}

impl<'a> State<'a> {
    fn new(source: &'a Source, options: &'a ReadOptions) -> Self {
        let nodes = Nodes::new(source, options);
        Self {
            source,
            nodes,
            keys: HashMap::new(),
            told: None,
            item: None,
            value: None,
            contrary: 0,
            line: 1,
        }
    }

    fn open(&mut self, element: &BytesStart) -> Result<()> {
        match element.local_name().as_ref() {
            b"key" => self.key(element)?,
            b"graph" => {
                self.flush()?;
                let told = match self.attribute(element, b"edgedefault")?.as_deref() {
                    Some("directed") => Kind::Directed,
                    _ => Kind::Undirected,
                };
                self.told.get_or_insert(Told { kind: told, by: "as its graph says", sure: true });
            }
            b"node" => {
                self.flush()?;
                let id = self.needed(element, b"id")?;
                self.item = Some(Item { ends: None, id, values: Vec::new(), line: self.line });
            }
            b"edge" => {
                self.flush()?;
                let ends = (self.needed(element, b"source")?, self.needed(element, b"target")?);
                let directed = self.told.as_ref().is_some_and(|told| told.kind == Kind::Directed);
                let own = self.attribute(element, b"directed")?;
                self.contrary += usize::from(own.is_some_and(|own| (own == "true") != directed));
                let (id, values) = (String::new(), Vec::new());
                self.item = Some(Item { ends: Some(ends), id, values, line: self.line });
            }
            b"data" if self.item.is_some() => {
                let key = self.needed(element, b"key")?;
                self.value = Some((key, String::new()));
            }
            b"hyperedge" => {
                let remedy = "write every pair of its nodes as an edge";
                return Err(self.source.fail(self.line, "has a hyperedge, which is not read", remedy));
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &[u8]) -> Result<()> {
        match name {
            b"node" | b"edge" => self.flush(),
            b"data" => {
                if let (Some((id, text)), Some(item)) = (self.value.take(), &mut self.item) {
                    let key = self.keys.get(&id);
                    let fits = key.is_none_or(|key| if item.ends.is_some() { key.edges } else { key.nodes });
                    let name = key.map_or(id.as_str(), |key| key.name.as_str());
                    if fits && item.values.len() == MOST_ATTRIBUTES {
                        let problem = format!("has more than {MOST_ATTRIBUTES} attributes in one element");
                        return Err(self.source.fail(self.line, problem, FEWER));
                    }
                    if fits {
                        item.values.push((name.to_owned(), text.trim().to_owned()));
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Hands a node or an edge over.
    fn flush(&mut self) -> Result<()> {
        self.value = None;
        let Some(Item { ends, id, values, line }) = self.item.take() else { return Ok(()) };
        match ends {
            None => self.nodes.node(&id, &values, line),
            Some((from, to)) => self.nodes.edge((&from, &to), &values, line),
        }
    }

    /// What a key stands for.
    fn key(&mut self, element: &BytesStart) -> Result<()> {
        let id = self.needed(element, b"id")?;
        let name = self.attribute(element, b"attr.name")?.unwrap_or_else(|| id.clone());
        let of = self.attribute(element, b"for")?.unwrap_or_else(|| "all".into());
        let (nodes, edges) = (of == "node" || of == "all", of == "edge" || of == "all");
        if self.keys.len() == MOST_ATTRIBUTES {
            let problem = format!("declares more than {MOST_ATTRIBUTES} attributes");
            return Err(self.source.fail(self.line, problem, FEWER));
        }
        self.keys.insert(id, Key { name, nodes, edges });
        Ok(())
    }

    fn push(&mut self, text: &str) {
        if let Some((_, value)) = &mut self.value {
            value.push_str(text);
        }
    }

    fn attribute(&self, element: &BytesStart, name: &[u8]) -> Result<Option<String>> {
        for attribute in element.attributes() {
            let attribute = attribute
                .map_err(|e| self.source.fail(self.line, format!("cannot be read as XML ({e})"), MEND))?;
            if attribute.key.as_ref() == name {
                return Ok(Some(decoded(self.utf8(&attribute.value)?).into_owned()));
            }
        }
        Ok(None)
    }

    fn needed(&self, element: &BytesStart, name: &[u8]) -> Result<String> {
        self.attribute(element, name)?.ok_or_else(|| {
            let (element, name) = (element.local_name(), String::from_utf8_lossy(name).into_owned());
            let problem = format!("has a {} without {name}", String::from_utf8_lossy(element.as_ref()));
            self.source.fail(self.line, problem, MEND)
        })
    }

    fn utf8<'t>(&self, bytes: &'t [u8]) -> Result<&'t str> {
        std::str::from_utf8(bytes).map_err(|e| {
            let problem = format!("is not valid UTF-8 (byte 0x{:02x})", bytes[e.valid_up_to()]);
            let remedy = "if it is in another encoding, name that, for example --encoding latin1";
            self.source.fail(self.line, problem, remedy)
        })
    }

    fn refuse(&self, error: quick_xml::Error) -> Error {
        match error {
            quick_xml::Error::Io(error) => self.source.refuse(Some(self.line), &error),
            error @ quick_xml::Error::Syntax(_) => {
                let remedy = "close what is open there; if the file is cut short, copy or export it again";
                self.source.fail(self.line, format!("cannot be read as XML ({error})"), remedy)
            }
            other => self.source.fail(self.line, format!("cannot be read as XML ({other})"), MEND),
        }
    }

    fn finish(mut self) -> Result<Gathered> {
        self.flush()?;
        let Some(told) = self.told.take() else {
            return Err(self.source.fail(
                None,
                "holds no graph",
                "GraphML has its nodes in <graph>…</graph>",
            ));
        };
        let mut gathered = self.nodes.finish(told, false)?;
        if self.contrary > 0 {
            let count = self.contrary;
            gathered.notes.push(format!("{count} edges have a direction of their own, which is passed over"));
        }
        Ok(gathered)
    }
}

/// Counts lines, and the bytes of the piece that is being read.
struct Counted<R> {
    inner: BufReader<R>,
    line: u64,
    since: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let held = self.fill_buf()?;
        let n = held.len().min(buffer.len());
        buffer[..n].copy_from_slice(&held[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl<R: Read> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.since > LONGEST {
            return Err(io::Error::other(TooMuch::Line));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        let used = &self.inner.buffer()[..amount];
        self.line += used.iter().filter(|b| **b == b'\n').count() as u64;
        self.since += amount as u64;
        self.inner.consume(amount);
    }
}
