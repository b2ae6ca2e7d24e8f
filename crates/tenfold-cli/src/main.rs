//! The binary `tenfold`; what it does is told in the library beside it.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tenfold_cli::run(std::env::args_os()))
}
