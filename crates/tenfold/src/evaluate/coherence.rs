//! Whether the top words of a topic belong together, judged by how often they occur together.

use super::Cooccurrence;

/// Added to a joint probability where a logarithm would not be finite (Röder et al. take the same).
const EPSILON: f64 = 1e-12;

/// A measure of a topic's coherence, from its list of top words w_1 … w_N, the most probable first.
///
/// P(w) and P(w, w') are shares of the windows (documents, or some consecutive words) with the word or with both, and
/// every measure is a mean over pairs or words, so lists of different lengths compare:
///
/// - UMass: ln (D(w_i, w_j) + added) / D(w_j) over j < i, D being counts of documents;
/// - UCI: ln (P(w_i, w_j) + ε) / (P(w_i) P(w_j)) over pairs;
/// - NPMI: ln [P(w_i, w_j) / (P(w_i) P(w_j))] / −ln P(w_i, w_j), in [−1, 1]; −1 for a pair that never meets;
/// - c_v: the mean over i of cos(v_i, Σ_j v_j), v_i being the NPMI of w_i with every word of the list (with ε).
///
/// The literature counts documents for UMass, windows of 10 words for UCI and NPMI, of 110 for c_v. Where the order of
/// words is not known, documents stand in for all windows ([`Cooccurrence::in_documents`]); figures from documents
/// and from windows do not compare. A list of fewer than two words has coherence 0. A word that never occurs says
/// nothing: its pairs count 0, and −1 in NPMI.
///
/// # Example
/// ```
/// use tenfold::evaluate::{Coherence, Cooccurrence};
/// let texts: [&[u32]; 4] = [&[0, 1], &[0, 1, 4], &[2, 3], &[2, 4]];
/// let seen = Cooccurrence::in_windows(texts, 10, &[vec![0, 1], vec![0, 2]]);
/// assert_eq!(Coherence::Npmi.of(&seen), [1.0, -1.0]);
/// ```
///
/// # References
/// Röder, Both and Hinneburg, "Exploring the space of topic coherence measures", WSDM 2015, equations 1–8 (all four);
/// Mimno, Wallach, Talley, Leenders and McCallum, EMNLP 2011, equation 1 (UMass, as a sum); Newman, Lau, Grieser and
/// Baldwin, NAACL 2010 (UCI).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coherence {
    /// The conditional log-probability of a word given one above it.
    UMass {
        /// Joint occurrences added to every pair; Mimno et al. take 1, gensim a 10⁻¹² of the documents.
        added: f64,
    },
    /// Pointwise mutual information.
    Uci,
    /// Normalised pointwise mutual information.
    Npmi,
    /// Words compared by whom they keep company with.
    Cv,
}

impl Coherence {
    /// UMass as it was published.
    pub const U_MASS: Self = Self::UMass { added: 1.0 };

    /// The coherence of every topic.
    pub fn of(self, seen: &Cooccurrence) -> Vec<f64> {
        (0..seen.topics()).map(|topic| self.of_topic(seen, topic)).collect()
    }

    /// The name in the literature.
    pub fn name(self) -> &'static str {
        match self {
            Self::UMass { .. } => "UMass",
            Self::Uci => "UCI",
            Self::Npmi => "NPMI",
            Self::Cv => "c_v",
        }
    }

    fn of_topic(self, seen: &Cooccurrence, topic: usize) -> f64 {
        let n = seen.size(topic);
        if n < 2 {
            return 0.0;
        }
        if self == Self::Cv {
            return context_similarity(seen, topic);
        }
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let sum: f64 = pairs.map(|(i, j)| self.of_pair(&Pair::new(seen, topic, i, j))).sum();
        sum / (n * (n - 1) / 2) as f64
    }

    fn of_pair(self, pair: &Pair) -> f64 {
        match self {
            Self::Npmi if pair.both == 0.0 => -1.0,
            _ if pair.first == 0.0 || pair.second == 0.0 => 0.0,
            Self::UMass { added } => ((pair.both * pair.windows + added) / (pair.second * pair.windows)).ln(),
            Self::Uci => pair.information(EPSILON),
            Self::Npmi | Self::Cv => pair.normalised(if self == Self::Cv { EPSILON } else { 0.0 }),
        }
    }
}

/// Shares of the windows with one word, with the other, and with both.
struct Pair {
    first: f64,
    second: f64,
    both: f64,
    windows: f64,
}

impl Pair {
    fn new(seen: &Cooccurrence, topic: usize, i: usize, j: usize) -> Self {
        let windows = seen.windows().max(1) as f64;
        let share = |count: u64| count as f64 / windows;
        Self {
            first: share(seen.count(topic, i)),
            second: share(seen.count(topic, j)),
            both: share(seen.together(topic, i, j)),
            windows,
        }
    }

    fn information(&self, epsilon: f64) -> f64 {
        ((self.both + epsilon) / (self.first * self.second)).ln()
    }

    /// Both words in every window: nothing can be told from that, so 0.
    fn normalised(&self, epsilon: f64) -> f64 {
        if self.both == 1.0 { 0.0 } else { self.information(epsilon) / -(self.both + epsilon).ln() }
    }
}

/// c_v of one topic.
fn context_similarity(seen: &Cooccurrence, topic: usize) -> f64 {
    let n = seen.size(topic);
    let vectors: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| Coherence::Cv.of_pair(&Pair::new(seen, topic, i, j))).collect())
        .collect();
    let all: Vec<f64> = (0..n).map(|j| vectors.iter().map(|v| v[j]).sum()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let cosine = |v: &[f64]| {
        let norms = dot(v, v).sqrt() * dot(&all, &all).sqrt();
        if norms == 0.0 { 0.0 } else { dot(v, &all) / norms }
    };
    vectors.iter().map(|v| cosine(v)).sum::<f64>() / n as f64
}

#[cfg(test)]
mod tests {
    use super::super::cooccurrence::tests::Held;
    use super::*;

    /// Words are letters.
    #[rustfmt::skip]
    const TEXTS: [&str; 8] = [
        "abcabdxxef", "abdcxyzabc", "efghxefgyh", "efhgzzghef", "abefxycdgh", "xyzzyxabcd", "ghfezxyyba", "cdxgzhyef",
    ];

    /// No letter comes twice in a text.
    #[rustfmt::skip]
    const ONCE: [&str; 8] = [
        "abcxdeyzfg", "xbadcyhzef", "efghxyzabd", "gezxfhydca", "abefxycdgh", "xyzabgcdeh", "ghfezxybac", "cdxgzhyef",
    ];

    fn words(text: &str) -> Vec<u32> {
        text.bytes().map(u32::from).collect()
    }

    fn topics() -> Vec<Vec<u32>> {
        ["abcd", "efgh", "axeg"].map(words).to_vec()
    }

    fn in_windows(texts: [&str; 8], width: usize) -> Cooccurrence {
        let texts = texts.map(words);
        Cooccurrence::in_windows(texts.iter().map(Vec::as_slice), width, &topics())
    }

    fn near(found: &[f64], expected: &[f64]) {
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() < 1e-9, "{found:?} against {expected:?}");
        }
    }

    /// gensim 4.4.0, `CoherenceModel(topics=[list(t) for t in ("abcd", "efgh", "axeg")], texts=[list(t) for t in
    /// TEXTS], corpus=BAG, dictionary=Dictionary(TEXTS), coherence=NAME, window_size=WIDTH, topn=4, processes=1)
    /// .get_coherence_per_topic()`, with a width of 100 for documents.
    #[test]
    fn gensim_finds_the_same_in_documents() {
        let held = Held::new(&TEXTS.map(words), 256);
        let seen = Cooccurrence::in_documents(&held, &topics()).unwrap();
        assert_eq!(in_windows(TEXTS, 100), seen, "windows longer than the texts are documents");
        let u_mass = Coherence::UMass { added: 8e-12 }.of(&seen);
        near(&u_mass, &[-0.14876236754093983, -0.12154770452774753, -0.41758765616287835]);
        near(&Coherence::Uci.of(&seen), &[0.3212412617047957, 0.31806899858566223, -0.06443658528532975]);
        near(&Coherence::Npmi.of(&seen), &[0.5707625401550617, 0.7413898596455851, 0.018944629922286602]);
        near(&Coherence::Cv.of(&seen), &[0.9033580655739948, 0.9722482350614138, 0.46178628101106123]);
    }

    /// The same command with ONCE. Texts with repeated words would not do: when a word leaves gensim's window it counts as
    /// gone even where it stands in the window a second time (`_slide_window`).
    #[test]
    fn gensim_finds_the_same_in_windows() {
        let seen = in_windows(ONCE, 4);
        near(&Coherence::Uci.of(&seen), &[0.30242191873457885, 0.10754325572429191, -0.5802769147921008]);
        near(&Coherence::Npmi.of(&seen), &[0.19841397085035492, 0.08013496299575164, -0.18069519573735623]);
        near(&Coherence::Cv.of(&seen), &[0.6927674083998365, 0.5966287390470788, 0.24262831311529426]);
        // Here some pairs never meet: −1 in NPMI, which ε makes about −0.8 in gensim, so it is left out.
        let seen = in_windows(ONCE, 2);
        near(&Coherence::Uci.of(&seen), &[-0.0212583274605327, -0.09280874928481377, -16.387663320350278]);
        near(&Coherence::Cv.of(&seen), &[0.5236133690705056, 0.48893240080926886, 0.348023165290241]);
    }

    /// Every measure from its formula, with probabilities counted text by text.
    #[test]
    fn the_formulas_hold_by_hand() {
        let texts = TEXTS.map(words);
        let d = |held: &[u32]| texts.iter().filter(|t| held.iter().all(|w| t.contains(w))).count() as f64;
        let (p, n) = (|held: &[u32]| d(held) / 8.0, 4.0 * 3.0 / 2.0);
        let seen = in_windows(TEXTS, 100);
        for (topic, list) in topics().iter().enumerate() {
            let pairs: Vec<(u32, u32)> =
                (0..4).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| (list[i], list[j])).collect();
            let mean = |f: &dyn Fn(u32, u32) -> f64| pairs.iter().map(|&(a, b)| f(a, b)).sum::<f64>() / n;
            let u_mass = mean(&|a, b| ((d(&[a, b]) + 1.0) / d(&[b])).ln());
            let uci = mean(&|a, b| ((p(&[a, b]) + 1e-12) / (p(&[a]) * p(&[b]))).ln());
            let npmi = mean(&|a, b| match p(&[a, b]) {
                0.0 => -1.0,
                both => (both / (p(&[a]) * p(&[b]))).ln() / -both.ln(),
            });
            for (measure, expected) in
                [(Coherence::U_MASS, u_mass), (Coherence::Uci, uci), (Coherence::Npmi, npmi)]
            {
                near(&[measure.of(&seen)[topic]], &[expected]);
            }
        }
    }

    #[test]
    fn words_that_never_meet_or_never_occur_give_finite_figures() {
        let texts: [&[u32]; 3] = [&[0, 1], &[1], &[2, 1]];
        let lists = [vec![0, 2], vec![0, 9], vec![1], vec![], vec![8, 9], vec![1, 1]];
        let seen = Cooccurrence::in_windows(texts, 5, &lists);
        for measure in [Coherence::U_MASS, Coherence::Uci, Coherence::Npmi, Coherence::Cv] {
            let found = measure.of(&seen);
            assert!(found.iter().all(|x| x.is_finite()), "{} {found:?}", measure.name());
            assert_eq!(found[2..4], [0.0, 0.0], "too short for a pair");
        }
        assert_eq!(Coherence::Npmi.of(&seen)[..2], [-1.0, -1.0]);
        assert_eq!(Coherence::Uci.of(&seen)[1], 0.0);
    }
}
