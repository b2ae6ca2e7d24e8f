//! Errors over iterations as SVG: the median of many runs, the band of most of them, and a few single ones.

use crate::report::quantile;
use plotters::coord::Shift;
use plotters::coord::combinators::LogCoord;
use plotters::prelude::*;
use std::error::Error;
use std::ops::Range;
use std::path::Path;

/// One figure; both axes are logarithmic.
pub struct Figure<'a> {
    /// Above the picture.
    pub title: &'a str,
    /// Error of every run after 0, stride, 2·stride, … iterations.
    pub curves: &'a [Vec<f64>],
    /// Iterations between two errors.
    pub stride: usize,
    /// Lowest and highest error shown; what is lower lies on the lower edge.
    pub range: (f64, f64),
}

/// Pixels.
const SIZE: (u32, u32) = (760, 480);
/// Single runs shown.
const SINGLE: usize = 5;
/// The band holds the runs between these quantiles.
const BAND: (f64, f64) = (0.1, 0.9);
/// Points along a curve: as many as the width can show on a logarithmic axis.
const POINTS: usize = 240;

const BLUE: RGBColor = RGBColor(31, 90, 160);
const ORANGE: RGBColor = RGBColor(214, 120, 30);

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<LogCoord<f64>, LogCoord<f64>>>;

/// An empty picture with two logarithmic axes.
fn chart<'a>(
    root: &Canvas<'a>,
    title: &str,
    [x, y]: [&str; 2],
    spans: (Range<f64>, Range<f64>),
) -> Result<Chart<'a>, Box<dyn Error>> {
    let fail = |e| format!("the picture cannot be drawn: {e}");
    root.fill(&WHITE).map_err(fail)?;
    let mut chart = ChartBuilder::on(root)
        .caption(title, ("sans-serif", 19))
        .margin(14)
        .margin_right(28)
        .x_label_area_size(46)
        .y_label_area_size(66)
        .build_cartesian_2d(spans.0.log_scale(), spans.1.log_scale())
        .map_err(fail)?;
    chart
        .configure_mesh()
        .x_desc(x)
        .y_desc(y)
        .axis_desc_style(("sans-serif", 16))
        .label_style(("sans-serif", 14))
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_label_formatter(&|x| power_of_ten(*x))
        .y_label_formatter(&|y| power_of_ten(*y))
        .draw()
        .map_err(fail)?;
    Ok(chart)
}

impl Figure<'_> {
    /// Writes the picture.
    pub fn save(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let places = self.places();
        let last = (self.curves[0].len() - 1) * self.stride;
        let root = SVGBackend::new(path, SIZE).into_drawing_area();
        // A hair lower, so that rounding does not drop the label of the lowest power.
        let spans = (self.stride as f64..last as f64, 0.999 * self.range.0..self.range.1);
        let mut chart = chart(&root, self.title, ["iteration", "normalised reconstruction error"], spans)?;
        let along = |q: f64| -> Vec<(f64, f64)> {
            places.iter().map(|&p| self.point(p, quantile(&self.across(p), q))).collect()
        };
        let mut edge = along(BAND.1);
        edge.extend(along(BAND.0).into_iter().rev());
        chart
            .draw_series([Polygon::new(edge, BLUE.mix(0.2))])?
            .label("10 to 90 % of the runs")
            .legend(|(x, y)| Rectangle::new([(x, y - 6), (x + 22, y + 6)], BLUE.mix(0.2).filled()));
        for (i, curve) in self.curves.iter().take(SINGLE).enumerate() {
            let line = places.iter().map(|&p| self.point(p, curve[p]));
            let drawn = chart.draw_series(LineSeries::new(line, ORANGE.stroke_width(1)))?;
            if i == 0 {
                drawn
                    .label("single runs")
                    .legend(|(x, y)| PathElement::new([(x, y), (x + 22, y)], ORANGE.stroke_width(1)));
            }
        }
        chart
            .draw_series(LineSeries::new(along(0.5), BLUE.stroke_width(3)))?
            .label("median")
            .legend(|(x, y)| PathElement::new([(x, y), (x + 22, y)], BLUE.stroke_width(3)));
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerLeft)
            .label_font(("sans-serif", 14))
            .background_style(WHITE.mix(0.9))
            .border_style(RGBColor(200, 200, 200))
            .draw()?;
        Ok(root.present()?)
    }

    /// Which errors are drawn: evenly spaced on the logarithmic axis.
    fn places(&self) -> Vec<usize> {
        let last = self.curves[0].len() - 1;
        let at = |i: usize| (last as f64).powf(i as f64 / (POINTS - 1) as f64).round() as usize;
        let mut places: Vec<usize> = (0..POINTS).map(at).collect();
        places.dedup();
        places
    }

    fn across(&self, place: usize) -> Vec<f64> {
        self.curves.iter().map(|c| c[place]).collect()
    }

    fn point(&self, place: usize, error: f64) -> (f64, f64) {
        ((place * self.stride) as f64, error.clamp(self.range.0, self.range.1))
    }
}

/// Some named lines through points; both axes are logarithmic.
pub struct Lines<'a> {
    /// Above the picture.
    pub title: &'a str,
    /// What the horizontal axis shows.
    pub x: &'a str,
    /// What the vertical axis shows.
    pub y: &'a str,
    /// Names and points.
    pub lines: &'a [(String, Vec<(f64, f64)>)],
}

impl Lines<'_> {
    /// Writes the picture.
    pub fn save(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let root = SVGBackend::new(path, SIZE).into_drawing_area();
        let spans = (self.span(|p| p.0), self.span(|p| p.1));
        let mut chart = chart(&root, self.title, [self.x, self.y], spans)?;
        for ((name, points), colour) in self.lines.iter().zip([BLUE, ORANGE].into_iter().cycle()) {
            let style = colour.stroke_width(2);
            chart
                .draw_series(LineSeries::new(points.iter().copied(), style).point_size(4))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .label_font(("sans-serif", 14))
            .background_style(WHITE.mix(0.9))
            .border_style(RGBColor(200, 200, 200))
            .draw()?;
        Ok(root.present()?)
    }

    /// Whole powers of ten around all values.
    fn span(&self, get: impl Fn(&(f64, f64)) -> f64) -> Range<f64> {
        let values: Vec<f64> = self.lines.iter().flat_map(|l| l.1.iter().map(&get)).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min).log10().floor();
        let most = values.iter().copied().fold(0.0, f64::max).log10().ceil().max(least + 1.0);
        0.999 * 10f64.powf(least)..1.001 * 10f64.powf(most)
    }
}

/// 0.001, 10, 10,000 and so on; nothing between the powers.
fn power_of_ten(x: f64) -> String {
    let exponent = x.log10().round();
    if (x.log10() - exponent).abs() > 1e-6 {
        return String::new();
    }
    match exponent as i32 {
        e @ -3..=3 => format!("{}", 10f64.powi(e)),
        e @ 4..=5 => format!("{},000", 10f64.powi(e - 3)),
        e => format!("1e{e}"),
    }
}
