"""What tests find in a world that asks for it: one of everything, or two teams' things."""

from dataclasses import replace
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from controlplane.administration.host_plans import host_plan
from controlplane.administration.services.host_tokens import token_make
from controlplane.administration.services.invitations import invite
from controlplane.alerts.models import Alert, AlertOverride, Silence
from controlplane.analytics.models import AnalyticsRun, LagObjective, RunCluster
from controlplane.clusters.host_states import DRAINING
from controlplane.clusters.models import HostState
from controlplane.common.crypto import seal
from controlplane.gateway.types import TP
from controlplane.healing.models import HealingCase
from controlplane.healing.states import PROPOSED
from controlplane.messages.models import MaskRule
from controlplane.notifications.models import DEAD, Delivery, Destination
from controlplane.observed.services import observe
from controlplane.operations.states import SUCCEEDED
from controlplane.runbooks.services import run_start
from controlplane.tenants.services import api_key_create
from controlplane.timeline.models import TimelineEvent
from tests.controlplane.kind_plans import add_broker, of_version
from tests.controlplane.rest.teams import HIDDEN_TOPICS
from tests.controlplane.support import ACTOR, client_for, cluster_make

RULE = {"operation": "READ", "resource_type": "TOPIC", "resource_name": "orders"}


def told_make(tenant, rule):
    """A destination and what was not delivered there, by id; without a tenant the operators'."""
    # Nobody may be sent to there: the policy of the tests allows public addresses alone.
    destination = Destination.objects.create(
        tenant=tenant,
        name="known",
        kind="webhook",
        config={"url": "https://127.0.0.1:9/hook"},
        secrets_token=seal({"signing_secret": "s" * 24}),
    )
    delivery = Delivery.objects.create(
        tenant=tenant,
        destination=destination,
        alert_id="al_1",
        event_id="ev_1",
        event_state="firing",
        rule=rule,
        severity="critical",
        event={"summary": "It is down"},
        state=DEAD,
        ended_at=timezone.now(),
    )
    return destination.pk, delivery.pk


def of_operators():
    """What is above tenants of what tenants have too."""
    destination, delivery = told_make(None, "host-silent")
    now = timezone.now()
    alert = Alert.objects.create(
        tenant=None,
        rule="host-silent",
        subject="host/host-1",
        state="firing",
        severity="warning",
        summary="host-1: its agent is not heard",
        started_at=now,
        since=now,
        fired_at=now,
        refreshed_at=now,
    )
    return {
        "host_alert": alert.pk,
        "platform_destination": destination,
        "platform_delivery": delivery,
    }


def alert_make(world, cluster, group, topic):
    now = timezone.now()
    return Alert.objects.create(
        tenant=world.tenant,
        cluster_id=cluster.id,
        cluster_name=cluster.name,
        rule="group-stopped",
        subject=f"group/{group}",
        state="firing",
        severity="warning",
        summary=f"group {group} has stopped reading {topic}",
        touches=[["group", group], ["topic", topic]],
        started_at=now,
        since=now,
        fired_at=now,
        refreshed_at=now,
    )


def everything(world):
    """One of everything in the tenant; ids by what the tests call them."""
    world.gateway.add_topic("orders", partitions=2, records=5)
    led = world.gateway.topics["orders"].partitions[0]
    led.led_by = led.replicas[1]  # so that there is a leader to elect
    world.gateway.add_group("readers", {TP("orders", 0): 1})
    world.run("user.create", username="known", acls=[{**RULE, "principal": "User:known"}])
    world.run("user.create", username="both")
    world.run("user.rotate", username="both", overlap_s=3600)
    world.gateway.add_topic("leased", partitions=1, records=5)
    lease = {"name": "leased", "retention_ms": 1_209_600_000, "for_s": 3600}
    world.run("topic.retention_lease", **lease)
    for broker in world.gateway.brokers:
        add_broker(world, broker)
    of_version(world, protocol="3.8-IV0")
    key, _ = api_key_create(tenant=world.tenant, name="k", scope="read", actor=ACTOR)
    link = invite(
        tenant=world.tenant, role="viewer", note="", actor=ACTOR, lifetime=timedelta(days=1)
    )
    client_for(world.tenant, "viewer", "known-member")
    User.objects.create(username="nobody-yet")
    world.hosts.known.append(replace(world.hosts.known[0], host_id="host-gone", alive=False))
    HostState.objects.create(host_id="host-gone", state=DRAINING, by="x")
    case = HealingCase.objects.create(
        cluster=world.cluster, broker_id=1, host_id="host-gone", state=PROPOSED, code="x", text="X."
    )
    plan = world.plan("topic.create", name="planned")
    run = AnalyticsRun.objects.create(trigger="manual", from_ts_ms=0, to_ts_ms=1, state=SUCCEEDED)
    RunCluster.objects.create(run=run, cluster_id=world.cluster.id)
    silence = Silence.objects.create(
        tenant=world.tenant,
        starts_at=timezone.now(),
        ends_at=timezone.now() + timedelta(days=1),
        reason="because",
        created_by="x",
    )
    override = AlertOverride.objects.create(
        tenant=world.tenant, rule="broker-down", enabled=True, created_by="x"
    )
    objective = LagObjective.objects.create(
        tenant=world.tenant, group="known", seconds=60, share=0.99, created_by="x"
    )
    deployment = TimelineEvent.objects.create(
        tenant=world.tenant,
        cluster_id=world.cluster.id,
        kind="deployment",
        area="topic",
        name="orders",
        subject="topic/orders",
        text="shop 1.9",
        by="x",
        at=timezone.now(),
    )
    mask = MaskRule.objects.create(
        tenant=world.tenant, topic_match="literal", topic_name="payments", part="key", act="hash"
    )
    outside = cluster_make(world.tenant, "elsewhere", kind="registered")
    followed = run_start(
        tenant=world.tenant,
        actor=ACTOR,
        runbook_id="group-losing-data",
        cluster_id=world.cluster.id,
        about={"group": "readers", "topic": "orders"},
    )
    destination, delivery = told_make(world.tenant, "broker-down")
    return {
        **of_operators(),
        "cluster": world.cluster.id,
        "kafka_user": "both",
        "registered": outside.id,
        "key": key.id,
        "account": key.service_account_id,
        "invitation": link.invitation.id,
        "tenant": world.tenant.id,
        "member": "known-member",
        "nobody": "nobody-yet",
        "host": "host-gone",
        "plan": plan.id,
        "hash": plan.plan_hash,
        "operation": world.run("topic.create", name="done").id,
        "move": world.run(
            "reassignment", moves=[{"topic": "orders", "partition": 1, "replicas": [3, 4, 2]}]
        ).id,
        "topic": "orders",
        "group": "readers",
        "run": run.pk,
        "runbook": "group-losing-data",
        "runbook_run": followed.pk,
        "check_number": "1",
        "host_act": "declare-lost",
        "host_token": token_make(host_id="host-9", actor=ACTOR, lifetime_s=600).row.pk,
        "host_loss": host_plan("host-gone", "declare-lost")["plan_hash"],
        "broker": "1",
        "partition": "0",
        "act_number": "1",
        "destination": destination,
        "delivery": delivery,
        "alert": alert_make(world, world.cluster, "readers", "orders").id,
        "override": override.id,
        "silence": silence.id,
        "deployment": deployment.id,
        "objective": objective.id,
        "mask": mask.id,
        "healing_case": case.pk,
        "silence_end": (timezone.now() + timedelta(days=2)).isoformat(),
    }


def all_teams(world):
    """Beside one of everything: what is the team's, and what is another's; all of it observed."""
    ids, gateway = everything(world), world.gateway
    for name in ("team-a-x", *HIDDEN_TOPICS):
        gateway.add_topic(name, partitions=2, records=1_000)
    gateway.add_group("team-a-g", {TP("team-a-x", 0): 1, TP("secret-orders", 0): 2})
    gateway.add_group("secret-readers", {TP("secret-orders", 0): 1})
    other = cluster_make(world.tenant, "secret-cluster")
    world.run(
        "user.create", username="secret-user", acls=[{**RULE, "principal": "User:secret-user"}]
    )
    secret = world.run("topic.create", name="secret-made")
    secret.reason = "secret-reason"
    secret.save()
    for cluster_id in (world.cluster.id, other.id):
        assert observe(cluster_id)
    theirs = {
        **ids,
        "cluster": other.id,
        "plan": world.plan("topic.delete", name="secret-orders").id,
        "operation": secret.id,
        "topic": "secret-orders",
        "group": "secret-readers",
        "alert": alert_make(world, other, "secret-readers", "secret-orders").id,
    }
    return {"ids": ids, "teams": theirs}


FILLINGS = {"teams": all_teams, "ids": lambda world: {"ids": everything(world)}}
"""By the fixture that a test asks for; the first of them that it does."""
