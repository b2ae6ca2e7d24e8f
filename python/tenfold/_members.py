"""What a fitted community model is asked: members, bridges, the truth, and other libraries' graphs."""

from __future__ import annotations

import json
import logging
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tenfold import _core
from tenfold._arguments import ANY, amount, choice, count, running
from tenfold._graphs import is_igraph, places_of
from tenfold._truth import known_of

logger = logging.getLogger("tenfold")

SIDES = (None, "from", "to", "both")
Limits = tuple[float | None, float | None]


class Bridge(NamedTuple):
    """A node between communities.

    Attributes
    ----------
    node : object
        The id of the node.
    bridgeness : float
        0 for a node of one community, 1 for one that belongs to all alike.
    corrected : float
        Bridgeness times degree, which tells bridges from strays.
    """

    node: Any
    bridgeness: float
    corrected: float


class IgraphCommunities(NamedTuple):
    """Communities of a graph of igraph: overlapping as ``cover``, by the main one of each vertex as ``clustering``."""

    cover: Any
    clustering: Any


class MembersMixin:
    """The questions to :class:`tenfold.Communities` once it is fitted."""

    _model: _core.CommunitiesModel
    node_ids_: NDArray[Any]
    other_ids_: NDArray[Any]
    n_jobs: Any

    def _ids(self, side: str | None) -> NDArray[Any]:
        return self.other_ids_ if side == "to" else self.node_ids_

    def members(
        self, *, threshold: float | None = None, relative: float | None = None, side: str | None = None
    ) -> list[list[Any]]:
        """The nodes of every community; a node may be in several, and is always in its main one.

        Parameters
        ----------
        threshold : float, default=None
            The least membership of a member.
        relative : float, default=None
            The least membership of a member as a part of the node's largest one. 0.5 when neither is given.
        side : {"from", "to", "both"}, default=None
            Which edges tell memberships, where they have a direction: those that go out, that come in, or all of them.
            In a bipartite graph the side of rows or of columns. None is both of a directed graph, "from" of a bipartite
            one.

        Returns
        -------
        list of list
            Ids by community, in the order of the communities. Nodes without edges are in none.
        """
        check_is_fitted(self)
        ids = self._ids(choice("side", side, SIDES)).tolist()
        return [[ids[place] for place in own] for own in self._model.members(_limits(threshold, relative), side)]

    def bridges(self, n: int = 10, *, corrected: bool = True, side: str | None = None) -> list[Bridge]:
        """The nodes that stand between communities most.

        Parameters
        ----------
        n : int, default=10
            How many.
        corrected : bool, default=True
            Rank by bridgeness times degree; otherwise by bridgeness alone.
        side : {"from", "to", "both"}, default=None
            As in :meth:`members`.

        Returns
        -------
        list of Bridge
        """
        check_is_fitted(self)
        ids = self._ids(choice("side", side, SIDES)).tolist()
        found = self._model.bridges(count("n", n, most=ANY), bool(corrected), side)
        return [Bridge(ids[place], plain, scaled) for place, plain, scaled in found]

    def evaluate(
        self,
        truth: Any,
        *,
        threshold: float | None = None,
        relative: float | None = None,
        side: str | None = None,
    ) -> dict[str, Any]:
        """How near the communities are to known ones.

        Parameters
        ----------
        truth : mapping, array-like, list of collections, or path
            A label, a collection of labels, or a mapping of labels to weights for every id; labels in the order of
            ``node_ids_`` (None or NaN where it is not known); memberships, nodes × communities; a list of communities,
            each a collection of ids; or a file that ``tenfold communities evaluate --truth`` reads.
        threshold, relative : float, default=None
            When a node counts as a member, as in :meth:`members`.
        side : {"from", "to", "both"}, default=None
            As in :meth:`members`.

        Returns
        -------
        dict
            ``nmi`` (of main communities; None where nodes are in several true ones), ``onmi_lfk`` and ``onmi_max``
            (overlapping normalised mutual information), ``omega``, ``average_f1``, ``recovery`` (the share of true
            communities that a found one is correlated with), ``error``, ``pairs``, ``mean_absolute_error`` (after the best
            matching) beside ``empty_error``, ``matches``, ``curve``, and what was left out.
        """
        check_is_fitted(self)
        known = known_of(truth, self._ids(choice("side", side, SIDES)))
        with running(self.n_jobs) as how:
            told = self._model.compare(known, _limits(threshold, relative), side, how)
        value: dict[str, Any] = json.loads(told)
        for note in value["notes"] + value["warnings"]:
            logger.info(note)
        return value

    def to_igraph(
        self, graph: Any, *, threshold: float | None = None, relative: float | None = None
    ) -> IgraphCommunities:
        """The communities as objects of igraph.

        Parameters
        ----------
        graph : igraph.Graph
            The graph of the fit: its vertices are found by the attribute ``name``, or by their numbers.
        threshold, relative : float, default=None
            When a node counts as a member of the cover, as in :meth:`members`.

        Returns
        -------
        IgraphCommunities
            ``cover``, an ``igraph.VertexCover``, and ``clustering``, an ``igraph.VertexClustering``.
        """
        check_is_fitted(self)
        if not is_igraph(graph):
            raise TypeError(f"a graph of igraph is needed, but this is a {type(graph).__name__}")
        import igraph

        named = "name" in graph.vs.attributes()
        vertices = list(graph.vs["name"]) if named else list(range(graph.vcount()))
        own = places_of(vertices, self.node_ids_)
        place = {int(node): vertex for vertex, node in enumerate(own)}
        members = self._model.members(_limits(threshold, relative), None)
        cover = [sorted(place[node] for node in community if node in place) for community in members]
        labels = [int(label) for label in self._labels()[own]]
        return IgraphCommunities(igraph.VertexCover(graph, cover), igraph.VertexClustering(graph, labels))

    def to_networkx(self, graph: Any) -> Any:
        """Writes the communities into a graph of networkx.

        Parameters
        ----------
        graph : networkx.Graph
            Its nodes get the attributes ``community`` (the number of the main one) and ``memberships`` (a list).

        Returns
        -------
        networkx.Graph
            The same graph.
        """
        check_is_fitted(self)
        nodes = list(graph.nodes)
        rows = self._model.rows(None)
        for node, place in zip(nodes, places_of(nodes, self.node_ids_)):
            graph.nodes[node]["community"] = int(rows[place].argmax())
            graph.nodes[node]["memberships"] = [float(x) for x in rows[place]]
        return graph

    def _labels(self) -> NDArray[np.int64]:
        labels: NDArray[np.int64] = self._model.rows(None).argmax(axis=1)
        return labels


def _limits(threshold: Any, relative: Any) -> Limits:
    def part(name: str, value: Any) -> float | None:
        return None if value is None else amount(name, value, lambda x: 0 <= x <= 1, "a number from 0 to 1 is needed")

    if threshold is not None and relative is not None:
        raise ValueError("threshold and relative say two things; give one of them")
    return part("threshold", threshold), part("relative", relative)
