//! What can go wrong in the engine, named by what the caller did.

/// Why the engine could not do what it was asked.
///
/// Shapes that disagree inside the engine are bugs and panic; only what depends on the user's data or
/// choices is an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// More components were asked for than the data can hold.
    #[error("{asked} components were asked for, but {why} allows at most {most}; ask for {most} or fewer")]
    TooManyComponents {
        /// The number asked for.
        asked: usize,
        /// The largest number that works.
        most: usize,
        /// What sets the limit.
        why: &'static str,
    },
    /// The data carry too little to estimate anything.
    #[error("{0}")]
    TooLittleData(String),
    /// A value that is not a finite number.
    #[error(
        "{what} at row {row}, column {column} (counted from 1) is {value}; every value must be a finite number"
    )]
    NotFinite {
        /// What was read.
        what: &'static str,
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A parameter outside its range.
    #[error("{name} = {value} is out of range: {expected}")]
    BadParameter {
        /// The parameter's name.
        name: &'static str,
        /// Its value.
        value: String,
        /// What would have been accepted.
        expected: &'static str,
    },
    /// The combination of solver, tensor order and objective does not exist.
    #[error("{0}")]
    Unsupported(String),
    /// A numerical routine did not converge.
    #[error("{0} did not converge; the input probably holds values beyond the range of double precision")]
    NoConvergence(&'static str),
    /// The data source failed while it was read.
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),
    /// More was asked of a device than its memory holds.
    #[error(
        "the data take {needed} bytes on the device, which offers {available}; take fewer samples, a device with more memory, or --device cpu"
    )]
    DeviceMemory {
        /// Bytes that would be taken.
        needed: u64,
        /// Bytes that are offered.
        available: u64,
    },
    /// A device is missing, was lost, or refused what it was asked for.
    #[error("{0}")]
    Device(String),
    /// The caller asked to stop.
    #[error("stopped before the end")]
    Interrupted,
}

/// The engine's result.
pub type Result<T> = std::result::Result<T, Error>;
