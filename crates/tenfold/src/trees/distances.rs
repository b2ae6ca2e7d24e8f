//! Distances between observed variables, with the error that a jackknife over blocks of samples gives them.

/// Additive distances −Σ_{l ≤ r} log σ_l between all pairs, from the r leading canonical correlations, from all samples and with
/// each block of samples left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Distances {
    count: usize,
    /// Pairs i < j, row by row.
    all: Vec<f64>,
    /// The same with one block left out, block by block.
    without: Vec<Vec<f64>>,
}

crate::checkpoint::keep! { Distances { count, all, without } }

impl Distances {
    /// From distances of pairs i < j, row by row, and those with each block left out (possibly none).
    ///
    /// # Panics
    /// When lengths do not fit.
    pub fn new(count: usize, all: Vec<f64>, without: Vec<Vec<f64>>) -> Self {
        assert_eq!(all.len(), count * count.saturating_sub(1) / 2, "a distance for every pair");
        assert!(without.iter().all(|w| w.len() == all.len()), "a distance for every pair in every block");
        Self { count, all, without }
    }

    /// How many variables.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many blocks were left out in turn.
    pub fn blocks(&self) -> usize {
        self.without.len()
    }

    fn place(&self, i: usize, j: usize) -> usize {
        let (i, j) = (i.min(j), i.max(j));
        i * self.count - i * (i + 1) / 2 + (j - i - 1)
    }

    /// The distance of two variables; 0 from itself.
    pub fn between(&self, i: usize, j: usize) -> f64 {
        if i == j { 0.0 } else { self.all[self.place(i, j)] }
    }

    /// The same with a block left out.
    pub fn without(&self, block: usize, i: usize, j: usize) -> f64 {
        if i == j { 0.0 } else { self.without[block][self.place(i, j)] }
    }

    /// The standard error by the jackknife: √((B−1)/B Σ_b (x_b − x̄)²).
    pub fn error(&self, i: usize, j: usize) -> f64 {
        if i == j {
            return 0.0;
        }
        let place = self.place(i, j);
        jackknife(self.without.iter().map(|without| without[place]))
    }

    /// The sum Σ c_ij d_ij of some (i, j, c_ij) with i ≠ j, and its standard error by the same jackknife.
    pub fn weighted(&self, terms: &[(usize, usize, f64)]) -> (f64, f64) {
        let terms: Vec<(usize, f64)> = terms.iter().map(|&(i, j, c)| (self.place(i, j), c)).collect();
        let sum = |of: &Vec<f64>| terms.iter().map(|&(at, c)| c * of[at]).sum::<f64>();
        let without: Vec<f64> = self.without.iter().map(sum).collect();
        (sum(&self.all), jackknife(without.iter().copied()))
    }

    /// Distances among some of the variables, in this order.
    pub fn select(&self, chosen: &[usize]) -> Self {
        let pick = |of: &dyn Fn(usize, usize) -> f64| {
            let pairs = (0..chosen.len()).flat_map(|a| (a + 1..chosen.len()).map(move |b| (a, b)));
            pairs.map(|(a, b)| of(chosen[a], chosen[b])).collect::<Vec<f64>>()
        };
        let without = (0..self.blocks()).map(|block| pick(&|i, j| self.without(block, i, j))).collect();
        Self::new(chosen.len(), pick(&|i, j| self.between(i, j)), without)
    }
}

/// √((B−1)/B Σ_b (x_b − x̄)²) of a quantity with each of B blocks left out in turn.
fn jackknife(each: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let b = each.len() as f64;
    let mean = each.clone().sum::<f64>() / b.max(1.0);
    ((b - 1.0) / b.max(1.0) * each.map(|x| (x - mean).powi(2)).sum::<f64>()).max(0.0).sqrt()
}
