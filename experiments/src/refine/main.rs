//! `refine FOLDER WINDOWS LENGTH MOTIFS TAPS STARTS`: the sparse refinement on drawn windows, for the comparison with a peer.
//!
//! FOLDER holds `x.f64` (windows × length numbers) and `start.f64` (motifs × taps). Prints one JSON object a line: the
//! refinement from that start and from STARTS random ones, alternating minimisation from as many, with seconds and motifs.

use std::error::Error;
use std::path::Path;
use std::time::Instant;
use tenfold::engine::progress::Silent;
use tenfold::motifs::sparse::{Refinement, refine};
use tenfold::motifs::{Extent, Filters, Signals, baseline};

fn numbers(path: &Path) -> Result<Vec<f64>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect())
}

fn tell(what: &str, seconds: f64, filters: &Filters) {
    println!("{}", serde_json::json!({ "what": what, "seconds": seconds, "motifs": filters.values }));
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, sizes @ ..] = &arguments[..] else {
        return Err("refine FOLDER WINDOWS LENGTH MOTIFS TAPS STARTS".into());
    };
    let sizes = sizes.iter().map(|size| size.parse()).collect::<Result<Vec<usize>, _>>()?;
    let [windows, length, motifs, taps, starts] = sizes[..] else {
        return Err("five sizes are needed".into());
    };
    let folder = Path::new(folder);
    let x = numbers(&folder.join("x.f64"))?;
    let signals = Signals::windows(&x[..windows * length], length, true);
    let given =
        Filters::new(numbers(&folder.join("start.f64"))?[..motifs * taps].to_vec(), 1, Extent::line(taps));
    let begin = Instant::now();
    let refined = refine(&given, &signals, &Refinement::default(), &Silent)?;
    tell("refined from the start", begin.elapsed().as_secs_f64(), &refined.filters);
    for seed in 0..starts as u64 {
        let begin = Instant::now();
        let refinement = Refinement { seed, ..Refinement::default() };
        let found = baseline::sparse_from_random(motifs, Extent::line(taps), &signals, &refinement, &Silent)?;
        tell("sparse from random", begin.elapsed().as_secs_f64(), &found.filters);
        let begin = Instant::now();
        let start = baseline::random_start(motifs, 1, Extent::line(taps), seed);
        let found = baseline::alternate(&start, &signals, 100, &Silent)?;
        tell("alternating least squares", begin.elapsed().as_secs_f64(), &found.filters);
    }
    Ok(())
}
