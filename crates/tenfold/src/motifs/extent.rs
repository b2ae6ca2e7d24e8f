//! How far an array reaches: along a line, or over a plane.

/// The size of a signal, a motif or an image in samples. A signal is one row; time runs along the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extent {
    /// 1 for signals, the height for images.
    pub rows: usize,
    /// Samples in time for signals, the width for images.
    pub columns: usize,
}

crate::checkpoint::keep! { Extent { rows, columns } }

impl Extent {
    /// A stretch of a signal.
    pub fn line(samples: usize) -> Self {
        Self { rows: 1, columns: samples }
    }

    /// A patch of an image.
    pub fn plane(rows: usize, columns: usize) -> Self {
        Self { rows, columns }
    }

    /// How many numbers it holds.
    pub fn len(&self) -> usize {
        self.rows.saturating_mul(self.columns)
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is an image's rather than a signal's.
    pub fn is_plane(&self) -> bool {
        self.rows > 1
    }

    /// Whether `inner` lies inside.
    pub fn holds(&self, inner: Self) -> bool {
        self.rows >= inner.rows && self.columns >= inner.columns
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.is_plane() {
            true => write!(f, "{} × {}", self.rows, self.columns),
            false => write!(f, "{}", self.columns),
        }
    }
}
