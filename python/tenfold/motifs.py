"""Motifs that repeat anywhere in signals and images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from tenfold import _core
from tenfold._arguments import ANY, amount, choice, count, running, seed_of
from tenfold._base import ModelMixin

SOLVERS = ("subspace", "als", "deflation", "average", "alternating")
ORDERS = ("auto", 3, 4, "both")


def dimensions_of(X: Any) -> int:
    """How many dimensions an array has, or what can become one."""
    known = getattr(X, "ndim", None)
    return int(np.asarray(X).ndim if known is None else known)


class Motifs(ClassNamePrefixFeaturesOutMixin, ModelMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Motifs that repeat anywhere in a signal, by third and fourth cumulants.

    The model is a sum of L motifs, each fired at its own independent times, and Gaussian noise:

    .. math:: x = \sum_{l=1}^{L} f_l \star w_l + \text{noise}

    With :math:`F_l` the spectrum of a motif and :math:`u_{l\omega}(a) = F_l(a) F_l(\omega - a)`, the fourth cumulant is

    .. math:: \mathrm{cum}(X(a), X(\omega - a), X^*(c), X^*(\omega - c)) = \sum_l \kappa_l u_{l\omega}(a) u_{l\omega}^*(c)

    for every sum :math:`\omega` of two frequencies a matrix of rank L, in which neither shifts nor Gaussian noise appear.
    One pass over the signals gathers these matrices; the motifs are those whose :math:`u_\omega` lie in the leading
    eigenspaces of all of them. What follows the pass does not depend on how many samples there are.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of motifs. "auto" takes as many as repeat from one half of the signals to the other.
    length : int, (int, int) or "auto", default="auto"
        Samples of a motif; rows and columns for images. "auto" takes the lag at which the autocovariance ends. Give it when
        you know it: everything becomes faster and surer.
    rate : float, default=None
        Samples a second; times of events are then in seconds.
    images : bool, default=False
        Whether X holds images: (images, rows, columns), or (images, channels, rows, columns).
    cyclic : bool, default=False
        Whether windows are circles: a motif that leaves one at its end comes in again at its beginning.
    skip_nan : bool, default=False
        Cut signals at samples that are NaN or infinite in any channel, instead of refusing them; images and circles that hold
        such a sample are left out.
    orders : {"auto", 3, 4, "both"}, default="auto"
        Which cumulants are used. "auto" takes those that stand out from their noise.
    solver : {"subspace", "als", "deflation", "average", "alternating"}, default="subspace"
        How motifs are found. All but the first are there to compare with.
    sparse : bool, default=False
        Refine the motifs on the signals themselves afterwards: sharper where motifs fire now and then.
    n_starts : int, default=12
        Random starts for every motif.
    memory_limit : int, default=2147483648
        Bytes that the cumulants may take.
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
    components_ : ndarray of shape (n_components, length) or (n_components, channels, length)
        The motifs, of unit norm, heaviest first. For images (n_components, rows, columns), with channels in between where
        there are several.
    weights_ : ndarray of shape (n_components,)
        The size of every motif's activations, the root of their fourth cumulant.
    n_components_ : int
        Number of motifs.
    n_features_in_ : int
        Not set for a model of one channel from a file, which takes windows of any length.
        Samples of a window of the fit; channels where X has three dimensions.
    diagnostics_ : dict
        Figures of the fit: strengths of the cumulants, misfit, certificates, agreement of starts.
    verdict_ : tenfold.Verdict
        What the figures mean: ``sound``, ``warnings`` and ``notes``.

    Notes
    -----
    X of two dimensions is (windows, samples), one channel; of three (trials, channels, samples). One long recording is a single
    window: ``x[np.newaxis]``. Signals in files of other kinds (WAV, EDF, WFDB, Matlab) and signals with gaps are read by the
    command ``tenfold motifs fit``, whose models :meth:`load` reads.

    ``transform`` takes windows of the length of the fit, as scikit-learn expects; ``decode`` takes any.

    References
    ----------
    .. [1] F. Huang and A. Anandkumar, "Convolutional dictionary learning through tensor factorization", 2015.
    .. [2] J. Kileel and J. M. Pereira, "Subspace power method for symmetric tensor decomposition", 2019.
    .. [3] B. Wohlberg, "Efficient algorithms for convolutional sparse representations", 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from tenfold import Motifs
    >>> rng = np.random.default_rng(0)
    >>> shape = np.array([3.0, -1.0, 2.0, 0.5])
    >>> x = np.convolve(rng.poisson(0.05, size=20000), shape)
    >>> motifs = Motifs(1, length=4).fit(x[np.newaxis])
    >>> like = motifs.components_[0] @ shape / np.linalg.norm(shape)
    >>> bool(abs(like) > 0.99)
    True
    >>> events = motifs.decode(x[np.newaxis])
    >>> sorted(events)
    ['amplitude', 'motif', 'row', 'time', 'trial']
    """

    _compiled = _core.MotifsModel

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        length: int | tuple[int, int] | str = "auto",
        rate: float | None = None,
        images: bool = False,
        cyclic: bool = False,
        skip_nan: bool = False,
        orders: int | str = "auto",
        solver: str = "subspace",
        sparse: bool = False,
        n_starts: int = 12,
        memory_limit: int = 2 << 30,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: Any = False,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.length = length
        self.rate = rate
        self.images = images
        self.cyclic = cyclic
        self.skip_nan = skip_nan
        self.orders = orders
        self.solver = solver
        self.sparse = sparse
        self.n_starts = n_starts
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: ArrayLike, y: object = None) -> Motifs:
        """Learns the motifs.

        Parameters
        ----------
        X : array-like of shape (windows, samples) or (trials, channels, samples)
            Images are (images, rows, columns) or (images, channels, rows, columns).
        y : ignored

        Returns
        -------
        self
        """
        values = self._signals(X, reset=True)
        choices = self._checked()
        with running(self.n_jobs, self.verbose, self.checkpoint) as how:
            model = _core.MotifsModel.fit(values, self._recorded(values.shape[1]), choices, how)
        facts = self._take(model)
        self.verdict_.announce(settled=facts["diagnostics"]["converged"], stacklevel=3)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """How much each motif fires in each window: the sum of the amplitudes of its firings.

        Parameters
        ----------
        X : array-like
            As in ``fit``, with windows of the same length.

        Returns
        -------
        ndarray of shape (windows, n_components)
        """
        check_is_fitted(self)
        values = self._signals(X, reset=False)
        found = self._decoded(values, {"steady": True}, rebuild=False)
        places = found["trial"] * self.n_components_ + found["motif"]
        sums = np.zeros(len(values) * self.n_components_)
        np.add.at(sums, places, found["amplitude"])
        return sums.reshape(len(values), self.n_components_)

    def decode(
        self,
        X: ArrayLike,
        *,
        method: str = "sparse",
        signed: bool | None = None,
        penalty: float | None = None,
        threshold: float | None = None,
        refractory: int | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Where the motifs fire.

        Parameters
        ----------
        X : array-like
            As in ``fit``; windows of any length.
        method : {"sparse", "least_squares"}, default="sparse"
            Few firings that explain the signal, or the pseudo-inverse, a bank of linear filters.
        signed : bool, default=None
            Whether motifs also fire upside down; None as the fit found it.
        penalty : float, default=None
            On firings, in the signal's units; None is three times the noise.
        threshold : float, default=None
            The least amplitude of a firing; None is 4.5 times the noise, without a lower group of amplitudes.
        refractory : int, default=None
            Samples that two firings of one motif are apart at least; None is half a motif where it fires seldom.

        Returns
        -------
        dict of ndarray
            ``time`` where a motif begins (in seconds with a ``rate``, else in samples), ``motif``, ``amplitude``, ``trial`` and
            ``row`` (of images); ready for ``pandas.DataFrame``.
        """
        check_is_fitted(self)
        ways = {
            "method": choice("method", method, ("sparse", "least_squares")),
            "signed": signed,
            "lambda": penalty,
            "threshold": threshold,
            "refractory": None if refractory is None else count("refractory", refractory, least=0),
        }
        found = self._decoded(self._shaped(X), ways, rebuild=False)
        time = found["start"] / self.rate if self.rate is not None else found["start"]
        return {
            "time": time,
            "motif": found["motif"],
            "amplitude": found["amplitude"],
            "trial": found["trial"],
            "row": found["row"],
        }

    def reconstruct(self, X: ArrayLike) -> NDArray[np.float64]:
        """What the firings of the motifs add up to, in the shape of X; NaN where samples were skipped.

        Parameters
        ----------
        X : array-like
            As in ``fit``; windows of any length.

        Returns
        -------
        ndarray of the shape of X
        """
        check_is_fitted(self)
        found = self._decoded(self._shaped(X), {}, rebuild=True)
        rebuilt: NDArray[np.float64] = found["rebuilt"].reshape(np.shape(X))
        return rebuilt

    def score(self, X: ArrayLike, y: object = None) -> float:
        """The share of the variance of X that firings of the motifs explain.

        Parameters
        ----------
        X : array-like
            As in ``fit``, with windows of the same length.
        y : ignored

        Returns
        -------
        float
        """
        check_is_fitted(self)
        return float(self._decoded(self._signals(X, reset=False), {}, rebuild=False)["explained"])

    def _decoded(self, values: NDArray[np.float64], ways: dict[str, Any], *, rebuild: bool) -> dict[str, Any]:
        default = {
            "method": "sparse",
            "signed": None,
            "lambda": None,
            "threshold": None,
            "refractory": None,
            "steady": False,
        }
        with running(self.n_jobs) as how:
            recorded = self._recorded(values.shape[1])
            found: dict[str, Any] = self._model.infer(values, recorded, {**default, **ways}, rebuild, how)
        return found

    def _signals(self, X: ArrayLike, *, reset: bool) -> NDArray[np.float64]:
        """X with four dimensions, checked as scikit-learn does where it has two."""
        if dimensions_of(X) > 2 or self.images:
            values = self._shaped(X)
            if reset:
                self.n_features_in_ = values.shape[1]
            return values
        # A window of other length is told as such, also where it is too short for anything.
        least = 2 if reset else 1
        finite = not self.skip_nan
        table = validate_data(
            self, X, dtype=np.float64, order="C", ensure_min_features=least, ensure_all_finite=finite, reset=reset
        )
        return np.ascontiguousarray(table[:, np.newaxis, np.newaxis, :])

    def _shaped(self, X: ArrayLike) -> NDArray[np.float64]:
        dimensions = dimensions_of(X)
        known = {(2, False): (1, 1), (3, False): (2,), (3, True): (1,), (4, True): ()}
        if (dimensions, bool(self.images)) not in known:
            expected = "(images, rows, columns)" if self.images else "(windows, samples) or (trials, channels, samples)"
            raise ValueError(f"X has {dimensions} dimensions, but {expected} is expected; reshape it")
        finite = not self.skip_nan
        values = check_array(X, dtype=np.float64, order="C", allow_nd=True, ensure_2d=False, ensure_all_finite=finite)
        for axis in known[(dimensions, bool(self.images))]:
            values = np.expand_dims(values, axis)
        return np.ascontiguousarray(values)

    def _recorded(self, channels: int) -> _core.Recorded:
        rate = self.rate
        if rate is not None:
            rate = amount("rate", rate, lambda x: np.isfinite(x) and x > 0, "a number above 0 is needed")
        return {
            "rate": rate,
            "cyclic": bool(self.cyclic),
            "channels": [str(c) for c in range(channels)],
            "skip_nan": bool(self.skip_nan),
        }

    def _checked(self) -> _core.MotifsChoices:
        """The arguments for Rust, each checked under the name that it has here."""
        motifs: int | None = None
        if isinstance(self.n_components, str):
            choice("n_components", self.n_components, ("auto",))
        else:
            motifs = count("n_components", self.n_components)
        length: tuple[int, int] | None = None
        if isinstance(self.length, str):
            choice("length", self.length, ("auto",))
        elif isinstance(self.length, (tuple, list)):
            rows, columns = self.length
            length = (count("length", rows), count("length", columns))
        else:
            length = (1, count("length", self.length))
        if self.images and length is not None and length[0] == 1:
            raise ValueError(
                f"length = {self.length!r} is one row, which is no motif of images: give (rows, columns), or the rows as signals"
            )
        return {
            "motifs": motifs,
            "length": length,
            "orders": str(choice("orders", self.orders, ORDERS)),
            "solver": choice("solver", self.solver, SOLVERS),
            "sparse": bool(self.sparse),
            "starts": count("n_starts", self.n_starts),
            "memory": count("memory_limit", self.memory_limit, least=0, most=ANY),
            "seed": seed_of(self.random_state),
        }

    def _adopt(self, model: _core.MotifsModel, facts: dict[str, Any]) -> None:
        filters = model.filters()
        kept = [0] + [axis for axis in (1, 2) if filters.shape[axis] > 1] + [3]
        self.components_: NDArray[np.float64] = filters.reshape([filters.shape[axis] for axis in kept])
        self.weights_ = model.weights()
        self.n_components_ = len(filters)
        # A file does not tell how long the windows of the fit were: a model of one channel takes windows of any length.
        if not hasattr(self, "n_features_in_") and len(facts["channels"]) > 1:
            self.n_features_in_ = len(facts["channels"])

    @classmethod
    def _choices(cls, facts: dict[str, Any]) -> dict[str, Any]:
        told = facts["parameters"]
        length = told["length"]
        orders = told["orders"]
        return {
            "n_components": told["motifs"],
            "length": tuple(length) if isinstance(length, list) else length,
            "rate": facts["rate"],
            "images": facts["rows"] > 1,
            "cyclic": facts["cyclic"],
            "orders": int(orders) if orders in ("3", "4") else orders,
            "solver": told["solver"],
            "sparse": told["sparse"],
            "n_starts": told["starts"],
            "random_state": told["seed"],
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = bool(self.skip_nan)
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_components_
