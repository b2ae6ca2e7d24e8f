//! The choice of a solver and its options.

use crate::common::{parse_amount, parse_count, refuse};
use anyhow::Result;
use clap::{Args, ValueEnum};
use tenfold::engine::decompose::{Als, Online, Polar, Power, Rate, Simultaneous, Solver};

/// The solvers, as [`Solver`] names them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Name {
    Polar,
    Power,
    Als,
    Simultaneous,
    Online,
}

/// Options that several solvers share; one that the chosen solver does not have is refused.
#[derive(Args)]
#[command(next_help_heading = "Solver")]
pub struct SolverArgs {
    /// How the tensor is decomposed
    #[arg(long, value_name = "NAME", default_value = "polar")]
    pub solver: Name,
    /// Iterations after which a start is given up (not for online)
    #[arg(long, value_name = "N", value_parser = parse_count)]
    max_iterations: Option<usize>,
    /// What counts as converged
    #[arg(long, value_name = "X", value_parser = parse_amount)]
    tolerance: Option<f64>,
    /// Starts, of which the best is kept (polar, power, als)
    #[arg(long, value_name = "N", value_parser = parse_count)]
    restarts: Option<usize>,
    /// Step size of online: `0.1` stays, `1/t` and `1/(1+0.3t)` fall
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub rate: Option<Rate>,
    /// Length of the random vector added to every online gradient
    #[arg(long, value_name = "X", value_parser = parse_amount)]
    noise: Option<f64>,
}

impl SolverArgs {
    /// The solver with its options.
    pub fn solver(&self) -> Result<Solver> {
        self.solver_like(&Solver::Polar(Polar::default()))
    }

    /// The solver with its options; limits that are not given are those of `usual`, where it is the same solver.
    pub fn solver_like(&self, usual: &Solver) -> Result<Solver> {
        let online = [("--rate", self.rate.is_some()), ("--noise", self.noise.is_some())];
        let starts = [("--restarts", self.restarts.is_some())];
        let chosen = format!("--solver {}", self.solver.to_possible_value().expect("a name").get_name());
        match self.solver {
            Name::Simultaneous => refuse(&[&online[..], &starts].concat(), &chosen)?,
            Name::Online => {
                let iterations = [("--max-iterations", self.max_iterations.is_some())];
                refuse(&[&iterations[..], &starts].concat(), &chosen)?;
            }
            _ => refuse(&online, &chosen)?,
        }
        Ok(match self.solver {
            Name::Polar => {
                let d = if let Solver::Polar(usual) = usual { usual.clone() } else { Polar::default() };
                let (max_iterations, tolerance, restarts) =
                    self.limits(d.max_iterations, d.tolerance, d.restarts);
                Solver::Polar(Polar { max_iterations, tolerance, restarts, ..d })
            }
            Name::Power => {
                let d = Power::default();
                let (max_iterations, tolerance, restarts) =
                    self.limits(d.max_iterations, d.tolerance, d.restarts);
                Solver::Power(Power { max_iterations, tolerance, restarts })
            }
            Name::Als => Solver::Als(self.als()),
            Name::Simultaneous => {
                let d = Simultaneous::default();
                let (max_iterations, tolerance, _) = self.limits(d.max_iterations, d.tolerance, 1);
                Solver::Simultaneous(Simultaneous { max_iterations, tolerance, ..d })
            }
            Name::Online => {
                let d = Online::default();
                Solver::Online(Online {
                    rate: self.rate.unwrap_or(d.rate),
                    noise: self.noise.unwrap_or(d.noise),
                    tolerance: self.tolerance.unwrap_or(d.tolerance),
                    ..d
                })
            }
        })
    }

    /// Alternating least squares with these limits.
    pub fn als(&self) -> Als {
        let d = Als::default();
        let (max_iterations, tolerance, restarts) = self.limits(d.max_iterations, d.tolerance, d.restarts);
        Als { max_iterations, tolerance, restarts }
    }

    fn limits(&self, max_iterations: usize, tolerance: f64, restarts: usize) -> (usize, f64, usize) {
        (
            self.max_iterations.unwrap_or(max_iterations),
            self.tolerance.unwrap_or(tolerance),
            self.restarts.unwrap_or(restarts),
        )
    }
}

/// `0.1`, `1/t` (which begins at t = 1) or `1/(1+0.3t)`.
fn parse_rate(text: &str) -> Result<Rate, String> {
    let number = |s: &str| s.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
    let compact: String = text.chars().filter(|c| !c.is_whitespace() && *c != '*').collect();
    let rate = match compact.split_once('/') {
        None => number(&compact).map(Rate::Constant),
        Some((first, "t")) => number(first).map(|first| Rate::Decreasing { first, decay: 1.0 }),
        Some((first, below)) => {
            let decay = below.strip_prefix("(1+").and_then(|rest| rest.strip_suffix("t)")).and_then(number);
            number(first).zip(decay).map(|(first, decay)| Rate::Decreasing { first, decay })
        }
    };
    rate.ok_or_else(|| "a rate such as 0.1, 1/t or 1/(1+0.3t) is needed".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_understood() {
        assert_eq!(parse_rate("0.1"), Ok(Rate::Constant(0.1)));
        assert_eq!(parse_rate("1/t"), Ok(Rate::Decreasing { first: 1.0, decay: 1.0 }));
        assert_eq!(parse_rate("0.5 / (1 + 0.3*t)"), Ok(Rate::Decreasing { first: 0.5, decay: 0.3 }));
        for text in ["", "0", "-1", "1/", "1/x", "t", "1/(1+t", "nan", "inf/t"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }
}
