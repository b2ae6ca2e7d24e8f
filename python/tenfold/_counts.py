"""Tables of counts on their way to Rust, which reads the arrays of a CSR matrix where they lie."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from tenfold import _core
from tenfold._documents import PART

# Numbers of a dense table that are turned into a CSR matrix at once, and that are looked at at once.
SOME = 1 << 20
# Fractions become whole numbers up to this power of two: single precision, in which counts are kept, holds them with
# their sums over a document.
BITS = 16
# The largest count that Rust takes.
LARGEST = 2**32 - 1

# Types of values that Rust reads as they are, and what others become; all are native.
READ = {"f8", "f4", "i8", "i4", "u1"}
OTHERS = {"b1": "u1", "i1": "i4", "i2": "i4", "u2": "i4", "u4": "f8", "u8": "f8", "f2": "f4"}


def survey(table: Any) -> tuple[bool, float]:
    """Whether all numbers are whole, and the largest of them."""
    whole, largest = True, 0.0
    for part in _numbers(table):
        if part.size == 0:
            continue
        largest = max(largest, float(part.max()))
        if whole and part.dtype.kind == "f":
            whole = bool(np.array_equal(part, np.rint(part)))
    return whole, largest


def _numbers(table: Any) -> Iterator[np.ndarray[Any, Any]]:
    flat = table.data if sparse.issparse(table) else table
    step = SOME if flat.ndim == 1 else _rows_at_once(flat)
    for at in range(0, len(flat), step):
        yield flat[at : at + step]


def scale_of(whole: bool, largest: float) -> float:
    """What numbers are multiplied by to become counts: 1 where they are counts, a power of two elsewhere."""
    if (whole and largest <= LARGEST) or largest == 0:
        return 1.0
    return 2.0 ** min(BITS - math.ceil(math.log2(largest)), 1000)


def rows_of(table: Any) -> Iterator[_core.Csr]:
    """The table as CSR matrices: itself, or dense rows some at a time."""
    if sparse.issparse(table):
        yield _arrays(table)
        return
    step = _rows_at_once(table)
    for at in range(0, len(table), step):
        some = table[at : at + step]
        yield _arrays(sparse.csr_matrix(np.asarray(some, dtype=_read_as(some.dtype))))


def _rows_at_once(table: np.ndarray[Any, Any]) -> int:
    return max(1, SOME // max(1, int(table.shape[1])))


def _read_as(dtype: Any) -> str:
    """The native type in which numbers are read: their own where Rust knows it."""
    code: str = dtype.str[1:]
    return code if code in READ else OTHERS.get(code, "f8")


def _arrays(matrix: Any) -> _core.Csr:
    def plain(array: Any, dtype: str) -> Any:
        if array.flags.c_contiguous and array.flags.aligned and array.dtype.str[1:] == dtype and array.dtype.isnative:
            return array
        return np.require(array, dtype=dtype, requirements=["C", "A"])

    def index(array: Any) -> Any:
        return plain(array, "i4" if array.dtype.str[1:] == "i4" else "i8")

    return {
        "indptr": index(matrix.indptr),
        "indices": index(matrix.indices),
        "data": plain(matrix.data, _read_as(matrix.data.dtype)),
        "columns": matrix.shape[1],
    }


def matrix_of(pairs: Iterable[Any], columns: int | None) -> Any:
    """The CSR matrix of gensim's pairs; without ``columns`` it has as many as the largest number asks for."""
    documents = iter(pairs)
    parts, highest = [], -1
    while some := list(islice(documents, PART)):
        ends = np.cumsum([0] + [len(one) for one in some])
        flat = np.array([pair for one in some for pair in one], dtype=np.float64).reshape(-1, 2)
        numbers = flat[:, 0].astype(np.int64)
        if numbers.size:
            highest = max(highest, int(numbers.max()))
            if numbers.min() < 0 or not np.array_equal(numbers, flat[:, 0]):
                raise ValueError("a pair of X begins with something other than the number of a word, from 0 on")
        parts.append((flat[:, 1], numbers, ends))
    width = highest + 1 if columns is None else columns
    if highest >= width:
        raise ValueError(f"X holds word number {highest}, but vocabulary names {width} words only")
    made = [sparse.csr_matrix(part, shape=(len(part[2]) - 1, width)) for part in parts]
    return sparse.vstack(made, format="csr") if made else sparse.csr_matrix((0, width))
