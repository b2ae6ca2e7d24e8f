//! Any bytes to every graph reader: an error or a sound graph, never a panic, and never much memory.

mod graph_files;
mod input_files;
mod readers;
use graph_files::{element, file, mat, matrix, packed, sparse};
use input_files::Spoil;
use proptest::prelude::*;
use readers::graphs::sound;
use std::sync::Mutex;
use tenfold::communities::Kind;
use tenfold::communities::read::{Format, ReadOptions, read};
use tenfold::engine::progress::Silent;

const FORMATS: [Format; 8] = [
    Format::Edges,
    Format::Csv,
    Format::Tsv,
    Format::Parquet,
    Format::MatrixMarket,
    Format::Gml,
    Format::GraphMl,
    Format::Mat,
];

/// Bytes that a reader may take for a file of a few hundred: what the 4 million nodes without edges take that a header may
/// promise, in both directions, and what threads take once.
const ALLOWED: u64 = 320 << 20;

/// One reader at a time, so that what is measured is its own.
static ALONE: Mutex<()> = Mutex::new(());

/// A line of the process's state in bytes, where the system tells.
fn memory(line: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|found| found.starts_with(line))?;
    Some(1024 * line.split_whitespace().nth(1)?.parse::<u64>().ok()?)
}

/// Runs `work` alone, and gives the bytes that it held beyond those before, where the system tells.
fn measured(work: impl FnOnce()) -> Option<u64> {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // Begins a new largest amount.
    let begun = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = memory("VmRSS:");
    work();
    Some(memory("VmHWM:")?.saturating_sub(before?)).filter(|_| begun)
}

/// Reads the bytes in every format, and told by themselves.
fn check(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "x", bytes);
    for format in FORMATS.into_iter().map(Some).chain([None]) {
        for kind in [None, Some(Kind::Directed), Some(Kind::Bipartite)] {
            let options = ReadOptions { format, kind, max_decompressed: 1 << 24, ..ReadOptions::default() };
            let mut found = None;
            let taken = measured(|| found = read(&path, &options, &Silent).ok());
            assert!(taken.is_none_or(|taken| taken < ALLOWED), "{taken:?} bytes for {format:?} of {bytes:?}");
            found.iter().for_each(sound);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&bytes);
        packed(&bytes).iter().for_each(|p| check(p));
    }

    #[test]
    fn anything_that_looks_like_numbers(text in "[0-9,;. \n\t#%e-]{0,200}") {
        check(text.as_bytes());
        check(format!("%%MatrixMarket matrix coordinate real general\n{text}").as_bytes());
    }

    #[test]
    fn any_header(numbers in prop::collection::vec(prop_oneof![0u64..9, any::<u64>(), 1u64 << 20..1 << 33], 6)) {
        let fields: Vec<String> = numbers.iter().map(u64::to_string).collect();
        check(format!("%%MatrixMarket matrix coordinate real general\n{}\n{}\n", fields[..3].join(" "), fields[3..].join(" ")).as_bytes());
        check(format!("%%MatrixMarket matrix coordinate pattern symmetric\n{}\n{}\n", fields[..3].join(" "), fields[3..5].join(" ")).as_bytes());
        check(format!("{}\n{}\n", fields[..3].join(" "), fields[3..].join(" ")).as_bytes());
        check(format!("n{}\nn{}\n", fields[..3].join("\tn"), fields[3..].join("\tn")).as_bytes());
        let node = |id: &String| format!("node [ id {id} ]");
        let nodes = fields[..4].iter().map(node).collect::<String>();
        check(format!("graph [ {nodes} edge [ source {} target {} ] ]", fields[0], fields[1]).as_bytes());
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        check(text.as_bytes());
    }

    #[test]
    fn anything_that_looks_like_gml(words in prop::collection::vec(prop::sample::select(vec![
        "graph", "[", "]", "node", "edge", "id", "1", "2", "source", "target", "label", "\"a\"", "\"", "value", "directed", "#", "\n",
    ]), 0..60)) {
        check(format!("graph [ {}", words.join(" ")).as_bytes());
    }

    #[test]
    fn anything_that_looks_like_graphml(words in prop::collection::vec(prop::sample::select(vec![
        "<graph>", "</graph>", "<node id='1'>", "</node>", "<node id='2'/>", "<edge source='1' target='2'/>", "<data key='k'>",
        "</data>", "&amp;", "&x;", "<![CDATA[", "]]>", "<!--", "-->", "<", ">", "'", "text",
    ]), 0..40)) {
        check(format!("<graphml><graph edgedefault='directed'>{}</graph></graphml>", words.concat()).as_bytes());
    }
}

#[test]
fn large_promises_take_no_memory() {
    let parts = [[1i32, 0], [0, 2]].map(|p| element(5, &p.map(i32::to_le_bytes).concat()));
    let values = element(9, &[1.0f64, 1.0].map(f64::to_le_bytes).concat());
    for (rows, cols) in [(i32::MAX, 1), (1, i32::MAX), (i32::MAX, i32::MAX), (-1, -1), (1 << 22, 1)] {
        let parts = [parts.to_vec(), vec![values.clone()]].concat();
        for compressed in [false, true] {
            check(&mat(&[matrix(5, rows, cols, "A", &parts)], compressed));
            check(&mat(&[matrix(6, rows, cols, "A", &parts[2..])], compressed));
        }
    }
    // A length of 4 GiB in the tag of an element, and one of a gibibyte of zeros in a few kilobytes.
    let mut long = mat(&[sparse("A", 3, 3, &[(1, 0, 1.0)])], false);
    for at in [132, 140, 156, 172, 188] {
        let mut file = long.clone();
        file[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        check(&file);
    }
    long.resize(1 << 24, 0);
    packed(&long).iter().for_each(|p| check(p));
    for ids in ["1152921504606846976", "4294967295", "4294967294", "18446744073709551615"] {
        check(format!("{ids} 1\n1 0\n").as_bytes());
        check(format!("graph [ node [ id {ids} ] node [ id 1 ] edge [ source 1 target {ids} ] ]").as_bytes());
    }
    // A line, a text and a tag without an end.
    for begin in ["", "1 2\n", "graph [ node [ id \"", "<graphml><graph><node id=\"", "\"a\",\""] {
        let text = format!("{begin}{}", "x".repeat(1 << 21));
        check(text.as_bytes());
        packed(text.as_bytes()).iter().for_each(|p| check(p));
    }
}

/// What no graph has is refused where it passes its limit.
#[test]
fn nodes_of_endless_attributes_and_depths_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let many = 70_000;
    let data = "<data key=\"a\">1</data>".repeat(many);
    let keys: String = (0..many).map(|i| format!("<key id=\"{i}\"/>")).collect();
    for (format, text, told) in [
        (
            Format::Gml,
            format!("graph[node[id 1 {}]]", "a 1 ".repeat(many)),
            "more than 65536 attributes in one list",
        ),
        (
            Format::GraphMl,
            format!("<graphml><graph><node id=\"1\">{data}</node></graph></graphml>"),
            "attributes in one element",
        ),
        (Format::GraphMl, format!("<graphml>{keys}</graphml>"), "declares more than 65536 attributes"),
        (Format::GraphMl, "<a>".repeat(many), "opens more than 65536 elements within each other"),
    ] {
        let path = file(&folder, "graph", text.as_bytes());
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        let error = read(&path, &options, &Silent).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn spoilt_files_of_every_kind() {
    let gml = "Creator \"x\"\ngraph [ directed 1\nnode [ id 1 label \"a\" value 3 ]\nnode [ id 2 label \"b\" ]\nedge [ source 1 target 2 weight 2 ]\n]\n";
    let graphml = "<?xml version=\"1.0\"?><graphml><key id=\"k\" for=\"node\" attr.name=\"v\"/><graph edgedefault=\"directed\">\
        <node id=\"a\"><data key=\"k\">1</data></node><node id=\"b\"/><edge source=\"a\" target=\"b\"/></graph></graphml>";
    let places = [(1, 0, 1.0), (2, 0, 1.0), (0, 1, 1.0), (0, 2, 3.0)];
    let full = graph_files::full("local_info", 3, 7, &[1; 21]);
    let files: Vec<Vec<u8>> = vec![
        b"# Undirected graph\n1 2 3\n2 3 1\n4 1 2.5\n".to_vec(),
        b"source,target\n\"a\",b\nb,\"c d\"\n".to_vec(),
        b"%%MatrixMarket matrix coordinate integer symmetric\n%\n3 3 3\n2 1 2\n3 2 7\n3 1 9\n".to_vec(),
        gml.into(),
        graphml.into(),
        mat(&[sparse("A", 3, 3, &places), full.clone()], false),
        mat(&[full, sparse("A", 3, 3, &places)], true),
        mat(&[element(14, &[]), element(15, &[1, 2, 3])], false),
    ];
    for (seed, bytes) in files.iter().enumerate() {
        check(bytes);
        let mut spoil = Spoil::new(seed as u64);
        for _ in 0..60 {
            check(&spoil.spoil(bytes));
        }
        for packed in packed(bytes) {
            for _ in 0..10 {
                check(&spoil.spoil(&packed));
            }
        }
    }
}
