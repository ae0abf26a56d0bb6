"""Clusters for the fault tests. One lives at a time; each module has its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.faults.cluster import FaultCluster


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedZooKeeper]:
    server = EmbeddedZooKeeper(tmp_path_factory.mktemp("zookeeper"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, zookeeper: EmbeddedZooKeeper
) -> Iterator[FaultCluster]:
    """Three supervised brokers with everything that matters to a fault at its default."""
    made = FaultCluster(tmp_path_factory.mktemp("faults"), zookeeper.connect_string)
    try:
        made.start()
        yield made
    finally:
        made.stop()
