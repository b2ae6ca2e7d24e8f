//! Bad input to the document readers: what is refused, in which words, and what is mended and said.

mod topics_files;
use tenfold::engine::progress::Silent;
use tenfold::topics::read::{Format, ReadOptions, Recipe, read};
use topics_files::*;

/// Writes a file, reads it, and checks the end of the message.
fn refuses(name: &str, contents: impl AsRef<[u8]>, message: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, name, contents);
    let found = refusal(&path, &ReadOptions::default());
    let found = found.replace(&format!("{}/", folder.path().display()), "");
    assert_eq!(found, message);
}

#[test]
fn counts_that_are_none() {
    let entry = |count: &str| format!("2\n3\n2\n1 1 1\n2 3 {count}\n");
    let at = |what: &str| format!("docword.x.txt, line 5: {what}");
    for (count, what) in [
        ("-2", "count -2 is negative; counts are 0 or more: mend the line"),
        ("0.5", "count 0.5 is not a whole number; give raw counts, not weights such as tf-idf"),
        ("nan", "count nan is not finite; leave such entries out"),
        ("1e99", "count 1e99 is larger than 16777216; no document holds a word so often: mend the line"),
        (
            "16777217",
            "count 16777217 is larger than 16777216; no document holds a word so often: mend the line",
        ),
        ("many", "count \"many\" is not a number; mend the line"),
    ] {
        refuses("docword.x.txt", entry(count), &at(what));
        let pair = format!("1 1:1\n\n1 2:{count}\n");
        refuses("x.svm", &pair, &format!("x.svm, line 3: {what}"));
        refuses("x.ldac", &pair, &format!("x.ldac, line 3: {what}"));
    }
    refuses(
        "docword.x.txt",
        "1\n1\n2\n1 1 16777216\n1 1 1\n",
        "docword.x.txt: document 1, word 1: repeated counts add up to more than 16777216; no document holds a word so often: mend the file",
    );
}

#[test]
fn headers_that_lie() {
    for (text, what) in [
        (
            "2\n3\n3\n1 1 1\n2 3 1\n",
            ", line 3: promises 3 entries, but the file holds 2; it is cut short, or the header is wrong: export it again",
        ),
        (
            "2\n3\n1\n1 1 1\n2 3 1\n",
            ", line 3: promises 1 entries, but the file holds 2; the header is wrong: mend it",
        ),
        (
            "2\n3\n2\n1 1 1\n3 3 1\n",
            ", line 5: document 3 is outside 1 to 2, which the header promises; mend the line or the header, or export the file again",
        ),
        (
            "2\n3\n2\n1 4 1\n2 3 1\n",
            ", line 4: word 4 is outside 1 to 3, which the header promises; mend the line or the header, or export the file again",
        ),
        (
            "2\n3\n2\n1 0 1\n2 3 1\n",
            ", line 4: word 0 is outside 1 to 3, which the header promises; mend the line or the header, or export the file again",
        ),
        (
            "2\n3\n2\n1 1\n2 3 1\n",
            ", line 4: \"1 1\" has 2 fields where 3 were expected (document, word and count); mend the line, or export the file again",
        ),
        (
            "2\nx\n2\n",
            ", line 2: \"x\" where the number of words was expected; the header holds whole numbers: export the file again",
        ),
        ("2\n3\n", ": ends within its header; it is cut short: copy or export it again"),
        (
            "4000000000\n3\n1\n1 1 1\n",
            ": promises 4000000000 documents, but holds 1 entries up to there; mend the header, or number the documents without gaps",
        ),
        (
            "4000000000\n3\n1\n3999999999 1 1\n",
            ": promises 3999999999 documents, but holds 1 entries up to there; mend the header, or number the documents without gaps",
        ),
        (
            "1\n4000000000\n1\n1 3999999999 1\n",
            ": promises 4000000000 words, but comes without a vocabulary; give the vocabulary of the counts with --vocabulary; without one at most 4194304 words are taken",
        ),
        (
            "99999999999\n3\n1\n1 1 1\n",
            ", line 1: promises 99999999999 documents; at most 4294967294 are possible: mend the header",
        ),
    ] {
        refuses("docword.x.txt", text, &format!("docword.x.txt{what}"));
    }
    refuses(
        "x.mtx",
        "%%MatrixMarket matrix array real general\n2 2\n",
        "x.mtx, line 1: \"%%MatrixMarket matrix array real general\" where %%MatrixMarket matrix coordinate integer general was expected; write the counts as a sparse matrix with documents in rows, for example with scipy.io.mmwrite",
    );
    refuses(
        "x.mtx",
        "%%MatrixMarket matrix coordinate integer general\n% c\n2 2\n",
        "x.mtx, line 3: \"2 2\" where the numbers of rows, columns and entries were expected; export the file again",
    );
    refuses(
        "x.ldac",
        "2 0:1 1:1\n3 0:1\n",
        "x.ldac, line 2: begins with \"3\", but 1 pairs of id:count follow; a line begins with the number of its pairs: mend the line",
    );
    refuses(
        "x.ldac",
        "1 4000000000:1\n",
        "x.ldac, line 1: word 4000000000 is outside 0 to 4194303, all that is taken without a vocabulary; mend the line or the header, or export the file again",
    );
    refuses(
        "x.svm",
        "spam 1:1\n",
        "x.svm, line 1: begins with \"spam\" where a label was expected; a line begins with a number, 0 if there is no label: mend the line",
    );
    refuses("x.svm", "1 1:1 2\n", "x.svm, line 1: \"2\" where id:count was expected; mend the line");
}

#[test]
fn vocabularies_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let counts = file(&folder, "docword.x.txt", "1\n3\n1\n1 1 1\n");
    let vocabulary = file(&folder, "vocab.x.txt", "a\nb\n");
    let message = refusal(&counts, &ReadOptions::default());
    let expected = format!(
        "{}: holds 2 words where {} promises 3; give the vocabulary that belongs to the counts with --vocabulary",
        vocabulary.display(),
        counts.display()
    );
    assert_eq!(message, expected);
    for (words, what) in [
        (
            "a\n\nb\n",
            ", line 2: is blank where a word was expected; give one word a line, as many as there are",
        ),
        (
            "a\nb\na\n",
            ", line 3: the word \"a\" stands on line 1 already; every word must be there once: tell the two apart",
        ),
        ("a\nb\n\u{fffd}", ""),
    ] {
        file(&folder, "vocab.x.txt", words);
        match what {
            "" => assert_eq!(open(&counts, &ReadOptions::default()).words(), 3),
            what => assert!(refusal_of(&counts).ends_with(what), "{}", refusal_of(&counts)),
        }
    }
    file(&folder, "vocab.x.txt", b"a\nb\n\xff\n");
    assert!(refusal_of(&counts).contains("vocab.x.txt, line 3: is not valid UTF-8"));
    let ldac = file(&folder, "y.ldac", "1 3:1\n");
    file(&folder, "y.tokens", "a\nb\nc\n");
    assert!(refusal_of(&ldac).contains("y.ldac, line 1: word 3 is outside 0 to 2, the words of"));
    let missing = ReadOptions { vocabulary: Some("no/such/file".into()), ..bag() };
    assert!(
        read(&ldac, &missing, &Silent)
            .unwrap_err()
            .to_string()
            .contains("no/such/file: there is no such file")
    );
}

fn refusal_of(path: &std::path::Path) -> String {
    read(path, &ReadOptions::default(), &Silent).unwrap_err().to_string()
}

#[test]
fn text_that_is_none() {
    refuses("x.txt", "", "x.txt: is empty; give a file with at least one document");
    refuses(
        "x.txt",
        b"good\nna\xefve\n",
        "x.txt, line 2: is not valid UTF-8 (byte 0xef); if it is in another encoding, name that, for example --encoding latin1",
    );
    refuses(
        "x.csv",
        b"text\ngood\n\nna\xefve\n",
        "x.csv, line 4: is not valid UTF-8 (byte 0xef); if it is in another encoding, name that, for example --encoding latin1",
    );
    refuses(
        "x.txt",
        b"\xff\xfea\0b\0",
        "x.txt, line 1: is not valid UTF-8 (byte 0xff); it begins like UTF-16: say --encoding utf-16le or utf-16be",
    );
    refuses(
        "x.txt",
        "alpha beta 12\nalpha x\n\nalpha gamma the and of\n",
        "x.txt: no words are left: of 10 words in 4 documents 1 were numbers, 1 had fewer than 2 letters, 0 were too long and \
         3 were stop words; of the 3 distinct words after that 2 stand in fewer than 3 documents and 1 in more than 50 % of them; \
         lower --min-df, or give more documents",
    );
    refuses(
        "x.txt",
        "12 13\n",
        "x.txt: no words are left: of 2 words in 1 documents 2 were numbers, 0 had fewer than 2 letters, 0 were too long and 0 were stop words; of the 0 distinct words after that 0 stand in fewer than 3 documents and 0 in more than 50 % of them; check the stop words and the smallest word length",
    );
    refuses(
        "x.csv",
        "id,size,kind\n1,2,a\n",
        "x.csv: has no column \"text\"; the columns are \"id\", \"size\", \"kind\"; name the column of the text with --text-column, by its name or its number from 1",
    );
    refuses(
        "x.tsv",
        "some text\t2\tmore words\n",
        "x.tsv: has no column \"text\"; there are 3 columns, which have no names; name the column of the text with --text-column, by its name or its number from 1",
    );
    refuses(
        "x.csv",
        "id,text\n1\n",
        "x.csv, line 2: has 1 fields where at least 2 were expected; mend the line; text with separators in it must stand in quotes",
    );
    let folder = tempfile::tempdir().unwrap();
    assert!(refusal(folder.path(), &plain()).contains("holds no files; give a folder of text files"));
    let path = file(&folder, "program", b"\x7fELF\0\0");
    let message = read(folder.path(), &plain(), &Silent).unwrap_err().to_string();
    assert!(message.contains("program: is not text (it holds a zero byte)"), "{message}");
    assert!(refusal(&path, &with(Format::Folder, plain())).contains("is no folder"));
    assert!(
        refusal(folder.path(), &with(Format::Uci, plain())).contains("is a folder, not a UCI bag of words")
    );
    assert!(refusal(&folder.path().join("none.txt"), &plain()).contains("there is no such file"));
}

#[test]
fn rows_of_a_table_keep_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let lengths = |name: &str, text: &str| {
        let corpus = open(&file(&folder, name, text), &plain());
        let notes = corpus.notes().join("\n");
        (rows(&corpus).iter().map(Vec::len).collect::<Vec<_>>(), notes)
    };
    for name in ["one.csv", "one.tsv"] {
        assert_eq!(lengths(name, "text\nred fox\n\n\"\"\nhen\n  \n").0, [2, 0, 0, 1, 0], "{name}");
        assert_eq!(lengths(name, "\nred fox\r\n\r\nhen\r\n").0, [0, 2, 0, 1], "{name}");
    }
    let (found, notes) = lengths("two.csv", "id,text\n1,red fox\n\n2,\n3,hen\n\n");
    assert_eq!(found, [2, 0, 1]);
    assert!(notes.contains("2 blank lines were passed over"), "{notes}");
    let wide = |text: &str| read(&file(&folder, "wide.csv", text), &plain(), &Silent);
    let error = wide("id,text\n1,hen\n2,red, fox\n").unwrap_err().to_string();
    assert!(error.contains("wide.csv, line 3: has 3 fields where 2 were expected"), "{error}");
    assert_eq!(rows(&wide("id,text\n1,red fox,,\n").unwrap())[0].len(), 2, "empty cells hold nothing");
    let two = ReadOptions { text_column: Some("text".into()), ..plain() };
    let error =
        read(&file(&folder, "two.csv", "text,text\nhen,fox\n"), &two, &Silent).unwrap_err().to_string();
    assert!(error.contains("columns 1 and 2 are both called \"text\""), "{error}");
    // Names at the end of lines that end in a carriage return.
    let path = file(&folder, "names.tsv", "text\tname\r\nred fox\ta\r\nhen\tb\r\n");
    let corpus = open(&path, &ReadOptions { id_column: Some("name".into()), ..plain() });
    assert_eq!(corpus.names().unwrap(), ["a", "b"]);
}

#[test]
fn an_open_quote_takes_no_other_row_with_it() {
    let rest = "2,hen\n".repeat(50);
    refuses(
        "x.csv",
        format!("id,text\n1,\"red fox\n{rest}"),
        "x.csv, line 2: a quote opens here and is never closed; close it; within quotes a quote is written twice",
    );
    let folder = tempfile::tempdir().unwrap();
    let text = format!("id\ttext\n1\t\"red fox\n{}", "2\t\"hen\"\n".repeat(50));
    let corpus = open(&file(&folder, "x.tsv", text), &plain());
    assert_eq!((corpus.documents(), corpus.tokens()), (51, 52));
    let note = "1 cells begin with a quote that does not close at their end; they were taken as they stand";
    assert!(corpus.notes().iter().any(|n| n == note), "{:?}", corpus.notes());
    // A row is no larger than the memory, or than 16 MiB where that is more.
    let path = file(&folder, "y.csv", format!("text\n\"{}", "many words\n".repeat(1_600_000)));
    let message = refusal(&path, &ReadOptions { memory: 1 << 20, ..plain() });
    assert!(message.contains("line 2: a quote opens a cell of more than 16777216 bytes"), "{message}");
}

#[test]
fn other_encodings_are_read_when_named() {
    let folder = tempfile::tempdir().unwrap();
    let words = |bytes: &[u8], encoding: Option<&str>| {
        let path = file(&folder, "x.txt", bytes);
        let options = ReadOptions { encoding: encoding.map(String::from), ..plain() };
        read(&path, &options, &Silent).map(|corpus| (corpus.vocabulary().join(" "), corpus.documents()))
    };
    let utf16: Vec<u8> = "\u{feff}naïve\nÖl\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let expected = ("naïve öl".to_owned(), 2);
    assert_eq!(words(b"na\xefve\n\xd6l\n", Some("latin1")).unwrap(), expected);
    assert_eq!(words(&utf16, Some("utf-16le")).unwrap(), expected);
    assert_eq!(words("\u{feff}naïve\nÖl".as_bytes(), None).unwrap(), expected);
    assert_eq!(words("naïve\r\nÖl\r\n".as_bytes(), Some("utf-8")).unwrap(), expected);
    let message = words(b"\x81\xff\n", Some("shift_jis")).unwrap_err().to_string();
    assert!(
        message.ends_with(
            "x.txt: holds bytes that are not Shift_JIS; name the encoding it was written in with --encoding"
        ),
        "{message}"
    );
    let message = words(b"a", Some("ebcdic")).unwrap_err().to_string();
    assert!(
        message.starts_with("encoding = ebcdic is out of range: a name such as utf-8, latin1"),
        "{message}"
    );
}

#[test]
fn what_is_mended_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "docword.x.txt", "4\n3\n6\n1 2 1\n1 1 1\n1 2 4\n3 1 0\n3 3 1\n3 3 1\n");
    let corpus = open(&path, &ReadOptions::default());
    assert_eq!((corpus.documents(), corpus.entries(), corpus.tokens()), (4, 3, 8));
    for note in [
        "2 repeated entries (the same document and word) were added up",
        "1 entries with count 0 were dropped",
        "2 documents are empty; they keep their places",
        "no vocabulary was found or given: words are called w1, w2, …; name them with --vocabulary",
        "read as a UCI bag of words, told by its name",
    ] {
        assert!(corpus.notes().iter().any(|n| n == note), "{note} is not in {:?}", corpus.notes());
    }
    // A document in two places.
    let path = file(&folder, "docword.y.txt", "2\n3\n3\n1 1 1\n2 1 1\n1 2 4\n");
    let corpus = open(&path, &ReadOptions::default());
    assert_eq!(rows(&corpus)[0], [("w1".to_owned(), 1), ("w2".to_owned(), 4)]);
    assert!(corpus.notes().iter().any(|n| n.contains("did not stand together")));
    let message = refusal(&path, &ReadOptions { memory: 64, ..bag() });
    assert!(
        message.contains("more than half of the 64 bytes of memory allowed; sort the entries by document"),
        "{message}"
    );
    // Word ids from 0.
    let corpus = open(&file(&folder, "z.svm", "1 qid:3 0:1 2:1\n"), &bag());
    assert_eq!((corpus.words(), corpus.tokens()), (3, 2));
    assert!(corpus.notes().iter().any(|n| n == "word ids begin at 0, since one is 0"));
}

#[test]
fn a_small_file_does_not_unpack_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "x.txt.gz", &packed(&b"word \n".repeat(1 << 20))[0]);
    let message = refusal(&path, &ReadOptions { max_decompressed: 1 << 20, ..plain() });
    assert!(
        message.contains("unpacks to more than 1048576 bytes; if you trust it, raise --max-decompressed"),
        "{message}"
    );
    let whole = std::fs::read(&path).unwrap();
    let path = file(&folder, "x.txt.gz", &whole[..whole.len() / 2]);
    assert!(refusal(&path, &plain()).contains("cut short or damaged"));
    let recipe = Recipe { ngrams: 3, ..plain().recipe };
    let text: String = (0..4000).map(|i| format!("word{i} ")).collect();
    let path = file(&folder, "y.txt", text);
    let message = refusal(&path, &ReadOptions { recipe, memory: 1 << 20, ..plain() });
    assert!(message.contains("distinct words take more than half of the 1048576 bytes of memory allowed; ask for shorter n-grams"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_like_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: a_pipe_is_read_like_a_file needs mkfifo");
        return;
    }
    let other = path.clone();
    let writer = std::thread::spawn(move || std::fs::write(other, "2 0:1 4:2\n1 3:1\n"));
    let corpus = open(&path, &bag());
    writer.join().unwrap().unwrap();
    assert_eq!((corpus.documents(), corpus.words(), corpus.tokens()), (2, 5, 4));
    assert!(corpus.notes().iter().any(|n| n == "read as an LDA-C bag of words, told by its first lines"));
}
