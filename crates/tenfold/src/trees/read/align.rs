//! Aligned sequences: taxa become variables, sites samples.

use super::{Input, Options, Samples, fail, listed};
use crate::error::Result;
use crate::trees::data::{Kind, Table, Variable};
use std::path::Path;
use tenfold_engine::progress::Progress;

/// What to do about more sequences than there may be variables.
pub(super) const FEWER: &str =
    "give the sequences that matter: taxa are variables, which trees compare each with each";

/// What to do about sequences that are not aligned.
const ALIGN: &str = "align the sequences first";

/// A sequence with its name, and the line where it begins.
#[derive(Debug, Default)]
pub(super) struct Taxon {
    pub(super) name: String,
    pub(super) line: u64,
    pub(super) letters: Vec<u8>,
}

/// What sequences are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Dna,
    Rna,
    Protein,
}

impl Alphabet {
    /// Nucleotides are 90 % of the letters A, C, G, T, U and N, as in a protein they never are.
    fn of(taxa: &[Taxon]) -> Self {
        let mut counts = [0usize; 256];
        taxa.iter().flat_map(|t| &t.letters).for_each(|b| counts[usize::from(*b)] += 1);
        let letters: usize = (b'A'..=b'Z').map(|b| counts[usize::from(b)]).sum();
        let of = |set: &[u8]| set.iter().map(|b| counts[usize::from(*b)]).sum::<usize>();
        if of(b"ACGTUN") * 10 < letters * 9 {
            Self::Protein
        } else if of(b"U") > of(b"T") {
            Self::Rna
        } else {
            Self::Dna
        }
    }

    fn letters(self) -> &'static [u8] {
        match self {
            Self::Dna | Self::Rna => b"ACGT",
            Self::Protein => b"ACDEFGHIKLMNPQRSTVWY",
        }
    }

    /// The name of a letter; U and T are one.
    fn label(self, letter: usize) -> String {
        let letter = self.letters()[letter];
        String::from(char::from(if self == Self::Rna && letter == b'T' { b'U' } else { letter }))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Dna => "DNA",
            Self::Rna => "RNA",
            Self::Protein => "protein",
        }
    }
}

/// Letters as they count, in capitals; `None` for a byte that no sequence holds.
pub(super) fn letter(byte: u8) -> Option<u8> {
    let byte = byte.to_ascii_uppercase();
    (byte.is_ascii_uppercase() || matches!(byte, b'-' | b'.' | b'?' | b'*' | b'~' | b'!')).then_some(byte)
}

/// The letters of taxa as numbers, and how often each taxon has them.
struct Coded {
    alphabet: Alphabet,
    /// The number of every byte that is a letter.
    place: [Option<usize>; 256],
    /// For every taxon, the count of every letter.
    counts: Vec<Vec<usize>>,
}

impl Coded {
    fn new(taxa: &[Taxon]) -> Self {
        let alphabet = Alphabet::of(taxa);
        let mut place = [None; 256];
        alphabet.letters().iter().enumerate().for_each(|(i, &b)| place[usize::from(b)] = Some(i));
        if alphabet != Alphabet::Protein {
            place[usize::from(b'U')] = place[usize::from(b'T')];
        }
        let count = |taxon: &Taxon| {
            let mut counts = vec![0usize; alphabet.letters().len()];
            taxon.letters.iter().filter_map(|&b| place[usize::from(b)]).for_each(|l| counts[l] += 1);
            counts
        };
        let counts = taxa.iter().map(count).collect();
        Self { alphabet, place, counts }
    }

    /// The letters that a taxon has, in one order for all taxa, by frequency, so that states have the same names everywhere.
    fn levels(&self, taxon: usize) -> Vec<usize> {
        let total = |l: usize| self.counts.iter().map(|c| c[l]).sum::<usize>();
        let mut order: Vec<usize> = (0..self.alphabet.letters().len()).collect();
        order.sort_by_cached_key(|&l| (std::cmp::Reverse(total(l)), l));
        order.retain(|&l| self.counts[taxon][l] > 0);
        order
    }

    /// How many letters are not the first level of their taxon, and how many are none, in the taxa with enough levels.
    fn room(&self, sites: usize, all: &[(&Taxon, Vec<usize>)], fewest: usize) -> (usize, usize) {
        let kept = all.iter().zip(&self.counts).filter(|((_, levels), _)| levels.len() >= fewest);
        kept.fold((0, 0), |(entries, missing), ((_, levels), counts)| {
            let letters: usize = counts.iter().sum();
            (entries + letters - levels.first().map_or(0, |&l| counts[l]), missing + sites - letters)
        })
    }
}

/// Makes the table. Gaps, `N`, `X`, `?` and letters that stand for several are missing; sites where all are missing are left out, and
/// so are taxa with fewer than two different letters, or without any where they are read for a model.
pub(super) fn finish(
    path: &Path,
    taxa: Vec<Taxon>,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Input> {
    let fewest = if options.like.is_empty() { 2 } else { 1 };
    let sites = check(path, &taxa)?;
    let coded = Coded::new(&taxa);
    let mut notes = vec![format!("{} sequences of {}, {sites} sites", taxa.len(), coded.alphabet.name())];
    let all: Vec<(&Taxon, Vec<usize>)> =
        taxa.iter().enumerate().map(|(t, taxon)| (taxon, coded.levels(t))).collect();
    let room = coded.room(sites, &all, fewest);
    let (kept, left): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, levels)| levels.len() >= fewest);
    if !left.is_empty() {
        let names: Vec<&str> = left.iter().map(|(taxon, _)| taxon.name.as_str()).collect();
        notes.push(format!(
            "{} sequences hold too few different letters and were left out: {}",
            names.len(),
            listed(&names)
        ));
    }
    if kept.is_empty() {
        return Err(fail(path, None, "holds no sequence with two different letters".into(), super::WANTED));
    }
    let variables = kept.iter().map(|(taxon, levels)| Variable {
        name: taxon.name.clone(),
        kind: Kind::Category,
        labels: levels.iter().map(|&l| coded.alphabet.label(l)).collect(),
    });
    let mut table = Table::new(variables.collect())?;
    table.reserve(sites, room.0);
    table.reserve_missing(room.1);
    let (mut entries, mut missing) = (Vec::new(), Vec::new());
    for site in 0..sites {
        if site % 4096 == 0 {
            progress.check()?;
        }
        entries.clear();
        missing.clear();
        for (v, (taxon, levels)) in kept.iter().enumerate() {
            match coded.place[usize::from(taxon.letters[site])] {
                None => missing.push(v as u32),
                Some(l) => {
                    let rank = levels.iter().position(|&other| other == l).unwrap_or(0);
                    if rank > 0 {
                        entries.push(((table.features_of(v).start + rank - 1) as u32, 1.0));
                    }
                }
            }
        }
        if missing.len() < kept.len() {
            table.push(&entries, &missing);
        }
    }
    if table.samples() < sites {
        notes.push(format!("{} sites without any letter were left out", sites - table.samples()));
    }
    let groups = kept.iter().map(|(taxon, _)| format!("sequence {}", taxon.name)).collect();
    Ok(Input { table, notes, groups, samples: Samples::Numbered, format: super::Format::Fasta })
}

/// Refuses names that come twice and sequences of different lengths; gives the number of sites.
fn check(path: &Path, taxa: &[Taxon]) -> Result<usize> {
    let Some(first) = taxa.first() else {
        return Err(fail(path, None, "holds no sequences".into(), super::WANTED));
    };
    let mut sorted: Vec<&Taxon> = taxa.iter().collect();
    sorted.sort_by_key(|t| (&t.name, t.line));
    if let Some(pair) = sorted.windows(2).find(|w| w[0].name == w[1].name) {
        let problem = format!("a second sequence is called {:?}", pair[1].name);
        return Err(fail(path, Some(pair[1].line), problem, "give every sequence a name of its own"));
    }
    let sites = first.letters.len();
    if let Some(other) = taxa.iter().find(|t| t.letters.len() != sites || sites == 0) {
        let found = other.letters.len();
        let problem = format!("{:?} has {found} letters where {:?} has {sites}", other.name, first.name);
        return Err(fail(path, Some(other.line), problem, ALIGN));
    }
    Ok(sites)
}
