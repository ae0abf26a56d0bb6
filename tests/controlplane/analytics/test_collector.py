"""Sampling over the fake cluster: order, shapes, leases, faults."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.analytics import collect
from controlplane.analytics.chunks import encoded
from controlplane.analytics.models import CollectorState
from controlplane.analytics.sampler import SampleLateError, Sampler
from controlplane.analytics.slices import records
from controlplane.analytics.telemetry import ensure_topic
from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.types import EARLIEST, LATEST, TP
from spark_analytics.contracts.telemetry import SLICE_ARRAYS, TELEMETRY_PARTITIONS, TELEMETRY_TOPIC


def rows_of(records):
    return [json.loads(record.value) for record in records]


@pytest.fixture
def gateway():
    made = FakeGateway(brokers=3)
    made.add_topic("orders", partitions=2, records=100)
    made.add_topic("idle", partitions=1)
    made.add_group("billing", {TP("orders", 0): 60}, members=2)
    made.calls.clear()
    return made


def test_group_offsets_are_read_before_log_ends(gateway):
    Sampler().sample(gateway, budget_s=5)
    assert gateway.calls.index("group_offsets") < gateway.calls.index("offsets")


@pytest.mark.parametrize("groups", [1, 50])
def test_log_ends_are_read_once_for_all_groups(gateway, monkeypatch, groups):
    """However many groups read a topic: each partition is asked about once for each kind."""
    for number in range(groups):
        gateway.add_group(f"reader-{number}", {TP("orders", 0): 10, TP("orders", 1): 20})
    asked = []
    answer = gateway.offsets

    def counted(specs):
        asked.append(dict(specs))
        return answer(specs)

    monkeypatch.setattr(gateway, "offsets", counted)
    sample = Sampler().sample(gateway, budget_s=5)
    every = {TP("orders", 0), TP("orders", 1), TP("idle", 0)}
    assert len(sample.committed) == groups + 1
    assert asked[:2] == [dict.fromkeys(every, LATEST), dict.fromkeys(every, EARLIEST)]
    assert len(asked) == 3, "log ends, log starts, first records"
    assert gateway.calls.count("group_offsets") == 1


def test_a_slice_holds_every_partition(gateway):
    gateway.topics["orders"].partitions[1].log_start = 40
    sample = Sampler(now_ms=lambda: 1_000_000).sample(gateway, budget_s=5)
    idle, orders, billing = rows_of(encoded(records("kc_1", sample)))
    assert orders == {
        "v": 1,
        "kind": "topic",
        "ts_ms": 1_000_000,
        "cluster_id": "kc_1",
        "topic": "orders",
        "topic_id": gateway.topics["orders"].topic_id,
        "retention_ms": 604_800_000,
        "retention_bytes": -1,
        "partition": [0, 1],
        "leader_epoch": [0, 0],
        "log_start_offset": [0, 40],
        "log_end_offset": [100, 100],
        "size_bytes": [10_000, 6_000],
        "oldest_ts_ms": [0, 40_000],
    }
    assert billing == {
        "v": 1,
        "kind": "group",
        "ts_ms": 1_000_000,
        "cluster_id": "kc_1",
        "topic": "orders",
        "topic_id": gateway.topics["orders"].topic_id,
        "group": "billing",
        "state": "Stable",
        "members": 2,
        "partition": [0, 1],
        "committed_offset": [60, -1],
        "log_start_offset": [0, 40],
        "log_end_offset": [100, 100],
    }
    assert idle["oldest_ts_ms"] == [None]


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ("delete", (3_600_000, 5_000)),
        ("compact,delete", (3_600_000, 5_000)),
        ("compact", (-1, -1)),
    ],
)
def test_retention_takes_nothing_of_a_topic_that_is_compacted_alone(gateway, policy, kept):
    """Its limits are there all the same, and a group would be said to lose what nobody takes."""
    limits = {"retention.ms": "3600000", "retention.bytes": "5000", "cleanup.policy": policy}
    gateway.topics["orders"].configs.update(limits)
    rows = rows_of(encoded(records("kc_1", Sampler().sample(gateway, budget_s=5))))
    (orders,) = [row for row in rows if (row["topic"], row["kind"]) == ("orders", "topic")]
    assert (orders["retention_ms"], orders["retention_bytes"]) == kept


def test_a_partition_without_leader_is_unknown_not_zero(gateway, monkeypatch):
    everything = gateway.offsets
    monkeypatch.setattr(
        gateway,
        "offsets",
        lambda specs: everything({tp: spec for tp, spec in specs.items() if tp.partition != 1}),
    )
    rows = rows_of(encoded(records("kc_1", Sampler().sample(gateway, budget_s=5))))
    assert rows[1]["log_end_offset"] == [100, None]
    assert rows[2]["log_end_offset"] == [100, None]


def test_no_log_dirs_costs_the_sizes_only(gateway):
    gateway.fail_next("log_dirs", unreachable("one broker is away"))
    rows = rows_of(encoded(records("kc_1", Sampler().sample(gateway, budget_s=5))))
    assert rows[1]["size_bytes"] == [None, None]
    assert rows[1]["log_end_offset"] == [100, 100]


def test_what_changes_rarely_is_asked_rarely(gateway):
    sampler = Sampler()
    sampler.sample(gateway, budget_s=5)
    gateway.calls.clear()
    sampler.sample(gateway, budget_s=5)
    assert "topic_configs" not in gateway.calls
    # Latest, earliest, and the call for first records, which has nothing left to ask.
    gateway.topics["orders"].partitions[0].log_start = 7
    again = sampler.sample(gateway, budget_s=5)
    assert again.oldest_ts_ms[TP("orders", 0)] == 7_000


def test_a_slow_cluster_gives_no_sample(gateway):
    ticking = iter(range(0, 1000, 3))
    with pytest.raises(SampleLateError):
        Sampler(clock_s=lambda: next(ticking)).sample(gateway, budget_s=5)


def test_every_record_is_one_that_spark_accepts(gateway):
    """The arrays that the contract names are there and as long as `partition`."""
    rows = rows_of(encoded(records("kc_1", Sampler().sample(gateway, budget_s=5))))
    assert {row["kind"] for row in rows} == set(SLICE_ARRAYS)
    for row in rows:
        for name in SLICE_ARRAYS[row["kind"]]:
            assert len(row[name]) == len(row["partition"]) > 0


def test_the_telemetry_topic_is_made_once(gateway):
    ensure_topic(gateway)
    ensure_topic(gateway)
    topic = gateway.topics[TELEMETRY_TOPIC]
    assert len(topic.partitions) == TELEMETRY_PARTITIONS
    assert len(topic.partitions[0].replicas) == 3
    assert topic.configs["min.insync.replicas"] == "2"
    assert gateway.calls.count("create_topic") == 1


def test_collecting_publishes_and_notes_when(world, publishers):
    world.gateway.add_topic("orders", records=5)
    assert collect.collect_cluster(world.cluster.id)
    assert collect.collect_cluster(world.cluster.id)
    (publisher,) = publishers
    assert {row["topic"] for row in rows_of(publisher.records)} >= {"orders"}
    state = CollectorState.objects.get(pk=world.cluster.id)
    assert (state.samples, state.failures, state.lease_expires_at) == (2, 0, None)
    assert state.first_sample_at <= state.last_sample_at


def test_two_collectors_never_sample_at_once(world, publishers):
    CollectorState.objects.create(
        pk=world.cluster.id, lease_expires_at=timezone.now() + timedelta(seconds=20)
    )
    assert not collect.collect_cluster(world.cluster.id)
    assert publishers == []


def test_a_lease_that_ran_out_is_taken(world, publishers):
    CollectorState.objects.create(
        pk=world.cluster.id, lease_expires_at=timezone.now() - timedelta(seconds=1)
    )
    assert collect.collect_cluster(world.cluster.id)


def test_lateness_is_measured(world, publishers):
    CollectorState.objects.create(
        pk=world.cluster.id, last_started_at=timezone.now() - timedelta(seconds=25)
    )
    collect.collect_cluster(world.cluster.id)
    late_ms = CollectorState.objects.get(pk=world.cluster.id).lateness_ms
    assert 15_000 <= late_ms < 60_000


def test_a_cluster_that_is_away_is_noted_and_tried_again(world, publishers):
    world.gateway.offline = True
    assert not collect.collect_cluster(world.cluster.id)
    state = CollectorState.objects.get(pk=world.cluster.id)
    assert (state.failures, state.lease_expires_at) == (1, None)
    assert "fake cluster is off" in state.last_error
    world.gateway.offline = False
    assert collect.collect_cluster(world.cluster.id)
    assert CollectorState.objects.get(pk=world.cluster.id).last_error == ""


def test_a_refused_record_starts_from_a_fresh_producer(world, publishers):
    collect.collect_cluster(world.cluster.id)
    publishers[0].error = GatewayError("not-acknowledged", "1 of 1 records: unknown topic")
    assert not collect.collect_cluster(world.cluster.id)
    assert publishers[0].closed
    del world.gateway.topics[TELEMETRY_TOPIC]
    assert collect.collect_cluster(world.cluster.id)
    assert TELEMETRY_TOPIC in world.gateway.topics


def test_a_new_password_makes_a_new_producer(world, publishers):
    collect.collect_cluster(world.cluster.id)
    world.cluster.bootstrap_servers = "127.0.0.1:2"
    world.cluster.save()
    collect.collect_cluster(world.cluster.id)
    assert [p.spec.bootstrap_servers for p in publishers] == [("127.0.0.1:1",), ("127.0.0.1:2",)]
    assert publishers[0].closed


@pytest.mark.parametrize("phase", ["CREATING", "DELETING", "FAILED", "DELETED"])
def test_only_clusters_that_are_up_are_watched(world, publishers, phase):
    world.cluster.phase = phase
    world.cluster.save()
    assert collect.watched_cluster_ids() == []
    assert not collect.collect_cluster(world.cluster.id)
    assert publishers == []


def test_a_collector_that_lost_its_lease_does_not_give_back_another_one_s(
    world, publishers, monkeypatch
):
    real = world.gateway.offsets

    def overtaken(*asked):
        CollectorState.objects.update(lease_token="another collector's")
        return real(*asked)

    monkeypatch.setattr(world.gateway, "offsets", overtaken)
    collect.collect_cluster(world.cluster.id)
    state = CollectorState.objects.get(pk=world.cluster.id)
    assert (state.lease_token, state.samples) == ("another collector's", 0)
    assert state.lease_expires_at is not None
