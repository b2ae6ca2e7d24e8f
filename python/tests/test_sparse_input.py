"""Sparse matrices that were built by hand: wrong ones are refused before scipy follows them, entries at one place are added up."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import tenfold

pytestmark = pytest.mark.filterwarnings("ignore")

ESTIMATORS = {
    "cells": tenfold.Cells(2, restarts=1),
    "communities": tenfold.Communities(2, kind="bipartite"),
    "topics": tenfold.Topics(2),
    "trees": tenfold.Trees(2, bootstrap=0),
}


def table():
    rng = np.random.default_rng(0)
    cause = rng.integers(2, size=(300, 2))
    return (cause[:, [0, 0, 0, 1, 1, 1]] ^ (rng.random((300, 6)) < 0.1)).astype(float)


def broken(form, what):
    X = sparse.csr_matrix(table()).asformat(form)
    if form == "coo":
        X.row = X.row.copy()
        X.row[3] = 10**8 if what == "far" else -5
    elif what == "far":
        X.indices[3] = 10**8
    elif what == "negative":
        X.indices[3] = -5
    elif what == "ends":
        X.indptr[2] = 10**7
    else:
        X.data = X.data[:3]
    return X


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(
    ("form", "what"), [(f, w) for f in ("csr", "csc") for w in ("far", "negative", "ends", "short")] + [("coo", "far"), ("coo", "negative")]
)
def test_wrong_matrices_are_refused(name, form, what):
    with pytest.raises(ValueError, match="no C.. matrix|out of range"):
        ESTIMATORS[name].fit(broken(form, what))


def test_wrong_matrices_are_refused_when_they_come_later():
    tree = tenfold.Trees(2, bootstrap=0).fit(sparse.csr_matrix(table()))
    with pytest.raises(tenfold.DataError, match="no CSR matrix.*scipy"):
        tree.transform(broken("csr", "far"))
    found = tenfold.Communities(2, kind="bipartite").fit(sparse.csr_matrix(table()))
    with pytest.raises(tenfold.DataError, match="no CSR matrix.*scipy"):
        found.score(broken("csr", "ends"))
    with pytest.raises(tenfold.DataError, match="no CSR matrix.*scipy"):
        found.score_links(broken("csr", "ends"))


def test_python_lives_on():
    code = (
        "import numpy as np, tenfold\nfrom scipy import sparse\nX = sparse.random(200, 50, 0.3, format='csr', random_state=0)\n"
        "X.indices[:] = 2**30\nX.indptr[1:-1] = X.indptr[-1]\n"
        "try: tenfold.Trees(2, bootstrap=0).fit(X)\nexcept tenfold.DataError: print('refused')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, "refused"), run.stderr


def test_lists_that_do_not_fit_together_are_refused():
    # In a process of its own: scipy writes beyond its arrays.
    code = (
        "import numpy as np, tenfold\nfrom scipy import sparse\nfor values in ([1.0] * 200_000, []):\n"
        "    X = sparse.random(200, 50, 0.3, format='lil', random_state=0)\n    X.data[2] = values\n"
        "    for model in (tenfold.Trees(2, bootstrap=0), tenfold.Topics(2), tenfold.Cells(2)):\n"
        "        try: model.fit(X)\n        except tenfold.DataError as e: print('row 2 has' in str(e))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout.split()) == (0, ["True"] * 6), run.stderr


def test_one_dimension_is_not_enough():
    X = sparse.coo_array(table()[0])
    for model in ESTIMATORS.values():
        with pytest.raises(ValueError, match="dimension|2D"):
            model.fit(X)


def with_zeros(X):
    """The same matrix with an entry of zero wherever there is none."""
    full = sparse.csr_matrix(np.ones(X.shape))
    full.data = np.asarray(X, dtype=float).ravel().copy()
    return full


def test_zeros_say_no_more_than_nothing():
    X = table()
    plain, zeros = tenfold.Trees(2, bootstrap=0).fit(sparse.csr_matrix(X)), tenfold.Trees(2, bootstrap=0).fit(with_zeros(X))
    assert plain.variables_ == zeros.variables_
    assert np.array_equal(plain.transform(sparse.csr_matrix(X)), plain.transform(with_zeros(X)))
    rng = np.random.default_rng(1)
    of = np.arange(90) // 30
    upper = np.triu(rng.random((90, 90)) < np.where(of[:, None] == of, 0.5, 0.05), 1)
    A = (upper | upper.T).astype(float)
    one, two = tenfold.Communities(3).fit(sparse.csr_matrix(A)), tenfold.Communities(3).fit(with_zeros(A))
    assert np.array_equal(one.memberships_, two.memberships_)
    assert one.score(sparse.csr_matrix(A)) == one.score(with_zeros(A))


def in_halves(X):
    """The same matrix with every entry as two that add up to it, in reversed order of columns."""
    X = sparse.csr_matrix(X)
    rows = [slice(a, b) for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    indices = np.concatenate([np.tile(X.indices[own][::-1], 2) for own in rows])
    data = np.concatenate([np.tile(X.data[own][::-1] / 2, 2) for own in rows])
    return sparse.csr_matrix((data, indices, 2 * X.indptr), shape=X.shape)


def test_entries_at_one_place_are_added_up():
    X = sparse.csr_matrix(table())
    halves = in_halves(X)
    before = halves.data.copy(), halves.indices.copy()
    plain, twice = tenfold.Trees(2, bootstrap=0).fit(X), tenfold.Trees(2, bootstrap=0).fit(halves)
    assert plain.variables_ == twice.variables_ and plain.variables_[0][1] == "flags"
    assert np.array_equal(plain.transform(X), twice.transform(halves))
    for form in ("csc", "coo"):
        assert np.array_equal(plain.transform(X), plain.transform(halves.asformat(form)))
    rng = np.random.default_rng(1)
    of = np.arange(90) // 30
    upper = np.triu(rng.random((90, 90)) < np.where(of[:, None] == of, 0.5, 0.05), 1)
    A = sparse.csr_matrix((upper | upper.T).astype(float))
    one, two = tenfold.Communities(3).fit(A), tenfold.Communities(3).fit(in_halves(A))
    assert np.array_equal(one.memberships_, two.memberships_)
    # Rows of the fit are known again in either form.
    assert np.array_equal(one.transform(in_halves(A)), one.memberships_)
    assert one.score_links(in_halves(A)) == one.score_links(A)
    # Nothing is changed in the matrix of the caller.
    assert np.array_equal(before[0], halves.data) and np.array_equal(before[1], halves.indices)


def test_stale_marks_of_a_matrix_are_not_believed():
    halves = in_halves(table())
    halves.has_canonical_format = True
    assert tenfold.Trees(2, bootstrap=0).fit(halves).variables_[0][1] == "flags"
