"""Topics and communities on Spark: Spark moves the data, tenfold does the mathematics where they lie.

The classes are Estimators and Models of ``pyspark.ml``, for DataFrames::

    from tenfold.spark import Topics

    model = Topics(k=20, inputCol="text").fit(documents)
    model.describeTopics().show()
    model.transform(documents).select("topicDistribution")

They need the extra ``tenfold[spark]``, on the driver and on the executors.
"""

from __future__ import annotations

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise ImportError("tenfold.spark needs pyspark: install it with `pip install 'tenfold[spark]'`") from error

from tenfold.spark.communities import Communities, CommunitiesModel
from tenfold.spark.topics import Topics, TopicsModel

__all__ = ["Communities", "CommunitiesModel", "Topics", "TopicsModel"]
