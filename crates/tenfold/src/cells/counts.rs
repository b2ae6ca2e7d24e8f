//! Counts of genes in rows: what is unmixed, and what is told apart.

use crate::admixture::{MOST_TOKENS, too_many};
use crate::checkpoint::Digest;
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use tenfold_engine::linalg::{CountBlock, Counts, Csr};

/// Counts of genes, sparse by rows. A row is a bin of a histogram of cells, a single cell whose transcripts were counted, or a
/// voxel.
///
/// # Example
/// ```
/// use tenfold::cells::GeneCounts;
/// use tenfold::engine::linalg::Csr;
/// let counts = Csr::from_triplets(2, 2, &[(0, 0, 3.0), (1, 1, 1.0)]);
/// let counts = GeneCounts::new(vec!["Gad1".into(), "Mbp".into()], counts)?;
/// assert_eq!((counts.rows(), counts.total()), (2, 4.0));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GeneCounts {
    genes: Vec<String>,
    counts: Csr,
}

impl GeneCounts {
    /// What tells these counts from others.
    pub(super) fn identify(&self, digest: &mut Digest) -> Result<()> {
        digest.texts(&self.genes);
        for row in 0..self.counts.rows() {
            let (genes, counts) = self.counts.row(row);
            digest.places(genes);
            digest.doubles(counts);
        }
        Ok(())
    }

    /// Rows × genes.
    ///
    /// # Errors
    /// [`Error::WrongShape`] when there is not one name a column, [`Error::Unfit`] for a gene that comes twice and for counts that
    /// are negative, not finite, or add up to more than [`MOST_TOKENS`] in a row.
    pub fn new(genes: Vec<String>, counts: Csr) -> Result<Self> {
        if genes.len() != counts.cols() {
            return Err(Error::WrongShape { what: "genes", found: genes.len(), expected: counts.cols() });
        }
        let mut seen = HashSet::with_capacity(genes.len());
        if let Some(twice) = genes.iter().find(|gene| !seen.insert(gene.as_str())) {
            return Err(Error::Unfit {
                problem: format!("the gene {twice:?} has two columns"),
                remedy: "add their counts up".into(),
            });
        }
        for row in 0..counts.rows() {
            let (columns, values) = counts.row(row);
            if let Some(at) = values.iter().position(|x| !(x.is_finite() && *x >= 0.0)) {
                let gene = &genes[columns[at] as usize];
                return Err(Error::Unfit {
                    problem: format!("row {} counts {} of the gene {gene:?}", row + 1, values[at]),
                    remedy: "give counts that are finite and not negative".into(),
                });
            }
            let total: f64 = values.iter().sum();
            if total > MOST_TOKENS {
                return Err(too_many(&format!("row {row}"), total));
            }
        }
        Ok(Self { genes, counts })
    }

    /// The names of the columns.
    pub fn genes(&self) -> &[String] {
        &self.genes
    }

    /// The counts, rows × genes.
    pub fn matrix(&self) -> &Csr {
        &self.counts
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.counts.rows()
    }

    /// The sum of all counts.
    pub fn total(&self) -> f64 {
        self.row_totals().iter().sum()
    }

    /// The sum of every row.
    pub fn row_totals(&self) -> Vec<f64> {
        (0..self.rows()).map(|row| self.counts.row(row).1.iter().sum()).collect()
    }

    /// The sum of every gene.
    pub fn gene_totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.genes.len()];
        for row in 0..self.rows() {
            let (columns, values) = self.counts.row(row);
            columns.iter().zip(values).for_each(|(g, x)| totals[*g as usize] += x);
        }
        totals
    }

    /// The share of every gene among all counts; zeros where nothing was counted.
    pub fn unigram(&self) -> Vec<f64> {
        let totals = self.gene_totals();
        let whole = totals.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        totals.iter().map(|x| x / whole).collect()
    }

    /// Some of the rows, in the given order.
    ///
    /// # Panics
    /// When a row does not exist.
    pub fn take_rows(&self, rows: &[usize]) -> Self {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in rows {
            let (columns, counts) = self.counts.row(row);
            indices.extend_from_slice(columns);
            values.extend_from_slice(counts);
            starts.push(indices.len());
        }
        let counts = Csr::new(self.genes.len(), starts, indices, values).expect("rows of a matrix are one");
        Self { genes: self.genes.clone(), counts }
    }

    /// The same rows over other genes, matched by name, and how many of the names were found. What the others do not know is left
    /// out; what is not counted here is zero.
    pub fn over(&self, genes: &[String]) -> (Self, usize) {
        let places: HashMap<&str, usize> = genes.iter().enumerate().map(|(i, g)| (g.as_str(), i)).collect();
        let to: Vec<Option<usize>> = self.genes.iter().map(|g| places.get(g.as_str()).copied()).collect();
        let mut triplets = Vec::with_capacity(self.counts.entries());
        for row in 0..self.rows() {
            let (columns, values) = self.counts.row(row);
            let own = columns.iter().zip(values).filter_map(|(g, x)| Some((row, to[*g as usize]?, *x)));
            triplets.extend(own);
        }
        let shared = to.iter().flatten().count();
        let counts = Csr::from_triplets(self.rows(), genes.len(), &triplets);
        (Self { genes: genes.to_vec(), counts }, shared)
    }

    /// How much rows differ in their genes beyond what chance makes of one mixture of genes: Pearson's χ² of the table less its
    /// degrees of freedom, in standard errors. None where counts are not whole or too few.
    ///
    /// Given the sums of rows and genes, χ² = N (Σ x_mn² / (r_m c_n) − 1) has mean (M − 1)(G − 1) at any size of counts, and a
    /// variance of about 2 (M − 1)(G − 1) + Σ_mn N / (r_m c_n). Rows and genes with fewer than five counts say nothing and would add to
    /// the second term only.
    pub(super) fn association(&self) -> Option<f64> {
        const FEWEST: f64 = 5.0;
        let keep = |totals: Vec<f64>| -> Vec<bool> { totals.iter().map(|x| *x >= FEWEST).collect() };
        let (rows, genes) = (keep(self.row_totals()), keep(self.gene_totals()));
        let entries = || {
            let row = |m: usize| {
                self.counts.row(m).0.iter().zip(self.counts.row(m).1).map(move |(g, x)| (m, *g as usize, *x))
            };
            (0..self.rows()).filter(|&m| rows[m]).flat_map(row).filter(|(_, g, _)| genes[*g])
        };
        let (mut of_row, mut of_gene) = (vec![0.0; rows.len()], vec![0.0; genes.len()]);
        for (m, g, x) in entries() {
            if x.fract() != 0.0 {
                return None;
            }
            of_row[m] += x;
            of_gene[g] += x;
        }
        let total: f64 = of_row.iter().sum();
        let filled = |sums: &[f64]| sums.iter().filter(|x| **x > 0.0).count() as f64;
        let inverse = |sums: &[f64]| sums.iter().filter(|x| **x > 0.0).map(|x| 1.0 / x).sum::<f64>();
        let freedom = (filled(&of_row) - 1.0) * (filled(&of_gene) - 1.0);
        if freedom < 1.0 {
            return None;
        }
        let squares: f64 = entries().map(|(m, g, x)| x * x / (of_row[m] * of_gene[g])).sum();
        let deviation = (2.0 * freedom + total * inverse(&of_row) * inverse(&of_gene)).sqrt();
        Some((total * (squares - 1.0) - freedom) / deviation)
    }

    /// Whether all counts are whole numbers, as tokens are.
    pub fn is_whole(&self) -> bool {
        (0..self.rows()).all(|row| self.counts.row(row).1.iter().all(|x| x.fract() == 0.0))
    }

    /// The same rows as documents for the shared inference.
    pub(super) fn documents(&self) -> Documents {
        let block = |first: usize| {
            let rows = first..(first + ROWS_A_BLOCK).min(self.rows());
            let documents: Vec<u32> = rows.clone().map(|row| row as u32).collect();
            let (mut starts, mut words, mut counts) = (vec![0u32], Vec::new(), Vec::new());
            for row in rows {
                let mut entries: Vec<(u32, f32)> = {
                    let (columns, values) = self.counts.row(row);
                    columns.iter().zip(values).map(|(g, x)| (*g, *x as f32)).collect()
                };
                entries.retain(|(_, x)| *x > 0.0);
                entries.sort_unstable_by_key(|(g, _)| *g);
                words.extend(entries.iter().map(|(g, _)| *g));
                counts.extend(entries.iter().map(|(_, x)| *x));
                starts.push(words.len() as u32);
            }
            CountBlock::new(&documents, &starts, &words, &counts)
        };
        let blocks = (0..self.rows()).step_by(ROWS_A_BLOCK).map(block).collect();
        Documents { rows: self.rows(), genes: self.genes.len(), blocks }
    }
}

/// Rows of a block: even if every row counted every gene of a genome differently, a block could name all its counts.
const ROWS_A_BLOCK: usize = 64;

/// Rows of genes as documents of words.
pub(super) struct Documents {
    rows: usize,
    genes: usize,
    blocks: Vec<CountBlock>,
}

impl Counts for Documents {
    fn rows(&self) -> usize {
        self.rows
    }

    fn cols(&self) -> usize {
        self.genes
    }

    fn entries(&self) -> u64 {
        self.blocks.iter().map(|block| block.entries() as u64).sum()
    }

    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn block(&self, b: usize) -> tenfold_engine::Result<Cow<'_, CountBlock>> {
        Ok(Cow::Borrowed(&self.blocks[b]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn small() -> GeneCounts {
        let counts = Csr::from_triplets(3, 3, &[(0, 0, 2.0), (0, 2, 1.0), (2, 1, 5.0)]);
        GeneCounts::new(names(&["a", "b", "c"]), counts).unwrap()
    }

    #[test]
    fn sums_are_those_of_the_matrix() {
        let counts = small();
        assert_eq!((counts.row_totals(), counts.gene_totals()), (vec![3.0, 0.0, 5.0], vec![2.0, 5.0, 1.0]));
        assert_eq!(counts.unigram(), [0.25, 0.625, 0.125]);
        assert_eq!(counts.take_rows(&[2, 0]).row_totals(), [5.0, 3.0]);
        assert!(counts.is_whole());
    }

    #[test]
    fn counts_beyond_single_precision_are_refused() {
        let of = |count: f64| {
            let counts = Csr::from_triplets(2, 2, &[(0, 0, 2.0), (1, 0, count), (1, 1, count)]);
            GeneCounts::new(names(&["a", "b"]), counts)
        };
        assert!(of(4e17).is_ok());
        for count in [6e17, 1e37, 1e150, 1e308] {
            let error = of(count).unwrap_err().to_string();
            assert!(error.contains("row 1") && error.contains("1e18") && error.contains("divide"), "{error}");
        }
    }

    #[test]
    fn genes_are_matched_by_name() {
        let (over, shared) = small().over(&names(&["c", "x", "a"]));
        assert_eq!((shared, over.gene_totals()), (2, vec![1.0, 0.0, 2.0]));
        assert_eq!(over.rows(), 3);
    }

    #[test]
    fn documents_hold_the_same_counts() {
        let counts = small();
        let documents = counts.documents();
        let block = documents.block(0).unwrap();
        assert_eq!((documents.rows(), documents.cols(), documents.entries()), (3, 3, 3));
        assert_eq!(block.row_counts(0).collect::<Vec<_>>(), [(0, 2.0), (2, 1.0)]);
        assert_eq!(block.row_counts(1).count(), 0);
    }

    #[test]
    fn what_is_no_count_is_refused() {
        let one = |x| Csr::from_triplets(1, 2, &[(0, 1, x)]);
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let error = GeneCounts::new(names(&["a", "b"]), one(bad)).unwrap_err().to_string();
            assert!(error.contains("gene \"b\""), "{error}");
        }
        assert!(GeneCounts::new(names(&["a"]), one(1.0)).is_err());
        let twice = GeneCounts::new(names(&["a", "a"]), one(1.0)).unwrap_err().to_string();
        assert!(twice.contains("two columns"), "{twice}");
    }
}
