//! Names that bite: markup, quotes, formulas, control characters, turned writing and line ends in the names of nodes, documents,
//! words, columns, variables and genes. Whatever is written of them is parsed again, and nothing of them acts on a terminal.

mod support;

use serde_json::{Value, json};
use support::{Place, Run, noise};

/// Ten names; every format takes another of them amiss.
const NAMES: [&str; 10] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "=HYPERLINK(\"http://x.test\")",
    "@SUM(A1)",
    "esc\u{1b}[2J\u{7}bell",
    "right\u{202e}left",
    "two\nlines; x",
    "-2+3|cmd",
    "it's, <b>&amp;</b> \\N",
    "'=quoted",
];

/// Nothing on the terminal but letters and ends of lines; every name that begins a line of its own would be a lie.
fn harmless(run: &Run) {
    for text in [&run.out, &run.err] {
        let acting = |c: char| {
            c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{200e}' | '\u{200f}')
        };
        assert!(!text.contains(acting), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("lines; x")), "{text:?}");
    }
}

/// Runs commands, one a line, and looks at what they say, plain and as JSON.
fn run(place: &Place, commands: &[&str]) {
    for command in commands {
        harmless(&place.ok(command));
        let json = place.ok(&format!("{command} --json"));
        harmless(&json);
        serde_json::from_str::<Value>(&json.out).unwrap_or_else(|e| panic!("{command}: {e}"));
    }
}

/// Has Python's own parsers read the files and find the names in them.
fn parsed(place: &Place, files: &[(&str, &[&str], bool)]) {
    let asked = std::env::var("TENFOLD_TEST_PYTHON");
    let python = asked.clone().unwrap_or_else(|_| "python3".into());
    let wanted: Vec<Value> = files
        .iter()
        .map(|(file, names, loose)| json!({ "file": file, "names": names, "loose": loose }))
        .collect();
    place.write("wanted.json", json!(wanted).to_string());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile_names.py");
    let folder = place.path("");
    match std::process::Command::new(&python).args([script, "wanted.json"]).current_dir(folder).output() {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr)),
        Err(error) if asked.is_err() => println!("skipped: no python3 to parse the files with ({error})"),
        Err(error) => panic!("{python}: {error}"),
    }
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

/// A cell of a table that the program may have written itself, where an apostrophe before a formula is no part of the name.
fn marked(cell: &str) -> String {
    quoted(&if cell.starts_with("'=") { format!("'{cell}") } else { cell.to_owned() })
}

#[test]
fn nodes() {
    let place = Place::new();
    // Two groups of five that hang together by one edge.
    let mut edges = String::from("source,target\n");
    for (a, b) in
        (0..10).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|(a, b)| a / 5 == b / 5 || a - b == 5)
    {
        edges += &format!("{},{}\n", marked(NAMES[a]), marked(NAMES[b]));
    }
    place.write("g.csv", edges);
    run(
        &place,
        &[
            "communities fit g.csv -k 2 -o m.tenfold --members m.csv --gml m.gml --gexf m.gexf",
            "communities export m.tenfold --members m.tsv",
            "communities show m.tenfold",
            "communities show m.tenfold 0",
            "communities show m.tenfold --bridges 10",
            "report m.tenfold -o page.html",
            // Names come back from all of them: every node is known, and in its own community.
            "communities evaluate m.tenfold --truth m.csv",
            "communities evaluate m.tenfold --truth m.gml --attribute community",
        ],
    );
    for truth in ["m.csv", "m.gml --attribute community"] {
        let own = place.ok(&format!("communities evaluate m.tenfold --truth {truth}"));
        assert!(!own.err.contains("are no nodes"), "{}", own.err);
    }
    // Tables of tabs hold no line ends within cells; all others come back.
    place.ok("communities fit m.gml -k 2 -o again.tenfold --members again.csv");
    parsed(
        &place,
        &[
            ("m.csv", &NAMES, false),
            ("again.csv", &NAMES, false),
            ("m.tsv", &NAMES, false),
            ("m.gexf", &NAMES, true),
            ("page.html", &NAMES, true),
        ],
    );
    let gml = place.text("m.gml");
    assert!(gml.is_ascii() && gml.matches("label \"").count() == 10, "{gml}");
    place.write("pairs.csv", format!("from,to\n{},{}\n", quoted(NAMES[0]), quoted(NAMES[2])));
    run(&place, &["communities predict m.tenfold pairs.csv -o p.csv"]);
    parsed(&place, &[("p.csv", &[NAMES[0], NAMES[2]], false)]);
    // What was written can be asked for again.
    run(&place, &["communities predict m.tenfold p.csv -o q.csv"]);
    assert_eq!(place.text("p.csv"), place.text("q.csv"));
    harmless(&place.fails("communities show m.tenfold --node \u{1b}[31mx", 2, &["no node"]));
}

#[test]
fn documents_and_words() {
    let place = Place::new();
    let mut table = String::from("id,text\n");
    for i in 0..60 {
        let theme = ["ship harbour sail wave crew", "flour oven bread dough yeast"][i % 2];
        let own: Vec<&str> = theme.split(' ').cycle().skip(i / 2 % 5).take(4).collect();
        let name = NAMES.get(i).map_or(format!("plain {i}"), |name| (*name).to_owned());
        table += &format!("{},{} <script>alert(3)</script>\n", quoted(&name), own.join(" "));
    }
    place.write("d.csv", table);
    run(
        &place,
        &[
            "topics fit d.csv --id-column id -k 2 --min-df 1 -o m.tenfold --mixtures mix.csv",
            "topics infer m.tenfold d.csv --id-column id -o mix.tsv",
            "topics show m.tenfold",
            "topics show m.tenfold --documents",
            "topics show m.tenfold 1",
            "report m.tenfold -o page.html",
        ],
    );
    parsed(&place, &[("mix.csv", &NAMES, false), ("mix.tsv", &NAMES, false), ("page.html", &[], true)]);
    // Words of a bag are whatever stands in its vocabulary, a line each.
    let words: Vec<&str> = NAMES.iter().copied().filter(|name| !name.contains('\n')).collect();
    let mut bag = String::new();
    for d in 0..60 {
        for w in (0..words.len()).filter(|w| w % 2 == d % 2) {
            bag += &format!("{} {} {}\n", d + 1, w + 1, (d * w) % 4 + 1);
        }
    }
    place.write("docword.b.txt", format!("60\n{}\n{}\n{bag}", words.len(), bag.lines().count()));
    place.write("vocab.b.txt", words.join("\n") + "\n");
    run(
        &place,
        &[
            "topics fit docword.b.txt -k 2 -o b.tenfold",
            "topics show b.tenfold 0",
            "topics show b.tenfold --bridging",
            "report b.tenfold -o bag.html",
        ],
    );
    parsed(&place, &[("bag.html", &words, true)]);
}

/// A table of numbers whose columns have these names.
fn columns(place: &Place, name: &str, names: &[&str], values: impl Fn(usize, usize) -> String) {
    let mut text = names.iter().map(|n| quoted(n)).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..400 {
        let cells: Vec<String> = (0..names.len()).map(|column| values(row, column)).collect();
        text += &(cells.join(",") + "\n");
    }
    place.write(name, text);
}

#[test]
fn columns_of_signals() {
    let place = Place::new();
    let noise = noise(400 * NAMES.len());
    let at = |row: usize, column: usize| (noise[row * NAMES.len() + column].powi(3)).to_string();
    columns(&place, "x.csv", &NAMES, at);
    run(
        &place,
        &[
            "ica fit x.csv -k 3 -o i.tenfold",
            "ica show i.tenfold",
            "ica infer i.tenfold x.csv -o s.csv",
            "report i.tenfold -o i.html",
        ],
    );
    parsed(&place, &[("i.html", &[], true), ("s.csv", &[], false)]);
    run(&place, &["ica infer i.tenfold s.csv --mix-back -o back.csv"]);
    columns(&place, "y.csv", &NAMES[..3], at);
    run(
        &place,
        &[
            "motifs fit y.csv --layout channels -L 1 --length 4 -o m.tenfold --events e.csv",
            "motifs show m.tenfold",
            "motifs infer m.tenfold y.csv --layout channels -o f.csv",
            "report m.tenfold -o m.html",
        ],
    );
    parsed(&place, &[("e.csv", &[], false), ("f.csv", &[], false), ("m.html", &[], true)]);
}

#[test]
fn variables_and_levels() {
    let place = Place::new();
    let noise = noise(400 * 9);
    // Flags of one cause, each with its own chance, and levels that bite too.
    let level = |row: usize, column: usize| {
        let up = row.is_multiple_of(2) == (noise[row * 9 + column] < 0.4);
        quoted(if up { NAMES[column] } else { "no" })
    };
    columns(&place, "v.csv", &NAMES[..9], level);
    let exports = ["newick", "nexus", "graphml", "dot", "bif", "json"]
        .map(|format| format!("trees export m.tenfold --format {format} -o t.{format}"));
    run(
        &place,
        &[
            "trees fit v.csv -k 2 --bootstrap 0 -o m.tenfold",
            "trees show m.tenfold",
            "report m.tenfold -o page.html",
        ],
    );
    run(&place, &exports.each_ref().map(String::as_str));
    place.write("gaps.csv", format!("{},{}\n\"no\",\n", quoted(NAMES[0]), quoted(NAMES[2])));
    run(&place, &["trees infer m.tenfold gaps.csv -o h.csv --missing f.csv --next n.csv --states s.csv"]);
    let names = &NAMES[..9];
    parsed(
        &place,
        &[
            ("t.graphml", names, true),
            ("t.json", names, false),
            ("t.newick", names, true),
            ("t.nexus", names, true),
            ("t.dot", names, true),
            ("t.bif", names, true),
            ("page.html", names, true),
            ("f.csv", &names[1..], false),
            ("n.csv", &[], false),
            ("s.csv", &[], false),
            ("h.csv", &[], false),
        ],
    );
    // The trees are read again by their own readers, and are the same.
    for format in ["newick", "nexus"] {
        let again = place.json(&format!("trees evaluate m.tenfold t.{format}"));
        assert_eq!(again["robinson_foulds"], 0.0, "{again}");
    }
    let bif = place.text("t.bif");
    let plain = |c: char| c.is_ascii_alphanumeric() || " \n_-.,;:/|(){}[]'".contains(c);
    assert!(bif.chars().all(plain), "{bif}");
}

#[test]
fn sentences() {
    let place = Place::new();
    let lines: String = (0..80)
        .map(|i| format!("the {} ship <script>alert({})</script> sails {}\n", i % 5, i % 3, NAMES[i % 4]))
        .collect();
    place.write("t.txt", lines);
    place
        .write("v.txt", "ship 0.5 1\nsails 1 0\n<script>alert(1)</script> 1 1\n\u{1b}[2J 0 1\nthe 0.2 0.1\n");
    run(
        &place,
        &[
            "sentences fit t.txt --dimensions 4 --templates 2 --min-count 1 -o m.tenfold",
            "sentences show m.tenfold",
            "sentences encode m.tenfold t.txt -o x.csv",
            "report m.tenfold -o page.html",
        ],
    );
    parsed(&place, &[("page.html", &[], true), ("x.csv", &[], false)]);
}

#[test]
fn genes_and_images() {
    let place = Place::new();
    let noise = noise(4000);
    let mut table = String::from("image,gene,x,y,r1,r2,orientation,intensity,neighbours\n");
    // A line break cannot stand in a table of cells, which is parsed line by line.
    let names: Vec<&str> = NAMES.iter().copied().filter(|name| !name.contains('\n')).collect();
    for i in 0..900 {
        let gene = i % names.len();
        let kind = usize::from(gene < 4);
        let size = 3.0 + 6.0 * kind as f64 + noise[i];
        let place = |k: usize| 500.0 * (noise[(i * 3 + k) % 4000] + 0.5);
        table += &format!(
            "{},{},{:.2},{:.2},{size:.3},{:.3},0.5,{:.2},1\n",
            marked(&format!("{}.png", names[gene])),
            marked(names[gene]),
            place(0),
            place(1),
            size * 0.8,
            20.0 + 40.0 * kind as f64 + noise[i + 50]
        );
    }
    place.write("c.csv", table);
    run(
        &place,
        &[
            "cells fit c.csv -k 2 --sizes 3 --intensities 3 -o m.tenfold",
            "cells show m.tenfold",
            "cells show m.tenfold 0",
            "cells infer m.tenfold c.csv -o t.csv",
            "cells export m.tenfold --profiles p.csv --features f.csv --histograms h.csv",
            "report m.tenfold -o page.html",
        ],
    );
    parsed(
        &place,
        &[
            ("t.csv", &names, false),
            ("p.csv", &names, false),
            ("f.csv", &[], false),
            ("page.html", &names, true),
        ],
    );
}

#[test]
fn file_names() {
    let place = Place::new();
    let name = "\u{1b}[31m<b>\u{202e}x\".txt";
    place.write(name, "ship harbour sail\nbread oven flour\n".repeat(20));
    harmless(&place.ok(&format!("topics fit {name} -k 2 --min-df 1 -o m.tenfold")));
    harmless(&place.ok(&format!("topics fit {name} -k 2 --min-df 1 -o m.tenfold --verbose")));
    harmless(&place.ok("report m.tenfold -o page.html"));
    harmless(&place.run(&format!("communities fit {name} -k 2 -o c.tenfold")));
    harmless(&place.run(&format!("topics fit {name}.missing -k 2 -o c.tenfold --json")));
    parsed(&place, &[("page.html", &[], true)]);
}
