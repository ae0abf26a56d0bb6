"""What the fetcher core decides is done to the replica, and to those who read from it."""

from __future__ import annotations

import asyncio
import logging

import pytest

from dataplane.broker.replicas.follower_effects import carry_out
from dataplane.model.errors import KafkaError
from dataplane.replication.effects import (
    AppendToLog,
    RaiseLogStart,
    TruncateFully,
    TruncateTo,
    UpdateHighWatermark,
)
from dataplane.timing.purgatory import DelayedOperation
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch


@pytest.fixture
async def partition():
    """A follower's replica with three batches of two records."""
    broker = OneBroker()
    broker.topic("t", leader=ME, replicas=(ME, PEER))
    partition = broker.partition("t")
    for _ in range(3):
        partition.append_now(batch("a", "b"), 1)
    partition.become_follower(partition.state)
    yield partition
    await broker.stop()


def records(base_offset: int) -> memoryview:
    return memoryview(bytes(batch("x", "y", base_offset=base_offset)))


async def test_records_are_appended_as_they_came_and_the_watermark_follows(partition) -> None:
    came = records(6)
    size = carry_out(partition, [AppendToLog(came), UpdateHighWatermark(7), RaiseLogStart(1)])
    log = partition.log
    assert size == len(came)
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (1, 7, 8)
    assert log.read(6, 1 << 20, 8).read() == bytes(came)


async def test_a_log_start_beyond_our_end_is_our_end(partition) -> None:
    assert carry_out(partition, [UpdateHighWatermark(6), RaiseLogStart(90)]) == 0
    assert partition.log.log_start_offset == partition.log.log_end_offset == 6


async def test_records_that_do_not_fit_are_refused_and_nothing_after_them_is_done(
    partition,
) -> None:
    with pytest.raises(KafkaError):
        carry_out(partition, [AppendToLog(records(2)), UpdateHighWatermark(5)])
    assert (partition.log.log_end_offset, partition.high_watermark) == (6, 0)


async def test_a_log_is_truncated_to_an_offset(partition) -> None:
    assert carry_out(partition, [TruncateTo(4)]) == 0
    assert partition.log.log_end_offset == 4


async def test_a_log_that_starts_over_is_warned_of(partition, caplog) -> None:
    with caplog.at_level(logging.WARNING, "dataplane"):
        assert carry_out(partition, [TruncateFully(50)]) == 0
    assert partition.log.log_start_offset == partition.log.log_end_offset == 50
    (warning,) = caplog.records
    assert "t-0" in warning.getMessage()


class Waits(DelayedOperation):
    """A consumer's fetch that waits for the watermark."""

    is_woken = False

    def try_complete(self) -> None:
        self.is_woken = True

    def expire(self) -> None:
        raise AssertionError("it has no deadline")


async def test_consumers_are_woken_by_a_watermark_that_moves_and_by_no_other(partition) -> None:
    waits = Waits()
    partition.committed.add(waits)
    carry_out(partition, [UpdateHighWatermark(0)])
    await asyncio.sleep(0)
    assert not waits.is_woken
    carry_out(partition, [UpdateHighWatermark(2)])
    await asyncio.sleep(0)
    assert waits.is_woken
