use super::super::sample::{Drawn, Held, block_of, close, naive_mixture};
use super::*;
use tenfold_engine::linalg::parallel::with_threads;
use tenfold_engine::progress::Silent;

fn settings(epochs: usize) -> Stepwise {
    Stepwise { epochs, inner: 8, ..Stepwise::for_documents(1000) }
}

/// One step of EM over some documents, in double precision; `n` is k × words.
fn naive(documents: &[&Vec<(u32, f32)>], n: &Mat, rho: f64, tokens: f64, alpha: &[f64]) -> Mat {
    let (k, eta) = (n.rows(), 0.01);
    let mut topics = n.map(|x| x + eta);
    let sums: Vec<f64> = (0..k).map(|t| 1.0 / topics.row(t).iter().sum::<f64>()).collect();
    topics.scale_rows(&sums);
    let mut own = Mat::zeros(k, n.cols());
    let length: f64 = documents.iter().flat_map(|d| d.iter()).map(|(_, c)| f64::from(*c)).sum();
    for document in documents {
        let theta = naive_mixture(document, &topics, alpha, 8);
        for &(w, c) in document.iter() {
            let w = w as usize;
            let q: f64 = (0..k).map(|t| theta[t] * topics[(t, w)]).sum();
            (0..k).for_each(|t| own[(t, w)] += f64::from(c) * theta[t] * topics[(t, w)] / q);
        }
    }
    let mut next = n.map(|x| (1.0 - rho) * x);
    next.add_scaled(rho * tokens / length, &own);
    next
}

#[test]
fn steps_equal_the_equations() {
    for k in [2, 8, 13] {
        let drawn = Drawn::new(50, k, 60, 40.0, 4);
        let (counts, start) = (drawn.counts(20), drawn.start(0.3));
        let alpha: Vec<f64> = (0..k).map(|t| 0.05 + 0.02 * t as f64).collect();
        let held_out = HeldOut::share(0.02);
        let found = settings(1).run(&counts, held_out, &start, &alpha, &Silent).unwrap();
        let training = |(d, entries): &'_ (u32, Vec<(u32, f32)>)| {
            (!held_out.holds(*d as usize)).then_some(entries.clone())
        };
        let documents: Vec<Vec<Vec<(u32, f32)>>> =
            drawn.documents.chunks(20).map(|c| c.iter().filter_map(training).collect()).collect();
        let tokens: f64 = documents.iter().flatten().flatten().map(|(_, c)| f64::from(*c)).sum();
        let mut n = start.map(|x| x * tokens / k as f64);
        let mut seen = 6.0;
        for b in random::permutation(3, &mut random::rng(0, 700)) {
            let block: Vec<&Vec<_>> = documents[b].iter().collect();
            seen += block.len() as f64;
            n = naive(&block, &n, block.len() as f64 / seen, tokens, &alpha);
        }
        let mut expected = n.map(|x| x + 0.01);
        let sums: Vec<f64> = (0..k).map(|t| 1.0 / expected.row(t).iter().sum::<f64>()).collect();
        expected.scale_rows(&sums);
        assert_eq!(found.chosen, 1, "{:?}", found.curve);
        close(&found.topics, &expected, 1e-5);
    }
}

#[test]
fn forgetting_for_long_loses_nothing() {
    let drawn = Drawn::new(50, 3, 60, 40.0, 4);
    let training_counts = drawn.counts(20);
    let start = Start { topics: &drawn.topics, before: &[], eta: 0.01 };
    let training = start.training(&training_counts, HeldOut::NONE, &[0.1; 3], &Silent).unwrap();
    let mut plain = Expected::new(&start, training.tokens);
    let mut rescaled = Expected::new(&start, training.tokens);
    let epochs = Epochs {
        settings: &settings(1),
        training: &training,
        alpha: &pad_alpha(&[0.1; 3]),
        progress: &Silent,
    };
    for step in 0..40 {
        // A window of 20 documents halves the past with every step.
        let mut window = Window { seen: 20.0, whole: 20.0, by_tokens: false };
        plain.step(&[step % 3], &epochs, &mut window, 3).unwrap();
        rescaled.step(&[step % 3], &epochs, &mut window, 3).unwrap();
        rescaled.rescale();
    }
    assert!(plain.scale > 1e-12, "40 halvings and the scale renewed in time");
    close(&plain.reading().topics(), &rescaled.reading().topics(), 1e-5);
}

#[test]
fn few_documents_move_what_stands_for_many_a_little_and_empty_ones_not_at_all() {
    let drawn = Drawn::new(500, 10, 40, 40.0, 5);
    let before = vec![10_000.0; 10];
    let run = |documents: usize| {
        let counts = Held { cols: 500, blocks: vec![block_of(&drawn.documents[..documents])] };
        let stepwise = Stepwise { before: before.clone(), epochs: 1, ..settings(1) };
        stepwise.run(&counts, HeldOut::NONE, &drawn.topics, &[0.1; 10], &Silent).unwrap().topics
    };
    for documents in [1, 5, 40] {
        // A topic moves by at most the tokens that it gets: of 40 each, beside 10,000.
        let moved = drawn.distance(&run(documents));
        assert!(moved < 40.0 * documents as f64 / 10_000.0, "{documents} documents: {moved}");
    }
    let nothing = [(0, Vec::new()), (1, Vec::new())];
    let counts = Held { cols: 500, blocks: vec![block_of(&nothing)] };
    for before in [Vec::new(), before] {
        let stepwise = Stepwise { before, ..settings(2) };
        let found = stepwise.run(&counts, HeldOut::NONE, &drawn.topics, &[0.1; 10], &Silent).unwrap();
        assert_eq!(found.topics, drawn.topics);
    }
}

#[test]
fn same_bytes_on_any_number_of_threads() {
    let drawn = Drawn::new(3000, 20, 700, 90.0, 3);
    let (counts, start) = (drawn.counts(64), drawn.start(0.2));
    let run = |threads| {
        with_threads(threads, || {
            settings(2).run(&counts, HeldOut::share(0.05), &start, &[0.1; 20], &Silent).unwrap()
        })
    };
    let one = run(1);
    for threads in [2, 3, 8] {
        assert_eq!(run(threads), one, "{threads} threads");
    }
}

#[test]
fn a_start_that_cannot_be_bettered_is_returned() {
    // Few documents and the true topics: whatever is learned from them is worse.
    let drawn = Drawn::new(400, 5, 200, 30.0, 8);
    let counts = drawn.counts(64);
    let found = settings(5).run(&counts, HeldOut::share(0.25), &drawn.topics, &[0.2; 5], &Silent).unwrap();
    assert_eq!((found.chosen, &found.topics), (0, &drawn.topics), "{:?}", found.curve);
    // Both weights of the start were tried and ended at their first look.
    assert_eq!(found.curve.len(), 3, "{:?}", found.curve);
    assert!(found.curve[1..].iter().all(|c| c.perplexity > found.curve[0].perplexity));
}

#[test]
fn a_poor_start_is_bettered() {
    for seed in 0..3 {
        let drawn = Drawn::new(200, 5, 3000, 60.0, seed);
        let start = drawn.start(0.5);
        let found =
            settings(5).run(&drawn.counts(64), HeldOut::share(0.05), &start, &[0.2; 5], &Silent).unwrap();
        let (before, after) = (drawn.distance(&start), drawn.distance(&found.topics));
        // Half of every topic was wrong; what remains is the bias of the most probable mixture.
        assert!(after < 0.2 * before, "seed {seed}: {before} to {after}");
        assert!(found.curve[found.chosen].perplexity < 0.8 * found.curve[0].perplexity);
    }
}

#[test]
fn many_blocks_make_no_more_than_so_many_steps() {
    let order: Vec<usize> = (0..100).rev().collect();
    let steps = chosen_by_step(&order);
    assert_eq!(steps.len(), 25);
    assert_eq!(steps[0], [96, 97, 98, 99]);
    assert_eq!(chosen_by_step(&order[..MOST_STEPS]).len(), MOST_STEPS);
    assert!(chosen_by_step(&[]).is_empty());
}
