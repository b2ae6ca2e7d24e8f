//! One target for every reader, chosen by `TENFOLD_READER`: all of them in one program, because building it takes longest.
//!
//! A panic, an allocation beyond what [`measure::allowed`] says, and a run beyond libFuzzer's `-timeout` are findings. Where
//! `TENFOLD_PEAK` names a file, the largest allocation goes into it: its bytes, those of its input, and those allowed.
#![no_main]

#[path = "../../crates/tenfold/tests/readers/mod.rs"]
mod readers;
#[path = "../../crates/tenfold/tests/readers/measure.rs"]
mod measure;

use libfuzzer_sys::fuzz_target;
use readers::Reader;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

/// What the last panic said. Readers of Parquet and Arrow catch those of the crates they call; only what gets through is a finding.
static SAID: Mutex<String> = Mutex::new(String::new());

static READER: LazyLock<&'static Reader> = LazyLock::new(|| {
    let name = std::env::var("TENFOLD_READER").unwrap_or_default();
    readers::find(&name).unwrap_or_else(|| {
        let names: Vec<&str> = readers::READERS.iter().map(|reader| reader.name).collect();
        eprintln!("TENFOLD_READER chooses the reader, one of {}", names.join(" "));
        std::process::exit(2)
    })
});

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("tenfold-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the files");
    folder
});

/// Thousandths of the allowance that the worst input so far took, begun; 0 before the first.
static WORST: AtomicUsize = AtomicUsize::new(0);

fn keep_worst(taken: usize, len: usize) {
    let share = taken * 1000 / measure::allowed(len) + 1;
    if share > WORST.fetch_max(share, Ordering::Relaxed)
        && let Some(file) = std::env::var_os("TENFOLD_PEAK")
    {
        let _ = std::fs::write(file, format!("{taken} {len} {}\n", measure::allowed(len)));
    }
}

fuzz_target!(
    init: {
        std::panic::set_hook(Box::new(|panic| {
            *SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) =
                format!("{panic}\n{}", std::backtrace::Backtrace::force_capture());
        }));
        LazyLock::force(&READER);
    },
    |bytes: &[u8]| {
        let run = || measure::taken(*READER, &FOLDER, bytes).1;
        match std::panic::catch_unwind(run) {
            Ok(taken) => {
                keep_worst(taken, bytes.len());
                if taken > measure::allowed(bytes.len()) {
                    eprintln!("{} took {taken} bytes for a file of {}", READER.name, bytes.len());
                    std::process::abort();
                }
            }
            Err(_) => {
                eprintln!("{}", SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
                std::process::abort();
            }
        }
    }
);
