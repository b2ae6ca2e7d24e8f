"""Data that several tests use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest


class Mixed(NamedTuple):
    """Sources, how they were mixed, and what was recorded."""

    sources: np.ndarray
    mixing: np.ndarray
    X: np.ndarray


def mixed(samples: int = 4000, seed: int = 0) -> Mixed:
    """Three sources of different kinds in three channels."""
    rng = np.random.default_rng(seed)
    sources = np.column_stack(
        [rng.laplace(size=samples), rng.uniform(-1, 1, samples), rng.exponential(size=samples)]
    )
    sources = (sources - sources.mean(0)) / sources.std(0)
    mixing = rng.normal(size=(3, 3))
    return Mixed(sources, mixing, sources @ mixing.T + [5.0, -1.0, 0.0])


@pytest.fixture(scope="session")
def recorded() -> Mixed:
    return mixed()
