//! From activations to firings: what lies together is one, what adds nothing is none.

use super::canvas::{Canvas, Spot, refit};
use super::noise::deviation;
use std::collections::{BTreeMap, BTreeSet};

/// How firings are told from activations.
#[derive(Debug, Clone, Copy)]
pub(in crate::motifs) struct Rule {
    /// The least amplitude.
    pub(in crate::motifs) threshold: f64,
    /// The least distance of two firings of one motif, in samples; 0 for none.
    pub(in crate::motifs) refractory: usize,
    pub(in crate::motifs) signed: bool,
}

/// Rounds of moving, merging and dropping; most stretches need two.
const ROUNDS: usize = 6;
/// How far activations of one firing lie apart, at most.
const TOGETHER: i64 = 1;
/// A motif with less of its energy inside says nothing.
const VISIBLE: f64 = 0.05;

/// Firings with least-squares amplitudes. `canvas` holds the samples and is left with the residual.
///
/// Clusters of neighbouring activations become one firing each. Then, from the weakest firing on: it is moved to where it
/// explains most, and dropped if it explains less than `threshold`²; two of one motif that overlap become one if the
/// second explains less than that. In the end all amplitudes are fitted together.
pub(in crate::motifs) fn found(canvas: &mut Canvas<'_>, activations: &[Spot], rule: &Rule) -> Vec<Spot> {
    let mut spots = clusters(canvas, activations);
    refit(canvas, &mut spots);
    if often(canvas, &spots) {
        part(canvas, activations, &mut spots, rule);
    }
    for _ in 0..ROUNDS {
        let mut changed = sweep(canvas, &mut spots, rule);
        refit(canvas, &mut spots);
        if drop_weak(canvas, &mut spots, rule) {
            refit(canvas, &mut spots);
            changed = true;
        }
        if !changed {
            break;
        }
    }
    if rule.refractory > 0 && rest(canvas, &mut spots, rule.refractory) {
        refit(canvas, &mut spots);
    }
    while drop_weak(canvas, &mut spots, rule) {
        refit(canvas, &mut spots);
    }
    spots.sort_by_key(|spot| (spot.column, spot.row, spot.motif));
    spots
}

/// One spot for all activations of a motif, of one sign, that lie within [`TOGETHER`] of its peak: at the peak, with their
/// sum; it is wiped off the canvas.
pub(in crate::motifs) fn clusters(canvas: &mut Canvas<'_>, activations: &[Spot]) -> Vec<Spot> {
    let mut order: Vec<&Spot> = activations.iter().collect();
    // The largest first, so that each cluster grows around its peak; ties in the order of places.
    order.sort_by(|a, b| {
        let place = |s: &Spot| (s.motif, s.row, s.column);
        b.amplitude.abs().total_cmp(&a.amplitude.abs()).then(place(a).cmp(&place(b)))
    });
    let rows = if canvas.extent.is_plane() { TOGETHER } else { 0 };
    let mut spots: Vec<Spot> = Vec::new();
    let mut places = BTreeMap::new();
    for spot in order {
        let around = (-rows..=rows).flat_map(|i| (-TOGETHER..=TOGETHER).map(move |j| (i, j)));
        let owner = around.into_iter().find_map(|(i, j)| {
            let owner: usize = *places.get(&(spot.motif, spot.row + i, spot.column + j))?;
            (spots[owner].amplitude.signum() == spot.amplitude.signum()).then_some(owner)
        });
        match owner {
            Some(owner) => spots[owner].amplitude += spot.amplitude,
            None => {
                places.insert((spot.motif, spot.row, spot.column), spots.len());
                spots.push(*spot);
            }
        }
    }
    spots.sort_by_key(|spot| (spot.column, spot.row, spot.motif));
    spots.iter().for_each(|spot| canvas.draw(spot, -spot.amplitude));
    spots
}

/// Whether motifs fire so often that two firings of one side by side are no accident.
fn often(canvas: &Canvas<'_>, spots: &[Spot]) -> bool {
    2 * spots.len() * canvas.filters.extent.len() > canvas.filters.count() * canvas.extent.len()
}

/// Gives activations beside a firing a firing of their own where it explains enough that the first does not.
fn part(canvas: &mut Canvas<'_>, activations: &[Spot], spots: &mut Vec<Spot>, rule: &Rule) {
    let place = |s: &Spot| (s.motif, s.row, s.column);
    let mut taken: BTreeSet<_> = spots.iter().map(place).collect();
    let mut beside: Vec<Spot> = activations.iter().filter(|s| !taken.contains(&place(s))).copied().collect();
    beside.sort_by(|a, b| b.amplitude.abs().total_cmp(&a.amplitude.abs()).then(place(a).cmp(&place(b))));
    let reach = canvas.filters.extent.columns as i64 - 1;
    for _ in 0..ROUNDS {
        // Those of one round do not overlap, so that amplitudes are fitted once a round.
        let mut new: BTreeSet<i64> = BTreeSet::new();
        for spot in &beside {
            let free = new.range(spot.column - reach..=spot.column + reach).next().is_none();
            if free && !taken.contains(&place(spot)) && alone(canvas, spot, &taken, rule) {
                new.insert(spot.column);
                taken.insert(place(spot));
                spots.push(Spot { amplitude: 0.0, ..*spot });
            }
        }
        if new.is_empty() {
            break;
        }
        refit(canvas, spots);
    }
}

/// Whether a firing explains the threshold squared, less what firings of its motif beside it could. The residual is
/// orthogonal to those, so that only what is left of the motif without them counts.
fn alone(canvas: &mut Canvas<'_>, spot: &Spot, taken: &BTreeSet<(usize, i64, i64)>, rule: &Rule) -> bool {
    let (product, energy) = canvas.correlate(spot);
    let fits = if rule.signed { product * spot.amplitude > 0.0 } else { product > 0.0 };
    if energy < VISIBLE || !fits {
        return false;
    }
    let mut shared: f64 = 0.0;
    for step in (-TOGETHER..=TOGETHER).filter(|step| *step != 0) {
        let other = Spot { column: spot.column + step, ..*spot };
        if taken.contains(&(other.motif, other.row, other.column)) {
            let before = canvas.correlate(&other).0;
            canvas.draw(spot, 1.0);
            let (after, norm) = canvas.correlate(&other);
            canvas.draw(spot, -1.0);
            shared = shared.max((after - before).powi(2) / norm.max(f64::MIN_POSITIVE));
        }
    }
    product * product >= rule.threshold * rule.threshold * (energy - shared)
}

/// Moves, merges and drops, the weakest first; whether anything changed.
fn sweep(canvas: &mut Canvas<'_>, spots: &mut Vec<Spot>, rule: &Rule) -> bool {
    spots.sort_by_key(|spot| (spot.motif, spot.column, spot.row));
    let mut order: Vec<usize> = (0..spots.len()).collect();
    order.sort_by(|a, b| spots[*a].amplitude.abs().total_cmp(&spots[*b].amplitude.abs()).then(a.cmp(b)));
    let mut gone = vec![false; spots.len()];
    let mut changed = false;
    for at in order {
        let spot = spots[at];
        canvas.draw(&spot, spot.amplitude);
        let best = moved(canvas, &spot, 1, rule);
        let (product, energy) = canvas.correlate(&best);
        if gain(product, energy, rule) < rule.threshold * rule.threshold {
            (gone[at], changed) = (true, true);
            continue;
        }
        if let Some(other) = neighbour(canvas, spots, &gone, at)
            && let Some(one) = joined(canvas, &best, &spots[other], rule)
        {
            (gone[at], changed) = (true, true);
            canvas.draw(&spots[other], spots[other].amplitude);
            canvas.draw(&one, -one.amplitude);
            spots[other] = one;
            continue;
        }
        changed |= (best.row, best.column) != (spot.row, spot.column);
        spots[at] = best;
        canvas.draw(&best, -best.amplitude);
    }
    let mut gone = gone.into_iter();
    spots.retain(|_| !gone.next().unwrap_or(false));
    changed
}

/// What a firing with this product explains: nothing when it has the wrong sign or lies almost outside.
fn gain(product: f64, energy: f64, rule: &Rule) -> f64 {
    if energy < VISIBLE || (!rule.signed && product <= 0.0) { 0.0 } else { product * product / energy }
}

/// The place within `reach` where the motif explains most of what is on the canvas, with its amplitude there.
fn moved(canvas: &Canvas<'_>, spot: &Spot, reach: i64, rule: &Rule) -> Spot {
    let rows = if canvas.extent.is_plane() { reach } else { 0 };
    let around = (-rows..=rows).flat_map(|i| (-reach..=reach).map(move |j| (i, j)));
    let mut best: Option<(f64, Spot)> = None;
    // The old place first: a move needs a gain.
    for (i, j) in std::iter::once((0, 0)).chain(around) {
        let mut trial = Spot { row: spot.row + i, column: spot.column + j, ..*spot };
        let (product, energy) = canvas.correlate(&trial);
        let gain = gain(product, energy, rule);
        if best.as_ref().is_none_or(|(most, _)| gain > most * (1.0 + 1e-9)) {
            trial.amplitude = product / energy.max(f64::MIN_POSITIVE);
            best = Some((gain, trial));
        }
    }
    best.map_or(*spot, |(_, spot)| spot)
}

/// The nearest spot of the same motif that overlaps at least half, if there is one; spots are sorted by motif and column.
fn neighbour(canvas: &Canvas<'_>, spots: &[Spot], gone: &[bool], at: usize) -> Option<usize> {
    let (spot, m) = (&spots[at], canvas.filters.extent);
    let apart =
        |other: usize| (spots[other].row - spot.row).abs() + (spots[other].column - spot.column).abs();
    let near = |other: &usize| {
        // Moves of this sweep may have shifted places by a few samples.
        spots[*other].motif == spot.motif
            && (spots[*other].column - spot.column).abs() <= m.columns as i64 / 2 + 4
    };
    let before = (0..at).rev().take_while(near);
    let after = (at + 1..spots.len()).take_while(near);
    before
        .chain(after)
        .filter(|other| !gone[*other])
        .filter(|other| 2 * (spots[*other].column - spot.column).abs() <= m.columns as i64)
        .filter(|other| 2 * (spots[*other].row - spot.row).abs() <= m.rows as i64)
        .min_by_key(|other| (apart(*other), *other))
}

/// One firing instead of two, where the two together explain little more. `weak` is off the canvas, `strong` on it.
fn joined(canvas: &mut Canvas<'_>, weak: &Spot, strong: &Spot, rule: &Rule) -> Option<Spot> {
    canvas.draw(strong, strong.amplitude);
    let ((a, aa), (b, bb)) = (canvas.correlate(weak), canvas.correlate(strong));
    let mut single: Option<(f64, Spot)> = None;
    for spot in [moved(canvas, strong, 2, rule), moved(canvas, weak, 2, rule)] {
        let (product, energy) = canvas.correlate(&spot);
        let gain = gain(product, energy, rule);
        if single.as_ref().is_none_or(|(most, _)| gain > *most) {
            single = Some((gain, spot));
        }
    }
    canvas.draw(weak, 1.0);
    let ab = canvas.correlate(strong).0 - b;
    canvas.draw(weak, -1.0);
    canvas.draw(strong, -strong.amplitude);
    let (most, spot) = single?;
    // What two explain: (a, b) G⁻¹ (a, b)ᵀ with their Gram matrix G.
    let determinant = aa * bb - ab * ab;
    let both = (a * a * bb - 2.0 * a * b * ab + b * b * aa) / determinant;
    let apart = determinant > 1e-6 * aa * bb && both - most >= rule.threshold * rule.threshold;
    (!apart && most > 0.0).then_some(spot)
}

/// Takes firings below the threshold or of the wrong sign off the list; what they drew is on the canvas again.
fn drop_weak(canvas: &mut Canvas<'_>, spots: &mut Vec<Spot>, rule: &Rule) -> bool {
    let before = spots.len();
    spots.retain(|spot| {
        let (_, energy) = canvas.correlate(spot);
        let size = if rule.signed { spot.amplitude.abs() } else { spot.amplitude };
        // A cut firing needs a larger amplitude, as noise moves it more.
        let keep = energy >= VISIBLE && size * energy.sqrt() >= rule.threshold && size > 0.0;
        if !keep {
            canvas.draw(spot, spot.amplitude);
        }
        keep
    });
    spots.len() < before
}

/// Of firings of one motif closer than `refractory`, only the largest stay.
fn rest(canvas: &mut Canvas<'_>, spots: &mut Vec<Spot>, refractory: usize) -> bool {
    let before = spots.len();
    let mut order: Vec<usize> = (0..spots.len()).collect();
    order.sort_by(|a, b| spots[*b].amplitude.abs().total_cmp(&spots[*a].amplitude.abs()).then(a.cmp(b)));
    let mut kept: BTreeSet<(usize, i64, i64)> = BTreeSet::new();
    let mut stays = vec![false; spots.len()];
    let reach = i64::try_from(refractory).unwrap_or(i64::MAX / 4) - 1;
    for at in order {
        let spot = &spots[at];
        let near = (spot.motif, spot.column - reach, i64::MIN)..=(spot.motif, spot.column + reach, i64::MAX);
        if !kept.range(near).any(|(_, _, row)| (row - spot.row).abs() <= reach) {
            kept.insert((spot.motif, spot.column, spot.row));
            stays[at] = true;
        }
    }
    let mut stays = stays.into_iter();
    spots.retain(|spot| {
        let keep = stays.next().unwrap_or(true);
        if !keep {
            canvas.draw(spot, spot.amplitude);
        }
        keep
    });
    spots.len() < before
}

/// Firings from dense activations: places that exceed their neighbours, the threshold of the rule, and, unless that was
/// asked for, `noises` deviations of their motif's activations, most of which are noise.
pub(in crate::motifs) fn peaks(activations: &[Spot], rule: &Rule, noises: Option<f64>) -> Vec<Spot> {
    let size = |spot: &Spot| if rule.signed { spot.amplitude.abs() } else { spot.amplitude };
    let mut spots = Vec::new();
    let last = activations.iter().map(|spot| spot.motif + 1).max().unwrap_or(0);
    for motif in 0..last {
        let own = activations.iter().filter(|spot| spot.motif == motif);
        let mut values: Vec<f64> = own.clone().map(|spot| spot.amplitude).collect();
        let least = rule.threshold.max(noises.map_or(0.0, |noises| noises * deviation(&mut values)));
        let mut order: Vec<&Spot> = own.filter(|spot| size(spot) >= least && size(spot) > 0.0).collect();
        order.sort_by(|a, b| size(b).total_cmp(&size(a)).then((a.row, a.column).cmp(&(b.row, b.column))));
        let reach = i64::try_from(rule.refractory).unwrap_or(i64::MAX / 4).max(2) - 1;
        let mut kept: BTreeSet<(i64, i64)> = BTreeSet::new();
        for spot in order {
            let near = (spot.column - reach, i64::MIN)..=(spot.column + reach, i64::MAX);
            if !kept.range(near).any(|(_, row)| (row - spot.row).abs() <= reach) {
                kept.insert((spot.column, spot.row));
                spots.push(*spot);
            }
        }
    }
    spots
}
