//! Where nodes stand in the drawing: linked ones near each other.

use fa2::{FA2Data, FA2Settings};

/// Rounds of the layout: pictures of 400 nodes hardly move any more.
const ROUNDS: usize = 600;
/// Rounds in which nodes that cover each other are moved apart.
const PUSHES: usize = 60;
/// The longer side of the drawing; places are told as whole numbers.
const SIDE: f64 = 1000.0;

/// A place for every node inside a frame.
pub(super) struct Layout {
    pub places: Vec<(f64, f64)>,
    pub width: f64,
    pub height: f64,
}

/// Forces: all nodes repel each other, linked ones attract each other, and everything is drawn to the middle. It begins
/// with the communities on a circle and every node between those it belongs to, so that the same model gives the same
/// picture, and no community has to find its way through another.
///
/// # References
/// Jacomy, Venturini, Heymann and Bastian, "ForceAtlas2, a continuous graph layout algorithm for handy network
/// visualization designed for the Gephi software", PLoS ONE 9 (2014) e98679.
pub(super) fn layout(mixes: &[Vec<f64>], links: &[(usize, usize)]) -> Layout {
    let n = mixes.len();
    let mut data = FA2Data::<f64>::new();
    for (i, mix) in mixes.iter().enumerate() {
        let (x, y) = start(i, mix, n);
        data.add_node_with_position(x, y);
    }
    links.iter().for_each(|&(a, b)| data.add_edge(a, b));
    let mut forces = FA2Settings::from_graph_order(n.max(2)).build(data);
    if n > 1 {
        forces.run(ROUNDS);
    }
    let mut found = framed(forces.data().positions().collect());
    apart(&mut found.places);
    framed(found.places)
}

/// Moves nodes apart that would cover each other, as far as the drawing's size of nodes asks for.
fn apart(places: &mut [(f64, f64)]) {
    let least = (320.0 / (places.len().max(1) as f64).sqrt()).min(24.0);
    for _ in 0..PUSHES {
        let mut moved = false;
        for a in 0..places.len() {
            for b in 0..a {
                let (dx, dy) = (places[a].0 - places[b].0, places[a].1 - places[b].1);
                let distance = dx.hypot(dy);
                if distance < least {
                    // Two in one place part sideways.
                    let (x, y) = if distance > 1e-9 { (dx / distance, dy / distance) } else { (1.0, 0.0) };
                    let by = 0.25 * (least - distance);
                    places[a] = (places[a].0 + by * x, places[a].1 + by * y);
                    places[b] = (places[b].0 - by * x, places[b].1 - by * y);
                    moved = true;
                }
            }
        }
        if !moved {
            return;
        }
    }
}

/// Between the communities of a node on a circle, each node a little elsewhere: on a spiral by the golden angle, which
/// puts no two in one place.
fn start(i: usize, mix: &[f64], n: usize) -> (f64, f64) {
    let turn = std::f64::consts::TAU;
    let (mut x, mut y) = (0.0, 0.0);
    for (c, share) in mix.iter().enumerate() {
        let angle = turn * c as f64 / mix.len() as f64;
        x += share * angle.cos();
        y += share * angle.sin();
    }
    let (radius, angle) = (0.3 * ((i + 1) as f64 / n as f64).sqrt(), i as f64 * turn * 0.381_966);
    let scale = 10.0 * (n as f64).sqrt();
    (scale * (x + radius * angle.cos()), scale * (y + radius * angle.sin()))
}

/// Turns the longer axis sideways and scales the places into a frame.
fn framed(mut places: Vec<(f64, f64)>) -> Layout {
    let n = places.len().max(1) as f64;
    let (mx, my) = places.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for p in &mut places {
        *p = (p.0 - mx, p.1 - my);
        (xx, xy, yy) = (xx + p.0 * p.0, xy + p.0 * p.1, yy + p.1 * p.1);
    }
    // The angle of the leading eigenvector of the 2 × 2 covariance.
    let (sin, cos) = (0.5 * (2.0 * xy).atan2(xx - yy)).sin_cos();
    places.iter_mut().for_each(|p| *p = (cos * p.0 + sin * p.1, cos * p.1 - sin * p.0));
    let ends = |pick: fn(&(f64, f64)) -> f64| {
        let (low, high) = places.iter().map(pick).fold((f64::MAX, f64::MIN), |e, v| (e.0.min(v), e.1.max(v)));
        if low <= high { (low, high) } else { (0.0, 0.0) }
    };
    let ((left, right), (low, high)) = (ends(|p| p.0), ends(|p| p.1));
    let scale = SIDE / (right - left).max(high - low).max(f64::MIN_POSITIVE);
    let finite = |v: f64| if v.is_finite() { v } else { 0.0 };
    places.iter_mut().for_each(|p| *p = (finite((p.0 - left) * scale), finite((p.1 - low) * scale)));
    let side = |length: f64| finite(length * scale).max(1.0);
    Layout { width: side(right - left), height: side(high - low), places }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rings of ten nodes with one link between them.
    fn rings() -> (Vec<Vec<f64>>, Vec<(usize, usize)>) {
        let mixes = (0..20).map(|i| if i < 10 { vec![1.0, 0.0] } else { vec![0.0, 1.0] }).collect();
        let mut links: Vec<(usize, usize)> = vec![(0, 10)];
        for ring in [0, 10] {
            for i in 0..10 {
                links.extend([(ring + i, ring + (i + 1) % 10), (ring + i, ring + (i + 3) % 10)]);
            }
        }
        (mixes, links)
    }

    #[test]
    fn linked_nodes_stand_near_each_other() {
        let (mixes, links) = rings();
        let found = layout(&mixes, &links);
        let distance = |a: usize, b: usize| {
            let (p, q) = (found.places[a], found.places[b]);
            (p.0 - q.0).hypot(p.1 - q.1)
        };
        let within = (0..10).map(|i| distance(i, (i + 1) % 10)).sum::<f64>() / 10.0;
        let across = (0..10).map(|i| distance(i, 10 + i)).sum::<f64>() / 10.0;
        assert!(across > 1.5 * within, "{across} and {within}");
        assert!((found.width - SIDE).abs() < 1e-9 && found.height <= SIDE);
        let inside =
            |p: &(f64, f64)| p.0 >= 0.0 && p.0 <= found.width && p.1 >= 0.0 && p.1 <= found.height + 1e-9;
        assert!(found.places.iter().all(inside));
        assert_eq!(found.places, layout(&mixes, &links).places, "the same picture again");
    }

    #[test]
    fn few_nodes_have_places_too() {
        for n in 0..3 {
            let found = layout(&vec![vec![1.0]; n], &[]);
            assert_eq!(found.places.len(), n);
            assert!(found.places.iter().all(|p| p.0.is_finite() && p.1.is_finite()), "{:?}", found.places);
        }
    }
}
