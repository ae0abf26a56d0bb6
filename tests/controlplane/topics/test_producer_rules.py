"""How open transactions stand, and what partitions remember, folded by producer."""

from dataclasses import replace

import pytest

from controlplane.gateway.types import TP, ProducerState, TransactionDescription
from controlplane.topics.producer_rules import (
    LATE_AFTER_MS,
    RANK,
    UNDER_WAY,
    Standing,
    folded,
    openings,
    standing_of,
)

FIRST, SECOND = TP("orders", 0), TP("orders", 1)
OPENING = (FIRST, 7, 40)
OURS = TransactionDescription(
    transactional_id="app",
    state="Ongoing",
    producer_id=7,
    epoch=0,
    timeout_ms=60_000,
    started_at_ms=1_000,
    partitions=frozenset({FIRST}),
)
ENDS_MS = OURS.started_at_ms + OURS.timeout_ms


def stands(transactions, *, knows_all=True, now_ms=2_000):
    return standing_of(OPENING, transactions, knows_all=knows_all, now_ms=now_ms)


@pytest.mark.parametrize("state", sorted(UNDER_WAY))
def test_what_its_coordinator_will_end_is_open_until_its_time_is_well_over(state):
    ours = replace(OURS, state=state)
    assert stands([ours]) is Standing.OPEN
    assert stands([ours], now_ms=ENDS_MS + LATE_AFTER_MS) is Standing.OPEN
    assert stands([ours], now_ms=ENDS_MS + LATE_AFTER_MS + 1) is Standing.LATE
    assert stands([ours], knows_all=False) is Standing.OPEN


@pytest.mark.parametrize(
    "others",
    [
        [],
        [replace(OURS, state="CompleteAbort")],
        [replace(OURS, state="Empty", started_at_ms=None)],
        [replace(OURS, producer_id=8)],
        [replace(OURS, partitions=frozenset({SECOND}))],
    ],
)
def test_what_no_coordinator_has_hangs_and_is_unknown_while_one_has_not_said(others):
    assert stands(others) is Standing.HANGING
    assert stands(others, knows_all=False) is Standing.UNKNOWN


def test_without_a_beginning_nothing_is_late():
    assert stands([replace(OURS, started_at_ms=None)], now_ms=10**15) is Standing.OPEN


def test_the_worst_is_what_nobody_will_end():
    assert sorted(Standing, key=RANK.__getitem__)[-2:] == [Standing.LATE, Standing.HANGING]


def state_of(producer_id, **fields):
    return ProducerState(producer_id=producer_id, epoch=fields.pop("epoch", 0), **fields)


def test_producers_are_folded_over_partitions_the_worst_first_then_who_wrote_last():
    states = {
        FIRST: [
            state_of(1, last_timestamp_ms=10, last_sequence=3),
            state_of(2, last_timestamp_ms=30),
            state_of(7, last_timestamp_ms=5, transaction_start=40),
            state_of(9),
        ],
        SECOND: [
            state_of(1, epoch=4, last_timestamp_ms=20),
            state_of(7, last_timestamp_ms=6),
        ],
    }
    assert openings(states) == {OPENING}
    found = folded(states, {OPENING: Standing.OPEN}, [OURS])
    assert [producer.producer_id for producer in found] == [7, 2, 1, 9]
    of_seven, of_two, of_one, of_nine = found
    assert (of_seven.standing, of_seven.transaction) == (Standing.OPEN, OURS)
    assert [trace.partition for trace in of_seven.traces] == [0, 1]
    assert (of_one.epoch, of_one.last_timestamp_ms, len(of_one.traces)) == (4, 20, 2)
    assert (of_two.standing, of_two.transaction) == (None, None)
    assert of_nine.last_timestamp_ms is None


def test_what_was_ended_meanwhile_is_no_open_transaction():
    states = {FIRST: [state_of(7, transaction_start=40)]}
    (found,) = folded(states, {}, [])
    assert (found.standing, found.transaction) == (None, None)
    assert [trace.standing for trace in found.traces] == [None]


def test_the_partitions_that_hang_come_before_those_that_do_not():
    states = {TP("orders", at): [state_of(7, transaction_start=at)] for at in range(3)}
    standings = {
        (TP("orders", at), 7, at): Standing.HANGING if at == 2 else Standing.OPEN for at in range(3)
    }
    (found,) = folded(states, standings, [])
    assert [trace.partition for trace in found.traces] == [2, 0, 1]
    assert found.standing is Standing.HANGING
