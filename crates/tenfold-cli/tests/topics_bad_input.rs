//! Documents that cannot be used get an error that says where and what to do; what can be used is used and said.

mod support;

use support::Place;

/// Forty short documents of two themes.
fn text() -> String {
    (0..40).map(|i| ["apple pear plum fruit garden\n", "goal team match player coach\n"][i % 2]).collect()
}

#[test]
fn a_broken_bag_of_words_says_its_line() {
    let place = Place::new();
    let file = |name: &str, lines: &str| place.write(name, lines);
    file("vocab.txt", "apple\npear\nplum\n");
    file("docword.outside.txt", "2\n3\n3\n1 1 2\n1 4 1\n2 2 1\n");
    file("docword.document.txt", "2\n3\n3\n1 1 2\n3 2 1\n2 2 1\n");
    file("docword.zero.txt", "2\n3\n2\n1 0 2\n2 2 1\n");
    file("docword.negative.txt", "2\n3\n3\n1 1 2\n1 2 -1\n2 2 1\n");
    file("docword.fraction.txt", "2\n3\n3\n1 1 2\n1 2 1.5\n2 2 1\n");
    file("docword.enormous.txt", "2\n3\n3\n1 1 2\n1 2 99999999999999\n2 2 1\n");
    file("docword.word.txt", "2\n3\n3\n1 1 two\n1 2 1\n2 2 1\n");
    file("docword.short.txt", "2\n3\n9\n1 1 2\n1 2 1\n2 2 1\n");
    file("docword.long.txt", "2\n3\n1\n1 1 2\n1 2 1\n2 2 1\n");
    file("docword.header.txt", "two\n3\n1\n1 1 2\n");
    file("docword.huge.txt", "18446744073709551615\n3\n1\n1 1 2\n");
    file("docword.empty.txt", "");
    for (name, words) in [
        ("outside", &["docword.outside.txt, line 5", "4"][..]),
        ("document", &["docword.document.txt, line 5", "3"]),
        ("zero", &["docword.zero.txt, line 4", "0"]),
        ("negative", &["docword.negative.txt, line 5", "-1"]),
        ("fraction", &["docword.fraction.txt, line 5", "1.5"]),
        ("enormous", &["docword.enormous.txt, line 5", "99999999999999"]),
        ("word", &["docword.word.txt, line 4", "two"]),
        ("short", &["docword.short.txt", "9"]),
        ("long", &["docword.long.txt", "1"]),
        ("header", &["docword.header.txt, line 1", "two"]),
        ("huge", &["docword.huge.txt"]),
        ("empty", &["docword.empty.txt", "empty"]),
    ] {
        place.fails(
            &format!("topics fit docword.{name}.txt --format uci --vocabulary vocab.txt -k 2 -o m.tenfold"),
            3,
            words,
        );
    }
    // A vocabulary of another length than the header says.
    file("few.txt", "apple\npear\n");
    file("docword.good.txt", "2\n3\n3\n1 1 2\n1 2 1\n2 2 1\n");
    place.fails(
        "topics fit docword.good.txt --format uci --vocabulary few.txt -k 2 -o m.tenfold",
        3,
        &["few.txt", "2", "3"],
    );
    place.fails("topics fit missing.txt -k 2 -o m.tenfold", 3, &["missing.txt"]);
}

#[test]
fn text_that_cannot_be_read_or_has_no_words_is_refused() {
    let place = Place::new();
    place
        .write("latin.txt", text().replace("pear", "p\u{e9}ar").chars().map(|c| c as u8).collect::<Vec<_>>());
    place.fails("topics fit latin.txt -k 2 -o m.tenfold", 3, &["latin.txt, line 1", "--encoding"]);
    place.ok("topics fit latin.txt --encoding latin1 -k 2 -o m.tenfold");
    assert!(place.ok("topics show m.tenfold --words 5").out.contains("p\u{e9}ar"));
    std::fs::remove_file(place.path("m.tenfold")).unwrap();
    place.fails("topics fit latin.txt --encoding klingon -k 2 -o m.tenfold", 2, &["klingon"]);

    place.write("empty.txt", "");
    place.fails("topics fit empty.txt -k 2 -o m.tenfold", 3, &["empty.txt", "empty"]);
    place.write("blank.txt", "\n\n\n\n");
    place.fails("topics fit blank.txt -k 2 -o m.tenfold", 3, &["word"]);
    place.write("once.txt", "alpha beta gamma\ndelta epsilon zeta\n");
    place.fails("topics fit once.txt -k 2 -o m.tenfold", 3, &["--min-df"]);
    place.write("same.txt", "apple pear plum\n".repeat(20));
    place.fails("topics fit same.txt -k 2 -o m.tenfold", 3, &["--max-df"]);
    place.write("talks.csv", "id,body\n1,apple pear\n");
    place.fails("topics fit talks.csv --text-column text -k 2 -o m.tenfold", 3, &["text", "body"]);
    std::fs::create_dir(place.path("folder")).unwrap();
    place.fails("topics fit folder -k 2 -o m.tenfold", 3, &["folder"]);
    let run = place.run_with("topics fit - -k 2 -o m.tenfold", b"");
    assert_eq!((run.code, run.err.contains("standard input")), (3, true), "{}", run.err);
}

#[test]
fn short_and_empty_documents_and_repeated_entries_are_kept_and_said() {
    let place = Place::new();
    // Documents 41 to 43 are empty, of one word, of two.
    place.write("short.txt", text() + "\napple\npear goal\n");
    let run = place.ok("topics fit short.txt -k 2 -o m.tenfold --mixtures mix.csv");
    assert!(run.out.contains("fewer than 3") || run.err.contains("fewer than 3"), "{}{}", run.out, run.err);
    assert_eq!(String::from_utf8(place.bytes("mix.csv")).unwrap().lines().count(), 44);
    place.ok("topics infer m.tenfold short.txt -o again.csv");
    assert_eq!(place.bytes("mix.csv"), place.bytes("again.csv"));
    // Only such documents carry no topics at all.
    place.write("all.txt", "apple pear\ngoal team\n".repeat(20));
    place.fails("topics fit all.txt -k 2 -o n.tenfold", 3, &["3"]);

    // A word twice in one document of a bag: the counts are added, and it is said.
    let entries = |repeated: &str, count: usize| {
        let rest: String = (2..=40).map(|d| format!("{d} {} 3\n{d} {} 2\n", 1 + d % 2, 3 + d % 2)).collect();
        format!("40\n4\n{count}\n{repeated}{rest}")
    };
    place.write("vocab.txt", "apple\npear\nplum\nfruit\n");
    place.write("docword.twice.txt", entries("1 1 3\n1 3 1\n1 3 1\n", 81));
    place.write("docword.once.txt", entries("1 1 3\n1 3 2\n", 80));
    let fit = |name: &str| {
        let run = place.ok(&format!("topics fit docword.{name}.txt --vocabulary vocab.txt -k 2 -o {name}"));
        (place.json(&format!("topics show {name} --words 4 --relevance 0.5")), run.out)
    };
    let (twice, told) = fit("twice");
    assert_eq!(twice, fit("once").0);
    assert!(told.contains("1 repeated entries"), "{told}");
}

#[test]
fn wrong_usage_is_told_before_any_work() {
    let place = Place::new();
    place.write("notes.txt", text());
    for (arguments, words) in [
        ("topics fit notes.txt -k 0 -o m", &["at least 1"][..]),
        ("topics fit notes.txt -k many -o m", &["whole number"]),
        ("topics fit notes.txt -k 2", &["--output"]),
        ("topics fit notes.txt -k 2 -o notes.txt", &["overwritten"]),
        ("topics fit notes.txt -k 2 -o m --mixtures x.html", &[".html", ".csv"]),
        ("topics fit notes.txt -k 2 -o m --alpha0=-1", &["alpha0"]),
        ("topics fit notes.txt -k 2 -o m --polish none --epochs 3", &["--epochs means nothing"]),
        ("topics fit notes.txt -k 2 -o m --hold-out 0.9", &["0.5"]),
        ("topics fit notes.txt -k 2 -o m --language klingon", &["klingon"]),
        ("topics fit notes.txt -k 2 -o m --language en --keep-stop-words", &["--keep-stop-words"]),
        ("topics fit notes.txt -k 2 -o m --stem pl", &["pl", "stemmer"]),
        ("topics fit notes.txt -k 2 -o m --ngrams 4", &["1, 2 or 3"]),
        ("topics fit notes.txt -k 2 -o m --max-df 2", &["share"]),
        ("topics fit notes.txt -k 2 -o m --solver polar --rate 0.1", &["--rate means nothing"]),
        ("generate topics --length 1 -o d", &["length"]),
        ("generate topics -k 1000000 --words 1000000 -o d", &["GB"]),
        ("generate topics --documents 99999999999 -o d", &["more documents"]),
    ] {
        place.fails(arguments, 2, words);
    }
    place.fails("topics fit notes.txt -k 2 -o m --stop-words none.txt", 3, &["none.txt"]);
    place.write("many.txt", (0..200_000).map(|i| format!("w{i} ")).collect::<String>());
    let words = ["extra_stop_words", "at most 1048576 bytes"];
    place.fails("topics fit notes.txt -k 2 -o m --stop-words many.txt", 2, &words);
}

#[test]
fn options_that_would_be_passed_over_are_refused() {
    let place = Place::new();
    place.write("notes.txt", text());
    place.write("docword.x.txt", "2\n3\n3\n1 1 2\n1 2 1\n2 2 1\n");
    place.write("words.txt", "apple\npear\nplum\n");
    for option in [
        "--stem en",
        "--ngrams 2",
        "--language en",
        "--numbers",
        "--keep-case",
        "--min-length 3",
        "--keep-stop-words",
        "--stop-words words.txt",
        "--text-column 1",
        "--header yes",
    ] {
        let name = option.split(' ').next().unwrap();
        let words = [&format!("{name} means nothing with a UCI bag of words")[..], "leave it out"];
        place.fails(&format!("topics fit docword.x.txt -k 2 -o m {option}"), 2, &words);
    }
    for option in ["--vocabulary words.txt", "--text-column body", "--id-column 1", "--header no"] {
        let words = ["means nothing with text with a document a line"];
        place.fails(&format!("topics fit notes.txt -k 2 -o m {option}"), 2, &words);
    }
    place.fails(
        "topics fit notes.txt -k 2 -o m --language none",
        2,
        &["language = none", "--keep-stop-words"],
    );
    place.fails("topics fit notes.txt -k 2 -o /dev/null", 2, &["device"]);
    // What the model says of text is not asked for again, and does no harm to counts.
    place.ok("topics fit notes.txt -k 2 --stem en --min-length 3 -o m.tenfold");
    place.ok("topics infer m.tenfold docword.x.txt --vocabulary words.txt -o x.csv");
    place.fails("topics infer m.tenfold notes.txt --vocabulary words.txt -o y.csv", 2, &["--vocabulary"]);
}

#[test]
fn what_cannot_be_scored_leaves_no_mixtures_behind() {
    let place = Place::new();
    // Every fifth document, which is held out, is empty.
    let lines: String = text()
        .lines()
        .enumerate()
        .map(|(i, l)| if i % 5 == 0 { "\n".into() } else { format!("{l}\n") })
        .collect();
    place.write("notes.txt", lines);
    let args = "topics fit notes.txt -k 2 -o m.tenfold --mixtures mix.csv --hold-out 0.2";
    place.fails(args, 3, &["none of the 8 documents held out has three words"]);
    place.ok("topics fit notes.txt -k 2 -o m.tenfold --mixtures mix.csv --hold-out 0.3");
    assert_eq!(place.files(), ["m.tenfold", "mix.csv", "notes.txt"]);
}

#[test]
fn models_of_another_kind_and_damaged_ones_are_refused() {
    let place = Place::new();
    place.write("notes.txt", text());
    place.ok("topics fit notes.txt -k 2 -o m.tenfold");
    place.ok("generate ica --samples 500 --columns 3 -o X.npy");
    place.ok("ica fit X.npy -k 2 -o ica.tenfold");
    place.fails("topics infer ica.tenfold notes.txt -o x.csv", 3, &["ica.tenfold", "ica"]);
    place.fails("ica show m.tenfold", 3, &["m.tenfold", "topics"]);
    let bytes = place.bytes("m.tenfold");
    place.write("cut.tenfold", &bytes[..bytes.len() / 2]);
    place.fails("topics show cut.tenfold", 3, &["cut.tenfold"]);
    place.fails("report cut.tenfold -o page.html", 3, &["cut.tenfold"]);
    // Any model has a page, those without one of their own a plain one.
    place.ok("report ica.tenfold -o page.html");
    place.fails("topics evaluate m.tenfold notes.txt --truth X.npy", 3, &["X.npy", "words"]);
}
