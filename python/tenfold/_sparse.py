"""Sparse matrices of scipy, looked at before anything follows their indices: scipy itself does so without looking."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import sparse

from tenfold import _core


def sound(X: Any) -> Any:
    """X as it is; an error for a sparse matrix whose arrays do not fit together."""
    if not sparse.issparse(X):
        return X
    if len(X.shape) != 2:
        raise _core.DataError(f"X is a sparse array of {len(X.shape)} dimension: two are needed, rows and columns")
    try:
        if X.format in ("csr", "csc"):
            problem = _problem_of_lines(X)
        elif X.format == "coo":
            problem = _problem_of_places(X.row, X.col, X.shape) or _unlike(X.row, X.data)
        elif X.format == "bsr":
            problem = None
            # It cuts off what lies beyond the last entry: not from the matrix of the caller.
            copy.copy(X).check_format(full_check=True)
        else:
            problem = _problem_of_lists(X) if X.format == "lil" else None
            if problem is None:
                # Lists, diagonals and dictionaries: what they become tells what they are.
                X = X.tocsr()
                problem = _problem_of_lines(X)
    except _core.DataError:
        raise
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        problem = str(error)
    if problem is not None:
        name = str(getattr(X, "format", "sparse")).upper()
        raise _core.DataError(f"X is no {name} matrix: {problem}; build it by scipy's own functions")
    return X


def summed(X: Any) -> Any:
    """X, sound, without zeros, and with entries that stand several times at one place added up, as scipy reads them; a copy only where
    there are any."""
    X = sound(X)
    if not sparse.issparse(X):
        return X
    if X.format not in ("csr", "csc"):
        # Adds them up on the way.
        X = X.tocsr()
    # What was found out about a matrix stays with it, also where its arrays were changed since.
    fresh = _forgotten(copy.copy(X))
    if fresh.has_canonical_format and np.all(X.data[: X.indptr[-1]]):
        return X
    fresh = _forgotten(X.copy())
    fresh.sum_duplicates()
    # They say no more than places without an entry.
    fresh.eliminate_zeros()
    return fresh


def _forgotten(X: Any) -> Any:
    for flag in ("_has_sorted_indices", "_has_canonical_format"):
        X.__dict__.pop(flag, None)
    return X


def _problem_of_lines(X: Any) -> str | None:
    """What is wrong with the arrays of a matrix in rows or columns."""
    lines, across = X.shape if X.format == "csr" else X.shape[::-1]
    ends, places, values = X.indptr, X.indices, X.data
    if not all(array.ndim == 1 for array in (ends, places, values)):
        return "indptr, indices and data are not all of one dimension"
    if not all(array.dtype.kind in "iu" for array in (ends, places)):
        return "indptr and indices are not all whole numbers"
    if len(ends) != lines + 1:
        return f"indptr has {len(ends)} entries where {lines + 1} are needed"
    if ends[0] != 0 or np.any(ends[1:] < ends[:-1]):
        return "indptr does not rise from 0"
    entries = int(ends[-1])
    if entries > len(places) or entries > len(values):
        return f"indptr tells of {entries} entries, but indices has {len(places)} and data has {len(values)}"
    return _outside(places[:entries], across)


def _problem_of_lists(X: Any) -> str | None:
    """What is wrong with the lists of places and values, one of each for every row."""
    places, values = X.rows, X.data
    if not places.shape == values.shape == (X.shape[0],):
        return f"rows and data are not lists for each of {X.shape[0]} rows"
    unlike = [i for i, (a, b) in enumerate(zip(places, values)) if len(a) != len(b)]
    if unlike:
        i = unlike[0]
        return f"row {i} has {len(places[i])} places and {len(values[i])} values"
    return None


def _problem_of_places(rows: Any, columns: Any, shape: tuple[int, int]) -> str | None:
    return _unlike(rows, columns) or _outside(rows, shape[0]) or _outside(columns, shape[1])


def _unlike(one: Any, other: Any) -> str | None:
    return None if one.shape == other.shape and one.ndim == 1 else "its arrays are not all of one length"


def _outside(places: Any, across: int) -> str | None:
    if len(places) and (places.min() < 0 or places.max() >= across):
        wrong = places.min() if places.min() < 0 else places.max()
        return f"it has an entry at place {wrong} where there are {across}"
    return None
