"""Topics on a real cluster of processes, against the same documents on one machine."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import tenfold


def frame(spark, documents, partitions):
    """Arrays of words, in order, in so many partitions."""
    rows = spark.sparkContext.parallelize([(document,) for document in documents], partitions)
    return spark.createDataFrame(rows, "words array<string>")


def told(model):
    """What of a model does not depend on the clock."""
    local = model.toLocal() if hasattr(model, "toLocal") else model
    return local.components_, local.alpha_, local.shares_


@pytest.fixture(scope="module")
def alone(documents):
    return tenfold.Topics(4, epochs=1).fit(documents)


def test_the_model_is_that_of_one_machine_whatever_the_partitions(spark, documents, alone, monkeypatch):
    from tenfold.spark import Topics, _passes

    model = Topics(k=4, inputCol="words", epochs=1).fit(frame(spark, documents, 5))
    for mine, theirs in zip(told(model), told(alone)):
        np.testing.assert_array_equal(mine, theirs)
    assert model.vocabulary_() == list(alone.words_)
    # Moments alone, from one partition, added up in a tree.
    monkeypatch.setattr(_passes, "DRIVER_ADDS", 1)
    bare = Topics(k=4, inputCol="words", polish="none").fit(frame(spark, documents, 1))
    for mine, theirs in zip(told(bare), told(tenfold.Topics(4, polish=None).fit(documents))):
        np.testing.assert_array_equal(mine, theirs)
    names = {one.name for one in model.passes}
    assert {"finding directions", "gathering moments", "polishing"} <= names
    # What travels in a pass are matrices of words x topics, not documents.
    assert max(one.sent for one in model.passes) < 64 * 150 * 8 * 4


def test_text_is_cut_as_on_one_machine(spark):
    from tenfold.spark import Topics

    texts = [
        "The ship leaves the harbour and the captain sails the sea" if i % 2 else "Butter, flour and sugar: the recipe of a cake"
        for i in range(400)
    ]
    data = spark.createDataFrame([(i, text) for i, text in enumerate(texts)], "id int, text string").repartition(3).sort("id")
    model = Topics(k=2, polish="none", maxDF=0.9).fit(data)
    local = tenfold.Topics(2, polish=None, max_df=0.9).fit(texts)
    assert model.vocabulary_() == list(local.words_)
    np.testing.assert_array_equal(model.toLocal().components_, local.components_)
    terms = [row.terms for row in model.describeTopics(3).orderBy("topic").collect()]
    assert {len(words) for words in terms} == {3}
    sea, kitchen = {"ship", "leaves", "harbour", "captain", "sails", "sea"}, {"butter", "flour", "sugar", "recipe", "cake"}
    assert all(set(words) <= sea or set(words) <= kitchen for words in terms)
    mixtures = model.transform(data).orderBy("id").select("topicDistribution").limit(4).collect()
    expected = local.transform(texts[:4])
    np.testing.assert_allclose([row[0].toArray() for row in mixtures], expected, atol=1e-12)


def test_vectors_of_counts(spark):
    from pyspark.ml.linalg import Vectors

    from tenfold.spark import Topics

    generator = np.random.default_rng(3)
    topics = generator.dirichlet(np.full(30, 0.1), size=3)
    counts = np.array([generator.multinomial(40, topics[i % 3]) for i in range(600)])
    rows = [(i, Vectors.sparse(30, np.flatnonzero(c).tolist(), c[c > 0].astype(float).tolist())) for i, c in enumerate(counts)]
    data = spark.createDataFrame(rows, ["id", "counts"])
    names = [f"n{i}" for i in range(30)]
    model = Topics(k=3, inputCol="counts", vocabulary=names).fit(data)
    local = tenfold.Topics(3).fit(counts)
    np.testing.assert_array_equal(model.toLocal().components_, local.components_)
    assert model.vocabulary_() == names
    assert model.topicsMatrix().numRows == 30
    mixtures = np.array([row[0].toArray() for row in model.transform(data).orderBy("id").select("topicDistribution").collect()])
    np.testing.assert_allclose(mixtures, local.transform(counts), atol=1e-12)


def test_a_bad_row_is_named(spark):
    from pyspark.errors import PythonException
    from pyspark.ml.linalg import Vectors

    from tenfold.spark import Topics

    texts = [("some words here",)] * 7 + [(None,)]
    with pytest.raises(PythonException, match=r"partition 0, row 8: column 'text' is null; drop such rows"):
        Topics(k=2).fit(spark.createDataFrame(texts, "text string").coalesce(1))
    rows = [(Vectors.dense([1.0, 2.0]),), (Vectors.dense([1.0, 0.5]),)]
    with pytest.raises(PythonException, match=r"row 2: column 'counts' holds .*0.5.* at index 1; counts of words are whole"):
        Topics(k=2, inputCol="counts").fit(spark.createDataFrame(rows, ["counts"]).coalesce(1))
    with pytest.raises(ValueError, match="no column: the DataFrame has text"):
        Topics(inputCol="body").fit(spark.createDataFrame(texts, "text string"))
    with pytest.raises(ValueError, match="of type int"):
        Topics(inputCol="n").fit(spark.createDataFrame([(1,)], "n int"))


def test_models_are_written_and_read(spark, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import CountVectorizer, Tokenizer

    from tenfold.spark import Topics, TopicsModel

    texts = [(i, "red green blue red" if i % 2 else "one two three two") for i in range(300)]
    data = spark.createDataFrame(texts, "id int, text string")
    stages = [
        Tokenizer(inputCol="text", outputCol="words"),
        CountVectorizer(inputCol="words", outputCol="counts"),
        Topics(k=2, inputCol="counts", outputCol="mixture", polish="none"),
    ]
    fitted = Pipeline(stages=stages).fit(data)
    fitted.write().overwrite().save(str(tmp_path / "pipeline"))
    again = PipelineModel.load(str(tmp_path / "pipeline"))
    rows = [fitted.transform(data).orderBy("id").select("mixture").head(), again.transform(data).orderBy("id").select("mixture").head()]
    assert rows[0] == rows[1]
    model = fitted.stages[-1]
    assert again.stages[-1].uid == model.uid and again.stages[-1].getOutputCol() == "mixture"
    # Plain Python and the command line read the model file, and Spark reads theirs.
    model.saveFile(str(tmp_path / "model.tenfold"))
    local = tenfold.load(tmp_path / "model.tenfold")
    np.testing.assert_array_equal(local.components_, model.toLocal().components_)
    command = str(pathlib.Path(sys.executable).with_name("tenfold"))
    shown = subprocess.run([command, "topics", "show", str(tmp_path / "model.tenfold")], capture_output=True, text=True)
    assert shown.returncode == 0 and "topic" in shown.stdout
    back = TopicsModel.fromFile(str(tmp_path / "model.tenfold"))
    assert back.modelBytes() == model.modelBytes()
    estimator = Topics(k="auto", inputCol="words", seed=3)
    estimator.save(str(tmp_path / "estimator"))
    copied = Topics.load(str(tmp_path / "estimator"))
    assert (copied.getK(), copied.getInputCol(), copied.getSeed()) == ("auto", "words", 3)
    assert estimator.copy({estimator.k: 5}).getK() == 5


def test_rows_that_change_between_reads_are_told(spark):
    from pyspark.errors import PythonException
    from pyspark.sql import functions as F

    from tenfold.spark import Topics

    data = spark.createDataFrame([(i,) for i in range(300)], "id int").withColumn("text", F.lit("one two three four"))
    # Other rows pass at every reading.
    shaky = data.where(F.udf(lambda _: __import__("random").random() < 0.5, "boolean").asNondeterministic()("id"))
    with pytest.raises((ValueError, PythonException), match="persist it, or write it down, before the fit"):
        Topics(k=2, maxDF=1.0, polish="none").fit(shaky.select("text"))


def test_what_would_be_passed_over_is_refused(spark):
    from tenfold.spark import Topics

    words = spark.createDataFrame([(["a", "b"],)], "words array<string>")
    with pytest.raises(ValueError, match="nGrams means nothing for a column of tokens"):
        Topics(inputCol="words", nGrams=2).fit(words)
    with pytest.raises(ValueError, match="alpha0 = -1.0 is out of range"):
        Topics(inputCol="words", alpha0=-1.0).fit(words)


def executors(spark) -> list[int]:
    """The processes of the executors of this session."""
    pattern = f"CoarseGrainedExecutorBackend.*{spark.sparkContext.applicationId}"
    found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


def test_a_killed_executor_changes_nothing(spark, documents, alone, monkeypatch):
    from tenfold.spark import Topics
    from tenfold.spark._passes import Arranged

    before = set(executors(spark))
    assert len(before) == 2, "two executors"
    calls = []
    plain = Arranged.sum

    def killing(self, task, keys, name):
        calls.append(name)
        if len(calls) == 4:
            # It dies while the job that begins now is at work.
            threading.Timer(0.2, os.kill, [min(before), signal.SIGKILL]).start()
        return plain(self, task, keys, name)

    monkeypatch.setattr(Arranged, "sum", killing)
    model = Topics(k=4, inputCol="words", epochs=1).fit(frame(spark, documents, 4))
    assert len(calls) > 10, "the fit went on"
    assert min(before) not in executors(spark)
    for mine, theirs in zip(told(model), told(alone)):
        np.testing.assert_array_equal(mine, theirs)
