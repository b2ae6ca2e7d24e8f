use super::super::data::{Graph, Kind};
use super::super::spectrum::part;
use super::beyond::{Expected, Half, Terms, each_edge};
use super::degrees::Degrees;
use rand::RngExt;
use tenfold_engine::linalg::{Adjacency, Tall, random};

/// Wished degrees of a few hubs and many others.
fn wish(nodes: usize, gamma: f64) -> Vec<f64> {
    (0..nodes).map(|u| ((u + 1) as f64).powf(-1.0 / (gamma - 1.0))).collect()
}

/// Every pair joined with probability `rate` of the product of its wishes.
fn drawn(kind: Kind, wishes: [&[f64]; 2], weighted: bool, seed: u64, rate: impl Fn(f64) -> f64) -> Graph {
    let mut rng = random::rng(seed, 971);
    let (mut edges, mut weights) = (Vec::new(), Vec::new());
    for (u, a) in wishes[0].iter().enumerate() {
        for (v, b) in wishes[1].iter().enumerate() {
            let left_out = match kind {
                Kind::Undirected => u >= v,
                Kind::Directed => u == v,
                Kind::Bipartite => false,
            };
            if !left_out && rng.random::<f64>() < rate(a * b) {
                edges.push((u as u64, v as u64));
                weights.push(0.5 + rng.random::<f64>());
            }
        }
    }
    Graph::from_edges(kind, &edges, weighted.then_some(&weights[..])).unwrap()
}

fn dense(a: &Adjacency) -> Vec<Vec<f64>> {
    let mut out = vec![vec![0.0; a.cols()]; a.rows()];
    each_edge(a, |u, v, w| out[u][v] = w);
    out
}

/// Σ (B − m) t̃ of a graph, and what it must be by sums over all pairs of nodes.
fn by_pairs(graph: &Graph) {
    let all = graph.adjacency();
    let symmetric = graph.transposed().is_none();
    let aside = part(all, symmetric, (3, 5), |fold| fold == 0);
    let (turned, itself) = (aside.transpose(), graph.kind() != Kind::Bipartite);
    let degrees = Degrees::of(graph);
    let back = Half { all: graph.transposed().unwrap_or(all), aside: &turned };
    let expected = Expected::new(&degrees, [Half { all, aside: &aside }, back], itself);
    let (n, m) = (graph.nodes(), graph.others());
    let (left, right) = (Tall::gaussian(n, 3, 1), Tall::gaussian(m, 3, 2));
    let terms = Terms { left: &left, right: &right, weights: &[1.0, -0.5, 2.0] };
    let (edges, kept) = (dense(all), dense(&aside));
    let free = |u: usize, v: usize| (edges[u][v] == 0.0 || kept[u][v] != 0.0) && !(itself && u == v);
    let mean = |u: usize, v: usize| if free(u, v) { expected.at(u, v) } else { 0.0 };
    let near = |a: f64, b: f64, what: &str| {
        assert!((a - b).abs() < 1e-3 * b.abs().max(1.0), "{}, {what}: {a} for {b}", graph.kind());
    };
    let (rows, cols) = expected.of_terms(terms);
    for u in 0..n {
        near((0..m).map(|v| mean(u, v)).sum(), kept[u].iter().sum(), "edges kept aside of a row");
        near(rows[u], (0..m).map(|v| mean(u, v) * terms.at(u, v)).sum(), "terms of a row");
    }
    for v in 0..m {
        near((0..n).map(|u| mean(u, v)).sum(), kept.iter().map(|row| row[v]).sum(), "edges of a column");
        near(cols[v], (0..n).map(|u| mean(u, v) * terms.at(u, v)).sum(), "terms of a column");
    }
    // With the sums of rows and columns matched, what is a property of single nodes falls out of the sum.
    let pairs = || (0..n).flat_map(|u| (0..m).map(move |v| (u, v)));
    let sum: f64 = pairs().map(|(u, v)| (kept[u][v] - mean(u, v)) * terms.at(u, v)).sum();
    let (found, variance) = expected.score(terms);
    assert!((found - sum).abs() < 0.05 * variance.sqrt(), "{}: {found} for {sum}", graph.kind());
}

#[test]
fn the_score_is_that_of_all_pairs() {
    let (rows, cols) = (wish(60, 2.2), wish(45, 2.5));
    by_pairs(&drawn(Kind::Undirected, [&rows, &rows], false, 1, |z| (12.0 * z).min(1.0)));
    by_pairs(&drawn(Kind::Undirected, [&rows, &rows], true, 2, |z| (12.0 * z).min(1.0)));
    by_pairs(&drawn(Kind::Directed, [&rows, &rows], false, 3, |z| (12.0 * z).min(1.0)));
    by_pairs(&drawn(Kind::Bipartite, [&rows, &cols], true, 4, |z| (8.0 * z).min(1.0)));
}

#[test]
fn degrees_are_kept_and_hubs_saturate() {
    // Three ways in which a pair is joined at most once, and one in which it is written down every second time.
    let laws: [fn(f64) -> f64; 4] =
        [|z| z.min(1.0), |z| z / (1.0 + z), |z| 1.0 - (-z).exp(), |z| 0.5 * (1.0 - (-z).exp())];
    for (i, law) in laws.iter().enumerate() {
        let wish: Vec<f64> = wish(500, 2.2).iter().map(|w| 12.0 * w).collect();
        let graph = drawn(Kind::Undirected, [&wish, &wish], false, i as u64, law);
        let degrees = Degrees::of(&graph);
        let (rows, cols) = (&degrees.rows.of, &degrees.cols.of);
        let joined =
            |u: usize, v: usize| degrees.joined[rows[u] as usize * degrees.cols.count() + cols[v] as usize];
        let nodes = graph.nodes();
        for u in 0..nodes {
            let sum: f64 = (0..nodes).filter(|v| *v != u).map(|v| joined(u, v)).sum();
            let degree = graph.adjacency().degree(u) as f64;
            // Classes of large degrees are two hundredths wide.
            assert!((sum - degree).abs() < 0.03 * degree, "law {i}: {sum} for {degree}");
        }
        // The twenty largest hubs among each other: 190 pairs, as many edges as were drawn up to three standard errors and the error of the shape.
        let mut hubs: Vec<usize> = (0..nodes).collect();
        hubs.sort_by_key(|u| std::cmp::Reverse(graph.adjacency().degree(*u)));
        let pairs = || (0..20).flat_map(|a| (0..a).map(move |b| (a, b)));
        let expected: f64 = pairs().map(|(a, b)| joined(hubs[a], hubs[b])).sum();
        let there =
            pairs().filter(|(a, b)| graph.adjacency().row(hubs[*a]).0.contains(&(hubs[*b] as u32))).count();
        let product: f64 = pairs()
            .map(|(a, b)| {
                (graph.adjacency().degree(hubs[a]) * graph.adjacency().degree(hubs[b])) as f64
                    / graph.adjacency().entries() as f64
            })
            .sum();
        println!("law {i}: hubs {there}, expected {expected:.1}, by products {product:.1}");
        assert!(
            (expected - there as f64).abs() < 3.0 * (190.0f64 * 0.25).sqrt(),
            "law {i}: {expected} for {there}"
        );
        assert!(product > 1.3 * there as f64, "law {i}: {product} for {there}");
    }
}

#[test]
fn folds_lie_in_no_pattern() {
    // Whether two pairs of neighbouring nodes fall into one fold, which a fifth of them do.
    let n = 400;
    let edges: Vec<(u64, u64)> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
    let graph = Graph::from_edges(Kind::Undirected, &edges, None).unwrap();
    let fold = dense(&part(graph.adjacency(), true, (0, 5), |fold| fold == 0));
    for step in 1..20 {
        let pairs = || (0..300).flat_map(|u| (u + 1..380).map(move |v| (u, v)));
        let both = pairs().filter(|(u, v)| fold[*u][*v] * fold[*u][*v + step] > 0.0).count() as f64;
        let (of, p) = (pairs().count() as f64, 0.04);
        // Independent folds: overlapping pairs make the variance at most three times the binomial one; five standard errors.
        assert!((both - of * p).abs() < 5.0 * (3.0 * of * p).sqrt(), "step {step}: {both} of {of}");
    }
}
