use super::*;
use crate::trees::{Shape, Synth};
use proptest::prelude::*;
use tenfold_engine::progress::Silent;

fn names(text: &str) -> Vec<String> {
    text.split(' ').map(Into::into).collect()
}

fn error(text: &str, of: &str) -> String {
    parse_tree(text, &names(of)).unwrap_err().to_string()
}

#[test]
fn lengths_names_comments_and_roots() {
    let tree =
        parse_tree("[&R] ((a:1,'b c':2)0.7:0.25,(d_e:3[x[y]],f:4e0)clade:0.25)root;", &names("a b_c d_e f"))
            .unwrap();
    assert_eq!(tree.edges(), [(0, 4 + 1, 1.0), (1, 5, 2.0), (2, 6, 3.0), (3, 6, 4.0), (5, 6, 0.5)]);
    let plain = parse_tree("((a,b),(c,d))", &names("a b c d")).unwrap();
    assert!(plain.edges().iter().all(|e| e.2 == 1.0) && plain.edges().len() == 5);
    assert_eq!(
        parse_tree("(NM1:1,X2:2,Y:3);", &["NM1 Homo sapiens".into(), "X2".into(), "Y".into()])
            .unwrap()
            .edges()
            .len(),
        3
    );
}

#[test]
fn internal_names_and_tips_of_length_0_are_internal_nodes() {
    for text in ["(a:1,(b:1,c:2)d:3);", "(a:1,(b:1,c:2,d:0)0.8:3);", "((b:1,c:2,d:0)x:1.5,a:2.5);"] {
        let tree = parse_tree(text, &names("a b c d")).unwrap();
        assert_eq!(tree.edges(), [(0, 3, 4.0), (1, 3, 1.0), (2, 3, 2.0)], "{text}");
    }
    let both = parse_tree("(a:1,(b:0,c:0):3,d:1);", &names("a b c d")).unwrap();
    assert_eq!(both.hidden().count(), 2, "two tips claim one place");
}

#[test]
fn several_trees_are_a_forest_unless_they_share_tips() {
    let forest = parse_tree("(a:1,b:1,c:1);\nd;\n(e:0,f:2);", &names("a b c d e f")).unwrap();
    assert_eq!(forest.components().len(), 3);
    assert_eq!(forest.length(4, 5), Some(2.0));
    assert!(error("(a,b,c);(a,(b,c));", "a b c").contains("line 1: \"a\" stands at two tips of the 2 trees"));
}

#[test]
fn errors_name_the_line_and_the_names() {
    for (text, of, expected) in [
        ("(a,\n(b,c);", "a b c", "line 2: the tree ends before all of its ( are closed"),
        ("(a,b));", "a b", "a ) closes nothing"),
        ("a,b;", "a b", "outside of all parentheses"),
        ("(a,\n\nb c);", "a b", "line 3: \"c\" follows another name; put names with blanks in quotes"),
        ("(a:x,b);", "a b", "the length \"x\" is no finite number"),
        ("(a:inf,b);", "a b", "no finite number"),
        ("(a:,b);", "a b", "not followed by a length"),
        ("(a,,b);", "a b", "a tip has no name"),
        ("();", "a", "a tip has no name"),
        ("", "a", "holds no tree"),
        (";", "a", "a tip has no name"),
        ("(a,'b", "a b", "a quote opens here and is never closed"),
        ("(a,[b", "a b", "a comment opens here and is never closed"),
        ("(a,b])", "a b", "a ] closes no comment"),
        ("(a,a);", "a", "\"a\" stands at two tips"),
        (
            "(a,\nx,y);",
            "a b c",
            "line 2: 2 tips are no variables (\"x\", \"y\"), and 2 variables are no tips (\"b\", \"c\")",
        ),
        ("(a,b);", "a b c", "1 variables are no tips (\"c\"); give a tree whose tips"),
        ("#NEXUS\nbegin data; matrix a'b; end;", "a", "holds no tree in a TREES block"),
        ("#NEXUS\nbegin trees;\ntree x (a,b);", "a b", "line 3: a TREE command has no ="),
        ("#NEXUS\nbegin trees;\ntranslate 1 a 2 b;", "a b", "TRANSLATE command is not made of pairs"),
        ("#NEXUS\nbegin trees;\ntree x = (a,b);", "a b", "never ended"),
    ] {
        assert!(error(text, of).contains(expected), "{text:?}: {}", error(text, of));
    }
    assert!(parse_tree("(a,b);", &names("a a")).unwrap_err().to_string().contains("is there twice"));
}

#[test]
fn more_nodes_than_a_tree_has_are_refused_while_they_are_read() {
    let most = most_nodes(3);
    let told = "line 2: there are more nodes up to here than a tree of the variables can have; give the tree that is meant alone";
    for text in ["(".repeat(most + 1), format!("(a{}", ",a".repeat(most)), "a;".repeat(most + 1)] {
        // What follows is not looked at.
        assert!(error(&format!("\n{text} ]"), "a b c").contains(told));
        let nexus = format!("#NEXUS begin trees;\ntree x = {}", text.replace("a;", "a; tree x = a;"));
        assert!(error(&nexus, "a b c").contains(told));
    }
    assert!(error(&"(".repeat(most - 1), "a b c").contains("before all of its ( are closed"));
    // As many as there may be.
    assert!(error(&"a;".repeat(most), "a b c").contains("stands at two tips of the"));
    let names: Vec<String> = (0..=most).map(|i| format!("t{i} a")).collect();
    let nexus = format!("#NEXUS begin trees; translate {};", names.join(","));
    assert!(error(&nexus, "a b c").contains("names more tips than a tree of all variables has"));
}

#[test]
fn long_names_that_come_often_are_held_once() {
    let text = format!(
        "#NEXUS begin trees; translate 1 {}; tree x = ({}1); end;",
        "a".repeat(1 << 20),
        "1,".repeat(20_000)
    );
    assert!(error(&text, "a b").contains("20001 tips are no variables"));
}

#[test]
fn nexus_blocks_and_short_names() {
    let text = "#NEXUS\n[c]\nBegin taxa; dimensions ntax=3; taxlabels a b 'c d'; end;\nbegin Trees;\n translate 1 a, 2 b,\n 3 'c d';\n tree * one=[&R] ((1:1,2:2):1,3:3);\nEND;";
    let tree = parse_tree(text, &["a".into(), "b".into(), "c_d".into()]).unwrap();
    assert_eq!(tree.edges().iter().map(|e| e.2).collect::<Vec<_>>(), [1.0, 2.0, 4.0]);
}

#[test]
fn deep_trees_are_read_and_written() {
    let depth = 200_000;
    let mut text = "(".repeat(depth) + "x0";
    (1..=depth).for_each(|i| text.push_str(&format!(",x{i})")));
    let names: Vec<String> = (0..=depth).map(|i| format!("x{i}")).collect();
    let tree = parse_tree(&text, &names).unwrap();
    assert_eq!(tree.hidden().count(), depth - 1);
    let again = to_newick(&tree, &names, &|_, _| None);
    assert_eq!(parse_tree(&again, &names).unwrap().edges().len(), tree.edges().len());
}

#[test]
fn what_is_written_is_read_back() {
    for (shape, blocks) in [(Shape::Mixed, 1), (Shape::Observed, 1), (Shape::Chain, 2), (Shape::Binary, 3)] {
        for seed in 0..3 {
            let drawn =
                Synth { variables: 14, samples: 1, shape, blocks, seed, ..Synth::default() }.draw().unwrap();
            let names: Vec<String> = (0..drawn.tree.observed()).map(|v| format!("it's {v}_(x)")).collect();
            for text in [
                to_newick(&drawn.tree, &names, &|_, _| Some(0.5)),
                to_nexus(&drawn.tree, &names, &|_, _| None),
            ] {
                let again = parse_tree(&text, &names).unwrap();
                assert_eq!(again.canonical(), drawn.tree.canonical(), "{shape:?}: {text}");
            }
        }
    }
}

#[test]
fn files_may_be_packed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.nwk.gz");
    let mut out =
        flate2::write::GzEncoder::new(std::fs::File::create(&path).unwrap(), flate2::Compression::fast());
    std::io::Write::write_all(&mut out, b"(a,b,c);").unwrap();
    out.finish().unwrap();
    assert_eq!(read_tree(&path, &names("a b c"), None, &Silent).unwrap().edges().len(), 3);
    std::fs::write(&path, b"(a,\xff);").unwrap();
    assert!(read_tree(&path, &names("a b c"), None, &Silent).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_text_panics(text in "[()\\[\\],:;'a-d=0.# é\\n]{0,60}", head in 0usize..3) {
        let head = ["", "#NEXUS\nbegin trees;", "#nexus begin trees; tree x = "][head];
        let _ = parse_tree(&format!("{head}{text}"), &names("a b c d"));
    }
}
