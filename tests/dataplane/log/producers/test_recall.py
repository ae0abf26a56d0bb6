"""A producer that had batches under way when its broker stopped may send any of them again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.log.config import LogConfig
from dataplane.log.producers import recall
from dataplane.log.producers.producer_entry import BATCHES_REMEMBERED
from dataplane.model.errors import ErrorCode, KafkaError
from tests.dataplane.log.support import NOW_MS, World, batch, read_all

PRODUCER, OTHER = 7, 8


def send(log, sequence: int, *, producer: int = PRODUCER, epoch: int = 0, count: int = 1):
    made = batch(count, base_sequence=sequence, producer_id=producer, producer_epoch=epoch)
    return log.append_as_leader(made, 0, now_ms=NOW_MS)


@settings(deadline=None, max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=12),
    others=st.integers(0, 3),
    segment_bytes=st.sampled_from((200, 600, 1 << 30)),
    is_clean=st.booleans(),
)
def test_the_last_five_are_known_after_a_restart(
    sizes: list[int], others: int, segment_bytes: int, is_clean: bool
) -> None:
    world = World(LogConfig(segment_bytes=segment_bytes))
    log = world.open()
    sent, sequence = [], 0
    for number, count in enumerate(sizes):
        sent.append((sequence, count, send(log, sequence, count=count).base_offset))
        sequence += count
        for other in range(others):
            send(log, number * others + other, producer=OTHER)
    log.flush()
    if is_clean:
        log.close()
    log = world.open(is_clean=is_clean)
    before = read_all(log)
    for at, count, offset in sent[-BATCHES_REMEMBERED:]:
        info = send(log, at, count=count)
        assert (info.duplicate, info.base_offset) == (True, offset)
    assert read_all(log) == before
    assert not send(log, sequence).duplicate


def test_what_never_was_is_refused_and_looked_for_once(monkeypatch) -> None:
    world = World(LogConfig())
    log = world.open()
    for sequence in range(3):
        send(log, sequence)
    log.close()
    log = world.open(is_clean=True)
    looks = []
    found = recall.earlier_batches
    monkeypatch.setattr(
        "dataplane.log.producers.producer_state_manager.earlier_batches",
        lambda *given: looks.append(1) or found(*given),
    )
    for sequence in (9, 9, 4):
        with pytest.raises(KafkaError) as caught:
            send(log, sequence)
        assert caught.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert len(looks) == 1
    assert send(log, 0).duplicate
    assert not send(log, 3).duplicate
    assert len(looks) == 1


def test_batches_of_an_earlier_epoch_are_not_taken_for_the_same() -> None:
    world = World(LogConfig())
    log = world.open()
    send(log, 0, epoch=0)
    send(log, 1, epoch=0)
    send(log, 0, epoch=1)
    log.close()
    log = world.open(is_clean=True)
    with pytest.raises(KafkaError) as caught:
        send(log, 1, epoch=0)
    assert caught.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    with pytest.raises(KafkaError) as caught:
        send(log, 5, epoch=1)
    assert caught.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 0, epoch=1).duplicate


def test_no_further_than_the_bound(monkeypatch) -> None:
    monkeypatch.setattr(recall, "LOOK_BACK_BYTES", 150)
    world = World(LogConfig(index_interval_bytes=0))
    log = world.open()
    for sequence in range(BATCHES_REMEMBERED):
        send(log, sequence)
    log.close()
    log = world.open(is_clean=True)
    with pytest.raises(KafkaError) as caught:
        send(log, 0)
    assert caught.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, BATCHES_REMEMBERED - 2).duplicate
