use super::super::picture::tests::Sketch;
use super::super::{Emits, Shape, Synth};
use super::*;
use serde_json::json;
use std::path::{Path, PathBuf};

/// What a hospital's columns are called.
const NAMES: [&str; 24] = [
    "Asthma",
    "COPD",
    "Acute bronchitis",
    "Pneumonia",
    "Type 2 diabetes",
    "Diabetic retinopathy",
    "Hyperlipidaemia",
    "Essential hypertension",
    "Chronic kidney disease",
    "Heart failure",
    "Atrial fibrillation",
    "Myocardial infarction",
    "Depressive disorder",
    "Anxiety disorder",
    "Insomnia",
    "Alcohol dependence",
    "Osteoarthritis",
    "Osteoporosis",
    "Hip fracture",
    "Low back pain",
    "Hypothyroidism",
    "Iron deficiency anaemia",
    "Gastro-oesophageal reflux",
    "Obesity",
];

/// A name that would do harm where it is taken for more than a name.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

fn sketch(synth: &Synth) -> Sketch {
    let mut sketch = Sketch::new(synth);
    for (v, variable) in sketch.variables.iter_mut().enumerate() {
        variable.name = match v / NAMES.len() {
            0 => NAMES[v].to_owned(),
            turn => {
                format!(
                    "{}, {}",
                    NAMES[v % NAMES.len()],
                    ["history of", "family history", "in remission", "with complication"][turn % 4]
                ) + &if turn > 4 { format!(" {turn}") } else { String::new() }
            }
        };
        if variable.labels.len() == 2 {
            variable.labels = vec!["no".into(), "yes".into()];
        }
    }
    sketch
}

/// Where pages and pictures are kept when somebody wants to look at them.
fn kept() -> Option<PathBuf> {
    std::env::var_os("TENFOLD_TEST_PICTURES").map(PathBuf::from)
}

#[test]
fn the_page_holds_every_part() {
    let synth =
        Synth { variables: 14, shape: Shape::Observed, emits: Emits::Mixed, blocks: 2, ..Synth::default() };
    for cell in [None, Some(11)] {
        let html = sketch(&synth).picture(2000, cell).page().to_html();
        for part in ["Tree", "Groups", "Held-out samples", "Hidden nodes", "Edges"] {
            assert!(html.contains(&format!(">{part}</h2>")), "{part}");
        }
        assert_eq!(html.matches("<script").count(), 2);
        assert!(!html.contains("http:") && !html.contains("https:") && !html.contains("innerHTML"));
        assert_eq!(html.contains("whole steps of 11 samples"), cell.is_some());
        assert_eq!(html.contains("standard error"), cell.is_none());
    }
}

/// What is typical of a state is a cell too: how many samples of the state show the value, and how many do not.
#[test]
fn the_page_tells_no_small_cell() {
    let mut told = 0;
    for seed in 0..5 {
        let sketch = sketch(&Synth { variables: 30, width: 3, seed, ..Synth::default() });
        let facts = Facts::new(&sketch.picture(11 * 60, Some(11)));
        for (node, states) in facts.telling.iter().enumerate() {
            for (share, telling) in facts.shown.marginals[node].iter().zip(states) {
                for t in telling {
                    for count in [t.within, 1.0 - t.within].map(|p| 660.0 * share * p) {
                        assert!(!(1e-5..=11.0 - 1e-5).contains(&count), "{count} in {t:?}");
                        told += 1;
                    }
                }
            }
        }
    }
    assert!(told > 100, "{told}");
}

fn write(synth: &Synth, name: &str, folder: &Path) -> PathBuf {
    let mut sketch = sketch(synth);
    sketch.variables[1].name = HOSTILE.into();
    let path = folder.join(format!("{name}.html"));
    sketch.picture(20_000, None).page().write(&path).unwrap();
    path
}

#[test]
fn in_a_browser_the_tree_is_folded_searched_and_walked_through() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = write(&Synth { variables: 100, ..Synth::default() }, "trees-100", folder.path());
    for (width, dark) in [(1280, false), (390, true)] {
        browser.open(&path, width, dark);
        browser.until("document.querySelectorAll('.tree .node').length > 20");
        browser.picture(kept().as_deref(), &format!("trees-100-{width}.png"));
        folding(&mut browser);
        searching(&mut browser);
        groups(&mut browser);
        walking(&mut browser);
        shapes(&mut browser);
        browser.picture(kept().as_deref(), &format!("trees-100-{width}-after.png"));
        assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    }
}

fn count(browser: &mut Browser, selector: &str) -> u64 {
    browser.value(&format!("document.querySelectorAll(\"{selector}\").length")).as_u64().unwrap()
}

/// A folded branch opens by a click and closes by another, and rows stay readable meanwhile.
fn folding(browser: &mut Browser) {
    let before = count(browser, ".tree .node");
    let id = browser.value("document.querySelector('.wedge').closest('.node').dataset.node");
    let selector = format!(".node[data-node='{}']", id.as_str().unwrap());
    browser.hover(&format!("{selector} .wedge"));
    let tip = browser.text("#tip");
    assert!(
        tip.contains("hidden, 2 states") && tip.contains("strength") && tip.contains("state 0:"),
        "{tip}"
    );
    browser.click(&format!("{selector} .wedge"));
    assert!(count(browser, ".tree .node") > before);
    browser.click(&format!("{selector} circle.inner"));
    assert_eq!(count(browser, ".tree .node"), before);
    overlaps(browser);
}

/// Labels never stand on each other, and nothing is wider than the screen. Around a middle labels are turned: there the
/// places where they begin, on one ring, are apart by the height of a letter.
fn overlaps(browser: &mut Browser) {
    let touching = "(() => { const all = [...document.querySelectorAll('.tree .node > text')]; \
        const turned = all.map((t) => t.getAttribute('transform')).filter((t) => t).map((t) => t.match(/[-\\d.]+/g).map(Number)); \
        const boxes = all.map((t) => t.getBoundingClientRect()); let n = 0; \
        for (let i = 0; i < all.length; i++) for (let j = 0; j < i; j++) { const [a, b] = [boxes[i], boxes[j]]; \
        if (turned.length) n += Math.hypot(turned[i][0] - turned[j][0], turned[i][1] - turned[j][1]) < 10.5; \
        else n += a.left < b.right && b.left < a.right && a.top + 4 < b.bottom && b.top + 4 < a.bottom; } return n; })()";
    assert_eq!(browser.value(touching), json!(0), "labels on each other");
    let over = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.value(over), json!(0), "no scrolling sideways");
}

fn searching(browser: &mut Browser) {
    for name in ["Obesity, in remission", HOSTILE] {
        browser.value(
            "(() => { const v = document.getElementById('variable'); v.focus(); v.select(); return 1; })()",
        );
        browser.write(name);
        browser.press("Enter");
        assert_eq!(browser.text(".result h3"), name);
        assert_eq!(count(browser, ".tree .ring"), 1);
        let seen = "(() => { const r = document.querySelector('.tree .ring').getBoundingClientRect(), \
                    f = document.querySelector('.tree-field').getBoundingClientRect(); \
                    return r.top >= f.top && r.bottom <= f.bottom && r.left >= f.left && r.right <= f.right; })()";
        assert_eq!(browser.value(seen), json!(true), "{name} is centred");
        assert!(browser.text(".result .grid-table").contains("state 1"));
    }
    assert_eq!(browser.value("document.images.length"), json!(0));
    browser.value("document.getElementById('variable').select()");
    browser.write("zzz");
    browser.press("Enter");
    assert!(browser.text(".result").contains("is not among the 100 variables"));
    browser.click(".result .close");
    assert_eq!(count(browser, ".tree .ring"), 0);
    // Tables lead to the tree.
    browser.click("#s-hidden-nodes [data-pick]");
    assert_eq!(browser.text(".result h3"), browser.text("#s-hidden-nodes [data-pick]"));
    assert!(browser.text(".result").contains("State 0: "));
    browser.click(".result .close");
}

fn groups(browser: &mut Browser) {
    browser.click(".tree-groups [data-item]");
    assert!(count(browser, ".tree.dimmed .node.chosen") > 0);
    browser.click(".tree-groups .none");
    assert_eq!(count(browser, ".tree.dimmed"), 0);
}

fn walking(browser: &mut Browser) {
    browser.value("document.querySelector('svg.tree').focus()");
    browser.press("Home");
    browser.press("ArrowDown");
    let tip = browser.text("#tip");
    assert!(tip.contains("length"), "{tip}");
    let before = count(browser, ".tree .node");
    browser.press("ArrowLeft");
    let folded = count(browser, ".tree .node");
    browser.press("ArrowRight");
    assert!(folded <= before && count(browser, ".tree .node") >= folded);
    let tip = browser.text("#tip");
    browser.press("Enter");
    assert_eq!(browser.text(".result h3"), tip.lines().next().unwrap());
    browser.press("Escape");
}

/// Everything unfolded, across and around: labels thin out, and come back when the picture is enlarged.
fn shapes(browser: &mut Browser) {
    for shape in [1, 2] {
        browser.click(".tree-tools .switch:nth-child(2) button:nth-child(2)");
        assert_eq!(count(browser, ".tree .tip"), 100);
        overlaps(browser);
        let few = count(browser, ".tree .node > text");
        (0..6).for_each(|_| browser.click("button[aria-label='Enlarge']"));
        let more = count(browser, ".tree .node > text");
        // A wide screen has room for all of them on a ring.
        assert!(more > few || few == 100 && shape == 2, "{few} and {more} labels in shape {shape}");
        overlaps(browser);
        browser.click("button[aria-label='Show all']");
        browser.click(".tree-tools .switch:first-child button:nth-child(2)");
    }
    browser.click(".tree-tools .switch:first-child button:first-child");
    browser.click(".tree-tools .switch:nth-child(2) button:first-child");
}

#[test]
fn in_a_browser_trees_of_all_sizes_are_readable() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = kept().unwrap_or(folder.path().to_owned());
    let mixed = Synth { variables: 20, states: 3, width: 4, blocks: 2, ..Synth::default() };
    let mixed = Synth { shape: Shape::Observed, emits: Emits::Mixed, ..mixed };
    let chain = Synth { variables: 30, shape: Shape::Chain, emits: Emits::Flags, ..Synth::default() };
    let sizes = [3, 12, 1000].map(|p| (p.to_string(), Synth { variables: p, ..Synth::default() }));
    for (name, synth) in sizes.into_iter().chain([("mixed".into(), mixed), ("chain".into(), chain)]) {
        let path = write(&synth, &format!("trees-{name}"), &folder);
        for (width, dark) in [(1280, name == "1000"), (390, false)] {
            browser.open(&path, width, dark);
            browser.until("document.querySelectorAll('.tree .node').length > 2");
            overlaps(&mut browser);
            let rows = count(&mut browser, ".tree .tip, .tree .wedge");
            assert!((3..=60).contains(&rows), "{rows} rows at {width} of {name}");
            browser.picture(kept().as_deref(), &format!("trees-{name}-{width}.png"));
            browser.click(".tree-tools .switch:first-child button:nth-child(2)");
            overlaps(&mut browser);
            browser.picture(kept().as_deref(), &format!("trees-{name}-{width}-round.png"));
        }
        assert!(browser.complaints.is_empty(), "{name}: {:?}", browser.complaints);
    }
}
