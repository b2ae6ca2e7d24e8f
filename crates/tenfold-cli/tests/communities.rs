//! `tenfold communities` from files to files.

mod support;

use support::{Place, number};

/// A graph of 600 nodes in four communities, some of them in several, as `g.txt` with its truth beside it.
fn drawn(place: &Place, more: &str) {
    place.ok(&format!("generate communities --nodes 600 -k 4 --alpha0 0.3 --seed 3 {more} -o g.txt"));
}

#[test]
fn what_was_drawn_is_found_and_written_in_every_form() {
    let place = Place::new();
    drawn(&place, "");
    let fit = place.json(
        "communities fit g.txt -k 4 --alpha0 0.3 -o m.tenfold --members members.csv --covers cover.txt --gml g.gml \
         --gexf g.gexf --connectivity p.csv",
    );
    assert_eq!((&fit["k"], &fit["nodes"], &fit["kind"]), (&4.into(), &600.into(), &"undirected".into()));
    assert_eq!((&fit["model"], &fit["members"]), (&"m.tenfold".into(), &"members.csv".into()));
    assert!(fit["diagnostics"]["seconds"]["reading"].is_number(), "{fit}");

    // Within/between .9/.1 and 150 nodes a community: a share has a standard error of √(.25/150)/.8 = .05 at worst.
    let near = place.json("communities evaluate m.tenfold --truth g.truth.csv --curve curve.csv");
    assert_eq!(
        (&near["recovery"], &near["nodes"], &near["strangers"]),
        (&1.0.into(), &600.into(), &0.into())
    );
    assert!(number(&near["mean_absolute_error"]) < 0.03, "{near}");
    assert!(number(&near["empty_error"]) > 0.2, "{near}");
    for measure in ["onmi_lfk", "onmi_max", "omega", "average_f1"] {
        assert!(number(&near[measure]) > 0.7, "{measure}: {near}");
    }
    assert_eq!(near["curve"].as_array().unwrap().len(), place.text("curve.csv").lines().count() - 1);
    assert!(place.text("curve.csv").starts_with("threshold,recovery,error,pairs,mean_absolute_error\n0,1,"));
    let told = place.ok("communities evaluate m.tenfold --truth g.truth.csv").out;
    for word in ["recovery", "significant pairs", "an empty answer", "ONMI-LFK", "threshold"] {
        assert!(told.contains(word), "{word}: {told}");
    }

    // Members: every node, and the weights of the model.
    let members = place.text("members.csv");
    assert!(members.starts_with("id,community,weight\n0,"), "{members}");
    let ids: std::collections::BTreeSet<&str> =
        members.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(ids.len(), 600);
    // What was written is a truth that the model agrees with entirely.
    for truth in ["members.csv", "cover.txt"] {
        let own = place.json(&format!("communities evaluate m.tenfold --truth {truth}"));
        assert_eq!((&own["average_f1"], &own["omega"]), (&1.0.into(), &1.0.into()), "{truth}: {own}");
    }
    let own = place.json("communities evaluate m.tenfold --truth g.gml --attribute community");
    assert_eq!(own["nmi"], 1.0, "{own}");
    assert_eq!(place.text("cover.txt").lines().count(), 4);
    assert_eq!(place.text("p.csv").lines().next().unwrap(), "community,to0,to1,to2,to3");
    let gexf = place.text("g.gexf");
    assert_eq!(gexf.matches("<node ").count(), 600);
    assert_eq!(gexf.matches("<edge ").count() as u64, fit["edges"].as_u64().unwrap());

    // The graph as it was written gives the same communities.
    let again = place.json("communities fit g.gml -k 4 --alpha0 0.3 -o again.tenfold --members again.csv");
    assert_eq!((&again["edges"], &again["kind"]), (&fit["edges"], &fit["kind"]));
    assert_eq!(place.text("again.csv"), members);
}

#[test]
fn models_are_shown_by_community_node_and_bridge() {
    let place = Place::new();
    drawn(&place, "");
    let fit = place.ok("communities fit g.txt -k 4 -o m.tenfold");
    for word in [
        "4 communities in 600 nodes",
        "stages: reading",
        "model written to m.tenfold",
        "next: tenfold report",
    ] {
        assert!(fit.out.contains(word), "{word}: {}", fit.out);
    }
    let all = place.ok("communities show m.tenfold").out;
    assert!(all.contains("verdict") && all.contains("treated as dense"), "{all}");
    let one = place.json("communities show m.tenfold 2 --members 7");
    assert_eq!((&one["community"], one["members"].as_array().unwrap().len()), (&2.into(), 7), "{one}");
    let first = number(&one["members"][0]["weight"]);
    // Members come by membership times degree.
    let edges = |i: usize| number(&one["members"][i]["weight"]) * number(&one["members"][i]["degree"]);
    assert!(first > 0.8 && edges(0) >= edges(6), "{one}");
    let bridges = place.json("communities show m.tenfold --bridges 5");
    let rows = bridges["bridges"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    assert!(number(&rows[0]["corrected"]) >= number(&rows[4]["corrected"]), "{bridges}");
    assert!(rows[0]["communities"].as_array().unwrap().len() > 1, "{bridges}");
    let plain = place.json("communities show m.tenfold --bridges 5 --by bridgeness");
    let rows = plain["bridges"].as_array().unwrap();
    assert!(number(&rows[0]["bridgeness"]) >= number(&rows[4]["bridgeness"]), "{plain}");
    let told = place.ok("communities show m.tenfold --bridges 5").out;
    assert!(told.starts_with("bridgeness  degree  times degree  node"), "{told}");
    let id = one["members"][0]["id"].as_str().unwrap();
    let node = place.json(&format!("communities show m.tenfold --node {id}"));
    assert_eq!(node["communities"][0]["community"], 2, "{node}");
    place.fails("communities show m.tenfold 4", 2, &["no community 4", "0 to 3"]);
    place.fails("communities show m.tenfold --node nobody", 2, &["nobody", "m.tenfold"]);
    place.fails("communities show m.tenfold --side from", 2, &["no direction"]);
    place.fails("communities show m.tenfold --by bridgeness", 2, &["--bridges"]);
    place.fails("communities show m.tenfold --members 3", 2, &["COMMUNITY"]);
    // Other commands know it for what it is.
    place.fails("topics show m.tenfold", 3, &["m.tenfold", "communities"]);
}

#[test]
fn the_same_bytes_on_any_threads_and_from_standard_input() {
    let place = Place::new();
    for more in
        ["", "--degree 25", "--degree 25 --directed", "--degree 25 --bipartite --others 500 --weighted"]
    {
        drawn(&place, &format!("{more} --threads 1"));
        let graph = place.bytes("g.txt");
        drawn(&place, &format!("{more} --threads 3"));
        assert!(place.bytes("g.txt") == graph, "{more}: drawn on 3 threads");
        let args = "communities fit g.txt -k 4 --seed 4 --members m.csv --gexf m.gexf";
        let fit = |threads: usize| {
            place.ok(&format!("{args} -o m.tenfold --threads {threads}"));
            [place.bytes("m.tenfold"), place.bytes("m.csv"), place.bytes("m.gexf")]
        };
        let one = fit(1);
        for threads in [2, 3, 8] {
            assert!(fit(threads) == one, "{more}: {threads} threads");
        }
        let run = place.run_with("communities fit - -k 4 --seed 4 -o piped", &graph);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(place.bytes("piped") == one[0], "{more}: from standard input");
    }
}

#[test]
fn directed_and_bipartite_graphs_have_two_sides() {
    let place = Place::new();
    drawn(&place, "--degree 40 --background 0.1 --directed");
    let fit = place.json(
        "communities fit g.txt -k 4 --directed --treatment sparse --alpha0 0.3 -o m.tenfold --members both.csv",
    );
    assert_eq!(fit["kind"], "directed");
    for side in ["from", "to"] {
        let near =
            place.json(&format!("communities evaluate m.tenfold --truth g.truth.{side}.csv --side {side}"));
        assert_eq!(near["recovery"], 1.0, "{side}: {near}");
        // Forty edges tell a share to about √(π(1−π)/36) ≈ .05 on average.
        assert!(number(&near["mean_absolute_error"]) < 0.08, "{side}: {near}");
    }
    drawn(&place, "--degree 40 --background 0.1 --bipartite --others 500");
    let fit =
        place.json("communities fit g.txt -k 4 --alpha0 0.3 -o m.tenfold --side to --members right.csv");
    assert_eq!((&fit["kind"], &fit["nodes"]), (&"bipartite".into(), &600.into()));
    assert!(place.text("right.csv").contains("\nv0,"), "the right side");
    let bridges = place.json("communities show m.tenfold --bridges 3 --side to");
    assert!(bridges["bridges"][0]["id"].as_str().unwrap().starts_with('v'), "{bridges}");
    let one = place.json("communities show m.tenfold 1 --side to --members 3");
    assert!(one["members"][2]["id"].as_str().unwrap().starts_with('v'), "{one}");
    for (side, nodes) in [("from", 600), ("to", 500)] {
        let near =
            place.json(&format!("communities evaluate m.tenfold --truth g.truth.{side}.csv --side {side}"));
        assert_eq!((&near["recovery"], &near["nodes"]), (&1.0.into(), &nodes.into()), "{near}");
    }
    place.fails("communities evaluate m.tenfold --truth g.truth.to.csv --side both", 2, &["from or to"]);
    place.ok("communities fit g.txt -k 4 -o m.tenfold --gml g.gml");
    assert!(place.text("g.gml").contains("side \"to\""));
    place.fails("communities fit g.txt -k 4 -o x --side both --members x.csv", 2, &["from or to"]);
}

#[test]
fn new_nodes_get_the_communities_of_their_neighbours() {
    let place = Place::new();
    // Two groups of forty: within a group two of three pairs are joined.
    let mut edges = String::from("source,target\n");
    for u in 0..80 {
        for v in u + 1..80 {
            if u / 40 == v / 40 && (u * 7 + v * 11) % 3 != 0 || (u + v) % 79 == 0 {
                edges += &format!("n{u},n{v}\n");
            }
        }
    }
    place.write("g.csv", edges);
    place.ok("communities fit g.csv -k 2 --undirected -o m.tenfold --members m.csv");
    let mut new = String::new();
    for v in 0..12 {
        new += &format!("left n{v}\nright n{}\nmixed n{v}\nmixed n{}\n", v + 40, v + 40);
    }
    place.write("new.txt", format!("{new}left stranger\nlost stranger\n"));
    let run = place.ok("communities infer m.tenfold new.txt -o new.csv --threshold 0.25");
    assert!(run.err.contains("1 of 25 nodes") && run.err.contains("\"stranger\""), "{}", run.err);
    assert!(run.err.contains("1 new nodes have no known neighbours"), "{}", run.err);
    let found = place.text("new.csv");
    let of = |text: &str, id: &str| -> Vec<String> {
        let own = text.lines().filter(|line| line.starts_with(&format!("{id},")));
        own.map(|line| line.split(',').nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(of(&found, "left"), [of(&place.text("m.csv"), "n3")[0].clone()]);
    assert_eq!(of(&found, "right"), [of(&place.text("m.csv"), "n50")[0].clone()]);
    assert_eq!((of(&found, "mixed").len(), of(&found, "lost").is_empty()), (2, false), "{found}");
    place.ok("communities infer m.tenfold new.txt -o new.parquet");
    place.fails("communities infer m.tenfold g.csv --from target --to source -o m.npy", 2, &["ids"]);
    place.write("odd.txt", "n1 x\nn2 y\n");
    place.fails("communities infer m.tenfold odd.txt -o x.csv", 3, &["odd.txt", "\"x\"", "second column"]);

    // Links within a group are more probable than links between them; order and repetitions stay.
    place.write("pairs.txt", "n1 n2\nn1 n50\nn41 n42\nn1 n2\n");
    place.ok("communities predict m.tenfold pairs.txt -o links.csv");
    let links = place.text("links.csv");
    let lines: Vec<&str> = links.lines().collect();
    assert_eq!((lines[0], lines.len(), lines[1]), ("from,to,probability", 5, lines[4]));
    let p = |i: usize| lines[i].rsplit(',').next().unwrap().parse::<f64>().unwrap();
    assert!(lines[2].starts_with("n1,n50,") && p(1) > 3.0 * p(2) && p(3) > 3.0 * p(2), "{links}");
    let piped = place.run_with("communities predict m.tenfold - -o one.tsv", b"n1 n2\n");
    assert_eq!(piped.code, 0, "{}", piped.err);
    place.write("odd.txt", "n1 n2\nn1 n99\n");
    place.fails("communities predict m.tenfold odd.txt -o x.csv", 3, &["odd.txt, pair 2", "\"n99\""]);
}

#[test]
fn held_out_edges_are_told_from_other_pairs() {
    let place = Place::new();
    drawn(&place, "--degree 40 --background 0.1");
    let lines = place.text("g.txt");
    let (mut train, mut test) = (String::new(), String::new());
    for (i, line) in lines.lines().enumerate() {
        *(if i % 5 == 1 { &mut test } else { &mut train }) += &format!("{line}\n");
    }
    place.write("train.txt", train);
    place.write("test.txt", &test);
    place.ok("communities fit train.txt -k 4 --alpha0 0.3 -o m.tenfold");
    let args = "communities evaluate m.tenfold --held-out test.txt --graph train.txt --undirected";
    place.fails(args, 2, &["--undirected"]);
    let args = "communities evaluate m.tenfold --held-out test.txt --graph train.txt";
    let score = place.json(args);
    assert!(number(&score["held_out"]["auc"]) > 0.75, "{score}");
    assert_eq!((&score["held_out"]["seen"], &score["held_out"]["strangers"]), (&0.into(), &0.into()));
    assert_eq!(place.json(args), score);
    assert_ne!(place.json(&format!("{args} --seed 9"))["held_out"]["auc"], score["held_out"]["auc"]);
    place.write("more.txt", format!("{test}0\tnobody\n"));
    let run = place.ok("communities evaluate m.tenfold --held-out more.txt --truth g.truth.csv");
    assert!(run.err.contains("1 held-out edges have an end"), "{}", run.err);
    assert!(run.out.contains("AUC 0.") && run.out.contains("recovery"), "{}", run.out);
    place.fails("communities evaluate m.tenfold", 2, &["--truth"]);
    place.fails(
        "communities evaluate m.tenfold --held-out train.txt --graph train.txt",
        3,
        &["train.txt", "of the fit"],
    );
}

#[test]
fn options_reach_the_fit() {
    let place = Place::new();
    drawn(&place, "--degree 30");
    let json = |more: &str| place.json(&format!("communities fit g.txt -o m.tenfold {more}"));
    let auto = json("-k auto");
    let k = auto["k"].as_u64().unwrap();
    assert!((3..=6).contains(&k), "{k} communities where 4 were drawn");
    assert!(auto["verdict"].to_string().contains("Bethe"), "{}", auto["verdict"]);
    let none = json("-k 4 --polish none --views partition:2 --solver online");
    assert_eq!(
        (&none["parameters"]["polish"], &none["parameters"]["views"]["partition"]),
        (&"none".into(), &2.into())
    );
    assert!(none["diagnostics"]["log_likelihood"].is_null(), "{none}");
    let dense = json("-k 4 --treatment dense --alpha0 0");
    assert_eq!((&dense["diagnostics"]["dense"], &dense["parameters"]["alpha0"]), (&true.into(), &0.0.into()));
    // One iteration does not settle anything.
    let run = place.run("communities fit g.txt -k 4 --iterations 1 --strict -o strict.tenfold");
    assert_eq!((run.code, place.path("strict.tenfold").exists()), (4, true), "{}", run.err);
    place.ok("communities fit g.txt -k 4 --iterations 1 -o strict.tenfold");
}

#[test]
fn edges_may_be_kept_from_the_fit() {
    let place = Place::new();
    drawn(&place, "--degree 40 --background 0.1");
    let args = "communities fit g.txt -k 4 --alpha0 0.3 --hold-out 0.2 -o m.tenfold";
    let run = place.ok(&format!("{args} --gexf g.gexf"));
    assert!(
        run.out.contains("edges that the fit did not see") && run.err.contains("edges are held out"),
        "{}",
        run.err
    );
    let fit = place.json(args);
    assert!(number(&fit["held_out"]["auc"]) > 0.75, "{fit}");
    assert_eq!((&fit["held_out"]["share"], &fit["held_out"]["seen"]), (&0.2.into(), &0.into()), "{fit}");
    // The model knows the edges of its fit; the network for other programs has all.
    let all = place.text("g.txt").lines().count() - 1;
    let (fitted, out) = (fit["edges"].as_u64().unwrap(), fit["held_out"]["edges"].as_u64().unwrap());
    assert_eq!((fitted + out, place.text("g.gexf").matches("<edge ").count()), (all as u64, all));
    for share in ["0", "0.9", "x"] {
        place.fails(&format!("communities fit g.txt -k 4 --hold-out {share} -o m"), 2, &["--hold-out"]);
    }
}

/// The folder of public graphs beside the project, or a line that says that the test is skipped.
fn shared(test: &str) -> Option<std::path::PathBuf> {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("TENFOLD_DATA").map_or(beside, Into::into).join("graphs");
    if !folder.is_dir() {
        eprintln!("skipped: {test} needs ../shared/data/graphs");
        return None;
    }
    Some(folder)
}

#[test]
fn public_graphs_and_their_truths_are_read() {
    let Some(folder) = shared("public graphs") else { return };
    let place = Place::new();
    let path = |name: &str| folder.join(name).display().to_string();
    let evaluated = |graph: &str, fit: &str, truth: &str, more: &str| {
        place.ok(&format!("communities fit {} {fit} -o m.tenfold", path(graph)));
        place.json(&format!("communities evaluate m.tenfold --truth {} {more}", path(truth)))
    };
    let football = evaluated("football.gml", "-k 12", "football.gml", "");
    assert_eq!((&football["nodes"], &football["true_communities"]), (&115.into(), &12.into()), "{football}");
    assert!(number(&football["nmi"]) > 0.8, "{football}");
    let lfr = evaluated("lfr-n1000-k28.txt.gz", "-k 28 --treatment sparse", "lfr-n1000-k28.truth.txt", "");
    assert_eq!(
        (&lfr["nodes"], &lfr["true_communities"], &lfr["nmi"]),
        (&1000.into(), &28.into(), &serde_json::Value::Null)
    );
    assert!(number(&lfr["onmi_lfk"]) > 0.8, "{lfr}");
    let email = evaluated("email-Eu-core.txt", "-k 30", "email-Eu-core-department-labels.txt", "");
    assert_eq!(
        (&email["nodes"], &email["true_communities"], &email["strangers"]),
        (&1005.into(), &42.into(), &0.into())
    );
    assert!(number(&email["average_f1"]) > 0.3, "{email}");
    let reed =
        evaluated("Reed98.mat", "-k 10", "Reed98.mat", "--attribute year,dorm --missing 0 --min-size 10");
    assert!(number(&reed["recovery"]) > 0.3, "{reed}");
    let caltech = evaluated("Caltech36.gml.gz", "-k 9", "Caltech36.gml.gz", "--attribute dorm --missing 0");
    assert!(number(&caltech["recovery"]) > 0.9 && number(&caltech["unknown_nodes"]) > 100.0, "{caltech}");
    let path = path("polblogs.gml.gz");
    place.fails(&format!("communities evaluate m.tenfold --truth {path}"), 3, &["--attribute", "\"value\""]);
}
