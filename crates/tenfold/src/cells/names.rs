//! What belongs to an image by its name: its gene in a table, its label mask in a folder.

use crate::error::{Error, Result};
use crate::input::rows::{Cells, Kind, RowReader};
use crate::input::{Opening, Source};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tenfold_engine::progress::Silent;

/// Most bytes of a table of genes, where nothing else is said.
const MOST: u64 = 1 << 30;

/// Endings that segmenters give to the masks of an image.
const ENDINGS: [&str; 9] =
    ["", "_mask", "_masks", "_label", "_labels", "_cp_masks", "_seg", "_segmentation", "-labels"];
const TYPES: [&str; 4] = ["tif", "tiff", "png", "npy"];

/// Reads which gene an image shows: a table with the columns `image` and `gene`, in any order. A packed one is given up after
/// `max_decompressed` bytes, 1 GiB where `None`.
///
/// # Errors
/// A file without these columns, a line without one of them, or an image that is named twice with different genes.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("genes.csv");
/// std::fs::write(&path, "gene,image\nGad1,slide7.tif\n").unwrap();
/// assert_eq!(tenfold::cells::names::read_genes(&path, None)?["slide7.tif"], "Gad1");
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn read_genes(path: &Path, max_decompressed: Option<u64>) -> Result<HashMap<String, String>> {
    let wanted = "give a table with the columns image and gene";
    let max_decompressed = max_decompressed.unwrap_or(MOST);
    let source = Source::open(path, Opening { encoding: None, max_decompressed, wanted }, &Silent)?;
    let tabs = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tsv"));
    let mut rows = RowReader::new(&source, if tabs { Kind::Tsv } else { Kind::Csv }, 1 << 20, &Silent)?;
    let (mut cells, mut places, mut genes) = (Cells::default(), None, HashMap::new());
    while let Some(line) = rows.next(&mut cells)? {
        if cells.is_blank() {
            continue;
        }
        let text: Vec<String> = cells.iter().map(|c| String::from_utf8_lossy(c).trim().to_owned()).collect();
        let Some((image, gene)) = places else {
            let find = |name: &str| text.iter().position(|t| t.eq_ignore_ascii_case(name));
            places = find("image").zip(find("gene"));
            if places.is_none() {
                return Err(source.fail(line, format!("begins with {:?}", cells.shown()), wanted));
            }
            continue;
        };
        let (Some(image), Some(gene)) = (text.get(image), text.get(gene)) else {
            return Err(source.fail(line, format!("has {} cells", text.len()), wanted));
        };
        if image.is_empty() || gene.is_empty() {
            return Err(source.fail(line, "has no image or no gene", "fill it in, or drop the line"));
        }
        if let Some(other) = genes.insert(image.clone(), gene.clone()).filter(|other| other != gene) {
            let problem = format!("gives the image {image} the gene {gene}, and an earlier line {other}");
            return Err(source.fail(line, problem, "give every image one gene"));
        }
    }
    if genes.is_empty() {
        return Err(source.fail(None, "names no image", wanted));
    }
    Ok(genes)
}

/// The label mask of an image in a folder: the file of the same name, perhaps with an ending such as `_masks`, as `.tif`, `.tiff`,
/// `.png` or `.npy`.
///
/// # Errors
/// [`Error::Unfit`] when there is none.
pub fn mask_of(folder: &Path, image: &Path) -> Result<PathBuf> {
    let stem = image.file_stem().unwrap_or_default().to_string_lossy();
    let all = ENDINGS.iter().flat_map(|ending| TYPES.iter().map(move |kind| (ending, kind)));
    let mut paths = all.map(|(ending, kind)| folder.join(format!("{stem}{ending}.{kind}")));
    // The folder may be that of the images themselves.
    paths.find(|path| path.is_file() && path.as_path() != image).ok_or_else(|| Error::Unfit {
        problem: format!("the folder {} holds no mask for {}", folder.display(), image.display()),
        remedy: format!("give {stem}.tif, .png or .npy, or such a file with the ending _masks or _labels"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_do_not_tell_genes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("genes.csv");
        for (text, words) in [
            ("a,b\n1,2\n", "line 1: begins with \"a,b\""),
            ("image,gene\n", "names no image"),
            ("image,gene\nx\n", "line 2: has 1 cells"),
            ("image,gene\nx,\n", "line 2: has no image or no gene"),
            ("image,gene\nx,A\nx,B\n", "line 3: gives the image x the gene B, and an earlier line A"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read_genes(&path, None).unwrap_err().to_string();
            assert!(error.contains(words), "{text:?}: {error}");
        }
    }

    #[test]
    fn masks_are_found_by_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a_cp_masks.png"), "").unwrap();
        let image = folder.path().join("a.tif");
        std::fs::write(&image, "").unwrap();
        assert!(mask_of(folder.path(), &image).unwrap().ends_with("a_cp_masks.png"));
        let error = mask_of(folder.path(), Path::new("b.tif")).unwrap_err().to_string();
        assert!(error.contains("holds no mask for b.tif; give b.tif, .png or .npy"), "{error}");
    }
}
