//! Whether genes of the same rows know of each other: types are what makes them.
//!
//! Pearson's χ² says whether counts differ more than those of Poisson's law, which fractions do not follow and counts of single cells exceed:
//! each gene may vary by itself. Types make genes vary together. So the largest eigenvalue of the correlations of genes over rows is compared with
//! what it is after the counts of every gene have been dealt to the rows anew, gene by gene: nothing but what genes have in common is lost,
//! whatever the law of the counts.

use super::GeneCounts;
use rayon::prelude::*;
use tenfold_engine::linalg::random::{permutation, rng};
use tenfold_engine::linalg::{Mat, eigen_symmetric};

/// Rows and genes that are looked at, at most: those with the most counts.
const MOST: (usize, usize) = (3000, 256);

/// Rows and genes with fewer counts, or entries, say nothing.
const FEWEST: usize = 5;

/// How often counts are dealt anew: a mean and a deviation, by Student's law with 19 degrees of freedom.
const DEALS: usize = 20;

/// How much the genes of rows differ beyond chance, in standard errors: of Pearson's χ² where counts are whole, unless genes that vary
/// each for itself explain it, and by dealing anew where they are not. None where there is too little to tell.
pub(super) fn differ(counts: &GeneCounts, seed: u64) -> Option<f64> {
    if !counts.is_whole() {
        return Seen::of(counts).errors(0.0, seed);
    }
    let errors = counts.association()?;
    if errors < ENOUGH {
        return Some(errors);
    }
    let seen = Seen::of(counts);
    // Among rows that were not looked at there may be what tells types apart.
    if !seen.all_rows {
        return Some(errors);
    }
    Some(seen.errors(UNEVEN, seed).filter(|own| *own < ENOUGH).map_or(errors, |own| own.min(errors)))
}

/// Pearson's χ² for every degree of freedom from which on it may be the genes' own unevenness. Below, what is left is little, and χ², to which
/// all genes add, sees weaker types than their correlations show.
const UNEVEN: f64 = 1.5;

/// Standard errors above which nothing is in doubt.
const ENOUGH: f64 = 3.0;

/// Genes by rows, as they are looked at.
struct Seen {
    genes: Vec<Vec<f64>>,
    all_rows: bool,
}

impl Seen {
    fn of(counts: &GeneCounts) -> Self {
        let entries: Vec<usize> = (0..counts.rows())
            .map(|row| counts.matrix().row(row).1.iter().filter(|x| **x > 0.0).count())
            .collect();
        let mut held = vec![0; counts.genes().len()];
        for row in 0..counts.rows() {
            let (columns, values) = counts.matrix().row(row);
            columns.iter().zip(values).filter(|(_, x)| **x > 0.0).for_each(|(g, _)| held[*g as usize] += 1);
        }
        // Sums of whole counts, however few entries they are in.
        let whole = counts.is_whole();
        let enough = |sum: f64, entries: usize| match whole {
            true => sum >= FEWEST as f64,
            false => entries >= FEWEST,
        };
        let largest = |totals: Vec<f64>, entries: &[usize], most: usize| {
            let mut order: Vec<usize> =
                (0..totals.len()).filter(|&i| enough(totals[i], entries[i])).collect();
            order.sort_by(|&a, &b| totals[b].total_cmp(&totals[a]).then(a.cmp(&b)));
            let all = order.len() <= most;
            order.truncate(most);
            order.sort_unstable();
            (order, all)
        };
        let (rows, all_rows) = largest(counts.row_totals(), &entries, MOST.0);
        let (kept, _) = largest(counts.gene_totals(), &held, MOST.1);
        let mut places = vec![None; counts.genes().len()];
        kept.iter().enumerate().for_each(|(place, &gene)| places[gene] = Some(place));
        let mut genes = vec![vec![0.0; rows.len()]; kept.len()];
        for (at, &row) in rows.iter().enumerate() {
            let (columns, values) = counts.matrix().row(row);
            for (g, x) in columns.iter().zip(values) {
                if let Some(place) = places[*g as usize] {
                    genes[place][at] += x;
                }
            }
        }
        Self { genes, all_rows }
    }

    /// What genes have in common beyond what dealing anew gives, in standard errors; None where there is too little to tell, or χ² is below
    /// `least` for every degree of freedom.
    fn errors(&self, least: f64, seed: u64) -> Option<f64> {
        let rows = self.genes.first().map_or(0, Vec::len);
        if rows < 2 * FEWEST || self.genes.len() < 3 {
            return None;
        }
        let own = together(&self.genes)?;
        if own.spread < least {
            return None;
        }
        let own = own.most;
        let dealt: Option<Vec<f64>> = (0..DEALS)
            .into_par_iter()
            .map(|deal| {
                let mut rng = rng(seed, DEALT + deal as u64);
                let gene = |counts: &Vec<f64>| -> Vec<f64> {
                    permutation(rows, &mut rng).into_iter().map(|row| counts[row]).collect()
                };
                Some(together(&self.genes.iter().map(gene).collect::<Vec<_>>())?.most)
            })
            .collect();
        let dealt = dealt?;
        let mean = dealt.iter().sum::<f64>() / DEALS as f64;
        let variance = dealt.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (DEALS - 1) as f64;
        let error = (variance * (1.0 + 1.0 / DEALS as f64)).sqrt();
        (error > 0.0).then(|| (own - mean) / error)
    }
}

/// The stream of random numbers that deals.
const DEALT: u64 = 7 << 32;

/// What genes share, and how far counts are from Poisson's law.
struct Together {
    /// The largest eigenvalue of the correlations of genes over rows.
    most: f64,
    /// Pearson's χ² for every degree of freedom.
    spread: f64,
}

/// Compares genes as deviations from the product of the sums of rows and genes, in its square root.
fn together(genes: &[Vec<f64>]) -> Option<Together> {
    let rows = genes[0].len();
    let mut of_row = vec![0.0; rows];
    genes.iter().for_each(|gene| of_row.iter_mut().zip(gene).for_each(|(sum, x)| *sum += x));
    let total: f64 = of_row.iter().sum();
    let mut square = 0.0;
    let units: Vec<Vec<f64>> = genes
        .iter()
        .map(|gene| {
            let share = gene.iter().sum::<f64>() / f64::max(total, f64::MIN_POSITIVE);
            let apart = |(x, of_row): (&f64, &f64)| {
                let expected = of_row * share;
                if expected > 0.0 { (x - expected) / expected.sqrt() } else { 0.0 }
            };
            let mut unit: Vec<f64> = gene.iter().zip(&of_row).map(apart).collect();
            let own: f64 = unit.iter().map(|x| x * x).sum();
            square += own;
            let length = own.sqrt().max(f64::MIN_POSITIVE);
            unit.iter_mut().for_each(|x| *x /= length);
            unit
        })
        .collect();
    let mut alike = Mat::zeros(genes.len(), genes.len());
    for (g, a) in units.iter().enumerate() {
        for (h, b) in units[..=g].iter().enumerate() {
            let product: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
            (alike[(g, h)], alike[(h, g)]) = (product, product);
        }
    }
    let most = *eigen_symmetric(&alike).ok()?.values.first()?;
    Some(Together { most, spread: square / ((rows - 1) * (genes.len() - 1)).max(1) as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Synth;
    use rand::RngExt;
    use tenfold_engine::linalg::Csr;

    fn counts(rows: usize, genes: usize, value: &mut dyn FnMut(usize, usize) -> f64) -> GeneCounts {
        let places = (0..rows).flat_map(|m| (0..genes).map(move |g| (m, g)));
        let entries: Vec<_> = places.map(|(m, g)| (m, g, value(m, g))).filter(|e| e.2 > 0.0).collect();
        let names = (0..genes).map(|g| format!("g{g}")).collect();
        GeneCounts::new(names, Csr::from_triplets(rows, genes, &entries)).unwrap()
    }

    /// Fractions, and whole counts several times as variable as Poisson's, without any type. Chance passes three errors of twenty deals about
    /// once in a hundred times, and twice in ten once in 250.
    #[test]
    fn genes_that_vary_each_for_itself_are_alike() {
        let mut passed = (0, 0);
        for seed in 100..110 {
            let mut draw = rng(seed, 0);
            let fractions = counts(300, 30, &mut |_, _| draw.random::<f64>());
            passed.0 += usize::from(differ(&fractions, seed).unwrap() >= ENOUGH);
            let uneven = counts(300, 30, &mut |_, _| (-6.0 * draw.random::<f64>().ln()).floor());
            assert!(uneven.association().unwrap() > 30.0, "seed {seed}");
            passed.1 += usize::from(differ(&uneven, seed).unwrap() >= ENOUGH);
        }
        assert!(passed.0 <= 1 && passed.1 <= 1, "{passed:?}");
    }

    #[test]
    fn types_are_seen_in_fractions_and_in_counts() {
        for seed in 100..104 {
            let mut draw = rng(seed, 0);
            let rise = |m: usize, g: usize| if m % 2 == g % 2 { 1.0 } else { 0.3 };
            let fractions = counts(60, 20, &mut |m, g| rise(m, g) * draw.random::<f64>());
            assert!(differ(&fractions, seed).unwrap() > ENOUGH, "seed {seed}");
            let uneven = counts(60, 20, &mut |m, g| (-9.0 * rise(m, g) * draw.random::<f64>().ln()).floor());
            assert!(differ(&uneven, seed).unwrap() > ENOUGH, "seed {seed}");
            let drawn = Synth { types: 2, genes: 20, cells: 4000, seed, ..Synth::default() }.draw().unwrap();
            let bins = crate::cells::Features::default().bins(&drawn.tissue).unwrap();
            let whole = bins.histogram(&drawn.tissue).counts;
            assert_eq!(differ(&whole, seed), whole.association(), "seed {seed}");
        }
    }
}
