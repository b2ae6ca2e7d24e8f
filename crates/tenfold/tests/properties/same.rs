//! Changes of the data whose effect on the answer is known.
//!
//! Three kinds of sameness. *Exact*: the same bits, because the sums are the same sums. *Rounding*: sums in another order, or a
//! search that starts elsewhere and settles at the same point; the bound is the tolerance of the solver that ends the fit.
//! *Chance*: the fit saw other documents aside, or other samples; the bound is the error that so many samples leave, for which each
//! property says its reason.

use super::{counted, seeds};

/// How same is the same.
#[derive(Clone, Copy)]
pub enum Bound {
    Exact,
    /// At most this, by the tolerance of the solver.
    Rounding(f64),
    /// At most this, by the number of samples.
    Chance(f64),
}

/// One change of the data: what became of the answer, as a distance for each seed.
pub struct Property {
    pub application: &'static str,
    pub what: &'static str,
    pub bound: Bound,
    pub distance: fn(u64) -> tenfold::Result<f64>,
}

/// Tries a property on its draws and counts it.
pub fn hold(property: &Property) -> Result<(), String> {
    let (tried, mut held, mut worst) = (seeds(1), 0, 0.0f64);
    let (kind, most) = match property.bound {
        Bound::Exact => ("exact", 0.0),
        Bound::Rounding(most) => ("rounding", most),
        Bound::Chance(most) => ("chance", most),
    };
    for seed in 0..tried {
        let distance = (property.distance)(seed).map_err(|error| format!("{}: {error}", property.what))?;
        held += u64::from(distance <= most);
        worst = if distance.is_nan() { f64::NAN } else { worst.max(distance) };
    }
    let what = format!("{}: {kind}, at most {most:.1e}, worst {worst:.1e}", property.what);
    println!("  {} {what}", property.application);
    counted("property", property.application, &what, (held, tried));
    if held == tried { Ok(()) } else { Err(format!("{} {what}: {held} of {tried}", property.application)) }
}

pub fn hold_all(properties: &[Property]) {
    let broken: Vec<String> = properties.iter().filter_map(|property| hold(property).err()).collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}
