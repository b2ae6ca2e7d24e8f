"""Graphs in the many forms in which Python holds them, brought to the few that compiled code reads.

networkx, igraph, pandas, polars and Arrow are known by what their objects offer; none of them is ever imported here.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from tenfold import _core
from tenfold._arguments import characters
from tenfold._missing import as_numbers, is_hole
from tenfold._sparse import sound, summed

# The types of numbers that compiled code reads where they lie.
READ = (np.float64, np.float32, np.int64, np.int32, np.uint64, np.uint32, np.uint8)


class Given(NamedTuple):
    """A graph for compiled code, and what its nodes are called in Python."""

    source: _core.GraphSource
    # Ids under the names that compiled code knows them by; None where ids are numbers.
    objects: dict[str, Any] | None


def listed(X: Any, weight: str | None) -> Any:
    """Edges of any iterable as a list: of networkx's views, a set, a zip, a generator; everything else as it is."""
    if isinstance(X, (list, tuple, str, bytes, os.PathLike, dict)) or not hasattr(X, "__iter__"):
        return _weighed(X, weight) if isinstance(X, list) else X
    known = ("shape", "column_names", "get_columns", "vcount", "adjacency")
    return X if any(hasattr(X, name) for name in known) else _weighed(list(X), weight)


def _weighed(X: list[Any], weight: str | None) -> list[Any]:
    """Triples whose third is a dictionary, as ``G.edges(data=True)`` gives them, with the weight in its place."""
    if not X or not all(isinstance(x, tuple) and len(x) == 3 and isinstance(x[2], dict) for x in X):
        return X
    if weight is not None and all(weight in x[2] for x in X):
        return [(*x[:2], x[2][weight]) for x in X]
    return [x[:2] for x in X]


def form_of(X: Any, asked: str) -> str:
    """What X is: "file", "network", "edges" or "matrix"."""
    if isinstance(X, (str, os.PathLike)):
        return "file"
    if is_networkx(X) or is_igraph(X):
        return "network"
    if asked != "auto":
        return asked
    if sparse.issparse(X):
        return "matrix"
    if isinstance(X, tuple) and len(X) in (2, 3) and all(_is_column(part) for part in X):
        return "edges"
    if isinstance(X, (list, tuple)):
        return "edges" if _are_pairs(X) else "matrix"
    columns = columns_of(X)
    shape: tuple[int, ...] = (len(columns[0]), len(columns)) if columns else getattr(X, "shape", ())
    if len(shape) != 2 or shape[1] not in (2, 3) or shape[0] == shape[1]:
        return "matrix"
    return "edges" if columns or _holds_edges(X) else "matrix"


def given_of(X: Any, kind: str | None, weight: str | None, asked: str) -> Given:
    """A graph in any form but that of a file; a matrix is checked as others check it."""
    X = listed(X, weight)
    form = form_of(X, asked)
    if form == "network":
        return of_network(X, kind, weight)
    if form == "edges":
        return of_edges(X, kind)
    if form == "file":
        raise ValueError("a file is read by fit only; give a matrix, a graph or edges")
    checked = check_array(sound(X), accept_sparse="csr", dtype="numeric", ensure_non_negative=True)
    return of_matrix(summed(checked), kind)


def is_networkx(X: Any) -> bool:
    """Whether X is a graph of networkx."""
    return all(hasattr(X, name) for name in ("nodes", "edges", "adjacency", "is_directed"))


def is_igraph(X: Any) -> bool:
    """Whether X is a graph of igraph."""
    return all(hasattr(X, name) for name in ("vcount", "get_edgelist", "vs", "es"))


def columns_of(X: Any) -> list[Any] | None:
    """The columns of a table of pandas, polars or Arrow; None for anything else."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return [X.iloc[:, j].to_numpy() for j in range(X.shape[1])]
    if hasattr(X, "get_columns"):
        return [column.to_numpy() for column in X.get_columns()]
    if hasattr(X, "column_names") and hasattr(X, "column"):
        # A column in several chunks has no argument for what an array must be told.
        chunked = hasattr(X, "to_batches")
        parts = [X.column(j) for j in range(X.num_columns)]
        return [part.to_numpy() if chunked else part.to_numpy(zero_copy_only=False) for part in parts]
    return None


def _is_column(part: Any) -> bool:
    shape = getattr(part, "shape", None)
    if shape is not None:
        return len(shape) == 1
    return isinstance(part, list) and not any(isinstance(x, (list, np.ndarray)) for x in part[:1])


def _are_pairs(X: Sequence[Any]) -> bool:
    """Whether a list holds pairs of ids and not rows of a matrix: tuples, or lists of ids that are whole numbers or none."""
    if X and all(isinstance(x, tuple) and len(x) in (2, 3) for x in X):
        return True
    if not X or not all(isinstance(x, (list, tuple)) and len(x) in (2, 3) for x in X) or len(X) == len(X[0]) == 3:
        return False
    plain = all(isinstance(end, (int, float, np.number)) for x in X for end in x)
    return not plain or (len(X) != len(X[0]) and all(float(end).is_integer() for x in X for end in x[:2]))


def _holds_edges(X: Any) -> bool:
    """Whether an array of two or three columns holds ids: text, whole numbers, or whole numbers before weights."""
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in "iuUSO":
        return bool(kind)
    if kind != "f":
        return False
    ends = np.asarray(X)[:, :2]
    return bool(len(ends)) and bool(np.all(np.isfinite(ends)) and np.all(ends >= 0) and np.all(ends == np.floor(ends)))


def numbers(values: Any) -> NDArray[Any]:
    """The array as compiled code reads it; only unusual types of numbers are copied."""
    values = np.asarray(values)
    if values.dtype == np.bool_:
        values = values.view(np.uint8)
    if not any(values.dtype == known for known in READ):
        wide = {"i": np.int64, "u": np.uint64}.get(values.dtype.kind, np.float64)
        values = values.astype(wide)
    return np.require(values, requirements="A") if not values.flags.aligned else values


def source_of(**parts: Any) -> _core.GraphSource:
    """A graph for compiled code; what is not named is not there."""
    nothing: _core.GraphSource = {
        "dense": None, "rows": None, "columns": None, "values": None, "shape": None,
        "ids": None, "other_ids": None, "declared": False, "kind": None, "weighted": None,
    }  # fmt: skip
    return {**nothing, **parts}  # type: ignore[typeddict-item]


def of_matrix(X: Any, kind: str | None, names: tuple[list[str] | None, list[str] | None] = (None, None)) -> Given:
    """A checked matrix, dense or in rows of scipy."""
    parts: dict[str, Any] = {"shape": X.shape, "kind": kind, "ids": names[0], "other_ids": names[1]}
    if sparse.issparse(X):
        parts |= {"rows": numbers(X.indptr), "columns": numbers(X.indices), "values": numbers(X.data)}
    else:
        dense = X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)
        parts["dense"] = dense if dense.flags.aligned else np.require(dense, requirements="A")
    return Given(source_of(**parts), None)


def of_edges(X: Any, kind: str | None) -> Given:
    """Edges with or without weights, between ids of any kind."""
    start, end, weights = ends_of(X)
    parts: dict[str, Any] = {"kind": kind, "values": None if weights is None else numbers(weights)}
    if len(start) and all(_are_numbers(ids) for ids in (start, end)):
        return Given(source_of(rows=numbers(start), columns=numbers(end), **parts), None)
    if any(is_hole(x) for ids in (start, end) for x in ids):
        raise ValueError("an edge has an end without an id (None or NaN); drop it, or give the node a name")
    places: dict[Hashable, int] = {}
    pairs = [(places.setdefault(a, len(places)), places.setdefault(b, len(places))) for a, b in zip(start, end)]
    return _named(list(places), np.array(pairs, dtype=np.int64).reshape(-1, 2), parts)


def ends_of(X: Any) -> tuple[Any, Any, Any]:
    """Where edges begin, where they end, and their weights or None."""
    columns = columns_of(X)
    if columns is None and isinstance(X, tuple) and len(X) in (2, 3) and all(_is_column(part) for part in X):
        columns = [np.asarray(part) if len(part) else np.empty(0, np.int64) for part in X]
    if columns is None and isinstance(X, (list, tuple)):
        if not all(isinstance(x, (list, tuple)) and len(x) == len(X[0]) for x in X):
            raise ValueError("edges are pairs of ids, or triples with a weight, all of one length")
        columns = [_column([x[j] for x in X]) for j in range(len(X[0]) if X else 2)]
    if columns is None:
        table = np.asarray(X)
        columns = [table[:, j] for j in range(table.shape[1])] if table.ndim == 2 else []
    if len(columns) not in (2, 3) or any(len(column) != len(columns[0]) for column in columns):
        raise ValueError(
            f"edges have two columns of ids, or three with weights, of one length; these have {len(columns)}"
        )
    start, end = (_whole(column) for column in columns[:2])
    return start, end, as_numbers(columns[2]) if len(columns) == 3 else None


def _column(values: list[Any]) -> Any:
    """Numbers as an array, other ids as they are: text and numbers must not become one another."""
    if all(isinstance(x, Integral) and not isinstance(x, bool) for x in values):
        return np.array(values)
    return [x.item() if isinstance(x, np.generic) else x for x in values]


def _whole(column: Any) -> Any:
    """Whole numbers that stand as others beside weights."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        if not np.all(np.isfinite(column)) or np.any(column != np.floor(column)):
            raise ValueError("ids of nodes are whole numbers or names, but a column of ids holds fractions or NaN")
        # Beyond that the numbers of this type are no longer all whole ones: other ids may have become this one.
        most = 2.0 / float(np.finfo(column.dtype).eps)
        far = np.flatnonzero(np.abs(column) > most)
        if len(far):
            raise ValueError(
                f"the id {column[far[0]]:.17g} is no exact number in {column.dtype}, which tells whole numbers apart up to {most:.17g}: "
                "give ids as integers or text"
            )
        return column.astype(np.int64)
    return column.tolist() if isinstance(column, np.ndarray) and column.dtype.kind in "USO" else column


def _are_numbers(ids: Any) -> bool:
    if not isinstance(ids, np.ndarray) or ids.dtype.kind not in "iu":
        return False
    return ids.dtype.kind == "u" or bool(ids.min() >= 0)


def of_network(X: Any, kind: str | None, weight: str | None) -> Given:
    """A graph of networkx or igraph; all its nodes stay, in its own order."""
    told = kind or ("directed" if X.is_directed() else "undirected")
    if is_igraph(X):
        nodes = list(X.vs["name"]) if "name" in X.vs.attributes() else list(range(X.vcount()))
        pairs = np.array(X.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        values = X.es[weight] if weight is not None and weight in X.es.attributes() else None
    else:
        nodes = list(X.nodes)
        places = {node: place for place, node in enumerate(nodes)}
        edges = list(X.edges(data=weight, default=1)) if weight is not None else list(X.edges(data=False))
        pairs = np.array([(places[e[0]], places[e[1]]) for e in edges], dtype=np.int64).reshape(-1, 2)
        values = [e[2] for e in edges] if weight is not None else None
        if told == "bipartite":
            # networkx keeps the sides as an attribute, and the ends of an edge in any order.
            right = np.array([X.nodes[node].get("bipartite", 0) == 1 for node in nodes])
            turned = right[pairs[:, 0]] & ~right[pairs[:, 1]]
            pairs[turned] = pairs[turned][:, ::-1]
    parts: dict[str, Any] = {"kind": told, "declared": True}
    weights = None if values is None else as_numbers(values)
    if weights is not None and np.any(weights != 1):
        parts["values"] = weights
    return _named(nodes, pairs, parts)


def _named(nodes: list[Any], pairs: NDArray[np.int64], parts: dict[str, Any]) -> Given:
    """Nodes go in by text: their own where that tells them apart, as Python writes them where it does not."""
    names = characters("the id", [str(node) for node in nodes])
    if len(set(names)) < len(names):
        names = [repr(node) for node in nodes]
    if len(set(names)) < len(names):
        raise ValueError("two nodes have ids that cannot be told apart as text")
    source = source_of(rows=pairs[:, 0], columns=pairs[:, 1], ids=names, **parts)
    return Given(source, dict(zip(names, nodes)))


def ids_of(raw: Any, objects: dict[str, Any] | None) -> NDArray[Any]:
    """Ids as they were given: numbers as an array of numbers, others as objects."""
    if isinstance(raw, np.ndarray):
        return raw.astype(np.int64) if not len(raw) or raw[-1] < 2**63 else raw
    ids = [objects[name] for name in raw] if objects is not None else raw
    if objects is None and all(_is_number(name) for name in raw):
        ids = [int(name) for name in raw]
    if all(isinstance(x, Integral) and not isinstance(x, bool) for x in ids):
        try:
            return np.array(ids, dtype=np.int64)
        except OverflowError:
            pass
    out = np.empty(len(ids), dtype=object)
    for place, x in enumerate(ids):
        out[place] = x
    return out


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and (name == "0" or name[0] != "0")


def places_of(ids: Iterable[Any], known: NDArray[Any], what: str = "node") -> NDArray[np.int64]:
    """The places of ids among those of a model; an error names one that it does not have."""
    where = {x: place for place, x in enumerate(known.tolist())}
    asked = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    try:
        return np.array([where[x] for x in asked], dtype=np.int64)
    except KeyError as error:
        first = known[0] if len(known) else None
        raise ValueError(
            f"the model has no {what} {error.args[0]!r}; it has {len(known)}, which are called {first!r} and so on"
        ) from None
