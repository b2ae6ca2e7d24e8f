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

impl Units {
    pub fn of(table: &Table) -> Self {
        let mut of = vec![(0.0, 1.0); table.features()];
        let reals = reals(table);
        let mut sums = vec![(0.0, 0.0); table.features()];
        each(table, &reals, |f, x| sums[f] = (sums[f].0 + 1.0, sums[f].1 + x));
        let means: Vec<f64> = sums.iter().map(|(n, sum)| if *n > 0.0 { sum / n } else { 0.0 }).collect();
        let mut squares = vec![0.0; table.features()];
        each(table, &reals, |f, x| squares[f] += (x - means[f]).powi(2));
        for &f in reals.iter().flat_map(|(_, features)| features) {
            let spread = (squares[f] / sums[f].0.max(1.0)).sqrt();
            // What is left of a constant is rounding.
            let varies = spread.is_finite() && spread > 1e-12 * means[f].abs() && spread > f64::MIN_POSITIVE;
            of[f] = (means[f], if varies { spread } else { 1.0 });
        }
        Self { of, any: !reals.is_empty() }
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
        each(table, &reals(table), |f, _| sum += self.of[f].1.ln());
        sum / table.samples().max(1) as f64
    }
}

/// Real variables with their features.
fn reals(table: &Table) -> Vec<(usize, Vec<usize>)> {
    let is_real = |v: &usize| table.variables()[*v].kind == Kind::Real;
    (0..table.variables().len()).filter(is_real).map(|v| (v, table.features_of(v).collect())).collect()
}

/// Shows every number of the real variables that is there, zeros too.
fn each(table: &Table, reals: &[(usize, Vec<usize>)], mut show: impl FnMut(usize, f64)) {
    for sample in 0..if reals.is_empty() { 0 } else { table.samples() } {
        let row = table.row(sample);
        for (v, features) in reals {
            if row.missing.binary_search(&(*v as u32)).is_err() {
                features.iter().for_each(|&f| show(f, row.value(f)));
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
