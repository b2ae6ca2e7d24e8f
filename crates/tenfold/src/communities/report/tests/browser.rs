//! The page in a real browser: what a person does with it and what it then shows.

use super::super::Browser;
use super::{HOSTILE, blocks, named, trade_off};
use crate::communities::data::Kind;
use crate::communities::{Model, Params, Synth};
use serde_json::json;
use std::path::Path;

/// Where pictures go when somebody wants to look at them.
const PICTURES: &str = "TENFOLD_TEST_PICTURES";

fn model() -> Model {
    Params::new(6).fit(&named(&blocks(260, 6))).unwrap()
}

#[test]
fn the_page_answers_clicks_pointers_and_searches() {
    let Some(mut browser) = Browser::start() else { return };
    let model = model();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("communities.html");
    model.report_with(&trade_off(&model)).write(&path).unwrap();
    let pictures = std::env::var_os(PICTURES);
    for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
        browser.open(&path, width, dark);
        assert_eq!(browser.text(".area-chosen h3"), "6 communities");
        let name =
            |what: &str| format!("communities-{what}{width}-{}.png", if dark { "dark" } else { "light" });
        browser.picture(pictures.as_ref().map(Path::new), &name(""));
        nodes(&mut browser, &model);
        choose(&mut browser);
        search(&mut browser, &model);
        pictures_answer(&mut browser);
        colours(&mut browser, dark);
        shape(&mut browser);
        browser.picture(pictures.as_ref().map(Path::new), &name("chosen-"));
        assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    }
    strangers_stay_out(&mut browser);
}

/// A node far from others, so that a pointer at its middle meets no other.
fn lonely(browser: &mut Browser) -> String {
    let find = "(() => { const all = [...document.querySelectorAll('.node')].map((g) => { \
                const b = g.getBoundingClientRect(); return { at: g.dataset.node, x: b.x + b.width / 2, y: b.y + b.height / 2 }; }); \
                const gap = (a) => Math.min(...all.filter((b) => b !== a).map((b) => Math.hypot(a.x - b.x, a.y - b.y))); \
                return all.reduce((best, a) => (gap(a) > gap(best) ? a : best)).at; })()";
    browser.value(find).as_str().unwrap().to_owned()
}

/// The id that the page gives a node, and its main community in the model.
fn about(browser: &mut Browser, model: &Model, place: &str) -> (String, u32) {
    let data = format!("JSON.parse(document.getElementById('data').textContent)[0].data.ids[{place}]");
    let id = browser.value(&data).as_str().unwrap().to_owned();
    let node = model.ids().find(&id).unwrap();
    (id, crate::communities::picture::largest(model.memberships().row(node)))
}

fn nodes(browser: &mut Browser, model: &Model) {
    assert_eq!(browser.value("document.querySelectorAll('.network .node').length"), 260);
    let place = lonely(browser);
    let (id, main) = about(browser, model, &place);
    let selector = format!("[data-node='{place}']");
    browser.hover(&selector);
    let tip = browser.text("#tip");
    assert!(tip.starts_with(&id) && tip.contains(&format!("community {main}: ")), "{tip}");
    browser.click(&selector);
    assert!(browser.text(".result h3").contains(&id));
    assert_eq!(browser.text(".area-chosen h3"), format!("Community {main}"));
    assert_eq!(browser.value("document.getElementById('community').value"), main.to_string());
    assert_eq!(browser.value("document.querySelector('.ring').getAttribute('visibility')"), "visible");
    assert_eq!(browser.value("document.querySelector('.result .use .chip').dataset.item"), main.to_string());
    // Those of other communities step back.
    let faint = "[...document.querySelectorAll('.network .node')].filter((g) => +g.getAttribute('opacity') < 0.2).length";
    assert!(browser.value(faint).as_u64().unwrap() > 100);
    // Enlarging spreads the nodes out and shows all again.
    let right = "[...document.querySelectorAll('.network .node')].map((g) => +g.getAttribute('transform').match(/[-\\d.]+/)[0])";
    let spread = |browser: &mut Browser| {
        browser.value(&format!("Math.max(...{right}) - Math.min(...{right})")).as_f64().unwrap()
    };
    let before = spread(browser);
    browser.click("button[aria-label='Enlarge']");
    assert!(spread(browser) > 1.5 * before);
    browser.click("button[aria-label='Show all']");
    assert!((spread(browser) - before).abs() < 1.0);
    // Keys go through the nodes.
    browser.value("document.querySelector('svg.network').focus()");
    browser.press("ArrowRight");
    browser.press("Enter");
    let (first, _) = about(
        browser,
        model,
        "document.querySelector('.node').dataset.node * 0 + JSON.parse(document.getElementById('data').textContent)[0].data.drawing.nodes[0]",
    );
    assert!(browser.text(".result h3").contains(&first));
    browser.click(".result .close");
    assert_eq!(browser.value("document.querySelector('.ring').getAttribute('visibility')"), "hidden");
}

fn choose(browser: &mut Browser) {
    browser.click("button[aria-label='Show all communities']");
    assert_eq!(browser.text(".area-chosen h3"), "6 communities");
    browser.click(".tones [data-item='4']");
    assert_eq!(browser.text(".area-chosen h3"), "Community 4");
    assert_eq!(browser.value("document.querySelector('tr.chosen').dataset.item"), "4");
    browser.click("button[aria-label='Next community']");
    browser.click("button[aria-label='Next community']");
    assert_eq!(browser.text(".area-chosen h3"), "Community 0", "after the last comes the first");
    browser.click("rect.column[data-item='2']");
    assert_eq!(browser.text(".area-chosen h3"), "Community 2");
    // A leading member is shown as a node.
    let member = browser.text(".area-chosen [data-pick]");
    browser.click(".area-chosen [data-pick]");
    assert!(browser.text(".result h3").contains(&member));
    // So is a node of the table of bridges.
    let bridge = browser.text("#s-bridges [data-pick]");
    browser.click("#s-bridges [data-pick]");
    assert!(browser.text(".result h3").contains(&bridge));
}

fn search(browser: &mut Browser, model: &Model) {
    let main = crate::communities::picture::largest(model.memberships().row(17));
    browser.value("document.getElementById('node').focus()");
    browser.value("document.getElementById('node').select()");
    browser.write("NODE17");
    assert_eq!(
        browser.text(".offers .chip").to_lowercase(),
        browser.text(".offers .chip"),
        "ids as they are"
    );
    browser.press("Enter");
    assert!(browser.text(".result h3").contains("node17"));
    assert_eq!(browser.value("document.querySelector('.result .use .chip').dataset.item"), main.to_string());
    browser.value("document.getElementById('node').select()");
    browser.write("zzz<b>");
    browser.press("Enter");
    let told = browser.text(".result");
    assert!(told.contains("“zzz<b>” is not among the 260 nodes"), "{told}");
    // A hostile id is an id.
    browser.value("document.getElementById('node').select()");
    browser.write(HOSTILE);
    browser.press("Enter");
    assert!(browser.text(".result h3").contains(HOSTILE));
    browser.press("Escape");
    assert_eq!(browser.value("document.querySelector('.result').hidden"), true);
}

/// The adjacency and the connectivity say what is under the pointer, and choose its community.
fn pictures_answer(browser: &mut Browser) {
    for (picture, told) in [
        (".adjacency canvas", "among themselves"),
        (".plot .heat canvas", "community 0 with community 0: 0."),
        (".memberships canvas", "community 0: "),
    ] {
        browser.value(&format!("document.querySelector('{picture}').focus()"));
        browser.press("ArrowRight");
        let readout = format!("{} .readout", picture.split(' ').next().unwrap());
        let text = browser.value(&format!(
            "document.querySelector('{picture}').closest('.mount').querySelector('.readout').textContent"
        ));
        assert!(text.as_str().unwrap().contains(told), "{readout}: {text}");
        browser.press("Enter");
        assert_eq!(browser.text(".area-chosen h3"), "Community 0");
        browser.value("tenfold.choose(3)");
    }
    let drawn = "(() => { const c = document.querySelector('.adjacency canvas'), p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; \
                 const seen = new Set(); for (let i = 0; i < p.length; i += 4) seen.add(p[i] + ',' + p[i + 1] + ',' + p[i + 2]); return seen.size; })()";
    assert!(browser.value(drawn).as_u64().unwrap() > 3, "the canvas is painted");
}

fn colours(browser: &mut Browser, dark: bool) {
    let light = "(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g); \
                 return +r + +g + +b > 600; })()";
    assert_eq!(browser.value(light), !dark);
    browser.click("#theme");
    assert_eq!(browser.value(light), dark);
    browser.click("#theme");
    assert_eq!(browser.value(light), !dark);
}

/// Nothing is wider than the screen, and every node is inside the picture.
fn shape(browser: &mut Browser) {
    let over = browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(over, 0, "no scrolling sideways");
    let outside = "(() => { const f = document.querySelector('svg.network').getBoundingClientRect(); \
                   return [...document.querySelectorAll('.network .node')].filter((g) => { const b = g.getBoundingClientRect(); \
                   return b.left < f.left - 1 || b.right > f.right + 1 || b.top < f.top - 1 || b.bottom > f.bottom + 1; }).length; })()";
    assert_eq!(browser.value(outside), 0);
}

#[test]
fn other_kinds_of_graphs_and_many_communities_are_shown() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("communities.html");
    let pictures = std::env::var_os(PICTURES);
    let kinds = [
        ("one", Kind::Undirected, 30, 1),
        ("directed", Kind::Directed, 300, 4),
        ("bipartite", Kind::Bipartite, 150, 4),
        ("many", Kind::Undirected, 2500, 60),
    ];
    for (name, kind, nodes, k) in kinds {
        let synth = Synth { kind, others: 200, ..blocks(nodes, k) };
        Params::new(k).fit(&named(&synth)).unwrap().report().write(&path).unwrap();
        for width in [1280, 390] {
            browser.open(&path, width, false);
            shape(&mut browser);
            browser.click(".tones [data-item='0']");
            browser.click(".area-chosen [data-pick]");
            assert!(browser.text(".result h3").starts_with("Node “"));
            browser.picture(pictures.as_ref().map(Path::new), &format!("communities-{name}-{width}.png"));
        }
        assert!(browser.complaints.is_empty(), "{name}: {:?}", browser.complaints);
        let tones = "new Set(Array.from({ length: 100 }, (_, c) => tenfold.tone(c))).size";
        assert_eq!(browser.value(tones), 100, "every community has a colour of its own");
    }
}

/// The second wall: were a stranger's markup to reach the page, it would not run.
fn strangers_stay_out(browser: &mut Browser) {
    assert_eq!(browser.value("[document.images.length, document.scripts.length]"), json!([0, 2]));
    let inject = "(() => { try { const s = document.createElement('script'); s.append('window.ran = 1'); \
                  document.body.append(s); } catch {} return window.ran === undefined; })()";
    assert_eq!(browser.value(inject), true);
    browser.value("1");
    assert!(!browser.complaints.is_empty(), "the browser tells what it refused");
}
