"""Trees of hidden variables above observed ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tenfold import _core
from tenfold._arguments import amount, choice, count, running, seed_of
from tenfold._base import ModelMixin, in_python
from tenfold._sparse import sound, summed
from tenfold._variables import KINDS, Variable, encode, is_frame, names_of, variables_of

METHODS = ("auto", "insertion", "joining", "grouping", "evolution")
CONTRACTIONS = ("likelihood", "jackknife", "none")
FORMATS = ("newick", "nexus", "graphml", "dot", "bif", "json")


class Trees(ModelMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""A tree of hidden variables above observed ones, structure and parameters together.

    Variables are joined by a tree whose inner nodes are hidden and have k states. Between two variables the distance

    .. math:: d(a, b) = -\sum_{l<k} \log \sigma_l(C_{aa}^{-1/2} C_{ab} C_{bb}^{-1/2})

    (:math:`\sigma_l` are their canonical correlations) adds up along paths of the tree, so distances tell the tree. Tables along
    the edges and emissions follow from the third moments of three variables around every hidden node, and a few sweeps of
    expectation maximisation.

    Parameters
    ----------
    n_states : int or "auto", default="auto"
        States of a hidden node. "auto" takes the rank that pairs of variables support, plus one.
    kinds : dict, default=None
        Kinds of columns by name ("x0", "x1" and so on in arrays): "category", "flags", "counts" or "real". Others are guessed:
        text, truth values and whole numbers with at most 20 values are categories, other numbers are real; columns of sparse
        matrices that hold nothing but ones are flags.
    groups : dict, default=None
        Columns by name to groups; a group is one variable with several numbers.
    method : {"auto", "insertion", "joining", "grouping", "evolution"}, default="auto"
        How the structure is found: variables inserted along the spanning tree, neighbour joining, recursive grouping around
        the spanning tree, or balanced minimum evolution (for phylogenies). "auto" tries several and keeps the best.
    contraction : {"likelihood", "jackknife", "none"}, default="likelihood"
        Which short edges between hidden nodes are contracted.
    max_iter : int, default=10
        Sweeps of expectation maximisation, at most.
    bootstrap : int, default=20
        Resampled tables that say how sure every split is.
    held_out : float, default=0.1
        Share of the samples to hold out, for a comparison with trees without hidden nodes.
    random_state : int, numpy generator or None, default=0
        The same seed gives the same answer on any number of threads. None is 0.
    n_jobs : int, default=None
        Threads. None is all cores (or ``OMP_NUM_THREADS``), -1 all cores. Results never depend on it.
    verbose : bool or callable, default=False
        True shows a progress bar; a function is called as ``verbose(stage, done, total)``.
    checkpoint : path, default=None
        A folder for what is finished of a long fit. After a crash, the same fit of the same data goes on from there, to the same bytes.
        When :meth:`fit` returns, the folder is removed; the fit of anything else is refused there.

    Attributes
    ----------
    edges_ : ndarray of shape (edges, 4)
        Node, node, length, and the share of resampled tables that have the edge's split (NaN where there is none). Nodes below
        ``len(variables_)`` are variables, others are hidden.
    variables_ : list of tuple
        Name, kind and labels of every variable.
    label_names_ : list of str
        Columns of ``predict_proba``: variable and level, flag or number.
    node_names_ : list of str
        Names of the nodes, by their numbers.
    clusters_ : ndarray of shape (variables,)
        Groups of variables, cut at the longest edges.
    n_states_ : int
        States of a hidden node.
    n_iter_ : int
        Sweeps of expectation maximisation.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where they are strings. An array in place of a DataFrame is read in their order.
    diagnostics_ : dict
        Figures of the fit, among them the held-out likelihood beside trees without hidden nodes.
    verdict_ : tenfold.Verdict
        What the figures mean: ``sound``, ``warnings`` and ``notes``.

    References
    ----------
    .. [1] M. J. Choi, V. Tan, A. Anandkumar and A. Willsky, "Learning latent tree graphical models", 2011.
    .. [2] F. Huang, N. U. Naresh, I. Perros, R. Chen, J. Sun and A. Anandkumar, "Guaranteed scalable learning of latent tree models", 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from tenfold import Trees
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.integers(2, size=(4000, 2))
    >>> noise = rng.random((4000, 6)) < 0.1
    >>> X = cause[:, [0, 0, 0, 1, 1, 1]] ^ noise
    >>> tree = Trees(2, bootstrap=0).fit(X)
    >>> tree.clusters_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> tree.transform(X).shape
    (4000, 4)
    """

    _compiled = _core.TreesModel
    _k = "n_states"

    def __init__(
        self,
        n_states: int | str = "auto",
        *,
        kinds: dict[str, str] | None = None,
        groups: dict[str, str] | None = None,
        method: str = "auto",
        contraction: str = "likelihood",
        max_iter: int = 10,
        bootstrap: int = 20,
        held_out: float = 0.1,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: Any = False,
        checkpoint: Any = None,
    ) -> None:
        self.n_states = n_states
        self.kinds = kinds
        self.groups = groups
        self.method = method
        self.contraction = contraction
        self.max_iter = max_iter
        self.bootstrap = bootstrap
        self.held_out = held_out
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: ArrayLike, y: object = None) -> Trees:
        """Learns the tree.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (samples, columns)
            NaN and None are missing.
        y : ignored

        Returns
        -------
        self
        """
        table = self._checked_table(X, reset=True)
        choices = self._checked()
        variables = variables_of(table, self.kinds, self.groups)
        for name, kind in (self.kinds or {}).items():
            choice(f"kinds[{name!r}]", kind, KINDS)
        samples = encode(table, variables)
        try:
            with running(self.n_jobs, self.verbose, self.checkpoint) as how:
                model = _core.TreesModel.fit(samples, choices, how)
        except _core.DataError as error:
            raise _core.DataError(in_python(str(error), self._k)) from None
        self._columns = names_of(table)
        self._take(model)
        self.verdict_.announce(stacklevel=3)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Posterior probabilities of the states of all hidden nodes.

        Parameters
        ----------
        X : array-like of shape (samples, columns)
            Anything in it may be missing.

        Returns
        -------
        ndarray of shape (samples, states of all hidden nodes)
        """
        samples = self._samples(X)
        with running(self.n_jobs) as how:
            return self._model.transform(samples, how)  # type: ignore[no-any-return]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """What is to be expected of every variable, given all that is observed of a sample.

        Parameters
        ----------
        X : array-like of shape (samples, columns)
            Not sparse. What is missing is inferred.

        Returns
        -------
        ndarray of shape (samples, len(label_names_))
            Probabilities of the levels of categories and of flags, expected counts, means of real numbers; their columns are
            named in ``label_names_``, such as ``"colour=red"``.
        """
        if sparse.issparse(X):
            raise TypeError("X is sparse, and what is expected of it would not be: give X.toarray(), some rows at a time")
        samples = self._samples(X)
        with running(self.n_jobs) as how:
            found = self._model.expected(samples, list(range(len(self.variables_))), how)
        parts = []
        for (_, kind, _), mean in zip(self.variables_, found):
            if kind == "category":
                parts.append(np.clip(1.0 - mean.sum(axis=1, keepdims=True), 0.0, 1.0))
            parts.append(mean)
        return np.hstack(parts)

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """log P of every sample, in nats.

        Parameters
        ----------
        X : array-like of shape (samples, columns)

        Returns
        -------
        ndarray of shape (samples,)
        """
        samples = self._samples(X)
        with running(self.n_jobs) as how:
            return self._model.log_likelihood(samples, how)  # type: ignore[no-any-return]

    def score(self, X: ArrayLike, y: object = None) -> float:
        """The mean log-likelihood of a sample, in nats.

        Parameters
        ----------
        X : array-like of shape (samples, columns)
        y : ignored

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The columns of ``transform``: node and state."""
        check_is_fitted(self)
        return np.asarray(self._model.hidden_names(), dtype=object)

    def export(self, format: str = "newick", *, min_cell: int | None = None) -> str:
        """The tree as text for other programs.

        Parameters
        ----------
        format : {"newick", "nexus", "graphml", "dot", "bif", "json"}, default="newick"
            BIF is a Bayesian network with hidden nodes.
        min_cell : int, default=None
            Hold back what stands for fewer samples than this, other than none.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        text: str = self._model.export(choice("format", format, FORMATS), min_cell)
        return text

    def to_networkx(self) -> Any:
        """The tree as a ``networkx.Graph``; nodes have ``name`` and ``hidden``, edges ``length`` and ``support``."""
        import networkx  # type: ignore[import-untyped]

        check_is_fitted(self)
        graph = networkx.Graph()
        observed = len(self.variables_)
        graph.add_nodes_from((v, {"name": self.node_names_[v], "hidden": False}) for v in range(observed))
        for a, b, length, support in self.edges_:
            for node in (int(a), int(b)):
                graph.add_node(node, name=self.node_names_[node], hidden=node >= observed)
            told = {} if np.isnan(support) else {"support": float(support)}
            graph.add_edge(int(a), int(b), length=float(length), **told)
        return graph

    def _samples(self, X: ArrayLike) -> _core.TreeSamples:
        check_is_fitted(self)
        table = self._checked_table(X, reset=False)
        return encode(table, [Variable(*v) for v in self.variables_], self._names(table))

    def _names(self, table: Any) -> list[str] | None:
        """The names of the fit for as many columns that have none of their own, or others: scikit-learn has warned of that."""
        fitted: list[str] | None = getattr(self, "_columns", None)
        if fitted is None or len(fitted) != table.shape[1]:
            return None
        if is_frame(table) and (hasattr(self, "feature_names_in_") or set(fitted) <= set(names_of(table))):
            return None
        return fitted

    def _checked_table(self, X: Any, *, reset: bool) -> Any:
        """X as it is, where scikit-learn finds nothing wrong with it."""
        X = sound(X)
        checked = validate_data(
            self, X, dtype=None, accept_sparse="csc", ensure_all_finite="allow-nan", ensure_min_samples=2 if reset else 1, reset=reset
        )
        return X if is_frame(X) else summed(checked)

    def _checked(self) -> _core.TreesChoices:
        """The arguments for Rust, each checked under the name that it has here."""
        states: int | None = None
        if isinstance(self.n_states, str):
            choice("n_states", self.n_states, ("auto",))
        else:
            states = count("n_states", self.n_states, least=2)
        return {
            "states": states,
            "method": choice("method", self.method, METHODS),
            "contraction": choice("contraction", self.contraction, CONTRACTIONS),
            "sweeps": count("max_iter", self.max_iter, least=0),
            "bootstrap": count("bootstrap", self.bootstrap, least=0),
            "held_out": amount("held_out", self.held_out, lambda x: 0 <= x < 1, "a share below 1 is needed"),
            "seed": seed_of(self.random_state),
        }

    def _adopt(self, model: _core.TreesModel, facts: dict[str, Any]) -> None:
        self.variables_: list[tuple[str, str, list[str]]] = model.variables()
        self.label_names_ = [f"{name}={label}" for name, _, labels in self.variables_ for label in labels]
        self.edges_: NDArray[np.float64] = model.edges()
        self.node_names_ = model.node_names()
        self.clusters_: NDArray[np.int64] = np.asarray(model.clusters(), dtype=np.int64)
        self.n_states_: int = facts["diagnostics"]["states"]
        self.n_iter_: int = max(1, facts["diagnostics"]["sweeps"])
        if not hasattr(self, "n_features_in_"):
            self.n_features_in_ = sum(1 if kind == "category" else len(labels) for _, kind, labels in self.variables_)
            # The order of the columns of groups is not in the file; they are found by name only.
            if all(kind == "category" or labels == [name] for name, kind, labels in self.variables_):
                self._columns = [name for name, _, _ in self.variables_]
                if self._columns != [f"x{i}" for i in range(len(self._columns))]:
                    self.feature_names_in_ = np.array(self._columns, dtype=object)

    @classmethod
    def _choices(cls, facts: dict[str, Any]) -> dict[str, Any]:
        told = facts["parameters"]
        return {
            "n_states": told["states"],
            "method": told["method"],
            "contraction": told["contraction"],
            "max_iter": told["sweeps"],
            "bootstrap": told["bootstrap"],
            "held_out": told["held_out"],
            "random_state": told["seed"],
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
