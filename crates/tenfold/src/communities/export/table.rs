//! Members and connectivity as tables.

use super::super::members::{Members, Threshold};
use crate::error::{Error, Result};
use crate::output::{self, Heading, Labels};
use std::path::Path;
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::Progress;

/// Nodes whose rows are made before they are written.
const BLOCK: usize = 4096;

/// Checks, before any work is done, that members can be written under this name.
///
/// # Errors
/// [`Error::UnsupportedFile`] with the extensions that would do.
pub fn check_members_path(path: &Path) -> Result<()> {
    let known = ".csv, .tsv and .parquet".to_owned();
    if is_npy(path) {
        let problem = "an array of numbers has no place for ids".to_owned();
        return Err(Error::UnsupportedFile { path: path.to_owned(), problem, known });
    }
    output::check_table_path(path).map_err(|error| match error {
        Error::UnsupportedFile { path, problem, .. } => Error::UnsupportedFile { path, problem, known },
        error => error,
    })
}

/// Writes who belongs to which communities: a row `id,community,weight` for every membership that `threshold` counts, in
/// the order of the nodes. `.csv`, `.tsv` or `.parquet`. Says how many rows there are.
///
/// Weights have six digits; the model holds them in full. A node whose edges tell nothing has no row.
///
/// # Complexity
/// O(n k) and eight bytes a node.
///
/// # Errors
/// An extension that is not known, a disk that refuses, or a listener that stops the run.
///
/// # Example
/// ```
/// use tenfold::communities::{Ids, Members, Threshold, write_members};
/// use tenfold::engine::{linalg::Tall, progress::Silent};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("members.csv");
/// let ids = Ids::from_names(["ann", "bob"])?;
/// let memberships = Tall::from_vec(2, 2, vec![0.25, 0.75, 0.9, 0.1]).unwrap();
/// let members = Members::new(&ids, &memberships);
/// assert_eq!(write_members(&path, &members, Threshold::Absolute(0.2), &Silent)?, 3);
/// let text = std::fs::read_to_string(&path).unwrap();
/// assert_eq!(text, "id,community,weight\nann,0,0.25\nann,1,0.75\nbob,0,0.9\n");
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn write_members(
    path: &Path,
    members: &Members<'_>,
    threshold: Threshold,
    progress: &dyn Progress,
) -> Result<usize> {
    check_members_path(path)?;
    progress.stage("writing members", members.len() as u64);
    let starts = starts(members, threshold);
    let rows = starts[members.len()];
    // Rows are asked for in order, but may be asked for again.
    let node = |row: usize| starts.partition_point(|start| *start <= row) - 1;
    let labels = [Labels { name: "id", of: &|row| members.ids().get(node(row)) }];
    let heading = Heading { labels: &labels, names: &["community".into(), "weight".into()], rows };
    output::write_rows(path, heading, |put| {
        let (mut cells, mut row) = (Vec::new(), Vec::new());
        for first in (0..members.len()).step_by(BLOCK) {
            let nodes = first..members.len().min(first + BLOCK);
            progress.check()?;
            cells.clear();
            for node in nodes.clone().filter(|&node| members.is_told(node)) {
                members.read(node, &mut row);
                threshold.visit(&row, |c| cells.extend([c as f64, six_digits(row[c])]));
            }
            put(&cells)?;
            progress.advance(nodes.len() as u64);
        }
        Ok(())
    })?;
    Ok(rows)
}

/// The first row of every node, and the number of rows.
fn starts(members: &Members<'_>, threshold: Threshold) -> Vec<usize> {
    let mut starts = Vec::with_capacity(members.len() + 1);
    let (mut rows, mut row) = (0, Vec::new());
    for node in 0..members.len() {
        starts.push(rows);
        if members.is_told(node) {
            members.read(node, &mut row);
            threshold.visit(&row, |_| rows += 1);
        }
    }
    starts.push(rows);
    starts
}

/// A membership with six digits, so that it is written with no more.
fn six_digits(weight: f32) -> f64 {
    let value = f64::from(weight);
    if value == 0.0 {
        return 0.0;
    }
    // Powers of ten are exact up to the 22nd; below that a membership is nothing.
    let scale = 10f64.powi((5 - value.abs().log10().floor() as i32).clamp(0, 22));
    (value * scale).round() / scale
}

/// Writes the connectivity of communities, k × k: a row for every community, its number first, then how it is joined with
/// every other. `.npy` holds the matrix alone.
///
/// # Errors
/// An extension that is not known, or a disk that refuses.
///
/// # Example
/// ```
/// use tenfold::communities::write_connectivity;
/// use tenfold::engine::linalg::Mat;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("p.csv");
/// write_connectivity(&path, &Mat::from_vec(2, 2, vec![0.5, 0.1, 0.1, 0.25]))?;
/// let text = std::fs::read_to_string(&path).unwrap();
/// assert_eq!(text, "community,to0,to1\n0,0.5,0.1\n1,0.1,0.25\n");
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn write_connectivity(path: &Path, connectivity: &Mat) -> Result<()> {
    let k = connectivity.cols();
    let names = (0..k).map(|c| format!("to{c}"));
    if is_npy(path) {
        return output::write_table(path, &names.collect::<Vec<_>>(), connectivity);
    }
    let names: Vec<String> = std::iter::once("community".to_owned()).chain(names).collect();
    let numbered = Mat::from_fn(connectivity.rows(), k + 1, |i, j| match j {
        0 => i as f64,
        _ => connectivity[(i, j - 1)],
    });
    output::write_table(path, &names, &numbered)
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"))
}

#[cfg(test)]
mod tests {
    use super::super::super::data::Ids;
    use super::*;
    use tenfold_engine::linalg::Tall;
    use tenfold_engine::progress::Silent;

    #[test]
    fn weights_are_short_and_near() {
        for (weight, written) in [
            (0.3f32, 0.3),
            (1.0, 1.0),
            (0.0, 0.0),
            (1.0 / 3.0, 0.333333),
            (1.234_567_8e-7, 1.23457e-7),
            (1e-30, 0.0),
        ] {
            assert_eq!(six_digits(weight), written);
        }
    }

    #[test]
    fn more_nodes_than_a_block_keep_their_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.csv");
        let nodes = 2 * BLOCK + 17;
        let ids = Ids::counted(5, nodes);
        let data = (0..3 * nodes).map(|i| ((i * 7919) % 101) as f32 / 100.0).collect();
        let memberships = Tall::from_vec(nodes, 3, data).unwrap();
        let rows = write_members(&path, &Members::new(&ids, &memberships), Threshold::Absolute(0.5), &Silent)
            .unwrap();
        let mut reader = csv::Reader::from_path(&path).unwrap();
        let (mut seen, mut last) = (0, 4);
        for row in reader.deserialize::<(u64, usize, f64)>() {
            let (id, c, weight) = row.unwrap();
            assert!(id == last || id == last + 1, "{id} after {last}");
            assert_eq!(six_digits(memberships.row(id as usize - 5)[c]), weight);
            (seen, last) = (seen + 1, id);
        }
        assert_eq!((seen, last), (rows, nodes as u64 + 4));
    }

    #[test]
    fn ids_of_every_kind_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let ids = Ids::from_names(["a,b", "say \"x\"", "tab\t", "ü", "two\nlines"]).unwrap();
        let memberships = Tall::from_vec(5, 2, [0.5f32, 0.5].repeat(5)).unwrap();
        for name in ["m.csv", "m.tsv"] {
            let path = folder.path().join(name);
            assert_eq!(
                write_members(&path, &Members::new(&ids, &memberships), Threshold::HALF, &Silent).unwrap(),
                10
            );
            let delimiter = if name.ends_with("csv") { b',' } else { b'\t' };
            let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_path(&path).unwrap();
            let back: Vec<String> = reader.records().step_by(2).map(|r| r.unwrap()[0].to_owned()).collect();
            assert_eq!(back, ids.iter().collect::<Vec<_>>());
        }
        let npy = write_members(
            &folder.path().join("m.npy"),
            &Members::new(&ids, &memberships),
            Threshold::HALF,
            &Silent,
        );
        assert!(npy.unwrap_err().to_string().contains("no place for ids"));
    }
}
