"""Idempotence and transactions as the partition sees them (kafka.md §2.1, §2.5)."""

from __future__ import annotations

import struct
import timeit

import pytest

from dataplane.log.config import LogConfig
from dataplane.log.producers import producer_snapshot
from dataplane.log.producers.producer_entry import (
    INT32_MAX,
    ProducerEntry,
    sequence_minus,
    sequence_plus,
)
from dataplane.log.producers.producer_snapshot import SnapshotDamagedError
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.record_batch import NewRecord, build_batch, iter_batches
from tests.dataplane.log.support import DIRECTORY, NOW_MS, World, append, batch

PID = 42


def send(log, sequence: int, count: int = 1, *, pepoch: int = 0, **keywords):
    keywords = {"producer_id": PID, "producer_epoch": pepoch, "base_sequence": sequence} | keywords
    return append(log, count, **keywords)


def refusal(call) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        call()
    return caught.value.code


def marker(
    *, commit: bool, pepoch: int = 0, coordinator_epoch: int = 0, pid: int = PID
) -> bytearray:
    record = NewRecord(
        struct.pack(">hh", 0, int(commit)), struct.pack(">hi", 0, coordinator_epoch), (), NOW_MS
    )
    return build_batch(
        [record], producer_id=pid, producer_epoch=pepoch, is_transactional=True, is_control=True
    )


def end_transaction(log, **keywords):
    return log.append_as_leader(marker(**keywords), 0, now_ms=NOW_MS, origin="coordinator")


def test_any_of_the_last_five_batches_sent_again_answers_with_its_old_offset():
    log = World().open()
    sent = [send(log, number * 3, 3) for number in range(7)]
    for number in (2, 3, 4, 5, 6):
        again = send(log, number * 3, 3)
        assert again.duplicate
        assert again.base_offset == sent[number].base_offset
        assert again.last_offset == sent[number].last_offset
    assert log.log_end_offset == 21


def test_an_older_batch_or_a_gap_or_an_overlap_is_out_of_order():
    log = World().open()
    for number in range(7):
        send(log, number * 3, 3)
    for sequence, count in ((3, 3), (24, 1), (18, 2), (20, 4)):
        code = refusal(lambda s=sequence, c=count: send(log, s, c))
        assert code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.log_end_offset == 21


def test_unknown_producer_may_begin_anywhere():
    log = World().open()
    assert send(log, 1000).base_offset == 0
    assert send(log, 1001).base_offset == 1


def test_new_epoch_begins_at_zero_and_fences_the_old_one():
    log = World().open()
    send(log, 0, 5)
    assert refusal(lambda: send(log, 5, pepoch=1)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    send(log, 0, pepoch=1)
    assert refusal(lambda: send(log, 5)) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert send(log, 1, pepoch=1).base_offset == 6


def test_sequence_wraps_from_the_largest_int32_to_zero():
    log = World().open()
    send(log, INT32_MAX - 1, 2)
    assert not send(log, 0).duplicate
    assert send(log, INT32_MAX - 1, 2).duplicate
    log = World().open()
    send(log, INT32_MAX, 3)  # a batch across the wrap: MAX, 0, 1
    assert send(log, INT32_MAX, 3).duplicate
    assert send(log, 2).base_offset == 3
    assert sequence_plus(INT32_MAX, 1) == 0
    assert sequence_minus(0, 1) == INT32_MAX


def test_producer_id_without_sequence_is_invalid():
    log = World().open()
    assert refusal(lambda: send(log, -1)) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("clean", [True, False])
def test_duplicates_are_known_after_a_restart(clean):
    world = World(LogConfig(segment_bytes=400))
    log = world.open()
    for number in range(10):
        send(log, number)
    if clean:
        log.close()
    else:
        world.fs.crash(lambda _p, _synced, size: size)
    log = world.open(is_clean=clean)
    assert send(log, 9).duplicate
    assert send(log, 10).base_offset == 10


def test_followers_learn_producers_too():
    leader, follower = World().open(), World().open()
    for number in range(3):
        send(leader, number)
    follower.append_as_follower(leader.read(0, 1 << 20, 3).read())
    assert send(follower, 2).duplicate
    assert send(follower, 3).base_offset == 3


def test_truncation_takes_producers_back():
    world = World(LogConfig(segment_bytes=250))
    log = world.open()
    for number in range(8):
        send(log, number)
    log.truncate_to(5)
    assert send(log, 4).duplicate
    assert refusal(lambda: send(log, 6)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 5).base_offset == 5


def test_silent_producers_are_forgotten_but_not_those_in_a_transaction():
    world = World(producer_expiration_ms=1000)
    log = world.open()
    send(log, 0, at_ms=world.clock.realtime_ms())
    send(log, 0, producer_id=7, is_transactional=True, at_ms=world.clock.realtime_ms())
    world.clock.advance(1001)
    log.tick()
    assert list(log.producers.entries) == [7]


def test_snapshot_is_byte_for_byte_kafkas():
    entry = ProducerEntry(1, 2, 9, 77, -1)
    entry.remember(5, 11, 3, 77)
    raw = producer_snapshot.encode([entry])
    assert raw[:2] == b"\x00\x01"
    assert raw[6:10] == b"\x00\x00\x00\x01"
    assert raw[10:] == struct.pack(">qhiqiqiq", 1, 2, 8, 11, 3, 77, 9, -1)
    assert producer_snapshot.decode(raw) == [entry]
    for damaged in (raw[:-1], raw[:5], b"", b"\x00\x02" + raw[2:], raw[:-1] + b"\x07"):
        with pytest.raises(SnapshotDamagedError):
            producer_snapshot.decode(damaged)


def test_damaged_snapshot_is_replaced_by_a_scan():
    world = World(LogConfig(segment_bytes=300))
    log = world.open()
    for number in range(8):
        send(log, number)
    log.close()
    for path in world.fs.paths():
        if path.endswith(".snapshot"):
            world.fs.content(path)[-1] ^= 1
    log = world.open(is_clean=True)
    assert send(log, 7).duplicate


def test_snapshot_at_every_roll_and_on_close():
    world = World(LogConfig(segment_bytes=250))
    log = world.open()
    for number in range(5):
        send(log, number)
    log.close()
    taken = [p.rpartition("/")[2] for p in world.fs.paths() if p.endswith(".snapshot")]
    assert taken == [f"{offset:020d}.snapshot" for offset in (*log.segment_base_offsets[1:], 5)]


# --- transactions ---


def test_last_stable_offset_stops_at_the_oldest_open_transaction():
    log = World().open()
    append(log, 3)
    send(log, 0, 2, is_transactional=True)
    send(log, 0, 1, producer_id=7, is_transactional=True)
    append(log, 1)
    log.update_high_watermark(7)
    assert log.last_stable_offset == 3
    end_transaction(log, commit=True)
    assert log.last_stable_offset == 3, "the marker is not replicated yet"
    log.update_high_watermark(8)
    assert log.last_stable_offset == 5
    end_transaction(log, commit=False, pid=7)
    log.update_high_watermark(9)
    assert log.last_stable_offset == 9
    assert [
        (t.producer_id, t.first_offset, t.last_offset) for t in log.aborted_transactions(0, 9)
    ] == [(7, 5, 8)]
    assert log.aborted_transactions(0, 5) == []


def seconds_of_last_stable_offset(open_transactions: int) -> float:
    log = World().open()
    for producer_id in range(open_transactions):
        send(log, 0, producer_id=producer_id, is_transactional=True)
    log.update_high_watermark(log.log_end_offset)
    assert log.last_stable_offset == 0
    return min(timeit.repeat(lambda: log.last_stable_offset, number=100, repeat=7))


def test_last_stable_offset_costs_the_same_with_thousands_of_transactions_open():
    # A walk through them would be hundreds of times slower.
    assert seconds_of_last_stable_offset(4000) / seconds_of_last_stable_offset(5) < 15


def test_last_stable_offset_is_never_below_the_log_start():
    log = World().open()
    send(log, 0, 5, is_transactional=True)
    append(log, 5)
    log.update_high_watermark(10)
    for deleted_before in (3, 7):
        log.delete_records_before(deleted_before)
        assert log.last_stable_offset == deleted_before, "the transaction is still open"
    end_transaction(log, commit=False)
    log.update_high_watermark(11)
    assert log.last_stable_offset == 11


@pytest.mark.parametrize("clean", [True, False])
def test_open_and_aborted_transactions_survive_a_restart(clean):
    world = World(LogConfig(segment_bytes=500))
    log = world.open()
    for round_ in range(4):
        send(log, round_, is_transactional=True)
        end_transaction(log, commit=False)
    send(log, 4, is_transactional=True)
    aborted = log.aborted_transactions(0, 100)
    assert len(aborted) == 4
    if clean:
        log.close()
    else:
        world.fs.crash(lambda _p, _synced, size: size)
    log = world.open(is_clean=clean)
    log.update_high_watermark(9)
    assert log.aborted_transactions(0, 100) == aborted
    assert (log.last_stable_offset, log.last_aborted_offset) == (8, 7)
    log.truncate_to(5)
    assert log.aborted_transactions(0, 100) == aborted[:2]
    assert log.last_aborted_offset == 3
    log.truncate_fully_and_start_at(5)
    assert log.last_aborted_offset == -1


def test_what_was_read_names_the_aborted_transactions_in_it_and_no_others():
    log = World(LogConfig(segment_bytes=600, index_interval_bytes=1)).open()
    for number in range(8):
        send(log, number, is_transactional=True)
        end_transaction(log, commit=number % 2 == 1)
    log.update_high_watermark(log.log_end_offset)
    for start in range(16):
        for size in (1, 200, 1 << 20):
            found = log.read(start, size, log.last_stable_offset)
            end = max(header.next_offset for _, header in iter_batches(found.read()))
            named = log.aborted_in(found, log.last_stable_offset)
            needed = {first for first in range(0, 16, 4) if first < end and first + 1 >= start}
            assert needed <= {first for _, first in named}
            behind = [first for _, first in named if first >= end]
            assert not behind, "those of the segments behind it are none of its own"
            assert {producer for producer, _ in named} <= {PID}


def test_without_an_abort_nothing_is_looked_for():
    log = World().open()
    send(log, 0, is_transactional=True)
    end_transaction(log, commit=True)
    log.update_high_watermark(2)
    assert log.last_aborted_offset == -1
    assert log.aborted_in(log.read(0, 1 << 20, 2), 2) == []


def test_a_coordinator_writes_in_a_producers_name_without_sequence():
    log = World().open()
    for _ in range(2):  # the same sequence twice: two commits, none of them sent again
        data = build_batch(
            [NewRecord(b"k", b"v", (), NOW_MS)],
            producer_id=PID,
            producer_epoch=3,
            base_sequence=0,
            is_transactional=True,
        )
        info = log.append_as_leader(data, 0, now_ms=NOW_MS, origin="coordinator")
        assert not info.duplicate
    assert log.log_end_offset == 2
    stale = build_batch(
        [NewRecord(b"k", b"v", (), NOW_MS)],
        producer_id=PID,
        producer_epoch=2,
        base_sequence=0,
        is_transactional=True,
    )
    code = refusal(lambda: log.append_as_leader(stale, 0, now_ms=NOW_MS, origin="coordinator"))
    assert code == ErrorCode.INVALID_PRODUCER_EPOCH


def test_who_names_no_transactional_id_writes_outside_transactions():
    log = World().open()
    inside = build_batch(
        [NewRecord(b"k", b"v", (), NOW_MS)],
        producer_id=PID,
        producer_epoch=0,
        base_sequence=0,
        is_transactional=True,
    )
    for named in ({}, {"origin": "client"}):  # nobody writes into a transaction by saying nothing
        code = refusal(lambda named=named: log.append_as_leader(inside, 0, now_ms=NOW_MS, **named))
        assert code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    nobodys = build_batch([NewRecord(b"k", b"v", (), NOW_MS)], is_transactional=True)
    code = refusal(lambda: log.append_as_leader(nobodys, 0, now_ms=NOW_MS, origin="transaction"))
    assert code == ErrorCode.INVALID_RECORD
    assert log.log_end_offset == 0


def test_client_may_not_write_markers():
    log = World().open()
    code = refusal(lambda: log.append_as_leader(marker(commit=True), 0, now_ms=NOW_MS))
    assert code == ErrorCode.INVALID_RECORD


def test_marker_of_an_old_coordinator_or_an_old_producer_epoch_is_fenced():
    log = World().open()
    send(log, 0, is_transactional=True, pepoch=3)
    end_transaction(log, commit=True, pepoch=3, coordinator_epoch=5)
    assert (
        refusal(lambda: end_transaction(log, commit=True, pepoch=3, coordinator_epoch=4))
        == ErrorCode.TRANSACTION_COORDINATOR_FENCED
    )
    assert (
        refusal(lambda: end_transaction(log, commit=True, pepoch=2, coordinator_epoch=5))
        == ErrorCode.INVALID_PRODUCER_EPOCH
    )


def test_marker_with_a_newer_epoch_fences_and_restarts_the_sequence():
    log = World().open()
    send(log, 0, 3, is_transactional=True)
    end_transaction(log, commit=False, pepoch=1)
    assert refusal(lambda: send(log, 3)) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert refusal(lambda: send(log, 3, pepoch=1)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 0, pepoch=1).base_offset == 4


def test_write_outside_an_open_transaction_is_refused():
    log = World().open()
    send(log, 0, is_transactional=True)
    assert refusal(lambda: send(log, 1)) == ErrorCode.INVALID_TXN_STATE


def test_txnindex_is_byte_for_byte_kafkas():
    world = World()
    log = world.open()
    send(log, 0, 2, is_transactional=True)
    end_transaction(log, commit=False)
    raw = bytes(world.fs.content(f"{DIRECTORY}/{0:020d}.txnindex"))
    assert raw == struct.pack(">hqqqq", 0, PID, 0, 2, 3)


def test_batch_is_the_unit_of_duplicates_not_its_bytes():
    log = World().open()
    send(log, 0, 2)
    data = batch(2, value=b"other", producer_id=PID, producer_epoch=0, base_sequence=0)
    assert log.append_as_leader(data, 0, now_ms=NOW_MS).duplicate
