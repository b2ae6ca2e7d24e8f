"""Communities of edges in a DataFrame, against the same edges on one machine."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold


@pytest.fixture(scope="module")
def edges() -> np.ndarray:
    """Three groups of forty nodes; inside a group six pairs in ten are joined, outside one in fifty."""
    generator = np.random.default_rng(1)
    group = np.repeat(np.arange(3), 40)
    chance = np.where(group[:, None] == group[None, :], 0.6, 0.02)
    a, b = np.nonzero(np.triu(generator.random((120, 120)) < chance, 1))
    return np.stack([a, b], axis=1)


@pytest.mark.parametrize("partitions", [1, 3])
def test_the_model_is_that_of_one_machine(spark, edges, partitions, tmp_path):
    from tenfold.spark import Communities, CommunitiesModel

    rows = spark.sparkContext.parallelize([(int(a), int(b)) for a, b in edges], partitions)
    data = spark.createDataFrame(rows, "src long, dst long")
    model = Communities(k=3, kind="undirected").fit(data)
    local = tenfold.Communities(3, kind="undirected").fit(edges)
    np.testing.assert_array_equal(model.toLocal().memberships_, local.memberships_)
    table = model.memberships().toPandas()
    assert table.shape == (120, 3)
    groups = table.sort_values("id", key=lambda ids: ids.astype(int))["community"].to_numpy().reshape(3, 40)
    assert all(len(set(group)) == 1 for group in groups) and len(set(groups[:, 0])) == 3
    nodes = spark.createDataFrame([(3,), (77,), (500,)], "id long")
    found = {row.id: row.memberships for row in model.transform(nodes).collect()}
    np.testing.assert_allclose(found[3], local.memberships_[3])
    assert found[500] is None
    model.write().overwrite().save(str(tmp_path / "model"))
    again = CommunitiesModel.load(str(tmp_path / "model"))
    assert again.modelBytes() == model.modelBytes() and again.uid == model.uid
    model.saveFile(str(tmp_path / "model.tenfold"))
    np.testing.assert_array_equal(tenfold.load(tmp_path / "model.tenfold").memberships_, local.memberships_)


def test_names_and_weights(spark, edges):
    from tenfold.spark import Communities

    rows = [(f"n{a}", f"n{b}", 2.0) for a, b in edges]
    data = spark.createDataFrame(rows, "`an end.1` string, b string, w double")
    model = Communities(k=3, srcCol="an end.1", dstCol="b", weightCol="w").fit(data)
    ids = {row.id for row in model.memberships().collect()}
    assert ids == {f"n{i}" for i in range(120)}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((None, 1, 1.0), "column 'src' = None is null; drop such rows"),
        ((-4, 1, 1.0), "column 'src' = -4 is negative"),
        ((4, 1, -1.0), "column 'w' = -1.0 is no finite number from 0 on"),
        ((4, 1, float("nan")), "column 'w' = nan is no finite number"),
    ],
)
def test_a_bad_row_is_named(spark, row, message):
    from pyspark.errors import PythonException

    from tenfold.spark import Communities

    data = spark.createDataFrame([(1, 2, 1.0), (2, 3, 1.0), row], "src long, dst long, w double").coalesce(1)
    with pytest.raises(PythonException, match=f"row 3: {message}"):
        Communities(k=2, weightCol="w").fit(data)


def test_columns_are_checked(spark):
    from tenfold.spark import Communities

    data = spark.createDataFrame([(1, 2)], "src long, dst long")
    with pytest.raises(ValueError, match="'to' is no column: the DataFrame has src, dst"):
        Communities(dstCol="to").fit(data)
    with pytest.raises(ValueError, match="ids are whole numbers or strings"):
        Communities().fit(spark.createDataFrame([(1.5, 2)], "src double, dst long"))
