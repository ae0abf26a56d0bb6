"""Whether a cluster is rebalanced by itself: the rule, with a clock and facts that are given."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.common.transitions import IllegalTransitionError
from controlplane.healing.windows import Window
from controlplane.reassignments.imbalance import (
    AGAIN_AFTER,
    AGAIN_AFTER_FAILURE,
    BEGIN,
    BYTES_MIN,
    GIB,
    LOOK_EVERY,
    NONE,
    WAIT,
    Facts,
    Load,
    Past,
    Schedule,
    imbalance_of_bytes,
    imbalance_of_leaders,
    judge,
    not_due,
)
from controlplane.reassignments.schedule_states import RUN_MOVES

NOW = datetime(2026, 11, 22, 2, 30, tzinfo=UTC)  # a Sunday
SUNDAY = Window(day="sunday", begins=time(2), minutes=60)
SCHEDULE = Schedule(enabled=True, threshold_percent=20)


def loads(*found):
    return tuple(
        Load(broker=number, bytes=held, leaders=leaders)
        for number, (held, leaders) in enumerate(found, start=1)
    )


EVEN = loads((10 * GIB, 10), (10 * GIB, 10), (10 * GIB, 10))
HEAVY = loads((16 * GIB, 10), (7 * GIB, 10), (7 * GIB, 10))
LEADING = loads((10 * GIB, 20), (10 * GIB, 5), (10 * GIB, 5))


@pytest.mark.parametrize(
    ("schedule", "past", "code"),
    [
        (replace(SCHEDULE, enabled=False), Past(), "off"),
        (SCHEDULE, Past(is_running=True), "running"),
        (replace(SCHEDULE, windows=(replace(SUNDAY, day="monday"),)), Past(), "outside-window"),
        (replace(SCHEDULE, windows=(SUNDAY,)), Past(), None),
        (SCHEDULE, Past(), None),
        (SCHEDULE, Past(ended_at=NOW - AGAIN_AFTER + timedelta(minutes=1)), "rests"),
        (SCHEDULE, Past(ended_at=NOW - AGAIN_AFTER), None),
        (SCHEDULE, Past(ended_at=NOW - AGAIN_AFTER, has_failed=True), "rests"),
        (SCHEDULE, Past(ended_at=NOW - AGAIN_AFTER_FAILURE, has_failed=True), None),
        (SCHEDULE, Past(looked_at=NOW - LOOK_EVERY + timedelta(seconds=1)), "later"),
        (SCHEDULE, Past(looked_at=NOW - LOOK_EVERY), None),
    ],
)
def test_when_nobody_is_asked(schedule, past, code):
    found = not_due(schedule, past, NOW)
    assert (found and found.code) == code
    assert found is None or found.act == NONE


def test_a_closed_window_says_when_the_next_one_opens():
    zone = replace(SCHEDULE, windows=(SUNDAY,), time_zone="America/New_York")
    found = not_due(zone, Past(), NOW)
    assert (
        found.text == "No maintenance window is open. The next one opens at 2026-11-22 07:00 UTC."
    )


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"under_way": "cluster.restart"}, "under-way"),
        ({"moving": 2}, "moving"),
        ({"missing": 1}, "broker-away"),
        ({"is_healing": True}, "healing"),
        ({"behind": 1}, "under-replicated"),
    ],
)
def test_nothing_is_moved_while_the_cluster_is_not_whole(changed, code):
    """However far out of balance it is."""
    found = judge(SCHEDULE, Facts(loads=HEAVY, **changed))
    assert (found.act, found.code) == (WAIT, code)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (HEAVY, "Broker 1 holds 16.0 GiB, 60 % from the mean of 10.0 GiB."),
        (LEADING, "Broker 1 is the preferred leader of 20 partitions, 100 % from the mean of 10"),
        (loads((0, 0), (10 * GIB, 10), (10 * GIB, 10)), "Broker 1 holds 0.0 GiB, 100 %"),
    ],
)
def test_above_the_threshold_it_begins_and_says_why(found, said):
    verdict = judge(SCHEDULE, Facts(loads=found))
    assert (verdict.act, verdict.code) == (BEGIN, "out-of-balance")
    assert said in verdict.text
    high = replace(SCHEDULE, threshold_percent=100)
    assert judge(high, Facts(loads=found)).code == "balanced", "at it is not above it"


def test_what_is_not_known_is_no_reason_to_move_anything():
    unknown = (*HEAVY[:2], replace(HEAVY[2], bytes=None))
    assert imbalance_of_bytes(unknown).percent is None
    assert judge(SCHEDULE, Facts(loads=unknown)).code == "sizes-unknown"
    assert judge(SCHEDULE, Facts(loads=())).code == "sizes-unknown"


def test_small_differences_are_none():
    small = loads((BYTES_MIN, 1), (0, 0), (0, 0))
    assert imbalance_of_bytes(small).percent == 0
    assert imbalance_of_leaders(small).percent == 0
    assert judge(SCHEDULE, Facts(loads=small)).code == "balanced"
    assert judge(SCHEDULE, Facts(loads=EVEN)).code == "balanced"


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=20))
def test_the_furthest_is_named_and_nobody_is_further(held):
    found = imbalance_of_bytes(loads(*((each, 0) for each in held)))
    mean = sum(held) / len(held)
    furthest = max(abs(each - mean) for each in held)
    assert found.percent is not None
    assert found.percent >= 0
    if furthest >= BYTES_MIN * 1.01:
        assert found.percent == pytest.approx(furthest / mean * 100)
        assert abs(held[found.broker - 1] - mean) == pytest.approx(furthest)


def test_every_move_that_the_table_lacks_is_refused():
    for before in RUN_MOVES.states:
        for after in RUN_MOVES.states:
            if before == "running" and after != "running":
                RUN_MOVES.check(before, after)
            else:
                with pytest.raises(IllegalTransitionError):
                    RUN_MOVES.check(before, after)
