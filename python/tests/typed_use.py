"""Never run: mypy reads it as it reads a user's program, and knows what every call gives."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import tenfold
import tenfold.cells
from tenfold import ICA, Cells, DataError, FitWarning, Motifs, Sentences, Topics, Trees, Verdict


def told(stage: str, done: int, total: int) -> None:
    print(stage, done / max(total, 1))


def main(X: NDArray[np.float64]) -> None:
    ica = ICA(3, solver="online", n_epochs=2, random_state=np.random.default_rng(0), verbose=told)
    assert_type(ica.fit(X), ICA)
    assert_type(ica.transform(X), NDArray[Any])
    assert_type(ica.score(X), float)
    assert_type(ica.verdict_, Verdict)
    assert_type(ica.verdict_.warnings, list[str])
    assert_type(ica.components_, NDArray[np.float64])
    ica.save("m.tenfold")
    assert_type(ICA.load("m.tenfold"), ICA)
    topics = Topics("auto", language=["de", "fr"], min_df=2, verbose=told)
    assert_type(topics.fit(["a text", "another"]), Topics)
    assert_type(topics.partial_fit(X).transform(X), NDArray[Any])
    assert_type(topics.perplexity(X), float)
    assert_type(topics.top_words(5, relevance=0.5), list[list[str]])
    assert_type(topics.vocabulary_, dict[str, int])
    assert_type(topics.components_, NDArray[np.float64])
    assert_type(Topics.load("m.tenfold"), Topics)
    sentences = Sentences("sif", dimensions=50, vectors={"ship": [0.0, 1.0]}, verbose=told)
    assert_type(sentences.fit(["a text", "another"]), Sentences)
    assert_type(sentences.transform(["a text"]), NDArray[np.float64])
    assert_type(sentences.neighbours("text"), list[tuple[str, float]])
    assert_type(Sentences.load("m.tenfold"), Sentences)
    motifs = Motifs(2, length=16, rate=360.0, verbose=told)
    assert_type(motifs.fit(X), Motifs)
    assert_type(motifs.transform(X), NDArray[np.float64])
    assert_type(motifs.decode(X), dict[str, NDArray[Any]])
    assert_type(motifs.components_, NDArray[np.float64])
    assert_type(Motifs.load("m.tenfold"), Motifs)
    tree = Trees("auto", bootstrap=0)
    assert_type(tree.fit(X), Trees)
    assert_type(tree.transform(X), NDArray[np.float64])
    assert_type(tree.predict_proba(X), NDArray[np.float64])
    assert_type(tree.export("newick"), str)
    types = Cells("auto", restarts=2)
    assert_type(types.fit(X), Cells)
    assert_type(types.transform(X), NDArray[np.float64])
    assert_type(types.markers(0), list[tuple[str, float, float]])
    assert_type(tenfold.cells.detect(X), dict[str, NDArray[np.float64]])
    assert_type(tenfold.__version__, str)
    problem: type[ValueError] = DataError
    doubt: type[Warning] = FitWarning
    print(problem, doubt)
