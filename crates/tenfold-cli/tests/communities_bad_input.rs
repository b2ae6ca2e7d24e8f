//! Graphs and truths that cannot be used get an error that says where and what to do.

mod support;

use support::Place;

/// Two rings of ten with chords, and one edge between them.
fn graph() -> String {
    let ring = |first: usize| {
        (0..10)
            .flat_map(move |i| [1, 2, 3].map(|step| format!("{} {}\n", first + i, first + (i + step) % 10)))
    };
    ring(0).chain(ring(10)).chain(["3 13\n".to_owned()]).collect()
}

#[test]
fn a_graph_that_cannot_be_used_says_its_line() {
    let place = Place::new();
    for (name, text, words) in [
        ("empty.txt", "", &["empty"][..]),
        ("comment.txt", "# nothing\n", &["no edges"]),
        ("loop.txt", "1 1\n2 2\n", &["no edges between different nodes"]),
        ("one.txt", "1 2\n3\n", &["line 2"]),
        ("nan.csv", "source,target,weight\n1,2,1\n2,3,NaN\n", &["line 3", "NaN", "--unweighted"]),
        ("negative.txt", "1 2 0.5\n2 3 -4\n", &["line 2", "-4", "negative"]),
        ("infinite.txt", "1 2 0.5\n2 3 inf\n", &["line 2", "inf"]),
        ("word.csv", "source,target,weight\n1,2,heavy\n", &["line 2", "heavy"]),
        ("broken.gml", "graph [ node [ id 1 ] edge [ source 1 target 2 ] ]", &["2", "not declared"]),
        ("cut.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 9\n1 2\n", &["cut.mtx"]),
    ] {
        place.write(name, text);
        place.fails(&format!("communities fit {name} -k 2 -o m.tenfold"), 3, &[&[name], words].concat());
    }
    place.fails("communities fit missing.txt -k 2 -o m.tenfold", 3, &["missing.txt"]);
    place.ok("communities fit nan.csv -k 2 --unweighted -o m.tenfold");
    place.write("pair.txt", "a b\n");
    // The smallest graph is one community.
    for k in ["1", "auto"] {
        place.ok(&format!("communities fit pair.txt -k {k} -o x"));
    }
    place.fails("communities fit pair.txt -k 1 --hold-out 0.5 -o x", 3, &["pair.txt", "both parts"]);
    let run = place.run_with("communities fit - -k 2 -o x", b"");
    assert_eq!((run.code, run.err.contains("standard input")), (3, true), "{}", run.err);
}

#[test]
fn wrong_usage_is_told_before_any_work() {
    let place = Place::new();
    place.write("g.txt", graph());
    for (arguments, words) in [
        ("communities fit g.txt -k 0 -o m", &["at least 1"][..]),
        ("communities fit g.txt -k many -o m", &["whole number"]),
        ("communities fit g.txt -k 21 -o m", &["21", "20"]),
        ("communities fit g.txt -k 2", &["--output"]),
        ("communities fit g.txt -k 2 -o g.txt", &["overwritten"]),
        ("communities fit g.txt -k 2 -o m --members m", &["extension"]),
        ("communities fit g.txt -k 2 -o m --members m.npy", &["no place for ids", ".csv"]),
        ("communities fit g.txt -k 2 -o m --connectivity p.html", &[".html"]),
        ("communities fit g.txt -k 2 -o m --covers m", &["overwritten"]),
        ("communities fit g.txt -k 2 -o m --covers c.txt --gml c.txt", &["overwritten"]),
        ("communities fit g.txt -k 2 -o m --covers c.txt --gml ./c.txt", &["overwritten"]),
        ("communities fit g.txt -k 2 -o m --gexf g.txt", &["overwritten"]),
        ("communities fit g.txt -k 2 -o m --gexf nowhere/g.gexf", &["nowhere", "folder"]),
        ("communities fit g.txt -k 2 -o m --threshold 1.5 --members m.csv", &["0 to 1"]),
        ("communities fit g.txt -k 2 -o m --side from", &["--members or --covers"]),
        ("communities fit g.txt -k 2 -o m --side from --members m.csv", &["no direction"]),
        ("communities fit g.txt -k 2 -o m --directed --bipartite", &["--bipartite"]),
        ("communities fit g.txt -k 2 -o m --weighted --unweighted", &["--unweighted"]),
        ("communities fit g.txt -k 2 -o m --alpha0=-1", &["alpha0"]),
        ("communities fit g.txt -k 2 -o m --views some", &["partition"]),
        ("communities fit g.txt -k 2 -o m --polish none --iterations 3", &["--iterations means nothing"]),
        ("communities fit g.txt -k 2 -o m --treatment dense --iterations 3", &["--iterations means nothing"]),
        ("communities fit g.txt -k 2 -o m --solver polar --rate 0.1", &["--rate means nothing"]),
        ("generate communities -k 11 --nodes 10 -o g2.txt", &["11", "10"]),
        ("generate communities --within 1.5 -o g2.txt", &["within"]),
        ("generate communities --degree 0 -o g2.txt", &["degree"]),
        ("generate communities --degree 5 --within 0.5 -o g2.txt", &["--within"]),
        ("generate communities --background 0.1 -o g2.txt", &["--degree"]),
        ("generate communities --weighted -o g2.txt", &["--weighted means nothing"]),
        ("generate communities --others 5 -o g2.txt", &["--bipartite"]),
        ("generate communities --nodes 10000000 -o g2.txt", &["GB"]),
    ] {
        place.fails(arguments, 2, words);
    }
    place.fails("communities fit g.txt -k 2 -o m --from a", 3, &["--from"]);
}

#[test]
fn a_truth_of_another_graph_is_refused_and_a_partial_one_is_counted() {
    let place = Place::new();
    place.write("g.txt", graph());
    place.ok("communities fit g.txt -k 2 -o m.tenfold");
    let evaluate = "communities evaluate m.tenfold --truth";
    place.write("other.txt", (0..20).map(|i| format!("x{i} {}\n", i / 10)).collect::<String>());
    place.fails(
        &format!("{evaluate} other.txt"),
        3,
        &["other.txt", "none of its 20 ids is a node", "\"x0\""],
    );
    let cover = format!("{evaluate} other.txt --truth-format cover");
    place.fails(&cover, 3, &["other.txt", "only 2 of its 22 ids are nodes", "\"x0\""]);
    place.write("few.txt", (0..50).map(|i| format!("{i} {}\n", i / 10)).collect::<String>());
    place.fails(&format!("{evaluate} few.txt"), 3, &["few.txt", "only 20 of its 50 ids"]);
    place.write("some.txt", (5..25).map(|i| format!("{i} {}\n", i / 10)).collect::<String>());
    let run = place.ok(&format!("{evaluate} some.txt"));
    assert!(run.err.contains("warning: some.txt: 5 of the truth's 20 ids are no nodes"), "{}", run.err);
    assert!(
        run.err.contains("5 of 20 nodes are not in the truth") && run.out.contains("15 nodes"),
        "{}",
        run.err
    );
    let value = place.json(&format!("{evaluate} some.txt"));
    assert_eq!((&value["strangers"], &value["unknown_nodes"]), (&5.into(), &5.into()));
    place.write("empty.txt", "");
    place.fails(&format!("{evaluate} empty.txt"), 3, &["empty"]);
    place.write("t.csv", "id,a,b\n1,x,y\n2,x,z\n");
    place.fails(&format!("{evaluate} t.csv"), 3, &["\"a\", \"b\"", "--attribute"]);
    place.fails(&format!("{evaluate} t.csv --attribute c"), 3, &["\"c\""]);
    place.fails(&format!("{evaluate} t.csv --attribute a --id-column who"), 3, &["\"who\""]);
    place.ok(&format!("{evaluate} t.csv --attribute a,b"));
    place.fails(&format!("{evaluate} missing.txt"), 3, &["missing.txt"]);
    place.fails(
        "communities evaluate m.tenfold --held-out other.txt",
        3,
        &["other.txt", "no nodes of the model"],
    );
}

#[test]
fn damaged_models_are_refused() {
    let place = Place::new();
    place.write("g.txt", graph());
    place.ok("communities fit g.txt -k 2 -o m.tenfold");
    let bytes = place.bytes("m.tenfold");
    place.write("cut.tenfold", &bytes[..bytes.len() / 2]);
    for command in
        ["show cut.tenfold", "predict cut.tenfold g.txt -o x.csv", "infer cut.tenfold g.txt -o x.csv"]
    {
        place.fails(&format!("communities {command}"), 3, &["cut.tenfold"]);
    }
    place.fails("communities show g.txt", 3, &["g.txt"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing_behind() {
    use std::io::Read;
    use std::process::Stdio;
    let place = Place::new();
    place.ok("generate communities --nodes 3000 -k 20 --degree 60 -o g.txt");
    let files = place.files();
    // A tolerance of zero and many starts: the decomposition goes on until it is stopped.
    let endless = "--solver power --tolerance 0 --max-iterations 100000000 --restarts 1000000";
    let args = format!("communities fit g.txt -k 20 {endless} -o m.tenfold --members m.csv");
    let mut child = place.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(child.try_wait().unwrap().is_none(), "ended before it was stopped");
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{told}");
    assert!(told.contains("stopped; nothing was written"), "{told}");
    assert_eq!(place.files(), files);
}
