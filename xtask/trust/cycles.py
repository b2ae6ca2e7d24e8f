"""Small data with known factors and one cycle of every application: fit, infer, report, save and load.

What the pieces ``load`` and ``soak`` share. A cycle is deterministic: its fingerprint is the hash of all that the model
says and of what was inferred, so that any two cycles of one application can be compared byte for byte.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.cells import detect

warnings.simplefilter("ignore")


def counts() -> np.ndarray:
    """Documents of three topics over sixty words."""
    rng = np.random.default_rng(1)
    topics = np.kron(np.eye(3), np.full(20, 1 / 20))
    return np.array([rng.multinomial(40, p) for p in rng.dirichlet([0.2] * 3, size=400) @ topics])


def texts() -> list[str]:
    rng = np.random.default_rng(2)
    words = [[f"{stem}{i}" for i in range(15)] for stem in ("sea", "bread", "stone")]
    return [" ".join(rng.choice(words[i % 3], size=12)) for i in range(300)]


def graph() -> np.ndarray:
    rng = np.random.default_rng(3)
    of = np.arange(120) // 40
    edges = np.triu(rng.random((120, 120)) < np.where(of[:, None] == of, 0.4, 0.03), 1)
    return (edges | edges.T).astype(float)


def mixed() -> np.ndarray:
    rng = np.random.default_rng(4)
    return rng.laplace(size=(2000, 4)) @ rng.standard_normal((4, 4))


def signals() -> np.ndarray:
    rng = np.random.default_rng(5)
    taps = rng.standard_normal((2, 8))
    fired = rng.poisson(0.05, size=(200, 2, 32)).astype(float)
    return np.fft.ifft((np.fft.fft(fired, axis=2) * np.fft.fft(taps, 32, axis=1)).sum(axis=1), axis=1).real


def table() -> np.ndarray:
    rng = np.random.default_rng(6)
    first = rng.integers(2, size=1000)
    second = np.where(rng.random(1000) < 0.75, first, 1 - first)
    causes = np.repeat(np.stack([first, second], axis=1), 4, axis=1)
    return causes ^ (rng.random(causes.shape) < 0.12)


def image() -> np.ndarray:
    rng = np.random.default_rng(7)
    y, x = np.mgrid[:120, :120]
    centres = [(a + rng.uniform(-4, 4), b + rng.uniform(-4, 4)) for a in range(25, 110, 35) for b in range(25, 110, 35)]
    light = sum(120 * np.exp(-np.log(2) * ((x - a) ** 2 + (y - b) ** 2) / 36) for a, b in centres)
    return 60 + light + rng.normal(0, 6, (120, 120))


# A fitted model, and what infers by it: a model that comes back from its file must infer the same.
Fitted = tuple[Any, Callable[[Any], np.ndarray]]


def plain(model: Any, data: Any, new: Any = None) -> Fitted:
    """Infers for the data of the fit, or for new ones."""
    asked = data if new is None else new
    return model.fit(data), lambda fitted: np.asarray(fitted.transform(asked))


def found_cells(jobs: int | None) -> Fitted:
    """Cells are found in an image too; types are those of counts."""
    fitted, mixtures = plain(tenfold.Cells(3, restarts=1, n_jobs=jobs), counts())

    def inferred(model: Any) -> np.ndarray:
        cells = detect(image())
        return np.concatenate([mixtures(model).ravel(), np.asarray(cells["x"]), np.asarray(cells["r1"])])

    return fitted, inferred


def communities(jobs: int | None) -> Fitted:
    """New nodes are placed: those of the fit are known to the model that saw them, and not to its file."""
    links = np.random.default_rng(8).random((20, 120)) < np.repeat(np.eye(3), 40, axis=1)[np.arange(20) % 3] * 0.3 + 0.02
    return plain(tenfold.Communities(3, n_jobs=jobs), graph(), links.astype(float))


def on_disk(jobs: int | None) -> Fitted:
    """Topics of documents that lie in a temporary file: its handle must go with the corpus."""
    return plain(tenfold.Topics(3, memory_limit=0, n_jobs=jobs), counts())


APPLICATIONS: dict[str, Callable[[int | None], Fitted]] = {
    "topics": lambda jobs: plain(tenfold.Topics(3, n_jobs=jobs), counts()),
    "topics of text": lambda jobs: plain(tenfold.Topics(3, n_jobs=jobs), texts()),
    "topics on disk": on_disk,
    "communities": communities,
    "ica": lambda jobs: plain(tenfold.ICA(4, n_jobs=jobs), mixed()),
    "motifs": lambda jobs: plain(tenfold.Motifs(2, length=8, cyclic=True, n_jobs=jobs), signals()),
    "sentences": lambda jobs: plain(
        tenfold.Sentences(dimensions=12, n_templates=8, template_length=3, min_count=1, n_jobs=jobs), texts()
    ),
    "trees": lambda jobs: plain(tenfold.Trees(2, bootstrap=2, n_jobs=jobs), table()),
    "cells": found_cells,
}


def without_clocks(value: Any) -> Any:
    """Facts of a model without the seconds that its stages took, the one thing in it that is never the same."""
    if isinstance(value, dict):
        return {key: without_clocks(inner) for key, inner in value.items() if "seconds" not in key}
    return [without_clocks(inner) for inner in value] if isinstance(value, list) else value


def fingerprint(fitted: Any, inferred: np.ndarray) -> str:
    """All that a fit says, and all arrays that it gives."""
    told = hashlib.sha256(json.dumps(without_clocks(json.loads(fitted._model.facts())), sort_keys=True).encode())
    # Some make their components when they are asked for.
    for name in sorted({*vars(fitted), "components_"}):
        value = getattr(fitted, name, None)
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
            told.update(np.ascontiguousarray(value).tobytes())
    told.update(np.ascontiguousarray(inferred).tobytes())
    return told.hexdigest()


def cycle(name: str, jobs: int | None = None) -> str:
    """Fit, infer, report, save, load and infer again; gives the fingerprint of it."""
    fitted, infer = APPLICATIONS[name](jobs)
    inferred = infer(fitted)
    with tempfile.TemporaryDirectory() as folder:
        fitted.report(Path(folder) / "page.html")
        fitted.save(Path(folder) / "model.tenfold")
        again = tenfold.load(Path(folder) / "model.tenfold")
    first, second = (without_clocks(json.loads(model._model.facts())) for model in (fitted, again))
    if json.dumps(first, sort_keys=True) != json.dumps(second, sort_keys=True):
        raise AssertionError(f"{name}: a model came back from its file as another")
    if inferred.tobytes() != infer(again).tobytes():
        raise AssertionError(f"{name}: a model from its file infers otherwise than the fitted one")
    return fingerprint(fitted, inferred)
