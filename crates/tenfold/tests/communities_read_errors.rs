//! What is wrong with a file is told with its place and a remedy.

mod graph_files;
use graph_files::*;
use tenfold::communities::Kind;
use tenfold::communities::read::{Format, ReadOptions, read};
use tenfold::engine::progress::{Progress, Silent};

fn refused(name: &str, text: impl AsRef<[u8]>, parts: &[&str]) {
    let message = refusal(name, text, |_| {});
    for part in parts {
        assert!(message.contains(part), "no {part:?} in {message:?}");
    }
}

#[test]
fn lists_of_edges() {
    refused("x.txt", "", &["is empty; give a file with at least one edge"]);
    refused("x.txt", "# only\n\n# comments\n", &["holds no edges"]);
    refused("x.txt", "1 1\n2 2\n", &["holds no edges between different nodes"]);
    refused("x.txt", "1\n2\n", &["line 1: \"1\" has 1 field where 2 are needed", "two ids"]);
    refused("x.txt", "1 2\n3\n", &["line 2: \"3\" has 1 field"]);
    refused("x.txt", "1 2 3\n2 3 -1\n", &["line 2: weight -1 is negative", "--unweighted"]);
    refused("x.txt", "# c\n1 2 3\n2 3 nan\n", &["line 3: weight nan is not a finite number"]);
    refused("x.txt", "1 2 3\n2 3 1e999\n", &["line 2: weight 1e999 is not a finite number"]);
    refused("x.txt", "1,2\n1,,2\n", &["line 2: \"1,,2\" has an empty id", "two ids"]);
    // A comma in a weight is no separator where the other lines have none.
    let error = refusal("x.txt", "1;2;0,5\n", |o| o.weighted = Some(true));
    assert!(error.contains("line 1: weight \"0,5\" is not a number"), "{error}");
    refused("x.csv", "a,b\nc,\n", &["line 2: \"c,\" has an empty id"]);
    refused("x.csv", "source,target\n\"a\",b\n\"c\"\n", &["line 3: has 1 fields where at least 2"]);
    refused("x.csv", "source,target\n\"a\",b\n\"\",b\n", &["line 3: has an empty id"]);
    refused("x.txt", b"a b\nc \xff\n", &["line 2: is not valid UTF-8 (byte 0xff)", "--encoding"]);
    refused("x.txt", b"\xff\xfe1\0 \x002\0", &["utf-16le"]);
    // The line is right in every piece of a long file.
    let long: String = (0..400_000).map(|e| format!("{e} {}\n", e + 1)).collect();
    refused("x.txt", format!("{long}7\n"), &["line 400001: \"7\" has 1 field"]);
    let packed = packed(format!("{long}7\n").as_bytes());
    refused("x.txt.gz", &packed[0], &["line 400001"]);
    refused("x.txt.gz", &packed[0][..packed[0].len() / 2], &["cannot be read", "cut short or damaged"]);
    refused("x.txt.zst", &packed[1][..packed[1].len() / 2], &["cannot be read"]);
    let error = refusal("x.txt", "1 2\n", |o| o.from = Some("who".into()));
    assert!(
        error.contains("has no column \"who\"; there are 2 columns") && error.contains("--from"),
        "{error}"
    );
    let missing = read(std::path::Path::new("no such file"), &ReadOptions::default(), &Silent);
    assert!(missing.unwrap_err().to_string().contains("there is no such file"));
    let error = refusal("x.txt.gz", &packed[0], |o| o.max_decompressed = 1000);
    assert!(error.contains("unpacks to more than 1000 bytes"), "{error}");
}

#[test]
fn kinds_that_do_not_fit() {
    let square = "graph [ node [ id 1 ] node [ id 2 ] node [ id 3 ] edge [ source 1 target 2 ] edge [ source 2 target 3 ] ]";
    let error = refusal("x.gml", square, |o| o.kind = Some(Kind::Bipartite));
    assert!(
        error.contains("cannot be read as bipartite") && error.contains("node \"2\" stands on both"),
        "{error}"
    );
    let rectangle = "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n";
    let error = refusal("x.mtx", rectangle, |o| o.kind = Some(Kind::Directed));
    assert!(error.contains("cannot be read as directed"), "{error}");
}

#[test]
fn matrices_that_lie() {
    let market = |rest: &str| format!("%%MatrixMarket matrix coordinate real general\n{rest}");
    refused("x.mtx", market("2 2 3\n1 2 1\n2 1 1\n"), &["line 2: promises 3 entries, but the file holds 2"]);
    refused("x.mtx", market("2 2 1\n1 2 1\n2 1 1\n"), &["promises 1 entries, but the file holds 2"]);
    refused("x.mtx", market("2 2 1\n3 1 1\n"), &["line 3: \"3\" is no place in a matrix of 2 × 2"]);
    refused("x.mtx", market("2 2 1\n0 1 1\n"), &["line 3", "counted from 1"]);
    refused("x.mtx", market("2 2 1\n1 2\n"), &["line 3: \"1 2\" has 2 fields where 3 were expected"]);
    refused("x.mtx", market("2 2 1\n1 2 nan\n"), &["line 3: weight nan"]);
    refused("x.mtx", market("2000000000 2000000000 1\n1 2 1\n"), &["promises 2000000000 nodes"]);
    refused("x.mtx", market("9999999999 2 1\n1 2 1\n"), &["line 2: promises 9999999999 rows"]);
    refused("x.mtx", market("4000000000 4000000000 1\n1 2 1\n"), &["line 2: promises 4000000000 rows"]);
    refused("x.mtx", market("2 2\n"), &["line 2", "rows, columns and entries"]);
    refused("x.mtx", market("% only\n"), &["ends within its header"]);
    refused("x.mtx", "%%MatrixMarket matrix array real general\n2 2\n", &["line 1", "coordinate"]);
    refused("x.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 3 4\n", &["line 1"]);
    refused("x.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 2 1\n", &["symmetric"]);
    refused("x.mtx", market("2 2 0\n"), &["holds no edges"]);
}

#[test]
fn gml_and_graphml() {
    refused("x.gml", "graph [ node [ id 1 ]", &["line 1: ends before its graph does", "cut short"]);
    refused("x.gml", "graph [ node [ id 1\n label \"a ] ]", &["line 2: opens a quote that is never closed"]);
    refused("x.gml", "graph [\nnode [ label 1 ] ]", &["line 2: has a node without an id"]);
    refused(
        "x.gml",
        "graph [ node [ id 1 ]\n node [ id 1 ] ]",
        &["line 2: declares node \"1\" a second time"],
    );
    refused(
        "x.gml",
        "graph [ node [ id 1 ]\n\nedge [ source 1 ] ]",
        &["line 3: has an edge without a source or a target"],
    );
    refused(
        "x.gml",
        "graph [ node [ id 1 ]\nedge [ source 1 target 9 ] ]",
        &["line 2: has an edge with node \"9\", which is not declared"],
    );
    refused(
        "x.gml",
        "graph [ node [ id 1 ] node [ id 2 ]\nedge [ source 1 target 2 weight -3 ] ]",
        &["line 2: weight -3 is negative"],
    );
    refused("x.gml", "graph [ directed yes ]", &["says directed \"yes\""]);
    refused("x.gml", "graph [ node [ id 1 ] ]", &["holds no edges"]);
    refused("x.gml", "graph [ ] ]", &["holds no edges"]);
    refused("x.gml", "Creator me", &["holds no graph"]);
    refused("x.gml", "] graph", &["\"]\" where a key such as graph was expected"]);
    refused("x.gml", b"graph [ node [ id \xe9 ] ]", &["line 1: is not valid UTF-8 (byte 0xe9)"]);
    let error = refusal("x.gml", "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]", |o| {
        o.weight = Some("w".into())
    });
    assert!(error.contains("without the attribute \"w\""), "{error}");
    let graphml =
        |body: &str| format!("<graphml>\n<graph edgedefault=\"directed\">\n{body}\n</graph></graphml>");
    refused("x.graphml", graphml("<node id=\"1\">"), &["cannot be read as XML"]);
    refused("x.graphml", &graphml("<node id=\"1\"/>")[..50], &["cut short"]);
    refused("x.graphml", graphml("<node/>"), &["line 3: has a node without id"]);
    refused(
        "x.graphml",
        graphml("<node id=\"a\"/>\n<edge source=\"a\" target=\"b\"/>"),
        &["line 4: has an edge with node \"b\", which is not declared"],
    );
    refused("x.graphml", graphml("<hyperedge/>"), &["line 3: has a hyperedge"]);
    refused(
        "x.graphml",
        graphml("<node id=\"a\"><data key=\"k\">&nbsp;</data></node>"),
        &["unknown entity \"&nbsp;\""],
    );
    refused("x.graphml", "<graphml></graphml>", &["holds no graph"]);
}

#[test]
fn matlab_files() {
    let good = mat(&[sparse("A", 3, 3, &[(1, 0, 1.0), (2, 1, 5.0)])], false);
    refused("x.mat", &good[..100], &["too short for a Matlab file"]);
    refused("x.mat", &good[..good.len() - 20], &["ends within a matrix", "cut short or damaged"]);
    refused("x.mat", b"MATLAB 7.3 MAT-file, Platform: X", &["version 7.3 (HDF5)", "-v7"]);
    refused("x.mat", [b' '; 200], &["is no Matlab file of version 5 to 7"]);
    refused("x.mat", mat(&[], false), &["holds no matrix of links; it holds no variables"]);
    refused("x.mat", mat(&[full("y", 3, 1, &[1, 2, 3])], false), &["it holds y (3 × 1)", "--matrix"]);
    let several = mat(&[sparse("B", 2, 2, &[(1, 0, 1.0)]), sparse("C", 2, 2, &[(1, 0, 1.0)])], true);
    refused("x.mat", several, &["holds several matrices; it holds B (2 × 2), C (2 × 2)"]);
    refused(
        "x.mat",
        mat(&[sparse("A", 3, 3, &[(1, 0, f64::NAN)])], false),
        &["A(2, 1) = NaN: the weight is not a finite"],
    );
    refused(
        "x.mat",
        mat(&[sparse("A", 3, 3, &[(1, 0, -2.0)])], true),
        &["A(2, 1) = -2: the weight is negative"],
    );
    refused("x.mat", mat(&[sparse("A", 3, 3, &[(3, 0, 1.0)])], false), &["rows outside it"]);
    let numbers = |n: &[i32]| element(5, &n.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>());
    let ones = element(9, &[1.0f64; 2].iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    for starts in [&[0, 2, 1, 2][..], &[1, 1, 1, 2], &[0, 1, 2], &[0, 1, 1, 3], &[0, 1, 2, 2, 2]] {
        let parts = [numbers(&[1, 2]), numbers(starts), ones.clone()];
        let lying = mat(&[matrix(5, 3, 3, "A", &parts)], false);
        refused("x.mat", lying, &["\"A\" whose columns contradict one another"]);
    }
    let parts = [numbers(&[1, 2]), numbers(&[0, 1, 1, 2]), element(9, &1.0f64.to_le_bytes())];
    refused("x.mat", mat(&[matrix(5, 3, 3, "A", &parts)], true), &["with fewer values than places"]);
    let parts = [numbers(&[1, 2]), numbers(&[0, 1, 1, 2]), ones];
    let wide = |side| mat(&[matrix(5, side, side, "A", &parts)], false);
    refused("x.mat", wide(i32::MAX), &["\"A\" with far more nodes than links"]);
    refused("x.mat", wide(-1), &["4294967295 × 4294967295, which is no graph"]);
    let error = refusal("x.mat", &good, |o| o.matrix = Some("Z".into()));
    assert!(error.contains("has no matrix \"Z\"; it holds A (3 × 3)"), "{error}");
}

/// A listener that wants to stop at once.
struct Stop;

impl Progress for Stop {
    fn stage(&self, _name: &str, _steps: u64) {}
    fn advance(&self, _by: u64) {}
    fn stopped(&self) -> bool {
        true
    }
}

#[test]
fn reading_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("x.txt", "1 2\n"),
        ("y.txt", "a b\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"),
    ] {
        let error = read(&file(&folder, name, text), &ReadOptions::default(), &Stop).unwrap_err();
        assert!(error.to_string().contains("stopped"), "{error}");
    }
    assert_eq!("mtx".parse::<Format>().unwrap(), Format::MatrixMarket);
}
