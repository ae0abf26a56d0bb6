"""What a pass writes, how a cluster is, when it is looked at next."""

from datetime import UTC, datetime, timedelta

import pytest

from controlplane.observed import rules
from controlplane.observed.rules import Seen, difference, health, next_pass_in_s

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=1)


def change(seen, marks, missing=""):
    found = difference(seen, marks, missing_reason=missing, read_at=NOW)
    return found.write, found.remove, found.keep_unread


def test_only_what_differs_is_written():
    seen = {"same": Seen("1"), "other": Seen("1")}
    assert change(seen, {"same": "1", "other": "2", "new": "3"}) == ({"other", "new"}, set(), set())


def test_what_is_missing_from_a_whole_answer_is_gone():
    assert change({"old": Seen("1")}, {}) == (set(), {"old"}, set())


def test_what_is_missing_from_a_part_of_the_answer_stays_with_the_reason_once():
    seen = {"silent": Seen("1"), "said": Seen("1", unread="broker 2 did not answer")}
    assert change(seen, {}, "broker 2 did not answer") == (set(), set(), {"silent"})


def test_what_is_read_again_loses_its_reason():
    assert change({"back": Seen("1", unread="away")}, {"back": "1"}) == ({"back"}, set(), set())


@pytest.mark.parametrize("marks", [{}, {"t": "old"}])
def test_a_pass_that_began_before_leaves_what_was_touched_since(marks):
    assert change({"t": Seen("new", touched_at=LATER)}, marks) == (set(), set(), set())
    assert change({"t": Seen("", touched_at=LATER, gone=True)}, marks) == (set(), set(), set())


def test_what_was_touched_before_is_ordinary():
    gone = Seen("", touched_at=NOW - timedelta(seconds=1), gone=True)
    assert change({"t": gone}, {}, "a part is missing") == (set(), {"t"}, set())
    assert change({"t": gone}, {"t": "1"}) == ({"t"}, set(), set())


def judged(**facts):
    usual = {
        "controller_id": 1,
        "live": {1, 2, 3},
        "wanted": {1, 2, 3},
        "placed": {1, 2, 3},
        "under_replicated": 0,
        "offline": 0,
    }
    status, reasons = health(**{**usual, **facts})
    return status, [(row["code"], row["text"]) for row in reasons]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, ("healthy", [])),
        ({"live": {1}}, ("degraded", [("brokers-missing", "Brokers 2, 3 not in the cluster.")])),
        (
            {"live": {1, 2, 3, 4}},
            (
                "degraded",
                [
                    (
                        "brokers-unwanted",
                        "Broker 4 is in the cluster, and nobody has asked for that.",
                    )
                ],
            ),
        ),
        ({"live": {1, 2, 3, 4}, "placed": set()}, ("healthy", [])),
        ({"controller_id": None}, ("degraded", [("no-controller", "No broker is controller.")])),
        ({"offline": 1}, ("degraded", [("offline-partitions", "1 partition has no leader.")])),
        (
            {"under_replicated": 2},
            ("degraded", [("under-replicated", "2 partitions lack replicas in sync.")]),
        ),
        (
            {"under_replicated": None, "offline": None},
            ("unknown", [("topics-unknown", "Its topics could not be read.")]),
        ),
    ],
)
def test_a_clusters_health_has_its_reasons(facts, expected):
    assert judged(**facts) == expected


def test_a_large_cluster_is_read_less_often():
    assert next_pass_in_s(15, took_s=0.1, failures=0) == 15
    assert next_pass_in_s(15, took_s=6, failures=0) == 60
    assert next_pass_in_s(15, took_s=16, failures=0, silent_s=10) == 60


def test_a_broker_that_hangs_does_not_make_the_next_pass_late():
    """What waits for it beside those that are counted as silent is not known."""
    assert next_pass_in_s(3, took_s=20.2, failures=0, silent_s=0.1) == 12
    assert next_pass_in_s(3, took_s=20.2, failures=0, silent_s=20.2) == 3


def test_a_cluster_that_does_not_answer_is_asked_less_and_less():
    waits = [next_pass_in_s(15, took_s=10, failures=n) for n in range(1, 8)]
    assert waits == [30, 60, 120, 240, 300, 300, 300]
    assert next_pass_in_s(600, took_s=1, failures=1) == 600, "never more often than by its turn"


def test_nobody_looks_when_a_pass_is_long_overdue():
    due = NOW
    assert not rules.is_overdue(NOW + timedelta(seconds=60), due, 15)
    assert rules.is_overdue(NOW + timedelta(seconds=91), due, 15)
