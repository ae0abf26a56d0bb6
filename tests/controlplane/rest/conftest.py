"""A tenant that has one of everything, and a count of what would show if a refusal did half."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from console.parts import PartRunner
from controlplane.administration.services.invitations import invite
from controlplane.analytics.models import AnalyticsRun, RunCluster
from controlplane.audit.models import AuditEvent
from controlplane.audit.services import REFUSED
from controlplane.gateway.types import TP
from controlplane.observed.services import observe
from controlplane.operations.states import SUCCEEDED
from controlplane.tenants.services import api_key_create
from tests.controlplane.rest.surface import OPERATOR_PREFIX
from tests.controlplane.rest.teams import HIDDEN_TOPICS, key_of, member_of
from tests.controlplane.support import ACTOR, InPlace, client_for, cluster_make, operator_client


@pytest.fixture(autouse=True)
def pages_read_in_place(monkeypatch):
    """The console's pages see this test's transaction, and nothing that another test kept."""
    monkeypatch.setattr("console.parts.close_old_connections", lambda: None)
    monkeypatch.setattr("console.api.RUNNER", PartRunner(pool=InPlace()))


@pytest.fixture
def ids(world):
    return everything(world)


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


RULE = {"operation": "READ", "resource_type": "TOPIC", "resource_name": "orders"}


def key_client(tenant, scope):
    _, text = api_key_create(tenant=tenant, name=scope, scope=scope, actor=ACTOR)
    client = APIClient(raise_request_exception=False)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


@pytest.fixture
def owner(world, request):
    """Who is served by the operation or path that a test is about, an owner if it is about none."""
    about = getattr(request.node, "callspec", None)
    given = about.params if about else {}
    path = given["row"].path if "row" in given else str(given.get("path", ""))
    is_operators = path.startswith(OPERATOR_PREFIX)
    client = operator_client(world.tenant) if is_operators else client_for(world.tenant)
    client.raise_request_exception = False
    return client


@pytest.fixture
def state(world):
    """Everything that a write could leave behind, as one value to compare.

    What was observed is no part of it: a question may be the first about a cluster.
    """

    def read():
        own_apps = [
            app
            for app in apps.get_app_configs()
            if app.name.startswith("controlplane.") and app.label != "observed"
        ]
        rows = {
            model.__name__: model.objects.count() for app in own_apps for model in app.get_models()
        }
        # A refusal leaves its row in the record, and nothing else.
        rows["AuditEvent"] = AuditEvent.objects.exclude(outcome=REFUSED).count()
        gateway = world.gateway
        return (
            rows,
            sorted(gateway.topics),
            sorted(gateway.users),
            sorted(gateway.acls),
            {name: dict(found) for name, found in gateway.committed.items()},
            {name: dict(topic.configs) for name, topic in gateway.topics.items()},
            sorted(world.hosts.desired),
            [host.host_id for host in world.hosts.known],
            User.objects.count(),
        )

    return read


@pytest.fixture
def teams(world, ids):
    """Beside one of everything: what is the team's, and what is another's; all of it observed."""
    gateway = world.gateway
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
    return {
        **ids,
        "cluster": other.id,
        "plan": world.plan("topic.delete", name="secret-orders").id,
        "operation": secret.id,
        "topic": "secret-orders",
        "group": "secret-readers",
    }


@pytest.fixture
def narrow(world, teams):
    return {"member": member_of(world.tenant), "key": key_of(world.tenant)}
