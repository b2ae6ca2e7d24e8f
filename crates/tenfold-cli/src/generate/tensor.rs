//! `tenfold generate tensor`.

use super::{check_entries, folder, stem};
use crate::common::{Session, parse_amount, parse_count};
use crate::exit;
use crate::files::{Bundle, check_output};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;
use tenfold::engine::linalg::random;
use tenfold::engine::progress::Progress;
use tenfold::engine::tensor::{Cp, Packed};
use tenfold::model_file::ModelFile;
use tenfold::output::write_array;

/// A symmetric tensor with random orthonormal components, and these beside it
#[derive(Args)]
#[command(after_help = "\
Examples:
  tenfold generate tensor --side 20 -o T.npy
  tenfold generate tensor --order 4 -k 5 --weights signed --noise 0.001 -o T.npy

The first writes T.npy and T.truth.tenfold.")]
pub struct Tensor {
    /// Number of sides: 3, 4 or 5
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(3..=5))]
    order: u8,
    /// Length of every side
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = parse_count)]
    side: usize,
    /// Components; as many as the side is long when not given
    #[arg(short, value_name = "N", value_parser = parse_count)]
    k: Option<usize>,
    /// Weights: all 1; falling from 2 towards 1; or falling, with every second one negative
    #[arg(long, value_name = "NAME", default_value = "unequal")]
    weights: Weights,
    /// Standard deviation of Gaussian noise on every distinct entry
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = parse_amount)]
    noise: f64,
    /// The tensor's file, .npy; its components go beside it
    #[arg(short, long, value_name = "T.npy")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Weights {
    Equal,
    Unequal,
    Signed,
}

impl Weights {
    fn of(self, i: usize, k: usize) -> f64 {
        let falling = 2.0 - i as f64 / k as f64;
        match self {
            Self::Equal => 1.0,
            Self::Unequal => falling,
            Self::Signed => falling * if i.is_multiple_of(2) { 1.0 } else { -1.0 },
        }
    }
}

impl Tensor {
    pub fn run(self, session: &Session) -> Result<()> {
        let (order, side, k) = (usize::from(self.order), self.side, self.k.unwrap_or(self.side));
        if k > side {
            return Err(exit::usage(format!(
                "{k} orthonormal components do not fit into {side} dimensions; ask for at most {side}"
            )));
        }
        check_entries((side as f64).powi(order as i32) + side as f64 * k as f64)?;
        if self.output.extension().is_none_or(|e| e != "npy") {
            return Err(exit::usage("a tensor is written as .npy; give -o such a name"));
        }
        check_output(&self.output, &[])?;
        let mut bundle = Bundle::new(folder(&self.output))?;
        let mut rng = random::rng(session.seed, 600);
        let factors = random::orthogonal(side, k, &mut rng)?;
        let truth = Cp::new(order, (0..k).map(|i| self.weights.of(i, k)).collect(), factors).canonical();
        let full = match order {
            3 => noisy::<3>(&truth, self.noise, &mut rng),
            4 => noisy::<4>(&truth, self.noise, &mut rng),
            _ => noisy::<5>(&truth, self.noise, &mut rng),
        };
        let name = self.output.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let [tensor_path, truth_path] =
            [bundle.path(&name)?, bundle.path(&format!("{}.truth.tenfold", stem(&self.output)))?];
        write_array(&tensor_path, &vec![side; order], &full)?;
        session.watch.check()?;
        let mut file =
            ModelFile::new("tensor", json!({ "order": order, "seed": session.seed, "truth": true }));
        file.insert_vector("weights", &truth.weights);
        file.insert_matrix("factors", &truth.factors);
        file.save(&truth_path)?;
        let paths = bundle.finish()?;
        let [tensor, components] = [0, 1].map(|i| paths[i].display().to_string());
        let text = format!(
            "tensor of order {order}, side {side}, {k} components: {tensor}\n\
             its components: {components}\n\
             next: tenfold tensor decompose {tensor} -k {k} -o found.tenfold\n"
        );
        let value = json!({
            "order": order, "side": side, "k": k, "noise": self.noise, "seed": session.seed,
            "output": tensor, "truth": components, "weights": truth.weights,
        });
        session.answer(&text, &value)
    }
}

/// All entries in C order; noise is added to each distinct entry once, so that the tensor stays symmetric.
fn noisy<const ORDER: usize>(truth: &Cp, noise: f64, rng: &mut random::Rng) -> Vec<f64> {
    let mut tensor: Packed<ORDER> = truth.reconstruct();
    if noise > 0.0 {
        tensor.for_each_entry(|_, entry| *entry += noise * random::normal(rng));
    }
    tensor.to_full()
}
