"""Reads into memory: what a client sees is what it sees without, and nothing else is ever sent."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.log.config import LogConfig
from dataplane.log.opening import LogEnvironment
from dataplane.log.partition_log import PartitionLog
from dataplane.log.reading import read_memory, reader
from dataplane.log.reading.read_memory import CAPACITY_BYTES, TAKEN_BYTES_MAX, Held, ReadMemory
from dataplane.log.reading.scan import whole_batches
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.background import InlineBackground
from dataplane.ports.fakes.clock import FakeClock
from dataplane.runtime.os_filesystem import OsFile, OsFileSystem
from dataplane.wire.record_batch import iter_batches
from tests.dataplane.log.support import DIRECTORY, NOW_MS, World, batch, offsets_in

SMALL = LogConfig(segment_bytes=60_000, index_interval_bytes=2_000)
ONE = LogConfig(index_interval_bytes=4_096)
_BASE_OFFSET = struct.Struct(">q")


def reopened(world: World, log: PartitionLog) -> PartitionLog:
    """The same log, of whose end nothing is known but the index."""
    high_watermark = log.high_watermark
    log.close()
    log = world.open(is_clean=True)
    log.update_high_watermark(high_watermark)
    return log


def filled(world: World, sizes: list[tuple[int, int]], *, gaps: tuple[int, ...] = ()):
    """A log of batches of so many records of so many bytes; where compaction took some away."""
    log = world.open()
    offset = 0
    for number, (count, size) in enumerate(sizes):
        data = batch(count, value=b"v" * size)
        offset += 7 if number in gaps else 0
        _BASE_OFFSET.pack_into(data, 0, offset)
        log.append_as_follower(data)
        offset += count
    log.update_high_watermark(log.log_end_offset)
    return reopened(world, log)


def batches_in(data: bytes) -> list[tuple[int, int]]:
    """(first, last offset) of every batch; none may be cut."""
    found = []
    end = 0
    for position, header in iter_batches(data):
        assert position == end
        end = position + header.size_bytes
        found.append((header.base_offset, header.base_offset + header.last_offset_delta))
    assert end == len(data), "only whole batches"
    return found


batch_sizes = st.lists(
    st.tuples(st.integers(1, 3), st.sampled_from([1, 30, 500, 1_500, 4_000, 9_000])),
    min_size=8,
    max_size=60,
)
limits = st.sampled_from([0, 1, 700, 4_095, 4_096, 6_000, 15_000, 40_000])


class Reading:
    """One consumer, and the same without memory."""

    def __init__(self, with_memory: PartitionLog, without: PartitionLog, start: int) -> None:
        self.log, self.plain, self.at = with_memory, without, start

    def read(self, memory: ReadMemory, limit: int, bound: int, *, min_one_batch: bool):
        found = self.log.read(self.at, limit, bound, min_one_batch=min_one_batch, memory=memory)
        plain = self.plain.read(self.at, limit, bound, min_one_batch=min_one_batch)
        data, other = found.read(), plain.read()
        assert len(data) == found.size
        common = min(len(data), len(other))
        assert data[:common] == other[:common], "they begin alike"
        whole = batches_in(data)
        assert bool(whole) == bool(batches_in(other)), "there is something, or there is nothing"
        if not whole:
            return found
        assert len(data) <= limit or (len(whole) == 1 and min_one_batch)
        assert len(data) >= len(other), "what is known by its content is not cut earlier"
        assert whole[0][1] >= self.at, "it begins with the batch that was asked for"
        assert whole[-1][1] < bound
        self.at = whole[-1][1] + 1
        return found


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_clients_see_the_same_with_and_without_memory(data: st.DataObject) -> None:
    sizes = data.draw(batch_sizes)
    gaps = tuple(data.draw(st.sets(st.integers(1, len(sizes) - 1), max_size=5)))
    config = data.draw(st.sampled_from([SMALL, ONE]))
    log, plain = (filled(World(config=config), sizes, gaps=gaps) for _ in range(2))
    ends = [0, *(last + 1 for _first, last in batches_in(all_bytes(log)))]
    memory = ReadMemory()
    readers = [Reading(log, plain, data.draw(st.sampled_from(ends[:-1]))) for _ in range(3)]
    kept: list[tuple[Held, bytes]] = []
    for _ in range(data.draw(st.integers(5, 40))):
        each = data.draw(st.sampled_from(readers))
        bound = data.draw(st.sampled_from([end for end in ends if end >= each.at]))
        found = each.read(memory, data.draw(limits), bound, min_one_batch=data.draw(st.booleans()))
        if found.held is not None:
            kept.append((found.held, found.read()))
            assert bytes(found.held.get() or b"") == found.read()
        if data.draw(st.integers(0, 9)) == 0:
            memory.start_over()
        if each.at >= log.log_end_offset:
            each.at = 0
        for held, content in kept:
            now = held.get()
            assert now is None or bytes(now) == content, "never anything else"
        assert memory.size_bytes <= CAPACITY_BYTES


def all_bytes(log: PartitionLog) -> bytes:
    found, at = b"", 0
    while data := log.read(at, 1 << 20, log.log_end_offset).read():
        found += data
        at = batches_in(data)[-1][1] + 1
    return found


@settings(max_examples=60, deadline=None)
@given(
    sizes=batch_sizes,
    limit=st.sampled_from([4_096, 9_100, 20_000]),
    gaps=st.sets(st.integers(1, 59), max_size=5),
)
def test_a_consumer_gets_every_record_once(
    sizes: list[tuple[int, int]], limit: int, gaps: set[int]
) -> None:
    log = filled(World(config=SMALL), sizes, gaps=tuple(gaps))
    memory, at, found = ReadMemory(), 0, []
    while data := log.read(at, limit, log.log_end_offset, memory=memory).read():
        offsets = offsets_in(data)
        assert offsets[-1] >= at, "it goes on"
        found += offsets
        at = offsets[-1] + 1
    assert found == offsets_in(all_bytes(log))


@settings(max_examples=200, deadline=None)
@given(
    takes=st.lists(
        st.tuples(st.integers(1, TAKEN_BYTES_MAX), st.floats(0, 1), st.integers(0, 19)),
        max_size=30,
    )
)
def test_taken_memory_is_nobody_elses_while_it_counts(
    takes: list[tuple[int, float, int]],
) -> None:
    memory = ReadMemory()
    assert memory.size_bytes == 0, "nothing before it is used"
    held: list[tuple[Held, int]] = []
    for number, (size, given_back, chance) in enumerate(takes):
        data = memory.take(size)
        assert len(data) == size
        kept = size - int(size * given_back)
        memory.give_back(size - kept)
        data[:kept] = bytes([number]) * kept
        held.append((Held(memory, memory.generation, data[:kept]), number))
        if chance == 0:
            memory.start_over()
        for each, written in held:
            now = each.get()
            # Its ends say enough: pieces are taken one behind the other.
            assert now is None or not len(now) or now[0] == now[-1] == written
    assert memory.size_bytes in {0, CAPACITY_BYTES}


def test_memory_started_over_counts_as_not_read() -> None:
    log = filled(World(config=ONE), [(1, 9_000)] * 20)
    memory = ReadMemory()
    first = log.read(0, 20_000, 20, memory=memory)
    assert first.held is not None
    assert bytes(first.held.get() or b"") == first.read()
    memory.start_over()
    assert first.held.get() is None
    second = log.read(5, 20_000, 20, memory=memory)
    assert second.held is not None
    assert first.held.get() is None
    assert offsets_in(first.read()) == [0, 1], "the file has it still"


@pytest.mark.parametrize("limit", [0, 1, 4_095, TAKEN_BYTES_MAX + 1])
def test_limits_outside_of_its_own_leave_memory_alone(limit: int) -> None:
    log = filled(World(config=ONE), [(1, 60_000)] * 40)
    memory = ReadMemory()
    assert log.read(0, limit, 40, memory=memory).held is None
    assert memory.size_bytes == 0


def test_the_largest_take_fits_beside_what_was_gathered() -> None:
    assert read_memory.TAKEN_BYTES_MAX <= read_memory.CAPACITY_BYTES
    memory = ReadMemory()
    for _ in range(5):
        assert len(memory.take(TAKEN_BYTES_MAX)) == TAKEN_BYTES_MAX


def test_what_is_below_the_bound_is_never_passed() -> None:
    """A bound in the middle of what the limit would let through."""
    log = filled(World(config=ONE), [(2, 2_000)] * 40)
    memory = ReadMemory()
    for bound in range(1, 80):
        for limit in (4_096, 9_000, 30_000):
            found = log.read(0, limit, bound, memory=memory)
            assert all(last < bound for _first, last in batches_in(found.read()))


def test_a_place_remembered_is_forgotten_when_the_log_is_truncated() -> None:
    world = World(config=ONE)
    log = filled(world, [(1, 9_000)] * 20)
    memory = ReadMemory()
    found = log.read(0, 30_000, 20, memory=memory)
    following = offsets_in(found.read())[-1] + 1
    log.truncate_to(following - 2)
    for _ in range(12):
        log.append_as_leader(batch(1, value=b"other" * 1_100), 1, now_ms=NOW_MS)
    log.update_high_watermark(log.log_end_offset)
    again = log.read(following, 30_000, log.log_end_offset, memory=memory)
    assert offsets_in(again.read())[0] == following
    assert b"other" in again.read()
    assert again.held is None or bytes(again.held.get() or b"") == again.read()


def test_a_place_in_a_deleted_segment_is_not_gone_to() -> None:
    log = filled(World(config=SMALL), [(1, 9_000)] * 40)
    assert len(log.segment_base_offsets) > 3
    memory = ReadMemory()
    following = offsets_in(log.read(0, 20_000, 40, memory=memory).read())[-1] + 1
    log.delete_records_before(log.segment_base_offsets[2])
    assert log.apply_retention(NOW_MS) == 2
    start = log.log_start_offset
    assert following < start
    assert offsets_in(log.read(start, 20_000, 40, memory=memory).read())[0] == start


def torn(data: bytes | bytearray, most: int = 128) -> tuple[int, int]:
    return whole_batches(memoryview(data), most)


def test_whole_batches_end_before_what_is_cut() -> None:
    parts = [batch(count, value=b"v" * 50) for count in (1, 3, 2)]
    ends, offset = [0], 0
    for number, part in enumerate(parts):
        _BASE_OFFSET.pack_into(part, 0, offset)
        offset += (1, 3, 2)[number]
        ends.append(ends[-1] + len(part))
    whole = b"".join(parts)
    last_offsets = {0: -1, ends[1]: 0, ends[2]: 3, ends[3]: 5}
    for size in range(len(whole) + 1):
        end = max(end for end in ends if end <= size)
        assert torn(whole[:size]) == (end, last_offsets[end])
    assert torn(whole, 3) == (0, -1), "among many small ones another way is faster"


@given(data=st.binary(max_size=400))
def test_whole_batches_never_end_outside_of_foreign_bytes(data: bytes) -> None:
    end, _last_offset = torn(data)
    assert 0 <= end <= len(data)
    assert torn(bytes(200) + data) == (0, -1)


@pytest.mark.parametrize("said", [99, 2**62])
def test_a_damaged_batch_names_no_place_beyond_the_bound(said: int) -> None:
    """Whoever comes to that offset one day is not led back here."""
    world = World(config=ONE)
    log = filled(world, [(1, 1_500)] * 60)
    file = world.fs.open(f"{DIRECTORY}/00000000000000000000.log")
    size = file.size() // 60
    content = bytearray(file.read_at(0, file.size()))
    _BASE_OFFSET.pack_into(content, 3 * size, said)
    file.truncate(0)
    file.append(content)
    memory = ReadMemory()
    assert len(batches_in(log.read(0, 4 * size, 60, memory=memory).read())) == 4
    for _ in range(400):
        log.append_as_leader(batch(1, value=b"w" * 1_500), 0, now_ms=NOW_MS)
    log.update_high_watermark(log.log_end_offset)
    following = batches_in(log.read(100, 4 * size, log.log_end_offset, memory=memory).read())
    assert following[0] == (100, 100)


class Counts:
    """Reads of files on a real file system."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reads: list[str] = []
        for name in ("read_at", "read_into"):
            self._wrap(monkeypatch, name, getattr(OsFile, name))

    def _wrap(self, monkeypatch: pytest.MonkeyPatch, name: str, real) -> None:
        def counted(file: OsFile, *arguments: object):
            self.reads.append(name)
            return real(file, *arguments)

        monkeypatch.setattr(OsFile, name, counted)


def on_disk(directory: Path) -> PartitionLog:
    return PartitionLog(
        LogEnvironment(OsFileSystem(), FakeClock(), InlineBackground()),
        TopicPartition("topic", 0),
        str(directory),
        LogConfig(),
    )


@pytest.mark.parametrize("value_bytes", [900, 10_000, 60_000])
def test_a_consumer_who_goes_on_costs_one_read_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value_bytes: int
) -> None:
    limit = 64 << 10
    log = on_disk(tmp_path)
    for _ in range(2_000_000 // value_bytes):
        log.append_as_leader(batch(1, value=b"v" * value_bytes), 0, now_ms=NOW_MS)
    log.update_high_watermark(log.log_end_offset)
    log.close()
    log = on_disk(tmp_path)
    log.update_high_watermark(log.log_end_offset)
    end = log.log_end_offset
    memory = ReadMemory()
    first = log.read(0, limit, end, memory=memory)
    at = offsets_in(first.read())[-1] + 1
    counts = Counts(monkeypatch)
    for _ in range(15):
        counts.reads.clear()
        found = log.read(at, limit, end, memory=memory)
        assert found.held is not None
        data = bytes(found.held.get() or b"")
        assert counts.reads == ["read_into"]
        assert limit - value_bytes - 200 < len(data) <= limit
        at = offsets_in(data)[-1] + 1
    log.close()


def test_many_small_batches_are_not_tried_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than are walked over: reads go by the index, and try but once in a while."""
    log = on_disk(tmp_path)
    for _ in range(6_000):
        log.append_as_leader(batch(1, value=b"v"), 0, now_ms=NOW_MS)
    log.update_high_watermark(log.log_end_offset)
    memory, taken = ReadMemory(), []
    monkeypatch.setattr(
        ReadMemory, "take", lambda self, size: taken.append(size) or memoryview(bytearray(size))
    )
    monkeypatch.setattr(ReadMemory, "give_back", lambda *_: None)
    for _ in range(2 * (reader.PASSES + 1)):
        assert log.read(0, 64 << 10, 5_000, memory=memory).held is None
    assert len(taken) == 2
    log.close()
