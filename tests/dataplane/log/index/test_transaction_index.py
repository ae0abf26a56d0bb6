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
