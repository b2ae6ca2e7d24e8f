//! How the command ends: exit codes, and errors for people and for programs.

use crate::common::print_json;
use serde_json::json;
use std::io::Write;
use std::path::Path;
use tenfold::Error;
use tenfold::engine::Error as EngineError;
use tenfold::output::shown;

/// All went well.
const DONE: u8 = 0;
/// It could not be done, for example because the disk is full.
pub const FAILED: u8 = 1;
/// The command was not called as it should be.
pub const USAGE: u8 = 2;
/// The data are not what they should be.
pub const BAD_INPUT: u8 = 3;
/// The result is written, but its iteration did not converge and `--strict` was given.
pub const NOT_CONVERGED: u8 = 4;
/// Stopped by the user; what shells expect after Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// What is said after Ctrl-C.
const STOPPED: &str = "stopped; nothing was written";

/// An error found by the command line itself.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Wrong usage.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    Failure { code: USAGE, message: message.into() }.into()
}

/// Bad input data.
pub fn bad_input(message: impl Into<String>) -> anyhow::Error {
    Failure { code: BAD_INPUT, message: message.into() }.into()
}

/// What `--strict` makes of a result that did not converge.
pub fn not_converged() -> anyhow::Error {
    let message = "not converged, and --strict was given; the result was written all the same".into();
    Failure { code: NOT_CONVERGED, message }.into()
}

/// Puts the file before an error of a fit, which knows its data only as numbers. Readers name their files themselves.
pub fn about(path: &Path) -> impl FnOnce(Error) -> anyhow::Error {
    let path = path.display().to_string();
    move |error| match &error {
        Error::Unfit { .. }
        | Error::Engine(
            EngineError::TooLittleData(_) | EngineError::NotFinite { .. } | EngineError::NoConvergence(_),
        ) => anyhow::Error::from(error).context(path),
        _ => error.into(),
    }
}

/// The exit code of an error.
fn code(error: &anyhow::Error) -> u8 {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.code;
    }
    match error.downcast_ref::<Error>() {
        Some(Error::Engine(engine)) => engine_code(engine),
        Some(Error::Read { .. } | Error::Model { .. } | Error::WrongShape { .. } | Error::Unfit { .. }) => {
            BAD_INPUT
        }
        Some(Error::UnsupportedFile { .. } | Error::BadParameter { .. } | Error::Unused { .. }) => USAGE,
        Some(_) => FAILED,
        None => error.downcast_ref::<EngineError>().map_or(FAILED, engine_code),
    }
}

fn engine_code(error: &EngineError) -> u8 {
    match error {
        EngineError::Interrupted => INTERRUPTED,
        // A matrix that cannot be decomposed holds numbers that the data do not allow.
        EngineError::TooLittleData(_) | EngineError::NotFinite { .. } | EngineError::NoConvergence(_) => {
            BAD_INPUT
        }
        EngineError::BadParameter { .. }
        | EngineError::Unsupported(_)
        | EngineError::TooManyComponents { .. } => USAGE,
        _ => FAILED,
    }
}

/// Prints the error, if there is one, and gives the exit code.
pub fn finish(result: anyhow::Result<()>, json: bool) -> u8 {
    let Err(error) = result else { return DONE };
    let code = code(&error);
    // Whoever closed standard output (`| head`) has all they wanted.
    if error.chain().any(|e| e.downcast_ref::<std::io::Error>().is_some_and(is_closed_pipe)) {
        return DONE;
    }
    let message = if code == INTERRUPTED { STOPPED.to_owned() } else { format!("{error:#}") };
    // Non-convergence has printed its result already, and one object is all that --json prints.
    report(&message, code, json && code != NOT_CONVERGED);
    code
}

/// The error on standard error, and as a JSON object on standard output.
fn report(message: &str, code: u8, json: bool) {
    // When even standard error is closed there is no one left to tell.
    let _ = writeln!(std::io::stderr(), "error: {}", shown(message));
    if json {
        let _ = print_json(&json!({ "error": message, "exit_code": code }));
    }
}

fn is_closed_pipe(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::BrokenPipe
}
