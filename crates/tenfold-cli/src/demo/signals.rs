//! `tenfold demo signals`: mixed signals and what independent component analysis makes of them.

use super::picture::sparkline;
use crate::common::{Session, numbered};
use crate::files::{Bundle, write_table};
use anyhow::Result;
use serde_json::json;
use std::f64::consts::TAU;
use std::path::Path;
use std::time::Instant;
use tenfold::engine::linalg::{Mat, assign, random, svd};
use tenfold::evaluate::amari_distance;
use tenfold::ica::{Model, Params};

const SAMPLES: usize = 20_000;
const NAMES: [&str; 4] = ["sine", "square", "sawtooth", "spikes"];
/// Samples in a picture, one character each; with a name and a number beside it, a line has 80 columns.
const SHOWN: usize = 60;

struct Signals {
    sources: Mat,
    mixing: Mat,
    mixtures: Mat,
}

/// Mixes signals, unmixes them, and tells how well it went.
pub fn run(output: Option<&Path>, session: &Session) -> Result<()> {
    let bundle = output.map(Bundle::new).transpose()?;
    let signals = Signals::draw(session.seed);
    let begin = Instant::now();
    let params = Params { seed: session.seed, ..Params::new(NAMES.len()) };
    let model = session.watch.during(|watch| params.fit_with(&signals.mixtures, watch))?;
    let found = model.infer(&signals.mixtures)?;
    let seconds = begin.elapsed().as_secs_f64();
    let distance = amari_distance(&model.unmixing().matmul(&signals.mixing));
    let (found, correlations) = aligned(&found, &signals.sources);
    let mut text = signals.text(&found, &correlations);
    text += &format!(
        "\n{SAMPLES} samples in {:.0} ms. Amari distance {distance:.4}: 0 is perfect, 1 nothing found.\n\n",
        1e3 * seconds
    );
    let mut value = json!({
        "samples": SAMPLES,
        "sources": NAMES,
        "correlations": correlations,
        "amari_distance": distance,
        "seconds": seconds,
        "seed": session.seed,
    });
    if let Some(bundle) = bundle {
        let paths = signals.write(bundle, &model, session)?;
        text += &format!("Written: {}\n", paths.join(", "));
        value["files"] = json!(paths);
    }
    text += "\
Your own data, samples in rows (.csv, .npy, .parquet, .wav):
  tenfold ica fit YOURS.csv -k auto -o model.tenfold --sources sources.csv\n";
    session.answer(&text, &value)
}

impl Signals {
    fn draw(seed: u64) -> Self {
        let mut rng = random::rng(seed, 700);
        // Periods without a common multiple, so that the signals are independent in the long run.
        let sources = Mat::from_fn(SAMPLES, NAMES.len(), |t, i| {
            let phase = |period: f64| (t as f64 / period).fract();
            match i {
                0 => (TAU * phase(20.0 * 1.0123)).sin(),
                1 => {
                    if phase(14.0 * 1.0457) < 0.5 {
                        1.0
                    } else {
                        -1.0
                    }
                }
                2 => 2.0 * phase(15.0 * 1.0791) - 1.0,
                _ => random::normal(&mut rng).powi(3) / 4.0,
            }
        });
        // Well-conditioned, so that every sensor hears every signal and the pictures tell.
        let mixing = loop {
            let candidate = random::gaussian(NAMES.len(), NAMES.len(), &mut rng);
            let s = svd(&candidate).map(|d| d.s).unwrap_or_default();
            if s.len() == NAMES.len() && s[0] < 8.0 * s[NAMES.len() - 1] {
                break candidate;
            }
        };
        let mixtures = sources.matmul_tr(&mixing);
        Self { sources, mixing, mixtures }
    }

    fn text(&self, found: &Mat, correlations: &[f64]) -> String {
        let line = |name: &str, signals: &Mat, i: usize| {
            let shown: Vec<f64> = (0..SHOWN).map(|t| signals[(t, i)]).collect();
            format!("  {name:<9} {}", sparkline(&shown))
        };
        let mut text = "Four hidden signals:\n".to_owned();
        for (i, name) in NAMES.iter().enumerate() {
            text += &format!("{}\n", line(name, &self.sources, i));
        }
        text += "\nFour sensors, each with its own mixture of them; tenfold sees only these:\n";
        for i in 0..NAMES.len() {
            text += &format!("{}\n", line(&format!("sensor {}", i + 1), &self.mixtures, i));
        }
        text += "\nWhat tenfold finds in the mixtures, and its correlation with the hidden signal:\n";
        for (i, name) in NAMES.iter().enumerate() {
            text += &format!("{} {:.4}\n", line(name, found, i), correlations[i]);
        }
        text
    }

    fn write(&self, mut bundle: Bundle, model: &Model, session: &Session) -> Result<Vec<String>> {
        let watch = &session.watch;
        let names = NAMES.map(String::from);
        write_table(&bundle.path("mixtures.csv")?, &numbered("sensor", NAMES.len()), &self.mixtures, watch)?;
        write_table(&bundle.path("sources.csv")?, &names, &self.sources, watch)?;
        write_table(&bundle.path("mixing.npy")?, &names, &self.mixing, watch)?;
        model.save(&bundle.path("model.tenfold")?)?;
        let shown = |path: &Path| path.display().to_string();
        Ok(bundle.finish()?.iter().map(|p| shown(p)).collect())
    }
}

/// The found signals in the order and with the signs of the true ones, which no method can know, and how well each
/// correlates.
fn aligned(found: &Mat, truth: &Mat) -> (Mat, Vec<f64>) {
    let correlation = |i: usize, j: usize| {
        let (a, b) = (truth.col(i), found.col(j));
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let (ma, mb) = (mean(&a), mean(&b));
        let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
        for (x, y) in a.iter().zip(&b) {
            ab += (x - ma) * (y - mb);
            aa += (x - ma) * (x - ma);
            bb += (y - mb) * (y - mb);
        }
        ab / (aa * bb).sqrt()
    };
    let all = Mat::from_fn(truth.cols(), found.cols(), correlation);
    let partner = assign(&all.map(f64::abs));
    let mut ordered = found.select_cols(&partner);
    let signed: Vec<f64> = partner.iter().enumerate().map(|(i, &j)| all[(i, j)]).collect();
    ordered.scale_cols(&signed.iter().map(|c| c.signum()).collect::<Vec<_>>());
    (ordered, signed.iter().map(|c| c.abs()).collect())
}
