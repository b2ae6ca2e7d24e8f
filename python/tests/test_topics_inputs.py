"""Topics: every container of documents, and the same answer from all that hold the same."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from test_topics import drawn, sentences, warned, words_only

from tenfold import Topics


@pytest.fixture(scope="module")
def counts() -> np.ndarray:
    return drawn(200)[0]


@pytest.fixture(scope="module")
def expected(counts) -> bytes:
    return Topics(4).fit(counts)._model.to_bytes()


FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("made", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_formats(counts, expected, form, made):
    X = made(counts).asformat(form)
    model = Topics(4).fit(X)
    assert model._model.to_bytes() == expected
    assert np.array_equal(model.transform(X), model.transform(counts))


TYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", ">f8", ">i4", "longdouble"]


@pytest.mark.parametrize("dtype", TYPES)
def test_number_types(counts, expected, dtype):
    dense = counts.astype(dtype)
    assert Topics(4).fit(dense)._model.to_bytes() == expected
    if dtype not in ("f2", ">f8", ">i4", "longdouble"):
        assert Topics(4).fit(sparse.csr_matrix(counts).astype(dtype))._model.to_bytes() == expected


def test_wide_indices_duplicates_and_zeros(counts, expected):
    X = sparse.csr_matrix(counts.astype(float))
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    # Every count in two parts, in falling order of columns, and a zero that is stored.
    halves = []
    for row in range(X.shape[0]):
        at = slice(X.indptr[row], X.indptr[row + 1])
        columns, values = X.indices[at][::-1], X.data[at][::-1]
        halves.append((np.r_[columns, columns, 0], np.r_[values - 1, np.ones_like(values), 0]))
    ends = np.cumsum([0] + [len(columns) for columns, _ in halves])
    data = (np.concatenate([v for _, v in halves]), np.concatenate([c for c, _ in halves]), ends)
    torn = sparse.csr_matrix(data, shape=X.shape)
    for other in (wide, torn):
        model = Topics(4).fit(other)
        assert model._model.to_bytes() == expected
        assert np.array_equal(model.transform(other), model.transform(counts))


def test_memory_of_any_kind(counts, expected, tmp_path):
    np.save(tmp_path / "x.npy", counts)
    read_only = counts.copy()
    read_only.flags.writeable = False
    strided = np.zeros((400, 200), dtype=counts.dtype)[::2, ::2]
    strided[:] = counts
    for X in (np.asfortranarray(counts), read_only, np.load(tmp_path / "x.npy", mmap_mode="r"), strided,
              counts.astype(object), counts.tolist()):
        assert Topics(4).fit(X)._model.to_bytes() == expected
    frozen = sparse.csr_matrix(counts)
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.flags.writeable = False
    assert Topics(4).fit(frozen)._model.to_bytes() == expected


def test_frames_of_counts(counts):
    names = [f"word{i}" for i in range(counts.shape[1])]
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for frame in (pd.DataFrame(counts, columns=names), pl.DataFrame(counts, schema=names),
                  pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(counts), columns=names)):
        model = Topics(4).fit(frame)
        assert list(model.words_) == names == list(model.feature_names_in_)
        assert model.transform(frame).shape == (200, 4)
        assert model.n_features_in_ == 100


def test_columns_of_text():
    texts = sentences()
    expected = Topics(3).fit(texts)._model.to_bytes()
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = [tuple(texts), np.array(texts), np.array(texts, dtype=object), np.array(texts)[:, None], pd.Series(texts),
               pd.Series(texts, dtype="string"), pd.DataFrame({"t": texts}), pl.Series(texts),
               pl.DataFrame({"t": texts}), pa.array(texts), pa.chunked_array([texts[:9], texts[9:]]),
               pa.table({"t": texts}), iter(texts), (text for text in texts)]
    for column in columns:
        assert Topics(3).fit(column)._model.to_bytes() == expected, type(column)
    mixtures = Topics(3).fit_transform(text for text in texts)
    assert np.array_equal(mixtures, Topics(3).fit_transform(texts))


def test_lists_of_words():
    texts = words_only(sentences())
    texts[0] = []
    for documents in (texts, map(tuple, texts), iter(texts), np.array(texts, dtype=object)):
        model = Topics(3).fit(documents)
        assert len(model.words_) == 30
    assert model.transform([["ship", "unknown"], []]).shape == (2, 3)
    common = Topics(1, min_df=200).fit([["and", "or", "but", *words] for words in texts])
    assert common.words_.tolist() == ["and", "but", "or"]
    grown, told = warned(lambda: model.partial_fit([["submarine", "ship", "sail"]] * 80))
    assert grown.vocabulary_["submarine"] == 30
    assert any("refit is due" in message for message in told)


def test_gensim_corpora(counts, expected):
    pairs = [[(int(w), int(row[w])) for w in np.flatnonzero(row)] for row in counts]
    words = {w: f"w{w + 1}" for w in range(100)}
    model = Topics(4, vocabulary=words).fit(pairs)
    assert model._model.to_bytes() == expected
    assert np.array_equal(model.transform(pairs), model.transform(counts))
    assert Topics(4, vocabulary={word: w for w, word in words.items()}).fit(iter(pairs))._model.to_bytes() == expected
    with pytest.raises(ValueError, match="word number"):
        model.transform([[(100, 1.0)]])


def test_fractions_are_frequencies(counts):
    shares = counts / counts.sum(axis=1, keepdims=True)
    model = Topics(4).fit(shares)
    truth = drawn()[1]
    distance = 0.5 * np.abs(model.components_[:, None] - truth).sum(axis=2)
    assert distance.min(axis=1).max() < 0.12
    # A row of frequencies weighs as one token; times its length it weighs as the counts do.
    counted = model.transform(counts)
    assert np.allclose(model.transform(shares * counts.sum(axis=1, keepdims=True)), counted, atol=1e-5)
    assert model.transform(shares).max() < counted.max()
    assert model.partial_fit(shares[:100]).components_.shape == (4, 100)
    assert np.isfinite(model.score(shares))
    assert model.transform(counts.astype(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="learned from counts"):
        Topics(4).fit(counts).partial_fit(shares)


def test_rows_stand_alone(counts):
    model = Topics(4).fit(counts)
    rows = np.vstack([model.transform(row[None]) for row in counts[:20]])
    assert np.array_equal(rows, model.transform(counts)[:20])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("one text", "single text"),
        (b"bytes", "single text"),
        ({"a": "text"}, "dict"),
        (["text", "lone \ud800 half"], "document 1 holds surrogates"),
        ([b"bytes", b"more"], "no text"),
        (["text", None], "document 1 is None"),
        (["text", 3.0], "document 1 is 3.0"),
        ([["a", "b"], ["c", 4]], "document 1 holds 4"),
        ([["a", "b"], "c"], "document 1 is 'c'"),
        ([[1, -1], [2, 3]], "[Nn]egative"),
        ([[1, np.nan], [2, 3]], "NaN"),
        ([[1, np.inf], [2, 3]], "infinity"),
        ([1, 2, 3], "1D array"),
        ([], "1D array"),
        (iter([]), "no documents"),
        (["", "  "], "no words are left"),
        (np.zeros((4, 3)), "no words"),
        (sparse.csr_matrix((0, 3)), "0 sample"),
    ],
)
def test_what_is_wrong_is_told(X, message):
    with pytest.raises(ValueError, match=message):
        Topics(2).fit(X)


def test_a_damaged_matrix_is_told():
    X = sparse.csr_matrix(np.eye(5, dtype=int) * 9)
    X.indices[3] = 77
    with pytest.raises(ValueError, match="column"):
        Topics(2).fit(X)
    model = warned(lambda: Topics(2).fit(np.random.default_rng(0).integers(0, 5, (50, 5))))[0]
    with pytest.raises(ValueError, match="column"):
        model.transform(X)


def test_counts_beyond_single_words():
    huge = np.array([[0, 2**40, 5], [2**41, 0, 5], [3, 1, 2**40]] * 10)
    model, told = warned(lambda: Topics(9).fit(huge))
    assert any("n_components = 9" in message for message in told)
    assert model.components_.shape == (9, 3) and np.allclose(model.components_.sum(axis=1), 1)


GROWTH = """
import numpy as np
from scipy import sparse
from tenfold import Topics
from tenfold._documents import look

def status(key):
    lines = [line for line in open("/proc/self/status") if line.startswith(key)]
    return int(lines[0].split()[1]) / 1024

columns = np.tile(np.arange(0, 20_000, 200, dtype=np.int32), 200_000)
X = sparse.csr_matrix((np.ones(len(columns)), columns, np.arange(200_001) * 100), shape=(200_000, 20_000), copy=False)
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
corpus, _ = Topics(memory_limit=1 << 20)._read_to_fit(look(X))
assert corpus.size() == (200_000, 20_000_000, 0, True)
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="needs Linux")
def test_a_large_matrix_is_not_copied():
    grown = float(subprocess.check_output([sys.executable, "-c", GROWTH], text=True, timeout=120))
    # 20 million entries are 229 MiB. A window has 3.3 million of them, as they were read and in blocks.
    assert grown < 160
