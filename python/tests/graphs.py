"""Graphs with known communities, and the folder of public ones."""

from __future__ import annotations

import os
import pathlib
from typing import NamedTuple

import numpy as np
import pytest


class Drawn(NamedTuple):
    """An adjacency matrix and the block of every node."""

    matrix: np.ndarray
    labels: np.ndarray


def blocks(nodes: int = 120, k: int = 3, seed: int = 0) -> Drawn:
    """A plain block model."""
    rng = np.random.default_rng(seed)
    labels = np.arange(nodes) * k // nodes
    odds = np.where(labels[:, None] == labels, 0.5, 0.05)
    upper = np.triu(rng.random((nodes, nodes)) < odds, 1)
    return Drawn((upper | upper.T).astype(float), labels)


def shared(name: str) -> pathlib.Path:
    """A public graph beside the project, or the test is skipped with a line that says what it needs."""
    beside = pathlib.Path(__file__).parents[3] / "shared" / "data"
    path = pathlib.Path(os.environ.get("TENFOLD_DATA", beside)) / "graphs" / name
    if not path.is_file():
        pytest.skip(f"needs the public graph {name}: set TENFOLD_DATA, or have ../shared/data/graphs")
    return path
