"""scikit-learn on the counts that the experiment `cells-types` wrote: mean total variation per type, as JSON.

    python experiments/cells/peers.py FOLDER

Needs numpy, scipy and scikit-learn. LDA is batch variational Bayes with 50 passes, NMF starts from `nndsvda` with 500 steps, by least squares
(the default) and by Kullback–Leibler divergence. Empty bins are left out, as tenfold does.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import NMF, LatentDirichletAllocation


def error(truth, found):
    found = found / found.sum(axis=1, keepdims=True)
    distances = 0.5 * np.abs(truth[:, None] - found[None]).sum(axis=2)
    return float(distances[linear_sum_assignment(distances)].mean())


def main(folder):
    warnings.filterwarnings("ignore")
    out = {}
    for path in sorted(Path(folder).glob("*.counts.csv")):
        name = path.name.split(".")[0]
        x = np.loadtxt(path, delimiter=",")
        x = x[x.sum(axis=1) > 0]
        truth = np.loadtxt(path.with_name(f"{name}.truth.csv"), delimiter=",")
        k = len(truth)
        kl = {"solver": "mu", "beta_loss": "kullback-leibler"}
        models = {
            "lda": LatentDirichletAllocation(k, random_state=0, max_iter=50),
            "nmf": NMF(k, init="nndsvda", max_iter=500, random_state=0),
            "nmf_kl": NMF(k, init="nndsvda", max_iter=500, random_state=0, **kl),
        }
        out[name] = {key: error(truth, model.fit(x).components_) for key, model in models.items()}
    print(json.dumps(out))


main(sys.argv[1])
