"""scipy's CSR times a skinny dense matrix, and the transpose's.

Reads data.npy, indices.npy, indptr.npy, shape.npy (the matrix A), X.npy (columns x 40), Y.npy (rows x 40).
"""

import numpy as np
import scipy

from common import arguments, best_of, csr, report


def main():
    folder, threads = arguments()
    matrix = csr(folder)
    transpose = matrix.T
    x = np.load(folder / "X.npy")
    y = np.load(folder / "Y.npy")
    peer = f"scipy {scipy.__version__}"
    for what, call in (("A X", lambda: matrix @ x), ("At Y", lambda: transpose @ y)):
        seconds, _ = best_of(call)
        report(bench="spmm", what=what, seconds=seconds, threads=threads, peer=peer)


main()
