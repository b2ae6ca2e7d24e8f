"""Communities: what a fit gives, and what a fitted model is asked."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from graphs import blocks
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

import tenfold
from tenfold import Communities


@pytest.fixture(scope="module")
def drawn():
    return blocks()


@pytest.fixture(scope="module")
def fitted(drawn):
    return Communities(3).fit(drawn.matrix)


CHECKED = [
    Communities(),
    Communities(2),
    Communities("auto", n_jobs=1),
    Communities(3, kind="directed", polish=False),
    Communities(2, kind="bipartite"),
]


@pytest.mark.parametrize("estimator", CHECKED, ids=repr)
def test_every_check_of_scikit_learn_passes(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] in ("failed", "xfail")]
    assert not failed
    assert sum(r["status"] == "passed" for r in results) >= 45


def test_known_communities_are_found(drawn, fitted):
    assert fitted.kind_ == "undirected" and fitted.n_components_ == 3
    assert fitted.memberships_.shape == (120, 3)
    np.testing.assert_allclose(fitted.memberships_.sum(axis=1), 1, atol=1e-5)
    told = fitted.evaluate(drawn.labels)
    assert told["nmi"] == 1.0 and told["onmi_lfk"] > 0.95 and told["omega"] > 0.95 and told["average_f1"] > 0.95
    assert told["recovery"] == 1.0 and told["mean_absolute_error"] < told["empty_error"]
    assert fitted.connectivity_.shape == (3, 3) and np.all(np.diag(fitted.connectivity_) > 0.3)
    assert fitted.alpha_.sum() == pytest.approx(1.0) and fitted.shares_.sum() == pytest.approx(1.0)
    assert list(fitted.node_ids_) == list(range(120)) and fitted.n_features_in_ == 120
    assert fitted.confidence_.shape == (120,) and fitted.n_iter_ >= 1
    expected = fitted.memberships_ @ fitted.components_
    assert expected[drawn.matrix > 0].mean() > 3 * expected[drawn.matrix == 0].mean()


def test_answers_of_every_form_of_truth_agree(drawn, fitted):
    labels = drawn.labels
    lists = [np.flatnonzero(labels == c).tolist() for c in range(3)]
    table = (labels[:, None] == np.arange(3)).astype(float)
    forms = [labels.tolist(), dict(enumerate(labels.tolist())), lists, {i: {int(c): 1.0} for i, c in enumerate(labels)}]
    for truth in [*forms, table]:
        assert fitted.evaluate(truth)["average_f1"] == fitted.evaluate(labels)["average_f1"]
    some = [None if i % 2 else c for i, c in enumerate(labels.tolist())]
    assert fitted.evaluate(some)["nodes"] == 60
    for wrong in ([1, 2], {"nobody": 1}, np.ones((3, 3))):
        with pytest.raises(ValueError, match="node"):
            fitted.evaluate(wrong)


def test_members_bridges_and_links(drawn, fitted):
    members = fitted.members()
    assert len(members) == 3 and sorted(x for own in members for x in own) == list(range(120))
    assert all(set(a) <= set(b) for a, b in zip(fitted.members(threshold=0.9), fitted.members(threshold=0.0)))
    assert [len(own) for own in fitted.members(relative=1.0)] == np.bincount(fitted.labels_).tolist()
    with pytest.raises(ValueError, match="two things"):
        fitted.members(threshold=0.5, relative=0.5)
    with pytest.raises(ValueError, match="side"):
        fitted.members(side="left")
    bridges = fitted.bridges(5)
    assert len(bridges) == 5 and [b.corrected for b in bridges] == sorted((b.corrected for b in bridges), reverse=True)
    inside, across = fitted.predict_links([(0, 1), (0, 119)])
    assert inside > across > 0
    with pytest.raises(ValueError, match="no node 500"):
        fitted.predict_links([(0, 500)])


def test_rows_of_the_fit_get_their_own_memberships_and_new_ones_are_placed(drawn, fitted):
    A = drawn.matrix
    np.testing.assert_array_equal(fitted.transform(A), fitted.memberships_)
    np.testing.assert_array_equal(fitted.transform(sparse.csc_matrix(A)), fitted.memberships_)
    new = A[:40].copy()
    new[:, ::7] = 0
    placed = fitted.transform(new)
    assert (placed.argmax(axis=1) == fitted.labels_[:40]).mean() > 0.9
    np.testing.assert_allclose(fitted.transform(np.zeros((1, 120)))[0], fitted.shares_, atol=1e-6)
    assert fitted.score(A) > 0.65 and fitted.score_links(A) > 0.7
    with pytest.raises(ValueError, match="119 features"):
        fitted.transform(A[:, 1:])


def test_a_grid_search_splits_nodes_on_both_sides(drawn):
    search = GridSearchCV(Communities(), {"n_components": [1, 3]}, cv=3).fit(sparse.csr_matrix(drawn.matrix))
    assert search.best_params_ == {"n_components": 3} and search.best_estimator_.n_features_in_ == 120


def test_precision_seed_and_threads(drawn):
    single = Communities(3).fit(drawn.matrix.astype(np.float32))
    assert single.memberships_.dtype == single.transform(drawn.matrix.astype(np.float32)).dtype == np.float32
    one, two = (Communities(3, n_jobs=n, random_state=5).fit(drawn.matrix) for n in (1, 2))
    assert one._model.to_bytes() == two._model.to_bytes()
    assert Communities(3).fit_predict(drawn.matrix).tolist() == single.labels_.tolist()
    np.testing.assert_array_equal(Communities(3).fit_transform(drawn.matrix), single.memberships_.astype(np.float64))


def test_more_communities_than_there_are_warn_and_keep_their_columns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = Communities(5).fit(np.ones((3, 3)) - np.eye(3))
    messages = [str(w.message) for w in caught if w.category is tenfold.FitWarning]
    assert any("more than the 3" in m for m in messages) and any("1 found" in m for m in messages)
    assert not found.verdict_.sound and not found.memberships_[:, 1:].any()
    assert found.memberships_.shape == (3, 5) and found.connectivity_.shape == (5, 5)
    np.testing.assert_allclose(found.memberships_.sum(axis=1), 1, atol=1e-5)
    assert list(found.get_feature_names_out()) == [f"communities{i}" for i in range(5)]


@pytest.mark.parametrize("X", [[[0, 1], [1, 0]], [("a", "b")], np.array([[0, 1.0, 1], [1, 0, 1], [1, 1, 0]])])
def test_the_smallest_graphs_are_one_community(X):
    found = Communities(1).fit(X)
    np.testing.assert_array_equal(found.memberships_, 1)


def test_saved_loaded_copied_and_shown(drawn, fitted, tmp_path):
    path = tmp_path / "m.tenfold"
    fitted.save(path)
    loaded = tenfold.load(path)
    assert isinstance(loaded, Communities) and loaded.n_components == 3
    np.testing.assert_array_equal(loaded.memberships_, fitted.memberships_)
    assert loaded.node_ids_.dtype == np.int64 and loaded.members() == fitted.members()
    # A file does not keep the rows of the graph: its nodes are placed anew, the others held fixed.
    assert (loaded.transform(drawn.matrix).argmax(axis=1) == fitted.labels_).mean() > 0.97
    copied = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copied.transform(drawn.matrix), fitted.memberships_)
    assert not hasattr(clone(fitted), "memberships_")
    assert "3 communities in 120 nodes" in fitted.summary()
    fitted.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    frame = clone(fitted).set_output(transform="pandas").fit_transform(drawn.matrix)
    assert list(frame.columns) == ["communities0", "communities1", "communities2"]


def test_wrong_arguments_are_named(drawn):
    A = drawn.matrix
    for name, value in [
        ("n_components", 0), ("n_components", "many"), ("alpha0", -1), ("kind", "tree"), ("input", "x"), ("tol", -1),
        ("treatment", "x"), ("max_iter", 0), ("max_iter", 10**6), ("solver", "online"), ("partitions", 0), ("n_jobs", 0),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=name):
            Communities(**{name: value}).fit(A)
    for choices in ({"polish": False}, {"treatment": "dense"}):
        with pytest.raises(ValueError, match="max_iter means nothing"):
            Communities(3, max_iter=5, **choices).fit(A)
    with pytest.raises(ValueError, match="Negative values"):
        Communities(3).fit(-A)
    with pytest.raises(tenfold.DataError, match="no edges"):
        Communities(3).fit(np.zeros((5, 5)))
    with pytest.raises(NotFittedError):
        Communities(3).members()


def test_a_polish_that_still_moves_warns(drawn):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        Communities(3, treatment="sparse", max_iter=1).fit(drawn.matrix)


def test_a_listener_may_stop_the_fit(drawn):
    class Enough(Exception):
        pass

    heard = []

    def listen(stage, done, total):
        heard.append(stage)
        raise Enough

    with pytest.raises(Enough):
        Communities(3, verbose=listen).fit(drawn.matrix)
    assert heard == ["arranging the edges"]
