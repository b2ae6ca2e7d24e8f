//! Blocks do not depend on batches, memory or the length of documents.

use super::*;

fn vocabulary(words: u32) -> Vec<String> {
    (0..words).map(|w| format!("w{w}")).collect()
}

/// Documents first..end of a made-up corpus, unsorted and with a repeated word.
fn documents(first: u32, end: u32) -> Documents {
    let mut d = Documents::default();
    for i in first..end {
        for (w, c) in [(i % 7 + 2, 1), (i % 3, 2), (i % 7 + 2, 3)] {
            d.words.push(w);
            d.counts.push(c);
        }
        d.ends.push(d.words.len() as u32);
    }
    d
}

fn rows(corpus: &Corpus) -> Vec<(u32, Vec<(u32, u32)>)> {
    let mut all = Vec::new();
    corpus
        .for_each_window(|rows| {
            all.extend(rows);
            Ok(())
        })
        .unwrap();
    all
}

#[test]
fn batches_of_any_size_and_any_store_give_the_same_blocks() {
    for n in [0, 1, 63, 1000, WINDOW as u32, WINDOW as u32 + 1, 70_000] {
        let build = |step: usize, memory: u64| {
            let mut builder = Builder::new(memory);
            for first in (0..n).step_by(step) {
                builder.push(documents(first, (first + step as u32).min(n))).unwrap();
            }
            builder.finish(vocabulary(9)).unwrap()
        };
        let whole = build(1_000_000, 1 << 30);
        for (step, memory) in [(64, 1 << 30), (1111, 1000), (40_000, 0)] {
            let other = build(step, memory);
            assert!(other.is_spilled() == (memory < 1 << 20) || n <= 63);
            assert_eq!(whole.store.blocks(), other.store.blocks());
            for b in 0..whole.store.blocks() {
                assert_eq!(whole.store.block(b).unwrap(), other.store.block(b).unwrap());
            }
        }
        assert_eq!((whole.documents(), whole.tokens()), (n as usize, u64::from(6 * n)));
        assert_eq!(whole.short_documents(), 0);
    }
}

#[test]
fn documents_come_back_in_their_order() {
    let mut builder = Builder::new(1 << 30);
    builder.push(documents(0, 70_000)).unwrap();
    let corpus = builder.finish(vocabulary(9)).unwrap();
    let all = rows(&corpus);
    assert!(all.iter().enumerate().all(|(i, r)| r.0 == i as u32));
    assert!(all.iter().all(|(i, r)| *r == [(i % 3, 2), (i % 7 + 2, 4)] || r.len() == 1));
    // A block is no run of neighbours.
    let block = corpus.store.block(0).unwrap();
    assert!(block.documents().windows(2).filter(|p| p[1] == p[0] + 1).count() < 10);
    let part = corpus.select(|i| i % 5 == 0).unwrap();
    let expected: Vec<_> = all.iter().filter(|r| r.0 % 5 == 0).map(|r| r.1.clone()).collect();
    assert_eq!(rows(&part).into_iter().map(|r| r.1).collect::<Vec<_>>(), expected);
}

#[test]
fn words_are_dropped_and_renumbered() {
    for memory in [0, 1 << 30] {
        let mut builder = Builder::new(memory);
        builder.push(documents(0, 500)).unwrap();
        let corpus = builder.finish(vocabulary(9)).unwrap();
        let all = rows(&corpus);
        let new = [8, 7, 6, u32::MAX, 4, 3, 2, 1, 0];
        let names: Vec<String> = (0..9).rev().map(|w| format!("w{w}")).collect();
        let other = corpus.renumber(&new, names).unwrap();
        for (before, after) in all.iter().zip(rows(&other)) {
            let mut expected: Vec<_> =
                (before.1.iter()).filter(|w| w.0 != 3).map(|w| (new[w.0 as usize], w.1)).collect();
            expected.sort_unstable();
            assert_eq!(expected, after.1);
        }
        // Without word 3 a seventh of the documents keep two tokens.
        let short = rows(&other).iter().filter(|r| r.1.iter().map(|w| w.1).sum::<u32>() < 3).count();
        assert!(short > 0 && other.short_documents() == short);
        let kept = other.keep_words(&[true, false, true, true, true, true, true, true, true]).unwrap();
        assert_eq!(kept.vocabulary()[1], "w6");
    }
}

#[test]
fn many_different_counts_make_smaller_blocks() {
    let words: Vec<u32> = (0..40_000).collect();
    let one = |first: u32| Documents {
        ends: vec![40_000],
        counts: words.iter().map(|w| first + w).collect(),
        words: words.clone(),
    };
    let mut builder = Builder::new(1 << 30);
    builder.push(one(1)).unwrap();
    builder.push(one(40_001)).unwrap();
    let corpus = builder.finish(vocabulary(40_000)).unwrap();
    assert_eq!(corpus.store.blocks(), 2);
    assert_eq!(corpus.tokens(), (1..=80_000u64).sum::<u64>());
}

#[test]
fn long_documents_make_smaller_windows_whatever_the_memory_and_the_batches() {
    // 300 documents of 30,000 words are 9 million entries: 279 fit into a window.
    let words: Vec<u32> = (0..30_000).collect();
    let batch = |count: usize| Documents {
        ends: (1..=count as u32).map(|i| 30_000 * i).collect(),
        words: words.repeat(count),
        counts: vec![1; 30_000 * count],
    };
    let build = |step: usize, memory: u64| {
        let mut builder = Builder::new(memory);
        for _ in 0..300 / step {
            builder.push(batch(step)).unwrap();
            assert!(builder.entries <= ENTRIES && builder.entries == 30_000 * builder.waiting);
        }
        builder.finish(vocabulary(30_000)).unwrap()
    };
    let (one, other) = (build(1, 0), build(150, 1 << 30));
    assert!(one.is_spilled() && !other.is_spilled());
    let documents = |corpus: &Corpus, b: usize| corpus.store.block(b).unwrap().documents().to_vec();
    assert_eq!((one.store.blocks(), other.store.blocks()), (2, 2));
    for b in 0..2 {
        assert_eq!(documents(&one, b), documents(&other, b));
    }
    let mut first = documents(&one, 0);
    assert!(!first.is_sorted());
    first.sort_unstable();
    assert_eq!(first, (0..279).collect::<Vec<u32>>());
    let (mut seen, mut windows) = (0, 0);
    one.for_each_window(|rows| {
        assert!(rows.iter().all(|r| r.1.len() == 30_000));
        rows.iter().for_each(|r| {
            assert_eq!(r.0, seen);
            seen += 1;
        });
        windows += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!((seen, windows), (300, 2));
}

#[test]
fn many_words_make_smaller_blocks_and_one_document_too_many_is_refused() {
    let one = |words: std::ops::Range<u32>| {
        let words: Vec<u32> = words.collect();
        Documents { ends: vec![words.len() as u32], counts: vec![1; words.len()], words }
    };
    let mut builder = Builder::new(1 << 30);
    for i in 0..3 {
        builder.push(one(i * 40_000..(i + 1) * 40_000)).unwrap();
    }
    assert_eq!(builder.finish(vocabulary(120_000)).unwrap().store.blocks(), 3);
    let mut builder = Builder::new(1 << 30);
    builder.push(one(0..70_000)).unwrap();
    let error = builder.finish(vocabulary(70_000)).unwrap_err().to_string();
    assert!(error.contains("document 1") && error.contains("chapters"), "{error}");
    let mut builder = Builder::new(1 << 30);
    builder.push(one(0..3)).unwrap();
    assert!(builder.finish(vocabulary(2)).is_err());
}
