"""What becomes of an alert over time: it must hold for so long, and be gone for so long."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.alerts.folding import Folded, Held, Seen, fold
from controlplane.alerts.rules import BY_ID, RULES, Severity
from controlplane.alerts.states import ALERT_MOVES
from tests.controlplane.alerts.builders import NOW

RULE = replace(BY_ID["broker-down"], for_s=20, clear_s=60)
INFO, WARNING, CRITICAL = Severity
HOLDS, CLEAR, UNKNOWN = Seen


def run(steps, rule=RULE, held=None, severity=WARNING):
    """(seconds, seen) one after another; the states after each."""
    held, states = held or Held(), []
    for at_s, seen in steps:
        folded = fold(held, seen, rule, NOW + timedelta(seconds=at_s), severity=severity)
        held = folded.held
        states.append(held.state)
    return states


def raised(state="firing", **more):
    return Held(state=state, severity=WARNING, since=NOW, **more)


def test_it_fires_when_it_has_held_for_long_enough():
    steps = [(0, HOLDS), (10, HOLDS), (19, HOLDS), (20, HOLDS)]
    assert run(steps) == ["pending", "pending", "pending", "firing"]


def test_what_flaps_never_fires():
    steps = [(at, HOLDS if at % 20 == 0 else CLEAR) for at in range(0, 200, 10)]
    assert set(run(steps)) == {"pending", "none"}


def test_it_resolves_when_it_has_been_gone_for_long_enough():
    steps = [(0, CLEAR), (30, CLEAR), (40, HOLDS), (50, CLEAR), (100, CLEAR), (110, CLEAR)]
    found = run(steps, held=raised())
    assert found == ["firing"] * 5 + ["resolved"]


def test_without_times_it_fires_and_resolves_at_once():
    rule = replace(RULE, for_s=0, clear_s=0)
    folded = fold(Held(), HOLDS, rule, NOW, severity=WARNING)
    assert [(move.before, move.after) for move in folded.moves] == [
        ("none", "pending"),
        ("pending", "firing"),
    ]
    assert fold(folded.held, CLEAR, rule, NOW).held.state == "resolved"


@pytest.mark.parametrize("state", ["firing", "acknowledged"])
def test_what_is_unknown_stays_raised_however_long(state):
    steps = [(at, UNKNOWN) for at in range(0, 100_000, 1_000)]
    assert set(run(steps, held=raised(state))) == {state}


def test_what_is_unknown_does_not_begin():
    assert run([(0, UNKNOWN), (100, UNKNOWN)]) == ["none", "none"]
    assert run([(0, HOLDS), (30, UNKNOWN), (60, UNKNOWN)]) == ["pending"] * 3


def test_unknown_is_no_part_of_being_gone():
    steps = [(0, CLEAR), (50, UNKNOWN), (70, CLEAR), (120, CLEAR), (130, CLEAR)]
    assert run(steps, held=raised()) == ["firing"] * 4 + ["resolved"]


def test_an_acknowledged_one_fires_again_when_it_gets_worse():
    held = raised("acknowledged", members=frozenset({"1"}))
    same = fold(held, HOLDS, RULE, NOW, severity=WARNING, members=["1"])
    assert (same.held.state, same.moves) == ("acknowledged", ())
    fewer = fold(held, HOLDS, RULE, NOW, severity=WARNING, members=[])
    assert fewer.held.state == "acknowledged"
    more = fold(held, HOLDS, RULE, NOW, severity=WARNING, members=["1", "2"])
    assert (more.held.state, more.moves[0].why) == ("firing", "also 2")
    worse = fold(held, HOLDS, RULE, NOW, severity=CRITICAL, members=["1"])
    assert (worse.held.state, worse.is_worse) == ("firing", True)
    better = fold(held, HOLDS, RULE, NOW, severity=INFO, members=["1"])
    assert (better.held.state, better.held.severity) == ("acknowledged", INFO)


def test_a_resolved_one_holds_as_long_again_before_it_fires_again():
    steps = [(0, HOLDS), (10, CLEAR), (20, HOLDS), (30, HOLDS), (40, HOLDS)]
    found = run(steps, held=Held(state="resolved"))
    assert found == ["resolved"] * 4 + ["firing"]


def test_with_a_reason_it_ends_at_once():
    folded = fold(raised(), CLEAR, RULE, NOW, why="its cluster is not watched any more")
    assert folded.held.state == "resolved"
    assert folded.moves[0].why == "its cluster is not watched any more"


def test_a_clock_that_is_set_back_makes_nothing_wait_for_longer():
    ahead = Held(state="pending", severity=WARNING, since=NOW + timedelta(hours=1))
    assert run([(0, HOLDS), (20, HOLDS)], held=ahead) == ["pending", "firing"]
    ahead = raised(clear_since=NOW + timedelta(hours=1))
    assert run([(0, CLEAR), (60, CLEAR)], held=ahead) == ["firing", "resolved"]


@given(
    st.sampled_from(RULES),
    st.lists(
        st.tuples(
            st.integers(-30, 400),
            st.sampled_from(list(Seen)),
            st.sampled_from(list(Severity)),
            st.sets(st.sampled_from("abc")),
        ),
        max_size=60,
    ),
)
def test_whatever_is_seen_every_move_is_legal_and_hysteresis_holds(rule, steps):
    held, now, quiet_since, loud_since = Held(), NOW, None, None
    for after_s, seen, severity, members in steps:
        now += timedelta(seconds=after_s)
        before = held.state
        folded: Folded = fold(held, seen, rule, now, severity=severity, members=members)
        state = before
        for move in folded.moves:
            assert move.before == state
            ALERT_MOVES.check(move.before, move.after)
            state = move.after
        assert state == folded.held.state
        moved = {move.after for move in folded.moves}
        if seen is Seen.UNKNOWN:
            assert state == before
        if "firing" in moved:
            assert seen is Seen.HOLDS
        if "resolved" in moved:
            assert seen is Seen.CLEAR
        # The time that the fold may count has really passed, where the clock did not go back.
        if seen is Seen.HOLDS:
            quiet_since = None
            loud_since = now if loud_since is None or after_s < 0 else loud_since
        elif seen is Seen.CLEAR:
            loud_since = None
            quiet_since = now if quiet_since is None or after_s < 0 else quiet_since
        else:
            quiet_since = None
        if "resolved" in moved and after_s >= 0:
            assert now - quiet_since >= timedelta(seconds=rule.clear_s)
        held = folded.held
