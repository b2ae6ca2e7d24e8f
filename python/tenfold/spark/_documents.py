"""Documents in the rows of a DataFrame: their words, whatever the column holds, and errors that name the row.

Every function here runs on executors too, inside ``mapInArrow``.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold import _core

# Rows that are worked on together: enough for the compiled code, little enough for the memory of an executor.
TOGETHER = 2048


@dataclass
class Reader:
    """How the rows of a column become documents.

    Attributes
    ----------
    kind : str
        ``"text"``, ``"tokens"`` or ``"counts"``.
    column : str
        The name of the column, for messages.
    recipe : str
        How text becomes words, as JSON.
    words : int
        The size of the vectors, for counts.
    """

    kind: str
    column: str
    recipe: str
    words: int = 0
    _cutter: Any = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cutter": None}

    @property
    def cutter(self) -> Any:
        if self._cutter is None:
            self._cutter = _core.TextCutter(self.recipe, [])
        return self._cutter

    def scan(self, rows: list[Any], at: Place) -> tuple[list[str], list[int], np.ndarray[Any, Any]]:
        """The words of some documents with the documents that hold them, and the distinct words of each."""
        if self.kind == "counts":
            pairs = [self._pairs(row, at.row(i)) for i, row in enumerate(rows)]
            return [], [], np.array([len(words) for words, _ in pairs], dtype=np.uint32)
        rows = [self._whole(row, at.row(i)) for i, row in enumerate(rows)]
        found = self.cutter.scan(rows) if self.kind == "text" else _core.scan_words(rows)
        words, frequencies, entries = found
        return words, frequencies, entries

    def encode(self, rows: list[Any], numbers: Any, at: Place) -> tuple[np.ndarray[Any, Any], bytes]:
        """The documents as bytes, one after the other, and where each begins."""
        if self.kind == "counts":
            parts = []
            for i, row in enumerate(rows):
                words, counts = self._pairs(row, at.row(i))
                parts.append(words.tobytes() + counts.tobytes())
            starts = np.zeros(len(parts) + 1, dtype=np.int32)
            np.cumsum([len(part) for part in parts], out=starts[1:])
            return starts, b"".join(parts)
        rows = [self._whole(row, at.row(i)) for i, row in enumerate(rows)]
        encode = self.cutter.encode if self.kind == "text" else _core.encode_words
        starts, data = encode(rows, numbers)
        return starts, data

    def mark(self, rows: list[Any], before: int) -> int:
        """A checksum of rows that follow others, to tell whether they come again as they came."""
        for row in rows:
            if self.kind == "text":
                data = row.encode("utf-8", "surrogatepass")
            elif self.kind == "tokens":
                data = "\0".join(row).encode("utf-8", "surrogatepass")
            else:
                data = repr((row["indices"], row["values"])).encode()
            before = zlib.crc32(data, zlib.crc32(b"\n", before))
        return before

    def _whole(self, row: Any, place: str) -> Any:
        if row is None:
            raise ValueError(f"{place}: column {self.column!r} is null; drop such rows, or write an empty text for them")
        if self.kind == "tokens" and any(token is None for token in row):
            raise ValueError(f"{place}: column {self.column!r} holds a null among its words; drop it first")
        return row

    def _pairs(self, row: Any, place: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Words and counts of a vector, in the struct that Spark keeps it in."""
        row = self._whole(row, place)
        size = len(row["values"]) if row["type"] == 1 else row["size"]
        if size != self.words:
            raise ValueError(f"{place}: column {self.column!r} holds a vector of size {size}, and others of {self.words}")
        counts = np.asarray(row["values"], dtype=np.float64)
        words = np.arange(size) if row["type"] == 1 else np.asarray(row["indices"], dtype=np.int64)
        whole = (counts >= 0) & (counts < 2.0**32) & (counts == np.floor(counts))
        if not whole.all():
            bad = int(np.argmin(whole))
            raise ValueError(
                f"{place}: column {self.column!r} holds {counts[bad]!r} at index {words[bad]}; counts of words are whole "
                "numbers from 0 on: give the output of CountVectorizer or HashingTF, before IDF"
            )
        keep = counts > 0
        return words[keep].astype("<u4"), counts[keep].astype("<u4")


@dataclass
class Place:
    """Where some rows stand, for messages."""

    partition: int
    first: int

    def row(self, i: int) -> str:
        return f"partition {self.partition}, row {self.first + i + 1}"


def batches(frames: Iterator[Any]) -> Iterator[tuple[list[Any], Place]]:
    """The values of the first column of Arrow batches, some at a time, with their places."""
    from pyspark import TaskContext

    context = TaskContext.get()
    partition = context.partitionId() if context is not None else 0
    first = 0
    for frame in frames:
        column = frame.column(0)
        for begin in range(0, len(column), TOGETHER):
            rows = column.slice(begin, TOGETHER).to_pylist()
            yield rows, Place(partition, first)
            first += len(rows)
