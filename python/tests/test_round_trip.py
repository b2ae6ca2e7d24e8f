"""A model that comes back from bytes or a file infers what the fitted one does, byte for byte."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.ndimage import convolve

import tenfold

pytestmark = pytest.mark.filterwarnings("ignore")


def counts():
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.full(8, 1 / 8))
    return np.array([rng.multinomial(40, p) for p in rng.dirichlet([0.2] * 3, size=200) @ topics])


def texts():
    rng = np.random.default_rng(1)
    words = [[f"{stem}{i}" for i in range(15)] for stem in ("sea", "bread", "stone")]
    return [" ".join(rng.choice(words[i % 3], size=12)) for i in range(200)]


def signals(channels=1):
    rng = np.random.default_rng(2)
    X = rng.laplace(size=(60, channels, 64))
    return X[:, 0] if channels == 1 else X


def images():
    rng = np.random.default_rng(3)
    motif = rng.standard_normal((3, 3))
    return np.stack([convolve((rng.random((24, 24)) < 0.02).astype(float), motif) for _ in range(40)])


def table():
    rng = np.random.default_rng(4)
    causes = np.repeat(rng.integers(2, size=(600, 2)), 3, axis=1)
    return causes ^ (rng.random(causes.shape) < 0.1)


def frame():
    named = pd.DataFrame(table().astype(float), columns=list("abcdef"))
    return named.assign(colour=np.where(named["a"] == 1, "red", "blue"))


def graph():
    rng = np.random.default_rng(5)
    of = np.arange(90) // 30
    edges = np.triu(rng.random((90, 90)) < np.where(of[:, None] == of, 0.5, 0.05), 1)
    return (edges | edges.T).astype(float)


def new_nodes():
    """Nodes of the fit are known to the model that saw them, and not to its file."""
    return (np.random.default_rng(6).random((10, 90)) < 0.2).astype(float)


def tissue():
    rng = np.random.default_rng(7)
    of = rng.integers(3, size=600)
    numbers = {name: 4 + 2 * of + rng.normal(0, 0.3, 600) for name in ("r1", "r2", "intensity")}
    places = {name: rng.uniform(0, 500, 600) for name in ("x", "y", "orientation")}
    return pd.DataFrame({"gene": [f"g{3 * t + rng.integers(3)}" for t in of], **places, **numbers})


CASES = {
    "cells of a table": (tenfold.Cells(3, restarts=1), tissue, None, ()),
    "cells of counts": (tenfold.Cells(3, restarts=1), counts, None, ("score",)),
    "communities": (tenfold.Communities(3), graph, new_nodes, ("score",)),
    "communities, directed": (tenfold.Communities(3, kind="directed"), graph, new_nodes, ("score",)),
    "ica": (tenfold.ICA(), lambda: np.random.default_rng(8).laplace(size=(500, 4)), None, ("score", "inverse_transform")),
    "motifs": (tenfold.Motifs(2, length=8, rate=50.0), signals, None, ("score", "decode", "reconstruct")),
    "motifs, cyclic": (tenfold.Motifs(2, length=8, cyclic=True), signals, None, ("score", "decode", "reconstruct")),
    "motifs of channels": (tenfold.Motifs(2, length=8), lambda: signals(2), None, ("score", "decode", "reconstruct")),
    "motifs of images": (tenfold.Motifs(1, images=True), images, None, ("score", "decode", "reconstruct")),
    "sentences": (tenfold.Sentences(dimensions=8, n_templates=4, template_length=2, min_count=1), texts, None, ()),
    "topics of counts": (tenfold.Topics(3), counts, None, ("score",)),
    "topics of text": (tenfold.Topics(3), texts, None, ("score",)),
    "topics, more than there are": (tenfold.Topics(30), counts, None, ("score",)),
    "trees of an array": (tenfold.Trees(2, bootstrap=0), table, None, ("score_samples", "predict_proba")),
    "trees of a frame": (tenfold.Trees(2, bootstrap=0), frame, None, ("score_samples", "predict_proba")),
    "trees of groups": (
        tenfold.Trees(2, bootstrap=0, kinds={"a": "flags", "b": "flags"}, groups={"a": "both", "b": "both"}),
        frame,
        None,
        ("score_samples", "predict_proba"),
    ),
}


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return np.asarray(one).dtype == np.asarray(other).dtype and np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_every_estimator_is_here():
    assert {type(case[0]).__name__ for case in CASES.values()} == set(tenfold.ESTIMATORS.values())


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_infers_as_the_fitted_one(name, tmp_path):
    estimator, data, new, methods = CASES[name]
    X = data()
    fitted = estimator.fit(X)
    asked = X if new is None else new()
    fitted.save(tmp_path / "m.tenfold")
    loaded = (type(fitted).from_bytes(fitted.to_bytes()), tenfold.load(tmp_path / "m.tenfold"))
    for model in loaded:
        assert same(model.transform(asked), fitted.transform(asked))
        for method in methods:
            given = fitted.transform(asked) if method == "inverse_transform" else asked
            assert same(getattr(model, method)(given), getattr(fitted, method)(given)), method


def test_one_row_is_no_motif_of_images():
    with pytest.raises(ValueError, match="rows, columns"):
        tenfold.Motifs(1, length=8, images=True).fit(images())
