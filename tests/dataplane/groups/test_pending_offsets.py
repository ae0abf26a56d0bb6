"""What becomes of offsets that several transactions have committed for one partition."""

import itertools
import timeit

import pytest

from dataplane.groups.commit_records import commit_record
from dataplane.groups.durable import DurableState
from dataplane.groups.records import OffsetCommitValue
from dataplane.groups.requests import OffsetToCommit
from dataplane.model.ids import TopicPartition

WHERE = TopicPartition("t", 0)
STORED = {1: 10, 2: 20, 3: 30}
"""Producer id to its offset, in the order in which they are stored."""


def record(offset: int):
    return commit_record("g", WHERE, OffsetToCommit(offset=offset), 1)


@pytest.mark.parametrize("ends", list(itertools.permutations(STORED)))
@pytest.mark.parametrize("commits", list(itertools.product([True, False], repeat=3)))
def test_the_last_stored_of_those_that_commit_wins_in_whatever_order_they_end(ends, commits):
    durable = DurableState()
    for producer_id, offset in STORED.items():
        durable.replay_in_transaction(producer_id, record(offset))
    committed = -1
    for producer_id in ends:
        is_commit = commits[producer_id - 1]
        durable.end_transaction(producer_id, is_commit=is_commit)
        committed = max(committed, STORED[producer_id] if is_commit else -1)
        found = durable.offsets.get("g", {}).get(WHERE)
        assert (found.offset if found else -1) == committed
    assert not durable.pending.holds(("g", WHERE))


def test_what_a_producer_stores_later_replaces_what_it_stored_before():
    durable = DurableState()
    for producer_id, offset in ((1, 10), (2, 20), (1, 30)):
        durable.replay_in_transaction(producer_id, record(offset))
    durable.end_transaction(1, is_commit=True)
    durable.end_transaction(2, is_commit=True)
    assert durable.offsets["g"][WHERE].offset == 30


def test_superseded_offsets_stay_unstable_until_their_own_marker():
    durable = DurableState()
    durable.replay_in_transaction(1, record(10))
    durable.replay_in_transaction(2, record(20))
    durable.end_transaction(2, is_commit=True)
    assert durable.pending.holds(("g", WHERE))
    durable.end_transaction(1, is_commit=True)
    assert not durable.pending.holds(("g", WHERE))


def test_partitions_of_a_group_are_known_until_the_last_marker():
    durable = DurableState()
    other = TopicPartition("t", 1)
    durable.replay_in_transaction(1, record(10))
    durable.replay_in_transaction(1, commit_record("g", other, OffsetToCommit(offset=5), 1))
    durable.replay_in_transaction(2, record(20))
    assert durable.pending.partitions_of("g") == {WHERE, other}
    assert durable.pending.partitions_of("h") == set()
    durable.end_transaction(1, is_commit=False)
    assert durable.pending.partitions_of("g") == {WHERE}
    durable.end_transaction(2, is_commit=False)
    assert durable.pending.partitions_of("g") == set()


def seconds_of_looking(transactions: int) -> float:
    """Of a plain commit's looks at one place while other places are in `transactions` open ones."""
    pending = DurableState().pending
    value = OffsetCommitValue(offset=1, metadata="", commit_timestamp_ms=1)
    for producer_id in range(transactions):
        pending.put(producer_id, (f"g-{producer_id}", WHERE), value)

    def look() -> None:
        pending.supersede(("g", WHERE))
        pending.holds(("g", WHERE))
        pending.partitions_of("g")

    return min(timeit.repeat(look, number=20, repeat=7))


def test_a_plain_commit_costs_the_same_with_thousands_of_transactions_open():
    assert seconds_of_looking(20_000) / seconds_of_looking(10) < 20  # a walk: 2,000
