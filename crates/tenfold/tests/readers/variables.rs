//! Readers of variables, of events with codes, of their groups, and of trees.

use super::ROOM;
use std::path::Path;
use tenfold::engine::progress::Silent;
use tenfold::trees::read::{Format, Options, groups_of, open};
use tenfold::trees::{read_tree, to_newick};

fn options() -> Options {
    Options { memory: ROOM, max_decompressed: ROOM, max_decompressed_groups: ROOM, ..Options::default() }
}

fn events() -> Options {
    Options { format: Some(Format::Events), min_count: Some(1), ..options() }
}

fn way(path: &Path, options: &Options) -> bool {
    let found = open(path, options, &Silent);
    if let Ok(input) = &found {
        assert_eq!(input.groups.len(), input.table.variables().len());
        assert!(input.table.samples() > 0);
        input.samples.name(input.table.samples() - 1);
    }
    found.is_ok()
}

/// As the name of the file says, and as events.
pub fn check(path: &Path) -> bool {
    way(path, &options()) | way(path, &events())
}

pub fn codes(path: &Path) -> bool {
    let codes = |counts| Options { counts, max_codes: 2, ..events() };
    way(path, &codes(false)) | way(path, &codes(true))
}

/// A map of codes to groups, beside events.
pub fn groups(path: &Path) -> bool {
    let visits = path.with_file_name("visits.csv");
    std::fs::write(&visits, "patient,code\n1,a\n2,b\n1,c1\n2,c2\n").unwrap();
    for broad_groups in [false, true] {
        let groups = Some(path.to_owned());
        way(&visits, &Options { groups, descriptions: Some(path.to_owned()), broad_groups, ..events() });
    }
    let names = ["a", "b c"].map(String::from);
    groups_of(path, &names, Some(ROOM), &Silent).is_ok_and(|found| found.len() == 2)
}

/// A tree over three variables, in Newick or NEXUS; what is written of it is read again.
pub fn tree(path: &Path) -> bool {
    let names = ["a", "b", "c d"].map(String::from);
    let found = read_tree(path, &names, Some(ROOM), &Silent);
    if let Ok(tree) = &found {
        let text = to_newick(tree, &names, &|_, _| None);
        let again = tenfold::trees::parse_tree(&text, &names).unwrap_or_else(|e| panic!("{e} in {text:?}"));
        // A tip of length 0 stands for its place, so that there are fewer edges where there was one.
        let measured = tree.edges().iter().all(|(_, _, length)| *length != 0.0);
        assert!(!measured || again.edges().len() == tree.edges().len(), "{text}");
    }
    found.is_ok()
}
