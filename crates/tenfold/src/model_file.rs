//! The one model file: named arrays and a page of facts, as safetensors.
//!
//! Safetensors is data only, so that a file from a stranger can be loaded without running anything, and every
//! language reads it. The string map of its header holds `format`, `format_version`, `kind`,
//! `tenfold_version`, `tenfold` (the facts as JSON) and `crc32`, a checksum over all the rest.
//!
//! Files live long. A later version may add arrays and facts without another `format_version`: a program passes over those it does
//! not know, and takes a fact that an older file lacks for unknown. What an older program could not read rightly gets a new
//! `format_version`, which it refuses with the advice to upgrade. Models of every version are kept in `tests/golden/` and asked again.

mod check;
mod factors;
mod format;

pub(crate) use check::{count, index, whole};
pub use factors::Factors;

use crate::error::{Error, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tenfold_engine::linalg::Mat;

/// A learned model as it is stored.
///
/// # Example
/// ```
/// use tenfold::engine::linalg::Mat;
/// use tenfold::model_file::ModelFile;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("voices.tenfold");
/// let mut model = ModelFile::new("ica", serde_json::json!({ "seed": 7 }));
/// model.insert_matrix("mixing", &Mat::identity(2));
/// model.save(&path)?;
///
/// let back = ModelFile::load(&path)?;
/// back.expect_kind("ica")?;
/// assert_eq!(back.matrix("mixing")?, Mat::identity(2));
/// assert_eq!(back.metadata["seed"], 7);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModelFile {
    /// Which model this is, for example `ica`.
    pub kind: String,
    /// The arrays, by name.
    pub tensors: BTreeMap<String, Tensor>,
    /// Parameters, seed and diagnostics.
    pub metadata: Value,
    /// Where it came from, for messages.
    path: PathBuf,
}

/// An array.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Length along each dimension.
    pub shape: Vec<usize>,
    /// The entries, the last index running fastest.
    pub data: TensorData,
}

/// The entries of an array.
#[derive(Debug, Clone, PartialEq)]
pub enum TensorData {
    /// Numbers.
    F64(Vec<f64>),
    /// Numbers of half the size, for large arrays whose last digits are noise.
    F32(Vec<f32>),
    /// Bytes, for example text in UTF-8.
    U8(Vec<u8>),
}

impl ModelFile {
    /// A model without arrays yet.
    pub fn new(kind: impl Into<String>, metadata: Value) -> Self {
        Self { kind: kind.into(), tensors: BTreeMap::new(), metadata, path: PathBuf::from("(new model)") }
    }

    /// Writes the model, whole or not at all. The same model gives the same bytes.
    ///
    /// # Errors
    /// [`Error::Model`] for an array that [`load`](Self::load) would refuse, [`Error::Write`] when the disk
    /// does.
    pub fn save(&self, path: &Path) -> Result<()> {
        format::save(self, path)
    }

    /// Reads a model. Nothing in the file is run, and nothing is taken on trust.
    ///
    /// # Errors
    /// [`Error::Model`] for a file that is damaged, foreign or newer than this program, [`Error::Read`] when it
    /// cannot be opened.
    pub fn load(path: &Path) -> Result<Self> {
        format::load(path)
    }

    /// The very bytes that [`save`](Self::save) would write: for programs that hand models to one another.
    ///
    /// # Errors
    /// [`Error::Model`] for an array that [`load`](Self::load) would refuse.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        format::write(self, Path::new(format::IN_MEMORY), &mut bytes)?;
        Ok(bytes)
    }

    /// From [`to_bytes`](Self::to_bytes), or from the bytes of a model file; as safe as [`load`](Self::load).
    ///
    /// # Errors
    /// [`Error::Model`] for bytes that are damaged, foreign or newer than this program.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        format::read(Path::new(format::IN_MEMORY), bytes)
    }

    /// Where the model came from, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of the model in a file, of which the header alone is read.
    ///
    /// # Errors
    /// [`Error::Model`] for a header that is damaged, foreign or newer than this program, [`Error::Read`] when the
    /// file cannot be opened.
    pub fn kind_of(path: &Path) -> Result<String> {
        format::kind(path)
    }

    /// Adds a matrix, rows × columns.
    pub fn insert_matrix(&mut self, name: &str, matrix: &Mat) {
        let data = TensorData::F64(matrix.as_slice().to_vec());
        self.tensors.insert(name.to_owned(), Tensor { shape: vec![matrix.rows(), matrix.cols()], data });
    }

    /// Adds a matrix in single precision: half the bytes.
    pub fn insert_single(&mut self, name: &str, matrix: &Mat) {
        let data = TensorData::F32(matrix.as_slice().iter().map(|x| *x as f32).collect());
        self.tensors.insert(name.to_owned(), Tensor { shape: vec![matrix.rows(), matrix.cols()], data });
    }

    /// Adds a vector.
    pub fn insert_vector(&mut self, name: &str, vector: &[f64]) {
        let tensor = Tensor { shape: vec![vector.len()], data: TensorData::F64(vector.to_vec()) };
        self.tensors.insert(name.to_owned(), tensor);
    }

    /// Adds text, stored as UTF-8.
    pub fn insert_text(&mut self, name: &str, text: &str) {
        let tensor = Tensor { shape: vec![text.len()], data: TensorData::U8(text.as_bytes().to_vec()) };
        self.tensors.insert(name.to_owned(), tensor);
    }

    /// Adds a list of names as text, one a line; a newline in a name is written as `\\n` and a backslash as `\\\\`.
    pub fn insert_lines(&mut self, name: &str, lines: &[String]) {
        let escaped: Vec<String> =
            lines.iter().map(|l| l.replace('\\', "\\\\").replace('\n', "\\n")).collect();
        self.insert_text(name, &escaped.join("\n"));
    }

    /// The matrix of this name.
    ///
    /// # Errors
    /// [`Error::Model`] when there is none or it is no matrix.
    pub fn matrix(&self, name: &str) -> Result<Mat> {
        match self.tensors.get(name) {
            Some(Tensor { shape, data: TensorData::F64(data) }) if shape.len() == 2 => {
                Ok(Mat::from_vec(shape[0], shape[1], data.clone()))
            }
            Some(Tensor { shape, data: TensorData::F32(data) }) if shape.len() == 2 => {
                Ok(Mat::from_vec(shape[0], shape[1], data.iter().map(|x| f64::from(*x)).collect()))
            }
            other => Err(self.lacks("matrix", name, other)),
        }
    }

    /// The vector of this name.
    ///
    /// # Errors
    /// [`Error::Model`] when there is none or it is no vector.
    pub fn vector(&self, name: &str) -> Result<Vec<f64>> {
        match self.tensors.get(name) {
            Some(Tensor { shape, data: TensorData::F64(data) }) if shape.len() == 1 => Ok(data.clone()),
            other => Err(self.lacks("vector", name, other)),
        }
    }

    /// The text of this name.
    ///
    /// # Errors
    /// [`Error::Model`] when there is none or it is no UTF-8.
    pub fn text(&self, name: &str) -> Result<String> {
        match self.tensors.get(name) {
            Some(Tensor { data: TensorData::U8(bytes), .. }) => String::from_utf8(bytes.clone())
                .map_err(|_| self.lacks("UTF-8 text", name, self.tensors.get(name))),
            other => Err(self.lacks("text", name, other)),
        }
    }

    /// The names of [`ModelFile::insert_lines`].
    ///
    /// # Errors
    /// As [`ModelFile::text`].
    pub fn lines(&self, name: &str) -> Result<Vec<String>> {
        let unescaped = |line: &str| {
            let mut name = String::with_capacity(line.len());
            let mut letters = line.chars();
            while let Some(letter) = letters.next() {
                name.push(match letter {
                    '\\' => match letters.next() {
                        Some('n') => '\n',
                        other => other.unwrap_or('\\'),
                    },
                    plain => plain,
                });
            }
            name
        };
        Ok(self.text(name)?.split('\n').map(unescaped).collect())
    }

    /// Checks which model this is.
    ///
    /// # Errors
    /// [`Error::Model`] when it is another.
    pub fn expect_kind(&self, kind: &str) -> Result<()> {
        if self.kind == kind {
            return Ok(());
        }
        let problem = format!("holds a model of kind {:?} where {kind:?} was expected", self.kind);
        Err(model_error(
            &self.path,
            problem,
            "give a model that this command made, or use the command for its kind",
        ))
    }

    fn lacks(&self, what: &str, name: &str, found: Option<&Tensor>) -> Error {
        let found = found.map_or("there is none of this name".to_owned(), |t| {
            format!("the array of this name is {} of shape {:?}", t.data.dtype(), t.shape)
        });
        model_error(
            &self.path,
            format!("has no {what} {name:?}: {found}"),
            "save the model again with this version of tenfold",
        )
    }
}

fn model_error(path: &Path, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::Model { path: path.to_owned(), problem: problem.into(), remedy: remedy.into() }
}
