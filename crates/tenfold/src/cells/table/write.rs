//! Cells to tables.

use crate::cells::data::{Cell, Section, Tissue};
use crate::error::Result;
use crate::output::{Heading, Labels, write_rows};
use std::borrow::Cow;
use std::path::Path;
use tenfold_engine::progress::Progress;

/// Rows that are handed over together.
const BLOCK: usize = 1 << 13;

/// Writes cells as a table with the columns `image,gene,x,y,r1,r2,orientation,intensity,neighbours`: `.csv`, `.tsv` or `.parquet`, by
/// the file's extension. The orientation is in radians.
///
/// # Errors
/// An extension that is not known, a disk that refuses, and when the listener stops the run.
///
/// # Example
/// ```
/// use tenfold::cells::{Cell, Section, Tissue, table};
/// # use tenfold::engine::progress::Silent;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("cells.csv");
/// let cell = Cell { x: 10.5, y: 3.0, r1: 6.0, r2: 4.0, orientation: 0.5, intensity: 40.0, neighbours: 2.0 };
/// let section = Section { image: "Gad1_003.png".into(), gene: "Gad1".into(), cells: vec![cell] };
/// table::write(&path, &Tissue { sections: vec![section] }, &Silent)?;
/// let text = std::fs::read_to_string(&path).unwrap();
/// assert_eq!(text, "image,gene,x,y,r1,r2,orientation,intensity,neighbours\nGad1_003.png,Gad1,10.5,3,6,4,0.5,40,2\n");
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn write(path: &Path, tissue: &Tissue, progress: &dyn Progress) -> Result<()> {
    let names = ["x", "y", "r1", "r2", "orientation", "intensity", "neighbours"].map(String::from);
    // The first row of every section.
    let starts: Vec<usize> = tissue
        .sections
        .iter()
        .scan(0, |next, section| Some(std::mem::replace(next, *next + section.cells.len())))
        .collect();
    let section = |row: usize| -> &Section {
        // Empty sections share their start with the next one, so the last that begins here is meant.
        &tissue.sections[starts.partition_point(|&start| start <= row) - 1]
    };
    let labels = [
        Labels { name: "image", of: &|row| Cow::Borrowed(section(row).image.as_str()) },
        Labels { name: "gene", of: &|row| Cow::Borrowed(section(row).gene.as_str()) },
    ];
    let heading = Heading { labels: &labels, names: &names, rows: tissue.len() };
    progress.stage("writing", tissue.len() as u64);
    write_rows(path, heading, |put| {
        for section in &tissue.sections {
            for cells in section.cells.chunks(BLOCK) {
                progress.check()?;
                put(&cells.iter().flat_map(numbers).collect::<Vec<_>>())?;
                progress.advance(cells.len() as u64);
            }
        }
        Ok(())
    })
}

fn numbers(cell: &Cell) -> [f64; 7] {
    let Cell { x, y, r1, r2, orientation, intensity, neighbours } = *cell;
    [x, y, r1, r2, orientation, intensity, neighbours]
}
