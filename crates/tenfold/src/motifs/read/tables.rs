//! Tables and sound: columns are channels.

use super::{Layout, Raw, ReadOptions, arrays, fail, numbered, only_channels, recording};
use crate::error::Result;
use crate::input::{Array, Options, open_with};
use crate::memory::size_for_half;
use std::path::Path;
use tenfold_engine::linalg::Rows;
use tenfold_engine::progress::Progress;

pub(super) fn read(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Raw> {
    let sound = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("wav"));
    if sound {
        only_channels(options, "a .wav file")?;
    }
    let reading = Options {
        memory: options.memory,
        header: options.header,
        delimiter: options.delimiter,
        columns: None,
        gaps: true,
        max_decompressed: options.max_decompressed,
    };
    let table = open_with(path, &reading, progress)?;
    let (rows, columns) = (table.rows(), table.cols());
    let Some(numbers) = table.borrow_rows(0, rows) else {
        let bytes = 8 * (rows as u64).saturating_mul(columns as u64);
        return Err(fail(
            path,
            format!(
                "holds {rows} × {columns} numbers, more than the {} bytes of memory allowed",
                options.memory
            ),
            format!("give --memory {}, or cut the file into parts", size_for_half(bytes)),
        ));
    };
    match options.layout {
        Layout::Auto | Layout::Channels => {
            let names = if table.is_named() { table.names().to_vec() } else { numbered(columns) };
            Ok(Raw::new(vec![recording(numbers, columns)], names, table.rate().map(f64::from)))
        }
        layout => arrays::arrange(path, Array { shape: vec![rows, columns], data: numbers.to_vec() }, layout),
    }
}
