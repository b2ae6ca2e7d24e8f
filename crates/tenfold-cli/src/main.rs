//! The binary `tenfold`; what it does is told in the library beside it.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    tenfold_cli::settle_allocator();
    ExitCode::from(tenfold_cli::run(std::env::args_os()))
}
