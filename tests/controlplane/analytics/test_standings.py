"""What the collector keeps of each partition, and what a group's answer makes of it."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.analytics import judge
from controlplane.analytics.judge import store
from controlplane.analytics.models import GoldGroupLag, GroupVerdict
from controlplane.analytics.newest import group_verdicts
from controlplane.analytics.rules import VERDICT_STALE_S
from controlplane.analytics.sampler import Sampler
from controlplane.analytics.standings import StoredJudgements
from controlplane.analytics.verdicts.by_partition import STORED, kept_facts
from controlplane.analytics.verdicts.evaluator import Evaluator
from controlplane.common.grants import LIMITED, VIEWER, Grant, Match, Over, Pattern
from controlplane.gateway.types import TP
from spark_analytics.contracts.statuses import Risk, Status
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, observed, tenant_make
from tests.spark_analytics.cases import PAIR, TWO, group_slice, topic_slice

MINUTES = 11
ENDS = (1_500, 1_500)


def judged(topic="orders", group="billing", **more):
    """Eleven minutes: partition 0 is read as it is written, partition 1 stands at 400."""
    evaluator = Evaluator(history_is_whole=True)
    for m in range(MINUTES):
        ends = [500 + 100 * m, 500 + 100 * m]
        evaluator.feed(
            [
                topic_slice(m, None, **{**TWO, "topic": topic, "log_end_offset": ends, **more}),
                group_slice(
                    m,
                    None,
                    None,
                    **PAIR,
                    topic=topic,
                    group=group,
                    committed_offset=[ends[0], 400],
                    log_end_offset=ends,
                ),
            ]
        )
    return evaluator.verdicts()


def keep(world, verdicts):
    store(world.cluster.id, Sampler().sample(world.gateway, budget_s=5), verdicts, timezone.now())
    now_ms = int(timezone.now().timestamp() * 1000)
    GroupVerdict.objects.filter(cluster_id=world.cluster.id).update(sampled_ms=now_ms)


@pytest.fixture
def billing(world):
    """The same at the brokers: one member owns both partitions."""
    world.gateway.add_topic("orders", partitions=2)
    for partition, end in zip(world.gateway.topics["orders"].partitions, ENDS, strict=True):
        partition.log_end = end
    world.gateway.add_group("billing", {TP("orders", 0): 1_500, TP("orders", 1): 400}, members=1)
    world.gateway.assign("billing", [TP("orders", 0), TP("orders", 1)])
    return world


def test_facts_are_kept_by_partition_and_unknown_is_null():
    (verdict,) = judged()
    kept = kept_facts(verdict)
    assert set(kept) == set(STORED)
    assert kept["stuck_s"] == [0.0, 600.0]
    assert kept["is_behind"] == [0.0, 1.0]
    produced, consumed = kept["produce_records_per_s"], kept["consume_records_per_s"]
    assert produced == pytest.approx([100 / 60, 100 / 60], abs=1e-3)
    assert consumed == pytest.approx([100 / 60, 0.0], abs=1e-3)
    assert kept["eta_s"][1] is None
    assert all(value is None or math.isfinite(value) for row in kept.values() for value in row)


def test_a_group_s_answer_names_the_partition_its_record_and_its_member(billing):
    keep(billing, judged())
    observed(billing)
    client = client_for(billing.tenant, "viewer")
    found = client.get(f"/api/v1/clusters/{billing.cluster.id}/groups/billing").json()
    said = found["diagnosis"]
    assert (said["cause"], said["topic"], said["partitions"]) == ("stuck_partition", "orders", [1])
    assert said["severity"] == "danger"
    assert said["text"].startswith(
        "Partition orders-1 has stood still for 10 min with 1,100 records unread,"
        " while 1 other partition moves, of member billing (/127.0.0.1)"
    )
    assert "offset 400 of orders-1" in said["next_step"]
    assert not said["is_stale"]
    reads, stands = found["offsets"]
    assert (stands["lag"], stands["stuck_s"], stands["eta_s"]) == (1_100, 600.0, None)
    assert stands["owner"] == {
        "member_id": "billing-0",
        "client_id": "billing",
        "host": "/127.0.0.1",
    }
    assert reads["consume_records_per_s"] == pytest.approx(100 / 60, abs=1e-3)
    assert reads["sampled_at"] == stands["sampled_at"] == said["as_of"]


def test_the_list_says_the_same_and_sorts_nobody_out(billing):
    keep(billing, judged())
    billing.gateway.add_group("new", {})
    observed(billing)
    client = client_for(billing.tenant, "viewer")
    one = client.get(f"/api/v1/clusters/{billing.cluster.id}/groups/billing").json()
    rows = client.get(f"/api/v1/clusters/{billing.cluster.id}/groups").json()["data"]
    said = {row["group"]: row["diagnosis"] for row in rows}
    assert said["billing"] == one["diagnosis"]
    page = client.get(f"/console/api/pages/groups/{billing.cluster.id}").json()["parts"]["groups"]
    assert {row["group"]: row["diagnosis"]["cause"] for row in page["data"]} == {
        name: each["cause"] for name, each in said.items()
    }


def test_an_old_verdict_is_called_old(billing):
    keep(billing, judged())
    then = timezone.now() - timedelta(seconds=VERDICT_STALE_S + 60)
    GroupVerdict.objects.update(sampled_ms=int(then.timestamp() * 1000))
    observed(billing)
    client = client_for(billing.tenant, "viewer")
    said = client.get(f"/api/v1/clusters/{billing.cluster.id}/groups/billing").json()["diagnosis"]
    assert said["is_stale"]
    assert said["unknown"][0].startswith("A newer sample is overdue")


def test_what_a_scope_does_not_cover_is_no_part_of_the_diagnosis(billing):
    """The topic in trouble is another team's: its name, numbers and partitions are not there."""
    billing.gateway.add_topic("mine", partitions=1)
    billing.gateway.committed["billing"][TP("mine", 0)] = billing.gateway.committed["billing"][
        TP("orders", 0)
    ]
    keep(billing, judged())
    observed(billing)
    cluster, mine = Pattern(Match.LITERAL, "main"), Pattern(Match.LITERAL, "mine")
    group = Pattern(Match.LITERAL, "billing")
    client = member_of(
        billing.tenant,
        [
            Grant(role=VIEWER, clusters=cluster, over=Over.TOPIC, names=mine),
            Grant(role=VIEWER, clusters=cluster, over=Over.GROUP, names=group),
        ],
    )
    assert LIMITED
    answer = client.get(f"/api/v1/clusters/{billing.cluster.id}/groups/billing")
    assert answer.status_code == 200
    assert "orders" not in answer.content.decode()
    assert answer.json()["diagnosis"]["cause"] == "unknown"
    listed = client.get(f"/api/v1/clusters/{billing.cluster.id}/groups")
    assert "orders" not in listed.content.decode()


def test_another_tenant_s_verdicts_are_not_read(billing):
    other = cluster_make(tenant_make("rival"), name="main")
    keep(billing, judged())
    assert StoredJudgements().of(other.id, ["billing"]) == {}
    assert StoredJudgements().partitions_of(other.id, ["billing"]) == {}
    theirs = client_for(other.tenant, "owner")
    assert theirs.get(f"/api/v1/clusters/{billing.cluster.id}/groups/billing").status_code == 404


def test_newer_gold_is_told_without_the_collector_s_partitions(billing):
    keep(billing, judged())
    newer_ms = GroupVerdict.objects.get().sampled_ms + 60_000
    GoldGroupLag.objects.create(
        cluster_id=billing.cluster.id,
        group="billing",
        topic="orders",
        ts_ms=newer_ms // 30_000 * 30_000,
        sampled_ms=newer_ms,
        partitions=2,
        lag_records=7,
        trend="growing",
        status="FALLING_BEHIND",
        run_id="r",
    )
    (standing,) = StoredJudgements().of(billing.cluster.id, ["billing"])["billing"]
    assert (standing.status, standing.risk, standing.is_live) == (
        Status.FALLING_BEHIND,
        Risk.WATCH,
        False,
    )
    observed(billing)
    client = client_for(billing.tenant, "viewer")
    found = client.get(f"/api/v1/clusters/{billing.cluster.id}/groups/billing").json()
    assert found["offsets"][1]["stuck_s"] is None
    assert any("only their sums are" in each for each in found["diagnosis"]["unknown"])


def test_only_so_many_partitions_are_kept_and_the_worst_first(billing, monkeypatch):
    monkeypatch.setattr(judge, "PARTITIONS_KEPT_MAX", 3)
    fine = Evaluator(history_is_whole=True)
    for m in range(MINUTES):
        ends = [500 + 100 * m] * 2
        topic = topic_slice(m, None, **{**TWO, "topic": "a", "log_end_offset": ends})
        group = group_slice(
            m, None, None, **PAIR, topic="a", group="a", committed_offset=ends, log_end_offset=ends
        )
        fine.feed([topic, group])
    keep(billing, [*fine.verdicts(), *judged()])
    kept = dict(GroupVerdict.objects.values_list("group", "by_partition"))
    assert kept["a"] is None
    assert kept["billing"]["stuck_s"] == [0.0, 600.0]


def test_lists_of_verdicts_do_not_load_what_is_kept_of_partitions(
    billing, django_assert_num_queries
):
    keep(billing, judged())
    with django_assert_num_queries(1):
        (row,) = group_verdicts([billing.cluster.id])
        assert row.status == "STALLED"
    assert "by_partition" in row.get_deferred_fields()
