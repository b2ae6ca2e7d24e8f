//! Every bad file gets an error that names the file, the place and a remedy.

mod input_files;
use input_files::*;
use std::io::Write;
use std::path::Path;
use tenfold::Error;
use tenfold::engine::linalg::Rows;
use tenfold::input::{Options, open, read_array};
use tenfold::output::{check_table_path, write_atomically, write_table};

/// Opens a file with this content and looks for all `expected` pieces in the message.
fn refused(name: &str, bytes: impl AsRef<[u8]>, options: &Options, expected: &[&str]) {
    let folder = folder();
    let message = refusal(&file(&folder, name, bytes), options);
    for piece in expected {
        assert!(message.contains(piece), "{piece:?} is missing in {message:?}");
    }
}

#[test]
fn text_errors_name_line_column_text_and_remedy() {
    let usual = Options::default();
    refused("a.csv", "", &usual, &["is empty", "at least one row"]);
    refused("a.csv", "\n\n", &usual, &["no lines", "at least one row"]);
    refused("a.csv", "x,y\n", &usual, &["no data", "0 rows × 2 columns"]);
    refused("a.csv", "x,y\n1,2\n3\n", &usual, &["line 3", "has 1 field where 2 were expected", "mend"]);
    refused("a.csv", "x,y\r\n1,2\r\n3,4,5\r\n", &usual, &["line 3", "has 3 fields where 2"]);
    refused("a.csv", "x,y\n\n1,2\n\n\nbad,2\n", &usual, &["line 6", "column x", "\"bad\"", "--columns"]);
    refused("a.csv", "x,\"y\nz\"\n1,2\nbad,2\n", &usual, &["line 4", "column x"]);
    refused("a.csv", "x,y\n1,2\n3,\n", &usual, &["line 3", "column y", "fill or drop"]);
    refused("a.csv", "1,\n3,4\n", &usual, &["line 1", "column c2"]);
    refused(
        "a.csv",
        "x,y\n1,NaN\n",
        &usual,
        &["line 2", "column y", "\"NaN\"", "not finite", "fill or drop"],
    );
    refused("a.csv", "1,2\n3,-inf\n", &usual, &["line 2", "column c2", "\"-inf\"", "not finite"]);
    refused("a.csv", "1,2\n3,1e999\n", &usual, &["line 2", "\"1e999\"", "not finite"]);
    refused("a.csv", "x\n1;2\n", &usual, &["line 2", "--delimiter"]);
    let headless = Options { header: Some(false), ..Options::default() };
    refused("a.csv", "x,y\n1,2\n", &headless, &["line 1", "\"x\"", "--header"]);
    let chosen = |name: &str| Options { columns: Some(vec![name.into()]), ..Options::default() };
    refused("a.csv", "x,y\n1,2\n", &chosen("z"), &["no column named \"z\"", "among x, y"]);
    refused("a.csv", "x,x\n1,2\n", &chosen("x"), &["more than one column"]);
    // The errors are the same when the table does not fit into memory.
    let tiny = Options { memory: 8, ..Options::default() };
    refused("a.csv", "x,y\n1,2\n3,4\n5,6\n7\n", &tiny, &["line 5", "has 1 field where 2"]);
}

#[test]
fn compressed_text_is_bounded() {
    let pack = |text: &str| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(text.as_bytes()).unwrap();
        gz.finish().unwrap()
    };
    let bomb = "1,2\n".repeat(100_000);
    let little = Options { max_decompressed: 10_000, ..Options::default() };
    refused("a.csv.gz", pack(&bomb), &little, &["more than 10000 bytes", "unpack"]);
    refused("a.csv.zst", zstd::encode_all(bomb.as_bytes(), 3).unwrap(), &little, &["more than 10000 bytes"]);
    let tiny = Options { memory: 1000, ..Options::default() };
    refused("a.csv.gz", pack(&bomb), &tiny, &["larger than the 1000 bytes", "unpack the file", "--memory"]);
    let half = pack(&bomb);
    refused("a.csv.gz", &half[..half.len() / 2], &Options::default(), &["cut short"]);
    refused("a.csv.gz", b"1,2\n3,4\n", &Options::default(), &["cannot be read", "damaged"]);
    refused("a.csv.zst", b"1,2\n3,4\n", &Options::default(), &["cannot be read", "damaged"]);
    let line = pack(&"1".repeat(65 << 20));
    refused("a.csv.gz", line, &Options::default(), &["a line of more than", "closed quotes"]);
}

#[test]
fn npy_errors() {
    let usual = Options::default();
    let eight = |x: f64| x.to_le_bytes();
    refused("a.npy", "", &usual, &["is empty"]);
    refused("a.npy", "hello, world", &usual, &["does not begin like a .npy", "numpy.save"]);
    refused(
        "a.npy",
        npy("'<f8'", "False", "(2, 1)", &eight(1.0)),
        &usual,
        &["promises 16 bytes", "8 bytes follow"],
    );
    refused(
        "a.npy",
        npy("'<f8'", "False", "(1, 1)", &[0; 9]),
        &usual,
        &["promises 8 bytes", "9 bytes follow"],
    );
    let lie = npy("'<f8'", "False", "(9223372036854775807, 4)", &eight(1.0));
    refused("a.npy", lie, &usual, &["more than any file's", "cut short or damaged"]);
    refused("a.npy", npy("'<f8'", "False", "(0, 900000000000000000)", &[]), &usual, &["no data"]);
    refused(
        "a.npy",
        npy("'<f8'", "False", "()", &eight(1.0)),
        &usual,
        &["0 dimensions", "samples × columns"],
    );
    refused(
        "a.npy",
        npy("'|u1'", "False", "(1, 1, 2)", &[1, 2]),
        &usual,
        &["3 dimensions", "[1, 1, 2]", "reshape"],
    );
    refused("a.npy", npy("'|O'", "False", "(1,)", &[1]), &usual, &["never unpickled", "astype"]);
    refused("a.npy", npy("'<c16'", "False", "(1,)", &[0; 16]), &usual, &["\"<c16\"", "astype"]);
    refused(
        "a.npy",
        npy("[('x', '<f8')]", "False", "(1,)", &eight(1.0)),
        &usual,
        &["('x', '<f8')", "astype"],
    );
    let nan: Vec<u8> = [1.0, 2.0, 3.0, f64::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
    let nan = npy("'<f8'", "False", "(2, 2)", &nan);
    refused("a.npy", &nan, &usual, &["row 2", "column c2", "NaN", "fill or drop"]);

    let folder = folder();
    let path = file(&folder, "late.npy", &nan);
    let table = open(&path, &Options { memory: 8, ..Options::default() }).unwrap();
    let error = Error::from(table.read_rows(1, &mut [0.0; 2]).unwrap_err());
    assert!(matches!(error, Error::Read { .. }));
    assert!(error.to_string().contains("late.npy: row 2 (counted from 1), column c2 is NaN"));
    let error = read_array(&path).unwrap_err().to_string();
    assert!(error.contains("entry [1, 1] (counted from 0) is NaN"), "{error}");
    let error = open(&path, &Options { columns: Some(vec!["c1".into()]), ..Options::default() }).unwrap_err();
    assert!(error.to_string().contains("columns = c1") && error.to_string().contains("text and Parquet"));
}

#[test]
fn wav_errors() {
    let folder = folder();
    let path = folder.path().join("s.wav");
    let sample_format = hound::SampleFormat::Float;
    let spec = hound::WavSpec { channels: 1, sample_rate: 8000, bits_per_sample: 32, sample_format };
    let mut writer = hound::WavWriter::create(&path, spec).unwrap();
    [0.0, f32::NAN].iter().for_each(|&x| writer.write_sample(x).unwrap());
    writer.finalize().unwrap();
    let usual = Options::default();
    let bytes = std::fs::read(&path).unwrap();
    refused("s.wav", &bytes, &usual, &["row 2", "column ch1", "NaN"]);
    refused(
        "s.wav",
        &bytes[..bytes.len() - 3],
        &usual,
        &["promises 8 bytes of sound, but holds only 5", "cut short"],
    );
    refused("s.wav", "RIFF", &usual, &["cannot be read as sound", "ffmpeg"]);
    let empty = hound::WavWriter::create(&path, spec).unwrap();
    empty.finalize().unwrap();
    refused("s.wav", std::fs::read(&path).unwrap(), &usual, &["no sound"]);
}

#[test]
fn paths_that_are_no_files() {
    let folder = folder();
    let missing = refusal(&folder.path().join("no.csv"), &Options::default());
    assert!(missing.contains("there is no such file") && missing.contains("check the path"));
    std::fs::create_dir(folder.path().join("dir.csv")).unwrap();
    assert!(refusal(&folder.path().join("dir.csv"), &Options::default()).contains("is a directory"));
    for name in ["x.xlsx", "x", "x.gz"] {
        let message = refusal(&folder.path().join(name), &Options::default());
        assert!(message.contains("known types are .npy, .csv"), "{message}");
    }
}

#[test]
fn writing_is_all_or_nothing() {
    let folder = folder();
    let entries = || std::fs::read_dir(folder.path()).unwrap().count();
    let path = folder.path().join("x.csv");
    let failed = write_atomically(&path, |out| {
        out.write_all(b"half").unwrap();
        Err(tenfold::output::write_error(&path, std::io::Error::other("no room")))
    });
    let message = failed.unwrap_err().to_string();
    assert!(message.contains("x.csv cannot be written: no room; check that the folder"), "{message}");
    assert_eq!(entries(), 0, "nothing is left behind");
    let message = write_table(Path::new("x.docx"), &names(1), &numbers(1, 1)).unwrap_err().to_string();
    assert!(
        message.contains("cannot be written as .docx") && message.contains(".npy, .csv, .tsv and .parquet")
    );
    assert!(check_table_path(Path::new("x.npy")).is_ok() && check_table_path(Path::new("x")).is_err());
    let message =
        write_table(&folder.path().join("no/x.csv"), &names(1), &numbers(1, 1)).unwrap_err().to_string();
    assert!(message.contains("check that the folder exists"), "{message}");
    std::fs::create_dir(folder.path().join("d.csv")).unwrap();
    assert!(write_table(&folder.path().join("d.csv"), &names(1), &numbers(1, 1)).is_err());
    write_table(&path, &names(1), &numbers(1, 1)).unwrap();
    write_table(&path, &names(1), &numbers(2, 1)).unwrap();
    assert_eq!((entries(), read(&path).rows()), (2, 2));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let plain = file(&folder, "plain", "");
        let mode = |p: &Path| std::fs::metadata(p).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&plain), "an ordinary file has ordinary permissions");
    }
}
