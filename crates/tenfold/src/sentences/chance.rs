//! Whether words stand beside each other more surely than chance puts them there.

use super::data::Text;

/// The most frequent words, whose pairs are counted: enough that a language shows, and few enough to hold all pairs.
const WORDS: usize = 256;

/// How far apart two words of a pair may stand.
const WINDOW: usize = 4;

/// Sentences that are looked at, in equal distances: where so many show nothing, more would not.
const SENTENCES: usize = 20_000;

/// What is counted in one half of the sentences.
struct Half {
    /// How often each pair of frequent words stands together, the more frequent word first.
    pairs: Vec<u32>,
    /// How often each frequent word stands anywhere.
    words: Vec<u32>,
    /// Places for words, and pairs of places near enough, whatever words stand there.
    places: u64,
    near: u64,
}

/// How surely pairs of words that stand together more (or less) often than by chance in one half of the sentences do so in the other
/// too, in standard errors; None where there are too few to say.
///
/// By chance means that the words of a half might as well stand in any other order, over all its sentences: words drawn one by one
/// from any law, and the words of a text that was shuffled. Two of its T places then hold the words a ≠ b, which stand there c_a and c_b
/// times, with probability 2 c_a c_b / (T (T − 1)), so that N pairs of places make E = 2 N c_a c_b / (T (T − 1)) pairs of words. This is
/// exact, however frequent a word is and however long the sentences are. Let z = (C − E)/√E with the counts C. The halves know nothing
/// of each other, so Σ z z' has mean zero and about the variance Σ (z z')².
///
/// A text that holds one phrase and else chance shows in no sum, but in a pair that stands out in both halves: the largest min(|z|, |z'|),
/// less what chance reaches, counts too. A phrase in every sentence shows less than one in every fifth, because its words are then so
/// frequent that chance would put them together often. Of 4,100 texts of words drawn one by one (1/wˢ with s from 0 to 1.3, 12 to 20,000
/// words, sentences of one to some hundred words) four passed three standard errors.
pub(super) fn neighbours_repeat(text: &Text) -> Option<f64> {
    let words = WORDS.min(text.vocabulary().len());
    let step = text.len().div_ceil(SENTENCES).max(1);
    let empty = || Half { pairs: vec![0; words * words], words: vec![0; words], places: 0, near: 0 };
    let mut halves = [empty(), empty()];
    for (turn, i) in (0..text.len()).step_by(step).enumerate() {
        // Halves by the number of ones in the binary digits: what comes in every second or every tenth sentence comes in both.
        halves[turn.count_ones() as usize % 2].add(text.sentence(i), words);
    }
    let [first, second] = &halves;
    let (mut sum, mut squares, mut told, mut strongest) = (0.0, 0.0, 0, 0.0f64);
    for (a, b) in (0..words).flat_map(|a| (a + 1..words).map(move |b| (a, b))) {
        let expected = [first, second].map(|half| half.by_chance(a, b));
        let of = |half: &Half, expected: f64| {
            (f64::from(half.pairs[a * words + b]) - expected) / expected.max(1.0).sqrt()
        };
        let (z, other) = (of(first, expected[0]), of(second, expected[1]));
        // Pairs that chance makes less than one of are far from normal and would spoil the sum.
        if expected.iter().all(|e| *e >= 1.0) && z * other != 0.0 {
            (sum, squares, told) = (sum + z * other, squares + (z * other).powi(2), told + 1);
        }
        if z * other > 0.0 {
            strongest = strongest.max(z.abs().min(other.abs()));
        }
    }
    (told >= FEWEST).then(|| (sum / f64::sqrt(squares)).max(strongest - BY_CHANCE))
}

/// What the strongest of n pairs reaches by chance: 2n Q(t)² = 1 for the n = 32,640 pairs of 256 words, where Q is the tail of the
/// normal law; of fewer pairs less. A pair that chance makes less than one of must stand together seven times in each half to pass it by
/// three, which chance does less than once in four thousand texts.
const BY_CHANCE: f64 = 2.7;

/// Pairs below which their sum says nothing.
const FEWEST: usize = 30;

impl Half {
    fn add(&mut self, sentence: &[u32], words: usize) {
        self.places += sentence.len() as u64;
        for (at, &a) in sentence.iter().enumerate() {
            let near = &sentence[at + 1..sentence.len().min(at + 1 + WINDOW)];
            self.near += near.len() as u64;
            if a as usize >= words {
                continue;
            }
            self.words[a as usize] += 1;
            // The smaller number first, so that a pair has one place. A word beside itself is a matter of style.
            for &b in near.iter().filter(|b| (**b as usize) < words && **b != a) {
                self.pairs[a.min(b) as usize * words + a.max(b) as usize] += 1;
            }
        }
    }

    /// Pairs of these two words that chance would make of this half's words.
    fn by_chance(&self, a: usize, b: usize) -> f64 {
        let places = self.places as f64;
        let both = f64::from(self.words[a]) * f64::from(self.words[b]);
        2.0 * self.near as f64 * both / (places * (places - 1.0)).max(1.0)
    }
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

    /// Where each word begins in [0, 1) when word w has probability in proportion to 1/wˢ.
    fn law(words: usize, s: f64) -> Vec<f64> {
        let total: f64 = (1..=words).map(|w| (w as f64).powf(-s)).sum();
        (1..=words)
            .scan(0.0, |sum, w| {
                *sum += (w as f64).powf(-s) / total;
                Some(*sum)
            })
            .collect()
    }

    fn drawn(law: &[f64], sentences: usize, most: usize, seed: u64) -> Vec<Vec<String>> {
        let mut rng = rng(seed, 2);
        (0..sentences)
            .map(|_| {
                let length = rng.random_range(1..=most);
                let mut word = || {
                    let at = rng.random::<f64>();
                    law.partition_point(|end| *end <= at).min(law.len() - 1)
                };
                (0..length).map(|_| format!("w{}", word())).collect()
            })
            .collect()
    }

    fn errors(sentences: &[Vec<String>]) -> f64 {
        let lines: Vec<String> = sentences.iter().map(|words| words.join(" ")).collect();
        neighbours_repeat(&Text::new(&lines, &Cutting::default(), 1).unwrap()).unwrap()
    }

    #[test]
    fn frequent_words_are_no_order() {
        // One word in eight is the first one where probabilities fall as 1/w, one in three where they fall as 1/w^1.3.
        for (words, s) in [(2000, 1.0), (200, 1.3)] {
            let law = law(words, s);
            let errors: Vec<f64> = (0..10).map(|seed| errors(&drawn(&law, 4000, 29, seed))).collect();
            let mean = errors.iter().sum::<f64>() / 10.0;
            // Ten standard normals have a mean within 1 of 0 but once in six hundred times.
            assert!(errors.iter().all(|z| *z < 4.0) && mean < 1.3, "{errors:?}");
        }
    }

    #[test]
    fn words_shuffled_over_all_sentences_are_chance() {
        // Sentences of phrases, of very different lengths; then the same words in any order.
        let mut rng = rng(5, 3);
        let law = law(60, 1.0);
        let mut phrased = drawn(&law, 3000, 40, 9);
        for words in &mut phrased {
            let at = rng.random_range(0..=words.len());
            words.splice(at..at, ["it", "was", "said", "that"].map(String::from));
        }
        assert!(errors(&phrased) > 5.0);
        let all: Vec<String> = phrased.iter().flatten().cloned().collect();
        let order = tenfold_engine::linalg::random::permutation(all.len(), &mut rng);
        let mut places = order.into_iter();
        for words in &mut phrased {
            words.iter_mut().for_each(|word| *word = all[places.next().unwrap()].clone());
        }
        assert!(errors(&phrased) < 3.0, "{}", errors(&phrased));
    }

    #[test]
    fn rare_phrases_show_wherever_they_stand() {
        // Every hundredth sentence, always one of even number.
        let mut sentences = drawn(&law(2000, 1.0), 4000, 20, 4);
        for words in sentences.iter_mut().step_by(100) {
            words.extend(["of", "human", "bondage"].map(String::from));
        }
        assert!(errors(&sentences) > 5.0, "{}", errors(&sentences));
    }
}
