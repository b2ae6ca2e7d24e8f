//! Strangers' files never make the readers of trees panic, nor set aside memory that a header promises.

use proptest::prelude::*;
use std::path::Path;
use tenfold::engine::progress::Silent;
use tenfold::trees::read::{Format, Options, open};
use tenfold::trees::{parse_tree, read_tree};

fn all_ways(folder: &Path, bytes: &[u8]) {
    let names = ["a", "b", "c"].map(String::from);
    for (name, format) in [
        ("x.csv", None),
        ("x.tsv", None),
        ("x.csv", Some(Format::Events)),
        ("x.fasta", None),
        ("x.phy", None),
        ("x.parquet", None),
        ("x.parquet", Some(Format::Events)),
        ("x", None),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let options = Options { format, ..Options::default() };
        if let Ok(input) = open(&path, &options, &Silent) {
            assert_eq!(input.groups.len(), input.table.variables().len());
            assert!(input.table.samples() > 0);
            input.samples.name(input.table.samples() - 1);
        }
        let _ = read_tree(&path, &names, &Silent);
        // As a map of codes to groups.
        let events = folder.join("events.csv");
        std::fs::write(&events, "patient,code\n1,a\n2,b\n").unwrap();
        let _ =
            open(&events, &Options { groups: Some(path), min_count: Some(1), ..Options::default() }, &Silent);
    }
}

#[test]
fn headers_that_lie_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for text in [
        "18446744073709551615 18446744073709551615\na A\n",
        "4294967296 4294967296\na A\n",
        "1 99999999\na A\n",
        "0 0\n",
        "#NEXUS\nbegin taxa; dimensions ntax=99999999999999;\nend;begin trees;tree x=(a,b,c);end;",
        "PAR1\u{0}\u{0}PAR1",
        "\"\n",
        "\u{feff}a,b\n1,2\n3,4\n",
        "a;b\n1;2,5\n",
        ">\n>\n",
    ] {
        all_ways(folder.path(), text.as_bytes());
    }
    all_ways(folder.path(), b"\x1f\x8b\x08\x00\x00");
    all_ways(folder.path(), b"\x28\xb5\x2f\xfd\x00");
    let nested = "[".repeat(100_000) + &"(".repeat(100_000);
    assert!(parse_tree(&nested, &["a".into()]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        all_ways(tempfile::tempdir().unwrap().path(), &bytes);
    }

    #[test]
    fn nearly_right_text_never_panics(text in "[a-c0-3,;\t\"'?. >()\\[\\]:\n-]{0,120}", head in 0usize..5) {
        let head = ["", "patient,code\n", "a,b,c\n", "3 4\n", ">a\n"][head];
        all_ways(tempfile::tempdir().unwrap().path(), format!("{head}{text}").as_bytes());
    }
}
