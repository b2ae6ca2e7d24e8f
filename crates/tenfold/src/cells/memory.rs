//! What a fit of cell types holds at its peak, by sizes alone.

use super::choices::Params;
use super::counts::GeneCounts;
use super::data::{Cell, Tissue};
use crate::components::Components;
use crate::memory::Estimate;

impl Params {
    /// Types that are reckoned with: those asked for, or the most that are looked at; no more than any memory holds.
    fn reckoned(&self) -> u64 {
        let k = match self.k {
            Components::Exactly(k) => k,
            Components::Auto => self.most,
        };
        (k as u64).min(1 << 24)
    }

    /// What [`Params::fit`] of these cells will hold, before it begins.
    pub fn needs(&self, tissue: &Tissue) -> Estimate {
        let cells = tissue.len() as u64;
        // Four features to find the edges of bins by; then every cell's types, and one feature after the other with the place of its
        // cell (24 bytes), sorted (12 more), with the weight in a type (16).
        let types = (8 * self.reckoned() + 24 + 12 + 16) * cells;
        Estimate::beside("cells", cells * size_of::<Cell>() as u64)
            .and_largest(&[("edges of bins", 32 * cells), ("types of cells", types)])
    }

    /// What [`Params::fit_counts`] of these counts will hold, before it begins.
    pub fn needs_counts(&self, counts: &GeneCounts) -> Estimate {
        let (rows, genes, k) = (counts.rows() as u64, counts.genes().len() as u64, self.reckoned());
        let entries = counts.matrix().entries() as u64;
        // Rows with counts again, as the solver keeps them (a number and a place, by rows and by columns), mixtures and profiles of the
        // start, of the step before and of the step.
        Estimate::beside("counts", 12 * entries + 8 * rows)
            .and("counts by rows and columns", 36 * entries)
            .and("mixtures and profiles", 8 * 4 * k * (rows + genes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Section;

    #[test]
    fn every_cell_counts() {
        let cell =
            Cell { x: 1.0, y: 1.0, r1: 2.0, r2: 2.0, orientation: 0.0, intensity: 1.0, neighbours: 0.0 };
        let section = |cells| Section { image: "a".into(), gene: "g".into(), cells: vec![cell; cells] };
        let needs = |cells| Params::new(4).needs(&Tissue { sections: vec![section(cells), section(cells)] });
        assert_eq!(needs(500).work(), 2 * needs(250).work());
        assert_eq!(needs(500).parts().next(), Some(("cells", 56_000)));
        assert!(
            Params::new(Components::Auto).needs(&Tissue { sections: vec![section(9)] }).work()
                > needs(9).work() / 2
        );
    }
}
