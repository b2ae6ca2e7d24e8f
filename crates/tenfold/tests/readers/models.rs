//! Model files of every application. What loads is told in words, shown on a page, saved again, and used once: on a few fixed numbers,
//! from which finite ones must come, or an error.

use std::path::Path;
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Silent;

/// Numbers that a model may hold for its use here; larger ones take longer than everything else, and teach the fuzzer nothing.
const SMALL: usize = 1 << 14;

/// What came out of a model that was used.
fn sound(what: &str, numbers: impl IntoIterator<Item = f64>) {
    if let Some(x) = numbers.into_iter().find(|x| !x.is_finite()) {
        panic!("{what} of a model that was loaded: {x}");
    }
}

pub fn ica(path: &Path) -> bool {
    let told = |model: tenfold::ica::Model| {
        let some = |columns: usize| Mat::from_fn(3, columns, |i, j| (i * 7 + j * 3) as f64 - 4.5);
        let (samples, sources) = (some(model.unmixing().cols()), some(model.k()));
        if let Ok(found) = model.infer(&samples) {
            sound("sources", found.as_slice().iter().copied());
        }
        if let Ok(mixtures) = model.mixtures(&sources) {
            use tenfold::engine::linalg::Rows;
            let mut out = vec![0.0; 3 * mixtures.cols()];
            if mixtures.read_rows(0, &mut out).is_ok() {
                sound("mixtures", out);
            }
        }
        sound("shares", model.shares());
        (model.summary(), model.report().to_html(), model.to_bytes())
    };
    tenfold::ica::Model::load(path).map(told).is_ok()
}

pub fn topics(path: &Path) -> bool {
    use tenfold::topics::{Builder, Documents, Model};
    let told = |model: Model| {
        let last = model.words() as u32 - 1;
        let batch = Documents { ends: vec![2, 3, 3], words: vec![0, last, last / 2], counts: vec![3, 1, 9] };
        let mut builder = Builder::new(1 << 16);
        let corpus = builder.push(batch).and_then(|()| builder.finish(model.vocabulary().to_vec()));
        let found = corpus.and_then(|corpus| model.infer(&corpus, &Silent));
        if let Ok(found) = found {
            sound("mixtures", found.as_slice().iter().copied());
        }
        (model.summary(), model.report().map(|page| page.to_html()), model.to_bytes())
    };
    Model::load(path).map(told).is_ok()
}

pub fn communities(path: &Path) -> bool {
    let told = |model: tenfold::communities::Model| {
        let others = model.other_memberships().unwrap_or(model.memberships()).rows();
        if model.k() * others <= SMALL {
            let nodes = [vec![(0, 1.0)], vec![(0, 1.0), (others - 1, 2.5)], vec![]];
            for neighbours in nodes.iter().filter(|near| near.len() <= others) {
                if let Ok(found) = model.infer(neighbours) {
                    sound("memberships", found);
                }
            }
            sound("an edge's probability", [model.predict(0, others - 1)]);
        }
        (model.summary(), model.report().to_html(), model.to_bytes())
    };
    tenfold::communities::Model::load(path).map(told).is_ok()
}

pub fn motifs(path: &Path) -> bool {
    use tenfold::motifs::{Extent, Model, Signals, Stretch};
    let told = |model: Model| {
        let (filters, channels) = (model.filters(), model.channels().len());
        if filters.values.len() <= SMALL / 8 {
            let extent = if filters.extent.is_plane() { Extent::plane(6, 8) } else { Extent::line(48) };
            let value = |i: usize| ((i * i * 5 + i) % 23) as f64 / 4.0 - 2.0;
            let values = (0..channels * extent.len()).map(value).collect();
            let stretch = Stretch { values, extent, trial: 0, offset: 0 };
            let signals =
                Signals::new(vec![stretch], model.channels().to_vec(), model.rate(), model.is_cyclic());
            for decoding in [model.decoding(), model.steady_decoding()] {
                let mut rebuilt = Vec::new();
                let found = model.infer_each(&signals, &decoding, &Silent, &mut |_, part| {
                    rebuilt.extend(part.events.iter().map(|event| event.amplitude));
                    rebuilt.extend(part.reconstruction);
                    Ok(())
                });
                if let Ok(found) = found {
                    sound("firings", rebuilt.into_iter().chain([found.noise, found.explained]));
                }
            }
        }
        (model.summary(), model.report().to_html(), model.to_bytes())
    };
    Model::load(path).map(told).is_ok()
}

pub fn sentences(path: &Path) -> bool {
    use tenfold::sentences::{Features, Model};
    let told = |model: Model| {
        let words: Vec<&str> = model.vocabulary().iter().take(9).map(String::as_str).collect();
        let lines = [words.join(" "), words[0].to_owned(), String::new(), "unheard of".to_owned()];
        for features in Features::ALL {
            if let Ok(rows) = model.encode_with(&lines, features, &Silent) {
                sound("numbers of sentences", rows.as_slice().iter().copied());
            }
        }
        if let Ok(alike) = model.similarity(&lines[0], &lines[1]) {
            sound("a similarity", [alike]);
        }
        let near = model.neighbours(words[0], 3).unwrap_or_default();
        sound("similarities of words", near.into_iter().map(|(_, alike)| alike));
        (model.summary(), model.report().map(|page| page.to_html()), model.to_bytes())
    };
    Model::load(path).map(told).is_ok()
}

pub fn trees(path: &Path) -> bool {
    use tenfold::trees::{Model, Table};
    let told = |model: Model| {
        let mut table = Table::new(model.variables().to_vec()).expect("a model has variables");
        let all: Vec<u32> = (0..model.variables().len() as u32).collect();
        table.push(&[], &[]);
        table.push(&[], &all);
        if table.features() > 0 {
            table.push(&[(table.features() as u32 - 1, 1.0)], &all[..all.len() - 1]);
        }
        if let Ok(found) = model.transform(&table, &Silent) {
            sound("probabilities of states", found.as_slice().iter().copied());
        }
        if let Ok(filled) = model.filled(&table, 0..table.samples()) {
            sound("what is missing", filled.iter().filter_map(|one| one.probability.or(one.mean)));
        }
        if let Ok(logs) = model.log_likelihood(&table, &Silent) {
            // An impossible sample has −∞.
            sound("log-likelihoods", logs.into_iter().filter(|log| *log != f64::NEG_INFINITY));
        }
        (model.summary(), model.report().to_html(), model.to_bytes())
    };
    Model::load(path).map(told).is_ok()
}

pub fn cells(path: &Path) -> bool {
    use tenfold::cells::{Cell, GeneCounts, Model, Section, Tissue};
    use tenfold::engine::linalg::Csr;
    let told = |model: Model| {
        let cell = |x: f64, r1: f64| Cell {
            x,
            y: 2.0,
            r1,
            r2: 2.0,
            orientation: 0.7,
            intensity: 40.0 * r1,
            neighbours: 3.0,
        };
        let genes = model.genes().first().cloned().into_iter().chain(["unheard of".to_owned()]);
        let cells = vec![cell(1.0, 3.0), cell(9.0, 8.0), cell(30.0, f64::NAN)];
        let section = |gene: String| Section { image: gene.clone(), gene, cells: cells.clone() };
        if let Ok(found) = model.infer(&Tissue { sections: genes.map(section).collect() }) {
            sound("types of cells", found.sections.iter().flat_map(|m| m.as_slice()).copied());
        }
        let counts = Csr::from_triplets(2, model.genes().len(), &[(0, 0, 3.0)]);
        let found = GeneCounts::new(model.genes().to_vec(), counts);
        if let Ok(found) = found.and_then(|counts| model.mixtures(&counts, &Silent)) {
            sound("mixtures of types", found.as_slice().iter().copied());
        }
        sound("histograms", model.histograms().as_slice().iter().copied());
        (model.summary(), model.report().to_html(), model.to_bytes())
    };
    Model::load(path).map(told).is_ok()
}

/// Components of a tensor, held against themselves.
pub fn tensor(path: &Path) -> bool {
    let told = |found: tenfold::model_file::Factors| {
        if let Some(cp) = found.symmetric().filter(|cp| cp.k() <= 64) {
            let matched = cp.match_to(&cp);
            sound("errors", matched.errors.into_iter().chain(matched.weight_errors));
        }
    };
    tenfold::model_file::Factors::load(path).map(told).is_ok()
}
