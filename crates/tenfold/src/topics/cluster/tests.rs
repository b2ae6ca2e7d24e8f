use super::super::data::{Builder, Corpus};
use super::super::moments::{Weighted, project, whiten};
use super::super::spectral::{Search, find_basis};
use super::super::white::WhiteRows;
use super::super::{Components, Model, Params, Polish, Synth, moments::Damping};
use super::*;
use crate::admixture::HeldOut;
use tenfold_engine::decompose::Solver;
use tenfold_engine::linalg::counts::Elsewhere;
use tenfold_engine::linalg::random;
use tenfold_engine::progress::Silent;
use tenfold_engine::tensor::Contract;

/// Machines that hold windows of a corpus: each some of them.
struct Machines {
    layout: Layout,
    /// Bytes of every block, by window.
    blocks: Vec<Vec<Vec<u8>>>,
    shares: Vec<Vec<usize>>,
}

impl Machines {
    fn of(corpus: &Corpus, shares: Vec<Vec<usize>>) -> Self {
        let windows = corpus.counts().windows();
        let bytes = |b: usize| corpus.counts().block(b).unwrap().to_bytes();
        let blocks = windows.iter().map(|window| window.clone().map(bytes).collect()).collect();
        let layout = Layout {
            documents: corpus.documents(),
            words: corpus.words(),
            entries: corpus.entries(),
            tokens: corpus.tokens(),
            short: corpus.short_documents(),
            ends: windows.iter().map(|window| window.end).collect(),
        };
        Self { layout, blocks, shares }
    }

    fn work(&self, task: &[u8], chosen: &[usize], share: &[usize]) -> Answered {
        let mut worker = Worker::new(task, &self.layout.to_bytes()).unwrap();
        for &b in chosen {
            let (window, place) = self.layout.place(b);
            if share.contains(&window) {
                worker.push(window, place, &self.blocks[window][place], &Silent).unwrap();
            }
        }
        worker.finish(&Silent).unwrap()
    }
}

impl Elsewhere for Machines {
    fn sum(&self, pass: &[u8], chosen: &[usize], _: &dyn Progress) -> EngineResult<Sums> {
        let mut all = Sums::default();
        for share in &self.shares {
            let sums = self.work(pass, chosen, share).sums;
            all.merge(Sums::from_bytes(&sums.to_bytes()).unwrap());
        }
        Ok(all)
    }

    fn collect(&self, question: &[u8], chosen: &[usize], _: &dyn Progress) -> EngineResult<Vec<Vec<u8>>> {
        let mut all: Vec<_> =
            self.shares.iter().flat_map(|s| self.work(question, chosen, s).answers).collect();
        all.sort_by_key(|(window, _)| *window);
        Ok(all.into_iter().map(|(_, answer)| answer).collect())
    }
}

fn afar(corpus: &Corpus, shares: Vec<Vec<usize>>) -> Corpus {
    let machines = Machines::of(corpus, shares);
    Corpus::afar(&machines.layout.clone(), corpus.vocabulary().to_vec(), Box::new(machines))
}

/// Four windows of short documents.
fn drawn(seed: u64) -> Corpus {
    Synth { documents: 100_000, words: 120, k: 5, length: 12.0, seed, ..Synth::default() }
        .draw()
        .unwrap()
        .corpus
}

/// What of a model does not depend on the clock.
fn told(model: &Model) -> (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>, String) {
    let topics = model.topics().as_slice().to_vec();
    let kept = model.moments.as_ref().unwrap();
    let mut moments = kept.projected.regression.as_slice().to_vec();
    moments.extend(kept.outside);
    moments.extend(kept.projected.third.as_ref().unwrap().as_slice());
    let diagnostics = crate::topics::Diagnostics { seconds: Vec::new(), ..model.diagnostics().clone() };
    let words = format!("{diagnostics:?} {:?}", model.verdict());
    (topics, model.alpha().to_vec(), model.coherence().to_vec(), moments, words)
}

#[test]
fn a_model_does_not_know_where_its_documents_lie() {
    let corpus = drawn(1);
    assert_eq!(corpus.counts().windows().len(), 4);
    let shares =
        [vec![vec![0, 1, 2, 3]], vec![vec![1, 3], vec![0, 2]], vec![vec![3], vec![], vec![2], vec![0, 1]]];
    for (polish, k) in [(Polish::Predict, Components::Exactly(5)), (Polish::None, Components::Auto)] {
        let params = Params { polish, epochs: (polish == Polish::Predict).then_some(1), k, ..Params::new(5) };
        let here = told(&params.fit(&corpus).unwrap());
        for shares in &shares {
            let there = told(&params.fit(&afar(&corpus, shares.clone())).unwrap());
            assert!(here == there, "{polish:?} {shares:?}");
        }
    }
}

#[test]
fn contractions_of_the_third_moment_are_the_same_anywhere() {
    let corpus = drawn(2);
    let remote = afar(&corpus, vec![vec![2], vec![0, 3], vec![1]]);
    let (solver, progress) = (Solver::default(), &Silent);
    let of = |corpus: &Corpus| {
        let active = vec![true; corpus.words()];
        let lengths = Weighted::new(corpus, Damping::Root, &active, HeldOut::share(0.02), &Silent).unwrap();
        let cap = lengths.usual_cap();
        let weighted = lengths.weigh(cap, &Silent).unwrap();
        let device = &tenfold_engine::device::Device::default();
        let search = Search { alpha0: 2.0, solver: &solver, seed: 0, device, progress };
        let basis = find_basis(&weighted, &weighted.usual_scale(&active), 16, &search).unwrap();
        let moments = project(&weighted, basis, false, &Silent).unwrap();
        let white = whiten(&moments, 2.0, 5).unwrap();
        let rows = WhiteRows::project(&weighted, &moments, &white, &Silent).unwrap();
        let tensor = rows.tensor(&white);
        let [a, b] = [0, 1].map(|i| random::gaussian(white.k(), 3, &mut random::rng(9, i)));
        [tensor.power(&a).unwrap(), tensor.contract(&[&a, &b]).unwrap(), tensor.slice(&b).unwrap()]
    };
    assert_eq!(of(&corpus), of(&remote));
}

#[test]
fn windows_are_cut_where_the_builder_cuts() {
    // Long documents fill windows sooner: 8,388,608 entries.
    let lengths: Vec<u32> = (0..400).map(|i| if i % 3 == 0 { 60_000 } else { 20_000 }).collect();
    let mut builder = Builder::new(1 << 30);
    for lengths in lengths.chunks(70) {
        let mut batch = Documents::default();
        for &n in lengths {
            batch.words.extend(0..n);
            batch.ends.push(batch.words.len() as u32);
        }
        batch.counts = vec![1; batch.words.len()];
        builder.push(batch).unwrap();
    }
    let corpus = builder.finish((0..60_000).map(|w| w.to_string()).collect()).unwrap();
    let rows = |range: std::ops::Range<usize>| {
        range.map(|b| corpus.counts().block(b).unwrap().rows()).sum::<usize>()
    };
    let found: Vec<usize> = corpus.counts().windows().into_iter().map(rows).collect();
    assert_eq!(found, windows(lengths.iter().copied()));
    assert!(found.len() == 2, "{found:?}");
    let mut first = Documents::default();
    for &n in &lengths[..found[0]] {
        first.words.extend(0..n);
        first.ends.push(first.words.len() as u32);
    }
    first.counts = vec![1; first.words.len()];
    let made = arrange(first, 0, 0, 2).unwrap();
    assert!(made.iter().enumerate().all(|(b, block)| *block == *corpus.counts().block(b).unwrap()));
}

#[test]
fn strangers_bytes_are_refused() {
    let corpus = drawn(3);
    let machines = Machines::of(&corpus, vec![vec![0, 1, 2, 3]]);
    let layout = machines.layout.to_bytes();
    assert!(Worker::new(&[7; 8], &layout).is_err());
    assert!(Worker::new(&Frequencies.to_bytes(), &layout[..layout.len() - 1]).is_err());
    let mut worker = Worker::new(&Frequencies.to_bytes(), &layout).unwrap();
    let block = &machines.blocks[0][0];
    assert!(worker.push(9, 0, block, &Silent).is_err());
    assert!(worker.push(0, 64, block, &Silent).is_err());
    assert!(worker.push(0, 0, &block[..40], &Silent).is_err());
    worker.push(0, 1, block, &Silent).unwrap();
    assert!(worker.push(0, 0, block, &Silent).is_err(), "blocks ascend");
}
