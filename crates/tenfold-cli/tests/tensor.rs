//! `tenfold tensor` and `tenfold generate tensor`.

mod support;

use support::{Place, noise, npy};

#[test]
fn every_solver_finds_exact_components_and_the_same_bytes_on_any_threads() {
    for order in [3, 4, 5] {
        let place = Place::new();
        place
            .ok(&format!("generate tensor --order {order} --side 7 -k 5 --weights signed --seed 2 -o T.npy"));
        for solver in ["polar", "power", "als", "simultaneous", "online"] {
            let args = format!("tensor decompose T.npy -k 5 --solver {solver} -o f.tenfold");
            let found = place.json(&format!("{args} --threads 1"));
            assert_eq!(found["converged"], true, "order {order}, {solver}");
            assert!(found["residual"].as_f64().unwrap() < 1e-6, "order {order}, {solver}: {found}");
            let near = place.json("tensor evaluate f.tenfold --truth T.truth.tenfold");
            // Online stops at steps, not at a tolerance; the others are exact to rounding.
            let bound = if solver == "online" { 1e-6 } else { 1e-10 };
            assert!(near["worst_error"].as_f64().unwrap() < bound, "order {order}, {solver}: {near}");
            let one = place.bytes("f.tenfold");
            for threads in [2, 3, 8] {
                place.ok(&format!("{args} --threads {threads}"));
                assert!(place.bytes("f.tenfold") == one, "order {order}, {solver}, {threads} threads");
            }
        }
    }
}

#[test]
fn the_thesis_updates_run_and_objectives_are_checked() {
    let place = Place::new();
    place.ok("generate tensor --order 4 --side 5 --weights equal -o T.npy");
    for how in ["--objective decorrelation", "--objective reconstruction --noise 0.01", "--update stgd"] {
        let found = place.json(&format!("tensor decompose T.npy --solver online {how} --steps 5000"));
        assert_eq!(found["k"], 5, "{how}");
        assert!(found["residual"].as_f64().unwrap() < 0.1, "{how}: {found}");
    }
    place.fails("tensor decompose T.npy --steps 3", 2, &["--steps means nothing"]);
    place.fails(
        "tensor decompose T.npy --solver simultaneous --restarts 3",
        2,
        &["--restarts means nothing"],
    );
    place.fails("tensor decompose T.npy --solver online --update stgd --objective one", 2, &["--objective"]);
    place.ok("generate tensor --order 3 --side 5 -o T3.npy");
    place.fails("tensor decompose T3.npy --solver online --objective decorrelation", 2, &["order 4"]);
}

#[test]
fn unequal_sides_go_to_alternating_least_squares() {
    let place = Place::new();
    let n = noise(24);
    let (a, b, c) = (&n[..6], &n[6..14], &n[14..24]); // 3, 4 and 5 rows of two columns
    let mut data = Vec::new();
    for i in 0..3 {
        for j in 0..4 {
            for l in 0..5 {
                data.push((0..2).map(|r| a[2 * i + r] * b[2 * j + r] * c[2 * l + r]).sum());
            }
        }
    }
    place.write("T.npy", npy(&[3, 4, 5], &data));
    let run = place.ok("tensor decompose T.npy -k 2 -o f.tenfold");
    assert!(run.err.contains("without symmetry") && run.out.contains("by als"), "{}{}", run.err, run.out);
    assert!(place.json("tensor decompose T.npy -k 2")["residual"].as_f64().unwrap() < 1e-6);
    place.fails("tensor decompose T.npy --solver power", 2, &["--solver als"]);
    // Of sides 3, 4 and 5 no tensor has a rank above 12.
    place.ok("tensor decompose T.npy -k 12 --max-iterations 1");
    for k in ["13", "99999999999999", "18446744073709551615"] {
        let words = ["at most 12", "the product of the two smaller sides"];
        place.fails(&format!("tensor decompose T.npy --asymmetric -k {k}"), 2, &words);
    }
}

#[test]
fn no_convergence_is_said_and_strict_makes_it_an_error() {
    let place = Place::new();
    place.ok("generate tensor --side 30 --noise 0.2 -o T.npy");
    let args = "tensor decompose T.npy --max-iterations 1 --restarts 1";
    let loose = place.ok(args);
    assert!(loose.out.contains("NOT CONVERGED") && loose.err.contains("warning: polar did not converge"));
    assert!(loose.out.contains("… and 10 more"), "{}", loose.out);
    assert_eq!(place.json(args)["converged"], false);
    assert_eq!(place.run(&format!("{args} --strict")).code, 4);
}

#[test]
fn tensors_of_the_wrong_kind_are_refused() {
    let place = Place::new();
    let mut data = vec![0.0; 27];
    data[1] = 1.0;
    place.write("skew.npy", npy(&[3, 3, 3], &data));
    place.fails("tensor decompose skew.npy", 3, &["skew.npy", "symmetric", "--asymmetric"]);
    place.ok("tensor decompose skew.npy --asymmetric -k 1");
    place.ok("tensor decompose skew.npy --symmetry-tolerance 2 -k 1");
    data[4] = f64::NAN;
    place.write("nan.npy", npy(&[3, 3, 3], &data));
    place.fails("tensor decompose nan.npy", 3, &["[0, 1, 1]", "NaN"]);
    place.write("flat.npy", npy(&[3, 9], &[0.0; 27]));
    place.fails("tensor decompose flat.npy", 3, &["[3, 9]"]);
    place.write("none.npy", npy(&[0, 0, 0], &[]));
    place.fails("tensor decompose none.npy", 3, &["no entries"]);
    place.write("T.csv", "1,2\n");
    place.fails("tensor decompose T.csv", 2, &[".npy"]);
    place.ok("generate tensor --side 4 -o T.npy");
    place.fails("tensor decompose T.npy -k 5", 2, &["5 components", "at most 4"]);
}

#[test]
fn tensors_of_any_size_are_decomposed() {
    let place = Place::new();
    // Two components along the axes, of weights 3 and 2.
    for (order, sides) in [(3usize, vec![4; 3]), (4, vec![4; 4]), (5, vec![4; 5]), (3, vec![4, 5, 6])] {
        for size in [1.0, 1e300, 1e-300, 1e-307] {
            let stride = |axis: usize| sides[axis + 1..].iter().product::<usize>();
            let diagonal: usize = (0..order).map(stride).sum();
            let mut data = vec![0.0; sides.iter().product()];
            (data[0], data[diagonal]) = (3.0 * size, 2.0 * size);
            place.write("T.npy", npy(&sides, &data));
            let found = place.json("tensor decompose T.npy -k 2");
            let weights = found["weights"].as_array().unwrap().iter();
            let mut weights: Vec<f64> = weights.map(|w| w.as_f64().unwrap().abs() / size).collect();
            weights.sort_by(|a, b| b.total_cmp(a));
            let told = format!("sides {sides:?}, size {size:e}: {found}");
            assert!((weights[0] - 3.0).abs() < 1e-6 && (weights[1] - 2.0).abs() < 1e-6, "{told}");
            assert!(found["residual"].as_f64().unwrap() < 1e-6 && found["converged"] == true, "{told}");
        }
    }
    place.fails("tensor decompose T.npy -k 1 --restarts 1000000000", 2, &["restarts", "at most 1000000"]);
    // A weight above every number of double precision is told, not shown.
    place.write("T.npy", npy(&[3, 3, 3], &[f64::MAX; 27]));
    place.fails("tensor decompose T.npy -k 1", 3, &["beyond the range of double precision", "divide"]);
}
