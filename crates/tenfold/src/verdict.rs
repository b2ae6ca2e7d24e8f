//! What a fit says about itself, in words a person can act on.

use crate::checkpoint::Keep;
use crate::output::shown;
use serde_json::{Value, json};
use tenfold_engine::linalg::counts::{Parcel, Unpacked};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing.
    Note,
    /// The result, or part of it, should not be trusted before this is dealt with.
    Warning,
}

/// The findings of a fit; none means that nothing speaks against the result. Names in them are [`shown`], one line each.
///
/// # Example
/// ```
/// use tenfold::verdict::Verdict;
/// let mut verdict = Verdict::default();
/// assert_eq!(verdict.headline(), "sound: nothing speaks against this result");
/// verdict.warn("two sources look Gaussian; their mixture cannot be undone");
/// assert!(verdict.headline().starts_with("doubtful"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    findings: Vec<(Level, String)>,
}

crate::checkpoint::keep! { Verdict { findings } }

impl Keep for Level {
    fn put(&self, parcel: &mut Parcel) {
        (*self == Self::Warning).put(parcel);
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Some(if bool::take(parcel)? { Self::Warning } else { Self::Note })
    }
}

impl Verdict {
    /// Adds something worth knowing.
    pub fn note(&mut self, message: impl Into<String>) {
        self.findings.push((Level::Note, shown(&message.into()).into_owned()));
    }

    /// Adds a reason for doubt.
    pub fn warn(&mut self, message: impl Into<String>) {
        self.findings.push((Level::Warning, shown(&message.into()).into_owned()));
    }

    /// All findings, in the order of the pipeline.
    pub fn findings(&self) -> &[(Level, String)] {
        &self.findings
    }

    /// Whether nothing gives reason for doubt.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|(level, _)| *level < Level::Warning)
    }

    /// One line for the top of a summary.
    pub fn headline(&self) -> String {
        let warnings = self.findings.iter().filter(|(level, _)| *level == Level::Warning).count();
        match (warnings, self.findings.len()) {
            (0, 0) => "sound: nothing speaks against this result".into(),
            (0, notes) => format!("sound, with {notes} note{}", if notes == 1 { "" } else { "s" }),
            (1, _) => "doubtful: 1 warning".into(),
            (n, _) => format!("doubtful: {n} warnings"),
        }
    }

    /// As JSON: an array of objects with `level` and `message`.
    pub fn to_json(&self) -> Value {
        let level = |l: &Level| if *l == Level::Warning { "warning" } else { "note" };
        self.findings.iter().map(|(l, m)| json!({ "level": level(l), "message": m })).collect()
    }

    /// From [`Verdict::to_json`]; anything else in the array is passed over.
    pub fn from_json(value: &Value) -> Self {
        let read = |f: &Value| {
            let level = if f["level"] == "warning" { Level::Warning } else { Level::Note };
            Some((level, shown(f["message"].as_str()?).into_owned()))
        };
        Self { findings: value.as_array().into_iter().flatten().filter_map(read).collect() }
    }
}
