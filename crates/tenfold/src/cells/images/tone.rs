//! From the samples of a pixel to one number that is high where cells are.

use super::Options;
use super::look::{Look, leans_up, quantile};
use super::raw::{Raw, Shape};
use crate::error::{Error, Result};
use std::path::Path;
use std::str::FromStr;

/// What is looked at in an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stain {
    /// Brightness of grey images; of colour images the density where cells are dark, and the direction in which colours differ
    /// most where they are light.
    #[default]
    Auto,
    /// The mean of the colours.
    Grey,
    /// The optical density along the direction in which it differs most.
    Density,
    /// One channel, from 0.
    Channel(usize),
    /// The density of hematoxylin, told apart from eosin.
    Hematoxylin,
    /// The density of eosin, told apart from hematoxylin.
    Eosin,
    /// The density of diaminobenzidine (brown), told apart from hematoxylin.
    Dab,
}

impl FromStr for Stain {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "auto" => Self::Auto,
            "grey" | "gray" => Self::Grey,
            "density" => Self::Density,
            "red" => Self::Channel(0),
            "green" => Self::Channel(1),
            "blue" => Self::Channel(2),
            "hematoxylin" | "haematoxylin" => Self::Hematoxylin,
            "eosin" => Self::Eosin,
            "dab" => Self::Dab,
            number => match number.parse::<usize>() {
                Ok(channel @ 1..) => Self::Channel(channel - 1),
                _ => {
                    return Err("auto, grey, density, red, green, blue, hematoxylin, eosin, dab, or the \
                                number of a channel from 1, is needed"
                        .into());
                }
            },
        })
    }
}

/// Whether cells are darker or lighter than what is around them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Polarity {
    /// What is rarer: on which side of the most frequent value the others lie.
    #[default]
    Auto,
    /// Cells are dark, as in bright-field images.
    DarkOnLight,
    /// Cells are light, as in fluorescence.
    LightOnDark,
}

impl FromStr for Polarity {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "dark-on-light" | "dark" => Ok(Self::DarkOnLight),
            "light-on-dark" | "light" => Ok(Self::LightOnDark),
            _ => Err("auto, dark-on-light or light-on-dark is needed".into()),
        }
    }
}

/// Optical densities of stains in red, green and blue, from Ruifrok and Johnston, "Quantification of histochemical staining by color
/// deconvolution", 2001, table 1.
const HEMATOXYLIN: [f64; 3] = [0.65, 0.704, 0.286];
const EOSIN: [f64; 3] = [0.072, 0.99, 0.105];
const DAB: [f64; 3] = [0.268, 0.57, 0.776];

/// Colours from which directions are learned at most; images of spectra have hundreds.
const MOST_COLOURS: usize = 64;

/// How a pixel becomes a number: offset + Σ_c w_c f(I_c), with f the logarithm for densities.
#[derive(Debug, Clone)]
pub(super) struct Tone {
    weights: Vec<f64>,
    offset: f64,
    /// What is added before the logarithm; nothing where there is none.
    floor: Option<f64>,
    /// Logarithms of all whole numbers, where these are few.
    table: Vec<f64>,
    words: String,
    dark: bool,
}

impl Tone {
    /// Looks at the image where the options leave something open.
    pub(super) fn choose(path: &Path, raw: &dyn Raw, options: &Options) -> Result<Self> {
        let shape = raw.shape();
        let colours = shape.colours;
        let look = Look::at(raw)?;
        let unfit = |problem: String, remedy: &str| {
            let (path, remedy) = (path.to_owned(), remedy.to_owned());
            Error::Read { path, line: None, problem, remedy }
        };
        let mean = vec![1.0 / colours as f64; colours];
        let linear =
            |weights: Vec<f64>, words: &str| Self::linear(&look, shape, weights, (words, options.polarity));
        match options.stain {
            Stain::Grey => Ok(linear(mean, "brightness")),
            Stain::Channel(channel) if channel < colours => {
                let weights = (0..colours).map(|c| f64::from(u8::from(c == channel))).collect();
                Ok(linear(weights, &format!("channel {}", channel + 1)))
            }
            Stain::Channel(channel) => {
                let problem = format!("has {colours} channels, and number {} was asked for", channel + 1);
                Err(unfit(problem, "give --stain another channel"))
            }
            Stain::Auto if colours == 1 || all_alike(&look, shape) => Ok(linear(mean, "brightness")),
            Stain::Auto | Stain::Density if colours > MOST_COLOURS => {
                let problem = format!("has {colours} channels");
                Err(unfit(problem, "choose one of them with --stain, by its number from 1"))
            }
            Stain::Auto => {
                let dark = match options.polarity {
                    Polarity::Auto => !leans_up(&look.seen(|p| dot(&mean, p)), shape.top),
                    given => given == Polarity::DarkOnLight,
                };
                match dark {
                    true => Self::density(&look, shape, None, "density of the stain"),
                    false => {
                        let known = (Polarity::LightOnDark, "the leading colour");
                        Ok(Self::linear(&look, shape, leading(&look.values, colours), (known.1, known.0)))
                    }
                }
            }
            _ if options.polarity == Polarity::LightOnDark => Err(Error::Unused {
                choice: "--polarity light-on-dark",
                with: "the density of a stain".into(),
            }),
            Stain::Density => Self::density(&look, shape, None, "density of the stain"),
            _ if colours != 3 => {
                let problem = format!("has {colours} channels where red, green and blue are needed");
                Err(unfit(problem, "give --stain grey or density"))
            }
            Stain::Hematoxylin => {
                Self::density(&look, shape, Some(apart(HEMATOXYLIN, EOSIN)), "density of hematoxylin")
            }
            Stain::Eosin => Self::density(&look, shape, Some(apart(EOSIN, HEMATOXYLIN)), "density of eosin"),
            Stain::Dab => Self::density(&look, shape, Some(apart(DAB, HEMATOXYLIN)), "density of DAB"),
        }
    }

    fn linear(look: &Look, shape: Shape, mut weights: Vec<f64>, (words, polarity): (&str, Polarity)) -> Self {
        let seen = look.seen(|pixel| dot(&weights, pixel));
        let dark = match polarity {
            Polarity::Auto => !leans_up(&seen, shape.top),
            given => given == Polarity::DarkOnLight,
        };
        let mut offset = 0.0;
        if dark {
            offset = shape.top.unwrap_or_else(|| seen.iter().fold(0.0, |a: f64, b| a.max(*b)));
            weights.iter_mut().for_each(|w| *w = -*w);
        }
        Self { weights, offset, floor: None, table: Vec::new(), words: words.to_owned(), dark }
    }

    /// −log₁₀((I + o) / (I0 + o)), weighed. The light of the background, I0, is the second-brightest hundredth; o is one count of 8
    /// bits, and as small a part of the light elsewhere, so that an image means the same in 8 bits and in 16.
    fn density(look: &Look, shape: Shape, weights: Option<Vec<f64>>, words: &str) -> Result<Self> {
        let light: Vec<f64> = (0..shape.colours).map(|c| quantile(&look.channel(c), 0.98).max(0.0)).collect();
        let floor = match shape.bits {
            8 => 1.0,
            _ => (light.iter().fold(0.0, |a: f64, b| a.max(*b)) / 255.0).max(f64::MIN_POSITIVE),
        };
        let logarithm = |x: f64| (x.max(0.0) + floor).log10();
        let weights = weights.unwrap_or_else(|| {
            let seen: Vec<f64> = look.values.iter().map(|&x| -logarithm(x)).collect();
            leading(&seen, shape.colours)
        });
        let offset = light.iter().zip(&weights).map(|(&i0, w)| w * logarithm(i0)).sum();
        let weights = weights.iter().map(|w| -w).collect();
        let table = match (shape.top, shape.bits) {
            (Some(top), 8 | 16) => (0..=top as u32).map(|x| logarithm(f64::from(x))).collect(),
            _ => Vec::new(),
        };
        Ok(Self { weights, offset, floor: Some(floor), table, words: words.to_owned(), dark: true })
    }

    /// The number of a pixel.
    #[inline]
    pub(super) fn of(&self, pixel: &[f64]) -> f64 {
        let Some(floor) = self.floor else { return self.offset + dot(&self.weights, pixel) };
        let logarithm = |x: f64| match self.table.get(x as usize) {
            Some(logarithm) => *logarithm,
            None => (x.max(0.0) + floor).log10(),
        };
        self.offset + self.weights.iter().zip(pixel).map(|(w, &x)| w * logarithm(x)).sum::<f64>()
    }

    /// The number of a pixel that the format can make no higher: all samples at one end of their range.
    pub(super) fn ceiling(&self, shape: Shape) -> Option<f64> {
        shape.top.map(|top| self.of(&vec![top; shape.colours]).max(self.of(&vec![0.0; shape.colours])))
    }

    pub(super) fn describe(&self) -> String {
        self.words.clone()
    }

    pub(super) fn is_dark(&self) -> bool {
        self.dark
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Whether colours hardly differ: grey images are often stored in colour, and compression leaves traces of a few hundredths.
fn all_alike(look: &Look, shape: Shape) -> bool {
    let top = shape.top.unwrap_or_else(|| look.values.iter().fold(0.0, |a: f64, b| a.max(*b)));
    let spread = look.seen(|pixel| {
        let (low, high) = pixel.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
        high - low
    });
    quantile(&spread, 0.999) <= 0.02 * top
}

/// The direction in which vectors differ most, without its negative parts, with sum 1: the leading eigenvector of their covariance
/// by the power method.
fn leading(values: &[f64], dimensions: usize) -> Vec<f64> {
    let count = (values.len() / dimensions) as f64;
    let means: Vec<f64> =
        (0..dimensions).map(|c| values[c..].iter().step_by(dimensions).sum::<f64>() / count).collect();
    let mut covariance = vec![0.0; dimensions * dimensions];
    for vector in values.chunks_exact(dimensions) {
        for i in 0..dimensions {
            for j in 0..dimensions {
                covariance[i * dimensions + j] += (vector[i] - means[i]) * (vector[j] - means[j]);
            }
        }
    }
    let even = vec![1.0 / dimensions as f64; dimensions];
    let mut direction = even.clone();
    // Only the direction's first digits matter.
    for _ in 0..100 {
        let next: Vec<f64> = covariance.chunks_exact(dimensions).map(|row| dot(row, &direction)).collect();
        let norm = dot(&next, &next).sqrt();
        if norm <= 0.0 || !norm.is_finite() {
            return even;
        }
        direction = next.iter().map(|x| x / norm).collect();
    }
    let sign = if direction.iter().sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
    let kept: Vec<f64> = direction.iter().map(|x| (sign * x).max(0.0)).collect();
    let sum: f64 = kept.iter().sum();
    if sum > 0.0 { kept.iter().map(|x| x / sum).collect() } else { even }
}

/// Weights that give 1 for the first stain, 0 for the second and 0 for what is orthogonal to both.
fn apart(first: [f64; 3], second: [f64; 3]) -> Vec<f64> {
    let unit = |v: [f64; 3]| v.map(|x| x / dot(&v, &v).sqrt());
    let (a, b) = (unit(first), unit(second));
    let along = dot(&a, &b);
    let scale = 1.0 - along * along;
    (0..3).map(|c| (a[c] - along * b[c]) / scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stains_are_told_apart() {
        let unit = |v: [f64; 3]| v.map(|x| x / dot(&v, &v).sqrt());
        let weights = apart(HEMATOXYLIN, EOSIN);
        assert!((dot(&weights, &unit(HEMATOXYLIN)) - 1.0).abs() < 1e-12);
        assert!(dot(&weights, &unit(EOSIN)).abs() < 1e-12);
    }

    #[test]
    fn the_leading_direction_is_that_of_most_variance() {
        let wave = |i: usize| (i as f64 * 0.7).sin();
        let values: Vec<f64> =
            (0..500).flat_map(|i| [3.0 * wave(i), wave(i), 0.1 * wave(3 * i + 1)]).collect();
        let found = leading(&values, 3);
        assert!((found[0] / found[1] - 3.0).abs() < 0.05 && found[2] < 0.02, "{found:?}");
        assert_eq!(leading(&[1.0, 2.0, 1.0, 2.0], 2), [0.5, 0.5], "nothing differs");
    }

    #[test]
    fn names_are_understood() {
        assert_eq!("Green".parse(), Ok(Stain::Channel(1)));
        assert_eq!("4".parse(), Ok(Stain::Channel(3)));
        assert!("0".parse::<Stain>().is_err() && "purple".parse::<Stain>().is_err());
        assert_eq!("dark-on-light".parse(), Ok(Polarity::DarkOnLight));
    }
}
