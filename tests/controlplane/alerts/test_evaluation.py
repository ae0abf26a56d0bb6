"""Rounds over the database: what is kept, who is told, and what one tenant's trouble does to others."""

from datetime import timedelta

from django.db import connection
from django.utils import timezone

from controlplane.alerts import evaluation, services
from controlplane.alerts.models import Alert, AlertOverride, AlertTransition, Evaluator, Silence
from controlplane.alerts.states import PENDING
from controlplane.analytics.models import CollectorState
from controlplane.clusters.models import DELETED, Broker, Cluster
from controlplane.clusters.operations_base import mark_deleted
from controlplane.common import leases
from controlplane.observed.models import ObservedBroker, ObservedCluster
from controlplane.observed.rows import broker_key
from controlplane.tenants.models import Tenant
from tests.controlplane.support import ACTOR, cluster_make, observed, tenant_make


def kill(world, broker_id):
    world.gateway.remove_broker(broker_id)
    observed(world)


def revive(broker_id):
    """As a pass sees it once the broker is back and its replicas are in sync."""
    row = ObservedBroker.objects.get(key=broker_key(broker_id))
    row.row["live"] = True
    row.save()
    observed_row = ObservedCluster.objects.get()
    observed_row.summary |= {"under_replicated": 0, "offline": 0}
    observed_row.save()


def alerts():
    return {row.rule: row for row in Alert.objects.exclude(state=PENDING)}


def moves(alert):
    rows = AlertTransition.objects.filter(alert=alert)
    return [(row.before, row.after) for row in rows]


def test_of_a_cluster_that_is_well_nothing_is_written(quiet, rounds, told):
    rounds.after()
    rounds.after(60)
    assert not Alert.objects.exists()
    assert told == []
    assert Evaluator.objects.get().rounds == 2


def test_a_brokers_death_from_its_beginning_to_its_end(quiet, rounds, told):
    kill(quiet, 2)
    rounds.after()
    assert Alert.objects.get().state == PENDING
    rounds.after(10)
    rounds.after(10)
    alert = alerts()["broker-down"]
    assert (alert.state, alert.severity, alert.members) == ("firing", "warning", ["2"])
    assert alert.consequences, "partitions that lack it are inside"
    assert [event.state for event in told] == ["firing"]
    assert set(alerts()) == {"broker-down"}
    rounds.after(200)
    assert len(told) == 1, "nothing is told twice"
    assert set(alerts()) == {"broker-down"}

    revive(2)
    rounds.after(10)
    assert alerts()["broker-down"].state == "firing"
    rounds.after(60)
    alert = alerts()["broker-down"]
    assert (alert.state, alert.resolved_at) == ("resolved", rounds.now)
    assert moves(alert) == [("none", "pending"), ("pending", "firing"), ("firing", "resolved")]
    assert [event.state for event in told] == ["firing", "resolved"]
    firing, resolved = told
    assert firing.alert_id == resolved.alert_id == alert.id
    assert firing.event_id != resolved.event_id
    assert firing.runbook == "broker-down"
    assert firing.labels["cluster"] == "main"
    assert AlertTransition.objects.filter(event_id=firing.event_id).count() == 1


def test_what_cannot_be_read_leaves_alerts_as_they_are(quiet, rounds, told):
    kill(quiet, 2)
    rounds.after()
    rounds.after(20)
    ObservedCluster.objects.update(
        health="unreachable", reasons=[{"code": "x", "text": "No answer."}]
    )
    for _ in range(10):
        rounds.after(100)
    found = alerts()
    assert {rule: row.state for rule, row in found.items()} == {
        "broker-down": "firing",
        "cluster-away": "firing",
    }
    assert found["broker-down"].unknown_since is not None
    assert Evaluator.objects.get().unknown["partitions-offline"] == 1


def test_a_cluster_that_is_removed_ends_its_alerts(quiet, rounds, told):
    kill(quiet, 2)
    rounds.after()
    rounds.after(20)
    mark_deleted(quiet.cluster.id)
    assert Cluster.objects.get().phase == DELETED
    rounds.after(10)
    assert alerts()["broker-down"].state == "resolved"
    assert "not watched" in AlertTransition.objects.last().why


def test_a_closed_tenant_has_no_alerts_left(quiet, rounds, told):
    kill(quiet, 2)
    rounds.after()
    rounds.after(20)
    mark_deleted(quiet.cluster.id)
    Tenant.objects.update(state="closed")
    rounds.after(10)
    assert alerts()["broker-down"].state == "resolved"


def test_a_silence_keeps_quiet_and_its_end_tells_what_still_fires(quiet, rounds, told):
    Silence.objects.create(
        tenant=quiet.tenant,
        rule="broker-down",
        starts_at=rounds.now,
        ends_at=rounds.now + timedelta(seconds=300),
        reason="maintenance",
        created_by="x",
    )
    kill(quiet, 2)
    rounds.after()
    rounds.after(30)
    assert alerts()["broker-down"].state == "firing", "it is evaluated and kept"
    assert alerts()["broker-down"].silence_id == Silence.objects.get().id
    assert told == []
    rounds.after(300)
    assert [event.state for event in told] == ["firing"]
    assert AlertTransition.objects.last().why == "it is not silenced any more"


def test_a_maintenance_window_starts_by_itself(quiet, rounds, told):
    rounds.after()
    Silence.objects.create(
        tenant=quiet.tenant,
        starts_at=rounds.now + timedelta(seconds=60),
        ends_at=rounds.now + timedelta(seconds=600),
        reason="maintenance",
        created_by="x",
    )
    rounds.after(90)
    kill(quiet, 2)
    rounds.after()
    rounds.after(30)
    assert (alerts()["broker-down"].state, told) == ("firing", [])


def test_that_a_known_alert_is_resolved_is_told_in_a_silence_too(quiet, rounds, told):
    kill(quiet, 2)
    rounds.after()
    rounds.after(20)
    Silence.objects.create(
        tenant=quiet.tenant,
        starts_at=rounds.now,
        ends_at=rounds.now + timedelta(days=1),
        reason="r",
        created_by="x",
    )
    mark_deleted(quiet.cluster.id)
    rounds.after(10)
    assert [event.state for event in told] == ["firing", "resolved"]


def test_a_worse_one_is_told_again_and_an_acknowledged_one_fires_again(quiet, rounds, told):
    kill(quiet, 2)
    rounds.after()
    rounds.after(20)
    services.acknowledge(
        tenant=quiet.tenant, alert_id=alerts()["broker-down"].id, note="on it", actor=ACTOR
    )
    rounds.after(60)
    assert alerts()["broker-down"].state == "acknowledged"
    kill(quiet, 3)
    rounds.after(10)
    alert = alerts()["broker-down"]
    assert (alert.state, alert.severity, alert.acknowledged_by) == ("firing", "critical", "")
    assert [(event.state, event.severity) for event in told] == [
        ("firing", "warning"),
        ("acknowledged", "warning"),
        ("firing", "critical"),
    ]


def test_an_alert_that_comes_back_soon_is_the_same_and_later_another(quiet, rounds, told):
    # The clock goes on for longer than the cluster was judged last.
    AlertOverride.objects.create(
        tenant=quiet.tenant, rule="spark-late", enabled=False, created_by="x"
    )

    def flap(gone_s):
        ObservedCluster.objects.update(controller_id=None)
        rounds.after()
        rounds.after(30)
        ObservedCluster.objects.update(controller_id=1)
        rounds.after()
        rounds.after(30)
        rounds.after(gone_s)

    flap(60)
    flap(700)
    assert Alert.objects.get().times_fired == 2
    flap(0)
    assert sorted(Alert.objects.values_list("times_fired", flat=True)) == [1, 2]
    assert [event.state for event in told] == ["firing", "resolved"] * 3


def test_an_override_that_turns_a_rule_off_ends_its_alerts(quiet, rounds, told):
    kill(quiet, 2)
    rounds.after()
    rounds.after(20)
    AlertOverride.objects.create(
        tenant=quiet.tenant, rule="broker-down", enabled=False, created_by="x"
    )
    rounds.after()
    rounds.after(60)
    assert alerts()["broker-down"].state == "resolved"


def test_one_tenants_trouble_is_its_own(quiet, rounds, told, monkeypatch):
    rival = tenant_make("rival")
    theirs = cluster_make(rival, name="theirs", kind="registered")
    CollectorState.objects.create(cluster_id=theirs.id)
    ObservedCluster.objects.create(cluster=theirs, health="unreachable", due_at=rounds.now)
    rounds.after()
    rounds.after(60)
    found = Alert.objects.get(state="firing")
    assert (found.tenant_id, found.rule) == (rival.id, "cluster-away")
    judged = evaluation.judged
    monkeypatch.setattr(
        evaluation,
        "judged",
        lambda tenant, *more: 1 / 0 if tenant.id == quiet.tenant.id else judged(tenant, *more),
    )
    ObservedCluster.objects.filter(cluster=theirs).update(health="unreachable")
    found = evaluation.evaluate(rounds.now + timedelta(seconds=10))
    assert found.failed_tenants == 1
    assert Evaluator.objects.get().failed_tenants == 1


def test_only_one_evaluates(quiet):
    Evaluator.objects.create()
    token = leases.claim(Evaluator.objects.all(), timedelta(seconds=60))
    assert evaluation.evaluate() is None
    leases.release(Evaluator.objects.all(), token)
    assert evaluation.evaluate() is not None


def test_who_lost_the_lease_writes_nothing(quiet, monkeypatch, told):
    judged = evaluation.judged

    def taken_meanwhile(*args):
        Evaluator.objects.update(lease_token="another's")
        return judged(*args)

    ObservedCluster.objects.update(controller_id=None)
    monkeypatch.setattr(evaluation, "judged", taken_meanwhile)
    assert evaluation.evaluate() is None
    assert not Alert.objects.exists()
    assert Evaluator.objects.get().lease_token == "another's"


def test_zookeeper_and_agents(quiet, rounds, told):
    assert quiet.run("cluster.create", None, name="ours", broker_count=3).state == "succeeded"
    cluster = Cluster.objects.get(name="ours")
    CollectorState.objects.create(cluster_id=cluster.id)
    quiet.hosts.is_away = True
    rounds.after()
    rounds.after(30)
    assert alerts()["zookeeper-unreachable"].members == ["ours"]
    assert alerts()["zookeeper-unreachable"].cluster_id == ""


def test_a_key_and_a_certificate_that_end(quiet, rounds, told):
    Broker.objects.create(
        cluster=quiet.cluster,
        broker_id=1,
        host_id="host-1",
        address="127.0.0.1",
        client_port=1,
        internal_port=2,
        certificate_ends_at=rounds.now + timedelta(days=2),
    )
    rounds.after()
    rounds.after(60)
    assert alerts()["certificate-ending"].severity == "critical"


def test_resolved_alerts_are_forgotten_after_their_time(quiet, monkeypatch):
    now = timezone.now()
    monkeypatch.setattr(services, "FORGOTTEN_AT_ONCE", 2)
    for days, state in ((91, "resolved"), (92, "resolved"), (93, "resolved"), (89, "resolved")):
        Alert.objects.create(
            tenant=quiet.tenant,
            rule="broker-down",
            state=state,
            severity="warning",
            summary="s",
            started_at=now,
            refreshed_at=now,
            resolved_at=now - timedelta(days=days),
        )
    assert services.forget_old(now) == 3
    assert Alert.objects.count() == 1


def test_the_number_of_statements_does_not_grow_with_clusters_that_are_well(quiet, rounds):
    def statements():
        seen = []

        def count(execute, sql, params, many, context):
            seen.append(sql)
            return execute(sql, params, many, context)

        with connection.execute_wrapper(count):
            rounds.after(10)
        return len(seen)

    rounds.after()
    one = statements()
    for at in range(10):
        made = cluster_make(quiet.tenant, name=f"c{at}", kind="registered")
        CollectorState.objects.create(cluster_id=made.id)
        ObservedCluster.objects.create(
            cluster=made,
            health="healthy",
            controller_id=1,
            sections=ObservedCluster.objects.get(cluster=quiet.cluster).sections,
            summary={"under_replicated": 0, "offline": 0},
        )
        ObservedBroker.objects.create(
            cluster=made,
            key=broker_key(1),
            row={"id": 1, "live": True, "size_bytes": 1},
            mark="",
        )
    rounds.after(10)
    assert not Alert.objects.exists(), "they are well"
    assert statements() - one <= 10, "one for each cluster's newest judgement"
    assert one < 60
