"""Truncating the tail where there are no bytes to remove (KIP-101, KIP-279)."""

from __future__ import annotations

import errno

import pytest

from dataplane.model.errors import ErrorCode, KafkaError
from tests.dataplane.log.support import World, append


def test_an_epoch_without_records_is_truncated_with_the_empty_tail() -> None:
    """A leader that appended nothing steps down; the next leader never had its epoch.

    The follower has to truncate at its own end. If its epoch stayed, each of its fetches would
    name an epoch that the leader does not know, and diverge for ever.
    """
    log = World().open()
    append(log, 3, epoch=4)
    log.assign_epoch_start(5, log.log_end_offset)
    assert log.latest_epoch == 5
    log.truncate_to(3)
    assert log.log_end_offset == 3
    assert log.latest_epoch == 4


def test_cutting_beyond_the_end_keeps_epochs_that_have_records() -> None:
    log = World().open()
    append(log, 3, epoch=4)
    append(log, 1, epoch=5)
    log.truncate_to(100)
    assert log.log_end_offset == 4
    assert log.latest_epoch == 5


def test_the_truncated_epoch_stays_gone_after_reopening() -> None:
    world = World()
    log = world.open()
    append(log, 3, epoch=4)
    log.assign_epoch_start(5, log.log_end_offset)
    log.truncate_to(3)
    log.close()
    assert world.open().latest_epoch == 4


def test_a_truncation_that_the_disk_hinders_forgets_producers_all_the_same() -> None:
    """Else the batch, sent again, is taken for one that is there: acknowledged and nowhere."""
    world = World()
    log = world.open()
    append(log, 2, epoch=1)
    append(log, 1, epoch=2, producer_id=7, producer_epoch=0, base_sequence=0)
    world.fs.fail("append", "leader-epoch-checkpoint", number=errno.ENOSPC)
    with pytest.raises(KafkaError) as refused:
        log.truncate_to(2)
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert log.log_end_offset == 2
    assert log.latest_epoch == 1
    assert 7 not in log.producers.entries
    again = append(log, 1, epoch=3, producer_id=7, producer_epoch=0, base_sequence=0)
    assert not again.duplicate
    assert again.base_offset == 2


@pytest.mark.parametrize("file", ["leader-epoch-checkpoint", ".log"])
def test_records_never_come_without_their_epoch_and_producer(file: str) -> None:
    """A full disk at the follower: nothing of the leader's answer is taken up, then all of it."""
    leader = World().open()
    append(leader, 1, epoch=3)
    append(leader, 2, epoch=5, producer_id=7, producer_epoch=0, base_sequence=0)
    records = leader.read(0, 1 << 20, 3).read()
    world = World()
    log = world.open()
    world.fs.fail("append", file, number=errno.ENOSPC)
    with pytest.raises(KafkaError):
        log.append_as_follower(records)
    assert log.log_end_offset == 0
    assert log.latest_epoch is None
    log.append_as_follower(records)
    assert log.epoch_entries == leader.epoch_entries
    assert log.producers.entries[7].next_sequence == 2
