//! What the benches measure on: drawn once, kept as plain `.npy` files that the peers read too.

use crate::Sparse;
use rand::RngExt;
use std::io;
use std::path::{Path, PathBuf};
use tenfold::engine::linalg::{Csr, Mat, random};
use tenfold::input;

/// A folder of `.npy` files.
pub struct Files {
    folder: PathBuf,
}

impl Files {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.npy"))
    }

    pub fn write_text(&self, name: &str, text: &str) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        std::fs::write(self.folder.join(name), text)
    }

    pub fn write_mat(&self, name: &str, m: &Mat) -> io::Result<()> {
        let bytes = m.as_slice().iter().flat_map(|x| x.to_le_bytes());
        self.write(name, "<f8", &format!("({}, {})", m.rows(), m.cols()), bytes)
    }

    pub fn read_mat(&self, name: &str) -> tenfold::Result<Mat> {
        let array = input::read_array(&self.path(name))?;
        Ok(Mat::from_vec(array.shape[0], array.shape[1], array.data))
    }

    pub fn write_csr(&self, a: &Sparse) -> io::Result<()> {
        let rows = 0..a.rows();
        let starts = rows.clone().scan(0u64, |at, i| {
            *at += a.row(i).0.len() as u64;
            Some(*at)
        });
        let starts: Vec<u64> = std::iter::once(0).chain(starts).collect();
        let indices = rows.clone().flat_map(|i| a.row(i).0.iter().copied());
        let values = rows.flat_map(|i| a.row(i).1.iter().copied());
        let one = |n: usize| format!("({n},)");
        self.write("indptr", "<u8", &one(starts.len()), starts.iter().flat_map(|x| x.to_le_bytes()))?;
        self.write("indices", "<u4", &one(a.entries()), indices.flat_map(u32::to_le_bytes))?;
        self.write("data", "<f8", &one(a.entries()), values.flat_map(f64::to_le_bytes))?;
        let shape = [a.rows() as u64, a.cols() as u64];
        self.write("shape", "<u8", &one(2), shape.into_iter().flat_map(u64::to_le_bytes))
    }

    pub fn read_csr(&self) -> tenfold::Result<Sparse> {
        let read = |name: &str| input::read_array(&self.path(name)).map(|a| a.data);
        let starts = read("indptr")?.into_iter().map(|x| x as usize).collect();
        let indices = read("indices")?.into_iter().map(|x| x as u32).collect();
        Ok(Csr::new(read("shape")?[1] as usize, starts, indices, read("data")?)?)
    }

    /// The npy format, version 1: magic, header padded to 64 bytes, data.
    fn write(&self, name: &str, kind: &str, shape: &str, bytes: impl Iterator<Item = u8>) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut all = b"\x93NUMPY\x01\x00".to_vec();
        all.extend((header.len() as u16).to_le_bytes());
        all.extend(header.bytes());
        all.extend(bytes);
        std::fs::write(self.path(name), all)
    }
}

/// `per_row` entries a row at random columns: the worst case for a cache.
pub fn random_sparse(rows: usize, cols: usize, per_row: usize, seed: u64) -> Sparse {
    let mut rng = random::rng(seed, 0);
    let mut indices = Vec::with_capacity(rows * per_row);
    for _ in 0..rows {
        let mut row: Vec<u32> = (0..per_row).map(|_| rng.random_range(0..cols as u32)).collect();
        row.sort_unstable();
        indices.extend(row);
    }
    let values = (0..indices.len()).map(|_| random::normal(&mut rng)).collect();
    let starts = (0..=rows).map(|i| i * per_row).collect();
    Csr::new(cols, starts, indices, values).expect("indices lie inside")
}

/// Thirty groups of rows, each with its own tenth of the columns in favour: a spectrum that falls and then is flat,
/// as word counts have it.
pub fn planted_sparse(rows: usize, cols: usize, per_row: usize, seed: u64) -> Sparse {
    let mut rng = random::rng(seed, 0);
    let mut indices = Vec::with_capacity(rows * per_row);
    let share = cols as u32 / 30;
    for _ in 0..rows {
        // Squaring makes the first groups larger than the last.
        let group = (30.0 * rng.random::<f64>().powi(2)) as u32;
        let mut row: Vec<u32> = (0..per_row)
            .map(|_| {
                let inside = (share as f64 * rng.random::<f64>().powi(3)) as u32;
                if rng.random::<f64>() < 0.8 {
                    group * share + inside
                } else {
                    rng.random_range(0..cols as u32)
                }
            })
            .collect();
        row.sort_unstable();
        indices.extend(row);
    }
    let values = vec![1.0; indices.len()];
    let starts = (0..=rows).map(|i| i * per_row).collect();
    Csr::new(cols, starts, indices, values).expect("indices lie inside")
}
