"""Several partitions in one order, however their records come in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.gateway.record_port import Fetched, Record, Span
from controlplane.messages import merging
from controlplane.messages.merging import AsTheyCome, NewestFirst, OldestFirst


def record(partition, offset, at_ms, size=1):
    return Record(
        partition=partition, offset=offset, timestamp_ms=at_ms, key=None, value=b"x" * size
    )


@st.composite
def logs(draw):
    """By partition some records, with holes between and behind them, and the span of all."""
    found = {}
    for number in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, 5))
        offsets = sorted(draw(st.sets(st.integers(start, 60), max_size=30)))
        end = max([*offsets, start]) + draw(st.integers(1, 4))
        rows = [
            record(number, at, draw(st.integers(0, 50)), draw(st.integers(0, 9))) for at in offsets
        ]
        found[number] = (Span(start, end), rows)
    return found


def fetched(log, needs, most):
    """What a broker might answer: of each partition at most so many, or nothing."""
    records, following = {}, {}
    for number, span in needs.items():
        rows = [row for row in log[number][1] if span.start <= row.offset < span.end]
        part = rows[:most]
        records[number] = part
        following[number] = part[-1].offset + 1 if len(rows) > most else span.end
    return Fetched(records, following)


def read(merge, log, most=3, limit=10**6):
    found = []
    for _ in range(10_000):
        while len(found) < limit and (row := merge.pop()) is not None:
            found.append(row)
        if merge.is_done or len(found) >= limit:
            return found
        merge.give(fetched(log, merge.needs(), most))
    raise AssertionError("it never ends")


def spans(log):
    return {number: span for number, (span, _) in log.items()}


def by_partition(rows):
    found = {}
    for row in rows:
        found.setdefault(row.partition, []).append(row.offset)
    return found


@given(logs(), st.integers(1, 7), st.integers(1, 9))
def test_each_record_once_in_the_order_of_its_partition(log, most, window):
    everything = {n: [row.offset for row in rows] for n, (_, rows) in log.items() if rows}
    oldest = read(OldestFirst(spans(log)), log, most)
    assert by_partition(oldest) == everything
    newest = read(NewestFirst(spans(log), first_window=window), log, most)
    assert by_partition(newest) == {n: offsets[::-1] for n, offsets in everything.items()}


@given(logs(), st.integers(1, 7))
def test_heads_are_compared_by_time(log, most):
    """Where times do not go back in a partition, they do not in the whole."""
    log = {
        number: (span, [record(number, row.offset, row.offset) for row in rows])
        for number, (span, rows) in log.items()
    }
    times = [row.timestamp_ms for row in read(OldestFirst(spans(log)), log, most)]
    assert times == sorted(times)
    times = [row.timestamp_ms for row in read(NewestFirst(spans(log), first_window=2), log, most)]
    assert times == sorted(times, reverse=True)


@given(logs(), st.integers(1, 5), st.integers(1, 9), st.booleans())
def test_pages_go_on_where_the_one_before_ended(log, most, limit, newest_first):
    left, pages = spans(log), []
    for _ in range(200):
        merge = NewestFirst(left, first_window=2) if newest_first else OldestFirst(left)
        page = read(merge, log, most, limit)
        pages += page
        left = merge.left()
        if not page:
            break
    whole = {n: [row.offset for row in rows] for n, (_, rows) in log.items() if rows}
    if newest_first:
        whole = {number: offsets[::-1] for number, offsets in whole.items()}
    assert by_partition(pages) == whole


@pytest.mark.parametrize("newest_first", [True, False])
def test_a_buffer_holds_its_share_and_reads_again_what_it_forgot(monkeypatch, newest_first):
    log = {0: (Span(0, 50), [record(0, at, at, size=40) for at in range(50)])}
    monkeypatch.setattr(merging, "BUFFER_BYTES_MAX", 2 * log[0][1][0].held_bytes + 40)
    merge = NewestFirst(spans(log), first_window=50) if newest_first else OldestFirst(spans(log))
    found, at_once = [], []
    while not merge.is_done:
        before = len(found)
        while (row := merge.pop()) is not None:
            found.append(row.offset)
        at_once.append(len(found) - before)
        merge.give(fetched(log, merge.needs(), 7))
    assert found == (list(range(49, -1, -1)) if newest_first else list(range(50)))
    assert max(at_once) == 2  # what two take, and some bytes


def test_without_a_partition_the_others_go_on():
    log = {0: (Span(0, 3), [record(0, at, at) for at in range(3)]), 1: (Span(0, 3), [])}
    for merge in (OldestFirst(spans(log)), NewestFirst(spans(log), first_window=5)):
        merge.give(Fetched({0: log[0][1]}, {0: 3}))
        assert merge.pop() is None
        assert set(merge.needs()) == {1}
        merge.drop([1])
        assert len(read(merge, log)) == 3
        assert merge.left()[1] == Span(0, 3)


def test_a_tail_gives_what_comes_and_says_where_a_page_would_go_on():
    tail = AsTheyCome({0: 5, 1: 0})
    assert tail.needs()[0].start == 5
    tail.give(Fetched({0: [record(0, 5, 1), record(0, 7, 1)]}, {0: 8, 1: 0}))
    assert tail.pop().offset == 5
    assert tail.left() == {0: Span(7, tail.END), 1: Span(0, tail.END)}
    assert tail.pop().offset == 7
    assert tail.left()[0].start == 8
    assert not tail.is_done


@pytest.mark.parametrize("kind", [OldestFirst, lambda given: NewestFirst(given, first_window=3)])
def test_nothing_is_done_at_once(kind):
    assert kind({}).is_done
    assert kind({0: Span(4, 4)}).is_done
