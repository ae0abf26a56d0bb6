"""When a cluster is asked again: the table of moves, and every decision by a clock of the test's own."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.common.transitions import IllegalTransitionError
from controlplane.gateway.breaker import (
    BREAKER_MOVES,
    CLOSED,
    HALF_OPEN,
    NOTHING_KNOWN,
    OPEN,
    Pass,
    Policy,
    Record,
    Refuse,
    answered,
    ask,
    failed,
)

POLICY = Policy()
LEGAL = {(CLOSED, OPEN), (OPEN, HALF_OPEN), (HALF_OPEN, CLOSED), (HALF_OPEN, OPEN)}
T0 = 1_000_000.0


def fail(record, now_s, *, took_s=10.0, is_probe=False, is_particular=False):
    return failed(
        record,
        now_s,
        POLICY,
        took_s=took_s,
        reason="timed-out",
        is_probe=is_probe,
        is_particular=is_particular,
    )


def opened(now_s=T0):
    return fail(fail(NOTHING_KNOWN, now_s - 10), now_s)


@pytest.mark.parametrize(("before", "after"), [*itertools.product(BREAKER_MOVES.states, repeat=2)])
def test_every_move_is_legal_by_the_table_or_refused(before, after):
    if (before, after) in LEGAL:
        BREAKER_MOVES.check(before, after)
    else:
        with pytest.raises(IllegalTransitionError):
            BREAKER_MOVES.check(before, after)


def test_two_failures_that_held_their_threads_open_it():
    once = fail(NOTHING_KNOWN, T0)
    assert (once.state, once.is_doubtful) == (CLOSED, True)
    twice = fail(once, T0 + 10)
    assert (twice.state, twice.until_s) == (OPEN, T0 + 10 + POLICY.open_first_s)
    assert twice.failing_since_s == T0 - 10


def test_quick_failures_open_it_only_over_a_while():
    """A cluster whose brokers are just starting refuses connections at once, many times."""
    record = NOTHING_KNOWN
    for tenth in range(40):
        record = fail(record, T0 + tenth / 10, took_s=0.001)
    assert (record.state, record.is_doubtful) == (CLOSED, False)
    assert fail(record, T0 + POLICY.failures_span_s, took_s=0.001).state == OPEN


def test_open_refuses_until_its_time_then_one_probe_passes():
    record = opened()
    after, decision = ask(record, T0 + 0.25, POLICY)
    assert (after, decision) == (record, Refuse(0.75))
    probing, decision = ask(record, record.until_s, POLICY)
    assert (probing.state, decision) == (HALF_OPEN, Pass(is_probe=True))
    after, decision = ask(probing, record.until_s + 0.1, POLICY)
    assert after == probing
    assert isinstance(decision, Refuse)
    assert 0 < decision.wait_s <= POLICY.open_first_s


def test_a_probe_that_fails_doubles_the_time_up_to_the_bound():
    record, waits = opened(), []
    for _ in range(8):
        probing, _ = ask(record, record.until_s, POLICY)
        now_s = record.until_s + 10
        record = fail(probing, now_s, is_probe=True)
        assert record.state == OPEN
        waits.append(record.until_s - now_s)
    assert waits == [2, 4, 8, 16, 30, 30, 30, 30]


def test_probes_that_fail_at_once_are_made_often():
    record, waits = opened(), []
    for _ in range(4):
        probing, _ = ask(record, record.until_s, POLICY)
        now_s = record.until_s
        record = fail(probing, now_s, took_s=0.001, is_probe=True)
        waits.append(record.until_s - now_s)
    assert waits == [2, 2, 2, 2]


def test_a_probe_that_is_answered_closes_it_and_forgets_the_failures():
    record = opened()
    probing, _ = ask(record, record.until_s, POLICY)
    assert answered(probing, T0 + 20) == Record(answered_at_s=T0 + 20)


def test_a_refused_probe_of_before_does_not_count_for_the_one_under_way():
    record = opened()
    probing, _ = ask(record, record.until_s, POLICY)
    assert fail(probing, T0 + 3, is_probe=False) == probing
    assert fail(record, T0 + 0.1) == record


def test_a_prober_that_never_came_back_loses_its_turn():
    record = opened()
    probing, _ = ask(record, record.until_s, POLICY)
    again, decision = ask(probing, probing.until_s, POLICY)
    assert (again.state, decision) == (HALF_OPEN, Pass(is_probe=True))
    assert again.until_s == probing.until_s + POLICY.probe_s


def test_a_late_answer_while_open_lets_the_next_question_try_at_once():
    record = answered(opened(), T0 + 0.1)
    assert record.state == OPEN
    assert ask(record, T0 + 0.1, POLICY)[1] == Pass(is_probe=True)


def test_brokers_that_are_away_say_nothing_of_a_cluster_that_answered_lately():
    record = answered(NOTHING_KNOWN, T0)
    for second in range(1, 25, 3):
        record = fail(record, T0 + second, is_particular=True)
    assert record == answered(NOTHING_KNOWN, T0)
    late = T0 + POLICY.proof_s
    assert fail(fail(record, late, is_particular=True), late, is_particular=True).state == OPEN
    assert fail(NOTHING_KNOWN, T0, is_particular=True).failures == 1


def test_a_time_that_no_policy_gives_comes_from_a_wrong_clock():
    record = replace(opened(), until_s=T0 + 86_400)
    assert ask(record, T0, POLICY)[1] == Pass(is_probe=True)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ask", "answer", "fail"]),
            st.floats(0, 40),
            st.floats(0, 12),
            st.booleans(),
            st.booleans(),
        ),
        max_size=60,
    )
)
def test_whatever_happens_only_legal_moves_are_made_and_it_is_asked_again(events):
    record, now_s = NOTHING_KNOWN, T0
    for what, later_s, took_s, is_probe, is_particular in events:
        now_s += later_s
        before = record
        if what == "ask":
            record, _ = ask(record, now_s, POLICY)
        elif what == "answer":
            record = answered(record, now_s)
        else:
            record = fail(
                record, now_s, took_s=took_s, is_probe=is_probe, is_particular=is_particular
            )
        assert before.state == record.state or (before.state, record.state) in LEGAL
    longest_s = max(POLICY.open_max_s, POLICY.probe_s)
    assert isinstance(ask(record, now_s + longest_s, POLICY)[1], Pass)
