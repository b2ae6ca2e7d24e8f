//! Images of one channel, whole or window by window.

use crate::error::Result;

/// An image of one channel: cells are bright.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    width: usize,
    height: usize,
    values: Vec<f32>,
}

impl Plane {
    /// From values row after row.
    ///
    /// # Panics
    /// When there are not width × height of them.
    pub fn new(width: usize, height: usize, values: Vec<f32>) -> Self {
        assert_eq!(values.len(), width * height, "a plane of {width} × {height}");
        Self { width, height, values }
    }

    /// All zeros.
    pub fn zeros(width: usize, height: usize) -> Self {
        Self { width, height, values: vec![0.0; width * height] }
    }

    /// Pixels to the right.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Pixels downwards.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// One row.
    pub fn row(&self, y: usize) -> &[f32] {
        &self.values[y * self.width..(y + 1) * self.width]
    }

    /// The value of a pixel.
    pub fn at(&self, x: usize, y: usize) -> f32 {
        self.values[y * self.width + x]
    }
}

/// A rectangle of pixels inside an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first column.
    pub x: usize,
    /// The first row.
    pub y: usize,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

crate::checkpoint::keep! { Window { x, y, width, height } }

/// An image that gives its windows one at a time, because it may be larger than memory.
pub trait Pixels: Sync {
    /// Pixels to the right and downwards.
    fn size(&self) -> (usize, usize);
    /// The values inside a window, cells bright.
    ///
    /// # Errors
    /// When the file behind it cannot be read.
    fn window(&self, window: Window) -> Result<Plane>;
    /// The value at which brighter pixels are cut off, such as 255; none where nothing is.
    fn ceiling(&self) -> Option<f32> {
        None
    }
}

impl Pixels for Plane {
    fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    fn window(&self, window: Window) -> Result<Plane> {
        let rows = window.y..window.y + window.height;
        let values = rows.flat_map(|y| &self.row(y)[window.x..window.x + window.width]).copied().collect();
        Ok(Plane::new(window.width, window.height, values))
    }
}
