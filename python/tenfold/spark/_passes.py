"""The jobs of a fit: documents are brought into windows once, and every pass sums over the windows where they lie.

A window is a run of 32,768 documents in the order of the DataFrame. What is summed over one window is summed in one
order, and windows are added in more than twice double precision, so that the model depends neither on the number of partitions
nor on who adds first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold import _core
from tenfold.spark._documents import Reader, batches

# A key holds the window of a block above these bits, its place there in them.
PLACE_BITS = 20
# Blocks that go to Python at a time, some tens of megabytes.
BLOCKS_TOGETHER = 32
# Bytes of sums in a row: far from what Spark and Arrow can hold in one.
PIECE = 32 << 20
# Partial sums that the driver adds itself; more are first added by executors, in a tree.
DRIVER_ADDS = 8
# Bytes of partial sums that the driver takes at once: well below the gigabyte that Spark allows.
DRIVER_HOLDS = 256 << 20
# Tasks below this travel with the code.
SMALL = 1 << 19


@dataclass
class Pass:
    """What one pass over the documents took."""

    name: str
    seconds: float
    blocks: int
    sent: int
    received: int
    tasks: int


@dataclass
class Arranged:
    """A corpus whose blocks lie on the executors."""

    blocks: Any
    layout: bytes
    vocabulary: list[str]
    recipe: str
    notes: list[str]
    size: int
    partitions: int
    passes: list[Pass] = field(default_factory=list)

    def sum(self, task: bytes, keys: np.ndarray[Any, Any], name: str) -> bytes:
        """The sums of a pass over the blocks with these keys."""
        begin = time.perf_counter()
        with self._sent(task) as sent:
            rows = self._run(sent, keys, _sums)
            # A part holds at most two arrays of words x m in sixteen bytes; what is sent holds one in four.
            if self.partitions > DRIVER_ADDS or 8 * len(task) * self.partitions > DRIVER_HOLDS:
                groups = math.isqrt(self.partitions - 1) + 1
                rows = rows.selectExpr(f"task % {groups} as task", "maker", "piece", "pieces", "data")
                rows = rows.repartition(groups, "task").mapInArrow(_merged, ROWS)
                rows = rows.repartition(1).mapInArrow(_merged, ROWS)
            parts = _joined(rows.toArrow().to_batches())
        sums: bytes = _core.merge_sums([data for _, data in sorted(parts.items())])
        received = sum(len(data) for data in parts.values())
        self._note(name, begin, len(keys), len(task), received, len(parts))
        return sums

    def collect(self, task: bytes, keys: np.ndarray[Any, Any], name: str) -> list[bytes]:
        """What a question brings from every window, windows in order."""
        begin = time.perf_counter()
        with self._sent(task) as sent:
            answers = _joined(self._run(sent, keys, _answers).toArrow().to_batches())
        received = sum(len(data) for data in answers.values())
        self._note(name, begin, len(keys), len(task), received, len(answers))
        return [data for _, data in sorted(answers.items())]

    def _note(self, name: str, begin: float, blocks: int, sent: int, received: int, tasks: int) -> None:
        self.passes.append(Pass(name, time.perf_counter() - begin, blocks, sent, received, tasks))

    @contextmanager
    def _sent(self, task: bytes) -> Iterator[Callable[[], bytes]]:
        """The task where executors can have it, for the time of a pass: its copies are many and must not stay."""
        context = getattr(self.blocks.sparkSession, "_sc", None)
        if context is None or len(task) < SMALL:
            yield lambda: task
            return
        shared = context.broadcast(task)
        try:
            yield lambda: bytes(shared.value)
        finally:
            shared.destroy()

    def _run(self, sent: Callable[[], bytes], keys: np.ndarray[Any, Any], emit: Callable[..., Iterator[Any]]) -> Any:
        from pyspark.sql import functions as F

        blocks, layout = self.blocks, self.layout
        if len(keys) < self.size:
            blocks = blocks.where(F.col("key").isin([int(key) for key in keys]))

        def work(frames: Iterator[Any]) -> Iterator[Any]:
            worker = _core.PassWorker(sent(), layout, _threads())
            for frame in frames:
                worker.push(frame.column(0).to_pylist(), frame.column(1).to_pylist())
            yield from emit(*worker.finish())

        return blocks.select("key", "data").mapInArrow(work, ROWS)

    def forget(self) -> None:
        """Frees what the executors keep."""
        self.blocks.unpersist()


# What to do about rows that come in another order, or not at all, when they are read again.
CHANGED = "the DataFrame gave other rows when it was read again; persist it, or write it down, before the fit"

# Rows in which sums and answers travel: pieces of what a task or a window made.
ROWS = "task int, maker int, piece int, pieces int, data binary"


def _threads() -> int:
    """Threads that a task may use."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return int(context.cpus()) if context is not None else 1


def _cut(maker: int, data: bytes) -> Iterator[Any]:
    import pyarrow as pa

    starts = range(0, max(len(data), 1), PIECE)
    for piece, start in enumerate(starts):
        columns = [[maker], [maker], [piece], [len(starts)], [data[start : start + PIECE]]]
        types = [pa.int32(), pa.int32(), pa.int32(), pa.int32(), pa.binary()]
        arrays = [pa.array(values, type=kind) for values, kind in zip(columns, types)]
        yield pa.RecordBatch.from_arrays(arrays, names=["task", "maker", "piece", "pieces", "data"])


def _sums(sums: bytes, answers: list[tuple[int, bytes]]) -> Iterator[Any]:
    from pyspark import TaskContext

    context = TaskContext.get()
    yield from _cut(context.partitionId() if context is not None else 0, sums)


def _answers(sums: bytes, answers: list[tuple[int, bytes]]) -> Iterator[Any]:
    for window, answer in answers:
        yield from _cut(window, answer)


def _joined(frames: Any) -> dict[int, bytes]:
    """What every maker made, put together from its pieces."""
    pieces: dict[int, dict[int, bytes]] = {}
    expected: dict[int, int] = {}
    for frame in frames:
        rows = zip(*(frame.column(i).to_pylist() for i in range(1, 5)))
        for maker, piece, count, data in rows:
            pieces.setdefault(maker, {})[piece] = data
            expected[maker] = count
    for maker, found in pieces.items():
        if len(found) != expected[maker]:
            raise RuntimeError(f"{expected[maker] - len(found)} pieces of the sums of task {maker} did not arrive")
    return {maker: b"".join(found[i] for i in sorted(found)) for maker, found in pieces.items()}


def _merged(frames: Iterator[Any]) -> Iterator[Any]:
    parts = _joined(frames)
    if parts:
        yield from _cut(min(parts), _core.merge_sums([data for _, data in sorted(parts.items())]))


@dataclass
class Seen:
    """What the first reading saw of a partition: the distinct words of every document, and a checksum of all."""

    entries: np.ndarray[Any, Any]
    mark: int


def scan(column: Any, reader: Reader) -> tuple[dict[int, Seen], Any]:
    """First pass: what every partition holds, and a frame of words with their frequencies."""
    import pyarrow as pa

    schema = "partition int, word string, n long, entries binary, mark long"

    def work(frames: Iterator[Any]) -> Iterator[Any]:
        names = ["partition", "word", "n", "entries", "mark"]
        types = [pa.int32(), pa.string(), pa.int64(), pa.binary(), pa.int64()]

        def frame(*columns: list[Any]) -> Any:
            return pa.RecordBatch.from_arrays([pa.array(c, type=t) for c, t in zip(columns, types)], names=names)

        seen: dict[str, int] = {}
        partition, sizes, mark = -1, [], 0
        for rows, place in batches(frames):
            words, frequencies, entries = reader.scan(rows, place)
            partition = place.partition
            sizes.append(entries)
            mark = reader.mark(rows, mark)
            for word, n in zip(words, frequencies):
                seen[word] = seen.get(word, 0) + n
        if partition >= 0:
            lengths = np.concatenate(sizes)
            yield frame([partition], [None], [len(lengths)], [lengths.astype("<u4").tobytes()], [mark])
        every = list(seen.items())
        for begin in range(0, len(every), 1 << 16):
            some = every[begin : begin + (1 << 16)]
            n = len(some)
            yield frame([partition] * n, [word for word, _ in some], [count for _, count in some], [None] * n, [0] * n)

    found = column.mapInArrow(work, schema).persist()
    try:
        rows = found.where("word is null").select("partition", "entries", "mark").collect()
    except BaseException:
        found.unpersist()
        raise
    return {row[0]: Seen(np.frombuffer(bytes(row[1]), dtype="<u4"), row[2]) for row in rows}, found


def vocabulary_of(found: Any, documents: int, limits: tuple[int, float]) -> list[str]:
    """The words that enough and not too many documents hold, in the order of code points."""
    from pyspark.sql import functions as F

    fewest, share = limits
    counted = found.where("word is not null").groupBy("word").agg(F.sum("n").alias("n"))
    kept = counted.where((F.col("n") >= fewest) & (F.col("n") <= share * documents))
    # Python compares strings by code points, as the single machine does.
    return sorted(row[0] for row in kept.select("word").collect())


def arrange(column: Any, reader: Reader, vocabulary: list[str], seen: dict[int, Seen], parallel: int) -> Arranged:
    """Second pass: documents as numbers of words, in blocks, a window in one place; kept by the executors."""
    import pyarrow as pa

    offsets, all_entries, total = {}, [], 0
    for partition in sorted(seen):
        offsets[partition] = total
        total += len(seen[partition].entries)
        all_entries.append(np.ascontiguousarray(seen[partition].entries, dtype=np.uint32))
    sizes = _core.window_sizes(np.concatenate(all_entries) if all_entries else np.zeros(0, np.uint32))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    words = len(vocabulary) if reader.kind != "counts" else reader.words
    windows = len(sizes)
    marks = {partition: (len(own.entries), own.mark) for partition, own in seen.items()}

    def encode(frames: Iterator[Any]) -> Iterator[Any]:
        numbers = _core.WordNumbers(vocabulary if reader.kind != "counts" else [])
        mark = 0
        for rows, place in batches(frames):
            begins, data = reader.encode(rows, numbers, place)
            count, expected = marks.get(place.partition, (0, 0))
            mark, end = reader.mark(rows, mark), place.first + len(rows)
            if end > count or (end == count and mark != expected):
                raise ValueError(f"partition {place.partition}: {CHANGED}")
            index = offsets[place.partition] + place.first + np.arange(len(rows), dtype=np.int64)
            window = (np.searchsorted(starts, index, side="right") - 1).astype(np.int32)
            buffers = [None, pa.py_buffer(np.ascontiguousarray(begins, dtype=np.int32)), pa.py_buffer(data)]
            documents = pa.Array.from_buffers(pa.binary(), len(rows), buffers)
            yield pa.RecordBatch.from_arrays([pa.array(window), pa.array(index), documents], names=["window", "i", "data"])

    encoded = column.mapInArrow(encode, "window int, i long, data binary")
    count = max(1, min(windows, parallel))
    if hasattr(encoded, "repartitionById"):
        from pyspark.sql import functions as F

        spread = encoded.repartitionById(count, F.col("window") % count)
    else:
        spread = encoded.repartition(count, "window")
    blocks = spread.sortWithinPartitions("window", "i").mapInArrow(_blocks(windows, starts), BLOCKS).persist()
    try:
        told = blocks.select("key", "rows", "entries", "tokens", "short").toArrow()
        totals = {name: int(told[name].to_numpy().sum()) for name in ["rows", "entries", "tokens", "short"]}
        if totals["rows"] != total:
            raise ValueError(f"{total} documents were read at first and {totals['rows']} later: {CHANGED}")
    except BaseException:
        blocks.unpersist()
        raise
    window_of = told["key"].to_numpy() >> PLACE_BITS
    ends = np.cumsum(np.bincount(window_of, minlength=windows)).tolist()
    counts = (totals["entries"], totals["tokens"])
    layout = _core.corpus_layout((totals["rows"], totals["short"]), words, counts, ends)
    return Arranged(blocks, layout, vocabulary, reader.recipe, [], len(window_of), count)


BLOCKS = "key long, data binary, rows int, entries long, tokens long, short int"


def _blocks(windows: int, starts: np.ndarray[Any, Any]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    import pyarrow as pa

    types = [pa.int64(), pa.binary(), pa.int32(), pa.int64(), pa.int64(), pa.int32()]
    names = ["key", "data", "rows", "entries", "tokens", "short"]

    def close(window: int, documents: list[bytes]) -> Iterator[Any]:
        made = _core.arrange(documents, window, int(starts[window]), windows)
        for begin in range(0, len(made), BLOCKS_TOGETHER):
            some = made[begin : begin + BLOCKS_TOGETHER]
            keys = [(window << PLACE_BITS) + begin + i for i in range(len(some))]
            columns = [keys, *(list(column) for column in zip(*some))]
            arrays = [pa.array(column, type=kind) for column, kind in zip(columns, types)]
            yield pa.RecordBatch.from_arrays(arrays, names=names)

    def work(frames: Iterator[Any]) -> Iterator[Any]:
        window, documents = -1, []  # type: int, list[bytes]
        for frame in frames:
            for own, data in zip(frame.column(0).to_pylist(), frame.column(2).to_pylist()):
                if own != window and documents:
                    yield from close(window, documents)
                    documents = []
                window = own
                documents.append(data)
        if documents:
            yield from close(window, documents)

    return work
