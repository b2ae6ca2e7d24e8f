"""Independent component analysis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from tenfold import _core
from tenfold._arguments import ANY, amount, characters, choice, count, device, refuse, rows, running, seed_of
from tenfold._base import ModelMixin

SOLVERS = ("polar", "power", "als", "simultaneous", "online")
DTYPES = [np.float64, np.float32]


class ICA(ClassNamePrefixFeaturesOutMixin, ModelMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Independent component analysis by the fourth cumulant, with a likelihood polish.

    The model is :math:`x = A s + \text{mean}` with independent sources :math:`s` of unit variance, at most one of
    them Gaussian. After whitening, :math:`y = W^\top (x - \text{mean})` has the fourth cumulant

    .. math:: \mathrm{cum}_4(y) = E[y^{\otimes 4}] - \mathrm{sym}(I \otimes I) = \sum_i \kappa_i v_i^{\otimes 4}

    with orthonormal :math:`v_i = W^\top a_i`, and :math:`\kappa_i` the excess kurtosis of source i. Decomposing this
    tensor finds the sources without luck; a few Newton steps on an adaptive likelihood then take the statistical
    efficiency that cumulants lack. The tensor is never formed: an iteration is two matrix products over the data.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Number of sources. None takes all: as many as there are columns, or one less than samples. "auto" chooses by
        the description length of the covariance's spectrum, for recordings with more channels than sources. A model
        of data with a smaller rank has fewer sources, and warns.
    contrast : {"kurtosis", "skewness"}, default="kurtosis"
        What tells sources apart: the fourth cumulant, or the third, which sees skewed sources only but is less
        sensitive to outliers.
    solver : {"polar", "power", "als", "simultaneous", "online"}, default="polar"
        How the tensor is decomposed. "online" goes over the samples in batches and keeps memory smallest.
    max_iter : int, default=None
        Iterations after which the decomposition is given up; None is the solver's own limit. Not for "online".
    tol : float, default=None
        Largest move of a direction that counts as standing still; None is the solver's own.
    batch_size : int, default=None
        Samples in a batch of the solver "online"; None is 1024.
    n_epochs : int, default=None
        Passes over the samples of the solver "online"; None is 3.
    polish : bool, default=True
        Whether the likelihood polish follows.
    standardize : bool, default=False
        Divide every column by its standard deviation first: for columns in different units.
    memory_limit : int, default=2147483648
        Bytes that whitened samples may take; beyond that they are computed anew in every pass, for the same answer.
        For memory-mapped data that are larger than memory.
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
    components_ : ndarray of shape (n_components, n_features)
        The unmixing: sources are ``(X - mean_) @ components_.T``. Sources stand in the order of their excess kurtosis
        by size (skewness with that contrast); the largest entry of every column of ``mixing_`` is positive.
    mixing_ : ndarray of shape (n_features, n_components)
        A, the pseudo-inverse of the unmixing.
    mean_ : ndarray of shape (n_features,)
        Mean of every column.
    kurtosis_, skewness_ : ndarray of shape (n_components,)
        Excess kurtosis and skewness of every source.
    shares_ : ndarray of shape (n_components,)
        The share of the variance of the data that each source makes.
    n_components_ : int
        Number of sources.
    n_iter_ : int
        Iterations of the tensor decomposition.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where they are strings.
    diagnostics_ : dict
        Figures of the fit: spectrum, condition, eigengap, residual, iterations, agreement of restarts, polish.
    verdict_ : tenfold.Verdict
        What the figures mean: ``sound``, ``warnings`` and ``notes``.

    Notes
    -----
    A memory map, a read-only array, either order of memory and either precision are read where they lie, without a
    copy. float32 samples give float32 sources; sums are in double precision all the same. There is no ``partial_fit``:
    the whitening changes with every new sample, and with it the tensor.

    References
    ----------
    .. [1] P. Comon, "Independent component analysis, a new concept?", Signal Processing 36, 1994.
    .. [2] D.-T. Pham and P. Garat, "Blind separation of mixture of independent sources through a quasi-maximum
       likelihood approach", IEEE Transactions on Signal Processing 45, 1997.
    .. [3] R. Ge, F. Huang, C. Jin and Y. Yuan, "Escaping from saddle points", COLT 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from tenfold import ICA
    >>> rng = np.random.default_rng(0)
    >>> S = np.column_stack([rng.laplace(size=5000), rng.uniform(-1, 1, size=5000)])
    >>> X = S @ np.array([[1.0, 0.5], [-0.3, 1.0]])
    >>> ica = ICA().fit(X)
    >>> found = ica.transform(X)
    >>> bool(np.abs(np.corrcoef(S.T, found.T)[:2, 2:]).max(axis=0).min() > 0.99)
    True
    >>> ica.verdict_.sound
    True
    >>> bool(np.allclose(ica.inverse_transform(found), X))
    True
    """

    _compiled = _core.IcaModel

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        contrast: str = "kurtosis",
        solver: str = "polar",
        max_iter: int | None = None,
        tol: float | None = None,
        batch_size: int | None = None,
        n_epochs: int | None = None,
        polish: bool = True,
        standardize: bool = False,
        memory_limit: int = 2 << 30,
        device: str = "cpu",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: Any = False,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.contrast = contrast
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.polish = polish
        self.standardize = standardize
        self.memory_limit = memory_limit
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: ArrayLike, y: object = None) -> ICA:
        """Learns the unmixing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in rows.
        y : ignored

        Returns
        -------
        self
        """
        samples = validate_data(self, X, dtype=DTYPES, ensure_min_samples=2)
        choices = self._checked(samples.shape)
        with running(self.n_jobs, self.verbose, self.checkpoint) as how:
            model = _core.IcaModel.fit(rows(samples), choices, how)
        facts = self._take(model)
        figures = facts["diagnostics"]
        # The polish has the last word: it settles a decomposition that was still moving.
        settled = figures["polish_converged"]
        self.verdict_.announce(settled=figures["converged"] if settled is None else settled, stacklevel=3)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """The sources of samples, ``(X - mean_) @ components_.T``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            float32 for float32 samples, float64 otherwise.
        """
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=DTYPES, reset=False)
        with running(self.n_jobs) as how:
            return self._compiled.infer(self._model, rows(samples), how)

    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]:
        """The samples that sources make, ``X @ mixing_.T + mean_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Sources in rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        sources = check_array(X, dtype=DTYPES)
        with running(self.n_jobs) as how:
            return self._compiled.mix(self._model, rows(sources), how)

    def score(self, X: ArrayLike, y: object = None) -> float:
        r"""The share of the variance of X that the sources hold.

        .. math:: 1 - \sum_t \|x_t - \hat x_t\|^2 / \sum_t \|x_t - \text{mean}\|^2

        It is 1 with as many sources as columns, and tells what fewer leave out; it does not tell how independent they
        are, for which ``verdict_`` and ``kurtosis_`` are there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        float
        """
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=np.float64, reset=False)
        with running(self.n_jobs) as how:
            back = self._model.mix(self._model.infer(rows(samples), how), how)
        spread = float(np.sum((samples - self.mean_) ** 2))
        return 1.0 - float(np.sum((samples - back) ** 2)) / spread if spread > 0 else 0.0

    def _checked(self, shape: tuple[int, int]) -> _core.IcaChoices:
        """The arguments for Rust, each checked under the name that it has here."""
        samples, columns = shape
        k: int | None = None
        if self.n_components is None:
            k = min(columns, samples - 1)
        elif isinstance(self.n_components, str):
            choice("n_components", self.n_components, ("auto",))
        else:
            k = count("n_components", self.n_components)
        solver = choice("solver", self.solver, SOLVERS)
        if solver == "online":
            refuse({"max_iter": self.max_iter}, "the solver 'online', which makes n_epochs passes")
        else:
            refuse({"batch_size": self.batch_size, "n_epochs": self.n_epochs}, "a solver other than 'online'")

        def optional(name: str, value: Any) -> int | None:
            return None if value is None else count(name, value)

        def positive(x: float) -> bool:
            return math.isfinite(x) and x >= 0

        tol = self.tol
        names = getattr(self, "feature_names_in_", None)
        return {
            "k": k,
            "contrast": choice("contrast", self.contrast, ("kurtosis", "skewness")),
            "solver": solver,
            "max_iterations": optional("max_iter", self.max_iter),
            "tolerance": None if tol is None else amount("tol", tol, positive, "0 or more is needed"),
            "batch": optional("batch_size", self.batch_size),
            "epochs": optional("n_epochs", self.n_epochs),
            "polish": bool(self.polish),
            "standardise": bool(self.standardize),
            "memory": count("memory_limit", self.memory_limit, least=0, most=ANY),
            "device": device("device", self.device),
            "seed": seed_of(self.random_state),
            "columns": None if names is None else characters("the column", [str(name) for name in names]),
        }

    def _adopt(self, model: _core.IcaModel, facts: dict[str, Any]) -> None:
        self.components_ = model.unmixing()
        self.mixing_ = model.mixing()
        self.mean_ = model.mean()
        self.kurtosis_ = np.array(facts["kurtosis"])
        self.skewness_ = np.array(facts["skewness"])
        self.shares_ = np.array(facts["shares"])
        self.n_components_ = len(self.components_)
        self.n_features_in_ = len(self.mean_)
        if facts["column_names"] is not None:
            self.feature_names_in_ = np.array(facts["column_names"], dtype=object)
        figures = self.diagnostics_
        figures["spectrum"] = np.array(figures["spectrum"])
        if figures["eigengap"] is None:
            figures["eigengap"] = math.inf
        self.n_iter_ = max(1, figures["iterations"])

    @classmethod
    def _choices(cls, facts: dict[str, Any]) -> dict[str, Any]:
        told = facts["parameters"]
        return {
            "n_components": told["k"],
            "contrast": told["contrast"],
            "solver": told["solver"],
            "max_iter": told.get("max_iterations"),
            "tol": told["tolerance"],
            "batch_size": told.get("batch"),
            "n_epochs": told.get("epochs"),
            "polish": told["polish"] != "none",
            "standardize": told["standardise"],
            "random_state": told["seed"],
        }

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
