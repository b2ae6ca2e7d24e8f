//! The layer rule, held by a test: inside a crate a module imports only modules of lower layers.
//!
//! The rule is [`LAYERS`], printed word for word in ARCHITECTURE.md. The scan reads tokens, not types: it
//! finds `crate::module` and `super::…::module` paths, follows the re-exports of `lib.rs`, and leaves out
//! comments, strings and test code. It also holds two smaller rules: the linear-algebra library is called in
//! one folder only, and `unsafe` stands only in the files named here.

#[path = "architecture/scan.rs"]
mod scan;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use scan::{Import, Token, reexports, tokens, use_tree, without_tests};

/// One crate's modules, lowest layer first; modules of one layer never import each other.
struct Rule {
    name: &'static str,
    layers: &'static [&'static [&'static str]],
}

/// Who may import whom. `engine` is the engine crate as `tenfold` re-exports it.
const LAYERS: &[Rule] = &[
    Rule {
        name: "tenfold-engine",
        layers: &[
            &["error"],
            &["progress"],
            &["linalg"],
            &["tensor"],
            &["device"],
            &["moments"],
            &["whiten"],
            &["decompose"],
        ],
    },
    Rule {
        name: "tenfold",
        layers: &[
            &["engine"],
            &["error"],
            &["output"],
            &["input"],
            &["model_file"],
            &["checkpoint"],
            &["evaluate", "report", "admixture", "verdict", "components", "memory"],
            &["ica", "topics", "communities", "motifs", "trees", "cells"],
            &["sentences"],
        ],
    },
];

/// The only folder that calls the linear-algebra library, so that it can be changed in one place.
const FAER_FOLDER: &str = "crates/tenfold-engine/src/linalg/";

/// The only files that may hold `unsafe`.
const UNSAFE_FILES: &[&str] = &["crates/tenfold-engine/src/linalg/spmm.rs"];

/// The crates whose modules ARCHITECTURE.md tells one by one.
const DESCRIBED: &[&str] = &[
    "crates/tenfold-engine",
    "crates/tenfold-gpu",
    "crates/tenfold",
    "crates/tenfold-cli",
    "crates/tenfold-py",
    "xtask",
];

impl Rule {
    fn layer(&self, module: &str) -> Option<usize> {
        self.layers.iter().position(|layer| layer.contains(&module))
    }

    /// The rule as ARCHITECTURE.md prints it.
    fn text(&self) -> String {
        let layers: Vec<String> = self
            .layers
            .iter()
            .map(|layer| match layer {
                [one] => one.to_string(),
                many => format!("{{{}}}", many.join(", ")),
            })
            .collect();
        format!("{}: {}", self.name, layers.join(" < "))
    }
}

// ---- the rules -------------------------------------------------------------------------------------------

/// Everything the file reaches through the crate root. `depth` is the file's own depth below it.
fn reached(tokens: &[Token], depth: usize) -> Vec<Import> {
    let mut found = Vec::new();
    // For each open brace, whether it is that of an inline module, which needs one `super` more.
    let mut open: Vec<bool> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "{" => open.push(at >= 2 && tokens[at - 2].text == "mod"),
            "}" => drop(open.pop()),
            _ => {}
        }
        let continued = at > 0 && tokens[at - 1].text == "::";
        let supers = tokens[at..].chunks(2).take_while(|pair| names_step(pair, "super")).count();
        let inline = open.iter().filter(|&&module| module).count();
        if !continued && names_step(&tokens[at..], "crate") {
            found.extend(use_tree(&tokens[at + 2..]));
        } else if !continued && supers > 0 && supers >= depth + inline {
            found.extend(use_tree(&tokens[at + 2 * supers..]));
        }
        at += (2 * supers).max(1);
    }
    found
}

fn names_step(tokens: &[Token], word: &str) -> bool {
    matches!(tokens, [first, second, ..] if first.text == word && second.text == "::")
}

/// Breaches of the layer rule in one file. `inside` is its path below `src/`.
fn layer_breaches(rule: &Rule, inside: &str, source: &str, names: &BTreeMap<String, String>) -> Vec<String> {
    let parts: Vec<&str> = inside.trim_end_matches(".rs").split('/').filter(|part| *part != "mod").collect();
    let module = parts[0];
    if parts.len() == 1 && matches!(module, "lib" | "main") {
        return Vec::new();
    }
    let place = |line: usize| format!("crates/{}/src/{inside}:{line}", rule.name);
    let Some(own) = rule.layer(module) else {
        return vec![format!("{}: module `{module}` has no layer; add it to LAYERS", place(1))];
    };
    let mut breaches = Vec::new();
    for import in reached(&without_tests(&tokens(source)), parts.len()) {
        let first = import.path[0].as_str();
        let known = rule.layer(first).map(|_| first).or_else(|| names.get(first).map(String::as_str));
        let breach = match known.map(|target| (target, rule.layer(target))) {
            Some((target, _)) if target == module => continue,
            // A name that comes from another crate: the compiler holds the order of crates.
            Some((_, None)) => continue,
            Some((_, Some(layer))) if layer < own => continue,
            Some((target, Some(layer))) if layer == own => format!("`{target}`, its sibling"),
            Some((target, Some(_))) => format!("`{target}` of a higher layer"),
            None => format!("`crate::{first}`, which has no layer"),
        };
        breaches.push(format!(
            "{}: `{module}` imports {breach}; the rule is {}",
            place(import.line),
            rule.text()
        ));
    }
    breaches
}

/// Breaches of the two rules that hold in every file of the workspace, tests included.
fn word_breaches(file: &str, source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let mut breaches = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let named = tokens.get(at + 1).is_some_and(|next| matches!(next.text.as_str(), "::" | "as" | ";"));
        if token.text == "faer" && named && !file.starts_with(FAER_FOLDER) {
            breaches.push(format!("{file}:{}: `faer` may be called only in {FAER_FOLDER}", token.line));
        }
        if token.text == "unsafe" && !UNSAFE_FILES.contains(&file) {
            breaches.push(format!("{file}:{}: `unsafe` may stand only in {UNSAFE_FILES:?}", token.line));
        }
    }
    breaches
}

// ---- the tree --------------------------------------------------------------------------------------------

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace root")
}

/// All `.rs` files below the folder, as paths relative to it with `/`, in order.
fn sources(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "target" {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let inside = path.strip_prefix(folder).expect("below the folder");
                found.push(inside.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Modules of `src/`: files and folders that hold Rust, the crate's root files left out.
fn modules(src: &Path) -> Vec<String> {
    let mut names: Vec<String> = sources(src)
        .iter()
        .map(|file| file.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_string())
        .filter(|name| !matches!(name.as_str(), "lib" | "main" | "bin"))
        .collect();
    names.dedup();
    names
}

fn hold(breaches: Vec<String>) {
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}

#[test]
fn modules_import_only_lower_layers() {
    let mut breaches = Vec::new();
    for rule in LAYERS {
        let src = root().join("crates").join(rule.name).join("src");
        let names = reexports(&read(&src.join("lib.rs")));
        for file in sources(&src) {
            breaches.extend(layer_breaches(rule, &file, &read(&src.join(&file)), &names));
        }
    }
    hold(breaches);
}

#[test]
fn the_linear_algebra_library_and_unsafe_stay_in_their_places() {
    let mut breaches = Vec::new();
    for folder in ["crates", "experiments", "xtask"] {
        for file in sources(&root().join(folder)) {
            let file = format!("{folder}/{file}");
            breaches.extend(word_breaches(&file, &read(&root().join(&file))));
        }
    }
    for file in UNSAFE_FILES {
        let source = fs::read_to_string(root().join(file)).unwrap_or_default();
        if !tokens(&source).iter().any(|token| token.text == "unsafe") {
            breaches.push(format!("{file} holds no `unsafe`: take it off UNSAFE_FILES"));
        }
    }
    hold(breaches);
}

/// The compiler holds the rule too. A crate with a named file can only deny, and allows at the one place.
#[test]
fn every_crate_forbids_unsafe() {
    let mut breaches = Vec::new();
    for folder in ["crates", "experiments", "xtask"] {
        for file in sources(&root().join(folder)) {
            let file = format!("{folder}/{file}");
            let source = read(&root().join(&file));
            let krate = file.split("/src/").next().unwrap_or_default();
            let named = UNSAFE_FILES.iter().any(|known| known.starts_with(&format!("{krate}/")));
            let wanted = if named { "#![deny(unsafe_code)]" } else { "#![forbid(unsafe_code)]" };
            let program =
                file.contains("/src/") && !file.contains("/tests/") && source.contains("\nfn main()");
            if (file.ends_with("/src/lib.rs") || program) && !source.contains(wanted) {
                breaches.push(format!("{file}: a crate's root needs `{wanted}`"));
            }
            if source.contains("allow(unsafe_code)")
                && !UNSAFE_FILES.contains(&file.as_str())
                && !file.ends_with("tests/architecture.rs")
            {
                breaches.push(format!("{file}: `unsafe` may be allowed only in {UNSAFE_FILES:?}"));
            }
        }
    }
    hold(breaches);
}

#[test]
fn architecture_md_tells_the_tree_as_it_is() {
    let document = read(&root().join("ARCHITECTURE.md"));
    let mut breaches = Vec::new();
    for rule in LAYERS {
        if !document.lines().any(|line| line.trim() == rule.text()) {
            breaches.push(format!("ARCHITECTURE.md does not print the rule: {}", rule.text()));
        }
    }
    // A heading in backticks is a path: `##` from the root, `###` from the `##` above it.
    let (mut above, mut sections) = (String::new(), BTreeMap::<String, String>::new());
    for (at, line) in document.lines().enumerate() {
        let level = line.chars().take_while(|&c| c == '#').count();
        let title = line[level..].trim();
        let path = title.strip_prefix('`').and_then(|rest| rest.split('`').next());
        if level == 2 {
            above = path.unwrap_or_default().trim_end_matches('/').to_string();
        }
        let path = path.map(|path| if level == 3 { format!("{above}/{path}") } else { path.to_string() });
        if let Some(path) = path.filter(|_| matches!(level, 2 | 3))
            && !root().join(&path).exists()
        {
            breaches.push(format!("ARCHITECTURE.md:{}: there is no {path}", at + 1));
        }
        *sections.entry(above.clone()).or_default() += &format!("{line}\n");
    }
    for folder in DESCRIBED {
        let section = sections.get(*folder).map(String::as_str).unwrap_or_default();
        for module in modules(&root().join(folder).join("src")) {
            let forms = [format!("`{module}`"), format!("`src/{module}/`"), format!("`src/{module}.rs`")];
            if !forms.iter().any(|form| section.contains(form)) {
                breaches.push(format!("ARCHITECTURE.md, section {folder}: nothing on `{module}`"));
            }
        }
    }
    hold(breaches);
}

// ---- the scanner itself ----------------------------------------------------------------------------------

const SMALL: Rule = Rule { name: "small", layers: &[&["error"], &["low"], &["left", "right"], &["top"]] };

fn small(inside: &str, source: &str) -> Vec<String> {
    let names =
        reexports("mod error;\npub use error::{Error, Result as R};\npub use top::Model;\nuse other::X;");
    layer_breaches(&SMALL, inside, source, &names)
}

#[test]
fn a_planted_breach_is_caught_with_its_place() {
    let found = small("low.rs", "use crate::error::Error;\n\nuse crate::{error, top::{Model, self}};\n");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("crates/small/src/low.rs:3: `low` imports `top` of a higher layer"));
    assert!(found[0].ends_with("small: error < low < {left, right} < top"));
    let sibling = small("left/fit.rs", "fn f() -> crate::right::Thing { todo() }");
    assert!(sibling[0].contains("left/fit.rs:1: `left` imports `right`, its sibling"), "{sibling:?}");
}

#[test]
fn every_way_to_name_a_module_is_seen() {
    for source in [
        "use crate::top;",
        "use crate::top::*;",
        "pub(crate) use crate::{\n  low::a,\n  top as summit,\n};",
        "fn f() { let x = crate::top::make(1); }",
        "impl From<crate::top::T> for X {}",
        "use crate::Model;",
        "use super::super::top::Model;",
        "fn f<'a>(x: &'a str) -> char { crate::top::g(x); 'a' }",
        "#[cfg(not(test))]\nuse crate::top;",
        "#[cfg(test)]\nuse crate::top;\nuse crate::top;",
        "mod inner { use super::super::super::top; }",
        "mod inner { use super::super::x; }\nuse super::super::top;",
        "use crate::unheard;",
    ] {
        assert_eq!(small("left/fit.rs", source).len(), 1, "{source}");
    }
    assert_eq!(small("left.rs", "use super::top;").len(), 1);
    assert_eq!(small("unheard.rs", "").len(), 1);
}

#[test]
fn what_is_allowed_is_left_alone() {
    for source in [
        "use crate::error::Error;\nuse crate::{Error, R, X, low, left::other};",
        "use super::top;\nuse super::{top, other};",
        "mod inner { use super::super::top; fn f() { if x { super::top() } } }",
        "// use crate::top;\n/* crate::top /* crate::top */ */\n//! [`crate::top`]\n/// crate::top",
        "const S: &str = \"crate::top \\\" crate::top\"; const R: &str = r#\"crate::top \" \"#;",
        "const C: char = '\"'; const D: char = '\\''; const B: u8 = b'\"'; use crate::low;",
        "#[cfg(test)]\nmod tests {\n use super::*;\n use crate::top::{Model};\n fn f() { g(); }\n}",
        "#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests;\n#[cfg(all(test, unix))]\nuse crate::top;",
        "use tenfold_engine::top;\npub(in crate::left) fn f() {}",
    ] {
        assert!(small("left/fit.rs", source).is_empty(), "{source}: {:?}", small("left/fit.rs", source));
    }
    assert!(small("lib.rs", "pub use crate::top::Model;").is_empty());
}

#[test]
fn stray_library_calls_and_unsafe_are_caught() {
    let found = word_breaches("crates/tenfold/src/x.rs", "use faer::Mat;\nfn f() { unsafe { g() } }");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("crates/tenfold/src/x.rs:1: `faer`"));
    assert!(found[1].starts_with("crates/tenfold/src/x.rs:2: `unsafe`"));
    assert!(
        word_breaches("crates/tenfold/src/x.rs", "// faer::Mat, unsafe\nlet faer_like = \"faer::\";")
            .is_empty()
    );
    assert!(word_breaches("crates/tenfold-engine/src/linalg/x.rs", "use faer::Mat;").is_empty());
}
