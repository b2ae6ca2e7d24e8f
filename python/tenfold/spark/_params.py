"""What the estimators and models of this package share: writing and reading a model, and the settings of a job."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter


# Bytes of a model in one row.
PIECE = 32 << 20


class ModelWriter(MLWriter):  # type: ignore[misc]
    """Writes the parameters as Spark does, and the model file beside them in a table of one row."""

    def __init__(self, instance: Any) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        session = self.sparkSession
        DefaultParamsWriter.saveMetadata(self.instance, path, session)
        data = self.instance.modelBytes()
        # Rows travel inside Spark's tasks, which may not be larger than 128 MB.
        for piece, begin in enumerate(range(0, len(data), PIECE)):
            row = (piece, bytearray(data[begin : begin + PIECE]))
            frame = session.createDataFrame([row], "piece int, model binary")
            frame.coalesce(1).write.mode("append").parquet(f"{path}/model")


class ModelReader(MLReader):  # type: ignore[misc]
    """Reads what :class:`ModelWriter` wrote."""

    def __init__(self, cls: Any) -> None:
        super().__init__()
        self.cls = cls

    def load(self, path: str) -> Any:
        session = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, session)
        rows = session.read.parquet(f"{path}/model").orderBy("piece").toLocalIterator()
        model = self.cls(b"".join(bytes(row["model"]) for row in rows))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


class ModelIO(MLWritable, MLReadable):  # type: ignore[misc]
    """``write``, ``read``, ``save`` and ``load`` for models, and the model file that other programs read."""

    def write(self) -> MLWriter:
        return ModelWriter(self)

    def save(self, path: str) -> None:
        """Writes the model where Spark can reach it: any file system that the cluster has."""
        self.write().save(path)

    @classmethod
    def read(cls) -> MLReader:
        return ModelReader(cls)

    @classmethod
    def load(cls, path: str) -> Any:
        """Reads a model that :meth:`save` wrote."""
        return cls.read().load(path)

    def modelBytes(self) -> bytes:
        """The bytes of the model file."""
        raise NotImplementedError

    def saveFile(self, path: str) -> None:
        """Writes the model file on this machine, for plain Python and for the command ``tenfold``."""
        self.toLocal().save(path)

    def toLocal(self) -> Any:
        """The fitted estimator of plain Python."""
        raise NotImplementedError


def quoted(name: str) -> str:
    """The name of a column as Spark's expressions want it, whatever its letters."""
    return "`" + name.replace("`", "``") + "`"


_lock = threading.Lock()
# For every session and setting: how many fits want it, and what it was before the first of them.
_wanted: dict[tuple[int, str], tuple[int, str | None]] = {}


@contextmanager
def setting(session: Any, key: str, value: str) -> Iterator[None]:
    """A setting of the session while any fit wants it; fits may run at the same time."""
    name = (id(session), key)
    with _lock:
        count, before = _wanted.get(name, (0, session.conf.get(key, None)))
        _wanted[name] = (count + 1, before)
        session.conf.set(key, value)
    try:
        yield
    finally:
        with _lock:
            count, before = _wanted.pop(name)
            if count > 1:
                _wanted[name] = (count - 1, before)
            elif before is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, before)


class Shipped:
    """A model on its way to executors, which unpack it once for many batches."""

    _unpacked: dict[str, Any] = {}

    def __init__(self, unpack: Any, data: bytes) -> None:
        import hashlib

        self.unpack, self.data = unpack, data
        self.name = base64.b64encode(hashlib.sha256(data).digest()).decode()

    def get(self) -> Any:
        if self.name not in Shipped._unpacked:
            # A plan may hold a few models; more would fill the memory of a process that Spark keeps for other jobs.
            if len(Shipped._unpacked) >= 4:
                Shipped._unpacked.clear()
            Shipped._unpacked[self.name] = self.unpack(self.data)
        return Shipped._unpacked[self.name]
