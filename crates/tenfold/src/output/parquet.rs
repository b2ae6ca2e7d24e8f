//! Tables to Parquet files.

use super::{Error, Labels, Path, Result, Rows, Write, each_block};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::sync::Arc;

/// Bytes of a row group: enough to be read in one sweep, little enough to be held while it is written.
const GROUP: usize = 16 << 20;

pub(super) fn write(
    path: &Path,
    labels: Option<Labels<'_>>,
    names: &[String],
    rows: &dyn Rows,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let fail = |e: ParquetError| Error::Write {
        path: path.to_owned(),
        problem: e.to_string(),
        remedy: "check that the columns' names differ and that the disk has room".into(),
    };
    let field = |name: &String| {
        let kind = Type::primitive_type_builder(name, Physical::DOUBLE).with_repetition(Repetition::REQUIRED);
        kind.build().map(Arc::new)
    };
    let text = |labels: Labels<'_>| {
        let kind = Type::primitive_type_builder(labels.name, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::String));
        kind.build().map(Arc::new)
    };
    let fields = labels.map(text).into_iter().chain(names.iter().map(field));
    let fields = fields.collect::<std::result::Result<_, _>>().map_err(fail)?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(fail)?;
    // Real numbers seldom repeat, so a dictionary only costs time.
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .build();
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(fail)?;
    let cols = rows.cols();
    let mut values = Vec::new();
    let mut first = 0;
    each_block(rows, (GROUP / 8 / cols.max(1)).max(1), |block| {
        let mut group = writer.next_row_group().map_err(fail)?;
        let count = block.len() / cols.max(1);
        if let Some(labels) = labels {
            let texts: Vec<ByteArray> = (first..first + count).map(|i| (labels.of)(i).into()).collect();
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
    })?;
    writer.close().map(|_| ()).map_err(fail)
}
