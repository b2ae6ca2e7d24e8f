"""Values that are missing: None, NaN, NaT and pandas' NA."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_hole(x: Any) -> bool:
    """Only NaN, NaT and NA are not equal to themselves; NA answers neither yes nor no."""
    if x is None:
        return True
    try:
        return bool(x != x)
    except TypeError:
        return True
    except ValueError:
        # An array of several numbers: something, whatever it is.
        return False


def is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a column has no value."""
    if column.dtype.kind == "f":
        holes: NDArray[np.bool_] = np.isnan(column)
        return holes
    if column.dtype.kind in "iubUS":
        return np.zeros(len(column), bool)
    return np.array([is_hole(x) for x in column], bool)


def as_numbers(values: Any) -> NDArray[np.float64]:
    """Numbers of an array of any shape, NaN where they are missing."""
    table = np.asarray(values)
    if table.dtype.kind == "O":
        holes = is_missing(table.ravel()).reshape(table.shape)
        table = np.where(holes, np.nan, table)
    return table.astype(np.float64)
