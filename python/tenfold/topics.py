"""Topics in documents."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tenfold import _core
from tenfold._arguments import ANY, amount, choice, count, device, refuse, running, seed_of
from tenfold._base import ModelMixin, Verdict
from tenfold._counts import rows_of
from tenfold._documents import Texts, look
from tenfold._interop import InteropMixin
from tenfold._reading import ReadingMixin
from tenfold._recipes import arguments_of


def _most(words: int) -> int:
    """The most topics that may be asked for: as many as there are words, since no more are ever found, or a thousand.

    Those that are not found have columns of zeros, and a file may ask for any number of them.
    """
    return max(words, 1000)


class Topics(ReadingMixin, InteropMixin, ModelMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Topics by the moments of latent Dirichlet allocation, with a polish.

    A document's mixture is drawn as :math:`\theta \sim \mathrm{Dirichlet}(\alpha)`, and each of its words from
    :math:`\sum_i \theta_i \mu_i`: topic i is the distribution :math:`\mu_i` over words. With
    :math:`\alpha_0 = \sum_i \alpha_i`, the moments of pairs and triples of different words of a document,

    .. math::

        M_2 &= E[x_1 \otimes x_2] - \tfrac{\alpha_0}{\alpha_0 + 1} M_1 \otimes M_1
             = \sum_i \tfrac{\alpha_i}{\alpha_0 (\alpha_0 + 1)} \mu_i \otimes \mu_i \\
        M_3 &= E[x_1 \otimes x_2 \otimes x_3] - \dots
             = \sum_i \tfrac{2 \alpha_i}{\alpha_0 (\alpha_0 + 1)(\alpha_0 + 2)} \mu_i^{\otimes 3},

    show the topics without a start to guess: whitening by :math:`M_2` makes :math:`M_3` orthogonal, and decomposing it
    gives :math:`\mu_i` and :math:`\alpha_i`. A few passes that raise the likelihood follow, watched by documents that
    were kept aside.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number of topics; "auto" takes as many as complete unseen documents best.
    alpha0 : float, default=2.0
        Sum of alpha that the moments assume: 0 for documents of a single topic, larger for more mixed ones. Too small
        hurts much more than too large.
    polish : {"predict", "faithful"} or None, default="predict"
        What follows the moments: "predict" is best for unseen text, "faithful" is nearest the truth where documents
        really are drawn from the model, None takes the moments' own answer.
    damp : bool, default=None
        Whether a count c enters the moments as the square root of c, rounded up: better for real text, whose words come
        in bursts. None does so for counts, unless the polish is "faithful"; never for fractions.
    epochs : int, default=None
        Most passes of the polish over the documents; None takes its usual number.
    vocabulary : list of str, or dict, default=None
        Names of the columns of count tables and of the numbers in gensim's corpora; a dict may go either way round, so
        that ``CountVectorizer.vocabulary_`` and gensim's ``Dictionary`` serve. For text, the only words that count.
    language : str, list of str or None, default="auto"
        For raw text: languages whose usual stop words are dropped, by name or code. "auto" looks at the first
        documents, None drops none.
    stop_words : list of str, or str, default=None
        For raw text: further words to drop. A single str is a language, as in scikit-learn.
    stem : str, default=None
        For raw text: the language by whose Snowball stemmer words lose their endings.
    ngrams : int, default=1
        For raw text: the longest run of neighbouring words that counts as a word of its own, up to 3.
    min_df : int, default=None
        For raw text and lists of words: the fewest documents a word must stand in; None is 3 for text, 1 for lists.
    max_df : float, default=None
        For raw text and lists of words: the largest share of the documents a word may stand in; None is 0.5 for text,
        1.0 for lists.
    lowercase : bool, default=True
        For raw text: whether upper and lower case are the same.
    min_length : int, default=2
        For raw text: the fewest letters of a word.
    numbers : bool, default=False
        For raw text: whether numbers are words.
    memory_limit : int, default=2147483648
        Bytes for the counted documents; more go to a temporary file, for the same answer.
    device : {"cpu", "auto", "auto:N", "gpu", "gpu:N"}, default="cpu"
        Who makes the heavy sums. "gpu" insists on a graphics card and "gpu:N" on number N of ``tenfold devices``; "auto" uses
        a card if there is one. The package must be built with the feature ``gpu``.
    random_state : int, numpy generator or None, default=0
        The same seed gives the same answer on any number of threads. None is 0.
    n_jobs : int, default=None
        Threads. None is all cores (or ``OMP_NUM_THREADS``), -1 all cores. Results never depend on it.
    verbose : bool or callable, default=False
        True shows a progress bar; a function is called as ``verbose(stage, done, total)`` about ten times a second,
        and what it raises stops the fit.
    checkpoint : path, default=None
        A folder for what is finished of a long fit. After a crash, the same fit of the same data goes on from there, to the same bytes.
        When :meth:`fit` returns, the folder is removed; the fit of anything else is refused there.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words)
        The topics' distributions over words; rows sum to 1. Topics stand in the order of their shares.
    alpha_ : ndarray of shape (n_components,)
        Dirichlet parameters of the mixtures.
    shares_ : ndarray of shape (n_components,)
        Every topic's share of all tokens.
    coherence_ : ndarray of shape (n_components,)
        NPMI of every topic's ten most probable words over the documents of the fit.
    correlations_ : ndarray of shape (n_found, n_found)
        Correlations of the topics' shares over documents.
    unigram_ : ndarray of shape (n_words,)
        Every word's share of all tokens.
    words_ : ndarray of str of shape (n_words,)
        The words; ``w1``, ``w2``, … for columns without names.
    vocabulary_ : dict of str to int
        The column of every word, as in scikit-learn's ``CountVectorizer``.
    n_components_ : int
        Number of topics, and of columns of what ``transform`` gives.
    n_found_ : int
        Topics that the documents carry. Where that is less than was asked for, a warning says so, the other rows of
        ``components_`` hold ``unigram_``, and the other columns of mixtures are 0.
    n_iter_ : int
        Iterations of the tensor decomposition.
    n_features_in_ : int
        Number of columns; not set for text.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where they are strings.
    diagnostics_ : dict
        Figures of the fit: spectrum, stability, weights, held-out perplexity along the polish, seconds by stage.
    verdict_ : tenfold.Verdict
        What the figures mean: ``sound``, ``warnings`` and ``notes``.

    Notes
    -----
    **What X may be.** A scipy sparse matrix or array, a dense array, a pandas or polars frame or an AnnData of counts;
    or texts in a list, a generator, an array, a pandas or polars Series or an Arrow column; or lists of words; or a
    gensim corpus. A CSR matrix is read where it lies, without a copy.

    **Fractions.** A table with numbers that are not whole (tf-idf, normalised rows) is taken for frequencies: for the
    fit all of it is multiplied by one power of two, so that the largest number is about 65,536, and rounded; moments
    are then those of frequencies, and ``damp`` is off unless it was asked for. ``transform`` takes numbers as they are:
    the sum of a row says how much it weighs against the prior. Counts are better.

    **Short documents.** Documents of fewer than three tokens have no third moment, and the fit leaves them out of the
    moments. When all are so short, the moments of their frequencies are taken, with a warning.

    References
    ----------
    .. [1] A. Anandkumar, D. Foster, D. Hsu, S. Kakade and Y.-K. Liu, "A spectral algorithm for latent Dirichlet
       allocation", NIPS 2012.
    .. [2] A. Anandkumar, R. Ge, D. Hsu, S. Kakade and M. Telgarsky, "Tensor decompositions for learning latent variable
       models", JMLR 15, 2014.
    .. [3] D. Blei, A. Ng and M. Jordan, "Latent Dirichlet allocation", JMLR 3, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from tenfold import Topics
    >>> rng = np.random.default_rng(0)
    >>> truth = np.kron(np.eye(3), np.full(20, 1 / 20))
    >>> mixtures = rng.dirichlet([0.2, 0.2, 0.2], size=500)
    >>> X = np.array([rng.multinomial(50, p) for p in mixtures @ truth])
    >>> topics = Topics(3).fit(X)
    >>> overlap = np.minimum(topics.components_[:, None], truth).sum(axis=2)
    >>> bool(overlap.max(axis=1).min() > 0.9)
    True
    >>> topics.transform(X).shape
    (500, 3)

    Texts need no other step:

    >>> sea, bread = "ship harbour sail captain anchor".split(), "bread oven flour yeast dough".split()
    >>> texts = [" ".join(rng.choice(sea if i % 2 else bread, size=10)) for i in range(200)]
    >>> topics = Topics(2).fit(texts)
    >>> sorted(sorted(words) for words in topics.top_words(5)) == sorted([sorted(sea), sorted(bread)])
    True
    """

    _compiled = _core.TopicsModel

    def __init__(
        self,
        n_components: int | str = 10,
        *,
        alpha0: float = 2.0,
        polish: str | None = "predict",
        damp: bool | None = None,
        epochs: int | None = None,
        vocabulary: Any = None,
        language: Any = "auto",
        stop_words: Any = None,
        stem: str | None = None,
        ngrams: int = 1,
        min_df: int | None = None,
        max_df: float | None = None,
        lowercase: bool = True,
        min_length: int = 2,
        numbers: bool = False,
        memory_limit: int = 2 << 30,
        device: str = "cpu",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: Any = False,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.alpha0 = alpha0
        self.polish = polish
        self.damp = damp
        self.epochs = epochs
        self.vocabulary = vocabulary
        self.language = language
        self.stop_words = stop_words
        self.stem = stem
        self.ngrams = ngrams
        self.min_df = min_df
        self.max_df = max_df
        self.lowercase = lowercase
        self.min_length = min_length
        self.numbers = numbers
        self.memory_limit = memory_limit
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: object = None) -> Topics:
        """Learns topics.

        Parameters
        ----------
        X : counts of shape (n_documents, n_words), texts, lists of words, or a gensim corpus
            See the notes of the class.
        y : ignored

        Returns
        -------
        self
        """
        choices = self._checked()
        corpus, self._scale = self._read_to_fit(look(X))
        if choices["k"] is not None and choices["k"] > _most(0):
            most = _most(len(corpus.words()))
            if choices["k"] > most:
                raise ValueError(f"n_components = {choices['k']} is out of range: at most {most} is possible for these words")
        if self._scale != 1.0 and choices["damp"] is None:
            choices["damp"] = False
        with running(self.n_jobs, self.verbose, self.checkpoint) as how:
            model, short = _core.TopicsModel.fit(corpus, choices, how)
        self._take(model)
        doubts = self._doubts(short)
        self.verdict_ = Verdict(not doubts, doubts, self.verdict_.notes)
        self.verdict_.announce(settled=self.diagnostics_["converged"], stacklevel=3)
        return self

    def partial_fit(self, X: Any, y: object = None) -> Topics:
        """Adds documents to a model, without the old ones; the first call is a fit.

        The moments of the new documents join those that the model keeps, exactly as if they had been there from the
        start, as far as the kept subspace goes; the verdict tells how much lies outside, and when a new fit of all is
        due. Topics keep their numbers. New words of texts join ``words_``; the columns of tables are fixed.

        Parameters
        ----------
        X : counts of shape (n_documents, n_words), texts, lists of words, or a gensim corpus
            A few hundred documents or more at a time.
        y : ignored

        Returns
        -------
        self
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X)
        corpus = self._read(look(X), grow=True)
        before = self.verdict_
        with running(self.n_jobs, self.verbose) as how:
            model, _ = self._model.updated(corpus, how)
        self._take(model)
        fresh = [[m for m in now if m not in old] for now, old in zip(self.verdict_[1:], before[1:], strict=True)]
        Verdict(not fresh[0], *fresh).announce(stacklevel=3)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """The topics' shares of documents: theta proportional to n + alpha, by 50 steps from the even mixture.

        Parameters
        ----------
        X : counts of shape (n_documents, n_words), texts, lists of words, or a gensim corpus
            Texts are read as those of the fit were; words that the model does not know are left out. A document
            without words has the mixture of the prior.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows sum to 1. float32 for float32 counts, float64 otherwise.
        """
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)
        return self._bare_transform(X)

    def _bare_transform(self, X: Any) -> NDArray[Any]:
        """``transform`` as scikit-learn's ``set_output`` does not see it."""
        if (alone := self._few_texts(X)) is not None:
            return alone
        documents = look(X)
        dtype: Any = np.float64
        if isinstance(documents, Texts):
            found = self._model.infer(self._read(documents), self._how())
        else:
            table = self._table(documents)
            dtype = np.float32 if table.dtype in (np.float32, np.float16) else np.float64
            found = [self._model.infer_rows(rows, self._how()) for rows in rows_of(table)]
            found = found[0] if len(found) == 1 else np.concatenate(found)
        if self.n_found_ == self.n_components_ and dtype is np.float64:
            return found  # type: ignore[no-any-return]
        mixtures = np.zeros((len(found), self.n_components_), dtype=dtype)
        mixtures[:, : self.n_found_] = found
        return mixtures

    def fit_transform(self, X: Any, y: object = None) -> NDArray[Any]:
        """``fit(X).transform(X)``; what can be gone through once only is kept for the second time.

        Parameters
        ----------
        X : counts of shape (n_documents, n_words), texts, lists of words, or a gensim corpus
        y : ignored

        Returns
        -------
        ndarray of shape (n_documents, n_components)
        """
        if hasattr(X, "__next__"):
            X = list(X)
        return self.fit(X, y).transform(X)

    def perplexity(self, X: Any) -> float:
        """Perplexity by document completion; smaller is better.

        Every other token of a document gives its mixture, with 0.1 added for each topic, and the others are scored
        under topics that are smoothed by 1 % of ``unigram_``. A document of fractions is scored by itself, so that
        only perplexities of counts tell how well unseen text is predicted.

        Parameters
        ----------
        X : counts of shape (n_documents, n_words), texts, lists of words, or a gensim corpus
            Documents that the fit has not seen.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        value: float = self._model.perplexity(self._read(look(X)), self._how())
        return value

    def score(self, X: Any, y: object = None) -> float:
        """Mean log-likelihood of a token by document completion, the logarithm of 1 / ``perplexity``; larger is better.

        Parameters
        ----------
        X : counts of shape (n_documents, n_words), texts, lists of words, or a gensim corpus
        y : ignored

        Returns
        -------
        float
        """
        return -math.log(self.perplexity(X))

    def top_words(self, n: int = 10, *, relevance: float = 1.0) -> list[list[str]]:
        """The first words of every topic.

        Parameters
        ----------
        n : int, default=10
        relevance : float from 0 to 1, default=1.0
            1 ranks words by their probability in the topic; smaller values favour words that are special to it: the
            lambda of pyLDAvis.

        Returns
        -------
        list of list of str
            One list for every topic that was found.
        """
        check_is_fitted(self)
        count("n", n, most=ANY)
        amount("relevance", relevance, lambda x: 0 <= x <= 1, "a number from 0 to 1 is needed")
        lists = [self._model.top_words(topic, n, float(relevance)) for topic in range(self.n_found_)]
        return [[word for word, *_ in words] for words in lists]

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Names of the columns that ``transform`` gives.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
            ``topic0``, ``topic1``, …
        """
        check_is_fitted(self)
        return np.array([f"topic{topic}" for topic in range(self.n_components_)], dtype=object)

    @property
    def components_(self) -> NDArray[np.float64]:
        """The topics' distributions over words. Rows of topics that were not found are made when they are asked for."""
        check_is_fitted(self)
        missing = self.n_components_ - self.n_found_
        topics: NDArray[np.float64] = self._topics
        return np.vstack([topics, np.tile(self.unigram_, (missing, 1))]) if missing else topics

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of every word."""
        return {word: column for column, word in enumerate(self.words_)}

    def _checked(self) -> _core.TopicsChoices:
        """The arguments for Rust, each checked under the name that it has here."""
        k: int | None = None
        if isinstance(self.n_components, str):
            choice("n_components", self.n_components, ("auto",))
        else:
            k = count("n_components", self.n_components)
        polish = choice("polish", self.polish, ("predict", "faithful", None))
        if polish is None:
            refuse({"epochs": self.epochs}, "polish=None")
        return {
            "k": k,
            "alpha0": amount("alpha0", self.alpha0, lambda x: math.isfinite(x) and x >= 0, "0 or more is needed"),
            "polish": polish,
            "damp": None if self.damp is None else bool(self.damp),
            "epochs": None if self.epochs is None else count("epochs", self.epochs),
            "device": device("device", self.device),
            "seed": seed_of(self.random_state),
        }

    def _doubts(self, short: bool) -> list[str]:
        """The warnings of the verdict, and what the estimator did that the model does not tell."""
        doubts = list(self.verdict_.warnings)
        if short:
            doubts.append(
                "no document has the three tokens that a third moment takes: the moments of frequencies were taken "
                "instead, which know nothing of chance; give longer documents"
            )
        if self.n_found_ < self.n_components_:
            doubts = [doubt for doubt in doubts if "topics were asked for" not in doubt]
            doubts.append(
                f"n_components = {self.n_components_} topics were asked for, but the moments of these documents carry "
                f"only {self.n_found_}: further rows of components_ hold unigram_, further columns of mixtures are 0"
            )
        return doubts

    def _adopt(self, model: _core.TopicsModel, facts: dict[str, Any]) -> None:
        topics, self.unigram_ = model.topics(), model.unigram()
        self.words_ = np.array(model.words(), dtype=object)
        self.n_found_ = len(topics)
        asked = 0 if isinstance(self.n_components, str) else count("k", self.n_components, most=None)
        # More than that only a file can tell of, whose model never had columns for them.
        self.n_components_ = max(asked if asked <= _most(len(self.words_)) else 0, self.n_found_)
        missing = self.n_components_ - self.n_found_

        def filled(values: NDArray[np.float64], filler: float) -> NDArray[np.float64]:
            return np.concatenate([values, np.full(missing, filler)]) if missing else values

        counted = not (facts["recipe"] or {}).get("text", False)
        if counted:
            # Set by validation already, but for models from files and for words that joined.
            self.n_features_in_ = len(self.words_)
        self._topics = topics
        self.alpha_ = filled(model.alpha(), 0.0)
        self.shares_ = filled(model.shares(), 0.0)
        self.coherence_ = filled(model.coherence(), math.nan)
        self.correlations_ = model.correlations()
        figures = self.diagnostics_
        figures["spectrum"] = np.array(figures["spectrum"])
        if figures["eigengap"] is None:
            figures["eigengap"] = math.inf
        self.n_iter_ = max(1, figures["iterations"])

    @classmethod
    def _choices(cls, facts: dict[str, Any]) -> dict[str, Any]:
        told = facts["parameters"]
        return {
            "n_components": told["k"],
            "alpha0": told["alpha0"],
            "polish": None if told["polish"] == "none" else told["polish"],
            "damp": told["damp"],
            "epochs": told["epochs"],
            "random_state": told["seed"],
        } | arguments_of(facts["recipe"])

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
