//! Any bytes to every document reader: an error or a sound corpus, never a panic, and never much memory.

mod input_files;
mod readers;
mod topics_files;
use input_files::Spoil;
use proptest::prelude::*;
use readers::documents::sound;
use std::sync::Mutex;
use tenfold::admixture::Completion;
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Silent;
use tenfold::topics::read::{Format, ReadOptions, read};
use topics_files::{bag, file, packed, plain};

const FORMATS: [Format; 9] = [
    Format::Lines,
    Format::Csv,
    Format::Tsv,
    Format::Parquet,
    Format::Mallet,
    Format::Uci,
    Format::LdaC,
    Format::MatrixMarket,
    Format::Svmlight,
];

/// Bytes that a reader may take for a file of a few hundred: twice what the 4 million empty documents take that a header
/// may promise, and what threads and batches take once.
const ALLOWED: u64 = 96 << 20;

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

/// Reads the bytes in every format, and told by themselves; whatever comes back must hold together.
fn check(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "x", bytes);
    for format in FORMATS.into_iter().map(Some).chain([None]) {
        for base in [plain(), bag()] {
            let options = ReadOptions { format, memory: 1 << 20, max_decompressed: 1 << 24, ..base };
            let mut read_back = None;
            let taken = measured(|| read_back = read(&path, &options, &Silent).ok());
            assert!(taken.is_none_or(|taken| taken < ALLOWED), "{taken:?} bytes for {format:?} of {bytes:?}");
            if let Some(corpus) = read_back {
                sound(&corpus);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&bytes);
        packed(&bytes).iter().for_each(|p| check(p));
    }

    #[test]
    fn anything_that_looks_like_numbers(text in "[0-9:. \n\t#%e-]{0,200}") {
        check(text.as_bytes());
        check(format!("%%MatrixMarket matrix coordinate real general\n{text}").as_bytes());
    }

    #[test]
    fn any_header(numbers in prop::collection::vec(prop_oneof![0u64..9, any::<u64>(), 1u64 << 20..1 << 33], 9)) {
        let fields: Vec<String> = numbers.iter().map(u64::to_string).collect();
        check(format!("{}\n{} {} {}\n{} {} {}\n", fields[..3].join("\n"), fields[3], fields[4], fields[5], fields[6], fields[7], fields[8]).as_bytes());
        check(format!("%%MatrixMarket matrix coordinate integer general\n{}\n{}\n{}\n", fields[..3].join(" "), fields[3..6].join(" "), fields[6..].join(" ")).as_bytes());
        check(format!("{} {}:{}\n", fields[0], fields[1], fields[2]).as_bytes());
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        check(text.as_bytes());
    }
}

#[test]
fn spoilt_files_of_every_kind() {
    let uci = "3\n4\n5\n1 1 2\n1 3 1\n2 2 7\n3 1 1\n3 4 9\n";
    let mtx = "%%MatrixMarket matrix coordinate integer general\n%\n3 4 3\n1 1 2\n2 2 7\n3 4 9\n";
    for (seed, text) in
        [uci, mtx, "2 0:1 3:4\n0\n1 2:2\n", "1 1:2 4:1 # c\n-1 2:3\n", "id,text\n1,\"a b\"\n2,c\n"]
            .into_iter()
            .enumerate()
    {
        let mut spoil = Spoil::new(seed as u64);
        for _ in 0..60 {
            check(&spoil.spoil(text.as_bytes()));
        }
        for packed in packed(text.as_bytes()) {
            for _ in 0..20 {
                check(&spoil.spoil(&packed));
            }
        }
    }
}

#[test]
fn as_many_counts_as_words() {
    // Two documents share 40,000 words, every one with a count of its own.
    let entry = |i: u64| format!("{} {} {}\n", i / 40_000 + 1, i % 40_000 + 1, i + 1);
    let text = "2\n40000\n80000\n".to_owned() + &(0..80_000).map(entry).collect::<String>();
    let folder = tempfile::tempdir().unwrap();
    let corpus = topics_files::open(&file(&folder, "docword.many.txt", text), &bag());
    assert_eq!((corpus.documents(), corpus.entries()), (2, 80_000));
    assert_eq!(corpus.tokens(), (1..=80_000u64).sum::<u64>());
    // Completion deals counts into halves, of which there are as many again.
    let topics = Mat::from_fn(1, 40_000, |_, _| 1.0 / 40_000.0);
    let found = Completion::default().perplexity(corpus.counts(), &topics, topics.row(0), &Silent).unwrap();
    assert!((found / 40_000.0 - 1.0).abs() < 1e-3, "{found}");
}
