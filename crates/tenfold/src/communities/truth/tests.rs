use super::super::members::Members;
use super::super::write_members;
use super::*;
use tenfold_engine::linalg::Tall;
use tenfold_engine::progress::Silent;

fn read_text(name: &str, text: &str, ids: &Ids, options: &Options) -> Result<Truth> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    read(&path, ids, options, &Silent)
}

fn lists(truth: &Truth) -> Vec<Vec<u32>> {
    truth.cover(Threshold::Absolute(0.5)).communities().to_vec()
}

#[test]
fn covers_and_lists_of_nodes_are_told_apart() {
    let ids = Ids::counted(1, 6);
    let plain = Options::default();
    // As LFR writes it, as a file of labels with names of columns, and a cover.
    let nodes = read_text("t.txt", "1\t5 7 \n2\t7\n3\t5\n4\t5\n5\t7\n6\t7\n", &ids, &plain).unwrap();
    assert_eq!(
        (nodes.names(), lists(&nodes)),
        (&["5".into(), "7".into()][..], vec![vec![0, 2, 3], vec![0, 1, 4, 5]])
    );
    assert!(nodes.notes()[0].contains("list of nodes"), "{:?}", nodes.notes());
    let labels = read_text("t.txt", "node label\n1 a\n2 a\n3 b\n4 b\n5 b\n6 a\n", &ids, &plain).unwrap();
    assert_eq!(lists(&labels), [vec![0, 1, 5], vec![2, 3, 4]]);
    assert!(labels.notes().iter().any(|n| n.contains("line 1 is taken for names")));
    let cover = read_text("t.txt", "# two\n1 2 3\n\n3 4 5 6\n", &ids, &plain).unwrap();
    assert_eq!(
        (cover.names(), lists(&cover)),
        (&["2".into(), "4".into()][..], vec![vec![0, 1, 2], vec![2, 3, 4, 5]])
    );
    // Labels of some nodes, and of one that is none.
    let some = read_text("t.txt", "2 a\n90 a\n3 a\n6 a\n", &Ids::counted(1, 20), &plain).unwrap();
    assert_eq!((lists(&some), some.strangers()), (vec![vec![0, 1, 2]], 1));
    // The other way when it is said.
    let said = Options { format: Some(Format::Cover), ..plain.clone() };
    let pairs = read_text("t.txt", "1 2\n2 3\n3 4\n4 5\n5 6\n6 1\n", &ids, &said).unwrap();
    assert_eq!((pairs.k(), pairs.cover(Threshold::Absolute(0.5)).entries()), (6, 12));
    let part = read_text("t.txt", "2\t5 7\n4\t7\n", &ids, &plain).unwrap();
    assert_eq!((part.unknown(), lists(&part)), (4, vec![vec![0], vec![0, 1]]));
    assert!(
        part.notes().iter().any(|n| n.contains("4 of 6 nodes are not in the truth")),
        "{:?}",
        part.notes()
    );
}

#[test]
fn ids_may_hold_blanks_and_begin_with_a_mark() {
    let ids = Ids::from_names(["#rust", "new york", "b, c"]).unwrap();
    let said = Options { format: Some(Format::Cover), ..Options::default() };
    let cover = read_text("c.txt", "#rust\tnew york\n% remark\nb, c\t#rust\n", &ids, &said).unwrap();
    assert_eq!(lists(&cover), [vec![0, 1], vec![0, 2]]);
}

#[test]
fn blanks_around_an_id_may_be_its_own() {
    let ids = Ids::from_names(["a ", "b", "c"]).unwrap();
    let table = read_text("t.csv", "id, group\na ,x\n b , x\nc,y \n", &ids, &Options::default()).unwrap();
    assert_eq!((table.strangers(), table.names()), (0, &["x".into(), "y".into()][..]));
    assert_eq!(lists(&table), [vec![0, 1], vec![2]]);
}

#[test]
fn strangers_are_counted_or_refused() {
    let ids = Ids::counted(0, 5);
    let some = read_text("t.txt", "0 1 2 9\n2 3 9\n", &ids, &Options::default()).unwrap();
    assert_eq!((some.strangers(), some.unknown()), (1, 1));
    assert!(
        some.warnings()
            .iter()
            .any(|n| n.contains("1 of the truth's 5 ids are no nodes") && n.contains("\"9\""))
    );
    let error = |text: &str| read_text("t.txt", text, &ids, &Options::default()).unwrap_err().to_string();
    assert!(error("7 8 9\n").contains("none of its 3 ids is a node"), "{}", error("7 8 9\n"));
    assert!(error("0 7 8\n").contains("only 1 of its 3 ids") && error("# only\n").contains("no members"));
    assert!(error("").contains("is empty"));
    let small = Options { min_size: 3, ..Options::default() };
    let large = read_text("t.txt", "0 1 2\n3 4\n", &ids, &small).unwrap();
    assert_eq!((large.k(), large.names()), (1, &["1".to_string()][..]));
    assert!(large.notes().iter().any(|n| n.contains("1 of 2 communities")), "{:?}", large.notes());
    let none = Options { min_size: 9, ..small };
    assert!(read_text("t.txt", "0 1 2\n3 4\n", &ids, &none).unwrap_err().to_string().contains("--min-size"));
}

#[test]
fn attributes_of_tables() {
    let ids = Ids::from_names(["ann", "b,b", "cem"]).unwrap();
    let text = "year;name;dorm\n2004;ann;3\n0;\"b,b\";3\n2004;cem;\n";
    let wanted = |attributes: &[&str], missing: &[&str]| Options {
        attributes: attributes.iter().map(ToString::to_string).collect(),
        missing: missing.iter().map(ToString::to_string).collect(),
        ..Options::default()
    };
    let dorm = read_text("t.csv", text, &ids, &wanted(&["dorm"], &[])).unwrap();
    assert_eq!((dorm.names(), lists(&dorm), dorm.unknown()), (&["3".to_string()][..], vec![vec![0, 1]], 0));
    let both = read_text("t.csv", text, &ids, &wanted(&["year", "dorm"], &["0"])).unwrap();
    assert_eq!(both.names(), ["year=2004", "dorm=3"]);
    let error = |options: &Options| read_text("t.csv", text, &ids, options).unwrap_err().to_string();
    assert!(
        error(&wanted(&[], &[])).contains("--attribute") && error(&wanted(&["sex"], &[])).contains("\"sex\"")
    );
    let id = Options { id_column: Some("who".into()), ..wanted(&["dorm"], &[]) };
    assert!(error(&id).contains("no column \"who\""), "{}", error(&id));
    let ragged =
        read_text("t.tsv", "id\tx\nann\t1\ncem\n", &ids, &Options::default()).unwrap_err().to_string();
    assert!(ragged.contains("t.tsv, line 3"), "{ragged}");
}

#[test]
fn attributes_of_graphs() {
    let ids = Ids::from_names(["a", "b", "c"]).unwrap();
    let node =
        |i: usize, label: &str, team: &str| format!("node [ id {i} label \"{label}\" team \"{team}\" ] ");
    let gml = format!(
        "graph [ {}{}{} edge [ source 0 target 1 ] edge [ source 1 target 2 ] ]",
        node(0, "a", "red"),
        node(1, "b", "blue"),
        node(2, "c", "red")
    );
    let truth = read_text("g.gml", &gml, &ids, &Options::default()).unwrap();
    assert_eq!(
        (truth.names(), lists(&truth)),
        (&["red".into(), "blue".into()][..], vec![vec![0, 2], vec![1]])
    );
}

#[test]
fn members_come_back_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let ids = Ids::from_names(["x", "y,z", "7"]).unwrap();
    let memberships = Tall::from_vec(3, 3, vec![0.5, 0.25, 0.25, 0.0, 0.0, 1.0, 0.3, 0.7, 0.0]).unwrap();
    let names: &[&str] =
        if cfg!(feature = "parquet") { &["m.csv", "m.tsv", "m.parquet"] } else { &["m.csv"] };
    for name in names {
        let path = folder.path().join(name);
        write_members(&path, &Members::new(&ids, &memberships), Threshold::Absolute(0.0), &Silent).unwrap();
        let truth = read(&path, &ids, &Options::default(), &Silent).unwrap();
        assert!(truth.is_weighted() && truth.unknown() == 0);
        assert_eq!(truth.names(), ["0", "1", "2"]);
        let back = truth.memberships();
        for u in 0..3 {
            for c in 0..3 {
                assert!((back[(u, c)] - f64::from(memberships.row(u)[c])).abs() < 1e-6, "{name}");
            }
        }
        assert_eq!(lists(&truth), [vec![0], vec![2], vec![1]]);
    }
    let bad = read_text("m.csv", "id,community,weight\nx,0,-1\n", &ids, &Options::default())
        .unwrap_err()
        .to_string();
    assert!(bad.contains("row 1") && bad.contains("\"-1\""), "{bad}");
}
