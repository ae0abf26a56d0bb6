"""What spares a reader who goes on: a look beside the last index entry, few reads of the file."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.log.index.offset_index import ENTRY, OffsetIndex
from dataplane.log.reading.scan import last_boundary
from dataplane.ports.fakes.filesystem import MemoryFileSystem
from dataplane.wire.record_batch import NewRecord, build_batch


def index_of(positions: list[int], written: int) -> OffsetIndex:
    """Entries with these positions, the first `written` of them in the file, the rest pending."""
    fs = MemoryFileSystem()
    fs.make_dirs("/d")
    index = OffsetIndex(fs, "/d/0.index", 100)
    for number, position in enumerate(positions):
        index.append(100 + number, position)
        if number + 1 == written:
            index.flush()
    return index


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_hint_never_changes_what_is_found(data: st.DataObject) -> None:
    steps = data.draw(st.lists(st.integers(1, 50), max_size=30))
    positions = [sum(steps[: number + 1]) for number in range(len(steps))]
    index = index_of(positions, data.draw(st.integers(0, len(positions))))
    position = data.draw(st.integers(0, 1600))
    near = data.draw(st.integers(0, len(positions) + 3))
    count = data.draw(st.integers(0, 40))
    below = [number for number, at in enumerate(positions) if at <= position]
    wanted = (below[-1], 100 + below[-1], positions[below[-1]]) if below else (-1, 100, 0)
    assert index.floor_by_position(position, near, count) == wanted


@given(first=st.integers(0, 12), count=st.integers(0, 12), written=st.integers(0, 10))
def test_a_run_is_the_same_bytes_wherever_they_lie(first: int, count: int, written: int) -> None:
    positions = list(range(10, 110, 10))
    packed = [ENTRY.pack(number, position) for number, position in enumerate(positions)]
    wanted = b"".join(packed[first : first + count])
    assert index_of(positions, written).run(first, count) == wanted


def file_of(*sizes: int):
    fs = MemoryFileSystem()
    fs.make_dirs("/d")
    file = fs.open("/d/0.log", create=True)
    ends = [0]
    for size in sizes:
        data = build_batch([NewRecord(None, b"v" * size, (), 1_000)])
        file.append(data)
        ends.append(ends[-1] + len(data))
    return file, ends


@pytest.mark.parametrize("seed", range(5))
def test_the_last_boundary_is_found_over_many_reads(seed: int) -> None:
    chance = random.Random(seed)
    file, ends = file_of(*(chance.choice([10, 100, 5_000, 20_000]) for _ in range(30)))
    for _ in range(50):
        begin = chance.randrange(len(ends))
        limit = chance.randint(ends[begin], ends[-1])
        wanted = max(end for end in ends if end <= limit)
        assert last_boundary(file, ends[begin], limit) == wanted


def test_a_reader_far_from_its_limit_reads_a_bounded_number_of_times() -> None:
    file, ends = file_of(*[9_000] * 100)
    found = last_boundary(file, 0, ends[-1])
    assert 0 < found < ends[-1]
    assert found in ends


def test_damage_ends_the_walk_at_a_boundary() -> None:
    file, ends = file_of(100, 100)
    file.append(b"\0" * 400)
    assert last_boundary(file, 0, ends[-1] + 400) == ends[-1]
