//! Arrow files and streams with a sample or an event a row.

use super::events::Events;
use super::fields::Fields;
use super::table::Taken;
use super::{Format, Input, Options, WANTED};
use crate::error::Result;
use crate::input::Source;
use crate::input::arrow::{Batch, Batches};
use tenfold_engine::progress::Progress;

/// Reads a table, or events where the options or the names of the columns say so.
pub(super) fn read(source: Source, options: &Options, progress: &dyn Progress) -> Result<(Input, Format)> {
    let disk = source.plain(options.opening(), progress)?;
    let mut batches = Batches::open(&disk, options.memory, options.max_decompressed)?;
    let names = batches.names();
    if names.is_empty() {
        return Err(disk.fail("holds no columns", WANTED));
    }
    progress.stage(&format!("reading {}", disk.path().display()), disk.len());
    if options.means_events(&names) {
        let fields = Fields::choose(disk.path(), Some(&names), names.len(), options)?;
        batches.read_only(&[fields.sample, fields.code]);
        let mut events = Events::new(disk.path(), options);
        while let Some((batch, bytes)) = batches.next()? {
            progress.check()?;
            let pairs = texts(&batch, fields.sample).into_iter().zip(texts(&batch, fields.code));
            let pairs: Vec<(String, String)> = pairs.collect();
            events.take_pairs(pairs.iter().map(|(sample, code)| (&**sample, &**code)))?;
            progress.advance(bytes);
        }
        let input = events.finish(fields.describe(Some(&names)), progress)?;
        return Ok((input, Format::Events));
    }
    let mut taken = Taken::new(disk.path(), &names, options)?;
    let (mut before, mut text) = (0u64, String::new());
    while let Some((batch, bytes)) = batches.next()? {
        progress.check()?;
        for at in 0..names.len() {
            for row in 0..batch.rows() {
                text.clear();
                batch.cell(at, row).write(&mut text);
                taken.push(at, &text, before + row as u64 + 1);
            }
        }
        before += batch.rows() as u64;
        progress.advance(bytes);
    }
    if before == 0 {
        return Err(disk.fail("holds no rows", WANTED));
    }
    taken.finish(disk.path(), options, progress).map(|input| (input, Format::Arrow))
}

fn texts(batch: &Batch, column: usize) -> Vec<String> {
    let text = |row: usize| {
        let mut text = String::new();
        batch.cell(column, row).write(&mut text);
        text
    };
    (0..batch.rows()).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{ColumnKind, open};
    use super::*;
    use arrow_array::types::Int8Type;
    use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, Float32Array, Int64Array, ListArray};
    use arrow_array::{NullArray, RecordBatch, StringArray, StringViewArray, UInt8Array};
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
    use proptest::prelude::*;
    use std::path::Path;
    use std::sync::Arc;
    use tenfold_engine::progress::Silent;

    /// The table in two batches, as a file or a stream.
    fn bytes(columns: Vec<(&str, ArrayRef)>, packed: Option<CompressionType>, stream: bool) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let options = IpcWriteOptions::default().try_with_compression(packed).unwrap();
        let mut out = Vec::new();
        if stream {
            let mut writer = StreamWriter::try_new_with_options(&mut out, &batch.schema(), options).unwrap();
            (0..2).for_each(|_| writer.write(&batch).unwrap());
            writer.finish().unwrap();
        } else {
            let mut writer = FileWriter::try_new_with_options(&mut out, &batch.schema(), options).unwrap();
            (0..2).for_each(|_| writer.write(&batch).unwrap());
            writer.finish().unwrap();
        }
        out
    }

    /// Rows of every kind that is read.
    fn people() -> Vec<(&'static str, ArrayRef)> {
        let town: DictionaryArray<Int8Type> =
            vec![Some("Ulm"), Some("Bonn"), None, Some("Ulm")].into_iter().collect();
        vec![
            ("id", Arc::new(StringArray::from(vec!["a", "b", "c", "d"])) as ArrayRef),
            ("weight", Arc::new(Float32Array::from(vec![Some(61.5), None, Some(80.0), Some(75.25)]))),
            ("smokes", Arc::new(BooleanArray::from(vec![true, false, false, false]))),
            ("town", Arc::new(town)),
            ("age", Arc::new(UInt8Array::from(vec![3, 1, 1, 2]))),
            (
                "view",
                Arc::new(StringViewArray::from(vec!["x", "a text of more than twelve bytes", "x", "x"])),
            ),
        ]
    }

    fn read_bytes(folder: &Path, name: &str, bytes: &[u8], options: &Options) -> Result<Input> {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        open(&path, options, &Silent)
    }

    #[test]
    fn files_and_streams_hold_tables() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { ids: vec!["id".into()], ..Options::default() };
        let mut seen = Vec::new();
        for packed in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
            // A file is told by its name, a stream of no name by its first bytes.
            for (name, stream) in [("x.feather", false), ("x", true)] {
                let bytes = bytes(people(), packed, stream);
                let input = read_bytes(folder.path(), name, &bytes, &options).unwrap();
                assert_eq!(
                    (input.format, input.table.samples(), input.samples.name(5)),
                    (Format::Arrow, 8, "b".into())
                );
                seen.push(input.table);
            }
        }
        assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
        let found: Vec<(&str, Vec<String>)> =
            seen[0].variables().iter().map(|v| (v.name.as_str(), v.labels.clone())).collect();
        let labels = |labels: &[&str]| labels.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>();
        assert_eq!(found[1], ("smokes", labels(&["false", "true"])));
        assert_eq!(found[2], ("town", labels(&["Ulm", "Bonn"])));
        assert_eq!(found[3], ("age", labels(&["1", "2", "3"])));
        assert_eq!((seen[0].row(1).missing, seen[0].row(6).missing), (&[0u32][..], &[2u32][..]));
        assert_eq!(seen[0].row(0).values[0], 61.5);
    }

    #[test]
    fn events_are_told_by_their_columns() {
        let folder = tempfile::tempdir().unwrap();
        let columns = || -> Vec<(&str, ArrayRef)> {
            vec![
                ("patient", Arc::new(Int64Array::from(vec![7, 7, 3, 12]))),
                (
                    "code",
                    Arc::new(StringArray::from(vec![Some("250.01"), Some("401.9"), None, Some("25001")])),
                ),
            ]
        };
        let options = Options { min_count: Some(1), ..Options::default() };
        let input = read_bytes(folder.path(), "x.arrow", &bytes(columns(), None, false), &options).unwrap();
        let names: Vec<&str> = input.table.variables().iter().map(|v| v.name.as_str()).collect();
        assert_eq!((names, input.table.samples()), (vec!["250.01", "25001", "401.9"], 2));
        let kinds = [("code".to_owned(), ColumnKind::Category)].into();
        let table = Options { ids: vec!["patient".into()], kinds, ..Options::default() };
        let input = read_bytes(folder.path(), "x.arrow", &bytes(columns(), None, false), &table).unwrap();
        assert_eq!((input.format, input.table.samples()), (Format::Arrow, 8));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let error = |bytes: &[u8], options: &Options| {
            read_bytes(folder.path(), "x.arrow", bytes, options).unwrap_err().to_string()
        };
        let good = bytes(people(), Some(CompressionType::LZ4_FRAME), false);
        let plain = Options::default();
        assert!(error(&good[..good.len() / 2], &plain).contains("end"));
        assert!(error(b"ARROW1", &plain).contains("footer"));
        assert!(error(&[0xff; 4], &plain).contains("x.arrow"));
        let lists = ListArray::from_iter_primitive::<Int8Type, _, _>(vec![Some(vec![Some(1)]); 4]);
        let told = error(&bytes(vec![("many", Arc::new(lists))], None, true), &plain);
        assert!(told.contains("\"many\" holds List") && told.contains("text, numbers"), "{told}");
        let told = error(&good, &Options { memory: 10, ..Options::default() });
        assert!(told.contains("smaller batches") && told.contains("--memory"), "{told}");
        let told = error(&good, &Options { encoding: Some("latin1".into()), ..Options::default() });
        assert!(told.contains("--encoding"), "{told}");
    }

    /// Packed columns, and rows that all point to one text.
    #[test]
    fn what_batches_unpack_to_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let told = |bytes: &[u8], max_decompressed: u64| {
            let options = Options { max_decompressed, ..Options::default() };
            let found = read_bytes(folder.path(), "x.arrow", bytes, &options);
            found.err().map_or(String::new(), |e| e.to_string())
        };
        // 80,000 bytes in each of two batches, of which the first fits.
        let zeros = || vec![("n", Arc::new(Int64Array::from(vec![0i64; 10_000])) as ArrayRef)];
        let long = "a".repeat(1000);
        let town: DictionaryArray<Int8Type> = vec![long.as_str(); 1000].into_iter().collect();
        let town: ArrayRef = Arc::new(town);
        for stream in [false, true] {
            for packed in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
                let bomb = bytes(zeros(), Some(packed), stream);
                assert!(bomb.len() < 10_000);
                let words = "unpacks to more than 100000 bytes; if you trust it, raise --max-decompressed";
                assert!(told(&bomb, 100_000).contains(words), "{}", told(&bomb, 100_000));
                assert!(!told(&bomb, 1 << 20).contains("unpack"), "{}", told(&bomb, 1 << 20));
            }
            let bomb = bytes(vec![("town", Arc::clone(&town))], None, stream);
            assert!(
                bomb.len() < 100_000 && told(&bomb, 100_000).contains("unpacks to more than 100000 bytes")
            );
            // Texts seen through views are plain; columns that nobody looks at count nothing.
            let view = StringViewArray::from_iter_values((0..2000).map(|i| format!("{i:0100}")));
            let plain = bytes(vec![("view", Arc::new(view) as ArrayRef)], None, stream);
            assert!(!told(&plain, 1000).contains("unpack"), "{}", told(&plain, 1000));
            let visits = || Arc::new(StringArray::from(vec!["a"; 1000])) as ArrayRef;
            let noted = bytes(
                vec![("patient", visits()), ("code", visits()), ("note", Arc::clone(&town))],
                None,
                stream,
            );
            assert!(!told(&noted, 100_000).contains("unpack"), "{}", told(&noted, 100_000));
        }
    }

    /// The decoder of LZ4 goes on beyond the length that a column promises.
    #[test]
    fn columns_longer_than_they_promise_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![5i64; 1000]));
        let mut packed = bytes(vec![("n", numbers)], Some(CompressionType::LZ4_FRAME), false);
        let at = packed.windows(8).position(|w| w == 8000i64.to_le_bytes()).unwrap();
        packed[at..at + 8].copy_from_slice(&8i64.to_le_bytes());
        let told =
            read_bytes(folder.path(), "x.arrow", &packed, &Options::default()).unwrap_err().to_string();
        assert!(told.contains("not of the length that it promises"), "{told}");
    }

    /// A packed column that promises more than memory, and columns of nulls with any number of rows.
    #[test]
    fn lengths_that_lie_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![5i64; 1000]));
        let mut packed = bytes(vec![("n", numbers)], Some(CompressionType::ZSTD), false);
        let own = 8000i64.to_le_bytes();
        let at = packed.windows(8).position(|w| w == own).unwrap();
        packed[at..at + 8].copy_from_slice(&(1i64 << 50).to_le_bytes());
        let told =
            read_bytes(folder.path(), "x.arrow", &packed, &Options::default()).unwrap_err().to_string();
        assert!(told.contains("bytes of memory allowed"), "{told}");
        let rows = 1_000_000_007usize;
        let nulls = bytes(vec![("nothing", Arc::new(NullArray::new(rows)))], None, false);
        let told = read_bytes(folder.path(), "x.arrow", &nulls, &Options::default()).unwrap_err().to_string();
        assert!(told.contains("1000000007 rows in 0 bytes"), "{told}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn spoilt_files_never_panic(
            places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            cut in any::<prop::sample::Index>(),
            (stream, packed, whole) in (any::<bool>(), any::<bool>(), any::<bool>()),
        ) {
            let packed = packed.then_some(CompressionType::LZ4_FRAME);
            let mut bytes = bytes(people(), packed, stream);
            for (place, value) in places {
                let at = place.index(bytes.len());
                bytes[at] = value;
            }
            if !whole {
                bytes.truncate(cut.index(bytes.len()));
            }
            let folder = tempfile::tempdir().unwrap();
            let _ = read_bytes(folder.path(), "x.arrow", &bytes, &Options::default());
        }
    }
}
