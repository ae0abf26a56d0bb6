"""The index file behind its object: closed, opened again, cut, torn, at any moment."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.log.index import sparse_index
from dataplane.log.index.sparse_index import SparseIndex
from dataplane.ports.fakes.filesystem import MemoryFileSystem

ENTRY = struct.Struct(">ii")
PATH = "/data/x.index"


class CountingFileSystem(MemoryFileSystem):
    """Knows the handles it gave out."""

    def __init__(self) -> None:
        super().__init__()
        self.make_dirs("/data")
        self.handles: list = []

    def open(self, path: str, *, create: bool = False):
        handle = super().open(path, create=create)
        self.handles.append(handle)
        return handle

    def count_open(self) -> int:
        return sum(not handle.closed for handle in self.handles)


def entries(index: SparseIndex) -> list[tuple[int, int]]:
    return [index.entry(number) for number in range(len(index))]


def add(index: SparseIndex, number: int) -> None:
    index.append_packed(ENTRY.pack(number, number * 10))


steps = st.lists(
    st.sampled_from(["add", "add", "add", "flush", "close", "reload", "tear"])
    | st.tuples(st.just("truncate"), st.integers(0, 12)),
    max_size=40,
)


@given(steps)
def test_an_index_holds_what_was_added_and_not_cut(taken):
    fs = CountingFileSystem()
    index = SparseIndex(fs, PATH, ENTRY)
    expected: list[tuple[int, int]] = []
    next_number = 1
    for step in taken:
        if step == "add":
            add(index, next_number)
            expected.append((next_number, next_number * 10))
            next_number += 1
        elif step == "flush":
            index.flush()
        elif step == "close":
            index.close()
            assert fs.count_open() == 0
        elif step == "reload":
            index.close()
            index = SparseIndex(fs, PATH, ENTRY)
        elif step == "tear":
            index.close()
            fs.content(PATH).extend(b"torn")
            index = SparseIndex(fs, PATH, ENTRY)
            assert index.is_torn()
            index.truncate_entries(len(expected))
            assert not index.is_torn()
        else:
            index.truncate_entries(step[1])
            del expected[step[1] :]
        assert entries(index) == expected
    index.close()
    assert bytes(fs.content(PATH)) == b"".join(ENTRY.pack(*entry) for entry in expected)


@pytest.mark.parametrize("stretch", [1, 2, 3, 2048])
@given(
    values=st.lists(st.integers(0, 60), max_size=30).map(sorted),
    written=st.integers(0, 30),
    bound=st.integers(-1, 61),
    inclusive=st.booleans(),
)
def test_search_counts_what_lies_below(stretch, values, written, bound, inclusive):
    """In the file, in memory, across both; by stretches of any length."""
    fs = CountingFileSystem()
    index = SparseIndex(fs, PATH, ENTRY)
    for number, value in enumerate(values):
        index.append_packed(ENTRY.pack(value, -value))
        if number + 1 == written:
            index.flush()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_index, "STRETCH_ENTRIES", stretch)
        found = index.count_below(bound, 0, inclusive=inclusive)
    assert found == sum(value < bound or (inclusive and value == bound) for value in values)


def test_an_index_that_somebody_cut_is_an_error_of_the_disk():
    fs = CountingFileSystem()
    index = SparseIndex(fs, PATH, ENTRY)
    for number in range(5):
        add(index, number)
    index.flush()
    del fs.content(PATH)[12:]
    with pytest.raises(OSError, match="shorter"):
        index.count_below(3, 0)


def test_a_torn_tail_and_pending_entries_are_cut_together():
    fs = CountingFileSystem()
    index = SparseIndex(fs, PATH, ENTRY)
    add(index, 1)
    index.flush()
    fs.content(PATH).extend(b"odd")
    add(index, 2)
    add(index, 3)
    index.truncate_entries(2)
    assert entries(index) == [(1, 10), (2, 20)]


def test_closing_makes_the_file_and_opens_it_no_second_time():
    fs = CountingFileSystem()
    index = SparseIndex(fs, PATH, ENTRY)
    index.close()
    assert fs.exists(PATH)
    index.close()
    assert len(index) == 0
    assert len(fs.handles) == 1


def test_releasing_forgets_what_was_pending():
    fs = CountingFileSystem()
    index = SparseIndex(fs, PATH, ENTRY)
    add(index, 1)
    index.flush()
    add(index, 2)
    index.release()
    assert fs.count_open() == 0
    assert entries(index) == [(1, 10)]


def test_a_failed_write_keeps_the_entries_for_the_next_one():
    fs = CountingFileSystem()
    index = SparseIndex(fs, PATH, ENTRY)
    add(index, 1)
    fs.fail("append", PATH)
    with pytest.raises(OSError, match="Input/output"):
        index.flush()
    assert entries(index) == [(1, 10)]
    index.flush()
    assert entries(index) == [(1, 10)]
    assert len(fs.content(PATH)) == ENTRY.size
