"""Known communities in the forms in which Python holds them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold import _core
from tenfold._arguments import characters


def known_of(truth: Any, ids: NDArray[Any]) -> _core.KnownCommunities:
    """Known communities for compiled code."""
    if isinstance(truth, (str, os.PathLike)):
        return {"path": truth, "names": [], "entries": [], "weighted": False}
    names: dict[Any, int] = {}
    if getattr(truth, "ndim", 1) == 2:
        return _by_memberships(np.asarray(truth), len(ids))
    entries: list[tuple[int, int, float]] = []
    weighted = False
    for node, own in _told(truth, ids):
        if isinstance(own, Mapping):
            weighted = True
            entries += [(node, names.setdefault(c, len(names)), float(w)) for c, w in own.items()]
        else:
            several = own if isinstance(own, (list, tuple, set, frozenset, np.ndarray)) else [own]
            entries += [(node, names.setdefault(c, len(names)), 1.0) for c in several if not _missing(c)]
    if not entries:
        raise ValueError("the truth tells no community of a node of the graph; ids must be those of node_ids_")
    return {"path": None, "names": characters("the community", [str(name) for name in names]), "entries": entries, "weighted": weighted}


def _told(truth: Any, ids: NDArray[Any]) -> Iterable[tuple[int, Any]]:
    """Places of nodes with their communities."""
    where = {x: place for place, x in enumerate(ids.tolist())}
    if isinstance(truth, Mapping):
        return [(where[x], own) for x, own in truth.items() if x in where]
    values = truth.tolist() if hasattr(truth, "tolist") else list(truth)
    if values and all(isinstance(own, (list, tuple, set, frozenset, np.ndarray)) for own in values):
        return [(where[x], community) for community, own in enumerate(values) for x in own if x in where]
    if len(values) != len(ids):
        raise ValueError(f"{len(values)} labels for {len(ids)} nodes: one for every node of node_ids_ is needed")
    return list(enumerate(values))


def _by_memberships(table: NDArray[Any], nodes: int) -> _core.KnownCommunities:
    if table.shape[0] != nodes:
        raise ValueError(f"{table.shape[0]} rows of memberships for {nodes} nodes: one for every node is needed")
    places = zip(*np.nonzero(table))
    entries = [(int(node), int(c), float(table[node, c])) for node, c in places]
    return {"path": None, "names": [str(c) for c in range(table.shape[1])], "entries": entries, "weighted": True}


def _missing(label: Any) -> bool:
    return label is None or (isinstance(label, float) and label != label)
