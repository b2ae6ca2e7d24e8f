"""Trees: arrays, DataFrames, sparse matrices, missing values, files."""

from __future__ import annotations

import pickle

import networkx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tenfold


def drawn(samples=4000, seed=0):
    """Two causes that hang together a little, four binary columns each."""
    rng = np.random.default_rng(seed)
    first = rng.integers(2, size=samples)
    second = np.where(rng.random(samples) < 0.75, first, 1 - first)
    causes = np.repeat(np.stack([first, second], axis=1), 4, axis=1)
    return causes ^ (rng.random(causes.shape) < 0.12), np.stack([first, second], axis=1)


def test_causes_come_back():
    X, causes = drawn()
    tree = tenfold.Trees(2, bootstrap=5).fit(X)
    assert tree.clusters_.tolist() == [0] * 4 + [1] * 4
    hidden = tree.transform(X)
    assert hidden.shape == (len(X), len(tree.get_feature_names_out()))
    # Four votes with an error of .12 each: the posterior follows its cause.
    likes = np.abs(np.corrcoef(hidden.T, causes.T)[: hidden.shape[1], hidden.shape[1] :])
    assert likes.max(axis=0).min() > 0.85
    held = tree.diagnostics_["held_out"]
    assert held["tree"] > held["chow_liu"] > held["independence"]
    inner = tree.edges_[(tree.edges_[:, 0] >= 8) & (tree.edges_[:, 1] >= 8)]
    assert len(inner) == 1 and inner[0, 3] == 1.0


def test_missing_values_are_inferred():
    X, _ = drawn()
    tree = tenfold.Trees(2, bootstrap=0).fit(X)
    gaps = X.astype(float)
    gaps[:, 0] = np.nan
    labels = tree.variables_[0][2]
    told = tree.predict_proba(gaps)[:, [tree.label_names_.index(f"x0={label}") for label in labels]]
    ones = told[:, labels.index("1" if "1" in labels else "True")]
    # The three others of its cause say what it is; it is flipped in .12 of the samples.
    assert np.mean((ones > 0.5) == X[:, 0]) > 0.82
    assert np.allclose(told.sum(axis=1), 1.0)
    assert tree.score(gaps) > tree.score(X)
    rng = np.random.default_rng(1)
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    assert tenfold.Trees(2, bootstrap=0).fit(gaps).clusters_.tolist() == [0] * 4 + [1] * 4


def test_columns_of_every_kind():
    X, causes = drawn()
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(X, columns=[f"q{i}" for i in range(8)])
    frame["colour"] = np.where(causes[:, 0] ^ (rng.random(len(X)) < 0.1), "red", "blue")
    frame["size"] = causes[:, 1] * 3.0 + rng.standard_normal(len(X))
    tree = tenfold.Trees(2, bootstrap=0).fit(frame)
    kinds = {name: kind for name, kind, _ in tree.variables_}
    assert (kinds["colour"], kinds["size"], kinds["q0"]) == ("category", "real", "category")
    graph = tree.to_networkx()
    names = networkx.get_node_attributes(graph, "name")
    assert {names[v] for v in range(10)} == set(frame.columns)
    assert networkx.is_forest(graph)
    flags = tenfold.Trees(2, bootstrap=0, groups={f"x{i}": f"g{i // 2}" for i in range(8)})
    flags.fit(sparse.csr_matrix(X.astype(float)))
    assert [name for name, _, _ in flags.variables_] == ["g0", "g1", "g2", "g3"]
    with pytest.raises(ValueError, match="no column"):
        tenfold.Trees(2, kinds={"nowhere": "real"}).fit(X)


def test_files_and_formats(tmp_path):
    X, _ = drawn(2000)
    tree = tenfold.Trees(2, bootstrap=0).fit(X)
    tree.save(tmp_path / "m.tenfold")
    again = tenfold.load(tmp_path / "m.tenfold")
    assert isinstance(again, tenfold.Trees)
    np.testing.assert_array_equal(again.transform(X[:50]), tree.transform(X[:50]))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tree)).edges_, tree.edges_)
    assert tree.export("newick").count("x7") == 1
    assert "probability" in tree.export("bif")
    with pytest.raises(ValueError, match="format"):
        tree.export("picture")


def test_threads_do_not_matter():
    X, _ = drawn(1500)
    one, two = (tenfold.Trees("auto", bootstrap=3, n_jobs=n).fit(X) for n in (1, 2))
    assert one._model.to_bytes() == two._model.to_bytes()
