"""Communities in a graph whose edges are the rows of a Spark DataFrame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasOutputCol, HasSeed
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame
from pyspark.sql.types import IntegralType, NumericType, StringType

from tenfold.spark._params import ModelIO, Shipped, quoted
from tenfold.spark.topics import _converter, _is_count


class _CommunitiesParams(HasOutputCol, HasSeed):  # type: ignore[misc]
    """The parameters of :class:`Communities`, which its model keeps."""

    k: Param[Any] = Param(
        Params._dummy(),
        "k",
        "number of communities, or 'auto' for as many as the graph supports",
        typeConverter=_converter(lambda v: _is_count(v) or v == "auto", "a whole number from 1 on, or 'auto'"),
    )
    alpha0: Param[float] = Param(
        Params._dummy(),
        "alpha0",
        "sum of the Dirichlet parameters: 0 for one community a node, larger for more mixed ones",
        typeConverter=TypeConverters.toFloat,
    )
    kind: Param[Any] = Param(
        Params._dummy(),
        "kind",
        "'undirected', 'directed' or 'bipartite'; told by the edges when it is not given",
        typeConverter=_converter(
            lambda v: v in ("undirected", "directed", "bipartite"), "'undirected', 'directed' or 'bipartite'"
        ),
    )
    srcCol: Param[str] = Param(
        Params._dummy(), "srcCol", "the column of one end of an edge", typeConverter=TypeConverters.toString
    )
    dstCol: Param[str] = Param(
        Params._dummy(), "dstCol", "the column of the other end", typeConverter=TypeConverters.toString
    )
    weightCol: Param[Any] = Param(
        Params._dummy(),
        "weightCol",
        "the column of weights, where edges have some",
        typeConverter=_converter(lambda v: isinstance(v, str), "the name of a column"),
    )
    idCol: Param[str] = Param(
        Params._dummy(), "idCol", "the column of nodes that transform looks up", typeConverter=TypeConverters.toString
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(
            k=10, alpha0=1.0, kind=None, srcCol="src", dstCol="dst", weightCol=None, idCol="id", outputCol="memberships", seed=0
        )

    def getK(self) -> Any:
        """The number of communities asked for."""
        return self.getOrDefault(self.k)


class Communities(Estimator, _CommunitiesParams, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """Finds overlapping communities in a graph, by the moments of the mixed membership block model.

    Executors read and check the edges, the driver brings them together and fits. A model holds k numbers for every node, so the
    driver has room for the graph too, and every product with the graph needs numbers of all nodes: to send them round would take
    longer than to multiply. What comes to the driver is two ids an edge; ``spark.driver.maxResultSize`` must allow for them.

    Parameters
    ----------
    k : int or "auto"
    srcCol, dstCol, weightCol : str
        The columns of the edges; ids may be whole numbers or strings.
    kind, alpha0, seed, idCol, outputCol
        See ``explainParams()``.

    Examples
    --------
    >>> from tenfold.spark import Communities
    >>> Communities(k=3, srcCol="from", dstCol="to").getK()
    3
    """

    @keyword_only
    def __init__(
        self,
        *,
        k: Any = 10,
        alpha0: float = 1.0,
        kind: Any = None,
        srcCol: str = "src",
        dstCol: str = "dst",
        weightCol: Any = None,
        idCol: str = "id",
        outputCol: str = "memberships",
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.setParams(**self._input_kwargs)

    @keyword_only
    def setParams(self, **kwargs: Any) -> Communities:
        """Sets parameters; what is None keeps its default."""
        return self._set(**{name: value for name, value in kwargs.items() if value is not None})

    def setK(self, value: Any) -> Communities:
        """Sets the number of communities."""
        return self._set(k=value)

    def setSeed(self, value: int) -> Communities:
        """Sets the seed."""
        return self._set(seed=value)

    def _fit(self, dataset: DataFrame) -> CommunitiesModel:
        from tenfold import Communities as Local

        value = self.getOrDefault
        edges = _edges(dataset, value(self.srcCol), value(self.dstCol), value(self.weightCol))
        local = Local(value(self.k), alpha0=value(self.alpha0), kind=value(self.kind), random_state=value(self.seed) % 2**64)
        local.fit(edges)
        model = CommunitiesModel(local.to_bytes())
        model._resetUid(self.uid)
        return self._copyValues(model)


def _edges(dataset: DataFrame, src: str, dst: str, weight: str | None) -> tuple[Any, ...]:
    """The ends of all edges in the order of the DataFrame, and their weights."""
    names = [src, dst, *([weight] if weight else [])]
    for name in names:
        if name not in dataset.columns:
            raise ValueError(f"{name!r} is no column: the DataFrame has {', '.join(dataset.columns)}")
    for name in names[:2]:
        kind = dataset.schema[name].dataType
        if not isinstance(kind, (IntegralType, StringType)):
            raise ValueError(f"column {name!r} is of type {kind.simpleString()}: ids are whole numbers or strings")
    strings = any(isinstance(dataset.schema[name].dataType, StringType) for name in names[:2])
    ends = "string" if strings else "bigint"
    chosen = [f"cast({quoted(name)} as {ends}) as {end}" for name, end in zip(names, ["src", "dst"])]
    schema = f"src {ends}, dst {ends}"
    if weight:
        if not isinstance(dataset.schema[weight].dataType, NumericType):
            raise ValueError(f"column {weight!r} holds no numbers: weights are numbers from 0 on")
        chosen.append(f"cast({quoted(weight)} as double) as weight")
        schema += ", weight double"
    rows = dataset.selectExpr(*chosen).mapInArrow(_checked(names), schema).toArrow()
    if rows.num_rows == 0:
        raise ValueError("the DataFrame holds no edges: give at least one row")
    return tuple(column.to_numpy() for column in rows.columns)


def _checked(names: list[str]) -> Any:
    """Hands rows on, and stops at the first that is no edge."""
    new = ["src", "dst", "weight"][: len(names)]

    def work(frames: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        partition, first = (context.partitionId() if context is not None else 0), 0
        for frame in frames:
            for i, name in enumerate(names):
                column = frame.column(i)
                trouble = np.asarray(column.is_null())
                problem = "is null; drop such rows"
                if not trouble.any() and i < 2 and pa.types.is_integer(column.type):
                    trouble, problem = column.to_numpy() < 0, "is negative; ids are whole numbers from 0 on, or strings"
                elif not trouble.any() and i == 2:
                    values = column.to_numpy()
                    trouble, problem = ~(np.isfinite(values) & (values >= 0)), "is no finite number from 0 on"
                if trouble.any():
                    at = int(np.argmax(trouble))
                    value = column[at].as_py()
                    raise ValueError(f"partition {partition}, row {first + at + 1}: column {name!r} = {value!r} {problem}")
            first += frame.num_rows
            yield pa.RecordBatch.from_arrays(frame.columns, names=new)

    return work


class CommunitiesModel(Model, _CommunitiesParams, ModelIO):  # type: ignore[misc]
    """Communities that :class:`Communities` found."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data
        self._opened: Any = None

    def modelBytes(self) -> bytes:
        return self._data

    @classmethod
    def fromFile(cls, path: str) -> CommunitiesModel:
        """Reads a model file of this machine, whoever wrote it: plain Python, the command ``tenfold`` or Rust."""
        from tenfold import Communities as Local

        return cls(Local.load(path).to_bytes())

    def toLocal(self) -> Any:
        """The fitted :class:`tenfold.Communities`."""
        if self._opened is None:
            self._opened = _local(self._data)
        return self._opened

    def memberships(self) -> DataFrame:
        """Every node with its memberships: ``id`` as a string, ``memberships`` as an array, ``community`` the main one.

        Of a directed graph these are the memberships of nodes as beginnings of edges, of a bipartite one the nodes of
        ``srcCol``; :meth:`toLocal` has the others.
        """
        from pyspark.sql import SparkSession

        local = self.toLocal()
        columns = {"id": list(map(str, local.node_ids_)), "memberships": list(local.memberships_.astype(float))}
        frame = pd.DataFrame({**columns, "community": local.labels_[: len(columns["id"])].astype("int32")})
        schema = "id string, memberships array<double>, community int"
        return SparkSession.active().createDataFrame(frame, schema)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F
        from pyspark.sql.functions import pandas_udf

        name = self.getOrDefault(self.idCol)
        if name not in dataset.columns:
            raise ValueError(f"idCol = {name!r} is no column: the DataFrame has {', '.join(dataset.columns)}")
        shipped = Shipped(_looked_up, self._data)

        @pandas_udf("array<double>")
        def memberships(ids: pd.Series) -> pd.Series:
            places, table = shipped.get()
            return pd.Series([table[places[i]].tolist() if i in places else None for i in ids])

        return dataset.withColumn(self.getOutputCol(), memberships(F.col(quoted(name)).cast("string")))

    def report(self, path: str) -> None:
        """Writes a page about the model on this machine: one HTML file that works offline."""
        self.toLocal().report(path)


def _local(data: bytes) -> Any:
    from tenfold import Communities as Local

    return Local.from_bytes(data)


def _looked_up(data: bytes) -> tuple[dict[str, int], np.ndarray[Any, Any]]:
    """The place of every id, and the memberships."""
    local = _local(data)
    return {str(node): i for i, node in enumerate(local.node_ids_)}, local.memberships_
