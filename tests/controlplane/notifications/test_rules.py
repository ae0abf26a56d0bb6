"""Who is told what, what an outcome means, when the next try is, whose turn it is."""

from datetime import timedelta

import pytest

from controlplane.common.transitions import IllegalTransitionError
from controlplane.notifications import rules
from controlplane.notifications.events import as_json, bounded, event_of
from controlplane.notifications.models import DELIVERY_MOVES
from controlplane.notifications.rules import (
    AGE_MAX,
    ATTEMPTS_MAX,
    RETRY_AFTER_MAX_S,
    Filters,
    Outcome,
    next_try_s,
    outcome_of,
    retry_after_s,
    wants,
)
from controlplane.notifications.turns import (
    THREADS,
    THREADS_FOR_DOUBTFUL,
    THREADS_PER_TENANT,
    Turns,
    Waiting,
)
from tests.controlplane.notifications.events import AT, HOSTILE, event, hostile, resolved

YOUNG = timedelta(0)


@pytest.mark.parametrize(
    ("filters", "given", "was_told", "wanted"),
    [
        ({}, event(), False, True),
        ({"min_severity": "critical"}, event(severity="warning"), False, False),
        ({"min_severity": "info"}, event(severity="info"), False, True),
        ({"rules": ["broker-down"]}, event(), False, False),
        ({"rules": ["broker-down", "group-losing-data"]}, event(), False, True),
        ({"clusters": ["kc_2"]}, event(), False, False),
        ({"clusters": ["kc_1"]}, event(), False, True),
        ({"clusters": ["kc_1"]}, event(cluster_id=None), False, False),
        ({}, event(cluster_id=None), False, True),
        ({"send_resolved": False}, resolved(), True, False),
        ({"send_resolved": False}, event(state="acknowledged"), True, True),
        # It was critical when it was told; its end is told although it is less by then.
        ({"min_severity": "critical"}, resolved(severity="warning"), True, True),
        ({"min_severity": "critical"}, resolved(severity="warning"), False, False),
        ({"min_severity": "critical"}, event(severity="warning"), True, False),
    ],
)
def test_filters(filters, given, was_told, wanted):
    made = Filters(**{"min_severity": "warning", **filters})
    assert wants(made, given, was_told=was_told) is wanted


@pytest.mark.parametrize(
    ("status", "delivered", "retriable"),
    [
        *((status, True, False) for status in (200, 201, 202, 204)),
        *((status, False, False) for status in (301, 302, 304, 307, 308)),
        *((status, False, False) for status in (400, 401, 403, 404, 405, 410, 413, 422)),
        *((status, False, True) for status in (408, 429, 500, 502, 503, 504, 599)),
        (100, False, False),
    ],
)
def test_what_a_status_means(status, delivered, retriable):
    found = outcome_of(status, None)
    assert (found.is_delivered, found.is_retriable, found.status) == (delivered, retriable, status)


def failed(**more):
    return Outcome(is_delivered=False, code="http-503", is_retriable=True, **more)


def test_waits_double_and_are_half_by_chance():
    least = [
        next_try_s(failed(), tries=n, age=YOUNG, entropy=lambda: 0.0)[0]
        for n in range(1, ATTEMPTS_MAX)
    ]
    most = [
        next_try_s(failed(), tries=n, age=YOUNG, entropy=lambda: 1.0)[0]
        for n in range(1, ATTEMPTS_MAX)
    ]
    assert most[:4] == [5, 10, 20, 40]
    assert least == [wait / 2 for wait in most]
    assert max(most) == 3600
    assert sum(most) < AGE_MAX.total_seconds()


@pytest.mark.parametrize(
    ("outcome", "tries", "age", "why"),
    [
        (failed(), ATTEMPTS_MAX, YOUNG, "too-many-attempts"),
        (failed(), 10**9, YOUNG, "too-many-attempts"),
        (failed(), 1, AGE_MAX, "too-old"),
        (outcome_of(404, None), 1, YOUNG, "http-404"),
        (outcome_of(302, None), 1, YOUNG, "redirected"),
    ],
)
def test_some_are_not_tried_again(outcome, tries, age, why):
    assert next_try_s(outcome, tries=tries, age=age, entropy=lambda: 0.5) == (None, why)


def test_what_a_receiver_asks_for_is_heeded_within_a_bound():
    def wait_s(asked_s):
        given = failed(retry_after_s=asked_s)
        return next_try_s(given, tries=1, age=YOUNG, entropy=lambda: 0.0)[0]

    assert wait_s(90.0) == 90
    assert wait_s(1.0) == 2.5, "never sooner than without it"
    assert wait_s(1e9) == RETRY_AFTER_MAX_S


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("Wed, 04 Mar 2026 05:08:07 GMT", 119.11),
        ("Wed, 04 Mar 2020 05:08:07 GMT", 0),
        (None, None),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("²", None),
        ("9" * 400, None),
        ("Wed, 99 Mar 2026 05:08:07 GMT", None),
        ("Wed, 04 Mar 99999999 05:08:07 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header, seconds):
    found = retry_after_s(header, AT)
    assert found == (None if seconds is None else pytest.approx(seconds, abs=0.01))


LEGAL = {
    ("pending", "retrying"),
    ("pending", "sent"),
    ("pending", "dead"),
    ("retrying", "sent"),
    ("retrying", "dead"),
    ("dead", "pending"),
}


@pytest.mark.parametrize("before", DELIVERY_MOVES.states)
@pytest.mark.parametrize("after", DELIVERY_MOVES.states)
def test_moves_of_a_delivery(before, after):
    if (before, after) in LEGAL:
        DELIVERY_MOVES.check(before, after)
        return
    with pytest.raises(IllegalTransitionError):
        DELIVERY_MOVES.check(before, after)


def test_an_event_is_the_same_after_it_was_kept():
    for given in (event(), resolved(), event(cluster_id=None)):
        assert event_of(as_json(bounded(given))) == given


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_kept_of_an_event_is_bounded_and_storable(name):
    kept = bounded(hostile(name))
    assert len(str(as_json(kept))) < 60_000
    assert "\0" not in str(kept)
    str(as_json(kept)).encode()  # no half of a character
    assert kept.values["lag"] is None


def test_many_labels_are_cut():
    kept = bounded(event(labels={f"l{n}": "v" for n in range(1_000)}))
    assert len(kept.labels) == 50


@pytest.mark.parametrize("change", [{"severity": "fatal"}, {"state": "silenced"}])
def test_no_other_severity_or_state_is_told(change):
    with pytest.raises(ValueError, match="no such"):
        bounded(event(**change))
    with pytest.raises(ValueError, match="time zone"):
        bounded(event(occurred_at=AT.replace(tzinfo=None)))


def some(count, tenant="t", *, doubtful=False):
    return [
        Waiting(destination_id=f"{tenant}-{n}", tenant_id=tenant, is_doubtful=doubtful)
        for n in range(count)
    ]


def begun(turns, waiting):
    found = []
    while (chosen := turns.choose(waiting)) is not None:
        turns.begin(chosen)
        found.append(chosen.destination_id)
    return found


def test_a_tenant_has_so_many_turns_and_a_destination_one():
    turns = Turns()
    assert len(begun(turns, some(50))) == THREADS_PER_TENANT
    assert begun(Turns(), some(1)) == ["t-0"]


def test_those_that_failed_last_leave_half_of_the_threads():
    many = [each for t in range(20) for each in some(3, f"slow{t}", doubtful=True)]
    turns = Turns()
    assert len(begun(turns, many)) == THREADS_FOR_DOUBTFUL
    healthy = [each for t in range(20) for each in some(3, f"good{t}")]
    assert len(begun(turns, many + healthy)) == THREADS - THREADS_FOR_DOUBTFUL
    assert len(turns.busy) == THREADS


def test_turns_go_round_the_tenants():
    waiting = some(10, "many") + some(1, "few")
    turns, order = Turns(), []
    for _ in range(4):
        chosen = turns.choose(waiting)
        turns.begin(chosen)
        turns.end(chosen.destination_id)
        order.append(chosen.destination_id)
    assert order == ["many-0", "few-0", "many-1", "few-0"]
    assert turns.choose(waiting, without={"many-2"}).destination_id == "many-3"


def test_the_bounds_are_what_the_readme_says():
    assert (16, timedelta(hours=24), 3600) == (rules.ATTEMPTS_MAX, rules.AGE_MAX, rules.RETRY_MAX_S)
