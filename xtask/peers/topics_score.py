"""A second opinion on the bench program's scores of topics: the same protocol, written apart from it."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

ALPHA = 0.1
SMOOTHING = 0.01
STEPS = 50
# A word that no training document holds still has a probability.
FLOOR = 0.01


def unigram(counts):
    """How often each word comes in the training documents."""
    totals = np.asarray(counts.sum(axis=0)).ravel() + FLOOR
    return totals / totals.sum()


def perplexity(seen, unseen, topics):
    """By document completion: tokens 0, 2, 4, ... in word order give the mixture, tokens 1, 3, 5, ... are scored."""
    smoothed = ((1 - SMOOTHING) * topics + SMOOTHING * unigram(seen)).T
    log_likelihood, tokens = 0.0, 0
    for i in range(unseen.shape[0]):
        row = unseen[[i]]
        order = np.argsort(row.indices)
        words = np.repeat(row.indices[order], row.data[order].astype(int))
        theta = np.full(len(topics), 1.0 / len(topics))
        given = smoothed[words[0::2]]
        for _ in range(STEPS):
            share = given * theta
            theta = (share / share.sum(axis=1, keepdims=True)).sum(axis=0) + ALPHA
            theta /= theta.sum()
        scored = smoothed[words[1::2]] @ theta
        log_likelihood += np.log(scored).sum()
        tokens += len(scored)
    return float(np.exp(-log_likelihood / tokens))


def npmi(counts, topics, top=10):
    """The mean over topics and pairs of top words, by documents that hold both; -1 for words that never meet."""
    n = counts.shape[0]
    chosen = np.argsort(-topics, axis=1, kind="stable")[:, :top]
    words = np.unique(chosen)
    holds = (counts.tocsc()[:, words] > 0).astype(np.float64)
    together = (holds.T @ holds).toarray() / n
    values = []
    for row in np.searchsorted(words, chosen):
        for i in range(top):
            for j in range(i):
                both = together[row[i], row[j]]
                if both == 0:
                    values.append(-1.0)
                    continue
                alone = together[row[i], row[i]] * together[row[j], row[j]]
                values.append(np.log(both / alone) / max(-np.log(both), 1e-9))
    return float(np.mean(values))


def match(topics, truth):
    """The total variation of every true topic from its partner under the best matching."""
    distance = cdist(truth, topics, "cityblock") / 2
    rows, columns = linear_sum_assignment(distance)
    return distance[rows, columns]
