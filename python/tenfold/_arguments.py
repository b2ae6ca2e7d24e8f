"""Constructor arguments, checked where ``fit`` begins; errors name the argument and what would do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, TypedDict

import numpy as np

from tenfold._progress import Callback, listening


class Running(TypedDict):
    """How a compiled call runs."""

    threads: int
    callback: Callback | None
    checkpoint: str | None


def seed_of(random_state: Any) -> int:
    """The seed that a ``random_state`` stands for; ``None`` is 0, because the same call gives the same answer here."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral) and 0 <= int(random_state) < 2**64:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63))
    raise ValueError(
        f"random_state = {random_state!r} is no seed: give a whole number from 0 to 2**64 - 1, None, or a generator of numpy"
    )


def threads_of(n_jobs: Any) -> int:
    """The number of threads that ``n_jobs`` stands for; 0 is one for every core.

    ``None`` is all cores, or ``OMP_NUM_THREADS`` where it is set: joblib sets it in its workers, so that a grid search
    does not start more threads than there are cores.
    """
    if n_jobs is None:
        asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        return int(asked) if asked.isdecimal() else 0
    count("n_jobs", n_jobs, least=None)
    if n_jobs == 0:
        raise ValueError("n_jobs = 0 leaves no thread to work: give -1 for all cores, or a number of threads")
    if n_jobs > 0:
        # More threads than there is work for only cost their start.
        return min(int(n_jobs), max(64, os.cpu_count() or 1))
    return 0 if n_jobs == -1 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


@contextmanager
def running(n_jobs: Any, verbose: Any = False, checkpoint: Any = None) -> Iterator[Running]:
    """How a compiled call runs, with its progress bar while it does."""
    with listening(verbose) as callback:
        folder = None if checkpoint is None else os.fsdecode(checkpoint)
        yield {"threads": threads_of(n_jobs), "callback": callback, "checkpoint": folder}


def count(name: str, value: Any, *, least: int | None = 1) -> int:
    """A whole number of at least ``least``."""
    if not isinstance(value, Integral) or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} = {value!r} is no whole number")
    if least is not None and value < least:
        raise ValueError(f"{name} = {value} is out of range: at least {least} is needed")
    return int(value)


def amount(name: str, value: Any, check: Callable[[float], bool], expected: str) -> float:
    """A number that passes ``check``."""
    if not isinstance(value, Real) or not check(float(value)):
        raise ValueError(f"{name} = {value!r} is out of range: {expected}")
    return float(value)


def choice(name: str, value: Any, known: tuple[Any, ...]) -> Any:
    """One of the known values."""
    if not any(value is one or (isinstance(value, str) and value == one) for one in known):
        raise ValueError(f"{name} = {value!r} is not known: it may be {', '.join(map(repr, known))}")
    return value


def device(name: str, value: Any) -> str:
    """Who makes the heavy sums: ``cpu``, ``auto``, ``auto:N``, ``gpu`` or ``gpu:N``."""
    if isinstance(value, str):
        kind, _, number = value.partition(":")
        if value in ("cpu", "auto", "gpu") or (kind in ("auto", "gpu") and number.isdecimal()):
            return value
    raise ValueError(f"{name} = {value!r} is not known: it may be 'cpu', 'auto', 'auto:N', 'gpu' or 'gpu:N'")


def refuse(given: dict[str, Any], reason: str) -> None:
    """Refuses arguments that would be passed over."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} means nothing with {reason}; leave it out")


def rows(X: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array as compiled code reads it: any order of memory will do, but not numbers across word boundaries."""
    return X if X.flags.aligned else np.require(X, requirements="A")
