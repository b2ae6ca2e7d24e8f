"""Every form in which Python holds a graph gives the same communities, and ids come back as they were."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from graphs import blocks, shared
from scipy import sparse

import tenfold
from tenfold import Communities


@pytest.fixture(scope="module")
def drawn():
    return blocks()


@pytest.fixture(scope="module")
def expected(drawn):
    return Communities(3).fit(drawn.matrix).memberships_


def edges_of(matrix):
    return np.argwhere(np.triu(matrix) > 0)


FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
DTYPES = [np.bool_, np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float32, np.float64]


@pytest.mark.parametrize("format", FORMATS)
def test_sparse_formats(drawn, expected, format):
    for make in (sparse.csr_matrix, sparse.csr_array):
        found = Communities(3).fit(make(drawn.matrix).asformat(format))
        np.testing.assert_array_equal(found.memberships_, expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_types_of_numbers_and_indices(drawn, expected, dtype):
    X = sparse.csr_matrix(drawn.matrix.astype(dtype))
    assert X.dtype == dtype
    np.testing.assert_array_equal(Communities(3).fit(X).memberships_, expected.astype(Communities(3).fit(X)._dtype))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    np.testing.assert_array_equal(Communities(3).fit(X).labels_, expected.argmax(axis=1))
    dense = Communities(3).fit(drawn.matrix.astype(dtype))
    np.testing.assert_array_equal(dense.labels_, expected.argmax(axis=1))


def test_arrays_are_read_where_they_lie(drawn, expected, tmp_path):
    fortran, readonly = np.asfortranarray(drawn.matrix), drawn.matrix.copy()
    readonly.flags.writeable = False
    np.save(tmp_path / "a.npy", drawn.matrix)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    swapped = drawn.matrix.astype(drawn.matrix.dtype.newbyteorder())
    strided = np.repeat(drawn.matrix, 2, axis=1)[:, ::2]
    for X in (fortran, readonly, mapped, swapped, strided, drawn.matrix.tolist()):
        np.testing.assert_array_equal(Communities(3).fit(X).memberships_, expected)


@pytest.mark.filterwarnings("ignore::tenfold.FitWarning")
def test_large_arrays_are_not_copied():
    # 400,000 edges take 6.4 MB as they are given; Python must not hold as much again.
    rng = np.random.default_rng(0)
    start, end = rng.integers(0, 2000, (2, 400_000))
    columns = np.column_stack([start, end])
    for X in ((start, end), columns, sparse.csr_matrix((np.ones(400_000), (start, end)), shape=(2000, 2000))):
        gc.collect()
        tracemalloc.start()
        Communities(2, kind="directed", treatment="sparse", polish=False).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2_000_000, peak


def test_edges_in_every_form(drawn, expected):
    pairs = edges_of(drawn.matrix)
    forms = [pairs, pairs.astype(np.uint8), pairs[:, ::-1], (pairs[:, 0], pairs[:, 1]), pairs.tolist()]
    forms += [list(map(tuple, pairs.tolist())), np.column_stack([pairs, np.ones(len(pairs))])]
    forms += [(pairs[:, 0], pairs[:, 1], np.ones(len(pairs)))]
    for X in forms:
        found = Communities(3).fit(X)
        assert found.kind_ == "undirected" and found.node_ids_.tolist() == list(range(120))
        assert (found.labels_ == expected.argmax(axis=1)).all()
    half = Communities(3, kind="undirected").fit(np.triu(drawn.matrix))
    np.testing.assert_array_equal(half.memberships_, expected)
    with pytest.raises(ValueError, match="two columns of ids"):
        Communities(3, input="edges").fit(np.ones((4, 5), int))
    with pytest.raises(ValueError, match="without an id"):
        Communities(1).fit([("a", "b"), ("b", None)])
    import networkx as nx
    import pandas as pd

    ends = pd.DataFrame({"from": pd.array(["a", "b", None], "string"), "to": pd.array(["b", "c", "a"], "string")})
    for edges in (ends, [("a", "b"), ("b", pd.NA)]):
        with pytest.raises(ValueError, match="without an id"):
            Communities(1, input="edges").fit(edges)
    graph = nx.Graph([("a", "b"), ("b", "c")])
    nx.set_edge_attributes(graph, {("a", "b"): pd.NA, ("b", "c"): 2.0}, "weight")
    for edges in ([("a", "b", 1.0), ("b", "c", pd.NA)], graph):
        with pytest.raises(ValueError, match="NaN|finite"):
            Communities(1).fit(edges)
    with pytest.raises(ValueError, match="negative"):
        Communities(1).fit([("a", "b", 1.0), ("b", "c", -2.0)])
    with pytest.raises(ValueError, match="fractions"):
        Communities(3, input="edges").fit(np.full((4, 2), 0.5))


def test_strange_arrays_are_refused(drawn):
    for array, place, value in [("indptr", 5, 10**6), ("indices", 5, 500), ("indices", 5, -3)]:
        X = sparse.csr_matrix(drawn.matrix)
        getattr(X, array)[place] = value
        with pytest.raises(ValueError, match="is no CSR matrix"):
            Communities(2).fit(X)


def test_ids_of_any_kind_come_back(drawn, tmp_path):
    pairs = edges_of(drawn.matrix)
    names = np.array([f"node {i}" for i in range(120)])
    mixed = [i if i % 2 else str(i) for i in range(120)]
    for ids in (names, [(i, "x") for i in range(120)], [-i for i in range(120)], mixed):
        found = Communities(3).fit([(ids[a], ids[b]) for a, b in pairs])
        own = found.node_ids_.tolist()
        assert sorted(map(repr, own)) == sorted(repr(x) for x in (ids.tolist() if ids is names else ids))
        assert {own[0], own[5]} <= {x for community in found.members() for x in community}
        assert found.evaluate({x: int(drawn.labels[list(ids).index(x)]) for x in own})["nmi"] > 0.9
    found = Communities(3).fit(names[pairs])
    found.save(tmp_path / "m.tenfold")
    assert tenfold.load(tmp_path / "m.tenfold").node_ids_.tolist() == found.node_ids_.tolist()
    big = Communities(3).fit(pairs + 2**40)
    assert big.node_ids_[0] == 2**40 and big.node_ids_.dtype == np.int64


def test_networkx_there_and_back(drawn):
    nx = pytest.importorskip("networkx")
    graph = nx.from_numpy_array(drawn.matrix)
    graph = nx.relabel_nodes(graph, {i: ("n", i) for i in graph})
    graph.add_node("alone")
    found = Communities(3).fit(graph)
    assert found.node_ids_.tolist() == list(graph.nodes) and found.kind_ == "undirected"
    truth = {("n", i): int(c) for i, c in enumerate(drawn.labels)}
    assert found.evaluate(truth)["nmi"] > 0.95
    assert "alone" not in [x for own in found.members() for x in own]
    assert found.to_networkx(graph) is graph
    assert graph.nodes["n", 3]["community"] == found.labels_[3]
    assert sum(graph.nodes["n", 3]["memberships"]) == pytest.approx(1, abs=1e-5)
    directed = nx.DiGraph([(1, 2, {"cost": 2.5}), (2, 3, {"cost": 1.0}), (3, 1, {"cost": 1.0})])
    weighted = Communities(1, weight="cost").fit(directed)
    assert weighted.kind_ == "directed" and weighted._model.numbers("strengths").tolist() == [2.5, 1.0, 1.0]
    sides = nx.Graph([("x", 1), (2, "x"), ("y", 2), ("y", 1)])
    nx.set_node_attributes(sides, {"x": 1, "y": 1, 1: 0, 2: 0}, "bipartite")
    assert sorted(Communities(1, kind="bipartite").fit(sides).other_ids_.tolist()) == ["x", "y"]


def test_igraph_there_and_back(drawn, expected):
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(n=120, edges=edges_of(drawn.matrix).tolist())
    found = Communities(3).fit(graph)
    np.testing.assert_array_equal(found.memberships_, expected)
    both = found.to_igraph(graph)
    assert isinstance(both.cover, igraph.VertexCover) and isinstance(both.clustering, igraph.VertexClustering)
    assert both.clustering.membership == found.labels_.tolist() and list(both.cover) == found.members()
    graph.vs["name"] = [f"v{i}" for i in range(120)]
    assert Communities(3).fit(graph).node_ids_.tolist() == graph.vs["name"]
    with pytest.raises(TypeError, match="igraph"):
        found.to_igraph([1, 2])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables(drawn, library):
    lib = pytest.importorskip(library)
    pairs = edges_of(drawn.matrix)
    start, end = ([f"a{i}" for i in column] for column in pairs.T)
    columns = {"src": start, "dst": end, "w": [1.0 + i % 2 for i in range(len(pairs))]}
    table = lib.table(columns) if library == "pyarrow" else lib.DataFrame(columns)
    found = Communities(3).fit(table)
    truth = {f"a{i}": int(c) for i, c in enumerate(drawn.labels)}
    assert found.evaluate(truth)["nmi"] > 0.9
    assert found._model.numbers("strengths").sum() == pytest.approx(2 * sum(columns["w"]))
    assert found.predict_links(table).shape == (len(pairs),)
    if library == "pyarrow":
        assert Communities(3).fit(table.to_batches()[0]).node_ids_.tolist() == found.node_ids_.tolist()


def test_frames_of_named_nodes_and_two_sides(drawn):
    pd = pytest.importorskip("pandas")
    names = [f"n{i}" for i in range(120)]
    found = Communities(3).fit(pd.DataFrame(drawn.matrix, index=names, columns=names))
    assert found.node_ids_.tolist() == names == found.feature_names_in_.tolist()
    rng = np.random.default_rng(1)
    taste = (np.arange(60) % 2)[:, None] == (np.arange(30) % 2)
    buys = pd.DataFrame(rng.poisson(np.where(taste, 2.0, 0.1)), index=[f"u{i}" for i in range(60)]).add_prefix("item")
    found = Communities(2).fit(buys)
    assert found.kind_ == "bipartite" and found.other_memberships_.shape == (30, 2)
    assert found.node_ids_[1] == "u1" and found.other_ids_[1] == "item1"
    assert found.evaluate(np.arange(30) % 2, side="to")["nmi"] == 1.0
    assert found.evaluate({f"u{i}": i % 2 for i in range(60)})["nmi"] == 1.0
    assert len(found.members(side="to")) == 2
    inside, across = found.predict_links([("u0", "item2"), ("u0", "item1")])
    assert inside > across


def test_directed_graphs_have_two_sides(drawn):
    rng = np.random.default_rng(2)
    one_way = drawn.matrix * (rng.random(drawn.matrix.shape) < 0.7)
    found = Communities(3, treatment="sparse").fit(one_way)
    assert found.kind_ == "directed" and found.other_memberships_.shape == (120, 3)
    assert found.evaluate(drawn.labels)["nmi"] > 0.9
    assert not np.array_equal(found.memberships_, found.other_memberships_)


def command(*words):
    run = subprocess.run([sys.executable, "-m", "tenfold._command", *map(str, words)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_command_line_gives_the_same_file(tmp_path):
    path = shared("email-Eu-core.txt")
    command("communities", "fit", path, "-k", 12, "--seed", 3, "-o", tmp_path / "c.tenfold")
    model = Communities(12, random_state=3, n_jobs=1).fit(path)
    model.save(tmp_path / "p.tenfold")
    assert (tmp_path / "p.tenfold").read_bytes() == (tmp_path / "c.tenfold").read_bytes()
    # From an array there is no file to tell of; all else is the same to the last byte.
    array = Communities(12, random_state=3, n_jobs=2).fit(np.loadtxt(path, dtype=np.int64, skiprows=1))
    assert array.node_ids_.tolist() == model.node_ids_.tolist()
    np.testing.assert_array_equal(array.memberships_, model.memberships_)
    np.testing.assert_array_equal(array.connectivity_, model.connectivity_)
    mine, theirs = (json.loads(m._model.facts()) for m in (array, model))
    for facts in (mine, theirs):
        facts["verdict"] = [f for f in facts["verdict"] if not f["message"].startswith(("read as", "edges from column"))]
        del facts["diagnostics"]["seconds"]
    assert mine == theirs
    truth = shared("email-Eu-core-department-labels.txt")
    told = json.loads(command("communities", "evaluate", tmp_path / "p.tenfold", "--truth", truth, "--json"))
    own = model.evaluate(truth)
    for name in ("nmi", "onmi_lfk", "onmi_max", "omega", "average_f1", "recovery", "mean_absolute_error"):
        assert own[name] == told[name], name


def test_iterables_and_tuples_are_edges():
    nx = pytest.importorskip("networkx")
    graph = nx.karate_club_graph()
    plain = tenfold.Communities(2, weight=None).fit(graph)
    for edges in (graph.edges, set(graph.edges), (edge for edge in graph.edges), np.array(graph.edges, dtype=float)):
        found = tenfold.Communities(2, kind="undirected").fit(edges)
        assert set(map(int, found.node_ids_)) == set(graph.nodes)
        assert found.memberships_.shape == plain.memberships_.shape
    weighted = tenfold.Communities(2, kind="undirected").fit(graph.edges(data=True))
    assert len(weighted.node_ids_) == 34
    assert list(tenfold.Communities(1).fit([(10, 11), (11, 12)]).node_ids_) == [10, 11, 12]
