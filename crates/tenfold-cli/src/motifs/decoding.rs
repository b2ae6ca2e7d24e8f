//! How activations are found.

use crate::common::{parse_amount, parse_count};
use clap::{Args, ValueEnum};
use tenfold::motifs::Model;
use tenfold::motifs::decode::{Decoding, Method};

/// How firings are found, the same for every subcommand.
#[derive(Args)]
#[command(next_help_heading = "Decoding")]
pub struct DecodeArgs {
    /// How activations are found
    #[arg(long, value_name = "NAME", default_value = "sparse")]
    method: MethodName,
    /// Motifs also fire upside down, or never do [default: as in the fit]
    #[arg(long, value_name = "BOOL")]
    signed: Option<bool>,
    /// The penalty on firings, in the signal's units [default: three times the noise]
    #[arg(long, value_name = "X", value_parser = parse_amount)]
    lambda: Option<f64>,
    /// The least amplitude of a firing [default: 4.5 times the noise, and no lower group of amplitudes]
    #[arg(long, value_name = "X", value_parser = parse_amount)]
    threshold: Option<f64>,
    /// Samples that two firings of one motif are apart at least [default: half a motif where it fires seldom]
    #[arg(long, value_name = "N")]
    refractory: Option<usize>,
    /// Iterations of the sparse decoding
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = parse_count)]
    max_iterations: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum MethodName {
    /// Few firings that explain the signal: convolutional basis pursuit
    Sparse,
    /// The pseudo-inverse, a bank of linear filters
    LeastSquares,
}

impl DecodeArgs {
    /// The library's options for a model.
    pub fn decoding(&self, model: &Model) -> Decoding {
        Decoding {
            method: match self.method {
                MethodName::Sparse => Method::Sparse,
                MethodName::LeastSquares => Method::LeastSquares,
            },
            signed: self.signed.unwrap_or(model.is_signed()),
            lambda: self.lambda,
            threshold: self.threshold,
            refractory: self.refractory.unwrap_or(model.decoding().refractory),
            max_iterations: self.max_iterations,
            ..model.decoding()
        }
    }
}
