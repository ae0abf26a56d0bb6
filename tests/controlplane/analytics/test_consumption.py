"""What groups read of each partition: counted, kept, shown to who sees it."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.analytics.models import ThroughputBlock, ThroughputLayout, ThroughputState
from controlplane.analytics.throughput import consumption, store
from controlplane.analytics.throughput.consumed import (
    RECORDS_MAX,
    cells_of,
    consumed_between,
    packed_consumed,
    unpacked_consumed,
)
from controlplane.gateway.types import TP
from tests.controlplane.analytics.sampled import STEP_MS, Line
from tests.controlplane.analytics.test_throughput_rates import at
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, tenant_make

KEY = ("g", "g", "t")
LOGS = {"t": {0: (1, 0, 100, 1_000), 1: (1, 0, 100, 1_000)}}


def between(before, after, **ids):
    earlier = at(0, LOGS, commits={"g": {"t": before}})
    later = at(30, LOGS, commits={"g": {"t": after}}, ids=ids.get("ids"))
    return consumed_between(earlier, later)[KEY]


# -- counting -------------------------------------------------------------------------------
def test_commits_are_counted_by_partition():
    assert between({0: 10, 1: 50}, {0: 40, 1: 50}) == {0: 30, 1: 0}


@pytest.mark.parametrize(
    ("before", "after"),
    [({0: 10}, {0: 4}), ({}, {0: 4}), ({0: 0}, {0: RECORDS_MAX + 1})],
    ids=["reset backwards", "not committed before", "no amount that is read in a step"],
)
def test_what_fell_or_was_not_committed_at_both_ends_is_not_known(before, after):
    assert between(before, after) == {0: None}


def test_a_topic_that_was_made_anew_and_strange_numbers_say_nothing():
    assert between({0: 10}, {0: 40}, ids={"t": "new"}) == {0: None}
    assert between({-1: 10}, {-1: 40}) == {}


# -- packing --------------------------------------------------------------------------------
RECORDS = st.none() | st.integers(0, RECORDS_MAX)


@given(
    st.lists(st.dictionaries(st.integers(0, 40), RECORDS, max_size=8), max_size=6),
    st.integers(1, 90_000),
)
def test_counts_survive_packing_unknown_stays_unknown_and_no_commit_is_nothing(rows, span_ms):
    keys = [("g", f"group-{n}", "t") for n in range(len(rows))]
    packed = packed_consumed(keys, dict(zip(keys, rows, strict=True)), span_ms)
    every = dict.fromkeys(range(len(rows) + 1), range(45))
    found = {place[:2]: place[2] for place in unpacked_consumed(packed, every)}
    assert found == {
        (place, partition): None if count is None else count / (span_ms / 1000)
        for place, row in enumerate(rows)
        for partition, count in row.items()
    }


@pytest.mark.parametrize("data", [b"", b"x", packed_consumed([KEY], {KEY: {0: 5}}, 30_000)[:-3]])
def test_what_cannot_be_unpacked_says_nothing(data):
    assert list(unpacked_consumed(data, {0: [0]})) == []


def test_a_topics_partitions_count_up_to_the_last_with_a_commit():
    assert cells_of({KEY: {0: 1, 7: None}, ("g", "h", "t"): {}}) == 8


def test_100_000_partitions_that_all_move_are_a_few_hundred_kilobytes_a_step():
    """5,000 groups of 20 partitions each; what stands still takes next to nothing."""
    keys = [("g", f"group-{n:05}", "t") for n in range(5_000)]
    busy = {key: {p: (n * 37 + p * 101) % 3_000 for p in range(20)} for n, key in enumerate(keys)}
    idle = {key: dict.fromkeys(range(20), 0) for key in keys}
    assert cells_of(busy) == 100_000
    assert len(packed_consumed(keys, busy, 30_000)) < 300_000
    assert len(packed_consumed(keys, idle, 30_000)) < 5_000


# -- kept and asked -------------------------------------------------------------------------
@pytest.fixture
def line(world):
    world.gateway.add_topic("orders", partitions=2, records=100)
    world.gateway.add_group("readers", {TP("orders", 0): 10, TP("orders", 1): 10})
    made = Line(world)
    made.sample()
    return made


def ask(world, client=None, **query):
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/consumption"
    return (client or client_for(world.tenant, "viewer")).get(where, query)


def rows(answer):
    assert answer.status_code == 200, answer.content
    return {(row["group"], row["topic"], row["partition"]): row for row in answer.json()["rows"]}


def commit(world, group, topic, partition, offset):
    tp = TP(topic, partition)
    committed = world.gateway.committed[group]
    committed[tp] = dataclasses.replace(committed[tp], offset=offset)


pytestmark = pytest.mark.django_db


def test_a_group_has_a_line_a_partition(line, world):
    line.go(4, write=60, read=30)
    commit(world, "readers", "orders", 1, 190)
    line.go(4, read=0)
    body = ask(world, group="readers", on=["orders/0", "orders/1", "orders/7"]).json()
    assert (len(body["ts_ms"]), body["step_s"], body["complete"]) == (30, 120, True)
    assert body["as_of"] < body["stale_after"]
    found = rows(ask(world, group="readers", on=["orders/0", "orders/1", "orders/7"]))
    assert found["readers", "orders", 0]["values"][-3:] == [None, 1.0, 0.0]
    assert found["readers", "orders", 1]["values"][-3:] == [None, 1.0, 0.5]
    assert found["readers", "orders", 1]["last"] == 0.5
    assert set(found["readers", "orders", 7]["values"]) == {None}


def test_the_sum_over_partitions_is_what_the_group_has(line, world):
    line.go(2, write=60, read=45)
    found = rows(ask(world, group="readers", on=["orders/0", "orders/1"]))
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/throughput"
    query = {"of": "group", "group": "readers"}
    (series,) = client_for(world.tenant, "viewer").get(where, query).json()["series"]
    assert sum(row["last"] for row in found.values()) == series["records_out_per_s"][-1] == 3.0


def test_a_reset_and_a_gap_are_not_known_and_not_below_nothing(line, world):
    line.go(4, read=30)
    commit(world, "readers", "orders", 0, 0)
    line.go(1)
    line.now_ms += 20 * STEP_MS
    line.sample()
    line.go(4, read=30)
    values = rows(ask(world, group="readers", on=["orders/0"]))["readers", "orders", 0]["values"]
    assert set(values) == {None, 1.0}
    assert values[-6:] == [None] * 5 + [1.0]


def test_a_partition_has_the_groups_that_commit_on_it(line, world):
    world.gateway.add_group("others", {TP("orders", 1): 0})
    world.gateway.add_group("idle", {TP("orders", 0): 5})
    line.go(4, write=60, read=30)
    body = ask(world, on="orders/0").json()
    assert [(row["group"], row["last"]) for row in body["rows"]] == [("readers", 1.0), ("idle", 0)]
    assert (body["complete"], body["reason"]) == (True, None)
    assert [row["group"] for row in ask(world, on="orders/1").json()["rows"]] == [
        "readers",
        "others",
    ]


def test_the_groups_that_read_most_are_shown_and_said_to_be(line, world, monkeypatch):
    monkeypatch.setattr(consumption, "READERS_SHOWN", 1)
    world.gateway.add_group("idle", {TP("orders", 0): 5})
    line.go(2, read=30)
    body = ask(world, on="orders/0").json()
    assert [row["group"] for row in body["rows"]] == ["readers"]
    assert not body["complete"]
    assert body["reason"] == consumption.MORE_READERS


def test_before_the_second_sample_nothing_is_measured(world):
    world.gateway.add_topic("orders", partitions=1)
    for sampled in (False, True):
        if sampled:
            Line(world).sample()
        body = ask(world, on="orders/0").json()
        assert (body["rows"], body["complete"]) == ([], False)
        assert body["reason"] == consumption.NOT_YET


def test_right_after_a_gap_the_groups_are_those_from_before(line, world):
    line.go(4, read=30)
    line.now_ms += 10 * STEP_MS
    line.sample()
    (row,) = ask(world, on="orders/0").json()["rows"]
    assert (row["group"], row["last"]) == ("readers", None)


def test_too_many_are_not_kept_and_that_is_said(line, world, monkeypatch):
    monkeypatch.setattr(store, "SERIES_MAX", {**store.SERIES_MAX, "consumed": 1})
    line.go(1, read=30)
    body = ask(world, group="readers", on="orders/0").json()
    assert (body["complete"], body["reason"]) == (False, consumption.NOT_KEPT)
    assert not ThroughputBlock.objects.filter(kind="consumed").exists()
    assert ThroughputBlock.objects.filter(kind="groups").exists()


def test_without_the_layouts_of_groups_nothing_is_kept(line, world, monkeypatch):
    monkeypatch.setattr(store, "SERIES_MAX", {**store.SERIES_MAX, "groups": 0})
    line.go(1, read=30)
    assert ThroughputState.objects.get().left_out == ["consumed", "groups"]
    assert not ThroughputBlock.objects.filter(kind="consumed").exists()


def test_an_hour_is_kept_and_layouts_go_with_their_blocks(line, world):
    line.go(1, read=30)
    line.now_ms += 2 * 3_600_000
    line.sample()
    for model in (ThroughputBlock, ThroughputLayout):
        assert not model.objects.filter(kind="consumed").exists()


# -- who sees what --------------------------------------------------------------------------
def test_who_sees_a_part_sees_its_groups_on_its_topics(line, world):
    world.gateway.add_topic("team-a-x", records=100)
    world.gateway.add_group("team-a-g", {TP("team-a-x", 0): 10, TP("orders", 0): 10})
    world.gateway.add_group("secret-readers", {TP("team-a-x", 0): 0})
    line.go(2, read=30)
    team = member_of(world.tenant)
    assert [key[0] for key in rows(ask(world, team, on="team-a-x/0"))] == ["team-a-g"]
    assert len(rows(ask(world, on="team-a-x/0"))) == 2
    named = {"group": ["secret-readers", "readers", "team-a-g"], "on": ["orders/0", "team-a-x/0"]}
    assert list(rows(ask(world, team, **named))) == [("team-a-g", "team-a-x", 0)]
    assert len(rows(ask(world, **named))) == 6


def test_of_another_tenants_cluster_there_is_nothing(line, world):
    stranger = client_for(tenant_make("rival"))
    assert ask(world, stranger, on="orders/0").status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"group": "readers"},
        {"on": "orders"},
        {"on": "/0"},
        {"on": "orders/-1"},
        {"on": f"orders/{2**31}"},
        {"on": [f"orders/{n}" for n in range(101)], "group": "readers"},
        {"on": [f"orders/{n}" for n in range(6)]},
        {"on": [f"orders/{n}" for n in range(51)], "group": ["a", "b"]},
    ],
)
def test_a_question_that_cannot_be_answered_names_its_field(line, world, query):
    answer = ask(world, **query)
    assert answer.status_code == 422, answer.content
    pointers = {row["pointer"].strip("/").split("/")[0] for row in answer.json()["errors"]}
    assert pointers == {"on"}
