//! Strangers' files never make the readers of trees panic, nor set aside memory that a header promises.

mod readers;

use proptest::prelude::*;
use readers::variables;
use std::path::Path;
use tenfold::trees::parse_tree;

fn all_ways(folder: &Path, bytes: &[u8]) {
    for name in ["x.csv", "x.tsv", "x.fasta", "x.phy", "x.parquet", "x"] {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        variables::check(&path);
        variables::tree(&path);
        variables::groups(&path);
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
