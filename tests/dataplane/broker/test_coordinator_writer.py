"""Writes of a coordinator become batches that their topic takes, each judged by itself."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence

import pytest

from dataplane.broker.coordinator_log.writer import CoordinatorWriter
from dataplane.model.errors import ErrorCode as E
from dataplane.model.errors import KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.wire.record_batch import iter_batches
from tests.dataplane.groups.hosted import Hosted

PLACE = TopicPartition("__consumer_offsets", 0)


@dataclasses.dataclass(frozen=True)
class Record:
    key: bytes
    value: bytes | None


@dataclasses.dataclass(frozen=True)
class Write:
    name: str
    records: Sequence[Record]
    producer: tuple[int, int] | None = None


def write(name: str, size: int, count: int = 1) -> Write:
    return Write(name, [Record(b"k", bytes(size))] * count)


@pytest.fixture
async def hosted():
    made = await Hosted(partition_count=1).start()
    await made.loaded()
    yield made
    await made.stop()


async def written(hosted: Hosted, writes: list[Write], max_message_bytes: int):
    """What became of each write, by its name, and the sizes of the batches in the log."""
    partition = hosted.replica_manager.by_name[PLACE]
    log = partition.log
    log.update_config(dataclasses.replace(log.config, max_message_bytes=max_message_bytes))
    outcomes: dict[str, E] = {}
    writer: CoordinatorWriter[Write] = CoordinatorWriter(
        partition,
        hosted.clock,
        timeout_ms=1_000,
        replay=lambda _write: None,
        settle=lambda each, error: outcomes.__setitem__(each.name, error),
    )
    start = log.log_end_offset
    writer.submit(writes)
    await asyncio.sleep(0)
    hosted.replicate()
    data = log.read(start, 1 << 24, log.log_end_offset).read()
    sizes = [head.batch_length + 12 for _position, head in iter_batches(data)]
    return outcomes, sizes


async def test_writes_are_joined_to_what_the_topic_takes(hosted: Hosted) -> None:
    """A storm of commits larger than one message may be is no error."""
    writes = [write(str(n), 100) for n in range(500)]
    outcomes, sizes = await written(hosted, writes, 5_000)
    assert set(outcomes.values()) == {E.NONE}
    assert len(outcomes) == 500
    assert max(sizes) <= 5_000
    assert 10 <= len(sizes) <= 25


async def test_small_records_do_not_add_up_to_more(hosted: Hosted) -> None:
    writes = [write(str(n), 0, count=7) for n in range(300)]
    outcomes, sizes = await written(hosted, writes, 2_000)
    assert set(outcomes.values()) == {E.NONE}
    assert max(sizes) <= 2_000


async def test_one_that_is_too_large_takes_no_other_with_it(hosted: Hosted) -> None:
    writes = [write("before", 100), write("large", 6_000), write("after", 100)]
    outcomes, _sizes = await written(hosted, writes, 5_000)
    assert outcomes == {"before": E.NONE, "large": E.MESSAGE_TOO_LARGE, "after": E.NONE}


@pytest.mark.parametrize("error", [KafkaError(E.KAFKA_STORAGE_ERROR), OSError(28, "full")])
async def test_what_a_disk_refused_is_refused_and_the_next_is_not(hosted, monkeypatch, error):
    partition = hosted.replica_manager.by_name[PLACE]
    append, errors = partition.append_now, [error]

    def once(*arguments, **options):
        if errors:
            raise errors.pop()
        return append(*arguments, **options)

    monkeypatch.setattr(type(partition), "append_now", lambda _self, *a, **o: once(*a, **o))
    outcomes, sizes = await written(hosted, [write("full", 10)], 5_000)
    assert (outcomes, sizes) == ({"full": E.KAFKA_STORAGE_ERROR}, [])
    outcomes, sizes = await written(hosted, [write("again", 10)], 5_000)
    assert (outcomes, len(sizes)) == ({"again": E.NONE}, 1)


async def test_what_is_in_the_log_in_spite_of_an_error_is_waited_for(hosted, monkeypatch):
    """Its fate is the log's: to call it refused would be to decide twice."""
    partition = hosted.replica_manager.by_name[PLACE]
    append = partition.append_now

    def badly(*arguments, **options):
        append(*arguments, **options)
        raise OSError(5, "after the write")

    monkeypatch.setattr(type(partition), "append_now", lambda _self, *a, **o: badly(*a, **o))
    outcomes, sizes = await written(hosted, [write("written", 10)], 5_000)
    assert (outcomes, len(sizes)) == ({"written": E.NONE}, 1)


async def test_what_is_lost_with_the_leadership_fails_once(monkeypatch) -> None:
    """The append itself may end it, as where a disk fails behind the write (seed 501327)."""
    hosted = await Hosted(partition_count=1, replicas=(1, 2)).start()
    await hosted.loaded()
    partition = hosted.replica_manager.by_name[PLACE]
    append = partition.append_now

    def lose(*arguments, **options):
        append(*arguments, **options)
        hosted.follow(PLACE)

    monkeypatch.setattr(type(partition), "append_now", lambda _self, *a, **o: lose(*a, **o))
    settled: list[E] = []
    writer: CoordinatorWriter[Write] = CoordinatorWriter(
        partition,
        hosted.clock,
        timeout_ms=5,
        replay=lambda _write: None,
        settle=lambda _write, error: settled.append(error),
    )
    writer.submit([write("lost", 10)])
    await asyncio.sleep(0.05)
    assert settled == [E.NOT_LEADER_OR_FOLLOWER]
    await hosted.stop()
