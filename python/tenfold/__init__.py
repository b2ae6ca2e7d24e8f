"""Hidden factors in data by the method of moments and tensor decomposition.

The estimators follow scikit-learn: :class:`Topics` finds topics in text, :class:`Communities` overlapping communities in
graphs, :class:`Motifs` what repeats anywhere in signals, :class:`Trees` hidden causes above observed variables, :class:`Cells` cell
types from tissue images, :class:`Sentences` word vectors and phrase templates, :class:`ICA` independent sources of mixed signals;
:mod:`tenfold.tensor` decomposes tensors, and :mod:`tenfold.spark` works on DataFrames of Spark. Each fit carries a verdict on itself, gives the same answer for the same seed on any number of threads, and is saved in the file that the
command ``tenfold`` and the Rust library read too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenfold._core import DataError, __version__

if TYPE_CHECKING:
    from tenfold._base import FitWarning, Verdict, load
    from tenfold.cells import Cells
    from tenfold.communities import Communities
    from tenfold.ica import ICA
    from tenfold.motifs import Motifs
    from tenfold.sentences import Sentences
    from tenfold.topics import Topics
    from tenfold.trees import Trees

__all__ = [
    "Cells",
    "Communities",
    "DataError",
    "FitWarning",
    "ICA",
    "Motifs",
    "Sentences",
    "Topics",
    "Trees",
    "Verdict",
    "__version__",
    "load",
]

# The estimator for every kind of model file.
ESTIMATORS = {
    "cells": "Cells",
    "communities": "Communities",
    "ica": "ICA",
    "motifs": "Motifs",
    "sentences": "Sentences",
    "topics": "Topics",
    "trees": "Trees",
}

# Where a name is found. Nothing is imported before it is asked for: the command `tenfold` must not wait for
# scikit-learn.
_HOMES = {
    "Cells": "tenfold.cells",
    "Communities": "tenfold.communities",
    "FitWarning": "tenfold._base",
    "Verdict": "tenfold._base",
    "load": "tenfold._base",
    "ICA": "tenfold.ica",
    "Motifs": "tenfold.motifs",
    "Sentences": "tenfold.sentences",
    "Topics": "tenfold.topics",
    "Trees": "tenfold.trees",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in ("cells", "spark", "tensor"):
        return import_module(f"tenfold.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'tenfold' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
