"""What the estimators and models of this package share: writing and reading a model, and the settings of a job."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter


class ModelWriter(MLWriter):  # type: ignore[misc]
    """Writes the parameters as Spark does, and the model file beside them in a table of one row."""

    def __init__(self, instance: Any) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        session = self.sparkSession
        DefaultParamsWriter.saveMetadata(self.instance, path, session)
        data = session.createDataFrame([(bytearray(self.instance.modelBytes()),)], "model binary")
        data.coalesce(1).write.parquet(f"{path}/model")


class ModelReader(MLReader):  # type: ignore[misc]
    """Reads what :class:`ModelWriter` wrote."""

    def __init__(self, cls: Any) -> None:
        super().__init__()
        self.cls = cls

    def load(self, path: str) -> Any:
        session = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, session)
        row = session.read.parquet(f"{path}/model").head()
        model = self.cls(bytes(row["model"]))
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


@contextmanager
def settings(session: Any, **values: str) -> Iterator[None]:
    """Settings of the session for a while."""
    keys = {name.replace("__", "."): value for name, value in values.items()}
    before = {key: session.conf.get(key, None) for key in keys}
    for key, value in keys.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, value)


class Shipped:
    """A model on its way to executors: unpacked once in every Python process, whatever the number of batches."""

    _unpacked: dict[str, Any] = {}

    def __init__(self, unpack: Any, data: bytes) -> None:
        import hashlib

        self.unpack, self.data = unpack, data
        self.name = base64.b64encode(hashlib.sha256(data).digest()).decode()

    def get(self) -> Any:
        if self.name not in Shipped._unpacked:
            Shipped._unpacked.clear()
            Shipped._unpacked[self.name] = self.unpack(self.data)
        return Shipped._unpacked[self.name]
