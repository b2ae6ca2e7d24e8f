use super::*;
use crate::cells::overlay::Picture;
use crate::cells::synth::{Scene, Synth};
use crate::cells::validate::Validation;
use crate::cells::{Drawn, Params};
use std::path::PathBuf;
use tenfold_engine::progress::Silent;

/// A name that would do harm where it is taken for more than a name.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

/// Where pages and pictures are kept when somebody wants to look at them.
fn kept() -> Option<PathBuf> {
    std::env::var_os("TENFOLD_TEST_PICTURES").map(PathBuf::from)
}

fn drawn() -> Drawn {
    Synth { types: 4, genes: 40, cells: 12_000, ..Synth::default() }.draw().unwrap()
}

/// A model of drawn tissue whose first gene has a hostile name, with pictures of two of its images.
fn model() -> (Drawn, Model, Vec<Backdrop>) {
    let mut drawn = drawn();
    let first = drawn.tissue.sections[0].gene.clone();
    for section in drawn.tissue.sections.iter_mut().filter(|section| section.gene == first) {
        section.gene = HOSTILE.into();
    }
    let model = Params { restarts: 1, ..Params::new(4) }.fit(&drawn.tissue).unwrap();
    let backdrops = model
        .picture()
        .images
        .iter()
        .take(2)
        .map(|image| {
            let reach = |of: fn(&crate::cells::Cell) -> f64| {
                image.cells.iter().map(of).fold(0.0, f64::max).ceil() as usize + 12
            };
            let (width, height) = (reach(|c| c.x), reach(|c| c.y));
            let plane = Scene { width, height, ..Scene::default() }.draw(&image.cells);
            let png = Picture::of_pixels(&plane, 800).unwrap().png();
            Backdrop { image: image.image.clone(), width, height, png }
        })
        .collect();
    (drawn, model, backdrops)
}

#[test]
fn the_page_holds_every_part() {
    let (drawn, model, backdrops) = model();
    let cells = drawn.single_cells(60, 200.0, 3);
    let mut counts = cells.counts;
    counts = crate::cells::GeneCounts::new(
        counts
            .genes()
            .iter()
            .enumerate()
            .map(|(i, g)| if i == 0 { HOSTILE.into() } else { g.clone() })
            .collect(),
        counts.matrix().clone(),
    )
    .unwrap();
    let judged =
        Validation { permutations: 9, ..Validation::default() }.judge(&model, &counts, &Silent).unwrap();
    let page = model.report_with(Beside { backdrops: &backdrops, judged: Some(&judged) });
    let html = page.to_html();
    for part in ["Types", "Tissue", "Profiles", "Features", "Single cells", "Diagnostics", "About"] {
        assert!(html.contains(&format!(">{part}</h2>")), "{part}");
    }
    assert_eq!(html.matches("<script").count(), 2);
    assert!(!html.contains("http:") && !html.contains("https:") && !html.contains("innerHTML"));
    assert!(!html.contains("<img src=x"), "a stranger's name is text");
    assert_eq!(html.matches("data:image/png;base64,").count(), 2);
    assert!(model.report().to_html().contains("--images FILES"), "without images it says how to get them");
}

#[test]
fn in_a_browser_cells_are_drawn_enlarged_and_chosen() {
    let Some(mut browser) = Browser::start() else { return };
    let (_, model, backdrops) = model();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.html");
    model.report_with(Beside { backdrops: &backdrops, judged: None }).write(&path).unwrap();
    for (width, dark) in [(1280, false), (390, true)] {
        browser.open(&path, width, dark);
        browser.until("document.querySelector('.tissue canvas').width > 100");
        // The canvas is not empty: many colours stand on it.
        let colours = "(() => { const c = document.querySelector('.tissue canvas'), d = c.getContext('2d').getImageData(0, 0, \
                       c.width, c.height).data, s = new Set(); for (let i = 0; i < d.length; i += 4 * 97) s.add(d[i] + ',' + \
                       d[i + 1] + ',' + d[i + 2]); return s.size; })()";
        browser.until(&format!("{colours} > 20"));
        browser.picture(kept().as_deref(), &format!("cells-{width}.png"));
        let pixels = "document.querySelector('.tissue canvas').toDataURL().length";
        let before = browser.value(pixels);
        browser.click("[aria-label='Enlarge']");
        browser.click("[aria-label='Enlarge']");
        assert_ne!(browser.value(pixels), before, "enlarged");
        browser.click("[aria-label='Show the whole image']");
        assert_eq!(browser.value(pixels), before, "whole again");
        // One type chosen in the legend is chosen everywhere.
        browser.click(".legend button[data-item='1']");
        assert_eq!(browser.value("document.querySelectorAll('tr.chosen[data-item=\"1\"]').length"), 1);
        assert_ne!(browser.value(pixels), before, "others fade");
        browser.picture(kept().as_deref(), &format!("cells-chosen-{width}.png"));
        // Another image, without a picture behind it.
        browser.value("(() => { const s = document.querySelector('[aria-label=Image]'); s.value = 2; s.dispatchEvent(new Event('change')); return 1; })()");
        browser.until(&format!("{colours} > 3"));
        assert_eq!(browser.value("document.querySelectorAll('.toggle')[1].hidden"), true);
        assert!(browser.value("document.querySelectorAll('.profiles rect').length").as_u64().unwrap() >= 16);
        assert_eq!(
            browser.value("document.documentElement.scrollWidth <= innerWidth"),
            true,
            "nothing sticks out"
        );
    }
}
