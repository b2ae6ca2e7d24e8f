//! Every format gives the same corpus, and public data the numbers they are known by.

mod topics_files;
use std::fmt::Write;
use tenfold::engine::linalg::parallel::with_threads;
use tenfold::evaluate::Cooccurrence;
use tenfold::topics::read::{Format, ReadOptions, Recipe, Windows};
use topics_files::*;

const WORDS: [&str; 5] = ["apple", "berry", "cherry", "date", "elder"];

/// Documents as (word, count): one is empty, and the last word never occurs.
fn documents() -> Vec<Vec<(usize, u32)>> {
    let mut all = vec![vec![(0, 2), (2, 1)], vec![], vec![(1, 3)], vec![(0, 1), (1, 1), (2, 1), (3, 4)]];
    all.extend((0..300).map(|i| vec![(i % 4, 1 + (i % 3) as u32)]));
    all
}

fn expected() -> Rows {
    documents().iter().map(|d| d.iter().map(|(w, c)| (WORDS[*w].to_owned(), *c)).collect()).collect()
}

/// The bags of words, as name and contents.
fn bags() -> Vec<(&'static str, String)> {
    let all = documents();
    let entries: usize = all.iter().map(Vec::len).sum();
    let (mut uci, mut ldac, mut svm) =
        (format!("{}\n5\n{entries}\n", all.len()), String::new(), String::new());
    let mut mtx =
        format!("%%MatrixMarket matrix coordinate real general\n% counts\n{} 5 {entries}\n", all.len());
    let mut columns: Vec<(usize, usize, u32)> = Vec::new();
    for (i, document) in all.iter().enumerate() {
        write!(ldac, "{}", document.len()).unwrap();
        write!(svm, "{}", i % 2).unwrap();
        for (w, c) in document {
            writeln!(uci, "{} {} {c}", i + 1, w + 1).unwrap();
            writeln!(mtx, "{}\t{} {c}.0", i + 1, w + 1).unwrap();
            write!(ldac, " {w}:{c}").unwrap();
            write!(svm, " {}:{c}", w + 1).unwrap();
            columns.push((*w, i, *c));
        }
        ldac.push('\n');
        svm.push_str(" # a comment\r\n");
    }
    columns.sort_unstable();
    let mut by_column =
        format!("%%MatrixMarket matrix coordinate integer general\n{} 5 {entries}\n", all.len());
    columns.iter().for_each(|(w, i, c)| writeln!(by_column, "{} {} {c}", i + 1, w + 1).unwrap());
    vec![
        ("docword.fruit.txt", uci),
        ("counts.mtx", mtx),
        ("by_column.mtx", by_column),
        ("fruit.ldac", ldac),
        ("fruit.svm", svm),
    ]
}

/// The texts, as name and contents.
fn texts() -> Vec<(&'static str, String)> {
    let (mut lines, mut mallet) = (String::new(), String::new());
    let (mut csv, mut tsv) = (String::from("id,body text\n"), String::new());
    for (i, document) in documents().iter().enumerate() {
        let words: Vec<&str> = document.iter().flat_map(|(w, c)| vec![WORDS[*w]; *c as usize]).collect();
        writeln!(lines, "{}", words.join(" ").to_uppercase()).unwrap();
        writeln!(mallet, "doc{i}\tlabel\t{}", words.join(" ")).unwrap();
        writeln!(csv, "doc{i},\"{}\"", words.join(",\n")).unwrap();
        writeln!(tsv, "{}\ttrain\tdoc{i}", words.join(", ")).unwrap();
    }
    vec![("lines.txt", lines), ("fruit.mallet", mallet), ("fruit.csv", csv), ("fruit.tsv", tsv)]
}

fn text_options(name: &str) -> ReadOptions {
    let column = |text: &str, id: &str| ReadOptions {
        text_column: Some(text.into()),
        id_column: Some(id.into()),
        ..plain()
    };
    match name {
        "fruit.csv" => column("body text", "ID"),
        "fruit.tsv" => column("1", "3"),
        _ => plain(),
    }
}

#[test]
fn every_bag_of_words_gives_the_same_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let vocabulary = file(&folder, "words.list", WORDS.join("\n") + "\n");
    let options = ReadOptions { vocabulary: Some(vocabulary), ..bag() };
    for (name, contents) in bags() {
        let [gz, zst] = packed(contents.as_bytes());
        for (ending, bytes) in [("", contents.clone().into_bytes()), (".gz", gz), (".zst", zst)] {
            let path = file(&folder, &format!("{name}{ending}"), bytes);
            let corpus = open(&path, &options);
            assert_eq!(rows(&corpus), expected(), "{name}{ending}");
            assert_eq!(corpus.vocabulary(), WORDS, "words that never occur stay");
            assert!(corpus.notes().contains(&"1 documents are empty; they keep their places".to_owned()));
            assert_eq!(Recipe::from_json(corpus.recipe()).unwrap(), Recipe::given());
        }
    }
}

#[test]
fn every_text_gives_the_same_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..documents().len()).map(|i| format!("doc{i}")).collect();
    for (name, contents) in texts() {
        let [gz, zst] = packed(contents.as_bytes());
        for (ending, bytes) in [("", contents.clone().into_bytes()), (".gz", gz), (".zst", zst)] {
            let path = file(&folder, &format!("{name}{ending}"), bytes);
            let corpus = open(&path, &text_options(name));
            assert_eq!(rows(&corpus), expected(), "{name}{ending}");
            assert_eq!(corpus.vocabulary(), &WORDS[..4], "alphabetical, without what never occurs");
            let has_names = name != "lines.txt";
            assert_eq!(corpus.names(), has_names.then_some(&names[..]));
        }
    }
}

#[test]
fn a_folder_is_read_in_the_order_of_its_names() {
    let folder = tempfile::tempdir().unwrap();
    for (i, document) in documents().iter().enumerate() {
        let place = folder.path().join(format!("part{}", i / 100));
        std::fs::create_dir_all(&place).unwrap();
        let words: Vec<&str> = document.iter().flat_map(|(w, c)| vec![WORDS[*w]; *c as usize]).collect();
        let path = place.join(format!("{i:03}.txt"));
        match i % 3 {
            0 => std::fs::write(path.with_extension("txt.gz"), &packed(words.join("\n").as_bytes())[0])
                .unwrap(),
            _ => std::fs::write(path, words.join("\n")).unwrap(),
        }
    }
    file(&folder, ".hidden", "secret");
    let corpus = open(folder.path(), &plain());
    assert_eq!(rows(&corpus), expected());
    assert_eq!(corpus.names().unwrap()[..2], ["part0/000.txt.gz", "part0/001.txt"]);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_gives_the_same_corpus() {
    use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
    use parquet::file::{properties::WriterProperties, writer::SerializedFileWriter};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fruit.parquet");
    let schema = "message m { optional binary text (UTF8); required int64 number; }";
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let properties = std::sync::Arc::new(WriterProperties::builder().build());
    let mut writer =
        SerializedFileWriter::new(std::fs::File::create(&path).unwrap(), schema, properties).unwrap();
    let texts: Vec<String> = documents()
        .iter()
        .map(|d| d.iter().flat_map(|(w, c)| vec![WORDS[*w]; *c as usize]).collect::<Vec<_>>().join(" "))
        .collect();
    for part in texts.chunks(100) {
        let mut group = writer.next_row_group().unwrap();
        // The empty document is a null.
        let levels: Vec<i16> = part.iter().map(|t| i16::from(!t.is_empty())).collect();
        let values: Vec<ByteArray> =
            part.iter().filter(|t| !t.is_empty()).map(|t| t.as_str().into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let numbers: Vec<i64> = (0..part.len() as i64).collect();
        column.typed::<Int64Type>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    let corpus = open(&path, &ReadOptions { id_column: Some("number".into()), ..plain() });
    assert_eq!(rows(&corpus), expected());
    assert_eq!(corpus.names().unwrap()[99..102], ["99", "0", "1"]);
    assert!(corpus.notes().iter().any(|n| n == "1 rows without a text were taken as empty documents"));
    let gz = file(&folder, "fruit.parquet.gz", &packed(&std::fs::read(&path).unwrap())[0]);
    assert_eq!(rows(&open(&gz, &plain())), expected());
    let message = refusal(&path, &ReadOptions { text_column: Some("number".into()), ..plain() });
    assert!(message.contains("column \"number\" holds no text; name the column of the text"), "{message}");
}

/// Writes texts, nulls where empty, into a row group of small pages.
#[cfg(feature = "parquet")]
fn write_texts(
    path: &std::path::Path,
    texts: &[String],
    properties: parquet::file::properties::WriterPropertiesBuilder,
) {
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::writer::SerializedFileWriter;
    let schema =
        parquet::schema::parser::parse_message_type("message m { optional binary text (UTF8); }").unwrap();
    let properties = properties.set_write_batch_size(64).set_data_page_row_count_limit(150).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema.into(), properties.into()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let levels: Vec<i16> = texts.iter().map(|t| i16::from(!t.is_empty())).collect();
    let values: Vec<ByteArray> = texts.iter().filter(|t| !t.is_empty()).map(|t| t.as_str().into()).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

/// Pages are unpacked and their lengths read here, not by the parquet crate.
#[cfg(feature = "parquet")]
#[test]
fn parquet_pages_of_every_kind_give_the_same_corpus() {
    use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
    use parquet::file::properties::{WriterProperties, WriterVersion};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fruit.parquet");
    let texts: Vec<String> = documents()
        .iter()
        .map(|d| d.iter().flat_map(|(w, c)| vec![WORDS[*w]; *c as usize]).collect::<Vec<_>>().join(" "))
        .collect();
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for codec in codecs {
            let builder = || WriterProperties::builder().set_writer_version(version).set_compression(codec);
            write_texts(&path, &texts, builder());
            assert_eq!(rows(&open(&path, &plain())), expected(), "{version:?} {codec:?}");
            for encoding in [Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
                write_texts(&path, &texts, builder().set_dictionary_enabled(false).set_encoding(encoding));
                assert_eq!(rows(&open(&path, &plain())), expected(), "{version:?} {codec:?} {encoding:?}");
            }
        }
    }
}

/// Three thousand texts that repeat the one before, of which the page holds one.
#[cfg(feature = "parquet")]
#[test]
fn parquet_texts_that_repeat_are_counted_before_they_are_made() {
    use parquet::basic::Encoding;
    use parquet::file::properties::WriterProperties;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.parquet");
    let properties =
        WriterProperties::builder().set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BYTE_ARRAY);
    write_texts(&path, &vec!["word ".repeat(800); 3000], properties);
    assert!(std::fs::metadata(&path).unwrap().len() < 1 << 18);
    let message = refusal(&path, &ReadOptions { max_decompressed: 1 << 20, ..plain() });
    assert!(message.contains("unpacks to more than 1048576 bytes"), "{message}");
    assert_eq!(rows(&open(&path, &ReadOptions { max_decompressed: 16 << 20, ..plain() })).len(), 3000);
}

#[test]
fn threads_and_memory_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let text: String =
        (0..5000).map(|i| format!("word{} word{} common été\n", i * 7 % 611, i % 97)).collect();
    let path = file(&folder, "many.txt", &text);
    let blocks = |threads: usize, memory: u64| {
        let options = ReadOptions { memory, ..ReadOptions::default() };
        let corpus = with_threads(threads, || open(&path, &options));
        let counts = corpus.counts();
        let blocks: Vec<_> = (0..counts.blocks()).map(|b| counts.block(b).unwrap().into_owned()).collect();
        (corpus.vocabulary().to_vec(), corpus.notes().to_vec(), blocks)
    };
    let one = blocks(1, 1 << 30);
    assert!(one.0.is_sorted() && !one.0.contains(&"common".to_owned()) && one.0.len() == 611);
    for (threads, memory) in [(2, 1 << 30), (3, 1 << 20), (8, 1 << 20)] {
        assert!(one == blocks(threads, memory), "{threads} threads, {memory} bytes");
    }
}

#[test]
fn new_documents_are_read_like_the_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    let known: Vec<String> = ["plum", "running mate", "mate", "run"].map(String::from).to_vec();
    let recipe =
        Recipe { stemmer: Some("en".into()), ngrams: 2, stop_words: vec!["en".into()], ..Recipe::default() };
    let path =
        file(&folder, "new.txt", "The mates run\n\nrunning kiwi running kiwi the kiwi running\nplum\n");
    let fixed = ReadOptions { fixed_vocabulary: Some(known.clone()), recipe, ..ReadOptions::default() };
    let corpus = open(&path, &fixed);
    assert_eq!(corpus.vocabulary(), known);
    assert_eq!(rows(&corpus)[0], [("mate".to_owned(), 1), ("run".to_owned(), 1)]);
    assert_eq!(rows(&corpus)[2], [("run".to_owned(), 3)]);
    // Not known: "mate run"; three kiwis, "run kiwi" twice, "kiwi run" twice.
    let note = "8 words that the model does not know were dropped, counted as often as they occur";
    assert!(corpus.notes().iter().any(|n| n == note), "{:?}", corpus.notes());

    let mut grown = ReadOptions { grow: true, ..fixed.clone() };
    grown.recipe.min_df = Some(1);
    grown.recipe.max_df = Some(1.0);
    let corpus = open(&path, &grown);
    assert_eq!(corpus.vocabulary()[4..], ["kiwi", "kiwi run", "mate run", "run kiwi"]);
    assert_eq!(corpus.tokens(), 14);

    // Bags of words: by name where there are names, by number where there are none.
    let ldac = file(&folder, "new.ldac", "3 0:1 1:2 2:4\n");
    let named = ReadOptions { vocabulary: Some(file(&folder, "names", "run\nfig\nplum\n")), ..fixed.clone() };
    assert_eq!(rows(&open(&ldac, &named))[0], [("plum".to_owned(), 4), ("run".to_owned(), 1)]);
    let corpus = open(&ldac, &ReadOptions { grow: true, ..named });
    assert_eq!((corpus.vocabulary()[4].as_str(), corpus.tokens()), ("fig", 7));
    assert_eq!(rows(&open(&ldac, &fixed))[0][0], ("mate".to_owned(), 4));
}

#[test]
fn windows_of_text_are_counted_while_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    // More documents than a task takes; the kiwi is not known and keeps its place, the stop word has none.
    let text = "apple kiwi the berry cherry apple\nberry apple\n\n".repeat(100);
    let known: Vec<String> = ["apple", "berry", "cherry"].map(String::from).to_vec();
    let windows = Windows { widths: vec![2, 3], topics: vec![vec![0, 1], vec![1, 2, 0]] };
    let options = ReadOptions {
        fixed_vocabulary: Some(known),
        windows: Some(windows.clone()),
        recipe: Recipe { stop_words: vec!["en".into()], ..Recipe::default() },
        ..ReadOptions::default()
    };
    let path = file(&folder, "x.txt", text);
    let texts: [&[u32]; 3] = [&[0, u32::MAX, 1, 2, 0], &[1, 0], &[]];
    let expected = |width| Cooccurrence::in_windows(texts.repeat(100), width, &windows.topics);
    for threads in [1, 3] {
        let corpus = with_threads(threads, || open(&path, &options));
        assert_eq!(corpus.windows(), [expected(2), expected(3)]);
    }
    // A bag of words has no order.
    let bag = file(&folder, "x.ldac", "2 0:1 1:1\n");
    assert!(open(&bag, &options).windows().is_empty());
}

#[test]
fn document_frequencies_limit_a_bag_of_words_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "x.ldac", "2 0:1 1:1\n2 0:1 1:5\n1 0:2\n1 2:1\n");
    assert_eq!(open(&path, &ReadOptions::default()).words(), 3);
    let recipe = Recipe { min_df: Some(2), max_df: Some(0.5), ..Recipe::default() };
    let corpus = open(&path, &ReadOptions { recipe: recipe.clone(), ..ReadOptions::default() });
    assert_eq!(corpus.vocabulary(), ["w2"]);
    assert_eq!((corpus.documents(), corpus.tokens()), (4, 6));
    let recipe = Recipe { min_df: Some(9), ..recipe };
    let message = refusal(&path, &ReadOptions { recipe, ..ReadOptions::default() });
    assert!(
        message.contains("of 3 words 3 stand in fewer than 9 documents and 0 in more than 50 %"),
        "{message}"
    );
}

#[test]
fn public_data_have_the_numbers_they_are_known_by() {
    let Some(folder) = shared("public_data_have_the_numbers_they_are_known_by") else { return };
    let kos = open(&folder.join("docword.kos.txt.gz"), &ReadOptions::default());
    assert_eq!((kos.documents(), kos.words(), kos.entries(), kos.tokens()), (3430, 6906, 353_160, 467_714));
    assert_eq!(kos.vocabulary()[0], "aarp");
    let reuters = open(&folder.join("reuters.ldac"), &ReadOptions::default());
    assert_eq!((reuters.documents(), reuters.words()), (395, 4258));
    assert_eq!(reuters.vocabulary()[0], "church");
    let bbc = open(
        &folder.join("bbc.tsv.gz"),
        &ReadOptions { text_column: Some("1".into()), ..ReadOptions::default() },
    );
    // Lemmatised text without stop words: the words and tokens that `tr` and `wc` count.
    assert_eq!((bbc.documents(), bbc.words(), bbc.tokens()), (2225, 2949, 267_259));
    let lines = open(&folder.join("reuters.titles"), &with(Format::Lines, ReadOptions::default()));
    assert_eq!(lines.documents(), 395);
}
