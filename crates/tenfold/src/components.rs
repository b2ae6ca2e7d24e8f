//! How many hidden factors to look for.

/// The number of components of a model.
///
/// # Example
/// ```
/// use tenfold::components::Components;
/// assert_eq!(Components::from(20), Components::Exactly(20));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Components {
    /// As many as the data support.
    Auto,
    /// This many.
    Exactly(usize),
}

impl From<usize> for Components {
    fn from(k: usize) -> Self {
        Self::Exactly(k)
    }
}
