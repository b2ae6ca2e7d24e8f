"""Sentences on the thesis's tasks: MR, SUBJ, MSR paraphrase and STS 2012.

    TENFOLD_DATA=DIR python experiments/sentences/measure.py [--only subj,mr,msr,sts,time]

reads DIR/sentences (../shared/data beside the repository when TENFOLD_DATA is not set) and writes
experiments/results/sentences.md. Word vectors and templates are learned from all sentences of a task, without labels;
everything that is chosen by labels is chosen inside the training folds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import cross_val_predict
from sklearn.svm import LinearSVC

from tenfold import Sentences

HERE = Path(__file__).resolve()
DATA = Path(os.environ.get("TENFOLD_DATA", HERE.parents[3] / "shared" / "data")) / "sentences"
OUT = HERE.parents[1] / "results"


def lines(name: str) -> list[str]:
    raw = (gzip.open if name.endswith("gz") else open)(DATA / name, "rb").read()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return [line for line in text.replace("\r", "").split("\n") if line.strip()]


# ---- MR and SUBJ -----------------------------------------------------------------------------------------

CLASSES = {
    "mr": ("rt-polarity.pos.gz", "rt-polarity.neg.gz"),
    "subj": ("subj.subjective.gz", "subj.objective.gz"),
}
# Template length and number; chosen inside the training folds.
SETTINGS = [(3, 128), (4, 200)]
STRENGTHS = (0.01, 0.1)


def classes(name: str) -> tuple[list[str], np.ndarray]:
    one, other = (lines(file) for file in CLASSES[name])
    labels = np.r_[np.ones(len(one), int), np.zeros(len(other), int)]
    order = np.random.RandomState(0).permutation(len(labels))
    return [(one + other)[i] for i in order], labels[order]


def folds(n: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Ten folds: rows to train on and to test on, and the training rows once more in two parts, to choose by."""
    all_rows = np.arange(n)
    out = []
    for fold in range(10):
        train = np.setdiff1d(all_rows, all_rows[fold::10])
        train = np.random.RandomState(fold).permutation(train)
        cut = len(train) * 8 // 9
        out.append((train, all_rows[fold::10], train[:cut], train[cut:]))
    return out


def logistic(X: np.ndarray, y: np.ndarray, strength: float) -> LogisticRegression:
    return LogisticRegression(C=strength, max_iter=150, tol=1e-3).fit(X, y)


def scaled(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return (X - X[rows].mean(0)) / (X[rows].std(0) + 1e-9)


def nested(tables: list[np.ndarray], y: np.ndarray) -> tuple[np.ndarray, list[int], list[tuple[np.ndarray, np.ndarray]]]:
    """Accuracy of every fold, the table chosen in it, and the scores of inner and outer test rows."""
    accuracies, chosen, scores = [], [], []
    for train, test, part, rest in folds(len(y)):
        best = (-1.0, 0, 0.0, np.zeros(0))
        for at, X in enumerate(tables):
            Z = scaled(X, part)
            for strength in STRENGTHS:
                score = logistic(Z[part], y[part], strength).decision_function(Z[rest])
                accuracy = accuracy_score(y[rest], score > 0)
                if accuracy > best[0]:
                    best = (accuracy, at, strength, score)
        Z = scaled(tables[best[1]], train)
        score = logistic(Z[train], y[train], best[2]).decision_function(Z[test])
        accuracies.append(100 * accuracy_score(y[test], score > 0))
        chosen.append(best[1])
        scores.append((best[3], score))
    return np.array(accuracies), chosen, scores


def naive_bayes_svm(texts: list[str], y: np.ndarray) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """NB-SVM (Wang and Manning, 2012): words and pairs of words.

    Weights and bias are interpolated with their mean, which is naive Bayes at beta = 0. C and beta are chosen by five parts of
    the training rows.
    """

    def grams(text: str) -> list[str]:
        words = text.split()
        return words + [" ".join(pair) for pair in zip(words, words[1:])]

    counts = CountVectorizer(analyzer=grams, binary=True).fit_transform(texts).tocsr().astype(float)

    def scores(train: np.ndarray, test: np.ndarray, choices: list[tuple[float, float]]) -> dict[tuple[float, float], np.ndarray]:
        X, labels = counts[train], y[train]
        seen = np.asarray(X.sum(0)).ravel() > 0
        X, Z = X[:, seen], counts[test][:, seen]
        p, q = (1 + np.asarray(X[labels == c].sum(0)).ravel() for c in (1, 0))
        ratio = np.log((p / p.sum()) / (q / q.sum()))
        X, Z = X.multiply(ratio).tocsr(), Z.multiply(ratio).tocsr()
        out = {}
        for strength in {c for c, _ in choices}:
            svm = LinearSVC(C=strength, max_iter=3000).fit(X, labels)
            w = svm.coef_.ravel()
            for beta in {b for c, b in choices if c == strength}:
                out[strength, beta] = Z @ ((1 - beta) * np.abs(w).mean() + beta * w) + beta * svm.intercept_[0]
        return out

    grid = [(1.0, 0.0)] + [(c, b) for c in (1.0, 0.1) for b in (0.25, 0.5, 1.0)]
    accuracies, kept = [], []
    for train, test, part, rest in folds(len(y)):
        right = dict.fromkeys(grid, 0)
        for i in range(5):
            held = train[i::5]
            inner = scores(np.setdiff1d(train, held), held, grid)
            right = {c: right[c] + ((inner[c] > 0) == y[held]).sum() for c in grid}
        best = max(grid, key=lambda c: right[c])
        outer = scores(train, test, [best])[best]
        accuracies.append(100 * accuracy_score(y[test], outer > 0))
        kept.append((scores(part, rest, [best])[best], outer))
    return np.array(accuracies), kept


def joined(a: list[tuple[np.ndarray, np.ndarray]], b: list[tuple[np.ndarray, np.ndarray]], y: np.ndarray) -> np.ndarray:
    """Two scores as one, each by its own spread, with a weight that is chosen inside."""
    accuracies = []
    for (inner_a, outer_a), (inner_b, outer_b), (_, test, _, rest) in zip(a, b, folds(len(y)), strict=True):
        sa, sb = inner_a.std(), inner_b.std()
        best = max((0.0, 0.1, 0.2, 0.3, 0.5), key=lambda w: accuracy_score(y[rest], (1 - w) * inner_a / sa + w * inner_b / sb > 0))
        accuracies.append(100 * accuracy_score(y[test], (1 - best) * outer_a / sa + best * outer_b / sb > 0))
    return np.array(accuracies)


def said(x: np.ndarray) -> str:
    return f"{x.mean():.2f}"


def classify(name: str) -> dict[str, object]:
    texts, y = classes(name)
    out: dict[str, object] = {"sentences": len(y)}
    begin = time.perf_counter()
    rows = {}

    def add(row: str, tables: list[np.ndarray], against: np.ndarray | None = None) -> np.ndarray:
        accuracies, chosen, scores = nested(tables, y)
        rows[row] = {"accuracy": accuracies.tolist(), "chosen": chosen, "width": [t.shape[1] for t in tables]}
        kept[row] = scores
        print(f"{name} {row}: {said(accuracies)} {chosen} {time.perf_counter() - begin:.0f} s", flush=True)
        return accuracies

    kept: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    tables: dict[str, list[np.ndarray]] = {}
    for learner in ("fourth", "third", "random", "motifs"):
        tables[learner] = []
        for length, count in SETTINGS:
            model = Sentences(n_templates=count, template_length=length, learner=learner).fit(texts)
            tables[learner].append(model.transform(texts))
        plain = model.encode(texts, "mean")
    add("mean, 100", [plain])
    larger = [Sentences("mean", dimensions=100 + count).fit(texts).transform(texts) for count in (128, 200)]
    add("mean, 228 or 300", larger)
    add("mean + random templates", tables["random"])
    add("mean + templates, third cumulant", tables["third"])
    add("mean + templates, fourth cumulant", tables["fourth"])
    add("mean + motifs of single dimensions", tables["motifs"])
    add("templates alone, fourth cumulant", [t[:, 100:] for t in tables["fourth"]])
    bayes, scores = naive_bayes_svm(texts, y)
    rows["NB-SVM"] = {"accuracy": bayes.tolist()}
    both = joined(scores, kept["mean + templates, fourth cumulant"], y)
    rows["NB-SVM with mean + templates"] = {"accuracy": both.tolist()}
    print(f"{name} NB-SVM {said(bayes)}, with templates {said(both)} {time.perf_counter() - begin:.0f} s", flush=True)
    out["rows"] = rows
    return out


# ---- pairs: MSR and STS ----------------------------------------------------------------------------------

# Word vectors of pairs' tasks, chosen by the training pairs.
PAIR_SETTINGS = {
    "mean, 100": {"features": "mean"},
    "mean, 300": {"features": "mean", "dimensions": 300, "power": 0.0},
    "mean, 600": {"features": "mean", "dimensions": 600, "power": 0.0},
    "sif, 300": {"features": "sif", "dimensions": 300, "power": 0.0},
    "mean + templates, third": {"learner": "third"},
    "mean + templates, fourth": {},
    "mean + templates, random": {"learner": "random"},
}


def paired(rows: np.ndarray) -> np.ndarray:
    """|a - b| and a * b of neighbouring rows."""
    a, b = rows[0::2], rows[1::2]
    return np.hstack([np.abs(a - b), a * b])


def paraphrases() -> dict[str, object]:
    texts, labels, ends = [], [], []
    for part in ("train", "val", "test"):
        for row in lines(f"msr-para-{part}.tsv.gz")[1:]:
            label, _, _, a, b = row.split("\t")
            texts += [a, b]
            labels.append(int(label))
        ends.append(len(labels))
    y, n = np.array(labels), ends[1]
    out = {"pairs": len(y), "train": n, "all positive F": f1_score(y[n:], np.ones(len(y) - n))}
    rows = {}
    for name, setting in PAIR_SETTINGS.items():
        F = paired(Sentences(min_count=1, **setting).fit(texts).transform(texts))
        F = scaled(F, np.arange(n))
        best = (-1.0, 0.0)
        for strength in (1e-4, 3e-4, 1e-3, 3e-3):
            guess = cross_val_predict(LogisticRegression(C=strength, max_iter=150, tol=1e-3), F[:n], y[:n], cv=10)
            best = max(best, (accuracy_score(y[:n], guess), strength))
        guess = logistic(F[:n], y[:n], best[1]).predict(F[n:])
        rows[name] = {"inside": best[0], "accuracy": accuracy_score(y[n:], guess), "F": f1_score(y[n:], guess)}
        print("msr", name, rows[name], flush=True)
    out["rows"] = rows
    return out


SETS = ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews")


def similar() -> dict[str, object]:
    texts: list[str] = []
    gold, place = {}, {}
    for part, names in (("train", SETS[:3]), ("test-gold", SETS)):
        for name in names:
            begin = len(texts)
            for row in lines(f"sts2012/{part}/STS.input.{name}.txt"):
                texts += row.split("\t")[:2]
            place[part, name] = slice(begin, len(texts))
            gold[part, name] = np.array([float(x) for x in lines(f"sts2012/{part}/STS.gs.{name}.txt")])

    def pearson(a: np.ndarray, b: np.ndarray) -> float:
        return 100 * float(np.corrcoef(a, b)[0, 1])

    free, taught, guesses = {}, {}, {}
    # Marks of punctuation, which every sentence ends with, make sentences look alike: they are left out here.
    usual = {"min_count": 1, "punctuation": False}
    wide = {"dimensions": 300, "power": 0.0}
    for name, setting in {
        "mean, 100": {"features": "mean"},
        "sif, 100": {"features": "sif"},
        "mean, 300": {"features": "mean", **wide},
        "sif, 300": {"features": "sif", **wide},
        "sif, 600": {"features": "sif", "dimensions": 600, "power": 0.0},
        "templates, fourth": {"features": "templates"},
        "mean + templates, fourth": {},
    }.items():
        setting = usual | setting
        model = Sentences(**setting).fit(texts)
        rows = model.transform(texts)
        size = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        cosine = (rows[0::2] * rows[1::2]).sum(1) / (size[0::2] * size[1::2])[:, 0]
        of = {key: pearson(cosine[at.start // 2 : at.stop // 2], gold[key]) for key, at in place.items()}
        free[name] = {s: of["test-gold", s] for s in SETS} | {"train mean": np.mean([of["train", s] for s in SETS[:3]])}
        print("sts, unsupervised", name, free[name], np.mean([of["test-gold", s] for s in SETS]), flush=True)
        if name in ("mean, 100", "mean, 300", "sif, 300", "mean + templates, fourth"):
            guesses[name] = supervised(rows, gold, place)
            taught[name] = {s: figure(guesses[name][s], gold["test-gold", s]) for s in SETS}
            print("sts, supervised", name, taught[name], flush=True)
    best: Guesses = {}
    for s in SETS:
        folds_of = zip(*(guesses[name][s] for name in guesses), strict=True)
        best[s] = [max(fold, key=lambda found: found[2]) for fold in folds_of]
    taught["chosen inside"] = {s: figure(best[s], gold["test-gold", s]) for s in SETS}
    print("sts, supervised", taught["chosen inside"], flush=True)
    return {"unsupervised": free, "supervised": taught}


def soft(scores: np.ndarray) -> np.ndarray:
    """Thesis: a score between two whole numbers is shared between their classes, 0 to 5."""
    low = np.minimum(np.floor(scores).astype(int), 5)
    P = np.zeros((len(scores), 6))
    P[np.arange(len(scores)), low] = 1 - (scores - low)
    P[np.arange(len(scores)), np.minimum(low + 1, 5)] += scores - low
    return P


def multinomial(X: np.ndarray, P: np.ndarray, penalty: float) -> np.ndarray:
    """Multinomial logistic regression to soft targets: the smallest KL divergence, with a quadratic penalty."""
    n, d = X.shape
    X = np.hstack([X, np.ones((n, 1))])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        W = w.reshape(d + 1, -1)
        Z = X @ W
        Z -= Z.max(1, keepdims=True)
        total = np.exp(Z).sum(1, keepdims=True)
        value = -(P * (Z - np.log(total))).sum() / n + 0.5 * penalty * (W[:-1] ** 2).sum()
        slope = X.T @ ((np.exp(Z) / total - P) / n)
        slope[:-1] += penalty * W[:-1]
        return value, slope.ravel()

    start = np.zeros((d + 1) * P.shape[1])
    return minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 80}).x.reshape(d + 1, -1)


def expected(W: np.ndarray, X: np.ndarray) -> np.ndarray:
    Z = np.hstack([X, np.ones((len(X), 1))]) @ W
    E = np.exp(Z - Z.max(1, keepdims=True))
    return (E / E.sum(1, keepdims=True)) @ np.arange(6)


def trained(F: np.ndarray, scores: np.ndarray, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, float]:
    """Scores of the test rows, and Pearson's r inside; the penalty is chosen by three parts of the training rows."""
    Z = scaled(F, train) * 10 / np.sqrt(F.shape[1])
    parts = np.random.RandomState(1).permutation(train)
    best = (-2.0, 0.0)
    for penalty in (1e-2, 3e-2, 1e-1):
        guess = np.zeros(len(scores))
        for i in range(3):
            rest = parts[i::3]
            part = np.setdiff1d(parts, rest)
            guess[rest] = expected(multinomial(Z[part], soft(scores[part]), penalty), Z[rest])
        best = max(best, (float(np.corrcoef(guess[train], scores[train])[0, 1]), penalty))
    return expected(multinomial(Z[train], soft(scores[train]), best[1]), Z[test]), best[0]


Guesses = dict[str, list[tuple[np.ndarray, np.ndarray, float]]]


def supervised(rows: np.ndarray, gold: dict, place: dict) -> Guesses:
    """For every set and every fold of it: the test rows, their scores, and Pearson's r inside the training rows."""
    out: Guesses = {}
    for name in SETS:
        F, scores = paired(rows[place["test-gold", name]]), gold["test-gold", name]
        if ("train", name) in place:
            both = np.vstack([paired(rows[place["train", name]]), F])
            known = gold["train", name]
            n = len(known)
            guess, inside = trained(both, np.r_[known, np.zeros(len(F))], np.arange(n), np.arange(n, len(both)))
            out[name] = [(np.arange(len(F)), guess, inside)]
            continue
        order = np.random.RandomState(0).permutation(len(F))
        out[name] = []
        for i in range(10):
            test = order[i::10]
            out[name].append((test, *trained(F, scores, np.setdiff1d(order, test), test)))
    return out


def figure(folds_of: list[tuple[np.ndarray, np.ndarray, float]], scores: np.ndarray) -> dict[str, float]:
    """Pearson's r of all pairs together, and its mean over folds."""
    guess = np.zeros(len(scores))
    for test, found, _ in folds_of:
        guess[test] = found
    each = [np.corrcoef(found, scores[test])[0, 1] for test, found, _ in folds_of]
    return {"r": 100 * float(np.corrcoef(guess, scores)[0, 1]), "mean over folds": 100 * float(np.mean(each))}


# ---- time ------------------------------------------------------------------------------------------------


def seconds() -> dict[str, float]:
    texts = classes("subj")[0]
    out = {"sentences": len(texts)}
    begin = time.perf_counter()
    model = Sentences().fit(texts)
    out["fit"] = time.perf_counter() - begin
    begin = time.perf_counter()
    model.transform(texts)
    out["encode"] = time.perf_counter() - begin
    print(out, flush=True)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="time,sts,msr,subj,mr")
    parser.add_argument("--figures", type=Path, default=HERE.parents[2] / "target" / "sentences.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.figures.parent.mkdir(exist_ok=True)
    figures = json.loads(options.figures.read_text()) if options.figures.exists() else {}
    for part in options.only.split(","):
        match part:
            case "subj" | "mr":
                figures[part] = classify(part)
            case "msr":
                figures[part] = paraphrases()
            case "sts":
                figures[part] = similar()
            case "time":
                figures[part] = seconds()
        options.figures.write_text(json.dumps(figures, indent=1) + "\n")
    from page import page

    (OUT / "sentences.md").write_text(page(figures))


if __name__ == "__main__":
    main()
