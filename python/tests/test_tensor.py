"""Components of tensors."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tenfold import DataError
from tenfold.tensor import Decomposition, decompose, load


def orthogonal(order: int, side: int = 4, k: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A symmetric tensor, its weights and its components."""
    V = np.linalg.qr(np.random.default_rng(order).normal(size=(side, side)))[0][:, :k]
    weights = np.arange(k, 0, -1.0)
    T = np.zeros((side,) * order)
    for weight, v in zip(weights, V.T):
        term = v
        for _ in range(order - 1):
            term = np.multiply.outer(term, v)
        T += weight * term
    return T, weights, V


@pytest.mark.parametrize("order", [3, 4, 5, 7])
def test_components_of_symmetric_tensors_are_found(order):
    T, weights, V = orthogonal(order)
    found = decompose(T, 3)
    assert found.converged and found.residual < 1e-6 and found.iterations >= 1 and found.order == order
    matched = found.match_to((weights, V))
    assert matched.errors.max() < 1e-6 and matched.weight_errors.max() < 1e-6
    assert matched.partner.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.reconstruct(), T, atol=1e-6)


@pytest.mark.parametrize("solver", ["polar", "power", "als", "simultaneous", "online"])
def test_every_solver(solver):
    T, weights, V = orthogonal(3)
    found = decompose(T, 3, solver=solver, n_jobs=1)
    assert found.facts["solver"] == solver and found.match_to((weights, V)).errors.max() < 1e-3
    again = decompose(T, 3, solver=solver, n_jobs=2)
    np.testing.assert_array_equal(found.factors[0], again.factors[0])


def test_tensors_without_symmetry():
    rng = np.random.default_rng(0)
    A, B, C = (rng.normal(size=(side, 2)) for side in (5, 4, 3))
    T = np.einsum("az,bz,cz->abc", A, B, C)
    found = decompose(T, 2)
    assert not found.symmetric and [f.shape for f in found.factors] == [(5, 2), (4, 2), (3, 2)]
    assert found.residual < 1e-6
    np.testing.assert_allclose(found.reconstruct(), T, atol=1e-5)
    assert decompose(T.astype(np.float32).tolist(), 2).residual < 1e-3
    with pytest.raises(ValueError, match="symmetric tensors are matched"):
        found.match_to(found)
    with pytest.raises(ValueError, match="'als' only"):
        decompose(T, 2, solver="power")
    with pytest.raises(ValueError, match="at most 12"):
        decompose(T, 13)


def test_wrong_tensors_and_choices():
    T, weights, V = orthogonal(3)
    skew = T.copy()
    skew[0, 1, 2] += 1
    with pytest.raises(ValueError, match=r"entry \[0, 2, 1\].*symmetric=False.*symmetry_tol"):
        decompose(skew)
    assert decompose(skew, 3, symmetric=False).factors[2].shape == (4, 3)
    for bad, words in [(np.ones((2, 2)), "cannot be decomposed"), (np.ones((2,) * 6), "cannot"), (T * np.nan, "finite"),
                       (np.ones((0, 0, 0)), "entries")]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            decompose(bad)
    for name, value in [("k", 0), ("solver", "x"), ("max_iter", 0), ("tol", -1), ("restarts", 0), ("symmetry_tol", -1)]:
        with pytest.raises(ValueError, match=name):
            decompose(T, **{name: value})
    with pytest.raises(ValueError, match="decompose with k = 4"):
        decompose(T, 2).match_to((np.ones(4), np.eye(4)))
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        decompose(T + 1e-9, 3, solver="power", max_iter=1, symmetry_tol=1)


def test_files_go_both_ways(tmp_path):
    T, weights, V = orthogonal(4)
    found = decompose(T, 3)
    found.save(tmp_path / "mine.tenfold")
    again = load(tmp_path / "mine.tenfold")
    assert (again.order, again.converged, again.iterations) == (4, True, found.iterations)
    np.testing.assert_array_equal(again.factors[0], found.factors[0])
    np.save(tmp_path / "T.npy", T)
    command = [sys.executable, "-m", "tenfold._command", "tensor"]
    theirs = tmp_path / "theirs.tenfold"
    subprocess.run([*command, "decompose", tmp_path / "T.npy", "-k", "3", "-o", theirs], check=True, capture_output=True)
    np.testing.assert_array_equal(load(theirs).factors[0], found.factors[0])
    np.testing.assert_array_equal(load(theirs).weights, found.weights)
    told = subprocess.run(
        [*command, "evaluate", tmp_path / "mine.tenfold", "--truth", theirs, "--json"], check=True, capture_output=True
    )
    assert json.loads(told.stdout)["worst_error"] < 1e-7
    (tmp_path / "bad.tenfold").write_bytes(b"no model")
    with pytest.raises(DataError):
        load(tmp_path / "bad.tenfold")
    for size in (1e155, 1e300):
        large = decompose(T * size, 3)
        large.save(tmp_path / "large.tenfold")
        np.testing.assert_array_equal(load(tmp_path / "large.tenfold").weights, large.weights)
        told = [*command, "evaluate", tmp_path / "large.tenfold", "--truth", tmp_path / "large.tenfold", "--json"]
        assert json.loads(subprocess.run(told, check=True, capture_output=True).stdout)["worst_error"] < 1e-7
    Decomposition(weights, [V * 1e300], 4, 0.0, True, 1).save(tmp_path / "bad.tenfold")
    with pytest.raises(DataError, match="factors"):
        load(tmp_path / "bad.tenfold")
    three = decompose(np.ones((2, 3, 4)), 1)
    three.save(tmp_path / "three.tenfold")
    assert [f.shape for f in load(tmp_path / "three.tenfold").factors] == [(2, 1), (3, 1), (4, 1)]


@pytest.mark.parametrize(
    ("weights", "factors", "order"),
    [(5, (3, 2), 3), (2, (3, 2), 0), (2, (3, 2), 60), (2, (3, 2, 2), 3), (2, (3,), 3)],
)
def test_parts_that_make_no_tensor(weights, factors, order, tmp_path):
    wrong = Decomposition(np.ones(weights), [np.ones(factors)], order, 0.0, True, 1)
    right = Decomposition(np.ones(2), [np.eye(3)[:, :2]], 3, 0.0, True, 1)
    for call in (lambda: wrong.match_to(right), wrong.reconstruct, lambda: wrong.save(tmp_path / "t.tenfold")):
        with pytest.raises(ValueError, match="weight for every column|out of range"):
            call()
    if order == 3:
        with pytest.raises(ValueError, match="weight for every column"):
            right.match_to(wrong)
    assert right.match_to(([1.0, 1.0], np.eye(3)[:, :2].tolist())).partner.tolist() == [0, 1]
