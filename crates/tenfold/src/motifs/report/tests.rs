use super::super::{Activation, Extent, Length, Params, Synth};
use super::*;

fn model(images: bool) -> Model {
    let (window, length) = match images {
        true => (Extent::plane(24, 24), Extent::plane(3, 3)),
        false => (Extent::line(400), Extent::line(12)),
    };
    let activation = Activation::Poisson(0.02);
    let synth =
        Synth { windows: 20, motifs: 2, window, length, activation, cyclic: false, ..Synth::default() };
    let drawn = synth.draw().unwrap();
    Params { length: Length::Known(length), ..Params::new(2) }.fit(&drawn.signals).unwrap()
}

#[test]
fn the_page_holds_every_part() {
    for images in [false, true] {
        let html = model(images).report().to_html();
        for part in ["Motifs", "Shapes", "Where they fire", "How many", "Diagnostics"] {
            assert!(html.contains(&format!(">{part}</h2>")), "{part}");
        }
        assert_eq!(html.matches("<script").count(), 2);
        assert!(!html.contains("http:") && !html.contains("https:") && !html.contains("innerHTML"));
    }
}

#[test]
fn in_a_browser_firings_are_drawn_and_moved_through() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    model(false).report().write(&path).unwrap();
    let pictures = std::env::var_os("TENFOLD_TEST_PICTURES").map(std::path::PathBuf::from);
    for (width, dark) in [(1200, false), (400, true)] {
        browser.open(&path, width, dark);
        browser.until("document.querySelectorAll('.trace svg rect').length > 0");
        let first = browser.value("document.querySelector('.trace .signal').getAttribute('d')");
        browser.value("(() => { const s = document.querySelector('.controls select'); s.value = '100'; s.dispatchEvent(new Event('change')); return 1; })()");
        browser.until("document.querySelector('.trace .signal') !== null");
        assert_ne!(browser.value("document.querySelector('.trace .signal').getAttribute('d')"), first);
        let wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
        assert_eq!(browser.value(wide), json!(true), "{width}");
        browser.picture(pictures.as_deref(), &format!("motifs-{width}.png"));
        assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    }
}
