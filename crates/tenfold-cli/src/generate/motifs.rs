//! `tenfold generate motifs`.

use super::{check_entries, folder, stem};
use crate::common::{Session, parse_amount, parse_count, refuse};
use crate::exit;
use crate::files::{Bundle, check_output};
use crate::motifs::{parse_extent, shown};
use crate::watch::Watch;
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::{Path, PathBuf};
use tenfold::engine::progress::Progress;
use tenfold::motifs::{Activation, Drawn, Event, Extent, Shape, Synth};
use tenfold::output;

/// Signals or images in which known motifs fire, x = Σ f ⋆ w + noise, with motifs and events beside them
#[derive(Args)]
#[command(after_help = "\
Windows are closed to circles, as the model has it: a motif that leaves one at its end comes in \
again at its beginning. With --linear they are cut out of a longer recording. Sizes such as 64x64 \
draw images.

Examples:
  tenfold generate motifs -o X.npy
  tenfold generate motifs -L 8 --length 16 --activity 0.02 --noise 0.5 -o X.npy
  tenfold generate motifs --linear --windows 1 --samples 100000 -o recording.npy
  tenfold generate motifs --samples 32x32 --length 8x8 -o images.npy

The first writes X.npy, X.filters.npy and X.events.csv.")]
pub struct Motifs {
    /// Windows, recordings or images to draw
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = parse_count)]
    windows: usize,
    /// Samples of a window; ROWSxCOLUMNS for images
    #[arg(long, value_name = "N", default_value = "64", value_parser = parse_extent)]
    samples: Extent,
    /// Motifs
    #[arg(short = 'L', long, value_name = "N", default_value_t = 4, value_parser = parse_count)]
    motifs: usize,
    /// Samples of a motif [default: a quarter of a window]
    #[arg(long, value_name = "N", value_parser = parse_extent)]
    length: Option<Extent>,
    /// Channels
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_count)]
    channels: usize,
    /// What motifs look like
    #[arg(long, value_name = "NAME", default_value = "gaussian")]
    shape: ShapeName,
    /// How motifs fire
    #[arg(long, value_name = "NAME", default_value = "poisson")]
    activation: ActivationName,
    /// How often a motif fires at a sample, on average [default: 0.1]
    #[arg(long, value_name = "X", value_parser = parse_amount)]
    activity: Option<f64>,
    /// Standard deviation of the noise, in that of the signal
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = parse_amount)]
    noise: f64,
    /// Cut windows out of longer recordings, instead of closing them to circles
    #[arg(long)]
    linear: bool,
    /// Leave out the table of events
    #[arg(long)]
    no_events: bool,
    /// The .npy file of the signals, with the truth beside it, or a folder for all
    #[arg(short, long, value_name = "FILE|DIR")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum ShapeName {
    /// Independent Gaussian taps
    Gaussian,
    /// A wave under a bell (Gabor)
    Smooth,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ActivationName {
    /// Poisson numbers of firings
    Poisson,
    /// Everywhere, with exponential amplitudes
    Exponential,
    /// Now and then, with exponential amplitudes
    BernoulliExponential,
    /// Now and then, with Gaussian amplitudes
    BernoulliGaussian,
}

impl Motifs {
    pub fn run(self, session: &Session) -> Result<()> {
        let synth = self.synth(session.seed)?;
        let (place, names) = self.names()?;
        let mut bundle = Bundle::new(&place)?;
        let watch = &session.watch;
        let drawn = watch.during(|watch| synth.draw_with(watch))?;
        let (shape, values) = signals(&synth, &drawn);
        output::write_array(&bundle.path(&names[0])?, &shape, &values)?;
        let filters = &drawn.filters;
        let shape = [vec![synth.motifs], inner(synth.channels, synth.length)].concat();
        output::write_array(&bundle.path(&names[1])?, &shape, &filters.values)?;
        if synth.keep_events {
            write_events(&bundle.path(&names[2])?, &drawn.events, &synth, watch)?;
        }
        watch.check()?;
        let paths: Vec<String> = bundle.finish()?.iter().map(|path| path.display().to_string()).collect();
        self.tell(&synth, &drawn, &paths, session)
    }

    fn synth(&self, seed: u64) -> Result<Synth> {
        let dense = self.activation == ActivationName::Exponential;
        refuse(&[("--activity", dense && self.activity.is_some())], "--activation exponential")?;
        let window = self.samples;
        let quarter = Extent::plane(window.rows.div_ceil(4), window.columns.div_ceil(4));
        let activity = self.activity.unwrap_or(0.1);
        let Self { windows, motifs, channels, noise, .. } = *self;
        let synth = Synth {
            windows,
            window,
            motifs,
            length: self.length.unwrap_or(quarter),
            channels,
            shape: match self.shape {
                ShapeName::Gaussian => Shape::Gaussian,
                ShapeName::Smooth => Shape::Smooth,
            },
            activation: match self.activation {
                ActivationName::Poisson => Activation::Poisson(activity),
                ActivationName::Exponential => Activation::Exponential,
                ActivationName::BernoulliExponential => Activation::BernoulliExponential(activity),
                ActivationName::BernoulliGaussian => Activation::BernoulliGaussian(activity),
            },
            noise,
            cyclic: !self.linear,
            keep_events: !self.no_events,
            seed,
        };
        if !window.holds(synth.length) {
            return Err(exit::usage(format!(
                "motifs of {} do not fit into windows of {}; give --length a smaller number",
                shown(synth.length),
                shown(window)
            )));
        }
        // Signals are held twice when they are written; an event is five numbers.
        let [n, size, c] = [windows as f64, window.rows as f64 * window.columns as f64, channels as f64];
        let fired = n * size * motifs as f64 * if dense { 1.0 } else { activity };
        check_entries(2.0 * n * size * c + if synth.keep_events { 5.0 * fired } else { 0.0 })?;
        Ok(synth)
    }

    /// Where files go, and how they are called. Without an extension, or as a folder that is there, all go into it under plain names.
    fn names(&self) -> Result<(PathBuf, [String; 3])> {
        if self.output.is_dir() || self.output.extension().is_none() {
            return Ok((self.output.clone(), ["X.npy", "filters.npy", "events.csv"].map(String::from)));
        }
        if !self.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) {
            let path = self.output.display();
            return Err(exit::usage(format!("{path} is no .npy file; signals are written as .npy")));
        }
        check_output(&self.output, &[])?;
        let name = self.output.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = stem(&self.output);
        Ok((
            folder(&self.output).to_owned(),
            [name, format!("{stem}.filters.npy"), format!("{stem}.events.csv")],
        ))
    }

    fn tell(&self, synth: &Synth, drawn: &Drawn, paths: &[String], session: &Session) -> Result<()> {
        let Synth { windows, motifs, channels, window, length, .. } = *synth;
        let images = if window.is_plane() { " --layout images" } else { "" };
        let closed = if synth.cyclic { " --cyclic" } else { "" };
        let text = format!(
            "{windows} × {} samples in {channels} channels, with {motifs} motifs of {}: {}\n\
             the truth beside it: {}\n\
             next: tenfold motifs fit {}{images}{closed} -L {motifs} --length {} -o model.tenfold\n",
            shown(window),
            shown(length),
            paths[0],
            paths[1..].join(", "),
            paths[0],
            shown(length),
        );
        let value = json!({
            "windows": windows, "samples": [window.rows, window.columns], "motifs": motifs, "channels": channels,
            "length": [length.rows, length.columns], "events": synth.keep_events.then_some(drawn.events.len()),
            "cyclic": synth.cyclic, "noise": synth.noise, "seed": session.seed, "output": paths[0], "files": paths,
        });
        session.answer(&text, &value)
    }
}

/// The last dimensions of an array: channels where there are several, rows where there are any, samples.
fn inner(channels: usize, extent: Extent) -> Vec<usize> {
    let mut shape = if channels > 1 { vec![channels] } else { Vec::new() };
    if extent.is_plane() {
        shape.push(extent.rows);
    }
    shape.push(extent.columns);
    shape
}

/// The shape that reads back as what was drawn, and the numbers.
fn signals(synth: &Synth, drawn: &Drawn) -> (Vec<usize>, Vec<f64>) {
    let shape = [vec![synth.windows], inner(synth.channels, synth.window)].concat();
    let values = drawn.signals.stretches().iter().flat_map(|stretch| &stretch.values).copied().collect();
    (shape, values)
}

/// Events a line: time in samples, motif, amplitude, trial, and the row in images.
fn write_events(path: &Path, events: &[Event], synth: &Synth, watch: &Watch) -> Result<()> {
    watch.stage("writing", events.len() as u64);
    let plane = synth.window.is_plane();
    Ok(output::write_atomically(path, |out| {
        let fail = |e| output::write_error(path, e);
        let mut text = format!("time,motif,amplitude,trial{}\n", if plane { ",row" } else { "" });
        for (i, event) in events.iter().enumerate() {
            let Event { trial, row, start, motif, amplitude } = event;
            text += &format!("{start},{motif},{amplitude},{trial}");
            text += &if plane { format!(",{row}\n") } else { "\n".into() };
            if text.len() > 1 << 16 || i + 1 == events.len() {
                watch.check()?;
                out.write_all(text.as_bytes()).map_err(fail)?;
                text.clear();
            }
            watch.advance(1);
        }
        out.write_all(text.as_bytes()).map_err(fail)
    })?)
}
