//! Every file type gives back what was written, and gives the same bytes from disk as from memory.

mod input_files;
use input_files::*;
use std::io::Write;
use tenfold::engine::linalg::Rows;
use tenfold::engine::linalg::parallel::BLOCK;
use tenfold::input::{Options, open, read_array};
use tenfold::output::write_table;

#[test]
fn tables_come_back_bit_for_bit_from_memory_and_from_disk() {
    let folder = folder();
    let mat = numbers(3 * BLOCK + 17, 5);
    for extension in ["npy", "csv", "tsv"] {
        let path = folder.path().join(format!("x.{extension}"));
        write_table(&path, &names(5), &mat).unwrap();
        let table = read(&path);
        assert_eq!((table.rows(), table.cols()), (mat.rows(), 5), "{extension}");
        assert_eq!(bits(table.borrow_rows(0, table.rows()).unwrap()), bits(mat.as_slice()), "{extension}");
        let expected = if extension == "npy" { ["c1", "c2"] } else { ["a1", "a2"] };
        assert_eq!(table.names()[..2], expected, "{extension}");
        assert_eq!(bits(&all(&streamed(&path, 1000))), bits(mat.as_slice()), "{extension}");
    }
}

#[test]
fn compressed_text_is_read() {
    let folder = folder();
    let text = "x,y\n1,2\n3,4\n";
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(text.as_bytes()).unwrap();
    let gz = file(&folder, "t.csv.gz", gz.finish().unwrap());
    let zst = file(&folder, "t.tsv.zst", zstd::encode_all(text.replace(',', "\t").as_bytes(), 3).unwrap());
    for path in [gz, zst] {
        let table = read(&path);
        assert_eq!(table.names(), ["x", "y"]);
        assert_eq!(all(&table), [1.0, 2.0, 3.0, 4.0]);
    }
}

#[test]
fn text_in_its_many_guises() {
    let folder = folder();
    let expected = [1.0, -2.5, 3e4, 4.0];
    for (k, text) in [
        "1,-2.5\n3e4,4\n",
        "1,-2.5\r\n3e4,4",
        "\u{feff}a,b\n1,-2.5\n3e4,4\n",
        "\u{feff}1,-2.5\n3e4,4\n",
        "\"a, b\",\"c\nd\"\r\n\"1\", -2.5 \r\n\r\n3e4,\"4\"\r\n",
        "\n1,-2.5\n\n3e4,4\n \n",
    ]
    .iter()
    .enumerate()
    {
        let path = file(&folder, &format!("{k}.csv"), text);
        assert_eq!(all(&read(&path)), expected, "{text:?}");
        assert_eq!(all(&streamed(&path, 16)), expected, "{text:?} from disk");
    }
    assert_eq!(read(&folder.path().join("4.csv")).names(), ["a, b", "c\nd"]);
    assert_eq!(read(&folder.path().join("0.csv")).names(), ["c1", "c2"]);
    let path = file(&folder, "semicolon.csv", "1;2\n");
    let options = Options { delimiter: Some(b';'), ..Options::default() };
    assert_eq!(all(&open(&path, &options).unwrap()), [1.0, 2.0]);
    let path = file(&folder, "years.csv", "1990,1991\n1,2\n");
    let options = Options { header: Some(true), ..Options::default() };
    assert_eq!(open(&path, &options).unwrap().names(), ["1990", "1991"]);
}

#[test]
fn columns_are_chosen_by_name_and_in_order() {
    let folder = folder();
    let path = file(&folder, "mixed.csv", "who,x,y\nann,1,2\nbob,3,4\n");
    let options = Options { columns: Some(vec!["y".into(), "x".into()]), ..Options::default() };
    for options in [options.clone(), Options { memory: 8, ..options }] {
        let table = open(&path, &options).unwrap();
        assert_eq!(table.names(), ["y", "x"]);
        assert_eq!(all(&table), [2.0, 1.0, 4.0, 3.0]);
    }
}

#[test]
fn npy_of_every_type_order_and_dimension() {
    let folder = folder();
    let check = |descr: &str, body: Vec<u8>, expected: &[f64]| {
        let path = file(&folder, "t.npy", npy(&format!("'{descr}'"), "False", "(2, 2)", &body));
        assert_eq!(all(&read(&path)), expected, "{descr}");
        assert_eq!(all(&streamed(&path, 8)), expected, "{descr} from disk");
        let path = file(&folder, "t.npy", npy(&format!("'{descr}'"), "True", "(2, 2)", &body));
        let turned = [expected[0], expected[2], expected[1], expected[3]];
        assert_eq!(all(&read(&path)), turned, "{descr}, Fortran");
        assert_eq!(all(&streamed(&path, 8)), turned, "{descr}, Fortran from disk");
    };
    let (signed, unsigned) = ([1.0, -2.0, 3.0, 100.0], [1.0, 2.0, 3.0, 200.0]);
    check("|i1", signed.iter().map(|&x| x as i8 as u8).collect(), &signed);
    check("<i2", signed.iter().flat_map(|&x| (x as i16).to_le_bytes()).collect(), &signed);
    check(">i4", signed.iter().flat_map(|&x| (x as i32).to_be_bytes()).collect(), &signed);
    check("<i8", signed.iter().flat_map(|&x| (x as i64).to_le_bytes()).collect(), &signed);
    check("|u1", unsigned.iter().map(|&x| x as u8).collect(), &unsigned);
    check(">u2", unsigned.iter().flat_map(|&x| (x as u16).to_be_bytes()).collect(), &unsigned);
    check("<u4", unsigned.iter().flat_map(|&x| (x as u32).to_le_bytes()).collect(), &unsigned);
    check(">u8", unsigned.iter().flat_map(|&x| (x as u64).to_be_bytes()).collect(), &unsigned);
    check("<f4", signed.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect(), &signed);
    check(">f8", signed.iter().flat_map(|x| x.to_be_bytes()).collect(), &signed);
    check("|b1", vec![1, 0, 0, 1], &[1.0, 0.0, 0.0, 1.0]);

    let path = file(&folder, "v.npy", npy("'|u1'", "False", "(3,)", &[5, 6, 7]));
    let table = read(&path);
    assert_eq!(table.describe(), "v.npy: 3 samples × 1 columns of u8");
    assert_eq!(read_array(&path).unwrap().shape, [3]);
    let path = file(&folder, "t.npy", npy("'|u1'", "True", "(2, 1, 3)", &[1, 2, 3, 4, 5, 6]));
    let array = read_array(&path).unwrap();
    assert_eq!((array.shape, array.data), (vec![2, 1, 3], vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0]));
}

#[test]
fn sound_of_every_width() {
    let folder = folder();
    let path = folder.path().join("s.wav");
    for (bits_per_sample, full) in [(8u16, 128.0), (16, 32768.0), (24, 8_388_608.0), (32, 2_147_483_648.0)] {
        let sample_format = hound::SampleFormat::Int;
        let spec = hound::WavSpec { channels: 2, sample_rate: 44_100, bits_per_sample, sample_format };
        let mut writer = hound::WavWriter::create(&path, spec).unwrap();
        let values = [-full, full - 1.0, 0.0, 1.0, -1.0, full / 2.0];
        values.iter().for_each(|&x| writer.write_sample(x as i32).unwrap());
        writer.finalize().unwrap();
        let table = read(&path);
        assert_eq!((table.names(), table.rate()), (&["ch1".to_owned(), "ch2".to_owned()][..], Some(44_100)));
        let expected = format!("s.wav: 3 samples × 2 columns of {bits_per_sample}-bit sound at 44100 Hz");
        assert_eq!(table.describe(), expected);
        assert_eq!(all(&table), values.map(|x| x / full), "{bits_per_sample} bits");
        assert_eq!(all(&streamed(&path, 8)), values.map(|x| x / full), "{bits_per_sample} bits from disk");
    }
    let sample_format = hound::SampleFormat::Float;
    let spec = hound::WavSpec { channels: 1, sample_rate: 8000, bits_per_sample: 32, sample_format };
    let mut writer = hound::WavWriter::create(&path, spec).unwrap();
    [0.25f32, -1.0].iter().for_each(|&x| writer.write_sample(x).unwrap());
    writer.finalize().unwrap();
    assert_eq!(all(&read(&path)), [0.25, -1.0]);
}
