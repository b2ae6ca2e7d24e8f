"""What every peer shares: arguments, timing, and the one line of JSON per measurement."""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

REPEATS = 3


def arguments():
    """The data folder and the number of threads, as `cargo xtask bench` passes them."""
    return Path(sys.argv[1]), int(sys.argv[2])


def parameters(folder):
    """What the bench binary chose (`params.json`), or nothing."""
    path = folder / "params.json"
    return json.loads(path.read_text()) if path.exists() else {}


def csr(folder):
    """The sparse matrix of data.npy, indices.npy, indptr.npy and shape.npy.

    In the form that scipy multiplies fastest: 32-bit indices where they fit.
    """
    import scipy.sparse

    data = np.load(folder / "data.npy")
    indptr = np.load(folder / "indptr.npy")
    indices = np.load(folder / "indices.npy")
    shape = tuple(int(size) for size in np.load(folder / "shape.npy"))
    if len(data) < 2**31 and max(shape) < 2**31:
        indptr, indices = indptr.astype(np.int32), indices.astype(np.int32)
    return scipy.sparse.csr_array((data, indices, indptr), shape=shape)


def best_of(call):
    """Seconds of the quickest of three calls after a warm-up, and what the last one returned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
        seconds = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            result = call()
            seconds.append(time.perf_counter() - begin)
    return min(seconds), result


def report(**fields):
    """One measurement."""
    print(json.dumps(fields), flush=True)
