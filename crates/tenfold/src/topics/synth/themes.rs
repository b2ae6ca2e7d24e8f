//! Ordinary English words in ten themes.

use std::collections::BTreeMap;
use tenfold_engine::linalg::Mat;

/// The themes of [`Source::themes`](super::Source::themes), in the order of its topics.
pub const THEMES: [&str; 10] =
    ["cooking", "sport", "money", "music", "space", "health", "garden", "law", "computers", "sea"];

/// Words of every theme, the most frequent first. A word that stands in two themes has two meanings.
const WORDS: [&str; 10] = [
    "recipe butter flour sugar oven salt garlic onion sauce bread cheese pan stock egg pepper lemon cream dough soup \
     tomato olive dish bake roast kitchen",
    "team match player goal season coach league score ball victory pitch stadium fans court referee striker defender \
     tournament champion penalty trophy training defeat record sprint",
    "bank market stock price loan investor credit profit debt fund currency bond savings mortgage budget inflation \
     insurance dividend broker income deposit trade tax interest wealth",
    "song guitar melody piano concert album singer band rhythm orchestra violin drum chord score choir composer jazz \
     tune lyrics pitch bass studio record flute audience",
    "planet star orbit rocket telescope moon galaxy comet satellite astronaut gravity launch spacecraft lunar solar \
     asteroid crater universe mission eclipse probe meteor nebula sun dust",
    "patient doctor hospital disease treatment medicine nurse symptom infection surgery vaccine blood virus fever heart \
     clinic therapy diagnosis dose cancer pain diet trial lung cell",
    "garden soil seed flower plant tree root leaf compost rose grass vegetable weed bulb hedge bloom lawn branch \
     harvest spade shade fruit rain orchard bark",
    "court judge lawyer jury trial evidence crime witness verdict sentence prison appeal police defendant law lawsuit \
     contract statute testimony bail attorney justice guilty suspect charge",
    "computer software code server data network program file keyboard screen password browser database algorithm memory \
     virus compiler processor website user bug port chip cloud launch",
    "ship sail captain harbour sea wave island voyage crew storm boat coast anchor sailor port tide deck wind beach \
     compass lighthouse cargo bay bank fisherman",
];

/// Words of no theme, the most frequent first.
const PLAIN: &str = "people story morning question city family answer street evening idea week friend letter window \
    house moment reason road month child summer news example village visit report winter table corner picture teacher \
    page meeting colour afternoon history journey voice neighbour plan garage choice paper interview mistake weekend \
    building crowd habit photograph problem machine school holiday conversation bicycle";

/// The share of a text that belongs to no theme, and that of slips into words of any kind.
const PLAIN_SHARE: f64 = 0.25;
const SLIPS: f64 = 0.03;

/// Topics (10 × words) and the words in alphabetical order.
pub(super) fn topics() -> (Mat, Vec<String>) {
    let plain: Vec<&str> = PLAIN.split_whitespace().collect();
    let all = WORDS.iter().flat_map(|theme| theme.split_whitespace()).chain(plain.iter().copied());
    let mut index: BTreeMap<&str, usize> = all.map(|word| (word, 0)).collect();
    index.values_mut().enumerate().for_each(|(i, at)| *at = i);
    let mut topics = Mat::zeros(WORDS.len(), index.len());
    for (t, theme) in WORDS.iter().enumerate() {
        let row = topics.row_mut(t);
        row.fill(SLIPS / index.len() as f64);
        let mut add = |words: &[&str], share: f64, flat: f64| {
            // Zipf's law, flattened so that the first words do not drown the others.
            let weight = |rank: usize| 1.0 / (rank as f64 + flat);
            let total: f64 = (0..words.len()).map(weight).sum();
            words
                .iter()
                .enumerate()
                .for_each(|(rank, word)| row[index[word]] += share * weight(rank) / total);
        };
        add(&theme.split_whitespace().collect::<Vec<_>>(), 1.0 - PLAIN_SHARE - SLIPS, 4.0);
        add(&plain, PLAIN_SHARE, 60.0);
    }
    (topics, index.into_keys().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn themes_are_distributions_over_words_that_differ() {
        let (topics, vocabulary) = topics();
        assert!(vocabulary.is_sorted() && vocabulary.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(topics.cols(), vocabulary.len());
        for (t, theme) in WORDS.iter().enumerate() {
            assert_eq!(theme.split_whitespace().count(), 25, "{}", THEMES[t]);
            assert!((topics.row(t).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        // Two meanings of one word: in both themes far above the slips.
        let court = vocabulary.iter().position(|w| w == "court").unwrap();
        let often = (0..10).filter(|&t| topics[(t, court)] > 0.01).count();
        assert_eq!(often, 2);
    }
}
