//! Reading a table tells how far it is, and ends when it is told to.

mod input_files;
use input_files::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tenfold::engine::progress::Progress;
use tenfold::input::{Options, open_with};
use tenfold::output::write_table;

/// Counts, and asks for the end when it has been told of this many steps.
struct Listener {
    stages: Mutex<Vec<(String, u64)>>,
    done: AtomicU64,
    most: u64,
}

impl Listener {
    fn new(most: u64) -> Self {
        Self { stages: Mutex::default(), done: AtomicU64::new(0), most }
    }
}

impl Progress for Listener {
    fn stage(&self, name: &str, steps: u64) {
        self.stages.lock().unwrap().push((name.to_owned(), steps));
    }
    fn advance(&self, by: u64) {
        self.done.fetch_add(by, Ordering::Relaxed);
    }
    fn stopped(&self) -> bool {
        self.done.load(Ordering::Relaxed) > self.most
    }
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut out, bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn every_type_counts_to_its_end_and_can_be_stopped_before() {
    let folder = folder();
    let (rows, cols) = (100_000, 3);
    let table = numbers(rows, cols);
    let mut paths = Vec::new();
    for name in ["x.csv", "x.npy", "x.parquet"] {
        if name.ends_with("parquet") && !cfg!(feature = "parquet") {
            continue;
        }
        let path = folder.path().join(name);
        write_table(&path, &names(cols), &table).unwrap();
        paths.push(path);
    }
    paths.push(file(&folder, "x.csv.gz", gzipped(&std::fs::read(&paths[0]).unwrap())));
    let columns: Vec<u8> = (0..cols).flat_map(|j| table.col(j)).flat_map(f64::to_le_bytes).collect();
    paths.push(file(&folder, "fortran.npy", npy("'<f8'", "True", &format!("({rows}, {cols})"), &columns)));
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let listener = Listener::new(u64::MAX);
        let opened = open_with(&path, &Options::default(), &listener).unwrap();
        assert_eq!(bits(&all(&opened)), bits(table.as_slice()), "{name}");
        let text = name.contains("csv");
        let steps = if text { std::fs::metadata(&path).unwrap().len() } else { (rows * cols) as u64 };
        assert_eq!(*listener.stages.lock().unwrap(), [(format!("reading {name}"), steps)]);
        assert_eq!(listener.done.into_inner(), steps, "{name}");

        let listener = Listener::new(steps / 4);
        let error = open_with(&path, &Options::default(), &listener).unwrap_err();
        assert!(
            matches!(error, tenfold::Error::Engine(tenfold::engine::Error::Interrupted)),
            "{name}: {error}"
        );
        assert!(listener.done.into_inner() < steps, "{name} was read to its end");
    }
}

#[test]
fn what_is_held_is_told() {
    let folder = folder();
    let path = folder.path().join("x.csv");
    write_table(&path, &names(3), &numbers(2000, 3)).unwrap();
    let table = read(&path);
    assert!(table.is_named());
    assert_eq!(table.held_bytes(), 2000 * 3 * 8);
    assert_eq!(streamed(&path, 1000).held_bytes(), 0);
    assert!(!read(&file(&folder, "plain.csv", "1,2\n3,4\n")).is_named());
    let npy = folder.path().join("x.npy");
    write_table(&npy, &names(3), &numbers(10, 3)).unwrap();
    assert!(!read(&npy).is_named());
}
