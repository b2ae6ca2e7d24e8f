"""Topics of documents in a Spark DataFrame."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

import numpy as np
import pandas as pd
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.linalg import DenseMatrix, VectorUDT
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCol, HasOutputCol, HasSeed
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType

from tenfold import _core
from tenfold.spark._documents import Reader
from tenfold.spark._params import ModelIO, Shipped, quoted, setting
from tenfold.spark._passes import BLOCKS_TOGETHER, Arranged, arrange, scan, vocabulary_of

logger = logging.getLogger("tenfold")

# Documents by whose first words the language is told, as in plain Python, and how many letters of each.
LOOKED_AT, LETTERS = 4096, 20_000


def _converter(check: Any, expected: str) -> Any:
    def convert(value: Any) -> Any:
        if value is None or check(value):
            return value
        raise TypeError(f"{value!r} will not do: {expected}")

    return convert


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


class _TopicsParams(HasInputCol, HasOutputCol, HasSeed):  # type: ignore[misc]
    """The parameters of :class:`Topics`, which its model keeps."""

    k: Param[Any] = Param(
        Params._dummy(),
        "k",
        "number of topics, or 'auto' for as many as the documents support",
        typeConverter=_converter(lambda v: _is_count(v) or v == "auto", "a whole number from 1 on, or 'auto'"),
    )
    alpha0: Param[float] = Param(
        Params._dummy(),
        "alpha0",
        "sum of the Dirichlet parameters that the moments assume; too small hurts more than too large",
        typeConverter=TypeConverters.toFloat,
    )
    polish: Param[str] = Param(
        Params._dummy(),
        "polish",
        "what follows the moments: 'predict' raises the likelihood of the documents, 'none' leaves the moments' answer",
        typeConverter=_converter(lambda v: v in ("predict", "none"), "'predict' or 'none'"),
    )
    damp: Param[Any] = Param(
        Params._dummy(),
        "damp",
        "whether a count c enters the moments as the root of c, rounded up: better on real text, biased on drawn documents",
        typeConverter=_converter(lambda v: isinstance(v, bool), "True or False"),
    )
    epochs: Param[Any] = Param(
        Params._dummy(),
        "epochs",
        "most passes of the polish over the documents",
        typeConverter=_converter(_is_count, "a whole number from 1 on"),
    )
    vocabulary: Param[Any] = Param(
        Params._dummy(),
        "vocabulary",
        "the names of the words, for a column of vectors; that of a CountVectorizerModel, for example",
        typeConverter=_converter(lambda v: isinstance(v, list), "a list of words"),
    )
    minDF: Param[Any] = Param(
        Params._dummy(),
        "minDF",
        "fewest documents that a word of the vocabulary stands in (text: 3, words: 1)",
        typeConverter=_converter(_is_count, "a whole number from 1 on"),
    )
    maxDF: Param[Any] = Param(
        Params._dummy(),
        "maxDF",
        "largest share of the documents that a word of the vocabulary stands in (text: 0.5, words: 1)",
        typeConverter=_converter(lambda v: isinstance(v, float) and 0 < v <= 1, "a share above 0, at most 1.0"),
    )
    stopWords: Param[list[str]] = Param(
        Params._dummy(),
        "stopWords",
        "languages whose stop words are dropped from text, such as ['en']; ['auto'] tells the language by itself",
        typeConverter=TypeConverters.toListString,
    )
    extraStopWords: Param[list[str]] = Param(
        Params._dummy(),
        "extraStopWords",
        "further words to drop from text",
        typeConverter=TypeConverters.toListString,
    )
    stemmer: Param[Any] = Param(
        Params._dummy(),
        "stemmer",
        "language by whose rules words of text are cut to their stems",
        typeConverter=_converter(lambda v: isinstance(v, str), "the name of a language"),
    )
    nGrams: Param[int] = Param(
        Params._dummy(), "nGrams", "longest run of words of text that counts as one, up to 3", typeConverter=TypeConverters.toInt
    )
    lowercase: Param[bool] = Param(
        Params._dummy(), "lowercase", "whether text is turned to small letters", typeConverter=TypeConverters.toBoolean
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(
            k=10,
            alpha0=2.0,
            polish="predict",
            damp=None,
            epochs=None,
            vocabulary=None,
            minDF=None,
            maxDF=None,
            stopWords=["auto"],
            extraStopWords=[],
            stemmer=None,
            nGrams=1,
            lowercase=True,
            inputCol="text",
            outputCol="topicDistribution",
            seed=0,
        )

    def getK(self) -> Any:
        """The number of topics asked for."""
        return self.getOrDefault(self.k)

    def getAlpha0(self) -> float:
        """What the moments assume for the sum of the Dirichlet parameters."""
        return float(self.getOrDefault(self.alpha0))

    def getPolish(self) -> str:
        """What follows the moments."""
        return str(self.getOrDefault(self.polish))


class Topics(Estimator, _TopicsParams, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """Finds topics in documents, by the moments of latent Dirichlet allocation.

    The same model as :class:`tenfold.Topics`, to the last bit where all processors are of one kind: the documents of a
    DataFrame, in its order, give the topics that a single machine finds in them, whatever the number of partitions. (Not to
    the last bit where 512 documents hold more than 65,535 distinct words together: a single machine cuts them smaller before
    rare words are dropped, Spark afterwards.)

    The DataFrame must give the same rows in the same order when it is read again; one that does not is refused.

    The documents are read twice (once for their words, once for their counts) and then lie as counts on the executors,
    in memory or on their disks, until the fit ends. Every pass after that moves a few matrices of words x k, however many
    documents there are.

    Parameters
    ----------
    k : int or "auto"
    inputCol : str
        A column of text, of arrays of words, or of vectors of counts.
    outputCol : str
        Where ``transform`` writes the mixtures.
    alpha0, polish, damp, epochs, seed, vocabulary, minDF, maxDF, stopWords, extraStopWords, stemmer, nGrams, lowercase
        See ``explainParams()``.

    Examples
    --------
    >>> from tenfold.spark import Topics
    >>> estimator = Topics(k=2, inputCol="text", minDF=1, maxDF=1.0)
    >>> estimator.getK()
    2
    """

    @keyword_only
    def __init__(
        self,
        *,
        k: Any = 10,
        inputCol: str = "text",
        outputCol: str = "topicDistribution",
        alpha0: float = 2.0,
        polish: str = "predict",
        damp: Any = None,
        epochs: Any = None,
        seed: int = 0,
        vocabulary: Any = None,
        minDF: Any = None,
        maxDF: Any = None,
        stopWords: Any = None,
        extraStopWords: Any = None,
        stemmer: Any = None,
        nGrams: int = 1,
        lowercase: bool = True,
    ) -> None:
        super().__init__()
        self.setParams(**self._input_kwargs)

    @keyword_only
    def setParams(self, **kwargs: Any) -> Topics:
        """Sets parameters; what is None keeps its default."""
        return self._set(**{name: value for name, value in kwargs.items() if value is not None})

    def setK(self, value: Any) -> Topics:
        """Sets the number of topics."""
        return self._set(k=value)

    def setInputCol(self, value: str) -> Topics:
        """Sets the column of the documents."""
        return self._set(inputCol=value)

    def setOutputCol(self, value: str) -> Topics:
        """Sets the column of the mixtures."""
        return self._set(outputCol=value)

    def setSeed(self, value: int) -> Topics:
        """Sets the seed."""
        return self._set(seed=value)

    def _fit(self, dataset: DataFrame) -> TopicsModel:
        column, kind = _column(dataset, self.getInputCol())
        _refuse_unused(self, kind)
        # Partitions are the documents' places, so they must be the same at both readings; Spark joins them as it likes otherwise.
        with setting(dataset.sparkSession, "spark.sql.adaptive.enabled", "false"):
            arranged = _arranged(column, kind, self)
        try:
            # Blocks are large: a batch of the usual ten thousand would not fit an executor's memory.
            batch = "spark.sql.execution.arrow.maxRecordsPerBatch"
            with setting(dataset.sparkSession, batch, str(BLOCKS_TOGETHER)):
                data = _lead(arranged, self)
        finally:
            arranged.forget()
        model = TopicsModel(data, arranged.passes)
        model._resetUid(self.uid)
        local = model.toLocal()
        local.verdict_.announce(settled=local.diagnostics_["converged"], stacklevel=5)
        return self._copyValues(model)


def _refuse_unused(params: _TopicsParams, kind: str) -> None:
    """Refuses what would be passed over, and what a fit would refuse after the documents were read."""
    of_text = ["stopWords", "extraStopWords", "stemmer", "nGrams", "lowercase"]
    unused = {"text": ["vocabulary"], "tokens": [*of_text, "vocabulary"], "counts": [*of_text, "minDF", "maxDF"]}[kind]
    for name in unused:
        param = params.getParam(name)
        if params.isSet(param) and params.getOrDefault(param) != params._defaultParamMap.get(param):
            raise ValueError(f"{name} means nothing for a column of {kind}; leave it out")
    alpha0 = params.getAlpha0()
    if not 0 <= alpha0 < float("inf"):
        raise ValueError(f"alpha0 = {alpha0} is out of range: a number from 0 on")


def _lead(arranged: Arranged, params: _TopicsParams) -> bytes:
    """The driver's part: answers what the fit asks, until it is done."""
    value = params.getOrDefault
    k = value(params.k)
    choices: _core.ClusterChoices = {
        "k": None if k == "auto" else k,
        "alpha0": value(params.alpha0),
        "damp": value(params.damp),
        "polish": None if value(params.polish) == "none" else value(params.polish),
        "epochs": value(params.epochs),
        "keep_moments": True,
        # Spark's seeds may be negative.
        "seed": value(params.seed) % 2**64,
    }
    fit = _core.ClusterFit(arranged.layout, arranged.vocabulary, (arranged.recipe, arranged.notes), choices)
    stage, began = "weighing documents", time.perf_counter()
    try:
        while True:
            asked = fit.next()
            if asked[0] == "sum":
                fit.answer(arranged.sum(asked[1], asked[2], stage))
            elif asked[0] == "collect":
                fit.collected(arranged.collect(asked[1], asked[2], stage))
            elif asked[0] == "stage":
                logger.info("%s took %.1f s", stage, time.perf_counter() - began)
                stage, began = asked[1], time.perf_counter()
            else:
                data: bytes = asked[1]
                return data
    except BaseException as error:
        fit.fail(str(error))
        raise


def _column(dataset: DataFrame, name: str) -> tuple[DataFrame, str]:
    """The column alone, and what it holds."""
    if name not in dataset.columns:
        raise ValueError(f"inputCol = {name!r} is no column: the DataFrame has {', '.join(dataset.columns)}")
    kind = dataset.schema[name].dataType
    column = F.col(quoted(name))
    if isinstance(kind, StringType):
        return dataset.select(column), "text"
    if isinstance(kind, ArrayType) and isinstance(kind.elementType, StringType):
        return dataset.select(column), "tokens"
    if isinstance(kind, VectorUDT):
        return dataset.select(F.unwrap_udt(column).alias(name)), "counts"
    raise ValueError(
        f"inputCol = {name!r} is of type {kind.simpleString()}: a column of strings (text), arrays of strings (words) or "
        "vectors (counts) is needed"
    )


def _recipe(params: _TopicsParams, kind: str) -> dict[str, Any]:
    value = params.getOrDefault
    text = kind == "text"
    return {
        "text": text,
        "lowercase": value(params.lowercase),
        "stop_words": value(params.stopWords) if text else [],
        "extra_stop_words": value(params.extraStopWords) if text else [],
        "stemmer": value(params.stemmer) if text else None,
        "ngrams": value(params.nGrams) if text else 1,
        "min_length": 2 if text else 1,
        "numbers": not text,
        "min_df": value(params.minDF),
        "max_df": value(params.maxDF),
    }


def _arranged(column: DataFrame, kind: str, params: _TopicsParams) -> Arranged:
    """The documents as blocks on the executors."""
    name = params.getInputCol()
    notes = [f"read from the Spark column {name!r}, as {kind}"]
    sample = []
    if kind == "text":
        beginnings = column.limit(LOOKED_AT).select(F.substring(F.col(quoted(name)), 1, LETTERS))
        sample = [row[0] for row in beginnings.collect() if row[0] is not None]
    cutter = _core.TextCutter(json.dumps(_recipe(params, kind)), sample)
    notes.extend(note for note in [cutter.note()] if note)
    reader = Reader(kind, name, cutter.recipe())
    vocabulary = params.getOrDefault(params.vocabulary)
    if kind == "counts":
        reader.words, vocabulary = _named(column, vocabulary)
    seen, found = scan(column, reader)
    try:
        documents = sum(len(own.entries) for own in seen.values())
        if documents == 0:
            raise ValueError("the DataFrame holds no documents: give at least one row")
        limits = cutter.limits()
        if vocabulary is None:
            vocabulary = vocabulary_of(found, documents, limits)
        if not vocabulary:
            raise ValueError(
                f"no words are left of {documents} documents: none stands in at least {limits[0]} of them and at most "
                f"{100 * limits[1]:g} %; lower minDF, raise maxDF or check stopWords"
            )
    finally:
        found.unpersist()
    settled = {**json.loads(reader.recipe), "min_df": limits[0], "max_df": limits[1]}
    reader.recipe = json.dumps(settled)
    asked = str(column.sparkSession.conf.get("spark.sql.shuffle.partitions", "200"))
    arranged = arrange(column, reader, vocabulary, seen, int(asked) if asked.isdecimal() else 200)
    arranged.notes.extend(notes)
    return arranged


def _named(column: DataFrame, vocabulary: list[str] | None) -> tuple[int, list[str]]:
    """The size of the vectors and the names of their places."""
    first = column.where(F.col(quoted(column.columns[0])).isNotNull()).head()
    if first is None:
        raise ValueError("the DataFrame holds no documents: give at least one row")
    row = first[0]
    size = len(row["values"]) if row["type"] == 1 else row["size"]
    if vocabulary is None:
        return size, [f"w{i + 1}" for i in range(size)]
    if len(vocabulary) != size:
        raise ValueError(f"vocabulary names {len(vocabulary)} words, and the vectors have {size} places")
    return size, list(vocabulary)


class TopicsModel(Model, _TopicsParams, ModelIO):  # type: ignore[misc]
    """Topics that :class:`Topics` found.

    Attributes
    ----------
    passes : list
        What every pass of the fit over the documents took: its name, seconds, blocks, bytes sent to each executor and
        bytes that came back. Empty for a model that was loaded.
    """

    def __init__(self, data: bytes, passes: Any = None) -> None:
        super().__init__()
        self._data = data
        self.passes = list(passes or [])
        self._opened: Any = None

    def modelBytes(self) -> bytes:
        return self._data

    @classmethod
    def fromFile(cls, path: str) -> TopicsModel:
        """Reads a model file of this machine, whoever wrote it: plain Python, the command ``tenfold`` or Rust."""
        from tenfold import Topics as Local

        return cls(Local.load(path).to_bytes())

    def toLocal(self) -> Any:
        """The fitted :class:`tenfold.Topics`."""
        if self._opened is None:
            self._opened = _local(self._data)
        return self._opened

    def _transform(self, dataset: DataFrame) -> DataFrame:
        from pyspark.ml.functions import array_to_vector

        name = self.getInputCol()
        _, kind = _column(dataset, name)
        column = F.col(quoted(name))
        column = F.unwrap_udt(column) if kind == "counts" else column
        mixtures = _mixtures(Shipped(_local, self._data), kind, name)
        return dataset.withColumn(self.getOutputCol(), array_to_vector(mixtures(column)))

    def describeTopics(self, maxTermsPerTopic: int = 10) -> DataFrame:
        """The leading words of every topic: ``topic``, ``terms``, ``termIndices``, ``termWeights``."""
        from pyspark.sql import SparkSession

        topics, words = self.toLocal().components_, self.vocabulary_()
        rows = []
        for t, topic in enumerate(topics):
            order = np.argsort(-topic, kind="stable")[:maxTermsPerTopic]
            rows.append((t, [words[i] for i in order], order.tolist(), topic[order].tolist()))
        schema = "topic int, terms array<string>, termIndices array<int>, termWeights array<double>"
        return SparkSession.active().createDataFrame(rows, schema)

    def topicsMatrix(self) -> DenseMatrix:
        """The topics, words x k; columns sum to 1."""
        topics = self.toLocal().components_
        return DenseMatrix(topics.shape[1], topics.shape[0], topics.ravel().tolist())

    def estimatedDocConcentration(self) -> np.ndarray[Any, Any]:
        """The Dirichlet parameters."""
        alpha: np.ndarray[Any, Any] = self.toLocal().alpha_
        return alpha

    def vocabSize(self) -> int:
        """Words of the vocabulary."""
        return int(self.toLocal().components_.shape[1])

    def vocabulary_(self) -> list[str]:
        """The words."""
        return [str(word) for word in self.toLocal().words_]

    def report(self, path: str) -> None:
        """Writes a page about the model on this machine: one HTML file that works offline."""
        self.toLocal().report(path)


def _local(data: bytes) -> Any:
    from tenfold import Topics as Local

    return Local.from_bytes(data)


def _counted(reader: Reader, row: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Words and counts of a vector; one that is null holds no words, like a null text."""
    if row["values"] is None:
        return np.zeros(0, "<u4"), np.zeros(0, "<u4")
    return reader._pairs(row, "a row")


def _mixtures(shipped: Shipped, kind: str, name: str) -> Any:
    """A function of columns that gives mixtures."""
    from pyspark.sql.functions import pandas_udf

    if kind == "counts":

        @pandas_udf("array<double>")
        def of_counts(rows: pd.DataFrame) -> pd.Series:
            from scipy.sparse import csr_matrix

            model = shipped.get()
            words = model.components_.shape[1]
            reader = Reader("counts", name, "", words)
            pairs = [_counted(reader, row) for row in rows.to_dict("records")]
            starts = np.concatenate([[0], np.cumsum([len(w) for w, _ in pairs])])
            matrix = csr_matrix(
                (np.concatenate([c for _, c in pairs]), np.concatenate([w for w, _ in pairs]), starts),
                shape=(len(pairs), words),
                dtype=np.float64,
            )
            return pd.Series(list(model.transform(matrix)))

        return of_counts

    @pandas_udf("array<double>")
    def of_words(rows: pd.Series) -> pd.Series:
        model = shipped.get()
        empty: Any = "" if kind == "text" else []
        documents = [empty if row is None else row if kind == "text" else list(row) for row in rows]
        return pd.Series(list(model.transform(documents)))

    return of_words
