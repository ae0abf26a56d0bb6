"""Which sentences the overview says, worst first."""

import itertools

import pytest

from console.pages.attention import attention
from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag
from controlplane.analytics.selectors import expiry_dict, lag_dict

AS_OF = "2026-01-02T00:00:00Z"


def cluster(*alive, phase="RUNNING", reasons=()):
    brokers = [{"id": at, "alive": up} for at, up in enumerate(alive, 1)]
    rows = [{"code": code, "text": text} for code, text in reasons]
    health = {"status": "degraded" if rows else "healthy", "reasons": rows, "as_of": AS_OF}
    return {"id": "cl_1", "name": "main", "phase": phase, "brokers": brokers, "health": health}


def gold(*rows):
    return {"as_of": AS_OF, "run_id": "run_1", "data": list(rows)}


def point(group, status, topic="t", records=1234):
    row = GoldGroupLag(group=group, topic=topic, status=status, lag_records=records, sampled_ms=0)
    return lag_dict(row)


def said(*arguments):
    return [(row["severity"], row["text"]) for row in attention(*arguments)]


def test_a_healthy_cluster_needs_nothing():
    assert said(cluster(True, True), gold(point("g", "CAUGHT_UP")), gold()) == []


def test_what_is_wrong_with_a_cluster_is_said_once():
    found = cluster(
        True,
        False,
        phase="DEGRADED",
        reasons=[
            ("brokers-missing", "Broker 2 not in the cluster."),
            ("under-replicated", "3 partitions lack replicas in sync."),
            ("offline-partitions", "1 partition has no leader."),
        ],
    )
    assert said(found, gold(), gold()) == [
        ("danger", "Broker 2 not serving."),
        ("danger", "1 partition has no leader."),
        ("warning", "3 partitions lack replicas in sync."),
    ]
    assert said({**found, "phase": "DELETING", "brokers": []}, gold(), gold()) == []


def test_worst_first_and_one_line_for_a_group():
    lag = gold(point("g", "FALLING_BEHIND"), point("g", "STOPPED", topic="u", records=9))
    assert said(cluster(True, False), lag, gold()) == [
        ("danger", "Broker 2 not serving."),
        ("danger", "Group g has stopped: nobody consumes and 9 records wait."),
    ]


def test_brokers_that_are_still_coming_are_no_alarm():
    assert said(cluster(False, False, phase="CREATING"), gold(), gold()) == []


def expiring(status, oldest_s, loss_s):
    row = GoldGroupExpiry(
        group="g", status=status, oldest_unread_expires_in_s=oldest_s, first_loss_in_s=loss_s
    )
    return attention(cluster(True), gold(), gold({"topic": "t", "groups": [expiry_dict(row)]}))


def test_the_first_loss_is_said_not_the_age_of_today_s_oldest_record():
    (row,) = expiring("AT_RISK", 1800.0, 3600.0)
    assert row["text"] == "Group g at its present pace loses unread records of t in 60 min."
    assert (row["severity"], row["topic"], row["as_of"]) == ("danger", "t", AS_OF)


def test_without_a_forecast_no_loss_is_foretold():
    (row,) = expiring("AT_RISK", 1800.0, None)
    assert row["text"] == "Group g has unread records of t; the oldest expires in 30 min."
    assert row["severity"] == "warning"


def test_a_loss_that_is_far_off_needs_no_eye():
    assert expiring("WATCH", 82_800.0, 118_000.0) == []


def test_a_group_may_be_called_anything():
    assert "{records}" in said(cluster(True), gold(point("{records}", "STALLED")), gold())[0][1]


@pytest.mark.parametrize(
    "statuses", list(itertools.permutations(["REWOUND", "STALLED", "STOPPED"]))
)
def test_the_worst_topic_speaks_whatever_comes_first(statuses):
    rows = [point("g", status, topic=status, records=9) for status in statuses]
    ((_, text),) = said(cluster(True), gold(*rows), gold())
    assert text == "Group g has stopped: nobody consumes and 9 records wait."


def test_a_status_that_this_version_does_not_know_is_left_out():
    assert said(cluster(True), gold(point("g", "BORED")), gold()) == []
    assert expiring("BORED", None, None) == []
