//! What nodes are called.

use super::names::{MOST, Names};
use crate::error::{Error, Result};
use std::borrow::Cow;

/// The ids of nodes, held compactly: numbers stay numbers, names are one joined text.
///
/// # Example
/// ```
/// use tenfold::communities::Ids;
/// let ids = Ids::from_names(["ann", "bob"])?;
/// assert_eq!((ids.len(), ids.get(1), ids.find("ann")), (2, "bob".into(), Some(0)));
/// let numbers = Ids::from_numbers(vec![3, 5, 1 << 40])?;
/// assert_eq!((numbers.get(1), numbers.find("5"), numbers.find("05")), ("5".into(), Some(1), None));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ids(Held);

#[derive(Debug, Clone)]
enum Held {
    /// Numbers without gaps.
    Counted {
        first: u64,
        len: usize,
    },
    /// Ascending numbers.
    Numbers(Vec<u64>),
    Names(Names),
}

impl Ids {
    /// The numbers `first`, `first` + 1, …
    pub fn counted(first: u64, len: usize) -> Self {
        Self(Held::Counted { first, len })
    }

    /// Ascending numbers.
    ///
    /// # Errors
    /// [`Error::BadParameter`] when the numbers do not ascend.
    pub fn from_numbers(numbers: Vec<u64>) -> Result<Self> {
        if let Some(at) = numbers.windows(2).position(|w| w[0] >= w[1]) {
            return Err(bad(numbers[at + 1].to_string(), "numbers that ascend, each once"));
        }
        Ok(match (numbers.first(), numbers.last()) {
            (Some(&first), Some(&last)) if last - first == numbers.len() as u64 - 1 => {
                Self::counted(first, numbers.len())
            }
            _ => Self(Held::Numbers(numbers)),
        })
    }

    /// Names in this order.
    ///
    /// # Errors
    /// [`Error::BadParameter`] when a name stands twice.
    pub fn from_names<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Self> {
        let mut held = Names::default();
        for (i, name) in names.into_iter().enumerate() {
            if held.insert(name.as_ref()) != Some(i as u32) {
                return Err(bad(format!("{:?}", name.as_ref()), "every name once"));
            }
        }
        Ok(Self::of(held))
    }

    pub(crate) fn of(names: Names) -> Self {
        Self(Held::Names(names))
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match &self.0 {
            Held::Counted { len, .. } => *len,
            Held::Numbers(numbers) => numbers.len(),
            Held::Names(names) => names.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of node i.
    pub fn get(&self, i: usize) -> Cow<'_, str> {
        match &self.0 {
            Held::Names(names) => Cow::Borrowed(names.get(i)),
            _ => Cow::Owned(self.number(i).unwrap_or_default().to_string()),
        }
    }

    /// The id of node i if ids are numbers.
    pub fn number(&self, i: usize) -> Option<u64> {
        match &self.0 {
            Held::Counted { first, len } => {
                assert!(i < *len, "node {i} of {len}");
                Some(first + i as u64)
            }
            Held::Numbers(numbers) => Some(numbers[i]),
            Held::Names(_) => None,
        }
    }

    /// The node with this id, written as [`Ids::get`] writes it.
    pub fn find(&self, id: &str) -> Option<usize> {
        match &self.0 {
            Held::Names(names) => names.find(id).map(|i| i as usize),
            Held::Counted { first, len } => {
                number(id)?.checked_sub(*first).filter(|i| *i < *len as u64).map(|i| i as usize)
            }
            Held::Numbers(numbers) => numbers.binary_search(&number(id)?).ok(),
        }
    }

    /// All ids in the order of the nodes.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The ids of some of the nodes, in the same order.
    pub(crate) fn some(&self, keep: &[bool]) -> Self {
        let kept = (0..self.len()).filter(|&i| keep[i]);
        match &self.0 {
            Held::Names(all) => {
                let mut names = Names::default();
                kept.for_each(|i| {
                    names.insert(all.get(i));
                });
                Self::of(names)
            }
            _ => {
                let numbers: Vec<u64> = kept.filter_map(|i| self.number(i)).collect();
                Self::from_numbers(numbers.clone()).unwrap_or(Self(Held::Numbers(numbers)))
            }
        }
    }

    /// Names that are all whole numbers become numbers in ascending order; the second value then gives every old place
    /// its new one.
    pub(crate) fn settled(names: Names) -> (Self, Option<Vec<u32>>) {
        let numbers: Option<Vec<u64>> = (0..names.len()).map(|i| number(names.get(i))).collect();
        let Some(numbers) = numbers else {
            return (Self::of(names), None);
        };
        let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
        order.sort_unstable_by_key(|&i| numbers[i as usize]);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| places[old as usize] = new as u32);
        let sorted: Vec<u64> = order.iter().map(|&i| numbers[i as usize]).collect();
        // Distinct names in the one way of writing are distinct numbers.
        (Self::from_numbers(sorted.clone()).unwrap_or(Self(Held::Numbers(sorted))), Some(places))
    }
}

/// A number written the one way in which it comes back: digits, no sign, no leading zero.
pub(crate) fn number(id: &str) -> Option<u64> {
    let digits = !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit());
    (digits && (id.len() == 1 || !id.starts_with('0'))).then(|| id.parse().ok()).flatten()
}

/// The error for more nodes than there are numbers for.
pub(crate) fn too_many() -> Error {
    bad(format!("more than {MOST}"), "at most 4,294,967,295 nodes")
}

fn bad(value: String, expected: &str) -> Error {
    Error::BadParameter { name: "ids".into(), value, expected: expected.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(ids: &Ids) -> Vec<String> {
        ids.iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn what_goes_in_comes_out_and_is_found() {
        let many = [
            Ids::counted(7, 3),
            Ids::from_numbers(vec![0, 2, u64::MAX]).unwrap(),
            Ids::from_names(["b", "", "a 1", "07", "7"]).unwrap(),
        ];
        for ids in &many {
            for (i, id) in ids.iter().enumerate() {
                assert_eq!(ids.find(&id), Some(i));
            }
            for missing in ["x", "-1", "+7", "6", "10", "007", "18446744073709551616", " 7"] {
                assert_eq!(ids.find(missing), None, "{missing}");
            }
        }
        assert_eq!(all(&many[1]), ["0", "2", "18446744073709551615"]);
        assert!(matches!(Ids::from_numbers(vec![4, 5, 6]).unwrap().0, Held::Counted { first: 4, len: 3 }));
        assert!(Ids::from_numbers(vec![4, 4]).is_err() && Ids::from_names(["a", "a"]).is_err());
        assert!(Ids::from_numbers(vec![]).unwrap().is_empty());
    }

    #[test]
    fn some_of_them_and_numbers_in_disguise() {
        assert_eq!(all(&Ids::counted(1, 4).some(&[true, false, true, true])), ["1", "3", "4"]);
        assert_eq!(all(&Ids::from_names(["b", "a"]).unwrap().some(&[false, true])), ["a"]);
        let names = |list: &[&str]| {
            let mut names = Names::default();
            for name in list {
                names.insert(name);
            }
            Ids::settled(names)
        };
        let (ids, places) = names(&["10", "9", "0"]);
        assert_eq!((all(&ids), places), (vec!["0".into(), "9".into(), "10".into()], Some(vec![2, 1, 0])));
        let (ids, places) = names(&["10", "09"]);
        assert_eq!((all(&ids), places), (vec!["10".to_string(), "09".into()], None));
    }
}
