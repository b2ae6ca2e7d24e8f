//! A vector of sample numbers in a Matlab file.

use super::{TrueEvent, Truth, TruthOptions, fail};
use crate::error::Result;
use crate::input::mat::{Class, Variable, each_variable};
use crate::input::{Opening, Source};
use std::path::Path;
use tenfold_engine::progress::Progress;

pub(super) fn read(path: &Path, options: &TruthOptions, progress: &dyn Progress) -> Result<Truth> {
    let opening =
        Opening { encoding: None, max_decompressed: options.most(), wanted: "give a vector of events" };
    let source = Source::open(path, opening, progress)?;
    let mut found: Vec<(String, Vec<f64>)> = Vec::new();
    each_variable(&source, progress, |variable, stream| {
        let vector = |v: &Variable| v.class == Class::Full && v.rows.min(v.cols) == 1 && !v.complex;
        let asked = options.variable.as_ref().is_none_or(|name| *name == variable.name);
        if !asked || !vector(&variable) {
            return Ok(());
        }
        let mut values = Vec::new();
        stream.numbers(|value| {
            values.push(value);
            Ok(())
        })?;
        if values.len() as u64 != variable.count() {
            return Err(stream.damaged("holds a vector with too few or too many values"));
        }
        found.push((variable.name, values));
        Ok(())
    })?;
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    let [(_, values)] = &found[..] else {
        let problem = match (&options.variable, names.is_empty()) {
            (Some(name), _) => format!("has no vector {name:?}"),
            (None, true) => "holds no vector".into(),
            (None, false) => format!("holds several vectors: {}", names.join(", ")),
        };
        return Err(fail(path, None, problem, "name the vector of sample numbers with --variable"));
    };
    if let Some(at) = values.iter().position(|t| !(1.0..=4e15).contains(t)) {
        let problem = format!("has the sample number {} at place {}", values[at], at + 1);
        return Err(fail(path, None, problem, "sample numbers are counted from 1, as Matlab does"));
    }
    let events = values.iter().map(|t| TrueEvent { trial: 0, sample: t - 1.0, kind: 0 }).collect();
    Ok(Truth { events, labels: Vec::new() })
}
