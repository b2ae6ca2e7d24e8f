use super::*;
use crate::cells::Synth;

fn drawn() -> (crate::cells::Drawn, Model) {
    let drawn = Synth { types: 4, genes: 60, cells: 12_000, seed: 3, ..Synth::default() }.draw().unwrap();
    let model = Params::new(4).fit(&drawn.tissue).unwrap();
    (drawn, model)
}

#[test]
fn types_beat_chance_and_frequencies() {
    let (drawn, model) = drawn();
    let cells = drawn.single_cells(150, 150.0, 5).counts;
    let validation = Validation { permutations: 39, ..Validation::default() };
    let judged = validation.judge(&model, &cells, &Silent).unwrap();
    assert!(judged.permuted.iter().all(|x| *x > judged.perplexity), "{judged:?}");
    assert_eq!((judged.p_value, judged.genes, judged.cells), (1.0 / 40.0, 60, 150));
    assert!(judged.unigram > judged.perplexity, "{judged:?}");
    // The truth can be no worse than what was found, by more than chance.
    let own = cells.unigram();
    let truth = validation.perplexity(&drawn.profiles, &own, &cells, &Silent).unwrap();
    assert!(judged.perplexity < 1.1 * truth, "{} {truth}", judged.perplexity);
    // Cells that go together by chance only are not told from permuted ones.
    let noise = validation.judge(&model, &permute(&cells, 77, 0), &Silent).unwrap();
    assert!(noise.p_value > 0.05, "{}", noise.p_value);
}

#[test]
fn only_common_genes_count() {
    let (drawn, model) = drawn();
    let cells = drawn.single_cells(50, 150.0, 5).counts;
    let some: Vec<String> = cells.genes()[10..40].iter().cloned().chain(["other".into()]).collect();
    let validation = Validation { permutations: 3, ..Validation::default() };
    let judged = validation.judge(&model, &cells.over(&some).0, &Silent).unwrap();
    assert_eq!(judged.genes, 30);
    let none = GeneCounts::new(vec!["other".into()], Csr::from_triplets(1, 1, &[(0, 0, 3.0)])).unwrap();
    assert!(validation.judge(&model, &none, &Silent).unwrap_err().to_string().contains("known to the model"));
    let halves =
        GeneCounts::new(vec![cells.genes()[0].clone()], Csr::from_triplets(1, 1, &[(0, 0, 3.5)])).unwrap();
    assert!(validation.judge(&model, &halves, &Silent).unwrap_err().to_string().contains("whole"));
}

#[test]
fn a_permutation_keeps_each_gene_and_breaks_cells() {
    let (drawn, _) = drawn();
    let cells = drawn.single_cells(40, 100.0, 5).counts;
    let shuffled = permute(&cells, 3, 0);
    let sorted = |c: &GeneCounts, g: usize| {
        let mut levels = c.matrix().to_dense().col(g);
        levels.sort_by(f64::total_cmp);
        levels
    };
    assert!((0..60).all(|g| sorted(&cells, g) == sorted(&shuffled, g)));
    assert_ne!(cells, shuffled);
    assert_eq!(shuffled, permute(&cells, 3, 0));
    assert_ne!(shuffled, permute(&cells, 3, 1));
}

#[test]
fn reference_types_and_labels_are_matched() {
    let (drawn, model) = drawn();
    let entries: Vec<_> =
        (0..4 * 60).map(|i| (i / 60, i % 60, 1e4 * drawn.profiles[(i / 60, i % 60)])).collect();
    let reference = GeneCounts::new(model.genes().to_vec(), Csr::from_triplets(4, 60, &entries)).unwrap();
    let matched = match_types(&model, &reference).unwrap();
    assert!((matched.mean() - Match::new(&drawn.profiles, model.profiles()).mean()).abs() < 1e-9);
    let cells = drawn.single_cells(300, 200.0, 6);
    let labels: Vec<u32> = cells.labels.iter().map(|t| *t as u32).collect();
    let mixtures = model.mixtures(&cells.counts, &Silent).unwrap();
    let agreement = label_agreement(&mixtures, &labels, 0);
    assert!(agreement > 0.9, "{agreement}");
    let mut other = labels.clone();
    other.rotate_left(1);
    assert!(label_agreement(&mixtures, &other, 0) < 0.2);
}

#[test]
fn perplexity_falls_with_the_number_of_types() {
    let (drawn, model) = drawn();
    let cells = drawn.single_cells(100, 150.0, 5).counts;
    let counts = model.bins().unwrap().histogram(&drawn.tissue).counts;
    let curve = Validation::default().curve(&counts, &cells, (&Params::new(1), &[1, 2, 4]), &Silent).unwrap();
    assert!(curve.windows(2).all(|w| w[1].1 < w[0].1), "{curve:?}");
}
