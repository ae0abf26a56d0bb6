"""Aborted transactions over a range of offsets, against a plain search of all of them."""

from hypothesis import given
from hypothesis import strategies as st

from dataplane.log.index.transaction_index import AbortedTransaction, TransactionIndex
from dataplane.ports.fakes.filesystem import MemoryFileSystem


@st.composite
def histories(draw):
    """Rows by segment as a leader writes them: transactions of producers that overlap."""
    open_, rows, offset, base = {}, {}, 0, 0
    for producer_id in draw(st.lists(st.integers(1, 5), max_size=40)):
        if draw(st.booleans()) and draw(st.booleans()):
            base = offset
        if producer_id in open_:
            first = open_.pop(producer_id)
            stable = min(open_.values(), default=offset + 1)
            row = AbortedTransaction(producer_id, first, offset, stable)
            rows.setdefault(base, []).append(row)
        else:
            open_[producer_id] = offset
        offset += 1
    return rows, offset


@given(histories(), st.data())
def test_a_range_has_just_those_that_reach_into_it(history, data):
    rows, end = history
    fs = MemoryFileSystem()
    fs.make_dirs("/p")
    index = TransactionIndex(fs, "/p")
    for base, found in rows.items():
        for row in found:
            index.append(base, row)
    start = data.draw(st.integers(0, end))
    stop = data.draw(st.integers(start, end + 1))
    everything = [row for found in rows.values() for row in found]
    wanted = [row for row in everything if row.last_offset >= start and row.first_offset < stop]
    assert index.overlapping(start, stop) == sorted(wanted, key=lambda row: row.last_offset)
    assert index.is_empty == (not everything)


@given(histories(), st.data())
def test_the_last_marker_is_known_whatever_goes(history, data):
    rows, end = history
    fs = MemoryFileSystem()
    fs.make_dirs("/p")
    index = TransactionIndex(fs, "/p")
    for base, found in rows.items():
        for row in found:
            index.append(base, row)
    bound = data.draw(st.integers(0, end))
    dropped = data.draw(st.sets(st.sampled_from(sorted(rows))) if rows else st.just(set()))
    index.truncate_to(bound)
    for base in dropped:
        index.drop(base)
    left = {base: found for base, found in rows.items() if base not in dropped}
    kept = [row.last_offset for found in left.values() for row in found if row.last_offset < bound]
    assert index.last_offset == max(kept, default=-1)
    opened = TransactionIndex(fs, "/p")
    for base in data.draw(st.permutations(sorted(left))):
        assert opened.load(base)
    assert opened.last_offset == index.last_offset
