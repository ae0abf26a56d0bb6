"""What needs attention: alerts first, plain facts beside them, nothing twice, the worst first."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from console.pages.attention import (
    HARM,
    RULES_OLD,
    Next,
    about,
    attention,
    order,
    rewound_of,
    with_next,
)
from controlplane.alerts.rules import BY_ID, RULES, Severity

AS_OF = "2026-01-02T00:00:00Z"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def alert(rule="broker-down", severity="warning", **more):
    return {
        "id": f"al_{rule}",
        "rule": rule,
        "runbook": BY_ID[rule].runbook,
        "cluster_id": "cl_1",
        "cluster": "main",
        "subject": "",
        "state": "firing",
        "severity": severity,
        "summary": f"main: {rule}.",
        "values": {},
        "members": [],
        "member_count": 0,
        "unit": "",
        "consequences": [],
        "unknown": False,
        "silenced_by": None,
        "started_at": AS_OF,
        **more,
    }


def cluster(*reasons, phase="RUNNING", **more):
    rows = [{"code": code, "text": f"{code}."} for code in reasons]
    health = {"status": "degraded" if rows else "healthy", "reasons": rows, "as_of": AS_OF}
    return {"id": "cl_1", "name": "main", "phase": phase, "health": health, **more}


def rows(alerts=(), clusters=(), rewound=(), quiet=(), *, asked_at=NOW):
    return attention(alerts, clusters, rewound, quiet, asked_at=asked_at, now=NOW)


def keys(*arguments, **more):
    return [row["key"] for row in rows(*arguments, **more)]


# -- the order of harm ------------------------------------------------------------------------
def test_every_rule_has_its_place_in_the_order_of_harm():
    assert sorted(HARM) == sorted(rule.id for rule in RULES)


def test_the_most_harmful_is_first_whatever_comes_first():
    expected = [
        alert("group-losing-data", "critical"),
        alert("partitions-offline", "critical", started_at="2026-01-01T00:00:00Z"),
        alert("partitions-offline", "critical", id="al_later"),
        alert("cluster-away", "critical", state="acknowledged"),
        alert("broker-down"),
        alert("spark-late"),
        alert("objective-burning", "info"),
        alert("disk-filling", "critical", silenced_by="si_1"),
    ]
    for seed in range(20):
        shuffled = random.Random(seed).sample(expected, len(expected))
        assert keys(shuffled) == [each["id"] for each in expected]


def test_severity_counts_more_than_what_a_rule_watches():
    worse = alert("quota-hit", "critical")
    assert keys([alert("group-losing-data"), worse]) == ["al_quota-hit", "al_group-losing-data"]


@pytest.mark.parametrize("severity", Severity)
def test_what_has_no_time_is_behind_what_has_one(severity):
    (first,) = rows([alert(severity=str(severity))])
    assert order(first) < order({**first, "since": None})


# -- said once --------------------------------------------------------------------------------
def test_a_healthy_cluster_needs_nothing():
    assert rows([], [cluster()]) == []


def test_what_has_just_been_seen_stands_there_before_it_fires():
    found = rows([], [cluster("under-replicated", "offline-partitions")])
    assert [(row["rule"], row["severity"], row["state"]) for row in found] == [
        ("partitions-offline", "critical", "seen"),
        ("partitions-under-replicated", "warning", "seen"),
    ]
    assert found[0]["text"] == "main: offline-partitions."
    assert (found[0]["runbook"], found[0]["as_of"]) == ("partitions-unavailable", AS_OF)


@pytest.mark.parametrize(
    "said",
    [
        alert("partitions-offline", "critical"),
        alert("broker-down", consequences=[{"rule": "partitions-offline", "count": 200}]),
        alert("cluster-away", "critical"),
    ],
    ids=["itself", "explained", "away"],
)
def test_what_an_alert_says_or_explains_is_not_said_again(said):
    assert keys([said], [cluster("offline-partitions")]) == [said["id"]]


def test_an_alert_of_another_cluster_explains_nothing_here():
    other = alert("partitions-offline", "critical", cluster_id="cl_2")
    assert len(keys([other], [cluster("offline-partitions")])) == 2


def test_a_cluster_that_is_made_or_deleted_is_no_alarm_and_one_that_failed_is():
    for phase in ("CREATING", "DELETING"):
        assert rows([], [cluster("brokers-missing", phase=phase)]) == []
    (row,) = rows([], [cluster("brokers-missing", phase="FAILED")])
    assert (row["text"], row["rule"]) == ("main: the cluster did not come up.", None)


def test_reasons_that_are_no_trouble_are_left_out():
    assert rows([], [cluster("topics-unknown", "brokers-unwanted", "out-of-date")]) == []


# -- groups that have just fallen silent --------------------------------------------------------
def silent(**more):
    return {
        "cluster_id": "cl_1",
        "cluster_name": "main",
        "group": "billing",
        "topic": "orders",
        "partitions": 3,
        "lag_records": 1204,
        "members": 2,
        "status": "LAGGING",
        "since": AS_OF,
        "as_of": AS_OF,
        **more,
    }


def test_a_group_that_has_just_fallen_silent_is_seen_long_before_it_is_stalled():
    (row,) = rows(quiet=[silent()])
    assert row["text"] == (
        "main: group billing has unread records on a partition of orders and commits nothing there"
        " (1,204 unread). After 5 min it counts as stalled."
    )
    assert (row["severity"], row["state"], row["since"]) == ("info", "seen", AS_OF)
    assert (row["rule"], row["runbook"]) == ("group-stalled", "group-stalled")
    assert (row["group"], row["topic"], row["cluster_id"]) == ("billing", "orders", "cl_1")


def test_without_members_it_is_about_to_be_stopped():
    (row,) = rows(quiet=[silent(members=0, partitions=1)])
    assert "has no members, has unread records on orders and" in row["text"]
    assert row["text"].endswith("After 5 min it counts as stopped.")
    assert row["rule"] == "group-stopped"


@pytest.mark.parametrize("status", ["STALLED", "STOPPED"])
def test_what_is_judged_already_is_worse_and_waits_for_its_alert_alone(status):
    (row,) = rows(quiet=[silent(status=status)])
    assert row["severity"] == "warning"
    assert "After" not in row["text"]


def test_a_group_that_an_alert_names_is_not_said_to_be_silent_too():
    said = alert("group-stalled", subject="group/billing", values={"group": "billing"})
    assert keys([said], quiet=[silent()]) == ["al_group-stalled"]
    assert len(keys([said], quiet=[silent(group="other")])) == 2


def point(group, status, topic="t"):
    return {"group": group, "topic": topic, "status": status}


def test_a_group_that_went_back_is_said_once_and_not_beside_its_alert():
    lag = {"as_of": AS_OF, "data": [point("g", "REWOUND"), point("g", "REWOUND", "u")]}
    lag["data"] += [point("h", "REWOUND"), point("k", "STOPPED")]
    went = rewound_of(cluster(), lag)
    stopped = alert("group-stopped", subject="group/h")
    assert keys([stopped], [], went) == ["al_group-stopped", "cl_1/rewound/g"]


def test_a_group_that_went_back_and_has_fallen_silent_is_one_row_by_its_silence():
    lag = {"as_of": AS_OF, "data": [point("billing", "REWOUND"), point("other", "REWOUND")]}
    went = rewound_of(cluster(), lag)
    found = {row["key"]: row for row in rows(rewound=went, quiet=[silent(status="REWOUND")])}
    assert list(found) == ["cl_1/quiet/billing", "cl_1/rewound/other"], "the silence is worse"
    row = found["cl_1/quiet/billing"]
    assert (row["rule"], row["runbook"]) == ("group-stalled", "group-stalled")
    assert (
        "commits nothing there (1,204 unread). It went back to earlier offsets of t." in row["text"]
    )
    # The group of that name on another cluster went back, and not this one.
    there = [{**each, "cluster_id": "cl_2"} for each in went]
    assert keys(rewound=there, quiet=[silent()]) == [
        "cl_1/quiet/billing",
        "cl_2/rewound/billing",
        "cl_2/rewound/other",
    ]


def test_an_alert_says_both_of_a_group_that_went_back_and_fell_silent():
    went = rewound_of(cluster(), {"as_of": AS_OF, "data": [point("billing", "REWOUND")]})
    said = alert("group-stalled", subject="group/billing")
    assert keys([said], [], went, [silent()]) == ["al_group-stalled"]


# -- nobody judges ----------------------------------------------------------------------------
def test_that_rules_are_not_asked_is_said_first():
    old = NOW - RULES_OLD - timedelta(minutes=3)
    found = rows([alert("group-losing-data", "critical")], asked_at=old)
    assert [row["key"] for row in found] == ["rules", "al_group-losing-data"]
    assert "last asked 5 min ago" in found[0]["text"]
    assert "not been asked yet" in rows(asked_at=None)[0]["text"]


def test_rules_that_were_asked_lately_are_nothing_to_say():
    assert rows(asked_at=NOW - RULES_OLD + timedelta(seconds=1)) == []


# -- what it is about, and what comes next ----------------------------------------------------
@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"subject": "group/a/b"}, ("a/b", None, None, None)),
        ({"subject": "topic/t", "values": {"group": "g"}}, ("g", "t", None, None)),
        ({"subject": "operation/op_1"}, (None, None, "op_1", None)),
        ({"values": {"group": None, "topic": 3}}, (None, None, None, None)),
        ({"unit": "brokers", "members": ["2"], "member_count": 1}, (None, None, None, 2)),
        ({"unit": "brokers", "members": ["2", "3"], "member_count": 2}, (None,) * 4),
        ({"unit": "brokers", "members": ["broker 2"], "member_count": 1}, (None,) * 4),
        ({"unit": "topics", "members": ["2"], "member_count": 1}, (None,) * 4),
    ],
)
def test_what_an_alert_is_about_is_read_from_it_alone(more, expected):
    found = about(alert(**more))
    names = ("group", "topic", "operation_id", "broker")
    assert tuple(found[name] for name in names) == expected


def test_each_row_has_its_next_step_or_none():
    step = Next(title="Restart", kind="broker.restart", cluster_id="cl_1", inputs={"broker": 2})
    found = with_next(
        rows([alert("broker-down"), alert("spark-late")]),
        lambda row: step if row["rule"] == "broker-down" else None,
    )
    assert [row["next"] for row in found] == [
        {
            "title": "Restart",
            "kind": "broker.restart",
            "cluster_id": "cl_1",
            "inputs": {"broker": 2},
        },
        None,
    ]
