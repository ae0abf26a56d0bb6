"""Compacted logs as their readers see them: no reader stops before the end, copies are the same."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.log.opening import NEVER_CLEANED
from dataplane.log.partition_log import PartitionLog
from dataplane.log.reading import record_search
from dataplane.wire.record_batch import iter_batches, iter_records
from tests.dataplane.log.cleaner.cleaning import (
    CODECS,
    COMPACT,
    HOUR_MS,
    CrashingFileSystem,
    StopError,
    batches,
    clean,
    commit_all,
    contents,
    end_transaction,
    make_round,
    put,
)
from tests.dataplane.log.support import DIRECTORY, NOW_MS, World

SMALL = dataclasses.replace(COMPACT, segment_bytes=400, delete_retention_ms=HOUR_MS)
LIMITS = (1, 100, 700, 1 << 20)


def fetched(log: PartitionLog, at: int, max_bytes: int, upper: int) -> bytes:
    """What a consumer's fetch gives."""
    found = log.read(at, max_bytes, upper)
    if found.size and log.cleaned_until != NEVER_CLEANED:
        found = log.past_empty(found, max_bytes, upper, min_one_batch=True)
    return found.read()


def offsets_seen(log: PartitionLog, start: int, max_bytes: int, upper: int) -> list[int]:
    """What a consumer sees that goes on behind the last record it saw, whatever batches say."""
    at, seen = start, []
    while True:
        data = fetched(log, at, max_bytes, upper)
        new = [
            record.offset
            for position, _ in iter_batches(data)
            for record in iter_records(data, position)
            if record.offset >= at
        ]
        if not new:
            return seen
        seen += new
        at = new[-1] + 1


def offsets_there(log: PartitionLog, start: int = 0, upper: int = 1 << 62) -> list[int]:
    """Records from `start` in batches that lie wholly below `upper`."""
    return [
        record.offset
        for header, inside in batches(log)
        if header.next_offset <= upper
        for record in inside
        if record.offset >= start
    ]


def all_bytes(log: PartitionLog) -> bytes:
    """Every batch, in fetches that end where segments do."""
    at, found = log.log_start_offset, b""
    while data := log.read(at, 1 << 20, log.log_end_offset).read():
        for _, header in iter_batches(data):
            at = header.next_offset
        found += data
    return found


def replicated(leader: PartitionLog, world: World, max_bytes: int) -> PartitionLog:
    """A follower's log, made from nothing as replica fetchers do it."""
    log = world.open()
    while data := leader.read(log.log_end_offset, max_bytes, leader.log_end_offset).read():
        log.append_as_follower(data)
    return log


WRITES = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.sampled_from("abcd"), st.sampled_from(["x", "y" * 60, None])),
            min_size=1,
            max_size=5,
        ),
        st.sampled_from([-1, -1, 1, 2, 3, 4]),
        st.sampled_from(CODECS),
        st.sampled_from(["", "", "", "clean", "late", "roll", "abort", "forget"]),
    ),
    min_size=1,
    max_size=25,
)


def written(world: World, writes) -> PartitionLog:
    log = world.open()
    sequences: dict[int, int] = {}
    now_ms = NOW_MS
    for pairs, producer_id, codec, then in writes:
        options = {}
        if producer_id >= 0:
            first = sequences.get(producer_id, 0)
            sequences[producer_id] = first + len(pairs)
            options = {
                "producer_id": producer_id,
                "producer_epoch": 0,
                "base_sequence": first,
                "is_transactional": then == "abort",
            }
        put(log, *pairs, compression=codec, **options)
        if then == "abort" and producer_id >= 0:
            end_transaction(log, producer_id, commits=False)
        elif then == "roll":
            log.roll()
        elif then == "forget":
            log.producers.entries.clear()
            sequences.clear()
        elif then in {"clean", "late"}:
            now_ms += 2 * HOUR_MS * (then == "late")
            clean(world, log, now_ms=now_ms)
    commit_all(log)
    return log


@settings(max_examples=150, deadline=None)
@given(writes=WRITES, max_bytes=st.sampled_from(LIMITS), data=st.data())
def test_a_consumer_that_goes_by_records_alone_reads_to_the_end(writes, max_bytes, data):
    log = written(World(SMALL), writes)
    end = log.log_end_offset
    for start in range(end + 1):
        assert offsets_seen(log, start, max_bytes, end) == offsets_there(log, start), start
    upper = data.draw(st.integers(0, end), label="bound")
    for start in range(upper + 1):
        assert offsets_seen(log, start, max_bytes, upper) == offsets_there(log, start, upper)


@settings(max_examples=60, deadline=None)
@given(writes=WRITES, is_clean=st.booleans())
def test_a_compacted_log_is_the_same_after_a_start(writes, is_clean):
    world = World(SMALL)
    log = written(world, writes)
    end, bases, before = log.log_end_offset, log.segment_base_offsets, all_bytes(log)
    kept = {"cleaned_until": log.cleaned_until, "log_start_offset": log.log_start_offset}
    if is_clean:
        log.close()
        again = world.open(is_clean=True, **kept)
    else:
        world.fs.crash(lambda _path, _synced, size: size)
        again = world.open(**kept)
    assert (again.log_end_offset, again.segment_base_offsets) == (end, bases)
    assert again.recovered.truncated_bytes == 0
    assert again.log_start_offset == log.log_start_offset
    assert all_bytes(again) == before
    assert offsets_seen(again, 0, 1, end) == offsets_there(again)


@settings(max_examples=60, deadline=None)
@given(
    writes=WRITES,
    fetch_bytes=st.sampled_from(LIMITS),
    max_bytes=st.sampled_from(LIMITS),
    segment_bytes=st.sampled_from([300, 1 << 20]),
)
def test_a_follower_from_nothing_holds_the_same_log(writes, fetch_bytes, max_bytes, segment_bytes):
    leader = written(World(SMALL), writes)
    elsewhere = World(dataclasses.replace(SMALL, segment_bytes=segment_bytes))
    log = replicated(leader, elsewhere, fetch_bytes)
    assert log.log_end_offset == leader.log_end_offset, "or it would never be in sync"
    assert all_bytes(log) == all_bytes(leader)
    commit_all(log)
    for start in range(log.log_end_offset + 1):
        seen = offsets_seen(log, start, max_bytes, log.log_end_offset)
        assert seen == offsets_there(leader, start)
    put(log, ("e", "leads now"))
    commit_all(log)
    assert offsets_seen(log, 0, max_bytes, log.log_end_offset)[-1] == log.log_end_offset - 1


def superseded(world: World, segments: int = 6) -> PartitionLog:
    """Segments of one batch each; compacted, only the last one's record is left."""
    log = world.open()
    for number in range(segments):
        put(log, ("a", str(number) * 300))
        log.roll()
    clean(world, log)
    return log


@pytest.mark.parametrize("clean_stop", [True, False])
def test_a_segment_of_which_nothing_is_left_keeps_no_batch(clean_stop):
    world = World(SMALL)
    log = superseded(world)
    assert [header.base_offset for header, _ in batches(log)] == [5]
    assert log.segment_base_offsets[0] == log.log_start_offset == 0
    sizes = [len(world.fs.content(f"{DIRECTORY}/{base:020d}.log")) for base in range(5)]
    assert sizes == [0] * 5
    if clean_stop:
        log.close()
    else:
        world.fs.crash(lambda _path, _synced, size: size)
    log = world.open(is_clean=clean_stop, cleaned_until=6)
    commit_all(log)
    assert (log.log_start_offset, log.log_end_offset) == (0, 6)
    assert fetched(log, 0, 1, 6) == fetched(log, 5, 1, 6) != b""
    assert log.offset_for_timestamp(0).offset == 5
    put(log, ("b", "1"))
    clean(world, log)
    assert log.segment_base_offsets == [0, 6, 7], "the next round joins them with what follows"


def test_truncation_into_segments_of_which_nothing_is_left():
    log = superseded(World(SMALL))
    log.truncate_to(3)
    assert (log.log_start_offset, log.log_end_offset) == (0, 3)
    assert put(log, ("b", "1")).base_offset == 3
    commit_all(log)
    assert contents(log) == [(3, "b", "1")]
    assert offsets_seen(log, 0, 1, 4) == [3]


def test_a_log_whose_policy_changed_is_read_past_what_was_removed():
    world = World(SMALL)
    log = world.open()
    for number in range(5):
        put(log, ("a", "1"), producer_id=number, producer_epoch=0, base_sequence=0)
    put(log, ("a", "2"))
    clean(world, log)
    world.config = dataclasses.replace(SMALL, compacts=False, deletes=True)
    log.close()
    log = world.open(is_clean=True, cleaned_until=log.cleaned_until)
    assert [len(inside) for _, inside in batches(log)] == [0] * 5 + [1]
    assert offsets_seen(log, 0, 1, 6) == [5]


def test_a_follower_of_empty_batches_without_a_gap_knows_that_records_are_missing():
    world = World(SMALL)
    leader = world.open()
    for number in range(5):
        put(leader, ("a", "1"), producer_id=number, producer_epoch=0, base_sequence=0)
    put(leader, ("a", "2"))
    clean(world, leader)
    log = replicated(leader, World(dataclasses.replace(SMALL, compacts=False)), 1)
    commit_all(log)
    assert log.cleaned_until == 0
    assert offsets_seen(log, 0, 1, 6) == [5]


def test_a_round_that_is_given_up_half_way_has_removed_records_too():
    world = World(SMALL)
    log = world.open()
    for number in range(5):
        put(log, ("a", "v" * 300), producer_id=number, producer_epoch=0, base_sequence=0)
    put(log, ("a", "2"))
    log.roll()
    commit_all(log)
    run = make_round(world, log)
    list(run.map_keys())
    list(run.rewrite(run.groups[0]))
    assert log.replace_segments(run.result, truncations=run.plan.truncations)
    assert len(run.groups) > 1
    assert log.cleaned_until == 0
    assert offsets_seen(log, 0, 1, 6) == [1, 2, 3, 4, 5]


def test_a_look_is_bounded_and_the_next_one_goes_on(monkeypatch):
    world = World(dataclasses.replace(SMALL, segment_bytes=1 << 20))
    log = world.open()
    producers = 200
    for number in range(producers):
        put(log, ("a", "1"), producer_id=number, producer_epoch=0, base_sequence=0)
    put(log, ("a", "2"))
    clean(world, log)
    monkeypatch.setattr(record_search, "WALK_BYTES_MAX", 61 * 50)
    for _ in range(producers // 50):
        data = fetched(log, 0, 1, log.log_end_offset)
        assert [header.record_count for _, header in iter_batches(data)] == [0]
    data = fetched(log, 0, 1, log.log_end_offset)
    assert [header.base_offset for _, header in iter_batches(data)] == [producers]
    log.truncate_to(0)
    put(log, ("b", "1"))
    commit_all(log)
    assert offsets_seen(log, 0, 1, 1) == [0], "what was known of the log before is forgotten"


def test_the_offset_of_the_logs_end_survives_rounds_that_stop_before_it():
    """KAFKA-17076: a follower from nothing could not reach a log end that no batch contains."""
    world = World(dataclasses.replace(SMALL, segment_bytes=1 << 20))
    log = world.open()
    put(log, ("z", "gone"), producer_id=9, producer_epoch=0, base_sequence=0, is_transactional=True)
    for number in range(80):
        put(log, (f"k{number}", "1"))
    end_transaction(log, 9, commits=False)
    log.producers.entries.clear()
    end = log.log_end_offset
    for passed_hours in range(5):
        clean(world, log, memory_bytes=24 * 16, now_ms=NOW_MS + 2 * passed_hours * HOUR_MS)
    assert log.cleaned_until < end, "each of these rounds stopped before the marker"
    header, inside = batches(log)[-1]
    assert (header.is_control, header.next_offset, inside) == (True, end, [])
    follower = replicated(log, World(SMALL), 1 << 20)
    assert follower.log_end_offset == end == log.log_end_offset


def test_a_damaged_batch_is_not_passed_over():
    world = World(SMALL)
    log = superseded(world)
    put(log, ("b", "1"), ("c", "1"), ("b", "2"))
    log.roll()
    commit_all(log)
    clean(world, log)
    found = log.read(8, 1 << 20, log.log_end_offset)
    assert [header.record_count for _, header in iter_batches(found.read())] == [2], "one went"
    content = world.fs.content(f"{DIRECTORY}/{6:020d}.log")
    content[found.position + 61 :] = b"\xff" * (found.size - 61)
    assert log.past_empty(found, 1 << 20, log.log_end_offset, min_one_batch=True) == found


def test_a_crash_while_segments_go_of_which_nothing_is_left():
    """A `.swap` whose batches do not reach its end replaces its own segment; others wait their turn."""
    for moment in range(100):
        world = World(dataclasses.replace(SMALL, segment_bytes=1500), fs=CrashingFileSystem())
        log = world.open()
        for number in range(8):
            put(log, ("a", str(number) * 300))
            log.roll()
        put(log, ("b", "1"))
        log.flush()
        world.fs.changes_left = moment
        try:
            clean(world, log)
            is_done = True
        except StopError:
            is_done = False
        world.fs.changes_left = 1 << 30
        world.fs.crash()
        log = world.open(recovery_point=log.recovery_point, cleaned_until=0)
        commit_all(log)
        assert (log.log_start_offset, log.log_end_offset) == (0, 9)
        assert {key: value for _, key, value in contents(log)} == {"a": "7" * 300, "b": "1"}
        assert offsets_seen(log, 0, 1, 9) == offsets_there(log)
        clean(world, log)
        assert [row[0] for row in contents(log)] == [7, 8]
        if is_done:
            break
    assert moment > 20
