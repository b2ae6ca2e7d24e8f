use super::*;
use crate::cells::{Params, Synth};
use crate::error::Error;
use crate::model_file::{ModelFile, TensorData};
use serde_json::json;

fn small() -> (crate::cells::Drawn, Model) {
    let drawn = Synth { types: 3, genes: 30, cells: 6000, seed: 4, ..Synth::default() }.draw().unwrap();
    let model = Params::new(3).fit(&drawn.tissue).unwrap();
    (drawn, model)
}

#[test]
fn a_saved_model_is_the_same_model() {
    let (_, model) = small();
    let bytes = model.to_bytes().unwrap();
    let back = Model::from_bytes(&bytes).unwrap();
    assert_eq!(back, model);
    assert_eq!(back.to_bytes().unwrap(), bytes);
    assert_eq!(back.to_json(), model.to_json());
}

#[test]
fn files_whose_parts_do_not_fit_are_refused() {
    let bytes = small().1.to_bytes().unwrap();
    let change = |change: &dyn Fn(&mut ModelFile)| {
        let mut file = ModelFile::from_bytes(&bytes).unwrap();
        change(&mut file);
        let loaded = file.to_bytes().and_then(|bytes| Model::from_bytes(&bytes));
        assert!(matches!(loaded, Err(Error::Model { .. })), "{loaded:?}");
    };
    change(&|f| f.kind = "topics".into());
    change(&|f| f.insert_vector("weights", &[1.0]));
    change(&|f| f.insert_vector("totals", &[1.0]));
    change(&|f| f.insert_matrix("profiles", &Mat::zeros(3, 30)));
    change(&|f| f.insert_matrix("profiles", &Mat::zeros(0, 30)));
    change(&|f| f.insert_matrix("memberships", &Mat::from_vec(1, 3, vec![1.0, 0.0, 0.0])));
    change(&|f| f.insert_text("genes", "[1, 2]"));
    change(&|f| f.insert_text("genes", "not json"));
    change(&|f| f.insert_matrix("percentiles", &Mat::from_vec(1, 5, vec![9.0, 0.0, 0.0, 0.0, 0.0])));
    change(&|f| f.insert_matrix("percentiles", &Mat::from_vec(1, 5, vec![0.0, 7.0, 0.0, 0.0, 0.0])));
    change(&|f| f.insert_matrix("percentiles", &Mat::zeros(100, 5)));
    change(&|f| f.metadata["bins"]["orientations"] = json!(0));
    change(&|f| f.metadata["bins"]["orientations"] = json!(u64::MAX));
    change(&|f| f.metadata["bins"]["size"] = json!([3.0, 2.0]));
    change(&|f| f.metadata["bins"]["density"] = json!("other"));
    change(&|f| {
        let Some(tensor) = f.tensors.get_mut("memberships") else { return };
        let TensorData::F64(data) = &mut tensor.data else { return };
        data[0] -= 1.0;
    });
    // What is only told may be missing.
    let mut file = ModelFile::from_bytes(&bytes).unwrap();
    file.metadata["diagnostics"] = json!(null);
    assert!(Model::from_bytes(&file.to_bytes().unwrap()).unwrap().diagnostics().curve.is_empty());
}

#[test]
fn posteriors_are_those_of_the_equation() {
    let (drawn, model) = small();
    let found = model.infer(&drawn.tissue).unwrap();
    assert!(found.unknown.is_empty() && found.missing == 0);
    let bins = model.bins().unwrap();
    for (s, section) in drawn.tissue.sections.iter().enumerate().take(5) {
        let g = model.genes().iter().position(|g| *g == section.gene).unwrap();
        for (c, cell) in section.cells.iter().enumerate() {
            let m = bins.place(cell, 1.0).unwrap();
            let raw: Vec<f64> =
                (0..3).map(|t| model.memberships()[(m, t)] * model.profiles()[(t, g)]).collect();
            let sum: f64 = raw.iter().sum();
            let row = found.sections[s].row(c);
            assert!(row.iter().zip(&raw).all(|(a, b)| (a - b / sum).abs() < 1e-12));
        }
    }
    // A gene nobody knows leaves the bin; a cell without features leaves the gene.
    let mut other = drawn.tissue.clone();
    other.sections.truncate(2);
    other.sections[0].gene = "unheard".into();
    other.sections[1].cells[0].intensity = f64::NAN;
    let found = model.infer(&other).unwrap();
    assert_eq!((found.unknown, found.missing), (vec!["unheard".to_owned()], 1));
    let m = bins.place(&other.sections[0].cells[0], 1.0).unwrap();
    assert!(
        found.sections[0].row(0).iter().zip(model.memberships().row(m)).all(|(a, b)| (a - b).abs() < 1e-12)
    );
}

#[test]
fn histograms_and_traits_describe_the_same_cells() {
    let (drawn, model) = small();
    let all = model.histograms();
    for t in 0..3 {
        assert!((all.row(t).iter().sum::<f64>() - 1.0).abs() < 1e-9);
        for own in &model.traits()[t] {
            assert!((own.histogram.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{own:?}");
            assert!(own.low <= own.median && own.median <= own.high, "{own:?}");
        }
    }
    // The truth's type matched to each found one has about the same middle size.
    let matched = crate::evaluate::Match::new(&drawn.profiles, model.profiles());
    for (t, partner) in matched.partners().iter().enumerate() {
        let size = &model.traits()[partner.unwrap()][0];
        let truth = drawn.types[t].size;
        assert!((size.median / truth - 1.0).abs() < 0.1, "{} {truth}", size.median);
    }
    assert!(model.summary().contains("3 cell types over 30 genes"));
}

#[test]
fn markers_are_genes_of_the_type() {
    let (_, model) = small();
    for t in 0..3 {
        let markers = model.markers(t, 5);
        assert_eq!(markers.len(), 5);
        assert!(markers.windows(2).all(|w| w[0].lift >= w[1].lift));
        let (g, mean) = (markers[0].gene, |g| (0..3).map(|s| model.profiles()[(s, g)]).sum::<f64>() / 3.0);
        assert!((markers[0].lift - model.profiles()[(t, g)] / mean(g)).abs() < 1e-9);
        assert!(markers[0].lift > 1.0);
    }
}

#[test]
fn a_model_of_counts_knows_mixtures_but_no_cells() {
    let (drawn, _) = small();
    let cells = drawn.single_cells(200, 100.0, 9);
    let model = Params::new(3).fit_counts(&cells.counts).unwrap();
    let mixtures = model.mixtures(&cells.counts, &tenfold_engine::progress::Silent).unwrap();
    assert_eq!((mixtures.rows(), mixtures.cols()), (200, 3));
    assert!(model.infer(&drawn.tissue).unwrap_err().to_string().contains("plain counts"));
    let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(back, model);
}

#[test]
fn the_verdict_finds_words() {
    let (drawn, model) = small();
    assert!(model.verdict().is_sound(), "{:?}", model.verdict());
    let many = Params::new(9).fit(&drawn.tissue).unwrap();
    assert!(!many.verdict().is_sound(), "{}", many.summary());
    let few = Synth { types: 3, genes: 100, cells: 300, seed: 4, ..Synth::default() }.draw().unwrap();
    let few = Params::new(3).fit(&few.tissue).unwrap();
    let words = few.summary();
    assert!(words.contains("mostly noise"), "{words}");
    let mut silent = drawn.tissue.clone();
    silent.sections[0].cells.clear();
    let words = Params::new(3).fit(&silent).unwrap().summary();
    assert!(words.contains("1 genes without cells"), "{words}");
    let raw = crate::cells::Features {
        density: crate::cells::Density::named("raw").unwrap(),
        ..Default::default()
    };
    let words = Params { features: raw, ..Params::new(3) }.fit(&drawn.tissue).unwrap().summary();
    assert!(words.contains("do not mix linearly"), "{words}");
}
