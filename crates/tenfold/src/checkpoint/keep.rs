//! What can be kept: plain numbers, and structures of them.

use std::collections::{BTreeMap, BTreeSet};
use tenfold_engine::decompose::{Decomposition, Trace};
use tenfold_engine::linalg::counts::{Parcel, Unpacked};
use tenfold_engine::linalg::{CMat, Complex64, Eigen, Mat, Tall, TallEigen};
use tenfold_engine::tensor::{Cp, Packed};

/// Something that comes back from bytes exactly as it was.
///
/// # Example
/// ```
/// use tenfold::checkpoint::Keep;
/// use tenfold::engine::linalg::counts::{Parcel, Unpacked};
/// let (mut parcel, before) = (Parcel::default(), (vec![0.1, f64::NAN], Some("x".to_owned())));
/// before.put(&mut parcel);
/// let (numbers, text) = <(Vec<f64>, Option<String>)>::take(&mut Unpacked(&parcel.0)).unwrap();
/// assert!(numbers[0] == 0.1 && numbers[1].is_nan() && text == before.1);
/// ```
pub trait Keep: Sized {
    /// Adds it to the parcel.
    fn put(&self, parcel: &mut Parcel);
    /// Takes it out of the parcel again; `None` when the bytes are something else.
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self>;

    /// Adds a list of them, without its length.
    fn put_all(list: &[Self], parcel: &mut Parcel) {
        list.iter().for_each(|one| one.put(parcel));
    }
    /// Takes a list of so many.
    fn take_all(count: usize, parcel: &mut Unpacked<'_>) -> Option<Vec<Self>> {
        // Nothing is set aside on the word of the bytes alone: the list grows as its entries come.
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(Self::take(parcel)?);
        }
        Some(list)
    }
}

/// Keeps a structure field by field; a field that is forgotten does not compile.
macro_rules! keep {
    ($($type:ty { $($field:ident),* $(,)? })*) => {$(
        impl $crate::checkpoint::Keep for $type {
            fn put(&self, parcel: &mut tenfold_engine::linalg::counts::Parcel) {
                $($crate::checkpoint::Keep::put(&self.$field, parcel);)*
            }
            fn take(parcel: &mut tenfold_engine::linalg::counts::Unpacked<'_>) -> Option<Self> {
                Some(Self { $($field: $crate::checkpoint::Keep::take(parcel)?),* })
            }
        }
    )*};
}
pub(crate) use keep;

keep! {
    Cp { order, weights, factors }
    Trace { iterations, residuals, converged, restarts }
    Decomposition { cp, trace, fit }
    Eigen { values, vectors }
    TallEigen { values, vectors, residuals, beyond, products, converged }
}

impl Keep for u64 {
    fn put(&self, parcel: &mut Parcel) {
        parcel.number(*self);
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        parcel.number()
    }
}

impl Keep for usize {
    fn put(&self, parcel: &mut Parcel) {
        parcel.number(*self as u64);
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        parcel.number()?.try_into().ok()
    }
}

impl Keep for u32 {
    fn put(&self, parcel: &mut Parcel) {
        parcel.number(u64::from(*self));
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        parcel.number()?.try_into().ok()
    }
}

impl Keep for bool {
    fn put(&self, parcel: &mut Parcel) {
        parcel.number(u64::from(*self));
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        match parcel.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Keep for f64 {
    fn put(&self, parcel: &mut Parcel) {
        parcel.double(*self);
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        parcel.double()
    }
    fn put_all(list: &[Self], parcel: &mut Parcel) {
        parcel.doubles(list);
    }
    fn take_all(count: usize, parcel: &mut Unpacked<'_>) -> Option<Vec<Self>> {
        parcel.doubles().filter(|list| list.len() == count)
    }
}

impl Keep for f32 {
    fn put(&self, parcel: &mut Parcel) {
        parcel.number(u64::from(self.to_bits()));
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Some(Self::from_bits(parcel.number()?.try_into().ok()?))
    }
    fn put_all(list: &[Self], parcel: &mut Parcel) {
        parcel.singles(list);
    }
    fn take_all(count: usize, parcel: &mut Unpacked<'_>) -> Option<Vec<Self>> {
        parcel.singles().filter(|list| list.len() == count)
    }
}

impl Keep for String {
    fn put(&self, parcel: &mut Parcel) {
        parcel.bytes(self.as_bytes());
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Self::from_utf8(parcel.bytes()?.to_vec()).ok()
    }
}

impl<T: Keep> Keep for Vec<T> {
    fn put(&self, parcel: &mut Parcel) {
        self.len().put(parcel);
        T::put_all(self, parcel);
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let count = usize::take(parcel)?;
        T::take_all(count, parcel)
    }
}

impl<T: Keep> Keep for Option<T> {
    fn put(&self, parcel: &mut Parcel) {
        self.is_some().put(parcel);
        self.iter().for_each(|one| one.put(parcel));
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        match bool::take(parcel)? {
            true => T::take(parcel).map(Some),
            false => Some(None),
        }
    }
}

impl<A: Keep, B: Keep> Keep for (A, B) {
    fn put(&self, parcel: &mut Parcel) {
        self.0.put(parcel);
        self.1.put(parcel);
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Some((A::take(parcel)?, B::take(parcel)?))
    }
}

impl<A: Keep, B: Keep, C: Keep> Keep for (A, B, C) {
    fn put(&self, parcel: &mut Parcel) {
        self.0.put(parcel);
        self.1.put(parcel);
        self.2.put(parcel);
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Some((A::take(parcel)?, B::take(parcel)?, C::take(parcel)?))
    }
}

impl<T: Keep, const N: usize> Keep for [T; N] {
    fn put(&self, parcel: &mut Parcel) {
        T::put_all(self, parcel);
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        T::take_all(N, parcel)?.try_into().ok()
    }
}

impl<K: Keep + Ord, V: Keep> Keep for BTreeMap<K, V> {
    fn put(&self, parcel: &mut Parcel) {
        self.len().put(parcel);
        self.iter().for_each(|(key, value)| {
            key.put(parcel);
            value.put(parcel);
        });
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Some(Vec::<(K, V)>::take(parcel)?.into_iter().collect())
    }
}

impl<K: Keep + Ord> Keep for BTreeSet<K> {
    fn put(&self, parcel: &mut Parcel) {
        self.len().put(parcel);
        self.iter().for_each(|key| key.put(parcel));
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let count = usize::take(parcel)?;
        (0..count).map(|_| K::take(parcel)).collect()
    }
}

impl Keep for Mat {
    fn put(&self, parcel: &mut Parcel) {
        (self.rows(), self.cols()).put(parcel);
        parcel.doubles(self.as_slice());
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let (rows, cols) = Keep::take(parcel)?;
        let numbers = parcel.doubles()?;
        (usize::checked_mul(rows, cols) == Some(numbers.len())).then(|| Self::from_vec(rows, cols, numbers))
    }
}

impl Keep for CMat {
    fn put(&self, parcel: &mut Parcel) {
        (self.rows(), self.cols()).put(parcel);
        parcel.doubles(&self.as_slice().iter().flat_map(|x| [x.re, x.im]).collect::<Vec<f64>>());
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let (rows, cols) = Keep::take(parcel)?;
        let numbers = parcel.doubles()?;
        let count = usize::checked_mul(rows, cols).and_then(|count| count.checked_mul(2));
        (count == Some(numbers.len())).then(|| {
            let number = |i: usize| Complex64::new(numbers[2 * i], numbers[2 * i + 1]);
            Self::from_fn(rows, cols, |i, j| number(i * cols + j))
        })
    }
}

impl Keep for Tall {
    fn put(&self, parcel: &mut Parcel) {
        (self.rows(), self.width()).put(parcel);
        parcel.singles(self.as_slice());
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let (rows, width) = Keep::take(parcel)?;
        let numbers = parcel.singles()?;
        usize::checked_mul(rows, width).filter(|count| *count == numbers.len())?;
        Self::from_vec(rows, width, numbers)
    }
}

impl<const ORDER: usize> Keep for Packed<ORDER> {
    fn put(&self, parcel: &mut Parcel) {
        self.dim().put(parcel);
        parcel.doubles(self.as_slice());
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let dim = usize::take(parcel)?;
        let numbers = parcel.doubles()?;
        // A side beyond the number of entries cannot be, and its power might not be a number any more.
        (dim <= numbers.len()).then(|| Self::from_packed(dim, numbers)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;
    use tenfold_engine::tensor::Tensor3;

    /// Comes back as it was, from all of its bytes and from no fewer; other bytes are no panic.
    fn comes_back<T: Keep + PartialEq + Debug>(one: &T) {
        let mut parcel = Parcel::default();
        one.put(&mut parcel);
        let mut left = Unpacked(&parcel.0);
        assert_eq!(T::take(&mut left).as_ref(), Some(one));
        assert!(left.0.is_empty());
        for end in 0..parcel.0.len() {
            assert!(T::take(&mut Unpacked(&parcel.0[..end])).is_none(), "{one:?} from {end} bytes");
        }
        for at in 0..parcel.0.len() {
            let mut garbled = parcel.0.clone();
            garbled[at] ^= 0xff;
            let _ = T::take(&mut Unpacked(&garbled));
        }
    }

    #[test]
    fn what_is_kept_comes_back() {
        comes_back(&vec![(1usize, "a\u{202e}".to_owned()), (usize::MAX, String::new())]);
        comes_back(&(vec![1.5f64, -0.0, 1e-310], vec![f32::MIN_POSITIVE], Some(true)));
        comes_back(&BTreeMap::from([((1usize, 2usize), 0.5), ((3, 4), -1.0)]));
        comes_back(&BTreeSet::from([vec![1u32, 2], vec![]]));
        comes_back(&[[0.5, 0.25], [1.0, 2.0]]);
        comes_back(&Mat::from_fn(2, 3, |i, j| i as f64 - j as f64));
        comes_back(&CMat::from_fn(2, 3, |i, j| Complex64::new(i as f64, -(j as f64))));
        comes_back(&Tall::gaussian(3, 2, 1));
        comes_back(&Tensor3::from_packed(2, vec![1.0, 2.0, 3.0, 4.0]).unwrap());
        let cp = Cp::new(3, vec![2.0, 1.0], Mat::identity(2));
        comes_back(&Decomposition { cp, trace: Trace::default(), fit: Some(0.5) });
    }
}
