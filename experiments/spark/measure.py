"""Topics on Spark: passes, bytes that travel, and time with one and two executors.

    python experiments/spark/measure.py

draws documents, fits them on a `local-cluster` with one and with two executors (each a process of its own with one core) and
on one machine, and writes experiments/results/spark.md. It needs the installed package with its extra, `pip install '.[spark]'`,
and Java 17 or newer.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np


def drawn(documents: int, words: int, k: int, length: int, seed: int = 0) -> list[np.ndarray]:
    """Documents as arrays of numbers of words, from topics over a long-tailed vocabulary."""
    generator = np.random.default_rng(seed)
    tail = 1.0 / np.arange(1, words + 1)
    topics = generator.gamma(0.05, size=(k, words)) * tail
    edges = (topics / topics.sum(axis=1, keepdims=True)).cumsum(axis=1)
    found = []
    for begin in range(0, documents, 10_000):
        n = min(10_000, documents - begin)
        mixtures = generator.dirichlet(np.full(k, 0.1), size=n).cumsum(axis=1)
        chosen = (mixtures[:, None, :] < generator.random((n, length, 1))).sum(axis=2).clip(max=k - 1)
        where = generator.random((n, length))
        out = np.empty((n, length), dtype=np.int64)
        for t in range(k):
            own = chosen == t
            out[own] = np.searchsorted(edges[t], where[own]).clip(max=words - 1)
        found.extend(out)
    return found


def session(executors: int):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(f"local-cluster[{executors},1,2048]").appName("tenfold")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.executor.memory": "2g",
        "spark.sql.shuffle.partitions": "8",
        "spark.log.level": "ERROR",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def on_spark(path: str, k: int, executors: int):
    from tenfold.spark import Topics

    spark = session(executors)
    try:
        data = spark.read.parquet(path)
        data.limit(1).collect()
        begin = time.perf_counter()
        model = Topics(k=k, inputCol="text", maxDF=1.0).fit(data)
        seconds = time.perf_counter() - begin
        # The texts in the order in which Spark reads them, which is not that of the files' names.
        return model, seconds, data.toArrow()["text"].to_pylist()
    finally:
        spark.stop()


def written(folder: Path, documents: int, words: int, k: int, length: int) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = np.array([f"word{i}" for i in range(words)])
    texts = [" ".join(names[document]) for document in drawn(documents, words, k, length)]
    place = folder / f"documents-{documents}"
    place.mkdir(parents=True, exist_ok=True)
    parts = 8
    for part in range(parts):
        some = texts[part * len(texts) // parts : (part + 1) * len(texts) // parts]
        pq.write_table(pa.table({"text": some}), place / f"part-{part:03d}.parquet")
    return str(place)


def megabytes(n: float) -> str:
    return f"{n / 1e6:.2f}"


def by_name(passes) -> list[tuple[str, int, float, float, float]]:
    """Name, passes, seconds, and bytes to every executor and back from all of them in one pass at most."""
    rows: dict[str, list] = {}
    for one in passes:
        rows.setdefault(one.name, []).append(one)
    return [
        (name, len(own), sum(p.seconds for p in own), max(p.sent for p in own), max(p.received for p in own))
        for name, own in rows.items()
    ]


def table(rows) -> str:
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def paper(seconds_an_entry: float, bytes_a_word: float) -> str:
    """What large collections would cost, from seconds for an entry (document and word in it) of all passes on one core."""
    lines = []
    collections = [
        ("PubMed: 8.2 million documents, 141,043 words, 483 million entries", 483e6, 141_043),
        ("a billion documents of 60 distinct words, 500,000 words", 6e10, 500_000),
    ]
    for name, entries, words in collections:
        for nodes in (16, 100):
            work = entries * seconds_an_entry / (nodes * 16)
            moved = words * bytes_a_word
            # A pass sends one matrix round and brings one back; 75 of them, at 1 GB/s into the driver, in a tree of depth two.
            travel = 75 * 2 * moved / 1e9
            lines.append((name, f"{nodes} x 16 cores", f"{work / 60:.1f} min", f"{megabytes(moved)} MB", f"{travel / 60:.1f} min"))
    return table(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--length", type=int, default=60)
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--folder", type=Path, default=Path("target/spark"))
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "results" / "spark.md")
    parser.add_argument("--note", default="", help="a sentence for the page, on what else the machine did")
    options = parser.parse_args()
    import tenfold

    shape = (options.words, options.k, options.length)
    fewer = options.documents // 2
    found = {}
    for documents, executors in [(options.documents, 1), (options.documents, 2), (fewer, 2)]:
        path = written(options.folder, documents, *shape)
        found[documents, executors] = on_spark(path, options.k, executors)
        print(f"{documents} documents, {executors} executors: {found[documents, executors][1]:.1f} s", file=sys.stderr)
    model, seconds, whole = found[options.documents, 2]
    begin = time.perf_counter()
    local = tenfold.Topics(options.k, max_df=1.0, n_jobs=1).fit(whole)
    alone = time.perf_counter() - begin
    same = np.array_equal(model.toLocal().components_, local.components_)
    assert same and np.array_equal(found[options.documents, 1][0].toLocal().components_, local.components_)
    half = {row[0]: row for row in by_name(found[fewer, 2][0].passes)}
    rows = [
        (name, n, f"{s:.1f}", megabytes(sent), megabytes(received), megabytes(half[name][3]), megabytes(half[name][4]))
        for name, n, s, sent, received in by_name(model.passes)
        if name in half
    ]
    entries = sum(len(set(text.split())) for text in whole[:2000]) / 2000 * len(whole)
    one = found[options.documents, 1][1]
    sent = max(p.sent for p in model.passes)
    text = f"""# Topics on Spark

Written by `python experiments/spark/measure.py` (see its `--help` for sizes): {options.documents:,} drawn documents of
{options.length} words each over {options.words:,} words, k = {options.k}, text in a Parquet table, the default polish. Executors are
processes of their own with one core each on one machine of two cores, so that with two of them the driver has no core left for itself.
{options.note}

| | seconds |
| --- | --- |
| one executor | {one:.1f} |
| two executors | {seconds:.1f} |
| `tenfold.Topics` on one machine, one thread, texts in memory | {alone:.1f} |

The three models are the same to the last bit.

Before the passes below the documents are read twice and moved once, as numbers of words: eight bytes for every word of a
document. After that a pass moves this much (megabytes: to each executor, and back from all executors together), for {options.documents:,} and
for {fewer:,} documents:

| stage | passes | seconds | to each | back | to each, half the documents | back, half the documents |
| --- | --- | --- | --- | --- | --- | --- |
{table(rows)}

What comes back is one part from every partition of windows, {max(p.tasks for p in model.passes)} here and {max(p.tasks for p in found[fewer, 2][0].passes)} for half the documents; with more than eight partitions
executors add the parts first and the driver gets one. There are never more partitions than `spark.sql.shuffle.partitions`, so that the bytes of a
pass do not grow with the documents beyond that. Only the answers to questions (lengths, held-out documents, samples) hold documents, and they are
bounded: at most some 20,000 are ever brought to the driver.

## On paper

From {one / entries * 1e6:.2f} microseconds of one core for an entry (a document and a word in it) of all passes, reading included, and {sent / options.words:.0f}
bytes a word to each executor in the largest pass at k = {options.k}:

| collection | cluster | work of the executors | one matrix | its way, all passes |
| --- | --- | --- | --- | --- |
{paper(one / entries, sent / options.words)}

The numbers of the way assume 1 GB/s into the driver and 75 passes. What they leave out: stragglers, and Spark's own second for every
job. A billion documents also need a place for the lengths of all documents on the driver while windows are cut: four bytes each.
"""
    options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
