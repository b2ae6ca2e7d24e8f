//! `tenfold report` of community models.

mod support;

use support::Place;

#[test]
fn a_model_of_communities_has_a_page_with_and_without_truth() {
    let place = Place::new();
    place.ok("generate communities --nodes 300 -k 3 --alpha0 0.3 -o g.txt");
    place.ok("communities fit g.txt -k 3 -o m.tenfold");
    place.ok("report m.tenfold -o page.html");
    place.ok("report m.tenfold -o again.html");
    assert_eq!(place.bytes("page.html"), place.bytes("again.html"), "the same bytes");
    let page = String::from_utf8(place.bytes("page.html")).unwrap();
    assert!(page.contains("3 communities in 300 nodes") && !page.contains("error of no answer"));
    place.ok("report m.tenfold --truth g.truth.csv -o truth.html");
    assert!(String::from_utf8(place.bytes("truth.html")).unwrap().contains("error of no answer"));
    place.fails("report m.tenfold --truth none.csv -o page.html", 3, &["none.csv"]);
}

#[test]
fn truth_is_for_communities_only() {
    let place = Place::new();
    place.ok("generate ica --samples 500 --columns 3 -o x.csv");
    place.ok("ica fit x.csv -k 2 -o ica.tenfold");
    place.fails("report ica.tenfold --truth x.csv -o page.html", 2, &["--truth", "communities"]);
}
