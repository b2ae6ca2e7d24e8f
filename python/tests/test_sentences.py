"""Sentences: what is learned, kept, shown and told, and scikit-learn's own checks."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import tenfold
from tenfold import DataError, FitWarning, Sentences

pytestmark = pytest.mark.filterwarnings("ignore::tenfold.FitWarning", "ignore::sklearn.exceptions.ConvergenceWarning")

SMALL = {"dimensions": 12, "n_templates": 8, "template_length": 3, "min_count": 1}


def drawn(sentences: int = 400, seed: int = 0) -> tuple[list[str], list[int]]:
    """Sentences of common words; half of them hold the words of one phrase in order, half in another order."""
    rng = np.random.default_rng(seed)
    glue = [f"w{i}" for i in range(20)]
    texts, labels = [], []
    for i in range(sentences):
        words = list(rng.choice(glue, size=8))
        at = int(rng.integers(0, 8))
        words[at:at] = ["not", "so", "good"] if i % 2 else ["good", "not", "so"]
        texts.append(" ".join(words))
        labels.append(i % 2)
    return texts, labels


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return drawn()[0]


@pytest.fixture(scope="module")
def fitted(texts) -> Sentences:
    return Sentences(**SMALL).fit(texts)


def test_motifs_of_single_dimensions(texts):
    model = Sentences(**SMALL, learner="motifs").fit(texts)
    rows = model.transform(texts)
    assert rows.shape == (400, 20) and np.isfinite(rows).all()
    # A template is zero in all dimensions but its own.
    assert (np.abs(model.templates_).max(axis=1) > 0).sum(axis=1).tolist() == [1] * 8
    assert np.array_equal(pickle.loads(pickle.dumps(model)).transform(texts), rows)


def test_numbers_come_out(fitted, texts):
    rows = fitted.transform(texts)
    assert rows.shape == (400, 20) and np.isfinite(rows).all()
    names = list(fitted.get_feature_names_out())
    assert names[0] == "mean1" and names[-1] == "template8" and len(names) == 20
    assert fitted.words_[0] in ("good", "not", "so") and fitted.vectors_.shape == (23, 12)
    assert fitted.templates_.shape == (8, 3, 12) and len(fitted.phrases_) == 8
    assert fitted.transform(["", "strange", "not so good"])[:2].tolist() == [[0.0] * 20] * 2
    assert fitted.encode("not so good").shape == (20,)
    for features, width in (("mean", 12), ("sif", 12), ("templates", 8), ("templates+mean", 20)):
        assert fitted.encode(texts[:5], features).shape == (5, width)


def test_order_of_words_is_seen_by_templates_only(texts):
    labels = drawn()[1]

    def score(features: str) -> float:
        pipe = make_pipeline(Sentences(features, **SMALL), LogisticRegression(C=100))
        return float(cross_val_score(pipe, texts, labels, cv=3).mean())

    # The bags of words are alike: the mean can only guess, within three standard errors of 400 coins.
    assert score("mean") < 0.5 + 3 * 0.025
    assert score("templates") > 0.9


def test_similarity(fitted):
    assert fitted.similarity("not so good", "not so good") == pytest.approx(1.0)
    both = fitted.similarity(["not so", ""], ["good w1", "w2"], features="sif")
    assert both.shape == (2,) and both[1] == 0.0 and abs(both[0]) <= 1
    with pytest.raises(ValueError, match="two texts"):
        fitted.similarity("not", ["so"])
    assert len(fitted.neighbours("good", 4)) == 4
    with pytest.raises(KeyError, match="strange"):
        fitted.neighbours("strange")


def test_it_is_kept_shared_and_the_same_on_any_threads(fitted, texts, tmp_path):
    fitted.save(tmp_path / "m.tenfold")
    again = tenfold.load(tmp_path / "m.tenfold")
    assert isinstance(again, Sentences) and again.features == "templates+mean" and again.n_templates == 8
    for other in (again, pickle.loads(pickle.dumps(fitted)), Sentences.from_bytes(fitted.to_bytes())):
        assert (other.transform(texts) == fitted.transform(texts)).all()
    models = [Sentences(**SMALL, n_jobs=n).fit(texts)._model.to_bytes() for n in (1, 2)]
    assert models[0] == models[1]
    assert clone(fitted).get_params() == fitted.get_params()
    command = [sys.executable, "-m", "tenfold._command", "sentences", "similarity", tmp_path / "m.tenfold", "good", "not"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert float(told.stdout) == pytest.approx(fitted.similarity("good", "not"), abs=1e-4)
    fitted.report(tmp_path / "page.html")
    assert "Templates" in (tmp_path / "page.html").read_text()
    assert "template 1:" in fitted.summary()


def test_vectors_of_others(texts, tmp_path):
    rng = np.random.default_rng(0)
    held = {word: rng.normal(size=6) for word in ["not", "so", "good", *[f"w{i}" for i in range(20)], "more"]}
    (tmp_path / "v.txt").write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in held.items()))
    by_dict = Sentences("mean", vectors=held, unit=False, min_count=1).fit(texts)
    by_file = Sentences("mean", vectors=tmp_path / "v.txt", unit=False, min_count=1).fit(texts)
    assert "more" in by_dict.words_ and "more" not in by_file.words_
    assert np.allclose(by_dict.transform(texts), by_file.transform(texts))
    assert np.allclose(by_dict.encode("not so"), (held["not"] + held["so"]) / 2)
    (tmp_path / "bad.txt").write_text("not 1 2\nso 1\n")
    with pytest.raises(DataError, match="line 2"):
        Sentences("mean", vectors=tmp_path / "bad.txt").fit(texts)
    with pytest.raises(ValueError, match="different lengths|inhomogeneous"):
        Sentences("mean", vectors={"not": [1.0], "so": [1.0, 2.0]}).fit(texts)


def test_doubts_and_errors_are_told(texts):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        Sentences("mean", dimensions=12, min_count=1).fit(texts)
    assert any("few to learn from" in str(one.message) for one in seen if one.category is FitWarning)
    for bad, name in [
        ({"features": "bag"}, "features"),
        ({"n_templates": 0}, "n_templates"),
        ({"learner": "second"}, "learner"),
        ({"sif": 0.0}, "sif"),
        ({"window": 2.5}, "window"),
        ({"stem": "klingon"}, "klingon"),
    ]:
        with pytest.raises(ValueError, match=name):
            Sentences(**bad).fit(texts)
    for X in ([1, 2], [["a", "list"]], np.zeros((3, 2)), "one text"):
        with pytest.raises(ValueError, match="text"):
            Sentences().fit(X)
    for X in ([], [""], ["word"]):
        with pytest.raises(ValueError, match="too small"):
            Sentences("mean", min_count=1).fit(X)


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_frames(container, texts):
    package = pytest.importorskip(container)
    model = Sentences("mean", dimensions=3, min_count=1).set_output(transform=container)
    frame = model.fit_transform(package.Series(texts))
    assert isinstance(frame, package.DataFrame) and list(frame.columns) == ["mean1", "mean2", "mean3"]


def test_every_check_passes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(Sentences(), on_fail=None, on_skip=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] in ("failed", "xfail")]
    assert not failed
    # scikit-learn draws tables of numbers for the others and leaves them out for estimators of texts: what they would
    # check is checked here.
    assert any(r["status"] == "passed" for r in results)


def test_what_the_checks_for_tables_would_check(texts):
    model = Sentences("mean", dimensions=4, min_count=1)
    before = dict(vars(model))
    with pytest.raises(NotFittedError):
        model.transform(texts)
    assert model.fit(texts) is model
    assert {name: vars(model)[name] for name in before} == before, "fit changes no parameter"
    public = [name for name in set(vars(model)) - set(before) if not name.startswith("_")]
    assert all(name.endswith("_") for name in public)
    rows = model.transform(texts)
    assert (model.fit(texts).transform(texts) == rows).all(), "a second fit is the first"
    assert (model.fit_transform(texts) == rows).all()
    assert (model.transform(texts[:7]) == rows[:7]).all() and (model.transform(texts[::-1]) == rows[::-1]).all()
    assert model.set_params(dimensions=2).fit(texts).transform(texts).shape == (400, 2)
