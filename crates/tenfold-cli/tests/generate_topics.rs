//! `tenfold generate topics`: files that agree with each other and do not depend on threads.

mod support;

use support::Place;

const ARGS: &str =
    "generate topics --documents 1100 --words 60 -k 3 --length 20 --spread 0.5 --zipf --seed 5";

/// Counts by document and word, both from 0.
type Counts = Vec<(usize, usize, usize)>;

fn triplets(text: &[u8], skip: usize) -> (Vec<usize>, Counts) {
    let text = std::str::from_utf8(text).unwrap();
    let numbers = |line: &str| -> Vec<usize> { line.split(' ').map(|n| n.parse().unwrap()).collect() };
    let head = text.lines().take(skip).filter(|line| !line.starts_with('%')).flat_map(numbers).collect();
    let row = |line: &str| {
        let n = numbers(line);
        (n[0] - 1, n[1] - 1, n[2])
    };
    (head, text.lines().skip(skip).map(row).collect())
}

#[test]
fn every_format_holds_the_same_documents() {
    let place = Place::new();
    for format in ["uci", "ldac", "mtx", "text"] {
        let value = place.json(&format!("{ARGS} --format {format} -o {format}"));
        assert_eq!((&value["documents"], &value["k"]), (&1100.into(), &3.into()));
        for file in ["vocab.txt", "topics.npy", "alpha.npy", "mixtures.csv"] {
            assert!(
                place.bytes(&format!("{format}/{file}")) == place.bytes(&format!("uci/{file}")),
                "{file}"
            );
        }
    }
    let (head, uci) = triplets(&place.bytes("uci/docword.txt"), 3);
    assert_eq!(head, [1100, 60, uci.len()]);
    let (head, mtx) = triplets(&place.bytes("mtx/corpus.mtx"), 2);
    assert_eq!((head, &mtx), (vec![1100, 60, uci.len()], &uci));
    let ldac: Counts = String::from_utf8(place.bytes("ldac/corpus.ldac"))
        .unwrap()
        .lines()
        .enumerate()
        .flat_map(|(document, line)| {
            let (distinct, entries) = line.split_once(' ').unwrap();
            let entries: Vec<_> = entries.split(' ').map(|e| e.split_once(':').unwrap()).collect();
            assert_eq!(distinct.parse(), Ok(entries.len()));
            entries
                .into_iter()
                .map(|(word, count)| (document, word.parse().unwrap(), count.parse().unwrap()))
                .collect::<Counts>()
        })
        .collect();
    assert_eq!(ldac, uci);
    let text = String::from_utf8(place.bytes("text/corpus.txt")).unwrap();
    assert_eq!(text.lines().count(), 1100);
    assert!(text.lines().all(|line| line.split(' ').count() >= 3));
    let first: usize = uci.iter().take_while(|entry| entry.0 == 0).map(|entry| entry.2).sum();
    assert_eq!(text.lines().next().unwrap().split(' ').count(), first);
    let mixtures = String::from_utf8(place.bytes("uci/mixtures.csv")).unwrap();
    assert!(mixtures.starts_with("topic0,topic1,topic2\n") && mixtures.lines().count() == 1101);
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let place = Place::new();
    let made = |more: &str| {
        place.ok(&format!("{ARGS} -o d {more}"));
        [place.bytes("d/docword.txt"), place.bytes("d/mixtures.csv"), place.bytes("d/topics.npy")]
    };
    let one = made("--threads 1");
    assert!(made("--threads 3") == one && made("--threads 8") == one);
    place.ok("generate topics --seed 6 --no-mixtures -o e");
    assert!(place.bytes("e/docword.txt") != one[0] && !place.path("e/mixtures.csv").exists());
    assert_eq!(place.files(), ["d", "e"]);
}
