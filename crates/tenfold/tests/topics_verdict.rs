//! What a fit of topics says about itself: one corpus for each finding, in which it is there to be found.

use tenfold::evaluate::Match;
use tenfold::topics::{Builder, Components, Corpus, Documents, Model, Params, Polish, Synth};

fn told(model: &Model) -> String {
    model.verdict().findings().iter().map(|f| f.1.as_str()).collect::<Vec<_>>().join("\n")
}

/// A corpus of documents with the words given, over a vocabulary of so many.
fn corpus(documents: impl Iterator<Item = Vec<(u32, u32)>>, words: usize) -> Corpus {
    let (mut builder, mut batch) = (Builder::new(1 << 30), Documents::default());
    for document in documents {
        batch.words.extend(document.iter().map(|e| e.0));
        batch.counts.extend(document.iter().map(|e| e.1));
        batch.ends.push(batch.words.len() as u32);
    }
    builder.push(batch).unwrap();
    builder.finish((0..words).map(|w| format!("w{w}")).collect()).unwrap()
}

/// A number without a pattern for every token.
fn mixed(document: u32, token: u32) -> u32 {
    let x = u64::from(document).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ u64::from(token).wrapping_mul(0xD1B5_4A32_D192_ED03);
    ((x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as u32
}

#[test]
fn copies_are_no_theme() {
    let drawn = Synth { documents: 1000, words: 300, k: 5, ..Synth::default() }.draw().unwrap();
    let mut documents = Vec::new();
    drawn
        .corpus
        .for_each_window(|rows| {
            documents.extend(rows.into_iter().map(|(_, words)| words));
            Ok(())
        })
        .unwrap();
    // One long list, four times.
    documents.extend((0..4).map(|_| (300..340).map(|w| (w, 5)).collect::<Vec<_>>()));
    let corpus = corpus(documents.into_iter(), 340);
    for polish in [Polish::Predict, Polish::Faithful, Polish::None] {
        let model = Params { polish, ..Params::new(6) }.fit(&corpus).unwrap();
        let list = (0..6).find(|&t| model.topics().row(t)[300..].iter().sum::<f64>() > 0.5).unwrap();
        let carriers = &model.diagnostics().carriers;
        for (t, &found) in carriers.iter().enumerate() {
            // A fifth of the thousand has most of a topic; α = 0.2 spreads the rest thinly.
            let expected = if t == list { 3.0..4.5 } else { 100.0..400.0 };
            assert!(expected.contains(&found), "{polish:?}, topic {t}: {carriers:?}");
        }
        assert!(told(&model).contains(&format!("topic {list} rests on a handful")), "{}", told(&model));
    }
}

#[test]
fn a_handful_is_told_among_very_many() {
    // Of 60,000 documents every third is looked at: what is in 60 of them stands for 180 or so.
    let documents = (0..60_000u32).map(|d| {
        let first = if d % 300 == 0 { 20 } else { 10 * (d % 2) };
        (0..20).map(|i| (first + mixed(d, i) % 10, 1)).collect()
    });
    let params = Params { alpha0: 0.0, damp: Some(false), polish: Polish::None, ..Params::new(3) };
    let model = params.fit(&corpus(documents, 30)).unwrap();
    let d = model.diagnostics();
    assert!((15_000..25_000).contains(&d.looked_at), "{}", d.looked_at);
    let rare = d.carriers.iter().copied().fold(f64::INFINITY, f64::min);
    // 200 were planted; about 67 in the sample, give or take a quarter.
    assert!((100.0..300.0).contains(&rare), "{:?}", d.carriers);
    assert!(!told(&model).contains("handful"), "{}", told(&model));
}

#[test]
fn surplus_topics_do_not_come_back_and_true_ones_do() {
    for seed in 0..3 {
        let synth = Synth { documents: 2000, words: 3000, k: 20, length: 60.0, seed, ..Synth::default() };
        let drawn = synth.draw().unwrap();
        let model = Params { polish: Polish::None, ..Params::new(30) }.fit(&drawn.corpus).unwrap();
        let stability = &model.diagnostics().stability;
        let found = Match::new(&drawn.topics, model.topics());
        let own: Vec<usize> = found.partners().iter().flatten().copied().collect();
        for (t, &s) in stability.iter().enumerate() {
            assert_eq!(s >= 0.7, own.contains(&t), "seed {seed}, topic {t}: {s}");
        }
        assert!(told(&model).contains("10 of 30 topics do not come back"), "{}", told(&model));
        let right = Params { polish: Polish::None, ..Params::new(20) }.fit(&drawn.corpus).unwrap();
        assert!(right.diagnostics().stability.iter().all(|s| *s > 0.9), "{}", told(&right));
        assert!(!told(&right).contains("come back"), "{}", told(&right));
    }
}

#[test]
fn a_few_topics_without_data_behind_them_are_told_too() {
    // One topic, so that two are one too many: with the nearest of two directions every cosine is above 0.7.
    for (k, seed) in [(2, 0), (2, 1), (5, 2)] {
        let synth = Synth { documents: 500, words: 500, k: 1, length: 50.0, seed, ..Synth::default() };
        let model =
            Params { polish: Polish::None, ..Params::new(k) }.fit(&synth.draw().unwrap().corpus).unwrap();
        assert!(told(&model).contains("k is too large"), "k {k}: {}", told(&model));
    }
}

#[test]
fn too_few_topics_leave_a_spectrum_that_goes_on() {
    let drawn = Synth { documents: 2000, words: 300, k: 12, ..Synth::default() }.draw().unwrap();
    // Which six of twelve is chance; the gap after the twelfth is in sight.
    let model = Params::new(6).fit(&drawn.corpus).unwrap();
    assert!(told(&model).contains("there are about 12 of equal strength; try 12"), "{}", told(&model));
    // A seventh that is much weaker than six changes none of them.
    let synth = Synth { documents: 4000, words: 300, k: 9, skew: 1.0, ..Synth::default() };
    let weaker = Params { damp: Some(false), alpha0: 1.0, ..Params::new(6) }
        .fit(&synth.draw().unwrap().corpus)
        .unwrap();
    assert!(told(&weaker).contains("the spectrum goes on beyond k = 6"), "{}", told(&weaker));
    let right = told(&Params::new(12).fit(&drawn.corpus).unwrap());
    assert!(!right.contains("come back") && !right.contains("goes on"), "{right}");
}

#[test]
fn weights_tell_that_alpha0_is_far_off() {
    let drawn = Synth { documents: 3000, words: 300, k: 6, alpha0: 0.02, ..Synth::default() }.draw().unwrap();
    let fit = |alpha0| {
        let params = Params { alpha0, damp: Some(false), polish: Polish::None, ..Params::new(6) };
        told(&params.fit(&drawn.corpus).unwrap())
    };
    assert!(fit(100.0).contains("the weights of the topics add up to"), "{}", fit(100.0));
    assert!(!fit(0.02).contains("add up to"), "{}", fit(0.02));
}

#[test]
fn a_direction_that_hardly_exists_is_told() {
    // Two kinds of documents, and four of a third among 400,000.
    let documents = (0..400_000u32).map(|d| {
        let first = if d % 100_000 == 7 { 8 } else { 4 * (d % 2) };
        (0..3).map(|i| (first + (d / 2 + d / 100_000 + i) % 4, 1)).collect()
    });
    let params = Params { alpha0: 0.0, damp: Some(false), polish: Polish::None, ..Params::new(3) };
    let model = params.fit(&corpus(documents, 12)).unwrap();
    assert!(told(&model).contains("times weaker than the strongest"), "{}", told(&model));
}

#[test]
fn what_could_not_be_done_is_said() {
    let few = Synth { documents: 150, words: 200, k: 3, ..Synth::default() }.draw().unwrap();
    let model = Params::new(3).fit(&few.corpus).unwrap();
    assert!(told(&model).contains("fewer than 200 documents"), "{}", told(&model));
    let model = Params { polish: Polish::None, ..Params::new(3) }.fit(&few.corpus).unwrap();
    assert!(!told(&model).contains("fewer than 200"), "{}", told(&model));
    assert_eq!(model.kept().unwrap().0, 16);
    let summary = model.summary();
    assert!(summary.contains("sum of alpha ") && summary.contains("assumed 2 (alpha0)"), "{summary}");
    // 144 topics need 168 directions, more than are formed.
    let synth = Synth { documents: 2000, words: 900, k: 144, length: 40.0, alpha0: 0.5, ..Synth::default() };
    let many =
        Params { polish: Polish::None, ..Params::new(144) }.fit(&synth.draw().unwrap().corpus).unwrap();
    assert!(many.kept().is_none() && many.diagnostics().stability.is_empty());
    for what in ["was not measured", "keeps no moments"] {
        assert!(told(&many).contains(what), "{}", told(&many));
    }
}

#[test]
fn few_documents_are_halved_by_document() {
    // Two kinds of documents; one block holds them all, or one and a part.
    for (documents, polish) in [(60, Polish::Predict), (90, Polish::None), (120, Polish::Predict)] {
        let synth = Synth { documents, words: 300, k: 2, alpha0: 0.05, ..Synth::default() };
        let model =
            Params { polish, ..Params::new(Components::Auto) }.fit(&synth.draw().unwrap().corpus).unwrap();
        assert_eq!(model.k(), 2, "{documents}: {}", told(&model));
        assert!(told(&model).contains("k = 2: 2 directions keep"), "{}", told(&model));
    }
}
