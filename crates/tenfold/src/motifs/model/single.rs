//! Motifs of a single sample, and signals in which there are no others.

use super::super::data::Signals;
use super::super::fit::STANDS_OUT;
use super::super::shuffled::Shuffled;
use super::Model;
use crate::error::Result;
use crate::verdict::Verdict;
use tenfold_engine::progress::Progress;

/// A motif may be a single sample when one of its samples holds more than half of its energy: it is the only one that can.
const LEADS: f64 = 0.5;

/// Standard normal deviate that is exceeded once in a thousand times.
const RARE: f64 = 3.09;

impl Model {
    /// Says whether there is anything in the signals beyond single samples, and which motifs are one.
    ///
    /// Independent samples with heavy tails, or rare spikes, have cumulants as motifs have them, at lag zero alone: what is found is
    /// one sample, and any further motif is arbitrary.
    pub(super) fn judge_single(&mut self, signals: &Signals, progress: &dyn Progress) -> Result<()> {
        if self.diagnostics.strengths.iter().all(|strength| *strength <= STANDS_OUT) {
            return Ok(()); // They look Gaussian, which was told.
        }
        let shuffled = Shuffled::new(signals, self.filters.extent, self.diagnostics.orders);
        if !shuffled.has_lags() {
            self.verdict.warn(
                "motifs of one sample in one channel have no shape: what was found is how large samples are. Give a longer --length",
            );
        } else if !shuffled.is_exceeded(progress)? {
            self.verdict.warn(format!(
                "the samples are independent: at other lags than zero their cumulants are those of the same samples in any order. \
                 Heavy tails or rare spikes of single samples are noise, and no shape.{}",
                self.unsupported()
            ));
        } else {
            let single: Vec<usize> = (0..self.count()).filter(|l| self.is_single(*l, &shuffled)).collect();
            tell(&single, self.count(), &mut self.verdict);
        }
        Ok(())
    }

    /// Which motifs are then a single sample, and which mean nothing at all.
    fn unsupported(&self) -> String {
        let (single, other): (Vec<usize>, Vec<usize>) =
            (0..self.count()).partition(|l| self.lead(*l).1 > LEADS);
        let told = |motifs: &[usize], one: &str, many: &str| match motifs.len() {
            0 => String::new(),
            1 => format!(" {} {one}", named(motifs)),
            _ => format!(" {} {many}", named(motifs)),
        };
        told(&single, "is one sample.", "are one sample each.")
            + &told(&other, "is not supported by the signals.", "are not supported by the signals.")
    }

    /// The channel of a motif's largest sample, and the share of its energy there.
    fn lead(&self, l: usize) -> (usize, f64) {
        let motif = self.filters.motif(l);
        let energy: f64 = motif.iter().map(|x| x * x).sum();
        let (at, most) = motif
            .iter()
            .map(|x| x * x)
            .enumerate()
            .fold((0, 0.0), |best, (at, square)| if square > best.1 { (at, square) } else { best });
        (at / self.filters.extent.len(), most / energy.max(f64::MIN_POSITIVE))
    }

    /// Whether what a motif has beyond its largest sample is within its error.
    ///
    /// Beside a sample of one in channel c, f(j) is to first order cum(x_c, x_c, x_c, x_{t+j})/κ, or cum(x_c, x_c, x_{t+j})/λ. Of independent
    /// samples the first has variance Var(x³ − 3σ²x) σ²/(n κ²), the second Var(x²) σ²/(n λ²), and the fit uses what it has. The sum of
    /// such squares is χ² of as many degrees of freedom as there are other samples (Wilson and Hilferty's quantile).
    fn is_single(&self, l: usize, shuffled: &Shuffled<'_>) -> bool {
        let (channel, share) = self.lead(l);
        if share <= LEADS {
            return false;
        }
        let (scale, n) = (&shuffled.scales[channel], self.diagnostics.samples as f64);
        let error = |variance: f64, power: i32, cumulant: f64| {
            variance / (n * (cumulant / scale.deviation.powi(power)).powi(2)).max(f64::MIN_POSITIVE)
        };
        let [third, fourth] = self.diagnostics.orders;
        let third = if third { error(scale.squares, 3, self.third[l]) } else { f64::INFINITY };
        let fourth = if fourth { error(scale.cubes, 4, self.fourth[l]) } else { f64::INFINITY };
        let others = (self.filters.motif(l).len() - 1) as f64;
        let part = 2.0 / (9.0 * others);
        let quantile = others * (1.0 - part + RARE * part.sqrt()).powi(3);
        // f has unit norm.
        1.0 - share < quantile * third.min(fourth)
    }
}

fn tell(single: &[usize], motifs: usize, verdict: &mut Verdict) {
    let text = format!(
        "{} {} up to the error of the fit: spikes, or noise with heavy tails, and no shape",
        named(single).to_lowercase(),
        if single.len() == 1 { "is a single sample" } else { "are single samples" },
    );
    if single.len() == motifs {
        verdict.warn(text);
    } else if !single.is_empty() {
        verdict.note(text);
    }
}

fn named(motifs: &[usize]) -> String {
    let numbers: Vec<String> = motifs.iter().map(usize::to_string).collect();
    format!("Motif{} {}", if motifs.len() == 1 { "" } else { "s" }, numbers.join(", "))
}
