"""scikit-learn's FastICA with its usual settings.

Reads X.npy (samples x channels) and A.npy (channels x sources, the true mixing: x = A s).
The error is the Amari distance between the estimated unmixing and the truth.
"""

import numpy as np
import sklearn
from sklearn.decomposition import FastICA

from common import arguments, best_of, report

MAX_ITERATIONS = 200


def amari(unmixing, mixing):
    """0 when W A is a scaled permutation, at most 1.

    With P = |W A| of size k x k: (sum_i (sum_j p_ij / max_j p_ij - 1) + the same over columns) / (2 k (k - 1)).
    """
    p = np.abs(unmixing @ mixing)
    k = len(p)
    rows = np.sum(p.sum(axis=1) / p.max(axis=1) - 1.0)
    columns = np.sum(p.sum(axis=0) / p.max(axis=0) - 1.0)
    return float((rows + columns) / (2.0 * k * (k - 1)))


def main():
    folder, threads = arguments()
    x = np.load(folder / "X.npy")
    mixing = np.load(folder / "A.npy")

    def call():
        model = FastICA(
            n_components=mixing.shape[1],
            whiten="unit-variance",
            max_iter=MAX_ITERATIONS,
            random_state=0,
        )
        model.fit(x)
        return model

    seconds, model = best_of(call)
    report(
        bench="ica",
        what="fit",
        seconds=seconds,
        threads=threads,
        error=amari(model.components_, mixing),
        iterations=int(model.n_iter_),
        converged=bool(model.n_iter_ < MAX_ITERATIONS),
        peer=f"scikit-learn {sklearn.__version__}",
    )


main()
