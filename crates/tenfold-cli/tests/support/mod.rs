//! Drives the real binary in a folder of its own.
#![allow(dead_code)] // Every test file uses its own part of this.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder that goes away with the test.
pub struct Place(tempfile::TempDir);

/// What a run left behind.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Names of all files, hidden ones too.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The command, not yet started; arguments are split at spaces.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenfold"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        command
    }

    pub fn run(&self, arguments: &str) -> Run {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
    }

    /// A run that reads `input` from standard input.
    pub fn run_with(&self, arguments: &str, input: &[u8]) -> Run {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that ends before it has read everything closes the pipe; what it says tells why.
        let _ = child.stdin.take().unwrap().write_all(input);
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
    }

    /// A run that must succeed.
    pub fn ok(&self, arguments: &str) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "tenfold {arguments}\n{}\n{}", run.out, run.err);
        run
    }

    /// A run with `--json`: exactly one object on standard output.
    pub fn json(&self, arguments: &str) -> serde_json::Value {
        let run = self.ok(&format!("{arguments} --json"));
        let value: serde_json::Value =
            serde_json::from_str(&run.out).unwrap_or_else(|e| panic!("{e}: {}", run.out));
        assert!(value.is_object(), "{value}");
        value
    }

    /// A run that must fail with this code and say these words, and leave no file of its own.
    pub fn fails(&self, arguments: &str, code: i32, words: &[&str]) -> Run {
        let before = self.files();
        let run = self.run(arguments);
        assert_eq!(run.code, code, "tenfold {arguments}\n{}\n{}", run.out, run.err);
        assert!(run.err.contains("error: "), "tenfold {arguments}: {}", run.err);
        for word in words {
            assert!(run.err.contains(word), "tenfold {arguments}: no {word:?} in {}", run.err);
        }
        assert!(!run.err.contains("panicked"), "{}", run.err);
        assert_eq!(self.files(), before, "tenfold {arguments} left a file");
        run
    }
}

/// A number out of a JSON object.
pub fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A `.npy` file of f64.
pub fn npy(shape: &[usize], data: &[f64]) -> Vec<u8> {
    let lengths: String = shape.iter().map(|d| format!("{d}, ")).collect();
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({lengths}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    data.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}

/// Numbers in (−½, ½) that look random and are the same everywhere.
pub fn noise(count: usize) -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    (0..count).map(|_| next()).collect()
}
