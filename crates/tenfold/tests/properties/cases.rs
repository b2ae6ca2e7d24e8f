//! What each application says of data with nothing in them, and of good data.

#[path = "cases/fits.rs"]
mod fits;
#[path = "cases/good.rs"]
mod good;
#[path = "cases/hard.rs"]
mod hard;
#[path = "cases/noise.rs"]
mod noise;

use super::{counted, seeds, warnings};
use good::{GOOD, SEPARABLE};
use hard::HARD;
use noise::NOISE;
use tenfold::verdict::Verdict;

/// One kind of data with one way to fit it.
struct Case {
    application: &'static str,
    what: &'static str,
    fit: fn(u64) -> tenfold::Result<Verdict>,
}

/// How many of the draws gave a warning. Refusing data with nothing in them is as good as doubting what was found.
fn doubtful(case: &Case, tried: u64) -> u64 {
    let mut count = 0;
    for seed in 0..tried {
        match (case.fit)(seed) {
            Ok(verdict) => {
                let told = warnings(&verdict);
                count += u64::from(!told.is_empty());
                println!("  {} {}, draw {seed}: {told:?}", case.application, case.what);
            }
            Err(error) => {
                println!("  {} {}, draw {seed}: {error}", case.application, case.what);
                count += 1;
            }
        }
    }
    count
}

/// Runs the cases, counts them, and gives those that did not say what they should on every draw.
fn silent(kind: &str, cases: &[Case], wanted: bool) -> Vec<String> {
    let tried = seeds(1);
    let mut wrong = Vec::new();
    for case in cases {
        let told = doubtful(case, tried);
        let right = if wanted { told } else { tried - told };
        counted(kind, case.application, case.what, (right, tried));
        if right < tried {
            wrong.push(format!("{} {}: {right} of {tried}", case.application, case.what));
        }
    }
    wrong
}

#[test]
fn nothing_is_found_where_nothing_is() {
    assert_eq!(silent("noise", NOISE, true), Vec::<String>::new());
}

#[test]
fn too_much_and_too_odd_are_spoken_of() {
    assert_eq!(silent("hard", HARD, true), Vec::<String>::new());
}

#[test]
fn good_data_raise_no_alarm() {
    assert_eq!(silent("sound", GOOD, false), Vec::<String>::new());
}

#[test]
fn what_shares_nothing_is_told_apart() {
    assert_eq!(silent("separable", SEPARABLE, false), Vec::<String>::new());
}
