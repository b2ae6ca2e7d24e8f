//! Documents of a latent Dirichlet allocation with known topics, and their whitened third moment.

use rand::RngExt;
use rand_distr::{Distribution, Gamma};
use tenfold::engine::Result;
use tenfold::engine::linalg::{Csr, Mat, RangeFinder, random};
use tenfold::engine::tensor::{Cp, Tensor3, Term};
use tenfold::engine::whiten::Whitener;

/// How documents are drawn.
pub struct Lda {
    /// Topics.
    pub k: usize,
    /// Words in the vocabulary.
    pub words: usize,
    /// Documents.
    pub documents: usize,
    /// Words in a document.
    pub length: usize,
    /// Sum of the Dirichlet parameters: near 0 a document has one topic.
    pub alpha0: f64,
    /// The most frequent topic over the rarest; those between lie evenly.
    pub spread: f64,
}

/// What was drawn.
pub struct Corpus {
    /// Word counts, a document in a row.
    counts: Csr<u32>,
    length: f64,
    alpha0: f64,
    /// α_i / α₀.
    shares: Vec<f64>,
    /// Word distribution of every topic, in columns.
    topics: Mat,
}

impl Lda {
    /// Topics from a sparse Dirichlet, topic proportions of every document from Dirichlet(α), words from their
    /// topics.
    pub fn draw(&self, seed: u64) -> Result<Corpus> {
        let mut rng = random::rng(seed, 1);
        let raw: Vec<f64> =
            (0..self.k).map(|i| 1.0 + (self.spread - 1.0) * i as f64 / (self.k - 1).max(1) as f64).collect();
        let total: f64 = raw.iter().sum();
        let shares: Vec<f64> = raw.iter().map(|a| a / total).collect();
        // 0.1 a word: a topic lives on about a tenth of the vocabulary, as in reading.
        let drawn: Vec<Vec<f64>> = (0..self.k).map(|_| dirichlet(&vec![0.1; self.words], &mut rng)).collect();
        let topics = Mat::from_fn(self.words, self.k, |w, i| drawn[i][w]);
        let word_ladders: Vec<Vec<f64>> = drawn.iter().map(|p| ladder(p)).collect();
        let alpha: Vec<f64> = shares.iter().map(|s| s * self.alpha0).collect();
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..self.documents {
            let topic_ladder = ladder(&dirichlet(&alpha, &mut rng));
            let mut document: Vec<u32> = (0..self.length)
                .map(|_| climb(&word_ladders[climb(&topic_ladder, &mut rng)], &mut rng) as u32)
                .collect();
            document.sort_unstable();
            for run in document.chunk_by(|a, b| a == b) {
                indices.push(run[0]);
                values.push(run.len() as f64);
            }
            starts.push(indices.len());
        }
        let counts = Csr::new(self.words, starts, indices, values)?;
        Ok(Corpus { counts, length: self.length as f64, alpha0: self.alpha0, shares, topics })
    }
}

fn dirichlet(alpha: &[f64], rng: &mut random::Rng) -> Vec<f64> {
    let mut x: Vec<f64> =
        alpha.iter().map(|a| Gamma::new(*a, 1.0).expect("alpha is positive").sample(rng)).collect();
    let total: f64 = x.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    x.iter_mut().for_each(|v| *v /= total);
    x
}

/// Cumulative sums of a distribution.
fn ladder(p: &[f64]) -> Vec<f64> {
    p.iter()
        .scan(0.0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
        .collect()
}

/// A place drawn from the distribution whose ladder is given.
fn climb(ladder: &[f64], rng: &mut random::Rng) -> usize {
    let u = rng.random::<f64>() * ladder.last().expect("a distribution has places");
    ladder.partition_point(|x| *x <= u).min(ladder.len() - 1)
}

/// Documents in whitened coordinates, with what their third moment needs.
pub struct Whitened {
    /// Wᵀ c_t of every document, in rows.
    pub samples: Mat,
    /// W, a word in a row.
    matrix: Mat,
    /// Σ_t c_tw Wᵀ c_t of every word, in rows.
    beside: Mat,
    totals: Vec<f64>,
    /// Wᵀ E[x₁⊗x₂] W.
    pairs: Mat,
    /// Wᵀ μ.
    mean: Vec<f64>,
    triples: f64,
    alpha0: f64,
    /// The tensor that infinitely many documents would give in these coordinates, its vectors of unit length.
    pub truth: Cp,
}

impl Corpus {
    fn documents(&self) -> f64 {
        self.counts.rows() as f64
    }

    /// E[x₁⊗x₂] over pairs of different words: (CᵀC − diag(totals)) / (n·m·(m−1)).
    fn pairs(&self, totals: &[f64]) -> Mat {
        let mut pairs = Mat::diagonal(totals).map(|t| -t);
        for t in 0..self.counts.rows() {
            let (words, counts) = self.counts.row(t);
            for (&i, &a) in words.iter().zip(counts) {
                let row = pairs.row_mut(i as usize);
                words.iter().zip(counts).for_each(|(&j, &b)| row[j as usize] += a * b);
            }
        }
        let scale = 1.0 / (self.documents() * self.length * (self.length - 1.0));
        pairs.map(|x| scale * x)
    }

    /// Whitens by the k largest signed eigenvalues of M₂ = E[x₁⊗x₂] − α₀/(α₀+1) μ⊗μ.
    pub fn whiten(&self) -> Result<Whitened> {
        let (k, a0) = (self.shares.len(), self.alpha0);
        let ones = Mat::from_fn(self.counts.rows(), 1, |_, _| 1.0);
        let totals = self.counts.tr_matmul(&ones).into_vec();
        let mean = Mat::from_fn(totals.len(), 1, |w, _| totals[w] / (self.documents() * self.length));
        let pairs = self.pairs(&totals);
        let mut second = pairs.clone();
        second.add_scaled(-a0 / (a0 + 1.0), &mean.matmul_tr(&mean));
        let whitener = Whitener::new(RangeFinder::default().eigen(&second, k)?, k)?;
        let matrix = whitener.matrix().clone();
        let samples = self.counts.matmul(&matrix);
        // M₃ = Σ 2α_i / (α₀(α₀+1)(α₀+2)) μ_i⊗³.
        let weights = self.shares.iter().map(|s| 2.0 * s / ((a0 + 1.0) * (a0 + 2.0))).collect();
        Ok(Whitened {
            beside: self.counts.tr_matmul(&samples),
            pairs: matrix.tr_matmul(&pairs.matmul(&matrix)),
            mean: matrix.tr_matmul(&mean).into_vec(),
            totals,
            triples: self.length * (self.length - 1.0) * (self.length - 2.0),
            alpha0: a0,
            truth: Cp::normalised(3, weights, matrix.tr_matmul(&self.topics)).canonical(),
            samples,
            matrix,
        })
    }
}

impl Whitened {
    /// Every document's share of the samples' factor, 1/(m(m−1)(m−2)).
    pub fn scale(&self) -> f64 {
        1.0 / self.triples
    }

    /// What M₃ is besides [`Whitened::scale`]·mean y⊗³: triples with a repeated word, and the Dirichlet's part.
    pub fn shifts(&self) -> Vec<Term<'_>> {
        let all = self.scale() / self.samples.rows() as f64;
        let (pair, cube) = self.dirichlet_factors();
        vec![
            Term::Mixed { twice: &self.matrix, once: &self.beside, weights: None, scale: -all },
            Term::Powers { samples: &self.matrix, weights: Some(&self.totals), scale: 2.0 * all },
            Term::MatrixVector { matrix: self.pairs.clone(), vector: self.mean.clone(), scale: pair },
            Term::RankOne { vector: self.mean.clone(), scale: cube },
        ]
    }

    fn dirichlet_factors(&self) -> (f64, f64) {
        let a0 = self.alpha0;
        (-a0 / (a0 + 2.0), 2.0 * a0 * a0 / ((a0 + 1.0) * (a0 + 2.0)))
    }

    /// M₃(W, W, W) formed, k × k × k.
    pub fn tensor(&self) -> Result<Tensor3> {
        let all = self.scale() / self.samples.rows() as f64;
        let mut tensor = Tensor3::from_samples(&self.samples, Some(&vec![all; self.samples.rows()]))?;
        // sym(z⊗z⊗x) = ½ (x + z)⊗³ + ½ (x − z)⊗³ − x⊗³, with x brought to the size of z against cancellation.
        let size = self.beside.norm() / self.matrix.norm();
        let x = self.beside.map(|v| v / size);
        for (sign, weight) in [(1.0, 0.5), (-1.0, 0.5), (0.0, -1.0)] {
            let mut row = x.clone();
            row.add_scaled(sign, &self.matrix);
            let weights = vec![-all * size * weight; row.rows()];
            tensor.add_scaled(1.0, &Tensor3::from_samples(&row, Some(&weights))?);
        }
        let repeated: Vec<f64> = self.totals.iter().map(|t| 2.0 * all * t).collect();
        tensor.add_scaled(1.0, &Tensor3::from_samples(&self.matrix, Some(&repeated))?);
        let (pair, cube) = self.dirichlet_factors();
        let (p, m) = (&self.pairs, &self.mean);
        tensor.for_each_entry(|&[i, j, l], entry| {
            *entry += pair * (p[(i, j)] * m[l] + p[(i, l)] * m[j] + p[(j, l)] * m[i]);
            *entry += cube * m[i] * m[j] * m[l];
        });
        Ok(tensor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold::engine::tensor::{Contract, Implicit};

    #[test]
    fn the_formed_tensor_equals_its_terms_and_nears_the_truth() {
        let lda = Lda { k: 3, words: 20, documents: 20_000, length: 40, alpha0: 0.5, spread: 2.0 };
        let whitened = lda.draw(1).unwrap().whiten().unwrap();
        let scale = whitened.scale() / whitened.samples.rows() as f64;
        let mut terms = vec![Term::Powers { samples: &whitened.samples, weights: None, scale }];
        terms.extend(whitened.shifts());
        let (formed, implicit) = (whitened.tensor().unwrap(), Implicit::new(3, 3, terms));
        let v = random::gaussian(3, 4, &mut random::rng(1, 9));
        let mut difference = formed.power(&v).unwrap();
        difference.add_scaled(-1.0, &implicit.power(&v).unwrap());
        assert!(difference.max_abs() < 1e-9, "{}", difference.max_abs());
        // Sampling error of a mean over 20,000 documents.
        assert!(whitened.truth.residual(&formed).unwrap().unwrap() < 0.1);
    }
}
