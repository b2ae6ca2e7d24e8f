//! What `tenfold communities` writes for other programs: members by threshold, covers, networks, pages.

mod support;

use support::{Place, number};

/// A graph of 600 nodes in four communities, some of them in several, as `g.txt` with its truth beside it.
fn drawn(place: &Place, more: &str) {
    place.ok(&format!("generate communities --nodes 600 -k 4 --alpha0 0.3 --seed 3 {more} -o g.txt"));
}

#[test]
fn members_are_counted_by_a_part_of_the_largest_share() {
    let place = Place::new();
    drawn(&place, "--degree 40 --background 0.1");
    place.ok("communities fit g.txt -k 4 -o m.tenfold --members half.csv");
    let rows = |more: &str| {
        place.ok(&format!("communities export m.tenfold --members e.csv {more}"));
        let text = place.text("e.csv");
        let mut by_node = std::collections::BTreeMap::<String, Vec<f64>>::new();
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            by_node.entry(cells[0].into()).or_default().push(cells[2].parse().unwrap());
        }
        assert_eq!(by_node.len(), 600, "every node");
        by_node.into_values().collect::<Vec<_>>()
    };
    assert_eq!(rows("").concat().len(), place.text("half.csv").lines().count() - 1);
    for weights in rows("") {
        let most = weights.iter().copied().fold(0.0, f64::max);
        assert!(weights.iter().all(|w| *w >= 0.499_99 * most), "{weights:?}");
    }
    for weights in rows("--threshold 0.4") {
        assert!(weights.len() == 1 || weights.iter().all(|w| *w >= 0.399_99), "{weights:?}");
    }
    assert!(rows("--relative 1").iter().all(|w| w.len() == 1));
    assert!(rows("--relative 0").concat().len() > rows("").concat().len());
    place.fails(
        "communities export m.tenfold --members e.csv --relative 0.5 --threshold 0.1",
        2,
        &["--threshold"],
    );
    place.fails(
        "communities export m.tenfold --threshold 0.1 --connectivity p.csv",
        2,
        &["--members or --covers"],
    );
}

#[test]
fn a_model_is_exported_without_another_fit() {
    let place = Place::new();
    drawn(&place, "");
    let files = |to: &str| {
        format!(
            "--members {to}.csv --covers {to}.txt --gml {to}.gml --gexf {to}.gexf --connectivity {to}.tsv"
        )
    };
    place.ok(&format!("communities fit g.txt -k 4 -o m.tenfold {}", files("a")));
    let told = place.ok(&format!("communities export m.tenfold --graph g.txt {}", files("b")));
    assert!(told.out.contains("memberships of 600 nodes written to b.csv"), "{}", told.out);
    for ending in ["csv", "txt", "gml", "gexf", "tsv"] {
        assert!(place.bytes(&format!("a.{ending}")) == place.bytes(&format!("b.{ending}")), "{ending}");
    }
    let value = place.json("communities export m.tenfold --members c.parquet");
    assert_eq!((&value["model"], &value["members"]), (&"m.tenfold".into(), &"c.parquet".into()));
    place.fails("communities export m.tenfold", 2, &["--members"]);
    place.fails("communities export m.tenfold --gml c.gml", 2, &["--graph"]);
    place.fails("communities export m.tenfold --graph g.txt --members c.csv", 2, &["--gml or --gexf"]);
    place.fails(
        "communities export m.tenfold --members m.tenfold",
        2,
        &[".tenfold; known types are .csv, .tsv and .parquet"],
    );
    place.write("other.txt", "1 2\n2 3\n");
    place.fails(
        "communities export m.tenfold --graph other.txt --gml c.gml",
        3,
        &["other.txt", "graph of the fit"],
    );
}

#[test]
fn an_evaluation_tells_its_matches_and_writes_its_curve() {
    let place = Place::new();
    drawn(&place, "");
    place.ok("communities fit g.txt -k 4 -o m.tenfold");
    let told = place.ok("communities evaluate m.tenfold --truth g.truth.csv --curve c.csv");
    assert!(told.out.contains("curve written to c.csv"), "{}", told.out);
    place.fails(
        "communities evaluate m.tenfold --truth g.truth.csv --curve g.truth.csv",
        2,
        &["overwritten"],
    );
    let json = place.json("communities evaluate m.tenfold --truth g.truth.csv");
    assert_eq!(json["matches"].as_array().unwrap().len() as u64, json["pairs"].as_u64().unwrap());
    assert!(number(&json["matches"][0]["correlation"]) > 0.9, "{json}");
}

#[test]
fn ids_of_every_kind_come_back() {
    let place = Place::new();
    let odd = [
        "007",
        "1.0",
        "-3",
        "two\nlines",
        "say \"x\", y",
        "tab\there",
        "<&>",
        "caf\u{e9} \u{1f600}",
        "\u{1b}[31m",
    ];
    let id = |u: usize| odd.get(u).map_or_else(|| format!("n{u}"), |id| (*id).to_owned());
    let mut edges = "source,target\n".to_owned();
    for u in 0..40 {
        for v in (u + 1..40).filter(|v| u / 20 == v / 20 && (u * 7 + v * 3) % 5 < 3 || (u + v) % 39 == 0) {
            let quoted = |u: usize| format!("\"{}\"", id(u).replace('"', "\"\""));
            edges += &format!("{},{}\n", quoted(u), quoted(v));
        }
    }
    place.write("g.csv", edges);
    let fit = "communities fit g.csv -k 2 --undirected -o m.tenfold";
    let told = place.ok(&format!("{fit} --members m.csv --gml m.gml --gexf m.gexf")).out;
    assert!(!told.contains('\u{1b}') && !told.contains("two\nlines"), "{told}");
    let own = place.json("communities evaluate m.tenfold --truth m.csv");
    assert_eq!(
        (&own["strangers"], &own["nodes"], &own["average_f1"]),
        (&0.into(), &40.into(), &1.0.into()),
        "{own}"
    );
    let own = place.json("communities evaluate m.tenfold --truth m.gml --attribute community");
    assert_eq!((&own["strangers"], &own["nodes"]), (&0.into(), &40.into()), "{own}");
    // A list has no way to hold an id with a line end, and says so before the fit.
    place.fails(&format!("{fit} --covers c.txt"), 1, &["c.txt cannot be written", "line end", "table"]);
}
