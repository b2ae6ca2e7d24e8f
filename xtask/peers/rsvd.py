"""scikit-learn's randomized SVD of a CSR matrix.

Reads data.npy, indices.npy, indptr.npy, shape.npy and, where it is there, params.json with `components`,
`oversampling` and `power_passes`, so that both sides do the same work.

The error is the relative residual ||A - U S Vt|| / ||A|| in the Frobenius norm. U S Vt is A projected on the
columns of U, so the squares subtract and no dense matrix is formed.
"""

import numpy as np
import sklearn
from sklearn.utils.extmath import randomized_svd

from common import arguments, best_of, csr, parameters, report


def main():
    folder, threads = arguments()
    chosen = parameters(folder)
    matrix = csr(folder)

    def call():
        return randomized_svd(
            matrix,
            n_components=chosen.get("components", 20),
            n_oversamples=chosen.get("oversampling", 10),
            n_iter=chosen.get("power_passes", 2),
            random_state=0,
        )

    seconds, (_, singular, _) = best_of(call)
    whole = float(np.sum(matrix.data**2))
    residual = float(np.sqrt(max(0.0, 1.0 - np.sum(singular**2) / whole)))
    report(
        bench="rsvd",
        what="randomized SVD",
        seconds=seconds,
        threads=threads,
        error=residual,
        sum_of_singular_values=float(np.sum(singular)),
        peer=f"scikit-learn {sklearn.__version__}",
    )


main()
