"""Topics inside scikit-learn: its own checks, pipelines, searches and column transformers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from test_topics import drawn, sentences

from tenfold import Topics

CHECKED = [Topics(), Topics("auto"), Topics(2, polish=None), Topics(3, polish="faithful", alpha0=0.0)]


@pytest.mark.parametrize("estimator", CHECKED, ids=repr)
def test_every_check_passes(estimator):
    with warnings.catch_warnings():
        # Data of twenty samples give reason for doubt, and the checks do not ask for silence.
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] in ("failed", "xfail")]
    assert not failed
    assert sum(r["status"] == "passed" for r in results) >= 47


def test_in_a_pipeline():
    texts, labels = sentences(), [i % 3 for i in range(240)]
    pipe = make_pipeline(CountVectorizer(), Topics(3), LogisticRegression())
    assert pipe.fit(texts[:120], labels[:120]).score(texts[120:], labels[120:]) > 0.95
    alone = make_pipeline(Topics(3), LogisticRegression())
    assert cross_val_score(alone, texts, labels, cv=3).min() > 0.95
    frequencies = make_pipeline(TfidfVectorizer(), Topics(3))
    assert frequencies.fit_transform(texts).shape == (240, 3)


@pytest.mark.filterwarnings("ignore::tenfold.FitWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_in_a_search():
    counts = drawn(400)[0]
    search = GridSearchCV(Topics(), {"n_components": [1, 2, 4]}, cv=3, n_jobs=1).fit(counts)
    assert search.best_params_ == {"n_components": 4}
    means = search.cv_results_["mean_test_score"]
    assert means[0] < means[1] < means[2] < 0


@pytest.mark.filterwarnings("ignore::tenfold.FitWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_in_a_search_with_processes():
    search = GridSearchCV(Topics(epochs=1), {"n_components": [1, 4]}, cv=2, n_jobs=2).fit(drawn(200)[0])
    assert search.best_params_ == {"n_components": 4}


def test_in_a_column_transformer():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": sentences(), "length": np.arange(240.0)})
    for columns in ("text", ["text"]):
        both = ColumnTransformer([("topics", Topics(3), columns), ("rest", "passthrough", ["length"])])
        found = both.set_output(transform="pandas").fit_transform(frame)
        assert list(found.columns) == ["topics__topic0", "topics__topic1", "topics__topic2", "rest__length"]
        assert found.shape == (240, 4)


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_frames_come_out(container):
    package = pytest.importorskip(container)
    model = Topics(3).set_output(transform=container)
    for frame in (model.fit_transform(sentences()), model.transform(sentences())):
        assert isinstance(frame, package.DataFrame)
        assert list(frame.columns) == ["topic0", "topic1", "topic2"] == list(model.get_feature_names_out())


def test_names_are_checked():
    pd = pytest.importorskip("pandas")
    counts = pd.DataFrame(drawn(200)[0], columns=[f"word{i}" for i in range(100)])
    model = Topics(4).fit(counts)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(counts[counts.columns[::-1]])
    with pytest.raises(ValueError, match="99 features"):
        Topics(4).fit(counts.to_numpy()).transform(counts.to_numpy()[:, 1:])
