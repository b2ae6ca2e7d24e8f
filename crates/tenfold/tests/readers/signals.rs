//! Readers of signals and of events.

use super::ROOM;
use std::path::Path;
use tenfold::engine::progress::Silent;
use tenfold::motifs::truth::{self, Annotations, TruthOptions};
use tenfold::motifs::{Layout, ReadOptions, read};

/// Whatever was read must hold together; the signals have their own assertions.
pub fn check(path: &Path) -> bool {
    let mut found = false;
    for (layout, skip_nan, cyclic) in
        [(Layout::Auto, false, false), (Layout::Channels, true, false), (Layout::Images, true, true)]
    {
        let options = ReadOptions {
            layout,
            skip_nan,
            cyclic,
            memory: 16 * ROOM,
            max_decompressed: ROOM,
            ..ReadOptions::default()
        };
        if let Ok(signals) = read(path, &options, &Silent) {
            assert!(signals.samples() > 0 && !signals.channels().is_empty());
            assert!(signals.stretches().iter().all(|s| s.values.iter().all(|x| x.is_finite())));
            assert!(signals.rate().is_none_or(|rate| rate > 0.0), "{}: {:?}", path.display(), signals.rate());
            found = true;
        }
    }
    found
}

pub fn events(path: &Path) -> bool {
    let options = TruthOptions {
        rate: Some(100.0),
        annotations: Annotations::All,
        variable: None,
        max_decompressed: Some(ROOM),
    };
    let found = truth::read(path, &options, &Silent);
    if let Ok(known) = &found {
        assert!(!known.events.is_empty() && known.events.iter().all(|e| e.sample.is_finite()));
        assert!(known.events.iter().all(|e| e.kind < known.labels.len().max(1)));
    }
    found.is_ok()
}
