"""What the tables say, as facts: also where parts of them are old or missing."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.alerts import facts, facts_groups, tracks
from controlplane.alerts.models import BrokerTrack
from controlplane.analytics.models import (
    CollectorState,
    GoldGroupExpiry,
    GoldGroupLag,
    GoldTopicRetention,
    GroupVerdict,
)
from controlplane.clusters.hosts import Observed
from controlplane.clusters.models import Broker, Cluster
from controlplane.gateway.errors import unreachable
from controlplane.gateway.types import TP
from controlplane.observed.models import ObservedCluster
from controlplane.operations.models import Operation
from controlplane.tenants.models import ApiKey
from controlplane.tenants.services import api_key_create
from tests.controlplane.analytics.rows import expiry_row, lag_row, retention_row
from tests.controlplane.support import ACTOR, cluster_make, observed


def read(world, groups=(), now=None):
    (tenant,) = facts.read(now or timezone.now(), {world.cluster.id: groups}).tenants
    return tenant


def cluster_of(world, **more):
    return next(each for each in read(world, **more).clusters if each.id == world.cluster.id)


def test_a_cluster_that_was_never_observed_is_away_and_nothing_is_known(world):
    found = cluster_of(world)
    assert found.away == "it has not been observed yet"
    assert (found.brokers, found.troubles, found.groups) == (None, None, None)
    assert not found.is_refusing


def test_an_observed_cluster(world):
    world.gateway.add_topic("orders", partitions=3, rf=3)
    observed(world)
    found = cluster_of(world)
    assert (found.away, found.troubles, found.controller_id) == ("", (), 1)
    assert [(each.id, each.live) for each in found.brokers] == [(n, True) for n in (1, 2, 3, 4)]
    assert found.min_isr_known


def test_the_largest_topic_is_looked_for_on_disks_that_are_half_full(world):
    world.gateway.add_topic("orders", partitions=1, rf=4, records=10)
    world.gateway.add_topic("clicks", partitions=1, rf=1, records=1_000)
    observed(world)
    assert {each.largest_topic for each in cluster_of(world).brokers} == {None}
    (alone,) = world.gateway.topics["clicks"].partitions[0].replicas
    world.gateway.disks = dict.fromkeys((1, 2, 3, 4), (1_000, 499))
    without = next(number for number in (1, 2, 3, 4) if number != alone)
    world.gateway.disks[without] = (1_000, 500)
    observed(world)
    found = {each.id: each.largest_topic for each in cluster_of(world).brokers}
    assert found.pop(alone) == "clicks"
    assert found.pop(without) is None
    assert set(found.values()) == {"orders"}


def test_a_dead_brokers_partitions_are_told_by_whom_they_lack(world):
    world.gateway.add_topic("orders", partitions=4, rf=3)
    world.gateway.add_topic("alone", partitions=4, rf=1)
    world.gateway.topics["orders"].configs["min.insync.replicas"] = "3"
    world.gateway.remove_broker(2)
    observed(world)
    found = cluster_of(world)
    assert [each.id for each in found.brokers if not each.live] == [2]
    orders = next(each for each in found.troubles if each.topic == "orders")
    assert set(orders.under_replicated) == {frozenset({2})}
    assert orders.under_min_isr == orders.under_replicated
    alone = next(each for each in found.troubles if each.topic == "alone")
    assert set(alone.offline) == {frozenset({2})}
    assert alone.under_replicated == {}


def test_a_cluster_that_does_not_answer(world):
    observed(world)
    world.gateway.fail_next("describe_cluster", *[unreachable("no answer")] * 10)
    observed(world)
    found = cluster_of(world)
    assert found.is_refusing
    assert "no answer" in found.away
    assert found.brokers is None
    assert found.seen_at is not None


def test_topics_that_could_not_be_read(world):
    world.gateway.add_topic("orders")
    observed(world)
    world.gateway.fail_next("list_topics", *[unreachable("no answer")] * 10)
    observed(world)
    found = cluster_of(world)
    assert found.troubles is None
    assert found.brokers is not None


def test_a_cluster_that_nobody_looks_at(world):
    observed(world)
    late = timezone.now() + timedelta(hours=1)
    found = cluster_of(world, now=late)
    assert (found.away, found.is_refusing) == ("nobody has looked at it for a while", False)


def test_placed_brokers_and_their_agents(world):
    placed = Broker.objects.create(
        cluster=world.cluster,
        broker_id=9,
        host_id="host-1",
        address="127.0.0.1",
        client_port=1,
        internal_port=2,
    )
    observed(world)
    world.hosts.reports["host-1", placed.key] = Observed(state="backoff", generation=1, restarts=5)
    found = facts.read(timezone.now(), {})
    assert found.starts == {(world.cluster.id, 9): 5}
    assert found.tenants[0].zookeeper == ""
    assert [each.live for each in found.tenants[0].clusters[0].brokers if each.id == 9] == [False]
    world.hosts.is_away = True
    away = facts.read(timezone.now(), {})
    assert away.starts == {}
    assert away.tenants[0].zookeeper
    assert not away.tenants[0].clusters[0].agents_known


def test_sizes_and_starts_are_kept_for_a_day(world):
    observed(world)
    now = timezone.now()
    for at in range(200):
        then = now + timedelta(minutes=5 * at)
        tenants = facts.read(now, {}).tenants
        tracks.keep(tenants, {(world.cluster.id, 1): at // 10}, then)
    row = BrokerTrack.objects.get(broker_id=1)
    assert len(row.sizes) == 67
    assert [count for _, count in row.starts] == list(range(20))
    broker = next(each for each in cluster_of(world).brokers if each.id == 1)
    assert broker.starts[-1][1] == 19
    assert broker.sizes[-1][0] - broker.sizes[0][0] == timedelta(minutes=15 * 66)
    assert tracks.keep(tenants, {(world.cluster.id, 1): 19}, then) == 0
    tracks.forget([world.cluster.id])
    assert BrokerTrack.objects.exists()
    tracks.forget([])
    assert not BrokerTrack.objects.exists()


def test_rings_are_bounded_and_a_clock_set_back_stops_none():
    row, now = BrokerTrack(), timezone.now()
    for at in range(300):
        assert tracks.noted(row, at, at, now + timedelta(hours=at))
    assert (len(row.sizes), len(row.starts)) == (tracks.SIZES_KEPT, tracks.STARTS_KEPT)
    assert tracks.noted(row, 1, 299, now), "earlier than all that is kept"
    assert not tracks.noted(row, None, None, now)


# -- groups ---------------------------------------------------------------------------------
@pytest.fixture
def gold(world):
    now_ms = int(timezone.now().timestamp() * 1000)
    at = now_ms - now_ms % 30_000 - 60_000

    def write(group="billing", topic="orders", ts_ms=at, lag=None, expiry=None):
        world_id = world.cluster.id
        rows = (
            (GoldTopicRetention, retention_row(world_id, ts_ms, topic=topic)),
            (GoldGroupLag, lag_row(world_id, ts_ms, group=group, topic=topic, **(lag or {}))),
            (
                GoldGroupExpiry,
                expiry_row(world_id, ts_ms, group=group, topic=topic, **(expiry or {})),
            ),
        )
        for model, row in rows:
            if not model.objects.filter(
                **{key: row[key] for key in ("cluster_id", "topic", "ts_ms") if key in row},
                **({"group": group} if "group" in row else {}),
            ).exists():
                model.objects.create(**row, run_id="run_1")

    write.at = at
    return write


def test_groups_that_are_well_are_not_read(world, gold):
    gold()
    gold("late", lag={"status": "STOPPED", "lag_records": 7})
    found = cluster_of(world).groups
    assert [(each.group, each.status, each.lag_records) for each in found.series] == [
        ("late", "STOPPED", 7)
    ]


def test_a_group_with_an_open_alert_is_read_however_well_it_is(world, gold):
    gold()
    found = cluster_of(world, groups=["billing"]).groups
    assert [(each.group, each.status) for each in found.series] == [("billing", "CAUGHT_UP")]
    assert found.missing == frozenset()


def test_a_group_of_which_nothing_is_said_is_missing_unless_it_is_gone(world, gold):
    gold()
    world.gateway.add_topic("orders")
    world.gateway.add_group("quiet", {TP("orders", 0): 0})
    observed(world)
    found = cluster_of(world, groups=["quiet", "gone"]).groups
    assert found.missing == {"quiet"}


def test_only_the_newest_window_counts(world, gold):
    gold(ts_ms=gold.at - 30_000, lag={"status": "STOPPED"})
    gold()
    assert cluster_of(world).groups.series == ()


def test_risk_comes_with_lag_and_retention(world, gold):
    gold(expiry={"status": "AT_RISK", "oldest_unread_expires_in_s": 60.0, "first_loss_in_s": 90.0})
    (found,) = cluster_of(world).groups.series
    assert (found.risk, found.status, found.lag_records) == ("AT_RISK", "CAUGHT_UP", 10)
    assert (found.expires_in_s, found.first_loss_in_s, found.retention_s) == (60.0, 90.0, 3600.0)


def test_an_old_judgement_says_nothing_of_now(world, gold):
    gold(ts_ms=gold.at - 3_600_000, lag={"status": "STOPPED"})
    found = cluster_of(world)
    assert found.groups is None
    assert found.groups_unknown_because == "its groups were not judged lately"
    assert found.judged_at is not None
    assert facts_groups.STALE_S < 3_600


def verdict(world, *, ago_s, status="CAUGHT_UP", risk="SAFE", group="billing"):
    now = timezone.now()
    return GroupVerdict.objects.create(
        cluster_id=world.cluster.id,
        group=group,
        topic="orders",
        sampled_ms=int((now.timestamp() - ago_s) * 1000),
        judged_at=now,
        partitions=1,
        trend="steady",
        status=status,
        risk=risk,
        first_loss_in_s=50.0,
    )


def test_the_collector_s_verdict_counts_before_a_run_has_come(world):
    verdict(world, ago_s=3, status="STOPPED", risk="AT_RISK")
    found = cluster_of(world)
    (series,) = found.groups.series
    assert (series.status, series.risk, series.first_loss_in_s) == ("STOPPED", "AT_RISK", 50.0)
    assert (timezone.now() - found.groups.as_of).total_seconds() < 10
    assert found.judged_at is None, "Spark has said nothing yet, and is late by that"


def test_what_the_collector_says_makes_spark_s_results_no_newer(world, gold):
    gold(ts_ms=gold.at - 1_800_000)
    verdict(world, ago_s=3)
    found = cluster_of(world)
    assert (timezone.now() - found.groups.as_of).total_seconds() < 10
    assert (timezone.now() - found.judged_at).total_seconds() > 1_700


def test_the_newer_judgement_of_a_group_counts(world, gold):
    gold(lag={"status": "STOPPED"})
    verdict(world, ago_s=3)
    (series,) = cluster_of(world).groups.series
    assert series.status == "CAUGHT_UP"
    GroupVerdict.objects.update(status="UNKNOWN")
    (series,) = cluster_of(world).groups.series
    assert series.status == "STOPPED"


def test_a_verdict_that_is_minutes_old_counts_no_more(world, gold):
    gold(lag={"status": "STOPPED"})
    verdict(world, ago_s=facts_groups.LIVE_STALE_S + 5)
    (series,) = cluster_of(world).groups.series
    assert series.status == "STOPPED"
    GoldGroupLag.objects.all().delete()
    GoldTopicRetention.objects.all().delete()
    assert cluster_of(world).groups_unknown_because == "its groups have not been judged yet"


# -- the tenant's own -----------------------------------------------------------------------
def test_operations_under_way_and_failed(world):
    plan = world.plan("topic.create", name="one")
    waiting = world.start(plan)
    Operation.objects.filter(pk=waiting.pk).update(next_run_at=timezone.now() - timedelta(hours=1))
    failed = world.run("topic.create", name="two")
    Operation.objects.filter(pk=failed.pk).update(
        state="failed", finished_at=timezone.now(), remains=["a topic"], error={"code": "x"}
    )
    found = {each.id: each for each in read(world).operations}
    assert set(found) == {waiting.pk, failed.pk}
    assert found[waiting.pk].due_since is not None
    assert (found[failed.pk].remains, found[failed.pk].error) == (("a topic",), "x")
    Operation.objects.filter(pk=waiting.pk).update(
        lease_token="t", lease_expires_at=timezone.now() + timedelta(seconds=60)
    )
    found = {each.id: each for each in read(world).operations}
    assert found[waiting.pk].due_since is None, "somebody is at it"
    Operation.objects.filter(pk=failed.pk).update(
        finished_at=timezone.now() - timedelta(days=2), remains=[]
    )
    assert failed.pk not in {each.id for each in read(world).operations}


def test_what_has_been_done_since_has_not_failed_any_more(world):
    failed = world.run("topic.create", name="two")
    rows = Operation.objects.filter(pk=failed.pk)

    def shown():
        return failed.pk in {each.id for each in read(world).operations}

    ago = timezone.now() - timedelta(minutes=5)
    rows.update(state="failed", finished_at=ago, created_at=ago, remains=[])
    world.gateway.delete_topic("two")
    world.run("topic.create", name="three")
    assert shown(), "that was another one"
    assert world.run("topic.create", name="two").state == "succeeded"
    assert not shown()
    rows.update(remains=["a limit"])
    assert shown(), "what it has left is there still"
    rows.update(remains=[], finished_at=timezone.now() + timedelta(minutes=1))
    assert shown(), "it failed after that"


def test_keys_that_end(world):
    for name, days in (("ends", 3), ("never", None), ("revoked", 3)):
        ends = None if days is None else timezone.now() + timedelta(days=days)
        api_key_create(tenant=world.tenant, name=name, scope="read", actor=ACTOR, expires_at=ends)
    ApiKey.objects.filter(name="revoked").update(revoked_at=timezone.now())
    assert [key.name for key in read(world).keys] == ["ends"]


def test_what_is_used_of_the_tenants_share(world, settings):
    settings.CLUSTERS_PER_TENANT = 3
    cluster_make(world.tenant, "second")
    cluster_make(world.tenant, "gone", deleted_at=timezone.now())
    world.plan("topic.create", name="one")
    limits = {limit.name: (limit.used, limit.most) for limit in read(world).limits}
    assert limits["clusters"] == (2, 3)
    assert limits["open plans"] == (1, settings.PLANS_OPEN_MAX)


def test_the_collectors_word(world):
    at = timezone.now() - timedelta(seconds=99)
    CollectorState.objects.create(
        cluster_id=world.cluster.id, last_sample_at=at, last_error="refused"
    )
    found = cluster_of(world)
    assert (found.sampled_at, found.sample_error) == (at, "refused")


def test_a_reason_is_a_part_of_a_sentence():
    assert facts.reason("No answer.") == "No answer"
    long = facts.reason("It is asked again in 3 s. " * 20)
    assert len(long) <= facts.REASON_MAX + 2
    assert long.endswith((" It …", " s. …", " in …", " again …", " asked …", " is …", " 3 …"))


def test_clusters_that_are_not_up_are_not_watched(world):
    Cluster.objects.update(phase="CREATING")
    assert read(world).clusters == ()
    assert not ObservedCluster.objects.exists()
