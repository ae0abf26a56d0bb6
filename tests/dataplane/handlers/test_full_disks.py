"""A disk that stays full goes out of service where others have the data, and only there."""

from __future__ import annotations

import errno

import pytest

from dataplane.model.errors import KafkaError
from dataplane.model.ids import TopicPartition
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch


@pytest.fixture
def broker() -> OneBroker:
    made = OneBroker(log_dirs="/data,/more")
    made.logs.on_directory_failure(lambda _path, lost: made.replica_manager.lose(lost))
    return made


def try_to_write(broker: OneBroker, seconds: int) -> list[bool]:
    """One attempt a second, then the look that is due; whether each was refused."""
    refused = []
    for _ in range(seconds):
        broker.clock.advance(1000)
        try:
            broker.partition("t").append_now(bytearray(batch("a")), 1)
        except KafkaError:
            refused.append(True)
        else:
            refused.append(False)
        broker.replica_manager.give_up_full_disks()
    return refused


def failed(broker: OneBroker) -> list[str]:
    return [each.path for each in broker.logs.directories() if each.error]


async def test_a_disk_that_stays_full_is_given_up(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    home = broker.logs.parent_dir_of(TopicPartition("t", 0))
    broker.fs.capacity_bytes = 0
    assert all(try_to_write(broker, 10))
    assert failed(broker) == []
    assert all(try_to_write(broker, 2))
    assert failed(broker) == [home.path]
    await broker.stop()


async def test_a_disk_that_heals_in_time_stays(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    for _ in range(4):
        broker.fs.capacity_bytes = 0
        assert all(try_to_write(broker, 9))
        broker.fs.capacity_bytes = 1 << 50
        assert not any(try_to_write(broker, 6))
    assert failed(broker) == []
    await broker.stop()


async def test_the_last_replica_in_sync_is_never_given_up(broker: OneBroker) -> None:
    """What nobody else has is still there to be read, and to be written when there is space."""
    broker.topic("t", replicas=(ME,))
    broker.fs.capacity_bytes = 0
    assert all(try_to_write(broker, 60))
    assert failed(broker) == []
    broker.fs.capacity_bytes = 1 << 50
    assert not any(try_to_write(broker, 2))
    await broker.stop()


async def test_another_error_fails_the_directory_at_once(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    broker.fs.fail("append", ".log", number=errno.EIO)
    assert try_to_write(broker, 1) == [True]
    assert len(failed(broker)) == 1
    await broker.stop()
