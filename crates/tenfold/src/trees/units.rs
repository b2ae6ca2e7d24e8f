//! Real variables in units of their own spread.
//!
//! Moments of numbers far from 0 lose their digits, and thresholds that fit numbers about 1 fit no others. A fit therefore sees
//! y = (x − c)/s with the mean c and the standard deviation s of every real feature; means of the network that comes out are c + s μ,
//! variances s² σ², and log-likelihoods lose ln s for every feature that is there.

use super::data::{Kind, Table};
use super::network::Network;

/// The centre and the spread of every feature of a table; 0 and 1 where it is not real or does not vary.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Units {
    of: Vec<(f64, f64)>,
    any: bool,
}

/// A real feature that varies in a few samples only.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outliers {
    pub variable: usize,
    pub feature: usize,
    /// How many samples of one size its variance amounts to.
    pub samples: f64,
    /// The largest of them with their values and their shares of the variance; only of the first feature that is found.
    pub cells: Vec<(usize, f64, f64)>,
}

/// As many samples or fewer are no law: sources of `ica` that rest on so few are doubted too.
const FEW: f64 = 4.0;

/// Of the largest deviation: what is told as large beside it.
const LARGE: f64 = 0.1;

impl Units {
    pub fn of(table: &Table) -> Self {
        let mut of = vec![(0.0, 1.0); table.features()];
        let reals = reals(table);
        let mut sums = vec![(0.0, 0.0); table.features()];
        each(table, &reals, |_, f, x| sums[f] = (sums[f].0 + 1.0, sums[f].1 + x));
        let means: Vec<f64> = sums.iter().map(|(n, sum)| if *n > 0.0 { sum / n } else { 0.0 }).collect();
        let mut squares = vec![0.0; table.features()];
        each(table, &reals, |_, f, x| squares[f] += (x - means[f]).powi(2));
        for &f in reals.iter().flat_map(|(_, features)| features) {
            let spread = (squares[f] / sums[f].0.max(1.0)).sqrt();
            // What is left of a constant is rounding.
            let varies = spread.is_finite() && spread > 1e-12 * means[f].abs() && spread > f64::MIN_POSITIVE;
            of[f] = (means[f], if varies { spread } else { 1.0 });
        }
        Self { of, any: !reals.is_empty() }
    }

    /// Real features of this table whose variance is the work of fewer than four samples, those of fewest first.
    ///
    /// With the deviations d of n samples (Σ d²)²/Σ d⁴ is how many there are of one size: n/3 of a normal law. A correlation is a mean
    /// of products of deviations, so below four it says what one, two or three samples happen to be. Where samples are few it must
    /// also be less than a quarter of a normal law's.
    pub fn outliers(&self, table: &Table) -> Vec<Outliers> {
        let reals = reals(table);
        // In shares of the largest deviation, so that no power is out of range.
        let mut most = vec![0.0f64; table.features()];
        let deviation = |f: usize, x: f64| (x - self.of[f].0).abs();
        each(table, &reals, |_, f, x| most[f] = most[f].max(deviation(f, x)));
        let mut powers = vec![(0.0, 0.0, 0.0); table.features()];
        each(table, &reals, |_, f, x| {
            let square = (deviation(f, x) / most[f].max(f64::MIN_POSITIVE)).powi(2);
            let (there, squares, fourths) = powers[f];
            powers[f] = (there + 1.0, squares + square, fourths + square * square);
        });
        let mut found = Vec::new();
        for (variable, feature) in reals.iter().flat_map(|(v, features)| features.iter().map(|&f| (*v, f))) {
            let (there, squares, fourths) = powers[feature];
            let samples = squares * squares / fourths;
            if samples < FEW.min(there / 12.0) {
                found.push(Outliers { variable, feature, samples, cells: Vec::new() });
            }
        }
        found.sort_by(|a, b| a.samples.total_cmp(&b.samples));
        if let [worst, ..] = &mut found[..] {
            // As many as there seem to be, and none that is small beside the largest.
            let own = [(worst.variable, vec![worst.feature])];
            let mut cells = Vec::new();
            each(table, &own, |sample, f, x| {
                if deviation(f, x) > LARGE * most[f] {
                    cells.push((sample, x, (deviation(f, x) / most[f]).powi(2) / powers[f].1));
                }
            });
            cells.sort_by(|a, b| b.2.total_cmp(&a.2));
            cells.truncate(worst.samples.ceil() as usize);
            worst.cells = cells;
        }
        found
    }

    /// The table in these units; nothing where it has no real variable.
    pub fn apply(&self, table: &Table) -> Option<Table> {
        if !self.any {
            return None;
        }
        let owner: Vec<Option<usize>> = (0..table.variables().len())
            .flat_map(|v| {
                let real = table.variables()[v].kind == Kind::Real;
                table.features_of(v).map(move |_| real.then_some(v))
            })
            .collect();
        let reals = reals(table);
        let mut scaled = Table::new(table.variables().to_vec()).expect("variables of a table");
        let mut entries = Vec::new();
        for sample in 0..table.samples() {
            let row = table.row(sample);
            entries.clear();
            let others = row.features.iter().zip(row.values).filter(|(f, _)| owner[**f as usize].is_none());
            entries.extend(others.map(|(&f, &x)| (f, x)));
            for (v, features) in &reals {
                if row.missing.binary_search(&(*v as u32)).is_err() {
                    for &f in features {
                        let x = row.value(f);
                        let (centre, spread) = self.of[f];
                        entries.push((f as u32, (x - centre) / spread));
                    }
                }
            }
            entries.retain(|e| e.1 != 0.0);
            entries.sort_unstable_by_key(|e| e.0);
            scaled.push(&entries, row.missing);
        }
        Some(scaled)
    }

    /// A network that was learnt in these units, in those of the data.
    pub fn undo(&self, mut network: Network, table: &Table) -> Network {
        for (v, emission) in network.emissions.iter_mut().enumerate() {
            for (i, f) in table.features_of(v).enumerate() {
                let (centre, spread) = self.of[f];
                if table.variables()[v].kind == Kind::Real {
                    emission.mean.row_mut(i).iter_mut().for_each(|mean| *mean = centre + spread * *mean);
                    emission.variance[i] *= spread * spread;
                }
            }
        }
        network
    }

    /// What log-likelihoods are lower by in the units of the data: Σ ln s over the features that are there, the mean over samples.
    pub fn nats(&self, table: &Table) -> f64 {
        let mut sum = 0.0;
        each(table, &reals(table), |_, f, _| sum += self.of[f].1.ln());
        sum / table.samples().max(1) as f64
    }
}

/// Real variables with their features.
fn reals(table: &Table) -> Vec<(usize, Vec<usize>)> {
    let is_real = |v: &usize| table.variables()[*v].kind == Kind::Real;
    (0..table.variables().len()).filter(is_real).map(|v| (v, table.features_of(v).collect())).collect()
}

/// Shows every number of the real variables that is there, zeros too, with its sample and its feature.
fn each(table: &Table, reals: &[(usize, Vec<usize>)], mut show: impl FnMut(usize, usize, f64)) {
    for sample in 0..if reals.is_empty() { 0 } else { table.samples() } {
        let row = table.row(sample);
        for (v, features) in reals {
            if row.missing.binary_search(&(*v as u32)).is_err() {
                features.iter().for_each(|&f| show(sample, f, row.value(f)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Emits, Params, Synth};
    use super::*;

    /// The table with x → shift + scale · x in all its features.
    fn moved(table: &Table, shift: f64, scale: f64) -> Table {
        let units = Units { of: vec![(-shift / scale, 1.0 / scale); table.features()], any: true };
        units.apply(table).unwrap()
    }

    #[test]
    fn numbers_that_outweigh_all_others_are_told() {
        let synth = Synth { variables: 6, samples: 1000, width: 1, emits: Emits::Real, ..Synth::default() };
        let warnings = |table: &Table| {
            let model = Params { bootstrap: 0, ..Params::new(2) }.fit(table).unwrap();
            let told = model.verdict().findings().iter().map(|(_, text)| text.clone());
            told.filter(|text| text.contains("% of its variance")).collect::<Vec<_>>()
        };
        for seed in 0..20 {
            let table = Synth { seed, ..synth.clone() }.draw().unwrap().table;
            assert_eq!(warnings(&table), Vec::<String>::new(), "seed {seed}");
            // Two variables: one cell, and three cells, far from the other numbers.
            let mut odd = Table::new(table.variables().to_vec()).unwrap();
            for i in 0..table.samples() {
                let row = table.row(i);
                let mut entries: Vec<(u32, f64)> =
                    row.features.iter().copied().zip(row.values.iter().copied()).collect();
                for entry in &mut entries {
                    match (i, entry.0) {
                        (512, 3) => entry.1 = 1e9,
                        (7 | 8 | 900, 5) => entry.1 = -500.0,
                        _ => {}
                    }
                }
                odd.push(&entries, row.missing);
            }
            let told = warnings(&odd);
            let name = &table.variables()[3].name;
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].contains(name.as_str()) && told[0].contains("1e9 in row 513"), "{told:?}");
            assert!(told[0].contains("one more"), "{told:?}");
        }
    }

    #[test]
    fn few_numbers_are_not_outliers() {
        use tenfold_engine::linalg::random::{normal, rng};
        let variable =
            super::super::data::Variable { name: "x".into(), kind: Kind::Real, labels: vec!["x".into()] };
        let mut rng = rng(1, 0);
        for samples in [1, 2, 3, 12, 16, 24, 48, 100] {
            for _ in 0..100 {
                let mut table = Table::new(vec![variable.clone()]).unwrap();
                (0..samples).for_each(|_| table.push(&[(0, normal(&mut rng))], &[]));
                assert_eq!(Units::of(&table).outliers(&table), [], "{samples}");
                // Beyond what the square of a number can be.
                table.push(&[(0, 1e200)], &[]);
                assert_eq!(Units::of(&table).outliers(&table).len(), usize::from(samples >= 16), "{samples}");
            }
        }
    }

    #[test]
    fn trees_do_not_depend_on_where_and_how_large_numbers_are() {
        let synth = Synth { variables: 8, samples: 3000, width: 2, emits: Emits::Real, ..Synth::default() };
        let table = synth.draw().unwrap().table;
        let fit = |table: &Table| Params { bootstrap: 0, ..Params::new(2) }.fit(table).unwrap();
        let plain = fit(&table);
        let held = plain.diagnostics().held_out.unwrap();
        assert!(held.tree > held.independence + 0.1);
        for (shift, scale) in [(1e4, 1.0), (1e8, 1.0), (0.0, 1e-9), (-1e6, 1e3)] {
            let other = moved(&table, shift, scale);
            let model = fit(&other);
            assert_eq!(model.tree().edges().len(), plain.tree().edges().len(), "{shift} {scale}");
            let now = model.diagnostics().held_out.unwrap();
            // 16 features, each of which is scale times as wide; numbers near 1e8 hold eight digits of the spread.
            let expected = held.tree - 16.0 * scale.ln();
            assert!((now.tree - expected).abs() < 1e-4, "{shift} {scale}: {} {expected}", now.tree);
            // What the model says of the data themselves, far from 0 as they are.
            let own = plain.diagnostics().log_likelihood - 16.0 * scale.ln();
            assert!((model.diagnostics().log_likelihood - own).abs() < 1e-4);
            let each = model.log_likelihood(&other, &tenfold_engine::progress::Silent).unwrap();
            let mean = each.iter().sum::<f64>() / each.len() as f64;
            assert!((mean - own).abs() < 1e-4, "{shift} {scale}: {mean} {own}");
        }
    }
}
