use super::super::{Cooccurrence, Cutting, Features, Params, Search, Text, Words};
use super::*;

fn model(features: Features) -> Model {
    let lines: Vec<String> = (0..300)
        .map(|i| {
            format!("the {} ship sails to <b>port{}</b> and b{} again", ["old", "new"][i % 2], i % 7, i % 11)
        })
        .collect();
    let words = Words::Learned(Cooccurrence { dimensions: 10, ..Cooccurrence::default() });
    let templates = Search { count: 5, ..Search::default() };
    let text = Text::new(&lines, &Cutting::default(), 1).unwrap();
    Params { features, words, templates, ..Params::default() }.fit(&text).unwrap()
}

#[test]
fn the_page_holds_every_part() {
    let html = model(Features::TemplatesMean).report().unwrap().to_html();
    for part in ["Words", "Templates", "Features", "Spectrum", "Diagnostics"] {
        assert!(html.contains(&format!(">{part}</h2>")), "{part}");
    }
    assert!(html.contains("300 sentences") && html.contains("sails to"));
    let plain = model(Features::Sif).report().unwrap().to_html();
    assert!(!plain.contains(">Templates</h2>"));
    for html in [html, plain] {
        assert_eq!(html.matches("<script").count(), 2);
        assert!(!html.contains("http:") && !html.contains("https:") && !html.contains("innerHTML"));
    }
}

#[test]
fn the_smallest_model_has_a_page() {
    let text = Text::new(&["a b", "a b"], &Cutting::default(), 1).unwrap();
    let model = Params { features: Features::Mean, ..Params::default() }.fit(&text).unwrap();
    assert!(model.report().unwrap().to_html().len() > 1000);
}

#[test]
fn in_a_browser_words_are_chosen_and_searched() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let model = model(Features::TemplatesMean);
    model.report().unwrap().write(&path).unwrap();
    let pictures = std::env::var_os("TENFOLD_TEST_PICTURES").map(std::path::PathBuf::from);
    for (width, dark) in [(1200, false), (400, true)] {
        browser.open(&path, width, dark);
        browser.until("document.querySelectorAll('.word-field g').length > 10");
        // The most frequent word is told first, with its neighbours.
        assert_eq!(browser.text(".word-told h3"), model.vocabulary()[0]);
        assert_eq!(browser.value("document.querySelectorAll('.word-told li').length"), json!(NEAR));
        browser.click(".word-side input");
        browser.write("ship");
        browser.until("document.querySelector('.word-told h3').textContent === 'ship'");
        assert_eq!(browser.value("document.querySelectorAll('.word-field g.chosen').length"), json!(1));
        let wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
        assert_eq!(browser.value(wide), json!(true), "{width}");
        browser.picture(pictures.as_deref(), &format!("sentences-{width}.png"));
        assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    }
}
