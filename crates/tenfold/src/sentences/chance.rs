//! Whether words stand beside each other more surely than chance puts them there.

use super::data::Text;

/// The most frequent words, whose pairs are counted: enough that a language shows, and few enough to hold all pairs.
const WORDS: usize = 256;

/// How far apart two words of a pair may stand.
const WINDOW: usize = 4;

/// Sentences that are looked at, in equal distances: where so many show nothing, more would not.
const SENTENCES: usize = 20_000;

/// How surely pairs of words that stand together more (or less) often than by chance in every second sentence do so in the others
/// too, in standard errors; None where there are too few to say.
///
/// With C the counts of pairs in one half and E = r rᵀ / Σr, z = (C − E)/√E of the two halves are independent where words are drawn
/// one by one, whatever their frequencies. Then Σ z z' has mean zero and the variance Σ (z z')². A text that holds one phrase and else
/// chance shows in no sum, but in a pair that stands out in both halves: the largest min(|z|, |z'|), less what chance reaches, counts too.
/// A phrase that every sentence holds is not seen: its words are so frequent that chance would put them together almost as often.
pub(super) fn neighbours_repeat(text: &Text) -> Option<f64> {
    let words = WORDS.min(text.vocabulary().len());
    let step = text.len().div_ceil(SENTENCES).max(1);
    let mut halves = [vec![0u32; words * words], vec![0u32; words * words]];
    for (turn, i) in (0..text.len()).step_by(step).enumerate() {
        let (sentence, counts) = (text.sentence(i), &mut halves[turn % 2]);
        for (at, &a) in sentence.iter().enumerate().filter(|(_, a)| (**a as usize) < words) {
            let near = sentence[at + 1..].iter().take(WINDOW).filter(|b| (**b as usize) < words);
            // The smaller number first, so that a pair has one place. A word beside itself is a matter of style.
            near.filter(|b| **b != a)
                .for_each(|&b| counts[a.min(b) as usize * words + a.max(b) as usize] += 1);
        }
    }
    let [first, second] = halves.map(|counts| residuals(&counts, words));
    let products: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a * b).collect();
    let squares: f64 = products.iter().map(|x| x * x).sum();
    let told = products.iter().filter(|x| **x != 0.0).count();
    let alike = first.iter().zip(&second).filter(|(a, b)| *a * *b > 0.0);
    let strongest = alike.fold(0.0f64, |most, (a, b)| most.max(a.abs().min(b.abs())));
    (told >= FEWEST).then(|| (products.iter().sum::<f64>() / squares.sqrt()).max(strongest - BY_CHANCE))
}

/// What the strongest of n pairs reaches by chance: 2n Q(t)² = 1 for the n = 32,640 pairs of 256 words, where Q is the tail of the
/// normal law; of fewer pairs less.
const BY_CHANCE: f64 = 2.7;

/// Pairs below which their sum says nothing.
const FEWEST: usize = 30;

/// (C − E)/√E of all pairs that chance would make at least one of; 0 for the others.
fn residuals(counts: &[u32], words: usize) -> Vec<f64> {
    let mut sums = vec![0.0f64; words];
    for (at, count) in counts.iter().enumerate() {
        sums[at / words] += f64::from(*count);
        sums[at % words] += f64::from(*count);
    }
    let total: f64 = sums.iter().sum();
    // Pairs of a word with itself are not counted: the others share what they would have had.
    let others = total * total - sums.iter().map(|x| x * x).sum::<f64>();
    let expected = |a: usize, b: usize| sums[a] * sums[b] * total / others.max(f64::MIN_POSITIVE);
    let residual = |at: usize| {
        let (a, b) = (at / words, at % words);
        let by_chance = if a < b { expected(a, b) } else { 0.0 };
        if by_chance < 1.0 { 0.0 } else { (f64::from(counts[at]) - by_chance) / by_chance.sqrt() }
    };
    (0..counts.len()).map(residual).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::Cutting;
    use rand::RngExt;
    use tenfold_engine::linalg::random::rng;

    fn text(pattern: bool, seed: u64) -> Text {
        let mut rng = rng(seed, 0);
        let mut word = |at: usize| {
            // Words of the beginning never stand beside those of the end.
            let low = if pattern { at / 2 * 5 } else { 0 };
            format!("w{}", low + rng.random_range(0..if pattern { 5 } else { 20 }))
        };
        let lines: Vec<String> =
            (0..400).map(|_| (0..8).map(&mut word).collect::<Vec<_>>().join(" ")).collect();
        Text::new(&lines, &Cutting::default(), 1).unwrap()
    }

    #[test]
    fn chance_is_told_from_order() {
        // Over many texts chance is a standard normal: of twenty, none lies four errors away, and their mean is near 0.
        let chance: Vec<f64> = (0..20).map(|seed| neighbours_repeat(&text(false, seed)).unwrap()).collect();
        let mean = chance.iter().sum::<f64>() / 20.0;
        assert!(chance.iter().all(|z| z.abs() < 4.0) && mean.abs() < 1.0, "{chance:?}");
        assert!(neighbours_repeat(&text(true, 1)).unwrap() > 5.0);
        // A single phrase in every fifth sentence, among words of chance.
        let mut rng = rng(3, 1);
        let mut line = |i: usize| {
            let mut words: Vec<String> = (0..8).map(|_| format!("w{}", rng.random_range(0..20))).collect();
            if i.is_multiple_of(5) {
                words.splice(i / 5 % 8..i / 5 % 8, ["not", "so", "good"].map(String::from));
            }
            words.join(" ")
        };
        let lines: Vec<String> = (0..400).map(&mut line).collect();
        assert!(neighbours_repeat(&Text::new(&lines, &Cutting::default(), 1).unwrap()).unwrap() > 5.0);
        assert_eq!(neighbours_repeat(&Text::new(&["a b"], &Cutting::default(), 1).unwrap()), None);
    }
}
