//! Documents that come later, and models that are merged.

use std::sync::atomic::{AtomicUsize, Ordering};
use tenfold::engine::progress::{Progress, Silent};
use tenfold::evaluate::{Match, total_variation};
use tenfold::topics::{Builder, Documents, Drawn, Model, Params, Polish, Synth};

fn drawn(documents: usize, words: usize, k: usize, seed: u64) -> Drawn {
    Synth { documents, words, k, seed, ..Synth::default() }.draw().unwrap()
}

fn told(model: &Model) -> String {
    model.verdict().findings().iter().map(|f| f.1.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_update_is_a_fit_of_all_documents_inside_the_subspace() {
    let drawn = drawn(12_000, 300, 6, 4);
    let [first, second] = [0, 1].map(|half| drawn.corpus.select(|d| (d < 6000) == (half == 0)).unwrap());
    let params = Params { polish: Polish::None, alpha0: 1.0, damp: Some(false), ..Params::new(6) };
    let mut model = params.fit(&first).unwrap();
    let before = Match::new(&drawn.topics, model.topics()).mean();
    let updated = model.update(&second, &Silent).unwrap();
    let after = Match::new(&drawn.topics, model.topics()).mean();
    let whole = Match::new(&drawn.topics, params.fit(&drawn.corpus).unwrap().topics()).mean();
    assert!(after < 0.85 * before, "{after} after {before}");
    assert!(after < 1.05 * whole, "{after} where a fit of all gives {whole}");
    assert!(!updated.refit_is_due() && updated.outside.unwrap() < 0.05, "{updated:?}");
    assert_eq!(model.documents(), 12_000);
    // Documents of other topics do not fit in, and new words are there.
    let other = Synth { documents: 4000, words: 350, k: 6, seed: 99, ..Synth::default() }.draw().unwrap();
    let updated = model.update(&other.corpus, &Silent).unwrap();
    assert!(updated.refit_is_due() && updated.new_words == 50, "{updated:?}");
    assert_eq!(model.topics().cols(), 350);
    assert!((0..6).all(|t| (model.topics().row(t).iter().sum::<f64>() - 1.0).abs() < 1e-6));
}

#[test]
fn a_few_documents_hardly_move_a_polished_model() {
    // Many words beside few tokens: here what is added to every word would show.
    let drawn =
        Synth { documents: 3005, words: 3000, k: 20, length: 60.0, ..Synth::default() }.draw().unwrap();
    let first = drawn.corpus.select(|d| d < 3000).unwrap();
    for polish in [Polish::Predict, Polish::Faithful] {
        let fitted = Params { polish, ..Params::new(20) }.fit(&first).unwrap();
        let mut model = fitted.clone();
        let updated = model.update(&drawn.corpus.select(|d| d >= 3000).unwrap(), &Silent).unwrap();
        // 300 tokens beside 9,000 in every topic: were they all of one topic, it would move by 300/9,300.
        assert!(updated.moved.iter().all(|m| *m < 0.033), "{polish:?}: {:?}", updated.moved);
        let mut model = fitted.clone();
        let updated = model.update(&first.select(|d| d == 17).unwrap(), &Silent).unwrap();
        assert!(updated.moved.iter().all(|m| *m < 0.01), "{polish:?}: {:?}", updated.moved);
        // Documents without a word that the model knows: nothing can be learned from them.
        let mut builder = Builder::new(1 << 20);
        builder.push(Documents { ends: vec![0, 0, 0], words: vec![], counts: vec![] }).unwrap();
        let empty = builder.finish(first.vocabulary().to_vec()).unwrap();
        let mut model = fitted.clone();
        let updated = model.update(&empty, &Silent).unwrap();
        assert_eq!((model.topics(), updated.documents), (fitted.topics(), 3), "{polish:?}");
    }
}

#[test]
fn merging_two_halves_is_a_model_of_both() {
    let drawn = drawn(12_000, 300, 6, 6);
    let params = Params { polish: Polish::None, alpha0: 1.0, damp: Some(false), ..Params::new(6) };
    let [a, b] = [0, 1].map(|h| params.fit(&drawn.corpus.select(|d| d % 2 == h).unwrap()).unwrap());
    let merged = a.merge(&b, &Silent).unwrap();
    let error = |m: &Model| Match::new(&drawn.topics, m.topics()).mean();
    let whole = error(&params.fit(&drawn.corpus).unwrap());
    assert!(
        error(&merged) < error(&a) && error(&merged) < error(&b),
        "{} from {}",
        error(&merged),
        error(&a)
    );
    // What one model's subspace does not hold of the other's is lost: some per cent.
    assert!(error(&merged) < 1.15 * whole, "{} where a fit of all gives {whole}", error(&merged));
    assert_eq!(merged.documents(), 12_000);
    let small = params.fit(&Synth { words: 200, ..Synth::default() }.draw().unwrap().corpus).unwrap();
    assert!(a.merge(&small, &Silent).unwrap_err().to_string().contains("vocabulary"));
}

#[test]
fn merging_polished_models_takes_the_moments_of_both_and_the_polish_of_each() {
    let drawn = drawn(8000, 300, 6, 2);
    for polish in [Polish::Predict, Polish::Faithful] {
        let params = Params { polish, alpha0: 1.0, ..Params::new(6) };
        let [a, b] =
            [0, 1].map(|h| params.fit(&drawn.corpus.select(|d| d % 4 < 3 - 2 * h).unwrap()).unwrap());
        let merged = a.merge(&b, &Silent).unwrap();
        let error = |m: &Model| Match::new(&drawn.topics, m.topics()).mean();
        // Better than the smaller part, and no worse than the larger but for what is lost between subspaces.
        let (now, large, small) = (error(&merged), error(&a), error(&b));
        assert!(now < small && now < 1.1 * large, "{polish:?}: {now} from {large} and {small}");
        assert!((merged.shares().iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert_ne!(merged.spectrum(), a.spectrum());
        assert!(merged.representatives().iter().flatten().any(|r| r.document >= a.documents()));
    }
}

#[test]
fn models_of_other_topics_are_not_averaged() {
    let [one, two] = [0, 1].map(|seed| drawn(3000, 300, 4, seed));
    let params = Params::new(4);
    let [a, b] = [&one, &two].map(|d| params.fit(&d.corpus).unwrap());
    let merged = a.merge(&b, &Silent).unwrap();
    // Four places for eight topics, so some are gone, and some moments mix two; an average of two would be half a topic away from
    // either.
    let near = |t: usize| {
        let all = (0..4).flat_map(|i| [one.topics.row(i), two.topics.row(i)]);
        all.map(|truth| total_variation(truth, merged.topics().row(t))).fold(1.0, f64::min)
    };
    let near: Vec<f64> = (0..4).map(near).collect();
    assert!(near.iter().filter(|x| **x < 0.3).count() >= 2, "{near:?}");
    assert!(told(&merged).contains("new to the first model"), "{}", told(&merged));
}

#[test]
fn models_that_do_not_belong_together_are_refused() {
    let drawn = drawn(800, 100, 3, 0);
    let fit = |params: Params| params.fit(&drawn.corpus).unwrap();
    let model = fit(Params::new(3));
    let refused = |other: Params| model.merge(&fit(other), &Silent).unwrap_err().to_string();
    assert!(refused(Params { damp: Some(false), ..Params::new(3) }).contains("damped"));
    assert!(refused(Params::new(4)).contains("3 topics, the other 4"));
    assert!(refused(Params { keep_moments: false, ..Params::new(3) }).contains("keeps no moments"));
}

#[test]
fn what_lies_outside_is_measured_from_one_block_on() {
    let drawn = drawn(3200, 300, 6, 0);
    let other = Synth { documents: 64, words: 300, k: 6, seed: 9, ..Synth::default() }.draw().unwrap();
    let fitted = Params::new(6).fit(&drawn.corpus.select(|d| d < 3000).unwrap()).unwrap();
    let update = |more: &tenfold::topics::Corpus| {
        let mut model = fitted.clone();
        (model.update(more, &Silent).unwrap(), told(&model))
    };
    // Documents of the same topics had 1 to 3 % outside in six draws, those of others 96 and more.
    let (same, _) = update(&drawn.corpus.select(|d| (3000..3064).contains(&d)).unwrap());
    assert!(same.outside.unwrap() < 0.1 && !same.refit_is_due(), "{same:?}");
    let (new, verdict) = update(&other.corpus);
    assert!(
        new.outside.unwrap() > 0.5 && new.refit_is_due() && verdict.contains("a refit is due"),
        "{new:?}"
    );
    let (few, verdict) = update(&drawn.corpus.select(|d| d >= 3170).unwrap());
    assert!(
        few.outside.is_none() && !few.refit_is_due() && verdict.contains("too few to measure"),
        "{few:?}"
    );
}

#[test]
fn a_faithful_model_stays_faithful_and_says_what_is_new() {
    let drawn = drawn(8000, 300, 6, 3);
    let params = Params { polish: Polish::Faithful, alpha0: 1.0, ..Params::new(6) };
    let mut model = params.fit(&drawn.corpus.select(|d| d < 4000).unwrap()).unwrap();
    let error = |m: &Model| Match::new(&drawn.topics, m.topics()).mean();
    let (before, fitted) = (error(&model), model.clone());
    model.update(&drawn.corpus.select(|d| d >= 4000).unwrap(), &Silent).unwrap();
    // Twice the documents: 0.71 of the error would be all that they can give, and stepwise steps would add to it.
    assert!(error(&model) < 0.85 * before, "{} after {before}", error(&model));
    assert_ne!((model.spectrum(), model.alpha()), (fitted.spectrum(), fitted.alpha()));
    let (now, then) = (model.diagnostics(), fitted.diagnostics());
    assert!(now.carriers.iter().zip(&then.carriers).all(|(n, t)| n > t) && now.looked_at == 8000);
    assert_eq!(now.stability, then.stability);
    assert!(told(&model).contains("stability"), "{}", told(&model));
}

#[test]
fn a_stopped_update_leaves_the_model_as_it_was() {
    struct Stop(AtomicUsize, usize);
    impl Progress for Stop {
        fn stage(&self, _: &str, _: u64) {}
        fn advance(&self, _: u64) {}
        fn stopped(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed) >= self.1
        }
    }
    let drawn = Synth { documents: 900, words: 120, k: 3, ..Synth::default() }.draw().unwrap();
    let more = Synth { documents: 200, words: 130, k: 3, seed: 4, ..Synth::default() }.draw().unwrap();
    let fitted = Params::new(3).fit(&drawn.corpus).unwrap();
    let mut model = fitted.clone();
    let mut stops = 0;
    while model.update(&more.corpus, &Stop(AtomicUsize::new(0), stops)).is_err() {
        assert!(model == fitted, "stopped at {stops}");
        stops += 1;
    }
    assert!(stops > 3 && model.words() == 130 && model.keeps_moments());
}

/// Documents about two things, in words from `first` on.
fn about(first: u32, side: u32) -> tenfold::topics::Corpus {
    let mut builder = Builder::new(1 << 20);
    let (mut ends, mut words) = (Vec::new(), Vec::new());
    for document in 0..800u32 {
        let of = first + 40 * (document % 2);
        let mut own: Vec<u32> = (0..15).map(|j| of + (document * (7 + side) + j * (j + 3)) % 40).collect();
        own.sort_unstable();
        own.dedup();
        words.extend(own);
        ends.push(words.len() as u32);
    }
    let counts = vec![1; words.len()];
    builder.push(Documents { ends, words, counts }).unwrap();
    builder.finish((0..240).map(|w| format!("w{w}")).collect()).unwrap()
}

#[test]
fn models_of_nothing_in_common_are_merged_into_one_that_can_be_read() {
    for k in 1..=5 {
        let params = Params { polish: Polish::None, ..Params::new(k) };
        let models =
            [(0, 0), (80, 2), (160, 4)].map(|(first, side)| params.fit(&about(first, side)).unwrap());
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let merged = models[a].merge(&models[b], &Silent).unwrap();
            let read = Model::from_bytes(&merged.to_bytes().unwrap());
            assert!(
                read.as_ref().is_ok_and(|read| read.topics() == merged.topics()),
                "{k}: {:?}",
                read.err()
            );
        }
    }
}
