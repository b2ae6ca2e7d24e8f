//! The pictures in a model file.

use super::cells::BINS;
use super::sample::{LINKS, NODES};
use super::{AllNodes, Cells, Picture, Sample};
use crate::error::Result;
use crate::model_file::{ModelFile, Tensor, TensorData};

impl Picture {
    /// Adds `picture.adjacency` (bytes), `picture.blocks`, `picture.nodes`, `picture.links` and `picture.between`.
    pub fn save(&self, file: &mut ModelFile) {
        let mut insert = |name: &str, shape: Vec<usize>, data: TensorData| {
            file.tensors.insert(name.to_owned(), Tensor { shape, data });
        };
        let (rows, columns) = self.cells.shape;
        insert("picture.adjacency", vec![rows, columns], TensorData::U8(self.cells.levels.clone()));
        let numbers = |all: &mut dyn Iterator<Item = usize>| TensorData::F64(all.map(|x| x as f64).collect());
        let links = numbers(&mut self.sample.links.iter().flat_map(|l| [l.0, l.1]));
        insert("picture.links", vec![self.sample.links.len(), 2], links);
        insert(
            "picture.nodes",
            vec![self.sample.nodes.len()],
            numbers(&mut self.sample.nodes.iter().copied()),
        );
        insert("picture.between", vec![1], numbers(&mut std::iter::once(self.sample.between)));
        insert("picture.blocks", vec![self.cells.blocks.len()], TensorData::F64(self.cells.blocks.clone()));
    }

    /// The pictures of these nodes in a model file; none if it has none, or if they do not fit: they are there to be
    /// looked at, and a model is good without them.
    ///
    /// # Errors
    /// When an array has another type.
    pub fn load(file: &ModelFile, all: &AllNodes<'_>) -> Result<Option<Self>> {
        let edged = |strengths: &[f64]| strengths.iter().filter(|s| **s > 0.0).count();
        let rows = edged(all.strengths);
        let columns = all.others.map_or(rows, |_| edged(all.other_strengths));
        let (nodes, k) = (all.len(), all.k());
        let Some(Tensor { shape, data: TensorData::U8(levels) }) = file.tensors.get("picture.adjacency")
        else {
            return Ok(None);
        };
        let shape_fits = shape[..] == [rows.min(BINS), columns.min(BINS)];
        let links = file.matrix("picture.links")?;
        let drawn = places(&file.vector("picture.nodes")?, nodes);
        let between = file.vector("picture.between")?;
        let blocks = file.vector("picture.blocks")?;
        let ends = places(links.as_slice(), drawn.as_ref().map_or(0, Vec::len));
        let (Some(drawn), Some(ends), true) = (drawn, ends, shape_fits) else { return Ok(None) };
        let fits = drawn.len() <= NODES
            && drawn.is_sorted_by(|a, b| a < b)
            && ends.len() <= 2 * LINKS
            && (links.cols() == 2 || ends.is_empty())
            && blocks.len() == k * k
            && between.len() == 1;
        if !fits {
            return Ok(None);
        }
        let links = ends.chunks_exact(2).map(|l| (l[0], l[1])).collect();
        let sample = Sample { nodes: drawn, links, between: between[0].max(0.0) as usize };
        let cells = Cells { shape: (shape[0], shape[1]), levels: levels.clone(), blocks };
        Ok(Some(Self { cells, sample }))
    }
}

/// Whole numbers below a limit; none if one is not.
fn places(values: &[f64], limit: usize) -> Option<Vec<usize>> {
    let one = |x: &f64| (x.fract() == 0.0 && *x >= 0.0 && *x < limit as f64).then_some(*x as usize);
    values.iter().map(one).collect()
}
