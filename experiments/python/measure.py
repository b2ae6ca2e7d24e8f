"""The Python package beside the command line, and what a large matrix costs on its way in.

    TENFOLD_DATA=DIR python experiments/python/measure.py

fits Daily KOS (DIR/topics/docword.kos.txt.gz) with k = 50 from Python and by the command `tenfold` that the package installed, in
turn, and hands a random matrix of 1 GB over; it writes experiments/results/python.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def kos(path: Path) -> sp.csr_matrix:
    with gzip.open(path, "rt") as file:
        documents, words, _ = (int(next(file)) for _ in range(3))
        table = np.loadtxt(file, dtype=np.int64)
    return sp.csr_matrix((table[:, 2].astype(float), (table[:, 0] - 1, table[:, 1] - 1)), shape=(documents, words))


def by_command(path: Path, folder: Path) -> tuple[float, float]:
    """Wall seconds of the command, and of its fit."""
    command = [str(Path(sys.executable).with_name("tenfold")), "topics", "fit", str(path), "-k", "50"]
    begin = time.perf_counter()
    told = subprocess.check_output([*command, "-o", str(folder / "model.tenfold"), "--json", "--quiet"], stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - begin
    return wall, sum(json.loads(told)["diagnostics"]["seconds"].values())


def from_python(matrix: sp.csr_matrix) -> tuple[float, float, np.ndarray]:
    from tenfold import Topics

    begin = time.perf_counter()
    model = Topics(50).fit(matrix)
    return time.perf_counter() - begin, sum(model.diagnostics_["seconds"].values()), model.components_


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


LARGE = """
import sys; sys.path.insert(0, sys.argv[1])
import numpy as np, scipy.sparse as sp, measure
from tenfold import Topics
rows, a_row, words = 850_000, 100, 50_000
generator = np.random.default_rng(0)
indices = generator.integers(0, words, rows * a_row, dtype=np.int32)
matrix = sp.csr_matrix((np.ones(rows * a_row), indices, np.arange(0, rows * a_row + 1, a_row, dtype=np.int64)), shape=(rows, words))
matrix.indices = matrix.indices.astype(np.int32, copy=False)
held = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
before = measure.peak()
class Read(Exception): pass
def stop(stage, done, total):
    # The corpus is made; nothing of the fit is wanted.
    if stage == "finding directions": raise Read
try:
    Topics(10, memory_limit=100_000_000, verbose=stop).fit(matrix)
except Read:
    pass
print(held / 1e9, measure.peak() - before)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "results" / "python.md")
    options = parser.parse_args()
    path = Path(os.environ["TENFOLD_DATA"]) / "topics" / "docword.kos.txt.gz"
    matrix = kos(path)
    with tempfile.TemporaryDirectory() as folder:
        from tenfold import Topics

        command, python, same = [], [], True
        for _ in range(options.rounds):
            command.append(by_command(path, Path(folder)))
            *seconds, topics = from_python(matrix)
            python.append(seconds)
            same &= np.array_equal(topics, Topics.load(Path(folder) / "model.tenfold").components_)
    middle = lambda runs, i: statistics.median(run[i] for run in runs)  # noqa: E731
    large = subprocess.check_output([sys.executable, "-c", LARGE, str(Path(__file__).parent)], text=True).split()
    text = f"""# Topics from Python

Written by `TENFOLD_DATA=DIR python experiments/python/measure.py`: Daily KOS, k = 50, {options.rounds} runs of each in turn, medians in seconds.
The command also reads its file; Python begins with a matrix in memory.

| | fit | in all |
| --- | --- | --- |
| `tenfold.Topics(50).fit` | {middle(python, 1):.3f} | {middle(python, 0):.3f} |
| `tenfold topics fit -k 50` | {middle(command, 1):.3f} | {middle(command, 0):.3f} |
| ratio | {middle(python, 1) / middle(command, 1):.3f} | {middle(python, 0) / middle(command, 0):.3f} |

Topics of both are {"equal" if same else "NOT equal"} to the last bit.

A CSR matrix of {float(large[0]):.2f} GB (85 million entries, float64 values, int32 indices) raised the peak memory of the process by
{float(large[1]):.2f} GB while it was read with `memory_limit=1e8`, which keeps the corpus on disk: no copy of it was made.
"""
    options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
