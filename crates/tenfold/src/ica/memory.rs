//! What a fit of sources holds at its peak, by sizes alone.

use super::fit::Params;
use super::moments::{WIDE_PAIRS, WIDEST_COVARIANCE};
use crate::components::Components;
use crate::memory::Estimate;
use tenfold_engine::linalg::RangeFinder;
use tenfold_engine::linalg::parallel::{BLOCK, LANES, lanes_held};

impl Params {
    /// What a fit of so many samples of so many columns will hold, before it begins: beside data of `held` bytes, with whitened data
    /// where [`Params::memory`] has room for them.
    pub fn needs(&self, rows: usize, cols: usize, held: u64) -> Estimate {
        let (n, d) = (rows as u64, cols as u64);
        let (pairs, covariance) = if cols <= WIDEST_COVARIANCE {
            (d, d * d)
        } else {
            // No covariance is formed, only its products with as many columns as pairs are looked for, and some more.
            let asked = if let Components::Exactly(k) = self.k { k } else { WIDE_PAIRS };
            let pairs = asked.min(cols).min(rows);
            (pairs as u64, d * RangeFinder::default().width(pairs, cols) as u64)
        };
        let k = match self.k {
            Components::Exactly(k) => pairs.min(k as u64),
            Components::Auto => pairs,
        };
        let white = n.saturating_mul(8 * k);
        let white = if white <= self.memory { white } else { 0 };
        // Blocks in work twice in every lane that is held, a sum for each of them, and a few more matrices of that size.
        let lanes = n.div_ceil(BLOCK as u64).min(lanes_held() as u64);
        let in_work = n.min((BLOCK * lanes_held()) as u64);
        let blocks = 8 * (2 * in_work * (d + 4 * k) + 12 * LANES as u64 * k * k);
        Estimate::beside("data", held)
            .and("whitened data", white)
            .and("blocks in work", blocks)
            .and("covariance", 8 * (lanes + 4) * covariance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitened_data_are_kept_where_there_is_room() {
        let params = |memory| Params { memory, ..Params::new(16) };
        let (ample, tight) =
            (params(1 << 30).needs(1_000_000, 16, 0), params(1 << 20).needs(1_000_000, 16, 0));
        assert_eq!(ample.work() - tight.work(), 128_000_000);
        assert!(tight.total() < 40 << 20);
    }

    #[test]
    fn no_covariance_is_formed_of_many_columns() {
        let wide = Params { memory: 0, ..Params::new(10) }.needs(1000, 100_000, 0);
        assert!(wide.work() < 8 * 100_000 * 10_000, "{}", wide.work());
        assert!(wide.parts().any(|part| part.0 == "covariance"));
    }
}
