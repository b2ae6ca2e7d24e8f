"""Trees: arrays, DataFrames, sparse matrices, missing values, files."""

from __future__ import annotations

import pickle

import networkx
import numpy as np
import pandas as pd
import polars as pl
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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["string", "boolean", "Int64", "Float64", "object", "category"])
def test_what_pandas_calls_missing(dtype):
    X, _ = drawn(400)
    frame = pd.DataFrame(X.astype(bool) if dtype == "boolean" else X.astype(str) if dtype in ("string", "category") else X)
    frame.columns = [f"q{i}" for i in range(8)]
    plain = frame.astype(float if dtype in ("Int64", "Float64") else object)
    plain.iloc[3, 0] = np.nan if dtype in ("Int64", "Float64") else None
    frame = frame.astype(dtype)
    frame.iloc[3, 0] = pd.NA
    tree, other = (tenfold.Trees(2, bootstrap=0).fit(given) for given in (frame, plain))
    assert tree.variables_ == other.variables_
    np.testing.assert_array_equal(tree.transform(frame), other.transform(plain))
    np.testing.assert_array_equal(tree.transform(frame.to_numpy(dtype=object)), tree.transform(frame))
    wide = pd.DataFrame({"a": pd.array([*range(99), None], "Int64"), "b": X[:100, 0]})
    assert tenfold.Trees(2, bootstrap=0).fit(wide).variables_[0][1] == "real"


@pytest.mark.filterwarnings("ignore")
def test_columns_are_found_by_name_or_by_place():
    X, _ = drawn(400)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    named, counted = (tenfold.Trees(2, bootstrap=0).fit(given) for given in (frame, X))
    told = named.transform(frame)
    for model in (named, tenfold.Trees.from_bytes(named.to_bytes())):
        np.testing.assert_array_equal(model.transform(X), told)
        with pytest.raises(ValueError, match="feature names should match"):
            model.transform(frame.rename(columns={"a": "z"}))
    for model in (counted, tenfold.Trees.from_bytes(counted.to_bytes())):
        np.testing.assert_array_equal(model.transform(frame), told)
        # Names that are those of an array's columns are looked for by name.
        turned = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)]).iloc[:, ::-1]
        np.testing.assert_array_equal(model.transform(turned), told)
    groups, kinds = {"a": "both", "b": "both"}, {"a": "flags", "b": "flags"}
    joined = tenfold.Trees.from_bytes(tenfold.Trees(2, bootstrap=0, groups=groups, kinds=kinds).fit(frame).to_bytes())
    for given in (X, frame.rename(columns={"a": "z"})):
        with pytest.raises(ValueError, match="column 'a', which X does not.*DataFrame"):
            joined.transform(given)
    with pytest.raises(ValueError, match="two columns 'a'|unique column names"):
        tenfold.Trees(2).fit(frame.rename(columns={"b": "a"}))


@pytest.mark.filterwarnings("ignore")
def test_frames_of_polars_have_names_and_types():
    X, _ = drawn(400)
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(size=np.arange(400) / 7.0, colour=np.where(X[:, 0] == 1, "red", "blue"))
    frame.loc[3, "colour"] = None
    other = pl.from_pandas(frame)
    tree, same = (tenfold.Trees(2, bootstrap=0, kinds={"a": "flags"}).fit(given) for given in (frame, other))
    assert tree.variables_ == same.variables_ and list(same.feature_names_in_) == list(frame.columns)
    for given in (frame, other):
        np.testing.assert_array_equal(same.transform(given), tree.transform(frame))


@pytest.mark.filterwarnings("ignore")
def test_levels_are_levels_whatever_they_are_written_as():
    table = pd.DataFrame({"level": pd.Categorical(np.arange(300) % 30), "number": np.arange(300) % 30, "b": np.arange(300) % 2})
    kinds = [kind for _, kind, _ in tenfold.Trees(2, bootstrap=0).fit(table).variables_]
    assert kinds == ["category", "real", "category"]


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"groups": ["a"]}, "groups.*dictionary"), ({"groups": 3}, "groups.*dictionary"), ({"kinds": 3}, "kinds.*dictionary"),
        ({"kinds": {"a": 3}}, "kinds.*dictionary"), ({"groups": {"nowhere": "g"}}, "groups names 'nowhere'"),
        ({"kinds": {"a": "colours"}}, "may be 'category'"), ({"kinds": {"a": "flags"}}, "'a' holds 2 in row 5.*0 or 1"),
        ({"kinds": {"b": "counts"}}, "'b' holds -1 in row 7.*from 0 on"), ({"kinds": {"c": "counts"}}, "'c' holds 0.5 in row 2"),
        ({"kinds": {"d": "real"}}, "'d' holds 'x', which is no number"),
    ],
)  # fmt: skip
def test_choices_that_do_not_fit(choices, told):
    frame = pd.DataFrame(drawn(100)[0][:, :4].astype(float), columns=list("abcd"))
    frame.loc[5, "a"], frame.loc[7, "b"], frame.loc[2, "c"] = 2, -1, 0.5
    frame["d"] = np.where(frame["d"] == 1, "x", "y")
    with pytest.raises(ValueError, match=told):
        tenfold.Trees(2, bootstrap=0, **choices).fit(frame)


def test_flags_are_checked_later_too():
    X, _ = drawn(400)
    tree = tenfold.Trees(2, bootstrap=0, kinds={"x1": "flags"}).fit(X)
    wrong = X.astype(float)
    wrong[4, 1] = 9
    with pytest.raises(ValueError, match="'x1' holds 9 in row 4"):
        tree.transform(wrong)


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
