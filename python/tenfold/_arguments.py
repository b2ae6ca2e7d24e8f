"""Constructor arguments, checked where ``fit`` begins; errors name the argument and what would do."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
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
        asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        # More digits than that are no number of threads, and Python refuses to read thousands of them.
        return _threads(int(asked)) if asked.isdecimal() and len(asked) < 20 else 0
    count("n_jobs", n_jobs, least=None, most=None)
    if n_jobs == 0:
        raise ValueError("n_jobs = 0 leaves no thread to work: give -1 for all cores, or a number of threads")
    if n_jobs > 0:
        return _threads(int(n_jobs))
    return 0 if n_jobs == -1 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def _threads(asked: int) -> int:
    """More threads than there is work for only cost their start."""
    return min(asked, max(64, os.cpu_count() or 1))


@contextmanager
def running(n_jobs: Any, verbose: Any = False, checkpoint: Any = None) -> Iterator[Running]:
    """How a compiled call runs, with its progress bar while it does."""
    with listening(verbose) as callback:
        folder = None if checkpoint is None else os.fsdecode(checkpoint)
        yield {"threads": threads_of(n_jobs), "callback": callback, "checkpoint": folder}


# The largest number that is taken where nothing else bounds it: compiled code multiplies it by other sizes.
MOST = 2**31 - 1
# The largest number of bytes, and of entries of a list of which no more are given than there are.
ANY = 2**63 - 1


def count(name: str, value: Any, *, least: int | None = 1, most: int | None = MOST) -> int:
    """A whole number from ``least`` to ``most``."""
    if not isinstance(value, Integral) or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} = {value!r} is no whole number")
    if least is not None and value < least:
        raise ValueError(f"{name} = {value} is out of range: at least {least} is needed")
    if most is not None and int(value) > most:
        shown = str(value) if int(value) < 10**30 else "a number of more than thirty digits"
        raise ValueError(f"{name} = {shown} is out of range: at most {most} is possible")
    return int(value)


def amount(name: str, value: Any, check: Callable[[float], bool], expected: str) -> float:
    """A number that passes ``check``."""
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        number = math.inf
    if not check(number):
        shown = "a number of more than three hundred digits" if isinstance(value, Integral) and number == math.inf else repr(value)
        raise ValueError(f"{name} = {shown} is out of range: {expected}")
    return number


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


def characters(what: str, texts: Iterable[str]) -> list[str]:
    """The texts, all of which compiled code can read: surrogates, which stand for bytes that are no text, have no place there."""
    known = list(texts)
    for text in known:
        try:
            text.encode()
        except UnicodeEncodeError:
            remedy = "read the text with errors='replace', or rename it"
            raise ValueError(f"{what} {text!a} holds surrogates, which are no characters: {remedy}") from None
    return known


def rows(X: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array as compiled code reads it: any order of memory will do, but not numbers across word boundaries."""
    return X if X.flags.aligned else np.require(X, requirements="A")
