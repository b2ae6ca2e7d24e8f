"""Communities in graphs that overlap."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from tenfold import _core
from tenfold._arguments import amount, characters, choice, count, device, refuse, running, seed_of
from tenfold._base import FitWarning, ModelMixin
from tenfold._graphs import form_of, ids_of, listed, of_edges, of_matrix, of_network
from tenfold._links import LinksMixin
from tenfold._members import MembersMixin
from tenfold._sparse import sound, summed

KINDS = (None, "undirected", "directed", "bipartite")
SOLVERS = ("polar", "power", "als", "simultaneous")
# The most iterations of the polish that may be asked for, as on the command line.
MOST_ITERATIONS = 10_000
# The most communities that compiled code looks for.
MOST_COMMUNITIES = 1000


class Communities(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    LinksMixin,
    MembersMixin,
    ModelMixin,
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    r"""Overlapping communities of a graph, by the mixed membership block model and its moments.

    Node u has memberships :math:`\pi_u` drawn from Dirichlet(α), α0 = Σα, and an edge from u to v is there with
    probability :math:`\pi_u^\top P \pi_v`, or there are Poisson(:math:`\pi_u^\top P \pi_v`) of them. A node with its
    neighbours is a star. Sums over pairs and triples of different leaves, corrected by α0 and whitened, give the tensor

    .. math:: T = \sum_i \lambda_i\, v_i \otimes v_i \otimes v_i

    with orthonormal :math:`v_i`; its components say where nodes of a single community lie, and all others lie between
    them. In a sparse graph the Poisson likelihood of Ball, Karrer and Newman then polishes the memberships.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number of communities. "auto" counts those that the graph shows. A graph that carries fewer than asked for warns;
        the columns of those that were not found are 0.
    alpha0 : float, default=1.0
        Σα that the moments assume: 0 for nodes of a single community, larger for more mixed ones.
    kind : {"undirected", "directed", "bipartite"}, default=None
        What edges are. None goes by the data: a square matrix is undirected when it is symmetric and directed otherwise, one
        that is not square is bipartite, networkx and igraph tell it, and lists of edges are looked at.
    input : {"auto", "matrix", "edges"}, default="auto"
        What an array or a table is. With "auto" a table, or an array of whole numbers or text, that has two or three columns
        and is not square holds edges; all others, and sparse matrices, are adjacency matrices.
    weight : str or None, default="weight"
        The attribute of edges that holds their weights in networkx and igraph; None leaves weights out.
    partitions : int, default=None
        Partitions of the nodes into four sets that are averaged, as in the thesis. None makes every node a hub, which is
        better.
    treatment : {"auto", "dense", "sparse"}, default="auto"
        Whether many pairs of nodes are joined: least squares on the simplex, or the likelihood. "auto" goes by their share.
    polish : bool, default=True
        Whether the likelihood follows the moments in a sparse graph.
    max_iter : int, default=None
        Most iterations of the polish. None is 200 in small graphs, 40 down to 8 in large ones.
    solver : {"polar", "power", "als", "simultaneous"}, default="polar"
        How the tensor is decomposed.
    tol : float, default=None
        Largest move of a direction that counts as standing still in the decomposition; None is the solver's own.
    device : {"cpu", "auto", "auto:N", "gpu", "gpu:N"}, default="cpu"
        Who makes the heavy sums. "gpu" insists on a graphics card and "gpu:N" on number N of ``tenfold devices``; "auto" uses
        a card if there is one. The package must be built with the feature ``gpu``.
    random_state : int, numpy generator or None, default=0
        The same seed gives the same answer on any number of threads. None is 0.
    n_jobs : int, default=None
        Threads. None is all cores (or ``OMP_NUM_THREADS``), -1 all cores. Results never depend on it.
    verbose : bool or callable, default=False
        True shows a progress bar; a function is called as ``verbose(stage, done, total)`` about ten times a second,
        and what it raises stops the fit.
    checkpoint : path, default=None
        A folder for what is finished of a long fit. After a crash, the same fit of the same data goes on from there, to the same bytes.
        When :meth:`fit` returns, the folder is removed; the fit of anything else is refused there.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_nodes, n_components)
        Rows sum to 1. Where edges have a direction, memberships as their source; in a bipartite graph those of the rows.
        Communities stand in the order of their share of all memberships.
    other_memberships_ : ndarray of shape (n_others, n_components)
        Memberships as the target of edges, or those of the columns of a bipartite graph; not there when undirected.
    labels_ : ndarray of shape (n_nodes,)
        The main community of every node; in a directed graph by edges of both directions.
    connectivity_ : ndarray of shape (n_components, n_components)
        P: how often nodes of two communities are joined, or the mean weight between them.
    components_ : ndarray of shape (n_components, n_features_in_)
        Every community's links to the nodes, ``connectivity_ @ other_memberships_.T`` (``memberships_`` when undirected), so
        that ``memberships_ @ components_`` is the expected adjacency matrix. Computed when it is asked for.
    alpha_, shares_ : ndarray of shape (n_components,)
        Dirichlet parameters, which sum to α0, and every community's share of all memberships.
    confidence_ : ndarray of shape (n_nodes,)
        How well each node's edges tell its memberships, 0 to 1.
    node_ids_, other_ids_ : ndarray
        What the nodes are called, as they were given, in the order of the rows; and those that edges go to.
    kind_ : str
        What the graph is.
    n_components_ : int
        Number of columns of ``memberships_``.
    n_iter_ : int
        Iterations of the polish.
    n_features_in_ : int
        Number of nodes that edges go to.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of a table, where they are strings.
    diagnostics_ : dict
        Figures of the fit: spectrum, eigenvalues, residuals, starts, likelihood.
    verdict_ : tenfold.Verdict
        What the figures mean: ``sound``, ``warnings`` and ``notes``.

    Notes
    -----
    The input tag ``pairwise`` is set unless ``kind="bipartite"``: rows and columns of the matrix are the same nodes, and
    cross-validation takes both. Matrices and arrays of edges are read where they lie, without a copy, whatever their
    format by rows, width of indices and precision; other sparse formats are turned to rows first. There is no
    ``partial_fit``: a new edge changes the directions of all nodes.

    References
    ----------
    .. [1] E. Airoldi, D. Blei, S. Fienberg and E. Xing, "Mixed membership stochastic blockmodels", JMLR 9, 2008.
    .. [2] A. Anandkumar, R. Ge, D. Hsu and S. Kakade, "A tensor approach to learning mixed membership community models",
       JMLR 15, 2014.
    .. [3] B. Ball, B. Karrer and M. Newman, "Efficient and principled method for detecting communities in networks",
       Physical Review E 84, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from tenfold import Communities
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1, 2], 40)
    >>> A = np.triu(rng.random((120, 120)) < np.where(truth[:, None] == truth, 0.5, 0.05), 1)
    >>> found = Communities(3).fit(A + A.T)
    >>> found.memberships_.shape, found.kind_
    ((120, 3), 'undirected')
    >>> found.evaluate(truth)["nmi"]
    1.0
    >>> edges = [("ann", "bob"), ("bob", "cid"), ("cid", "ann"), ("cid", "dan")]
    >>> Communities(1).fit(edges).members()
    [['ann', 'bob', 'cid', 'dan']]
    """

    _compiled = _core.CommunitiesModel

    def __init__(
        self,
        n_components: int | str = 10,
        *,
        alpha0: float = 1.0,
        kind: str | None = None,
        input: str = "auto",
        weight: str | None = "weight",
        partitions: int | None = None,
        treatment: str = "auto",
        polish: bool = True,
        max_iter: int | None = None,
        solver: str = "polar",
        tol: float | None = None,
        device: str = "cpu",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: Any = False,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.alpha0 = alpha0
        self.kind = kind
        self.input = input
        self.weight = weight
        self.partitions = partitions
        self.treatment = treatment
        self.polish = polish
        self.max_iter = max_iter
        self.solver = solver
        self.tol = tol
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: object = None) -> Communities:
        """Learns communities from a graph.

        Parameters
        ----------
        X : matrix, graph, edges or path
            A square adjacency matrix, dense or sparse, whose values are weights, or one of two sides; a graph of networkx or
            igraph; edges as an array of shape (n_edges, 2) or, with weights, (n_edges, 3), as arrays ``(from, to)`` or
            ``(from, to, weight)``, as a list of pairs or triples, or as a table of pandas, polars or Arrow, between ids of any
            kind; or the path of a file that ``tenfold communities fit`` reads.
        y : ignored

        Returns
        -------
        self
        """
        choices = self._checked()
        X = listed(X, self.weight)
        form = form_of(X, choice("input", self.input, ("auto", "matrix", "edges")))
        kind = choice("kind", self.kind, KINDS)
        matrix: Any = None
        if form == "matrix":
            matrix = self._matrix(X, reset=True)
            given = of_matrix(matrix, kind, self._names(X, matrix.shape))
        elif form != "file":
            given = of_network(X, kind, self.weight) if form == "network" else of_edges(X, kind)
        with running(self.n_jobs, self.verbose, self.checkpoint) as how:
            if form == "file":
                model = _core.CommunitiesModel.fit_file(X, kind, choices, how)
            else:
                model = _core.CommunitiesModel.fit(given.source, choices, how)
        self._dtype = np.float64 if matrix is None or matrix.dtype != np.float32 else np.float32
        self._objects = None if form == "file" else given.objects
        if form != "matrix" and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        facts = self._take(model)
        del self._objects
        # A row with the very edges of a node of the fit is that node, also with what was dropped on the way in.
        self._prints = _core.fingerprints(given.source) if form == "matrix" else None
        self._announce(facts)
        return self

    def fit_transform(self, X: Any, y: object = None, **fit_params: Any) -> NDArray[Any]:
        """Learns communities and gives the memberships of the nodes, ``memberships_``.

        Parameters
        ----------
        X : matrix, graph, edges or path
            As in :meth:`fit`.
        y : ignored

        Returns
        -------
        ndarray of shape (n_nodes, n_components)
        """
        return self.fit(X).memberships_.copy()

    def fit_predict(self, X: Any, y: object = None) -> NDArray[np.int64]:
        """Learns communities and gives the main one of every node, ``labels_``.

        Parameters
        ----------
        X : matrix, graph, edges or path
            As in :meth:`fit`.
        y : ignored

        Returns
        -------
        ndarray of shape (n_nodes,)
        """
        return self.fit(X).labels_.copy()

    def transform(self, X: Any) -> NDArray[Any]:
        """Memberships of nodes by their links to the known ones, as the source of these links.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features_in_)
            A row for every new node, in columns its links to the nodes of the fit in their order. A row with the very entries
            of a node of the fit gets that node's memberships (a model from a file does not know them, and places it anew),
            one without links the mean.

        Returns
        -------
        ndarray of shape (n_new, n_components)
            float32 for float32 links, float64 otherwise.
        """
        check_is_fitted(self)
        matrix = self._matrix(X, reset=False)
        out = np.empty((matrix.shape[0], self.n_components_), np.float32 if matrix.dtype == np.float32 else np.float64)
        known, places = self._known(matrix)
        out[known] = self.memberships_[places]
        if not known.all():
            rest = matrix[~known] if known.any() else matrix
            with running(self.n_jobs) as how:
                out[~known] = self._padded(self._model.infer(of_matrix(rest, None).source, how))
        return out

    def _known(self, matrix: Any) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which rows are those of nodes of the fit, and the places of these nodes."""
        prints = getattr(self, "_prints", None)
        if prints is None:
            return np.zeros(matrix.shape[0], np.bool_), np.zeros(0, np.int64)
        order = np.argsort(prints, kind="stable")
        asked = _core.fingerprints(of_matrix(matrix, None).source)
        places = order[np.minimum(np.searchsorted(prints, asked, sorter=order), len(order) - 1)]
        same = prints[places] == asked
        return same, places[same]

    @property
    def components_(self) -> NDArray[np.float64]:
        """Every community's links to the nodes, communities × nodes."""
        check_is_fitted(self)
        others = getattr(self, "other_memberships_", self.memberships_)
        links: NDArray[np.float64] = self.connectivity_ @ others.T
        return links

    def _matrix(self, X: Any, *, reset: bool) -> Any:
        """The matrix, checked, in rows where it is sparse, with numbers as they are."""
        bipartite = (self.kind if reset else self.kind_) == "bipartite"
        checked = validate_data(
            self,
            sound(X),
            reset=reset,
            accept_sparse="csr",
            dtype="numeric",
            ensure_non_negative=True,
            ensure_min_samples=1 if bipartite or not reset else 2,
        )
        return summed(checked)

    def _names(self, X: Any, shape: tuple[int, int]) -> tuple[list[str] | None, list[str] | None]:
        """Ids of rows and columns, where they are named."""
        columns = characters("the column", [str(name) for name in self.feature_names_in_]) if hasattr(self, "feature_names_in_") else None
        if shape[0] == shape[1] and self.kind != "bipartite":
            return columns, None
        index: Any = getattr(X, "index", None)
        # Lists have an `index` too, which is no names.
        named = getattr(index, "is_unique", False) and all(isinstance(name, str) for name in index)
        return characters("the row", index) if named else None, columns

    def _checked(self) -> _core.CommunitiesChoices:
        """The arguments for Rust, each checked under the name that it has here."""
        k: int | None = None
        if isinstance(self.n_components, str):
            choice("n_components", self.n_components, ("auto",))
        else:
            k = count("n_components", self.n_components, most=MOST_COMMUNITIES)
        treatment = choice("treatment", self.treatment, ("auto", "dense", "sparse"))
        if not self.polish:
            refuse({"max_iter": self.max_iter}, "polish = False")
        if treatment == "dense":
            refuse({"max_iter": self.max_iter}, "treatment = 'dense'")
        iterations = None if self.max_iter is None else count("max_iter", self.max_iter)
        if iterations is not None and iterations > MOST_ITERATIONS:
            raise ValueError(f"max_iter = {iterations} is out of range: at most {MOST_ITERATIONS} is needed")

        def usual(x: float) -> bool:
            return 0 <= x < float("inf")

        tol = self.tol
        return {
            "k": k,
            "alpha0": amount("alpha0", self.alpha0, usual, "0 or more is needed"),
            "rounds": None if self.partitions is None else count("partitions", self.partitions),
            "treatment": treatment,
            "polish": bool(self.polish),
            "iterations": iterations,
            "solver": choice("solver", self.solver, SOLVERS),
            "max_iterations": None,
            "tolerance": None if tol is None else amount("tol", tol, usual, "0 or more is needed"),
            "device": device("device", self.device),
            "seed": seed_of(self.random_state),
        }

    def _announce(self, facts: dict[str, Any]) -> None:
        """Warns of what did not settle, of communities that are not there, and of what the verdict says."""
        figures = facts["diagnostics"]
        unsettled = None
        if figures["log_likelihood"] is not None and not figures["settled"]:
            unsettled = "memberships still moved when the polish ended; raise max_iter"
        elif figures["log_likelihood"] is None and not figures["converged"]:
            unsettled = "the decomposition had not converged; try another solver"
        if unsettled is not None:
            warnings.warn(unsettled, ConvergenceWarning, stacklevel=3)
        asked, most = self.n_components_, facts["parameters"]["k"]
        if most != "auto" and asked > most:
            message = f"n_components = {asked} is more than the {most} that a graph of so many nodes may have"
            warnings.warn(f"{message}; the columns of the others are 0", FitWarning, stacklevel=3)
        self.verdict_.announce(stacklevel=4)

    def _padded(self, found: NDArray[Any]) -> NDArray[Any]:
        """With a column of zeros for every community that was asked for and not found."""
        return np.pad(found, ((0, 0), (0, self.n_components_ - found.shape[1])))

    def _adopt(self, model: _core.CommunitiesModel, facts: dict[str, Any]) -> None:
        k: int = facts["k"]
        from_file = not hasattr(self, "_dtype")
        self.kind_ = facts["kind"]
        objects = getattr(self, "_objects", None)
        self.node_ids_ = ids_of(model.ids(False), objects)
        self.other_ids_ = ids_of(model.ids(True), objects) if self.kind_ == "bipartite" else self.node_ids_
        asked = 0 if isinstance(self.n_components, str) else count("k", self.n_components, most=None)
        # The model itself may have been fitted with no more: a file that tells of more was made by something else.
        if from_file and asked > min(len(self.node_ids_), len(self.other_ids_), MOST_COMMUNITIES):
            raise ValueError(f"k = {asked} is more than {len(self.node_ids_)} nodes have")
        self.n_components_: int = max(k, asked)
        dtype = getattr(self, "_dtype", np.float64)
        directed = self.kind_ != "undirected"
        self.memberships_ = self._padded(model.rows("from" if directed else None)).astype(dtype)
        if directed:
            self.other_memberships_ = self._padded(model.rows("to")).astype(dtype)
        elif hasattr(self, "other_memberships_"):
            del self.other_memberships_
        self.labels_ = self._labels()
        more = self.n_components_ - k
        self.connectivity_ = np.pad(model.connectivity(), (0, more))
        self.alpha_ = np.pad(model.numbers("alpha"), (0, more))
        self.shares_ = np.pad(model.numbers("shares"), (0, more))
        self.confidence_ = model.numbers("confidence")
        self.n_features_in_ = len(self.other_ids_)
        self.diagnostics_["spectrum"] = model.numbers("spectrum")
        self.n_iter_ = max(1, self.diagnostics_["iterations"])

    @classmethod
    def _choices(cls, facts: dict[str, Any]) -> dict[str, Any]:
        told = facts["parameters"]
        return {
            "n_components": told["k"],
            "alpha0": told["alpha0"],
            "kind": facts["kind"],
            "partitions": None if told["views"] == "all" else told["views"]["partition"],
            "treatment": told["treatment"],
            "polish": told["polish"] != "none",
            "max_iter": told["iterations"],
            "solver": told["solver"],
            "random_state": told["seed"],
        }

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.pairwise = self.kind != "bipartite"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
