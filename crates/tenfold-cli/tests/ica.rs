//! `tenfold ica` from files to files.

mod support;

use support::{Place, noise, npy};

/// Three times what n = 10,000 samples leave on these sources over seeds 0 to 4 (0.004 to 0.006).
const NEAR: f64 = 0.02;

#[test]
fn fit_and_infer_recover_the_truth() {
    for solver in ["polar", "power", "als", "simultaneous", "online"] {
        let place = Place::new();
        place.ok("generate ica --columns 6 --sources 4 --seed 3 -o X.npy");
        let fit = place
            .json(&format!("ica fit X.npy -k 4 --solver {solver} --seed 3 -o m.tenfold --sources S.csv"));
        assert_eq!(fit["k"], 4);
        assert_eq!(fit["parameters"]["solver"], solver);
        assert_eq!(fit["diagnostics"]["spectrum"].as_array().unwrap().len(), 6);
        assert_eq!(fit["model"], "m.tenfold");
        assert!(fit["seconds"].as_f64().unwrap() > 0.0);
        let near = place.json("ica evaluate m.tenfold --mixing X.mixing.npy");
        assert!(near["amari_distance"].as_f64().unwrap() < NEAR, "{solver}: {near}");

        // The sources written by the fit are those of infer, in every format.
        place.ok("ica infer m.tenfold X.npy -o again.csv");
        assert_eq!(place.bytes("S.csv"), place.bytes("again.csv"));
        assert!(place.bytes("S.csv").starts_with(b"s1,s2,s3,s4\n"));
    }
}

#[test]
fn text_parquet_and_sound_are_read_and_mixed_back() {
    let place = Place::new();
    place.ok("generate ica --samples 3000 --columns 3 -o X.parquet");
    place.ok("ica fit X.parquet -k 3 --columns c3,c1,c2 -o m.tenfold");
    place.ok("ica infer m.tenfold X.parquet --columns c3,c1,c2 -o S.npy");
    place.ok("ica infer m.tenfold S.npy --mix-back -o X.npy");
    place.ok("ica infer m.tenfold X.npy -o S2.npy");
    let numbers = |name: &str| -> Vec<f64> {
        let bytes = place.bytes(name);
        bytes[128..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let (there, back) = (numbers("S.npy"), numbers("S2.npy"));
    assert_eq!(there.len(), 9000);
    assert!(there.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-9));

    let spec = hound::WavSpec {
        channels: 2,
        sample_rate: 8000,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut wav = hound::WavWriter::create(place.path("two.wav"), spec).unwrap();
    for (t, x) in noise(4000).into_iter().enumerate() {
        let square = if t % 34 < 17 { 8000.0 } else { -8000.0 };
        wav.write_sample((square + 9000.0 * x) as i16).unwrap();
        wav.write_sample((0.4 * square - 12000.0 * x) as i16).unwrap();
    }
    wav.finalize().unwrap();
    let run = place.ok("ica fit two.wav -k 2 -o wav.tenfold");
    assert!(run.err.contains("at 8000 Hz") && run.err.contains("memory: about"), "{}", run.err);
    assert!(run.out.contains("2 sources from 4000 samples"), "{}", run.out);
    assert!(place.ok("ica show wav.tenfold").out.contains("verdict: "));
}

#[test]
fn every_solver_gives_the_same_bytes_on_any_threads_and_from_disk() {
    let place = Place::new();
    // 1.2 MB: more than what is held in any case.
    place.ok("generate ica --samples 30000 --columns 5 --seed 1 -o X.npy");
    for solver in ["polar", "power", "als", "simultaneous", "online"] {
        let fit = |name: &str, more: &str| {
            place.ok(&format!("ica fit X.npy -k 3 --solver {solver} --seed 9 -o {name} {more}"));
            place.bytes(name)
        };
        let one = fit("one", "--threads 1");
        for threads in [2, 3, 8] {
            assert!(fit("more", &format!("--threads {threads}")) == one, "{solver}, {threads} threads");
        }
        assert!(fit("disk", "--on-disk") == one, "{solver}, from disk");
        assert!(fit("again", "--quiet") == one, "{solver}, again");
    }
}

#[test]
fn skewness_no_polish_and_standardise_are_taken() {
    let place = Place::new();
    place.ok("generate ica --shapes exponential --columns 3 -o X.csv");
    let args = "ica fit X.csv -k 3 --contrast skewness --polish none --standardise -o m.tenfold";
    let fit = place.json(args);
    assert_eq!(fit["parameters"]["contrast"], "skewness");
    assert_eq!(fit["parameters"]["standardise"], true);
    assert_eq!(fit["diagnostics"]["polish_converged"], serde_json::Value::Null);
    let near = place.json("ica evaluate m.tenfold --mixing X.mixing.npy");
    assert!(near["amari_distance"].as_f64().unwrap() < 0.05, "{near}");
}

#[test]
fn what_the_data_cannot_carry_is_reduced_and_said() {
    let place = Place::new();
    // Three columns of rank two, and a constant one.
    let x = noise(4000);
    let rows = x.chunks_exact(2).flat_map(|r| [r[0], r[1].powi(3), r[0] + r[1].powi(3), 5.0]);
    place.write("X.npy", npy(&[2000, 4], &rows.collect::<Vec<_>>()));
    let run = place.ok("ica fit X.npy -k 4 -o m.tenfold");
    assert!(run.out.contains("constant"), "{}", run.out);
    assert!(run.out.contains("rank 2: the model has that many"), "{}", run.out);
    let more = place.ok("ica fit X.npy -k 9 -o m.tenfold");
    assert!(more.out.contains("only 4 columns"), "{}", more.out);
    let auto = place.json("ica fit X.npy -k auto -o m.tenfold");
    assert_eq!(auto["k"], 2, "{auto}");
}

#[test]
fn strict_turns_a_run_that_did_not_converge_into_code_4() {
    let place = Place::new();
    place.ok("generate ica --columns 6 -o X.npy");
    let args = "ica fit X.npy -k 6 --max-iterations 1 --restarts 1 --polish none -o m.tenfold";
    let loose = place.ok(args);
    assert!(loose.err.contains("warning: not converged"), "{}", loose.err);
    let strict = place.run(&format!("{args} --strict --json"));
    assert_eq!(strict.code, 4);
    let value: serde_json::Value = serde_json::from_str(&strict.out).unwrap();
    assert_eq!(value["diagnostics"]["converged"], false);
}

#[test]
fn strict_asks_whether_the_model_settled_not_its_start() {
    let place = Place::new();
    place.ok("generate ica --columns 6 -o X.npy");
    let args = "ica fit X.npy -k 6 --max-iterations 1 --restarts 1 --strict -o m.tenfold";
    let run = place.ok(args);
    assert!(!run.err.contains("not converged"), "{}", run.err);
    let value = place.json(args);
    let d = &value["diagnostics"];
    assert_eq!((&d["converged"], &d["polish_converged"]), (&false.into(), &true.into()), "{value}");
    assert_eq!(value["sound"], true, "{value}");
}

#[test]
fn the_estimate_of_a_wide_table_counts_no_covariance() {
    let place = Place::new();
    place.write("X.npy", npy(&[30, 20_000], &noise(600_000)));
    let run = place.ok("ica fit X.npy -k 2 --polish none --max-iterations 1 --restarts 1 -o m.tenfold");
    let line = run.err.lines().find(|line| line.starts_with("memory: about")).unwrap();
    let megabytes = line.split_whitespace().nth(2).unwrap().parse::<f64>().unwrap();
    assert!(line.contains("data 5 MB") && megabytes < 100.0, "{line}");
}
