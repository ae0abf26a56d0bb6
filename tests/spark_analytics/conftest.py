"""One local Spark session for all tests that need one."""

from __future__ import annotations

import logging
import os

import pytest

# Its closing words come when pytest has closed the streams that they would go to.
logging.getLogger("py4j").setLevel(logging.WARNING)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    from spark_analytics import session as sessions
    from spark_analytics.contracts.runs import RunConfig
    from spark_analytics.io.jars import jar_paths
    from tests.spark_analytics.lakes import drivers, jars_dir

    # The session of a run: what is tested is what is run, and it starts as quickly.
    config = RunConfig(
        run_id="tests",
        master="local[2]",
        data_uri="file:///nowhere",
        work_dir=str(tmp_path_factory.mktemp("spark")),
        from_ts_ms=0,
        to_ts_ms=30_000,
        deadline_s=600,
        clusters=(),
        spark_conf={"spark.driver.extraClassPath": os.pathsep.join(drivers())},
    )
    session = sessions.start(config, jar_paths(jars_dir()))
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def nothing_stays_cached(request):
    """A run's process ends with it; here one session has the frames of all tests."""
    yield
    if "spark" in request.fixturenames:
        request.getfixturevalue("spark").catalog.clearCache()
