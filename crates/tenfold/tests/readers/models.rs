//! Model files of every application. What loads is told in words, shown on a page and saved again.

use std::path::Path;

pub fn ica(path: &Path) -> bool {
    let told = |model: tenfold::ica::Model| (model.summary(), model.report().to_html(), model.to_bytes());
    tenfold::ica::Model::load(path).map(told).is_ok()
}

pub fn topics(path: &Path) -> bool {
    let told = |model: tenfold::topics::Model| {
        (model.summary(), model.report().map(|page| page.to_html()), model.to_bytes())
    };
    tenfold::topics::Model::load(path).map(told).is_ok()
}

pub fn communities(path: &Path) -> bool {
    let told =
        |model: tenfold::communities::Model| (model.summary(), model.report().to_html(), model.to_bytes());
    tenfold::communities::Model::load(path).map(told).is_ok()
}

pub fn motifs(path: &Path) -> bool {
    let told = |model: tenfold::motifs::Model| (model.summary(), model.report().to_html(), model.to_bytes());
    tenfold::motifs::Model::load(path).map(told).is_ok()
}

pub fn sentences(path: &Path) -> bool {
    let told = |model: tenfold::sentences::Model| {
        (model.summary(), model.report().map(|page| page.to_html()), model.to_bytes())
    };
    tenfold::sentences::Model::load(path).map(told).is_ok()
}

pub fn trees(path: &Path) -> bool {
    let told = |model: tenfold::trees::Model| (model.summary(), model.report().to_html(), model.to_bytes());
    tenfold::trees::Model::load(path).map(told).is_ok()
}

pub fn cells(path: &Path) -> bool {
    let told = |model: tenfold::cells::Model| (model.summary(), model.report().to_html(), model.to_bytes());
    tenfold::cells::Model::load(path).map(told).is_ok()
}
