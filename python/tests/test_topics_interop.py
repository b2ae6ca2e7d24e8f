"""Topics beside other packages, and the snippets of the documentation."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest
from scipy import sparse
from test_topics import drawn, sentences, words_only

from tenfold import Topics

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "coming-from.md"


def test_pyldavis_takes_it():
    pyldavis = pytest.importorskip("pyLDAvis")
    texts = [*sentences(), ""]
    model = Topics(3).fit(texts).set_output(transform="pandas")
    given = model.to_pyldavis(texts)
    assert given["doc_topic_dists"].shape == (240, 3) and given["topic_term_dists"].shape == (3, 30)
    assert given["doc_lengths"].sum() == given["term_frequency"].sum() == 240 * 12
    prepared = pyldavis.prepare(**given, n_jobs=1)
    assert len(prepared.topic_coordinates) == 3


def test_gensim_dictionaries_and_corpora():
    corpora = pytest.importorskip("gensim.corpora")
    texts = words_only(sentences())
    dictionary = corpora.Dictionary(texts)
    bags = [dictionary.doc2bow(text) for text in texts]
    model = Topics(3, vocabulary=dictionary).fit(bags)
    assert set(model.words_) == set(dictionary.token2id)
    assert model.vocabulary_ == dictionary.token2id
    assert np.array_equal(model.transform(bags), model.transform(texts))


def test_gensim_streams(tmp_path):
    corpora = pytest.importorskip("gensim.corpora")
    counts = drawn(200)[0]
    pairs = [[(int(w), int(row[w])) for w in np.flatnonzero(row)] for row in counts]
    corpora.MmCorpus.serialize(str(tmp_path / "c.mm"), pairs)
    stream = corpora.MmCorpus(str(tmp_path / "c.mm"))
    assert Topics(4).fit(stream)._model.to_bytes() == Topics(4).fit(counts)._model.to_bytes()


def test_anndata():
    anndata = pytest.importorskip("anndata")
    counts = sparse.csr_matrix(drawn(200)[0].astype(np.float32))
    adata = anndata.AnnData(counts)
    # A name that comes twice, as in real tables of genes.
    adata.var_names = ["gene1", *(f"gene{i}" for i in range(1, 100))]
    model = Topics(4).fit(adata)
    assert model.words_[:4].tolist() == ["gene1", "gene1-1", "gene2", "gene3"]
    mixtures = model.transform(adata)
    assert mixtures.shape == (200, 4) and np.array_equal(mixtures, model.transform(counts))
    model.annotate(adata)
    assert np.array_equal(adata.obsm["X_topics"], mixtures) and adata.varm["topics"].shape == (100, 4)
    with pytest.raises(ValueError, match="var_names"):
        model.transform(adata[:, ::-1])


def snippets() -> list[str]:
    """The blocks of the page that are tenfold's own."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    return [block for block in blocks if "tenfold" in block.splitlines()[0]]


@pytest.mark.parametrize("snippet", snippets(), ids=lambda text: text.splitlines()[0])
def test_snippets_of_the_page_run(snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = sentences()
    names = {"texts": texts, "more_texts": texts[:90], "tokens": words_only(texts)}
    exec(compile(snippet, str(PAGE), "exec"), names)
    assert "topics" in names


def test_the_page_has_every_newcomer():
    found = " ".join(block.splitlines()[0] for block in snippets())
    assert all(name in found for name in ("scikit-learn", "gensim", "tomotopy"))
