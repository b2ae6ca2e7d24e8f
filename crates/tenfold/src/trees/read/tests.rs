use super::*;
use crate::trees::data::Kind;
use crate::trees::{Emits, Shape, Synth, write_events, write_groups, write_samples};
use std::io::Write;
use tenfold_engine::linalg::parallel::with_threads;
use tenfold_engine::progress::Silent;

fn read_with(name: &str, text: &[u8], change: impl Fn(&mut Options, &Path)) -> Result<Input> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let mut options = Options::default();
    change(&mut options, folder.path());
    open(&path, &options, &Silent)
}

fn read(name: &str, text: &str) -> Input {
    read_with(name, text.as_bytes(), |_, _| {}).unwrap()
}

fn error(name: &str, text: &str, change: impl Fn(&mut Options, &Path)) -> String {
    read_with(name, text.as_bytes(), change).unwrap_err().to_string()
}

fn noted(input: &Input, what: &str) -> bool {
    input.notes.iter().any(|note| note.contains(what))
}

/// Thirty people with columns of all kinds.
fn people() -> String {
    let mut text = String::from("name,sex,grade,height,flat,pain,\"a,b\"\n");
    for i in 0..30 {
        let sex = ["f", "m", "f"][i % 3];
        let height = if i == 4 { "NA".into() } else { format!("{}.5", 150 + i) };
        text += &format!("p{i},{sex},{},{height},1,{},{}\n", i % 4, i % 2, i * i);
    }
    text
}

#[test]
fn columns_are_guessed() {
    let input = read("people.csv", &people());
    let found: Vec<(&str, Kind, usize)> =
        input.table.variables().iter().map(|v| (v.name.as_str(), v.kind, v.width())).collect();
    let expected = [
        ("sex", Kind::Category, 1),
        ("grade", Kind::Category, 3),
        ("height", Kind::Real, 1),
        ("pain", Kind::Category, 1),
        ("a,b", Kind::Real, 1),
    ];
    assert_eq!(found, expected);
    assert_eq!(input.table.variables()[0].labels, ["f", "m"]);
    assert_eq!(input.table.variables()[1].labels, ["0", "1", "2", "3"], "by frequency, then by name");
    assert_eq!(input.table.row(4).missing, [2]);
    assert_eq!(
        (input.table.row(1).features, input.table.row(1).values),
        (&[0, 1, 4, 5, 6][..], &[1.0, 1.0, 151.5, 1.0, 1.0][..])
    );
    assert!(
        noted(&input, "look like ids, since every text in them is another and were left out: \"name\""),
        "{:?}",
        input.notes
    );
    assert!(noted(&input, "hold one value only and were left out: \"flat\""));
    assert!(noted(&input, "whole numbers that all differ"));
    assert_eq!(input.groups.len(), 5);
}

#[test]
fn columns_are_what_they_are_said_to_be() {
    let input = read_with("people.csv", people().as_bytes(), |o, _| {
        o.ids = vec!["name".into()];
        o.kinds = [("grade".into(), ColumnKind::Real), ("a,b".into(), ColumnKind::Counts)].into();
        o.vectors = vec![("both".into(), vec!["height".into(), "grade".into()])];
    })
    .unwrap();
    let both = &input.table.variables()[0];
    assert_eq!((both.name.as_str(), both.kind, both.labels.len()), ("both", Kind::Real, 2));
    assert_eq!(input.table.row(4).missing, [0], "a vector is missing where one of its columns is");
    assert_eq!(input.table.variables()[3].kind, Kind::Counts);
    assert_eq!(input.samples.name(4), "p4");
    let flags = read_with("f.csv", b"a,b,c\n1,0,x\n0,1,y\n1,1,x\n", |o, _| {
        o.vectors = vec![("v".into(), vec!["a".into(), "b".into()])];
    });
    assert_eq!(flags.unwrap().table.variables()[0].kind, Kind::Flags);
}

#[test]
fn bad_tables_are_refused_with_their_line() {
    let none = |_: &mut Options, _: &Path| {};
    for (text, expected) in [
        ("", "is empty; give a file with at least one sample"),
        ("\n\n", "holds no lines"),
        ("a,b\n", "holds no samples"),
        ("a,b\n1,2\n1,2,3\n", "line 3: has 3 cells where 2 were expected; mend the line"),
        ("a,b\n1,\"2\n", "line 2: a quote opens here and is never closed"),
        ("a,b\n1,2\n1,2\n", "holds no column that could be a variable"),
    ] {
        let found = error("t.csv", text, none);
        assert!(found.contains(expected), "{text:?}: {found}");
    }
    type Change = fn(&mut Options, &Path);
    let cases: [(Change, &str); 7] = [
        (|o, _| o.ids = vec!["z".into()], "has no column \"z\"; the columns are \"a\", \"b\""),
        (|o, _| o.kinds = [("z".into(), ColumnKind::Real)].into(), "give --kind the name of a column"),
        (
            |o, _| o.kinds = [("b".into(), ColumnKind::Real)].into(),
            "line 2: \"x\" in column \"b\" is no finite number",
        ),
        (
            |o, _| o.kinds = [("a".into(), ColumnKind::Counts)].into(),
            "row 1 (counted from 1), column \"a\" is no count",
        ),
        (|o, _| o.kinds = [("a".into(), ColumnKind::Binary)].into(), "has 3 values where a binary one has 2"),
        (
            |o, _| o.vectors = vec![("v".into(), vec!["a".into(), "b".into()])],
            "line 2: \"x\" in column \"b\"",
        ),
        (|o, _| o.broad_groups = true, "--broad means nothing"),
    ];
    for (change, expected) in cases {
        let found = error("t.csv", "a,b\n1.5,x\n2,y\n3,x\n", change);
        assert!(found.contains(expected), "{found}");
    }
    assert!(
        error("t.csv", "a,a\n1,2\n3,4\n", |o, _| o.header = Some(true))
            .contains("two columns that are called \"a\"")
    );
    assert!(error("t.feather", "x", none).contains("it has no schema"));
    assert!(error("t.xyz", "word", none).contains("--format"));
    assert!(
        read_with("t.csv", b"a,b\n1,\xff\n", none)
            .unwrap_err()
            .to_string()
            .contains("line 2: is not valid UTF-8")
    );
    assert!(
        error("t.fasta", ">a\nAC\n>b\nAG\n", |o, _| o.code = Some("x".into()))
            .contains("--code means nothing with aligned")
    );
}

const EVENTS: &str = "patient,date,code\n7,2001,250.01\n7,2002,25001\n3,2001,4019\n3,2001,NA\n7,2003,401.9\n12,2001,\"x,y\"\n12,2002,4019\n3,2002,25000\n";
const MAP: &str = "code,group\n250.00,250\n250.01,250.1\n250.01,250\n401.9,401\n";

#[test]
fn a_spoilt_cell_makes_no_ids_of_numbers() {
    let rows = |spoilt: &str| -> String {
        let row = |i: usize| match i {
            7 => format!("{spoilt},{},a7\n", i % 2),
            _ => format!("{}.5,{},{i}\n", i * i, i % 2),
        };
        (0..40).map(row).collect()
    };
    for spoilt in ["1e999", "0x10", "12 kg"] {
        let told = error("x.csv", &format!("x,y,id\n{}", rows(spoilt)), |o, _| o.ids = vec!["id".into()]);
        assert!(told.contains(&format!("line 9: {spoilt:?} is no number in column \"x\"")), "{told}");
        assert!(told.contains("mend the cell"), "{told}");
    }
    // The same where two rows have one number, and no variable of forty levels.
    let twice = format!("x,y,id\n1.5,0,b\n{}1.5,1,c\n", rows("1e999"));
    let told = error("x.csv", &twice, |o, _| o.ids = vec!["id".into()]);
    assert!(told.contains("\"1e999\" is no number in column \"x\""), "{told}");
    let whole = format!("x,y,id\n{}", rows("50"));
    assert!(error("x.csv", &whole, |_, _| {}).contains("\"a7\" is no number in column \"id\""));
    let read = read_with("x.csv", whole.as_bytes(), |o, _| o.ids = vec!["id".into()]).unwrap();
    assert_eq!(read.table.variables()[0].kind, Kind::Real);
}

#[test]
fn events_become_binary_variables() {
    let input = read_with("e.csv", EVENTS.as_bytes(), |o, _| o.min_count = Some(1)).unwrap();
    let names: Vec<&str> = input.table.variables().iter().map(|v| v.name.as_str()).collect();
    assert_eq!(
        names,
        ["25000", "25001", "250.01", "401.9", "4019", "x,y"]
            .map(|n| n)
            .iter()
            .copied()
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    );
    assert_eq!((0..3).map(|s| input.samples.name(s)).collect::<Vec<_>>(), ["7", "3", "12"]);
    assert_eq!((input.table.samples(), input.table.variables()[0].kind), (3, Kind::Category));
    assert!(noted(&input, "1 rows without a sample or a code"));
    assert!(
        error("e.csv", EVENTS, |_, _| {})
            .contains("has no code that at least 5 samples have; lower --min-count")
    );
}

#[test]
fn a_table_with_a_sample_a_row_is_not_one_of_events() {
    let mut text = String::from("patient_id,age,sex,diagnosis\n");
    (0..40).for_each(|i| {
        text += &format!("{i},{},{},{}\n", 20 + i, ["m", "f"][i % 2], ["flu", "cold", "none"][i % 3])
    });
    assert_eq!(read("t.csv", &text).table.samples(), 40);
    assert!(noted(
        &read_with("t.csv", (text + "3,1,m,flu\n").as_bytes(), |o, _| o.min_count = Some(1)).unwrap(),
        "41 events"
    ));
}

#[test]
fn events_are_grouped_by_a_map() {
    let grouped = |counts: bool, broad: bool, most: usize| {
        read_with("e.csv", EVENTS.as_bytes(), |o, folder| {
            std::fs::write(folder.join("map.csv"), MAP).unwrap();
            std::fs::write(folder.join("info.tsv"), "phecode\tdescription\n401\thypertension\n").unwrap();
            o.groups = Some(folder.join("map.csv"));
            o.descriptions = Some(folder.join("info.tsv"));
            (o.min_count, o.counts, o.broad_groups, o.max_codes) = (Some(1), counts, broad, most);
        })
        .unwrap()
    };
    let input = grouped(true, true, 32);
    let found: Vec<(&str, Vec<String>)> =
        input.table.variables().iter().map(|v| (v.name.as_str(), v.labels.clone())).collect();
    assert_eq!(
        found,
        [("250", vec!["250.00".into(), "250.01".into()]), ("401 hypertension", vec!["401.9".into()])]
    );
    assert_eq!((input.table.row(0).features, input.table.row(0).values), (&[1, 2][..], &[2.0, 1.0][..]));
    assert!(
        noted(
            &input,
            "1 of 4 codes, 1 of 6 pairs of a sample and a code, have no group and were left out: \"x,y\""
        ),
        "{:?}",
        input.notes
    );
    assert_eq!(input.groups[1], "group 401, hypertension: 1 codes");
    let narrow = grouped(false, false, 32);
    assert_eq!(
        narrow.table.variables().iter().map(|v| v.name.as_str()).collect::<Vec<_>>(),
        ["250", "250.1", "401 hypertension"]
    );
    assert_eq!(
        (narrow.table.variables()[0].kind, narrow.table.row(0).values),
        (Kind::Flags, &[1.0, 1.0][..])
    );
    let pooled = grouped(false, true, 1);
    assert_eq!(pooled.table.variables()[0].labels, ["250.00", "other codes of 250"]);
}

#[test]
fn bad_events_and_maps_are_refused() {
    for (text, expected) in [
        ("patient,code\n1,a\n2\n", "line 3: \"2\" has 1 cells where at least 2 were expected"),
        ("patient,code\n1,\"a\n", "line 2: a quote is not closed on its line"),
        ("patient,code\n", "holds no events"),
        ("patient,code\n,a\n", "holds no events"),
    ] {
        let found = error("e.csv", text, |_, _| {});
        assert!(found.contains(expected), "{text:?}: {found}");
    }
    for (map, expected) in [
        ("code\nx\n", "has one column where two were expected"),
        ("code,group\n401.9\n", "line 2: has 1 cells where at least 2"),
        ("code,group\n,\n", "holds no pairs of a code and a group"),
        ("zzz,group\n1,2\n", "has no code that at least 1 samples have"),
    ] {
        let found = error("e.csv", EVENTS, |o, folder| {
            std::fs::write(folder.join("map.csv"), map).unwrap();
            (o.groups, o.min_count) = (Some(folder.join("map.csv")), Some(1));
        });
        assert!(found.contains(expected), "{map:?}: {found}");
    }
    assert!(
        error("e.csv", EVENTS, |o, _| o.groups = Some("nowhere.csv".into()))
            .contains("there is no such file")
    );
    assert!(error("e.csv", EVENTS, |o, _| o.memory = 100).contains("raise --memory"));
}

/// Pieces are of one or two million bytes, so that this file has several of them, plain and packed.
#[test]
fn events_do_not_depend_on_threads_or_packing() {
    let mut text = String::from("who,what\n");
    for i in 0..250_000u64 {
        let x = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        text += &format!("patient{},{}\n", x % 5000, (x / 5000) % 40);
    }
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("e.csv");
    std::fs::write(&plain, &text).unwrap();
    let packed = folder.path().join("e.csv.gz");
    let mut out =
        flate2::write::GzEncoder::new(std::fs::File::create(&packed).unwrap(), flate2::Compression::fast());
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap();
    let options = Options { format: Some(Format::Events), counts: true, ..Options::default() };
    let one = with_threads(1, || open(&plain, &options, &Silent)).unwrap();
    assert_eq!((one.table.samples(), one.table.variables().len()), (5000, 40));
    let total: f64 = (0..5000).map(|s| one.table.row(s).values.iter().sum::<f64>()).sum();
    assert_eq!(total, 250_000.0);
    for (path, threads) in [(&plain, 3), (&packed, 2)] {
        let other = with_threads(threads, || open(path, &options, &Silent)).unwrap();
        assert_eq!(one.table, other.table);
        assert_eq!(one.samples.name(77), other.samples.name(77));
    }
}

#[test]
fn sequences_are_read() {
    let fasta = ">a x\nACGT-acguN\n>b\nAAGTRAC?TT\n>c\nCC\nGGCCGGT-\n";
    let input = read("s.fasta", fasta);
    assert_eq!((input.table.samples(), input.table.variables().len()), (10, 3));
    assert_eq!(input.table.variables()[0].name, "a x");
    assert_eq!(input.table.row(4).missing, [0, 1]);
    assert!(noted(&input, "3 sequences of DNA, 10 sites"));
    let relaxed = "3 10\nax ACGT-acguN\nb AAGTR AC?TT\nc\nCC\nGGCCGGT-\n";
    let strict = " 3 10\na x       ACGT-acguN\nb         AAGTRAC?TT\nc         CCGGCCGGT-\n";
    let interleaved = "3 10\nax ACGT-\nb  AAGTR\nc  CCGGC\n\nacguN\nAC?TT\nCGGT-\n";
    for text in [relaxed, strict, interleaved] {
        let other = read("s.phy", text);
        for site in 0..10 {
            let (x, y) = (input.table.row(site), other.table.row(site));
            assert_eq!((x.features, x.missing), (y.features, y.missing), "{text}");
        }
    }
    let dots = read("s.phy", "2 4\na ACGT\nb ..TA\n");
    assert_eq!(dots.table.variables()[1].labels, ["A", "C", "T"]);
    assert!(noted(&read("p.fasta", ">a\nMKVLAT\n>b\nMRILAX\n"), "protein"));
    assert_eq!(read("r.fasta", ">a\nAUG\n>b\nAUC\n").table.variables()[0].labels, ["A", "U", "G"]);
}

#[test]
fn bad_sequences_are_refused() {
    for (name, text, expected) in [
        (
            "s.fasta",
            ">a\nAC\n>b\nA\n",
            "line 3: \"b\" has 1 letters where \"a\" has 2; align the sequences first",
        ),
        ("s.fasta", ">a\nAC\n>a\nAG\n", "line 3: a second sequence is called \"a\""),
        ("s.fasta", "AC\n", "line 1: does not begin with a >"),
        ("s.fasta", ">a\nA1\n", "line 2: '1' stands in the sequence \"a\""),
        ("s.fasta", ">\nA\n", "line 1: a sequence has no name"),
        ("s.fasta", ">a\n>b\n", "has 0 letters"),
        ("s.fasta", ">a\nNN\n>b\nAA\n", "no sequence with two different letters"),
        ("s.phy", "x\n", "is no header of PHYLIP"),
        ("s.phy", "99999999999 99999999999\na A\n", "promises 99999999999 sequences"),
        ("s.phy", "2 4\na ACGT\nb ACG\n", "line 3: \"b\" has 3 letters where 4 were promised"),
        ("s.phy", "2 3\na ACG\n", "line 1: holds 1 sequences where 2 were promised"),
        ("s.phy", "1 3\na ACG\nb ACG\n", "line 3: goes on behind the 1 sequences"),
        ("s.phy", "1 3\na A(G\n", "'(' stands in the sequence"),
    ] {
        let found = error(name, text, |_, _| {});
        assert!(found.contains(expected), "{text:?}: {found}");
    }
}

#[test]
fn what_is_drawn_and_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drawn.csv");
    for emits in [Emits::Category, Emits::Real, Emits::Mixed] {
        let synth = Synth {
            variables: 6,
            samples: 300,
            width: 3,
            shape: Shape::Binary,
            emits,
            seed: 5,
            ..Synth::default()
        };
        let drawn = synth.draw().unwrap();
        write_samples(&path, &drawn.table).unwrap();
        let vectors: Vec<(String, Vec<String>)> = drawn
            .table
            .variables()
            .iter()
            .filter(|v| v.kind == Kind::Real)
            .map(|v| (v.name.clone(), v.labels.iter().map(|l| format!("{}.{l}", v.name)).collect()))
            .collect();
        let input = open(&path, &Options { vectors, ..Options::default() }, &Silent).unwrap();
        let again = &input.table;
        assert_eq!(
            (again.samples(), again.variables().len(), again.features()),
            (300, 6, drawn.table.features())
        );
        for (v, variable) in drawn.table.variables().iter().enumerate() {
            let w = again.variables().iter().position(|other| other.name == variable.name).unwrap();
            for sample in 0..300 {
                assert_eq!(value(&drawn.table, v, sample), value(again, w, sample), "{emits:?}");
            }
        }
    }
    let synth =
        Synth { variables: 6, samples: 300, width: 3, emits: Emits::Flags, seed: 5, ..Synth::default() };
    let drawn = synth.draw().unwrap();
    let map = folder.path().join("map.csv");
    write_events(&path, &drawn.table).unwrap();
    write_groups(&map, &drawn.table).unwrap();
    let input =
        open(&path, &Options { groups: Some(map), min_count: Some(1), ..Options::default() }, &Silent)
            .unwrap();
    assert_eq!(input.table.entries(), drawn.table.entries());
    let widths = |t: &Table| t.variables().iter().map(|v| v.width()).collect::<Vec<_>>();
    assert_eq!(widths(&input.table), widths(&drawn.table));
    let real = Synth { emits: Emits::Real, samples: 3, ..Synth::default() }.draw().unwrap();
    assert!(
        write_events(&path, &real.table).unwrap_err().to_string().contains("write the samples as a table")
    );
}

/// The level of a category by name, or the numbers.
fn value(table: &Table, v: usize, sample: usize) -> (String, Vec<f64>) {
    let (variable, features, row) = (&table.variables()[v], table.features_of(v), table.row(sample));
    let held: Vec<(usize, f64)> = row
        .features
        .iter()
        .map(|f| *f as usize)
        .zip(row.values.iter().copied())
        .filter(|e| features.contains(&e.0))
        .collect();
    match variable.kind {
        Kind::Category => {
            (variable.labels[held.first().map_or(0, |e| e.0 - features.start + 1)].clone(), Vec::new())
        }
        _ => (String::new(), held.iter().map(|e| e.1).collect()),
    }
}

/// Rows (patient, code, whether it was the first) in two row groups.
#[cfg(feature = "parquet")]
fn parquet_file(path: &Path) {
    use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
    use ::parquet::file::writer::SerializedFileWriter;
    let schema = "message s { required int64 patient; optional binary code (utf8); required boolean first; }";
    let schema = std::sync::Arc::new(::parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut writer =
        SerializedFileWriter::new(std::fs::File::create(path).unwrap(), schema, Default::default()).unwrap();
    for group in 0..2 {
        let mut rows = writer.next_row_group().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&[7, 7, 3 + group, 12], None, None).unwrap();
        column.close().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        let texts: Vec<ByteArray> =
            ["250.01", "401.9", "25001"].iter().map(|t| ByteArray::from(*t)).collect();
        column.typed::<ByteArrayType>().write_batch(&texts, Some(&[1, 1, 0, 1]), None).unwrap();
        column.close().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        column.typed::<BoolType>().write_batch(&[true, false, true, true], None, None).unwrap();
        column.close().unwrap();
        rows.close().unwrap();
    }
    writer.close().unwrap();
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_tables_and_events() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    parquet_file(&path);
    let events = open(&path, &Options { min_count: Some(1), ..Options::default() }, &Silent).unwrap();
    let names: Vec<&str> = events.table.variables().iter().map(|v| v.name.as_str()).collect();
    assert_eq!((names, events.table.samples()), (vec!["250.01", "25001", "401.9"], 2));
    assert!(noted(&events, "2 rows without a sample or a code"));
    let (ids, kinds) = (vec!["patient".into()], [("code".into(), ColumnKind::Category)].into());
    let table = open(&path, &Options { ids, kinds, ..Options::default() }, &Silent).unwrap();
    let found: Vec<(&str, usize)> =
        table.table.variables().iter().map(|v| (v.name.as_str(), v.labels.len())).collect();
    assert_eq!((found, table.table.samples()), (vec![("code", 3), ("first", 2)], 8));
    assert_eq!(
        (table.table.variables()[1].labels[0].as_str(), table.samples.name(6)),
        ("true", "4".to_owned())
    );
    assert_eq!(table.table.row(2).missing, [0]);
}

/// Columns that hold one value, all cells of one kind, or numbers where the fit had levels are still those of the fit.
#[test]
fn samples_of_a_model_are_read_as_it_knows_them() {
    let variable = |name: &str, kind: Kind, labels: &[&str]| Variable {
        name: name.into(),
        kind,
        labels: labels.iter().map(|l| (*l).into()).collect(),
    };
    let like = vec![
        variable("a", Kind::Category, &["0", "1"]),
        variable("at", Kind::Real, &["x", "y"]),
        variable("n", Kind::Counts, &["n"]),
        variable("f", Kind::Flags, &["f1", "f2"]),
        variable("gone", Kind::Category, &["0", "1"]),
    ];
    let read_like = |text: &str| read_with("t.csv", text.as_bytes(), |o, _| o.like = like.clone());
    let input = read_like("who,a,x,y,n,f1,f2\nme,1,2.5,3,4,1,0\nme,1,2.5,3,4,1,0\n").unwrap();
    let row = input.table.row(1);
    assert_eq!((row.features, row.values), (&[0, 1, 2, 3, 4][..], &[1.0, 2.5, 3.0, 4.0, 1.0][..]));
    assert_eq!((row.missing, input.groups.len()), (&[4][..], 5));
    assert!(noted(&input, "1 of the model's 5 variables are not here"));
    // A vector without one of its columns is not there.
    assert_eq!(read_like("a,x,n\n0,1,2\n").unwrap().table.row(0).missing, [1, 3, 4]);
    let told = read_like("b,c\n0,1\n").unwrap_err().to_string();
    assert!(told.contains("has no column of the model's") && told.contains("--events"), "{told}");
    let told = read_like("a,n\n0,-2\n").unwrap_err().to_string();
    assert!(told.contains("is no count"), "{told}");
    let taxa = vec![variable("p", Kind::Category, &["A", "C"]), variable("q", Kind::Category, &["C", "A"])];
    let sites = read_with("t.fasta", b">p\nCC\n>q\nCA\n", |o, _| o.like = taxa.clone()).unwrap();
    assert_eq!((sites.table.row(0).features, sites.table.row(1).features), (&[0][..], &[0, 1][..]));
}

#[test]
fn more_sequences_than_variables_are_refused_while_they_are_read() {
    let many = crate::trees::data::MOST_VARIABLES + 1;
    let told = error("many.fasta", &format!("{}\u{1}", ">a\nA\n".repeat(many)), |_, _| {});
    assert!(
        told.contains("line 131073: holds more than 65536 sequences; give the sequences that matter"),
        "{told}"
    );
    let told = error("many.phy", &format!("{many} 1\n{}", "a A\n".repeat(many)), |_, _| {});
    assert!(told.contains("line 1: promises 65537 sequences, more than 65536"), "{told}");
}

#[test]
fn phylip_counts_its_lines_as_they_stand() {
    let told = error("x.phy", "\r\n 2 4 \r\n\na ACGT\n\nb ACG!X\n", |_, _| {});
    assert!(told.contains("line 6") && !told.contains("line 7"), "{told}");
}
