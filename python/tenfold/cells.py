"""Cell types from tissue images, and cells in images."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from tenfold import _core
from tenfold._arguments import ANY, amount, characters, choice, count, running, seed_of
from tenfold._base import FitWarning, ModelMixin
from tenfold._missing import as_numbers
from tenfold._sparse import sound
from tenfold._tissue import detect, is_table, table_of

__all__ = ["Cells", "detect"]

SOLVERS = ("em", "nmf")
DENSITIES = ("none", "relative", "raw")


class Cells(ModelMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Cell types, unmixed from the cells of images that show one gene each.

    Cells are counted in a joint histogram of their size, aspect, orientation and intensity. A bin :math:`m` mixes types by
    :math:`h^m`, and a type :math:`t` expresses genes by its profile :math:`\beta^t`, so that the counts of bin m over genes are

    .. math:: x^m \sim \mathrm{Multinomial}\big(\sum_t h^m_t \beta^t\big).

    Profiles maximise the posterior probability of the counts, by expectation maximisation from the tensor of third moments, from
    pure bins and from random starts.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of types. "auto" takes the number that predicts one half of the cells from the other best.
    solver : {"em", "nmf"}, default="em"
        "nmf" is the thesis's least squares on the simplex, to compare.
    density : {"none", "relative", "raw"}, default="none"
        How the number of neighbours is used. "raw" is the thesis's way, which breaks the mixture.
    smoothing : float, default=0.01
        Cells that are added to every gene of every type.
    alpha : float, default=0.01
        Sum of the Dirichlet prior of the types of a bin.
    restarts : int, default=4
        Random starts.
    max_iter : int, default=500
        Steps of the solver, at most.
    max_types : int, default=30
        Most types that "auto" looks at.
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
    components_ : ndarray of shape (types, genes)
        Profiles; rows sum to 1. The heaviest type is first.
    weights_ : ndarray of shape (types,)
        The share of every type among all cells.
    genes_ : list of str
        The columns of ``components_``.
    memberships_ : ndarray of shape (bins, types)
        Types of every bin, or of every row of the counts.
    traits_ : list of list of dict
        What the cells of every type look like: feature, low (5 %), median, high (95 %) and histogram. Empty for counts.
    n_components_ : int
        Number of types.
    n_iter_ : int
        Steps of the solver.
    n_features_in_ : int
        Columns of X.
    diagnostics_ : dict
        Figures of the fit.
    verdict_ : tenfold.Verdict
        What the figures mean: ``sound``, ``warnings`` and ``notes``.

    Notes
    -----
    X is either a table of cells, which has the columns ``gene`` and ``x``, ``y``, ``r1``, ``r2``, ``orientation``, ``intensity``
    (as :func:`detect` gives them; ``image`` and ``neighbours`` where there are any; a DataFrame or a dictionary of columns), or
    counts of genes in rows (bins of a histogram, voxels, spots or single cells): an array, a sparse matrix, a DataFrame or an
    AnnData object.

    References
    ----------
    .. [1] F. Huang, A. Anandkumar, C. Borgs, J. Chayes, E. Fraenkel, M. Hawrylycz, E. Lein, A. Ingrosso and S. Turaga,
       "Discovering neuronal cell types and their gene expression profiles using a spatial point process mixture model", 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from tenfold import Cells
    >>> rng = np.random.default_rng(0)
    >>> profiles = np.repeat(np.eye(2), 5, axis=1) / 5
    >>> mixtures = rng.dirichlet([0.2, 0.2], 300)
    >>> X = np.array([rng.multinomial(100, h @ profiles) for h in mixtures])
    >>> types = Cells(2).fit(X)
    >>> np.sort(types.components_[:, :5].sum(axis=1)).round(1).tolist()
    [0.0, 1.0]
    >>> types.transform(X).shape
    (300, 2)
    """

    _compiled = _core.CellsModel

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        solver: str = "em",
        density: str = "none",
        smoothing: float = 0.01,
        alpha: float = 0.01,
        restarts: int = 4,
        max_iter: int = 500,
        max_types: int = 30,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: Any = False,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.density = density
        self.smoothing = smoothing
        self.alpha = alpha
        self.restarts = restarts
        self.max_iter = max_iter
        self.max_types = max_types
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: object = None) -> Cells:
        """Finds types.

        Parameters
        ----------
        X : table of cells, or counts of shape (rows, genes)
            See the notes of the class.
        y : ignored

        Returns
        -------
        self
        """
        choices = self._checked()
        if is_table(X):
            table = table_of(X)
            with running(self.n_jobs, self.verbose, self.checkpoint) as how:
                model = _core.CellsModel.fit(table, choices, how)
            self._take(model)
        else:
            counts = self._counts(X, reset=True)
            with running(self.n_jobs, self.verbose, self.checkpoint) as how:
                model = _core.CellsModel.fit_counts(counts, choices, how)
            self._take(model)
        self.verdict_.announce(settled=self.diagnostics_["converged"], stacklevel=3)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The types of cells, or the mixtures of types in counts.

        Parameters
        ----------
        X : table of cells, or counts of shape (rows, genes)
            A model of counts knows no features of cells, so it takes counts only.

        Returns
        -------
        ndarray of shape (cells or rows, types)
            Rows sum to 1.
        """
        check_is_fitted(self)
        if is_table(X):
            with running(self.n_jobs) as how:
                found, unknown = self._model.infer(table_of(X), how)
            if unknown:
                some = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
                warnings.warn(
                    f"{len(unknown)} genes are not known to the model, so their cells are told by features alone: {some}",
                    FitWarning,
                    stacklevel=2,
                )
            return found  # type: ignore[no-any-return]
        counts = self._counts(X, reset=False)
        with running(self.n_jobs) as how:
            return self._model.mixtures(counts, how)  # type: ignore[no-any-return]

    def evaluate(self, X: Any, labels: Any = None, *, permutations: int = 199) -> dict[str, Any]:
        """What single cells with counted transcripts say of the types.

        Half of a cell's transcripts give its mixture of types, the other half is predicted. Permuted cells have every gene's
        levels in another order of cells.

        Parameters
        ----------
        X : counts of shape (cells, genes)
            Whole numbers. The genes of a DataFrame or an AnnData object are matched by name.
        labels : array-like of shape (cells,), default=None
            Known types of the cells.
        permutations : int, default=199

        Returns
        -------
        dict
            ``perplexity``, ``permuted`` (an array), ``p_value``, ``unigram``, ``genes`` that are common and, with labels,
            ``adjusted_rand_index`` of k-means on the mixtures.
        """
        check_is_fitted(self)
        counts = self._counts(X, reset=None)
        seed = seed_of(self.random_state)
        with running(self.n_jobs, self.verbose) as how:
            found = self._model.judge(counts, count("permutations", permutations, least=0), seed, how)
        told: dict[str, Any] = dict(zip(("perplexity", "permuted", "p_value", "unigram", "genes"), found))
        if labels is not None:
            _, numbers = np.unique(np.asarray(labels), return_inverse=True)
            with running(self.n_jobs) as how:
                mixtures = self._model.mixtures(counts, how)
            told["adjusted_rand_index"] = self._model.label_agreement(mixtures, numbers.tolist(), seed)
        return told

    def score(self, X: Any, y: object = None) -> float:
        """Minus the logarithm of the perplexity of half of the transcripts of single cells, given the other half; larger is better.

        Parameters
        ----------
        X : counts of shape (cells, genes)
            Fractions are rounded, enlarged first where a row has less than 50 in the mean.
        y : ignored

        Returns
        -------
        float
        """
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        data = counts["data"]
        if not np.array_equal(data, np.rint(data)):
            mean = data.sum() / max(1, len(counts["indptr"]) - 1)
            counts["data"] = np.rint(data * max(1.0, 50.0 / max(mean, 1e-300)))
        with running(self.n_jobs) as how:
            found = self._model.judge(counts, 0, seed_of(self.random_state), how)
        return -float(np.log(found[0]))

    def markers(self, of: int, top: int = 10) -> list[tuple[str, float, float]]:
        """Marker genes of a type.

        Parameters
        ----------
        of : int
            The type, from 0 on.
        top : int, default=10

        Returns
        -------
        list of (gene, share of the profile, times the mean share over types)
        """
        check_is_fitted(self)
        found = self._model.markers(count("of", of, least=0), count("top", top, most=ANY))
        return [(self.genes_[gene], share, lift) for gene, share, lift in found]

    def to_anndata(self) -> Any:
        """Profiles as an ``anndata.AnnData``: types × genes, with weights and percentiles of features as ``obs``."""
        import anndata  # type: ignore[import-untyped]
        import pandas as pd

        check_is_fitted(self)
        obs = pd.DataFrame({"weight": self.weights_}, index=[f"type{t}" for t in range(self.n_components_)])
        for t, traits in enumerate(self.traits_):
            for own in traits:
                for name in ("low", "median", "high"):
                    obs.loc[f"type{t}", f"{own['feature']}_{name}"] = own[name]
        return anndata.AnnData(self.components_, obs=obs, var=pd.DataFrame(index=self.genes_))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The columns of ``transform``: ``type0``, ``type1`` and so on."""
        check_is_fitted(self)
        return np.asarray([f"type{t}" for t in range(self.n_components_)], dtype=object)

    def _counts(self, X: Any, *, reset: bool | None) -> _core.GeneCounts:
        """Counts for Rust. ``reset`` as scikit-learn means it; None matches genes by name where X has names."""
        names: list[str] | None = None
        if hasattr(X, "var_names") and hasattr(X, "X"):
            names, X = [str(name) for name in X.var_names], X.X
        elif hasattr(X, "columns") and hasattr(X, "iloc"):
            names = [str(name) for name in X.columns]
        if names is not None:
            names = characters("the gene", names)
        X = sound(X)
        if reset is None and names is not None:
            checked = sparse.csr_matrix(X if sparse.issparse(X) else as_numbers(X), dtype=np.float64)
        else:
            checked = validate_data(
                self,
                X,
                dtype=np.float64,
                accept_sparse="csr",
                reset=bool(reset),
                ensure_min_samples=2 if reset else 1,
                ensure_min_features=2 if reset else 1,
            )
        check_non_negative(checked, "Cells")
        matrix = sparse.csr_matrix(checked)
        if reset:
            genes = names or [f"x{i}" for i in range(matrix.shape[1])]
        else:
            genes = names if reset is None and names is not None else self.genes_
        return {
            "genes": genes,
            "indptr": np.ascontiguousarray(matrix.indptr, dtype=np.int64),
            "indices": np.ascontiguousarray(matrix.indices, dtype=np.int64),
            "data": np.ascontiguousarray(matrix.data, dtype=np.float64),
        }

    def _checked(self) -> _core.CellsChoices:
        """The arguments for Rust, each checked under the name that it has here."""
        k: int | None = None
        if isinstance(self.n_components, str):
            choice("n_components", self.n_components, ("auto",))
        else:
            k = count("n_components", self.n_components)
        natural = (lambda x: 0 <= x < np.inf, "a number of 0 or more is needed")
        return {
            "k": k,
            "solver": choice("solver", self.solver, SOLVERS),
            "smoothing": amount("smoothing", self.smoothing, *natural),
            "alpha": amount("alpha", self.alpha, *natural),
            "density": choice("density", self.density, DENSITIES),
            "restarts": count("restarts", self.restarts, least=0),
            "max_iterations": count("max_iter", self.max_iter),
            "most": count("max_types", self.max_types),
            "seed": seed_of(self.random_state),
        }

    def _adopt(self, model: _core.CellsModel, facts: dict[str, Any]) -> None:
        self.components_: NDArray[np.float64] = model.profiles()
        self.weights_: NDArray[np.float64] = model.weights()
        self.memberships_: NDArray[np.float64] = model.memberships()
        self.genes_: list[str] = model.genes()
        self.traits_: list[list[dict[str, Any]]] = facts["traits"]
        self.n_components_: int = self.components_.shape[0]
        self.n_iter_: int = max(1, facts["diagnostics"]["steps"])
        if not hasattr(self, "n_features_in_"):
            self.n_features_in_ = len(self.genes_)

    @classmethod
    def _choices(cls, facts: dict[str, Any]) -> dict[str, Any]:
        told = facts["parameters"]
        return {
            "n_components": told["k"],
            "solver": told["solver"],
            "density": facts["diagnostics"]["density"],
            "smoothing": told["smoothing"],
            "alpha": told["alpha"],
            "restarts": told["restarts"],
            "max_iter": told["max_iterations"],
            "max_types": told["most"],
            "random_state": told["seed"],
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
