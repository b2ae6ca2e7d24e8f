//! `tenfold topics` from files to files.

mod support;

use support::Place;

/// Documents drawn from eight topics over 400 words, into the folder `d`.
fn drawn(place: &Place, more: &str) {
    place.ok(&format!("generate topics --documents 2500 --words 400 -k 8 --length 80 --seed 3 -o d {more}"));
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Documents that are held out of those of `d`.
fn held_out_documents(place: &Place, share: &str) -> u64 {
    let run =
        place.json(&format!("topics fit d/docword.txt -k 8 --polish none --hold-out {share} -o x.tenfold"));
    run["held_out"]["documents"].as_u64().unwrap()
}

/// The numbers of a table, without its first line and its first column.
fn table(text: &[u8]) -> Vec<Vec<f64>> {
    let text = std::str::from_utf8(text).unwrap();
    let row = |line: &str| line.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
    text.lines().skip(1).map(row).collect()
}

#[test]
fn what_was_drawn_is_found_inferred_shown_and_reported() {
    let place = Place::new();
    drawn(&place, "");
    let fit = place.json("topics fit d/docword.txt -k 8 --hold-out 0.2 -o m.tenfold --mixtures all.csv");
    assert_eq!((&fit["k"], &fit["model"]), (&8.into(), &"m.tenfold".into()));
    let held_out = number(&fit["held_out"]["perplexity"]);
    assert_eq!((&fit["held_out"]["share"], &fit["held_out"]["documents"]), (&0.2.into(), &500.into()));
    assert_eq!(held_out_documents(&place, "0.3"), 750);

    // Every topic is found. The demo, with documents of the same number and length, leaves 0.05; this allows twice that.
    let near = place.json("topics evaluate m.tenfold d/docword.txt --truth d/topics.npy");
    assert_eq!(near["truth"]["found"], 1.0, "{near}");
    assert!(number(&near["truth"]["total_variation"]) < 0.1, "{near}");
    // Documents of the fit are predicted a little better than those it did not see.
    let (seen, words) = (number(&near["perplexity"]), 400.0);
    assert!(seen <= held_out && held_out < 0.75 * words, "{seen} and {held_out}");
    for measure in ["umass", "uci", "npmi", "c_v"] {
        assert!(near["coherence"][measure].is_number(), "{measure}: {near}");
        assert_eq!(near["coherence_over"][measure], "documents", "{near}");
    }
    assert!(number(&near["diversity"]) > 0.5, "{near}");

    // Mixtures: rows of the truth, up to the order of topics; those of the fit are those of infer.
    place.ok("topics infer m.tenfold d/docword.txt -o again.csv");
    assert_eq!(place.bytes("all.csv"), place.bytes("again.csv"));
    assert!(place.bytes("all.csv").starts_with(b"document,topic0,topic1,topic2,"));
    let mixtures = table(&place.bytes("all.csv"));
    assert_eq!(mixtures.len(), 2500);
    assert!(mixtures.iter().all(|row| row.len() == 8 && (row.iter().sum::<f64>() - 1.0).abs() < 1e-4));
    place.ok("topics infer m.tenfold d/docword.txt --top 2 -o top.tsv");
    let top = String::from_utf8(place.bytes("top.tsv")).unwrap();
    let lines: Vec<&str> = top.lines().take(4).collect();
    assert_eq!((lines[0], top.lines().count()), ("document\ttopic\tshare", 5001));
    assert!(
        lines[1].starts_with("1\t") && lines[2].starts_with("1\t") && lines[3].starts_with("2\t"),
        "{lines:?}"
    );

    let all = place.ok("topics show m.tenfold").out;
    assert!(all.contains("sound") && all.contains("w00"), "{all}");
    let one = place.json("topics show m.tenfold 3 --words 5 --relevance 0.6");
    assert_eq!((&one["topic"], one["words"].as_array().unwrap().len()), (&3.into(), 5), "{one}");
    assert!(place.ok("topics show m.tenfold --documents").out.contains("% of document"));
    place.json("topics show m.tenfold --bridging --words 7");
    place.fails("topics show m.tenfold 8", 2, &["no topic 8", "0 to 7"]);

    place.ok("report m.tenfold -o page.html");
    let page = String::from_utf8(place.bytes("page.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("w00"), "no page");
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "the page is self-contained");
    place.fails("report m.tenfold -o page.pdf", 2, &[".html"]);
}

#[test]
fn the_same_bytes_on_any_threads_in_little_memory_and_from_standard_input() {
    let place = Place::new();
    drawn(&place, "--format text");
    for polish in ["predict", "faithful", "none"] {
        let args = format!("topics fit d/corpus.txt -k 5 --polish {polish} --seed 4");
        let fit = |name: &str, more: &str| {
            place.ok(&format!("{args} -o {name} {more}"));
            place.bytes(name)
        };
        let one = fit("one", "--threads 1");
        for threads in [2, 3, 8] {
            assert!(fit("more", &format!("--threads {threads}")) == one, "{polish}, {threads} threads");
        }
        let run = place.ok(&format!("{args} -o disk --on-disk"));
        assert!(run.err.contains("stay on disk"), "{}", run.err);
        assert!(place.bytes("disk") == one, "{polish}, from disk");
        let text = place.bytes("d/corpus.txt");
        let run = place.run_with(&format!("topics fit - -k 5 --polish {polish} --seed 4 -o piped"), &text);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(place.bytes("piped") == one, "{polish}, from standard input");
    }
    let infer = |more: &str| {
        place.ok(&format!("topics infer one d/corpus.txt -o mix.npy {more}"));
        place.bytes("mix.npy")
    };
    let mixtures = infer("--threads 1");
    assert!(infer("--threads 3") == mixtures && infer("--memory 100kB") == mixtures);
}

#[test]
fn every_format_of_one_corpus_gives_the_same_topics() {
    let place = Place::new();
    let topics = |format: &str, file: &str| {
        drawn(&place, &format!("--format {format}"));
        place.ok(&format!("topics fit d/{file} -k 8 -o m.tenfold"));
        place.json("topics show m.tenfold --words 400 --relevance 0.5")
    };
    let uci = topics("uci", "docword.txt");
    assert_eq!(topics("ldac", "corpus.ldac"), uci);
    assert_eq!(topics("mtx", "corpus.mtx"), uci);
    // Text has its words in another order, and lacks the rare ones; the truth is matched by name.
    topics("text", "corpus.txt");
    place.fails("topics evaluate m.tenfold d/corpus.txt --truth d/topics.npy", 3, &["--truth-vocabulary"]);
    let args = "topics evaluate m.tenfold d/corpus.txt --truth d/topics.npy --truth-vocabulary d/vocab.txt";
    let near = place.json(args);
    assert_eq!(near["truth"]["found"], 1.0, "{near}");
    // The order of words is known, so there are windows.
    for (measure, over) in [
        ("umass", "documents"),
        ("uci", "windows of 10 words"),
        ("npmi", "windows of 10 words"),
        ("c_v", "windows of 110 words"),
    ] {
        assert_eq!(near["coherence_over"][measure], over);
    }
    assert!(place.ok(args).out.contains("over windows of 10 words\n"));
}

#[test]
fn documents_come_later_and_models_merge() {
    let place = Place::new();
    place.ok("generate topics --documents 3500 --words 400 -k 8 --length 80 --seed 3 --format ldac -o d");
    // One document a line: the first 2,500 and the others.
    let text = String::from_utf8(place.bytes("d/corpus.ldac")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    place.write("a.ldac", lines[..2500].concat());
    place.write("b.ldac", lines[2500..].concat());
    let words = "--vocabulary d/vocab.txt";
    place.ok(&format!("topics fit a.ldac {words} -k 8 -o a.tenfold"));
    place.ok(&format!("topics fit b.ldac {words} -k 8 -o b.tenfold"));
    let updated = place.json(&format!("topics update a.tenfold b.ldac {words} -o c.tenfold"));
    assert_eq!((&updated["documents"], &updated["model"]), (&3500.into(), &"c.tenfold".into()));
    place.ok("topics merge a.tenfold b.tenfold -o d.tenfold");
    for model in ["c.tenfold", "d.tenfold"] {
        let near = place.json(&format!("topics evaluate {model} b.ldac {words} --truth d/topics.npy"));
        assert!(number(&near["truth"]["total_variation"]) < 0.12, "{model}: {near}");
    }
    place.fails("topics update a.tenfold b.ldac -o a.tenfold", 2, &["overwritten"]);
    place.ok(&format!("topics fit a.ldac {words} -k 8 --no-moments -o bare.tenfold"));
    assert!(place.bytes("bare.tenfold").len() < place.bytes("a.tenfold").len());
    place.fails(&format!("topics update bare.tenfold b.ldac {words} -o x.tenfold"), 3, &["keeps no moments"]);
    place.fails("topics merge a.tenfold bare.tenfold -o x.tenfold", 3, &["keeps no moments"]);
    // Moments of damped counts and of counts as they are do not add up.
    place.ok(&format!("topics fit b.ldac {words} -k 8 --polish faithful -o f.tenfold"));
    place.fails("topics merge a.tenfold f.tenfold -o x.tenfold", 3, &["cannot be merged", "damped"]);
    assert_eq!(updated["kept"]["directions"], 16, "{}", updated["kept"]);
    let bytes = number(&updated["kept"]["bytes"]) / 400.0;
    assert!((8.0 * 16.0..8.0 * 16.0 + 60.0).contains(&bytes), "{bytes} a word");
    let help = place.ok("topics update --help").out;
    assert!(help.contains("k/8 directions") && help.contains("143 topics"), "{help}");
}

#[test]
fn names_of_documents_go_through_to_tables() {
    let place = Place::new();
    let mut csv = "id,body\n".to_owned();
    for i in 0..120 {
        let theme = ["apple pear plum fruit garden", "goal team match player coach"][i % 2];
        csv += &format!("\"talk, {i}\",{}\n", [theme; 6].join(" "));
    }
    place.write("talks.csv", &csv);
    let columns = "--text-column body --id-column id";
    place.ok(&format!("topics fit talks.csv {columns} -k 2 -o m.tenfold"));
    for table in ["mix.csv", "mix.parquet", "mix.npy"] {
        place.ok(&format!("topics infer m.tenfold talks.csv {columns} -o {table}"));
    }
    let text = String::from_utf8(place.bytes("mix.csv")).unwrap();
    assert!(text.starts_with("document,topic0,topic1\n\"talk, 0\",0."), "{text}");
    assert!(place.ok("topics show m.tenfold 1").out.contains("talk, "));
    // Even and odd documents are of two topics.
    let rows = table(text.replace("talk, ", "").as_bytes());
    assert!(
        rows.chunks(2)
            .all(|pair| (pair[0][0] > 0.5) == (rows[0][0] > 0.5) && (pair[1][0] > 0.5) != (rows[0][0] > 0.5))
    );
}

#[test]
fn the_number_of_topics_is_found_and_explained() {
    let place = Place::new();
    drawn(&place, "--alpha0 0.5");
    let fit = place.json("topics fit d/docword.txt -k auto -o m.tenfold");
    let k = fit["k"].as_u64().unwrap();
    assert!((7..=9).contains(&k), "{k} topics where 8 were drawn");
    let interval: Vec<u64> =
        fit["diagnostics"]["interval"].as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect();
    assert!(interval[0] <= k && k <= interval[1], "{interval:?}");
    let told = fit["verdict"].to_string();
    assert!(told.contains(&format!("k = {k}: {} directions keep more than half", interval[0])), "{told}");
    assert!(place.ok("topics show m.tenfold").out.contains(&format!("k = {k}: ")));
    place.ok("report m.tenfold -o page.html");
    let page = String::from_utf8(place.bytes("page.html")).unwrap();
    // Documents have the same numbers on the page as in tables.
    let shown = place.ok("topics show m.tenfold --documents").out;
    let named: Vec<&str> = shown.lines().filter_map(|line| line.split("% of ").nth(1)).collect();
    assert!(named.len() > 20 && named.iter().all(|name| page.contains(&format!("\"{name}\""))), "{named:?}");
}
