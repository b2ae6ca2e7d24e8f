//! The factor of what a reader may hold: large files of the tersest text of every format, in which each byte or two make whatever the
//! reader keeps for a record. The fuzzers give small files, where the constant hides the factor.

mod input_files;
#[path = "readers/measure.rs"]
mod measure;
mod readers;

use input_files::folder;
use readers::Reader;
use std::path::Path;
use tenfold::communities::{Ids, truth};
use tenfold::engine::progress::Silent;
use tenfold::topics::read::{Format, ReadOptions, read};

/// Bytes of a file; half of it where records or names are allowed bytes of their own.
const LENGTH: usize = 16_000_000;

/// What a file repeats.
enum Again {
    Same(&'static str),
    /// With a number of its own wherever there is a `{}`.
    New(&'static str),
}

use Again::{New, Same};

/// A file: its reader, what stands at its beginning (`{}` is the number of the lines that follow), what is repeated, what stands at its end, and the bytes that
/// `docs/hostile-input.md` allows beside the factor for every time that it is repeated.
type Terse = (&'static str, &'static str, Again, &'static str, usize);

/// As the document states them: names that are new …
const WORD: usize = 250;
const NODE: usize = 140;
const GENE: usize = 600;
const CODE: usize = 320;
const COMMUNITY: usize = 200;
const DOCUMENT: usize = 80;
/// … and records of data.
const LINK: usize = 40;
const ENTRY: usize = 24;
const MEMBER: usize = 40;
const EVENT: usize = 72;
const SAMPLE: usize = 16;
const VALUE: usize = 28;
const CELL: usize = 240;

const MARKET: &str = "%%MatrixMarket matrix coordinate pattern general\n9 9 {}\n";
const NEXUS: &str = "#NEXUS\nbegin trees;\n";
const GRAPHML: &str = "<graphml><graph edgedefault=\"undirected\"><node id=\"1\">";

const FILES: &[Terse] = &[
    // Trees.
    ("newick", "", Same("("), "", 0),
    ("newick", "(a", Same(",a"), ");", 0),
    ("newick", "", Same("a;"), "", 0),
    ("newick", "", Same("(b,"), "", 0),
    ("newick", "(a:1", Same(",b:2"), ");", 0),
    ("newick", "", New("({},"), "", 0),
    ("newick", "[", Same("["), "", 0),
    ("newick", "('", Same("''"), "',b,c);", 0),
    ("newick", "", Same("\n"), "(a,b,c d);", 0),
    ("nexus", NEXUS, Same("tree a=a;"), "", 0),
    ("nexus", NEXUS, Same("a "), "", 0),
    ("nexus", "#NEXUS\n", Same("a "), "", 0),
    ("nexus", "#NEXUS\nbegin trees;\ntranslate ", New("{} b,"), ";", 0),
    ("nexus", "#NEXUS\nbegin trees;\ntree x=", Same("("), "", 0),
    // Variables.
    ("fasta", "", Same(">a\n"), "", 0),
    ("fasta", "", Same(">a\nA\n"), "", 0),
    ("fasta", ">a\n", Same("A\n"), "", 0),
    ("fasta", ">a\n", Same("\n"), "", 0),
    ("phylip", "2 9\n", Same("a\n"), "", 0),
    ("phylip", "2 9\na A\n", Same("A\n"), "", 0),
    ("phylip", "9999999 1\n", Same("a\n"), "", 0),
    ("variables", "", Same("1,"), "\n", 0),
    ("variables", "a,b\n", Same("\n"), "", 0),
    ("variables", "", Same("\"\","), "\n", 0),
    ("variables", "a,b\n", Same("0,1\n1,0\n"), "", 2 * SAMPLE + 4 * VALUE),
    ("variables", "a\n", New("{}\n"), "", SAMPLE + VALUE),
    ("fasta", ">a\n", Same("AC"), "\n>b\nA\n", 0),
    ("groups", "code,group\n", Same("a,b\n"), "", 0),
    ("groups", "code,group\n", New("{},b\n"), "", CODE),
    ("groups", "code,group\n", New("{},g{}\n"), "", CODE),
    ("codes", "patient,code\n", Same("1,a\n"), "", 0),
    // Tables of numbers.
    ("csv", "", Same("1,"), "\n", 0),
    ("csv", "", Same(","), "\n", 0),
    ("csv", "1\n", Same("1,"), "\n", 0),
    ("csv", "", Same("\"\n\","), "\n", 0),
    ("csv", "", Same("1\n"), "", 0),
    ("csv", "", Same("\n"), "", 0),
    // Text.
    ("sentences", "", Same("\n"), "", 0),
    ("lines", "", Same("\n"), "", 0),
    ("sentences", "", Same("a\n"), "", 0),
    ("lines", "", Same("a\n"), "", 0),
    ("sentences", "", Same("a "), "\n", 0),
    ("lines", "", Same("a "), "\n", 0),
    ("lines", "", Same("."), "\n", 0),
    ("lines", "", New("{} "), "\n", WORD),
    ("table", "text\n", Same("a\n"), "", 0),
    ("table", "text\n", Same("\n"), "", 0),
    ("documents", "", Same("a,"), "\n", 0),
    ("mallet", "", Same("\n"), "", DOCUMENT),
    ("mallet", "", Same("a b c\n"), "", DOCUMENT),
    ("lda-c", "", Same("0\n"), "1 0:1\n", 0),
    ("lda-c", "", Same("1 0:1\n"), "", ENTRY),
    ("svmlight", "", Same("1\n"), "1 1:1\n", 0),
    ("svmlight", "", Same("1 1:1\n"), "", ENTRY),
    ("svmlight", "1", Same(" 1:1"), "\n", ENTRY),
    ("uci", "1\n1\n{}\n", Same("1 1 1\n"), "", ENTRY),
    ("uci", "3\n9\n{}\n", Same("1 1 1\n"), "2 1 1\n1 2 1\n3 1 1\n", 0),
    ("uci", "1\n1\n1\n", Same("1 "), "\n", 0),
    ("matrix-market", "%%MatrixMarket ", Same("3 "), "\n", 0),
    ("matrix-market", "%%MatrixMarket matrix coordinate pattern general\n", Same("3 "), "\n", 0),
    ("vectors", "", New("{} 1\n"), "", WORD),
    ("vectors", "a", Same(" 1"), "\n", 0),
    // Graphs.
    ("edges", "", Same("1 2\n"), "", LINK),
    ("edges", "", Same("1 2 3\n"), "", LINK),
    ("edges", "", Same("a b\n"), "", LINK),
    ("edges", "", Same("\n"), "1 2\n", 0),
    ("edges", "", New("{} 1\n"), "", NODE + LINK),
    ("edges", "", New("a{} b\n"), "", NODE + LINK),
    ("graph-table", "", Same("a,b\n"), "", LINK),
    ("graph-table", "", Same("\"a\",b\n"), "", LINK),
    ("graph-table", "", Same("a,"), "\n", 0),
    ("matrix-market", MARKET, Same("1 2\n"), "", LINK),
    ("gml", "graph[node[id 1]node[id 2]", Same("edge[source 1 target 2]"), "]", 0),
    ("gml", "graph[node[id 1 ", Same("a 1 "), "]]", 0),
    ("gml", "graph[node[", Same("a["), "", 0),
    ("gml", "graph[", New("node[id {}]"), "]", NODE),
    ("graphml", GRAPHML, Same("<data key=\"a\"/>"), "</node></graph></graphml>", 0),
    ("graphml", GRAPHML, Same("<a>"), "", 0),
    ("graphml", "<graphml>", New("<key id=\"{}\"/>"), "", 0),
    ("graphml", "<graphml><graph>", New("<node id=\"{}\"/>"), "", NODE),
    ("cover", "", Same("1\n"), "", COMMUNITY),
    ("communities", "", Same("1 2 "), "\n", 2 * MEMBER),
    ("cover", "", Same("\n"), "1 2\n", 0),
    // Signals and tissue.
    ("events", "sample\n", Same("1\n"), "", EVENT),
    ("region", "[", Same("{},"), "{}]", 0),
    ("region", "", Same("["), "", 0),
    ("region", "[", Same("0,"), "0]", 0),
    ("region", r#"{"type":"Polygon","coordinates":[["#, Same("[0,1],[1,0],"), "[0,0]]]}", 0),
    ("region", r#"{"type":"Polygon","coordinates":["#, Same("[[0,0],[0,1],[1,0]],"), "[]]}", 0),
    ("region", r#"{"type":"MultiPolygon","coordinates":["#, Same("[[[0,0],[0,1],[1,0]]],"), "[]]}", 0),
    ("rings", "x,y\n", Same("0,1\n1,0\n"), "", 0),
    ("rings", "x,y,ring\n", New("0,1,{}\n"), "", GENE),
    ("rings", "image,gene\n", New("{},a\n"), "", GENE),
    ("cells", "x,y,gene\n", Same("1,1,a\n"), "", CELL),
    ("cells", "x,y,gene\n1,1,a\n", Same(","), "\n", 0),
    ("expression", "gene", Same(",a"), "\n", 0),
    ("expression", "gene,a\n", New("{},1\n"), "", GENE),
    ("wfdb-header", "w 1 1 1\n", Same("#\n"), "", 0),
    ("wfdb-header", "w 9 1 1\n", Same("a 212\n"), "", 0),
];

/// One way of a reader, where all of them would take long and hold no more.
const ONE_WAY: [Reader; 4] = [
    Reader { name: "sentences", file: "x.txt", beside: &[], check: sentences },
    Reader { name: "lines", file: "x.txt", beside: &[], check: |path| documents(path, Format::Lines) },
    Reader { name: "table", file: "x.csv", beside: &[], check: |path| documents(path, Format::Csv) },
    Reader { name: "cover", file: "x.txt", beside: &[], check: cover },
];

fn sentences(path: &Path) -> bool {
    tenfold::sentences::read(path, &tenfold::sentences::ReadOptions::default(), &Silent).is_ok()
}

fn documents(path: &Path, format: Format) -> bool {
    let [text, _] = readers::documents::bases();
    read(path, &ReadOptions { format: Some(format), ..text }, &Silent).is_ok()
}

fn cover(path: &Path) -> bool {
    let ids = Ids::from_numbers(vec![1, 2, 3, 4]).unwrap();
    let options = truth::Options { format: Some(truth::Format::Cover), ..truth::Options::default() };
    truth::read(path, &ids, &options, &Silent).is_ok()
}

/// The bytes of a file, and how often it repeats what it repeats.
fn made((_, head, again, tail, each): &Terse) -> (Vec<u8>, usize) {
    let length = if *each > 0 { LENGTH / 2 } else { LENGTH };
    let (mut bytes, mut count) = (head.as_bytes().to_vec(), 0);
    while bytes.len() < length {
        match again {
            Same(text) => bytes.extend_from_slice(text.as_bytes()),
            New(text) => bytes.extend_from_slice(text.replace("{}", &count.to_string()).as_bytes()),
        }
        count += 1;
    }
    // What a header promises is there.
    if head.contains("{}") {
        let entries = count + tail.matches('\n').count();
        bytes.splice(..head.len(), head.replace("{}", &entries.to_string()).into_bytes());
    }
    bytes.extend_from_slice(tail.as_bytes());
    (bytes, count)
}

/// `TENFOLD_TERSE=1` tells what every file took.
#[test]
fn readers_of_text_hold_a_few_times_their_files() {
    let folder = folder();
    let tell = std::env::var_os("TENFOLD_TERSE").is_some();
    let mut findings = Vec::new();
    for file in FILES {
        let (bytes, count) = made(file);
        let (name, head, again, _, each) = file;
        let one_way = ONE_WAY.iter().find(|reader| reader.name == *name);
        let reader = one_way.or_else(|| readers::find(name)).unwrap();
        let begin = std::time::Instant::now();
        let (read, taken) = measure::taken(reader, folder.path(), &bytes);
        let allowed = measure::allowed(bytes.len()) + each * count;
        let (Same(text) | New(text)) = again;
        let what = format!("{name}: {head:?} and {count} times {text:?}");
        if tell {
            let seconds = begin.elapsed().as_secs_f64();
            let beyond = taken.saturating_sub(measure::CONSTANT) as f64;
            eprintln!(
                "{seconds:5.2} s {:7.1} MB of {:6.1}, {:5.1} times, {:6.1} each {each}, read {read}: {what}",
                taken as f64 / 1e6,
                allowed as f64 / 1e6,
                beyond / bytes.len() as f64,
                (taken as f64 - measure::allowed(bytes.len()) as f64) / count as f64,
            );
        }
        if taken > allowed {
            findings.push(format!("{what}: {taken} bytes where {allowed} are allowed"));
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
