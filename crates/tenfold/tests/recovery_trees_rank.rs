//! Hidden states counted and independent blocks found in samples of drawn trees.

use tenfold::Result;
use tenfold::engine::progress::Silent;
use tenfold::trees::{Emits, GaussianTree, Spectra, Synth, Table};

/// The variables of two tables beside each other.
fn beside(a: &Table, b: &Table) -> Result<Table> {
    let mut table = Table::new([a.variables(), b.variables()].concat())?;
    for sample in 0..a.samples() {
        let (x, y) = (a.row(sample), b.row(sample));
        let left = x.features.iter().copied().zip(x.values.iter().copied());
        let right = y.features.iter().map(|f| f + a.features() as u32).zip(y.values.iter().copied());
        table.push(&left.chain(right).collect::<Vec<_>>(), &[]);
    }
    Ok(table)
}

/// The test errs when a sum over 19 pairs exceeds its mean by four standard deviations by chance, about once in ten
/// thousand runs; in 516 longer runs (p = 20 to 100) it never did. So every run here must be right.
#[test]
fn the_number_of_states_is_found() -> Result<()> {
    for emits in [Emits::Category, Emits::Real, Emits::Mixed] {
        for states in [2, 3, 4] {
            for seed in 0..2 {
                let drawn = Synth { states, width: 6, emits, seed, ..Synth::default() }.draw()?;
                let rank = Spectra::of(&drawn.table, &Silent)?.rank();
                assert_eq!(rank.states(), states, "{emits:?}, seed {seed}: {rank:?}");
            }
        }
    }
    let drawn = Synth::default().draw()?;
    assert_eq!(Spectra::of(&drawn.table, &Silent)?.rank().states(), 2);
    // Linear Gaussian trees have no states: their rank is the width of hidden nodes.
    let drawn = GaussianTree::draw(&Synth { states: 2, width: 4, ..Synth::default() })?;
    assert_eq!(Spectra::of(&drawn.table, &Silent)?.rank().rank, 2);
    Ok(())
}

/// Three quarters of the variables hang on nodes with two states, the others on nodes with four, and the other way round.
#[test]
fn of_unequal_numbers_of_states_the_one_of_most_pairs_is_taken() -> Result<()> {
    for (most, few) in [(2, 4), (4, 2)] {
        let draw =
            |variables, states| Synth { variables, states, width: 6, seed: 4, ..Synth::default() }.draw();
        let table = beside(&draw(24, most)?.table, &draw(8, few)?.table)?;
        let spectra = Spectra::of(&table, &Silent)?;
        assert_eq!(spectra.components().len(), 2);
        assert_eq!(spectra.rank().states(), most);
        let part = |of: std::ops::Range<usize>| -> Vec<(usize, usize)> {
            spectra.spanning().into_iter().filter(|pair| of.contains(&pair.0)).collect()
        };
        assert_eq!(spectra.rank_of(&part(0..24)).states(), most);
        assert_eq!(spectra.rank_of(&part(24..32)).states(), few);
    }
    Ok(())
}

/// A false edge between blocks comes once in a hundred runs at most, by Bonferroni; true ones are far beyond chance at
/// N = 10⁴. Real variables of two numbers are left out: some are drawn whose states hardly differ, and these are rightly alone.
#[test]
fn independent_blocks_are_found_exactly() -> Result<()> {
    for (states, width, emits) in
        [(2, 2, Emits::Category), (3, 6, Emits::Category), (3, 6, Emits::Real), (3, 6, Emits::Mixed)]
    {
        for seed in 0..3 {
            let synth = Synth { variables: 8, blocks: 4, states, width, emits, seed, ..Synth::default() };
            let found = Spectra::of(&synth.draw()?.table, &Silent)?.components();
            let truth: Vec<Vec<usize>> = (0..4).map(|b| (8 * b..8 * b + 8).collect()).collect();
            assert_eq!(found, truth, "{emits:?}, seed {seed}");
        }
    }
    Ok(())
}
