//! Word vectors from files of word2vec (text and binary) and GloVe.
//!
//! word2vec begins with a line `words dimensions`; GloVe does not. Nothing is set aside for what that line promises: it is
//! checked against what comes.

use crate::error::{Error, Result};
use crate::input::{Opening, Source};
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::Progress;

/// Most numbers of a vector. The widest in use have some thousands.
const WIDEST: usize = 65_536;
/// Longest word in bytes, and room for a number in a line of text.
const LONGEST: usize = 4096;
const NUMBER: usize = 40;
/// Words between two looks at whether to stop.
const LOOK: usize = 4096;

/// Vectors for words, as a file gives them.
///
/// # Example
/// ```
/// use tenfold::engine::progress::Silent;
/// use tenfold::sentences::read_vectors;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("glove.txt");
/// std::fs::write(&path, "ship 0.5 1\nharbour -1 2e-1\n").unwrap();
/// let given = read_vectors(&path, None, None, &Silent)?;
/// assert_eq!(given.words(), ["ship", "harbour"]);
/// assert_eq!(given.vectors().row(1), [-1.0, 0.2]);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    words: Vec<String>,
    vectors: Mat,
    notes: Vec<String>,
}

impl Given {
    /// Vectors that are at hand, a row for every word.
    ///
    /// # Errors
    /// Another number of rows than of words, a word twice, numbers that are not finite, or nothing at all.
    pub fn new(words: Vec<String>, vectors: Mat) -> Result<Self> {
        if words.len() != vectors.rows() {
            return Err(Error::WrongShape {
                what: "rows of vectors",
                found: vectors.rows(),
                expected: words.len(),
            });
        }
        let unfit = |problem: String| Error::Unfit {
            problem,
            remedy: "give one finite vector for every word".into(),
        };
        if words.is_empty() || vectors.cols() == 0 {
            return Err(unfit("there are no word vectors".into()));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = words.iter().find(|word| !seen.insert(word.as_str())) {
            return Err(unfit(format!("the word {twice:?} has two vectors")));
        }
        if let Some(i) = (0..words.len()).find(|&i| vectors.row(i).iter().any(|x| !x.is_finite())) {
            return Err(unfit(format!("the vector of {:?} is not finite", words[i])));
        }
        Ok(Self { words, vectors, notes: Vec::new() })
    }

    /// The words, in the order of the file.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Words × dimensions.
    pub fn vectors(&self) -> &Mat {
        &self.vectors
    }

    /// What was passed over.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Reads vectors of word2vec (text or binary) or GloVe, plain or packed. With `wanted`, only those of these words are kept.
/// A packed file is given up after `max_decompressed` bytes, 64 GiB where `None`.
///
/// # Errors
/// A file that is missing, damaged, shorter than its first line promises, or whose lines have unequal numbers of
/// numbers, with the line; a file with none of the wanted words.
pub fn read_vectors(
    path: &Path,
    wanted: Option<&HashSet<&str>>,
    max_decompressed: Option<u64>,
    progress: &dyn Progress,
) -> Result<Given> {
    let max_decompressed = max_decompressed.unwrap_or(64 << 30);
    let opening = Opening { encoding: None, max_decompressed, wanted: "give vectors of word2vec or GloVe" };
    let source = Source::open(path, opening, progress)?;
    source.begin(progress);
    let mut reader = BufReader::with_capacity(1 << 20, source.bytes(progress)?);
    let mut first = Vec::new();
    line(&source, &mut reader, &mut first, (1, WIDEST * NUMBER))?;
    let mut taken = Taken {
        source: &source,
        wanted,
        seen: HashMap::new(),
        data: Vec::new(),
        width: 0,
        strange: 0,
        twice: 0,
    };
    match header(&first) {
        Some((words, width)) => {
            if width == 0 || width > WIDEST {
                let problem = format!("promises vectors of {width} numbers");
                return Err(source.fail(1, problem, format!("at least 1 and at most {WIDEST} can be used")));
            }
            taken.width = width;
            if is_binary(&mut reader, width) {
                binary(&source, &mut reader, &mut taken, (words, progress))?;
            } else {
                let found = lines(&source, &mut reader, &mut taken, (2, progress))?;
                if found != words {
                    let problem = format!("holds {found} vectors where its first line promises {words}");
                    return Err(source.fail(None, problem, "fetch the file again"));
                }
            }
        }
        None => {
            taken.width = width_of(&source, &first)?;
            taken.text(&first, 1)?;
            lines(&source, &mut reader, &mut taken, (2, progress))?;
        }
    }
    taken.finish()
}

/// Words and dimensions, when the first line is two whole numbers.
fn header(line: &[u8]) -> Option<(u64, usize)> {
    let text = std::str::from_utf8(line).ok()?;
    let mut parts = text.split_ascii_whitespace();
    let both = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().is_none().then_some(both)
}

/// How many numbers stand at the end of GloVe's first line.
fn width_of(source: &Source, line: &[u8]) -> Result<usize> {
    let text = String::from_utf8_lossy(line);
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let width = fields.iter().skip(1).rev().take_while(|f| f.parse::<f64>().is_ok()).count();
    match width {
        0 => Err(source.fail(1, "is no word followed by numbers", "give vectors of word2vec or GloVe")),
        _ => Ok(width),
    }
}

/// Whether vectors follow as bytes: a line of text has as many numbers as the header promises.
fn is_binary(reader: &mut impl BufRead, width: usize) -> bool {
    let Ok(ahead) = reader.fill_buf() else { return false };
    let end = ahead.iter().position(|&b| b == b'\n').unwrap_or(ahead.len());
    let Ok(text) = std::str::from_utf8(&ahead[..end]) else { return true };
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    fields.len() <= width || !fields.iter().rev().take(width).all(|f| f.parse::<f64>().is_ok())
}

/// The next line without its end; false when there is none. A line longer than `most` bytes is refused.
fn line(
    source: &Source,
    reader: &mut impl BufRead,
    out: &mut Vec<u8>,
    (number, most): (u64, usize),
) -> Result<bool> {
    out.clear();
    let limit = (most + LONGEST) as u64;
    let n = reader.by_ref().take(limit).read_until(b'\n', out).map_err(|e| source.refuse(None, &e))?;
    if n as u64 == limit && out.last() != Some(&b'\n') {
        return Err(source.fail(
            number,
            format!("is longer than {limit} bytes"),
            "give vectors of word2vec or GloVe, one word a line",
        ));
    }
    while matches!(out.last(), Some(b'\n' | b'\r')) {
        out.pop();
    }
    Ok(n > 0)
}

fn lines(
    source: &Source,
    reader: &mut impl BufRead,
    taken: &mut Taken,
    (first, progress): (u64, &dyn Progress),
) -> Result<u64> {
    let (mut buffer, mut number) = (Vec::new(), first);
    while line(source, reader, &mut buffer, (number, taken.width * NUMBER))? {
        if (number as usize).is_multiple_of(LOOK) {
            progress.check()?;
        }
        taken.text(&buffer, number)?;
        number += 1;
    }
    Ok(number - first)
}

fn binary(
    source: &Source,
    reader: &mut impl BufRead,
    taken: &mut Taken,
    (words, progress): (u64, &dyn Progress),
) -> Result<()> {
    let (mut word, mut bytes) = (Vec::new(), vec![0u8; 4 * taken.width]);
    for i in 0..words {
        if (i as usize).is_multiple_of(LOOK) {
            progress.check()?;
        }
        let short = |e: io::Error| match e.kind() {
            io::ErrorKind::UnexpectedEof => {
                let problem = format!("ends after {i} of the {words} vectors that its first line promises");
                source.fail(None, problem, "fetch the file again")
            }
            _ => source.refuse(None, &e),
        };
        word.clear();
        let n = reader.by_ref().take(LONGEST as u64).read_until(b' ', &mut word).map_err(short)?;
        if word.pop() != Some(b' ') {
            let ended = n < LONGEST;
            let problem = if ended {
                format!("ends after {i} of the {words} vectors that its first line promises")
            } else {
                format!("word {} is longer than {LONGEST} bytes", i + 1)
            };
            return Err(source.fail(None, problem, "fetch the file again"));
        }
        // Some writers end every vector with a newline.
        let begin = word.iter().position(|b| *b != b'\n').unwrap_or(word.len());
        reader.read_exact(&mut bytes).map_err(short)?;
        let numbers = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        taken.take(&word[begin..], numbers.map(f64::from), || {
            source.fail(None, format!("the vector of word {} is not finite", i + 1), "fetch the file again")
        })?;
    }
    Ok(())
}

/// What was kept so far.
struct Taken<'a> {
    source: &'a Source,
    wanted: Option<&'a HashSet<&'a str>>,
    seen: HashMap<String, ()>,
    data: Vec<(String, Vec<f64>)>,
    width: usize,
    strange: u64,
    twice: u64,
}

impl Taken<'_> {
    /// A line of text: the numbers stand at its end, and what is before them is the word, blanks and all.
    fn text(&mut self, line: &[u8], number: u64) -> Result<()> {
        let wrong = |problem: String| {
            self.source.fail(number, problem, "every line needs one word and as many numbers as the first")
        };
        let mut rest = line.trim_ascii_end();
        let mut numbers = Vec::with_capacity(self.width);
        while numbers.len() < self.width {
            let Some(blank) = rest.iter().rposition(u8::is_ascii_whitespace) else {
                let (found, width) = (numbers.len(), self.width);
                return Err(wrong(format!("has {found} numbers where {width} were expected")));
            };
            let cell = std::str::from_utf8(&rest[blank + 1..]).ok().and_then(|c| c.parse::<f64>().ok());
            let Some(x) = cell.filter(|x| x.is_finite()) else {
                let shown: String = String::from_utf8_lossy(&rest[blank + 1..]).chars().take(40).collect();
                return Err(wrong(format!("holds {shown:?} where a number was expected")));
            };
            numbers.push(x);
            rest = rest[..blank].trim_ascii_end();
        }
        // In a table of numbers alone the words would be numbers that follow numbers.
        let more = rest.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty());
        let more =
            more.skip(1).filter(|f| std::str::from_utf8(f).is_ok_and(|f| f.parse::<f64>().is_ok())).count();
        if rest.is_empty() || more > 1 {
            let (found, width) = (self.width + more, self.width);
            return Err(wrong(format!(
                "has {found} numbers and a word where {width} and a word were expected"
            )));
        }
        let word = rest.to_vec();
        self.take(&word, numbers.into_iter().rev(), || unreachable!("checked above"))
    }

    fn take(
        &mut self,
        word: &[u8],
        numbers: impl Iterator<Item = f64>,
        wrong: impl Fn() -> Error,
    ) -> Result<()> {
        let Ok(word) = std::str::from_utf8(word) else {
            self.strange += 1;
            return Ok(());
        };
        if self.wanted.is_some_and(|wanted| !wanted.contains(word)) {
            return Ok(());
        }
        if self.seen.insert(word.to_owned(), ()).is_some() {
            self.twice += 1;
            return Ok(());
        }
        let numbers: Vec<f64> = numbers.collect();
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err(wrong());
        }
        self.data.push((word.to_owned(), numbers));
        Ok(())
    }

    fn finish(self) -> Result<Given> {
        if self.data.is_empty() {
            let problem = "holds a vector for none of the words of the text";
            return Err(self.source.fail(
                None,
                problem,
                "give vectors of the language of the text; if they tell upper from lower case, keep the case of the text",
            ));
        }
        let mut notes = Vec::new();
        for (count, what) in [(self.strange, "words are not UTF-8"), (self.twice, "words came twice")] {
            if count > 0 {
                notes.push(format!("{count} {what} and were passed over"));
            }
        }
        let width = self.width;
        let mut flat = Vec::with_capacity(self.data.len() * width);
        let mut words = Vec::with_capacity(self.data.len());
        for (word, vector) in self.data {
            words.push(word);
            flat.extend(vector);
        }
        Ok(Given { vectors: Mat::from_vec(words.len(), width, flat), words, notes })
    }
}

#[cfg(test)]
#[path = "vectors/tests.rs"]
mod tests;
