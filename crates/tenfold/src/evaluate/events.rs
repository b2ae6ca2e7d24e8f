//! How well events were found in time.

use super::filters::partners;
use std::collections::BTreeMap;
use tenfold_engine::linalg::Mat;

/// An event: in which trial, when, and of which kind (a true one's) or motif (a found one's).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Firing {
    /// The trial, from 0.
    pub trial: usize,
    /// When, in any unit, the same for all.
    pub time: f64,
    /// The kind or motif, from 0.
    pub kind: usize,
}

/// How near a found event must be to a true one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// The largest distance in time, in the unit of the events.
    pub within: f64,
    /// The largest lag of a motif. A motif is told by its first sample, a true event often by its peak: so a motif's events may all be
    /// moved by one and the same time, the most frequent difference to true events. 0 allows none.
    pub lag: f64,
}

/// Events that were matched, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventScore {
    /// Pairs of a true and a found event.
    pub matched: usize,
    /// True events.
    pub truth: usize,
    /// Found events.
    pub found: usize,
}

impl EventScore {
    /// The share of found events that are true.
    pub fn precision(&self) -> f64 {
        share(self.matched, self.found)
    }

    /// The share of true events that were found.
    pub fn recall(&self) -> f64 {
        share(self.matched, self.truth)
    }

    /// 2 · matched / (truth + found), the harmonic mean of the two.
    pub fn f1(&self) -> f64 {
        share(2 * self.matched, self.truth + self.found)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// How one true kind was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KindScore {
    /// The true kind.
    pub kind: usize,
    /// The motif that stands for it, if any is left that finds one of its events.
    pub motif: Option<usize>,
    /// What was added to the times of the motif.
    pub lag: f64,
    /// Matched, true and found events of the two.
    pub score: EventScore,
}

/// How all kinds were found.
#[derive(Debug, Clone, PartialEq)]
pub struct EventMatch {
    /// Over all kinds; events of motifs that stand for no kind count as found and not true.
    pub pooled: EventScore,
    /// Kind by kind, in order.
    pub kinds: Vec<KindScore>,
}

/// Times by trial, in order.
type Times = BTreeMap<usize, Vec<f64>>;

/// Matches found events to true ones of the same kind: one to one, in the same trial, at most the tolerance apart. Which motif
/// stands for which kind is found by the assignment with the most matches; each pair has the lag that serves it best.
///
/// # Complexity
/// O(kinds · motifs · p log p) for p pairs of events within the lag of each other.
///
/// # Example
/// ```
/// use tenfold::evaluate::{Firing, Tolerance, event_f1};
/// let firing = |time, kind| Firing { trial: 0, time, kind };
/// let truth = [firing(10.0, 0), firing(30.0, 1), firing(55.0, 0), firing(80.0, 1)];
/// // Motif 1 stands for kind 0 and begins 4 before it; one event is missing, one is too many.
/// let found = [firing(6.0, 1), firing(51.0, 1), firing(30.0, 0), firing(95.0, 0)];
/// let matched = event_f1(&truth, &found, Tolerance { within: 1.0, lag: 5.0 });
/// assert_eq!((matched.kinds[0].motif, matched.kinds[0].lag), (Some(1), 4.0));
/// assert_eq!(matched.pooled.f1(), 0.75);
/// ```
pub fn event_f1(truth: &[Firing], found: &[Firing], tolerance: Tolerance) -> EventMatch {
    let (true_times, found_times) = (by_kind(truth), by_kind(found));
    let (kinds, motifs): (Vec<_>, Vec<_>) = (true_times.iter().collect(), found_times.iter().collect());
    let pairs: Vec<Vec<(f64, usize)>> =
        kinds.iter().map(|(_, t)| motifs.iter().map(|(_, f)| aligned(t, f, tolerance)).collect()).collect();
    let scores = Mat::from_fn(kinds.len(), motifs.len(), |i, j| pairs[i][j].1 as f64);
    let each: Vec<KindScore> = kinds
        .iter()
        .zip(partners(&scores))
        .enumerate()
        .map(|(i, ((kind, times), partner))| {
            let partner = partner.filter(|&j| pairs[i][j].1 > 0);
            let (lag, matched) = partner.map_or((0.0, 0), |j| pairs[i][j]);
            let held = partner.map_or(0, |j| count(motifs[j].1));
            let score = EventScore { matched, truth: count(times), found: held };
            KindScore { kind: **kind, motif: partner.map(|j| *motifs[j].0), lag, score }
        })
        .collect();
    let matched = each.iter().map(|kind| kind.score.matched).sum();
    EventMatch { pooled: EventScore { matched, truth: truth.len(), found: found.len() }, kinds: each }
}

/// How well motifs together find events whose kinds are not known.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// Over the events of the motifs that were used.
    pub score: EventScore,
    /// The motifs that were used, each with what was added to its times.
    pub motifs: Vec<(usize, f64)>,
}

/// Matches the events of `motifs` (of all, when not given) to true events whatever their kind, one to one. Each motif may have a lag
/// of its own. An event that two of the motifs find counts once as true, and once as too many.
///
/// # Example
/// ```
/// use tenfold::evaluate::{Firing, Tolerance, detection_f1};
/// let at = |time, kind| Firing { trial: 0, time, kind };
/// let beats = [at(10.0, 0), at(20.0, 0), at(31.0, 0)];
/// let found = [at(8.0, 0), at(18.0, 0), at(29.0, 0), at(15.0, 1)];
/// let tolerance = Tolerance { within: 0.5, lag: 3.0 };
/// assert_eq!(detection_f1(&beats, &found, Some(&[0]), tolerance).score.f1(), 1.0);
/// assert_eq!(detection_f1(&beats, &found, None, tolerance).score.precision(), 0.75);
/// ```
pub fn detection_f1(
    truth: &[Firing],
    found: &[Firing],
    motifs: Option<&[usize]>,
    tolerance: Tolerance,
) -> Detection {
    let times = times(truth.iter());
    let used = by_kind(found).into_iter().filter(|(motif, _)| motifs.is_none_or(|m| m.contains(motif)));
    let (mut merged, mut lags) = (Times::new(), Vec::new());
    for (motif, fired) in used {
        let (lag, _) = aligned(&times, &fired, tolerance);
        lags.push((motif, lag));
        for (trial, moments) in fired {
            merged.entry(trial).or_default().extend(moments.iter().map(|t| t + lag));
        }
    }
    merged.values_mut().for_each(|moments| moments.sort_by(f64::total_cmp));
    let matched = matches(&times, &merged, 0.0, tolerance.within);
    Detection { score: EventScore { matched, truth: truth.len(), found: count(&merged) }, motifs: lags }
}

/// [`detection_f1`] with those motifs that serve best: the one with the largest F1, and then others as long as it grows. The choice sees
/// the truth, so the figure is that of a user who knows which motifs are the events, not one to be expected of new data.
pub fn best_detection(truth: &[Firing], found: &[Firing], tolerance: Tolerance) -> Detection {
    let mut left: Vec<usize> = by_kind(found).into_keys().collect();
    let mut best = detection_f1(truth, found, Some(&[]), tolerance);
    loop {
        let used: Vec<usize> = best.motifs.iter().map(|(motif, _)| *motif).collect();
        let tried = left.iter().map(|&motif| {
            let with: Vec<usize> = used.iter().copied().chain([motif]).collect();
            (motif, detection_f1(truth, found, Some(&with), tolerance))
        });
        let Some((motif, next)) = tried.reduce(|a, b| if b.1.score.f1() > a.1.score.f1() { b } else { a })
        else {
            return best;
        };
        if next.score.f1() <= best.score.f1() {
            return best;
        }
        left.retain(|m| *m != motif);
        best = next;
    }
}

fn by_kind(events: &[Firing]) -> BTreeMap<usize, Times> {
    let mut kinds: BTreeMap<usize, Vec<&Firing>> = BTreeMap::new();
    events.iter().for_each(|event| kinds.entry(event.kind).or_default().push(event));
    kinds.into_iter().map(|(kind, events)| (kind, times(events.into_iter()))).collect()
}

fn times<'a>(events: impl Iterator<Item = &'a Firing>) -> Times {
    let mut times = Times::new();
    events.for_each(|event| times.entry(event.trial).or_default().push(event.time));
    times.values_mut().for_each(|moments| moments.sort_by(f64::total_cmp));
    times
}

fn count(times: &Times) -> usize {
    times.values().map(Vec::len).sum()
}

/// The lag with the most matches among those that are tried, and their number. Tried are none, and the middle of the differences
/// in the window of the tolerance where they are most frequent.
fn aligned(truth: &Times, found: &Times, tolerance: Tolerance) -> (f64, usize) {
    let without = (0.0, matches(truth, found, 0.0, tolerance.within));
    if tolerance.lag <= 0.0 {
        return without;
    }
    let mut differences = Vec::new();
    for (trial, moments) in found {
        let Some(others) = truth.get(trial) else { continue };
        let mut begin = 0;
        for moment in moments {
            while begin < others.len() && others[begin] < moment - tolerance.lag {
                begin += 1;
            }
            let near = others[begin..].iter().take_while(|t| **t <= moment + tolerance.lag);
            differences.extend(near.map(|t| t - moment));
        }
    }
    differences.sort_by(f64::total_cmp);
    let (mut from, mut best) = (0, 0..0);
    for to in 0..differences.len() {
        while differences[to] - differences[from] > 2.0 * tolerance.within {
            from += 1;
        }
        if to + 1 - from > best.len() {
            best = from..to + 1;
        }
    }
    if best.is_empty() {
        return without;
    }
    let lag = differences[(best.start + best.end - 1) / 2];
    let with = (lag, matches(truth, found, lag, tolerance.within));
    if with.1 > without.1 { with } else { without }
}

/// The largest number of pairs, one to one, at most `within` apart.
///
/// The earliest true and the earliest found event that are left are paired if they may be; otherwise the earlier of the two can be paired
/// with nothing later and is given up. No other pairing has more pairs, as two that cross can be uncrossed.
fn matches(truth: &Times, found: &Times, lag: f64, within: f64) -> usize {
    let mut matched = 0;
    for (trial, moments) in found {
        let Some(others) = truth.get(trial) else { continue };
        let (mut i, mut j) = (0, 0);
        while i < others.len() && j < moments.len() {
            let apart = moments[j] + lag - others[i];
            if apart.abs() <= within {
                matched += 1;
                i += 1;
                j += 1;
            } else if apart < 0.0 {
                j += 1;
            } else {
                i += 1;
            }
        }
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use tenfold_engine::linalg::random;

    fn at(time: f64, kind: usize) -> Firing {
        Firing { trial: 0, time, kind }
    }

    /// The largest matching over all subsets, by trying every partner of the first true event.
    fn exhaustive(truth: &[f64], found: &[f64], within: f64) -> usize {
        let Some((first, rest)) = truth.split_first() else { return 0 };
        let mut best = exhaustive(rest, found, within);
        for j in 0..found.len() {
            if (found[j] - first).abs() <= within {
                let left: Vec<f64> =
                    found.iter().enumerate().filter(|(i, _)| *i != j).map(|(_, t)| *t).collect();
                best = best.max(1 + exhaustive(rest, &left, within));
            }
        }
        best
    }

    #[test]
    fn two_pointers_find_the_largest_matching() {
        let mut rng = random::rng(8, 0);
        for _ in 0..300 {
            let mut draw = |n: usize| (0..n).map(|_| rng.random_range(0.0..10.0)).collect::<Vec<f64>>();
            let (truth, found) = (draw(6), draw(5));
            let firings = |times: &[f64]| times.iter().map(|t| at(*t, 0)).collect::<Vec<_>>();
            let tolerance = Tolerance { within: 1.0, lag: 0.0 };
            let score = event_f1(&firings(&truth), &firings(&found), tolerance).pooled;
            assert_eq!(score.matched, exhaustive(&truth, &found, 1.0));
        }
    }

    #[test]
    fn lags_and_order_are_found_among_strays() {
        let mut rng = random::rng(9, 0);
        let (mut truth, mut found) = (Vec::new(), Vec::new());
        for i in 0..600 {
            let (kind, trial) = (i % 3, i / 200);
            let time = 37.0 * (i % 200) as f64 + rng.random_range(0.0..10.0);
            truth.push(Firing { trial, time, kind });
            // Kind k is motif 2 − k, which begins 3 + k earlier; every tenth is lost, and strays are between.
            if i % 10 != 0 {
                let jitter = rng.random_range(-0.4..0.4);
                found.push(Firing { trial, time: time - 3.0 - kind as f64 + jitter, kind: 2 - kind });
            } else {
                found.push(Firing { trial, time: time + 17.0, kind: 0 });
            }
        }
        let matched = event_f1(&truth, &found, Tolerance { within: 1.0, lag: 8.0 });
        for kind in &matched.kinds {
            assert_eq!(kind.motif, Some(2 - kind.kind));
            assert!((kind.lag - 3.0 - kind.kind as f64).abs() < 0.4, "{kind:?}");
            assert_eq!(kind.score.matched, 180);
        }
        assert_eq!(matched.pooled, EventScore { matched: 540, truth: 600, found: 600 });
        let all = detection_f1(&truth, &found, None, Tolerance { within: 1.0, lag: 8.0 });
        assert_eq!(all.score.matched, 540);
        let none = event_f1(&truth, &found, Tolerance { within: 1.0, lag: 0.0 });
        assert!(none.pooled.matched < 60);
    }

    #[test]
    fn the_best_motifs_leave_others_out() {
        let truth: Vec<Firing> = (0..50).map(|i| at(20.0 * f64::from(i), 0)).collect();
        // Motif 0 finds the even ones, motif 2 the odd ones, motif 1 fires anywhere.
        let mut found: Vec<Firing> =
            (0..50).map(|i| at(20.0 * f64::from(i) + 1.0, if i % 2 == 0 { 0 } else { 2 })).collect();
        found.extend((0..40).map(|i| at(23.7 * f64::from(i) + 9.0, 1)));
        let best = best_detection(&truth, &found, Tolerance { within: 0.5, lag: 2.0 });
        assert_eq!(best.motifs.iter().map(|m| m.0).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(best.score.f1(), 1.0);
    }

    #[test]
    fn nothing_against_nothing_is_nothing() {
        let tolerance = Tolerance { within: 1.0, lag: 1.0 };
        assert_eq!(event_f1(&[], &[], tolerance).pooled.f1(), 0.0);
        assert_eq!(event_f1(&[at(1.0, 0)], &[], tolerance).kinds[0].motif, None);
        assert_eq!(best_detection(&[at(1.0, 0)], &[], tolerance).score.recall(), 0.0);
    }
}
