"""A real Spark: a driver and two executors, each in a process of its own."""

from __future__ import annotations

import os
import shutil

import pytest
from spark_session import drawn, session


def pytest_collection_modifyitems(config, items):
    reason = None
    try:
        import pyspark  # noqa: F401
    except ImportError:
        reason = "pyspark is not installed"
    if reason is None and shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        reason = "Spark needs Java 17 or newer, and there is none"
    for item in items:
        if reason and "spark" in str(item.fspath):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def spark():
    """Two executors of one core each, apart from the driver."""
    made = session("local-cluster[2,1,1024]")
    yield made
    made.stop()


@pytest.fixture(scope="session")
def documents() -> list[list[str]]:
    """Three windows of documents."""
    return drawn(70_000)
