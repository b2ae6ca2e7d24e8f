//! Every moment against explicit sums over documents and words.

use super::super::data::{Builder, Corpus, Documents};
use super::super::white::WhiteRows;
use super::*;
use rand::RngExt;
use tenfold_engine::linalg::{Mat, SymmetricOperator, random};
use tenfold_engine::progress::Silent;
use tenfold_engine::tensor::{Contract, Tensor3};

const WORDS: usize = 7;
const ALPHA0: f64 = 1.7;
const DAMPING: Damping = Damping::Root;

fn drawn(documents: usize, seed: u64) -> Corpus {
    let mut rng = random::rng(seed, 0);
    let mut batch = Documents::default();
    for i in 0..documents {
        // Some documents are empty or too short to have a third moment.
        for _ in 0..[0, 1, 4, 6, 9][i % 5] {
            batch.words.push(rng.random_range(0..WORDS as u32));
            batch.counts.push(rng.random_range(1..6));
        }
        batch.ends.push(batch.words.len() as u32);
    }
    let mut builder = Builder::new(1 << 20);
    builder.push(batch).unwrap();
    builder.finish((0..WORDS).map(|w| format!("w{w}")).collect()).unwrap()
}

/// M1, E[pairs] and E[triples] by loops over documents; words that take no part count nothing in lengths and triples.
struct Brute {
    first: Vec<f64>,
    pairs: Mat,
    triples: Vec<f64>,
}

fn brute(corpus: &Corpus, active: &[bool], cap: f64) -> Brute {
    let d = WORDS;
    let (mut first, mut pairs, mut triples) = (vec![0.0; d], Mat::zeros(d, d), vec![0.0; d * d * d]);
    let mut total = 0.0;
    let delta = |a: usize, b: usize| f64::from(u8::from(a == b));
    corpus
        .for_each_window(|rows| {
            for (_, words) in rows {
                let mut c = vec![0.0; d];
                words.iter().for_each(|(w, n)| c[*w as usize] = f64::from(DAMPING.of(*n as f32)));
                let l: f64 = (0..d).filter(|w| active[*w]).map(|w| c[w]).sum();
                if l < 3.0 {
                    continue;
                }
                let p = l.min(cap);
                total += p;
                for i in 0..d {
                    first[i] += p * c[i] / l;
                    for j in 0..d {
                        pairs[(i, j)] += p * (c[i] * c[j] - delta(i, j) * c[i]) / (l * (l - 1.0));
                        for h in 0..d {
                            let raw = c[i] * c[j] * c[h]
                                - c[i] * c[j] * (delta(i, h) + delta(j, h))
                                - delta(i, j) * c[i] * c[h]
                                + 2.0 * delta(i, j) * delta(j, h) * c[i];
                            triples[(i * d + j) * d + h] += p * raw / (l * (l - 1.0) * (l - 2.0));
                        }
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    first.iter_mut().for_each(|x| *x /= total);
    triples.iter_mut().for_each(|x| *x /= total);
    Brute { first, pairs: pairs.map(|x| x / total), triples }
}

fn weighted<'a>(corpus: &'a Corpus, active: &[bool]) -> Weighted<'a> {
    let lengths = Weighted::new(corpus, DAMPING, active, HeldOut::NONE, &Silent).unwrap();
    let cap = lengths.usual_cap();
    lengths.weigh(cap, &Silent).unwrap()
}

fn active() -> Vec<bool> {
    (0..WORDS).map(|w| w != 4).collect()
}

fn near(a: &Mat, b: &Mat) {
    let mut gap = a.clone();
    gap.add_scaled(-1.0, b);
    assert!(gap.max_abs() <= 3e-6 * b.max_abs().max(1e-3), "{} of {}", gap.max_abs(), b.max_abs());
}

#[test]
fn the_second_moment_equals_explicit_sums() {
    let (corpus, active) = (drawn(403, 1), active());
    let weighted = weighted(&corpus, &active);
    let b = brute(&corpus, &active, weighted.weighing.cap);
    near(&Mat::from_vec(WORDS, 1, weighted.first()), &Mat::from_vec(WORDS, 1, b.first.clone()));
    let scale = weighted.usual_scale(&active);
    let m2 = Mat::from_fn(WORDS, WORDS, |i, j| {
        scale[i] * scale[j] * (b.pairs[(i, j)] - ALPHA0 / (ALPHA0 + 1.0) * b.first[i] * b.first[j])
    });
    let operator = SecondMoment { weighted: &weighted, scale: &scale, alpha0: ALPHA0, progress: &Silent };
    near(&operator.apply(&Mat::identity(WORDS)).unwrap(), &m2);
}

#[test]
fn projected_moments_equal_explicit_sums() {
    let (corpus, active) = (drawn(403, 2), active());
    let weighted = weighted(&corpus, &active);
    let b = brute(&corpus, &active, weighted.weighing.cap);
    let drawn = random::gaussian(WORDS, 4, &mut random::rng(5, 0)).map(|x| f64::from(x as f32));
    let basis = Mat::from_fn(WORDS, 4, |i, j| if active[i] { drawn[(i, j)] } else { 0.0 });
    let moments = project(&weighted, basis.clone(), true, &Silent).unwrap();
    let by = 1.0 / moments.weight;
    near(&moments.regression.map(|x| x * by), &b.pairs.matmul(&basis));
    near(&moments.second.map(|x| x * by), &basis.tr_matmul(&b.pairs.matmul(&basis)));
    let full = Tensor3::from_full(WORDS, &b.triples, 1e-9).unwrap().multilinear(&basis);
    let mine = moments.third.clone().unwrap();
    let as_mat = |t: &Tensor3, by: f64| {
        Mat::from_vec(t.as_slice().len(), 1, t.as_slice().iter().map(|x| x * by).collect())
    };
    near(&as_mat(&mine, by), &as_mat(&full, 1.0));
    // Shards add up to the whole.
    let mut second = Mat::zeros(4, 4);
    let mut third = Tensor3::zeros(4);
    for shard in &moments.shards {
        second.add_scaled(1.0, &shard.second);
        third.add_scaled(1.0, shard.third.as_ref().unwrap());
    }
    near(&second, &moments.second);
    near(&as_mat(&third, 1.0), &as_mat(&mine, 1.0));
}

#[test]
fn the_whitened_third_moment_equals_its_definition_formed_or_not() {
    let corpus = drawn(1200, 3);
    let active = vec![true; WORDS];
    let weighted = weighted(&corpus, &active);
    let b = brute(&corpus, &active, weighted.weighing.cap);
    let basis = Mat::identity(WORDS);
    let moments = project(&weighted, basis, true, &Silent).unwrap();
    let white = whiten(&moments, ALPHA0, 3).unwrap();
    let (a, d) = (ALPHA0, WORDS);
    let mut m3 = b.triples.clone();
    for i in 0..d {
        for j in 0..d {
            for h in 0..d {
                let (m, e) = (&b.first, &b.pairs);
                let pairs = e[(i, j)] * m[h] + e[(i, h)] * m[j] + e[(j, h)] * m[i];
                m3[(i * d + j) * d + h] +=
                    -a / (a + 2.0) * pairs + 2.0 * a * a / ((a + 1.0) * (a + 2.0)) * m[i] * m[j] * m[h];
            }
        }
    }
    let expected = Tensor3::from_full(d, &m3, 1e-9).unwrap().multilinear(&white.white);
    let formed = white.third(moments.third.as_ref().unwrap(), moments.weight).unwrap();
    let rows = WhiteRows::project(&weighted, &moments, &white, &Silent).unwrap();
    let v = random::gaussian(white.k(), 5, &mut random::rng(7, 0));
    near(&formed.power(&v).unwrap(), &expected.power(&v).unwrap());
    near(&rows.tensor(&white).power(&v).unwrap(), &expected.power(&v).unwrap());
}

#[test]
fn sums_of_parts_merge_to_sums_of_the_whole() {
    let (corpus, active) = (drawn(403, 4), active());
    let whole = weighted(&corpus, &active);
    let basis = random::gaussian(WORDS, 3, &mut random::rng(5, 0)).map(|x| f64::from(x as f32));
    let all = project(&whole, basis.clone(), true, &Silent).unwrap();
    let half = |parity: usize| {
        let part = whole.part(|b| b % 2 == parity, &Silent).unwrap();
        project(&part, basis.clone(), true, &Silent).unwrap()
    };
    let mut sum = half(0);
    sum.add(&half(1));
    assert_eq!(sum.documents, all.documents);
    near(&sum.regression, &all.regression);
    let third = |p: &Projected| Mat::from_vec(1, 10, p.third.as_ref().unwrap().as_slice().to_vec());
    near(&third(&sum), &third(&all));
}
