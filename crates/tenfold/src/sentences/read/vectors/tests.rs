use super::*;
use tenfold_engine::progress::Silent;

fn of(bytes: &[u8]) -> Result<Given> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vectors.bin");
    std::fs::write(&path, bytes).unwrap();
    read_vectors(&path, None, None, &Silent)
}

fn packed(header: &str, words: &[(&str, [f32; 2])], newline: bool) -> Vec<u8> {
    let mut bytes = header.as_bytes().to_vec();
    for (word, vector) in words {
        bytes.extend(word.as_bytes());
        bytes.push(b' ');
        vector.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        if newline {
            bytes.push(b'\n');
        }
    }
    bytes
}

#[test]
fn all_three_formats_give_the_same() {
    let words = [("ship", [0.5f32, -1.0]), ("new york", [2.0, 0.25]), ("größe", [1e-3, 4.0])];
    let glove = of("ship 0.5 -1\nnew york 2 .25\ngröße 1e-3 4\n".as_bytes()).unwrap();
    let text = of("3 2\nship 0.5 -1 \nnew york 2 0.25\r\ngröße 1e-3 4".as_bytes()).unwrap();
    assert_eq!(glove, text);
    assert_eq!(glove.words(), ["ship", "new york", "größe"]);
    // Blanks cannot stand in a word of the binary format.
    let plain = [words[0], ("york", words[1].1), words[2]];
    for newline in [false, true] {
        let binary = of(&packed("3 2\n", &plain, newline)).unwrap();
        assert_eq!(binary.words(), ["ship", "york", "größe"]);
        assert!((binary.vectors()[(2, 0)] - 1e-3).abs() < 1e-9 && binary.vectors()[(1, 1)] == 0.25);
    }
}

#[test]
fn only_wanted_words_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.txt");
    std::fs::write(&path, "a 1 2\nb 3 4\nc 5 6\n").unwrap();
    let given = read_vectors(&path, Some(&HashSet::from(["b", "x"])), None, &Silent).unwrap();
    assert_eq!((given.words(), given.vectors().as_slice()), (&["b".to_owned()][..], &[3.0, 4.0][..]));
    let error = read_vectors(&path, Some(&HashSet::from(["x"])), None, &Silent).unwrap_err().to_string();
    assert!(error.contains("none of the words"), "{error}");
}

#[test]
fn damaged_files_are_told_and_cost_nothing() {
    let told = |bytes: &[u8]| of(bytes).unwrap_err().to_string();
    assert!(told(b"a 1 2\nb 3\n").contains("line 2"));
    assert!(told(b"a 1 2\nb 3 4 5 6\n").contains("line 2"));
    assert!(told(b"a 1 2\nb 3 x\n").contains("\"x\""));
    assert!(told(b"a 1 2\nb 3 nan\n").contains("line 2"));
    assert!(told(b"4 2\na 1 2\n").contains("promises 4"));
    assert!(told(b"4 0\na 1 2\n").contains("line 1"));
    assert!(told(b"no vectors here\n").contains("line 1"));
    // A header that lies: nothing is set aside for it.
    assert!(told(b"999999999999 60000\nword \x00\x01\x02\x03").contains("ends after 0"));
    assert!(told(b"18446744073709551615 3\n\xff\xfe").contains("ends after 0"));
    let mut one = packed("2 2\n", &[("a", [1.0, 2.0])], true);
    assert!(told(&one).contains("ends after 1 of the 2"));
    one.extend(b"b ");
    one.extend([0, 0, 0xc0, 0x7f, 0, 0, 0, 0]);
    assert!(told(&one).contains("not finite"));
    assert!(told(&[b"x ".as_slice(), &vec![b'1'; 3 << 20]].concat()).contains("line 1"));
}

#[test]
fn strange_and_repeated_words_are_noted() {
    let given = of(b"a 1 2\na 3 4\n\xff\xfe 5 6\nb 7 8\n").unwrap();
    assert_eq!(given.words(), ["a", "b"]);
    assert_eq!(given.vectors().row(0), [1.0, 2.0]);
    assert_eq!(given.notes().len(), 2);
}

#[test]
fn vectors_at_hand_are_checked() {
    let two = || vec!["a".to_owned(), "b".to_owned()];
    assert!(Given::new(two(), Mat::zeros(2, 3)).is_ok());
    assert!(Given::new(two(), Mat::zeros(3, 3)).is_err());
    assert!(Given::new(two(), Mat::from_vec(2, 1, vec![1.0, f64::NAN])).is_err());
    assert!(Given::new(vec!["a".into(), "a".into()], Mat::zeros(2, 1)).is_err());
    assert!(Given::new(Vec::new(), Mat::zeros(0, 1)).is_err());
}
