//! How far values reach, asked where their squares have left the range of double precision: then the data are at fault, and these say
//! where.

use crate::error::{Error, Result};
use tenfold_engine::linalg::Rows;
use tenfold_engine::linalg::parallel::BLOCK;

/// Squares below this lose digits, because what they are added to is rounded to steps of 2⁻¹⁰⁷⁴.
pub(super) const LEAST_SQUARE: f64 = f64::MIN_POSITIVE / f64::EPSILON;

/// The error of data with a value whose square is too large to be added up; nothing where there is none.
pub(super) fn too_large(samples: &dyn Rows) -> Result<Option<Error>> {
    let (n, width) = (samples.rows(), samples.cols().max(1));
    let mut largest = (0.0f64, 0, 0);
    each_block(samples, |first, block| {
        for (at, x) in block.iter().enumerate() {
            if x.abs() > largest.0.abs() {
                largest = (*x, first + at / width, at % width);
            }
        }
    })?;
    let (value, row, column) = largest;
    // Twice: a value may lie as far on the other side of the mean.
    let most = (f64::MAX / n.max(1) as f64).sqrt() / 2.0;
    Ok((value.abs() > most).then(|| Error::Unfit {
        problem: format!(
            "the value {value:e} at row {}, column {} (counted from 1) is too large to be squared in double precision",
            row + 1,
            column + 1
        ),
        remedy: format!(
            "mend it; if it is right, divide all data by a number that brings them below {most:.0e}"
        ),
    }))
}

/// The error of data that vary by so little that the squares are lost; nothing where they do not vary at all, or by more.
pub(super) fn too_small(samples: &dyn Rows) -> Result<Option<Error>> {
    let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); samples.cols()];
    each_block(samples, |_, block| {
        for row in block.chunks_exact(ends.len().max(1)) {
            for ((low, high), x) in ends.iter_mut().zip(row) {
                (*low, *high) = (low.min(*x), high.max(*x));
            }
        }
    })?;
    let apart = ends.iter().map(|(low, high)| high - low).fold(0.0, f64::max);
    Ok((apart > 0.0 && apart * apart < LEAST_SQUARE).then(|| Error::Unfit {
        problem: format!(
            "the data vary by {apart:.1e} at most, which is too little to be squared in double precision"
        ),
        remedy: format!(
            "multiply all of them by a number such as 1e{:.0}",
            (-apart.log10().floor()).min(300.0)
        ),
    }))
}

/// Shows all rows, with the number of the first of every block.
fn each_block(samples: &dyn Rows, mut see: impl FnMut(usize, &[f64])) -> Result<()> {
    let (n, width) = (samples.rows(), samples.cols());
    let mut block = Vec::new();
    for first in (0..n).step_by(BLOCK) {
        block.resize((n - first).min(BLOCK) * width, 0.0);
        samples.read_rows(first, &mut block)?;
        see(first, &block);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Params, Synth};
    use super::*;
    use tenfold_engine::linalg::Mat;

    fn scaled(by: f64) -> Mat {
        let drawn = Synth { samples: 400, columns: 3, sources: 3, ..Synth::default() }.draw();
        drawn.samples.map(|x| by * x)
    }

    #[test]
    fn a_value_beyond_squares_is_told_with_its_place() {
        for value in [1e300, -1e160] {
            let mut data = scaled(1.0);
            data[(123, 1)] = value;
            for standardise in [false, true] {
                let error = Params { standardise, ..Params::new(2) }.fit(&data).unwrap_err();
                let said = error.to_string();
                assert!(matches!(error, Error::Unfit { .. }), "{said}");
                assert!(said.contains(&format!("{value:e} at row 124, column 2")), "{said}");
            }
        }
    }

    #[test]
    fn data_too_small_for_squares_are_not_called_constant() {
        for by in [1e-200, 1e-158, 1e-320] {
            let said = Params::new(2).fit(&scaled(by)).unwrap_err().to_string();
            assert!(said.contains("too little to be squared"), "{by:e}: {said}");
            // The advice helps: it is no larger than what doubles hold, and brings the data near 1 or as near as that goes.
            let advice: f64 = said.rsplit("such as ").next().and_then(|x| x.parse().ok()).unwrap();
            assert!((1e-22..1e3).contains(&(by * advice)), "{by:e}: {said}");
        }
        // What can be squared is fitted, in whatever unit it is.
        for by in [1e-140, 1e140] {
            assert_eq!(Params::new(3).fit(&scaled(by)).unwrap().k(), 3, "{by:e}");
        }
        let constant = Params::new(1).fit(&Mat::from_fn(50, 3, |_, _| 7e-200)).unwrap_err().to_string();
        assert!(constant.contains("do not vary"), "{constant}");
    }
}
