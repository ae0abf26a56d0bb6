"""The tables of `make test-hosts`: what is ok, what is missed, what is broken."""

from __future__ import annotations

import dataclasses

import pytest

from tests.faults.ledger import Ledger
from tests.hosts.doors import doors_of
from tests.hosts.report import Doors, Figures, Look, doors, page, scenarios, summary

FIGURES = Figures(
    name="a host lost",
    goal_s=20.0,
    gap_s=18.256,
    sent=10,
    acked=9,
    failed=0,
    unknown=1,
    read=10,
    note="h2 | led",
)
DOORS = Doors(
    scenario="a host lost",
    looks=(
        Look("…", 200, 0.1),
        Look("…/topics", 200, 2.5),
        Look("…", 503, 10.0),
        Look("…", 503, 1.0),
        Look("…/acls", 0, 30.0),
        Look("…/users", 304, 2.0),
    ),
)


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "ok"),
        ({"gap_s": 20.0}, "ok"),
        ({"gap_s": 20.01}, "MISSED"),
        ({"goal_s": None}, "–"),
        ({"violations": ("2 acknowledged and not there",)}, "BROKEN: 2 acknowledged and not there"),
    ],
)
def test_a_goal_is_kept_missed_or_beside_the_point(changed, verdict):
    assert dataclasses.replace(FIGURES, **changed).verdict == verdict


def test_each_door_by_its_slowest_look():
    assert [(each.door, each.took_s) for each in DOORS.late()] == [
        ("…/acls", 30.0),
        ("…", 10.0),
        ("…/topics", 2.5),
    ]
    assert DOORS.refused() == {("…", 503): 2, ("…/acls", 0): 1}


def test_the_page_says_all_of_it():
    text = page([FIGURES], [DOORS])
    assert "| a host lost | 18.26 " in text
    assert "h2 \\| led" in text, "a bar would have ended the cell"
    assert "…/acls 30.0 s, … 10.0 s, …/topics 2.5 s" in text
    assert "… 503 × 2, …/acls no answer × 1" in text
    assert len({line.count("|") for line in scenarios([FIGURES]).splitlines()[:2]}) == 1
    assert "ok" in doors([Doors(scenario="quiet", looks=(Look("…", 200, 0.1),))])


@pytest.mark.parametrize(
    ("passed", "failed", "said"),
    [
        (["a", "b", "c"], {}, "3 passed, 0 failed"),
        (["a"], {"b": "why"}, "1 passed, 1 failed, 1 not played (c)"),
        ([], {"the run": "no site"}, "0 passed, 1 failed, 3 not played (a, b, c)"),
    ],
)
def test_what_was_never_played_has_not_passed(passed, failed, said):
    assert summary(["a", "b", "c"], passed, failed) == said


def test_a_choice_of_nothing_has_not_passed():
    assert summary([], [], {}) == "no scenario has that in its name"


def test_doors_are_all_reads_of_a_cluster_that_can_be_filled_in():
    row = {"get": {}}
    document = {
        "paths": {
            "/api/v1/clusters/{cluster_id}": row,
            "/api/v1/clusters/{cluster_id}/topics/{name}": row,
            "/api/v1/clusters/{cluster_id}/topics/{name}/messages/export": row,
            "/api/v1/clusters/{cluster_id}/things/{thing}": row,
            "/api/v1/clusters/{cluster_id}/written": {"post": {}},
            "/api/v1/tenants": row,
        }
    }
    assert doors_of(document, {"cluster_id": "kc_1", "name": "t/1"}) == {
        "…": "/api/v1/clusters/kc_1",
        "…/topics/{name}": "/api/v1/clusters/kc_1/topics/t%2F1",
        "/clusters": "/api/v1/clusters",
    }


def test_one_partitions_gap_is_not_hidden_by_the_others():
    ledger = Ledger("w", is_idempotent=True)
    for at_s, partition in enumerate([0, 1, 0, 0, 0, 1], start=101):
        ledger.note_acked(ledger.note_sent(partition), 0, float(at_s))
    assert ledger.longest_gap_s(100.0) == 1.0
    assert ledger.longest_partition_gap_s(100.0) == 4.0
    assert ledger.longest_partition_gap_s(103.0) == 3.0
