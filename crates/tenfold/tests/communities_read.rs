//! Every format gives the same graph, and public graphs the numbers they are known by.

mod graph_files;
use graph_files::*;
use tenfold::communities::Kind;
use tenfold::communities::read::{Format, ReadOptions};
use tenfold::engine::linalg::parallel::with_threads;

/// The same directed graph, with weights, in every format that has both. Node 4 has no edges where it can be said.
fn directed() -> Vec<(&'static str, Vec<u8>)> {
    let gml = "graph [ directed 1 node [ id 1 ] node [ id 2 ] node [ id 3 ] node [ id 4 ]\n\
               edge [ source 1 target 2 weight 2.5 ] edge [ source 2 target 1 weight 1 ]\n\
               edge [ source 3 target 1 weight 4 ] ]";
    let graphml = "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
         <key id=\"d0\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n\
         <graph id=\"G\" edgedefault=\"directed\"><node id=\"1\"/><node id=\"2\"></node><node id=\"3\"/><node id=\"4\"/>\n\
         <edge source=\"1\" target=\"2\"><data key=\"d0\">2.5</data></edge>\n\
         <edge source=\"2\" target=\"1\"><data key=\"d0\"> 1 </data></edge>\n\
         <edge source=\"3\" target=\"1\"><data key=\"d0\">4</data></edge></graph></graphml>";
    let places = [(1, 0, 1.0), (2, 0, 4.0), (0, 1, 2.5)];
    vec![
        ("g.txt", b"# Directed graph\n1 2 2.5\n2\t1\t1\n3,1,4\n".to_vec()),
        ("g.edges", b"from;to;weight\n1;2;2.5\n2;1;1\n3;1;4".to_vec()),
        ("g.csv", b"Source,Target,Type,Weight\n1,2,Directed,2.5\n2,1,Directed,1\n3,1,Directed,4\n".to_vec()),
        (
            "quoted.csv",
            b"Source,Target,Type,Weight\n\"1\",2,Directed,2.5\n2,\"1\",Directed,1\n3,1,Directed,4\n".to_vec(),
        ),
        ("g.tsv", b"w\tsrc\tdst\n2.5\t1\t2\n1\t2\t1\n4\t3\t1\n".to_vec()),
        (
            "g.mtx",
            b"%%MatrixMarket matrix coordinate real general\n% c\n4 4 3\n1 2 2.5\n2 1 1\n3 1 4e0\n".to_vec(),
        ),
        ("g.gml", gml.as_bytes().to_vec()),
        ("g.graphml", graphml.as_bytes().to_vec()),
        ("g.mat", mat(&[sparse("A", 4, 4, &places)], false)),
        ("z.mat", mat(&[sparse("A", 4, 4, &places)], true)),
    ]
}

#[test]
fn every_format_gives_the_same_graph() {
    let wanted = ["1 2 2.5", "2 1 1", "3 1 4"];
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in directed() {
        let [gz, zst] = packed(&bytes);
        let (gz_name, zst_name) = (format!("{name}.gz"), format!("{name}.zst"));
        for (name, bytes) in [(name, &bytes), (&gz_name, &gz), (&zst_name, &zst)] {
            let graph = open(&file(&folder, name, bytes), &ReadOptions::default());
            assert_eq!((graph.kind(), graph.weighted(), graph.edges()), (Kind::Directed, true, 3), "{name}");
            assert_eq!(entries(&graph), wanted, "{name}");
            assert_eq!(graph.transposed().unwrap().row(0).0, [1, 2]);
            assert_eq!(graph.nodes(), 3 + usize::from(has_note(&graph, "1 node has no edges")));
        }
    }
}

#[test]
fn options_overrule_what_is_guessed() {
    let text = "1 2 5\n2 1 5\n3 1 2\n1 3 2\n";
    let plain = graph("x.txt", text);
    assert_eq!((plain.kind(), plain.weighted(), entries(&plain).len()), (Kind::Undirected, true, 4));
    assert!(has_note(&plain, "taken as undirected, for 100.0 % of the pairs stand in both directions"));
    assert!(has_note(&plain, "weights from column 3; say --unweighted"));
    let directed = with("x.txt", text, |o| (o.kind, o.weighted) = (Some(Kind::Directed), Some(false)));
    assert_eq!((directed.kind(), directed.weighted(), directed.edges()), (Kind::Directed, false, 4));
    let sides = with("x.txt", text, |o| o.kind = Some(Kind::Bipartite));
    assert_eq!((sides.nodes(), sides.others(), sides.edges()), (3, 3, 4));
    let counted = with("x.txt", "1 2\n1 2\n2 3\n", |o| o.weighted = Some(true));
    assert_eq!(entries(&counted), ["1 2 2", "2 1 2", "2 3 1", "3 2 1"]);
    let chosen = with("x.csv", "a,b,c\n1,9,2\n2,7,3\n", |o| {
        (o.from, o.to, o.weight) = (Some("a".into()), Some("3".into()), Some("b".into()));
    });
    assert_eq!(entries(&chosen), ["1 2 9", "2 1 9", "2 3 7", "3 2 7"]);
    let headerless = with("x.csv", "source,target\na,b\n", |o| o.header = Some(false));
    assert_eq!(ids(&headerless), ["source", "target", "a", "b"]);
    let forced = with("x.dat", "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]", |o| {
        o.format = Some(Format::Gml)
    });
    assert_eq!(forced.edges(), 1);
}

#[test]
fn columns_headers_and_times() {
    let graph_of = |text: &str| graph("x.txt", text);
    assert!(has_note(&graph_of("source target\n1 2\n"), "edges from column source to column target"));
    assert_eq!(ids(&graph_of("node1 node2\n1 2\n3 2\n")), ["1", "2", "3"]);
    assert_eq!(ids(&graph_of("a b\nc d\n")), ["a", "b", "c", "d"]);
    // A third column that is a number everywhere but in the first line has a name there, and so have the others.
    let scores = graph_of("protein1 protein2 combined_score\nP1 P2 0.5\nP2 P3 0.75\n");
    assert_eq!((ids(&scores), scores.weighted()), (vec!["P1".into(), "P2".into(), "P3".into()], true));
    let times = graph_of("1 2 1082040961\n2 3 1082155839\n");
    assert!(!times.weighted() && has_note(&times, "it looks like times"));
    let dictionaries = graph_of("1 2 {}\n2 3 {}\n");
    assert!(!dictionaries.weighted() && has_note(&dictionaries, "not every line has a number there"));
    let konect = graph_of("% bip unweighted\n% 3 2 2\n1 1 1 999\n2 1 2 999\n2 2 1 999\n");
    assert_eq!((konect.kind(), konect.weighted()), (Kind::Bipartite, false));
    assert_eq!((konect.nodes(), konect.others(), konect.edges()), (2, 2, 3));
    let tabs = graph_of("% asym positive\n1 2\t3\t1082040961\n2 3\t1\t1082155839\n");
    assert_eq!((tabs.kind(), entries(&tabs)), (Kind::Directed, vec!["1 2 3".to_string(), "2 3 1".into()]));
    let comma = graph_of("1;2;0,5\n2;3;1,5\n");
    assert!(!comma.weighted() && has_note(&comma, "not every line has a number there"));
    let snap = graph_of("# Undirected graph: x\n# Nodes: 2\n1\t2\n2\t1\n2\t3\n");
    assert!(snap.kind() == Kind::Undirected && has_note(&snap, "undirected, as its comments say"));
    let windows = graph_of("\u{feff}# c\r\n1\t2\r\n\r\n2\t3\r\n");
    assert_eq!((ids(&windows), windows.edges()), (vec!["1".into(), "2".into(), "3".into()], 2));
}

#[test]
fn names_of_every_kind_come_back() {
    let spaces = graph("x.tsv", "New York\tLos Angeles\nLos Angeles\tSan José\n");
    assert_eq!(ids(&spaces), ["New York", "Los Angeles", "San José"]);
    let late = graph("x.txt", "1 2\n3 4\nx 1\n007 3\n");
    assert_eq!(ids(&late), ["1", "2", "3", "4", "x", "007"]);
    assert!(has_note(&late, "ids are names: that of line 3 is no plain number"));
    let zeros = graph("x.txt", "01 1\n1 02\n");
    assert_eq!(ids(&zeros), ["01", "1", "02"]);
    let huge = graph("x.txt", "18446744073709551616 1\n1 99999999999999999999999\n");
    assert_eq!(ids(&huge), ["18446744073709551616", "1", "99999999999999999999999"]);
    let far = graph("x.txt", "18446744073709551615 1\n1 99999999999\n");
    assert_eq!(ids(&far), ["1", "99999999999", "18446744073709551615"]);
    let quotes = graph("x.csv", "a,b\n\"Smith, J\",\"O\"\"Neil\"\n\"two\nlines\",\"Smith, J\"\n");
    assert_eq!(ids(&quotes), ["a", "b", "Smith, J", "O\"Neil", "two\nlines"]);
    let latin = with("x.txt", b"caf\xe9 b\n", |o| o.encoding = Some("latin1".into()));
    assert_eq!(ids(&latin), ["café", "b"]);
    let wide: Vec<u8> = "1\t2\n2\t3\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(with("x.txt", wide, |o| o.encoding = Some("utf-16le".into())).edges(), 2);
    let bars = graph("x.txt", "a b|c d\nc d|e\n");
    assert_eq!(ids(&bars), ["a b", "c d", "e"]);
}

#[test]
fn gml_keeps_labels_and_attributes() {
    let text = "Creator \"me # not a comment\"\n# a comment\ngraph\n[\n  comment \"x\" graphics [ a [ b 1 ] ]\n\
        node [ id 7 label \"Caf&#233; &amp; Bar\" value 2 graphics [ x 1.0 ] ]\n\
        node [ id 3 label \"b\" kind \"q\" value 5 ]\n  edge [ source 7 target 3 ]\n edge [ source 3 target 7 ] ]";
    let labelled = graph("x.gml", text);
    assert_eq!(
        (labelled.kind(), labelled.edges(), ids(&labelled)),
        (Kind::Undirected, 1, vec!["Café & Bar".into(), "b".into()])
    );
    let names: Vec<&str> = labelled.attributes().names().collect();
    assert_eq!(names, ["value", "kind", "id"]);
    assert_eq!(labelled.attributes().get("value").unwrap().value(1), Some("5"));
    assert_eq!(labelled.attributes().get("kind").unwrap().value(0), None);
    assert_eq!(labelled.attributes().get("id").unwrap().value(0), Some("7"));
    // Labels that are not each node's own leave the ids.
    let same = graph(
        "x.gml",
        "graph [ node [ id 7 label \"a\" ] node [ id 3 label \"a\" ] edge [ source 7 target 3 ] ]",
    );
    assert_eq!(ids(&same), ["3", "7"]);
    assert_eq!(same.attributes().get("label").unwrap().value(1), Some("a"));
    // Nodes may come after edges, and be strings.
    let late = graph("x.gml", "graph [ edge [ source a target b ] node [ id b ] node [ id a ] ]");
    assert_eq!(ids(&late), ["a", "b"]);
    let weights = "graph [ node [ id 1 ] node [ id 2 ] node [ id 3 ] edge [ source 1 target 2 value 3 ] edge [ source 2 target 3 ] ]";
    assert!(has_note(&graph("x.gml", weights), "1 of 2 edges have no weight and count 1"));
    assert!(!with("x.gml", weights, |o| o.weighted = Some(false)).weighted());
}

#[test]
fn graphml_keeps_attributes() {
    let text = "<graphml><key id=\"k\" for=\"node\" attr.name=\"colour\"><default>red</default></key>\n\
        <!-- a comment --><graph edgedefault=\"undirected\">\n\
        <node id=\"n&amp;1\"><data key=\"k\">blue &lt;&#33;<![CDATA[<&]]></data><data key=\"other\">x</data></node>\n\
        <node id=\"n2\"/><edge source=\"n2\" target=\"n&amp;1\" directed=\"true\"/></graph></graphml>";
    let found = graph("x.graphml", text);
    assert_eq!((found.kind(), ids(&found)), (Kind::Undirected, vec!["n&1".into(), "n2".into()]));
    assert_eq!(found.attributes().get("colour").unwrap().value(0), Some("blue <!<&"));
    assert_eq!(found.attributes().get("other").unwrap().value(0), Some("x"));
    assert!(has_note(&found, "1 edges have a direction of their own"));
    assert_eq!(graph("stdin", text).edges(), 1, "told by its contents");
}

#[test]
fn matrices_are_graphs() {
    let symmetric = "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 3\n4 2\n";
    let found = graph("x.mtx", symmetric);
    assert_eq!((found.kind(), found.nodes(), found.edges()), (Kind::Undirected, 4, 2));
    assert!(has_note(&found, "1 self-loop was dropped") && has_note(&found, "1 node has no edges"));
    let directed = with("x.mtx", symmetric, |o| o.kind = Some(Kind::Directed));
    assert_eq!(entries(&directed), ["1 2 1", "2 1 1", "2 4 1", "4 2 1"]);
    let rectangle = graph("x.mtx", "%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 3 5\n2 1 1\n");
    assert_eq!((rectangle.kind(), rectangle.nodes(), rectangle.others()), (Kind::Bipartite, 2, 3));
    assert_eq!(entries(&rectangle), ["1 3 5", "2 1 1"]);
    let attributes = [
        sparse("A", 3, 3, &[(1, 0, 1.0), (0, 1, 1.0)]),
        full("year", 3, 1, &[5, 6, 7]),
        full("xy", 3, 2, &[1, 2, 3, 4, 5, 6]),
    ];
    for compressed in [false, true] {
        let found = graph("x.mat", mat(&attributes, compressed));
        assert_eq!(
            (found.kind(), found.weighted(), found.nodes(), found.edges()),
            (Kind::Undirected, false, 3, 1)
        );
        assert_eq!(found.attributes().get("year").unwrap().value(2), Some("7"));
        assert_eq!(found.attributes().get("xy2").unwrap().value(0), Some("4"));
    }
    let dense = graph("x.mat", mat(&[full("links", 2, 2, &[0, 3, 3, 0])], false));
    assert_eq!(entries(&dense), ["1 2 3", "2 1 3"]);
    let two = mat(&[sparse("B", 2, 2, &[(1, 0, 1.0)]), sparse("C", 3, 2, &[(2, 1, 1.0)])], true);
    let chosen = with("x.mat", two, |o| o.matrix = Some("C".into()));
    assert_eq!((chosen.kind(), entries(&chosen)), (Kind::Bipartite, vec!["3 2 1".to_string()]));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_by_numbers_and_by_names() {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::{properties::WriterProperties, writer::SerializedFileWriter};
    use std::sync::Arc;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, schema: &str, groups: usize, text: bool| {
        let path = folder.path().join(name);
        let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer =
            SerializedFileWriter::new(std::fs::File::create(&path).unwrap(), schema, properties).unwrap();
        for group in 0..groups as i64 {
            let mut row_group = writer.next_row_group().unwrap();
            let columns = [[10 + group, 20], [20, 30 + group]];
            let mut at = 0;
            while let Some(mut column) = row_group.next_column().unwrap() {
                match at {
                    0 => drop(column.typed::<DoubleType>().write_batch(&[0.5, 2.0], None, None).unwrap()),
                    _ if text => {
                        let values: Vec<ByteArray> =
                            columns[at - 1].iter().map(|v| format!("n{v}").as_str().into()).collect();
                        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
                    }
                    _ => drop(column.typed::<Int64Type>().write_batch(&columns[at - 1], None, None).unwrap()),
                }
                column.close().unwrap();
                at += 1;
            }
            row_group.close().unwrap();
        }
        writer.close().unwrap();
        path
    };
    let numbers = "message m { required double weight; required int64 src; required int64 dst; }";
    let found = open(&write("a.parquet", numbers, 2, false), &ReadOptions::default());
    assert_eq!(ids(&found), ["10", "11", "20", "30", "31"]);
    assert_eq!(entries(&found)[..3], ["10 20 0.5", "11 20 0.5", "20 10 0.5"]);
    let names =
        "message m { required double weight; required binary src (UTF8); required binary dst (UTF8); }";
    let path = write("b.parquet", names, 1, true);
    let found = open(&path, &ReadOptions { kind: Some(Kind::Directed), ..ReadOptions::default() });
    assert_eq!(
        (ids(&found), entries(&found)),
        (vec!["n10".into(), "n20".into(), "n30".into()], vec!["n10 n20 0.5".to_string(), "n20 n30 2".into()])
    );
    let error = refusal("b.parquet", std::fs::read(&path).unwrap(), |o| {
        (o.from, o.to, o.weight) = (Some("src".into()), Some("dst".into()), Some("src".into()));
    });
    assert!(error.contains("row 1 (counted from 1), column src: the weight is not a number"), "{error}");
    let error = refusal("b.parquet", std::fs::read(&path).unwrap(), |o| o.from = Some("weight".into()));
    assert!(error.contains("column \"weight\" holds neither text nor whole numbers"), "{error}");
}

#[test]
fn a_large_list_is_the_same_on_any_number_of_threads() {
    // Some megabytes, so that there are several pieces, with ids that have gaps.
    let mut text = String::from("# made by a test\n");
    for e in 0..300_000u64 {
        let (i, j) = (e * 7919 % 40_009, e * e % 39_989);
        text.push_str(&format!("{}\t{}\n", 3 * i + 1, 3 * j + 1));
    }
    let named: String = text.lines().skip(1).map(|l| format!("n{}\n", l.replace('\t', "\tn"))).collect();
    let far = |line: &str| {
        let (from, to) = line.split_once('\t').unwrap();
        format!("9{from:0>18}\t777{to:0>8}\n")
    };
    let far: String = text.lines().skip(1).map(far).collect();
    let mut degrees = Vec::new();
    for (text, first) in [(text, "1"), (named, "n1"), (far, "77700000001")] {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, "x.txt", &text);
        let run = |threads| {
            with_threads(threads, || {
                open(&path, &ReadOptions { kind: Some(Kind::Directed), ..ReadOptions::default() })
            })
        };
        let one = run(1);
        assert!(one.ids().get(0).starts_with(first));
        for threads in [2, 3, 8] {
            let other = run(threads);
            assert!(one.adjacency() == other.adjacency() && ids(&one) == ids(&other), "{threads} threads");
        }
        let packed_path = file(&folder, "x.txt.gz", &packed(text.as_bytes())[0]);
        let unpacked =
            open(&packed_path, &ReadOptions { kind: Some(Kind::Directed), ..ReadOptions::default() });
        assert!(unpacked.adjacency() == one.adjacency());
        let mut own: Vec<usize> =
            (0..one.nodes()).map(|i| one.adjacency().degree(i)).filter(|d| *d > 0).collect();
        own.sort_unstable();
        degrees.push(own);
    }
    assert_eq!(degrees[0], degrees[1]);
}

#[test]
fn public_graphs_have_their_numbers() {
    let Some(folder) = shared("public_graphs_have_their_numbers") else { return };
    let open = |name: &str| open(&folder.join(name), &ReadOptions::default());
    let reed = open("Reed98.mat");
    assert_eq!(
        (reed.kind(), reed.weighted(), reed.nodes(), reed.edges()),
        (Kind::Undirected, false, 962, 18_812)
    );
    let caltech = open("Caltech36.gml.gz");
    assert_eq!((caltech.kind(), caltech.nodes(), caltech.edges()), (Kind::Undirected, 769, 16_656));
    let names = ["student_fac", "gender", "major_index", "second_major", "dorm", "year", "high_school"];
    for graph in [&reed, &caltech] {
        assert_eq!(graph.attributes().names().collect::<Vec<_>>(), names);
        assert!(graph.attributes().iter().all(|a| a.known() == graph.nodes()));
    }
    assert_eq!(caltech.attributes().get("year").unwrap().value(0), Some("2008"));
    assert_eq!(caltech.ids().get(768), "768");
    let email = open("email-Eu-core.txt");
    // Of the 25,571 lines 642 are messages to oneself.
    assert_eq!((email.kind(), email.nodes(), email.edges()), (Kind::Directed, 1005, 25_571 - 642));
    assert!(has_note(&email, "642 self-loops were dropped"));
    let lfr = open("lfr-n1000-k28.txt.gz");
    assert_eq!((lfr.kind(), lfr.nodes(), lfr.edges()), (Kind::Undirected, 1000, 29_871));
    let football = open("football.gml");
    assert_eq!((football.kind(), football.nodes(), football.edges()), (Kind::Undirected, 115, 613));
    assert_eq!(football.attributes().get("value").unwrap().distinct(), 12);
    assert_eq!(football.ids().get(0), "BrighamYoung");
    let polblogs = open("polblogs.gml.gz");
    assert_eq!((polblogs.kind(), polblogs.nodes(), polblogs.edges()), (Kind::Directed, 1490, 19_012));
    assert_eq!(polblogs.attributes().get("value").unwrap().distinct(), 2);
    assert!(has_note(&polblogs, "3 self-loops were dropped"));
}
