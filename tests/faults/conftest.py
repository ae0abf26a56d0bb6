"""Clusters for the fault tests. One lives at a time: the shared one first, then those of modules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.faults.cluster import ZOOKEEPER_START_S, FaultCluster


class Shared:
    """Three supervised brokers with everything that matters to a fault at its default.

    Started when first asked for, and again when a test has left it broken.
    """

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self._factory = factory
        self._zookeeper: EmbeddedZooKeeper | None = None
        self._cluster: FaultCluster | None = None

    def zookeeper(self) -> EmbeddedZooKeeper:
        if self._zookeeper is None:
            self._zookeeper = EmbeddedZooKeeper(self._factory.mktemp("zookeeper"))
            self._zookeeper.start(ZOOKEEPER_START_S)
        return self._zookeeper

    def cluster(self) -> FaultCluster:
        if self._cluster is not None:
            try:
                self._cluster.wait_until_whole()
            except AssertionError:
                self.stop()
        if self._cluster is None:
            address = self.zookeeper().connect_string
            self._cluster = FaultCluster(self._factory.mktemp("faults"), address)
            self._cluster.start()
        return self._cluster

    def stop(self) -> None:
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            cluster.stop()
        zookeeper, self._zookeeper = self._zookeeper, None
        if zookeeper is not None:
            zookeeper.stop()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    made = Shared(tmp_path_factory)
    yield made
    made.stop()


@pytest.fixture
def cluster(shared: Shared) -> FaultCluster:
    return shared.cluster()


@pytest.fixture
def zookeeper(shared: Shared, cluster: FaultCluster) -> EmbeddedZooKeeper:
    """The shared cluster's."""
    return shared.zookeeper()


@pytest.fixture(scope="module")
def alone(shared: Shared) -> None:
    """For modules with a cluster of their own: the shared one is gone."""
    shared.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on the shared cluster come first, so that it is started once."""
    items.sort(key=lambda item: "alone" in getattr(item, "fixturenames", ()))
