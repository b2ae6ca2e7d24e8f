//! `--memory`: how much a run may take, what it is expected to take, and what it took.

use crate::common::{Session, human_bytes, parse_size};
use crate::exit;
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::fs::Metadata;
use std::path::Path;
use tenfold::memory::{Estimate, PROGRAM, available, peak, resident, size_to_give};

/// How much memory a run may take.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Memory")]
pub struct MemoryArgs {
    /// Most memory, as in 512MB or 2GiB: a fit that needs more is refused before it begins; elsewhere for data [default: no bound]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
}

impl MemoryArgs {
    /// What data may take while they are read: the bound, or what is usual where there is none.
    pub fn for_data(&self, usual: u64) -> u64 {
        self.memory.unwrap_or(usual)
    }

    /// Whether a bound was given.
    pub fn is_bound(&self) -> bool {
        self.memory.is_some()
    }

    /// Whether the run may take as much as that; always where no bound was given.
    pub fn holds(&self, estimate: &Estimate) -> bool {
        self.memory.is_none_or(|bound| estimate.expected(resident(), None) <= bound)
    }

    /// Refuses a file whose reading alone takes more than the bound: `times` its length, as was measured of its reader.
    pub fn admit(&self, path: &Path, times: f64) -> Result<()> {
        let length = path.metadata().ok().filter(Metadata::is_file).map_or(0, |about| about.len());
        let needed = PROGRAM.saturating_add((times * length as f64) as u64);
        match self.memory {
            Some(bound) if needed > bound => Err(exit::usage(format!(
                "reading {} takes about {} of memory, and --memory allows {}; give --memory {}, or more: \
                 what the fit takes is told when the file has been read",
                path.display(),
                human_bytes(needed),
                human_bytes(bound),
                size_to_give(needed),
            ))),
            _ => Ok(()),
        }
    }

    /// What is left of the bound beside the program and what is held already; `usual` where there is none.
    pub fn left(&self, held: u64, usual: u64) -> u64 {
        let beside = held.saturating_add(PROGRAM);
        self.memory.map_or(usual, |bound| bound.saturating_sub(beside))
    }

    /// Says before the work what it will take, and refuses what is more than the bound. Without one, more than the machine has left
    /// is only warned of: systems may have more than they tell.
    pub fn announce(&self, estimate: Estimate, remedy: &str, session: &Session) -> Result<Taken> {
        let expected = estimate.expected(resident(), peak());
        session.note(&format!("memory: about {}{}", human_bytes(expected), parts(&estimate)));
        match self.memory {
            Some(bound) if expected > bound => Err(exit::usage(format!(
                "about {} of memory are needed{}, and --memory allows {}; {remedy}, or give --memory {}",
                human_bytes(expected),
                parts(&estimate),
                human_bytes(bound),
                size_to_give(expected),
            ))),
            bound => {
                if let Some(left) = available().filter(|left| estimate.work() > *left) {
                    session.warn(&format!(
                        "about {} more memory will be needed, and {} are free; {remedy}",
                        human_bytes(estimate.work()),
                        human_bytes(left)
                    ));
                }
                Ok(Taken { bound, expected, estimate })
            }
        }
    }
}

/// By what, the largest first.
fn parts(estimate: &Estimate) -> String {
    let mut parts: Vec<(&str, u64)> = estimate.parts().collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.1));
    let told: Vec<String> =
        parts.iter().map(|(what, bytes)| format!("{what} {}", human_bytes(*bytes))).collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
}

/// What was allowed and expected; asked at the end for what it was.
pub struct Taken {
    bound: Option<u64>,
    expected: u64,
    estimate: Estimate,
}

impl Taken {
    /// For programs: bytes allowed, expected, expected by part, and taken at the peak.
    pub fn to_json(&self) -> Value {
        let parts: serde_json::Map<String, Value> =
            self.estimate.parts().map(|(what, bytes)| (what.to_owned(), json!(bytes))).collect();
        json!({ "bound": self.bound, "estimate": self.expected, "parts": parts, "peak": peak() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_offered_that_suffice() {
        assert_eq!(size_to_give(123_456_789), "130MB");
        assert_eq!(size_to_give(2_000_000_001), "2100MB");
        let estimate = Estimate::beside("small", 3_000_000).and("large", 50_000_000);
        assert_eq!(parts(&estimate), " (large 50 MB, small 3 MB)");
        assert_eq!(parts(&Estimate::beside("nothing", 0)), "");
    }

    #[test]
    fn the_bound_is_for_all_that_is_held() {
        let (none, some) = (MemoryArgs { memory: None }, MemoryArgs { memory: Some(1 << 30) });
        let estimate = Estimate::beside("data", 1 << 30);
        assert!(none.holds(&estimate) && !some.holds(&estimate) && some.holds(&Estimate::beside("data", 0)));
        assert_eq!((none.for_data(5), some.for_data(5)), (5, 1 << 30));
        assert_eq!((none.left(9, 5), some.left(2 << 30, 5)), (5, 0));
        assert_eq!(some.left(1 << 20, 5), (1 << 30) - (1 << 20) - PROGRAM);
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 30).unwrap();
        let told = some.admit(file.path(), 2.0).unwrap_err().to_string();
        assert!(told.contains("takes about 2.2 GB") && told.contains("--memory 2200MB"), "{told}");
        assert!(some.admit(file.path(), 0.5).is_ok() && none.admit(file.path(), 9.0).is_ok());
        assert!(some.admit(Path::new("-"), 9.0).is_ok());
    }
}
