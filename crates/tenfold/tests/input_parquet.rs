//! Parquet: round trip, row groups from disk, every numeric type, and what is refused.
#![cfg(feature = "parquet")]

mod input_files;
use input_files::*;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use std::path::Path;
use std::sync::Arc;
use tenfold::Error;
use tenfold::cells::table;
use tenfold::communities::{self, Ids, truth};
use tenfold::engine::linalg::Rows;
use tenfold::engine::progress::Silent;
use tenfold::input::{Options, open};
use tenfold::output::write_table;
use tenfold::{topics, trees};

/// Writes one row group; `fill` gets every column's writer in turn.
fn write(
    path: &Path,
    message: &str,
    properties: WriterProperties,
    mut fill: impl FnMut(usize, &mut SerializedColumnWriter<'_>),
) {
    let schema = Arc::new(parse_message_type(message).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut place = 0;
    while let Some(mut column) = group.next_column().unwrap() {
        fill(place, &mut column);
        column.close().unwrap();
        place += 1;
    }
    group.close().unwrap();
    writer.close().unwrap();
}

fn double(column: &mut SerializedColumnWriter<'_>, values: &[f64], levels: Option<&[i16]>) {
    column.typed::<DoubleType>().write_batch(values, levels, None).unwrap();
}

#[test]
fn a_table_comes_back_bit_for_bit() {
    let folder = folder();
    let mat = numbers(1553, 5);
    let path = folder.path().join("x.parquet");
    write_table(&path, &names(5), &mat).unwrap();
    let table = read(&path);
    assert_eq!((table.rows(), table.names()), (1553, &names(5)[..]));
    assert_eq!(bits(table.borrow_rows(0, 1553).unwrap()), bits(mat.as_slice()));
    let options = Options { columns: Some(vec!["a3".into()]), ..Options::default() };
    assert_eq!(bits(&all(&open(&path, &options).unwrap())), bits(&mat.col(2)));
}

#[test]
fn a_large_table_is_read_by_row_groups() {
    let folder = folder();
    // 16 MiB row groups of 8 columns hold 262144 rows, so this table has two.
    let mat = numbers(300_000, 8);
    let path = folder.path().join("big.parquet");
    write_table(&path, &names(8), &mat).unwrap();
    let table = streamed(&path, 17 << 20);
    assert!(table.describe().contains("300000 samples × 8 columns of Parquet, read from disk"));
    assert_eq!(bits(&all(&table)), bits(mat.as_slice()));
    let refused = refusal(&path, &Options { memory: 1000, ..Options::default() });
    assert!(
        refused.contains("row group") && refused.contains("row_group_size") && refused.contains("--memory")
    );
}

#[test]
fn every_numeric_type_and_codec_is_read() {
    let folder = folder();
    let path = folder.path().join("x.parquet");
    let message =
        "message m { required boolean b; optional int32 i; required int64 l; required int32 u (UINT_32);
        required float f; required double d; }";
    for codec in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        let properties = WriterProperties::builder().set_compression(codec).build();
        write(&path, message, properties, |place, column| {
            match place {
                0 => column.typed::<BoolType>().write_batch(&[true, false], None, None),
                1 => column.typed::<Int32Type>().write_batch(&[-1, 2], Some(&[1, 1]), None),
                2 => column.typed::<Int64Type>().write_batch(&[1 << 40, -3], None, None),
                3 => column.typed::<Int32Type>().write_batch(&[-1, 4], None, None),
                4 => column.typed::<FloatType>().write_batch(&[0.5, 6.0], None, None),
                _ => column.typed::<DoubleType>().write_batch(&[0.1, 7.0], None, None),
            }
            .unwrap();
        });
        let expected = [1.0, -1.0, 2f64.powi(40), 4_294_967_295.0, 0.5, 0.1, 0.0, 2.0, -3.0, 4.0, 6.0, 7.0];
        assert_eq!(all(&read(&path)), expected, "{codec}");
    }
}

#[test]
fn what_is_no_table_of_numbers_is_refused() {
    let folder = folder();
    let path = folder.path().join("x.parquet");
    let plain = || WriterProperties::builder().build();
    let says = |pieces: &[&str]| {
        let message = refusal(&path, &Options::default());
        assert!(pieces.iter().all(|piece| message.contains(piece)), "{pieces:?} in {message:?}");
    };
    write(&path, "message m { required binary who (UTF8); required double x; }", plain(), |place, column| {
        match place {
            0 => drop(
                column.typed::<ByteArrayType>().write_batch(&[ByteArray::from("ann")], None, None).unwrap(),
            ),
            _ => double(column, &[1.0], None),
        }
    });
    says(&["column \"who\" holds text", "--columns"]);
    let options = Options { columns: Some(vec!["x".into()]), ..Options::default() };
    assert_eq!(all(&open(&path, &options).unwrap()), [1.0]);
    let options = Options { columns: Some(vec!["y".into()]), ..Options::default() };
    assert!(refusal(&path, &options).contains("among who, x"));

    write(&path, "message m { required int32 day (DATE); }", plain(), |_, column| {
        column.typed::<Int32Type>().write_batch(&[1], None, None).unwrap();
    });
    says(&["column \"day\" holds dates"]);
    write(&path, "message m { repeated double x; }", plain(), |_, column| {
        column.typed::<DoubleType>().write_batch(&[1.0], Some(&[1]), Some(&[0])).unwrap();
    });
    says(&["column \"x\" holds lists"]);
    write(&path, "message m { optional double x; }", plain(), |_, column| {
        double(column, &[1.0, 3.0], Some(&[1, 0, 1]))
    });
    says(&["row 2", "column x is null", "fill or drop"]);
    write(&path, "message m { optional double x; }", plain(), |_, column| double(column, &[], Some(&[0])));
    says(&["row 1", "column x is null"]);
    write(&path, "message m { required double x; }", plain(), |_, column| {
        double(column, &[1.0, f64::INFINITY], None)
    });
    says(&["row 2", "column x is inf", "finite"]);
    write(&path, "message m { required double x; }", plain(), |_, column| double(column, &[], None));
    says(&["no data", "0 rows"]);
    std::fs::write(&path, "not a parquet file").unwrap();
    says(&["cannot be read as Parquet", "write it again"]);
    std::fs::write(&path, "").unwrap();
    says(&["is empty"]);
}

#[test]
fn columns_of_one_name_are_not_written() {
    let path = folder().path().join("x.parquet");
    assert!(matches!(
        write_table(&path, &["a".into(), "a".into()], &numbers(1, 2)),
        Err(Error::Write { .. })
    ));
}

/// What every reader of Parquet says to a file whose texts are in the columns image and gene and whose numbers in x and y, with no more
/// than so many bytes.
fn every_reader(path: &Path, limit: u64) -> Vec<(&'static str, Result<(), Error>)> {
    let some = |name: &str| Some(name.to_owned());
    let numbers = Options {
        columns: Some(vec!["x".into(), "y".into()]),
        max_decompressed: limit,
        ..Options::default()
    };
    let documents = topics::read::ReadOptions {
        text_column: some("gene"),
        max_decompressed: limit,
        ..topics::read::ReadOptions::default()
    };
    let graph = communities::read::ReadOptions {
        from: some("image"),
        to: some("gene"),
        max_decompressed: limit,
        ..communities::read::ReadOptions::default()
    };
    let known = truth::Options {
        format: Some(truth::Format::Table),
        id_column: some("image"),
        attributes: vec!["gene".into()],
        max_decompressed: limit,
        ..truth::Options::default()
    };
    let samples = trees::read::Options { max_decompressed: limit, ..trees::read::Options::default() };
    let events = trees::read::Options {
        sample: some("image"),
        code: some("gene"),
        min_count: Some(1),
        ..samples.clone()
    };
    let cells = table::Options { max_decompressed: limit, ..table::Options::default() };
    let ids = Ids::from_numbers(vec![1, 2]).unwrap();
    vec![
        ("numbers", open(path, &numbers).map(drop)),
        ("documents", topics::read::read(path, &documents, &Silent).map(drop)),
        ("graph", communities::read::read(path, &graph, &Silent).map(drop)),
        ("known communities", truth::read(path, &ids, &known, &Silent).map(drop)),
        ("samples", trees::read::open(path, &samples, &Silent).map(drop)),
        ("events", trees::read::open(path, &events, &Silent).map(drop)),
        ("cells", table::read(path, &cells, &Silent).map(drop)),
    ]
}

/// The same row again and again: a file of some kilobytes with more than a megabyte in it.
#[test]
fn what_comes_out_of_columns_is_bounded() {
    let folder = folder();
    let path = folder.path().join("x.parquet");
    let message = "message m { required binary image (UTF8); required binary gene (UTF8); required double x; \
                   required double y; }";
    let rows = 20_000;
    write(&path, message, WriterProperties::builder().build(), |place, column| match place {
        0 | 1 => {
            let texts = vec![ByteArray::from("twenty bytes of text"); rows];
            column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
        }
        _ => double(column, &vec![1.0; rows], None),
    });
    assert!(std::fs::metadata(&path).unwrap().len() < 10_000);
    // By what the file promises, and by what is counted: the rows of a column of text promise 80,000 bytes of lengths.
    for limit in [10_000, 100_000] {
        for (reader, found) in every_reader(&path, limit) {
            let told = found.expect_err(reader).to_string();
            let words =
                format!("unpacks to more than {limit} bytes; if you trust it, raise --max-decompressed");
            assert!(told.contains(&words), "{reader}: {told}");
        }
    }
    for (reader, found) in every_reader(&path, 2 << 20) {
        let told = found.err().map_or(String::new(), |e| e.to_string());
        assert!(!told.contains("unpacks"), "{reader}: {told}");
    }
}

/// A page may be far longer than its values, or hold one that is long.
#[test]
fn what_a_page_unpacks_to_is_bounded() {
    let folder = folder();
    let path = folder.path().join("x.parquet");
    let codecs = [
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for (codec, version) in codecs.into_iter().flat_map(|codec| {
        [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0].map(|version| (codec, version))
    }) {
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_compression(codec)
            .set_writer_version(version)
            .build();
        write(&path, "message m { required binary text (UTF8); }", properties, |_, column| {
            let text = ByteArray::from("word ".repeat(40_000).as_str());
            column.typed::<ByteArrayType>().write_batch(&[text], None, None).unwrap();
        });
        assert!(std::fs::metadata(&path).unwrap().len() < 20_000, "{codec:?}");
        let read = |max_decompressed| {
            let options =
                topics::read::ReadOptions { max_decompressed, ..topics::read::ReadOptions::default() };
            topics::read::read(&path, &options, &Silent).map_err(|e| e.to_string())
        };
        let told = read(20_000).expect_err("this page should be refused");
        assert!(told.contains("unpacks to more than 20000 bytes"), "{codec:?}: {told}");
        assert!(!read(1 << 20).is_err_and(|told| told.contains("unpack")), "{codec:?}");
    }
}

/// Two thousand million elements that take no bytes, in the footer or in the head of a page: to pass over them took a second for every
/// six bytes.
#[test]
fn heads_promise_no_more_than_they_hold() {
    let folder = folder();
    let path = folder.path().join("x.parquet");
    let table = tenfold::engine::linalg::Mat::from_vec(40, 1, (0..40).map(f64::from).collect());
    write_table(&path, &["x".into()], &table).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let many = [0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0];
    let end = whole.len() - 8;
    let length = u32::from_le_bytes(whole[end..end + 4].try_into().unwrap()) as usize;
    // In the place of the byte that ends the footer, and in the place of the first page's head.
    let footer = [&whole[..end - 1], &many, &(length as u32 + 7).to_le_bytes(), &whole[end + 4..]].concat();
    let page = [&whole[..4], &many, &whole[4 + many.len()..]].concat();
    for bytes in [footer, page] {
        std::fs::write(&path, bytes).unwrap();
        let told = refusal(&path, &Options::default());
        assert!(told.contains("promises more than it can hold"), "{told}");
    }
}
