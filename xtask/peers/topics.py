"""Topic models of tomotopy, scikit-learn and gensim with their usual settings, one thread.

Reads params.json with the list `runs` (corpus, k, seed, peer, held_out, what) and a folder for each corpus with
data.npy, indices.npy, indptr.npy, shape.npy and, for a drawn one, truth.npy. Each run leaves its topics in
topics/CORPUS-kK-PEER-SEED.npy, k x words, and beside it a .json with the CPU seconds of training and this script's own
scores. The bench program scores all topics, ours and theirs; the scores here are a second opinion.

A run takes minutes, so it is kept in ../cache/topics under everything that it depends on: the corpus, the settings and
the versions. `--fresh` as the third argument runs it again.
"""

import hashlib
import json
import shutil
import sys
import time
import warnings
from collections import defaultdict

import gensim
import numpy as np
import sklearn
import tomotopy
from sklearn.decomposition import LatentDirichletAllocation

from common import arguments, csr, parameters, report
from topics_score import match, npmi, perplexity

SETTINGS = {
    "tomotopy": {"iterations": 500, "workers": 1},
    "sklearn": {"learning_method": "batch", "max_iter": 30, "n_jobs": 1},
    "gensim": {"passes": 5},
}
NAMES = {
    "tomotopy": f"tomotopy {tomotopy.__version__}",
    "sklearn": f"scikit-learn {sklearn.__version__}",
    "gensim": f"gensim {gensim.__version__}",
}


def training(corpus, held_out):
    """The documents that a method sees: all, or those whose index does not divide by five."""
    return corpus[np.arange(corpus.shape[0]) % 5 != 0] if held_out else corpus


def fit_tomotopy(counts, k, seed):
    """500 sweeps of collapsed Gibbs sampling; alpha is optimised on the way, as it does by default."""
    settings = SETTINGS["tomotopy"]
    model = tomotopy.LDAModel(k=k, seed=seed)
    for i in range(counts.shape[0]):
        row = counts[[i]]
        words = np.repeat(row.indices, row.data.astype(int))
        if len(words):
            model.add_doc([str(word) for word in words])
    begin = time.process_time()
    model.train(settings["iterations"], workers=settings["workers"])
    seconds = time.process_time() - begin
    topics = np.zeros((k, counts.shape[1]))
    ids = [int(word) for word in model.used_vocabs]
    for topic in range(k):
        topics[topic, ids] = model.get_topic_word_dist(topic)
    return topics, seconds


def fit_sklearn(counts, k, seed):
    """Batch variational inference."""
    model = LatentDirichletAllocation(n_components=k, random_state=seed, **SETTINGS["sklearn"])
    begin = time.process_time()
    model.fit(counts)
    return model.components_, time.process_time() - begin


def fit_gensim(counts, k, seed):
    """Online variational inference."""
    rows = [counts[[i]] for i in range(counts.shape[0])]
    corpus = [list(zip(row.indices.tolist(), row.data.astype(int).tolist())) for row in rows]
    words = {i: str(i) for i in range(counts.shape[1])}
    begin = time.process_time()
    model = gensim.models.LdaModel(corpus, k, words, random_state=seed, **SETTINGS["gensim"])
    return model.get_topics(), time.process_time() - begin


FIT = {"tomotopy": fit_tomotopy, "sklearn": fit_sklearn, "gensim": fit_gensim}


def key(run, corpus):
    """Everything that the result depends on, in a few letters."""
    digest = hashlib.sha256()
    for part in (corpus.indptr.astype("<i8"), corpus.indices.astype("<i8"), corpus.data.astype("<f8")):
        digest.update(part.tobytes())
    what = [run["k"], run["seed"], run["held_out"], NAMES[run["peer"]], SETTINGS[run["peer"]], corpus.shape]
    digest.update(json.dumps(what).encode())
    return digest.hexdigest()[:24]


def scores(run, corpus, topics, folder):
    """The second opinion on one run."""
    if not run["held_out"]:
        variation = match(topics, np.load(folder / run["corpus"] / "truth.npy"))
        return {"variation": float(variation.mean()), "found": float((variation < 0.25).mean())}
    seen = training(corpus, True)
    unseen = corpus[np.arange(corpus.shape[0]) % 5 == 0]
    return {"perplexity": perplexity(seen, unseen, topics), "npmi": npmi(seen, topics)}


def obtain(run, corpus, folder, fresh):
    """The topics and figures of one run, from the cache or from a fit."""
    cache = folder.parent / "cache" / "topics"
    name = f"{run['corpus']}-k{run['k']}-{run['peer']}-{run['seed']}"
    kept = cache / f"{name}-{key(run, corpus)}"
    cached = kept.with_suffix(".json").exists() and not fresh
    if not cached:
        print(f"fitting {name}", file=sys.stderr, flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            topics, seconds = FIT[run["peer"]](training(corpus, run["held_out"]), run["k"], run["seed"])
        topics = np.asarray(topics, dtype=np.float64)
        topics = topics / topics.sum(axis=1, keepdims=True)
        figures = {"seconds": seconds, **scores(run, corpus, topics, folder)}
        cache.mkdir(parents=True, exist_ok=True)
        np.save(kept.with_suffix(".npy"), topics)
        # Written last: what an interrupted run leaves behind is not taken for whole.
        kept.with_suffix(".json").write_text(json.dumps(figures))
    figures = json.loads(kept.with_suffix(".json").read_text())
    figures |= {"peer": NAMES[run["peer"]], "from": "kept" if cached else "this run"}
    out = folder / "topics"
    out.mkdir(exist_ok=True)
    shutil.copyfile(kept.with_suffix(".npy"), out / f"{name}.npy")
    (out / f"{name}.json").write_text(json.dumps(figures))
    return figures


def main():
    folder, threads = arguments()
    fresh = "--fresh" in sys.argv[3:]
    corpora, lines = {}, defaultdict(list)
    for run in parameters(folder)["runs"]:
        name = run["corpus"]
        if name not in corpora:
            corpora[name] = csr(folder / name)
        lines[f"{run['what']}, {run['peer']}"].append(obtain(run, corpora[name], folder, fresh))
    for what, runs in lines.items():
        sources = sorted({figures["from"] for figures in runs})
        report(
            bench="topics",
            what=what,
            seconds=float(np.mean([figures["seconds"] for figures in runs])),
            threads=threads,
            runs=len(runs),
            peer=runs[0]["peer"],
            measured=" and ".join(sources),
        )


main()
