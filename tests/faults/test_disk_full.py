"""A broker's disk fills up under load, as a leader's and as a follower's, and is freed again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.faults.cluster import ZOOKEEPER_START_S, FaultCluster, running
from tests.faults.disk import NoMountError, SmallDisk, small_disk
from tests.faults.trial import trial

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
SIZE_MIB = 128
VICTIM = 0
NOTICED_MAX_S = 25.0
"""A disk that is full for ten seconds goes out of service; well below the 30 s of lag allowed."""


@pytest.fixture(scope="module")
def disk(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    place = tmp_path_factory.mktemp("small-disk")
    try:
        with small_disk(place, SIZE_MIB) as mounted:
            yield mounted
    except NoMountError as error:
        pytest.skip(f"nothing can be mounted here: {error}")


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedZooKeeper]:
    server = EmbeddedZooKeeper(tmp_path_factory.mktemp("zookeeper"))
    server.start(ZOOKEEPER_START_S)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, zookeeper: EmbeddedZooKeeper, disk: SmallDisk
) -> Iterator[FaultCluster]:
    """The victim's only log directory lies on the small disk."""
    made = FaultCluster(
        tmp_path_factory.mktemp("faults"),
        zookeeper.connect_string,
        log_dirs={VICTIM: str(disk.path / "data")},
    )
    with running(made) as cluster:
        yield cluster


@pytest.mark.slow
@pytest.mark.parametrize("role", ["follower", "leader"])
def test_a_disk_is_full(cluster: FaultCluster, disk: SmallDisk, role: str) -> None:
    cluster.wait_until_whole()
    assignment = [[VICTIM, 1, 2]] if role == "leader" else [[1, VICTIM, 2]]
    with trial(cluster, f"{role}-disk-full", assignment=assignment, filling_bytes=500) as run:
        try:
            disk.fill()
            run.wait_for_isr_without(VICTIM, within_s=NOTICED_MAX_S, asked=1)
            run.wait_for_acks()
            assert cluster.leader_of(run.topic, asked=1) != VICTIM
        finally:
            disk.free()
        run.settle()
        assert run.gap_s() < NOTICED_MAX_S
