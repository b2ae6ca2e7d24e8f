"""Sessions and documents for the tests of Spark."""

from __future__ import annotations

import os
import sys

import numpy as np


def session(master: str, **settings: str):
    """A session whose executors run this Python."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(master).appName("tenfold tests")
    usual = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.default.parallelism": "4",
        "spark.executor.memory": "1g",
        "spark.log.level": "ERROR",
    }
    for key, value in {**usual, **settings}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


WORDS = 150


def drawn(documents: int, seed: int = 0, length: int = 10, k: int = 4) -> list[list[str]]:
    """Documents of words drawn from k topics that share few words."""
    generator = np.random.default_rng(seed)
    topics = generator.dirichlet(np.full(WORDS, 0.05), size=k)
    mixtures = generator.dirichlet(np.full(k, 0.2), size=documents)
    chosen = (mixtures.cumsum(axis=1)[:, None, :] < generator.random((documents, length, 1))).sum(axis=2)
    edges = topics.cumsum(axis=1)
    where = generator.random((documents, length))
    words = np.empty((documents, length), dtype=int)
    for t in range(k):
        own = chosen == t
        words[own] = np.searchsorted(edges[t], where[own]).clip(max=WORDS - 1)
    names = np.array([f"w{i:03d}" for i in range(WORDS)])
    return names[words].tolist()
