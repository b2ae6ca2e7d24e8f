//! Pictures of numbers: what is drawn, not how. The page's script draws them at the width it finds.

use serde_json::{Map, Value, json};
use tenfold_engine::linalg::Mat;

/// A picture of numbers with its caption.
///
/// # Example
/// ```
/// use tenfold::report::{Plot, Series};
/// let curve = Plot::lines("Held-out perplexity", vec![Series::new("polish", &[0.0, 1.0], &[1900.0, 1500.0])])
///     .axes("epoch", "perplexity");
/// assert_eq!(curve.to_json()["kind"], "lines");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    caption: String,
    fields: Map<String, Value>,
}

/// A line or a cloud of points with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// Points from two slices; the longer one is cut.
    pub fn new(name: impl Into<String>, x: &[f64], y: &[f64]) -> Self {
        Self { name: name.into(), points: x.iter().copied().zip(y.iter().copied()).collect() }
    }
}

impl Plot {
    fn new(kind: &str, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), fields: Map::from_iter([("kind".to_owned(), json!(kind))]) }
    }

    fn set(mut self, name: &str, value: Value) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }

    /// One line through values at 1, 2, …
    pub fn line(caption: impl Into<String>, values: &[f64]) -> Self {
        let x: Vec<f64> = (1..=values.len()).map(|i| i as f64).collect();
        Self::lines(caption, vec![Series::new("", &x, values)])
    }

    /// Lines with points.
    pub fn lines(caption: impl Into<String>, series: Vec<Series>) -> Self {
        Self::new("lines", caption).set("series", series_json(&series))
    }

    /// Points without lines.
    pub fn scatter(caption: impl Into<String>, series: Vec<Series>) -> Self {
        Self::new("scatter", caption).set("series", series_json(&series))
    }

    /// One bar for every label; bar i belongs to item i when `items` is set.
    pub fn bars(caption: impl Into<String>, labels: &[String], values: &[f64], items: bool) -> Self {
        Self::new("bars", caption)
            .set("labels", json!(labels))
            .set("values", numbers(values))
            .set("items", json!(items))
    }

    /// A symmetric matrix of items against items, entries from −`full` to `full`, as colours around zero. The
    /// diagonal is left blank.
    ///
    /// # Panics
    /// When the matrix is not square or there are not as many labels as rows.
    pub fn heatmap(caption: impl Into<String>, labels: &[String], matrix: &Mat, full: f64) -> Self {
        assert_eq!((matrix.rows(), matrix.cols()), (labels.len(), labels.len()), "a label for every row");
        // Below the diagonal, as thousandths of the full range: colours show no more.
        let entry = |i: usize, j: usize| (1000.0 * matrix[(i, j)] / full).round().clamp(-1000.0, 1000.0);
        let below: Vec<i64> =
            (0..matrix.rows()).flat_map(|i| (0..i).map(move |j| entry(i, j) as i64)).collect();
        Self::new("heatmap", caption)
            .set("labels", json!(labels))
            .set("below", json!(below))
            .set("full", number(full))
    }

    /// A matrix of items against items, entries from zero on, as colours that go with their root: entries a hundred times
    /// smaller than the largest still show. `between` stands between the names of a row and a column, as in "3 to 5".
    ///
    /// # Panics
    /// When the matrix is not square or there are not as many labels as rows.
    pub fn matrix(caption: impl Into<String>, labels: &[String], matrix: &Mat, between: &str) -> Self {
        assert_eq!((matrix.rows(), matrix.cols()), (labels.len(), labels.len()), "a label for every row");
        let largest = matrix.as_slice().iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::max);
        Self::new("heatmap", caption)
            .set("labels", json!(labels))
            .set("cells", numbers(matrix.as_slice()))
            .set("full", number(largest))
            .set("between", json!(between))
    }

    /// Names of the axes.
    pub fn axes(self, x: &str, y: &str) -> Self {
        self.set("x", json!(x)).set("y", json!(y))
    }

    /// A logarithmic vertical axis; values that are not positive are left out.
    pub fn log_y(self) -> Self {
        self.set("log", json!(true))
    }

    /// Values are shares, written in percent.
    pub fn percent(self) -> Self {
        self.set("percent", json!(true))
    }

    /// A vertical line at x with a word beside it.
    pub fn mark(self, x: f64, label: &str) -> Self {
        self.set("mark", json!({ "x": number(x), "label": label }))
    }

    /// A shaded range on the horizontal axis with a word beside it.
    pub fn band(self, from: f64, to: f64, label: &str) -> Self {
        self.set("band", json!({ "from": number(from), "to": number(to), "label": label }))
    }

    /// What the picture shows, in words.
    pub fn caption(&self) -> &str {
        &self.caption
    }

    /// What the page's script is given.
    pub fn to_json(&self) -> Value {
        let mut fields = self.fields.clone();
        fields.insert("caption".into(), json!(self.caption));
        Value::Object(fields)
    }
}

fn series_json(series: &[Series]) -> Value {
    let one = |s: &Series| {
        let (x, y): (Vec<f64>, Vec<f64>) = s.points.iter().copied().unzip();
        json!({ "name": s.name, "x": numbers(&x), "y": numbers(&y) })
    };
    series.iter().map(one).collect()
}

/// Numbers for a page: five digits, null for what JSON cannot say.
pub(crate) fn numbers(values: &[f64]) -> Value {
    values.iter().map(|&x| number(x)).collect()
}

/// Five digits are more than a picture or a reader can tell apart, and half the size of seventeen.
pub(crate) fn number(x: f64) -> Value {
    if x == x.trunc() && x.abs() < 1e15 {
        return json!(x as i64);
    }
    match format!("{x:.4e}").parse::<f64>() {
        Ok(rounded) if rounded.is_finite() => json!(rounded),
        _ => Value::Null,
    }
}

/// A whole number with commas between thousands.
pub(crate) fn grouped(n: impl std::fmt::Display) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_five_digits_and_never_break_json() {
        assert_eq!(
            numbers(&[0.123456789, 1.0 / 3e9, -2.0, f64::NAN, f64::INFINITY]).to_string(),
            "[0.12346,3.3333e-10,-2,null,null]"
        );
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_heat_map_keeps_the_triangle_below_the_diagonal() {
        let m = Mat::from_vec(3, 3, vec![1.0, 0.5, -0.25, 0.5, 1.0, f64::NAN, -0.25, 0.1, 1.0]);
        let labels: Vec<String> = (0..3).map(|i| i.to_string()).collect();
        let json = Plot::heatmap("c", &labels, &m, 0.5).to_json();
        assert_eq!(json["below"].to_string(), "[1000,-500,200]");
    }

    #[test]
    fn a_matrix_is_kept_whole() {
        let m = Mat::from_vec(2, 2, vec![0.5, 0.0, 1.0 / 3.0, f64::NAN]);
        let json = Plot::matrix("c", &["0".into(), "1".into()], &m, "to").to_json();
        assert_eq!((json["cells"].to_string(), &json["full"]), ("[0.5,0,0.33333,null]".into(), &json!(0.5)));
    }
}
