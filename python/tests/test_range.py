"""Numbers beyond what the arithmetic can hold, and more repeats than memory can."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.cells import detect
from tenfold.tensor import decompose


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    return rng.poisson(3.0, size=(60, 12)).astype(float)


# The counts are noise, of which models warn; what is asked here is another thing.
@pytest.mark.filterwarnings("ignore::tenfold.FitWarning")
@pytest.mark.parametrize("size", [1e18, 1e37, 1e39, 1e150, 1e300])
def test_counts_that_are_too_large_are_refused(counts, size):
    with pytest.raises(ValueError, match="divide"):
        tenfold.Cells(3).fit(counts * size)
    types = tenfold.Cells(2).fit(counts)
    for ask in (types.transform, types.score):
        with pytest.raises(ValueError, match="divide"):
            ask(counts * size)
    topics = tenfold.Topics(2, polish=None).fit(counts)
    for rows in (counts, counts[:2]):
        with pytest.raises(ValueError, match="divide"):
            topics.transform(rows * size)


@pytest.mark.filterwarnings("ignore::tenfold.FitWarning")
def test_counts_that_are_large_are_read(counts):
    topics = tenfold.Topics(2, polish=None).fit(counts)
    found = topics.transform(counts * 1e15)
    assert np.isfinite(found).all() and np.allclose(found.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    "fit",
    [
        lambda X: tenfold.Trees(2, bootstrap=10**9).fit(X),
        lambda X: tenfold.Motifs(2, n_starts=10**9, length=4).fit(X),
    ],
)
def test_more_repeats_than_memory_holds_are_refused(counts, fit):
    with pytest.raises(ValueError, match="at most 10000"):
        fit(counts)


# Its samples are independent, of which the model warns.
@pytest.mark.filterwarnings("ignore::tenfold.FitWarning")
def test_a_constant_signal_scores_nothing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 200)) + (rng.random((50, 200)) < 0.05) * 9.0
    motifs = tenfold.Motifs(1, length=4).fit(X)
    assert motifs.score(np.full((3, 200), 0.1)) == 0.0


def test_a_choice_that_an_image_has_not_is_no_missing_file():
    with pytest.raises(ValueError, match="give stain another channel"):
        detect(np.zeros((64, 64, 3), dtype=np.uint8), stain="9")


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_tensors_of_any_size(size):
    T = np.zeros((4, 4, 4))
    T[0, 0, 0], T[1, 1, 1] = 3.0, 2.0
    found = decompose(T * size, 2)
    assert np.allclose(np.sort(found.weights / size), [2.0, 3.0])
    assert 0.0 <= found.residual < 1e-12
