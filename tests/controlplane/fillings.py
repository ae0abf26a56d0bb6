"""What tests find in a world that asks for it: one of everything, or two teams' things."""

from dataclasses import replace
from datetime import timedelta

from django.contrib.auth.models import User

from controlplane.administration.services.invitations import invite
from controlplane.analytics.models import AnalyticsRun, RunCluster
from controlplane.gateway.types import TP
from controlplane.observed.services import observe
from controlplane.operations.states import SUCCEEDED
from controlplane.tenants.services import api_key_create
from tests.controlplane.rest.teams import HIDDEN_TOPICS
from tests.controlplane.support import ACTOR, client_for, cluster_make

RULE = {"operation": "READ", "resource_type": "TOPIC", "resource_name": "orders"}


def everything(world):
    """One of everything in the tenant; ids by what the tests call them."""
    world.gateway.add_topic("orders", partitions=2, records=5)
    world.gateway.add_group("readers", {TP("orders", 0): 1})
    world.run("user.create", username="known", acls=[{**RULE, "principal": "User:known"}])
    world.run("user.create", username="both")
    world.run("user.rotate", username="both", overlap_s=3600)
    key, _ = api_key_create(tenant=world.tenant, name="k", scope="read", actor=ACTOR)
    link = invite(
        tenant=world.tenant, role="viewer", note="", actor=ACTOR, lifetime=timedelta(days=1)
    )
    client_for(world.tenant, "viewer", "known-member")
    User.objects.create(username="nobody-yet")
    world.hosts.known.append(replace(world.hosts.known[0], host_id="host-gone", alive=False))
    plan = world.plan("topic.create", name="planned")
    run = AnalyticsRun.objects.create(trigger="manual", from_ts_ms=0, to_ts_ms=1, state=SUCCEEDED)
    RunCluster.objects.create(run=run, cluster_id=world.cluster.id)
    outside = cluster_make(world.tenant, "elsewhere", kind="registered")
    return {
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
    }
    return {"ids": ids, "teams": theirs}


FILLINGS = {"teams": all_teams, "ids": lambda world: {"ids": everything(world)}}
"""By the fixture that a test asks for; the first of them that it does."""
