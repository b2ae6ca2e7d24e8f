//! `tenfold trees` from files to files.

mod support;

use support::Place;

#[test]
fn a_tree_is_learned_used_compared_and_exported() {
    let place = Place::new();
    place.ok("generate trees --variables 12 --samples 6000 --strength 0.75,0.9 --seed 1 -o X.csv");
    let fit = place.json("trees fit X.csv -k 2 --bootstrap 5 -o m.tenfold");
    assert_eq!((&fit["variables"], &fit["diagnostics"]["states"]), (&12.into(), &2.into()));
    let held = &fit["diagnostics"]["held_out"];
    assert!(held["tree"].as_f64() > held["chow_liu"].as_f64(), "hidden nodes explain more: {held}");
    assert!(held["chow_liu"].as_f64() > held["independence"].as_f64(), "{held}");
    let near = place.json("trees evaluate m.tenfold X.nwk --data X.csv");
    // Strong edges, a few splits: one of them may be wrong.
    assert!(near["splits"]["different"].as_u64().unwrap() <= 1, "{near}");
    assert!(near["log_likelihood"].as_f64().unwrap() < 0.0);
    place.write("gaps.csv", "x0,x1,x2\n1,,0\n0,1,\n");
    let told =
        place.ok("trees infer m.tenfold gaps.csv -o H.csv --missing F.csv --next N.csv --states S.csv").out;
    assert!(told.contains("2 samples"), "{told}");
    assert!(place.bytes("F.csv").starts_with(b"sample,variable,value,probability,mean\n"));
    let filled = String::from_utf8(place.bytes("F.csv")).unwrap();
    assert!(filled.contains("1,x1,") && filled.contains("2,x2,") && filled.contains("1,x11,"), "{filled}");
    for format in ["newick", "nexus", "graphml", "dot", "bif", "json"] {
        place.ok(&format!("trees export m.tenfold --format {format} --min-cell 11 -o out.{format}"));
        assert!(String::from_utf8_lossy(&place.bytes(&format!("out.{format}"))).contains("x7"), "{format}");
        let printed = place.ok(&format!("trees export m.tenfold --format {format} --min-cell 11")).out;
        assert_eq!(printed.as_bytes(), place.bytes(&format!("out.{format}")), "{format}");
    }
    let again = place.json("trees evaluate m.tenfold out.newick");
    assert_eq!(again["robinson_foulds"], 0.0);
    let shown = place.ok("trees show m.tenfold").out;
    assert!(shown.contains("above 12 variables"), "{shown}");
    assert!(place.ok("trees show m.tenfold --variable x3 --top 2").out.lines().count() == 3);
    place.ok("report m.tenfold -o page.html");
    assert!(String::from_utf8_lossy(&place.bytes("page.html")).contains("x11"));
    place.ok("report m.tenfold --min-cell 11 -o coarse.html");
    assert!(place.bytes("coarse.html") != place.bytes("page.html"), "small cells are kept out of pages too");
    for command in ["trees export m.tenfold --format bif -o none.bif", "report m.tenfold -o none.html"] {
        place.fails(
            &format!("{command} --min-cell 1000000"),
            3,
            &["fewer than the smallest cell of 1000000"],
        );
    }
}

#[test]
fn events_become_variables_and_groups_compare() {
    let place = Place::new();
    let mut events = String::from("patient,code\n");
    for patient in 0..400 {
        // Two causes, three codes each, and chance.
        for cause in 0..2 {
            if (patient * 7 + cause * 3) % 5 < 2 {
                for code in 0..3 {
                    if (patient * 31 + code * 17 + cause) % 9 != 0 {
                        events += &format!("p{patient},{cause}{code}.1\n");
                    }
                }
            }
        }
        events += &format!("p{patient},99.{}\n", patient % 2);
    }
    place.write("visits.csv", &events);
    place.ok("trees fit visits.csv --events -k 2 --bootstrap 0 -o m.tenfold");
    place.write("chapters.csv", "variable,group\n00.1,a\n01.1,a\n02.1,a\n10.1,b\n11.1,b\n12.1,b\n");
    let near = place.json("trees evaluate m.tenfold --groups-of chapters.csv");
    assert!(near["adjusted_rand_index"].as_f64().unwrap() > 0.9, "{near}");
    place.ok("trees infer m.tenfold visits.csv --events --next next.csv --top 1");
    assert_eq!(String::from_utf8(place.bytes("next.csv")).unwrap().lines().count(), 401);
}

#[test]
fn drawn_claims_are_read_with_their_groups() {
    let place = Place::new();
    place.ok("generate trees --events --samples 3000 --variables 12 --seed 3 -o V.csv");
    assert!(place.bytes("V.csv").starts_with(b"patient,code\n"));
    let fit = place.json("trees fit V.csv --events --groups V.groups.csv -k 2 --bootstrap 0 -o m.tenfold");
    assert_eq!(fit["variables"], 12);
    // The true tree has the names of the groups.
    place.ok("trees evaluate m.tenfold V.nwk");
    place.fails("generate trees --events --shape chain -o W.csv", 2, &["--shape"]);
}

#[test]
fn bad_input_is_told() {
    let place = Place::new();
    place.ok("generate trees --variables 5 --samples 50 -o X.csv");
    place.write("one.csv", "a\n1\n2\n");
    for (line, code, words) in [
        ("trees fit X.csv -k 1 -o m.tenfold", 2, "at least 2"),
        ("trees fit X.csv -k 9 -o m.tenfold", 3, "k"),
        ("trees fit X.csv -o X.csv", 2, "overwritten"),
        ("trees fit missing.csv -o m.tenfold", 3, "missing.csv"),
        ("generate trees --variables 2 -o Y.csv", 2, "at least 3"),
        ("generate trees -o Y.txt", 2, ".csv"),
    ] {
        place.fails(line, code, &[words]);
    }
    assert!(!place.path("m.tenfold").exists());
}

/// New samples are read as those of the fit were: columns that are the same in all of them, vectors, flags and counts among them,
/// events whose codes are rare here, packed tables and other kinds of files. They keep their names.
#[test]
fn new_samples_are_read_as_those_of_the_fit() {
    let place = Place::new();
    place.ok("generate trees --variables 8 --samples 3000 --strength 0.8,0.9 --seed 3 -o X.csv");
    let text = String::from_utf8(place.bytes("X.csv")).unwrap();
    let columns = text.lines().next().unwrap().replace("x0,x1", "b0,b1").replace("x2,x3", "c2,c3");
    let body: String = text.lines().skip(1).map(|l| format!("{l}\n")).collect();
    place.write("mixed.csv", format!("{columns}\n{body}"));
    place.ok("trees fit mixed.csv -k 2 --vector b=b0,b1 --vector c=c2,c3 --kind c=real --kind x4=counts --bootstrap 0 -o m.tenfold");
    let all = place.json("trees evaluate m.tenfold --data mixed.csv")["log_likelihood"].as_f64().unwrap();
    // Sample by sample every column holds one value.
    let mut sum = 0.0;
    for (i, line) in body.lines().take(20).enumerate() {
        place.write("one.csv", format!("{columns}\n{line}\n"));
        let one = place.json("trees evaluate m.tenfold --data one.csv");
        assert_eq!(one["samples"], 1, "{i}");
        sum += one["log_likelihood"].as_f64().unwrap();
    }
    let twenty: String = body.lines().take(20).map(|l| format!("{l}\n")).collect();
    place.write("twenty.csv", format!("{columns}\n{twenty}"));
    let mean = place.json("trees evaluate m.tenfold --data twenty.csv")["log_likelihood"].as_f64().unwrap();
    assert!((sum / 20.0 - mean).abs() < 1e-9 && all.is_finite(), "{} {mean}", sum / 20.0);

    let mut events = String::from("patient,code\n");
    for (i, line) in body.lines().enumerate() {
        for (code, cell) in line.split(',').enumerate() {
            if cell == "1" {
                events += &format!("p{i},c{code}\n");
            }
        }
    }
    place.write("events.csv", &events);
    place.ok("trees fit events.csv -k 2 --bootstrap 0 -o e.tenfold");
    let few: String = events.lines().take(9).map(|l| format!("{l}\n")).collect();
    place.write("few.csv", &few);
    place.ok("trees infer e.tenfold few.csv -o told.csv --next next.csv");
    place.ok("trees infer e.tenfold few.csv --events -o said.csv");
    assert_eq!(
        place.bytes("told.csv"),
        place.bytes("said.csv"),
        "a rare code is a code, whoever says that these are events"
    );
    let told = String::from_utf8(place.bytes("told.csv")).unwrap();
    let first = few.lines().nth(1).unwrap().split(',').next().unwrap();
    assert!(
        told.starts_with("sample,") && told.lines().nth(1).unwrap().starts_with(&format!("{first},")),
        "{told}"
    );
    let next = String::from_utf8(place.bytes("next.csv")).unwrap();
    assert!(next.lines().nth(1).unwrap().starts_with(&format!("{first},")), "{next}");

    place.ok("trees fit events.csv --counts -k 2 --bootstrap 0 -o n.tenfold");
    place.ok("trees infer n.tenfold few.csv --next counts.csv");
    assert!(place.bytes("counts.csv").iter().filter(|b| **b == b'\n').count() > 1);
}
