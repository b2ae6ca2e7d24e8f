//! Communities drawn from the model come back, as near as the theory allows.

use tenfold::communities::{
    Drawn, Edges, GraphBuilder, Kind, Model, Params, Polish, Synth, Treatment, Views,
};
use tenfold::engine::linalg::parallel::with_threads;
use tenfold::engine::linalg::{Mat, Tall};
use tenfold::evaluate::Recovery;

fn dense(nodes: usize, alpha0: f64, seed: u64) -> Drawn {
    Synth { nodes, k: 10, alpha0, seed, ..Synth::default() }.draw().unwrap()
}

fn sparse(nodes: usize, k: usize, seed: u64) -> Drawn {
    let edges = Edges::Poisson { degree: 30.0, background: 0.2 };
    Synth { nodes, k, alpha0: 1.0, edges, seed, ..Synth::default() }.draw().unwrap()
}

fn recovery(drawn: &Drawn, model: &Model) -> Recovery {
    Recovery::new(&drawn.memberships.to_mat(), &model.memberships().to_mat())
}

/// The block model with P = .9/.1 and a thousand nodes: a node's hundred edges inside tell its block with an error
/// probability far below 1/n, so that nothing may be wrong.
#[test]
fn plain_blocks_are_found_without_an_error() {
    for seed in 0..3 {
        let drawn = dense(1000, 0.0, seed);
        let model = Params { alpha0: 0.0, ..Params::new(10) }.fit(&drawn.graph).unwrap();
        let found = recovery(&drawn, &model);
        assert_eq!((found.ratio(), found.pairs().len()), (1.0, 10), "seed {seed}");
        assert!(found.mean_absolute_error() <= 0.005, "seed {seed}: {}", found.mean_absolute_error());
    }
}

/// Mixed memberships: an entry's standard error is √(p(1−p)/(n/k))/0.8 ≈ 0.05 for n = 1000, and most entries are near 0, where the
/// simplex and the noise threshold take it away.
#[test]
fn mixed_memberships_of_a_dense_graph_come_back() {
    for seed in 0..3 {
        let drawn = dense(1000, 1.0, seed);
        let model = Params::new(10).fit(&drawn.graph).unwrap();
        let found = recovery(&drawn, &model);
        assert_eq!(found.ratio(), 1.0, "seed {seed}");
        assert!(found.mean_absolute_error() <= 0.03, "seed {seed}: {}", found.mean_absolute_error());
        assert!(
            model.memberships().as_slice().chunks(10).all(|r| (r.iter().sum::<f32>() - 1.0).abs() < 1e-4)
        );
    }
}

/// The likelihood started at the truth is the best that edges can tell: the fit comes within a tenth of it.
#[test]
fn a_sparse_fit_is_as_good_as_one_started_at_the_truth() {
    for seed in 0..2 {
        let drawn = sparse(3000, 6, seed);
        let model = Params::new(6).fit(&drawn.graph).unwrap();
        let best = Params::new(6).refine(&drawn.graph, &drawn.memberships).unwrap();
        let (found, limit) =
            (recovery(&drawn, &model).mean_absolute_error(), recovery(&drawn, &best).mean_absolute_error());
        assert!(found <= 1.10 * limit, "seed {seed}: {found} against {limit}");
    }
}

#[test]
fn the_polish_helps_and_both_treatments_and_views_work() {
    let drawn = sparse(3000, 6, 3);
    let error = |params: Params| recovery(&drawn, &params.fit(&drawn.graph).unwrap()).mean_absolute_error();
    let polished = error(Params::new(6));
    let plain = error(Params { polish: Polish::None, ..Params::new(6) });
    assert!(polished < plain, "{polished} against {plain}");
    let drawn = dense(1000, 0.5, 4);
    let error = |params: Params| recovery(&drawn, &params.fit(&drawn.graph).unwrap()).mean_absolute_error();
    let all = error(Params { alpha0: 0.5, ..Params::new(10) });
    let partition = error(Params { alpha0: 0.5, views: Views::Partition(2), ..Params::new(10) });
    // A partition sees a quarter of the hubs at a time.
    assert!(all < 0.03 && partition < 3.0 * all + 0.03, "{all}, {partition}");
    let sparse = error(Params { alpha0: 0.5, treatment: Treatment::Sparse, ..Params::new(10) });
    assert!(sparse < 0.1, "{sparse}");
}

#[test]
fn directed_and_bipartite_graphs_have_two_sides() {
    for (kind, others) in [(Kind::Directed, 2000), (Kind::Bipartite, 1500)] {
        let edges = Edges::Poisson { degree: 40.0, background: 0.1 };
        let synth = Synth { nodes: 2000, others, k: 5, alpha0: 0.3, edges, kind, ..Synth::default() };
        let drawn = synth.draw().unwrap();
        let model = Params { alpha0: 0.3, ..Params::new(5) }.fit(&drawn.graph).unwrap();
        let rows = recovery(&drawn, &model);
        let truth = drawn.others.as_ref().unwrap().to_mat();
        let columns = Recovery::new(&truth, &model.other_memberships().unwrap().to_mat());
        for (side, found) in [("rows", rows), ("columns", columns)] {
            assert_eq!(found.ratio(), 1.0, "{kind:?} {side}");
            // Forty edges tell a share to about √(π(1−π)/32): 0.05 over all entries.
            assert!(found.mean_absolute_error() < 0.06, "{kind:?} {side}: {}", found.mean_absolute_error());
        }
    }
}

#[test]
fn the_number_of_communities_is_found() {
    for (k, seed) in [(4, 0), (8, 1)] {
        let edges = Edges::Poisson { degree: 30.0, background: 0.2 };
        let drawn = Synth { nodes: 3000, k, alpha0: 0.2, edges, seed, ..Synth::default() }.draw().unwrap();
        let model = Params::new(tenfold::components::Components::Auto).fit(&drawn.graph).unwrap();
        assert_eq!(model.k(), k, "{:?}", model.verdict());
        assert!(model.verdict().findings().iter().any(|f| f.1.contains("Bethe–Hessian")));
    }
}

#[test]
fn same_bytes_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let drawn = sparse(5000, 7, 5);
    let save = |threads: usize| {
        let path = folder.path().join(format!("{threads}.tenfold"));
        with_threads(threads, || Params::new(7).fit(&drawn.graph).unwrap()).save(&path).unwrap();
        std::fs::read(path).unwrap()
    };
    let one = save(1);
    for threads in [2, 3, 8] {
        assert!(save(threads) == one, "{threads} threads");
    }
}

#[test]
fn a_model_comes_back_from_its_file_and_knows_new_nodes_and_links() {
    let drawn = sparse(2000, 4, 6);
    let model = Params::new(4).fit(&drawn.graph).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.tenfold");
    model.save(&path).unwrap();
    let back = Model::load(&path).unwrap();
    assert_eq!(back.memberships(), model.memberships());
    assert_eq!(back.ids().get(17), "17");
    // A node whose neighbours are those of node 9 has about its memberships.
    let (at, _) = drawn.graph.adjacency().row(9);
    let neighbours: Vec<(usize, f64)> = at.iter().map(|&v| (v as usize, 1.0)).collect();
    let again = back.infer(&neighbours).unwrap();
    let apart: f64 =
        again.iter().zip(model.memberships().row(9)).map(|(a, b)| (a - f64::from(*b)).abs()).sum();
    assert!(apart < 0.2, "{again:?} against {:?}", model.memberships().row(9));
    // Pairs that are joined are more probable than pairs that are not.
    let joined: Vec<f64> =
        (0..400).map(|u| back.predict(u, drawn.graph.adjacency().row(u).0[0] as usize)).collect();
    let any: Vec<f64> = (0..400).map(|u| back.predict(u, (u * 37 + 11) % 2000)).collect();
    // A fifth of the edges is background, and nodes of many communities are joined to all: well above chance is all there is.
    let auc = tenfold::evaluate::auc(&joined, &any).unwrap();
    assert!(auc > 0.6, "{auc}");
    assert!(back.infer(&[(5000, 1.0)]).is_err());
    // Without an edge a node has the mean of all, as it is kept in single precision.
    let alone = back.infer(&[]).unwrap();
    assert!(alone.iter().zip(back.shares()).all(|(a, b)| (a - b).abs() < 1e-6), "{alone:?}");
}

/// Both sides of a dense graph are told by least squares: with 1000 edges a node and P = .9/.1 an entry's standard error is
/// √(p(1−p)/(n/k))/0.8 ≈ 0.03, and half of it is cut off by the simplex.
#[test]
fn both_sides_of_a_dense_graph_come_back() {
    for (kind, others) in [(Kind::Directed, 1200), (Kind::Bipartite, 1000)] {
        let synth = Synth { nodes: 1200, others, k: 5, alpha0: 0.5, kind, seed: 7, ..Synth::default() };
        let drawn = synth.draw().unwrap();
        let model = Params { alpha0: 0.5, ..Params::new(5) }.fit(&drawn.graph).unwrap();
        let truth = drawn.others.as_ref().unwrap().to_mat();
        let columns = Recovery::new(&truth, &model.other_memberships().unwrap().to_mat());
        for (side, found) in [("rows", recovery(&drawn, &model)), ("columns", columns)] {
            assert_eq!(found.ratio(), 1.0, "{kind:?} {side}");
            assert!(found.mean_absolute_error() < 0.03, "{kind:?} {side}: {}", found.mean_absolute_error());
        }
        // The communities of both sides go together: P is large on its diagonal.
        let p = model.connectivity();
        for c in 0..5 {
            assert!((p[(c, c)] - 0.9).abs() < 0.1 && p.row(c).iter().all(|x| *x <= p[(c, c)]), "{p:?}");
        }
    }
}

/// Weights in any unit are the same graph: euros or cents, one part in a thousand or a million.
#[test]
fn the_unit_of_weights_does_not_matter() {
    let edges = Edges::Poisson { degree: 30.0, background: 0.1 };
    let synth = Synth { nodes: 2000, k: 4, alpha0: 0.3, edges, weighted: true, seed: 3, ..Synth::default() };
    let drawn = synth.draw().unwrap();
    for unit in [1.0, 0.01, 1e6] {
        let mut builder = GraphBuilder::new(Some(Kind::Undirected));
        for u in 0..drawn.graph.nodes() {
            let (at, weights) = drawn.graph.adjacency().row(u);
            for (v, w) in at.iter().zip(weights.unwrap()).filter(|(v, _)| **v as usize > u) {
                builder.weighted_edge(&u.to_string(), &v.to_string(), f64::from(*w) * unit);
            }
        }
        let graph = builder.finish().unwrap();
        let model = Params { alpha0: 0.3, ..Params::new(4) }.fit(&graph).unwrap();
        let rows: Vec<usize> = (0..model.nodes()).map(|u| model.ids().get(u).parse().unwrap()).collect();
        let truth = Mat::from_fn(rows.len(), 4, |i, c| f64::from(drawn.memberships.row(rows[i])[c]));
        let found = Recovery::new(&truth, &model.memberships().to_mat());
        // Thirty edges tell a share to √(π(1−π)/27), 0.06 over all entries.
        assert!(
            found.ratio() == 1.0 && found.mean_absolute_error() < 0.06,
            "{unit}: {}",
            found.mean_absolute_error()
        );
        let plain = Params { alpha0: 0.3, polish: Polish::None, ..Params::new(4) }.fit(&graph).unwrap();
        let found = Recovery::new(&truth, &plain.memberships().to_mat());
        assert!(found.mean_absolute_error() < 0.09, "{unit}, moments: {}", found.mean_absolute_error());
    }
}

/// α goes with the community, whichever start the memberships came from; nodes without edges have the mean.
#[test]
fn alpha_and_strays_follow_the_memberships() {
    let mut builder = GraphBuilder::new(Some(Kind::Undirected));
    for (block, size) in [(0, 40), (1, 20), (2, 10)] {
        for u in 0..size {
            (0..u).for_each(|v| {
                builder.edge(&format!("{block}-{u}"), &format!("{block}-{v}"));
            });
        }
    }
    builder.edge("0-0", "1-0").edge("1-1", "2-1").node("alone");
    let graph = builder.finish().unwrap();
    for (alpha0, treatment, polish) in [
        (0.5, Treatment::Sparse, Polish::Likelihood),
        (0.0, Treatment::Sparse, Polish::Likelihood),
        (0.5, Treatment::Dense, Polish::Likelihood),
        (0.5, Treatment::Sparse, Polish::None),
    ] {
        let model = Params { alpha0, treatment, polish, ..Params::new(3) }.fit(&graph).unwrap();
        let alpha: f64 = model.alpha().iter().sum();
        assert!((alpha - alpha0).abs() < 1e-9, "{alpha}");
        assert!(model.alpha().iter().zip(model.shares()).all(|(a, s)| (a - alpha0 * s).abs() < 1e-9));
        let alone = model.ids().find("alone").unwrap();
        let row = model.memberships().row(alone);
        assert!(row.iter().all(|x| *x > 0.05 && *x < 0.9), "{alpha0} {treatment:?} {polish:?}: {row:?}");
    }
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let edges = Edges::Poisson { degree: 10.0, background: 0.1 };
    let synth = Synth { nodes: 300, others: 100, k: 3, kind: Kind::Bipartite, edges, ..Synth::default() };
    let graph = synth.draw().unwrap().graph;
    let refused = |params: Params| params.fit(&graph).unwrap_err().to_string();
    assert!(refused(Params { views: Views::Partition(1), ..Params::new(3) }).contains("bipartite"));
    let large = Synth { nodes: 3000, k: 3, edges, ..Synth::default() }.draw().unwrap().graph;
    assert!(Params::new(2000).fit(&large).unwrap_err().to_string().contains("1000"));
    assert!(Params::new(3).refine(&large, &Tall::zeros(3000, 0)).is_err());
    // More communities than a quarter of the nodes can show: fewer come back, and it is told.
    let small = Synth { nodes: 200, k: 3, seed: 1, ..Synth::default() }.draw().unwrap().graph;
    if let Ok(model) = (Params { views: Views::Partition(1), ..Params::new(20) }).fit(&small) {
        assert!(model.k() <= 20);
    }
    let none = Synth { others: 0, ..synth }.draw();
    assert!(none.unwrap_err().to_string().contains("right side"));
}

/// Four cliques of eight nodes: too few edges to set some apart, and a count that does not need it.
#[test]
fn a_small_graph_is_counted_by_its_spectrum() {
    let mut builder = GraphBuilder::new(Some(Kind::Undirected));
    for clique in 0..4 {
        for u in 0..8 {
            (0..u).for_each(|v| {
                builder.edge(&format!("{clique}-{u}"), &format!("{clique}-{v}"));
            });
        }
    }
    let graph = builder.finish().unwrap();
    for seed in 0..6 {
        let model =
            Params { seed, ..Params::new(tenfold::components::Components::Auto) }.fit(&graph).unwrap();
        assert_eq!(model.k(), 4, "seed {seed}: {:?}", model.verdict());
    }
}

/// Edges placed at random have no communities, and the verdict on those that were asked for says so.
#[test]
fn communities_of_noise_are_not_called_sound() {
    let edges = Edges::Bernoulli { within: 0.01, between: 0.01 };
    let graph = Synth { nodes: 1000, k: 5, edges, seed: 2, ..Synth::default() }.draw().unwrap().graph;
    let model = Params::new(5).fit(&graph).unwrap();
    assert!(!model.verdict().is_sound(), "{:?}", model.verdict());
}
