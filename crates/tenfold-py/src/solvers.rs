//! Solvers by their names.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tenfold::engine::decompose::{Als, Online, Polar, Power, Simultaneous, Solver};

/// Limits that several solvers share; what is None is the solver's own.
pub struct Limits {
    pub max_iterations: Option<usize>,
    pub tolerance: Option<f64>,
    pub restarts: Option<usize>,
}

/// The solver of this name; limits that are not given are those of `usual`, where it is the same solver.
pub fn solver_like(name: &str, limits: &Limits, usual: &Solver) -> PyResult<Solver> {
    let Limits { max_iterations, tolerance, restarts } = *limits;
    Ok(match name {
        "polar" => {
            let d = if let Solver::Polar(usual) = usual { usual.clone() } else { Polar::default() };
            Solver::Polar(Polar {
                max_iterations: max_iterations.unwrap_or(d.max_iterations),
                tolerance: tolerance.unwrap_or(d.tolerance),
                restarts: restarts.unwrap_or(d.restarts),
                ..d
            })
        }
        "power" => {
            let d = Power::default();
            Solver::Power(Power {
                max_iterations: max_iterations.unwrap_or(d.max_iterations),
                tolerance: tolerance.unwrap_or(d.tolerance),
                restarts: restarts.unwrap_or(d.restarts),
            })
        }
        "als" => Solver::Als(als(limits)),
        "simultaneous" => {
            let d = Simultaneous::default();
            Solver::Simultaneous(Simultaneous {
                max_iterations: max_iterations.unwrap_or(d.max_iterations),
                tolerance: tolerance.unwrap_or(d.tolerance),
                ..d
            })
        }
        "online" => {
            let d = Online::default();
            let max_steps = max_iterations.unwrap_or(d.max_steps);
            Solver::Online(Online { max_steps, tolerance: tolerance.unwrap_or(d.tolerance), ..d })
        }
        other => return Err(PyValueError::new_err(format!("solver = {other:?} is not known"))),
    })
}

/// Alternating least squares with these limits.
pub fn als(limits: &Limits) -> Als {
    let d = Als::default();
    Als {
        max_iterations: limits.max_iterations.unwrap_or(d.max_iterations),
        tolerance: limits.tolerance.unwrap_or(d.tolerance),
        restarts: limits.restarts.unwrap_or(d.restarts),
    }
}
