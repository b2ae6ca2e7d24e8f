//! What a file holds: a symmetric tensor of some order, or one without symmetry.

use crate::exit;
use anyhow::Result;
use std::path::Path;
use tenfold::engine::Error as EngineError;
use tenfold::engine::linalg::Mat;
use tenfold::engine::tensor::{Contract, Cp, Dense, Packed, Tensor3, Tensor4, into_range, ptrace};
use tenfold::input::{Array, read_array};

/// A tensor, as the solvers take it.
pub enum Tensor {
    /// Order 3.
    Three(Tensor3),
    /// Order 4.
    Four(Tensor4),
    /// An odd order above 4, with its partial trace of order 4, whose components are the same.
    Odd { full: Array, traced: Tensor4 },
    /// Three sides, no symmetry.
    Dense(Dense),
}

impl Tensor {
    /// Reads a `.npy` file; a shape that is no cube has no symmetry. Entries whose powers double precision cannot hold are divided by
    /// the number that comes with the tensor, which belongs to the weights.
    pub fn read(path: &Path, asymmetric: bool, tolerance: f64) -> Result<(Self, f64)> {
        if path.extension().is_none_or(|e| !e.eq_ignore_ascii_case("npy")) {
            return Err(exit::usage(format!("{}: a tensor is read from a .npy file", path.display())));
        }
        let mut array = read_array(path)?;
        let scale = into_range(&mut array.data);
        let (order, dim) = (array.shape.len(), array.shape.first().copied().unwrap_or(0));
        let cube = array.shape.iter().all(|&d| d == dim);
        // All that can be wrong with a full tensor of finite entries is that it is not symmetric.
        let skewed = |error: EngineError| {
            let advice = if order == 3 { "for a tensor without symmetry give --asymmetric; " } else { "" };
            let found = match error {
                EngineError::BadParameter { value, .. } => value,
                other => other.to_string(),
            };
            let unit = if scale == 1.0 { String::new() } else { format!(" (in units of {scale:e})") };
            exit::bad_input(format!(
                "{}: is not symmetric: {found}{unit}; {advice}if only rounding is to blame, raise --symmetry-tolerance",
                path.display()
            ))
        };
        let refuse = |why: &str| Err(exit::bad_input(format!("{}: {why}", path.display())));
        if array.data.is_empty() {
            return refuse(&format!("holds no entries (shape {:?})", array.shape));
        }
        let tensor = match (order, cube) {
            (3, _) if asymmetric || !cube => {
                let shape = [array.shape[0], array.shape[1], array.shape[2]];
                Self::Dense(Dense::new(shape, array.data))
            }
            _ if asymmetric => {
                return refuse(&format!("--asymmetric needs three sides, shape is {:?}", array.shape));
            }
            (3, _) => Self::Three(Tensor3::from_full(dim, &array.data, tolerance).map_err(skewed)?),
            (4, true) => Self::Four(Tensor4::from_full(dim, &array.data, tolerance).map_err(skewed)?),
            (5, true) => {
                Packed::<5>::from_full(dim, &array.data, tolerance).map_err(skewed)?;
                Self::Odd { traced: ptrace(dim, order, &array.data), full: array }
            }
            (7, true) => {
                Packed::<7>::from_full(dim, &array.data, tolerance).map_err(skewed)?;
                Self::Odd { traced: ptrace(dim, order, &array.data), full: array }
            }
            _ => {
                return refuse(&format!(
                    "shape {:?} cannot be decomposed; give a symmetric tensor of order 3, 4, 5 or 7 with equal sides, \
                     or any tensor of three sides",
                    array.shape
                ));
            }
        };
        Ok((tensor, scale))
    }

    /// The symmetric tensor that a solver sees.
    pub fn symmetric(&self) -> Option<&dyn Contract> {
        match self {
            Self::Three(tensor) => Some(tensor),
            Self::Four(tensor) => Some(tensor),
            Self::Odd { traced, .. } => Some(traced),
            Self::Dense(_) => None,
        }
    }

    /// Number of sides.
    pub fn order(&self) -> usize {
        match self {
            Self::Three(_) | Self::Dense(_) => 3,
            Self::Four(_) => 4,
            Self::Odd { full, .. } => full.shape.len(),
        }
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Three(t) => format!("symmetric tensor of order 3, side {}", t.dim()),
            Self::Four(t) => format!("symmetric tensor of order 4, side {}", t.dim()),
            Self::Odd { full, .. } => format!(
                "symmetric tensor of order {}, side {}, seen through its partial trace of order 4",
                full.shape.len(),
                full.shape[0]
            ),
            Self::Dense(t) => format!("tensor of shape {:?}, taken as without symmetry", t.shape),
        }
    }

    /// The components found for [`symmetric`](Self::symmetric) as components of this tensor: at an odd order above
    /// 4 the weights, which the partial trace has squared, are read off the tensor itself.
    pub fn own_components(&self, found: Cp) -> Cp {
        match self {
            Self::Odd { full, .. } => {
                let order = full.shape.len();
                let weights = values(full, &found.factors);
                Cp::new(order, weights, found.factors).canonical()
            }
            _ => found,
        }
    }

    /// ‖T − T̂‖ / ‖T‖.
    pub fn residual(&self, cp: &Cp) -> Result<Option<f64>> {
        match self {
            Self::Odd { full, .. } => {
                let norm: f64 = full.data.iter().map(|x| x * x).sum();
                let cross: f64 = values(full, &cp.factors).iter().zip(&cp.weights).map(|(v, w)| v * w).sum();
                let own = cp.norm_squared().unwrap_or(f64::NAN);
                Ok(Some(((norm - 2.0 * cross + own).max(0.0) / norm.max(f64::MIN_POSITIVE)).sqrt()))
            }
            _ => self.symmetric().map_or(Ok(None), |tensor| Ok(cp.residual(tensor)?)),
        }
    }
}

/// T(v_c, …, v_c) for every column, one side after the other.
fn values(full: &Array, factors: &Mat) -> Vec<f64> {
    let dim = factors.rows();
    let contract = |c: usize| {
        let v = factors.col(c);
        let mut data = full.data.clone();
        while data.len() > 1 {
            data = data.chunks_exact(dim).map(|row| row.iter().zip(&v).map(|(a, b)| a * b).sum()).collect();
        }
        data[0]
    };
    (0..factors.cols()).map(contract).collect()
}
