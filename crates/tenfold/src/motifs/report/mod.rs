//! The page of a model of motifs.

use super::Model;
#[cfg(test)]
use crate::browser::Browser;
use crate::report::{Block, Cell, Extension, Page, Plot, Section, Series, Table, grouped, numbers};
use crate::verdict::Level;
use serde_json::{Value, json};
use tenfold_engine::linalg::Fourier;

#[cfg(test)]
mod tests;

/// What the page of motifs draws itself.
const MOTIFS: Extension = Extension { script: include_str!("motifs.js"), style: include_str!("motifs.css") };

/// Motifs whose waveforms are drawn one by one; a model of more shows the heaviest.
const SHOWN: usize = 24;

/// Firings that the raster draws.
const DRAWN: usize = 8_000;

impl Model {
    /// A page about the model: motifs with their spectra, where they fire on a stretch of signal, the raster of firings, how
    /// many motifs the data support, and the verdict. Motifs are counted from 0.
    ///
    /// # Example
    /// ```
    /// use tenfold::motifs::{Extent, Length, Params, Synth};
    /// let drawn = Synth { windows: 500, motifs: 2, ..Synth::default() }.draw()?;
    /// let params = Params { length: Length::Known(Extent::line(16)), ..Params::new(2) };
    /// assert_eq!(params.fit(&drawn.signals)?.report().title, "2 motifs");
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn report(&self) -> Page {
        let (count, d) = (self.count(), self.diagnostics());
        let channels = self.channels().len();
        let mut page = Page::new(
            format!("{count} motif{}", if count == 1 { "" } else { "s" }),
            format!(
                "{} samples in {} stretch{}, {channels} channel{}; a motif has {} samples",
                grouped(d.samples),
                grouped(d.stretches),
                if d.stretches == 1 { "" } else { "es" },
                if channels == 1 { "" } else { "s" },
                self.filters().extent
            ),
        );
        page.extensions.push(MOTIFS);
        page.push(self.table_section());
        page.push(self.shapes_section());
        page.push(self.firing_section());
        page.push(self.number_section());
        let findings = self.verdict().findings().iter();
        let findings = findings.map(|(level, text)| (*level == Level::Warning, text.clone())).collect();
        let verdict = page.judge("Diagnostics", findings);
        let mut facts = self.to_json()["diagnostics"].clone();
        if let Some(fields) = facts.as_object_mut() {
            fields.retain(|name, _| name != "repeats" && name != "certificates");
        }
        page.push(Section::new("Diagnostics").with(verdict).with(Block::facts(&facts)));
        page.push(Section::about(self.params()));
        page
    }

    fn table_section(&self) -> Section {
        let firings = self.picture().firings(self.count());
        let heaviest = self.weights().iter().copied().fold(0.0, f64::max);
        let unit = if self.rate().is_some() { "firings a second" } else { "firings per 1,000 samples" };
        let mut table = Table::new(&["motif", "weight", unit, "skewness λ", "kurtosis κ"]);
        table.tall = self.count() > 12;
        for l in 0..self.count() {
            let rate = firings[l].map_or(f64::NAN, |rate| rate * self.rate().unwrap_or(1000.0));
            table.push(
                Some(l),
                vec![
                    Cell::count(l),
                    Cell::share(self.weights()[l] / heaviest.max(f64::MIN_POSITIVE), 1.0),
                    Cell::number(rate, 3),
                    Cell::number(self.third()[l], 3),
                    Cell::number(self.fourth()[l], 3),
                ],
            );
        }
        let text = "Weights are relative to the heaviest motif: the size of its activations by their fourth cumulant \
                    (the third where only that was used). Firings were counted on the part of the signals that was decoded \
                    at the end of the fit.";
        Section::new("Motifs").with(Block::text(text)).with(table)
    }

    fn shapes_section(&self) -> Section {
        let shown = self.count().min(SHOWN);
        let mut section = Section::new("Shapes");
        for l in 0..shown {
            section = section.with(if self.filters().extent.is_plane() {
                self.patches(l)
            } else {
                self.waveform(l)
            });
        }
        match shown < self.count() {
            true => section.with(Block::note(format!("The {shown} heaviest of {} motifs.", self.count()))),
            false => section,
        }
    }

    /// Waveform and spectrum of a motif, side by side, a line for each channel.
    fn waveform(&self, l: usize) -> Block {
        let filters = self.filters();
        let m = filters.extent.columns;
        let step = self.rate().map_or(1.0, |rate| 1.0 / rate);
        let times: Vec<f64> = (0..m).map(|t| t as f64 * step).collect();
        let name = |c: usize| if filters.channels > 1 { self.channels()[c].clone() } else { String::new() };
        let waves = (0..filters.channels).map(|c| Series::new(name(c), &times, filters.channel(l, c)));
        // Twice as many points as the motif has: a smooth line.
        let plan = Fourier::new(1, 4 * m);
        let frequencies: Vec<f64> =
            (0..plan.half()).map(|a| a as f64 / (4.0 * m as f64) * self.rate().unwrap_or(1.0)).collect();
        let spectra = (0..filters.channels).map(|c| {
            let mut padded = filters.channel(l, c).to_vec();
            padded.resize(4 * m, 0.0);
            let power: Vec<f64> = plan.forward(&padded).iter().map(|z| z.norm_sqr()).collect();
            Series::new(name(c), &frequencies, &power)
        });
        let (time, frequency) = match self.rate() {
            Some(_) => ("seconds", "Hz"),
            None => ("samples", "cycles a sample"),
        };
        let wave = Plot::lines(format!("Motif {l}, of unit norm."), waves.collect()).axes(time, "amplitude");
        let spectrum =
            Plot::lines(format!("Power of motif {l}."), spectra.collect()).axes(frequency, "power");
        Block::Row(vec![wave.into(), spectrum.into()])
    }

    fn patches(&self, l: usize) -> Block {
        let filters = self.filters();
        let patch = |c: usize| {
            let caption = match filters.channels {
                1 => format!("Motif {l}"),
                _ => format!("Motif {l}, channel {}", self.channels()[c]),
            };
            let data = json!({
                "rows": filters.extent.rows, "columns": filters.extent.columns, "caption": caption,
                "values": numbers(filters.channel(l, c)),
            });
            Block::Widget { name: "patch", data }
        };
        Block::Row((0..filters.channels).map(patch).collect())
    }

    fn firing_section(&self) -> Section {
        let picture = self.picture();
        let mut section = Section::new("Where they fire");
        let Some(extent) = picture.extent else { return section };
        let channels = self.channels().len();
        section = section.with(Block::text(format!(
            "{:.1} % of the variance of the part that was decoded ({} samples) is explained by firings; the noise has standard \
             deviation {:.4}.",
            100.0 * picture.explained,
            grouped(picture.samples),
            picture.noise
        )));
        if extent.is_plane() {
            let image = |values: &[f64], caption: &str| {
                let data = json!({
                    "rows": extent.rows, "columns": extent.columns, "cell": 4, "caption": caption,
                    "values": numbers(&values[..extent.len()]),
                });
                Block::Widget { name: "patch", data }
            };
            return section.with(Block::Row(vec![
                image(&picture.signal, "A part of an image"),
                image(&picture.rebuilt, "What the firings in it add up to"),
            ]));
        }
        let split = |values: &[f64]| -> Value { values.chunks_exact(extent.columns).map(numbers).collect() };
        let events: Vec<Value> = picture
            .events
            .iter()
            .map(|e| json!([e.start, e.motif, crate::report::number(e.amplitude)]))
            .collect();
        let (begin, end) = (picture.begin as i64, (picture.begin + extent.columns) as i64);
        let near = picture.events.iter().zip(&events).filter(|(event, _)| {
            event.start < end && event.start + self.filters().extent.columns as i64 > begin
        });
        let trace = json!({
            "signal": split(&picture.signal), "rebuilt": split(&picture.rebuilt), "begin": picture.begin,
            "events": near.map(|(_, event)| event).collect::<Vec<_>>(), "motifs": self.count(),
            "length": self.filters().extent.columns, "rate": self.rate(), "channels": self.channels(),
            "caption": "A stretch of the signal, what the firings add up to, and the firings below it",
        });
        debug_assert_eq!(picture.signal.len(), channels * extent.columns);
        let loud = picture.events.iter().map(|event| event.amplitude.abs()).fold(0.0, f64::max);
        let raster = json!({
            "events": events.iter().take(DRAWN).collect::<Vec<_>>(), "motifs": self.count(), "samples": picture.samples,
            "loud": crate::report::number(loud), "rate": self.rate(),
            "caption": "Every firing of the part that was decoded, a row for each motif",
        });
        section
            .with(Block::Widget { name: "trace", data: trace })
            .with(Block::note("Grey: the signal. Coloured line: what the firings add up to. Bars: firings, from where they begin to where they end."))
            .with(Block::heading("Raster of firings"))
            .with(Block::Widget { name: "raster", data: raster })
    }

    fn number_section(&self) -> Section {
        let d = self.diagnostics();
        let mut section = Section::new("How many");
        if !d.repeats.is_empty() {
            let caption = "How much each direction of the fourth cumulant repeats from one half of the signals to the other, in \
                           standard errors. Directions that are noise lie around zero; 4.5 are asked for.";
            let plot = Plot::line(caption, &d.repeats).axes("direction", "standard errors");
            section = section.with(plot.mark(self.count() as f64, &format!("L = {}", self.count())));
        }
        section.with(Block::text(format!(
            "{:.0} % of the random starts ended at a motif of the result. The model's cumulants differ from those of the signals by \
             {:.2} times their noise.",
            100.0 * d.agreement,
            d.misfit
        )))
    }
}
