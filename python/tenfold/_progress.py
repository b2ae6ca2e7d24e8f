"""Progress of a fit: the listener that ``verbose`` asks for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Callback = Callable[[str, int, int], object]


@contextmanager
def listening(verbose: Any) -> Iterator[Callback | None]:
    """The callback for ``verbose``: itself if it can be called, a bar if it is true, nothing otherwise."""
    if callable(verbose):
        yield verbose
    elif verbose:
        bar = _bar()
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield None


def _bar() -> TqdmBar | PlainBar:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return PlainBar()
    return TqdmBar(tqdm)


class TqdmBar:
    """One tqdm bar for every stage: on a terminal, and as a widget in a notebook."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._bar is None or stage != self._stage or done < self._bar.n:
            self.close()
            self._bar = self._tqdm(total=total or None, desc=stage, unit="", leave=False)
            self._stage = stage
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Takes the bar off the screen."""
        if self._bar is not None:
            self._bar.close()
        self._bar = None


class PlainBar:
    """One line on standard error where tqdm is not installed; without a terminal, a line for every stage."""

    def __init__(self) -> None:
        self._stage = ""
        self._width = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        if sys.stderr is None:
            return
        if not sys.stderr.isatty():
            if stage != self._stage:
                print(f"tenfold: {stage}", file=sys.stderr)
        else:
            share = f" {100 * min(done, total) // total} %" if total else f" {done}" if done else ""
            line = stage + share
            print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(line)
        self._stage = stage

    def close(self) -> None:
        """Takes the line off the screen."""
        if self._width and sys.stderr is not None:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
        self._width = 0
