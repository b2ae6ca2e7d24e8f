"""Model files whose sum is right and whose facts are not: an error that names the part, and no memory for what is not there."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from modelfile import changed

import tenfold
import tenfold.tensor

KINDS = sorted(tenfold.ESTIMATORS)


def put(place, value):
    """Sets what stands at a place such as ``parameters.k``."""

    def change(facts):
        *outer, last = place.split(".")
        for name in outer:
            facts = facts[name]
        facts[last] = value

    return change


@pytest.mark.parametrize("kind", [*KINDS, "tensor"])
def test_what_is_put_together_again_loads(kind, tmp_path):
    path = changed(kind, tmp_path / "m.tenfold", lambda facts: None)
    assert (tenfold.tensor.load if kind == "tensor" else tenfold.load)(path)


@pytest.mark.parametrize("value", [3, None, [], "x", {}, True])
@pytest.mark.parametrize("kind", KINDS)
def test_parameters_of_another_type(kind, value, tmp_path):
    path = changed(kind, tmp_path / "m.tenfold", put("parameters", value))
    with pytest.raises(tenfold.DataError, match="m.tenfold.*'parameters'.*fit again"):
        tenfold.load(path)


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_that_are_missing(kind, tmp_path):
    names = []
    changed(kind, tmp_path / "m.tenfold", lambda facts: names.extend(facts["parameters"]))
    for name in names:
        path = changed(kind, tmp_path / "m.tenfold", lambda facts, name=name: facts["parameters"].pop(name))
        try:
            tenfold.load(path)
        except tenfold.DataError as error:
            assert "'parameters'" in str(error) and f"'{name}' is missing" in str(error)


@pytest.mark.parametrize("value", [3, True, {}, {"text": True}, [1]])
def test_recipes_of_another_type(value, tmp_path):
    with pytest.raises(ValueError, match="recipe"):
        tenfold.load(changed("topics", tmp_path / "m.tenfold", put("recipe", value)))


@pytest.mark.parametrize(("kind", "k"), [("topics", 10**7), ("topics", 10**15), ("communities", 20_000), ("communities", 10**15)])
def test_a_file_that_asks_for_too_much(kind, k, tmp_path):
    path = changed(kind, tmp_path / "m.tenfold", put("parameters.k", k))
    tracemalloc.start()
    if kind == "topics":
        # The command line may have been asked for more topics than there are words; columns there are for what it found.
        model = tenfold.load(path)
        assert model.n_components_ == model.n_found_ == len(model.components_)
    else:
        with pytest.raises(tenfold.DataError, match="m.tenfold.*k = .*nodes"):
            tenfold.load(path)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The file has 20 kB; numpy tells tracemalloc of its arrays.
    assert held < 10 << 20


@pytest.mark.parametrize("k", [[3], {}, 0, -1, 3.5, True, None])
@pytest.mark.parametrize("kind", ["topics", "communities"])
def test_a_number_of_factors_that_is_none(kind, k, tmp_path):
    with pytest.raises(tenfold.DataError, match="m.tenfold.*k = "):
        tenfold.load(changed(kind, tmp_path / "m.tenfold", put("parameters.k", k)))


def test_topics_that_were_not_found_take_no_memory_until_they_are_asked_for(tmp_path):
    model = tenfold.load(changed("topics", tmp_path / "m.tenfold", put("parameters.k", 900)))
    assert model.components_.shape == (900, len(model.words_))
    np.testing.assert_array_equal(model.components_[-1], model.unigram_)
    with pytest.raises(ValueError, match="at most 1000"):
        tenfold.Topics(1001).fit(np.random.default_rng(0).poisson(1, (50, 20)))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("order", "x"), ("order", [3]), ("order", 0), ("order", -3), ("order", 10**9), ("order", 3.5), ("order", True),
        ("residual", "x"), ("residual", [1]), ("residual", -1), ("iterations", "x"), ("iterations", {}), ("iterations", 1e300),
        ("converged", "yes"), ("converged", 1),
    ],
)  # fmt: skip
def test_tensors(place, value, tmp_path):
    with pytest.raises(tenfold.DataError, match="m.tenfold.*'facts'"):
        tenfold.tensor.load(changed("tensor", tmp_path / "m.tenfold", put(place, value)))
