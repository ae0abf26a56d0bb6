"""Throughput from samples to answers: kept steps, gaps, ranges, who sees what, bounds."""

from __future__ import annotations

import dataclasses

import pytest

from controlplane.analytics import collect, services
from controlplane.analytics.conf import conf
from controlplane.analytics.models import (
    ThroughputBlock,
    ThroughputLayout,
    ThroughputState,
)
from controlplane.analytics.sampler import Sampler
from controlplane.analytics.throughput import store
from controlplane.analytics.throughput.packing import unpacked_positions
from controlplane.gateway.types import TP
from spark_analytics.contracts.gold import DAY_S, PARTITIONS_MAX
from tests.controlplane.analytics.rollup_rows import stored
from tests.controlplane.analytics.sampled import STEP_MS, Line
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db


@pytest.fixture
def line(world):
    world.gateway.add_topic("orders", partitions=2, records=100)
    world.gateway.add_topic("idle", partitions=1)
    world.gateway.add_group("readers", {TP("orders", 0): 10, TP("orders", 1): 10})
    made = Line(world)
    made.sample()
    return made


def ask(world, role="viewer", **query):
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/throughput"
    return client_for(world.tenant, role).get(where, query)


def series(answer):
    assert answer.status_code == 200, answer.content
    return answer.json()["series"]


def test_each_subject_shows_records_and_bytes_a_second(line, world):
    line.go(3, write=60, read=30)
    (cluster,) = series(ask(world))
    assert cluster["records_in_per_s"][-3:] == [4.0] * 3
    assert cluster["bytes_in_per_s"][-3:] == [400.0] * 3
    assert cluster["records_out_per_s"][-3:] == [2.0] * 3
    assert cluster["known"][-3:] == [1.0] * 3
    (topic,) = series(ask(world, of="topic", topic="orders"))
    assert topic["topic"] == "orders"
    assert topic["records_in_per_s"][-1] == 4.0
    (idle,) = series(ask(world, of="topic", topic="idle"))
    assert idle["records_in_per_s"][-3:] == [0.0] * 3
    parts = series(ask(world, of="partition", topic="orders"))
    assert [(row["partition"], row["records_in_per_s"][-1]) for row in parts] == [(0, 2), (1, 2)]
    (one,) = series(ask(world, of="partition", topic="orders", partition=1))
    assert one == next(row for row in parts if row["partition"] == 1)
    assert series(ask(world, of="partition", topic="orders", partition=9)) == []
    (group,) = series(ask(world, of="group", group="readers"))
    assert (group["topic"], group["group"]) == ("orders", "readers")
    assert (group["records_in_per_s"][-1], group["records_out_per_s"][-1]) == (4.0, 2.0)
    brokers = series(ask(world, of="broker"))
    assert sum(row["records_in_per_s"][-1] for row in brokers) == 4.0
    (leader,) = series(ask(world, of="broker", broker=brokers[0]["broker"]))
    assert leader["broker"] == brokers[0]["broker"]


def test_an_answer_says_its_age_its_step_and_its_source(line, world):
    line.go(2, write=30)
    body = ask(world).json()
    assert (body["source"], body["step_s"], body["complete"]) == ("samples", 30, True)
    assert len(body["ts_ms"]) == 120
    assert body["ts_ms"][-1] == line.now_ms
    assert body["as_of"] < body["stale_after"]


def test_nothing_yet_is_no_series_and_no_age(world):
    body = ask(world).json()
    assert (body["as_of"], body["series"], body["ts_ms"]) == (None, [], [])


def test_samples_within_a_step_change_nothing_and_the_next_one_counts_all_of_it(line, world):
    part = world.gateway.topics["orders"].partitions[0]
    for _ in range(3):
        part.log_end += 30
        line.now_ms += STEP_MS // 3
        line.sample()
    assert ThroughputBlock.objects.values("ts_ms").distinct().count() == 1
    (cluster,) = series(ask(world))
    assert cluster["records_in_per_s"][-1] == 3.0


def test_another_process_goes_on_where_the_last_one_was(line, world):
    """Nothing is kept in memory: a worker that dies or another one that takes over is no gap."""
    line.sampler = Sampler(now_ms=lambda: line.now_ms)
    line.go(1, write=30)
    (cluster,) = series(ask(world))
    assert cluster["records_in_per_s"][-1] == 2.0


def test_a_gap_in_sampling_stays_a_gap(line, world):
    line.go(2, write=30)
    line.now_ms += 5 * 60_000
    line.go(2, write=30)
    (cluster,) = series(ask(world))
    # The first sample after the gap begins anew, the one after it has a rate.
    assert cluster["records_in_per_s"][-14:] == [2.0, 2.0, *[None] * 11, 2.0]
    assert cluster["known"][-2] == 0.0


def test_a_truncation_is_unknown_not_negative(line, world):
    line.go(1, write=30)
    world.gateway.topics["orders"].partitions[0].log_end = 50
    line.go(1)
    parts = series(ask(world, of="partition", topic="orders"))
    assert {row["partition"]: row["records_in_per_s"][-1] for row in parts} == {0: None, 1: 0.0}
    (topic,) = series(ask(world, of="topic", topic="orders"))
    assert (topic["records_in_per_s"][-1], topic["known"][-1]) == (0.0, 0.5)


def test_sizes_that_cannot_be_read_leave_records_known(line, world, monkeypatch):
    monkeypatch.setattr(world.gateway, "log_dirs", list)
    line.go(1, write=30)
    (topic,) = series(ask(world, of="topic", topic="orders"))
    assert topic["records_in_per_s"][-1] == 2.0
    assert topic["bytes_in_per_s"][-1] is None


def test_steps_past_their_keep_go_and_layouts_with_them(line, world):
    line.go(1, write=30)
    world.gateway.delete_topic("idle")
    line.go(1)
    before = ThroughputLayout.objects.filter(kind="topics").count()
    line.now_ms += 2 * 3_600_000
    line.go(2, write=30)
    kept = ThroughputBlock.objects.filter(kind="topics").values_list("ts_ms", flat=True)
    assert list(kept) == [line.now_ms]
    assert before == 2
    assert ThroughputLayout.objects.filter(kind="topics").count() == 1
    # Brokers are kept for a day.
    assert ThroughputBlock.objects.filter(kind="outline").count() == 3
    assert ask(world, of="broker", range="24h").json()["step_s"] == 360


def test_a_clock_that_was_set_back_a_day_begins_anew(line, world):
    line.go(2, write=30)
    line.now_ms -= 3 * 60_000
    assert not line.sample(), "within a day it waits"
    line.now_ms -= 2 * DAY_S * 1000
    assert line.sample()
    assert not ThroughputBlock.objects.exists()
    line.go(1, write=30)
    assert series(ask(world))[0]["records_in_per_s"][-1] == 2.0


def test_kinds_with_too_many_series_are_not_kept_and_say_so(line, world, monkeypatch):
    monkeypatch.setattr(store, "SERIES_MAX", {**store.SERIES_MAX, "partitions": 2})
    line.go(1, write=30)
    body = ask(world, of="partition", topic="orders").json()
    assert body["series"] == []
    assert not body["complete"]
    assert body["reason"] == "Not kept: the cluster has too many partitions."
    assert series(ask(world))[0]["records_in_per_s"][-1] == 2.0


def test_two_that_end_the_same_step_leave_one(line, world, monkeypatch):
    """The second finds that the positions moved on while it computed."""
    line.now_ms += STEP_MS
    sample = line.sampler.sample(world.gateway, budget_s=60)
    late = dataclasses.replace(sample, ts_ms=sample.ts_ms + 1)
    unpack = unpacked_positions

    def meanwhile(data):
        monkeypatch.setattr(store, "unpacked_positions", unpack)
        assert store.note(world.cluster.id, sample)
        return unpack(data)

    monkeypatch.setattr(store, "unpacked_positions", meanwhile)
    assert not store.note(world.cluster.id, late)
    assert ThroughputState.objects.get().ts_ms == sample.ts_ms


# -- history --------------------------------------------------------------------------------
def test_longer_ranges_are_the_rollups(world):
    for at in range(30):
        stored("topic_rollup", world.cluster.id, at, topic="orders", produce_records_per_s=2.0,
               records_in=7_200, bytes_in=720_000)  # fmt: skip
        stored("group_rollup", world.cluster.id, at, topic="orders", group="readers",
               produce_records_per_s=2.0, consume_records_per_s=1.5, records_out=5_400,
               bytes_out=540_000)  # fmt: skip
        stored("cluster_rollup", world.cluster.id, at, records_in=7_200, bytes_in=720_000)
    body = ask(world, of="topic", topic="orders", range="24h").json()
    assert (body["source"], body["step_s"]) == ("hours", 3600)
    assert len(body["ts_ms"]) == 24
    (topic,) = body["series"]
    assert topic["records_in_per_s"] == [2.0] * 24
    assert topic["bytes_in_per_s"] == [200.0] * 24
    assert topic["records_out_per_s"] == [1.5] * 24
    (group,) = series(ask(world, of="group", group="readers", range="7d"))
    assert group["bytes_out_per_s"][-1] == pytest.approx(150.0)
    assert group["records_out_per_s"][0] is None
    (cluster,) = series(ask(world, of="cluster", range="7d"))
    assert cluster["records_in_per_s"][-1] == pytest.approx(2.0)
    assert cluster["records_out_per_s"][-1] is None


def test_months_are_days(world):
    stored("topic_rollup", world.cluster.id, 3, topic="orders", period_s=DAY_S,
           produce_records_per_s=2.0, records_in=0, bytes_in=0)  # fmt: skip
    body = ask(world, of="topic", topic="orders", range="90d").json()
    assert (body["source"], body["step_s"]) == ("days", DAY_S)
    assert len(body["ts_ms"]) == 90


def partition_hours(world, at, *, topic="orders", **more):
    """Of three partitions; the second is not known, the third has had no sample before."""
    values = {
        "partitions": 3,
        "partition": "0,1,2",
        "records_in": "7200,,",
        "bytes_in": "720000,,",
        "covered_ms": "3600000,,",
        "start_offset": f"{at * 100},,5",
        "end_offset": f"{at * 7200},,9",
        "bytes_last": "4096,,",
    }
    stored("partition_rollup", world.cluster.id, at, topic=topic, **{**values, **more})


def test_longer_ranges_of_a_partition_are_the_rollups_and_gaps_stay_gaps(world):
    world.gateway.add_topic("orders", partitions=3)
    for at in (0, 1, 4):
        partition_hours(world, at)
    partition_hours(world, 5, covered_ms="1800000,,", records_in="3600,,", bytes_in=",,")
    body = ask(world, of="partition", topic="orders", partition=0, range="6h").json()
    assert (body["source"], body["step_s"], body["complete"]) == ("hours", 3600, True)
    (one,) = body["series"]
    assert (one["topic"], one["partition"]) == ("orders", 0)
    assert one["records_in_per_s"] == [2.0, 2.0, None, None, 2.0, 2.0]
    assert one["bytes_in_per_s"] == [200.0, 200.0, None, None, 200.0, None]
    assert one["known"] == [1.0, 1.0, 0.0, 0.0, 1.0, 0.5]
    assert set(one["records_out_per_s"]) == {None}
    (unknown,) = series(ask(world, of="partition", topic="orders", partition=1, range="6h"))
    assert set(unknown["records_in_per_s"]) == {None}
    every = series(ask(world, of="partition", topic="orders", range="6h"))
    assert [each["partition"] for each in every] == [0, 1, 2]
    assert series(ask(world, of="partition", topic="orders", partition=9, range="6h")) == []


def test_months_of_a_partition_are_days_and_one_shard_is_read(world):
    world.gateway.add_topic("orders", partitions=3)
    partition_hours(world, 3, period_s=DAY_S, covered_ms="86400000,,")
    partition_hours(world, 3, period_s=DAY_S, shard=1, partition="500", partitions=1,
                    records_in="86400", bytes_in="0", covered_ms="86400000")  # fmt: skip
    body = ask(world, of="partition", topic="orders", partition=500, range="90d").json()
    assert (body["source"], len(body["ts_ms"])) == ("days", 90)
    (one,) = body["series"]
    assert (one["records_in_per_s"][-1], one["bytes_in_per_s"][-1]) == (1.0, 0.0)


def test_partitions_beyond_the_bound_are_said_to_be_left_out(world):
    world.gateway.add_topic("orders", partitions=3)
    stored("cluster_rollup", world.cluster.id, 0, partitions=PARTITIONS_MAX)
    partition_hours(world, 0, topic="busy")
    asked = {"of": "partition", "topic": "orders", "range": "24h"}
    assert ask(world, **asked).json()["reason"] is None
    stored("cluster_rollup", world.cluster.id, 1, partitions=PARTITIONS_MAX + 1)
    body = ask(world, **asked).json()
    assert (body["complete"], body["series"]) == (False, [])
    assert "20,001" in body["reason"]


# -- where logs begin and end ---------------------------------------------------------------
def where_logs_end(world, client=None, **query):
    address = f"/api/v1/clusters/{world.cluster.id}/analytics/offsets"
    return (client or client_for(world.tenant, "viewer")).get(address, query)


def test_a_log_begins_and_ends_where_it_did_and_gaps_stay_gaps(world):
    world.gateway.add_topic("orders", partitions=3)
    for at in (0, 1, 3):
        partition_hours(world, at)
        stored("topic_rollup", world.cluster.id, at, topic="orders", start_offset=at,
               end_offset=at * 10, bytes_last=at * 100)  # fmt: skip
    body = where_logs_end(world, topic="orders", partition=0, range="6h").json()
    assert (body["of"], body["source"], body["step_s"]) == ("partition", "hours", 3600)
    assert body["start_offset"] == [None, None, 0, 100, None, 300]
    assert body["end_offset"] == [None, None, 0, 7200, None, 21600]
    assert body["bytes"] == [None, None, 4096, 4096, None, 4096]
    assert len(body["ts_ms"]) == 6
    body = where_logs_end(world, topic="orders", range="6h").json()
    assert (body["of"], body["end_offset"]) == ("topic", [None, None, 0, 10, None, 30])
    # The last that is known of a step, in as many points as there is room for.
    body = where_logs_end(world, topic="orders", range="24h", points=10).json()
    assert (body["step_s"], body["end_offset"][-1]) == (3 * 3600, 30)
    # Of one that is not in the rows nothing is known.
    body = where_logs_end(world, topic="orders", partition=1, range="6h").json()
    assert set(body["start_offset"] + body["end_offset"] + body["bytes"]) == {None}


def test_where_nothing_is_computed_yet_there_are_no_points(world):
    world.gateway.add_topic("orders", partitions=1)
    for query in ({}, {"partition": 0}):
        body = where_logs_end(world, topic="orders", **query).json()
        assert (body["as_of"], body["ts_ms"], body["end_offset"]) == (None, [], [])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "topic"),
        ({"topic": "orders", "range": "1h"}, "range"),
        ({"topic": "orders", "partition": -1}, "partition"),
        ({"topic": "orders", "points": 5}, "points"),
    ],
)
def test_a_question_about_offsets_that_makes_no_sense_names_its_field(world, query, field):
    answer = where_logs_end(world, **query)
    assert answer.status_code == 422
    assert field in {error["pointer"].strip("/") for error in answer.json()["errors"]}


def test_of_others_offsets_there_is_nothing(team, world):
    assert where_logs_end(world, team, topic="team-a-x").status_code == 200
    assert where_logs_end(world, team, topic="orders").status_code == 404
    assert where_logs_end(world, team, topic="orders", partition=0).status_code == 404
    stranger = client_for(tenant_make("rival"))
    assert where_logs_end(world, stranger, topic="orders").status_code == 404


# -- who sees what --------------------------------------------------------------------------
def test_of_another_tenants_cluster_there_is_nothing(line, world):
    stranger = client_for(tenant_make("rival"))
    line.go(1, write=30)
    for name, of in (("throughput", "topic"), ("sparklines", "name")):
        where = f"/api/v1/clusters/{world.cluster.id}/analytics/{name}"
        assert stranger.get(where, {"of": "topic", of: "orders"}).status_code == 404
    other = cluster_make(world.tenant, name="other")
    where = f"/api/v1/clusters/{other.id}/analytics/throughput"
    assert client_for(world.tenant, "viewer").get(where).json()["series"] == []


@pytest.fixture
def team(line, world):
    """What `member_of` has grants over, beside what it has none over."""
    world.gateway.add_topic("team-a-x", records=100)
    world.gateway.add_group("team-a-g", {TP("team-a-x", 0): 10, TP("orders", 0): 10})
    world.gateway.add_group("secret-readers", {TP("team-a-x", 0): 0})
    line.sample()
    line.go(1)
    world.gateway.topics["team-a-x"].partitions[0].log_end += 30
    world.gateway.committed["secret-readers"] = world.gateway.committed["team-a-g"]
    line.go(1, write=30)
    return member_of(world.tenant)


def test_who_sees_a_part_sees_its_series_and_nothing_of_the_others(team, world):
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/throughput"
    (topic,) = series(team.get(where, {"of": "topic", "topic": "team-a-x"}))
    assert topic["records_in_per_s"][-1] == 1.0
    # What others read of it is not told, not even as a sum.
    assert set(topic["records_out_per_s"]) == set(topic["bytes_out_per_s"]) == {None}
    (group,) = series(team.get(where, {"of": "group", "group": "team-a-g"}))
    assert group["topic"] == "team-a-x"
    assert len(series(ask(world, of="group", group="team-a-g"))) == 2
    for query in (
        {},
        {"of": "broker"},
        {"of": "broker", "broker": 1},
        {"of": "topic", "topic": "orders"},
        {"of": "partition", "topic": "orders"},
        {"of": "partition", "topic": "orders", "partition": 0},
        {"of": "group", "group": "readers"},
    ):
        assert team.get(where, query).status_code == 404, query


# -- bad input ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"of": "host"}, "of"),
        ({"of": "topic"}, "topic"),
        ({"of": "partition"}, "topic"),
        ({"of": "group"}, "group"),
        ({"range": "2h"}, "range"),
        ({"points": "9"}, "points"),
        ({"points": "100000"}, "points"),
        ({"of": "broker", "broker": "-1"}, "broker"),
        ({"of": "broker", "range": "7d"}, "range"),
        ({"of": "partition", "topic": "orders", "partition": "-1"}, "partition"),
        ({"of": "partition", "topic": "orders", "partition": str(2**31)}, "partition"),
    ],
)
def test_a_question_that_cannot_be_answered_names_its_field(line, world, query, field):
    answer = ask(world, **query)
    assert answer.status_code == 422, answer.content
    assert [row["pointer"].strip("/") for row in answer.json()["errors"]] == [field]


# -- sparklines -----------------------------------------------------------------------------
def small(world, client=None, **query):
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/sparklines"
    return (client or client_for(world.tenant, "viewer")).get(where, query)


def test_a_lists_names_are_answered_at_once(line, world, django_assert_max_num_queries):
    line.go(4, write=30, read=15)
    client = client_for(world.tenant, "viewer")
    small(world, client, of="topic", name=["orders"])
    with django_assert_max_num_queries(20):
        body = small(world, client, of="topic", name=["orders", "idle", "no-such"]).json()
    assert len(body["ts_ms"]) == 30
    lines = {row["name"]: row for row in body["rows"]}
    assert lines["orders"]["last"] == 2.0
    assert lines["idle"]["last"] == 0.0
    assert lines["no-such"]["last"] is None
    assert set(lines["no-such"]["values"]) == {None}
    (group,) = small(world, of="group", name=["readers"]).json()["rows"]
    assert group["last"] == 1.0
    brokers = small(world, of="broker", name=["1", "2", "3", "4", "x"]).json()["rows"]
    assert sum(row["last"] or 0 for row in brokers) == 2.0


def test_sparklines_are_of_names_that_are_seen(team, world):
    body = small(world, team, of="topic", name=["orders", "team-a-x"]).json()
    assert [row["name"] for row in body["rows"]] == ["team-a-x"]
    (group,) = small(world, team, of="group", name=["readers", "team-a-g"]).json()["rows"]
    assert group["name"] == "team-a-g"
    assert small(world, team, of="broker", name=["1"]).status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        {"of": "cluster", "name": ["x"]},
        {"name": ["x"]},
        {"of": "topic"},
        {"of": "topic", "name": [f"t{n}" for n in range(101)]},
    ],
)
def test_a_list_is_of_a_few_names(line, world, query):
    assert small(world, **query).status_code == 422


# -- the collector --------------------------------------------------------------------------
def test_the_collector_takes_each_sample_in(world, publishers):
    assert collect.collect_cluster(world.cluster.id)
    assert ThroughputState.objects.get().cluster_id == world.cluster.id


def test_numbers_that_make_no_rates_stop_no_sampling(world, publishers, monkeypatch):
    def fails(*_):
        raise ValueError("not a number")

    monkeypatch.setattr(collect, "note", fails)
    assert collect.collect_cluster(world.cluster.id)
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/collector"
    said = client_for(world.tenant, "viewer").get(where).json()["last_error"]
    assert said == "The sample was taken; its throughput could not be measured."


def test_clusters_that_nobody_samples_are_forgotten(line, world):
    line.go(1, write=30)
    services.forget_old(conf())
    for model in (ThroughputBlock, ThroughputLayout, ThroughputState):
        assert not model.objects.exists()
