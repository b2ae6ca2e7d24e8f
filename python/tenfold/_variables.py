"""Columns of arrays, DataFrames and sparse matrices as observed variables of a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tenfold import _core
from tenfold._arguments import characters
from tenfold._missing import is_missing

# Whole numbers with so many values or fewer are levels of a category, as the command line reads them.
MOST_LEVELS = 20
KINDS = ("category", "flags", "counts", "real")


class Variable(NamedTuple):
    """An observed variable: its name, its kind, and the names of its levels or numbers."""

    name: str
    kind: str
    labels: list[str]

    @property
    def width(self) -> int:
        """How many numbers a row may hold of it."""
        return len(self.labels) - (self.kind == "category")


def is_frame(X: Any) -> bool:
    """Whether X is a DataFrame of pandas or polars, whose columns have names and types of their own."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_columns"))


def columns_of(X: Any) -> tuple[list[str], list[NDArray[Any]]]:
    """Names and columns of a DataFrame or an array of two dimensions."""
    if is_frame(X):
        columns = X.get_columns() if hasattr(X, "get_columns") else [X.iloc[:, i] for i in range(X.shape[1])]
        return names_of(X), [_plain(column) for column in columns]
    table = np.asarray(X)
    return names_of(table), [table[:, i] for i in range(table.shape[1])]


def _plain(series: Any) -> NDArray[Any]:
    """A column as numbers where it holds numbers, otherwise as objects."""
    if hasattr(series.dtype, "categories"):
        # Levels, whatever they are written as.
        return np.asarray(series, dtype=object)
    values = np.asarray(series)
    if values.dtype.kind in "fiub":
        return values
    if getattr(series.dtype, "kind", "O") in "fiu":
        # Numbers of pandas among which some are NA.
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(series, dtype=object)


def text_of(value: Any) -> str:
    """A level's name: whole numbers without a point, truth values as yes and no are left as they are."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def variable_of(name: str, column: NDArray[Any], kind: str | None) -> Variable:
    """The variable that a column holds. The most frequent level of a category comes first."""
    if kind in ("real", "counts", "flags"):
        return Variable(name, kind, [name])
    seen = column[~is_missing(column)]
    if kind is None and column.dtype.kind in "fiu":
        # Fractions are numbers; so are whole numbers with many values.
        if not np.all(np.equal(np.mod(seen, 1), 0)) or len(np.unique(seen)) > MOST_LEVELS:
            return Variable(name, "real", [name])
    labels, counts = np.unique([text_of(x) for x in seen], return_counts=True)
    characters(f"in column {name!r} the level", [str(label) for label in labels])
    order = sorted(range(len(labels)), key=lambda i: (-counts[i], labels[i]))
    return Variable(name, "category", [str(labels[i]) for i in order] or ["none"])


def variables_of(X: Any, kinds: dict[str, str] | None, groups: dict[str, str] | None) -> list[Variable]:
    """The variables of X; columns of one group become one variable with as many numbers."""
    kinds, groups = _by_column("kinds", kinds), _by_column("groups", groups)
    if sparse.issparse(X):
        names = names_of(X)
        columns = X.tocsc()
        ones = [bool(np.all(columns.data[a:b] == 1)) for a, b in zip(columns.indptr[:-1], columns.indptr[1:])]
        each = [
            Variable(name, kinds.get(name, "flags" if flag else "real"), [name]) for name, flag in zip(names, ones)
        ]
    else:
        names, columns = columns_of(X)
        each = [variable_of(name, column, kinds.get(name)) for name, column in zip(names, columns)]
    for argument, given in (("kinds", kinds), ("groups", groups)):
        strangers = [name for name in given if name not in names]
        if strangers:
            shown = ", ".join(repr(name) for name in names[:3]) + (", …" if len(names) > 3 else "")
            raise ValueError(f"{argument} names {strangers[0]!r}, which is no column of X; its columns are {shown}")
    if not groups:
        return each
    grouped: dict[str, list[Variable]] = {}
    for variable in each:
        grouped.setdefault(groups.get(variable.name, variable.name), []).append(variable)
    return [_joined(name, members) for name, members in grouped.items()]


def _by_column(argument: str, given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(part, str) for pair in given.items() for part in pair):
        usual = "'real'" if argument == "kinds" else "'name of the group'"
        raise ValueError(f"{argument} = {given!r} is no dictionary of str: give {{'name of the column': {usual}}}")
    characters(argument, given.values())
    return dict(given)


def _joined(name: str, members: list[Variable]) -> Variable:
    if len(members) == 1 and members[0].name == name:
        return members[0]
    kinds = {member.kind for member in members}
    if len(kinds) > 1 or "category" in kinds:
        told = ", ".join(sorted(kinds))
        raise ValueError(
            f"the columns of the group {name!r} are {told}; a group has flags, counts or real numbers: say so with kinds"
        )
    return Variable(name, members[0].kind, [member.name for member in members])


def names_of(X: Any) -> list[str]:
    """What the columns of X are called; those of arrays and sparse matrices are counted."""
    if is_frame(X):
        return characters("the column", [str(name) for name in X.columns])
    return [f"x{i}" for i in range(X.shape[1])]


def _columns_by_name(X: Any, names: list[str]) -> Callable[[str], NDArray[Any]]:
    at = {name: i for i, name in enumerate(names)}
    if len(at) < len(names):
        twice = next(name for i, name in enumerate(names) if at[name] != i)
        raise ValueError(f"X has two columns {twice!r}: rename one")
    compressed = X.tocsc() if sparse.issparse(X) else None
    columns = [] if sparse.issparse(X) else columns_of(X)[1]

    def column(name: str) -> NDArray[Any]:
        if name not in at:
            shown = ", ".join(repr(known) for known in names[:3]) + (", …" if len(names) > 3 else "")
            raise ValueError(
                f"the model has a column {name!r}, which X does not: its columns are {shown}; give a DataFrame with the columns of the fit"
            )
        if compressed is not None:
            return np.asarray(compressed[:, [at[name]]].todense()).ravel()
        return columns[at[name]]

    return column


def _numbers(name: str, kind: str, values: NDArray[Any], empty: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The numbers of a column, 0 where they are missing; an error names the first that its kind has no place for."""
    try:
        numbers: NDArray[np.float64] = np.where(empty, 0.0, values).astype(np.float64)
    except (TypeError, ValueError):
        first = next((x for x, e in zip(values, empty) if not e and not _is_number(x)), None)
        raise ValueError(f"the column {name!r} holds {first!r}, which is no number: say kinds[{name!r}] = 'category'") from None
    if kind == "flags":
        wrong, what = (numbers != 0) & (numbers != 1), "flags are 0 or 1: 'counts' and 'real' take other numbers"
    elif kind == "counts":
        wrong, what = (numbers < 0) | (numbers != np.rint(numbers)), "counts are whole numbers from 0 on: 'real' takes others"
    else:
        wrong, what = np.isinf(numbers), "numbers must be finite: give NaN where they are not known"
    rows = np.flatnonzero(wrong)
    if len(rows):
        raise ValueError(f"the column {name!r} holds {numbers[rows[0]]:g} in row {rows[0]} (counted from 0), but {what}")
    return numbers


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def encode(X: Any, variables: list[Variable], names: list[str] | None = None) -> _core.TreeSamples:
    """X as sparse rows of features, for variables that were met before. A level that was not is missing.

    ``names`` are those of the columns, where they stand in the order of the fit and are called otherwise here.
    """
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    column = _columns_by_name(X, names_of(X) if names is None else names)
    row_parts, feature_parts, value_parts = [], [], []
    gap_rows, gaps = [], []
    start = 0
    for number, variable in enumerate(variables):
        holes = np.zeros(rows, bool)
        sources = [variable.name] if variable.kind == "category" else variable.labels
        for offset, source in enumerate(sources):
            values = column(source)
            empty = is_missing(values)
            if variable.kind == "category":
                code = {label: i for i, label in enumerate(variable.labels)}
                codes = np.array([-1 if e else code.get(text_of(x), -1) for x, e in zip(values, empty)], np.int64)
                empty = codes < 0
                numbers, places = np.ones(rows), start + codes - 1
                shown = codes > 0
            else:
                numbers = _numbers(source, variable.kind, values, empty)
                places = np.full(rows, start + offset)
                shown = numbers != 0.0
            holes |= empty
            row_parts.append(np.flatnonzero(shown))
            feature_parts.append(places[shown])
            value_parts.append(numbers[shown])
        gap_rows.append(np.flatnonzero(holes))
        gaps.append(np.full(int(holes.sum()), number))
        start += variable.width
    row, feature = np.concatenate(row_parts), np.concatenate(feature_parts)
    value = np.concatenate(value_parts)
    gap_row, gap = np.concatenate(gap_rows), np.concatenate(gaps)
    # A variable of which one number is missing is missing in whole.
    if len(gap):
        owner = np.repeat(np.arange(len(variables)), [v.width for v in variables])
        keep = ~np.isin(row * len(variables) + owner[feature], gap_row * len(variables) + gap)
        row, feature, value = row[keep], feature[keep], value[keep]
    order, gap_order = np.lexsort((feature, row)), np.lexsort((gap, gap_row))
    return {
        "variables": [(v.name, v.kind, v.labels) for v in variables],
        "starts": np.searchsorted(row[order], np.arange(rows + 1)).astype(np.int64),
        "features": feature[order].astype(np.uint32),
        "values": value[order].astype(np.float64),
        "missing_starts": np.searchsorted(gap_row[gap_order], np.arange(rows + 1)).astype(np.int64),
        "missing": gap[gap_order].astype(np.uint32),
    }
