"""Topics: what is learned, kept, shown and told."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.base import clone

import tenfold
from tenfold import DataError, FitWarning, Topics, _core

THEMES = {
    "sea": "ship harbour sail captain anchor wave storm deck mast island",
    "bread": "bread oven flour yeast dough baker crust butter salt loaf",
    "star": "star planet orbit moon comet telescope galaxy light sky night",
}


def drawn(documents: int = 600, length: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Counts of documents that mix four topics of 25 words each, and the topics."""
    rng = np.random.default_rng(seed)
    truth = np.kron(np.eye(4), np.full(25, 0.9 / 25)) + 0.1 / 100
    mixtures = rng.dirichlet([0.2] * 4, size=documents)
    return np.array([rng.multinomial(length, p) for p in mixtures @ truth]), truth


def sentences(documents: int = 240, seed: int = 0) -> list[str]:
    """Texts of one theme each, themes in turn."""
    rng = np.random.default_rng(seed)
    lists = [words.split() for words in THEMES.values()]
    glue = ["and the", "of a", "with the", "was in", "that is"]
    chosen = [rng.choice(lists[i % 3], size=12) for i in range(documents)]
    return ["The " + " ".join(f"{word} {glue[i % 5]}" for i, word in enumerate(words)) + "." for words in chosen]


def words_only(texts: list[str]) -> list[list[str]]:
    """The words of themes in sentences."""
    known = set(" ".join(THEMES.values()).split())
    return [[word for word in text.split() if word in known] for text in texts]


def warned(call: Callable[[], Topics]) -> tuple[Topics, list[str]]:
    """What a call gives, and what it warned of."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = call()
    return model, [str(one.message) for one in seen if issubclass(one.category, FitWarning)]


@pytest.fixture(scope="module")
def counts() -> np.ndarray:
    return drawn()[0]


@pytest.fixture(scope="module")
def fitted(counts) -> Topics:
    return Topics(4).fit(counts)


@pytest.fixture(scope="module")
def read() -> Topics:
    return Topics(3).fit(sentences())


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tenfold._command", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_known_topics_come_back(fitted):
    truth = drawn()[1]
    distance = 0.5 * np.abs(fitted.components_[:, None] - truth).sum(axis=2)
    # 36,000 tokens in 100 words: a word's share of a topic is known to about a tenth of itself, which sums to .04.
    assert distance.min(axis=1).max() < 0.08
    assert sorted(distance.argmin(axis=1)) == [0, 1, 2, 3]
    assert np.allclose(fitted.components_.sum(axis=1), 1) and np.allclose(fitted.shares_.sum(), 1)
    assert fitted.verdict_.sound and fitted.n_components_ == fitted.n_found_ == 4
    assert (np.diff(fitted.shares_) <= 0).all() and (fitted.alpha_ > 0).all()
    assert fitted.coherence_.shape == (4,) and fitted.correlations_.shape == (4, 4)
    assert {"seconds", "stability", "spectrum"} <= set(fitted.diagnostics_)


def test_mixtures_are_those_documents_were_drawn_from(fitted, counts):
    mixtures = fitted.transform(counts)
    assert mixtures.shape == (600, 4) and np.allclose(mixtures.sum(axis=1), 1, atol=1e-5)
    by_block = counts.reshape(600, 4, 25).sum(axis=2) / 60
    order = fitted.components_.reshape(4, 4, 25).sum(axis=2).argmax(axis=1)
    # A tenth of the tokens come from no block of words.
    assert np.abs(mixtures - by_block[:, order]).mean() < 0.05


def test_threads_change_nothing(counts):
    models = [Topics(4, n_jobs=n).fit(counts) for n in (1, 2)]
    assert models[0]._model.to_bytes() == models[1]._model.to_bytes()
    first, second = (model.transform(counts) for model in models)
    assert first.tobytes() == second.tobytes()
    texts = [Topics(3, n_jobs=n).fit(sentences())._model.to_bytes() for n in (1, 2)]
    assert texts[0] == texts[1]


def test_choices_reach_the_fit_and_come_back_from_its_file(counts, tmp_path):
    told = Topics("auto", alpha0=0.5, polish="faithful", epochs=3, damp=True, random_state=9).fit(counts)
    told.save(tmp_path / "m.tenfold")
    assert Topics.load(tmp_path / "m.tenfold").get_params() == told.get_params()
    assert told.n_components_ == told.n_found_ == 4
    assert Topics(4, polish=None).fit(counts).diagnostics_["curve"] == []


def test_text_needs_no_other_step(read):
    words = [set(words) for words in read.top_words(10)]
    assert sorted(map(sorted, words)) == sorted(sorted(theme.split()) for theme in THEMES.values())
    assert "the" not in read.vocabulary_ and read.vocabulary_[read.words_[7]] == 7
    mixtures = read.transform(["A captain and a ship in the storm", "flour, butter and salt", ""])
    assert mixtures.argmax(axis=1)[0] != mixtures.argmax(axis=1)[1]
    assert mixtures[:2].max(axis=1).min() > 0.5
    assert np.allclose(mixtures[2], read.alpha_ / read.alpha_.sum(), atol=1e-6)
    assert not hasattr(read, "n_features_in_")


def test_the_recipe_is_in_the_arguments():
    texts = ["Ships SAIL in 1805", "ships sail", "ships sailing 1805"] * 10

    def words(documents: list[str], **arguments: object) -> set[str]:
        return set(warned(lambda: Topics(1, **{"max_df": 1.0} | arguments).fit(documents))[0].words_)

    kept = words(texts, lowercase=False, numbers=True, language=None, ngrams=2)
    assert {"Ships", "SAIL", "1805", "ships sail"} <= kept
    assert words(texts, stem="en", stop_words=["ships"], min_length=3) == {"sail"}
    assert words(texts, vocabulary=["sail", "ships", "boats"]) == {"sail", "ships", "boats"}
    assert "the" in words(sentences(), language=None)
    assert "the" not in words(sentences(), stop_words="english")
    assert "the" not in words(sentences())


def test_documents_are_added(counts):
    later = Topics(4).partial_fit(counts[:300]).partial_fit(counts[300:])
    assert len(later._model.facts()) and "300 documents added" in " ".join(later.verdict_.notes)
    truth = drawn()[1]
    distance = 0.5 * np.abs(later.components_[:, None] - truth).sum(axis=2)
    assert distance.min(axis=1).max() < 0.1
    with pytest.raises(ValueError, match="99 features"):
        later.partial_fit(counts[:, :99])


def test_new_words_of_text_join():
    more = [text.replace("ship", "submarine") for text in sentences(240, seed=1)]
    grown = Topics(3).partial_fit(sentences())
    before = len(grown.words_)
    grown.partial_fit(more)
    assert "submarine" in grown.vocabulary_ and len(grown.words_) == before + 1
    sea = [words for words in grown.top_words(12) if "captain" in words]
    assert len(sea) == 1 and "submarine" in sea[0]
    assert grown.components_.shape == (3, before + 1)


def test_scores_tell_better_from_worse(counts, fitted):
    held = drawn(300, seed=5)[0]
    one = Topics(1).fit(counts)
    assert fitted.score(held) > one.score(held)
    assert fitted.perplexity(held) == pytest.approx(np.exp(-fitted.score(held)))
    # A document of one topic draws from about 25 words, one of all from 100.
    assert 25 < fitted.perplexity(held) < one.perplexity(held) < 101
    with pytest.raises(DataError, match="two tokens"):
        fitted.score(np.eye(100, dtype=int))


def test_models_travel(tmp_path, fitted, read, counts):
    for model, documents in ((fitted, counts), (read, sentences())):
        path = tmp_path / "m.tenfold"
        model.save(path)
        for other in (Topics.load(path), tenfold.load(path), pickle.loads(pickle.dumps(model))):
            assert other.transform(documents).tobytes() == model.transform(documents).tobytes()
            assert list(other.words_) == list(model.words_) and other.verdict_ == model.verdict_
        assert clone(model).get_params() == model.get_params()
        assert not hasattr(clone(model), "components_")
    assert Topics.load(tmp_path / "m.tenfold").get_params()["language"] == "en"


def test_the_command_line_reads_it_and_the_other_way_round(tmp_path, read):
    lines = tmp_path / "texts.txt"
    lines.write_text("\n".join(sentences()))
    fit = run("topics", "fit", lines, "-k", 3, "-o", tmp_path / "cli.tenfold")
    assert fit.returncode == 0, fit.stderr
    other = Topics.load(tmp_path / "cli.tenfold")
    assert list(other.words_) == list(read.words_)
    assert np.array_equal(other.components_, read.components_)
    assert np.array_equal(other.transform(sentences()), read.transform(sentences()))
    read.save(tmp_path / "py.tenfold")
    infer = run("topics", "infer", tmp_path / "py.tenfold", lines, "-o", tmp_path / "mixtures.npy")
    assert infer.returncode == 0, infer.stderr
    assert np.allclose(np.load(tmp_path / "mixtures.npy"), read.transform(sentences()), atol=1e-6)


def test_a_model_shows_itself(tmp_path, read):
    assert "3 topics in 240 documents" in read.summary()
    read.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!") and "captain" in page
    assert "3 topics in 240 documents" in read._repr_mimebundle_()["text/html"]


def test_fewer_topics_than_asked_for_are_filled_up(counts):
    few = np.kron(np.eye(2, dtype=int), np.full((30, 3), 5))
    model, told = warned(lambda: Topics(5).fit(few))
    assert sum("n_components = 5 topics were asked for" in message for message in told) == 1
    assert model.components_.shape == (5, 6) and model.n_found_ < 5
    assert np.allclose(model.components_[model.n_found_ :], model.unigram_)
    mixtures = model.transform(few)
    assert mixtures.shape == (60, 5) and (mixtures[:, model.n_found_ :] == 0).all()
    assert np.allclose(mixtures.sum(axis=1), 1, atol=1e-5)
    assert len(model.top_words()) == model.n_found_ and np.isnan(model.coherence_[-1])


def test_short_documents_are_taken_for_frequencies():
    pairs = np.zeros((200, 20), dtype=int)
    rng = np.random.default_rng(0)
    for i, row in enumerate(pairs):
        row[rng.choice(10, size=2, replace=False) + 10 * (i % 2)] = 1
    model, told = warned(lambda: Topics(2).fit(pairs))
    assert any("three tokens" in message for message in told) and model.verdict_.warnings == told
    assert not any("-k" in message for message in told) and "-k auto" not in model.summary()
    assert sorted(model.components_.reshape(2, 2, 10).sum(axis=2).argmax(axis=1)) == [0, 1]


def test_errors_name_the_argument():
    with pytest.raises(DataError, match="lower min_df") as told:
        Topics(min_df=50).fit(["one fish", "two fish"])
    assert "--" not in str(told.value)
    with pytest.raises(ValueError, match="max_df = 3"):
        Topics(max_df=3).fit(["one fish"])
    with pytest.raises(ValueError, match="language|stop"):
        Topics(language="klingon").fit(["one fish"])
    with pytest.raises(ValueError, match="ngrams = 4"):
        Topics(ngrams=4).fit(["one fish"])
    with pytest.raises(ValueError, match="epochs means nothing with polish=None"):
        Topics(polish=None, epochs=3).fit(np.eye(3))
    with pytest.raises(ValueError, match="ngrams means nothing with counts"):
        Topics(ngrams=2).fit(np.eye(3))
    with pytest.raises(ValueError, match="n_components = 'many'"):
        Topics("many").fit(np.eye(3))
    with pytest.raises(ValueError, match="alpha0 = -1"):
        Topics(alpha0=-1).fit(np.eye(3))
    with pytest.raises(FileNotFoundError):
        Topics.load("nowhere.tenfold")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("lower --min-df, or raise --memory", "lower min_df, or raise memory_limit"),
        ("try 4 or -k auto", 'try 4 or n_components="auto"'),
        ("--keep-stop-words to drop none", "language=None to drop none"),
        ("fit it without --no-moments", "fit it without --no-moments"),
        ("a -- b, c--d, 1 --2 and --", "a -- b, c--d, 1 --2 and --"),
        ("größer --max-df", "größer max_df"),
    ],
)
def test_options_become_arguments(said, meant):
    assert _core.in_python(said) == meant


def test_a_listener_hears_stages_and_stops_the_fit(counts):
    heard = []
    Topics(4, verbose=lambda stage, done, total: heard.append(stage)).fit(np.repeat(counts, 20, axis=0))
    assert len(set(heard)) > 1

    def stop(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    model = Topics(4, verbose=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(np.repeat(counts, 20, axis=0))
    assert not hasattr(model, "components_")


def test_what_lies_on_disk_gives_the_same_bytes(counts):
    small = Topics(4, memory_limit=1000).fit(counts)
    assert small._model.to_bytes() == Topics(4).fit(counts)._model.to_bytes()


def test_a_table_with_a_column_of_text_is_told():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"n": [1, 2], "body": ["some words", "other words"]})
    with pytest.raises(ValueError, match=r"column 'body' holds text: give that column alone, X\['body'\]"):
        Topics(2).fit(table)


@pytest.mark.filterwarnings("ignore::tenfold.FitWarning")
def test_texts_for_a_model_of_columns_without_names_are_refused():
    model = Topics(2).fit(np.random.default_rng(0).poisson(1.0, (200, 20)))
    with pytest.raises(ValueError, match="columns without names, so it knows no words"):
        model.transform(["some words"])
