"""One tenant's cluster, whatever it answers, keeps no other tenant's from being looked at."""

import logging
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.clusters.connections import use_gateways
from controlplane.clusters.models import REGISTERED, RUNNING
from controlplane.gateway import patience
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.types import BrokerNode
from controlplane.operations import dispatch
from controlplane.operations.models import Operation
from controlplane.reassignments import schedule_ends, schedule_facts, scheduled
from controlplane.reassignments.models import RebalanceSchedule, ScheduledRebalance
from controlplane.tenants.models import SUSPENDED, Tenant
from tests.controlplane.support import cluster_make, tenant_make


def uneven(gateway):
    """Broker 1 is the preferred leader of every partition."""
    gateway.add_topic("orders", partitions=8, rf=2)
    for part in gateway.topics["orders"].partitions:
        part.replicas = (1, 2)


@pytest.fixture
def two(world):
    """Each tenant's cluster has a schedule that is due; the hostile one's comes first."""
    world.hostile = cluster_make(tenant_make("hostile"), "theirs", phase=RUNNING, kind=REGISTERED)
    world.bad = FakeGateway(brokers=4)
    uneven(world.bad)
    uneven(world.gateway)
    gateways = {world.hostile.pk: world.bad, world.cluster.pk: world.gateway}
    use_gateways(lambda cluster: gateways[cluster.pk])
    world.gateways = gateways
    RebalanceSchedule.objects.create(cluster=world.hostile, enabled=True)
    RebalanceSchedule.objects.create(
        cluster=world.cluster, enabled=True, looked_at=timezone.now() - timedelta(days=1)
    )
    return world


def row_of(cluster):
    return RebalanceSchedule.objects.get(pk=cluster.pk)


def breaks(*_, **__):
    """As `tuple(None)` where an answer has a list of length -1."""
    raise TypeError("'NoneType' object is not iterable")


def test_an_answer_that_nobody_understands_stops_nobody_else(two, monkeypatch, caplog):
    monkeypatch.setattr(two.bad, "list_topics", breaks)
    now = timezone.now()
    with caplog.at_level(logging.ERROR):
        assert scheduled.rebalance_round(now) == 1
    assert Operation.objects.get().cluster_id == two.cluster.pk
    assert f"the look at {two.hostile.pk} failed" in caplog.text
    bad = row_of(two.hostile)
    assert (bad.decided_code, bad.looked_at, bad.lease_token) == ("look-failed", now, "")
    assert (bad.bytes_percent, bad.leaders_percent) == (None, None), "unknown, not balanced"
    two.bad.calls.clear()
    scheduled.rebalance_round(now + timedelta(seconds=30))
    assert two.bad.calls == [], "it is not the first one for ever"


def test_a_plan_that_breaks_stops_nobody_else(two, monkeypatch):
    real = two.bad.list_reassignments
    monkeypatch.setattr(
        two.bad,
        "list_reassignments",
        lambda *a: monkeypatch.setattr(two.bad, "list_topics", breaks) or real(*a),
    )
    assert scheduled.rebalance_round(timezone.now()) == 1
    assert row_of(two.hostile).decided_code == "look-failed"


def run_of(cluster):
    return ScheduledRebalance.objects.create(cluster=cluster, operation_id="op_gone", reason="x")


def test_every_run_ends_whatever_its_cluster_answers(two, monkeypatch):
    monkeypatch.setattr(two.bad, "list_topics", breaks)
    runs = [run_of(two.hostile), run_of(two.cluster)]
    scheduled.rebalance_round(timezone.now())
    for run in runs:
        run.refresh_from_db()
    assert [run.state for run in runs] == ["failed", "failed"]
    assert [run.leaders_after is None for run in runs] == [True, False]


def test_an_end_that_breaks_stops_neither_other_ends_nor_looks(two, monkeypatch):
    bad, good = run_of(two.hostile), run_of(two.cluster)
    real = schedule_ends.run_record
    monkeypatch.setattr(
        schedule_ends,
        "run_record",
        lambda run, *rest: breaks() if run.pk == bad.pk else real(run, *rest),
    )
    scheduled.rebalance_round(timezone.now())
    for run in (bad, good):
        run.refresh_from_db()
    assert (bad.state, good.state) == ("running", "failed")


def test_words_that_no_database_keeps_are_kept_without_them(two, monkeypatch):
    error = GatewayError("POLICY_VIOLATION", "no\0 moves \ud800" + "x" * 2_000)
    assert "\0" not in str(error) + error.detail

    def refused(*_):
        raise error

    monkeypatch.setattr(scheduled.Reassignment, "plan", lambda *_: refused())
    scheduled.rebalance_round(timezone.now())
    text = row_of(two.hostile).decided_text
    assert text.startswith("Broker 1 is")
    assert "no? moves ?" in text
    assert len(text) == 1_000
    assert row_of(two.hostile).decided_parts == [], "of a text that is cut there are none"
    assert row_of(two.cluster).decided_code == "POLICY_VIOLATION"


def test_what_an_operation_says_in_the_end_is_cut(two):
    operation = two.start(two.plan("topic.delete", name="orders"))
    said = {"code": "x", "detail": "it did not " + "x" * 2_000}
    Operation.objects.filter(pk=operation.pk).update(state="failed", error=said)
    run = ScheduledRebalance.objects.create(
        cluster=two.cluster, operation_id=operation.pk, reason="x"
    )
    scheduled.rebalance_round(timezone.now())
    run.refresh_from_db()
    assert run.result.startswith("it did not x")
    assert len(run.result) == 1_000


def test_nothing_of_a_suspended_tenant_is_moved(two):
    Tenant.objects.filter(pk=two.hostile.tenant_id).update(state=SUSPENDED)
    two.bad.calls.clear()
    assert scheduled.rebalance_round(timezone.now()) == 1
    assert Operation.objects.get().cluster_id == two.cluster.pk
    assert (two.bad.calls, row_of(two.hostile).looked_at) == ([], None)


# -- time and threads ---------------------------------------------------------------------------
@pytest.fixture
def slow(two, monkeypatch):
    """A hundred brokers that each answer just in time, by a clock that only they move."""

    class Clock:
        now_s = 1_000.0

        def monotonic(self):
            return self.now_s

    clock = Clock()
    for module in (patience, scheduled, schedule_ends):
        monkeypatch.setattr(module, "time", clock)
    for number in range(1, 101):
        two.bad.brokers[number] = BrokerNode(id=number, host="127.0.0.1", port=number, rack=None)
        two.bad.disks[number] = two.bad.disks[1]
    asked = []
    real = two.bad.log_dirs

    def late(topics=None, *, brokers=None):
        clock.now_s += 9.9
        asked.extend(brokers)
        return real(topics, brokers=brokers)

    monkeypatch.setattr(two.bad, "log_dirs", late)
    two.clock, two.asked = clock, asked
    return two


def test_brokers_that_answer_slowly_are_asked_no_longer_than_a_look_lasts(slow):
    began_s = slow.clock.now_s
    assert scheduled.rebalance_round(timezone.now()) == 1, "the other tenant's"
    took_s = slow.clock.now_s - began_s
    assert took_s < schedule_facts.LOOK_S + 10
    assert took_s < scheduled.LEASE.total_seconds() / 2
    assert len(slow.asked) == 3
    bad = row_of(slow.hostile)
    assert bad.decided_code in {"sizes-unknown", "cluster-silent"}
    assert bad.bytes_percent is None, "what was not asked is unknown, never none"
    assert not Operation.objects.filter(cluster_id=slow.hostile.pk).exists()


def test_a_round_ends_and_the_next_begins_with_the_others(slow):
    more = [
        cluster_make(slow.hostile.tenant, f"t{n}", phase=RUNNING, kind=REGISTERED) for n in range(6)
    ]
    for each in more:
        slow.gateways[each.pk] = slow.bad
        RebalanceSchedule.objects.create(cluster=each, enabled=True)
    began_s = slow.clock.now_s
    assert scheduled.rebalance_round(timezone.now()) == 1, "tenants take turns"
    assert slow.clock.now_s - began_s < scheduled.ROUND_S + schedule_facts.LOOK_S + 10
    assert RebalanceSchedule.objects.filter(looked_at=None).count() >= 4


def test_a_tenant_at_its_share_of_the_pool_is_passed_by(two, settings):
    settings.SLOW_TASKS_PER_TENANT = 1
    with dispatch.slow_share(
        tenant_id=str(two.hostile.tenant_id), cluster_id="kc_another"
    ) as first:
        assert first
        assert scheduled.rebalance_round(timezone.now()) == 1
        assert row_of(two.hostile).looked_at is None
    assert scheduled.rebalance_round(timezone.now()) == 1, (
        "with the slot given back it has its turn"
    )
    assert row_of(two.hostile).looked_at is not None
    assert dispatch.SLOTS.held(f"tenant:{two.hostile.tenant_id}") == 0
