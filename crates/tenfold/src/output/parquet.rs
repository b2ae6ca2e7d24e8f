//! Tables to Parquet files.

use super::{Error, Heading, Labels, Path, Result, Write};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::sync::Arc;

/// Bytes of a row group: enough to be read in one sweep, little enough to be held while it is written.
const GROUP: usize = 16 << 20;

/// Writes the table; `fill` hands over whole rows and the number of the first of them.
pub(super) fn write(
    path: &Path,
    heading: Heading<'_, '_>,
    fill: impl FnOnce(&mut dyn FnMut(usize, &[f64]) -> Result<()>) -> Result<()>,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let Heading { labels, names, .. } = heading;
    let fail = |e: ParquetError| Error::Write {
        path: path.to_owned(),
        problem: e.to_string(),
        remedy: "check that the columns' names differ and that the disk has room".into(),
    };
    let field = |name: &String| {
        let kind = Type::primitive_type_builder(name, Physical::DOUBLE).with_repetition(Repetition::REQUIRED);
        kind.build().map(Arc::new)
    };
    let text = |labels: &Labels<'_>| {
        let kind = Type::primitive_type_builder(labels.name, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::String));
        kind.build().map(Arc::new)
    };
    let fields = labels.iter().map(text).chain(names.iter().map(field));
    let fields = fields.collect::<std::result::Result<_, _>>().map_err(fail)?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(fail)?;
    // Real numbers seldom repeat, so a dictionary only costs time.
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .build();
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(fail)?;
    let cols = names.len();
    let (mut values, mut first) = (Vec::new(), 0);
    let mut put = |block: &[f64]| {
        let mut group = writer.next_row_group().map_err(fail)?;
        let count = block.len() / cols.max(1);
        for labels in labels {
            let texts: Vec<ByteArray> = (first..first + count).map(|i| (&*(labels.of)(i)).into()).collect();
            let mut column = group.next_column().map_err(fail)?.expect("the schema begins with the labels");
            column.typed::<ByteArrayType>().write_batch(&texts, None, None).map_err(fail)?;
            column.close().map_err(fail)?;
        }
        first += count;
        for j in 0..cols {
            values.clear();
            values.extend(block[j..].iter().step_by(cols));
            let mut column =
                group.next_column().map_err(fail)?.expect("the schema has a column for every name");
            column.typed::<DoubleType>().write_batch(&values, None, None).map_err(fail)?;
            column.close().map_err(fail)?;
        }
        group.close().map(|_| ()).map_err(fail)
    };
    // Rows come as their maker likes; groups are of one size, so that the file is the same.
    let full = (GROUP / 8 / cols.max(1)).max(1) * cols.max(1);
    let mut held: Vec<f64> = Vec::new();
    fill(&mut |_, mut block| {
        while !block.is_empty() {
            let (part, rest) = block.split_at(block.len().min(full - held.len()));
            held.extend_from_slice(part);
            block = rest;
            if held.len() == full {
                put(&held)?;
                held.clear();
            }
        }
        Ok(())
    })?;
    if !held.is_empty() {
        put(&held)?;
    }
    writer.close().map(|_| ()).map_err(fail)
}
