"""A standalone master with two workers: longer, so only with TENFOLD_LONGER=1."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import tenfold

pytestmark = pytest.mark.skipif(os.environ.get("TENFOLD_LONGER") != "1", reason="longer: set TENFOLD_LONGER=1")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """The address of a master with two workers of one core each."""
    import pyspark

    home = os.path.dirname(pyspark.__file__)
    run = [os.path.join(home, "bin", "spark-class")]
    port, folder = free_port(), tmp_path_factory.mktemp("standalone")
    address = f"spark://127.0.0.1:{port}"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": home}
    pages = ["--webui-port", str(free_port())]
    commands = [["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), *pages]]
    for number in range(2):
        place = ["--work-dir", str(folder / f"worker{number}"), "--webui-port", str(free_port())]
        commands.append(["org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory", "2g", *place, address])
    log = open(folder / "log", "w")
    started = []
    for command in commands:
        started.append(subprocess.Popen(run + command, env=environment, stdout=log, stderr=log))
        time.sleep(5)
    yield address
    for process in started:
        process.terminate()
    log.close()


def test_a_standalone_cluster_gives_the_model_of_one_machine(master, documents):
    """In a process of its own: a session for another master may run beside the tests."""
    from spark_session import session

    spark = session(master, **{"spark.executor.cores": "1", "spark.cores.max": "2"})
    try:
        from tenfold.spark import Topics

        assert len(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) >= 2
        rows = spark.sparkContext.parallelize([(document,) for document in documents], 6)
        model = Topics(k=4, inputCol="words").fit(spark.createDataFrame(rows, "words array<string>"))
        alone = tenfold.Topics(4).fit(documents)
        np.testing.assert_array_equal(model.toLocal().components_, alone.components_)
    finally:
        spark.stop()
