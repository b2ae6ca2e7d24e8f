//! What the mathematics of a model demands of its arrays. A checksum says that a file is whole, not that its numbers mean anything: a
//! stranger can compute one.

use super::{ModelFile, Tensor, TensorData, model_error};
use crate::error::{Error, Result};
use serde_json::Value;
use std::ops::RangeInclusive;

/// How far shares may add up to something else than 1. Rounding moves the sum of n of them by n · 2⁻⁵³: 10⁻⁹ for ten million words.
const ROUNDING: f64 = 1e-6;

/// The same in single precision, n · 2⁻²⁴: for up to 16,000 communities.
const ROUNDING_SINGLE: f64 = 1e-3;

/// The largest count that is believed: up to here doubles tell whole numbers apart, and sums of a thousand of them are still counts.
const MOST: u64 = 1 << 53;

impl ModelFile {
    /// Checks that the rows of an array, or a vector, are shares: not negative, and with the sum 1.
    pub(crate) fn check_shares(&self, name: &str) -> Result<()> {
        self.check_within(name, 0.0..=f64::INFINITY)?;
        let rounding = match self.tensors.get(name) {
            Some(Tensor { shape, .. }) if shape.last() == Some(&0) => {
                return Err(self.unsound(name, "holds no shares"));
            }
            Some(Tensor { data: TensorData::F32(_), .. }) => ROUNDING_SINGLE,
            _ => ROUNDING,
        };
        self.each_row(name, |row, numbers| {
            let sum: f64 = numbers.iter().sum();
            let fits = (sum - 1.0).abs() <= rounding;
            if fits { Ok(()) } else { Err(format!("adds up to {sum} in row {}, not to 1", row + 1)) }
        })
    }

    /// Checks that all numbers of an array lie in a range, whose ends may be missed by rounding.
    pub(crate) fn check_within(&self, name: &str, range: RangeInclusive<f64>) -> Result<()> {
        let (low, high) = range.into_inner();
        // A zero may have either sign, and no sum makes it less.
        let (least, most) = (if low == 0.0 { 0.0 } else { low - ROUNDING }, high + ROUNDING);
        let what =
            if high.is_finite() { format!("from {low} to {high}") } else { format!("of {low} or more") };
        self.each_row(name, |row, numbers| match numbers.iter().find(|x| **x < least || **x > most) {
            None => Ok(()),
            Some(x) => Err(format!("holds {x} in row {}, where only numbers {what} make sense", row + 1)),
        })
    }

    /// Checks that an array holds sizes: not negative, and with a sum that is a number.
    pub(crate) fn check_sizes(&self, name: &str) -> Result<()> {
        self.check_within(name, 0.0..=f64::INFINITY)?;
        self.check_sum(name, "a sum", |x| x)
    }

    /// Checks that the squares of an array add up to a number, so that its size can be told.
    pub(crate) fn check_squares(&self, name: &str) -> Result<()> {
        self.check_sum(name, "squares", |x| x * x)
    }

    /// Checks that what is made of the numbers of an array adds up to a number.
    pub(super) fn check_sum(&self, name: &str, what: &str, of: impl Fn(f64) -> f64) -> Result<()> {
        let mut sum = 0.0;
        self.each_row(name, |_, numbers| {
            sum += numbers.iter().map(|x| of(*x)).sum::<f64>();
            Ok(())
        })?;
        if sum.is_finite() {
            return Ok(());
        }
        Err(self.unsound(name, &format!("has {what} beyond the range of double precision")))
    }

    /// Checks that no row of an array is longer than 1.
    pub(crate) fn check_unit_rows(&self, name: &str) -> Result<()> {
        self.each_row(name, |row, numbers| {
            let square: f64 = numbers.iter().map(|x| x * x).sum();
            let fits = square <= 1.0 + ROUNDING;
            if fits { Ok(()) } else { Err(format!("has a row, {}, that is longer than 1", row + 1)) }
        })
    }

    /// The error of an array whose numbers cannot be.
    pub(crate) fn unsound(&self, name: &str, problem: &str) -> Error {
        let problem = format!("the array {name:?} {problem}");
        model_error(&self.path, problem, "the file is no sound model: fit the model again")
    }

    /// Shows the rows of a matrix, or a vector as one row; nothing where there is no such array of numbers.
    fn each_row(
        &self,
        name: &str,
        mut check: impl FnMut(usize, &[f64]) -> std::result::Result<(), String>,
    ) -> Result<()> {
        let Some(Tensor { shape, data }) = self.tensors.get(name) else { return Ok(()) };
        let width = shape.last().copied().unwrap_or(1).max(1);
        let mut check =
            |row: usize, numbers: &[f64]| check(row, numbers).map_err(|problem| self.unsound(name, &problem));
        match data {
            TensorData::F64(numbers) => {
                numbers.chunks(width).enumerate().try_for_each(|(row, numbers)| check(row, numbers))
            }
            TensorData::F32(numbers) => numbers.chunks(width).enumerate().try_for_each(|(row, numbers)| {
                check(row, &numbers.iter().map(|x| f64::from(*x)).collect::<Vec<_>>())
            }),
            TensorData::U8(_) => Ok(()),
        }
    }
}

/// A count among the facts; none where it is missing or no count that a fit can have come to. Larger ones would overflow sums.
pub(crate) fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|n| *n <= MOST)
}

/// A whole number among numbers, below a limit.
pub(crate) fn index(x: f64, limit: usize) -> Option<usize> {
    (x >= 0.0 && x.fract() == 0.0 && x < limit as f64 && x <= MOST as f64).then_some(x as usize)
}

/// A whole number among numbers, of either sign.
pub(crate) fn whole(x: f64) -> Option<i64> {
    (x.fract() == 0.0 && x.abs() <= MOST as f64).then_some(x as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::Mat;

    #[test]
    fn arrays_are_held_against_what_they_stand_for() {
        let mut file = ModelFile::new("ica", serde_json::json!({}));
        file.insert_matrix("rows", &Mat::from_vec(2, 2, vec![0.25, 0.75, -0.0, 1.0]));
        file.insert_matrix("short", &Mat::from_vec(2, 2, vec![0.25, 0.75, 0.0, 0.9]));
        file.insert_matrix("below", &Mat::from_vec(1, 2, vec![1.5, -0.5]));
        file.insert_single("single", &Mat::from_fn(3, 700, |_, _| 1.0 / 700.0));
        file.insert_vector("large", &[1e200, -1e200]);
        file.insert_vector("largest", &[1.7e308, 1.7e308]);
        let said = |result: Result<()>| result.unwrap_err().to_string();
        file.insert_matrix("none", &Mat::zeros(2, 0));
        assert!(said(file.check_shares("none")).contains("holds no shares"));
        for sound in ["rows", "single", "no such array"] {
            file.check_shares(sound).unwrap();
        }
        let short = said(file.check_shares("short"));
        assert!(short.contains("\"short\" adds up to 0.9 in row 2") && short.contains("again"), "{short}");
        assert!(said(file.check_shares("below")).contains("\"below\" holds -0.5 in row 1"));
        file.check_within("below", -0.5..=1.5).unwrap();
        assert!(said(file.check_within("below", -1.0..=1.0)).contains("holds 1.5"));
        assert!(said(file.check_squares("large")).contains("squares beyond"));
        assert!(said(file.check_sizes("largest")).contains("a sum beyond"));
        assert!(said(file.check_sizes("large")).contains("holds -1"));
        file.check_unit_rows("rows").unwrap();
        assert!(said(file.check_unit_rows("below")).contains("row, 1, that is longer"));
    }

    #[test]
    fn counts_leave_room_for_sums() {
        let count = |n: u64| count(&serde_json::json!(n));
        assert_eq!((count(7), count(MOST), count(u64::MAX)), (Some(7), Some(MOST), None));
        assert_eq!((index(3.0, 4), index(4.0, 4), index(0.5, 4)), (Some(3), None, None));
        assert_eq!((index(1e300, usize::MAX), index(f64::NAN, 4)), (None, None));
        assert_eq!((whole(-3.0), whole(0.5), whole(1e300)), (Some(-3), None, None));
    }
}
