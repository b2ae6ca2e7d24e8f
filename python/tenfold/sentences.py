"""Sentences as numbers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tenfold import _core
from tenfold._arguments import ANY, amount, characters, choice, count, running, seed_of
from tenfold._base import ModelMixin
from tenfold._documents import Texts, look, undecodable

FEATURES = ("mean", "sif", "templates", "templates+mean")


class Sentences(ModelMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Sentences as numbers, by word vectors and phrase templates that are learned from the same text.

    A word's vector is a row of :math:`U \Sigma^p` of the positive pointwise mutual information of words that stand near
    each other. A patch of neighbouring words, their vectors one after another, is modelled as
    :math:`x = \bar x + \sum_l f_l a_l` with independent activations :math:`a_l`; whitening the patches and decomposing
    their third or fourth cumulant,

    .. math:: \mathrm{cum}_4(y) = \sum_l \kappa_l\, v_l^{\otimes 4},

    gives the templates :math:`f_l`, patterns over a few words. A sentence keeps the largest activations of every template,
    whatever its length; beside them stands the mean of its word vectors. No pre-training, no labels.

    Parameters
    ----------
    features : {"mean", "sif", "templates", "templates+mean"}, default="templates+mean"
        What ``transform`` gives: the mean of the word vectors; the mean with weights a/(a + frequency) less its first
        component [2]_; the activations of templates; or templates and mean side by side.
    n_templates : int, default=128
        How many templates.
    template_length : int, default=4
        Words of a template.
    learner : {"fourth", "third", "random", "motifs"}, default="fourth"
        The cumulant that tells templates apart; "random" directions are for comparison. "motifs" learns the motifs of every
        dimension of the vectors by itself, two for each of the leading n_templates/2 unless ``channels`` says how many; a
        template is then zero in all other dimensions.
    pool : int, default=1
        Activations of a template that a sentence keeps, the largest first.
    channels : int, default=None
        Leading dimensions of the word vectors that templates see; None sees all.
    dimensions : int, default=100
        Length of the learned word vectors.
    window : int, default=10
        How far apart neighbouring words may stand.
    smoothing : float, default=0.75
        Power of the neighbours' frequencies: below 1 rare ones count for less.
    shift : float, default=1.0
        How many times more often than by chance two words must stand together.
    power : float, default=0.5
        Power of the singular values in the vectors.
    vectors : str, path-like, dict or None, default=None
        Word vectors of others instead of learned ones: a file of word2vec (text or binary) or GloVe, or a dict from
        words to vectors. The five choices above then mean nothing.
    all_words : bool, default=False
        Whether all vectors of a file are kept, not only those of the words of the text.
    unit : bool, default=True
        Whether every word's vector is brought to length one.
    sif : float, default=1e-3
        The weight a of the features "sif".
    min_count : int, default=2
        Fewest times that a word must occur to have a vector.
    lowercase : bool, default=True
        Whether upper and lower case are the same.
    punctuation : bool, default=True
        Whether marks of punctuation are words of their own.
    stem : str, default=None
        The language by whose Snowball stemmer words lose their endings.
    random_state : int, numpy generator or None, default=0
        The same seed gives the same answer on any number of threads. None is 0.
    n_jobs : int, default=None
        Threads. None is all cores (or ``OMP_NUM_THREADS``), -1 all cores. Results never depend on it.
    verbose : bool or callable, default=False
        True shows a progress bar; a function is called as ``verbose(stage, done, total)``.
    checkpoint : path, default=None
        A folder for what is finished of a long fit. After a crash, the same fit of the same data goes on from there, to the same bytes.
        When :meth:`fit` returns, the folder is removed; the fit of anything else is refused there.

    Attributes
    ----------
    words_ : ndarray of str of shape (n_words,)
        The words, the most frequent first.
    vectors_ : ndarray of shape (n_words, dimensions)
        Their vectors.
    frequencies_ : ndarray of shape (n_words,)
        Their shares of the text.
    templates_ : ndarray of shape (n_templates, template_length, channels) or None
        The templates.
    phrases_ : list of list of (str, float)
        For every template the phrases of the text where it fires most.
    diagnostics_ : dict
        Figures of the fit.
    verdict_ : tenfold.Verdict
        What the figures mean: ``sound``, ``warnings`` and ``notes``.

    References
    ----------
    .. [1] O. Levy, Y. Goldberg and I. Dagan, "Improving distributional similarity with lessons learned from word
       embeddings", TACL 3, 2015.
    .. [2] S. Arora, Y. Liang and T. Ma, "A simple but tough-to-beat baseline for sentence embeddings", ICLR 2017.

    Examples
    --------
    >>> import warnings
    >>> from tenfold import Sentences
    >>> texts = [f"the {a} ship sails {b} the harbour" for a in ("old", "new", "red") for b in ("to", "from")] * 40
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # so small a text gives reason for doubt
    ...     model = Sentences("mean", dimensions=5).fit(texts)
    >>> model.transform(["the old ship", ""]).shape
    (2, 5)
    >>> round(float(model.similarity("the old ship", "the old ship")), 3)
    1.0
    """

    _compiled = _core.SentencesModel

    def __init__(
        self,
        features: str = "templates+mean",
        *,
        n_templates: int = 128,
        template_length: int = 4,
        learner: str = "fourth",
        pool: int = 1,
        channels: int | None = None,
        dimensions: int = 100,
        window: int = 10,
        smoothing: float = 0.75,
        shift: float = 1.0,
        power: float = 0.5,
        vectors: Any = None,
        all_words: bool = False,
        unit: bool = True,
        sif: float = 1e-3,
        min_count: int = 2,
        lowercase: bool = True,
        punctuation: bool = True,
        stem: str | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: Any = False,
        checkpoint: Any = None,
    ) -> None:
        self.features = features
        self.n_templates = n_templates
        self.template_length = template_length
        self.learner = learner
        self.pool = pool
        self.channels = channels
        self.dimensions = dimensions
        self.window = window
        self.smoothing = smoothing
        self.shift = shift
        self.power = power
        self.vectors = vectors
        self.all_words = all_words
        self.unit = unit
        self.sif = sif
        self.min_count = min_count
        self.lowercase = lowercase
        self.punctuation = punctuation
        self.stem = stem
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: object = None) -> Sentences:
        """Learns word vectors and templates.

        Parameters
        ----------
        X : texts in a list, a generator, an array, a pandas or polars Series or an Arrow column
            One sentence each.
        y : ignored

        Returns
        -------
        self
        """
        choices = self._checked()
        texts = _texts(X)
        with running(self.n_jobs, self.verbose, self.checkpoint) as how:
            model = _core.SentencesModel.fit(texts, choices, how)
        self._take(model)
        self.verdict_.announce(settled=self.diagnostics_.get("converged", True), stacklevel=3)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Numbers for sentences.

        Parameters
        ----------
        X : texts
            As for ``fit``.

        Returns
        -------
        ndarray of shape (n_sentences, n_features_out)
            Zeros for a sentence without a known word.
        """
        return self._encoded(X, None)

    def encode(self, X: Any, features: str | None = None) -> NDArray[np.float64]:
        """``transform`` to features of your choice; one text alone gives one row.

        Parameters
        ----------
        X : texts, or one text
        features : {"mean", "sif", "templates", "templates+mean"}, default=None
            None gives those of the model.

        Returns
        -------
        ndarray of shape (n_sentences, n_features), or of shape (n_features,) for one text
        """
        if isinstance(X, str):
            row: NDArray[np.float64] = self._encoded([X], features)[0]
            return row
        return self._encoded(X, features)

    def similarity(self, a: Any, b: Any, features: str | None = None) -> Any:
        """How alike sentences are: the cosine of their features, -1 to 1.

        Parameters
        ----------
        a, b : a text each, or as many texts each
        features : {"mean", "sif", "templates", "templates+mean"}, default=None
            None takes those of the model.

        Returns
        -------
        float, or ndarray of shape (n_sentences,)
            0 where a sentence has no known word.
        """
        check_is_fitted(self)
        alone = isinstance(a, str) and isinstance(b, str)
        if isinstance(a, str) != isinstance(b, str):
            raise ValueError("one of a and b is a single text: give two texts, or two lists of as many texts")
        pairs = (_texts([a]), _texts([b])) if alone else (_texts(a), _texts(b))
        with running(self.n_jobs, False) as how:
            alike = self._model.similarities(*pairs, _features(features), how)
        return float(alike[0]) if alone else alike

    def neighbours(self, word: str, n: int = 10) -> list[tuple[str, float]]:
        """The words nearest to a word, with the cosine of their vectors.

        Parameters
        ----------
        word : str
        n : int, default=10

        Returns
        -------
        list of (str, float)
        """
        check_is_fitted(self)
        characters("the word", [word])
        near = self._model.neighbours(word, count("n", n, least=0, most=ANY))
        if near is None:
            raise KeyError(f"the model has no word {word!r}")
        return list(near)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Names of the columns of what ``transform`` gives: mean1, …, template1, ….

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array(self._model.columns(None), dtype=object)

    def _encoded(self, X: Any, features: str | None) -> NDArray[np.float64]:
        check_is_fitted(self)
        texts, chosen = _texts(X), _features(features)
        with running(self.n_jobs, False) as how:
            rows: NDArray[np.float64] = self._model.encode(texts, chosen, how)
        return rows

    def _checked(self) -> _core.SentencesChoices:
        def positive(x: float) -> bool:
            return 0 < x < float("inf")

        def at_least_zero(x: float) -> bool:
            return 0 <= x <= 1000

        vectors = self.vectors
        if isinstance(vectors, Mapping):
            if not vectors:
                raise ValueError("vectors is an empty dict: give a vector for every word")
            rows = np.array(list(vectors.values()), dtype=np.float64)
            if rows.ndim != 2:
                raise ValueError("vectors has vectors of different lengths: all need the same")
            vectors = (characters("vectors: the word", [str(word) for word in vectors]), rows)
        elif vectors is not None:
            vectors = os.fspath(vectors)
        return {
            "features": choice("features", self.features, FEATURES),
            "vectors": vectors,
            "all_words": bool(self.all_words),
            "dimensions": count("dimensions", self.dimensions),
            "window": count("window", self.window),
            "smoothing": amount("smoothing", self.smoothing, at_least_zero, "a number from 0 to 1000 is needed"),
            "shift": amount("shift", self.shift, positive, "a number above 0 is needed"),
            "power": amount("power", self.power, at_least_zero, "a number from 0 to 1000 is needed"),
            "unit": bool(self.unit),
            "min_count": count("min_count", self.min_count),
            "lowercase": bool(self.lowercase),
            "punctuation": bool(self.punctuation),
            "stem": None if self.stem is None else characters("stem", [str(self.stem)])[0],
            "templates": count("n_templates", self.n_templates),
            "length": count("template_length", self.template_length),
            "channels": None if self.channels is None else count("channels", self.channels),
            "learner": choice("learner", self.learner, ("fourth", "third", "random", "motifs")),
            "pool": count("pool", self.pool),
            "sif": amount("sif", self.sif, positive, "a number above 0 is needed"),
            "seed": seed_of(self.random_state),
        }

    def _adopt(self, model: Any, facts: dict[str, Any]) -> None:
        self.words_ = np.array(model.words(), dtype=object)
        self.vectors_ = model.vectors()
        self.frequencies_ = model.frequencies()
        templates = model.templates()
        length = (facts["templates"] or {}).get("length", 1)
        self.templates_ = None if templates is None else templates.reshape(len(templates), length, -1)
        self.phrases_ = model.phrases()
        self._width = int(facts["width"])

    @classmethod
    def _choices(cls, facts: dict[str, Any]) -> dict[str, Any]:
        told, recipe = facts["parameters"], facts["recipe"]
        chosen = {
            "features": told["features"],
            "unit": told["unit"],
            "sif": told["sif"],
            "random_state": told["seed"],
            "lowercase": recipe["lowercase"],
            "punctuation": facts["punctuation"],
            "stem": recipe["stemmer"],
        }
        if told["vectors"]["learned"]:
            chosen |= {name: told["vectors"][name] for name in ("dimensions", "window", "smoothing", "shift", "power")}
        if "templates" in told:
            names = {"count": "n_templates", "length": "template_length"}
            chosen |= {names.get(name, name): value for name, value in told["templates"].items()}
        return chosen

    @property
    def _n_features_out(self) -> int:
        return self._width

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags


def _features(name: str | None) -> str | None:
    return None if name is None else str(choice("features", name, FEATURES))


def _texts(X: Any) -> list[str]:
    """Texts, whatever holds them."""
    if isinstance(X, (list, tuple)) and all(isinstance(one, str) for one in X):
        texts = list(X)
    else:
        found = look(X)
        if not isinstance(found, Texts) or found.cut:
            raise ValueError("X holds no texts: give a list of str, one for every sentence")
        texts = [text for part in found.parts for text in part]
    at = undecodable(texts)
    if at is not None:
        raise ValueError(f"sentence {at} holds surrogates, which are no characters: decode it with errors='replace'")
    return texts
