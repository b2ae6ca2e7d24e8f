//! `--device`, `tenfold devices` and `tenfold bench` by the real binary.

mod support;

use support::Place;

#[cfg(not(feature = "gpu"))]
#[test]
fn a_build_without_cards_names_the_remedy() {
    let place = Place::new();
    place.ok("generate ica --samples 500 --columns 3 -o X.npy");
    place.fails("ica fit X.npy -k 3 --device gpu -o m.tenfold", 2, &["--features gpu", "--device cpu"]);
    place.fails("devices", 2, &["--features gpu"]);
    let run = place.ok("ica fit X.npy -k 3 --device auto -o m.tenfold");
    assert!(run.err.contains("the processor is used"), "{}", run.err);
}

#[test]
fn choices_that_make_no_sense_are_refused() {
    let place = Place::new();
    place.ok("generate ica --samples 500 --columns 3 -o X.npy");
    place.fails("ica fit X.npy -k 3 --device cuda -o m.tenfold", 2, &["gpu:N"]);
    place.fails(
        "ica fit X.npy -k 3 --device-memory 1GB -o m.tenfold",
        2,
        &["--device-memory", "--device cpu"],
    );
}

#[cfg(feature = "gpu")]
mod card {
    use super::support::{Place, number};

    /// Whether there is an adapter; without one the test says that it is skipped.
    fn there(place: &Place) -> bool {
        let found = !place.json("devices")["devices"].as_array().unwrap().is_empty();
        if !found {
            println!("skipped: there is no adapter; on Debian, mesa-vulkan-drivers brings software Vulkan");
        }
        found
    }

    #[test]
    fn a_card_that_is_not_there_is_told() {
        let place = Place::new();
        place.ok("generate ica --samples 500 --columns 3 -o X.npy");
        place.fails("ica fit X.npy -k 3 --device gpu:999 -o m.tenfold", 1, &[]);
        // Where there is no card but software, auto stays with the processor.
        place.ok("ica fit X.npy -k 3 --device auto -o m.tenfold");
    }

    #[test]
    fn sources_on_a_card_are_the_processors() {
        let place = Place::new();
        if !there(&place) {
            return;
        }
        place.ok("generate ica --columns 6 --sources 4 --seed 3 -o X.npy");
        for solver in ["polar", "online"] {
            let fit = format!("ica fit X.npy -k 4 --polish none --solver {solver} --seed 3");
            let run = place.ok(&format!("{fit} --device gpu:0 --verbose -o card.tenfold"));
            assert!(run.err.contains(" up, ") && run.err.contains("device: "), "{}", run.err);
            place.ok(&format!("{fit} --device gpu:0 -o again.tenfold"));
            assert_eq!(place.bytes("card.tenfold"), place.bytes("again.tenfold"), "{solver}");
            place.ok(&format!("{fit} -o cpu.tenfold"));
            let error = |model: &str| {
                number(&place.json(&format!("ica evaluate {model} --mixing X.mixing.npy"))["amari_distance"])
            };
            let (card, cpu) = (error("card.tenfold"), error("cpu.tenfold"));
            assert!((card - cpu).abs() < 1e-4, "{solver}: {card} {cpu}");
        }
    }

    #[test]
    fn too_little_memory_stops_the_fit_and_leaves_nothing() {
        let place = Place::new();
        if !there(&place) {
            return;
        }
        place.ok("generate ica --columns 6 -o X.npy");
        place.fails(
            "ica fit X.npy -k 6 --device gpu:0 --device-memory 10kB -o m.tenfold",
            1,
            &["bytes on the device", "--device cpu"],
        );
        place.fails(
            "ica fit X.npy -k 6 --solver online --noise 0.1 --device gpu:0 -o m.tenfold",
            2,
            &["noise"],
        );
    }

    #[test]
    fn topics_and_communities_are_the_processors() {
        let place = Place::new();
        if !there(&place) {
            return;
        }
        place.ok("generate topics --documents 1500 -k 5 --words 300 --seed 3 -o drawn");
        let fit = "topics fit drawn/docword.txt -k 5 --polish none --seed 3";
        let run = place.ok(&format!("{fit} --device gpu:0 --verbose -o card.tenfold"));
        assert!(run.err.contains(" up, ") && run.out.contains("goes over the documents"), "{}", run.err);
        place.ok(&format!("{fit} -o cpu.tenfold"));
        let error = |model: &str| {
            let line = format!("topics evaluate {model} drawn/docword.txt --truth drawn/topics.npy");
            number(&place.json(&line)["truth"]["total_variation"])
        };
        let (card, cpu) = (error("card.tenfold"), error("cpu.tenfold"));
        assert!((card - cpu).abs() < 1e-3, "{card} {cpu}");
        place.ok("generate communities --nodes 400 -k 3 --alpha0 0 --seed 3 -o g.txt");
        for (device, model) in
            [("cpu", "here.tenfold"), ("gpu:0", "there.tenfold"), ("gpu:0", "again.tenfold")]
        {
            place.ok(&format!("communities fit g.txt -k 3 --polish none --device {device} -o {model}"));
        }
        let error = |model: &str| {
            number(&place.json(&format!("communities evaluate {model} --truth g.truth.csv"))["nmi"])
        };
        let (card, cpu) = (error("there.tenfold"), error("here.tenfold"));
        assert!((card - cpu).abs() < 1e-3, "{card} {cpu}");
    }

    /// `auto` with a card: it is used, and what does not fit into its memory is the processor's, with a notice.
    #[test]
    fn auto_uses_the_card_and_leaves_what_does_not_fit() {
        let place = Place::new();
        if !there(&place) {
            return;
        }
        place.ok("generate ica --columns 6 --sources 4 --seed 3 -o X.npy");
        let fit = "ica fit X.npy -k 4 --polish none --seed 3 --verbose";
        let run = place.ok(&format!("{fit} --device auto:0 -o card.tenfold"));
        assert!(run.err.contains("device: ") && !run.err.contains(" 0 contractions"), "{}", run.err);
        place.ok(&format!("{fit} --device gpu:0 -o asked.tenfold"));
        assert_eq!(place.bytes("card.tenfold"), place.bytes("asked.tenfold"));
        let run = place.ok(&format!("{fit} --device auto:0 --device-memory 10kB -o small.tenfold"));
        assert!(format!("{}{}", run.out, run.err).contains("the processor was used instead"), "{}", run.err);
        place.ok("generate communities --nodes 400 -k 3 --alpha0 0 --seed 3 -o g.txt");
        let fit = "communities fit g.txt -k 3 --polish none";
        place.ok(&format!("{fit} --device auto:0 -o card.tenfold"));
        let run = place.ok(&format!("{fit} --device auto:0 --device-memory 1kB -o small.tenfold"));
        assert!(format!("{}{}", run.out, run.err).contains("the processor was used instead"), "{}", run.err);
        place.ok(&format!("{fit} -o cpu.tenfold"));
        let nmi = |model: &str| {
            number(&place.json(&format!("communities evaluate {model} --truth g.truth.csv"))["nmi"])
        };
        assert_eq!(nmi("small.tenfold"), nmi("cpu.tenfold"));
        assert!((nmi("card.tenfold") - nmi("cpu.tenfold")).abs() < 1e-3);
    }

    #[test]
    fn a_bench_measures() {
        let place = Place::new();
        if !there(&place) {
            return;
        }
        let told = place.json("bench --device gpu:0 --samples 2000 -k 20");
        assert!(number(&told["products"]) > 0.0 && number(&told["memory"]) > 0.0);
        assert_eq!(told["kernels"].as_array().unwrap().len(), 3);
    }
}
