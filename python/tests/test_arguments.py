"""Numbers beyond what a machine counts, text that is no text, and threads without end: errors that say what would do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tenfold
from tenfold import _arguments
from tenfold.tensor import decompose

pytestmark = pytest.mark.filterwarnings("ignore")

COUNTS = np.random.default_rng(0).poisson(1.0, (60, 12))
GRAPH = (lambda A: (A | A.T).astype(float))(np.triu(np.random.default_rng(1).random((40, 40)) < 0.3, 1))
TEXTS = ["old ships sail to the harbour", "bread and flour and yeast"] * 30
BROKEN = "caf\udce9"


@pytest.mark.parametrize("huge", [2**63, 2**64, 2**70, 10**5000], ids=["63", "64", "70", "digits"])
def test_huge_numbers(huge):
    calls = [
        lambda: tenfold.Topics(huge).fit(COUNTS),
        lambda: tenfold.Topics(2, epochs=huge).fit(COUNTS),
        lambda: tenfold.Topics(2, memory_limit=huge).fit(COUNTS),
        lambda: tenfold.Topics(2, alpha0=10**400).fit(COUNTS),
        lambda: tenfold.Communities(huge).fit(GRAPH),
        lambda: tenfold.ICA(huge).fit(COUNTS),
        lambda: tenfold.Motifs(huge, length=4).fit(COUNTS),
        lambda: tenfold.Cells(huge).fit(COUNTS),
        lambda: tenfold.Trees(huge).fit(COUNTS),
        lambda: tenfold.Sentences(dimensions=huge).fit(TEXTS),
        lambda: decompose(np.ones((2, 2, 2)), huge),
        lambda: tenfold.Communities(2).fit(GRAPH).bridges(huge),
        lambda: tenfold.Cells(2, restarts=1).fit(COUNTS).markers(0, huge),
        lambda: tenfold.Topics(2).fit(COUNTS).top_words(huge),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="out of range: (at most|0 or more)"):
            call()


def test_lists_end_where_they_end():
    assert len(tenfold.Communities(2).fit(GRAPH).bridges(10**15)) == 40
    assert len(tenfold.Cells(2, restarts=1).fit(COUNTS).markers(0, 10**15)) <= 12
    assert tenfold.Topics(2, memory_limit=2**40).fit(COUNTS).n_found_


def test_threads_of_the_environment_are_bounded(monkeypatch):
    known = _arguments.threads_of(20_000)
    for asked, threads in [("20000", known), ("9" * 6000, 0), ("2", 2), ("3,4", 3), ("", 0), ("many", 0)]:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
        assert _arguments.threads_of(None) == threads


def test_text_that_is_no_text():
    named = pd.DataFrame(COUNTS, columns=[f"{BROKEN}{i}" for i in range(12)])
    model = tenfold.Sentences(dimensions=3, n_templates=2, template_length=2, min_count=1).fit(TEXTS)
    communities = tenfold.Communities(2).fit(GRAPH)
    calls = [
        lambda: tenfold.Topics(2).fit(named),
        lambda: tenfold.Topics(2, vocabulary=list(named.columns)).fit(COUNTS),
        lambda: tenfold.Topics(2, stem=BROKEN).fit(TEXTS),
        lambda: tenfold.Topics(2, stop_words=[BROKEN]).fit(TEXTS),
        lambda: tenfold.Topics(2, language=[BROKEN]).fit(TEXTS),
        lambda: tenfold.ICA(2).fit(named),
        lambda: tenfold.Cells(2).fit(named),
        lambda: tenfold.Trees(2).fit(named),
        lambda: tenfold.Trees(2).fit(pd.DataFrame({"a": ["x", BROKEN] * 5, "b": ["y", "z"] * 5})),
        lambda: tenfold.Trees(2, groups={"x0": BROKEN}).fit(COUNTS),
        lambda: tenfold.Communities(1).fit([("a", "b"), ("b", BROKEN)]),
        lambda: communities.evaluate([BROKEN] * 40),
        lambda: tenfold.Sentences().fit([BROKEN] * 9),
        lambda: tenfold.Sentences(stem=BROKEN).fit(TEXTS),
        lambda: tenfold.Sentences(vectors={BROKEN: [1.0]}).fit(TEXTS),
        lambda: model.transform(["old", BROKEN]),
        lambda: model.encode(BROKEN),
        lambda: model.similarity("old", BROKEN),
        lambda: model.neighbours(BROKEN),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="surrogates"):
            call()


def test_messages_speak_of_arguments():
    rng = np.random.default_rng(2)
    with pytest.raises(tenfold.DataError, match="give n_states=2 or less"):
        tenfold.Trees(9, bootstrap=0).fit(rng.integers(2, size=(200, 5)))
    from tenfold._base import in_python

    assert in_python("-k auto looks for them") == 'n_components="auto" looks for them'
    assert in_python("give -k 2 or less", "n_states") == "give n_states=2 or less"
    assert in_python("no x-k 2 and no --min-df") == "no x-k 2 and no min_df"


def test_ids_that_floating_point_merges():
    for dtype, wrong in [(np.float64, 1e19), (np.float64, 2.0**53 + 2), (np.float32, 2.0**24 + 2)]:
        edges = np.array([wrong, 2, 3], dtype), np.array([2, 3, wrong], dtype)
        with pytest.raises(ValueError, match="integers or text"):
            tenfold.Communities(1).fit(edges)
    edges = np.array([2.0**53, 2, 3]), np.array([2, 3, 2.0**53])
    assert tenfold.Communities(1).fit(edges).node_ids_.max() == 2**53


def test_columns_without_names_are_not_without_end():
    with pytest.raises(ValueError, match="at most 4194304"):
        tenfold.Topics(2).fit([[(2**33, 1)], [(0, 2)]] * 20)
