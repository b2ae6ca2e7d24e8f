//! The page in a real browser: what a person does with it and what it then shows.

use super::{Browser, Drawn, page};
use serde_json::json;
use std::path::Path;

/// Where pictures go when somebody wants to look at them.
const PICTURES: &str = "TENFOLD_TEST_PICTURES";

/// The most relevant word of a topic, by trying all.
fn most_relevant(drawn: &Drawn, topic: usize, lambda: f64) -> String {
    let score = |w: usize| {
        let (p, all) = (drawn.topics[(topic, w)], drawn.unigram[w]);
        lambda * p.ln() + (1.0 - lambda) * (p / all).ln()
    };
    let best = (0..drawn.vocabulary.len()).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap();
    drawn.vocabulary[best].clone()
}

/// The topic with the largest share of a word's uses, and that share in percent.
fn where_used(drawn: &Drawn, word: usize) -> (usize, f64) {
    let uses = |t: usize| drawn.shares[t] * drawn.topics[(t, word)];
    let total: f64 = (0..drawn.shares.len()).map(uses).sum();
    let best = (0..drawn.shares.len()).max_by(|&a, &b| uses(a).total_cmp(&uses(b))).unwrap();
    (best, 100.0 * uses(best) / total)
}

#[test]
fn the_page_answers_clicks_slides_and_searches() {
    let Some(mut browser) = Browser::start() else { return };
    let drawn = Drawn::new(9, 400);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("topics.html");
    page(&drawn.data()).unwrap().write(&path).unwrap();
    let pictures = std::env::var_os(PICTURES);
    for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
        browser.open(&path, width, dark);
        choose(&mut browser, &drawn);
        slide(&mut browser, &drawn);
        search(&mut browser, &drawn);
        colours(&mut browser, dark);
        tables_and_heat(&mut browser);
        shape(&mut browser, 9);
        let name = format!("topics-{width}-{}.png", if dark { "dark" } else { "light" });
        browser.picture(pictures.as_ref().map(Path::new), &name);
        assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    }
    strangers_stay_out(&mut browser);
}

#[test]
fn many_topics_of_one_size_find_room_on_the_map() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("topics.html");
    for k in [1, 20, 120] {
        let mut drawn = Drawn::new(k, 200);
        drawn.shares = vec![1.0 / k as f64; k];
        page(&drawn.data()).unwrap().write(&path).unwrap();
        for width in [1280, 390] {
            browser.open(&path, width, false);
            shape(&mut browser, k);
        }
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

fn choose(browser: &mut Browser, drawn: &Drawn) {
    assert!(browser.text(".chosen-title").starts_with("Topic 0"));
    browser.click("[data-topic='4'] .hit");
    assert!(browser.text(".chosen-title").starts_with("Topic 4"));
    assert_eq!(browser.value("document.getElementById('topic').value"), "4");
    assert_eq!(browser.value("document.querySelector('tr.chosen').dataset.item"), "4");
    assert_eq!(browser.text(".bars .word"), most_relevant(drawn, 4, 0.6));
    let shown = browser.value("document.querySelectorAll('.bars li').length");
    assert_eq!(shown, super::super::words::SHOWN);
    // A bar of the sizes, a chip and the arrow lead there too.
    browser.click("rect.column[data-item='7']");
    assert!(browser.text(".chosen-title").starts_with("Topic 7"));
    browser.click("button[aria-label='Next topic']");
    browser.click("button[aria-label='Next topic']");
    assert!(browser.text(".chosen-title").starts_with("Topic 0"), "after the last comes the first");
    browser.click("td.items .chip[data-item='2']");
    assert!(browser.text(".chosen-title").starts_with("Topic 2"));
}

fn slide(browser: &mut Browser, drawn: &Drawn) {
    browser.value("document.getElementById('lambda').focus()");
    for (key, told, lambda) in [("Home", "0.00", 0.0), ("ArrowRight", "0.01", 0.01), ("End", "1.00", 1.0)] {
        browser.press(key);
        assert_eq!(browser.text(".slide output"), told);
        assert_eq!(browser.text(".bars .word"), most_relevant(drawn, 2, lambda), "lambda {lambda}");
    }
    let widths = browser
        .value("[...document.querySelectorAll('.bars .own')].map((b) => b.getBoundingClientRect().width)");
    let widths: Vec<f64> = widths.as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect();
    assert!(widths[0] > 20.0 && widths.windows(2).all(|p| p[0] >= p[1] - 1.0), "by probability: {widths:?}");
}

fn search(browser: &mut Browser, drawn: &Drawn) {
    let (best, share) = where_used(drawn, 17);
    browser.click("#word");
    browser.write("WORD17");
    assert_eq!(browser.text(".offers .chip"), "word17");
    browser.press("Enter");
    let told = browser.text(".result");
    assert!(told.contains("word17"), "{told}");
    assert_eq!(browser.value("document.querySelector('.result .use .chip').dataset.item"), best.to_string());
    let first = browser.text(".result .use .number");
    let first: f64 = first.trim_end_matches(" %").parse().unwrap();
    assert!((first - share).abs() < 0.1, "{first} for {share}");
    let lit = format!("document.querySelector(\"[data-topic='{best}'] .inner\").getAttribute('r') > 2");
    assert_eq!(browser.value(&lit), true, "the map shows where it is used");
    // A word that is not there is said to be so.
    browser.value("document.getElementById('word').select()");
    browser.write("zzz<b>");
    browser.press("Enter");
    let told = browser.text(".result");
    assert!(told.contains("“zzz<b>” is not among the model’s 400 words"), "{told}");
    // A hostile word is a word.
    browser.value("document.getElementById('word').select()");
    browser.write(&drawn.vocabulary[1]);
    browser.press("Enter");
    assert!(browser.text(".result h3").contains("<img src=x onerror=alert(1)>"));
    browser.press("Escape");
    assert_eq!(browser.value("document.querySelector('.result').hidden"), true);
    // A word of the bars is found by a click.
    browser.click(".bars .word");
    let word = browser.text(".bars .word");
    assert!(browser.text(".result h3").contains(&word));
}

fn colours(browser: &mut Browser, dark: bool) {
    let light = "(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g); \
                 return +r + +g + +b > 600; })()";
    assert_eq!(browser.value(light), !dark);
    browser.click("#theme");
    assert_eq!(browser.value(light), dark);
    assert_eq!(browser.text("#theme"), if dark { "Dark" } else { "Light" });
    browser.click("#theme");
    assert_eq!(browser.value(light), !dark);
}

fn tables_and_heat(browser: &mut Browser) {
    let first = "document.querySelector('#s-topics tbody tr').dataset.item";
    assert_eq!(browser.value(first), "0");
    browser.click("#s-topics thead th:nth-child(2) button");
    browser.click("#s-topics thead th:nth-child(2) button");
    assert_eq!(browser.value(first), "8", "the smallest share first");
    browser.value("document.querySelector('.heat canvas').focus()");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    assert_eq!(browser.text(".readout"), "topic 0 with topic 1: −0.3");
}

/// Nothing is wider than the screen, and circles do not cover each other.
fn shape(browser: &mut Browser, k: usize) {
    let over = browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(over, 0, "no scrolling sideways");
    let circles = browser.value(
        "[...document.querySelectorAll('.disc')].map((d) => ['cx', 'cy', 'r'].map((a) => +d.getAttribute(a)))",
    );
    let circles: Vec<[f64; 3]> = serde_json::from_value(circles).unwrap();
    assert_eq!(circles.len(), k);
    for (i, a) in circles.iter().enumerate() {
        for b in &circles[..i] {
            let distance = ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
            assert!(distance > a[2] + b[2] - 2.0, "{a:?} and {b:?}");
        }
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
