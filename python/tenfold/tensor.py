"""Components of tensors."""

from __future__ import annotations

import json
import math
import os
import string
import warnings
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from tenfold import _core
from tenfold._arguments import ANY, amount, choice, count, running, seed_of
from tenfold._base import Path, told_by

__all__ = ["Decomposition", "Matched", "decompose", "load"]

SOLVERS = ("polar", "power", "als", "simultaneous", "online")


class Matched(NamedTuple):
    """How found components correspond to true ones; signs do not count.

    Attributes
    ----------
    partner : ndarray of int
        For every true component the place of the found one.
    errors : ndarray
        Lengths of the differences of the unit vectors.
    weight_errors : ndarray
        Differences of the weights.
    """

    partner: NDArray[np.int64]
    errors: NDArray[np.float64]
    weight_errors: NDArray[np.float64]


@dataclass(frozen=True)
class Decomposition:
    r"""Components of a tensor, :math:`T \approx \sum_i \lambda_i\, a_i \otimes b_i \otimes \dots`

    Attributes
    ----------
    weights : ndarray of shape (k,)
        :math:`\lambda_i`, the largest first.
    factors : list of ndarray of shape (side, k)
        Unit vectors in columns: one array for all sides of a symmetric tensor, else one for every side.
    order : int
        Number of sides of the tensor.
    residual : float
        :math:`\|T - \hat T\| / \|T\|`.
    converged : bool
        Whether the solver stood still.
    iterations : int
        Iterations of the run that was kept.
    facts : dict
        What the file tells beside that: solver, seed, agreement of restarts.
    """

    weights: NDArray[np.float64]
    factors: list[NDArray[np.float64]]
    order: int
    residual: float
    converged: bool
    iterations: int
    facts: dict[str, Any] = field(default_factory=dict, repr=False)

    def _check(self) -> None:
        """An error where the parts do not make a tensor together."""
        many = len(self.factors)
        if many != 1 and many != self.order:
            raise ValueError(f"order = {self.order}, but there are factors of {many} sides")
        if not 1 <= self.order <= len(string.ascii_lowercase) - 1:
            raise ValueError(f"order = {self.order} is out of range: 1 to {len(string.ascii_lowercase) - 1} sides are possible")
        for factor in self.factors:
            shapes = np.shape(self.weights), np.shape(factor)
            if len(shapes[0]) != 1 or len(shapes[1]) != 2 or shapes[1][1] != shapes[0][0]:
                raise ValueError(f"{shapes[0]} weights and factors {shapes[1]}: a weight for every column is needed")

    @property
    def symmetric(self) -> bool:
        """Whether one array of factors serves all sides."""
        return len(self.factors) == 1

    def reconstruct(self) -> NDArray[np.float64]:
        """The tensor that the components make.

        Returns
        -------
        ndarray
        """
        self._check()
        sides = self.factors * self.order if self.symmetric else self.factors
        letters = string.ascii_lowercase[: self.order]
        spec = ",".join(["z", *(f"{letter}z" for letter in letters)])
        full: NDArray[np.float64] = np.einsum(f"{spec}->{letters}", self.weights, *sides, optimize=True)
        return full

    def match_to(self, truth: Decomposition | tuple[ArrayLike, ArrayLike]) -> Matched:
        """Finds the component that belongs to each true one.

        Parameters
        ----------
        truth : Decomposition or (weights, factors)
            Components of a symmetric tensor, at most as many as were found.

        Returns
        -------
        Matched
        """
        if not self.symmetric or (isinstance(truth, Decomposition) and not truth.symmetric):
            raise ValueError("components of symmetric tensors are matched; those without symmetry have three factors each")
        self._check()
        pair = (truth.weights, truth.factors[0]) if isinstance(truth, Decomposition) else truth
        weights, factors = (np.asarray(part, dtype=np.float64) for part in pair)
        if factors.ndim != 2 or weights.shape != factors.shape[1:]:
            raise ValueError(f"{weights.shape} weights and factors {factors.shape}: a weight for every column is needed")
        found = np.asarray(self.weights, dtype=np.float64), np.asarray(self.factors[0], dtype=np.float64)
        partner, errors, of_weights = _core.match_components((weights, factors), found, self.order)
        return Matched(np.array(partner, dtype=np.int64), np.array(errors), np.array(of_weights))

    def save(self, path: Path) -> None:
        """Writes the file that ``tenfold tensor decompose -o`` writes, whole or not at all.

        Parameters
        ----------
        path : str or path-like
        """
        self._check()
        facts = self.facts | {
            "order": self.order,
            "symmetric": self.symmetric,
            "k": len(self.weights),
            "weights": self.weights.tolist(),
            "residual": self.residual if math.isfinite(self.residual) else None,
            "converged": self.converged,
            "iterations": self.iterations,
        }
        _core.save_tensor(path, self.weights, self.factors, json.dumps(facts))


def decompose(
    T: ArrayLike,
    k: int | None = None,
    *,
    solver: str = "polar",
    symmetric: bool | None = None,
    max_iter: int | None = None,
    tol: float | None = None,
    restarts: int | None = None,
    symmetry_tol: float = 1e-8,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: Any = False,
) -> Decomposition:
    r"""Finds the components of a tensor.

    A symmetric tensor of order 3 or 4 is decomposed as :math:`\sum_i \lambda_i v_i^{\otimes p}`; one of order 5 or 7 is
    turned to order 4 first, by its partial trace, which has the same orthogonal components. A tensor of three sides
    without symmetry is decomposed as :math:`\sum_i \lambda_i\, a_i \otimes b_i \otimes c_i` by alternating least squares.

    Parameters
    ----------
    T : array-like
        The tensor.
    k : int, default=None
        Number of components. None is the side of the tensor; the smallest one without symmetry.
    solver : {"polar", "power", "als", "simultaneous", "online"}, default="polar"
        "polar" finds all components together and is right nearly always; "als" also finds components that are not
        orthogonal, and is what serves tensors without symmetry.
    symmetric : bool, default=None
        How the tensor is taken. None takes one of equal sides as symmetric.
    max_iter : int, default=None
        Iterations after which a start is given up, or steps of "online"; None is the solver's own.
    tol : float, default=None
        What counts as converged; None is the solver's own.
    restarts : int, default=None
        Starts, of which the best is kept, for "polar", "power" and "als".
    symmetry_tol : float, default=1e-8
        How far from symmetric a tensor may be, relative to its largest entry.
    random_state, n_jobs, verbose
        As for the estimators.

    Returns
    -------
    Decomposition

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        When the solver did not stand still.

    Examples
    --------
    >>> import numpy as np
    >>> from tenfold.tensor import decompose
    >>> V, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))
    >>> T = np.einsum("z,az,bz,cz->abc", [3.0, 2.0, 1.0], V[:, :3], V[:, :3], V[:, :3])
    >>> found = decompose(T, 3)
    >>> found.weights.round(6)
    array([3., 2., 1.])
    >>> bool(found.match_to(([3.0, 2.0, 1.0], V[:, :3])).errors.max() < 1e-6)
    True
    >>> bool(np.allclose(found.reconstruct(), T))
    True
    """
    full = np.ascontiguousarray(T, dtype=np.float64)
    symmetric = _taken(full, symmetric)
    solver = choice("solver", solver, SOLVERS)
    if not symmetric and solver not in ("als", "polar"):
        raise ValueError(f"solver = {solver!r} needs symmetry: a tensor without it is decomposed by 'als' only")

    def positive(x: float) -> bool:
        return 0 <= x < math.inf

    choices: _core.TensorChoices = {
        "k": _components(k, full.shape, symmetric),
        "solver": solver,
        "max_iterations": None if max_iter is None else count("max_iter", max_iter),
        "tolerance": None if tol is None else amount("tol", tol, positive, "0 or more is needed"),
        "restarts": None if restarts is None else count("restarts", restarts),
        "symmetry_tolerance": amount("symmetry_tol", symmetry_tol, positive, "0 or more is needed"),
        "seed": seed_of(random_state),
    }
    try:
        with running(n_jobs, verbose) as how:
            weights, factors, told = _core.decompose_tensor((full.ravel(), list(full.shape)), symmetric, choices, how)
    except ValueError as error:
        if "a symmetric tensor" not in str(error):
            raise
        advice = "for a tensor without symmetry give symmetric=False; " if full.ndim == 3 else ""
        raise ValueError(f"{error}; {advice}if only rounding is to blame, raise symmetry_tol") from None
    iterations, last, agreement, converged = told
    name = solver if symmetric else "als"
    facts = {
        "solver": name,
        "seed": choices["seed"],
        "eigen_residual": last if math.isfinite(last) else None,
        "agreement": agreement,
    }
    found = Decomposition(weights, factors, full.ndim, math.nan, converged, iterations, facts)
    # In units of the largest entry, whose square may be beyond double precision.
    unit = float(np.abs(full).max(initial=0.0)) or 1.0
    norm = float(np.linalg.norm(full / unit))
    residual = float(np.linalg.norm((full - found.reconstruct()) / unit)) / norm if norm > 0 else 0.0
    if not converged:
        warnings.warn(
            f"{name} did not converge in {iterations} iterations: the components may be wrong; raise max_iter, or try "
            "another solver",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Decomposition(weights, factors, full.ndim, residual, converged, iterations, facts)


def load(path: Path) -> Decomposition:
    """Reads components that :meth:`Decomposition.save` or ``tenfold tensor decompose -o`` wrote.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Decomposition
    """
    weights, factors, told = _core.load_tensor(path)
    facts: dict[str, Any] = json.loads(told)
    with told_by("facts", f"{os.fspath(path)}: "):
        known = {name: facts.pop(name, None) for name in ("order", "residual", "converged", "iterations")}
        order, residual, iterations = (known[name] for name in ("order", "residual", "iterations"))
        found = Decomposition(
            weights,
            factors,
            3 if order is None else count("order", order),
            math.nan if residual is None else amount("residual", residual, lambda x: x >= 0, "0 or more is needed"),
            choice("converged", known["converged"], (True, False, None)) is True,
            0 if iterations is None else count("iterations", iterations, least=0, most=ANY),
            facts,
        )
        found._check()
    return found


def _taken(full: NDArray[np.float64], symmetric: bool | None) -> bool:
    """Whether the tensor is taken as symmetric; an error for one that cannot be decomposed at all."""
    if full.size == 0 or not np.all(np.isfinite(full)):
        raise ValueError("a tensor with entries, all of them finite, is needed")
    cube = len(set(full.shape)) == 1
    if symmetric is None:
        symmetric = cube
    if symmetric and cube and full.ndim in (3, 4, 5, 7):
        return True
    if not symmetric and full.ndim == 3:
        return False
    raise ValueError(
        f"a tensor of shape {full.shape} cannot be decomposed; give a symmetric one of order 3, 4, 5 or 7 with equal "
        "sides, or any of three sides"
    )


def _components(k: int | None, shape: tuple[int, ...], symmetric: bool) -> int:
    sides = sorted(shape)
    if k is None:
        return sides[0]
    asked = count("k", k)
    # No tensor of three sides has a larger rank than the product of the two smaller ones.
    if not symmetric and asked > sides[0] * sides[1]:
        raise ValueError(f"k = {asked} is more than a tensor of shape {shape} can have: at most {sides[0] * sides[1]}")
    return asked
