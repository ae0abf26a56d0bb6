"""What compaction keeps, drops and never touches (kafka.md §2.1, KIP-534)."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.log.cleaner.plan import assess
from dataplane.log.cleaner.source import UncleanableError
from dataplane.log.config import LogConfig
from dataplane.wire.compression import Compression
from tests.dataplane.log.cleaner.cleaning import (
    CODECS,
    COMPACT,
    DAY_MS,
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
    records,
)
from tests.dataplane.log.support import DIRECTORY, NOW_MS, World


def newest(rows):
    return {key: (offset, value) for offset, key, value in rows}


def test_the_newest_record_of_each_key_stays_at_its_offset():
    world = World(COMPACT)
    log = world.open()
    put(log, ("a", "1"), ("b", "1"))
    put(log, ("a", "2"), ("c", "1"))
    put(log, ("b", "2"))
    clean(world, log)
    assert contents(log) == [(2, "a", "2"), (3, "c", "1"), (4, "b", "2")]
    assert log.log_end_offset == 5
    assert log.cleaned_until == 5
    assert records(log)[0].headers == (("h", b"1"),)
    assert log.segment_base_offsets == [0, 5]


@settings(max_examples=80, deadline=None)
@given(
    writes=st.lists(
        st.tuples(
            st.lists(
                st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["x", "yy" * 40, None])),
                min_size=1,
                max_size=6,
            ),
            st.sampled_from(CODECS),
            st.sampled_from(["", "", "clean", "reopen", "crash"]),
        ),
        min_size=1,
        max_size=25,
    ),
    memory=st.sampled_from([24 * 16, 1 << 16]),
    stamps=st.booleans(),
)
def test_whoever_reads_a_compacted_log_ends_with_the_same_table(writes, memory, stamps):
    config = dataclasses.replace(COMPACT, segment_bytes=700, stamps_append_time=stamps)
    world = World(config)
    log = world.open()
    original: dict[int, tuple[str, str | None]] = {}
    for pairs, codec, then in writes:
        info = put(log, *pairs, at_ms=NOW_MS + len(original), compression=codec)
        original |= {info.base_offset + n: pair for n, pair in enumerate(pairs)}
        if then == "clean":
            clean(world, log, memory_bytes=memory)
        elif then == "reopen":
            log.close()
            log = world.open(is_clean=True, cleaned_until=log.cleaned_until)
        elif then == "crash":
            world.fs.crash(lambda _path, _synced, size: size)
            log = world.open(cleaned_until=log.cleaned_until)
    while log.cleaned_until < log.log_end_offset:
        clean(world, log, memory_bytes=memory)
    found = contents(log)
    expected = newest((offset, *pair) for offset, pair in original.items())
    assert all(original[offset] == (key, value) for offset, key, value in found)
    assert newest(found) == expected, "tombstones stay: their horizon is a day away"
    assert len(found) == len(expected)
    assert [row[0] for row in found] == sorted(row[0] for row in found)
    for header, inside in batches(log):
        if inside:
            assert header.max_timestamp_ms == max(r.timestamp_ms for r in inside)
    late = log.offset_for_timestamp(NOW_MS - 1)
    assert (late.offset if late else None) == (found[0][0] if found else None)


def test_timestamps_survive_when_the_first_record_of_a_batch_goes():
    world = World(COMPACT)
    log = world.open()
    put(log, ("a", "1"), ("b", "1"), ("c", None), at_ms=NOW_MS)
    put(log, ("a", "2"), at_ms=NOW_MS + 10)
    clean(world, log)
    assert [(r.offset, r.timestamp_ms) for r in records(log)] == [
        (1, NOW_MS + 1),
        (2, NOW_MS + 2),
        (3, NOW_MS + 10),
    ]


# --- tombstones and the delete horizon ---


@pytest.mark.parametrize("codec", CODECS)
def test_tombstone_gets_its_horizon_at_the_first_pass_and_goes_after_it(codec):
    config = dataclasses.replace(COMPACT, delete_retention_ms=HOUR_MS)
    world = World(config)
    log = world.open()
    put(log, ("a", "1"), ("b", "1"), compression=codec)
    put(log, ("a", None), ("b", "2"), compression=codec)
    clean(world, log)
    header, inside = batches(log)[0]
    assert header.attributes & 0x40
    assert header.base_timestamp_ms == NOW_MS + HOUR_MS
    assert [r.timestamp_ms for r in inside] == [NOW_MS, NOW_MS + 1]
    put(log, ("c", "1"))
    clean(world, log, now_ms=NOW_MS + HOUR_MS - 1)
    assert (2, "a", None) in contents(log)
    put(log, ("d", "1"))
    clean(world, log, now_ms=NOW_MS + HOUR_MS)
    assert contents(log) == [(3, "b", "2"), (4, "c", "1"), (5, "d", "1")]


# --- what is cleanable, and when ---


def test_active_segment_is_never_compacted_nor_what_is_not_committed():
    world = World(COMPACT)
    log = world.open()
    put(log, ("a", "1"))
    put(log, ("a", "2"))
    commit_all(log)
    assert assess(log, NOW_MS).dirty_bytes == 0
    log.roll()
    put(log, ("a", "3"))
    assert assess(log, NOW_MS).first_uncleanable == 2
    other = World(COMPACT).open()
    put(other, ("a", "1"))
    other.roll()
    put(other, ("a", "2"))
    assert assess(other, NOW_MS).first_uncleanable == 0, "nothing is committed"


def test_dirty_ratio_counts_bytes_behind_the_cleaned_part():
    world = World(COMPACT)
    log = world.open()
    put(log, *((f"k{n}", "v" * 50) for n in range(9)))
    clean(world, log)
    assert not assess(log, NOW_MS).is_due
    put(log, ("k0", "w"))
    log.roll()
    commit_all(log)
    found = assess(log, NOW_MS)
    assert 0 < found.ratio < 0.5
    assert not found.is_due
    log.update_config(dataclasses.replace(COMPACT, min_cleanable_dirty_ratio=0.01))
    assert assess(log, NOW_MS).is_due


def test_min_compaction_lag_holds_young_segments_back():
    world = World(dataclasses.replace(COMPACT, min_compaction_lag_ms=HOUR_MS))
    log = world.open()
    put(log, ("a", "1"), at_ms=NOW_MS)
    log.roll()
    put(log, ("a", "2"), at_ms=NOW_MS + HOUR_MS)
    log.roll()
    commit_all(log)
    assert assess(log, NOW_MS + HOUR_MS - 1).first_uncleanable == 0
    assert assess(log, NOW_MS + HOUR_MS).first_uncleanable == 1
    assert assess(log, NOW_MS + 2 * HOUR_MS).first_uncleanable == 2


def test_max_compaction_lag_makes_a_log_due_and_rolls_its_active_segment():
    config = dataclasses.replace(
        COMPACT, min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=HOUR_MS
    )
    world = World(config)
    log = world.open()
    put(log, ("a", "1"), at_ms=NOW_MS)
    put(log, ("a", "2"), at_ms=NOW_MS + HOUR_MS + 1)
    assert log.segment_base_offsets == [0, 1]
    commit_all(log)
    assert not assess(log, NOW_MS + HOUR_MS).is_due
    assert assess(log, NOW_MS + HOUR_MS + 1).is_due


def test_small_segments_are_joined_up_to_the_segment_size():
    world = World(COMPACT)
    log = world.open()
    for number in range(12):
        put(log, (f"k{number}", "v" * 300))
        log.roll()
    clean(world, log)
    assert len(log.segment_base_offsets) == 4
    assert len(contents(log)) == 12
    snapshots = {int(p[-29:-9]) for p in world.fs.paths() if p.endswith(".snapshot")}
    assert snapshots <= {*log.segment_base_offsets, 11, 12}


def test_compact_and_delete_together():
    world = World(dataclasses.replace(COMPACT, deletes=True, retention_ms=DAY_MS))
    log = world.open()
    put(log, ("a", "1"), ("b", "1"), at_ms=NOW_MS)
    put(log, ("a", "2"), at_ms=NOW_MS)
    clean(world, log)
    put(log, ("c", "1"), at_ms=NOW_MS + DAY_MS + 5)
    commit_all(log)
    assert contents(log)[0] == (1, "b", "1")
    assert log.apply_retention(NOW_MS + DAY_MS + 5) == 1
    assert contents(log) == [(3, "c", "1")]


# --- bounded memory, resumption ---


def test_a_full_key_map_ends_the_round_and_the_next_one_goes_on():
    world = World(COMPACT)
    log = world.open()
    for number in range(60):
        put(log, (f"k{number % 30}", str(number)))
    first = clean(world, log, memory_bytes=24 * 16)
    assert first.offsets.memory_bytes <= 24 * 16
    assert 0 < log.cleaned_until < 60
    rounds = 1
    while log.cleaned_until < 60:
        clean(world, log, memory_bytes=24 * 16)
        rounds += 1
    assert rounds > 3
    assert contents(log) == [(n, f"k{n % 30}", str(n)) for n in range(30, 60)]


def test_one_batch_with_more_keys_than_memory_is_uncleanable():
    world = World(COMPACT)
    log = world.open()
    put(log, *((f"k{n}", "v") for n in range(40)))
    with pytest.raises(UncleanableError, match="dedupe"):
        clean(world, log, memory_bytes=1)


# --- producers and transactions ---


def test_last_sequence_of_a_producer_survives_in_an_empty_batch():
    world = World(COMPACT)
    log = world.open()
    put(log, ("a", "1"), producer_id=7, producer_epoch=0, base_sequence=0)
    put(log, ("a", "2"), producer_id=7, producer_epoch=0, base_sequence=1)
    put(log, ("a", "3"))
    clean(world, log)
    assert contents(log) == [(2, "a", "3")]
    (empty, inside), _last = batches(log)
    assert (empty.record_count, empty.base_offset, inside) == (0, 1, [])
    log.close()
    for path in world.fs.paths():
        if path.endswith(".snapshot"):
            world.fs.remove(path)
    log = world.open(is_clean=True)
    again = put(log, ("a", "2"), producer_id=7, producer_epoch=0, base_sequence=1)
    assert (again.duplicate, again.base_offset) == (True, 1)
    new = put(log, ("a", "4"), producer_id=7, producer_epoch=0, base_sequence=2)
    assert new.base_offset == 3


def transactional(log, *pairs, producer_id: int, sequence: int = 0):
    return put(
        log,
        *pairs,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=sequence,
        is_transactional=True,
    )


def test_aborted_data_goes_and_markers_stay_until_their_horizon():
    config = dataclasses.replace(COMPACT, delete_retention_ms=HOUR_MS)
    world = World(config)
    log = world.open()
    put(log, ("a", "old"))
    transactional(log, ("a", "aborted"), ("z", "aborted"), producer_id=5)
    transactional(log, ("b", "committed"), producer_id=6)
    end_transaction(log, 5, commits=False)
    end_transaction(log, 6, commits=True)
    put(log, ("q", "1"))
    clean(world, log)
    assert contents(log) == [(0, "a", "old"), (3, "b", "committed"), (6, "q", "1")]
    assert [a.producer_id for a in log.aborted_transactions(0, 100)] == [5], "its marker is there"
    log.producers.entries.clear()
    put(log, ("q", "2"))
    clean(world, log, now_ms=NOW_MS)  # the producer is forgotten: its empty batch goes
    put(log, ("q", "2"))
    clean(world, log, now_ms=NOW_MS + 1)  # the aborted marker gets its horizon
    markers = [h for h, _ in batches(log) if h.is_control]
    assert [(m.producer_id, m.attributes & 0x40) for m in markers] == [(5, 0x40), (6, 0)]
    assert log.aborted_transactions(0, 100) == []
    put(log, ("b", "newer"))
    clean(world, log, now_ms=NOW_MS + 1 + HOUR_MS)
    assert [h.producer_id for h, inside in batches(log) if h.is_control and inside] == [6]
    put(log, ("q", "3"))
    clean(world, log, now_ms=NOW_MS + 2 + HOUR_MS)
    put(log, ("q", "4"))
    clean(world, log, now_ms=NOW_MS + 3 + 2 * HOUR_MS)
    assert not [h for h, inside in batches(log) if h.is_control and inside]
    assert newest(contents(log)) == {"a": (0, "old"), "b": (9, "newer"), "q": (11, "4")}


def test_an_open_transaction_bounds_what_is_compacted():
    world = World(COMPACT)
    log = world.open()
    put(log, ("a", "1"))
    log.roll()
    put(log, ("a", "2"))
    log.roll()
    transactional(log, ("t", "1"), producer_id=5)
    log.roll()
    commit_all(log)
    assert assess(log, NOW_MS).first_uncleanable == 2


def test_a_producer_that_aborted_and_then_committed_keeps_what_it_committed():
    world = World(COMPACT)
    log = world.open()
    transactional(log, ("a", "gone"), producer_id=5)
    end_transaction(log, 5, commits=False)
    clean(world, log)
    transactional(log, ("a", "kept"), producer_id=5, sequence=1)
    end_transaction(log, 5, commits=True)
    clean(world, log)
    assert contents(log) == [(2, "a", "kept")]


# --- trouble ---


def test_a_damaged_segment_is_uncleanable_and_stays_as_it_was():
    world = World(COMPACT)
    log = world.open()
    for number in range(10):
        put(log, ("a", str(number)))
    log.roll()
    path = f"{DIRECTORY}/{0:020d}.log"
    world.fs.content(path)[200] ^= 1
    before = bytes(world.fs.content(path))
    with pytest.raises(UncleanableError, match="CRC"):
        clean(world, log)
    assert bytes(world.fs.content(path)) == before
    assert not [p for p in world.fs.paths() if "cleaned" in p or "swap" in p]


@settings(max_examples=150, deadline=None)
@given(at=st.integers(0, 5000), value=st.integers(0, 255), codec=st.sampled_from(CODECS))
def test_hostile_record_bytes_never_do_more_than_set_the_log_aside(at, value, codec):
    """Record bodies are the client's: the CRC fits, the content need not."""
    import struct

    from crc32c import crc32c

    world = World(dataclasses.replace(COMPACT, compacts=False))  # nothing looks inside on append
    log = world.open()
    put(log, *((f"key-{n}", "v" * 20) for n in range(5)), compression=codec)
    put(log, ("key-0", "w"))
    log.roll()
    content = world.fs.content(f"{DIRECTORY}/{0:020d}.log")
    size = 12 + struct.unpack_from(">i", content, 8)[0]
    content[61 + at % (size - 61)] = value
    struct.pack_into(">I", content, 17, crc32c(bytes(content[21:size])))
    log.update_config(COMPACT)
    try:
        clean(world, log)
    except UncleanableError:
        return
    assert log.log_end_offset == 6


def test_truncation_while_a_round_runs_makes_its_result_worthless():
    world = World(COMPACT)
    log = world.open()
    for number in range(4):
        put(log, ("a", str(number)))
        log.roll()
    commit_all(log)
    run = make_round(world, log)
    list(run.map_keys())
    list(run.rewrite(run.groups[0]))
    log.truncate_to(2)
    assert not log.replace_segments(run.result, truncations=run.plan.truncations)
    assert contents(log) == [(0, "a", "0"), (1, "a", "1")]
    assert not [p for p in world.fs.paths() if "cleaned" in p]


def test_retention_while_a_round_runs_makes_its_result_worthless():
    world = World(dataclasses.replace(COMPACT, deletes=True, retention_ms=1))
    log = world.open()
    for number in range(3):
        put(log, ("a", str(number)))
        log.roll()
    commit_all(log)
    run = make_round(world, log)
    list(run.map_keys())
    list(run.rewrite(run.groups[0]))
    log.apply_retention(NOW_MS + DAY_MS)
    assert not log.replace_segments(run.result, truncations=run.plan.truncations)


def test_a_reader_keeps_its_slice_across_the_swap():
    world = World(COMPACT)
    log = world.open()
    for number in range(4):
        put(log, ("a", str(number)))
    log.roll()
    piece = log.read(0, 1 << 20, 4)
    clean(world, log)
    assert len(piece.read()) == piece.size
    assert contents(log) == [(3, "a", "3")]


def test_a_crash_at_any_moment_of_the_swap_loses_nothing():
    survived = 0
    for moment in range(200):
        world = World(dataclasses.replace(COMPACT, segment_bytes=400), fs=CrashingFileSystem())
        log = world.open()
        put(log, ("gone", "old"), ("stays", "1"))
        transactional(log, ("x", "aborted"), producer_id=5)
        end_transaction(log, 5, commits=False)
        for number in range(8):
            put(log, (f"k{number % 3}", "v" * 90 + str(number)))
        put(log, ("gone", None))
        log.flush()
        expected = newest(contents(log))
        del expected["x"]
        world.fs.changes_left = moment
        try:
            clean(world, log)
            log.flush()
            done = True
        except StopError:
            done = False
        world.fs.changes_left = 1 << 30
        world.fs.crash()  # only what was synced survives; names do
        log = world.open(recovery_point=log.recovery_point)
        found = newest(contents(log))
        found.pop("x", None)  # still there, and known as aborted, while the round is not done
        assert found == expected, moment
        assert log.log_end_offset == 13
        assert not [p for p in world.fs.paths() if p.endswith((".swap", ".cleaned", ".deleted"))]
        clean(world, log)
        assert newest(contents(log)) == expected
        survived += not done
        if done:
            break
    assert survived > 20


def test_a_log_that_was_compacted_once_is_recovered_with_its_gaps():
    """Its policy may be delete by then: gaps are no reason to cut."""
    world = World(COMPACT)
    log = world.open()
    put(log, ("a", "1"))
    put(log, ("b", "1"))
    put(log, ("a", "2"))
    clean(world, log)
    world.config = LogConfig()
    world.fs.crash(lambda _path, _synced, size: size)
    log = world.open(cleaned_until=3)
    assert contents(log) == [(1, "b", "1"), (2, "a", "2")]
    assert log.recovered.truncated_bytes == 0


def test_recompression_keeps_the_codec():
    world = World(COMPACT)
    log = world.open()
    put(log, ("a", "1" * 99), ("b", "1" * 99), compression=Compression.ZSTD)
    put(log, ("a", "2"), compression=Compression.LZ4)
    clean(world, log)
    assert [h.codec for h, _ in batches(log)] == [Compression.ZSTD, Compression.LZ4]
