"""What a fitted community model says about links: how probable they are, and how well it tells them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from tenfold import _core
from tenfold._arguments import running, seed_of
from tenfold._graphs import ends_of, given_of, of_matrix, places_of


class LinksMixin:
    """The questions about links to :class:`tenfold.Communities` once it is fitted."""

    _model: _core.CommunitiesModel
    node_ids_: NDArray[Any]
    other_ids_: NDArray[Any]
    kind_: str
    input: str
    weight: str | None
    random_state: Any
    n_jobs: Any

    @property
    def components_(self) -> NDArray[np.float64]:
        raise NotImplementedError

    def _matrix(self, X: Any, *, reset: bool) -> Any:
        raise NotImplementedError

    def _padded(self, found: NDArray[Any]) -> NDArray[Any]:
        raise NotImplementedError

    def predict_links(self, pairs: Any) -> NDArray[np.float64]:
        r"""The probability of links between nodes of the graph.

        It is :math:`1 - e^{-\text{rate}}` with the rate of the Poisson likelihood, :math:`\pi_u^\top P \pi_v` where the
        graph was dense.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2), list of pairs, pair of arrays, or table
            Ids. In a directed graph a link goes from the first to the second; in a bipartite one the first is a row.

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        check_is_fitted(self)
        start, end, _ = ends_of(pairs)
        from_places = places_of(start, self.node_ids_)
        to_places = places_of(end, self.other_ids_)
        with running(self.n_jobs) as how:
            return self._model.predict(from_places, to_places, how)

    def score_links(self, X: Any, *, graph: Any = None) -> float:
        """How well edges that the fit did not see are told from pairs without one: an AUC, as on the command line.

        Parameters
        ----------
        X : matrix, graph or edges
            Edges between nodes of the fit, in any form that ``fit`` takes; others are left out.
        graph : matrix, graph or edges, default=None
            The graph of the fit, whose edges are no pairs without one and do not count as unseen.

        Returns
        -------
        float
            How often an edge has a higher probability than a pair without one; ½ is chance.
        """
        check_is_fitted(self)

        def source(edges: Any) -> _core.GraphSource:
            return given_of(edges, self.kind_, self.weight, self.input).source

        fitted = None if graph is None else source(graph)
        with running(self.n_jobs) as how:
            return self._model.score(source(X), fitted, seed_of(self.random_state), how)

    def score(self, X: Any, y: object = None) -> float:
        """How well links of nodes are told from pairs without one, when half of each node's links are known: an AUC.

        Every other link of a row places its node, as :meth:`transform` does. Then the score is how often one of the other
        half is expected more, by ``memberships @ components_``, than a pair without a link; ½ is chance, and the score where
        there is nothing to tell: no links, or all pairs linked.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features_in_)
            Links to the nodes of the fit, as in :meth:`transform`.
        y : ignored

        Returns
        -------
        float
        """
        check_is_fitted(self)
        links = sparse.coo_array(self._matrix(X, reset=False))
        rng = np.random.default_rng(0)
        known = rng.random(links.nnz) < 0.5
        rows, columns = links.coords
        half = sparse.csr_array((links.data[known], (rows[known], columns[known])), shape=links.shape)
        with running(self.n_jobs) as how:
            placed = self._padded(self._model.infer(of_matrix(half, None).source, how))
        expected = self.components_

        def rates(u: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
            each: NDArray[Any] = np.einsum("ij,ji->i", placed[u], expected[:, v])
            return each

        there = np.unique(rows.astype(np.int64) * links.shape[1] + columns)
        drawn = rng.integers(0, links.shape[0] * links.shape[1], size=2 * int((~known).sum()) + 64)
        drawn = drawn[~np.isin(drawn, there)]
        if known.all() or not len(drawn):
            return 0.5
        without = rates(drawn // links.shape[1], drawn % links.shape[1])
        return _auc(rates(rows[~known], columns[~known]), without)


def _auc(higher: NDArray[Any], lower: NDArray[Any]) -> float:
    """How often a number of the first is larger than one of the second; equal ones count half."""
    below = np.sort(lower)
    ranks = np.searchsorted(below, higher, side="left") + np.searchsorted(below, higher, side="right")
    return float(ranks.sum() / (2.0 * len(higher) * len(lower)))
