"""Fits that are cut off go on where they were, to the same bytes."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.cells import detect

pytestmark = pytest.mark.filterwarnings("ignore")


class CutOff(Exception):
    """Raised by a listener in the middle of a fit."""


def counts(documents=4000, words=500):
    rng = np.random.default_rng(1)
    topics = rng.dirichlet([0.05] * words, size=5)
    return np.array([rng.multinomial(60, p) for p in rng.dirichlet([0.2] * 5, size=documents) @ topics])


def graph(nodes=1600):
    rng = np.random.default_rng(2)
    of = np.arange(nodes) // (nodes // 4)
    edges = np.triu(rng.random((nodes, nodes)) < np.where(of[:, None] == of, 0.3, 0.03), 1)
    return (edges | edges.T).astype(float)


def signals():
    rng = np.random.default_rng(3)
    taps = np.fft.fft(rng.standard_normal((3, 16)), 64, axis=1)
    fired = np.fft.fft(rng.poisson(0.05, size=(1500, 3, 64)), axis=2)
    return np.fft.ifft((fired * taps).sum(axis=1), axis=1).real


def texts():
    rng = np.random.default_rng(4)
    words = [[f"{stem}{i}" for i in range(60)] for stem in ("sea", "bread", "stone")]
    return [" ".join(rng.choice(words[i % 3], size=12)) for i in range(1500)]


def table():
    rng = np.random.default_rng(5)
    causes = [rng.integers(2, size=4000)]
    for _ in range(5):
        causes.append(np.where(rng.random(4000) < 0.75, causes[-1], 1 - causes[-1]))
    seen = np.repeat(np.stack(causes, axis=1), 5, axis=1)
    return seen ^ (rng.random(seen.shape) < 0.12)


def image():
    rng = np.random.default_rng(6)
    y, x = np.mgrid[:41, :41] - 20
    light = np.zeros((1300, 1300))
    for a in range(40, 1260, 80):
        for b in range(40, 1260, 80):
            light[a - 20 : a + 21, b - 20 : b + 21] += 120 * np.exp(-np.log(2) * (x**2 + y**2) / rng.uniform(25, 49))
    return 60 + light + rng.normal(0, 6, light.shape)


def fitted(model, data):
    model.fit(data)
    return b"".join(
        np.ascontiguousarray(value).tobytes()
        for name, value in sorted(vars(model).items())
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind in "fiu"
    )


def found(pixels, **how):
    return b"".join(values.tobytes() for values in detect(pixels, **how).values())


FITS = {
    "topics": (counts, lambda data, **how: fitted(tenfold.Topics(5, **how), data)),
    "communities": (graph, lambda data, **how: fitted(tenfold.Communities(4, **how), data)),
    "ica": (
        lambda: np.random.default_rng(7).laplace(size=(200000, 12)) @ np.random.default_rng(8).normal(size=(12, 12)),
        lambda data, **how: fitted(tenfold.ICA(**how), data),
    ),
    "motifs": (signals, lambda data, **how: fitted(tenfold.Motifs(3, length=16, cyclic=True, **how), data)),
    "sentences": (texts, lambda data, **how: fitted(tenfold.Sentences(dimensions=20, **how), data)),
    "trees": (table, lambda data, **how: fitted(tenfold.Trees(2, bootstrap=5, **how), data)),
    "cells": (counts, lambda data, **how: fitted(tenfold.Cells(5, **how), data)),
    "detection": (image, found),
}


@pytest.mark.parametrize("name", FITS)
def test_a_fit_that_was_cut_off_goes_on_to_the_same_bytes(name, tmp_path):
    make, fit = FITS[name]
    data, folder, heard = make(), tmp_path / "kept", []

    def cut(stage, done, total):
        if list(folder.glob("*.stage")):
            raise CutOff

    with pytest.raises(CutOff):
        fit(data, checkpoint=folder, verbose=cut)
    assert list(folder.glob("*.stage"))
    with pytest.raises(ValueError, match="holds the checkpoint of another fit"):
        fit(data[::2], checkpoint=folder)
    # On other threads than before.
    again = fit(data, checkpoint=str(folder), n_jobs=1, verbose=lambda stage, *_: heard.append(stage))
    assert any(stage.startswith("taken over: ") for stage in heard)
    assert again == fit(data)
    assert not folder.exists()
